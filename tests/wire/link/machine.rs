//! Two ports over two wires, with sources and sinks, or a requester and a root complex, around them.
//!
//! ```text
//!   host sources >+-----------+ down >+----------+> GPU sinks (one per PCE, one for writes)
//!   root complex  | host port |       | GPU port |  requester
//!   host sinks   <+-----------+< up   +----------+< GPU sources
//! ```

use super::units::{
    Bystander, Cpu, Got, Place, Requester, RequesterPorts, Root, RootPorts, Sink, SinkPorts, Source, Tally, ToyMemory,
};
use sealsim::{
    pcie::{
        packet::{Kind, Payload, Tlp},
        port::{self, Frame, Port, Side, Traffic},
        root_complex::{self, Domain, HostMemory, RootComplex, RootPort},
        spec::{CreditSpec, LinkSpec, RootComplexSpec},
    },
    sim::{
        Account, Armed, Channel, Clock, Control, In, Injection, Kernel, Key, Netlist, Order, Out, Run, Rx, Signals,
        SimulationError, Tx, Unit, run,
    },
    units::{Bytes, Cycles, Femtos, Frequency},
};
use std::{
    cell::{Ref, RefCell},
    rc::Rc,
    sync::Arc,
};

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
    /// Whether a run goes on after what a port finds would end it.
    pub goes_on: bool,
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
        retimer: None,
        flit_errors: None,
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
            goes_on: false,
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

/// Room of a receive queue: more than any credits in these tests.
const RECEIVE: usize = 1 << 16;

fn mac(link: &LinkSpec) -> Clock {
    Clock::new(link.mac_clock).unwrap()
}

/// The machine.
pub struct Link {
    netlist: Netlist,
    /// Where a port is heard whose machine [goes on](Plan::goes_on).
    aside: Netlist,
    host: Key<Port>,
    gpu: Key<Port>,
    host_sinks: Vec<Key<Sink>>,
    /// By PCE, then that of writes; with a requester only this one.
    gpu_sinks: Vec<Key<Sink>>,
    requester: Option<Key<Requester>>,
    root: Option<RootKeys>,
    memory: Rc<RefCell<ToyMemory>>,
}

impl Link {
    pub fn new(plan: Plan) -> Self {
        let memory = ToyMemory { exact: plan.exact, record: plan.record, ..ToyMemory::default() };
        let mut aside = Netlist::new();
        aside.add("bystander", mac(&plan.link), Bystander, ());
        Builder {
            netlist: Netlist::new(),
            aside,
            tally: Tally::of(&plan),
            memory: Rc::new(RefCell::new(memory)),
            plan: &plan,
        }
        .build()
    }

    pub fn arm(&mut self, faults: &[(Injection, u64)]) {
        for (injection, seed) in faults {
            assert!(self.netlist.arm(injection, Armed::new(injection, 0, *seed)), "a known place");
        }
    }

    pub fn run(&mut self, kernel: Kernel, order: Order) -> Result<Run, SimulationError> {
        run(&mut self.netlist, kernel, order, &mut |_| Control::Continue)
    }

    /// What a machine that goes on has not heard of its ports: none if they would have ended the run without a fault.
    pub fn unheard(&mut self) -> Option<SimulationError> {
        run(&mut self.aside, Kernel::Skip, Order::Ascending, &mut |_| Control::Continue).err()
    }

    pub fn channel(&self, path: &str) -> &dyn Channel {
        self.netlist.channels().find(|channel| channel.path() == path).expect("a known place")
    }

    pub fn digests(&self) -> Vec<u64> {
        self.netlist.channels().map(Channel::digest).collect()
    }

    pub fn host(&self) -> &Port {
        self.netlist.unit(&self.host)
    }

    pub fn gpu(&self) -> &Port {
        self.netlist.unit(&self.gpu)
    }

    pub fn traffic(&self) -> [Traffic; 2] {
        [*self.host().traffic(), *self.gpu().traffic()]
    }

    pub fn host_sink(&self, place: usize) -> &Sink {
        self.netlist.unit(&self.host_sinks[place])
    }

    pub fn gpu_sink(&self, place: usize) -> &Sink {
        self.netlist.unit(&self.gpu_sinks[place])
    }

    pub fn requester(&self) -> &Requester {
        self.netlist.unit(self.requester.as_ref().expect("a requester"))
    }

