//! The host's side of the path: private memory, staging, the CPU cipher and the driver.
//!
//! ```text
//!             jobs          +--------+  bytes   +-----------------------+  reads, writes
//!   +--------+ -----------> | cipher | <------> | memory                | <------------ root complex
//!   | driver |   done       +--------+          | staging, tags, pinned |
//!   |        | <----------------------          +-----------------------+
//!   |        | --- doorbells, pushes ---> GPU
//!   |        | <~~ notices ~~ root complex
//!   +--------+
//! ```
//!
//! Where copies are sealed before their calls, or opened after them, two more units like the cipher stand next to it, with jobs of their own.

mod caches;
pub mod calls;
mod cipher;
mod driver;
mod error;
pub mod law;
pub mod map;
mod memory;
mod private;
pub mod spec;
mod staging;
mod work;

pub use cipher::{Cipher, CipherPorts};
pub use driver::{
    CHANNEL_ERROR, CopyEdge, CopyOutcome, Driver, DriverOptions, DriverPorts, HelperPorts, NonceStreams, Nonces,
    Operation, Push, Pushes, SealedCalls, Step, StepDates, Stride,
};
pub use error::HostError;
pub use memory::{FAULT_POINTS, HostState};
pub use private::PrivateMemory;
pub use staging::{Slot, SlotId};
pub use work::{CipherDone, CipherJob, CopyPlan, Cryptor, Direction, JobKind, KeyOf, Memory, Pages, Party, Sealing};

/// What of the host's side no configuration changes.
pub const FIXED: [&[crate::units::Fixed]; 3] = [cipher::FIXED, caches::FIXED, driver::FIXED];

#[cfg(test)]
mod tests;
