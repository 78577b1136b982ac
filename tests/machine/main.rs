//! Whole machines: one program, so that it is linked once.

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/waves.rs"]
mod shown;

mod aead;
mod answers;
mod authenticators;
mod chosen;
mod copies_in_order;
mod explained;
mod fabric;
mod fault_sets;
mod faults;
mod golden_runs;
mod gpus;
mod ide;
mod library;
mod limits;
mod lockstep;
mod looks;
mod netlist;
mod own_units;
mod paths;
mod peaks;
mod pieces;
mod pools;
mod probes;
mod programs;
mod quarantine;
mod release;
mod shared;
mod silicon;
mod sm;
mod split;
mod streams;
mod switches;
mod tags;
mod threads;
mod waves;
mod whole;
mod work;

/// Whether what takes minutes is done in full: `tests/campaigns` has files of this folder too.
const CAMPAIGN: bool = false;
