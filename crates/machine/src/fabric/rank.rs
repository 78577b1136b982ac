//! What a GPU does in a collective: it starts transfers, and takes and adds what comes.
//!
//! ```text
//!                    +------+
//!  delivered wire   ~| rank |> transfers Out (sender)
//!                    +------+
//! ```
//!
//! | contract | |
//! | --- | --- |
//! | begins | at `launch` |
//! | sends | each when what it needs is through and those before it to the same GPU have been delivered; of several in the order of its program; any number at one edge |
//! | receives | one at a time, in the order in which they come: the protocol's step, then `pass` bytes at its rate |
//! | ends | when all its sends have been delivered and all its receives are through |
//! | stalls | `read_data`: it waits for what others send |

use super::{
    memory::{Memory, Text},
    program::Program,
    protocol::Protocol,
    spec::FabricSpec,
};
use crate::{
    ports,
    sim::{Activity, Clock, Now, Out, Rx, Signals, Stall, Unit, Wake, items},
    units::{BytesPerCycle, Femtos},
};
use std::{cell::RefCell, collections::VecDeque, ops::Range, rc::Rc};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transfer {
    pub target: u8,
    pub range: Range<u64>,
}

/// Text that has come whole, and was found right.
#[derive(Debug, Clone)]
pub struct Delivered {
    pub source: u8,
    pub bytes: u64,
    /// The text, in a run with bytes.
    pub text: Text,
}

items! {
    Transfer: |sent| sent.range.start.rotate_left(8) ^ sent.range.end.rotate_left(36) ^ u64::from(sent.target);
    Delivered: |delivered| delivered.bytes << 8 | u64::from(delivered.source);
}

ports! {
    pub struct Ports {
        pub transfers: Out<Transfer>,
        pub delivered: Rx<Delivered>,
        pub memory: Rc<RefCell<Memory>>,
        /// Its work is the run.
        pub signals: Signals,
    }
}

/// A receive that is being taken.
#[derive(Debug)]
struct Taking {
    until: u64,
    place: usize,
    text: Text,
}

#[derive(Debug)]
pub struct Rank {
    clock: Clock,
    launch: u64,
    step: u64,
    pass_rate: BytesPerCycle,
    program: Program,
    /// By target: places of sends that have not been delivered.
    sends: Vec<VecDeque<usize>>,
    through: Vec<bool>,
    /// Receives that are not through.
    left: usize,
    /// By source: the places of its receives that have not come.
    expected: Vec<VecDeque<usize>>,
    inbox: VecDeque<(usize, Text)>,
    taking: Option<Taking>,
    finished: Option<Femtos>,
}

impl Rank {
    /// A rank among so many, on the links' clock, that begins at `launch`.
    pub fn new(
        (spec, protocol): (&FabricSpec, Protocol),
        clock: Clock,
        ranks: usize,
        launch: Femtos,
        program: Program,
    ) -> Self {
        let (mut expected, mut sends) = (vec![VecDeque::new(); ranks], vec![VecDeque::new(); ranks]);
        for (place, send) in program.sends.iter().enumerate() {
            if let Some(to_target) = sends.get_mut(usize::from(send.target)) {
                to_target.push_back(place);
            }
        }
        for (place, receive) in program.receives.iter().enumerate() {
            if let Some(of_source) = expected.get_mut(usize::from(receive.source)) {
                of_source.push_back(place);
            }
        }
        Self {
            clock,
            launch: clock.first_from(launch),
            step: clock.cycles_in(spec.step_time(protocol)),
            pass_rate: spec.pass_rate(protocol),
            sends,
            through: vec![false; program.receives.len()],
            left: program.receives.len(),
            program,
            expected,
            inbox: VecDeque::new(),
            taking: None,
            finished: None,
        }
    }

    /// When all its work was done, if it was.
    pub const fn finished(&self) -> Option<Femtos> {
        self.finished
    }

    /// Receives that are through, and all that there are.
    pub const fn received(&self) -> (usize, usize) {
        (self.through.len() - self.left, self.through.len())
    }

    /// Puts text that has been taken into memory, and begins with the next.
    fn take(&mut self, now: Now, ports: &mut Ports) {
        if let Some(taking) = self.taking.take_if(|taking| taking.until <= now.cycle) {
            let receive = &self.program.receives[taking.place];
            if let Some(text) = &taking.text {
                ports.memory.borrow_mut().write(&receive.range, text, receive.reduces);
            }
            self.through[taking.place] = true;
            self.left -= 1;
        }
        if self.taking.is_none()
            && let Some((place, text)) = self.inbox.pop_front()
        {
            let pass = self.pass_rate.cycles_for(self.program.receives[place].pass);
            let until = now.cycle.saturating_add(self.step).saturating_add(pass).max(now.cycle + 1);
            self.taking = Some(Taking { until, place, text });
        }
    }

    /// The first send of the program that can be delivered.
    fn ready(&self) -> Option<usize> {
        let through = |place: &usize| self.program.sends[*place].after.iter().all(|&receive| self.through[receive]);
        self.sends.iter().filter_map(VecDeque::front).copied().filter(through).min()
    }

    /// Starts what can be started; gives whether the sender has no room.
    fn send(&mut self, now: Now, ports: &mut Ports) -> bool {
        while let Some(place) = self.ready() {
            if !ports.transfers.has_room(now.time) {
                return true;
            }
            let send = &self.program.sends[place];
            ports.transfers.push(now.time, Transfer { target: send.target, range: send.range.clone() });
            self.sends[usize::from(send.target)].pop_front();
        }
        false
    }
}

impl Unit for Rank {
    type Ports = Ports;

    fn tick(&mut self, now: Now, ports: &mut Ports) -> Wake {
        if now.cycle < self.launch {
            return Wake::at(self.launch, Activity::Idle);
        }
        while let Some(Delivered { source, text, .. }) = ports.delivered.arrive(now.time) {
            match self.expected.get_mut(usize::from(source)).and_then(VecDeque::pop_front) {
                Some(place) => self.inbox.push_back((place, text)),
                None => ports.signals.fail(&format!("GPU {source} sent more than was asked for")),
            }
        }
        self.take(now, ports);
        let full = self.send(now, ports);
        let done = self.sends.iter().all(VecDeque::is_empty) && self.left == 0;
        if done && self.finished.is_none() {
            self.finished = Some(now.time);
            ports.signals.stop();
        }
        let arrival = ports.delivered.next_arrival().map_or(Wake::NEVER, |date| self.clock.first_from(date));
        let (at, activity) = match &self.taking {
            Some(taking) => (taking.until, Activity::Busy),
            None if done => (Wake::NEVER, Activity::Idle),
            None if full => (Wake::NEVER, Activity::Stall(Stall::LinkBusy)),
            None => (Wake::NEVER, Activity::Stall(Stall::ReadData)),
        };
        Wake::at_or_port(at.min(arrival), activity)
    }
}
