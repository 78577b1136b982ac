//! LAUNCH_DMA: the state of a logical copy engine (LCE) as methods write it, and the checked order that it gives.
//!
//! ```text
//!                 +-----------------------------------------+
//!   method, data  | Lce                                     |  Launch {transfer, flush, semaphore, interrupt}
//!  -------------->|  registers --LAUNCH_DMA--> rules ------>|-----------------------------------------------> PCE
//!                 +-----------------------------------------+
//!                     ^ confidential    ^ protection of an address (page tables; here a function)
//! ```
//!
//! One launch is one GCM message, one tag and one IV step when its transfer is secure. The engine holds the IV;
//! no method brings one in, and encryption reports the IV it used. Registers keep their values from launch to launch.
//! What a launch must obey is listed in [`Rule`], with the source of each rule.

mod check;
mod lce;
mod location;
mod release;
mod rule;
mod transfer;

pub use lce::Lce;
pub use location::{ADDRESS_BITS, Aperture, Location, Protection, Side, Space, by_aperture};
pub use release::{Flush, Reduction, Semaphore};
pub use rule::{LaunchError, Rule};
pub use transfer::{Lines, Operation, Order, Pattern, Transfer};

use crate::units::Fixed;

pub const TAG_BYTES: u64 = 16;

/// Bytes of the IV that an encryption writes back.
pub const IV_BYTES: u64 = 12;

/// What of a launch no configuration changes.
pub const FIXED: &[Fixed] = &[
    Fixed { name: "copy_engine.tag", value: TAG_BYTES, unit: "B", why: "a tag of AES-GCM as the open driver has it" },
    Fixed { name: "copy_engine.iv", value: IV_BYTES, unit: "B", why: "an IV of AES-GCM as the open driver has it" },
];

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Interrupt {
    #[default]
    None,
    /// The engine waits until it is served.
    Blocking,
    /// The engine goes on.
    NonBlocking,
}

/// One LAUNCH_DMA: transfer, then flush, then semaphore, then interrupt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Launch {
    /// The transfer; none for a launch that only releases a semaphore.
    pub transfer: Option<Transfer>,
    /// Flush after the transfer and before the semaphore.
    pub flush: Option<Flush>,
    pub semaphore: Option<Semaphore>,
    pub interrupt: Interrupt,
}

#[cfg(test)]
mod tests;
