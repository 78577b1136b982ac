//! What a netlist reports after its run, and how the reports of several make one outcome.

use super::{
    asked::Asked,
    copies::Ended,
    faults,
    kept::Kept,
    machine::{Parts, System},
    outcome::{
        ChannelOutcome, CopyOutcome, DirectionTraffic, EngineAnswers, FailedMessage, GpuOutcome, Outcome, StepOutcome,
        TagQueueOutcome, UnitOutcome,
    },
    request::Request,
};
use crate::{
    gpu::pce::Pce,
    host::StepDates,
    sim::{Account, Channel, Effect, Injection, Netlist, Run, Stall, UnitError, UnitInfo},
    units::Femtos,
};
use sha2::{Digest, Sha256};

/// The report of a netlist that holds a machine, or what is below some of its root complexes.
#[derive(Default)]
pub(super) struct Portion {
    end: Femtos,
    ticks: u64,
    channels: Vec<ChannelOutcome>,
    /// With their places among those of the request.
    copies: Vec<(usize, CopyOutcome)>,
    units: Vec<UnitOutcome>,
    /// Parts of units that have an account of their own.
    meters: Vec<UnitOutcome>,
    gpus: Vec<(usize, GpuOutcome)>,
    incidents: Vec<String>,
    errors: Vec<UnitError>,
    /// Copies by their places, and what of them was written again.
    again: Vec<(usize, String)>,
    faults: Vec<Effect>,
    bounded: Vec<(&'static str, u64)>,
    /// None for each that is not known.
    engines: Vec<Option<EngineAnswers>>,
}

impl Portion {
    pub fn of(request: &Request, system: &System, (run, kept): (&Run, &[Kept]), asked: &[Asked]) -> Self {
        let System { netlist, parts } = system;
        let mut copies = Vec::new();
        for (parts, kept) in parts.iter().zip(kept) {
            let own = Ended { gpu: parts.number, netlist, parts, run, kept };
            copies.extend(parts.copies.iter().copied().zip(own.copies(request, asked)));
        }
        let (units, meters) = units(netlist, run);
        Self {
            end: run.end,
            ticks: run.ticks,
            channels: netlist.channels().map(channel).collect(),
            copies,
            units,
            meters,
            gpus: parts.iter().map(|parts| (parts.number, of_gpu(netlist, parts, run.end))).collect(),
            incidents: netlist.incidents(),
            errors: netlist.errors(),
            again: again(system),
            faults: netlist.effects(),
            bounded: netlist.bounded(),
            engines: parts.iter().flat_map(|parts| engines(netlist, parts)).collect(),
        }
    }

    /// That of the whole machine, from those of its groups of root complexes in their order.
    pub fn joined(portions: Vec<Self>) -> Self {
        let mut all = Self::default();
        for one in portions {
            all.end = all.end.max(one.end);
            all.ticks += one.ticks;
            all.channels.extend(one.channels);
            all.copies.extend(one.copies);
            all.units.extend(one.units);
            all.meters.extend(one.meters);
            all.gpus.extend(one.gpus);
            all.incidents.extend(one.incidents);
            all.errors.extend(one.errors);
            all.again.extend(one.again);
            all.faults.extend(one.faults);
            all.bounded.extend(one.bounded);
            all.engines.extend(one.engines);
        }
        all
    }

