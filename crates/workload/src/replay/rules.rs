//! What calls cost that do not copy, without and with confidential computing.

use super::{
    Ns,
    play::device::Engines,
    probe::{Calls, nanos},
};
use crate::{
    config::MachineSpec,
    host::{
        calls::{CallSpec, CallsSpec, HostAllocationSpec, ModesSpec, SizedSpec},
        law::{Asked, Knobs, PageableUpload, Waits, law},
    },
    units::Femtos,
    workload::trace::CallKind,
};

/// From this duration on a launch loads a module, or waits for something that the trace does not show.
const MODULE: Ns = 1_000_000;
/// In thousandths of the usual duration of launches: from here on the first launch of a function shows that it was loaded then.
const LOADS: u32 = 2_000;
/// Allocations and frees beyond this duration are taken as they are.
const ODD: Ns = 2_000_000;

/// Which costs of confidential computing a replay leaves out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Causes {
    /// Copies of a GPU do not wait for each other's cipher.
    pub overlap: bool,
    /// Copies that let the host go on without confidential computing do so with it.
    pub synchrony: bool,
    /// Copies take what they took in the trace.
    pub copies: bool,
    pub collectives: bool,
    pub launches: bool,
    pub waits: bool,
    pub calls: bool,
    pub context: bool,
}

#[derive(Debug, Clone)]
pub struct Rules {
    pub calls: CallsSpec,
    pub secure: bool,
    /// Whether copies take what they take when simulated.
    pub simulated: bool,
    pub pageable_upload: PageableUpload,
    /// Whether staging is cut anew between copies of pageable and of pinned memory.
    pub(super) cuts: bool,
    pub(super) engines: Engines,
    /// Between two kernels of a graph, in each mode.
    pub(super) nodes: ModesSpec,
    /// From the end of a copy to the return of a call that waits for it, beyond what it is without confidential computing.
    pub(super) sealed_completion: Ns,
    /// From the end of an operation to when the host can know of it.
    pub(super) notice: Ns,
    pub(super) sealed_push: Ns,
    /// How much sooner than a kernel a copy begins behind what its stream had done.
    pub sooner: Ns,
    /// What of its costs is left out.
    pub free: Causes,
}

pub(super) const fn ns(time: Femtos) -> Ns {
    time.0 / 1_000_000
}

/// Thousandths of a time.
pub(super) fn share(time: Ns, permille: u32) -> Ns {
    u64::try_from(u128::from(time) * u128::from(permille) / 1000).unwrap_or(Ns::MAX)
}

fn cost(spec: CallSpec, off: Ns) -> Ns {
    share(off, spec.permille).saturating_add(ns(spec.add))
}

fn sized(spec: &SizedSpec, off: Ns) -> Ns {
    match off {
        _ if off >= ODD => off,
        _ if off >= ns(spec.from) => cost(spec.long, off),
        _ => cost(spec.short, off),
    }
}

/// A call that does neither copy, nor launch, nor wait.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plain<'a> {
    pub kind: CallKind,
    pub name: &'a str,
    /// Duration without confidential computing, behind what it waits for.
    pub off: Ns,
    pub failed: bool,
    /// Whether the program takes locked memory out of slabs.
    pub slabs: bool,
    /// Of a call that gives back locked memory: what its allocation took, without confidential computing.
    pub allocated: Option<Ns>,
}

impl Rules {
    /// Those of a machine, with all costs of confidential computing or none; nothing if it has no table of calls.
    pub fn of(machine: &MachineSpec, secure: bool) -> Option<Self> {
        Some(Self {
            calls: machine.calls.clone()?,
            secure,
            simulated: secure,
            pageable_upload: machine.driver.upload(secure),
            cuts: machine.driver.pinned.message != machine.driver.pageable.message,
            engines: Engines::of(machine),
            nodes: machine.calls.as_ref()?.gap,
            sealed_completion: nanos(machine.driver.secure_completion.0, machine.cpu.clock),
            notice: 0,
            sealed_push: nanos(machine.driver.secure_push.0, machine.cpu.clock),
            sooner: 0,
            free: Causes::default(),
        })
    }

