//! Work with shorter parts.

use super::parts::{Part, What};
use crate::{
    system::{Pages, Request, RunError},
    workload::{Copy, Workload, WorkloadStep, collective::CollectiveTimes},
};
use std::collections::HashSet;

/// Work that is the beginning of other work, with its end behind it.
#[derive(Debug)]
pub(super) struct Short {
    workload: Workload,
    /// By copy of the beginning that is made: its place in the whole.
    pub places: Vec<usize>,
    /// By copy: how long its buffer is.
    buffers: Vec<u64>,
}

/// The parts of `workload` with these lengths, each that of its part.
pub(super) fn shorten(workload: &Workload, parts: &[Part], lengths: &[u64]) -> Short {
    let mut short = workload.only_timing(u64::MAX);
    let buffers: Vec<_> = short.copies.iter().map(|copy| copy.bytes).collect();
    let mut whole = Short { places: (0..short.copies.len()).collect(), workload: short.clone(), buffers };
    for (part, &length) in parts.iter().zip(lengths) {
        if let What::Copies(places) = &part.what {
            places.iter().for_each(|place| short.copies[*place].bytes = length);
        }
    }
    whole.workload = short;
    for (part, &length) in parts.iter().zip(lengths) {
        if let What::Turns(found) = &part.what {
            let made = found.first + found.steps * length as usize..found.first + found.steps * found.turns;
            let copies = found.copy + found.copies * length as usize..found.copy + found.copies * found.turns;
            whole.without(made, copies);
        }
    }
    whole
}

impl Short {
    /// Without these steps, which make these copies. What the caches hold of buffers that only they use stays there when the run begins.
    fn without(&mut self, steps: std::ops::Range<usize>, copies: std::ops::Range<usize>) {
        let Some(all) = &mut self.workload.steps else { return };
        let gone: Vec<_> = all.splice(steps, []).collect();
        let named = |step: &WorkloadStep| match step {
            WorkloadStep::Copy { buffer, pages, .. } => Some((buffer.clone(), *pages)),
            _ => None,
        };
        let mut known: HashSet<String> = all.iter().filter_map(|step| named(step)?.0).collect();
        let dropped: Vec<Copy> = self.workload.copies.splice(copies.clone(), []).collect();
        self.places.splice(copies.clone(), []);
        let lengths: Vec<_> = self.buffers.splice(copies, []).collect();
        for ((copy, length), (buffer, pages)) in dropped.into_iter().zip(lengths).zip(gone.iter().filter_map(named)) {
            let new = buffer.is_none_or(|name| known.insert(name));
            if new && pages == Pages::Warm {
                self.workload.copies.push(copy);
                self.buffers.push(length);
            }
        }
    }

    /// What to ask of the machine.
    pub fn request(&self, collectives: &CollectiveTimes) -> Result<Request, RunError> {
        let mut request = self.workload.unwatched(collectives)?;
        request.copies.iter_mut().zip(&self.buffers).for_each(|(copy, buffer)| copy.buffer_bytes = *buffer);
        Ok(request)
    }

    /// Bytes that are copied, with what a step costs in addition to them: the host's work.
    pub fn cost(&self) -> u64 {
        const STEP: u64 = 64 << 10;
        let bytes = self.workload.copies[..self.places.len()].iter().map(|copy| copy.bytes);
        let steps = self.workload.steps.as_ref().map_or(self.places.len(), Vec::len) as u64;
        bytes.fold(steps.saturating_mul(STEP), u64::saturating_add)
    }

    pub fn bytes(&self) -> u64 {
        self.workload.copies[..self.places.len()].iter().map(|copy| copy.bytes).fold(0, u64::saturating_add)
    }
}
