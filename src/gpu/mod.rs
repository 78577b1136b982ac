//! Under construction.

pub mod launch;
pub mod method;
pub mod pushbuffer;
pub mod spec;
