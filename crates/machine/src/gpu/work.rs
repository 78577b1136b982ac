//! What passes between the units of the copy engine.

pub use crate::stream::LaunchKind;
use crate::{
    gcm::{bulk::chains::TAG_BYTES, message::SealOpen, part::Part},
    pcie::packet::Payload,
    sim::{FaultKind, Flip, Item, Pick, Selectors, items},
    stream::Computation,
    units::Femtos,
};

/// An injection can choose a message among them.
const MESSAGES: Selectors = Selectors { messages: true, ..Selectors::NONE };

/// A push for the channel of a copy engine.
#[derive(Debug, Clone)]
pub struct CopyPush {
    pub number: u32,
    /// The copy that it belongs to, if any.
    pub copy: Option<usize>,
    /// Cycle in which its doorbell rang.
    pub rung: u64,
    /// Its methods; none if there is no push of the number that a doorbell named.
    pub methods: Option<Vec<u32>>,
}

#[derive(Debug, Clone)]
pub struct ComputePush {
    pub number: u32,
    /// The copy that it belongs to, if any.
    pub copy: Option<usize>,
    pub work: Computation,
}

impl Item for ComputePush {
    fn event_key(&self) -> u64 {
        let what = match self.work {
            Computation::Kernel { duration } => duration.0.rotate_left(20),
            Computation::Collective { duration } => duration.0.rotate_left(20) ^ 1 << 62,
            Computation::Network { duration } => duration.0.rotate_left(20) ^ 1 << 61,
            Computation::Copy { source, bytes, .. } => source ^ bytes.rotate_left(20) ^ 1 << 63,
        };
        what ^ u64::from(self.number)
    }
}

/// An engine has carried out all of a push.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retired {
    pub push: u32,
}

/// A copy has begun or ended on the device, or a part of it has, or its first message can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    pub copy: usize,
    pub edge: Edge,
    pub time: Femtos,
}

/// What a mark stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edge {
    Begin,
    /// The first message of a copy is in device memory and its tag was found right.
    Verified,
    /// A push is done, and its semaphore is released.
    End,
}

/// Number of a job: launches in order, and their parts in order.
pub type JobId = u64;

/// The part that a job has in a message. A message that no other PCE has a part in is one job, and its own number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// Number of the message: that of its first job.
    pub message: JobId,
    /// Jobs that the message is split into, and which of them this one is.
    pub of: u32,
    /// Its place among them.
    pub number: u32,
    pub part: Part,
    /// Where each piece of a message has a tag: its number, and its bytes within the message. Then it is a message of its own but for its IV.
    pub piece: Option<(u32, Part)>,
}

impl Share {
    pub const fn whole(message: JobId, bytes: u64) -> Self {
        Self { message, of: 1, number: 0, part: Part::whole(bytes), piece: None }
    }

    /// Number of the launch: that of its first job.
    pub fn launch(&self) -> JobId {
        self.message - self.piece.map_or(0, |(number, _)| JobId::from(number))
    }

    pub fn of_launch(&self) -> Part {
        self.piece.map_or(self.part, |(_, part)| part)
    }
}

/// A transfer, or a part of one, for one PCE.
#[derive(Debug, Clone)]
pub struct Job {
    pub id: JobId,
    pub kind: LaunchKind,
    pub source: u64,
    pub destination: u64,
    pub bytes: u64,
    /// Where the expected tag is read or the computed tag is written.
    pub tag: u64,
    pub iv: u64,
    /// The IV as the engine reports it, and the nonce that it gives.
    pub iv_bytes: [u8; 12],
    pub nonce: [u8; 12],
    pub share: Share,
}

impl Job {
    /// Part `number` of this job, which is a whole message, in parts of `bytes` bytes, the last one shorter.
    pub fn part(&self, number: u32, bytes: u64) -> Self {
        let start = u64::from(number) * bytes;
        let part = Part { start, bytes: bytes.min(self.bytes - start), total: self.bytes };
        Self {
            id: self.id + u64::from(number),
            source: self.source + start,
            destination: self.destination + start,
            bytes: part.bytes,
            share: Share { message: self.id, of: self.bytes.div_ceil(bytes) as u32, number, part, piece: None },
            ..self.clone()
        }
    }

