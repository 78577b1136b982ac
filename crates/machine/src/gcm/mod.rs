//! AES-GCM as hardware, and what the copy path adds: [`iv`] counts its IVs, [`pseudo`] stands in for tags in runs without data, and [`worker`] computes
//! bytes on a thread beside the simulation.

pub mod iv;
pub mod pseudo;
pub mod worker;

pub use sealsim_aead::gcm::*;
