//! The machine: its units, the queues between them, and who is wired to whom.
//!
//! ```text
//!   driver --jobs--> cipher          doorbells                         writes, reads
//!     |  <--done---                +-----------> host port ~~h2d~~> GPU port ----> PCEs <=======> HBM
//!     +----------------------------+              ^    |   <~~d2h~~    |  ^         |  ^           |
//!     ^                             completions   |    v               v  +---------+  |work       |landed
//!     +~~~~~~~notices~~~~~~~~~~~~ root complex ---+  reads, writes  scheduler          |           |
//!                                                                    |   |  pushes     |           |
//!                                                                    v   +-------> front ends -----+
//!                                                                 compute           ^ +--entries--> tag queue
//!                                                                                   +----verdicts------+
//! ```

use super::{
    channels::Channels,
    data::{DeviceBytes, SharedLedger},
    ids::{
        CIPHER, COMPUTE, DRIVER, FIRST_PCE, FRONT_END_READ, FRONT_END_WRITE, GPU_PORT, HBM, HOST_PORT, ROOT_COMPLEX,
        SCHEDULER, TAG_QUEUE,
    },
    pushes::PushStore,
    shares::CopyAccounts,
};
use crate::{
    gpu::{
        compute::{self, Compute},
        front_end::{self, FrontEnd, Verification},
        hbm::{self, Hbm},
        pce::{self, EnginePorts, Pce, SmPorts},
        scheduler::{self, Scheduler},
        shared_engine::{self, SharedEngine},
        sm::{self, Sm},
        tag_queue::{self, TagCounts, TagQueue},
        work::{Edge, Mark},
    },
    host::{Cipher, CipherPorts, Driver, DriverPorts, HostState},
    pcie::{
        port::{self, Port, RootPorts},
        root_complex::{self, RootComplex},
    },
    sim::{Account, Channel, Machine, Now, UnitId, UnitInfo, Wake, Wakes},
    units::Femtos,
};

/// A machine at work.
pub(super) struct System {
    pub units: Vec<UnitInfo>,
    /// As [`METERS`], then the engine of each PCE that has one.
    pub meters: Vec<UnitInfo>,
    pub wakes: Wakes,
    pub channels: Channels,
    pub driver: Driver,
    pub cipher: Cipher,
    pub root_complex: RootComplex,
    pub host_port: Port,
    pub gpu_port: Port,
    /// Whether the link has IDE.
    pub ide: bool,
    pub scheduler: Scheduler,
    /// As [`FRONT_ENDS`].
    pub front_ends: [FrontEnd; 2],
    pub compute: Compute,
    pub tag_queue: TagQueue,
    pub hbm: Hbm,
    pub pces: Vec<Pce>,
    /// Where SMs seal and open.
    pub sm: Option<Sm>,
    /// Where PCEs share an engine.
    pub engine: Option<SharedEngine>,
    /// How many of the PCEs read host memory; the others write it.
    pub readers: usize,
    pub host: HostState,
    pub pushes: PushStore,
    pub device: DeviceBytes,
    pub ledger: SharedLedger,
    pub copies_ended: usize,
    /// Whether a copy has begun or ended since the kernel last asked.
    pub news: bool,
    /// Whether all copies have ended, or a fault has been found.
    pub over: bool,
    /// By copy: the tag queue's counts when it had ended.
    pub tag_counts: Vec<TagCounts>,
    pub copy_accounts: CopyAccounts,
    /// By copy: when it began and ended on the device, as far as it has.
    pub spans: Vec<Option<(Femtos, Femtos)>>,
    /// By copy to the GPU: when its first message could be used and had its verdict.
    pub first_verified: Vec<Option<Femtos>>,
}

