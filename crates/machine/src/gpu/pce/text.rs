//! The bytes of a message, or of its part that passes one engine, and what replaces its tag in a run without data.

use crate::{
    aead::{bytes::WireFormat, stream::Stream},
    gcm::{
        bulk::{chains::TAG_BYTES, text_crc::TextCrc},
        message::SealOpen,
        pseudo::{pseudo_share, pseudo_tags},
        upset::UpsetMessage,
    },
    gpu::work::Job,
};

#[derive(Debug)]
pub(in crate::gpu) enum Text {
    Sound(Stream),
    /// A message that faults upset in the registers of its engine, and the CRC of its text if the format has one.
    Upset(Box<UpsetMessage>, Option<TextCrc>),
}

impl Text {
    /// Begins a message that faults upset.
    pub fn of_upset(format: WireFormat, message: Box<UpsetMessage>, direction: SealOpen) -> Self {
        Self::Upset(message, format.chains.text_crc.then(|| TextCrc::new(direction)))
    }

    /// Takes the tag that came with the message, before its text.
    pub fn seed(&mut self, tag: &[u8]) {
        if let Self::Sound(message) = self {
            message.seed(tag);
        }
    }

    /// Takes the next text that passes for the first time of two; `last` says that no more comes.
    pub fn absorb(&mut self, text: &[u8], last: bool) {
        if let Self::Sound(message) = self {
            message.absorb(text);
            if last {
                message.turn();
            }
        }
    }

    /// Enciphers or deciphers the next bytes in place.
    pub fn update(&mut self, text: &mut [u8]) {
        match self {
            Self::Sound(message) => message.update(text),
            Self::Upset(message, Some(crc)) => crc.pass(text, |text| message.update(text)),
            Self::Upset(message, None) => message.update(text),
        }
    }

    /// Where faults strike it: the message, for what has become of them.
    pub fn upset(self) -> Option<Box<UpsetMessage>> {
        match self {
            Self::Upset(message, _) => Some(message),
            Self::Sound(_) => None,
        }
    }

    /// The tags of the message, or the part's share of its tag.
    pub fn tags(&mut self) -> Vec<u8> {
        match self {
            Self::Sound(message) => message.tag(),
            Self::Upset(message, crc) => {
                let mut tags = message.finish().to_vec();
                crc.iter().for_each(|crc| crc.add_to(&mut tags));
                tags
            }
        }
    }
}

/// What replaces a job's tags, or for its share of one, in a run that carries no bytes.
pub(super) fn stand_in(job: &Job, format: WireFormat) -> Vec<u8> {
    let (share, part) = (job.share, job.share.part);
    match (share.of, share.piece) {
        (_, Some((number, part))) => {
            let before = TAG_BYTES * number as usize;
            pseudo_tags(job.nonce, part.total, (before + TAG_BYTES) as u64).split_off(before)
        }
        (1, None) => pseudo_tags(job.nonce, job.bytes, format.tag_bytes()),
        (_, None) => pseudo_share(job.nonce, part.total, part.is_last()).to_vec(),
    }
}
