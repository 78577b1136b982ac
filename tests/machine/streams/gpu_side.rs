//! The GPU's side of a plain machine with a scripted host: it rings doorbells at given dates, answers reads after a while, and notes
//! the semaphores that it is sent.

use sealsim::{
    config::MachineSpec,
    gcm::{
        iv::{Iv, IvMask, Stream as IvStream},
        worker::Worker,
    },
    gpu::{
        compute::{self, Compute},
        front_end::{self, FrontEnd, FrontEndSpec, Verification},
        hbm::{self, DeviceMemory, Hbm},
        methods::encode,
        pce::{self, Pce, PceSpec},
        scheduler::{self, PushMemory, Scheduler, Submission, Work},
        spans::Spans,
        tag_queue::{self, TagQueue},
        work::{Done, MemoryData, MemoryRead, MemoryWrite, PceWork},
    },
    pcie::{
        packet::{Kind, Payload, Tlp},
        split::MaxSize,
    },
    ports,
    sim::{
        self, Activity, Clock, Control, In, Kernel, Key, Netlist, Now, Order, Out, Rx, Signals, SimulationError, Stall,
        Tx, Unit, Wake,
    },
    stream::{Computation, Launch, LaunchKind, Semaphore, StreamTask},
    units::{Femtos, Frequency},
};
use std::{
    cell::RefCell,
    collections::{BTreeMap, VecDeque},
    rc::Rc,
};

/// First byte of device memory; host memory lies below.
const DEVICE: u64 = 1 << 55;
/// Reads of host memory from here on are refused.
const NOWHERE: u64 = 1 << 50;
/// Where channel errors are written.
pub const ERROR: u64 = 1 << 30;

/// Cycles of the host from a read to its completion, and between two TLPs that it takes from one PCE.
const ANSWER: u64 = 300;
const INTERVAL: u64 = 8;

/// The semaphore of a stream.
pub const fn semaphore(stream: u32) -> u64 {
    (2 << 30) + 64 * stream as u64
}

/// What a stream is asked for.
#[derive(Debug, Clone, Copy)]
pub enum Ask {
    /// Bytes from the host to the device.
    Up(u64),
    /// The same, from where there is no memory.
    Broken(u64),
    /// Bytes from the device to the host.
    Down(u64),
    /// A kernel of so many nanoseconds.
    Kernel(u64),
    /// A copy within the device, made by a kernel.
    Copy(u64),
    /// An event is recorded.
    Record(u32),
    /// An event is waited for.
    Wait(u32),
}

fn methods(ask: Ask, number: u32, stream: u32) -> Work {
    let host = if let Ask::Broken(_) = ask { NOWHERE } else { (4 << 30) + (u64::from(number) << 24) };
    let device = DEVICE + (u64::from(number) << 24);
    let (kind, source, destination, bytes) = match ask {
        Ask::Up(bytes) | Ask::Broken(bytes) => (LaunchKind::Fetch, host, device, bytes),
        Ask::Down(bytes) => (LaunchKind::Store, device, host, bytes),
        Ask::Kernel(nanos) => {
            let duration = Femtos(nanos * 1_000_000);
            return Work::Task(StreamTask::Compute(Computation::Kernel { duration }));
        }
        Ask::Copy(bytes) => {
            let destination = device + (1 << 40);
            return Work::Task(StreamTask::Compute(Computation::Copy { source: device, destination, bytes }));
        }
        Ask::Record(event) => return Work::Task(StreamTask::Record { event }),
        Ask::Wait(event) => return Work::Task(StreamTask::Wait { event }),
    };
    let launch = Launch { kind, source, destination, bytes, tag: 0, iv: 0, pipelined: false, flush: false };
    let end = Semaphore { address: semaphore(stream), value: number };
    Work::Copies { writes_host: kind.writes_host(), methods: encode(&[launch], end).unwrap() }
}

/// The pushes of a script.
struct Shelf(BTreeMap<u32, Submission>);

impl PushMemory for Shelf {
    fn take(&mut self, number: u32) -> Option<Submission> {
        self.0.remove(&number)
    }
}

/// Device memory without bytes.
struct Nothing;

impl DeviceMemory for Nothing {
    fn store(&mut self, _address: u64, _bytes: u64, _payload: &Payload, _by: u64) {}
    fn load(&mut self, _address: u64, _bytes: u32) -> Payload {
        Payload::none()
    }
}

/// A semaphore that the host has seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    pub time: Femtos,
    pub address: u64,
    pub value: u32,
}

/// What became of a script.
#[derive(Debug, PartialEq, Eq)]
pub struct Ran {
    pub seen: Vec<Seen>,
    /// Beginnings, verdicts and ends on the device, by push.
    pub spans: Spans,
    pub incidents: Vec<String>,
    pub digests: Vec<(String, u64)>,
    /// Cycles of each unit: total, busy, idle.
    pub accounts: Vec<(u64, u64, u64)>,
}

