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
//! | faults | in entries and verdicts, between what is written and what is read |
//! | `parity` | a wrong tag gives a failing verdict; whose entry it is being wrong stops the machine in the next cycle, since its message is not known |
//! | `twin_comparators` | a comparator and its twin that differ give a failing verdict |

use super::{
    spec::{Retirement, TagQueueSpec},
    work::{JobId, TagEntry, TagReport, Verdict},
};
use crate::{
    ports,
    sim::{Activity, Armed, Clock, ErrorLog, ErrorSignal, In, Now, Out, Rx, Signalled, Signals, Stall, Unit, Wake},
    units::{Cycles, Femtos},
};
use std::{cell::Cell, collections::VecDeque, rc::Rc};
pub use upsets::JOB_BITS;
use upsets::{Register, Upsets};

mod upsets;

/// A message whose tags differ, or one of whose tags never came.
pub const TAG_MISMATCH: ErrorSignal = ErrorSignal::uncorrected("tag_mismatch", "a tag that differs");

/// An entry that is not what was written.
pub const TAG_PARITY: ErrorSignal = ErrorSignal::uncorrected("tag_parity", "an entry whose parity is wrong");

/// A comparator and its twin that do not agree.
pub const COMPARATORS_DIFFER: ErrorSignal =
    ErrorSignal::uncorrected("comparators_differ", "a comparator that differs from its twin");

ports! {
    pub struct Ports {
        /// Messages, in launch order.
        pub entries: In<TagEntry>,
        /// Tags, by PCE.
        pub reports: Vec<Rx<TagReport>>,
        pub verdicts: Out<Verdict>,
        pub settled: Out<Verdict>,
        /// To the PCEs, under `hold`; empty otherwise.
        pub released: Vec<Out<Verdict>>,
        /// What reports read.
        pub counts: Rc<Cell<TagCounts>>,
        pub signals: Signals,
    }
}

impl Ports {
    /// Counts the messages whose authentication is not settled.
    pub fn hold(&self, entries: usize) {
        let counts = self.counts.get();
        if counts.peak_entries < entries as u64 {
            self.counts.set(TagCounts { peak_entries: entries as u64, ..counts });
        }
    }

    /// Sends a verdict to all who wait for it, and counts it.
    pub fn announce(&mut self, now: Now, verdict: Verdict) {
        let mut counts = self.counts.get();
        *if verdict.ok { &mut counts.verified } else { &mut counts.failed } += 1;
        self.counts.set(counts);
        self.verdicts.push(now.time, verdict);
        self.settled.push(now.time, verdict);
        self.released.iter_mut().for_each(|released| released.push(now.time, verdict));
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
    parts: u32,
    /// Parts that have not come, by bit.
    awaited: u64,
    sum: Vec<u8>,
    lost: bool,
}

impl Shares {
    fn of(parts: u32) -> Self {
        Self { parts: parts.min(63), awaited: (1 << parts.min(63)) - 1, sum: Vec::new(), lost: false }
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
    /// Cycle in which its comparison ends, once it has started, and the comparator.
    compared: Option<(u64, usize)>,
    /// Whether an odd number of bits is wrong: of what says whose it is and what it waits for, of the computed tag, of the fetched one.
    odd: [bool; 3],
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
    errors: ErrorLog,
    upsets: Upsets,
}

impl TagQueue {
    /// A tag queue whose comparators take `compare` cycles.
    pub fn new(spec: &TagQueueSpec, compare: Cycles, clock: Clock) -> Self {
        Self {
            spec: spec.clone(),
            clock,
            compare: compare.0.max(1),
            entries: VecDeque::new(),
            comparators: vec![0; spec.comparators.max(1) as usize],
            errors: ErrorLog::default(),
            upsets: Upsets::default(),
        }
    }

    /// Whether parity says that an entry is not known to be of its message.
    fn is_lost(&self) -> bool {
        self.spec.parity == Some(true) && self.entries.iter().any(|entry| entry.odd[0])
    }

    fn enter(&mut self, job: JobId, parts: u32, time: Femtos) {
        let (computed, fetched) = (Shares::of(parts), Tag::Awaited);
        let mut entry = Entry { job, computed, fetched, compared: None, odd: [false; 3] };
        for bit in self.upsets.flips(Register::Job, (job, time), upsets::JOB_BITS) {
            entry.job ^= 1 << bit;
            entry.odd[0] ^= true;
        }
        self.upsets.strike_awaited(&mut entry, (job, time));
        self.entries.push_back(entry);
    }

    fn note(&mut self, report: TagReport, time: Femtos) {
        let Some(entry) = self.entries.iter_mut().find(|e| e.job == report.job) else { return };
        let at = (report.job, time);
        let (register, place, tag) = if report.computed {
            entry.computed.take(report.part, report.tag);
            self.upsets.strike_awaited(entry, at);
            (Register::Computed, 1, Some(&mut entry.computed.sum))
        } else {
            entry.fetched = report.tag.map_or(Tag::Lost, Tag::Known);
            let tag = match &mut entry.fetched {
                Tag::Known(tag) => Some(tag),
                Tag::Awaited | Tag::Lost => None,
            };
            (Register::Fetched, 2, tag)
        };
        let mut none = Vec::new();
        let tag = tag.unwrap_or(&mut none);
        for bit in self.upsets.flips(register, at, 8 * tag.len() as u64) {
            tag[bit as usize / 8] ^= 1 << (bit % 8);
            entry.odd[place] ^= true;
        }
    }

