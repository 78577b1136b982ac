//! Under construction.

pub mod hbm;
pub mod iv;
pub mod key_rotation;
pub mod launch;
pub mod mapping;
pub mod method;
pub mod pce;
pub mod pushbuffer;
pub mod spec;
pub mod tag_queue;
pub mod work;
