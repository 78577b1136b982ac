//! The tag queue: messages whose authentication is not yet settled.
//!
//! ```text
//!                  +-----------------------------+
//!  entries In     >|  entry | computed | fetched |> verdicts Out (front end)
//!  reports[] wire ~|  entry | computed | fetched |> settled  Out (device memory)
//!                  |       comparators           |> released[] Out (PCEs)
//!                  +-----------------------------+
//! ```
//!
//! | contract | |
//! | --- | --- |
//! | accepts per cycle | one entry per message, at most `depth` (the front end counts); any number of reports |
//! | latency | both tags known to verdict: the engine's `compare` cycles on one of `comparators`, then retirement |
//! | shares | of a message in parts, each part's PCE reports its share; their sum is known with the last |
//! | order | `in_order`: verdicts in launch order; `out_of_order`: as they come, one per comparator and cycle |
//! | stalls | `auth_dependency`: an entry waits for one of its tags |

use super::{
    spec::{Retirement, TagQueueSpec},
    work::{JobId, TagEntry, TagReport, Verdict},
};
use crate::{
    ports,
    sim::{Activity, Clock, ErrorLog, ErrorSignal, In, Now, Out, Rx, Signalled, Stall, Unit, Wake},
    units::Cycles,
};
use std::collections::VecDeque;

/// A message whose tags differ, or one of whose tags never came.
pub const TAG_MISMATCH: ErrorSignal = ErrorSignal::uncorrected("tag_mismatch", "a tag that differs");

