//! Runs a machine and reports on it.

use super::{
    copies::Ended,
    faults,
    kept::{Keeper, Kept},
    limits,
    machine::{Parts, System},
    outcome::{
        ChannelOutcome, DirectionTraffic, FailedMessage, GpuOutcome, Outcome, RunError, TagQueueOutcome, UnitOutcome,
    },
    request::{CopyRequest, Direction, Memory, Operation, Pages, Request},
    shares::CopyAccounts,
};
use crate::{
    config::MachineSpec,
    gpu::pce::Pce,
    sim::{self, Channel, Control, Netlist, Outline, Run, SimulationError},
    units::Femtos,
};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};

/// What is remembered of a copy while its bytes are in the machine.
pub(super) struct Asked {
    pub direction: Direction,
    pub bytes: u64,
    pub memory: Memory,
    pub place: limits::Place,
    pub pages: Pages,
    /// Whether the program drives out the caches before it.
    pub flushed: bool,
}

/// Builds a machine, makes the copies of `request` on it, and reports. `observer` is asked now and then, with the simulated time,
/// whether to go on.
///
/// # Errors
/// [`RunError`]; a copy that is not delivered is no error but an outcome.
pub fn run(
    machine: &MachineSpec,
    mut request: Request,
    observer: &mut dyn FnMut(Femtos) -> Control,
) -> Result<Outcome, RunError> {
    let asked = asked(&request);
    let mut system = System::new(machine, &mut request)?;
    faults::arm(&mut system, &request.injections, request.seed)?;
    let System { netlist, parts } = &mut system;
    let kept = |parts: &Parts| Kept { accounts: CopyAccounts::new(parts.copies.len()), tag_counts: Vec::new() };
    let kept = parts.iter().map(kept).collect();
    let mut keeper = Keeper { observer, parts, kept };
    let ended = sim::run(netlist, request.kernel, request.order, &mut keeper);
    let kept = keeper.kept;
    let payload = |what: &String| system.parts.iter().any(|parts| parts.ledger.borrow().fault() == Some(what));
    let run = match ended {
        Ok(run) => run,
        Err(SimulationError::Fault { what, .. }) if payload(&what) => return Err(RunError::Payload(what)),
        Err(error) => return Err(error.into()),
    };
    let System { netlist, parts } = &mut system;
    for parts in parts {
        if let Some(port) = insecure(netlist, parts) {
            let why = format!("a MAC was wrong at the {port} port: the IDE stream is insecure");
            netlist.unit_mut(&parts.host.driver).give_up(run.end, why);
        }
    }
    Ok(report(&request, &system, (&run, &kept), &asked))
}

fn asked(request: &Request) -> Vec<Asked> {
    let asked = request.copies.iter();
    let mut asked: Vec<_> = asked
        .map(|&CopyRequest { direction, bytes, memory, pages, .. }| Asked {
            direction,
            bytes,
            memory,
            place: limits::Place::default(),
            pages,
            flushed: false,
        })
        .collect();
    let (mut flushed, mut kernels) = (BTreeSet::new(), BTreeSet::new());
    for step in &request.program {
        match step.operation {
            Operation::Flush { .. } => _ = flushed.insert(step.gpu),
            Operation::Copy { copy, .. } => {
                if let Some(asked) = asked.get_mut(copy) {
                    let behind_kernels = kernels.contains(&(step.gpu, step.stream));
                    asked.place = limits::Place { stream: Some(step.stream), behind_kernels };
                    asked.flushed = flushed.contains(&step.gpu);
                }
                flushed.remove(&step.gpu);
            }
            Operation::Kernel { .. } | Operation::Wait { .. } => _ = kernels.insert((step.gpu, step.stream)),
            Operation::Record { .. } | Operation::Sync => {}
        }
    }
    asked
}

/// Builds a machine for a request and does not run it.
///
/// # Errors
/// [`RunError::Build`] if there can be no such machine.
pub fn check(machine: &MachineSpec, mut request: Request) -> Result<(), RunError> {
    System::new(machine, &mut request).map(drop)
}

/// The units and channels of a machine.
///
/// # Errors
/// [`RunError::Build`] if there can be no such machine.
pub fn outline(machine: &MachineSpec) -> Result<Outline, RunError> {
    System::new(machine, &mut Request::none()).map(|system| system.netlist.outline())
}

fn report(request: &Request, system: &System, (run, kept): (&Run, &[Kept]), asked: &[Asked]) -> Outcome {
    let System { netlist, parts } = system;
    let (effects, channels) = (netlist.effects(), channels(system));
    let mut copies: Vec<_> = (0..asked.len()).map(|_| None).collect();
    for (gpu, (parts, kept)) in parts.iter().zip(kept).enumerate() {
        let own = Ended { gpu, netlist, parts, run, kept };
        for (place, copy) in parts.copies.iter().zip(own.copies(request, asked)) {
            copies[*place] = Some(copy);
        }
    }
    Outcome {
        end: run.end,
        event_digest: event_digest(&channels),
        channels,
        copies: copies.into_iter().flatten().collect(),
        units: units(system, run),
        gpus: parts.iter().map(|parts| of_gpu(netlist, parts)).collect(),
        incidents: incidents(system),
        cancelled: faults::cancelled(&request.injections, &effects),
        faults: effects,
        ticks: run.ticks,
    }
}

