//! The scheduler: the GPU's host interface, which gives the pushes of many streams to the engines.
//!
//! ```text
//!                 +------------------------------+
//!  doorbells In  >|  stream: push push push ...  |> copies[] Out (front ends: reading, writing)
//!  retired[] In  >|  stream: push push ...       |> compute Out
//!                 |  events                      |> requests Out (link: semaphores)
//!                 +--------------+---------------+
//!                                | PushMemory
//! ```
//!
//! | contract | |
//! | --- | --- |
//! | accepts | doorbells as they come; each names a push, which joins its stream |
//! | gives per cycle | one push |
//! | latency | `schedule` cycles from the moment at which a push may go; nothing for events; a sealed launch may go some cycles after its doorbell |
//! | order | a push goes when all before it on its stream is done, or is in progress on the very LCE that it needs, which keeps the order itself; of several, the one that may go for longest, then the one of the lowest number |
//! | events | a record comes when all before it on its stream is done; a wait holds its stream until the last record of its event before it, in the order of doorbells, has come; with no such record it holds nothing |
//! | semaphores | those of kernels, records and waits; a push is done when the link has taken its semaphore, so that a stream's semaphores never overtake each other |
//! | stalls | `order`: a push waits for another, or its engine takes no more; `link_busy` |
//!
//! A stream that waits keeps no other waiting. What waits for something that never comes stays stalled, and a deadlock names it.

mod streams;

use super::work::{ComputePush, CopyPush, Retired};
use crate::{
    pcie::packet::{Payload, Tlp},
    ports,
    sim::{Activity, In, Now, Out, Stall, Unit, Wake},
    stream::{Computation, StreamTask},
    units::Cycles,
};
use std::collections::{BTreeMap, VecDeque};
use std::{cell::RefCell, rc::Rc};
use streams::{Streams, Turn};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// The LCE that reads host memory.
    Reading,
    /// The LCE that writes host memory.
    Writing,
    Compute,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Work {
    /// Methods for the channel of a copy engine.
    Copies {
        /// Whether the engine is the one that writes host memory.
        writes_host: bool,
        /// The methods, with a semaphore at their end.
        methods: Vec<u32>,
    },
    Task(StreamTask),
}

impl Work {
    /// Whether it is a kernel that the program launches.
    const fn is_launch(&self) -> bool {
        use Computation::{Collective, Kernel};
        matches!(self, Self::Task(StreamTask::Compute(Kernel { .. } | Collective { .. })))
    }

    const fn engine(&self) -> Option<Engine> {
        match self {
            Self::Copies { writes_host: false, .. } => Some(Engine::Reading),
            Self::Copies { writes_host: true, .. } => Some(Engine::Writing),
            Self::Task(StreamTask::Compute(_)) => Some(Engine::Compute),
            Self::Task(_) => None,
        }
    }
}

/// A push as it lies in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Submission {
    pub number: u32,
    pub stream: u32,
    /// The copy that it belongs to, if any.
    pub copy: Option<usize>,
    pub work: Work,
    /// The semaphore that takes its number when it is done. Methods release theirs themselves.
    pub semaphore: u64,
}

pub trait PushMemory {
    /// Push `number`, if there is one.
    fn take(&mut self, number: u32) -> Option<Submission>;
}

ports! {
    pub struct Ports {
        /// Doorbells: writes that carry the number of a push.
        pub doorbells: In<Tlp>,
        pub pushes: Rc<RefCell<dyn PushMemory>>,
        /// To the front ends: of the reading and of the writing LCE.
        pub copies: [Out<CopyPush>; 2],
        pub compute: Out<ComputePush>,
        /// From the front ends and from the compute side.
        pub retired: [In<Retired>; 3],
        pub requests: Out<Tlp>,
    }
}

#[derive(Debug, Default)]
pub struct Scheduler {
    schedule: u64,
    sealed_launch: u64,
    streams: Streams,
    /// Pushes that the compute side carries out, and their semaphores.
    computing: BTreeMap<u32, u64>,
    /// Semaphores that are still to be sent: push and address.
    due: VecDeque<(u32, u64)>,
    /// How many have been sent.
    sent: u64,
    /// Those that the link has not taken: how many are sent with it, and the push.
    under_way: VecDeque<(u64, u32)>,
    /// Doorbells that named no push and that the reading front end is still to be notified of.
    unknown: u32,
}

impl Scheduler {
    /// A scheduler that takes `schedule` cycles to hand over a push.
    pub fn new(schedule: Cycles) -> Self {
        Self { schedule: schedule.0, ..Self::default() }
    }

