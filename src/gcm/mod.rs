//! Under construction.

pub mod pseudo;
pub mod spec;
