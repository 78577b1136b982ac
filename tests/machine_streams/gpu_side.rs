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
        launch::{Launch, Location, Operation, Order as LaunchOrder, Semaphore, Side, Transfer},
        pce::{self, Pce, PceSpec},
        pushbuffer::{Command, encode},
        scheduler::{self, PushMemory, Scheduler, Submission, Work},
        tag_queue::{self, TagQueue},
        work::{
            Computation, ComputePush, CopyPush, Done, Landed, Mark, MemoryData, MemoryRead, MemoryWrite, PceWork,
            Retired, TagEntry, TagReport, Verdict,
        },
    },
    pcie::{
        packet::{Kind, Payload, Tlp},
        split::MaxSize,
    },
    sim::{
        self, Activity, Channel, Clock, Control, Kernel, Machine, Now, Order, Queue, SimulationError, UnitId, UnitInfo,
        Wake, Wakes, Wire,
    },
    units::{Femtos, Frequency},
};
use std::{
    collections::{BTreeMap, VecDeque},
    rc::Rc,
};

const HOST: UnitId = UnitId(0);
const SCHEDULER: UnitId = UnitId(1);
const READING: UnitId = UnitId(2);
const WRITING: UnitId = UnitId(3);
const COMPUTE: UnitId = UnitId(4);
const TAG_QUEUE: UnitId = UnitId(5);
const HBM: UnitId = UnitId(6);
const PCES: [UnitId; 2] = [UnitId(7), UnitId(8)];

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
    let (writes_host, from, to, bytes) = match ask {
        Ask::Up(bytes) | Ask::Broken(bytes) => (false, host, device, bytes),
        Ask::Down(bytes) => (true, device, host, bytes),
        Ask::Kernel(nanos) => return Work::Compute(Computation::Kernel { duration: Femtos(nanos * 1_000_000) }),
        Ask::Copy(bytes) => {
            return Work::Compute(Computation::Copy { source: device, destination: device + (1 << 40), bytes });
        }
        Ask::Record(event) => return Work::Record { event },
        Ask::Wait(event) => return Work::Wait { event },
    };
    let transfer = Transfer {
        operation: Operation::Copy { source: Location::virt(from), side: Side::Protected },
        destination: Location::virt(to),
        line_bytes: bytes,
        lines: None,
        order: LaunchOrder::NonPipelined,
    };
    let (address, payload) = (semaphore(stream), u64::from(number));
    let end = Semaphore { address, payload, wide: false, timestamp: false, reduction: None };
    let launches = [
        Launch { transfer: Some(transfer), ..Launch::default() },
        Launch { semaphore: Some(end), ..Launch::default() },
    ];
    Work::Copies { writes_host, methods: encode(&launches.map(Command::Launch)).unwrap() }
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
    /// Beginnings and ends on the device, by push.
    pub marks: Vec<Mark>,
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
        let mut marks = self.marks.iter().filter(|mark| mark.copy == number as usize).map(|mark| mark.time);
        (marks.next().unwrap(), marks.next_back().unwrap())
    }
}

struct GpuSide {
    units: Vec<UnitInfo>,
    wakes: Wakes,
    /// Doorbells: cycle and number.
    script: VecDeque<(u64, u32)>,
    /// Semaphores after which all is done.
    expected: usize,
    seen: Vec<Seen>,
    marks: Vec<Mark>,
    answers: VecDeque<(u64, Tlp)>,
    free: [u64; 3],
    shelf: Shelf,
    scheduler: Scheduler,
    front_ends: [FrontEnd; 2],
    compute: Compute,
    tag_queue: TagQueue,
    hbm: Hbm,
    pces: [Pce; 2],
    doorbells: Queue<Tlp>,
    copies: [Queue<CopyPush>; 2],
    pushes: Queue<ComputePush>,
    retired: [Queue<Retired>; 3],
    /// Of the PCEs, then the scheduler's.
    requests: [Queue<Tlp>; 3],
    completions: Queue<Tlp>,
    work: [Queue<PceWork>; 2],
    done: [Queue<Done>; 2],
    landed: Wire<Landed>,
    verdicts: Queue<Verdict>,
    settled: Queue<Verdict>,
    entries: Queue<TagEntry>,
    reports: [Wire<TagReport>; 1],
    writes: [Wire<MemoryWrite>; 2],
    reads: [Queue<MemoryRead>; 2],
    data: [Wire<MemoryData>; 2],
}