/// Notes what copies have begun, verified and ended. Of a copy of several pushes, the first beginning and the last end count.
fn note_marks(
    spans: &mut [Option<(Femtos, Femtos)>],
    first_verified: &mut [Option<Femtos>],
    marks: impl Iterator<Item = Mark>,
) {
    for Mark { copy, edge, time } in marks {
        if edge == Edge::Verified {
            if let Some(first) = first_verified.get_mut(copy) {
                first.get_or_insert(time);
            }
            continue;
        }
        let Some(span) = spans.get_mut(copy) else { continue };
        let (begin, end) = span.get_or_insert((time, time));
        match edge {
            Edge::Begin => *begin = (*begin).min(time),
            Edge::End | Edge::Verified => *end = (*end).max(time),
        }
    }
}

impl System {
    #[inline]
    fn with_host_port<T>(&mut self, run: impl FnOnce(&mut Port, &mut port::Ports<'_>) -> T) -> T {
        let c = &mut self.channels;
        let mut ports = port::Ports {
            send: std::slice::from_mut(&mut c.doorbells),
            receive: std::slice::from_mut(&mut c.host_writes),
            root: Some(RootPorts { reads: &mut c.host_reads, completions: &mut c.completions }),
            wire_out: &mut c.h2d,
            wire_in: &mut c.d2h,
            wakes: &self.wakes,
        };
        run(&mut self.host_port, &mut ports)
    }

    #[inline]
    fn with_gpu_port<T>(&mut self, run: impl FnOnce(&mut Port, &mut port::Ports<'_>) -> T) -> T {
        let c = &mut self.channels;
        let mut ports = port::Ports {
            send: &mut c.gpu_send,
            receive: &mut c.gpu_receive,
            root: None,
            wire_out: &mut c.d2h,
            wire_in: &mut c.h2d,
            wakes: &self.wakes,
        };
        run(&mut self.gpu_port, &mut ports)
    }

    fn tick_driver(&mut self, now: Now) -> Wake {
        let c = &mut self.channels;
        let ports = DriverPorts {
            jobs: c.jobs.output(now.time, &self.wakes),
            done: c.jobs_done.input(now.time, &self.wakes),
            doorbells: c.doorbells.output(now.time, &self.wakes),
            notices: &mut c.notices,
            pushes: &mut self.pushes,
            memory: &mut self.host,
        };
        self.driver.tick(now, ports)
    }

    fn tick_cipher(&mut self, now: Now) -> Wake {
        let c = &mut self.channels;
        let ports = CipherPorts {
            jobs: c.jobs.input(now.time, &self.wakes),
            done: c.jobs_done.output(now.time, &self.wakes),
            memory: &mut self.host,
        };
        self.cipher.tick(now, ports)
    }

    #[inline]
    fn with_root_complex<T>(
        &mut self,
        now: Now,
        run: impl FnOnce(&mut RootComplex, root_complex::Ports<'_>) -> T,
    ) -> T {
        let c = &mut self.channels;
        let ports = root_complex::Ports {
            reads: &mut c.host_reads,
            writes: c.host_writes.input(now.time, &self.wakes),
            completions: &mut c.completions,
            notices: &mut c.notices,
            memory: &mut self.host,
            wakes: &self.wakes,
        };
        run(&mut self.root_complex, ports)
    }

    fn tick_scheduler(&mut self, now: Now) -> Wake {
        let c = &mut self.channels;
        let mut ports = scheduler::Ports {
            doorbells: c.gpu_receive[self.readers].input(now.time, &self.wakes),
            pushes: &mut self.pushes,
            copies: &mut c.copies,
            compute: c.compute.output(now.time, &self.wakes),
            retired: &mut c.retired,
            requests: c.gpu_send[self.pces.len()].output(now.time, &self.wakes),
            wakes: &self.wakes,
        };
        self.scheduler.tick(now, &mut ports)
    }

    /// Of the LCE that reads host memory, or of the one that writes it.
    fn tick_front_end(&mut self, writes_host: bool, now: Now) -> Wake {
        let c = &mut self.channels;
        let pces = if writes_host { self.readers.. } else { 0.. };
        let count = self.readers;
        let place = usize::from(writes_host);
        let verification = Verification { landed: &mut c.landed, verdicts: &mut c.verdicts, entries: &mut c.entries };
        let mut ports = front_end::Ports {
            pushes: c.copies[place].input(now.time, &self.wakes),
            work: &mut c.work[pces.clone()][..count],
            done: &mut c.done[pces][..count],
            verification: (!writes_host).then_some(verification),
            retired: c.retired[place].output(now.time, &self.wakes),
            wakes: &self.wakes,
        };
        let wake = self.front_ends[place].tick(now, &mut ports);
        note_marks(&mut self.spans, &mut self.first_verified, self.front_ends[place].marks());
        wake
    }

    fn tick_compute(&mut self, now: Now) -> Wake {
        let c = &mut self.channels;
        let mut ports = compute::Ports {
            pushes: c.compute.input(now.time, &self.wakes),
            retired: c.retired[2].output(now.time, &self.wakes),
            memory: &mut self.device,
        };
        let wake = self.compute.tick(now, &mut ports);
        note_marks(&mut self.spans, &mut self.first_verified, self.compute.marks());
        wake
    }

    fn tick_tag_queue(&mut self, now: Now) -> Wake {
        let c = &mut self.channels;
        let mut ports = tag_queue::Ports {
            entries: &mut c.entries,
            reports: &mut c.reports,
            verdicts: &mut c.verdicts,
            settled: &mut c.settled,
            released: &mut c.released,
            wakes: &self.wakes,
        };
        self.tag_queue.tick(now, &mut ports)
    }

    #[inline]
    fn with_hbm<T>(&mut self, run: impl FnOnce(&mut Hbm, &mut hbm::Ports<'_>) -> T) -> T {
        let c = &mut self.channels;
        let mut ports = hbm::Ports {
            writes: &mut c.writes,
            reads: &mut c.reads,
            data: &mut c.data,
            verdicts: &mut c.settled,
            landed: &mut c.landed,
            staged: c.staged.as_mut(),
            memory: &mut self.device,
            wakes: &self.wakes,
        };
        run(&mut self.hbm, &mut ports)
    }

    #[inline]
    fn tick_pce(&mut self, place: usize, now: Now) -> Wake {
        let c = &mut self.channels;
        let reader = place < self.readers;
        let (jobs, sealed) = (c.sm_jobs.get_mut(place), c.sealed.get_mut(place));
        let (requests, replies) = (c.to_engine.get_mut(place), c.from_engine.get_mut(place));
        let mut ports = pce::Ports {
            work: c.work[place].input(now.time, &self.wakes),
            completions: if reader { Some(c.gpu_receive[place].input(now.time, &self.wakes)) } else { None },
            requests: c.gpu_send[place].output(now.time, &self.wakes),
            reads: c.reads[place].output(now.time, &self.wakes),
            data: &mut c.data[place],
            writes: &mut c.writes[place],
            reports: if reader { c.reports.get_mut(place) } else { None },
            released: c.released.get_mut(place),
            sm: jobs.zip(sealed).map(|(jobs, sealed)| SmPorts { jobs, sealed }),
            engine: requests.zip(replies).map(|(requests, replies)| EnginePorts { requests, replies }),
            done: c.done[place].output(now.time, &self.wakes),
            wakes: &self.wakes,
        };
        self.pces[place].tick(now, &mut ports)
    }

    fn tick_engine(&mut self, now: Now) -> Wake {
        let (requests, replies) = (&mut self.channels.to_engine[..], &mut self.channels.from_engine[..]);
        let mut ports = shared_engine::Ports { requests, replies, wakes: &self.wakes };
        match &mut self.engine {
            Some(engine) => engine.tick(now, &mut ports),
            None => Wake::on_port(crate::sim::Activity::Idle),
        }
    }

    fn tick_sm(&mut self, now: Now) -> Wake {
        let c = &mut self.channels;
        let idle = Wake::on_port(crate::sim::Activity::Idle);
        let ends = (c.reads.last_mut(), c.data.last_mut(), c.writes.last_mut(), c.reports.last_mut());
        let (Some(reads), Some(data), Some(writes), Some(reports)) = ends else { return idle };
        let (Some(sm), Some(staged)) = (&mut self.sm, &mut c.staged) else { return idle };
        let mut ports = sm::Ports {
            jobs: &mut c.sm_jobs,
            staged,
            reads: reads.output(now.time, &self.wakes),
            data,
            writes,
            reports,
            sealed: &mut c.sealed,
            wakes: &self.wakes,
        };
        sm.tick(now, &mut ports)
    }
}

impl System {
    /// After a tick of the driver: whether a copy has ended, or all have.
    fn note_ends(&mut self) {
        self.copies_ended = self.driver.ended();
        self.news |= self.copy_accounts.note(self.driver.take_edges());
        self.over |= self.driver.finished() || self.host.fault().is_some() || self.pushes.fault().is_some();
    }
}

impl Machine for System {
    fn units(&self) -> &[UnitInfo] {
        &self.units
    }

    fn meters(&self) -> &[UnitInfo] {
        &self.meters
    }

    #[inline]
    fn tick(&mut self, unit: UnitId, now: Now) -> Wake {
        match unit {
            DRIVER => {
                let wake = self.tick_driver(now);
                self.note_ends();
                wake
            }
            CIPHER => {
                let wake = self.tick_cipher(now);
                self.over |= self.host.fault().is_some();
                wake
            }
            ROOT_COMPLEX => {
                let wake = self.with_root_complex(now, |root, ports| root.tick(now, ports));
                self.over |= self.host.fault().is_some();
                wake
            }
            HOST_PORT => {
                let wake = self.with_host_port(|port, ports| port.tick(now, ports));
                self.over |= self.host_port.fault().is_some() || self.host_port.insecure();
                wake
            }
            GPU_PORT => {
                let wake = self.with_gpu_port(|port, ports| port.tick(now, ports));
                self.over |= self.gpu_port.fault().is_some() || self.gpu_port.insecure();
                wake
            }
            SCHEDULER => self.tick_scheduler(now),
            FRONT_END_READ => self.tick_front_end(false, now),
            FRONT_END_WRITE => self.tick_front_end(true, now),
            COMPUTE => {
                let wake = self.tick_compute(now);
                self.over |= self.ledger.borrow().fault().is_some();
                wake
            }
            TAG_QUEUE => self.tick_tag_queue(now),
            HBM => {
                let wake = self.with_hbm(|hbm, ports| hbm.tick(now, ports));
                self.over |= self.ledger.borrow().fault().is_some();
                wake
            }
            UnitId(number) => match usize::from(number - FIRST_PCE) {
                place if place < self.pces.len() => self.tick_pce(place, now),
                _ if self.engine.is_some() => self.tick_engine(now),
                _ => self.tick_sm(now),
            },
        }
    }

    fn catch_up(&mut self, unit: UnitId, now: Now) {
        match unit {
            ROOT_COMPLEX => self.with_root_complex(now, |root, mut ports| root.catch_up(now, &mut ports)),
            HOST_PORT => self.with_host_port(|port, ports| port.catch_up(now, ports)),
            GPU_PORT => self.with_gpu_port(|port, ports| port.catch_up(now, ports)),
            HBM => self.with_hbm(|hbm, ports| hbm.catch_up(now, ports)),
            _ => {}
        }
    }

    fn wakes(&self) -> &Wakes {
        &self.wakes
    }

    #[inline]
    fn finished(&self) -> bool {
        self.over
    }

    fn fault(&self) -> Option<String> {
        let first = self.host.fault().or(self.host_port.fault()).or(self.gpu_port.fault()).or(self.pushes.fault());
        first.cloned().or_else(|| self.ledger.borrow().fault().cloned())
    }

    fn channels(&self) -> Vec<&dyn Channel> {
        self.channels.all()
    }

    #[inline]
    fn milestone(&mut self) -> bool {
        let news = std::mem::take(&mut self.news);
        if news {
            // Here all units have ticked, so that it does not matter in which order.
            self.tag_counts.resize(self.copies_ended, self.tag_queue.counts());
        }
        news
    }

    fn keep(&mut self, accounts: Vec<Account>) {
        self.copy_accounts.keep(accounts);
    }
}