impl Ran {
    /// When push `number` was seen done.
    pub fn done(&self, number: u32) -> Option<Femtos> {
        self.seen.iter().find(|seen| seen.value == number).map(|seen| seen.time)
    }

    /// When it began and ended on the device.
    pub fn span(&self, number: u32) -> (Femtos, Femtos) {
        self.spans.moved[&(number as usize)]
    }
}

ports! {
    struct HostPorts {
        doorbells: Out<Tlp>,
        /// Of the PCEs, then the scheduler's.
        requests: [In<Tlp>; 3],
        completions: Out<Tlp>,
        signals: Signals,
    }
}

/// Rings doorbells, answers reads and notes semaphores.
struct Host {
    /// Doorbells: cycle and number.
    script: VecDeque<(u64, u32)>,
    /// Semaphores after which all is done.
    expected: usize,
    seen: Vec<Seen>,
    answers: VecDeque<(u64, Tlp)>,
    free: [u64; 3],
}

impl Host {
    /// Rings the doorbells that are due; gives the cycle of the next.
    fn ring(&mut self, now: Now, doorbells: &mut Out<Tlp>) -> u64 {
        while let Some(&(cycle, number)) = self.script.front() {
            if cycle > now.cycle {
                return cycle;
            }
            self.script.pop_front();
            let payload = Payload::of(number.to_le_bytes().to_vec());
            doorbells.push(now.time, Tlp::write(1 << 40, 4, payload));
        }
        Wake::NEVER
    }

    /// Takes a TLP from each source whose turn it is; gives the cycle in which it may take the next.
    fn take(&mut self, now: Now, requests: &mut [In<Tlp>]) -> u64 {
        let mut next = Wake::NEVER;
        for (place, queue) in requests.iter_mut().enumerate() {
            if now.cycle < self.free[place] {
                next = next.min(self.free[place]);
                continue;
            }
            let Some(tlp) = queue.pop(now.time) else { continue };
            self.free[place] = now.cycle + INTERVAL;
            next = next.min(self.free[place]);
            self.serve(tlp, now);
        }
        next
    }

    fn serve(&mut self, tlp: Tlp, now: Now) {
        if tlp.kind == Kind::Read {
            let kind = if tlp.address >= NOWHERE { Kind::Unsupported } else { Kind::Completion };
            let answer = Tlp { kind, byte_count: tlp.bytes, ..tlp };
            self.answers.push_back((now.cycle + ANSWER, answer));
        } else if let Some(value) = tlp.payload.bytes().and_then(|bytes| bytes.try_into().ok()) {
            let value = u32::from_le_bytes(value);
            self.seen.push(Seen { time: now.time, address: tlp.address, value });
        }
    }

    /// Gives the answers that are due; gives the cycle of the next.
    fn answer(&mut self, now: Now, completions: &mut Out<Tlp>) -> u64 {
        while let Some((cycle, answer)) = self.answers.pop_front() {
            if cycle > now.cycle {
                self.answers.push_front((cycle, answer));
                return cycle;
            }
            completions.push(now.time, answer);
        }
        Wake::NEVER
    }
}

impl Unit for Host {
    type Ports = HostPorts;

    fn tick(&mut self, now: Now, ports: &mut HostPorts) -> Wake {
        let rings = self.ring(now, &mut ports.doorbells);
        let takes = self.take(now, &mut ports.requests);
        let next = rings.min(takes).min(self.answer(now, &mut ports.completions));
        if self.seen.len() >= self.expected {
            ports.signals.stop();
        }
        Wake::at_or_port(next, if next == Wake::NEVER { Activity::Idle } else { Activity::Busy })
    }
}

/// The clocks of a machine's units.
struct Clocks {
    host: Clock,
    engine: Clock,
    compute: Clock,
    memory: Clock,
}

impl Clocks {
    fn of(machine: &MachineSpec) -> Self {
        let clock = |frequency| Clock::new(frequency).unwrap();
        Self {
            host: clock(Frequency(1_000_000_000)),
            engine: clock(machine.copy_engine.clock),
            compute: clock(machine.compute.clock),
            memory: clock(machine.hbm.clock),
        }
    }
}

fn front_end(machine: &MachineSpec, writes_host: bool, clock: Clock) -> FrontEnd {
    let spec = FrontEndSpec {
        copy_engine: machine.copy_engine.clone(),
        writes_host,
        pces: 1,
        confidential: false,
        tag_queue_depth: 8,
        tag_every: None,
        common_quarantine: None,
        ahead: 0,
        release: machine.tag_queue.release,
        device: DEVICE..u64::MAX,
        error_semaphore: ERROR,
        channel_error: if writes_host { 70 } else { 41 },
    };
    FrontEnd::new(spec, IvStream::at(Iv { channel: 1, message: 0 }, IvMask::default()), clock)
}

