//! A miniature machine: driver, cipher and a toy GPU.

use super::{
    super::{spec::*, *},
    data::{Counter, Private, Toy},
    gpu::{self, Gpu, Mailbox},
};
use crate::{
    pcie::{packet::Tlp, root_complex::Notice},
    sim::{
        Armed, Channel, Clock, Control, Effect, Injection, Kernel, Machine, Now, Order as Ticks, Queue, Run,
        SimulationError, UnitId, UnitInfo, Wake, Wakes, Wire, run,
    },
    units::{Bytes, BytesPerCycle, Cycles, Frequency},
};
use std::{cell::RefCell, rc::Rc};

const DRIVER: UnitId = UnitId(0);
const CIPHER: UnitId = UnitId(1);
const GPU: UnitId = UnitId(2);

/// All that a run depends on.
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
                threads: 1,
                seal_rate: BytesPerCycle(2_000),
                open_rate: BytesPerCycle(1_000),
                per_message: Cycles(300),
                on_caller: false,
                work: CipherWork::Seal,
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
                    rate: BytesPerCycle(1_000),
                    secure_cold_line: Cycles(3),
                    secure_cold_rate: BytesPerCycle(1_000),
                },
                cold_call: ColdCallSpec { h2d: Cycles(0), d2h: Cycles(0), secure: Cycles(0) },
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
            first_touch: Cycles(0),
            first_touch_huge: Cycles(0),
            first_touch_pinned: Cycles(0),
        }
    }

    /// The same without confidential computing.
    pub fn plain(plans: &[(Direction, u64, Memory)]) -> Self {
        Self { options: DriverOptions::default(), ..Self::secure(plans) }
    }

    pub fn build(&self) -> Mini {
        let clock = |hz| Clock::new(Frequency(hz)).unwrap();
        let cpu = clock(1_000_000_000);
        let private = Private { fails_at: self.disk_fails_at, ..Private::default() };
        let stored = Rc::clone(&private.stored);
        let private = self.exact.then(|| Box::new(private) as Box<dyn PrivateMemory>);
        let mut memory = HostState::new(&self.staging, &self.memory, private).unwrap();
        memory.describe(&self.plans);
        for (number, fault) in self.faults.iter().enumerate() {
            assert!(memory.arm(fault, Armed::new(fault, number, 4_321)));
        }
        let counter = |direction| Box::new(Counter { direction, last: 0, limit: self.ivs });
        let nonces = NonceStreams { seal: counter(1), open: counter(2) };
        let (plans, program) = (self.plans.clone(), self.program.clone());
        let options = DriverOptions { work: self.cipher.work, ..self.options };
        let driver = Driver::new(&self.driver, &self.staging, options, cpu, plans, program, nonces).unwrap();
        let unit = |name: &str, clock| UnitInfo { name: name.into(), clock };
        let gpu_clock = clock(self.gpu_clock);
        let [launch, rate, flight] = self.gpu;
        let [jobs, done, doorbells] = self.depths;
        Mini {
            units: vec![unit("driver", cpu), unit("cipher", cpu), unit("gpu", gpu_clock)],
            driver,
            cipher: Cipher::new(&self.cipher, &self.driver, Some(Box::new(Toy))).unwrap(),
            gpu: Gpu { verdict: self.verdict, lie: self.lie, ..Gpu::new(gpu_clock, launch, rate, flight) },
            memory,
            mailbox: Mailbox::default(),
            jobs: Queue::new("jobs", DRIVER, CIPHER, jobs),
            done: Queue::new("done", CIPHER, DRIVER, done),
            doorbells: Queue::new("doorbells", DRIVER, GPU, doorbells),
            notices: Wire::new("notices", GPU, DRIVER),
            wakes: Wakes::default(),
            stored,
        }
    }

    /// Builds it and runs it on the kernel that skips.
    pub fn go(&self) -> (Mini, Run) {
        let mut mini = self.build();
        let run = mini.run(Kernel::Skip, Ticks::Ascending).unwrap();
        (mini, run)
    }
}

pub struct Mini {
    units: Vec<UnitInfo>,
    pub driver: Driver,
    pub cipher: Cipher,
    pub gpu: Gpu,
    pub memory: HostState,
    mailbox: Mailbox,
    jobs: Queue<CipherJob>,
    done: Queue<CipherDone>,
    pub doorbells: Queue<Tlp>,
    pub notices: Wire<Notice>,
    wakes: Wakes,
    pub stored: Rc<RefCell<Vec<Vec<u8>>>>,
}

impl Mini {
    /// Faults that have struck.
    pub fn struck(&self) -> usize {
        self.memory.armed().filter(|armed| matches!(armed.effect(), Effect::Struck { .. })).count()
    }

    pub fn run(&mut self, kernel: Kernel, order: Ticks) -> Result<Run, SimulationError> {
        run(self, kernel, order, &mut |_| Control::Continue)
    }

    pub fn digests(&self) -> Vec<u64> {
        self.channels().iter().map(|channel| channel.digest()).collect()
    }

    /// Cycles of the CPU's clock at the end of the first copy.
    pub fn end(&self) -> u64 {
        self.driver.outcomes()[0].end.0 / 1_000_000
    }

    pub fn tick_driver(&mut self, now: Now) -> Wake {
        self.tick(DRIVER, now)
    }
}

impl Machine for Mini {
    fn units(&self) -> &[UnitInfo] {
        &self.units
    }
    fn tick(&mut self, unit: UnitId, now: Now) -> Wake {
        let (time, wakes) = (now.time, &self.wakes);
        match unit {
            DRIVER => self.driver.tick(
                now,
                DriverPorts {
                    jobs: self.jobs.output(time, wakes),
                    done: self.done.input(time, wakes),
                    doorbells: self.doorbells.output(time, wakes),
                    notices: &mut self.notices,
                    pushes: &mut self.mailbox,
                    memory: &mut self.memory,
                },
            ),
            CIPHER => self.cipher.tick(
                now,
                CipherPorts {
                    jobs: self.jobs.input(time, wakes),
                    done: self.done.output(time, wakes),
                    memory: &mut self.memory,
                },
            ),
            _ => self.gpu.tick(
                now,
                gpu::Ports {
                    doorbells: self.doorbells.input(time, wakes),
                    mailbox: &self.mailbox,
                    memory: &mut self.memory,
                    notices: &mut self.notices,
                    wakes,
                },
            ),
        }
    }
    fn wakes(&self) -> &Wakes {
        &self.wakes
    }
    fn finished(&self) -> bool {
        self.driver.finished() || self.memory.fault().is_some()
    }
    fn fault(&self) -> Option<String> {
        self.memory.fault().cloned()
    }
    fn channels(&self) -> Vec<&dyn Channel> {
        vec![&self.jobs, &self.done, &self.doorbells, &self.notices]
    }
}
