//! Pushbuffers as the driver writes them: from launches to bytes, and back.
//!
//! ```text
//!   [Command] ---- encode ---->  bytes in the pushbuffer  ---- decode ---->  [Command]
//! ```
//!
//! | command, virtual addresses | words | bytes |
//! | --- | --- | --- |
//! | secure decrypt | 14 | 56 |
//! | secure encrypt | 16 | 64 |
//! | semaphore release or reduction, 4-byte payload | 6 | 24 |
//! | plain copy | 9 | 36 |
//! | fill with elements of 4 bytes | 10 | 40 |
//! | fill with elements of 8 bytes | 11 | 44 |
//! | host WFI | 2 | 8 |
//!
//! The sizes are those of the comments at UVM_MAX_WLC_PUSH_SIZE and UVM_LCIC_PUSH_SIZE (open-gpu-kernel-modules
//! 595.45.04, kernel-open/nvidia-uvm/uvm_pushbuffer.h). A physical end costs two words more, for its aperture; a
//! semaphore that rides on a transfer saves one LAUNCH_DMA.

mod encode;

pub use encode::{EncodeError, packets};

use super::{
    launch::{Launch, LaunchError, Lce, Protection},
    method::{Class, DecodeError, Decoder, Write, c8b5, c86f, emit},
};
use thiserror::Error;

/// What a driver asks a channel for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    /// SET_OBJECT: binds the copy engine to its subchannel.
    Bind,
    /// The registers of one launch, and LAUNCH_DMA.
    Launch(Launch),
    /// Host WFI: waits until the engine is idle.
    WaitForIdle,
    /// Host NOPs that fill this many words, header included; at least 1.
    Nop(u16),
}

/// The bytes of `commands`.
///
/// # Errors
/// If a launch has a value that its methods cannot carry. Rules of LAUNCH_DMA are not checked here.
pub fn encode(commands: &[Command]) -> Result<Vec<u8>, EncodeError> {
    let mut all = Vec::new();
    for command in commands {
        all.extend(packets(command)?);
    }
    Ok(emit(&all))
}

/// Why bytes are no legal pushbuffer.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PushError {
    /// The bytes are not methods.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// The methods break a rule.
    #[error("method {method} at byte {at}: {cause}")]
    Launch {
        /// Byte offset of the datum.
        at: usize,
        /// Name of the method.
        method: &'static str,
        cause: LaunchError,
    },
}

/// A channel's view of a stream: bindings and registers, which live on from push to push.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stream {
    pub decoder: Decoder,
    pub lce: Lce,
}

impl Stream {
    /// Decodes one push into its launches and waits, each with the byte offset of the datum that triggers it. NOPs
    /// and bindings leave no command.
    pub fn decode(&mut self, bytes: &[u8], protection: &Protection) -> Result<Vec<(usize, Command)>, PushError> {
        let mut commands = Vec::new();
        for write in self.decoder.decode(bytes)? {
            if let Some(command) = self.take(&write, protection)? {
                commands.push((write.at, command));
            }
        }
        Ok(commands)
    }

    /// Executes one method write.
    pub fn take(&mut self, write: &Write, protection: &Protection) -> Result<Option<Command>, PushError> {
        if write.class == Class::Host {
            return Ok((write.method.offset == c86f::WFI::OFFSET).then_some(Command::WaitForIdle));
        }
        if write.method.offset == c8b5::NOP::OFFSET {
            return Ok(None);
        }
        let launch = self.lce.write(write.method.offset, write.data, protection);
        let wrong = |cause| PushError::Launch { at: write.at, method: write.method.name, cause };
        Ok(launch.map_err(wrong)?.map(Command::Launch))
    }
}

#[cfg(test)]
mod tests;
