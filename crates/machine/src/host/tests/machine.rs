//! A miniature machine: driver, cipher and a toy GPU.

use super::{
    super::{spec::*, *},
    data::{Counter, Private, Toy},
    gpu::{self, Gpu, Mailbox},
};
use crate::{
    pcie::{packet::Tlp, root_complex::Notice},
    sim::{
        Armed, Channel, Clock, Control, Effect, In, Injection, Kernel, Key, Netlist, Now, Order as Ticks, Out, Run, Rx,
        SimulationError, Tx, Unit, UnitInfo, Wake, run,
    },
    units::{Bytes, BytesPerCycle, Cycles, Femtos, Frequency},
};
use std::{cell::RefCell, rc::Rc};

/// The clock of the CPU: a cycle is a nanosecond.
pub fn cpu() -> Clock {
    Clock::new(Frequency(1_000_000_000)).unwrap()
}

#[derive(Debug, Clone)]
pub struct Setup {
    pub cipher: CipherSpec,
    pub memory: MemorySpec,
    pub program: Vec<Step>,
    pub driver: DriverSpec,
    pub staging: StagingSpec,
    pub options: DriverOptions,
    pub plans: Vec<CopyPlan>,
    /// Depth of the queues of jobs, of ended jobs and of doorbells.
    pub depths: [usize; 3],
    pub gpu_clock: u64,
    /// Cycles per launch, bytes per cycle, cycles of a semaphore's flight.
    pub gpu: [u64; 3],
    pub verdict: Option<u64>,
    pub lie: Option<(u32, gpu::Lie)>,
    pub ivs: u32,
    pub faults: Vec<Injection>,
    pub disk_fails_at: Option<u32>,
    pub exact: bool,
}

impl Setup {
    /// Confidential computing, one thread, messages of a page from pinned memory and of 64 KiB from pageable memory.
    pub fn secure(plans: &[(Direction, u64, Memory)]) -> Self {
        let path = |message, push| PathSpec { message: Bytes(message), push: Bytes(push) };
        Self {
            cipher: CipherSpec {
                library: None,
                threads: 1,
                seal_rate: BytesPerCycle(2_000),
                open_rate: BytesPerCycle(1_000),
                per_message: Cycles(300),
                call: None,
                call_long: None,
                on_caller: false,
                work: CipherWork::Seal,
                ahead: None,
                text_crc: None,
            },
            memory: Setup::memory(),
            driver: DriverSpec {
                call: Cycles(1_000),
                push: Cycles(200),
                launch: Cycles(1_200),
                secure_push: Cycles(400),
                completion: Cycles(70),
                secure_completion: Cycles(30),
                pageable_copy_rate: BytesPerCycle(4_000),
                pinned: path(4096, 1 << 16),
                pageable: path(1 << 16, 1 << 16),
                pageable_plain: path(1 << 16, 1 << 16),
                push_d2h: PushD2hSpec {
                    pinned: Bytes(1 << 16),
                    pageable: Bytes(1 << 16),
                    pageable_plain: Bytes(1 << 16),
                },
                in_flight: InFlightSpec { h2d: 1 << 20, d2h: 1 << 20 },
                in_flight_pageable: InFlightSpec { h2d: 1 << 20, d2h: 1 << 20 },
                in_flight_plain: InFlightSpec { h2d: 1 << 20, d2h: 1 << 20 },
                small: SmallSpec {
                    limit: Bytes(0),
                    limit_d2h: None,
                    rate: BytesPerCycle(1_000),
                    secure_cold_line: Cycles(3),
                    secure_cold_rate: BytesPerCycle(1_000),
                },
                cold_call: ColdCallSpec { h2d: Cycles(0), d2h: Cycles(0), secure: Cycles(0) },
                pageable_upload: crate::host::law::PageableUpload::Waits,
                pageable_upload_plain: crate::host::law::PageableUpload::Waits,
            },
            staging: StagingSpec { buffer: Bytes(1 << 18), buffers: 4 },
            options: DriverOptions { secure: true, ..DriverOptions::default() },
            plans: plans
                .iter()
                .map(|&(direction, bytes, memory)| CopyPlan {
                    direction,
                    bytes: Bytes(bytes),
                    memory,
                    buffer: 0,
                    buffer_bytes: Bytes(bytes),
                    pages: Pages::Cold,
                })
                .collect(),
            depths: [16, 16, 4],
            gpu_clock: 1_000_000_000,
            gpu: [50, 32, 900],
            verdict: None,
            lie: None,
            ivs: u32::MAX,
            faults: Vec::new(),
            disk_fails_at: None,
            exact: true,
            program: Vec::new(),
        }
    }

