//! The queues and wires of a machine.

use super::clocks::Clocks;
use super::ids::{
    CIPHER, COMPUTE, DRIVER, FIRST_PCE, FRONT_END_READ, FRONT_END_WRITE, FRONT_ENDS, GPU_PORT, HBM, HOST_PORT,
    ROOT_COMPLEX, SCHEDULER, SMS, TAG_QUEUE,
};
use crate::units::Fixed;
use crate::{
    config::MachineSpec,
    gpu::work::{
        ComputePush, CopyPush, Done, EngineReply, EngineRequest, Landed, MemoryData, MemoryRead, MemoryWrite, PceWork,
        Retired, Sealed, SmJob, Staged, TagEntry, TagReport, Verdict,
    },
    host::{CipherDone, CipherJob},
    pcie::{
        packet::Tlp,
        port::{Frame, Port},
        root_complex::Notice,
    },
    sim::{Channel, Queue, UnitId, Wire},
};

/// Entries of queues that only hand over what is bounded elsewhere.
const HANDOVER: usize = 64;
/// TLPs that wait in front of a port, from each source.
const PORT_DEPTH: usize = 16;
/// Room for what comes without credits: completions, which their reader has asked for.
const UNBOUNDED: usize = 1 << 16;

/// What of the channels no configuration changes.
pub const FIXED: &[Fixed] = &[
    Fixed {
        name: "channels.handover",
        value: HANDOVER as u64,
        unit: "entries",
        why: "queues that only hand over what is bounded elsewhere, such as jobs, pushes and entries of the tag queue",
    },
    Fixed {
        name: "channels.port_depth",
        value: PORT_DEPTH as u64,
        unit: "TLPs",
        why: "queue of each source in front of a link port; assumed",
    },
    Fixed {
        name: "channels.unbounded",
        value: UNBOUNDED as u64,
        unit: "TLPs",
        why: "queues of what comes without credits: completions, which their reader has asked for",
    },
];

/// Queues and wires.
pub(super) struct Channels {
    pub jobs: Queue<CipherJob>,
    pub jobs_done: Queue<CipherDone>,
    pub notices: Wire<Notice>,
    /// To the GPU, beside completions.
    pub doorbells: Queue<Tlp>,
    pub completions: Wire<Tlp>,
    pub host_reads: Wire<Tlp>,
    pub host_writes: Queue<Tlp>,
    pub h2d: Wire<Frame>,
    pub d2h: Wire<Frame>,
    /// By PCE, then the scheduler's semaphores.
    pub gpu_send: Vec<Queue<Tlp>>,
    /// Completions by reading PCE, then doorbells.
    pub gpu_receive: Vec<Queue<Tlp>>,
    /// To the front ends, reading and writing.
    pub copies: [Queue<CopyPush>; 2],
    pub compute: Queue<ComputePush>,
    /// From the front ends and from the compute side.
    pub retired: [Queue<Retired>; 3],
    pub work: Vec<Queue<PceWork>>,
    pub done: Vec<Queue<Done>>,
    pub entries: Queue<TagEntry>,
    /// By reading PCE, then the SMs'.
    pub reports: Vec<Wire<TagReport>>,
    pub verdicts: Queue<Verdict>,
    pub settled: Queue<Verdict>,
    pub released: Vec<Queue<Verdict>>,
    /// By PCE, then the SMs', as the next two.
    pub writes: Vec<Wire<MemoryWrite>>,
    pub reads: Vec<Queue<MemoryRead>>,
    pub data: Vec<Wire<MemoryData>>,
    pub landed: Wire<Landed>,
    /// Where SMs seal and open: messages to them and from them, by PCE.
    pub sm_jobs: Vec<Wire<SmJob>>,
    pub sealed: Vec<Wire<Sealed>>,
    pub staged: Option<Wire<Staged>>,
    /// Where PCEs share an engine: to it and from it, by PCE.
    pub to_engine: Vec<Wire<EngineRequest>>,
    pub from_engine: Vec<Wire<EngineReply>>,
}

/// A queue that holds what `credits` promise.
fn by_credits(credits: u32) -> usize {
    if credits == 0 { UNBOUNDED } else { credits as usize }
}

