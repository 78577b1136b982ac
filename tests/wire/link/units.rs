//! What stands around the ports: sources, sinks, a requester, host memory.

use super::machine::{BASE, Feed, MEMORY, Plan, SEMAPHORE, at, pattern};
use sealsim::{
    pcie::{
        packet::{Kind, Payload, Tlp},
        root_complex::{self, HostMemory, Notice, RootComplex, Written},
    },
    ports,
    sim::{Activity, Clock, In, Meter, Now, Out, Rx, Signals, Stall, Unit, Wake},
};
use std::{
    cell::{Cell, RefCell},
    collections::VecDeque,
    rc::Rc,
};

/// Where what is awaited comes.
#[derive(Debug, Clone, Copy, Default)]
pub enum Place {
    /// TLPs to the host.
    #[default]
    Host,
    /// TLPs to the GPU, but for what the requester has asked for.
    Gpu,
    /// Ends of reads to the requester.
    Requester,
}

/// What is still to come, by [`Place`]. Nobody sees all of it come, so that those who do see some share this.
#[derive(Debug, Default)]
pub struct Tally([Cell<u64>; 3]);

impl Tally {
    pub fn of(plan: &Plan) -> Rc<Self> {
        let sum = |feeds: &[Feed]| feeds.iter().map(|feed| feed.count).sum::<u64>();
        Rc::new(Self([sum(&plan.up), sum(&plan.down), plan.reads.count].map(Cell::new)))
    }

    /// So many more have come.
    fn takes(&self, place: Place, count: u64) {
        let left = &self.0[place as usize];
        left.set(left.get().saturating_sub(count));
    }

    /// Ends the run if all has come. Asked at every tick, so that a run without work ends at its first instant.
    fn look(&self, signals: &Signals) {
        if self.0.iter().all(|left| left.get() == 0) {
            signals.stop();
        }
    }
}

/// A TLP that arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Got {
    pub cycle: u64,
    pub kind: Kind,
    pub tag: u16,
    pub address: u64,
    pub bytes: u32,
    /// Whether the bytes are those that lie at the address; true where there are none.
    pub right: bool,
    /// What the ECRC says.
    pub intact: bool,
}

pub fn got(tlp: &Tlp, cycle: u64) -> Got {
    let right = tlp.payload.bytes().is_none_or(|b| {
        let start = (tlp.address.wrapping_sub(BASE) % MEMORY) as usize;
        pattern()[start..].starts_with(b) && b.len() == tlp.bytes as usize
    });
    let intact = tlp.intact_end_to_end();
    Got { cycle, kind: tlp.kind, tag: tlp.tag, address: tlp.address, bytes: tlp.bytes, right, intact }
}

/// Pushes what its feed makes.
pub struct Source {
    pub feed: Feed,
    pub made: u64,
    pub next: u64,
}

impl Source {
    pub const fn of(feed: Feed) -> Self {
        Self { feed, made: 0, next: 0 }
    }
}

impl Unit for Source {
    type Ports = Out<Tlp>;

    fn tick(&mut self, now: Now, output: &mut Out<Tlp>) -> Wake {
        if now.cycle < self.next {
            return Wake::at(self.next, Activity::Idle);
        }
        while self.made < self.feed.count {
            if !output.has_room(now.time) {
                return Wake::on_port(Activity::Stall(Stall::LinkBusy));
            }
            output.push(now.time, (self.feed.make)(self.made));
            self.made += 1;
            if self.feed.gap > 0 {
                self.next = now.cycle + self.feed.gap;
                return Wake::at(self.next, Activity::Idle);
            }
        }
        Wake::on_port(Activity::Idle)
    }
}

ports! {
    pub struct SinkPorts {
        pub input: In<Tlp>,
        pub signals: Signals,
    }
}

/// Takes TLPs, at its pace, and notes them.
#[derive(Default)]
pub struct Sink {
    pub got: Vec<Got>,
    pub count: u64,
    pub bytes: u64,
    pub first: u64,
    pub last: u64,
    hertz: f64,
    next: u64,
    pace: u64,
    record: bool,
    place: Place,
    tally: Rc<Tally>,
}

impl Sink {
    pub fn new(plan: &Plan, place: Place, tally: &Rc<Tally>) -> Self {
        let hertz = plan.link.mac_clock.0 as f64;
        Self { hertz, pace: plan.pace, record: plan.record, place, tally: Rc::clone(tally), ..Self::default() }
    }

