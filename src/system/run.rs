//! Runs a machine and reports on it.

use super::{
    faults,
    ids::HBM,
    limits,
    machine::System,
    outcome::{
        Catch, ChannelOutcome, CopyOutcome, DirectionTraffic, FailedMessage, Outcome, RunError, TagQueueOutcome,
        UnitOutcome,
    },
    request::{CopyRequest, Direction, Memory, Operation, Pages, Request},
};
use crate::{
    config::MachineSpec,
    gpu::tag_queue::TagCounts,
    sim::{self, Account, Channel, Control, Run, SimulationError, UnitInfo},
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
    let run = match sim::run(&mut system, request.kernel, request.order, observer) {
        Ok(run) => run,
        Err(SimulationError::Fault { what, .. }) if system.ledger.borrow().fault() == Some(&what) => {
            return Err(RunError::Payload(what));
        }
        Err(error) => return Err(error.into()),
    };
    if let Some(port) = insecure(&system) {
        system.driver.give_up(run.end, format!("a MAC was wrong at the {port} port: the IDE stream is insecure"));
    }
    Ok(report(machine, &request, &system, &run, &asked))
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

fn report(machine: &MachineSpec, request: &Request, system: &System, run: &Run, asked: &[Asked]) -> Outcome {
    let exposure = system.hbm.exposure();
    let counts = system.tag_queue.counts();
    let (effects, channels) = (faults::effects(system), channels(system));
    Outcome {
        end: run.end,
        event_digest: event_digest(&channels),
        channels,
        copies: copies(machine, request, system, run, asked),
        units: units(system, run),
        link: DirectionTraffic { h2d: *system.host_port.traffic(), d2h: *system.gpu_port.traffic() },
        tag_queue: TagQueueOutcome {
            peak_entries: counts.peak_entries,
            peak_quarantine_bytes: system.pces.iter().map(crate::gpu::pce::Pce::peak_quarantine).max().unwrap_or(0),
            longest_exposure: exposure.longest,
            total_exposure: exposure.total,
            scrubbed: exposure.scrubbed,
        },
        failed_messages: failed_messages(system),
        key_work: [system.front_ends[0].key_work(), system.front_ends[1].key_work()],
        incidents: incidents(system),
        cancelled: faults::cancelled(&request.injections, &effects),
        faults: effects,
        ticks: run.ticks,
    }
}

/// What device memory and the front end know of messages that failed.
fn failed_messages(system: &System) -> Vec<FailedMessage> {
    let exposed = system.hbm.failures().iter();
    exposed
        .map(|exposed| {
            let failure = system.front_ends[0].failures().iter().find(|failure| failure.message == exposed.message);
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
    let ports = [("host", &system.host_port), ("GPU", &system.gpu_port)];
    ports.into_iter().find(|(_, port)| port.insecure()).map(|(name, _)| name)
}

/// The digests of all queues and wires, by name, so that it does not matter in which order they were made.
fn channels(system: &System) -> Vec<ChannelOutcome> {
    let of = |channel: &dyn Channel| ChannelOutcome { name: channel.name().to_owned(), digest: channel.digest() };
    let mut channels: Vec<_> = system.channels.all().into_iter().map(of).collect();
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

fn incidents(system: &System) -> Vec<String> {
    let mut all = Vec::new();
    all.extend_from_slice(system.driver.incidents());
    all.extend_from_slice(system.root_complex.incidents());
    for front_end in &system.front_ends {
        all.extend_from_slice(front_end.incidents());
    }
    for pce in &system.pces {
        all.extend_from_slice(pce.incidents());
    }
    all.extend(system.sm.iter().flat_map(|sm| sm.incidents().iter().cloned()));
    all.extend(system.engine.iter().flat_map(|engine| engine.incidents().iter().cloned()));
    for (name, port) in [("host", &system.host_port), ("GPU", &system.gpu_port)] {
        let seen = port.traffic();
        let rows = [
            (seen.bad_lcrc, "TLP refused for a wrong LCRC"),
            (seen.bad_tokens, "TLP refused for a broken framing token"),
            (seen.out_of_sequence, "TLP refused because one before was lost or refused"),
            (seen.duplicates, "TLP dropped because it had come before"),
            (seen.bad_dllps, "DLLP dropped for a wrong CRC"),
            (seen.replays, "TLP sent again from the replay buffer"),
            (seen.recoveries, "entry into Recovery"),
            (seen.discarded, "TLP discarded because its IDE stream is insecure"),
        ];
        let said = rows.into_iter().filter(|row| row.0 > 0);
        all.extend(said.map(|(count, what)| format!("{name} port: {count} {what}")));
    }
    let ledger = system.ledger.borrow();
    let again = ledger.arrivals().map(ToString::to_string).zip(1..).filter(|(again, _)| !again.is_empty());
    all.extend(again.map(|(again, copy)| format!("of copy {copy} {again}")));
    all
}

fn copies(machine: &MachineSpec, request: &Request, system: &System, run: &Run, asked: &[Asked]) -> Vec<CopyOutcome> {
    let ledger = system.ledger.borrow();
    let (mut before, mut ended) = (TagCounts::default(), false);
    let rows = asked.iter().zip(system.driver.outcomes()).enumerate();
    let mut copies: Vec<_> = rows
        .map(|(place, (asked, outcome))| {
            let counts = system.tag_counts.get(place).copied().unwrap_or(before);
            let (gpu_verified, gpu_failed) = (counts.verified - before.verified, counts.failed - before.failed);
            before = counts;
            let blind = !request.carries_bytes() && asked.direction == Direction::D2h;
            let arrived = blind.then(|| system.host.arrived(place));
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
                device: system.spans.get(place).copied().flatten(),
                first_verified: first_verified(system, asked.direction, place),
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
    limit(machine, system, run, asked, &mut copies);
    copies
}

/// Says of each copy what limited it.
fn limit(machine: &MachineSpec, system: &System, run: &Run, asked: &[Asked], copies: &mut [CopyOutcome]) {
    let parameters = limits::Parameters::of(machine);
    for (place, (copy, outcome)) in copies.iter_mut().zip(system.driver.outcomes()).enumerate() {
        let subject = limits::Subject {
            direction: copy.direction,
            memory: copy.memory,
            bytes: copy.bytes,
            time: Femtos(copy.end.0.saturating_sub(copy.start.0)),
            messages: outcome.messages,
            pages: asked[place].pages,
            flushed: asked[place].flushed,
        };
        let shares = system.copy_accounts.of(place, &run.accounts);
        copy.candidates = limits::candidates(machine, system, &parameters, subject, &shares);
        copy.limited_by = limits::limiter(&copy.candidates);
    }
    let places: Vec<_> = asked.iter().map(|asked| asked.place).collect();
    limits::name_queues(copies, &places);
}

/// Who ended the channel. A read that fails leaves its message without a tag, so a copy engine goes before whoever misses that tag.
fn catch(system: &System, gpu_failed: u64, host_failed: u64) -> Catch {
    let engine = system.pces.iter().any(|pce| pce.failure().is_some());
    match () {
        () if insecure(system).is_some() => Catch::Mac,
        () if engine => Catch::CopyEngine,
        () if gpu_failed > 0 => Catch::TagQueue,
        () if host_failed > 0 => Catch::Host,
        () if system.front_ends.iter().any(|front_end| !front_end.incidents().is_empty()) => Catch::CopyEngine,
        () => Catch::Driver,
    }
}

fn first_verified(system: &System, direction: Direction, place: usize) -> Option<Femtos> {
    match direction {
        Direction::H2d => system.first_verified.get(place).copied().flatten(),
        Direction::D2h => system.cipher.first_verified(place),
        Direction::D2d => None,
    }
}

/// What the driver says, and where that is only that the GPU has failed, why it did.
fn explained(reason: &str, system: &System) -> String {
    let failure = system.pces.iter().find_map(crate::gpu::pce::Pce::failure);
    let failure = failure.or_else(|| system.front_ends.iter().find_map(|front_end| front_end.incidents().first()));
    match failure.filter(|_| reason.starts_with("channel error")) {
        Some(failure) => format!("{reason}: {failure}"),
        None => reason.to_owned(),
    }
}

/// The accounts of units and meters. Device memory as a whole has none: its writes and its reads have.
fn units(system: &System, run: &Run) -> Vec<UnitOutcome> {
    let of = |(info, account): (&UnitInfo, &Account)| UnitOutcome {
        name: info.name.clone(),
        clock: info.clock.frequency(),
        cycles: account.total(),
        busy: account.busy(),
        idle: account.idle(),
        stalls: account.stalls().collect(),
    };
    let all = system.units.iter().chain(&system.meters).zip(&run.accounts).enumerate();
    all.filter(|(place, _)| *place != usize::from(HBM.0)).map(|(_, one)| of(one)).collect()
}
