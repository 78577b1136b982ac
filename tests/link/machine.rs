//! Two ports over two wires, with sources and sinks, or a requester and a root complex, around them.
//!
//! ```text
//!   host sources >+-----------+ down >+----------+> GPU sinks (one per PCE, one for writes)
//!   root complex  | host port |       | GPU port |  requester
//!   host sinks   <+-----------+< up   +----------+< GPU sources
//! ```

use crate::units::{Got, Requester, Sink, Source, ToyMemory};
use sealsim::{
    pcie::{
        packet::{Kind, Payload, Tlp},
        port::{self, Frame, Port, Side, Traffic},
        root_complex::{self, Notice, RootComplex},
        spec::{CreditSpec, LinkSpec, RootComplexSpec},
    },
    sim::{
        Account, Activity, Armed, Channel, Clock, Control, Injection, Kernel, Machine, Now, Order, Queue, Run,
        SimulationError, UnitId, UnitInfo, Wake, Wakes, Wire, run,
    },
    units::{Bytes, Cycles, Femtos, Frequency},
};
use std::{rc::Rc, sync::Arc};

/// Addresses of the mapped memory start here, so that requests have four-DW headers.
pub const BASE: u64 = 1 << 40;
/// Bytes of the mapped memory.
pub const MEMORY: u64 = 1 << 20;
/// A write here is a semaphore.
pub const SEMAPHORE: u64 = BASE + MEMORY;

/// TLPs that a source sends: `count` of them, the n-th made by `make`, `gap` cycles apart.
#[derive(Clone)]
pub struct Feed {
    pub count: u64,
    pub gap: u64,
    pub make: Rc<dyn Fn(u64) -> Tlp>,
}

impl Feed {
    pub fn new(count: u64, make: impl Fn(u64) -> Tlp + 'static) -> Self {
        Self { count, gap: 0, make: Rc::new(make) }
    }
}

/// What a machine is built of.
#[derive(Clone)]
pub struct Plan {
    pub link: LinkSpec,
    pub exact: bool,
    pub pces: u16,
    pub tags_per_pce: u16,
    pub up: Vec<Feed>,
    pub down: Vec<Feed>,
    /// Cycles between two pops of each sink; 0 takes everything at once.
    pub pace: u64,
    pub record: bool,
    /// With a root complex: its spec, and the reads that the requester makes: count, bytes of each, stride, tags.
    pub root: Option<RootComplexSpec>,
    pub reads: Feed,
    pub tags: u16,
    /// Depth of the queue behind each source.
    pub source_room: usize,
}

pub fn infinite() -> CreditSpec {
    CreditSpec {
        posted_headers: 0,
        posted_data: 0,
        non_posted_headers: 0,
        non_posted_data: 0,
        completion_headers: 0,
        completion_data: 0,
    }
}

/// Credits as an H100's ports may have them.
pub fn usual() -> CreditSpec {
    CreditSpec {
        posted_headers: 127,
        posted_data: 2047,
        non_posted_headers: 127,
        non_posted_data: 127,
        completion_headers: 0,
        completion_data: 0,
    }
}

pub fn link() -> LinkSpec {
    LinkSpec {
        generation: 5,
        lanes: 16,
        mac_clock: Frequency(1_000_000_000),
        max_payload: Bytes(256),
        max_read_request: Bytes(512),
        read_completion_boundary: Bytes(64),
        read_tags: 768,
        flight: Cycles(100),
        ack_latency: Cycles(42),
        replay_tlps: 256,
        replay_timer: Cycles(6000),
        skp_interval_blocks: 373,
        recovery: Femtos(1_000_000_000),
        credit_update: Cycles(30_000),
        host_credits: usual(),
        gpu_credits: usual(),
        ecrc: false,
        ide_capable: true,
        ide: None,
    }
}

