//! What tells an item apart from others on its way through units.

use crate::{
    gpu::work::{MemoryData, MemoryRead},
    host::{CipherDone, CipherJob},
    pcie::{
        packet::{Kind, Tlp},
        port::Frame,
    },
};
use std::any::Any;

/// Items of a sort have the same upper bits.
const SORT: u32 = 60;

/// The word that an item and what follows from it have in common; none if what follows from it cannot be told by itself.
pub(super) fn cause(item: &dyn Any) -> Option<u64> {
    let sorted = |sort: u64, word: u64| sort << SORT | word & ((1 << SORT) - 1);
    let of_tlp = |tlp: &Tlp| match tlp.kind {
        Kind::Write => sorted(1, tlp.address),
        Kind::Read | Kind::Completion | Kind::Unsupported => {
            sorted(2, u64::from(tlp.requester) << 16 | u64::from(tlp.tag))
        }
    };
    if let Some(tlp) = item.downcast_ref::<Tlp>() {
        return Some(of_tlp(tlp));
    }
    if let Some(frame) = item.downcast_ref::<Frame>() {
        return if let Frame::Tlp(frame) = frame { Some(of_tlp(&frame.tlp)) } else { None };
    }
    if let Some(read) = item.downcast_ref::<MemoryRead>() {
        return Some(sorted(3, read.address));
    }
    if let Some(data) = item.downcast_ref::<MemoryData>() {
        return Some(sorted(3, data.address));
    }
    if let Some(job) = item.downcast_ref::<CipherJob>() {
        return Some(sorted(4, job.id));
    }
    item.downcast_ref::<CipherDone>().map(|done| sorted(4, done.id))
}