impl GpuSide {
    fn new(machine: &MachineSpec, script: &[(u64, u32, Ask)], expected: usize) -> Self {
        let clock = |frequency| Clock::new(frequency).unwrap();
        let (host, engine) = (clock(Frequency(1_000_000_000)), clock(machine.copy_engine.clock));
        let (compute, memory) = (clock(machine.compute.clock), clock(machine.hbm.clock));
        let clocks = [host, engine, engine, engine, compute, engine, memory, engine, engine];
        let names = ["host", "scheduler", "reading", "writing", "compute", "tag queue", "hbm", "pce0", "pce1"];
        let ivs = IvStream::at(Iv { channel: 1, message: 0 }, IvMask::default());
        let front_end = |writes_host| {
            let spec = FrontEndSpec {
                copy_engine: machine.copy_engine.clone(),
                writes_host,
                pces: 1,
                confidential: false,
                tag_queue_depth: 8,
                release: machine.tag_queue.release,
                device: DEVICE..u64::MAX,
                error_semaphore: ERROR,
                channel_error: if writes_host { 70 } else { 41 },
            };
            FrontEnd::new(spec, ivs, engine)
        };
        let pce = || {
            let spec = PceSpec {
                copy_engine: machine.copy_engine.clone(),
                engine: None,
                max_read_request: MaxSize::new(512).unwrap(),
                max_payload: MaxSize::new(256).unwrap(),
                first_tag: 0,
                tags: 64,
                tag_fetch: machine.tag_queue.fetch,
                tag_placement: machine.tag_queue.placement.unwrap_or_default(),
                release: machine.tag_queue.release,
                quarantine: 0,
                shared: None,
                stored: None,
                staging: None,
            };
            Pce::new(spec, None, Rc::new(Worker::default()), engine).unwrap()
        };
        let submission = |&(_, number, stream, ask): &(u64, u32, u32, Ask)| {
            let (copy, work) = (Some(number as usize), methods(ask, number, stream));
            (number, Submission { number, stream, copy, work, semaphore: semaphore(stream) })
        };
        let numbered: Vec<_> =
            script.iter().zip(1..).map(|(&(cycle, stream, ask), number)| (cycle, number, stream, ask)).collect();
        Self {
            units: names.iter().zip(clocks).map(|(&name, clock)| UnitInfo { name: name.into(), clock }).collect(),
            wakes: Wakes::default(),
            script: numbered.iter().map(|&(cycle, number, ..)| (cycle, number)).collect(),
            expected,
            seen: Vec::new(),
            marks: Vec::new(),
            answers: VecDeque::new(),
            free: [0; 3],
            shelf: Shelf(numbered.iter().map(submission).collect()),
            scheduler: Scheduler::new(machine.compute.schedule),
            front_ends: [front_end(false), front_end(true)],
            compute: Compute::new(&machine.compute, compute),
            tag_queue: TagQueue::new(&machine.tag_queue, machine.engine.compare, engine),
            hbm: Hbm::new(&machine.hbm, memory),
            pces: [pce(), pce()],
            doorbells: Queue::new("doorbells", HOST, SCHEDULER, 256),
            copies: [Queue::new("up", SCHEDULER, READING, 64), Queue::new("down", SCHEDULER, WRITING, 64)],
            pushes: Queue::new("kernels", SCHEDULER, COMPUTE, 64),
            retired: [
                Queue::new("up retired", READING, SCHEDULER, 64),
                Queue::new("down retired", WRITING, SCHEDULER, 64),
                Queue::new("kernels retired", COMPUTE, SCHEDULER, 64),
            ],
            requests: [
                Queue::new("requests0", PCES[0], HOST, 16),
                Queue::new("requests1", PCES[1], HOST, 16),
                Queue::new("semaphores", SCHEDULER, HOST, 16),
            ],
            completions: Queue::new("completions", HOST, PCES[0], 1 << 12),
            work: [Queue::new("work0", READING, PCES[0], 64), Queue::new("work1", WRITING, PCES[1], 64)],
            done: [Queue::new("done0", PCES[0], READING, 64), Queue::new("done1", PCES[1], WRITING, 64)],
            landed: Wire::new("landed", HBM, READING),
            verdicts: Queue::new("verdicts", TAG_QUEUE, READING, 64),
            settled: Queue::new("settled", TAG_QUEUE, HBM, 64),
            entries: Queue::new("entries", READING, TAG_QUEUE, 64),
            reports: [Wire::new("reports", PCES[0], TAG_QUEUE)],
            writes: [Wire::new("writes0", PCES[0], HBM), Wire::new("writes1", PCES[1], HBM)],
            reads: [Queue::new("reads0", PCES[0], HBM, 16), Queue::new("reads1", PCES[1], HBM, 16)],
            data: [Wire::new("data0", HBM, PCES[0]), Wire::new("data1", HBM, PCES[1])],
        }
    }