ports! {
    /// Ports of the tag queue.
    pub struct Ports {
        /// Messages, in launch order.
        pub entries: In<TagEntry>,
        /// Tags, by PCE.
        pub reports: Vec<Rx<TagReport>>,
        /// To the front end.
        pub verdicts: Out<Verdict>,
        /// To the device memory.
        pub settled: Out<Verdict>,
        /// To the PCEs, under `hold`; empty otherwise.
        pub released: Vec<Out<Verdict>>,
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
enum Tag {
    #[default]
    Awaited,
    Known(Vec<u8>),
    Lost,
}

/// The computed tag: the sum of its parts' shares.
#[derive(Debug)]
struct Shares {
    /// Parts that have not come, by bit.
    awaited: u64,
    sum: Vec<u8>,
    lost: bool,
}

impl Shares {
    fn of(parts: u32) -> Self {
        Self { awaited: (1 << parts.min(63)) - 1, sum: Vec::new(), lost: false }
    }

    /// Takes a part's share; one that comes again is dropped, but for the news that it is lost.
    fn take(&mut self, part: u32, share: Option<Vec<u8>>) {
        let bit = 1 << part.min(63);
        match share {
            Some(share) if self.awaited & bit != 0 => {
                self.sum.resize(share.len().max(self.sum.len()), 0);
                self.sum.iter_mut().zip(share).for_each(|(sum, byte)| *sum ^= byte);
            }
            Some(_) => {}
            None => self.lost = true,
        }
        self.awaited &= !bit;
    }

    const fn known(&self) -> bool {
        self.awaited == 0
    }

    fn tag(&self) -> Tag {
        match (self.awaited, self.lost) {
            (0, true) => Tag::Lost,
            (0, false) => Tag::Known(self.sum.clone()),
            _ => Tag::Awaited,
        }
    }
}

#[derive(Debug)]
struct Entry {
    job: JobId,
    computed: Shares,
    fetched: Tag,
    /// Cycle in which its comparison ends, once it has started.
    compared: Option<u64>,
}

impl Entry {
    fn ready(&self) -> bool {
        self.computed.known() && self.fetched != Tag::Awaited
    }

    fn agrees(&self) -> bool {
        matches!((self.computed.tag(), &self.fetched), (Tag::Known(a), Tag::Known(b)) if a == *b)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TagCounts {
    /// Most entries at once.
    pub peak_entries: u64,
    /// Messages whose tags agreed.
    pub verified: u64,
    /// Messages whose tags did not.
    pub failed: u64,
}

#[derive(Debug)]
pub struct TagQueue {
    spec: TagQueueSpec,
    clock: Clock,
    compare: u64,
    entries: VecDeque<Entry>,
    comparators: Vec<u64>,
    counts: TagCounts,
    errors: ErrorLog,
}

impl TagQueue {
    /// A tag queue whose comparators take `compare` cycles.
    #[must_use]
    pub fn new(spec: &TagQueueSpec, compare: Cycles, clock: Clock) -> Self {
        Self {
            spec: spec.clone(),
            clock,
            compare: compare.0.max(1),
            entries: VecDeque::new(),
            comparators: vec![0; spec.comparators.max(1) as usize],
            counts: TagCounts::default(),
            errors: ErrorLog::default(),
        }
    }

    pub const fn counts(&self) -> TagCounts {
        self.counts
    }

    fn advance(&mut self, now: Now, ports: &mut Ports) -> Wake {
        while let Some(TagEntry { job, parts }) = ports.entries.pop(now.time) {
            self.entries.push_back(Entry { job, computed: Shares::of(parts), fetched: Tag::Awaited, compared: None });
        }
        for wire in &mut ports.reports {
            while let Some(report) = wire.arrive(now.time) {
                self.note(report);
            }
        }
        self.start_comparisons(now.cycle);
        self.retire(now, ports);
        self.counts.peak_entries = self.counts.peak_entries.max(self.entries.len() as u64);
        self.wake(now, ports)
    }

    fn note(&mut self, report: TagReport) {
        let Some(entry) = self.entries.iter_mut().find(|e| e.job == report.job) else { return };
        match report.computed {
            true => entry.computed.take(report.part, report.tag),
            false => entry.fetched = report.tag.map_or(Tag::Lost, Tag::Known),
        }
    }

    fn start_comparisons(&mut self, cycle: u64) {
        let in_order = self.spec.retirement == Retirement::InOrder;
        for entry in &mut self.entries {
            if entry.compared.is_some() {
                continue;
            }
            if entry.ready() {
                let Some(free) = self.comparators.iter_mut().find(|until| **until <= cycle) else { return };
                *free = cycle + self.compare;
                entry.compared = Some(*free);
            } else if in_order {
                return;
            }
        }
    }

    fn retire(&mut self, now: Now, ports: &mut Ports) {
        let in_order = self.spec.retirement == Retirement::InOrder;
        let mut place = 0;
        while place < self.entries.len() {
            if self.entries[place].compared.is_some_and(|end| end <= now.cycle) {
                if let Some(entry) = self.entries.remove(place) {
                    self.announce(Verdict { job: entry.job, ok: entry.agrees() }, now, ports);
                }
            } else if in_order {
                return;
            } else {
                place += 1;
            }
        }
    }

    fn announce(&mut self, verdict: Verdict, now: Now, ports: &mut Ports) {
        if verdict.ok {
            self.counts.verified += 1;
        } else {
            self.counts.failed += 1;
            self.errors.note(TAG_MISMATCH, now.time);
        }
        ports.verdicts.push(now.time, verdict);
        ports.settled.push(now.time, verdict);
        for released in &mut ports.released {
            released.push(now.time, verdict);
        }
    }

    fn wake(&self, now: Now, ports: &Ports) -> Wake {
        let compared = self.entries.iter().filter_map(|e| e.compared).min().unwrap_or(Wake::NEVER);
        let arrival = ports.reports.iter().filter_map(Rx::next_arrival).min();
        let arrival = arrival.map_or(Wake::NEVER, |date| self.clock.first_from(date));
        let waits = self.entries.iter().any(|e| e.compared.is_none() && e.ready());
        let free = self.comparators.iter().copied().filter(|&until| until > now.cycle).min();
        let free = free.filter(|_| waits).unwrap_or(Wake::NEVER);
        let activity = match (self.entries.is_empty(), compared != Wake::NEVER) {
            (true, _) => Activity::Idle,
            (false, true) => Activity::Busy,
            (false, false) => Activity::Stall(Stall::AuthDependency),
        };
        // A comparison that has ended waits for earlier entries: its date lies behind and does not wake.
        let ends =
            self.entries.iter().filter_map(|e| e.compared).filter(|&end| end > now.cycle).min().unwrap_or(Wake::NEVER);
        Wake::at_or_port(ends.min(arrival).min(free), activity)
    }
}

impl Unit for TagQueue {
    type Ports = Ports;

    fn tick(&mut self, now: Now, ports: &mut Ports) -> Wake {
        self.advance(now, ports)
    }

    fn errors(&self) -> &[Signalled] {
        self.errors.all()
    }

    fn gauges(&self, show: &mut dyn FnMut(&'static str, u64)) {
        show("entries", self.entries.len() as u64);
    }
}

#[cfg(test)]
mod tests;
