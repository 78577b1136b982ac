//! sealsim: a cycle-level, bit-exact simulator of the sealed copy path between a CPU TEE and a GPU TEE.
//!
//! ```
//! use sealsim::{config::Layers, sim::Control, system::{self, Request}};
//!
//! let machine = Layers::new("h100-nvl-tdx").resolve()?.machine;
//! let request = Request::h2d(1 << 20).carrying(vec![7; 1 << 20]);
//! let outcome = system::run(&machine, request, &mut |_| Control::Continue)?;
//!
//! let copy = &outcome.copies[0];
//! assert!(copy.delivered && copy.tags_verified == 1);
//! println!("{} GB/s; {}", copy.gb_per_s(), copy.busiest);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! `examples/` has more. With `default-features = false` the library needs neither the crates of the command line nor Parquet; who needs a machine alone
//! depends on `sealsim-machine`.
//!
//! ```text
//!   src/               cli: one file per verb        report: the results as text, JSON, plots, pages
//!   crates/study       explore: many machines at once        validate: known answers
//!   crates/workload    replay: a profile, played    sampling    figures: what a verb shows, one table    workload: what is copied
//!   crates/machine     inside    system    config    cost    host    gpu    fabric    gcm    pcie    stream    sim    files
//!   crates/            aead, pcie: formats and engines by themselves        kernel: clocks, queues        units: quantities
//! ```
//!
//! Imports run downwards only, which the crates enforce, and within a crate in the order that the head of its `lib.rs` draws. A unit names its ports, never another unit.
//!
//! This crate names the rooms below again, for who builds on it. The interface for other programs is what these pages show: [`Program`], [`config`],
//! [`system`], [`sim`], [`pcie`], [`gcm`], [`aead`] and [`units`]. The other modules are public for the program, its tests and the bindings; they
//! change without notice.
//!
//! A machine comes out of [`config::Layers`], a run out of [`system::run`]. What is modelled, unit by unit, is in
//! `docs/model.md`; where the model knowingly differs from silicon, in `validation/DEVIATIONS.md`.

pub use sealsim_machine::{aead, config, gcm, pcie, sim, system};
#[doc(hidden)]
pub use sealsim_machine::{cost, fabric, files, gpu, host, observe, ports, stream};
#[doc(hidden)]
pub use sealsim_pcie::items;
#[doc(hidden)]
pub use sealsim_study::{explore, validate};
pub use sealsim_units as units;
#[doc(hidden)]
pub use sealsim_workload::{figures, pool, replay, sampling, workload};

#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;
#[doc(hidden)]
pub mod report;

#[cfg(feature = "cli")]
pub use cli::Program;
