//! The tag queue: its verdicts are those of [`TagQueue`] in order, in the cycle in which that gives them, and what goes on, leaves or waits in each slot
//! follows from them by [`Release`], told here unit by unit.

use crate::{
    Failure, Random, Rng, equal,
    twin::{Fault, Module},
};
use sealsim::{
    gpu::{
        release::Release,
        spec::{Retirement, TagFetch, TagQueueSpec},
        tag_queue::{Ports, TagQueue},
        work::{TagEntry, TagReport, Verdict},
    },
    sim::{Clock, In, Netlist, Now, Out, Tx, Unit},
    units::{Bytes, Cycles, Femtos, Frequency},
};
use std::{collections::VecDeque, rc::Rc};

/// A queue's parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Queue {
    /// Messages.
    pub depth: u32,
    /// Units that may go on without a verdict: none under `hold`.
    pub skid: u32,
}

/// A message in the queue.
#[derive(Debug, Default)]
struct Message {
    number: u64,
    /// Units that wait, those yet to come, and when the tags are known.
    waiting: u64,
    missing: u64,
    tags: Option<u64>,
    good: bool,
    verdict: Option<bool>,
}

/// The simulator's queue with all that it is wired to.
struct Model {
    clock: Clock,
    queue: TagQueue,
    ports: Ports,
    entries: Out<TagEntry>,
    reports: Tx<TagReport>,
    verdicts: In<Verdict>,
    settled: In<Verdict>,
}

impl Model {
    fn new(spec: &TagQueueSpec, compare: u64) -> Self {
        let clock = Clock::new(Frequency(1_000_000_000)).expect("a clock of 1 GHz");
        let mut netlist = Netlist::new();
        let (entries, entries_in) = netlist.queue("entries", 64);
        let (reports, reports_in) = netlist.wire("reports", Femtos(1));
        let (verdicts_out, verdicts) = netlist.queue("verdicts", 64);
        let (settled_out, settled) = netlist.queue("settled", 64);
        let ports = Ports {
            entries: entries_in,
            reports: vec![reports_in],
            verdicts: verdicts_out,
            settled: settled_out,
            released: vec![],
            counts: Rc::default(),
            signals: netlist.signals("queue"),
        };
        let queue = TagQueue::new(spec, Cycles(compare), clock);
        Self { clock, queue, ports, entries, reports, verdicts, settled }
    }

    /// The verdict of a cycle, and how many entries wait for one after it.
    fn tick(&mut self, cycle: u64) -> (Option<Verdict>, u64) {
        let mut waiting = 0;
        self.queue.tick(Now { cycle, time: self.clock.edge(cycle) }, &mut self.ports);
        self.queue.gauges(&mut |_, entries| waiting = entries);
        let next = self.clock.edge(cycle + 1);
        self.settled.pop(next);
        (self.verdicts.pop(next), waiting)
    }

    /// Both tags of a message are known, and agree or not.
    fn report(&mut self, cycle: u64, job: u64, tag: u8, good: bool) {
        for (computed, tag) in [(true, tag), (false, tag ^ u8::from(!good))] {
            let report = TagReport { job, part: 0, computed, tag: Some(vec![tag; 16]) };
            self.reports.send(self.clock.edge(cycle), report);
        }
    }
}

impl Queue {
    /// Any of modest size.
    #[must_use]
    pub fn draw(random: &mut Random) -> Self {
        Self { depth: random.random_range(1..17), skid: random.random_range(0..2) * random.random_range(1..6) }
    }

    const fn release(self) -> Release {
        if self.skid == 0 { Release::Hold } else { Release::Skid }
    }

    fn spec(self) -> TagQueueSpec {
        TagQueueSpec {
            depth: self.depth,
            comparators: 1,
            retirement: Retirement::InOrder,
            release: self.release(),
            quarantine: Bytes(0),
            quarantine_in: None,
            skid: (self.skid > 0).then(|| Bytes(self.skid.into())),
            fetch: TagFetch::AfterData,
            placement: None,
            tag_every: None,
            parity: None,
            twin_comparators: None,
        }
    }

    fn module(self, fault: Option<Fault>) -> Module {
        let parameters = vec![("DEPTH", self.depth.into()), ("SKID", self.skid.into())];
        Module { name: "queue", parameters, fault }
    }

