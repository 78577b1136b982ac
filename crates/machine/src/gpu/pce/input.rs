//! What goes into a PCE's engine, for who listens.

use super::Pce;
use crate::{
    gcm::{message::SealOpen, part::Part},
    pcie::packet::Payload,
    sim::Meter,
};

/// What goes into a PCE's engine.
#[derive(Debug, Clone)]
pub enum EngineInput {
    Message(MessageInput),
    /// The next bytes of its text, in order. They come to the engine with beats.
    Text(Payload),
    /// So many bytes of its text are at the engine's port.
    Beat(u32),
    /// All of it is in, and its tag, or its share of one, stands in this cycle.
    Tag(u64),
    GivenUp,
}

#[derive(Debug, Clone)]
pub struct MessageInput {
    /// What of it goes through this engine.
    pub part: Part,
    pub nonce: [u8; 12],
    pub direction: SealOpen,
    /// The key of AES-GCM; none in a run without bytes, and for another AEAD.
    pub key: Option<Vec<u8>>,
}

/// Tells who listens what goes into the engine of this meter in this or a later cycle.
#[inline]
pub(super) fn tell(meter: &Option<Meter>, cycle: u64, input: impl FnOnce() -> EngineInput) {
    if let Some(meter) = meter {
        meter.enters(cycle, input);
    }
}

impl Pce {
    pub(super) fn tell_of_start(&self, number: u64, direction: SealOpen, cycle: u64) {
        tell(&self.meter, cycle, || {
            let place = (number - self.first) as usize;
            let job = &self.transfers[place].job;
            let key = self.keys.as_ref().map(|keys| match direction {
                SealOpen::Open => &keys.h2d,
                SealOpen::Seal => &keys.d2h,
            });
            EngineInput::Message(MessageInput {
                part: job.share.part,
                nonce: job.nonce,
                direction,
                key: key.and_then(|key| key.gcm()).map(|key| key.bytes().to_vec()),
            })
        });
    }
}
