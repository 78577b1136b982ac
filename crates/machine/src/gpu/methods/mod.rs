//! Methods: how a driver speaks to a copy engine, word by word, as far as a run drives it.
//!
//! ```text
//!  launches, semaphore --- encode ---> words of a push ---> Lce::decode ---> launches, semaphore
//!                                                           registers, rules
//! ```
//!
//! | command | words |
//! | --- | --- |
//! | launch that opens | 14 |
//! | launch that seals | 16 |
//! | plain launch | 9 |
//! | release of a semaphore | 6 |
//!
//! The sizes are those of the comments at UVM_MAX_WLC_PUSH_SIZE and UVM_LCIC_PUSH_SIZE (open-gpu-kernel-modules 595.45.04,
//! kernel-open/nvidia-uvm/uvm_pushbuffer.h). A push is headers, each followed by its data words:
//!
//! | bits of a header | meaning |
//! | --- | --- |
//! | 11:0 | method offset / 4 |
//! | 12 | reserved, zero |
//! | 15:13 | subchannel, here 4: hardware since Kepler keeps it for the copy engine (UVM_SUBCHANNEL_CE) |
//! | 28:16 | number of data words, each for the next method |
//! | 31:29 | 1, incrementing |
//!
//! The layout is that of the host classes 0xC36F to 0xC56F (NVIDIA open-gpu-doc, clc56f.h) and is taken to hold for GH100. The class of the
//! copy engine is HOPPER_DMA_COPY_A = 0xC8B5. One launch moves one line of virtual addresses; a secure one is one GCM message with one tag and one
//! step of the IV, which the engine holds: no method brings one in. What a launch must obey is listed in [`Rule`]; all else that the class
//! can do (fills, several lines, physical ends, reductions, interrupts) is refused.

mod encode;
mod lce;
mod rule;
mod table;

pub use encode::{EncodeError, encode};
pub use lce::{Command, Lce};
pub use rule::{MethodError, Rule};

use crate::units::{Fixed, fixed};

/// Address bits of the methods: 25 + 32.
const ADDRESS_BITS: u32 = 57;

const SUBCHANNEL: u32 = 4;

const TAG_BYTES: u64 = 16;

/// Bytes of the IV that an encryption writes back.
const IV_BYTES: u64 = 12;

/// Bytes that a semaphore writes.
pub const SEMAPHORE_BYTES: u32 = 4;

/// What of a launch no configuration changes.
pub const FIXED: &[Fixed] = fixed! {
    "copy_engine.tag" TAG_BYTES, "B", "a tag of AES-GCM as the open driver has it";
    "copy_engine.iv" IV_BYTES, "B", "an IV of AES-GCM as the open driver has it";
};

#[cfg(test)]
mod tests;
