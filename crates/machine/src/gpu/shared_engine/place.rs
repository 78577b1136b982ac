//! A PCE's place in the engine that it shares: the messages that it has announced, and what has come of them.

use crate::{
    gcm::message::SealOpen,
    gpu::{
        spec::Turns,
        work::{EngineRequest, JobId},
    },
};
use std::collections::VecDeque;

/// Bytes of a block.
const BLOCK: u64 = 16;

/// Bytes that have come and that the engine has not been given.
#[derive(Debug)]
struct Beat {
    /// What the PCE gets when they are through; none for those that do not come.
    offset: Option<u64>,
    left: u64,
}

#[derive(Debug)]
struct Announced {
    job: JobId,
    bytes: u64,
    direction: SealOpen,
    /// Bytes that have come, or that will not.
    come: u64,
    /// Bytes that the engine has been given.
    given: u64,
    beats: VecDeque<Beat>,
}

impl Announced {
    /// Nothing more comes: the engine counts out what is missing.
    fn void(&mut self) {
        let missing = self.bytes - self.come;
        if missing > 0 {
            self.come = self.bytes;
            self.beats.push_back(Beat { offset: None, left: missing });
        }
    }
}

/// Bytes of a message that pass through the engine together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Turn {
    pub job: JobId,
    pub direction: SealOpen,
    /// Bytes of the message before it.
    pub before: u64,
    pub left: u64,
    /// Whether the message ends with it.
    pub closes: bool,
}

/// A request that is invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Refusal {
    pub job: JobId,
    announced: bool,
}

impl Refusal {
    pub const fn why(self) -> &'static str {
        if self.announced { "bytes before it are missing" } else { "its message was not announced" }
    }
}

#[derive(Debug, Default)]
pub(super) struct Place {
    messages: VecDeque<Announced>,
    /// Jobs up to this one have come to their end.
    ended: JobId,
    /// Cycle in which the value of its last turn stands.
    pub value: u64,
}

impl Place {
    /// Whether there is a message that is not through.
    pub fn announced(&self) -> bool {
        !self.messages.is_empty()
    }

    /// Takes a request, or refuses it. What comes a second time is dropped.
    pub fn take(&mut self, request: EngineRequest) -> Option<Refusal> {
        match request {
            EngineRequest::Message { job, bytes, direction } => {
                if self.messages.back().map_or(self.ended, |last| last.job) < job {
                    let beats = VecDeque::new();
                    self.messages.push_back(Announced { job, bytes, direction, come: 0, given: 0, beats });
                }
                None
            }
            EngineRequest::Beat { job, offset, bytes } => self.take_beat(job, offset, u64::from(bytes)),
            EngineRequest::GivenUp { job } => {
                self.messages.iter_mut().filter(|message| message.job == job).for_each(Announced::void);
                None
            }
        }
    }

    fn take_beat(&mut self, job: JobId, offset: u64, bytes: u64) -> Option<Refusal> {
        let Some(message) = self.messages.iter_mut().find(|message| message.job == job) else {
            return (job > self.ended).then_some(Refusal { job, announced: false });
        };
        if offset > message.come {
            message.void();
            return Some(Refusal { job, announced: true });
        }
        if offset == message.come {
            let left = bytes.min(message.bytes - message.come);
            message.come += left;
            message.beats.push_back(Beat { offset: Some(offset), left });
        }
        None
    }

    /// The turn that it can have: with its bytes all there, or by message as soon as some are there, or, if it need not have `begun`, as soon as
    /// its message is announced.
    pub fn turn(&self, turns: Turns, begun: bool) -> Option<Turn> {
        let message = self.messages.front()?;
        let (left, there) = (message.bytes - message.given, message.come - message.given);
        let (bytes, can) = match turns {
            Turns::Message => (left, there > 0 || !begun),
            Turns::Bytes(longest) => (longest.min(left), there >= longest.min(left)),
            Turns::Need(most) => {
                let blocks = if there == left { left } else { there - there % BLOCK };
                (blocks.min(most), blocks > 0)
            }
        };
        let Announced { job, direction, given: before, .. } = *message;
        can.then_some(Turn { job, direction, before, left: bytes, closes: bytes == left })
    }

    /// Takes up to `most` bytes of the oldest beat; gives the beat's place if they are its last, and their number.
    pub fn next_bytes(&mut self, most: u64) -> Option<(Option<u64>, u32)> {
        let message = self.messages.front_mut()?;
        let beat = message.beats.front_mut()?;
        let bytes = beat.left.min(most);
        beat.left -= bytes;
        message.given += bytes;
        let offset = if beat.left == 0 { message.beats.pop_front()?.offset } else { None };
        Some((offset, u32::try_from(bytes).ok()?))
    }

    pub fn end(&mut self) {
        if let Some(message) = self.messages.pop_front() {
            self.ended = message.job;
        }
    }
}
