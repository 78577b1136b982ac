//! Questions about a simulated machine.
//!
//! ```text
//!   explore       replay              many machines at once       a profile, replayed
//!   figures                           what a verb shows of a run: one table
//!   sampling                          long runs from a few short ones
//!   validate                          known answers: vectors and measured silicon
//!   workload                          what is copied: files, programs, profiles, collectives
//! ```
//!
//! Imports run downwards only.

// The floor below, by its rooms.
use sealsim_machine::{
    aead, config, cost, fabric, files, gcm, gpu, host, inside, pcie, sealing, sim, stream, system, units,
};

pub mod explore;
pub mod figures;
pub mod replay;
pub mod sampling;
pub mod validate;
pub mod workload;
