//! A GPU with its copy path.
//!
//! ```text
//!   doorbells --> scheduler --pushes--> front ends --work--> PCEs <--> link
//!                     |                   |   ^               |
//!                     v            entries|   |verdicts       | reads, writes
//!                  compute                v   |               v
//!                                       tag queue <--tags--- device memory
//! ```

mod pces;
pub mod specs;

use super::{HANDOVER, link::GpuEnds};
use crate::{
    config::MachineSpec,
    gcm::{iv::Stream as IvStream, worker::Worker},
    gpu::{
        compute::{self, Compute},
        front_end::{self, FrontEnd, Verification},
        hbm::{self, DeviceMemory, Hbm},
        mapping::{SYSMEM_READ, SYSMEM_WRITE},
        pce::{Keys, Pce},
        scheduler::{self, PushMemory, Scheduler},
        shared_engine, sm,
        tag_queue::{self, TagCounts, TagQueue},
        work::{ComputePush, CopyPush, Landed, Retired, Staged, TagEntry, Verdict},
    },
    sim::{In, Key, Netlist, Out, Rx, Tx},
    system::{clocks::Clocks, outcome::RunError},
    units::Femtos,
};
use pces::Far;
pub use pces::Pces;
use std::{
    cell::{Cell, RefCell},
    rc::Rc,
    sync::Arc,
};

pub struct Gpu {
    /// Of the LCE that reads host memory, and of the one that writes it.
    pub front_ends: [Key<FrontEnd>; 2],
    pub compute: Key<Compute>,
    /// Of the tag queue, which other units can stand for.
    pub tags: Rc<Cell<TagCounts>>,
    pub hbm: Key<Hbm>,
    /// Those that read host memory first.
    pub pces: Vec<Key<Pce>>,
}

/// What a GPU shares with the rest of a run.
pub struct Shared {
    pub keys: Option<Arc<Keys>>,
    pub worker: Rc<Worker>,
    /// IVs of the reading and of the writing LCE.
    pub ivs: [IvStream; 2],
    pub pushes: Rc<RefCell<dyn PushMemory>>,
    pub memory: Rc<RefCell<dyn DeviceMemory>>,
}

/// Adds a GPU at `path` with these PCEs.
pub fn add(
    netlist: &mut Netlist,
    machine: &MachineSpec,
    clocks: &Clocks,
    (path, pces): (&str, &Pces),
    shared: Shared,
    ends: GpuEnds,
) -> Result<Gpu, RunError> {
    Builder { netlist, machine, clocks, path, pces }.build(shared, ends)
}

/// A GPU that is being built.
struct Builder<'a> {
    netlist: &'a mut Netlist,
    machine: &'a MachineSpec,
    clocks: &'a Clocks,
    path: &'a str,
    pces: &'a Pces,
}

/// The channels between scheduler, front ends, compute side, tag queue and device memory, from each side.
struct Control {
    copies: [(Out<CopyPush>, In<CopyPush>); 2],
    compute: (Out<ComputePush>, In<ComputePush>),
    /// From the front ends and from the compute side.
    retired: [(Out<Retired>, In<Retired>); 3],
    entries: (Out<TagEntry>, In<TagEntry>),
    verdicts: (Out<Verdict>, In<Verdict>),
    settled: (Out<Verdict>, In<Verdict>),
    landed: (Tx<Landed>, Rx<Landed>),
    staged: Option<(Tx<Staged>, Rx<Staged>)>,
}

/// Names of the front ends: of the LCE that reads host memory, and of the one that writes it.
const FRONT_ENDS: [&str; 2] = ["front_end_read", "front_end_write"];

