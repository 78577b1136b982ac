//! What identifies an item in transit through units.

use crate::{
    gpu::work::{MemoryData, MemoryRead},
    host::{CipherDone, CipherJob},
    observe::identity::find,
    pcie::{
        packet::{Kind, Tlp},
        port::{DllpFrame, Frame},
        wire::dllp::DllpRepr,
    },
};
use std::any::Any;

/// Items of a sort have the same upper bits.
const SORT: u32 = 60;
const WRITE: u64 = 1;
const READ: u64 = 2;
const COMPLETION: u64 = 3;
const MEMORY_READ: u64 = 4;
const MEMORY_DATA: u64 = 5;
const JOB: u64 = 6;
const JOB_DONE: u64 = 7;

/// Credits that a receiver gives back.
pub(super) const CREDITS: u64 = word(8, 0);
pub(super) const ACK: u64 = word(9, 0);

const fn of_dllp(frame: &DllpFrame) -> Option<u64> {
    match frame.repr() {
        DllpRepr::Ack { .. } | DllpRepr::Nak { .. } => Some(ACK),
        DllpRepr::Credit { .. } => Some(CREDITS),
        _ => None,
    }
}

const fn word(sort: u64, word: u64) -> u64 {
    sort << SORT | word & ((1 << SORT) - 1)
}

const fn of_tlp(tlp: &Tlp) -> u64 {
    let tag = (tlp.requester as u64) << 16 | tlp.tag as u64;
    match tlp.kind {
        Kind::Write => word(WRITE, tlp.address),
        Kind::Read => word(READ, tag),
        Kind::Completion | Kind::Unsupported => word(COMPLETION, tag),
    }
}

/// The word of an item by which what follows from it can be identified; none if it has none.
pub(super) fn cause(item: &dyn Any) -> Option<u64> {
    let of_frame = |frame: &Frame| match frame {
        Frame::Tlp(frame) => Some(of_tlp(&frame.tlp)),
        Frame::Dllp(frame) => of_dllp(frame),
        Frame::Training { .. } => None,
    };
    find(item, of_tlp)
        .or_else(|| find(item, of_frame).flatten())
        .or_else(|| find(item, |read: &MemoryRead| word(MEMORY_READ, read.address)))
        .or_else(|| find(item, |data: &MemoryData| word(MEMORY_DATA, data.address)))
        .or_else(|| find(item, |job: &CipherJob| word(JOB, job.id)))
        .or_else(|| find(item, |done: &CipherDone| word(JOB_DONE, done.id)))
}

/// The words of items that an item with this word may follow from: the same in transit through a port, then what it answers.
pub(super) const fn causes(of: u64) -> [Option<u64>; 2] {
    let answered = match of >> SORT {
        COMPLETION => Some(word(READ, of)),
        MEMORY_DATA => Some(word(MEMORY_READ, of)),
        JOB_DONE => Some(word(JOB, of)),
        _ => None,
    };
    [Some(of), answered]
}