    /// The outcome of the run whose report this is.
    pub fn outcome(mut self, injections: &[Injection]) -> Outcome {
        // By name, so that it does not matter in which order they were made.
        self.channels.sort_by(|a, b| a.name.cmp(&b.name));
        self.units.extend(self.meters);
        self.errors.sort_by_key(|error| error.signalled.first);
        // Of each parameter the most.
        self.bounded.sort_unstable_by(|one, other| other.cmp(one));
        self.bounded.dedup_by_key(|(parameter, _)| *parameter);
        self.again.sort();
        let again = self.again.iter().map(|(copy, again)| format!("of copy {} {again}", copy + 1));
        self.incidents.extend(again);
        Outcome {
            end: self.end,
            event_digest: event_digest(&self.channels),
            channels: self.channels,
            copies: in_order(self.copies),
            units: self.units,
            gpus: in_order(self.gpus),
            incidents: self.incidents,
            errors: self.errors,
            cancelled: faults::cancelled(injections, &self.faults),
            faults: self.faults,
            ticks: self.ticks,
            bounded: self.bounded,
            engines: self.engines.into_iter().collect(),
        }
    }
}

/// What PCEs saw of their engines.
fn engines<'a>(netlist: &'a Netlist, parts: &'a Parts) -> impl Iterator<Item = Option<EngineAnswers>> + 'a {
    parts.pces(netlist).enumerate().map(|(place, pce)| {
        Some(EngineAnswers { gpu: parts.number, opens: place < parts.pces.readers, answers: pce.answers()? })
    })
}

/// Things in the order of their places.
fn in_order<T>(mut placed: Vec<(usize, T)>) -> Vec<T> {
    placed.sort_by_key(|(place, _)| *place);
    placed.into_iter().map(|(_, thing)| thing).collect()
}

/// What a GPU and its link report.
fn of_gpu(netlist: &Netlist, parts: &Parts, end: Femtos) -> GpuOutcome {
    let Parts { link, gpu, .. } = parts;
    let exposure = netlist.unit(&gpu.hbm).exposure(end);
    GpuOutcome {
        link: DirectionTraffic {
            h2d: *netlist.unit(&link.host_port).traffic(),
            d2h: *netlist.unit(&link.gpu_port).traffic(),
        },
        tag_queue: TagQueueOutcome {
            peak_entries: gpu.tags.get().peak_entries,
            peak_quarantine_bytes: parts.pces(netlist).next().map_or(0, Pce::peak_quarantine),
            least_quarantine_bytes: {
                let own = || parts.pces(netlist).map(Pce::most_reserved).max().unwrap_or_default();
                netlist.unit(&gpu.front_ends[0]).most_held().unwrap_or_else(own)
            },
            longest_exposure: exposure.longest,
            total_exposure: exposure.total,
            most_exposed_bytes: exposure.most_bytes,
            exposed_byte_ns: u64::try_from(exposure.byte_time / 1_000_000).unwrap_or(u64::MAX),
            scrubbed: exposure.scrubbed,
        },
        failed_messages: failed_messages(netlist, parts),
        key_work: [0, 1].map(|place| netlist.unit(&gpu.front_ends[place]).key_work()),
        keys: parts.keys.clone(),
        steps: steps(netlist, parts),
    }
}

/// The program of a session, with what the compute side knows of its kernels.
fn steps(netlist: &Netlist, parts: &Parts) -> Vec<StepOutcome> {
    let computed = &netlist.unit(&parts.gpu.compute).spans().computed;
    let steps = netlist.unit(&parts.host.driver).steps().iter();
    let step = |dates: &StepDates| StepOutcome {
        start: dates.start,
        returned: dates.returned,
        computed: dates.push.and_then(|push| computed.get(&push).copied()),
    };
    steps.map(step).collect()
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

/// What has passed a queue or wire.
fn channel(channel: &dyn Channel) -> ChannelOutcome {
    ChannelOutcome { name: channel.path().to_owned(), digest: channel.digest() }
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

/// What was written again of copies.
fn again(system: &System) -> Vec<(usize, String)> {
    let mut all = Vec::new();
    for parts in &system.parts {
        let ledger = parts.ledger.borrow();
        all.extend(parts.copies.iter().copied().zip(ledger.arrivals().map(ToString::to_string)));
    }
    all.retain(|(_, again)| !again.is_empty());
    all
}

/// The accounts of units, but for those of units that say nothing in addition to their parts, and the accounts of parts.
fn units(netlist: &Netlist, run: &Run) -> (Vec<UnitOutcome>, Vec<UnitOutcome>) {
    let only_parts = netlist.only_parts();
    let all = netlist.accounts();
    let (units, parts) = all.split_at(netlist.units().len());
    let (own, metered) = run.accounts.split_at(units.len());
    let own = units.iter().zip(own).enumerate().filter(|(place, _)| !only_parts.contains(place));
    (own.map(|(_, both)| unit(both)).collect(), parts.iter().zip(metered).map(unit).collect())
}

fn unit((info, account): (&UnitInfo, &Account)) -> UnitOutcome {
    UnitOutcome {
        name: info.name.clone(),
        clock: info.clock.frequency(),
        cycles: account.total(),
        busy: account.busy(),
        idle: account.idle(),
        stalls: Stall::in_account(account).collect(),
    }
}
