//! What takes minutes: tables of documents made again, stated errors against silicon, and what other programs of tests do in part, in full.
//!
//! `cargo test` leaves it out; `cargo test --release --test campaigns` and `.ci/run` run it.

#[path = "../machine/answers/mod.rs"]
mod answers;
#[path = "../common/mod.rs"]
mod common;
mod coverage;
mod designs;
mod every_fault;
#[path = "../machine/explained.rs"]
mod explained;
#[path = "../workloads/fastrack.rs"]
mod fastrack;
#[path = "../machine/fault_sets.rs"]
mod fault_sets;
#[path = "../machine/faults.rs"]
mod faults;
#[path = "../wire/gcm_vectors.rs"]
mod gcm_vectors;
#[path = "../machine/golden_runs.rs"]
mod golden_runs;
#[path = "../workloads/guessed.rs"]
mod guessed;
mod headlines;
#[path = "../cli/headlines.rs"]
mod ledger;
#[path = "../machine/lockstep.rs"]
mod lockstep;
mod new_machine;
mod parts;
#[path = "../workloads/players.rs"]
mod players;
mod ranges;
mod registers;
mod runs;
#[path = "../cli/sample.rs"]
mod sample;
#[path = "../workloads/sampling.rs"]
mod sampling;
#[path = "../workloads/shared.rs"]
#[allow(dead_code, reason = "`workloads` uses the rest")]
mod shared;
mod swaps;
mod tenants;
mod threat;
mod validation;
#[path = "../cli/words.rs"]
mod words;

/// See `machine`, `wire`, `cli` and `workloads`.
const CAMPAIGN: bool = true;
