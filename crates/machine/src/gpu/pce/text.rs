//! The bytes of a message, or of its part that passes one engine, and what replaces its tag in a run without data.

use crate::{
    gcm::{
        bulk::{Stream, chains::TAG_BYTES, text_crc::TextCrc},
        message::SealOpen,
        part::Part,
        pseudo::{pseudo_share, pseudo_tags},
        strike::StruckMessage,
    },
    gpu::work::Job,
    sealing::{Format, Key, Message},
};

#[derive(Debug)]
pub(super) enum Text {
    Whole(Message),
    /// A part of a message, and the number of its tag if it has one of its own.
    Part(Part, Option<u32>, [u8; 12], Stream),
    /// A message that faults strike in the registers of its engine, and the CRC of its text if the format has one.
    Struck(Box<StruckMessage>, Option<TextCrc>),
}

impl Text {
    /// Begins it; none if there is no such message.
    pub fn new(format: Format, key: &Key, nonce: [u8; 12], part: Part, direction: SealOpen) -> Option<Self> {
        match part.bytes == part.total {
            true => Message::new(format, key, nonce, direction).map(Self::Whole),
            false => Self::of_part(part, None, key, nonce, direction),
        }
    }

    /// Begins a part, which may have the tag of this number.
    pub fn of_part(part: Part, tag: Option<u32>, key: &Key, nonce: [u8; 12], direction: SealOpen) -> Option<Self> {
        key.gcm().map(|key| Self::Part(part, tag, nonce, part.stream(key, nonce, direction)))
    }

    /// Begins a message that faults strike.
    pub fn of_struck(format: Format, message: Box<StruckMessage>, direction: SealOpen) -> Self {
        Self::Struck(message, format.text_crc().then(|| TextCrc::new(direction)))
    }

    /// Takes the tag that came with the message, before its text.
    pub fn seed(&mut self, tag: &[u8]) {
        if let Self::Whole(message) = self {
            message.seed(tag);
        }
    }

    /// Takes the next text that passes for the first time of two; `last` says that no more comes.
    pub fn absorb(&mut self, text: &[u8], last: bool) {
        if let Self::Whole(message) = self {
            message.absorb(text);
            if last {
                message.turn();
            }
        }
    }

    /// Enciphers or deciphers the next bytes in place.
    pub fn update(&mut self, key: &Key, text: &mut [u8]) {
        match self {
            Self::Whole(message) => message.update(key, text),
            Self::Part(.., stream) => key.gcm().into_iter().for_each(|key| stream.update(key, text)),
            Self::Struck(message, Some(crc)) => crc.pass(text, |text| message.update(text)),
            Self::Struck(message, None) => message.update(text),
        }
    }

    /// Where faults strike it: the message, for what has become of them.
    pub fn struck(self) -> Option<Box<StruckMessage>> {
        match self {
            Self::Struck(message, _) => Some(message),
            Self::Whole(_) | Self::Part(..) => None,
        }
    }

    /// The tags of the message, or the part's share of its tag.
    pub fn tags(&mut self, key: &Key) -> Vec<u8> {
        match self {
            Self::Whole(message) => message.tags(key),
            Self::Part(part, tag, nonce, stream) => key.gcm().map_or_else(Vec::new, |key| match tag {
                Some(number) => part.chunk_tag(key, *nonce, stream, *number).to_vec(),
                None => part.share(key, *nonce, stream).to_vec(),
            }),
            Self::Struck(message, crc) => {
                let mut tags = message.finish().to_vec();
                crc.iter().for_each(|crc| crc.add_to(&mut tags));
                tags
            }
        }
    }
}

/// What replaces a job's tags, or for its share of one, in a run that carries no bytes.
pub(super) fn stand_in(job: &Job, format: Format) -> Vec<u8> {
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