impl Channels {
    /// The channels of a machine with `readers` PCEs that read host memory and as many that write it, named `pces`.
    pub fn new(machine: &MachineSpec, clocks: &Clocks, readers: usize, pces: &[String]) -> Self {
        // Nothing that is written is visible sooner.
        let write_latency = clocks.hbm.edge(machine.hbm.write_latency.0);
        let pce = |place: usize| UnitId(FIRST_PCE + place as u8);
        let each = || pces.iter().enumerate().map(|(place, name)| (pce(place), name));
        let served = || each().enumerate().map(|(place, pce)| (FRONT_ENDS[usize::from(place >= readers)].0, pce));
        let depth = machine.tag_queue.depth as usize + HANDOVER;
        let (host, gpu) = (&machine.link.host_credits, &machine.link.gpu_credits);
        let mut gpu_receive: Vec<_> = each()
            .take(readers)
            .map(|(unit, name)| Queue::new(format!("{name}.completions"), GPU_PORT, unit, UNBOUNDED).deferring())
            .collect();
        let doorbells = by_credits(gpu.posted_headers);
        gpu_receive.push(Queue::new("gpu.scheduler.doorbells", GPU_PORT, SCHEDULER, doorbells));
        let to_link = |name: String, unit| Queue::new(name, unit, GPU_PORT, PORT_DEPTH);
        let mut gpu_send: Vec<_> = each().map(|(unit, name)| to_link(format!("{name}.requests"), unit)).collect();
        gpu_send.push(to_link("gpu.scheduler.requests".into(), SCHEDULER));
        let retired = |name: &str, unit| Queue::new(format!("{name}.retired"), unit, SCHEDULER, HANDOVER);
        let sm = UnitId(FIRST_PCE + pces.len() as u8);
        let sms = machine.sealing_sms().map(|_| (sm, SMS.to_owned()));
        let moving = || each().map(|(unit, name)| (unit, name.clone())).chain(sms.clone());
        let engine = sm;
        let sharing = if machine.shared_engine() { pces.len() } else { 0 };
        let holders = if machine.tag_queue.release.quarantines() { readers } else { 0 };
        Self {
            jobs: Queue::new("host.cipher.jobs", DRIVER, CIPHER, HANDOVER),
            jobs_done: Queue::new("host.cipher.done", CIPHER, DRIVER, HANDOVER),
            notices: Wire::new("host.notices", ROOT_COMPLEX, DRIVER),
            doorbells: Queue::new("host.doorbells", DRIVER, HOST_PORT, PORT_DEPTH),
            completions: Wire::new("host.completions", ROOT_COMPLEX, HOST_PORT),
            host_reads: Wire::new("host.reads", HOST_PORT, ROOT_COMPLEX),
            host_writes: Queue::new("host.writes", HOST_PORT, ROOT_COMPLEX, by_credits(host.posted_headers)),
            h2d: Wire::new("link.h2d", HOST_PORT, GPU_PORT).deferring(Port::window(&machine.link, clocks.mac)),
            d2h: Wire::new("link.d2h", GPU_PORT, HOST_PORT).deferring(Port::window(&machine.link, clocks.mac)),
            gpu_send,
            gpu_receive,
            copies: FRONT_ENDS.map(|(unit, name)| Queue::new(format!("{name}.pushes"), SCHEDULER, unit, HANDOVER)),
            compute: Queue::new("gpu.compute.pushes", SCHEDULER, COMPUTE, HANDOVER),
            retired: [
                retired(FRONT_ENDS[0].1, FRONT_END_READ),
                retired(FRONT_ENDS[1].1, FRONT_END_WRITE),
                retired("gpu.compute", COMPUTE),
            ],
            work: served()
                .map(|(front_end, (unit, name))| Queue::new(format!("{name}.work"), front_end, unit, HANDOVER))
                .collect(),
            done: served()
                .map(|(front_end, (unit, name))| Queue::new(format!("{name}.done"), unit, front_end, HANDOVER))
                .collect(),
            entries: Queue::new("gpu.tag_queue.entries", FRONT_END_READ, TAG_QUEUE, depth),
            reports: each()
                .take(readers)
                .map(|(unit, name)| (unit, name.clone()))
                .chain(sms.clone())
                .map(|(unit, name)| Wire::new(format!("{name}.tags"), unit, TAG_QUEUE))
                .collect(),
            verdicts: Queue::new("gpu.tag_queue.verdicts", TAG_QUEUE, FRONT_END_READ, depth),
            settled: Queue::new("gpu.hbm.verdicts", TAG_QUEUE, HBM, depth),
            released: each()
                .take(holders)
                .map(|(unit, name)| Queue::new(format!("{name}.verdicts"), TAG_QUEUE, unit, depth))
                .collect(),
            writes: moving()
                .map(|(unit, name)| Wire::new(format!("{name}.writes"), unit, HBM).deferring(write_latency))
                .collect(),
            reads: moving().map(|(unit, name)| Queue::new(format!("{name}.reads"), unit, HBM, PORT_DEPTH)).collect(),
            data: moving().map(|(unit, name)| Wire::new(format!("{name}.data"), HBM, unit)).collect(),
            landed: Wire::new("gpu.hbm.landed", HBM, FRONT_END_READ),
            sm_jobs: each()
                .filter(|_| sms.is_some())
                .map(|(unit, name)| Wire::new(format!("{name}.messages"), unit, sm))
                .collect(),
            sealed: each()
                .filter(|_| sms.is_some())
                .map(|(unit, name)| Wire::new(format!("{name}.sealed"), sm, unit))
                .collect(),
            staged: sms.is_some().then(|| Wire::new("gpu.sm.staged", HBM, sm)),
            to_engine: each()
                .take(sharing)
                .map(|(unit, name)| Wire::new(format!("{name}.to_engine"), unit, engine))
                .collect(),
            from_engine: each()
                .take(sharing)
                .map(|(unit, name)| Wire::new(format!("{name}.from_engine"), engine, unit))
                .collect(),
        }
    }