fn pce(machine: &MachineSpec, clock: Clock) -> Pce {
    let spec = PceSpec {
        copy_engine: machine.copy_engine.clone(),
        engine: None,
        max_read_request: MaxSize::new(512).unwrap(),
        max_payload: MaxSize::new(256).unwrap(),
        first_tag: 0,
        tags: 64,
        tag_queue: machine.tag_queue.clone(),
        shared: None,
        own_aes: false,
        engine_clock: None,
        aside: None,
        stored: None,
        staging: None,
    };
    Pce::new(spec, None, Rc::new(Worker::default()), Rc::default(), clock).unwrap()
}

/// Entries of the queues between units.
const DEPTH: usize = 64;
/// No unit here asks how long a wire is.
const FLIGHT: Femtos = Femtos(1);

/// The far ends of a PCE's channels.
struct Far {
    work: Out<PceWork>,
    done: In<Done>,
    requests: In<Tlp>,
    reads: In<MemoryRead>,
    data: Tx<MemoryData>,
    writes: Rx<MemoryWrite>,
}

/// The ports of PCE `place`, but for what only the one that reads host memory has.
fn pce_ports(net: &mut Netlist, place: usize) -> (pce::Ports, Far) {
    let (work_out, work) = net.queue(format!("work{place}"), DEPTH);
    let (done, done_in) = net.queue(format!("done{place}"), DEPTH);
    let (requests, requests_in) = net.queue(format!("requests{place}"), 16);
    let (reads, reads_in) = net.queue(format!("reads{place}"), 16);
    let (data_tx, data) = net.wire(format!("data{place}"), FLIGHT);
    let (writes, writes_rx) = net.wire(format!("writes{place}"), FLIGHT);
    let ports = pce::Ports {
        work,
        completions: None,
        requests,
        reads,
        data,
        writes,
        reports: None,
        released: None,
        sm: None,
        engine: None,
        done,
        signals: net.signals(&format!("pce{place}")),
    };
    let (requests, reads, data, writes) = (requests_in, reads_in, data_tx, writes_rx);
    (ports, Far { work: work_out, done: done_in, requests, reads, data, writes })
}

/// The ports of all units.
struct AllPorts {
    host: HostPorts,
    scheduler: scheduler::Ports,
    front_ends: [front_end::Ports; 2],
    compute: compute::Ports,
    tag_queue: tag_queue::Ports,
    hbm: hbm::Ports,
    pces: [pce::Ports; 2],
}

impl AllPorts {
    fn of(net: &mut Netlist, shelf: Shelf) -> Self {
        let (doorbells, doorbells_in) = net.queue("doorbells", 256);
        let (semaphores, semaphores_in) = net.queue("semaphores", 16);
        let (completions, completions_in) = net.queue("completions", 1 << 12);
        let [(up, up_in), (down, down_in)] = ["up", "down"].map(|path| net.queue(path, DEPTH));
        let (kernels, kernels_in) = net.queue("kernels", DEPTH);
        let [(up_retired, up_ended), (down_retired, down_ended)] =
            ["up retired", "down retired"].map(|path| net.queue(path, DEPTH));
        let (kernels_retired, kernels_ended) = net.queue("kernels retired", DEPTH);
        let (landed_tx, landed) = net.wire("landed", FLIGHT);
        let (verdicts_out, verdicts) = net.queue("verdicts", DEPTH);
        let (settled_out, settled) = net.queue("settled", DEPTH);
        let (entries, entries_in) = net.queue("entries", DEPTH);
        let (reports, reports_rx) = net.wire("reports", FLIGHT);
        let (reading, a) = pce_ports(net, 0);
        let (writing, b) = pce_ports(net, 1);
        let reading = pce::Ports { completions: Some(completions_in), reports: Some(reports), ..reading };
        let memory: Rc<RefCell<dyn DeviceMemory>> = Rc::new(RefCell::new(Nothing));
        let front_end = |pushes, work, done, verification, retired| front_end::Ports {
            pushes,
            work: vec![work],
            done: vec![done],
            verification,
            retired,
        };
        let verification = Verification { landed, verdicts, entries };
        Self {
            host: HostPorts {
                doorbells,
                requests: [a.requests, b.requests, semaphores_in],
                completions,
                signals: net.signals("host"),
            },
            scheduler: scheduler::Ports {
                doorbells: doorbells_in,
                pushes: Rc::new(RefCell::new(shelf)),
                copies: [up, down],
                compute: kernels,
                retired: [up_ended, down_ended, kernels_ended],
                requests: semaphores,
            },
            front_ends: [
                front_end(up_in, a.work, a.done, Some(verification), up_retired),
                front_end(down_in, b.work, b.done, None, down_retired),
            ],
            compute: compute::Ports { pushes: kernels_in, retired: kernels_retired, memory: Rc::clone(&memory) },
            tag_queue: tag_queue::Ports {
                entries: entries_in,
                reports: vec![reports_rx],
                verdicts: verdicts_out,
                settled: settled_out,
                released: Vec::new(),
                counts: Rc::default(),
                signals: net.signals("tag queue"),
            },
            hbm: hbm::Ports {
                writes: vec![a.writes, b.writes],
                reads: vec![a.reads, b.reads],
                data: vec![a.data, b.data],
                verdicts: settled,
                landed: landed_tx,
                staged: None,
                memory,
            },
            pces: [reading, writing],
        }
    }
}

