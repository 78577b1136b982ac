//! Questions about simulated machines.
//!
//! ```text
//!   explore                           many machines at once: comparisons, sweeps, searches, sensitivity, faults
//!   validate                          known answers: vectors and measured silicon
//! ```
//!
//! Imports run downwards only.

// The floors below, by their rooms.
use sealsim_machine::{aead, config, cost, files, gcm, gpu, host, observe, sim, system, units};
use sealsim_workload::{figures, pool, sampling, table, workload};

pub mod explore;
pub mod validate;
