//! The GPU as a replay sees it: streams, engines and sessions, and when each operation gets its turn.
//!
//! ```text
//!  submit --> queue: task task ... --> head --+
//!  submit --> queue: task ...      --> head --+--> ready for longest --> engine, session --> span
//! ```
//!
//! | contract | |
//! | --- | --- |
//! | head of a queue | ready when the host has submitted it, what its stream had done before it is done, and what it is after has ended |
//! | turns | what is ready for longest goes first, then what was submitted first |
//! | engine | serves one at a time, or as many as it has slots; what is staged and not sealed has a turn for each piece |
//! | session | opens and seals one copy at a time: from `before` ahead of its start, or its turn if it waits for its stream, to `after` behind its end |
//!
//! A turn is given only when nobody can submit anything any more that is ready sooner: the player calls [`Device::turn`] in the order of dates.

use super::Span;
use crate::{
    config::MachineSpec,
    host::law::Engine,
    replay::{
        Ns,
        copies::Pieces,
        latest::{Both, Latest},
        node::Hall,
        probe::nanos,
    },
};
use rustc_hash::FxHashMap as HashMap;
use std::{
    cmp::Reverse,
    collections::{BTreeSet, BinaryHeap, VecDeque},
};

/// Of an engine with more slots none is ever waited for.
const MOST_SLOTS: usize = 1024;

/// An operation, as it is submitted.
#[derive(Debug, Clone, Default)]
pub(in crate::replay) struct Task {
    /// Where it waits for its turn: its stream, or a queue of its own.
    pub queue: u32,
    pub ready: Ns,
    /// Its stream, its place there by the ends of operations, how many of these are before it, and how much of the last one it overlaps.
    pub stream: u32,
    pub rank: u32,
    pub behind: u32,
    pub overlap: Ns,
    /// How long after these it begins.
    pub lag: Ns,
    /// Operations after whose ends it begins, so much later.
    pub after: Vec<(u32, Ns)>,
    pub device: u32,
    pub engine: Option<Engine>,
    pub session: Option<Held>,
    pub takes: Ns,
    /// What of that is left if it has waited for long enough.
    pub waited: Option<Ns>,
    /// How long it has its slot, if not as long as it takes: a graph has one, and what the host copies piece by piece leaves it to others between.
    pub holds: Option<Ns>,
    /// Its turns at its engine, if it has several, and when it had the first.
    pub pieces: Option<Pieces>,
    pub begun: Option<Ns>,
    /// Its place among all operations by their ends, and its end, in the trace.
    pub rank_of_all: u32,
    pub traced: Ns,
    /// From its end to the program seeing it, where somebody else waits for it.
    pub seen: Ns,
    /// The collective of several ranks that it is, and what is added to dates of this rank there.
    pub meeting: Option<(u32, Ns)>,
}

/// What of a GPU's engines the machine says.
#[derive(Debug, Clone, Copy)]
pub(in crate::replay) struct Engines {
    pub slots: usize,
    /// From the end of a copy to the next on its engine.
    pub turnaround: Ns,
}

impl Engines {
    pub fn of(machine: &MachineSpec) -> Self {
        let engine = &machine.copy_engine;
        Self { slots: machine.compute.slots as usize, turnaround: nanos(engine.turnaround.0, engine.clock) }
    }
}

/// How long an operation has the session.
#[derive(Debug, Clone, Copy)]
pub(in crate::replay) struct Held {
    /// Whether its stream has it already.
    pub own: bool,
    pub before: Ns,
    pub after: Ns,
}

#[derive(Debug, Clone, Copy)]
enum Waiter {
    Queue(u32),
    Thread(u32),
}

#[derive(Debug)]
struct Parked {
    place: u32,
    start: Ns,
    meeting: u32,
    later: Ns,
}

