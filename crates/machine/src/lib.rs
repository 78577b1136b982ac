//! The simulated machine: units, the files that describe them, and the netlist that wires them.
//!
//! ```
//! use sealsim_machine::{config::Layers, sim::Control, system::{self, Request}};
//!
//! let machine = Layers::new("h100-nvl-tdx").resolve()?.machine;
//! let outcome = system::run(&machine, Request::h2d(1 << 20), &mut |_| Control::Continue)?;
//! assert!(outcome.copies[0].delivered);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! ```text
//!   observe                               what a run reports to a listener: messages, packets, waves, paths
//!   system                                the only place that knows who is wired to whom
//!   config                                files to specs
//!   cost                                  area, clock and energy
//!   host     gpu     fabric               driver, cipher, memory     copy engine, tag queue, HBM     links between GPUs
//!   gcm      pcie                         AES-GCM on the copy path     link, root complex
//!   stream   sim     files     growth     orders of a stream     kernel and stalls     read bounded, written whole     how outcomes grow
//! ```
//!
//! Imports run downwards only. A unit names its ports, never another unit.

#[doc(hidden)]
pub use miette;
pub use sealsim_aead::aead;
pub use sealsim_kernel::ports;
pub use sealsim_units as units;

pub mod config;
pub mod cost;
pub mod fabric;
pub mod files;
pub mod gcm;
pub mod gpu;
pub mod growth;
pub mod host;
pub mod observe;
pub mod pcie;
pub mod sim;
pub mod stream;
pub mod system;