    /// So many cycles in lock-step; `fault` is planted in the RTL, `late` is one in the model: its verdicts take effect a cycle late.
    ///
    /// # Errors
    /// No twin, or a difference.
    pub fn run(self, fault: Option<Fault>, late: bool, random: &mut Random, cycles: u64) -> Result<u64, Failure> {
        let mut twin = self.module(fault).twin(random.random())?;
        let mut model = Model::new(&self.spec(), random.random_range(1..4));
        let most = self.release().ahead(self.skid.into());
        let mut messages: VecDeque<Message> = VecDeque::new();
        let (mut entered, mut ahead, mut left) = (0, 0, (0, 0));
        let mut delayed = None;
        twin.step(&[1]);
        for cycle in 1..=cycles {
            let youngest = messages.back();
            let full = messages.len() == self.depth as usize;
            // First nothing enters: what comes meanwhile belongs to no message. Verdicts for all slots would leave none wrong.
            let awaits = cycle > 3 && !full && youngest.is_none_or(|message| message.missing == 0);
            let enters = awaits && random.random_bool(0.4);
            let arrives = youngest
                .is_some_and(|message| message.missing > 0 && message.waiting < 15 && message.verdict.is_none())
                && random.random_bool(0.7);
            for message in messages.iter().filter(|message| message.tags == Some(cycle)) {
                model.report(cycle, message.number, random.random(), message.good);
            }
            let (mut verdict, waiting) = model.tick(cycle);
            equal(cycle, "messages without a verdict", &awaiting(&messages, verdict), &waiting)?;
            if late {
                verdict = std::mem::replace(&mut delayed, verdict);
            }
            // What cannot be taken, and a verdict's outcome without one, are anything.
            let mut garbage = |may: bool| may && random.random();
            let deaf = messages.back().is_none_or(|message| message.waiting == 15 || message.verdict.is_some());
            let judged = messages.iter().all(|message| message.verdict.is_some());
            let flags = [
                enters || garbage(full),
                arrives || garbage(deaf),
                verdict.is_some() || garbage(judged),
                verdict.map_or_else(|| garbage(true), |verdict| verdict.ok),
            ];
            let input = flags.iter().enumerate().fold(0, |sum, (bit, &flag)| sum | u128::from(flag) << (bit + 1));
            let shown = twin.step(&[input]);

            // What the oldest message does in this cycle.
            let (mut verified, mut skids, mut retires, mut squashed) = (false, false, false, false);
            if let Some(oldest) = messages.front() {
                verified = oldest.verdict == Some(true) && oldest.waiting > 0;
                skids = oldest.verdict.is_none() && oldest.waiting > 0 && ahead < most;
                retires = oldest.verdict == Some(true) && oldest.waiting == 0;
                squashed = oldest.verdict == Some(false);
            }
            let does = [!full, verified || skids, verified, retires, squashed];
            let rtl = [0, 1, 2, 3, 4].map(|bit| shown[0] >> bit & 1 == 1);
            equal(cycle, "room, goes on, verified, retires, squashed", &rtl, &does)?;
            equal(cycle, "units ahead", &(shown[1] >> 96), &u128::from(ahead))?;
            for (place, message) in messages.iter().enumerate() {
                let slot = shown[2 + (shown[1] as u32 as usize + place) % self.depth as usize];
                let known = message.verdict.is_some();
                let state = [true, known, known && message.verdict == Some(true)];
                equal(cycle, format!("message {place}"), &[0, 1, 2].map(|bit| slot >> bit & 1 == 1), &state)?;
                equal(cycle, format!("units of message {place}"), &(slot >> 3), &message.waiting.into())?;
            }

            if let Some(oldest) = messages.front_mut().filter(|_| verified || skids) {
                oldest.waiting -= 1;
                ahead += u64::from(skids);
            }
            if arrives && let Some(message) = messages.back_mut() {
                message.waiting += 1;
                message.missing -= 1;
                if message.missing == 0 {
                    message.tags = Some(cycle + random.random_range(1..9));
                }
            }
            if let Some(verdict) = verdict {
                let oldest = messages.iter_mut().find(|message| message.verdict.is_none());
                let number = oldest.as_ref().map(|message| message.number);
                equal(cycle, "whose verdict", &number, &Some(verdict.job))?;
                if let Some(message) = oldest {
                    equal(cycle, "the verdict", &message.good, &verdict.ok)?;
                    message.verdict = Some(verdict.ok);
                }
            }
            if retires || squashed {
                messages.pop_front();
                ahead = 0;
                left = (left.0 + u64::from(retires), left.1 + u64::from(squashed));
            }
            if enters {
                let (missing, good) = (random.random_range(1..16), random.random_bool(0.8));
                messages.push_back(Message { number: entered, missing, good, ..Message::default() });
                let time = model.clock.edge(cycle);
                model.entries.push(time, TagEntry { job: entered, parts: 1 });
                entered += 1;
            }
        }
        let counts = model.ports.counts.get();
        equal(cycles, "more left than were judged", &(left.0 > counts.verified || left.1 > counts.failed), &false)?;
        Ok(cycles)
    }
}

/// Messages without a verdict after a cycle with this one. One that enters in the cycle is not among them: the model sees it in the next.
fn awaiting(messages: &VecDeque<Message>, verdict: Option<Verdict>) -> u64 {
    let judged =
        |message: &Message| message.verdict.is_some() || verdict.is_some_and(|verdict| verdict.job == message.number);
    messages.iter().filter(|message| !judged(message)).count() as u64
}
