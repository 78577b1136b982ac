//! Holding the model against what is known from elsewhere.

pub mod vectors;
