//! Under construction.

pub mod iv;
pub mod launch;
pub mod method;
pub mod pushbuffer;
pub mod spec;