    /// The piece from `start` on of this job, which is a whole message with a tag for each `every` bytes.
    pub fn piece(&self, start: u64, every: u64) -> Self {
        let number = start / every;
        let part = Part { start, bytes: every.min(self.bytes - start), total: self.bytes };
        let id = self.id + number;
        Self {
            id,
            source: self.source + start,
            destination: self.destination + start,
            bytes: part.bytes,
            tag: self.tag + number * TAG_BYTES as u64,
            share: Share { piece: Some((number as u32, part)), ..Share::whole(id, part.bytes) },
            ..self.clone()
        }
    }
}

#[derive(Debug, Clone)]
pub enum PceWork {
    Transfer(Job),
    /// Write a semaphore, after everything before it.
    Release {
        /// Address in host memory.
        address: u64,
        /// Bytes, at most 8.
        bytes: u32,
        value: u64,
        /// The push that ends with it, if one does.
        push: Option<u32>,
    },
    /// Write the tag of a message that was sealed in parts, and its IV.
    Tag {
        /// The message: its kind, its addresses and its IV count.
        message: Job,
        /// The sum of its parts' shares.
        tag: [u8; 16],
    },
}

impl Item for PceWork {
    const SELECTORS: Selectors = MESSAGES;

    /// Semaphores are about none.
    fn message(&self) -> Option<u64> {
        match self {
            Self::Transfer(job) | Self::Tag { message: job, .. } => Some(job.share.message),
            Self::Release { .. } => None,
        }
    }

    fn event_key(&self) -> u64 {
        match self {
            Self::Transfer(job) => job.id ^ job.source.rotate_left(24) ^ job.bytes << 1,
            Self::Release { address, value, .. } => address.rotate_left(9) ^ *value | 1 << 63,
            Self::Tag { message, .. } => {
                message.id ^ message.destination.rotate_left(24) ^ message.bytes << 1 ^ 1 << 62
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Done {
    /// It has sent the last byte of a job to host memory, or has given the job up.
    Transfer { job: JobId, ok: bool },
    /// It has hashed the last byte of a part of a message that is sealed in parts.
    Share { job: JobId, tag: [u8; 16] },
    /// The link has taken the semaphore at the end of a push.
    Release { push: u32 },
}

impl Item for Done {
    fn event_key(&self) -> u64 {
        match *self {
            Self::Transfer { job, ok } => job << 1 | u64::from(ok),
            Self::Share { job, .. } => 1 << 62 | job << 1,
            Self::Release { push } => 1 << 63 | u64::from(push),
        }
    }
}

/// What the tag queue learns about a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TagReport {
    pub job: JobId,
    /// Of a computed tag: which part's share of it this is.
    pub part: u32,
    /// Computed by the engine, or fetched from host memory.
    pub computed: bool,
    /// The tag, or all tags of its chains; none if it will never be known.
    pub tag: Option<Vec<u8>>,
}

impl Item for TagReport {
    const FAULTS: &'static [FaultKind] = &[FaultKind::Flip, FaultKind::Drop, FaultKind::Duplicate, FaultKind::Reorder];

    const SELECTORS: Selectors = Selectors { fields: &["tag"], messages: true, ..Selectors::NONE };

    fn event_key(&self) -> u64 {
        u64::from(self.part) << 56 ^ self.job << 2 | u64::from(self.computed) << 1 | u64::from(self.tag.is_some())
    }

    fn flip(&mut self, seed: u64) -> Option<Flip> {
        self.flip_bit(None, Pick::Seed(seed))
    }

    fn message(&self) -> Option<u64> {
        Some(self.job)
    }

    fn flip_bit(&mut self, field: Option<&str>, pick: Pick) -> Option<Flip> {
        let tag = self.tag.as_mut().filter(|_| field.is_none_or(|field| field == "tag"))?;
        Flip::of_bytes(tag, pick, None)
    }
}

/// A message that will need a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TagEntry {
    pub job: JobId,
    /// Parts whose shares sum to its computed tag.
    pub parts: u32,
}

/// Whether a message is what its sender sealed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    pub job: JobId,
    pub ok: bool,
}

/// Bytes in transit into device memory.
#[derive(Debug, Clone)]
pub struct MemoryWrite {
    pub job: JobId,
    /// Its message, and how many jobs that is split into.
    pub message: (JobId, u32),
    /// Whether the job's bytes wait for a verdict before they count.
    pub unverified: bool,
    /// Ciphertext in transit between a copy engine and the SMs, and what the SMs do with it.
    pub staged: Option<LaunchKind>,
    /// The job's bytes before this burst.
    pub offset: u64,
    pub bytes: u32,
    pub last: bool,
    /// Bytes that become known with this burst, and their address: the burst itself, or the whole message with its last burst.
    pub deposit: Option<(u64, Payload)>,
}

#[derive(Debug, Clone)]
pub struct SmJob {
    pub id: JobId,
    /// [`LaunchKind::Open`] or [`LaunchKind::Seal`].
    pub kind: LaunchKind,
    pub source: u64,
    pub destination: u64,
    pub bytes: u64,
    pub nonce: [u8; 12],
    pub text: Payload,
}

impl SmJob {
    /// Whether it is this job; those of the two kinds are numbered apart.
    pub fn is(&self, kind: LaunchKind, id: JobId) -> bool {
        self.kind == kind && self.id == id
    }
}

/// Ciphertext is visible in device memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Staged {
    pub job: JobId,
    /// What the SMs do with it, or have done.
    pub kind: LaunchKind,
    /// Bytes that have come.
    pub bytes: u64,
}

