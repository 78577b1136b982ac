//! What calls cost that do not copy, without and with confidential computing.

use super::Ns;
use crate::{
    host::calls::{CallSpec, CallsSpec, HostAllocationSpec, ModesSpec, SizedSpec},
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
    /// Waits for the GPU.
    pub waits: bool,
    pub calls: bool,
    /// Creation of the context.
    pub context: bool,
}

/// The costs of a replay.
#[derive(Debug, Clone)]
pub struct Rules {
    pub calls: CallsSpec,
    /// Whether confidential computing is on.
    pub secure: bool,
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
    const fn on(&self, freed: bool) -> bool {
        self.secure && !freed
    }

    /// Whether copies pass the cipher.
    pub(super) const fn sealing(&self) -> bool {
        self.on(self.free.copies)
    }

    /// Whether launches cost more.
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
        match (self.slow_launches(), new) {
            (false, _) => off,
            // A function is loaded, where the profile shows it; a whole module takes as long in both modes.
            (true, true) if cold && off < MODULE && off >= share(median, LOADS) => {
                off.saturating_add(ns(spec.function))
            }
            (true, true) => off,
            (true, false) => {
                // What a launch now and then takes longer is not the launch: that stays as it is.
                let usual = off.min(share(median, 1500));
                let more = cost(spec.secure, usual).saturating_sub(usual);
                off.saturating_add(more).saturating_add(ns(spec.profiled))
            }
        }
    }

    /// How long a launch of a graph takes.
    pub(super) fn graph(&self, off: Ns) -> Ns {
        let spec = &self.calls.launch;
        let usual = ns(spec.next);
        let more = cost(spec.secure, usual).saturating_sub(usual).saturating_add(ns(spec.profiled));
        off.saturating_add(if self.slow_launches() { more } else { 0 })
    }

    /// How long a fill's call takes.
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
        match kind {
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
            _ if name.contains("GetDeviceProperties") => cost(spec.properties, off),
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
