//! Counters: of a key slot, and of one direction of a channel.

use super::{Iv, IvError, IvMask, Nonce};

/// The counter side of one key: the last channel counter given out, and the mask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct KeySlot {
    /// Channel counter of the newest channel; 0 if there was none.
    pub channel_counter: u64,
    pub mask: IvMask,
}

impl KeySlot {
    /// A fresh stream: the channel counter goes up by one, the message counter starts at 0.
    ///
    /// # Errors
    /// If the channel counter is at 2^64 - 1; it then stays.
    pub fn open(&mut self) -> Result<Stream, IvError> {
        self.channel_counter = self.channel_counter.checked_add(1).ok_or(IvError::ChannelCounter)?;
        Ok(Stream { last: Iv { channel: self.channel_counter, message: 0 }, mask: self.mask })
    }
}

/// IVs of one direction of one channel. The engine and the CPU each hold one and advance it in step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stream {
    last: Iv,
    mask: IvMask,
}

impl Stream {
    /// A stream at a given IV: `last` is the one used last.
    pub fn at(last: Iv, mask: IvMask) -> Self {
        Self { last, mask }
    }

    /// The mask of the key in use.
    pub fn mask(&self) -> IvMask {
        self.mask
    }

    /// Counts up and gives the IV of the next message.
    ///
    /// # Errors
    /// If the counter is at its end; it then stays.
    pub fn advance(&mut self) -> Result<Iv, IvError> {
        let message = self.last.message.checked_add(1);
        self.last.message = message.ok_or(IvError::MessageCounter(self.last.message))?;
        Ok(self.last)
    }

    /// As [`Stream::advance`], masked.
    pub fn next_nonce(&mut self) -> Result<Nonce, IvError> {
        Ok(self.advance()?.nonce(self.mask))
    }
}
