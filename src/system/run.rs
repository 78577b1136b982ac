//! Runs a machine and reports on it.

use super::{
    faults,
    kept::{Keeper, Kept},
    limits,
    machine::{Parts, System},
    outcome::{
        Catch, ChannelOutcome, CopyOutcome, DirectionTraffic, FailedMessage, Outcome, RunError, TagQueueOutcome,
        UnitOutcome,
    },
    request::{CopyRequest, Direction, Memory, Operation, Pages, Request},
    shares::CopyAccounts,
};
use crate::{
    config::MachineSpec,
    gpu::{pce::Pce, spans::Spans, tag_queue::TagCounts},
    sim::{self, Channel, Control, Outline, Run, SimulationError, Unit},
    units::Femtos,
};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;

/// What is remembered of a copy while its bytes are in the machine.
struct Asked {
    direction: Direction,
    bytes: u64,
    memory: Memory,
    place: limits::Place,
    pages: Pages,
    /// Whether the program drives out the caches before it.
    flushed: bool,
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
    let System { netlist, parts: Parts { host, gpu, .. }, .. } = &mut system;
    let kept = Kept { accounts: CopyAccounts::new(asked.len()), tag_counts: Vec::new() };
    let mut keeper = Keeper { observer, driver: &host.driver, tag_queue: &gpu.tag_queue, kept };
    let ended = sim::run(netlist, request.kernel, request.order, &mut keeper);
    let kept = keeper.kept;
    let run = match ended {
        Ok(run) => run,
        Err(SimulationError::Fault { what, .. }) if system.parts.ledger.borrow().fault() == Some(&what) => {
            return Err(RunError::Payload(what));
        }
        Err(error) => return Err(error.into()),
    };
    if let Some(port) = insecure(&system) {
        let why = format!("a MAC was wrong at the {port} port: the IDE stream is insecure");
        system.netlist.unit_mut(&system.parts.host.driver).give_up(run.end, why);
    }
    Ok(report(machine, &request, &system, (&run, &kept), &asked))
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
    let (mut flushed, mut kernels) = (false, BTreeSet::new());
    for step in &request.program {
        match step.operation {
            Operation::Flush { .. } => flushed = true,
            Operation::Copy { copy, .. } => {
                if let Some(asked) = asked.get_mut(copy) {
                    let behind_kernels = kernels.contains(&step.stream);
                    asked.place = limits::Place { stream: Some(step.stream), behind_kernels };
                    asked.flushed = flushed;
                }
                flushed = false;
            }
            Operation::Kernel { .. } | Operation::Wait { .. } => _ = kernels.insert(step.stream),
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

fn report(
    machine: &MachineSpec,
    request: &Request,
    system: &System,
    (run, kept): (&Run, &Kept),
    asked: &[Asked],
) -> Outcome {
    let System { netlist, parts: Parts { link, gpu, .. }, .. } = system;
    let exposure = netlist.unit(&gpu.hbm).exposure();
    let counts = netlist.unit(&gpu.tag_queue).counts();
    let (effects, channels) = (netlist.effects(), channels(system));
    Outcome {
        end: run.end,
        event_digest: event_digest(&channels),
        channels,
        copies: copies(machine, request, system, (run, kept), asked),
        units: units(system, run),
        link: DirectionTraffic {
            h2d: *netlist.unit(&link.host_port).traffic(),
            d2h: *netlist.unit(&link.gpu_port).traffic(),
        },
        tag_queue: TagQueueOutcome {
            peak_entries: counts.peak_entries,
            peak_quarantine_bytes: pces(system).map(Pce::peak_quarantine).max().unwrap_or(0),
            longest_exposure: exposure.longest,
            total_exposure: exposure.total,
            scrubbed: exposure.scrubbed,
        },
        failed_messages: failed_messages(system),
        key_work: [0, 1].map(|place| netlist.unit(&gpu.front_ends[place]).key_work()),
        incidents: incidents(system),
        cancelled: faults::cancelled(&request.injections, &effects),
        faults: effects,
        ticks: run.ticks,
    }
}

/// What device memory and the front end know of messages that failed.
fn failed_messages(system: &System) -> Vec<FailedMessage> {
    let System { netlist, parts: Parts { gpu, .. }, .. } = system;
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
fn insecure(system: &System) -> Option<&'static str> {
    let ports = [("host", &system.parts.link.host_port), ("GPU", &system.parts.link.gpu_port)];
    ports.into_iter().find(|(_, port)| system.netlist.unit(port).insecure()).map(|(name, _)| name)
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

/// The PCEs.
fn pces(system: &System) -> impl Iterator<Item = &Pce> {
    system.parts.gpu.pces.iter().map(|pce| system.netlist.unit(pce))
}

fn incidents(system: &System) -> Vec<String> {
    let mut all = system.netlist.incidents();
    let ledger = system.parts.ledger.borrow();
    let again = ledger.arrivals().map(ToString::to_string).zip(1..).filter(|(again, _)| !again.is_empty());
    all.extend(again.map(|(again, copy)| format!("of copy {copy} {again}")));
    all
}

fn copies(
    machine: &MachineSpec,
    request: &Request,
    system: &System,
    (run, kept): (&Run, &Kept),
    asked: &[Asked],
) -> Vec<CopyOutcome> {
    let (driver, spans) = (system.netlist.unit(&system.parts.host.driver), spans(system));
    let ledger = system.parts.ledger.borrow();
    let (mut before, mut ended) = (TagCounts::default(), false);
    let rows = asked.iter().zip(driver.outcomes()).enumerate();
    let mut copies: Vec<_> = rows
        .map(|(place, (asked, outcome))| {
            let counts = kept.tag_counts.get(place).copied().unwrap_or(before);
            let (gpu_verified, gpu_failed) = (counts.verified - before.verified, counts.failed - before.failed);
            before = counts;
            let blind = !request.carries_bytes() && asked.direction == Direction::D2h;
            let arrived = blind.then(|| system.parts.host.memory.borrow().arrived(place));
            let complaint = ledger.complaint(place, arrived.as_ref());
            let delivered = outcome.delivered && complaint.is_none();
            let secure = machine.sealed_path() && asked.direction != Direction::D2d;
            let earlier = ended;
            ended |= !outcome.delivered;
            let caught = (!delivered).then(|| match outcome.delivered {
                true => Catch::Comparison,
                false if earlier => Catch::EarlierCopy,
                false => catch(system, gpu_failed, outcome.tags_failed),
            });
            CopyOutcome {
                direction: asked.direction,
                bytes: asked.bytes,
                memory: asked.memory,
                start: outcome.start,
                end: outcome.verified.max(outcome.end),
                returned: outcome.returned,
                device: spans.moved.get(&place).copied(),
                first_verified: first_verified(system, &spans, asked.direction, place),
                messages: if secure { outcome.messages } else { 0 },
                tags_verified: gpu_verified + outcome.tags_verified,
                tags_failed: gpu_failed + outcome.tags_failed,
                delivered,
                caught,
                reason: outcome.reason.as_ref().map(|r| explained(r, system)).or(complaint).filter(|_| !delivered),
                limited_by: limits::limiter(&[]),
                candidates: Vec::new(),
            }
        })
        .collect();
    limit(machine, system, (run, kept), asked, &mut copies);
    copies
}

/// Says of each copy what limited it.
fn limit(
    machine: &MachineSpec,
    system: &System,
    (run, kept): (&Run, &Kept),
    asked: &[Asked],
    copies: &mut [CopyOutcome],
) {
    let (names, driver) = (limits::Names::of(system), system.netlist.unit(&system.parts.host.driver));
    let parameters = limits::Parameters::of(machine);
    for (place, (copy, outcome)) in copies.iter_mut().zip(driver.outcomes()).enumerate() {
        let subject = limits::Subject {
            direction: copy.direction,
            memory: copy.memory,
            bytes: copy.bytes,
            time: Femtos(copy.end.0.saturating_sub(copy.start.0)),
            messages: outcome.messages,
            pages: asked[place].pages,
            flushed: asked[place].flushed,
        };
        let shares = kept.accounts.of(place, &run.accounts);
        copy.candidates = limits::candidates(machine, &names, &parameters, subject, &shares);
        copy.limited_by = limits::limiter(&copy.candidates);
    }
    let places: Vec<_> = asked.iter().map(|asked| asked.place).collect();
    limits::name_queues(copies, &places);
}

/// Who ended the channel. A read that fails leaves its message without a tag, so a copy engine goes before whoever misses that tag.
fn catch(system: &System, gpu_failed: u64, host_failed: u64) -> Catch {
    let engine = pces(system).any(|pce| pce.failure().is_some());
    match () {
        () if insecure(system).is_some() => Catch::Mac,
        () if engine => Catch::CopyEngine,
        () if gpu_failed > 0 => Catch::TagQueue,
        () if host_failed > 0 => Catch::Host,
        () if front_end_incidents(system).next().is_some() => Catch::CopyEngine,
        () => Catch::Driver,
    }
}

/// What went wrong at the front ends, in words.
fn front_end_incidents(system: &System) -> impl Iterator<Item = String> {
    system.parts.gpu.front_ends.iter().flat_map(|front_end| system.netlist.unit(front_end).incidents())
}

/// When copies were under way on the device.
fn spans(system: &System) -> Spans {
    let System { netlist, parts: Parts { gpu, .. }, .. } = system;
    let mut spans = netlist.unit(&gpu.compute).spans().clone();
    gpu.front_ends.iter().for_each(|front_end| spans.join(netlist.unit(front_end).spans()));
    spans
}

fn first_verified(system: &System, spans: &Spans, direction: Direction, place: usize) -> Option<Femtos> {
    match direction {
        Direction::H2d => spans.first_verified.get(&place).copied(),
        Direction::D2h => system.netlist.unit(&system.parts.host.cipher).first_verified(place),
        Direction::D2d => None,
    }
}

/// What the driver says, and where that is only that the GPU has failed, why it did.
fn explained(reason: &str, system: &System) -> String {
    let failure = pces(system).find_map(Pce::failure).cloned();
    let failure = failure.or_else(|| front_end_incidents(system).next());
    match failure.filter(|_| reason.starts_with("channel error")) {
        Some(failure) => format!("{reason}: {failure}"),
        None => reason.to_owned(),
    }
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
