//! AES-GCM and other AEADs as hardware: their bytes, their registers, their cycles.
//!
//! | module | has |
//! | --- | --- |
//! | [`gcm`] | AES-GCM: AES lanes in counter mode, GHASH units of seven organisations, bytes, registers and cycles |
//! | [`aead`] | AES-GCM beside AES-GCM-SIV, GCM-SST, AEGIS-256 and AEGIS-128L with their wider forms, and ChaCha20-Poly1305 |

pub mod aead;
pub mod gcm;

/// Cycles and bytes.
pub use sealsim_units as units;

/// The code of the README is tested.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
