//! Parameters fitted to measured points.
