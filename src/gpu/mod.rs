//! Under construction.

pub mod front_end;
pub mod hbm;
pub mod key_rotation;
pub mod launch;
pub mod mapping;
pub mod method;
pub mod pce;
pub mod pushbuffer;
pub mod spec;
pub mod tag_queue;
pub mod work;
