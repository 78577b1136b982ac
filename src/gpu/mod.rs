//! Under construction.

pub mod iv;
pub mod key_rotation;
pub mod launch;
pub mod mapping;
pub mod method;
pub mod pushbuffer;
pub mod spec;