    fn take(&mut self, tlp: &Tlp, cycle: u64) {
        if self.count == 0 {
            self.first = cycle;
        }
        self.count += 1;
        self.tally.takes(self.place, 1);
        self.last = cycle;
        self.bytes += u64::from(tlp.bytes);
        if self.record {
            self.got.push(got(tlp, cycle));
        }
    }

    /// Payload bytes per second between the first and the last arrival.
    pub fn rate(&self) -> f64 {
        let mean = self.bytes as f64 / self.count as f64;
        (self.bytes as f64 - mean) / (self.last - self.first) as f64 * self.hertz
    }
}

impl Unit for Sink {
    type Ports = SinkPorts;

    fn tick(&mut self, now: Now, SinkPorts { input, signals }: &mut SinkPorts) -> Wake {
        while now.cycle >= self.next {
            let Some(tlp) = input.pop(now.time) else { break };
            self.take(&tlp, now.cycle);
            if self.pace > 0 {
                self.next = now.cycle + self.pace;
            }
        }
        self.tally.look(signals);
        if input.is_empty(now.time) {
            Wake::on_port(Activity::Idle)
        } else {
            Wake::at_or_port(self.next, Activity::Busy)
        }
    }
}

ports! {
    pub struct RequesterPorts {
        pub inputs: Vec<In<Tlp>>,
        pub output: Out<Tlp>,
        pub signals: Signals,
    }
}

/// Makes reads while it has tags, and takes their completions.
pub struct Requester {
    reads: Feed,
    record: bool,
    tally: Rc<Tally>,
    issued: u64,
    pub done: u64,
    pub refused: u64,
    pub bytes: u64,
    pub first: u64,
    pub last: u64,
    /// Number, issue cycle and end cycle of every read, in the order of ending.
    pub ends: Vec<(u64, u64, u64)>,
    /// What the completions of ended reads have brought, dated with the end of the read.
    pub got: Vec<Got>,
    /// The same, by tag, of reads that have not ended.
    held: Vec<Vec<Got>>,
    free: VecDeque<u16>,
    /// By tag: number, issue cycle, address and bytes still to come.
    open: Vec<(u64, u64, u64, u32)>,
    wrong: Option<String>,
}

impl Requester {
    pub fn new(plan: &Plan, tally: &Rc<Tally>) -> Self {
        let tags = usize::from(plan.tags);
        Self {
            reads: plan.reads.clone(),
            record: plan.record,
            tally: Rc::clone(tally),
            issued: 0,
            done: 0,
            refused: 0,
            bytes: 0,
            first: 0,
            last: 0,
            ends: Vec::new(),
            got: Vec::new(),
            held: vec![Vec::new(); tags],
            free: (0..plan.tags).collect(),
            open: vec![(0, 0, 0, 0); tags],
            wrong: None,
        }
    }

    fn take(&mut self, tlp: &Tlp, cycle: u64) {
        let Some(&(number, issued, next, left)) = self.open.get(usize::from(tlp.tag)) else {
            self.wrong.get_or_insert_with(|| format!("tag {} was never used", tlp.tag));
            return;
        };
        if self.record {
            self.held[usize::from(tlp.tag)].push(got(tlp, cycle));
        }
        let end = match tlp.kind {
            Kind::Unsupported => true,
            _ if tlp.address != next || tlp.byte_count != left.max(1) => {
                self.wrong.get_or_insert_with(|| format!("tag {}: {tlp:x?} for {next:x} of {left}", tlp.tag));
                true
            }
            _ => left == tlp.bytes,
        };
        self.refused += u64::from(tlp.kind == Kind::Unsupported);
        self.bytes += u64::from(tlp.payload_dw() > 0) * u64::from(tlp.bytes);
        self.open[usize::from(tlp.tag)] = (number, issued, next + u64::from(tlp.bytes), left.saturating_sub(tlp.bytes));
        if end {
            self.got.extend(self.held[usize::from(tlp.tag)].drain(..).map(|got| Got { cycle, ..got }));
            self.free.push_back(tlp.tag);
            if self.done == 0 {
                self.first = cycle;
            }
            self.done += 1;
            self.tally.takes(Place::Requester, 1);
            self.last = cycle;
            if self.record {
                self.ends.push((number, issued, cycle));
            }
        }
    }