struct GpuSide {
    netlist: Netlist,
    host: Key<Host>,
    front_ends: [Key<FrontEnd>; 2],
    compute: Key<Compute>,
}

impl GpuSide {
    fn new(machine: &MachineSpec, script: &[(u64, u32, Ask)], expected: usize) -> Self {
        let numbered: Vec<_> =
            script.iter().zip(1..).map(|(&(cycle, stream, ask), number)| (cycle, number, stream, ask)).collect();
        let submission = |&(_, number, stream, ask): &(u64, u32, u32, Ask)| {
            let (copy, work) = (Some(number as usize), methods(ask, number, stream));
            (number, Submission { number, stream, copy, work, semaphore: semaphore(stream) })
        };
        let shelf = Shelf(numbered.iter().map(submission).collect());
        let script = numbered.iter().map(|&(cycle, number, ..)| (cycle, number)).collect();
        let host = Host { script, expected, seen: Vec::new(), answers: VecDeque::new(), free: [0; 3] };
        let mut netlist = Netlist::new();
        netlist.name_stalls(Stall::NAMES);
        let ports = AllPorts::of(&mut netlist, shelf);
        Self::wired(netlist, machine, host, ports)
    }

    fn wired(mut net: Netlist, machine: &MachineSpec, host: Host, ports: AllPorts) -> Self {
        let Clocks { host: host_clock, engine, compute: compute_clock, memory } = Clocks::of(machine);
        let host = net.add("host", host_clock, host, ports.host);
        net.add("scheduler", engine, Scheduler::new(machine.compute.schedule), ports.scheduler);
        let [up, down] = ports.front_ends;
        let front_ends = [
            net.add("reading", engine, front_end(machine, false, engine), up),
            net.add("writing", engine, front_end(machine, true, engine), down),
        ];
        let compute = Compute::new(&machine.compute, compute_clock);
        let compute = net.add("compute", compute_clock, compute, ports.compute);
        let tag_queue = TagQueue::new(&machine.tag_queue, machine.engine.compare, engine);
        net.add("tag queue", engine, tag_queue, ports.tag_queue);
        net.add("hbm", memory, Hbm::new(&machine.hbm, memory), ports.hbm);
        for (path, ports) in ["pce0", "pce1"].into_iter().zip(ports.pces) {
            net.add(path, engine, pce(machine, engine), ports);
        }
        Self { netlist: net, host, front_ends, compute }
    }

    /// What copies have begun, verified and ended.
    fn spans(&self) -> Spans {
        let mut all = self.netlist.unit(&self.compute).spans().clone();
        self.front_ends.iter().for_each(|front_end| all.join(self.netlist.unit(front_end).spans()));
        all
    }
}

/// Runs a script of doorbells (cycle of the host, stream, what is asked for; numbered from 1) until so many semaphores are seen.
pub fn run_until(
    machine: &MachineSpec,
    script: &[(u64, u32, Ask)],
    expected: usize,
    (kernel, order): (Kernel, Order),
) -> Result<Ran, SimulationError> {
    let mut side = GpuSide::new(machine, script, expected);
    let run = sim::run(&mut side.netlist, kernel, order, &mut |_| Control::Continue)?;
    let GpuSide { netlist, host, front_ends, .. } = &side;
    Ok(Ran {
        seen: netlist.unit(host).seen.clone(),
        spans: side.spans(),
        incidents: front_ends.iter().flat_map(|front_end| netlist.unit(front_end).incidents()).collect(),
        digests: netlist.channels().map(|channel| (channel.path().to_owned(), channel.digest())).collect(),
        accounts: run.accounts.iter().map(|account| (account.total(), account.busy(), account.idle())).collect(),
    })
}

/// The same, until every push is done.
pub fn run(machine: &MachineSpec, script: &[(u64, u32, Ask)]) -> Ran {
    run_until(machine, script, script.len(), (Kernel::Skip, Order::Ascending)).unwrap()
}