    /// The same, whose kernels may go so many cycles after their doorbells.
    pub fn with_sealed_launches(self, cycles: u64) -> Self {
        Self { sealed_launch: cycles, ..self }
    }

    fn take_doorbells(&mut self, now: Now, ports: &mut Ports) {
        while let Some(tlp) = ports.doorbells.pop(now.time) {
            let number = tlp.payload.bytes().and_then(|b| b.try_into().ok()).map(u32::from_le_bytes);
            let intact = tlp.intact_end_to_end();
            match number.filter(|_| intact).and_then(|n| ports.pushes.borrow_mut().take(n)) {
                Some(submission) => {
                    let later = if submission.work.is_launch() { self.sealed_launch } else { 0 };
                    self.streams.add(submission, (now.cycle, now.cycle.saturating_add(later)));
                }
                None => self.unknown += 1,
            }
        }
        while self.unknown > 0 {
            let channel = &mut ports.copies[0];
            if !channel.has_room(now.time) {
                break;
            }
            channel.push(now.time, CopyPush { number: 0, copy: None, rung: now.cycle, methods: None });
            self.unknown -= 1;
        }
    }

    fn take_retired(&mut self, now: Now, ports: &mut Ports) {
        for queue in &mut ports.retired {
            while let Some(Retired { push }) = queue.pop(now.time) {
                match self.computing.remove(&push) {
                    Some(semaphore) => self.due.push_back((push, semaphore)),
                    None => self.streams.finish(push),
                }
            }
        }
        let taken = ports.requests.pops(now.time);
        while let Some(&(_, push)) = self.under_way.front().filter(|(sent, _)| *sent <= taken) {
            self.streams.finish(push);
            self.under_way.pop_front();
        }
    }

    fn send_semaphores(&mut self, now: Now, ports: &mut Ports) {
        while !self.due.is_empty() && ports.requests.has_room(now.time) {
            let Some((push, address)) = self.due.pop_front() else { break };
            ports.requests.push(now.time, Tlp::write(address, 4, Payload::of(push.to_le_bytes().to_vec())));
            self.sent += 1;
            self.under_way.push_back((self.sent, push));
        }
        if let Some(&(sent, _)) = self.under_way.front() {
            ports.requests.watch_pops(sent);
        }
    }

    /// Gives one push to its engine, if one may go.
    fn hand_over(&mut self, now: Now, ports: &mut Ports) -> Turn {
        let Ports { copies, compute, .. } = ports;
        let mut room = |engine| match engine {
            Engine::Reading => copies[0].has_room(now.time),
            Engine::Writing => copies[1].has_room(now.time),
            Engine::Compute => compute.has_room(now.time),
        };
        let turn = self.streams.next(now.cycle, self.schedule, &mut room);
        let Turn::Go { stream } = turn else { return turn };
        let Some((Submission { number, copy, work, semaphore, .. }, rung)) = self.streams.take(stream) else {
            return turn;
        };
        match work {
            Work::Copies { writes_host, methods } => {
                let push = CopyPush { number, copy, rung, methods: Some(methods) };
                copies[usize::from(writes_host)].push(now.time, push);
            }
            Work::Task(StreamTask::Compute(work)) => {
                self.computing.insert(number, semaphore);
                compute.push(now.time, ComputePush { number, copy, work });
            }
            Work::Task(_) => {}
        }
        turn
    }

    fn wake(&self, turn: Turn, now: Now) -> Wake {
        match turn {
            // What follows it on its stream may be ready, or another push's turn may have come.
            Turn::Go { .. } => Wake::at_or_port(now.cycle + 1, Activity::Busy),
            Turn::At(cycle) => Wake::at_or_port(cycle, Activity::Busy),
            Turn::Never => Wake::on_port(if !self.due.is_empty() {
                Activity::Stall(Stall::LinkBusy)
            } else if self.streams.waiting() {
                Activity::Stall(Stall::Order)
            } else {
                Activity::Idle
            }),
        }
    }
}

impl Unit for Scheduler {
    type Ports = Ports;

    fn tick(&mut self, now: Now, ports: &mut Ports) -> Wake {
        self.take_doorbells(now, ports);
        self.take_retired(now, ports);
        if self.streams.take_change() {
            self.due.extend(self.streams.settle_events());
            self.streams.mark_ready(now.cycle);
        }
        self.send_semaphores(now, ports);
        let turn = self.hand_over(now, ports);
        self.wake(turn, now)
    }
}

#[cfg(test)]
mod tests;