/// What a GPU and its link report.
fn of_gpu(netlist: &Netlist, parts: &Parts) -> GpuOutcome {
    let Parts { link, gpu, .. } = parts;
    let exposure = netlist.unit(&gpu.hbm).exposure();
    GpuOutcome {
        link: DirectionTraffic {
            h2d: *netlist.unit(&link.host_port).traffic(),
            d2h: *netlist.unit(&link.gpu_port).traffic(),
        },
        tag_queue: TagQueueOutcome {
            peak_entries: netlist.unit(&gpu.tag_queue).counts().peak_entries,
            peak_quarantine_bytes: pces(netlist, parts).map(Pce::peak_quarantine).max().unwrap_or(0),
            longest_exposure: exposure.longest,
            total_exposure: exposure.total,
            scrubbed: exposure.scrubbed,
        },
        failed_messages: failed_messages(netlist, parts),
        key_work: [0, 1].map(|place| netlist.unit(&gpu.front_ends[place]).key_work()),
    }
}

/// What device memory and the front end know of messages that failed.
fn failed_messages(netlist: &Netlist, Parts { gpu, .. }: &Parts) -> Vec<FailedMessage> {
    let exposed = netlist.unit(&gpu.hbm).failures().iter();
    let failures = netlist.unit(&gpu.front_ends[0]).failures();
    exposed
        .map(|exposed| {
            let failure = failures.iter().find(|failure| failure.message == exposed.message);
            FailedMessage {
                message: exposed.message,
                verdict: exposed.time,
                first_visible: exposed.first_visible,
                visible_bytes: exposed.bytes,
                other_visible_messages: exposed.other_messages,
                other_visible_bytes: exposed.other_bytes,
                consumers_started: failure.and_then(|failure| failure.started),
                other_started_messages: failure.map_or(0, |failure| failure.other_messages),
            }
        })
        .collect()
}

/// The port that has found a wrong MAC, if one has.
pub(super) fn insecure(netlist: &Netlist, Parts { link, .. }: &Parts) -> Option<&'static str> {
    let ports = [("host", &link.host_port), ("GPU", &link.gpu_port)];
    ports.into_iter().find(|(_, port)| netlist.unit(port).insecure()).map(|(name, _)| name)
}

/// The digests of all queues and wires, by name, so that it does not matter in which order they were made.
fn channels(system: &System) -> Vec<ChannelOutcome> {
    let of = |channel: &dyn Channel| ChannelOutcome { name: channel.path().to_owned(), digest: channel.digest() };
    let mut channels: Vec<_> = system.netlist.channels().map(of).collect();
    channels.sort_by(|a, b| a.name.cmp(&b.name));
    channels
}

/// SHA-256 over the names and digests of all queues and wires.
fn event_digest(channels: &[ChannelOutcome]) -> String {
    let mut hash = Sha256::new();
    for channel in channels {
        hash.update(channel.name.as_bytes());
        hash.update([0]);
        hash.update(channel.digest.to_le_bytes());
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The PCEs of a GPU.
pub(super) fn pces<'a>(netlist: &'a Netlist, parts: &'a Parts) -> impl Iterator<Item = &'a Pce> {
    parts.gpu.pces.iter().map(|pce| netlist.unit(pce))
}

fn incidents(system: &System) -> Vec<String> {
    let mut all = system.netlist.incidents();
    let mut again = BTreeMap::new();
    for parts in &system.parts {
        let ledger = parts.ledger.borrow();
        again.extend(parts.copies.iter().zip(ledger.arrivals()).map(|(copy, arrived)| (copy + 1, arrived.to_string())));
    }
    let again = again.into_iter().filter(|(_, again)| !again.is_empty());
    all.extend(again.map(|(copy, again)| format!("of copy {copy} {again}")));
    all
}

/// The accounts of units and of their parts, but for those of units that say nothing beside their parts.
fn units(system: &System, run: &Run) -> Vec<UnitOutcome> {
    let only_parts = system.netlist.only_parts();
    let all = system.netlist.accounts().into_iter().zip(&run.accounts).enumerate();
    all.filter(|(place, _)| !only_parts.contains(place))
        .map(|(_, (info, account))| UnitOutcome {
            name: info.name,
            clock: info.clock.frequency(),
            cycles: account.total(),
            busy: account.busy(),
            idle: account.idle(),
            stalls: account.stalls().collect(),
        })
        .collect()
}
