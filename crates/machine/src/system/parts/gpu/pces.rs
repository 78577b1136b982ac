//! PCEs, and the SMs or the engine behind them where these seal and open.

use super::{Builder, specs};
use crate::{
    aead::spec::EngineSpec,
    config::MachineSpec,
    gcm::{timing::Timing, worker::Worker},
    gpu::{
        mapping::{self, Lce, SYSMEM_READ, SYSMEM_WRITE},
        pce::{self, EnginePorts, Keys, Pce, SmPorts},
        shared_engine::SharedEngine,
        sm::Sm,
        spec::Common,
        work::{
            Done, EngineReply, EngineRequest, MemoryData, MemoryRead, MemoryWrite, PceWork, Sealed, SmJob, Staged,
            TagReport, Verdict,
        },
    },
    pcie::packet::Tlp,
    sim::{Clock, In, Key, Out, Rx, Tx},
    system::{
        clocks::build,
        outcome::RunError,
        parts::{HANDOVER, PORT_DEPTH},
    },
};
use std::{rc::Rc, sync::Arc};

pub struct Pces {
    /// Their paths, those that read host memory first.
    pub paths: Vec<String>,
    /// How many of them read host memory; as many write it.
    pub readers: usize,
}

impl Pces {
    pub fn of(machine: &MachineSpec, path: &str) -> Result<Self, RunError> {
        let secure = machine.sealed_path();
        let copy_engine = &machine.copy_engine;
        let readers = if secure { copy_engine.pces_secure } else { copy_engine.pces_plain } as usize;
        if !(1..=8).contains(&readers) {
            return Err(RunError::Build(format!("{readers} PCEs for each LCE: there must be 1 to 8")));
        }
        let generation = u8::try_from(machine.link.generation).unwrap_or(u8::MAX);
        let of = |lce: Lce| mapping::pces(lce, secure, generation);
        let (reads, writes) = (of(SYSMEM_READ), of(SYSMEM_WRITE));
        let published = reads.len() == readers && writes.len() == readers;
        let paths = if published {
            reads.iter().chain(&writes).map(|pce| format!("{path}.pce{}", pce.number())).collect()
        } else {
            (0..2 * readers).map(|n| format!("{path}.pce{n}")).collect()
        };
        Ok(Self { paths, readers })
    }

    /// What seals and opens in the PCE with this path, if something does.
    pub fn engine(&self, machine: &MachineSpec, path: &str) -> Option<EngineSpec> {
        let place = self.paths.iter().position(|one| one == path)?;
        specs::engine(machine, place, self.readers)
    }
}

/// Work for PCEs, and what they have done.
pub type Served = (Vec<Out<PceWork>>, Vec<In<Done>>);

/// The far ends of the channels of all PCEs, and of the SMs behind them: what the other units of the GPU hold.
#[derive(Default)]
pub struct Far {
    pub work: Vec<Out<PceWork>>,
    pub done: Vec<In<Done>>,
    pub reads: Vec<In<MemoryRead>>,
    pub data: Vec<Tx<MemoryData>>,
    pub writes: Vec<Rx<MemoryWrite>>,
    pub reports: Vec<Rx<TagReport>>,
    pub released: Vec<Out<Verdict>>,
    pub sm_jobs: Vec<Rx<SmJob>>,
    pub sealed: Vec<Tx<Sealed>>,
    pub to_engine: Vec<Rx<EngineRequest>>,
    pub from_engine: Vec<Tx<EngineReply>>,
}

/// The near ends of the channels of the SMs, but for those to PCEs.
pub struct SmEnds {
    pub staged: Rx<Staged>,
    pub reads: Out<MemoryRead>,
    pub data: Rx<MemoryData>,
    pub writes: Tx<MemoryWrite>,
    pub reports: Tx<TagReport>,
}

/// Keeps the far end of a channel; gives the near one.
fn keep<N, F>((near, far): (N, F), kept: &mut Vec<F>) -> N {
    kept.push(far);
    near
}

/// The same of one that comes from the far end.
fn kept<N, F>((far, near): (F, N), kept: &mut Vec<F>) -> N {
    kept.push(far);
    near
}