    /// The same with what calls cost when a machine is probed, without and with confidential computing.
    pub(super) fn probed(mut self, off: Calls, secure: Calls) -> Self {
        let femtos = |time: Ns| Femtos(time.saturating_mul(1_000_000));
        let modes = |of: fn(&Calls) -> Ns| ModesSpec { off: femtos(of(&off)), secure: femtos(of(&secure)) };
        let more =
            |of: fn(&Calls) -> Ns| CallSpec { permille: 1000, add: femtos(of(&secure).saturating_sub(of(&off))) };
        (self.sooner, self.notice) = (off.start, off.notice);
        let spec = &mut self.calls;
        spec.launch.next = femtos(off.launch);
        (spec.launch.profiled, spec.launch.function, spec.launch.queue) = (Femtos::ZERO, Femtos::ZERO, u32::MAX);
        (spec.event_record, spec.stream_wait) = (more(|calls| calls.record), more(|calls| calls.wait));
        spec.submission = modes(|calls| calls.submission);
        spec.completion = modes(|calls| calls.completion);
        spec.gap = modes(|calls| calls.gap);
        spec.event = modes(|calls| calls.event);
        spec.idle_wait = Femtos::ZERO;
        self
    }

    const fn on(&self, freed: bool) -> bool {
        self.secure && !freed
    }

    pub(super) const fn simulates(&self) -> bool {
        self.simulated && !self.free.copies
    }

    /// Whether operations wait for their turns at engines: those of the trace have had theirs.
    pub(super) const fn engines(&self) -> bool {
        self.simulated
    }

    /// Who waits for whom.
    pub(super) const fn law(&self, asked: Asked) -> Waits {
        law(asked, Knobs { secure: self.secure, pageable_upload: self.pageable_upload })
    }

    pub(super) const fn slow_launches(&self) -> bool {
        self.on(self.free.launches)
    }

    const fn of_mode(modes: ModesSpec, secure: bool) -> Ns {
        ns(if secure { modes.secure } else { modes.off })
    }

    /// From the return of a launch to its operation on an idle stream.
    pub(super) const fn submission(&self) -> Ns {
        Self::of_mode(self.calls.submission, self.slow_launches())
    }

    /// Between two kernels of a graph, without confidential computing and as it is.
    pub(super) const fn node_gaps(&self) -> [Ns; 2] {
        [ns(self.nodes.off), Self::of_mode(self.nodes, self.slow_launches())]
    }

    /// The same without confidential computing.
    pub(super) const fn submission_off(&self) -> Ns {
        ns(self.calls.submission.off)
    }

    /// Between two queued operations of a stream.
    pub(super) const fn gap(&self) -> Ns {
        Self::of_mode(self.calls.gap, self.slow_launches())
    }

    /// The same without confidential computing.
    pub(super) const fn gap_off(&self) -> Ns {
        ns(self.calls.gap.off)
    }

    /// From the return of a call that records an event to the event.
    pub(super) const fn event(&self) -> Ns {
        Self::of_mode(self.calls.event, self.slow_launches())
    }

    /// From the end of an operation to the return of a call that waits for it.
    pub(super) const fn completion(&self) -> Ns {
        Self::of_mode(self.calls.completion, self.on(self.free.waits))
    }

    /// The same without confidential computing.
    pub(super) const fn completion_off(&self) -> Ns {
        ns(self.calls.completion.off)
    }

    /// From the end of a copy to the return of its call that waits for it, where a wait of its own is not part of the copy.
    pub(super) const fn copy_completion(&self) -> Ns {
        self.completion_off() + if self.on(self.free.waits) { self.sealed_completion } else { 0 }
    }