    pub fn memory(&self) -> Ref<'_, ToyMemory> {
        self.memory.borrow()
    }

    /// What went wrong at the root complex.
    pub fn root_incidents(&self) -> Vec<String> {
        let (root, _) = self.root.as_ref().expect("a root complex");
        self.netlist.unit(root).incidents()
    }

    /// When the CPU has seen semaphores change, and their values.
    pub fn noticed(&self) -> Vec<(u64, u64)> {
        self.root.as_ref().map_or_else(Vec::new, |(_, cpu)| self.netlist.unit(cpu).noticed.clone())
    }

    /// What has arrived, by who took it.
    fn got(&self) -> Vec<Vec<Got>> {
        let sinks = self.host_sinks.iter().chain(&self.gpu_sinks).map(|sink| self.netlist.unit(sink).got.clone());
        let read = self.requester.iter().map(|requester| self.netlist.unit(requester).got.clone());
        sinks.chain(read).chain([self.memory().writes.clone()]).collect()
    }
}

/// The far ends of what is wired to a port.
struct Far {
    sources: Vec<Out<Tlp>>,
    sinks: Vec<In<Tlp>>,
    /// At the host, if there is a root complex.
    root: Option<(Rx<Tlp>, Tx<Tlp>)>,
}

type Wires = (Tx<Frame>, Rx<Frame>);
type RootKeys = (Key<Root>, Key<Cpu>);

struct Builder<'p> {
    plan: &'p Plan,
    netlist: Netlist,
    aside: Netlist,
    tally: Rc<Tally>,
    memory: Rc<RefCell<ToyMemory>>,
}