pub fn root() -> RootComplexSpec {
    RootComplexSpec {
        clock: Frequency(1_000_000_000),
        read_latency: Cycles(400),
        read_spread: Cycles(0),
        read_interval: Cycles(1),
        reads_in_service: 256,
        completion_payload: Bytes(256),
        write_latency: Cycles(100),
        writes_in_service: 256,
        secure_read_latency: Cycles(0),
    }
}

impl Plan {
    pub fn new(link: LinkSpec) -> Self {
        Self {
            link,
            exact: true,
            pces: 2,
            tags_per_pce: 384,
            up: Vec::new(),
            down: Vec::new(),
            pace: 0,
            record: true,
            root: None,
            reads: Feed::new(0, |_| Tlp::read(0, BASE, 0)),
            tags: 0,
            source_room: 4,
        }
    }
}

/// The bytes that lie at every address of the mapped memory.
pub fn pattern() -> Arc<Vec<u8>> {
    thread_local! {
        static BYTES: Arc<Vec<u8>> = Arc::new((0..MEMORY).map(|n| (n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8).collect());
    }
    BYTES.with(Arc::clone)
}

/// A write of what lies at `address`.
pub fn write(address: u64, bytes: u32, exact: bool) -> Tlp {
    Tlp::write(address, bytes, at(address, bytes, exact))
}

/// A completion that carries what lies at `address`.
pub fn completion(tag: u16, address: u64, bytes: u32, exact: bool) -> Tlp {
    let payload = at(address, bytes, exact);
    Tlp { kind: Kind::Completion, byte_count: bytes, payload, ..Tlp::read(tag, address, bytes) }
}

pub fn at(address: u64, bytes: u32, exact: bool) -> Payload {
    if exact { Payload::slice(&pattern(), (address - BASE) % MEMORY, u64::from(bytes)) } else { Payload::none() }
}

#[derive(Clone, Copy)]
enum Role {
    HostPort,
    GpuPort,
    HostSource(usize),
    HostSink(usize),
    GpuSource(usize),
    GpuSink(usize),
    Root,
    Requester,
    Cpu,
}

/// The machine.
pub struct Link {
    pub plan: Plan,
    units: Vec<UnitInfo>,
    roles: Vec<Role>,
    wakes: Wakes,
    pub host: Port,
    pub gpu: Port,
    pub host_send: Vec<Queue<Tlp>>,
    pub host_receive: Vec<Queue<Tlp>>,
    pub gpu_send: Vec<Queue<Tlp>>,
    pub gpu_receive: Vec<Queue<Tlp>>,
    pub down: Wire<Frame>,
    pub up: Wire<Frame>,
    /// To and from the root complex.
    pub root_reads: Wire<Tlp>,
    pub root_completions: Wire<Tlp>,
    pub notices: Wire<Notice>,
    sources: [Vec<Source>; 2],
    pub host_sinks: Vec<Sink>,
    pub gpu_sinks: Vec<Sink>,
    pub root: Option<RootComplex>,
    pub memory: ToyMemory,
    pub requester: Requester,
    pub noticed: Vec<(u64, u64)>,
}

const HOST_PORT: UnitId = UnitId(0);
const GPU_PORT: UnitId = UnitId(1);
/// Room of a receive queue: more than any credits in these tests.
const RECEIVE: usize = 1 << 16;

impl Link {
    pub fn new(plan: Plan) -> Self {
        let mac = Clock::new(Frequency(1_000_000_000)).unwrap();
        let mut link = Self {
            units: Vec::new(),
            roles: Vec::new(),
            wakes: Wakes::default(),
            host: Port::new(&plan.link, Side::Host, mac),
            gpu: Port::new(
                &plan.link,
                Side::Gpu { first_tag: 0, tags_per_pce: plan.tags_per_pce, pces: plan.pces },
                mac,
            ),
            host_send: Vec::new(),
            host_receive: Vec::new(),
            gpu_send: Vec::new(),
            gpu_receive: Vec::new(),
            down: Wire::new("down", HOST_PORT, GPU_PORT).deferring(Port::window(&plan.link, mac)),
            up: Wire::new("up", GPU_PORT, HOST_PORT).deferring(Port::window(&plan.link, mac)),
            root_reads: Wire::new("host reads", HOST_PORT, HOST_PORT),
            root_completions: Wire::new("completions", HOST_PORT, HOST_PORT),
            notices: Wire::new("notices", HOST_PORT, HOST_PORT),
            sources: [Vec::new(), Vec::new()],
            host_sinks: Vec::new(),
            gpu_sinks: Vec::new(),
            root: None,
            memory: ToyMemory { exact: plan.exact, record: plan.record, ..ToyMemory::default() },
            requester: Requester::default(),
            noticed: Vec::new(),
            plan,
        };
        link.unit("host port", mac, Role::HostPort);
        link.unit("gpu port", mac, Role::GpuPort);
        link.build_host(mac);
        link.build_gpu(mac);
        link
    }

    fn unit(&mut self, name: &str, clock: Clock, role: Role) -> UnitId {
        self.units.push(UnitInfo { name: name.into(), clock });
        self.roles.push(role);
        UnitId(self.roles.len() as u8 - 1)
    }

    fn build_host(&mut self, mac: Clock) {
        if let Some(spec) = self.plan.root.clone() {
            let clock = Clock::new(spec.clock).unwrap();
            let boundary = self.plan.link.read_completion_boundary.0;
            self.root = Some(RootComplex::new(&spec, boundary, clock).unwrap());
            let root = self.unit("root complex", clock, Role::Root);
            let cpu = self.unit("cpu", mac, Role::Cpu);
            self.root_reads = Wire::new("host reads", HOST_PORT, root);
            self.root_completions = Wire::new("completions", root, HOST_PORT);
            self.host_receive.push(Queue::new("host writes", HOST_PORT, root, RECEIVE));
            self.notices = Wire::new("notices", root, cpu);
        } else {
            for place in 0..2 {
                let sink = self.unit("host sink", mac, Role::HostSink(place));
                self.host_receive.push(Queue::new(format!("host receive {place}"), HOST_PORT, sink, RECEIVE));
                self.host_sinks.push(Sink::default());
            }
        }
        for feed in self.plan.down.clone() {
            let place = self.host_send.len();
            let source = self.unit("host source", mac, Role::HostSource(self.sources[0].len()));
            self.host_send.push(Queue::new(format!("host send {place}"), source, HOST_PORT, self.plan.source_room));
            self.sources[0].push(Source { feed, made: 0, next: 0 });
        }
    }

    fn build_gpu(&mut self, mac: Clock) {
        let requester = self.root.is_some().then(|| {
            self.requester.free = (0..self.plan.tags).collect();
            self.requester.held = vec![Vec::new(); usize::from(self.plan.tags)];
            self.requester.open = vec![(0, 0, 0, 0); usize::from(self.plan.tags)];
            let requester = self.unit("requester", mac, Role::Requester);
            self.gpu_send.push(Queue::new("reads", requester, GPU_PORT, 16));
            requester
        });
        for place in 0..=usize::from(self.plan.pces) {
            let is_pce = place < usize::from(self.plan.pces);
            let sink = match requester {
                Some(requester) if is_pce => requester,
                _ => self.unit("gpu sink", mac, Role::GpuSink(place)),
            };
            self.gpu_receive.push(Queue::new(format!("gpu receive {place}"), GPU_PORT, sink, RECEIVE).deferring());
            self.gpu_sinks.push(Sink::default());
        }
        for feed in self.plan.up.clone() {
            let place = self.gpu_send.len();
            let source = self.unit("gpu source", mac, Role::GpuSource(self.sources[1].len()));
            self.gpu_send.push(Queue::new(format!("gpu send {place}"), source, GPU_PORT, self.plan.source_room));
            self.sources[1].push(Source { feed, made: 0, next: 0 });
        }
    }

    pub fn arm(&mut self, faults: &[(Injection, u64)]) {
        for (injection, seed) in faults {
            let armed = Armed::new(injection, 0, *seed);
            match injection.place.as_str() {
                "down" => self.down.arm(armed, &self.wakes),
                "up" => self.up.arm(armed, &self.wakes),
                "host reads" => self.root_reads.arm(armed, &self.wakes),
                "completions" => self.root_completions.arm(armed, &self.wakes),
                place => {
                    let queues =
                        [&mut self.host_receive, &mut self.gpu_receive, &mut self.host_send, &mut self.gpu_send];
                    let queue = queues.into_iter().flatten().find(|q| q.name() == place);
                    queue.expect("a known place").arm(armed, &self.wakes);
                }
            }
        }
    }

    pub fn run(&mut self, kernel: Kernel, order: Order) -> Result<Run, SimulationError> {
        run(self, kernel, order, &mut |_| Control::Continue)
    }

    pub fn digests(&self) -> Vec<u64> {
        self.channels().iter().map(|c| c.digest()).collect()
    }

    pub fn traffic(&self) -> [Traffic; 2] {
        [*self.host.traffic(), *self.gpu.traffic()]
    }

    fn due(&self) -> [u64; 2] {
        let sum = |sources: &[Source]| sources.iter().map(|s| s.feed.count).sum::<u64>();
        [sum(&self.sources[0]), sum(&self.sources[1])]
    }
}

impl Link {
    fn with_host_port<T>(&mut self, run: impl FnOnce(&mut Port, &mut port::Ports<'_>) -> T) -> T {
        let root = port::RootPorts { reads: &mut self.root_reads, completions: &mut self.root_completions };
        let mut ports = port::Ports {
            send: &mut self.host_send,
            receive: &mut self.host_receive,
            root: self.root.is_some().then_some(root),
            wire_out: &mut self.down,
            wire_in: &mut self.up,
            wakes: &self.wakes,
        };
        run(&mut self.host, &mut ports)
    }

    fn with_gpu_port<T>(&mut self, run: impl FnOnce(&mut Port, &mut port::Ports<'_>) -> T) -> T {
        let mut ports = port::Ports {
            send: &mut self.gpu_send,
            receive: &mut self.gpu_receive,
            root: None,
            wire_out: &mut self.up,
            wire_in: &mut self.down,
            wakes: &self.wakes,
        };
        run(&mut self.gpu, &mut ports)
    }

    fn with_root<T>(&mut self, now: Now, run: impl FnOnce(&mut RootComplex, root_complex::Ports<'_>) -> T) -> T {
        let ports = root_complex::Ports {
            reads: &mut self.root_reads,
            writes: self.host_receive[0].input(now.time, &self.wakes),
            completions: &mut self.root_completions,
            notices: &mut self.notices,
            memory: &mut self.memory,
            wakes: &self.wakes,
        };
        run(self.root.as_mut().expect("a root complex"), ports)
    }
}

impl Machine for Link {
    fn units(&self) -> &[UnitInfo] {
        &self.units
    }

    fn tick(&mut self, unit: UnitId, now: Now) -> Wake {
        match self.roles[usize::from(unit.0)] {
            Role::HostPort => self.with_host_port(|port, ports| port.tick(now, ports)),
            Role::GpuPort => self.with_gpu_port(|port, ports| port.tick(now, ports)),
            Role::HostSource(n) => self.sources[0][n].tick(now, self.host_send[n].output(now.time, &self.wakes)),
            Role::GpuSource(n) => {
                let queue = n + usize::from(self.root.is_some());
                self.sources[1][n].tick(now, self.gpu_send[queue].output(now.time, &self.wakes))
            }
            Role::HostSink(n) => {
                let input = self.host_receive[n].input(now.time, &self.wakes);
                self.host_sinks[n].tick(now, input, self.plan.pace, self.plan.record)
            }
            Role::GpuSink(n) => {
                let input = self.gpu_receive[n].input(now.time, &self.wakes);
                self.gpu_sinks[n].tick(now, input, self.plan.pace, self.plan.record)
            }
            Role::Requester => {
                let inputs = &mut self.gpu_receive[..usize::from(self.plan.pces)];
                self.requester.tick(
                    now,
                    &self.plan,
                    inputs,
                    self.gpu_send[0].output(now.time, &self.wakes),
                    &self.wakes,
                )
            }
            Role::Root => self.with_root(now, |root, ports| root.tick(now, ports)),
            Role::Cpu => {
                while let Some(notice) = self.notices.arrive(now.time) {
                    self.noticed.push((now.cycle, notice.value));
                }
                match self.notices.next_arrival() {
                    Some(date) => {
                        Wake::at_or_port(self.units[usize::from(unit.0)].clock.first_from(date), Activity::Idle)
                    }
                    None => Wake::on_port(Activity::Idle),
                }
            }
        }
    }

    fn catch_up(&mut self, unit: UnitId, now: Now) {
        match self.roles[usize::from(unit.0)] {
            Role::HostPort => self.with_host_port(|port, ports| port.catch_up(now, ports)),
            Role::GpuPort => self.with_gpu_port(|port, ports| port.catch_up(now, ports)),
            Role::Root => self.with_root(now, |root, mut ports| root.catch_up(now, &mut ports)),
            _ => {}
        }
    }

    fn wakes(&self) -> &Wakes {
        &self.wakes
    }

    fn finished(&self) -> bool {
        let [down, up] = self.due();
        let at_host = match &self.root {
            Some(root) => self.memory.count + root.incidents().iter().filter(|i| i.contains("ECRC")).count() as u64,
            None => self.host_sinks.iter().map(|s| s.count).sum(),
        };
        let at_gpu: u64 = self.gpu_sinks.iter().map(|s| s.count).sum();
        let done = at_host >= up && at_gpu >= down && self.requester.done >= self.plan.reads.count;
        done || self.fault().is_some()
    }

    fn fault(&self) -> Option<String> {
        self.host.fault().or_else(|| self.gpu.fault()).cloned().or_else(|| self.requester.wrong.clone())
    }

    fn channels(&self) -> Vec<&dyn Channel> {
        let queues = [&self.host_send, &self.host_receive, &self.gpu_send, &self.gpu_receive];
        let mut all: Vec<&dyn Channel> = queues.into_iter().flatten().map(|q| q as &dyn Channel).collect();
        all.extend([&self.down as &dyn Channel, &self.up, &self.notices, &self.root_reads, &self.root_completions]);
        all
    }
}

/// What a finished run must have in common with another: its end, digests, accounts, traffic and what arrived.
#[derive(Debug, PartialEq, Eq)]
pub struct Outcome {
    pub end: Femtos,
    pub digests: Vec<u64>,
    pub accounts: Vec<Account>,
    pub traffic: [Traffic; 2],
    pub got: Vec<Vec<Got>>,
    pub noticed: Vec<(u64, u64)>,
}

/// Builds, arms and runs a machine to its end.
pub fn go(
    plan: &Plan,
    kernel: Kernel,
    order: Order,
    faults: &[(Injection, u64)],
) -> Result<(Link, Outcome), SimulationError> {
    let mut link = Link::new(plan.clone());
    link.arm(faults);
    let run = link.run(kernel, order)?;
    for (account, unit) in run.accounts.iter().zip(&link.units) {
        assert_eq!(account.total(), unit.clock.first_after(run.end), "the cycles of {} add up", unit.name);
    }
    let sinks = link.host_sinks.iter().chain(&link.gpu_sinks).map(|s| s.got.clone());
    let outcome = Outcome {
        end: run.end,
        digests: link.digests(),
        accounts: run.accounts,
        traffic: link.traffic(),
        got: sinks.chain([link.requester.got.clone(), link.memory.writes.clone()]).collect(),
        noticed: link.noticed.clone(),
    };
    Ok((link, outcome))
}

/// A finished run of the `skip` kernel without faults.
pub fn finish(plan: &Plan) -> Link {
    match go(plan, Kernel::Skip, Order::Ascending, &[]) {
        Ok((link, _)) => link,
        Err(error) => panic!("{error}"),
    }
}