impl Builder<'_> {
    fn at(&self, name: &str) -> String {
        format!("{}.{name}", self.path)
    }

    /// How long a write takes to be visible, at least.
    fn visible(&self) -> Femtos {
        self.clocks.hbm.edge(self.machine.hbm.write_latency.0.max(1))
    }

    /// Room in the queues to and from the tag queue.
    const fn tag_depth(&self) -> usize {
        self.machine.tag_queue.depth as usize + HANDOVER
    }

    fn build(mut self, shared: Shared, ends: GpuEnds) -> Result<Gpu, RunError> {
        let Shared { keys, worker, ivs, pushes, memory } = shared;
        let GpuEnds { requests, completions, semaphores, doorbells } = ends;
        let Control { copies, compute, retired, entries, verdicts, settled, landed, staged } = self.control();
        let ([read, write], [read_retired, write_retired, compute_retired]) = (copies, retired);
        let mut far = Far::default();
        let pce_ports = self.pce_ports(requests, completions, &mut far);
        let (staged_tx, staged_rx) = staged.unzip();
        let sm_ports = staged_rx.map(|staged| self.sm_ports(staged, &mut far));

        let scheduler = scheduler::Ports {
            doorbells,
            pushes,
            copies: [read.0, write.0],
            compute: compute.0,
            retired: [read_retired.1, write_retired.1, compute_retired.1],
            requests: semaphores,
        };
        let engines = self.clocks.copy_engine;
        let sealed = engines.cycles_in(self.machine.sealed_launch());
        let unit = Scheduler::new(self.machine.compute.schedule).with_sealed_launches(sealed);
        self.netlist.add(self.at("scheduler"), engines, unit, scheduler);

        let verification = Verification { landed: landed.1, verdicts: verdicts.1, entries: entries.0 };
        let writers = (far.work.split_off(self.pces.readers), far.done.split_off(self.pces.readers));
        let reading = (read.1, (far.work, far.done), Some(verification), read_retired.0);
        let writing = (write.1, writers, None, write_retired.0);
        let front_ends = self.front_ends(ivs, [reading, writing]);

        let ports = compute::Ports { pushes: compute.1, retired: compute_retired.0, memory: Rc::clone(&memory) };
        let compute = Compute::new(&self.machine.compute, self.clocks.compute);
        let compute = self.netlist.add(self.at("compute"), self.clocks.compute, compute, ports);

        let tags = Rc::default();
        let ports = tag_queue::Ports {
            entries: entries.1,
            reports: far.reports,
            verdicts: verdicts.0,
            settled: settled.0,
            released: far.released,
            counts: Rc::clone(&tags),
            signals: self.netlist.signals(&self.at("tag_queue")),
        };
        let tag_queue = TagQueue::new(&self.machine.tag_queue, self.machine.sealing().model().compare(), engines);
        self.netlist.add(self.at("tag_queue"), engines, tag_queue, ports);

        let (writes, reads, data) = (far.writes, far.reads, far.data);
        let ports =
            hbm::Ports { writes, reads, data, verdicts: settled.1, landed: landed.0, staged: staged_tx, memory };
        let hbm = Hbm::new(&self.machine.hbm, self.clocks.hbm);
        let hbm = self.netlist.add(self.at("hbm"), self.clocks.hbm, hbm, ports);

        let pces = self.add_pces(keys.as_ref(), &worker, pce_ports)?;
        if let (Some(near), Some((sm, clock))) = (sm_ports, self.sm(keys, worker)?) {
            let (jobs, sealed) = (far.sm_jobs, far.sealed);
            let pces::SmEnds { staged, reads, data, writes, reports } = near;
            let ports = sm::Ports { jobs, staged, reads, data, writes, reports, sealed };
            self.netlist.add(self.at("sm"), clock, sm, ports);
        }
        if let Some((name, engine)) = self.shared_engine()? {
            let ports = shared_engine::Ports { requests: far.to_engine, replies: far.from_engine };
            self.netlist.add(self.at(name), self.clocks.engines, engine, ports);
        }
        Ok(Gpu { front_ends, compute, tags, hbm, pces })
    }

    fn control(&mut self) -> Control {
        let (path, depth, visible) = (self.path, self.tag_depth(), self.visible());
        let staged = self.machine.sealing_sms().is_some();
        let net = &mut *self.netlist;
        let [read, write] = FRONT_ENDS;
        Control {
            copies: FRONT_ENDS.map(|name| net.queue(format!("{path}.{name}.pushes"), HANDOVER)),
            compute: net.queue(format!("{path}.compute.pushes"), HANDOVER),
            retired: [read, write, "compute"].map(|name| net.queue(format!("{path}.{name}.retired"), HANDOVER)),
            entries: net.queue(format!("{path}.tag_queue.entries"), depth),
            verdicts: net.queue(format!("{path}.tag_queue.verdicts"), depth),
            settled: net.queue(format!("{path}.hbm.verdicts"), depth),
            landed: net.wire(format!("{path}.hbm.landed"), visible),
            staged: staged.then(|| net.wire(format!("{path}.sm.staged"), visible)),
        }
    }

    fn front_ends(&mut self, ivs: [IvStream; 2], ends: [FrontEndEnds; 2]) -> [Key<FrontEnd>; 2] {
        let ([read, write], [read_ivs, write_ivs]) = (ends, ivs);
        let both = [(FRONT_ENDS[0], SYSMEM_READ, read, read_ivs), (FRONT_ENDS[1], SYSMEM_WRITE, write, write_ivs)];
        both.map(|(name, lce, (pushes, (work, done), verification, retired), ivs)| {
            let ports = front_end::Ports { pushes, work, done, verification, retired };
            let clock = self.clocks.copy_engine;
            let front_end = FrontEnd::new(specs::front_end(self.machine, lce, self.pces.readers), ivs, clock);
            self.netlist.add(self.at(name), clock, front_end, ports)
        })
    }
}

type FrontEndEnds = (In<CopyPush>, pces::Served, Option<Verification>, Out<Retired>);
