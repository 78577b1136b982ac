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
//! println!("{} GB/s, limited by {}", copy.gb_per_s(), copy.limited_by.unit);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! `examples/` has more. With `default-features = false` the library needs neither the crates of the command line nor Parquet.
//!
//! ```text
//!   cli                                       one file per verb
//!   report                                    the results as one record
//!   explore       replay                      many machines at once       a profile, replayed
//!   figures                                   what a verb shows of a run: one table
//!   sampling                                  long runs from a few short ones
//!   workload      cost          validate      what is copied       area, energy, risk       known answers
//!   inside                                    what a run reports to a listener: messages, packets, waves, paths
//!   system                                    the only place that knows who is wired to whom
//!   config                                    files to specs
//!   host          gpu           fabric        driver, cipher, memory       copy engine, tag queue, HBM       links between GPUs
//!   sealing                                   AES-GCM or another AEAD, by one face
//!   aead                                      other AEADs as hardware
//!   gcm           pcie                        AES-GCM as hardware          link, root complex
//!   sim           files                       clocks, queues, kernels     read bounded, written whole
//!   stream                                    what a stream of the GPU carries out
//!   units                                     quantities
//! ```
//!
//! Imports run downwards only: [`units`]; [`stream`]; [`sim`] and [`files`]; [`gcm`], and [`pcie`], whose IDE is AES-GCM; [`aead`]; [`sealing`]; [`gpu`], [`host`] and [`fabric`]; [`config`]; [`system`];
//! [`inside`]; [`workload`]; [`cost`]; [`validate`]; [`sampling`]; [`figures`]; [`explore`] and [`replay`]; [`report`]; `cli`. A unit names its ports, never another unit.
//! In `crates/` are crates of their own: [`units`]; [`sim`], as `sealsim-kernel`; [`gcm`], [`aead`] and [`sealing`], as `sealsim-aead`; [`pcie::wire`] with
//! [`pcie::credit`] and [`pcie::split`], as `sealsim-pcie`.
//!
//! The interface for other programs is what these pages show: [`config`], [`system`], [`sim`], [`pcie`], [`gcm`], [`aead`], [`sealing`] and [`units`]. The other modules are public for the
//! program, its tests and the bindings; they change without notice.
//!
//! A machine comes out of [`config::Layers`], a run out of [`system::run`]. What is modelled, unit by unit, is in
//! `docs/model.md`; where the model knowingly differs from silicon, in `validation/DEVIATIONS.md`.

/// PCIe: wire formats, transfers, credits, and the units of a link.
pub use sealsim_machine::{aead, config, gcm, pcie, sealing, sim, system};
#[doc(hidden)]
pub use sealsim_machine::{cost, fabric, files, gpu, host, inside, ports, stream};
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
