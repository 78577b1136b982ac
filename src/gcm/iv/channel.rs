//! Counters: of a key slot, of one direction of a channel, and of both.

use super::{Iv, IvError, IvMask, Nonce, RotationLimit};

/// The counter side of one key: the last channel counter given out, and the mask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct KeySlot {
    /// Channel counter of the newest channel or rotation; 0 if there was none.
    pub channel_counter: u64,
    /// Mask of the current key.
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
    #[must_use]
    pub fn at(last: Iv, mask: IvMask) -> Self {
        Self { last, mask }
    }

    /// The IV used last; its message counter is 0 before the first message.
    #[must_use]
    pub fn last(&self) -> Iv {
        self.last
    }

    /// The mask of the key in use.
    #[must_use]
    pub fn mask(&self) -> IvMask {
        self.mask
    }

    /// Messages that can still be sent: 0xFFFFFFFF minus the counter.
    #[must_use]
    pub fn remaining(&self) -> u32 {
        u32::MAX - self.last.message
    }

    /// Counts up and gives the IV of the next message.
    ///
    /// # Errors
    /// If the counter is at its end; it then stays.
    pub fn advance(&mut self) -> Result<Iv, IvError> {
        let message = self.last.message.checked_add(1);
        self.last.message = message.ok_or(IvError::MessageCounter(self.last.message.into()))?;
        Ok(self.last)
    }

    /// As [`Stream::advance`], masked.
    ///
    /// # Errors
    /// As [`Stream::advance`].
    pub fn next_nonce(&mut self) -> Result<Nonce, IvError> {
        Ok(self.advance()?.nonce(self.mask))
    }

    /// After a key rotation: the channel counter stays, the message counter restarts, the mask is the new key's.
    pub fn rekey(&mut self, mask: IvMask) {
        self.last.message = 0;
        self.mask = mask;
    }
}

/// The key slots of both directions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SlotPair {
    /// CPU to GPU.
    pub h2d: KeySlot,
    /// GPU to CPU.
    pub d2h: KeySlot,
}

impl SlotPair {
    /// The streams of a new channel. On an error neither slot has moved.
    ///
    /// # Errors
    /// If a channel counter is exhausted.
    pub fn open(&mut self) -> Result<ChannelIvs, IvError> {
        let mut next = *self;
        let ivs = ChannelIvs { h2d: next.h2d.open()?, d2h: next.d2h.open()? };
        *self = next;
        Ok(ivs)
    }

    /// Installs the masks of new keys. The channel counters stay.
    pub fn rekey(&mut self, h2d: IvMask, d2h: IvMask) {
        self.h2d.mask = h2d;
        self.d2h.mask = d2h;
    }
}

/// Both directions of a channel, each with its own counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChannelIvs {
    /// CPU to GPU: the CPU seals, the engine opens.
    pub h2d: Stream,
    /// GPU to CPU: the engine seals, the CPU opens.
    pub d2h: Stream,
}

impl ChannelIvs {
    /// Whether a direction runs low.
    #[must_use]
    pub fn rotation_due(&self, limit: RotationLimit) -> bool {
        [self.h2d, self.d2h].iter().any(|stream| limit.is_due(stream.remaining()))
    }

    /// IV rotation, with the channel idle on both sides: new channel counters, message counters from 0.
    ///
    /// # Errors
    /// If a channel counter is exhausted; nothing has then changed.
    pub fn rotate(&mut self, slots: &mut SlotPair) -> Result<(), IvError> {
        *self = slots.open()?;
        Ok(())
    }

    /// Key rotation: to the masks that `slots` now hold.
    pub fn rekey(&mut self, slots: &SlotPair) {
        self.h2d.rekey(slots.h2d.mask);
        self.d2h.rekey(slots.d2h.mask);
    }
}