    fn tick_host(&mut self, now: Now) -> Wake {
        let mut next = Wake::NEVER;
        while let Some(&(cycle, number)) = self.script.front() {
            if cycle > now.cycle {
                next = next.min(cycle);
                break;
            }
            self.script.pop_front();
            let payload = Payload::of(number.to_le_bytes().to_vec());
            self.doorbells.output(now.time, &self.wakes).push(Tlp::write(1 << 40, 4, payload));
        }
        for (place, queue) in self.requests.iter_mut().enumerate() {
            if now.cycle < self.free[place] {
                next = next.min(self.free[place]);
                continue;
            }
            let Some(tlp) = queue.input(now.time, &self.wakes).pop() else { continue };
            self.free[place] = now.cycle + INTERVAL;
            next = next.min(self.free[place]);
            if tlp.kind == Kind::Read {
                let kind = if tlp.address >= NOWHERE { Kind::Unsupported } else { Kind::Completion };
                let answer = Tlp { kind, byte_count: tlp.bytes, ..tlp };
                self.answers.push_back((now.cycle + ANSWER, answer));
            } else if let Some(value) = tlp.payload.bytes().and_then(|bytes| bytes.try_into().ok()) {
                let value = u32::from_le_bytes(value);
                self.seen.push(Seen { time: now.time, address: tlp.address, value });
            }
        }
        while let Some((cycle, _)) = self.answers.front() {
            if *cycle > now.cycle {
                next = next.min(*cycle);
                break;
            }
            if let Some((_, answer)) = self.answers.pop_front() {
                self.completions.output(now.time, &self.wakes).push(answer);
            }
        }
        Wake::at_or_port(next, if next == Wake::NEVER { Activity::Idle } else { Activity::Busy })
    }

    fn tick_front_end(&mut self, place: usize, now: Now) -> Wake {
        let verification =
            Verification { landed: &mut self.landed, verdicts: &mut self.verdicts, entries: &mut self.entries };
        let mut ports = front_end::Ports {
            pushes: self.copies[place].input(now.time, &self.wakes),
            work: std::slice::from_mut(&mut self.work[place]),
            done: std::slice::from_mut(&mut self.done[place]),
            verification: (place == 0).then_some(verification),
            retired: self.retired[place].output(now.time, &self.wakes),
            wakes: &self.wakes,
        };
        let wake = self.front_ends[place].tick(now, &mut ports);
        self.marks.extend(self.front_ends[place].marks());
        wake
    }

    fn tick_pce(&mut self, place: usize, now: Now) -> Wake {
        let completions = &mut self.completions;
        let mut ports = pce::Ports {
            work: self.work[place].input(now.time, &self.wakes),
            completions: (place == 0).then(|| completions.input(now.time, &self.wakes)),
            requests: self.requests[place].output(now.time, &self.wakes),
            reads: self.reads[place].output(now.time, &self.wakes),
            data: &mut self.data[place],
            writes: &mut self.writes[place],
            reports: self.reports.get_mut(place),
            released: None,
            sm: None,
            engine: None,
            done: self.done[place].output(now.time, &self.wakes),
            wakes: &self.wakes,
        };
        self.pces[place].tick(now, &mut ports)
    }

