//! Under construction.

pub mod spec;
