//! A packet between GPUs.

use crate::{
    pcie::packet::Payload,
    sim::{FaultKind, Flip, Item, Pick, Selectors},
};

/// A packet: text of a transfer, a tag, or both.
#[derive(Debug, Clone)]
pub struct Packet {
    pub source: u8,
    pub target: u8,
    /// Number of its message between the two, from 0: its IV.
    pub message: u64,
    /// Where its text lies in its transfer.
    pub offset: u64,
    pub bytes: u32,
    /// Flits that it takes on a link.
    pub flits: u32,
    pub tagged: bool,
    /// Its text, in a run with bytes.
    pub text: Payload,
    /// The tag, in a run with bytes.
    pub tag: Payload,
}

/// Inverts the bit of `payload` that is picked; what others see of its memory stays as it is.
fn flip(payload: &mut Payload, pick: impl Into<Pick>) -> Option<Flip> {
    let mut copy = payload.bytes()?.to_vec();
    let flip = Flip::of_bytes(&mut copy, pick, None);
    *payload = Payload::of(copy);
    flip
}

impl Item for Packet {
    /// An adversary on the way does all of these, and makes the link's own checks fit.
    const FAULTS: &'static [FaultKind] = &[FaultKind::Flip, FaultKind::Drop, FaultKind::Duplicate, FaultKind::Reorder];

    const SELECTORS: Selectors = Selectors { fields: &["text", "tag", "offset"], messages: true, ..Selectors::NONE };

    fn event_key(&self) -> u64 {
        let ends = u64::from(self.source) << 8 | u64::from(self.target);
        let sizes = u64::from(self.bytes) << 1 | u64::from(self.tagged);
        self.message.rotate_left(40) ^ self.offset.rotate_left(16) ^ ends.rotate_left(56) ^ sizes
    }

    /// Inverts a bit of its text, of its tag where it has no text, or of its header where it has neither.
    fn flip(&mut self, seed: u64) -> Option<Flip> {
        let content = if self.bytes > 0 { flip(&mut self.text, seed) } else { flip(&mut self.tag, seed) };
        content.or_else(|| {
            let before = self.event_key();
            self.offset ^= 1 << (seed % 40);
            Some(Flip::of_header(before, self.event_key()))
        })
    }

    fn message(&self) -> Option<u64> {
        Some(self.message)
    }

    fn flip_bit(&mut self, field: Option<&str>, pick: Pick) -> Option<Flip> {
        match field {
            None if self.bytes > 0 => flip(&mut self.text, pick),
            Some("text") => flip(&mut self.text, pick),
            None | Some("tag") => flip(&mut self.tag, pick),
            Some("offset") => {
                let before = self.event_key();
                self.offset ^= 1 << pick.among(40)?;
                Some(Flip::of_header(before, self.event_key()))
            }
            Some(_) => None,
        }
    }
}