    /// Memory that costs nothing.
    pub fn memory() -> MemorySpec {
        MemorySpec {
            l2: Bytes(1 << 40),
            llc: Bytes(1 << 40),
            llc_rate: BytesPerCycle(u64::MAX),
            dram_rate: BytesPerCycle(u64::MAX),
            copy_dram_rate: None,
            open_dram_rate: None,
            socket_rate: None,
            first_touch: Cycles(0),
            first_touch_huge: Cycles(0),
            first_touch_pinned: Cycles(0),
        }
    }

    pub fn plain(plans: &[(Direction, u64, Memory)]) -> Self {
        Self { options: DriverOptions::default(), ..Self::secure(plans) }
    }

    fn host_state(&self, netlist: &mut Netlist) -> (Rc<RefCell<HostState>>, Stored) {
        let private = Private { fails_at: self.disk_fails_at, ..Private::default() };
        let stored = Rc::clone(&private.stored);
        let private = self.exact.then(|| Box::new(private) as Box<dyn PrivateMemory>);
        let mut memory = HostState::new(&self.staging, &self.memory, private).unwrap();
        memory.describe(&self.plans);
        memory.report_to(netlist.signals("memory"));
        let memory = Rc::new(RefCell::new(memory));
        netlist.add_fault_site(memory.clone());
        (memory, stored)
    }

    pub fn new_driver(&self, clock: Clock) -> Result<Driver, HostError> {
        let counter = |direction| Box::new(Counter { direction, last: 0, limit: self.ivs });
        let nonces = NonceStreams { seal: counter(1), open: counter(2) };
        let (plans, program) = (self.plans.clone(), self.program.clone());
        let options = DriverOptions { work: self.cipher.work, ahead: self.cipher.ahead, ..self.options };
        Driver::new(&self.driver, &self.staging, options, clock, plans, program, nonces)
    }

    /// Workers in addition to the caller, if there are any; gives what the driver has of them.
    fn helpers(
        &self,
        netlist: &mut Netlist,
        clock: Clock,
        name: &str,
        threads: u32,
        memory: &Rc<RefCell<HostState>>,
    ) -> Option<HelperPorts> {
        let spec = CipherSpec { threads, ..self.cipher.clone() };
        let unit = Cipher::new(&spec, &self.driver, Some(Box::new(Toy))).ok()?;
        let (jobs, taken) = netlist.queue(format!("{name}.jobs"), self.depths[0]);
        let (ended, done) = netlist.queue(format!("{name}.done"), self.depths[1]);
        netlist.add(name, clock, unit, CipherPorts { jobs: taken, done: ended, memory: memory.clone() });
        Some(HelperPorts { jobs, done })
    }

    pub fn build(&self) -> Mini {
        let (cpu, gpu_clock) = (cpu(), Clock::new(Frequency(self.gpu_clock)).unwrap());
        let mut netlist = Netlist::new();
        let (memory, stored) = self.host_state(&mut netlist);
        let mailbox = Rc::new(RefCell::new(Mailbox::default()));
        let channels = Channels::new(&mut netlist, self.depths);
        let (mut driver_ports, cipher_ports, gpu_ports) = channels.ports(&netlist, &memory, &mailbox);
        if let Some(ahead) = self.cipher.ahead.filter(|_| self.options.secure) {
            driver_ports.sealers = self.helpers(&mut netlist, cpu, "sealers", ahead.workers, &memory);
            driver_ports.openers = self.helpers(&mut netlist, cpu, "openers", ahead.open_workers, &memory);
        }
        let cipher = Cipher::new(&self.cipher, &self.driver, Some(Box::new(Toy))).unwrap();
        let [launch, rate, flight] = self.gpu;
        let gpu = Gpu { verdict: self.verdict, lie: self.lie, ..Gpu::new(gpu_clock, launch, rate, flight) };
        let driver = netlist.add("driver", cpu, self.new_driver(cpu).unwrap(), driver_ports);
        let cipher = netlist.add("cipher", cpu, cipher, cipher_ports);
        let gpu = netlist.add("gpu", gpu_clock, gpu, gpu_ports);
        for (number, fault) in self.faults.iter().enumerate() {
            assert!(netlist.arm(fault, Armed::new(fault, number, 4_321)));
        }
        Mini { netlist, driver, cipher, gpu, memory, mailbox, stored }
    }