#[derive(Debug, Default)]
pub(in crate::replay) struct Device {
    /// What is known of those that are submitted and not done; of nodes of a graph only where they are heads.
    tasks: HashMap<u32, Task>,
    /// Heads of which it is not known.
    pub unknown: Vec<u32>,
    queues: Vec<VecDeque<u32>>,
    /// By queue, the engine of the last that has had its turn.
    engine_of: Vec<Option<Engine>>,
    /// By stream, when its operations end.
    streams: Vec<Latest>,
    /// Heads that are ready, with the number of their submission.
    heads: BinaryHeap<Reverse<(Ns, u32, u32)>>,
    /// By GPU and engine, when each slot is free.
    engines: HashMap<(u32, Engine), Vec<Ns>>,
    slots: usize,
    /// From the end of a copy to the next on its engine.
    turnaround: Ns,
    sessions: Vec<Ns>,
    parked: Vec<Parked>,
    pub spans: Vec<Span>,
    done: Vec<bool>,
    waiting: HashMap<u32, Vec<Waiter>>,
    pub woken: Vec<u32>,
    /// In the order of submission; of those that are all done, when the last is seen to have ended.
    submitted: Vec<u32>,
    settled: Vec<Ns>,
    number: Vec<u32>,
    /// By place among all operations by their ends: those that are submitted and not done, and when the others are seen to have ended.
    open: BTreeSet<u32>,
    ended: Latest,
    /// The same in the trace.
    traced: Latest,
    by_rank: Vec<u32>,
    /// What is seen later than it ends.
    seen: HashMap<u32, Ns>,
}

impl Device {
    /// With so many operations in each stream; `queues` are for those that do not wait in their streams.
    pub fn new(in_stream: &[u32], queues: usize, devices: usize, ops: usize, engines: Engines) -> Self {
        Self {
            queues: vec![VecDeque::new(); in_stream.len() + queues],
            engine_of: vec![None; in_stream.len() + queues],
            streams: in_stream.iter().map(|count| Latest::new(*count as usize)).collect(),
            slots: engines.slots.max(1),
            turnaround: engines.turnaround,
            sessions: vec![0; devices],
            spans: vec![Span::default(); ops],
            done: vec![false; ops],
            number: vec![0; ops],
            submitted: Vec::with_capacity(ops),
            ended: Latest::new(ops),
            traced: Latest::new(ops),
            by_rank: vec![0; ops],
            ..Self::default()
        }
    }

    /// Takes an operation, by its place among all.
    pub fn submit(&mut self, place: u32, task: Task) {
        let (queue, rank_of_all) = (task.queue, task.rank_of_all);
        self.tasks.insert(place, task);
        self.announce(place, queue, rank_of_all);
    }

    /// The same of one that is asked for when it is a head.
    pub fn announce(&mut self, place: u32, number: u32, rank_of_all: u32) {
        self.number[place as usize] = self.submitted.len() as u32;
        self.submitted.push(place);
        self.open.insert(rank_of_all);
        self.by_rank[rank_of_all as usize] = place;
        let queue = &mut self.queues[number as usize];
        queue.push_back(place);
        if queue.len() == 1 {
            self.look_at(number);
        }
    }

    /// Takes a head that was announced.
    pub fn know(&mut self, place: u32, task: Task) {
        let queue = task.queue;
        self.tasks.insert(place, task);
        self.look_at(queue);
    }

    /// Finds out when the head of a queue is ready, or whom it waits for.
    fn look_at(&mut self, queue: u32) {
        let Some(place) = self.queues[queue as usize].front().copied() else { return };
        let Some(task) = self.tasks.get(&place) else { return self.unknown.push(place) };
        if let Some((other, _)) = task.after.iter().find(|(other, _)| !self.done[*other as usize]) {
            self.waiting.entry(*other).or_default().push(Waiter::Queue(queue));
            return;
        }
        // What follows a copy on the same engine is handed over with it.
        let engine = task.engine.filter(|engine| *engine != Engine::Compute);
        let follows = engine.is_some() && self.engine_of[queue as usize] == engine && task.after.is_empty();
        let since = if follows { task.ready } else { self.ready(task) };
        // Who asks for the session first has it, however long it then seals.
        let asked = since.saturating_sub(self.unsealed(task));
        self.heads.push(Reverse((asked, self.number[place as usize], queue)));
    }

    /// What a task still does before it begins once it has the session, which it does without while it waits for its stream.
    fn unsealed(&self, task: &Task) -> Ns {
        let before = task.session.map_or(0, |held| held.before);
        before.saturating_sub(self.freed(task).saturating_sub(task.ready.saturating_sub(before)))
    }

