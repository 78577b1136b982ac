//! A message that is being received.

use crate::{
    aead::stream::Stream,
    fabric::{packet::Packet, spec::Protection},
    pcie::packet::Payload,
};

/// A message of which parts have come, or may come.
#[derive(Debug)]
pub(super) struct Opening {
    /// Where it lies in its transfer.
    pub start: u64,
    pub bytes: u64,
    pub came: u64,
    /// Whether its tag has come, if it has one.
    tagged: bool,
    sealed: bool,
    tag: Payload,
    /// What opens it, in a run with bytes.
    pub message: Option<Stream>,
    /// Its text as far as it has come, opened.
    pub text: Option<Vec<u8>>,
    pub right: bool,
}

impl Opening {
    pub const fn new(start: u64, bytes: u64, sealed: bool) -> Self {
        let tag = Payload::none();
        Self { start, bytes, came: 0, tagged: false, sealed, tag, message: None, text: None, right: false }
    }

    /// Whether a packet is the next of this message, or why it is not.
    pub fn fits(&self, packet: &Packet, payload: u64, protection: Option<&Protection>) -> Result<(), String> {
        let bytes = payload.min(self.bytes - self.came);
        let last = self.came + bytes == self.bytes;
        let in_packet = protection.is_some_and(|protection| protection.tag_in_packet.is_some());
        let expected = match (bytes, self.sealed && !self.tagged) {
            (0, false) => return Err("its message is over".into()),
            (0, true) => (0, true),
            (bytes, _) => (bytes as u32, in_packet && last),
        };
        match packet.offset == self.start + self.came && (packet.bytes, packet.tagged) == expected {
            true => Ok(()),
            false => Err(format!("offset {} is next", self.start + self.came)),
        }
    }

    pub fn take(&mut self, packet: &Packet) {
        self.came += u64::from(packet.bytes);
        if packet.tagged {
            (self.tagged, self.tag) = (true, packet.tag.clone());
        }
        let Some(bytes) = packet.text.bytes() else { return };
        let mut text = bytes.to_vec();
        self.message.iter_mut().for_each(|message| message.update(&mut text));
        self.text.get_or_insert_default().extend(text);
    }

    /// Whether all of it has come, the tag too.
    pub const fn whole(&self) -> bool {
        self.came == self.bytes && (self.tagged || !self.sealed)
    }

    /// Whether its tag is that of its text. Without keys nothing is sealed, or the run carries no bytes and has no faults.
    pub fn is_right(&self, keyed: bool) -> bool {
        match &self.message {
            _ if !keyed => true,
            Some(message) => self.tag.bytes() == Some(&message.tag()[..]),
            None => !self.sealed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sealed_message_without_anything_that_opens_it_is_never_right() {
        let sealed = Opening::new(0, 16, true);
        assert!(!sealed.is_right(true) && sealed.is_right(false));
        assert!(Opening::new(0, 16, false).is_right(true));
    }
}