    /// Builds it and runs it on the kernel that skips.
    pub fn go(&self) -> (Mini, Run) {
        let mut mini = self.build();
        let run = mini.run(Kernel::Skip, Ticks::Ascending).unwrap();
        (mini, run)
    }

    pub fn end(&self) -> u64 {
        self.go().0.end()
    }
}

/// What has been stored in private memory, by copy.
type Stored = Rc<RefCell<Vec<Vec<u8>>>>;

struct Channels {
    jobs: (Out<CipherJob>, In<CipherJob>),
    done: (Out<CipherDone>, In<CipherDone>),
    doorbells: (Out<Tlp>, In<Tlp>),
    notices: (Tx<Notice>, Rx<Notice>),
}

impl Channels {
    fn new(netlist: &mut Netlist, [jobs, done, doorbells]: [usize; 3]) -> Self {
        Self {
            jobs: netlist.queue("jobs", jobs),
            done: netlist.queue("done", done),
            doorbells: netlist.queue("doorbells", doorbells),
            notices: netlist.wire("notices", Femtos(1)),
        }
    }

    fn ports(
        self,
        netlist: &Netlist,
        memory: &Rc<RefCell<HostState>>,
        mailbox: &Rc<RefCell<Mailbox>>,
    ) -> (DriverPorts, CipherPorts, gpu::Ports) {
        let driver = DriverPorts {
            jobs: self.jobs.0,
            done: self.done.1,
            sealers: None,
            openers: None,
            doorbells: self.doorbells.0,
            notices: self.notices.1,
            pushes: mailbox.clone(),
            memory: memory.clone(),
            signals: netlist.signals("driver"),
        };
        let cipher = CipherPorts { jobs: self.jobs.1, done: self.done.0, memory: memory.clone() };
        let (doorbells, notices) = (self.doorbells.1, self.notices.0);
        (driver, cipher, gpu::Ports { doorbells, mailbox: mailbox.clone(), memory: memory.clone(), notices })
    }
}

pub struct Mini {
    netlist: Netlist,
    driver: Key<Driver>,
    cipher: Key<Cipher>,
    gpu: Key<Gpu>,
    pub memory: Rc<RefCell<HostState>>,
    mailbox: Rc<RefCell<Mailbox>>,
    pub stored: Stored,
}

impl Mini {
    pub fn driver(&self) -> &Driver {
        self.netlist.unit(&self.driver)
    }

    pub fn cipher(&self) -> &Cipher {
        self.netlist.unit(&self.cipher)
    }

    pub fn gpu(&self) -> &Gpu {
        self.netlist.unit(&self.gpu)
    }

    pub fn units(&self) -> &[UnitInfo] {
        self.netlist.units()
    }

    /// Faults that were activated.
    pub fn struck(&self) -> usize {
        self.netlist.effects().iter().filter(|effect| matches!(effect, Effect::Struck { .. })).count()
    }

    pub fn run(&mut self, kernel: Kernel, order: Ticks) -> Result<Run, SimulationError> {
        run(&mut self.netlist, kernel, order, &mut |_| Control::Continue)
    }

    pub fn digests(&self) -> Vec<u64> {
        self.netlist.channels().map(Channel::digest).collect()
    }

    /// Cycles of the CPU's clock at the end of the first copy.
    pub fn end(&self) -> u64 {
        self.driver().outcomes()[0].end.0 / 1_000_000
    }

    /// Ticks the driver with nothing at its ports.
    pub fn tick_driver(&mut self, now: Now) -> Wake {
        let mut aside = Netlist::new();
        let channels = Channels::new(&mut aside, [1; 3]);
        let (mut ports, ..) = channels.ports(&aside, &self.memory, &self.mailbox);
        self.netlist.unit_mut(&self.driver).tick(now, &mut ports)
    }
}