    /// When a task can begin whose turn it is, if its engine and its session are free.
    fn ready(&self, task: &Task) -> Ns {
        self.freed(task).max(task.ready)
    }

    /// When what a task comes after has ended.
    fn freed(&self, task: &Task) -> Ns {
        let mut freed = 0;
        if let Some(before) = self.streams[task.stream as usize].below(task.behind) {
            freed = before.saturating_sub(task.overlap).saturating_add(task.lag);
        }
        let ends = task.after.iter().map(|(other, later)| self.spans[*other as usize].end.saturating_add(*later));
        ends.fold(freed, Ns::max)
    }

    /// When the next turn is.
    pub fn next(&self) -> Option<Ns> {
        self.heads.peek().map(|Reverse((ready, ..))| *ready)
    }

    /// Gives the next its turn.
    pub fn turn(&mut self, halls: &mut [Hall]) {
        let Some(Reverse((.., queue))) = self.heads.pop() else { return };
        let Some(place) = self.queues[queue as usize].front().copied() else { return };
        let Some(task) = self.tasks.get(&place) else { return };
        let (mut start, unsealed) = (self.ready(task), self.unsealed(task));
        let Task { device, engine, session, takes, meeting, waited, pieces, begun, ready: submitted, .. } = *task;
        if let Some(slot) = self.slot(device, engine) {
            start = start.max(*slot);
        }
        // Its first messages are sealed while it waits for its stream; none while another copy has the session.
        let sealed = start.saturating_sub(submitted);
        if session.is_some_and(|held| !held.own) {
            start = start.max(self.sessions[device as usize].saturating_add(unsealed));
        }
        if let Some(pieces) = pieces.filter(|pieces| pieces.left > 0) {
            return self.goes_on(place, start, pieces);
        }
        let Some((meeting, later)) = meeting else {
            let takes = pieces.map_or(takes, |pieces| pieces.last);
            let takes = waited.map_or(takes, |left| takes.saturating_sub(sealed).max(left).min(takes));
            return self.ends(place, Span { start: begun.unwrap_or(start), end: start.saturating_add(takes) });
        };
        halls[meeting as usize].come(start.saturating_add(later), takes);
        self.parked.push(Parked { place, start, meeting, later });
        self.meet(halls);
    }

    /// A piece of a task has its turn, and the next is ready when the host has staged it.
    fn goes_on(&mut self, place: u32, start: Ns, Pieces { at_once, first, every, busy, slack, left, .. }: Pieces) {
        let Some(task) = self.tasks.get_mut(&place) else { return };
        let gap = if at_once > 0 { busy } else { first };
        let first = if at_once > 0 { first.saturating_sub(busy) } else { every };
        if let Some(pieces) = &mut task.pieces {
            (pieces.left, pieces.at_once, pieces.first) = (left - 1, at_once.saturating_sub(1), first);
        }
        let due = if task.begun.is_some() { task.ready } else { start };
        task.begun.get_or_insert(start);
        task.ready = due.saturating_add(gap).saturating_add((start - due).saturating_sub(slack));
        let (device, engine, queue, ready) = (task.device, task.engine, task.queue, task.ready);
        let busy = busy.saturating_add(self.turnaround);
        if let Some(slot) = self.slot(device, engine) {
            *slot = start.saturating_add(busy);
        }
        self.heads.push(Reverse((ready, self.number[place as usize], queue)));
    }

    /// Ends the collectives to which all ranks have come. Tells whether there was one.
    pub fn meet(&mut self, halls: &[Hall]) -> bool {
        let over = self.parked.extract_if(.., |parked| halls[parked.meeting as usize].ends().is_some());
        let over: Vec<Parked> = over.collect();
        let any = !over.is_empty();
        for Parked { place, start, meeting, later } in over {
            let ends = halls[meeting as usize].ends().unwrap_or(0);
            self.ends(place, Span { start, end: ends.saturating_sub(later).max(start) });
        }
        any
    }

    /// The meeting that holds it up for longest, and since when by the clock of all.
    pub fn parked(&self) -> Option<(u32, Ns)> {
        let since = self.parked.iter().map(|parked| (parked.meeting, parked.start.saturating_add(parked.later)));
        since.min_by_key(|(_, since)| *since)
    }