    /// All of them, in a fixed order.
    pub fn all(&self) -> Vec<&dyn Channel> {
        let mut all: Vec<&dyn Channel> = vec![&self.jobs, &self.jobs_done, &self.notices, &self.h2d, &self.d2h];
        all.extend::<[&dyn Channel; 4]>([&self.entries, &self.verdicts, &self.settled, &self.landed]);
        all.extend::<[&dyn Channel; 4]>([&self.doorbells, &self.completions, &self.host_reads, &self.host_writes]);
        let tlps = [&self.gpu_send, &self.gpu_receive];
        all.extend(tlps.into_iter().flatten().map(|c| c as &dyn Channel));
        all.extend(self.copies.iter().map(|c| c as &dyn Channel));
        all.push(&self.compute);
        all.extend(self.retired.iter().map(|c| c as &dyn Channel));
        all.extend(self.work.iter().map(|c| c as &dyn Channel));
        all.extend(self.done.iter().map(|c| c as &dyn Channel));
        all.extend(self.reports.iter().map(|c| c as &dyn Channel));
        all.extend(self.released.iter().map(|c| c as &dyn Channel));
        all.extend(self.writes.iter().map(|c| c as &dyn Channel));
        all.extend(self.reads.iter().map(|c| c as &dyn Channel));
        all.extend(self.data.iter().map(|c| c as &dyn Channel));
        all.extend(self.sm_jobs.iter().map(|c| c as &dyn Channel));
        all.extend(self.sealed.iter().map(|c| c as &dyn Channel));
        all.extend(self.staged.iter().map(|c| c as &dyn Channel));
        all.extend(self.to_engine.iter().map(|c| c as &dyn Channel));
        all.extend(self.from_engine.iter().map(|c| c as &dyn Channel));
        all
    }

    /// The one with this name.
    pub fn named(&mut self, name: &str) -> Option<&mut dyn Channel> {
        let mut all: Vec<&mut dyn Channel> =
            vec![&mut self.jobs, &mut self.jobs_done, &mut self.notices, &mut self.h2d, &mut self.d2h];
        all.extend::<[&mut dyn Channel; 4]>([
            &mut self.entries,
            &mut self.verdicts,
            &mut self.settled,
            &mut self.landed,
        ]);
        all.extend::<[&mut dyn Channel; 4]>([
            &mut self.doorbells,
            &mut self.completions,
            &mut self.host_reads,
            &mut self.host_writes,
        ]);
        let tlps = [&mut self.gpu_send, &mut self.gpu_receive];
        all.extend(tlps.into_iter().flatten().map(|c| c as &mut dyn Channel));
        all.extend(self.copies.iter_mut().map(|c| c as &mut dyn Channel));
        all.push(&mut self.compute);
        all.extend(self.retired.iter_mut().map(|c| c as &mut dyn Channel));
        all.extend(self.work.iter_mut().map(|c| c as &mut dyn Channel));
        all.extend(self.done.iter_mut().map(|c| c as &mut dyn Channel));
        all.extend(self.reports.iter_mut().map(|c| c as &mut dyn Channel));
        all.extend(self.released.iter_mut().map(|c| c as &mut dyn Channel));
        all.extend(self.writes.iter_mut().map(|c| c as &mut dyn Channel));
        all.extend(self.reads.iter_mut().map(|c| c as &mut dyn Channel));
        all.extend(self.data.iter_mut().map(|c| c as &mut dyn Channel));
        all.extend(self.sm_jobs.iter_mut().map(|c| c as &mut dyn Channel));
        all.extend(self.sealed.iter_mut().map(|c| c as &mut dyn Channel));
        all.extend(self.staged.iter_mut().map(|c| c as &mut dyn Channel));
        all.extend(self.to_engine.iter_mut().map(|c| c as &mut dyn Channel));
        all.extend(self.from_engine.iter_mut().map(|c| c as &mut dyn Channel));
        all.into_iter().find(|channel| channel.name() == name)
    }
}