impl Builder<'_> {
    pub(super) fn pce_ports(
        &mut self,
        requests: Vec<Out<Tlp>>,
        completions: Vec<In<Tlp>>,
        far: &mut Far,
    ) -> Vec<pce::Ports> {
        let mut completions = completions.into_iter();
        let paths = self.pces.paths.iter().zip(requests);
        paths.map(|(path, requests)| self.ports_of(path, requests, completions.next(), far)).collect()
    }

    /// The ports of the PCE at `path`; one that reads host memory gets `completions`.
    fn ports_of(&mut self, path: &str, requests: Out<Tlp>, completions: Option<In<Tlp>>, far: &mut Far) -> pce::Ports {
        let (machine, clocks, reads) = (self.machine, self.clocks, completions.is_some());
        let holds = reads && machine.tag_queue.release.quarantines();
        let depth = self.tag_depth();
        let cycle = clocks.copy_engine.edge(1);
        let sm_cycle = clocks.sm.map_or(cycle, |sm| sm.edge(1));
        let [to_engine, from_engine] =
            [clocks.copy_engine, clocks.engines].map(|clock| clock.edge(specs::engine_wire(machine)));
        let (sms, shares) = (machine.sealing_sms().is_some(), machine.common() != Common::Nothing);
        let (device_reads, data, writes) = self.memory_ends(path, far);
        let net = &mut *self.netlist;
        pce::Ports {
            work: kept(net.queue(format!("{path}.work"), HANDOVER), &mut far.work),
            completions,
            requests,
            reads: device_reads,
            data,
            writes,
            reports: reads.then(|| keep(net.wire(format!("{path}.tags"), cycle), &mut far.reports)),
            released: holds.then(|| kept(net.queue(format!("{path}.verdicts"), depth), &mut far.released)),
            sm: sms.then(|| SmPorts {
                jobs: keep(net.wire(format!("{path}.messages"), cycle), &mut far.sm_jobs),
                sealed: kept(net.wire(format!("{path}.sealed"), sm_cycle), &mut far.sealed),
            }),
            engine: shares.then(|| EnginePorts {
                requests: keep(net.wire(format!("{path}.to_engine"), to_engine), &mut far.to_engine),
                replies: kept(net.wire(format!("{path}.from_engine"), from_engine), &mut far.from_engine),
            }),
            done: keep(net.queue(format!("{path}.done"), HANDOVER), &mut far.done),
            signals: net.signals(path),
        }
    }

    /// What the unit at `path` reads and writes device memory by.
    fn memory_ends(&mut self, path: &str, far: &mut Far) -> (Out<MemoryRead>, Rx<MemoryData>, Tx<MemoryWrite>) {
        let hbm = self.clocks.hbm;
        let latency = hbm.edge(self.machine.hbm.read_latency.0.max(1));
        // Nothing that is written is visible sooner.
        let deferred = hbm.edge(self.machine.hbm.write_latency.0);
        let cycle = self.clocks.copy_engine.edge(1);
        let net = &mut *self.netlist;
        (
            keep(net.queue(format!("{path}.reads"), PORT_DEPTH), &mut far.reads),
            kept(net.wire(format!("{path}.data"), latency), &mut far.data),
            keep(net.deferring_wire(format!("{path}.writes"), cycle, deferred), &mut far.writes),
        )
    }

    /// What the SMs are wired to, but for PCEs.
    pub(super) fn sm_ports(&mut self, staged: Rx<Staged>, far: &mut Far) -> SmEnds {
        let path = self.at("sm");
        let (reads, data, writes) = self.memory_ends(&path, far);
        let cycle = self.clocks.sm.map_or(self.clocks.copy_engine, |sm| sm).edge(1);
        let reports = keep(self.netlist.wire(format!("{path}.tags"), cycle), &mut far.reports);
        SmEnds { staged, reads, data, writes, reports }
    }

    pub(super) fn add_pces(
        &mut self,
        keys: Option<&Arc<Keys>>,
        worker: &Rc<Worker>,
        ports: Vec<pce::Ports>,
    ) -> Result<Vec<Key<Pce>>, RunError> {
        let (clock, quarantined) = (self.clocks.copy_engine, Rc::default());
        let all = self.pces.paths.iter().zip(ports).enumerate();
        all.map(|(place, (path, ports))| {
            // Where SMs seal and open, the copy engines have no keys.
            let keys = keys.filter(|_| self.machine.sealing_sms().is_none()).cloned();
            let spec = specs::pce(self.machine, self.clocks, place, self.pces.readers)?;
            let pce = build(Pce::new(spec, keys, Rc::clone(worker), Rc::clone(&quarantined), clock))?;
            Ok(self.netlist.add(path.clone(), clock, pce, ports))
        })
        .collect()
    }

    /// The SMs that seal and open, where they do.
    pub(super) fn sm(&self, keys: Option<Arc<Keys>>, worker: Rc<Worker>) -> Result<Option<(Sm, Clock)>, RunError> {
        let Some((spec, clock)) = self.machine.sealing_sms().zip(self.clocks.sm) else { return Ok(None) };
        let compute = &self.machine.compute;
        let launch = clock.cycles_in(self.clocks.compute.edge(compute.launch.0));
        let key_bits = self.machine.engine.key_bits;
        let sm = Sm::new(spec, key_bits, launch, keys, worker, clock);
        sm.map(|sm| Some((sm, clock))).ok_or_else(|| RunError::Build(format!("there are no keys of {key_bits} bits")))
    }

    /// The engine or GHASH that PCEs share, where they do, and its name.
    pub(super) fn shared_engine(&self) -> Result<Option<(&'static str, SharedEngine)>, RunError> {
        let (machine, pces) = (self.machine, self.pces.paths.len());
        let (wire, turns) = (specs::engine_wire(machine), machine.copy_engine.turns());
        let (name, timing) = match machine.common() {
            Common::Nothing => return Ok(None),
            Common::Engine => ("engine", build(Timing::new(&machine.engine))?),
            Common::Ghash => ("ghash", build(Timing::of_ghash(&machine.engine))?),
        };
        let units = machine.engine.ghash.messages();
        Ok(Some((name, SharedEngine::new((timing, units), pces, wire, turns, self.clocks.engines))))
    }
}