    /// The slot of a task's engine that is free first.
    fn slot(&mut self, device: u32, engine: Option<Engine>) -> Option<&mut Ns> {
        let engine = engine?;
        let slots = if engine == Engine::Compute { self.slots } else { 1 };
        if slots > MOST_SLOTS {
            return None;
        }
        self.engines.entry((device, engine)).or_insert_with(|| vec![0; slots]).iter_mut().min()
    }

    fn ends(&mut self, place: u32, span: Span) {
        let Some(task) = self.tasks.remove(&place) else { return };
        (self.spans[place as usize], self.done[place as usize]) = (span, true);
        let turnaround = self.turnaround;
        if let Some(slot) = self.slot(task.device, task.engine) {
            let end = if task.engine == Some(Engine::Compute) { span.end } else { span.end.saturating_add(turnaround) };
            *slot = task.holds.map_or(end, |holds| span.start.saturating_add(holds)).max(*slot);
        }
        if let Some(held) = task.session {
            self.sessions[task.device as usize] = span.end.saturating_add(held.after);
        }
        self.streams[task.stream as usize].put(task.rank, span.end);
        if task.seen > 0 {
            self.seen.insert(place, task.seen);
        }
        self.ended.put(task.rank_of_all, span.end.saturating_add(task.seen));
        self.traced.put(task.rank_of_all, task.traced);
        self.open.remove(&task.rank_of_all);
        self.queues[task.queue as usize].pop_front();
        self.engine_of[task.queue as usize] = task.engine;
        self.look_at(task.queue);
        for waiter in self.waiting.remove(&place).unwrap_or_default() {
            match waiter {
                Waiter::Queue(queue) => self.look_at(queue),
                Waiter::Thread(thread) => self.woken.push(thread),
            }
        }
    }

    /// When an operation is, if it has had its turn.
    pub fn span(&self, place: u32) -> Result<Span, u32> {
        if self.done[place as usize] { Ok(self.spans[place as usize]) } else { Err(place) }
    }

    pub fn await_op(&mut self, place: u32, thread: u32) {
        self.waiting.entry(place).or_default().push(Waiter::Thread(thread));
    }

    pub const fn count(&self) -> usize {
        self.submitted.len()
    }

    /// When the first so many that were submitted are seen to have ended; or one that has not.
    pub fn all_of(&mut self, count: usize) -> Result<Ns, u32> {
        while let Some(place) = self.submitted.get(self.settled.len()).copied().filter(|_| self.settled.len() < count) {
            let end = self.span(place)?.end.saturating_add(self.seen.get(&place).copied().unwrap_or(0));
            self.settled.push(self.settled.last().map_or(end, |last| end.max(*last)));
        }
        Ok(count.checked_sub(1).map_or(0, |last| self.settled[last]))
    }

    /// When those of the first `ranks` by their ends in the trace that are submitted are seen to have ended; or one that has not.
    pub fn ended_by(&self, ranks: u32) -> Result<Both, u32> {
        match self.open.range(..ranks).next() {
            Some(rank) => Err(self.by_rank[*rank as usize]),
            None => {
                let [played, traced] = [&self.ended, &self.traced].map(|dates| dates.below(ranks).unwrap_or(0));
                Ok(Both { played, traced })
            }
        }
    }

    /// Lets what waits for what never comes go on. Tells whether there was any.
    pub fn give_up(&mut self) -> bool {
        let waiting = std::mem::take(&mut self.waiting);
        let mut waiters: Vec<Waiter> = waiting.into_values().flatten().collect();
        waiters.sort_by_key(|waiter| match waiter {
            Waiter::Queue(queue) => (0, *queue),
            Waiter::Thread(thread) => (1, *thread),
        });
        let any = !waiters.is_empty();
        for waiter in waiters {
            if let Waiter::Queue(queue) = waiter {
                if let Some(task) = self.queues[queue as usize].front().and_then(|place| self.tasks.get_mut(place)) {
                    task.after.clear();
                }
                self.look_at(queue);
            }
        }
        any
    }
}
