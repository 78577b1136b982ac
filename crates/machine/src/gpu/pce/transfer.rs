//! One transfer in a PCE.

use super::{
    PceSpec,
    opening::{Ended, Opening},
    quarantine::Held,
    text::Text,
    work::{Ask, Piece},
};
use crate::{
    gpu::{
        spec::{TagFetch, TagPlacement},
        work::{Job, LaunchKind, Sealed, SmJob},
    },
    pcie::packet::Payload,
    pcie::split::{Request, RequestPolicy, RequestSplit},
};

/// Bytes that are delivered to be opened at once.
const PIECE: u64 = 64 << 10;

/// Reach of addresses within the buffer for ciphertext.
const WINDOW: u64 = 1 << 40;

/// What a message that is sealed in two passes has gone through for the first time.
#[derive(Debug, Default)]
pub(super) struct FirstPass {
    pub absorbed: u64,
    /// Room in addition to the read buffer for a message that is kept; none for one that is read twice.
    pub kept_room: Option<u64>,
    pub text: Payload,
}

impl FirstPass {
    /// Of a message of `bytes` bytes, in an engine that keeps at most `kept`.
    fn of(bytes: u64, kept: u64) -> Self {
        Self { kept_room: (bytes <= kept).then_some(kept), ..Self::default() }
    }

    /// Room in addition to the read buffer.
    pub fn room(&self) -> u64 {
        self.kept_room.unwrap_or(0)
    }
}

#[derive(Debug)]
pub(super) struct Transfer {
    pub job: Job,
    /// Cycle from which it may ask.
    pub ready: u64,
    requests: RequestSplit,
    next: Option<Request>,
    tag_first: bool,
    tag_asked: bool,
    pub tag_known: bool,
    /// What has come of the expected tag.
    pub expected: Vec<u8>,
    /// How many bytes of it have come, whether or not they were readable.
    pub expected_bytes: u64,
    /// Bytes asked from device memory.
    pub asked: u64,
    /// Bytes that have passed.
    pub fed: u64,
    /// Bytes that have passed and are not yet in a write to device memory.
    pub unwritten: u64,
    /// Of a message that is sealed in two passes.
    pub first_pass: Option<Box<FirstPass>>,
    /// Bytes that are in writes to device memory.
    pub written: u64,
    /// Bytes that have come and not gone on.
    pub assembly: Payload,
    pub stream: Option<Text>,
    /// Of an opening transfer: the bytes opened so far.
    pub opening: Option<Opening>,
    /// Under `hold`: writes that wait for the verdict.
    pub held: Held,
    /// Of a transfer to host memory: how many TLPs this PCE has sent when its last one is sent.
    pub last_push: Option<u64>,
    /// Of a part of a message that is sealed: its share of the tag, and the cycle in which it is valid.
    pub share: Option<(u64, [u8; 16])>,
    /// With a shared engine: bytes that have gone to it and bytes that are back.
    pub to_engine: u64,
    pub through: u64,
    /// With a shared engine: cycle in which the message's tag stands here.
    pub tag_stands: Option<u64>,
    /// With a shared GHASH: cycle in which the PCE's lanes are done with the message.
    pub lanes_done: u64,
    pub failed: Option<String>,
    /// Where SMs seal and open: the message's place in the buffer for ciphertext.
    pub staging: Option<u64>,
    pub sealed: Option<Sealed>,
}

