//! AES-GCM as hardware: block cipher lanes in counter mode in front of a GHASH unit.
//!
//! Three forms of one engine, tied together by tests:
//!
//! - [`bulk`]: the bytes alone, as fast as the host gives them;
//! - [`engine`]: the structural datapath, register by register and cycle by cycle;
//! - [`timing`]: the cycles alone.

pub mod aes;
#[cfg(test)]
pub(crate) mod arbitrary;
pub mod bulk;
pub mod counter;
pub mod engine;
pub mod field;
pub mod ghash;
pub mod iv;
pub mod message;
pub mod multiplier;
pub mod pseudo;
pub mod spec;
pub mod timing;
pub mod worker;
