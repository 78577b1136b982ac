//! What an item is about, whenever it passes: by message and address, not by tag or sequence number.

use crate::{
    gpu::work::{
        ComputePush, CopyPush, Done, Landed, MemoryData, MemoryRead, MemoryWrite, PceWork, Retired, TagEntry,
        TagReport, Verdict,
    },
    host::{CipherDone, CipherJob},
    pcie::{
        packet::{Kind, Tlp},
        port::Frame,
    },
};
use std::any::Any;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Identity {
    pub what: &'static str,
    /// The job, the push, the copy; 0 if it has none.
    pub number: u64,
    /// The address, or the offset in a copy; 0 if it has none.
    pub address: u64,
}

const WHATS: [&str; 21] = [
    "MRd",
    "MWr",
    "CplD",
    "Cpl",
    "dllp",
    "training",
    "job",
    "job_done",
    "push",
    "kernel",
    "retired",
    "transfer",
    "semaphore",
    "tag_write",
    "done",
    "tag_entry",
    "tag",
    "verdict",
    "burst",
    "landed",
    "other",
];

impl Identity {
    /// A name among those of items.
    pub fn what(name: &str) -> Option<&'static str> {
        WHATS.into_iter().find(|what| *what == name)
    }
}

const fn is(what: &'static str, number: u64, address: u64) -> Identity {
    Identity { what, number, address }
}

fn of_tlp(tlp: &Tlp) -> Identity {
    let what = match tlp.kind {
        Kind::Read => "MRd",
        Kind::Write => "MWr",
        Kind::Completion => "CplD",
        Kind::Unsupported => "Cpl",
    };
    is(what, tlp.requester.into(), tlp.address)
}

fn of_work(work: &PceWork) -> Identity {
    match work {
        PceWork::Transfer(job) => is("transfer", job.id, job.source),
        PceWork::Release { address, value, .. } => is("semaphore", *value, *address),
        PceWork::Tag { message, .. } => is("tag_write", message.id, message.tag),
    }
}

fn of_done(done: Done) -> Identity {
    match done {
        Done::Transfer { job, .. } => is("done", job, 0),
        Done::Share { job, .. } => is("done", job, 1),
        Done::Release { push } => is("done", push.into(), 2),
    }
}

/// What there is to say of an item, if it is of a type.
pub(super) fn find<T: 'static, R>(item: &dyn Any, of: impl FnOnce(&T) -> R) -> Option<R> {
    item.downcast_ref::<T>().map(of)
}

pub fn identity(item: &dyn Any, key: u64) -> Identity {
    let of_frame = |frame: &Frame| match frame {
        Frame::Tlp(frame) => of_tlp(&frame.tlp),
        Frame::Dllp(_) => is("dllp", 0, 0),
        Frame::Training { .. } => is("training", 0, 0),
    };
    find(item, of_tlp)
        .or_else(|| find(item, of_frame))
        .or_else(|| find(item, |one: &MemoryWrite| is("burst", one.job, one.offset)))
        .or_else(|| find(item, |one: &MemoryRead| is("MRd", 0, one.address)))
        .or_else(|| find(item, |one: &MemoryData| is("CplD", 0, one.address)))
        .or_else(|| find(item, |one: &CipherJob| is("job", one.copy as u64, one.offset)))
        .or_else(|| find(item, |one: &CipherDone| is("job_done", one.id, 0)))
        .or_else(|| find(item, |one: &CopyPush| is("push", one.number.into(), 0)))
        .or_else(|| find(item, |one: &ComputePush| is("kernel", one.number.into(), 0)))
        .or_else(|| find(item, |one: &Retired| is("retired", one.push.into(), 0)))
        .or_else(|| find(item, of_work))
        .or_else(|| find(item, |one: &Done| of_done(*one)))
        .or_else(|| find(item, |one: &TagEntry| is("tag_entry", one.job, 0)))
        .or_else(|| {
            find(item, |one: &TagReport| is("tag", one.job, u64::from(one.part) << 1 | u64::from(one.computed)))
        })
        .or_else(|| find(item, |one: &Verdict| is("verdict", one.job, u64::from(!one.ok))))
        .or_else(|| find(item, |one: &Landed| is("landed", one.job, 0)))
        .unwrap_or_else(|| is("other", key, 0))
}