impl Builder<'_> {
    /// The ports come first: so they are the first two units.
    fn build(mut self) -> Link {
        let (spec, mac) = (&self.plan.link, mac(&self.plan.link));
        let (flight, window) = (mac.edge(spec.flight.0.max(1)), Port::window(spec, mac));
        let (down_tx, down_rx) = self.netlist.deferring_wire("down", flight, window);
        let (up_tx, up_rx) = self.netlist.deferring_wire("up", flight, window);
        let (host_ports, host_far) = self.host_ports((down_tx, up_rx));
        let (gpu_ports, gpu_far) = self.gpu_ports((up_tx, down_rx));
        let side = Side::Gpu { first_tag: 0, tags_per_pce: self.plan.tags_per_pce, pces: self.plan.pces };
        let host = self.netlist.add("host port", mac, Port::new(spec, Side::Host, mac), host_ports);
        let gpu = self.netlist.add("gpu port", mac, Port::new(spec, side, mac), gpu_ports);
        let (host_sinks, root) = self.add_host(host_far);
        let (requester, gpu_sinks) = self.add_gpu(gpu_far);
        let Self { netlist, aside, memory, .. } = self;
        Link { netlist, aside, host, gpu, host_sinks, gpu_sinks, requester, root, memory }
    }

    /// For a port.
    fn signals(&self, path: &str) -> Signals {
        if !self.plan.goes_on {
            return self.netlist.signals(path);
        }
        let signals = self.aside.signals(path);
        // The port does not hear either that something is wrong, and then it must not defer.
        signals.defer_nothing();
        signals
    }

    fn host_ports(&mut self, (wire_out, wire_in): Wires) -> (port::Ports, Far) {
        let queue = |place| self.netlist.queue(format!("host send {place}"), self.plan.source_room);
        let (sources, send) = (0..self.plan.down.len()).map(queue).unzip();
        let receive =
            if self.plan.root.is_some() { &["host writes"][..] } else { &["host receive 0", "host receive 1"] };
        let (receive, sinks) = receive.iter().map(|&path| self.netlist.queue(path, RECEIVE)).unzip();
        let wires = self.plan.root.as_ref().map(|spec| {
            let (reads, reads_rx) = self.netlist.wire("host reads", Femtos(1));
            let latency = root_clock(spec).edge(spec.read_latency.0);
            let (completions_tx, completions) = self.netlist.wire("completions", latency);
            (port::RootPorts { reads, completions }, (reads_rx, completions_tx))
        });
        let (root, far) = wires.unzip();
        let ports = port::Ports { send, receive, root, wire_out, wire_in, signals: self.signals("host port") };
        (ports, Far { sources, sinks, root: far })
    }

    fn gpu_ports(&mut self, (wire_out, wire_in): Wires) -> (port::Ports, Far) {
        let reads = self.plan.root.is_some().then(|| self.netlist.queue("reads", 16));
        let first = usize::from(reads.is_some());
        let queue = |place| self.netlist.queue(format!("gpu send {place}"), self.plan.source_room);
        let (sources, send) = reads.into_iter().chain((first..first + self.plan.up.len()).map(queue)).unzip();
        let queue = |place| self.netlist.deferring_queue(format!("gpu receive {place}"), RECEIVE);
        let (receive, sinks) = (0..=self.plan.pces).map(queue).unzip();
        let ports = port::Ports { send, receive, root: None, wire_out, wire_in, signals: self.signals("gpu port") };
        (ports, Far { sources, sinks, root: None })
    }

    fn add_host(&mut self, far: Far) -> (Vec<Key<Sink>>, Option<RootKeys>) {
        let (plan, Far { sources, mut sinks, root }) = (self.plan, far);
        let root = plan.root.as_ref().zip(root).map(|(spec, wires)| self.add_root(spec, wires, sinks.remove(0)));
        let sinks = self.add_sinks("host sink", Place::Host, sinks);
        self.add_sources("host source", &plan.down, sources);
        (sinks, root)
    }

    fn add_root(
        &mut self,
        spec: &RootComplexSpec,
        (reads, completions): (Rx<Tlp>, Tx<Tlp>),
        writes: In<Tlp>,
    ) -> RootKeys {
        let (clock, boundary) = (root_clock(spec), self.plan.link.read_completion_boundary.0);
        let (notices, notices_rx) = self.netlist.wire("notices", clock.edge(spec.write_latency.0.max(1)));
        let root = RootComplex::new(spec, boundary, clock).unwrap();
        let root = Root::new(root, &self.memory, &self.tally);
        let memory: Rc<RefCell<dyn HostMemory>> = Rc::<RefCell<ToyMemory>>::clone(&self.memory);
        let inner = root_complex::Ports {
            roots: vec![RootPort { reads, writes, completions }],
            domains: vec![Domain { memory, notices }],
        };
        let ports = RootPorts { root: inner, signals: self.netlist.signals("root complex") };
        let root = self.netlist.add("root complex", clock, root, ports);
        let mac = mac(&self.plan.link);
        let cpu = Cpu { clock: mac, noticed: Vec::new() };
        (root, self.netlist.add("cpu", mac, cpu, notices_rx))
    }

    fn add_gpu(&mut self, far: Far) -> (Option<Key<Requester>>, Vec<Key<Sink>>) {
        let (plan, Far { mut sources, mut sinks, .. }) = (self.plan, far);
        let requester = plan.root.is_some().then(|| {
            let inputs = sinks.drain(..usize::from(plan.pces)).collect();
            let signals = self.netlist.signals("requester");
            let ports = RequesterPorts { inputs, output: sources.remove(0), signals };
            self.netlist.add("requester", mac(&plan.link), Requester::new(plan, &self.tally), ports)
        });
        let sinks = self.add_sinks("gpu sink", Place::Gpu, sinks);
        self.add_sources("gpu source", &plan.up, sources);
        (requester, sinks)
    }

    fn add_sinks(&mut self, name: &str, place: Place, inputs: Vec<In<Tlp>>) -> Vec<Key<Sink>> {
        let add = |(number, input)| {
            let path = format!("{name} {number}");
            let ports = SinkPorts { input, signals: self.netlist.signals(&path) };
            self.netlist.add(path, mac(&self.plan.link), Sink::new(self.plan, place, &self.tally), ports)
        };
        inputs.into_iter().enumerate().map(add).collect()
    }

    fn add_sources(&mut self, name: &str, feeds: &[Feed], outputs: Vec<Out<Tlp>>) {
        for (number, (feed, output)) in feeds.iter().zip(outputs).enumerate() {
            self.netlist.add(format!("{name} {number}"), mac(&self.plan.link), Source::of(feed.clone()), output);
        }
    }
}

fn root_clock(spec: &RootComplexSpec) -> Clock {
    Clock::new(spec.clock).unwrap()
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
    for (account, unit) in run.accounts.iter().zip(link.netlist.accounts()) {
        assert_eq!(account.total(), unit.clock.first_after(run.end), "the cycles of {} add up", unit.name);
    }
    let outcome = Outcome {
        end: run.end,
        digests: link.digests(),
        accounts: run.accounts,
        traffic: link.traffic(),
        got: link.got(),
        noticed: link.noticed(),
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
