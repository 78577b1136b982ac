//! The bytes of a message, or of its part that passes one engine, and what stands in for its tag in a run without data.

use crate::{
    gcm::{
        bulk::{
            Key, Stream,
            chains::{Format, Message},
        },
        message::Direction,
        part::Part,
        pseudo::{pseudo_share, pseudo_tags},
    },
    gpu::work::Job,
};

/// Text under way.
#[derive(Debug)]
pub(super) enum Text {
    /// All of a message.
    Whole(Message),
    /// A part of one.
    Part(Part, [u8; 12], Stream),
}

impl Text {
    /// Begins it; none if there is no such message.
    pub fn new(format: Format, key: &Key, nonce: [u8; 12], part: Part, direction: Direction) -> Option<Self> {
        match part.bytes == part.total {
            true => Message::new(format, key, &nonce, direction).ok().map(Self::Whole),
            false => Some(Self::Part(part, nonce, part.stream(key, nonce, direction))),
        }
    }

    /// Enciphers or deciphers the next bytes in place.
    pub fn update(&mut self, key: &Key, text: &mut [u8]) {
        match self {
            Self::Whole(message) => message.update(key, text),
            Self::Part(_, _, stream) => stream.update(key, text),
        }
    }

    /// The tags of the message, or the part's share of its tag.
    pub fn tags(&self, key: &Key) -> Vec<u8> {
        match self {
            Self::Whole(message) => message.tags(key),
            Self::Part(part, nonce, stream) => part.share(key, *nonce, stream).to_vec(),
        }
    }
}

/// What stands in for a job's tags, or for its share of one.
pub(super) fn stand_in(job: &Job, damaged: bool, format: Format) -> Vec<u8> {
    let (share, part) = (job.share, job.share.part);
    match share.of {
        1 => pseudo_tags(job.nonce, job.bytes, damaged, format.chains),
        _ => pseudo_share(job.nonce, part.total, share.number, part.is_last(), damaged).to_vec(),
    }
}