    fn start_comparisons(&mut self, cycle: u64) {
        let in_order = self.spec.retirement == Retirement::InOrder;
        for entry in &mut self.entries {
            if entry.compared.is_some() {
                continue;
            }
            if entry.ready() {
                let free = self.comparators.iter().position(|until| *until <= cycle);
                let Some(comparator) = free else { return };
                self.comparators[comparator] = cycle + self.compare;
                entry.compared = Some((cycle + self.compare, comparator));
            } else if in_order {
                return;
            }
        }
    }

    fn retire(&mut self, now: Now, ports: &mut Ports) {
        let in_order = self.spec.retirement == Retirement::InOrder;
        let mut place = 0;
        while place < self.entries.len() {
            if let Some((_, comparator)) = self.entries[place].compared.filter(|(end, _)| *end <= now.cycle) {
                if let Some(entry) = self.entries.remove(place) {
                    self.announce(&entry, comparator, now, ports);
                }
            } else if in_order {
                return;
            } else {
                place += 1;
            }
        }
    }

    /// What speaks against a message that was compared, if anything does.
    fn objection(&mut self, entry: &Entry, comparator: usize, time: Femtos) -> Option<ErrorSignal> {
        let (right, at) = (entry.agrees(), (entry.job, time));
        let verdict = self.upsets.verdict(Register::Verdict(comparator), at, right);
        let twins = self.spec.twin_comparators == Some(true);
        let twin = twins.then(|| self.upsets.verdict(Register::Twin(comparator), at, right));
        match () {
            () if self.spec.parity == Some(true) && (entry.odd[1] || entry.odd[2]) => Some(TAG_PARITY),
            () if twin.is_some_and(|twin| twin != verdict) => Some(COMPARATORS_DIFFER),
            () if !verdict => Some(TAG_MISMATCH),
            () => None,
        }
    }

    fn announce(&mut self, entry: &Entry, comparator: usize, now: Now, ports: &mut Ports) {
        let objection = self.objection(entry, comparator, now.time);
        let verdict = Verdict { job: entry.job, ok: objection.is_none() };
        if let Some(signal) = objection {
            self.errors.note(signal, now.time);
        }
        ports.announce(now, verdict);
    }

    fn wake(&self, now: Now, ports: &Ports) -> Wake {
        let arrival = ports.reports.iter().filter_map(Rx::next_arrival).min();
        let arrival = arrival.map_or(Wake::NEVER, |date| self.clock.first_from(date));
        if self.entries.is_empty() {
            return Wake::at_or_port(arrival, Activity::Idle);
        }
        let ends = || self.entries.iter().filter_map(|e| e.compared).map(|(end, _)| end);
        let waits = self.entries.iter().any(|e| e.compared.is_none() && e.ready());
        let free = self.comparators.iter().copied().filter(|&until| until > now.cycle).min();
        let free = free.filter(|_| waits).unwrap_or(Wake::NEVER);
        let compares = ends().next().is_some();
        let activity = if compares { Activity::Busy } else { Activity::Stall(Stall::AuthDependency) };
        // A comparison that has ended waits for earlier entries: its date lies behind and does not wake.
        let ends = ends().filter(|&end| end > now.cycle).min().unwrap_or(Wake::NEVER);
        let lost = if self.is_lost() { now.cycle + 1 } else { Wake::NEVER };
        Wake::at_or_port(ends.min(arrival).min(free).min(lost), activity)
    }
}

impl Unit for TagQueue {
    type Ports = Ports;

    fn tick(&mut self, now: Now, ports: &mut Ports) -> Wake {
        if self.is_lost() {
            self.errors.note(TAG_PARITY, now.time);
            ports.signals.fail("the parity of an entry is wrong, so that nothing says which message it is of");
        }
        while let Some(TagEntry { job, parts }) = ports.entries.pop(now.time) {
            self.enter(job, parts, now.time);
        }
        for wire in &mut ports.reports {
            while let Some(report) = wire.arrive(now.time) {
                self.note(report, now.time);
            }
        }
        if !self.entries.is_empty() {
            self.start_comparisons(now.cycle);
            self.retire(now, ports);
        }
        ports.hold(self.entries.len());
        self.wake(now, ports)
    }

    fn errors(&self) -> &[Signalled] {
        self.errors.all()
    }

    fn gauges(&self, show: &mut dyn FnMut(&'static str, u64)) {
        show("entries", self.entries.len() as u64);
    }

    fn registers(&self) -> Vec<String> {
        let twins = self.spec.twin_comparators == Some(true);
        Register::all(self.comparators.len(), twins).map(Register::name).collect()
    }

    fn arm(&mut self, point: &str, armed: Armed) {
        let register = Register::all(self.comparators.len(), true).find(|register| register.name() == point);
        register.into_iter().for_each(|register| self.upsets.arm(register, armed.clone()));
    }

    fn armed(&self) -> Vec<Armed> {
        self.upsets.armed()
    }
}

#[cfg(test)]
mod tests;
