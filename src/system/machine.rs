//! The machine: its units, the queues between them, and who is wired to whom.
//!
//! ```text
//!   driver --jobs--> cipher          doorbells                         writes, reads
//!     |  <--done---                +-----------> host port ~~h2d~~> GPU port ----> PCEs <=======> HBM
//!     +----------------------------+              ^    |   <~~d2h~~    |  ^         |  ^           |
//!     ^                             completions   |    v               v  +---------+  |work       |landed
//!     +~~~~~~~notices~~~~~~~~~~~~ root complex ---+  reads, writes  front end ---------+           |
//!                                                                      ^ +--entries--> tag queue -+
//!                                                                      +----verdicts-------+
//! ```

use super::{
    channels::Channels,
    data::{DeviceBytes, SharedLedger},
    pushes::PushStore,
};
use crate::{
    gpu::{
        front_end::{self, FrontEnd},
        hbm::{self, Hbm},
        pce::{self, Pce},
        tag_queue::{self, TagCounts, TagQueue},
    },
    host::{Cipher, CipherPorts, Driver, DriverPorts, HostState},
    pcie::{
        port::{self, HOST_READS, HOST_WRITES, Port},
        root_complex::{self, RootComplex},
    },
    sim::{Channel, Machine, Now, UnitId, UnitInfo, Wake, Wakes},
    units::Femtos,
};

/// Numbers of the units; PCEs follow, those that read host memory first.
pub(super) const DRIVER: UnitId = UnitId(0);
pub(super) const CIPHER: UnitId = UnitId(1);
pub(super) const ROOT_COMPLEX: UnitId = UnitId(2);
pub(super) const HOST_PORT: UnitId = UnitId(3);
pub(super) const GPU_PORT: UnitId = UnitId(4);
pub(super) const FRONT_END: UnitId = UnitId(5);
pub(super) const TAG_QUEUE: UnitId = UnitId(6);
pub(super) const HBM: UnitId = UnitId(7);
pub(super) const FIRST_PCE: u8 = 8;

/// Places among the inputs of the host port.
pub(super) const DOORBELLS: usize = 0;
/// See [`DOORBELLS`].
pub(super) const COMPLETIONS: usize = 1;

/// How things stood when a copy came to its end.
#[derive(Debug, Clone, Copy)]
pub(super) struct CopyEnd {
    /// The tag queue's counts.
    pub counts: TagCounts,
    /// The milestone at which the accounts were kept; copies that end at one instant share it.
    pub milestone: usize,
}

/// A machine at work.
pub(super) struct System {
    pub units: Vec<UnitInfo>,
    pub wakes: Wakes,
    pub channels: Channels,
    pub driver: Driver,
    pub cipher: Cipher,
    pub root_complex: RootComplex,
    pub host_port: Port,
    pub gpu_port: Port,
    pub front_end: FrontEnd,
    pub tag_queue: TagQueue,
    pub hbm: Hbm,
    pub pces: Vec<Pce>,
    /// How many of the PCEs read host memory; the others write it.
    pub readers: usize,
    pub host: HostState,
    pub pushes: PushStore,
    pub device: DeviceBytes,
    pub ledger: SharedLedger,
    pub copies_ended: usize,
    /// Whether a copy has ended since the kernel last asked.
    pub news: bool,
    /// Whether all copies have ended, or a fault has been found.
    pub over: bool,
    /// By copy.
    pub copy_ends: Vec<CopyEnd>,
    /// Milestones so far.
    pub milestones: usize,
}

impl System {
    #[inline]
    fn tick_host_port(&mut self, now: Now) -> Wake {
        let c = &mut self.channels;
        let mut ports = port::Ports {
            send: &mut c.host_send,
            receive: &mut c.host_receive,
            wire_out: &mut c.h2d,
            wire_in: &mut c.d2h,
            wakes: &self.wakes,
        };
        self.host_port.tick(now, &mut ports)
    }

    #[inline]
    fn tick_gpu_port(&mut self, now: Now) -> Wake {
        let c = &mut self.channels;
        let mut ports = port::Ports {
            send: &mut c.gpu_send,
            receive: &mut c.gpu_receive,
            wire_out: &mut c.d2h,
            wire_in: &mut c.h2d,
            wakes: &self.wakes,
        };
        self.gpu_port.tick(now, &mut ports)
    }

