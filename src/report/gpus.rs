//! What GPUs and their links report: one by one, and in total.

use crate::{
    figures::{
        Cells, Seen,
        table::{LINK, TAG_QUEUE, TRANSFERS},
    },
    gpu::key_rotation::{Thresholds, Work},
    system::{ChannelKey, CopyOutcome, Direction, FailedMessage, GpuOutcome},
};
use serde::Serialize;

#[derive(Debug, Clone, Default, Serialize)]
pub struct GpuRecord {
    /// The figures of [`TRANSFERS`].
    pub transfers: Cells,
    pub link: Link,
    pub tag_queue: TagQueue,
    /// What its keys have done, counted as key rotation counts it.
    pub keys: Keys,
}

impl GpuRecord {
    pub(super) fn of<'c>(gpus: &'c [GpuOutcome], copies: impl Iterator<Item = &'c CopyOutcome>) -> Self {
        let works = |place: usize| gpus.iter().map(move |gpu| gpu.key_work[place]);
        let seen = Seen::some(gpus, copies);
        let failed = gpus.iter().flat_map(|gpu| &gpu.failed_messages).copied().collect();
        Self {
            transfers: Cells::of(TRANSFERS, &seen),
            link: Link::of(gpus),
            tag_queue: TagQueue { cells: Cells::of(TAG_QUEUE, &seen), failed },
            keys: Keys { h2d: KeyUse::of(works(0)).with(gpus, 0), d2h: KeyUse::of(works(1)).with(gpus, 1) },
        }
    }
}

/// The figures of [`LINK`], each way.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Link {
    pub h2d: Cells,
    pub d2h: Cells,
}

#[derive(Debug, Clone, Default, Serialize)]
pub struct Keys {
    pub h2d: KeyUse,
    pub d2h: KeyUse,
}

#[derive(Debug, Clone, Default, Serialize)]
pub struct KeyUse {
    pub messages: u64,
    pub bytes: u64,
    /// floor(bytes / 16) + messages.
    pub work_units: u64,
    /// Part of the work after which the driver asks for a rotation, at its default attacker advantage; of several GPUs the largest.
    pub rotation_fraction: f64,
    /// Key and IVs, where copies are sealed; each GPU has its own.
    #[serde(flatten)]
    pub secret: Option<Secret>,
}

/// A key and its IVs, hexadecimal. All are drawn from the seed of the run.
#[derive(Debug, Clone, Serialize)]
pub struct Secret {
    pub key: String,
    /// What is XORed over the counters of an IV.
    pub iv_mask: String,
    pub first_iv: String,
}

impl From<&ChannelKey> for Secret {
    fn from(channel: &ChannelKey) -> Self {
        let ChannelKey { key, iv_mask, first_iv } = channel;
        Self { key: hex::encode(key), iv_mask: hex::encode(iv_mask), first_iv: hex::encode(first_iv) }
    }
}

impl KeyUse {
    /// Of one key of each GPU: the sum of their work, and how near the busiest is to its rotation.
    fn of(works: impl Iterator<Item = Work>) -> Self {
        works.map(Self::new).fold(Self::new(Work::default()), |sum, one| Self {
            messages: sum.messages + one.messages,
            bytes: sum.bytes + one.bytes,
            work_units: sum.work_units + one.work_units,
            rotation_fraction: sum.rotation_fraction.max(one.rotation_fraction),
            secret: None,
        })
    }

    fn with(self, gpus: &[GpuOutcome], direction: usize) -> Self {
        let [gpu] = gpus else { return self };
        Self { secret: gpu.keys.as_ref().map(|keys| Secret::from(&keys[direction])), ..self }
    }

    fn new(work: Work) -> Self {
        let rotation_fraction = work.units() as f64 / Thresholds::default().lower as f64;
        Self { messages: work.messages, bytes: work.bytes, work_units: work.units(), rotation_fraction, secret: None }
    }
}

/// The tag queue; of several GPUs the sums, and the largest of what is a peak.
#[derive(Debug, Clone, Default, Serialize)]
pub struct TagQueue {
    /// The figures of [`TAG_QUEUE`].
    #[serde(flatten)]
    pub cells: Cells,
    /// Messages to the GPU that failed, in a run with faults.
    pub failed: Vec<FailedMessage>,
}

impl Link {
    fn of(gpus: &[GpuOutcome]) -> Self {
        let [h2d, d2h] = [Direction::H2d, Direction::D2h].map(|way| Cells::of(LINK, &Seen::link(gpus, way)));
        Self { h2d, d2h }
    }
}
