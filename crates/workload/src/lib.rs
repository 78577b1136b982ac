//! Programs on a simulated machine: what they copy, what that shows, and what confidential computing costs them.
//!
//! ```text
//!   replay                            a profile, played with and without confidential computing
//!   table                             points of a study with their figures, as JSON and Parquet
//!   sampling                          long runs from a few short ones
//!   figures                           what is shown of a run: one table
//!   workload                          what is copied: files, programs, profiles, collectives
//!   pool                              independent work over threads
//! ```
//!
//! Imports run downwards only, but that figures say how far a run was sampled.

// The floor below, by its rooms.
use sealsim_machine::{
    aead, config, cost, fabric, files, gcm, gpu, growth, host, observe, pcie, sim, stream, system, units,
};

pub mod figures;
pub mod pool;
pub mod replay;
pub mod sampling;
pub mod table;
pub mod workload;
