//! Under construction.

pub mod method;
pub mod spec;