impl Transfer {
    pub fn new(job: Job, ready: u64, spec: &PceSpec, tag_bytes: u64) -> Self {
        let open = job.kind == LaunchKind::Open;
        let secure = matches!(job.kind, LaunchKind::Open | LaunchKind::Seal);
        let plain = if open { job.destination } else { job.source };
        let tagged = open && job.share.part.is_last();
        let inline = tagged && spec.tag_queue.placement == Some(TagPlacement::Inline);
        let stream = job.bytes + if inline { tag_bytes } else { 0 };
        let mut requests = RequestSplit::new(job.source, stream, spec.max_read_request, RequestPolicy::Aligned);
        let next = if job.kind.reads_host() { requests.next() } else { None };
        let kept = spec.engine.as_ref().and_then(|engine| engine.model().buffer()).map(|buffer| buffer.0);
        let kept = kept.filter(|_| job.kind == LaunchKind::Seal);
        Self {
            ready,
            first_pass: kept.map(|kept| Box::new(FirstPass::of(job.bytes, kept))),
            requests,
            next,
            tag_first: spec.tag_queue.fetch == TagFetch::BeforeData,
            tag_asked: !tagged || inline,
            tag_known: !tagged,
            expected: Vec::new(),
            expected_bytes: 0,
            asked: 0,
            fed: 0,
            unwritten: 0,
            written: 0,
            assembly: Payload::none(),
            stream: None,
            opening: None,
            held: Held::new(open && spec.tag_queue.release.quarantines()),
            last_push: None,
            share: None,
            to_engine: 0,
            through: 0,
            tag_stands: None,
            lanes_done: 0,
            failed: None,
            // At the same place within its window as the plaintext, so equally aligned.
            staging: spec.staging.filter(|_| secure).map(|base| base + plain % WINDOW),
            sealed: None,
            job,
        }
    }

    /// The message as the SMs get it.
    pub fn for_sms(&self, text: Payload) -> SmJob {
        let staging = self.staging.unwrap_or_default();
        let open = self.job.kind == LaunchKind::Open;
        SmJob {
            id: self.job.id,
            kind: self.job.kind,
            source: if open { staging } else { self.job.source },
            destination: if open { self.job.destination } else { staging },
            bytes: self.job.bytes,
            nonce: self.job.nonce,
            text,
        }
    }

    /// What to ask host memory for next, if anything.
    #[inline]
    pub fn next_ask(&self) -> Option<Ask> {
        match self.next {
            _ if self.failed.is_some() => None,
            Some(_) if self.tag_first && !self.tag_asked => Some(Ask::Tag),
            Some(request) => Some(Ask::Data(request)),
            None if !self.tag_asked => Some(Ask::Tag),
            None => None,
        }
    }

    /// Notes that it has been asked.
    #[inline]
    pub fn asked(&mut self, ask: Ask) {
        match ask {
            Ask::Tag => self.tag_asked = true,
            Ask::Data(_) => self.next = self.requests.next(),
        }
    }

    #[inline]
    pub fn asked_all(&self) -> bool {
        match self.job.kind.reads_host() {
            true => self.next_ask().is_none(),
            false => self.failed.is_some() || self.asked == self.job.bytes * self.reads(),
        }
    }

    /// How often its bytes are read from device memory.
    #[inline]
    fn reads(&self) -> u64 {
        1 + u64::from(self.first_pass.as_ref().is_some_and(|pass| pass.kept_room.is_none()))
    }

    #[inline]
    pub fn fed_all(&self) -> bool {
        self.fed == self.job.bytes
    }

    #[inline]
    pub fn take_in(&mut self, piece: Piece) {
        self.assembly.append(piece.payload);
        self.hand_over(PIECE);
    }

    /// Hands what has come to be opened, if it is at least `piece` bytes.
    #[inline]
    pub fn hand_over(&mut self, piece: u64) {
        if let Some(opening) = &self.opening
            && self.assembly.length() >= piece
        {
            opening.take(std::mem::take(&mut self.assembly));
        }
    }

    /// Ends the opening: plaintext and tags, if there are bytes, and the message if faults struck it.
    pub fn close(&mut self) -> Option<Ended> {
        self.hand_over(0);
        self.opening.take().map(Opening::end)
    }

    /// Whether a transfer to device memory needs nothing more from its PCE.
    pub fn finished(&self) -> bool {
        let passed = self.fed_all() && self.through == self.to_engine;
        self.failed.is_some() || (passed && self.tag_known && !self.held.waits && !self.job.kind.writes_host())
    }
}