/// What the SMs have sealed, once it is visible in device memory.
#[derive(Debug, Clone)]
pub struct Sealed {
    pub job: JobId,
    /// Whether all of it has come to device memory.
    pub whole: bool,
    pub text: Payload,
    pub tag: Vec<u8>,
}

/// What a PCE sends to the engine that it shares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EngineRequest {
    /// A message will come, behind those before it.
    Message {
        job: JobId,
        bytes: u64,
        /// Which way it goes through the engine.
        direction: SealOpen,
    },
    /// Bytes of a message are at the engine.
    Beat {
        job: JobId,
        /// Its bytes before these.
        offset: u64,
        bytes: u32,
    },
    /// No more of a message comes.
    GivenUp { job: JobId },
}

impl Item for EngineRequest {
    fn event_key(&self) -> u64 {
        match *self {
            Self::Message { job, bytes, direction } => {
                1 << 63 | u64::from(direction == SealOpen::Seal) << 62 | job ^ bytes.rotate_left(20)
            }
            Self::Beat { job, offset, bytes } => job ^ offset.rotate_left(20) ^ u64::from(bytes) << 44,
            Self::GivenUp { job } => 1 << 61 | job,
        }
    }
}

/// What the engine that PCEs share sends to a PCE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EngineReply {
    pub job: JobId,
    /// Its bytes before those that are back; none if bytes of the job did not come to the engine.
    pub offset: Option<u64>,
    /// With the last bytes of a message: cycle in which its tag is valid at the engine.
    pub tag: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryRead {
    pub address: u64,
    pub bytes: u32,
}

#[derive(Debug, Clone)]
pub struct MemoryData {
    pub address: u64,
    pub bytes: u32,
    pub payload: Payload,
}

/// All bytes of a job are visible in device memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Landed {
    pub job: JobId,
}

items! {
    CopyPush: |push| u64::from(push.number) << 1 | u64::from(push.methods.is_some());
    Retired: |retired| u64::from(retired.push);
    TagEntry: |entry| entry.job ^ u64::from(entry.parts - 1) << 56, message entry.job;
    Verdict: |verdict| verdict.job << 1 | u64::from(verdict.ok), message verdict.job;
    MemoryWrite: |one| one.job << 20 ^ u64::from(one.bytes) ^ u64::from(one.last) << 63, message one.message.0;
    SmJob: |job| job.id ^ job.source.rotate_left(24) ^ job.bytes << 1 ^ u64::from(job.kind == LaunchKind::Seal) << 63;
    Staged: |staged| staged.job << 1 ^ u64::from(staged.kind == LaunchKind::Seal) ^ staged.bytes.rotate_left(24);
    Sealed: |sealed| sealed.job << 1 | u64::from(sealed.whole);
    EngineReply: |reply| {
        let offset = reply.offset.map_or(1 << 63, |offset| offset.rotate_left(20));
        reply.job ^ offset ^ u64::from(reply.tag.is_some()) << 62
    };
    MemoryRead: |read| read.address ^ u64::from(read.bytes) << 44;
    MemoryData: |data| data.address ^ u64::from(data.bytes) << 44;
    Landed: |landed| landed.job;
}
