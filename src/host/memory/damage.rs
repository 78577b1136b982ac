//! What faults do to a sealed message in host memory.

/// The seeds of the faults that strike one message.
#[derive(Debug, Default)]
pub(in crate::host) struct Damage {
    pub text: Vec<u64>,
    pub tag: Vec<u64>,
}

impl Damage {
    /// Whether the message itself is not what was sealed.
    pub const fn hits_text(&self) -> bool {
        !self.text.is_empty()
    }

    /// Damages a message.
    pub fn text(&self, bytes: &mut [u8]) {
        self.text.iter().for_each(|seed| invert(bytes, *seed));
    }

    /// A tag as it comes out.
    pub fn tag<T: AsMut<[u8]>>(&self, mut tag: T) -> T {
        self.tag.iter().for_each(|seed| invert(tag.as_mut(), *seed));
        tag
    }
}

/// Inverts the bit that `seed` picks.
fn invert(bytes: &mut [u8], seed: u64) {
    let bits = bytes.len() as u64 * 8;
    if bits > 0 {
        bytes[(seed % bits / 8) as usize] ^= 1 << (seed % 8);
    }
}