    /// Asks for what it has tags for.
    fn ask(&mut self, now: Now, output: &mut Out<Tlp>) -> Wake {
        while self.issued < self.reads.count {
            let Some(&tag) = self.free.front() else { return Wake::on_port(Activity::Stall(Stall::ReadTags)) };
            if !output.has_room(now.time) {
                return Wake::on_port(Activity::Stall(Stall::LinkBusy));
            }
            self.free.pop_front();
            let mut tlp = (self.reads.make)(self.issued);
            tlp.tag = tag;
            self.open[usize::from(tag)] = (self.issued, now.cycle, tlp.address, tlp.bytes);
            output.push(now.time, tlp);
            self.issued += 1;
        }
        Wake::on_port(Activity::Idle)
    }
}

impl Unit for Requester {
    type Ports = RequesterPorts;

    fn tick(&mut self, now: Now, ports: &mut RequesterPorts) -> Wake {
        for input in &mut ports.inputs {
            while let Some(tlp) = input.pop(now.time) {
                self.take(&tlp, now.cycle);
            }
        }
        if let Some(wrong) = &self.wrong {
            ports.signals.fail(wrong);
        }
        self.tally.look(&ports.signals);
        self.ask(now, &mut ports.output)
    }
}

ports! {
    pub struct RootPorts {
        pub root: root_complex::Ports,
        pub signals: Signals,
    }
}

/// A root complex, and who counts what it has taken.
pub struct Root {
    root: RootComplex,
    memory: Rc<RefCell<ToyMemory>>,
    taken: u64,
    tally: Rc<Tally>,
}

impl Root {
    pub fn new(root: RootComplex, memory: &Rc<RefCell<ToyMemory>>, tally: &Rc<Tally>) -> Self {
        Self { root, memory: Rc::clone(memory), taken: 0, tally: Rc::clone(tally) }
    }
}

impl Unit for Root {
    type Ports = RootPorts;

    fn tick(&mut self, now: Now, ports: &mut RootPorts) -> Wake {
        let wake = self.root.tick(now, &mut ports.root);
        // What is dropped for its ECRC never reaches memory.
        let dropped = self.root.incidents().iter().filter(|incident| incident.contains("ECRC")).count() as u64;
        let taken = self.memory.borrow().count + dropped;
        self.tally.takes(Place::Host, taken - self.taken);
        self.taken = taken;
        self.tally.look(&ports.signals);
        wake
    }

    fn catch_up(&mut self, now: Now, ports: &mut RootPorts) {
        self.root.catch_up(now, &mut ports.root);
    }

    fn meters(&self) -> Vec<&Meter> {
        self.root.meters()
    }

    fn incidents(&self) -> Vec<String> {
        self.root.incidents()
    }
}

/// Notes when semaphores change.
pub struct Cpu {
    pub clock: Clock,
    /// Cycle and value.
    pub noticed: Vec<(u64, u64)>,
}

impl Unit for Cpu {
    type Ports = Rx<Notice>;

    fn tick(&mut self, now: Now, notices: &mut Rx<Notice>) -> Wake {
        while let Some(notice) = notices.arrive(now.time) {
            self.noticed.push((now.cycle, notice.value));
        }
        match notices.next_arrival() {
            Some(date) => Wake::at_or_port(self.clock.first_from(date), Activity::Idle),
            None => Wake::on_port(Activity::Idle),
        }
    }
}

/// Does nothing.
pub struct Bystander;

impl Unit for Bystander {
    type Ports = ();

    fn tick(&mut self, _now: Now, _ports: &mut ()) -> Wake {
        Wake::on_port(Activity::Idle)
    }
}

/// Mapped memory that holds [`pattern`] and compares what is written with it.
#[derive(Default)]
pub struct ToyMemory {
    pub exact: bool,
    pub record: bool,
    pub count: u64,
    pub writes: Vec<Got>,
}

impl HostMemory for ToyMemory {
    fn read(&mut self, address: u64, bytes: u32) -> Option<Payload> {
        let mapped = address >= BASE && address + u64::from(bytes) <= BASE + MEMORY;
        mapped.then(|| at(address, bytes, self.exact))
    }

    fn write(&mut self, tlp: &Tlp) -> Written {
        self.count += 1;
        if self.record {
            self.writes.push(got(tlp, 0));
        }
        match tlp.address {
            SEMAPHORE => Written::Semaphore(Notice { address: SEMAPHORE, value: u64::from(tlp.bytes) }),
            BASE..SEMAPHORE => Written::Data,
            _ => Written::Unmapped,
        }
    }
}