    /// What a wait for nothing takes longer.
    pub(super) const fn idle_wait(&self) -> Ns {
        if self.on(self.free.waits) { ns(self.calls.idle_wait) } else { 0 }
    }

    /// What the creation of a context takes longer.
    pub(super) const fn context(&self) -> Ns {
        if self.on(self.free.context) { ns(self.calls.context) } else { 0 }
    }

    /// How long a launch takes that took `off`, where launches of its name take `median`. `new` is the first of its function, `cold` in a program that
    /// begins with the profile.
    pub(super) fn launch(&self, off: Ns, median: Ns, new: bool, cold: bool) -> Ns {
        let spec = &self.calls.launch;
        match (self.slow_launches(), new && cold) {
            (false, _) => off,
            // A function is loaded, where the profile shows it; a whole module takes as long in both modes.
            (true, true) if off < MODULE && off >= share(median, LOADS) => off.saturating_add(ns(spec.function)),
            (true, true) => off,
            (true, false) => {
                // What a launch now and then takes longer is not the launch: that stays as it is.
                let usual = off.min(share(median, 1500));
                off.saturating_add(self.launch_more(usual))
            }
        }
    }

    /// What a launch takes longer that takes so long without.
    fn launch_more(&self, off: Ns) -> Ns {
        let spec = &self.calls.launch;
        let more = ns(spec.more(Femtos(off.saturating_mul(1_000_000)))).saturating_add(ns(spec.profiled));
        more.min(ns(spec.most))
    }

    /// How long a launch of a graph takes; `own` if what it takes by itself is known, and not only what a profile shows.
    pub(super) fn graph(&self, off: Ns, own: bool) -> Ns {
        let usual = if own { off } else { ns(self.calls.launch.next) };
        off.saturating_add(if self.slow_launches() { self.launch_more(usual) } else { 0 })
    }

    /// How long the call of a copy within a device takes, of a program that no profiler has seen.
    pub(super) fn device_copy(&self) -> Ns {
        ns(self.calls.launch.next).saturating_add(if self.slow_launches() { self.sealed_push } else { 0 })
    }

    pub(super) fn memset(&self, off: Ns) -> Ns {
        if self.slow_launches() { cost(self.calls.memset, off) } else { off }
    }

    /// How long a call of the rest takes.
    pub(super) fn plain(&self, call: Plain<'_>) -> Ns {
        let Plain { kind, name, off, failed, slabs, allocated } = call;
        if !self.on(self.free.calls) {
            return off;
        }
        let spec = &self.calls;
        // Of other runtimes nobody has measured these.
        let cuda = name.starts_with("cu");
        match kind {
            CallKind::EventRecord if !cuda => off,
            CallKind::EventRecord => cost(spec.event_record, off),
            CallKind::StreamWait => cost(spec.stream_wait, off),
            CallKind::Allocate => sized(&spec.allocate, off),
            CallKind::HostAllocate => host_allocation(&spec.allocate_host, off, slabs),
            // Locked memory is managed with confidential computing, so that what was refused is done.
            CallKind::Free if failed || name.contains("FreeHost") => {
                let by_size = share(allocated.unwrap_or(0), spec.free_host.permille);
                off.saturating_add(by_size).saturating_add(ns(spec.free_host.add))
            }
            CallKind::Free => sized(&spec.free, off),
            _ if name.contains("EventCreate") => cost(spec.event_create, off),
            _ if cuda && name.contains("GetDeviceProperties") => cost(spec.properties, off),
            _ => off,
        }
    }
}

fn host_allocation(spec: &HostAllocationSpec, off: Ns, slabs: bool) -> Ns {
    match off {
        _ if slabs && (ns(spec.slab_from)..=ns(spec.slab_to)).contains(&off) => ns(spec.slab),
        _ if off < ns(spec.from) => cost(spec.short, off),
        _ => cost(spec.long, off),
    }
}