    fn tick_driver(&mut self, now: Now) -> Wake {
        let c = &mut self.channels;
        let ports = DriverPorts {
            jobs: c.jobs.output(now.time, &self.wakes),
            done: c.jobs_done.input(now.time, &self.wakes),
            doorbells: c.host_send[DOORBELLS].output(now.time, &self.wakes),
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
    fn tick_root_complex(&mut self, now: Now) -> Wake {
        let c = &mut self.channels;
        let [reads, writes] = &mut c.host_receive[HOST_READS..=HOST_WRITES] else {
            return Wake::on_port(crate::sim::Activity::Idle);
        };
        let ports = root_complex::Ports {
            reads: reads.input(now.time, &self.wakes),
            writes: writes.input(now.time, &self.wakes),
            completions: c.host_send[COMPLETIONS].output(now.time, &self.wakes),
            notices: &mut c.notices,
            memory: &mut self.host,
            wakes: &self.wakes,
        };
        self.root_complex.tick(now, ports)
    }

    fn tick_front_end(&mut self, now: Now) -> Wake {
        let c = &mut self.channels;
        let mut ports = front_end::Ports {
            doorbells: c.gpu_receive[self.readers].input(now.time, &self.wakes),
            pushes: &mut self.pushes,
            work: &mut c.work,
            done: &mut c.done,
            landed: &mut c.landed,
            verdicts: &mut c.verdicts,
            entries: &mut c.entries,
            wakes: &self.wakes,
        };
        self.front_end.tick(now, &mut ports)
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
    fn tick_hbm(&mut self, now: Now) -> Wake {
        let c = &mut self.channels;
        let mut ports = hbm::Ports {
            writes: &mut c.writes,
            reads: &mut c.reads,
            data: &mut c.data,
            verdicts: &mut c.settled,
            landed: &mut c.landed,
            memory: &mut self.device,
            wakes: &self.wakes,
        };
        self.hbm.tick(now, &mut ports)
    }

    #[inline]
    fn tick_pce(&mut self, place: usize, now: Now) -> Wake {
        let c = &mut self.channels;
        let reader = place < self.readers;
        let mut ports = pce::Ports {
            work: c.work[place].input(now.time, &self.wakes),
            completions: if reader { Some(c.gpu_receive[place].input(now.time, &self.wakes)) } else { None },
            requests: c.gpu_send[place].output(now.time, &self.wakes),
            reads: c.reads[place].output(now.time, &self.wakes),
            data: &mut c.data[place],
            writes: &mut c.writes[place],
            reports: c.reports.get_mut(place),
            released: c.released.get_mut(place),
            done: c.done[place].output(now.time, &self.wakes),
            wakes: &self.wakes,
        };
        self.pces[place].tick(now, &mut ports)
    }
}

impl System {
    /// At the end of a run: device memory takes what has come to it by then and did not wake it.
    pub fn catch_up(&mut self, end: Femtos) {
        let clock = self.units[usize::from(HBM.0)].clock;
        let cycle = clock.first_after(end).saturating_sub(1);
        self.tick_hbm(Now { cycle, time: clock.edge(cycle) });
    }

    /// After a tick of the driver: whether a copy has ended, or all have.
    fn note_ends(&mut self) {
        let ended = self.driver.ended();
        if ended > self.copies_ended {
            self.copies_ended = ended;
            self.news = true;
        }
        self.over |= self.driver.finished() || self.host.fault().is_some() || self.pushes.fault().is_some();
    }
}

impl Machine for System {
    fn units(&self) -> &[UnitInfo] {
        &self.units
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
                let wake = self.tick_root_complex(now);
                self.over |= self.host.fault().is_some();
                wake
            }
            HOST_PORT => {
                let wake = self.tick_host_port(now);
                self.over |= self.host_port.fault().is_some();
                wake
            }
            GPU_PORT => {
                let wake = self.tick_gpu_port(now);
                self.over |= self.gpu_port.fault().is_some();
                wake
            }
            FRONT_END => self.tick_front_end(now),
            TAG_QUEUE => self.tick_tag_queue(now),
            HBM => {
                let wake = self.tick_hbm(now);
                self.over |= self.ledger.borrow().fault().is_some();
                wake
            }
            UnitId(number) => self.tick_pce(usize::from(number - FIRST_PCE), now),
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
            let end = CopyEnd { counts: self.tag_queue.counts(), milestone: self.milestones };
            self.copy_ends.resize(self.copies_ended, end);
            self.milestones += 1;
        }
        news
    }
}
