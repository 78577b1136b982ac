//! The compute side: kernels, of which only the time counts, and copies within device memory that kernels make.
//!
//! ```text
//!                +-------------------------+
//!  pushes In    >|  launch -> slots        |> retired Out (scheduler)
//!                |            copies       |
//!                +------------+------------+
//!                             | DeviceMemory
//! ```
//!
//! | contract | |
//! | --- | --- |
//! | accepts | pushes as they come |
//! | latency | hand-over to start `launch`, if a slot is free by then |
//! | order | pushes start in the order in which they come; `slots` at once |
//! | kernel | `stretch` thousandths of its own time |
//! | collective | its own time |
//! | network | its time from the hand-over on; it takes no slot |
//! | copy | `copy_launch`, then its bytes: at `copy_rate_l2` if source and destination fit `l2`, else at `copy_rate_hbm`; the bytes of one copy after those of another |
//! | bytes | of a copy move at its end |
//! | stalls | `collective`, while nothing but collectives runs |
//!
//! Kernels and copies take no bandwidth from each other or from the copy engines.

use super::{
    hbm::DeviceMemory,
    spans::Spans,
    spec::ComputeSpec,
    work::{ComputePush, Edge, Mark, Retired},
};
use crate::{
    ports,
    sim::{Activity, Clock, In, Now, Out, Room, Stall, Unit, Wake},
    stream::Computation,
    units::Femtos,
};
use std::{cell::RefCell, collections::BTreeMap, rc::Rc};

/// Bytes of a copy that are moved at once.
const PIECE: u64 = 1 << 20;

ports! {
    pub struct Ports {
        pub pushes: In<ComputePush>,
        pub retired: Out<Retired>,
        pub memory: Rc<RefCell<dyn DeviceMemory>>,
    }
}

#[derive(Debug)]
struct Running {
    start: u64,
    push: ComputePush,
}

#[derive(Debug)]
pub struct Compute {
    spec: ComputeSpec,
    clock: Clock,
    /// By slot: the cycle from which on it is free.
    slots: Vec<u64>,
    room: Room,
    /// Cycle from which on copies can move bytes.
    memory_free: u64,
    /// By cycle of its end and number.
    running: BTreeMap<(u64, u32), Running>,
    spans: Spans,
}

impl Compute {
    pub fn new(spec: &ComputeSpec, clock: Clock) -> Self {
        Self {
            clock,
            slots: vec![0; spec.slots.max(1) as usize],
            room: Room::new(spec.slots.max(1).into()),
            spec: spec.clone(),
            memory_free: 0,
            running: BTreeMap::new(),
            spans: Spans::default(),
        }
    }

    /// What copies have begun and ended.
    pub const fn spans(&self) -> &Spans {
        &self.spans
    }

    /// What the unit does while something is in progress.
    fn activity(&self) -> Activity {
        let works = self.running.values().map(|running| match running.push.work {
            Computation::Kernel { .. } | Computation::Copy { .. } => Activity::Busy,
            Computation::Collective { .. } => Activity::Stall(Stall::Collective),
            Computation::Network { .. } => Activity::Idle,
        });
        let rank = |activity: &Activity| match *activity {
            Activity::Idle => 0,
            Activity::Busy => 2,
            _ => 1,
        };
        works.max_by_key(rank).unwrap_or(Activity::Idle)
    }

    /// Finds out when a push will start and end.
    fn start(&mut self, push: ComputePush, cycle: u64) {
        let (mut free, launched) = (cycle, cycle + self.spec.launch.0);
        let slot = match push.work {
            Computation::Network { .. } => &mut free,
            _ => {
                // Which of the slots it gets that are free by then makes no difference.
                let taken = self.slots.iter().filter(|until| **until > launched).count();
                self.room.holds(taken as u64 + 1);
                self.slots.iter_mut().min().unwrap_or(&mut free)
            }
        };
        let start = launched.max(*slot);
        let end = match push.work {
            Computation::Network { duration } => after(&self.clock, cycle, duration.0),
            Computation::Kernel { duration } => {
                let lasts = u128::from(duration.0) * u128::from(self.spec.stretch) / 1000;
                after(&self.clock, start, u64::try_from(lasts).unwrap_or(u64::MAX))
            }
            Computation::Collective { duration } => after(&self.clock, start, duration.0),
            Computation::Copy { bytes, .. } => {
                let moves = self.memory_free.max(start.saturating_add(self.spec.copy_launch.0));
                self.memory_free = moves.saturating_add(self.spec.cycles_of_copy(bytes));
                self.memory_free
            }
        };
        let end = end.max(cycle + 1);
        *slot = end;
        self.running.insert((end, push.number), Running { start, push });
    }
}

/// The first edge at which this much time has passed since a cycle.
fn after(clock: &Clock, cycle: u64, femtos: u64) -> u64 {
    clock.first_from(Femtos(clock.edge(cycle).0.saturating_add(femtos)))
}

/// Moves the bytes of a copy, a piece at a time.
fn carry(source: u64, destination: u64, bytes: u64, memory: &mut dyn DeviceMemory) {
    for offset in (0..bytes).step_by(PIECE as usize) {
        let length = PIECE.min(bytes - offset);
        let payload = memory.load(source + offset, length as u32);
        memory.store(destination + offset, length, &payload, 0);
    }
}

impl Unit for Compute {
    type Ports = Ports;

    fn bounded(&self, show: &mut dyn FnMut(&'static str, u64)) {
        show("compute.slots", self.room.asked());
    }

    fn tick(&mut self, now: Now, ports: &mut Ports) -> Wake {
        while let Some(push) = ports.pushes.pop(now.time) {
            self.start(push, now.cycle);
        }
        while let Some(ended) = self.running.first_entry().filter(|entry| entry.key().0 <= now.cycle) {
            if !ports.retired.has_room(now.time) {
                return Wake::on_port(Activity::Busy);
            }
            let Running { start, push } = ended.remove();
            if let Computation::Copy { source, destination, bytes } = push.work {
                carry(source, destination, bytes, &mut *ports.memory.borrow_mut());
            }
            ports.retired.push(now.time, Retired { push: push.number });
            let start = self.clock.edge(start);
            match push.copy {
                Some(copy) => {
                    self.spans.note(Mark { copy, edge: Edge::Begin, time: start });
                    self.spans.note(Mark { copy, edge: Edge::End, time: now.time });
                }
                None => _ = self.spans.computed.insert(push.number, (start, now.time)),
            }
        }
        match self.running.first_key_value() {
            Some((&(end, _), _)) => Wake::at_or_port(end, self.activity()),
            None => Wake::on_port(Activity::Idle),
        }
    }
}

#[cfg(test)]
mod tests;