    fn tick_inner(&mut self, unit: UnitId, now: Now) -> Wake {
        let wakes = &self.wakes;
        match unit {
            SCHEDULER => self.scheduler.tick(
                now,
                &mut scheduler::Ports {
                    doorbells: self.doorbells.input(now.time, wakes),
                    pushes: &mut self.shelf,
                    copies: &mut self.copies,
                    compute: self.pushes.output(now.time, wakes),
                    retired: &mut self.retired,
                    requests: self.requests[2].output(now.time, wakes),
                    wakes,
                },
            ),
            COMPUTE => {
                let mut ports = compute::Ports {
                    pushes: self.pushes.input(now.time, wakes),
                    retired: self.retired[2].output(now.time, wakes),
                    memory: &mut Nothing,
                };
                let wake = self.compute.tick(now, &mut ports);
                self.marks.extend(self.compute.marks());
                wake
            }
            TAG_QUEUE => self.tag_queue.tick(
                now,
                &mut tag_queue::Ports {
                    entries: &mut self.entries,
                    reports: &mut self.reports,
                    verdicts: &mut self.verdicts,
                    settled: &mut self.settled,
                    released: &mut [],
                    wakes,
                },
            ),
            _ => self.hbm.tick(
                now,
                &mut hbm::Ports {
                    writes: &mut self.writes,
                    reads: &mut self.reads,
                    data: &mut self.data,
                    verdicts: &mut self.settled,
                    landed: &mut self.landed,
                    staged: None,
                    memory: &mut Nothing,
                    wakes,
                },
            ),
        }
    }
}

impl Machine for GpuSide {
    fn units(&self) -> &[UnitInfo] {
        &self.units
    }

    fn tick(&mut self, unit: UnitId, now: Now) -> Wake {
        match unit {
            HOST => self.tick_host(now),
            READING => self.tick_front_end(0, now),
            WRITING => self.tick_front_end(1, now),
            _ if unit == PCES[0] => self.tick_pce(0, now),
            _ if unit == PCES[1] => self.tick_pce(1, now),
            _ => self.tick_inner(unit, now),
        }
    }

    fn wakes(&self) -> &Wakes {
        &self.wakes
    }

    fn finished(&self) -> bool {
        self.seen.len() >= self.expected
    }

    fn fault(&self) -> Option<String> {
        None
    }

    fn channels(&self) -> Vec<&dyn Channel> {
        let mut all: Vec<&dyn Channel> = vec![&self.doorbells, &self.pushes, &self.completions, &self.landed];
        all.extend::<[&dyn Channel; 4]>([&self.verdicts, &self.settled, &self.entries, &self.reports[0]]);
        all.extend(self.copies.iter().map(|c| c as &dyn Channel));
        all.extend(self.retired.iter().map(|c| c as &dyn Channel));
        all.extend(self.requests.iter().map(|c| c as &dyn Channel));
        all.extend(self.work.iter().map(|c| c as &dyn Channel));
        all.extend(self.done.iter().map(|c| c as &dyn Channel));
        all.extend(self.writes.iter().map(|c| c as &dyn Channel));
        all.extend(self.reads.iter().map(|c| c as &dyn Channel));
        all.extend(self.data.iter().map(|c| c as &dyn Channel));
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
    let run = sim::run(&mut side, kernel, order, &mut |_| Control::Continue)?;
    let incidents = side.front_ends.iter().flat_map(FrontEnd::incidents).cloned().collect();
    Ok(Ran {
        incidents,
        digests: side.channels().iter().map(|channel| (channel.name().to_owned(), channel.digest())).collect(),
        accounts: run.accounts.iter().map(|account| (account.total(), account.busy(), account.idle())).collect(),
        seen: side.seen,
        marks: side.marks,
    })
}

/// The same, until every push is done.
pub fn run(machine: &MachineSpec, script: &[(u64, u32, Ask)]) -> Ran {
    run_until(machine, script, script.len(), (Kernel::Skip, Order::Ascending)).unwrap()
}
