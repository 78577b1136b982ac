//! Designs against each other over one workload: a run each, summarised.
//!
//! ```text
//!   designs, one machine each --+
//!   workload, timing alone -----+--> a run each, over threads --> end, copies by direction, GPU idle, exposure, limit
//! ```

use super::{
    candidate::{Baseline, Candidate, Skipped},
    compare::{CompareError, is_none, unless_stopped},
    finished::{Finished, Piece, each},
    price::{Price, price},
};
use crate::{
    config::{MachineSpec, Resolved},
    sampling::{self, Asked, Sample, Sampled, Told},
    sim::Control,
    system::{self, CopyOutcome, Direction, Outcome, Request, RunError, UnitOutcome},
    units::Femtos,
    workload::{
        Arrival, Workload, WorkloadStep,
        collective::{CollectiveCall, CollectiveError, CollectiveTime, CollectiveTimes},
    },
};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// Designs of one machine over one workload. Every field is described in `docs/results.md`.
#[derive(Debug, Clone, Serialize)]
pub struct WorkloadComparison {
    pub machine: String,
    /// The workload: its file, or its name.
    pub workload: String,
    /// What it says about itself.
    pub workload_summary: Option<String>,
    /// Kernels that it starts.
    pub kernels: usize,
    /// What they last together by themselves, in ps.
    pub kernels_ps: u64,
    /// By what factor all absolute areas and energies may be off alike, beyond what each states.
    pub process_spread_factor: f64,
    /// What they rest on.
    pub cost_source: &'static str,
    /// The designs, baselines first.
    pub designs: Vec<WorkloadFigures>,
    /// Shipped designs that the machine cannot have.
    pub skipped: Vec<Skipped>,
    /// What these figures rest on whose held-out error is large or not known.
    pub cautions: Vec<String>,
    /// Designs whose run was not made, since the comparison was interrupted.
    #[serde(skip_serializing_if = "is_none")]
    pub unfinished: usize,
}

/// What came of a comparison.
#[derive(Debug)]
pub struct ComparedWorkload {
    /// The designs whose runs were made.
    pub designs: Vec<WorkloadFigures>,
    /// Runs of all designs together.
    pub pieces: usize,
    /// Those of them that were not made, since it was interrupted.
    pub unfinished: usize,
}

/// One design over the workload.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct WorkloadFigures {
    pub name: String,
    /// What it is, in a sentence for each of its parts.
    pub summary: String,
    /// Whether copies are sealed.
    pub confidential_computing: bool,
    /// SHA-256 of the configuration, hexadecimal.
    pub config_digest: String,
    /// How many parameters are not published.
    pub assumed_parameters: usize,
    /// What its crypto units and buffers cost.
    pub cost: Price,
    /// When nothing was left on any stream, in ps.
    pub time_ps: u64,
    /// That over the end of `off`.
    pub slowdown_over_off: Option<f64>,
    /// The end of `h100-cc` over that.
    pub speedup_over_h100_cc: Option<f64>,
    /// Copies to the GPU.
    pub h2d: WayFigures,
    pub d2h: WayFigures,
    pub d2d: WayFigures,
    /// Part of the time in which no kernel ran and no copy within the GPU was made, 0 to 1; the mean of GPUs that had anything to do.
    pub gpu_idle: f64,
    /// Collectives, where the workload calls any.
    pub collectives: Option<CollectiveFigures>,
    /// GCM messages.
    pub messages: u64,
    /// Tags that were checked and right.
    pub tags_verified: u64,
    /// Most bytes of plaintext that waited in quarantine at once.
    pub quarantine_bytes: u64,
    /// Longest time that unverified plaintext of a message was visible, in ps.
    pub exposure_ps: u64,
    /// The same, summed over messages, in ps.
    pub exposure_total_ps: u64,
    /// Most bytes of unverified plaintext that were visible at once.
    #[serde(default)]
    pub exposed_bytes: u64,
    /// How long each byte was visible before the verdict of its message, summed over bytes, in B ns.
    #[serde(default)]
    pub exposed_byte_ns: u64,
    /// What limited most of the time of its copies, those aside that waited for kernels on their stream; none without copies.
    pub limited_by_parts: Option<CopiesLimit>,
    /// How much of it was simulated, if it was asked to be sampled, and what its figures may be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampled: Option<Told>,
}

/// Copies of one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct WayFigures {
    pub copies: usize,
    /// Their bytes.
    pub bytes: u64,
    /// Time in which the device moved at least one of them, in ps.
    pub device_ps: u64,
    /// From call to end, summed over copies, in ps.
    pub calls_ps: u64,
}

/// Collectives of a workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CollectiveFigures {
    pub calls: u64,
    /// Calls that were simulated; the others are equal to one of these.
    pub simulated: u64,
    /// Bytes of the buffers of a GPU, of all calls.
    pub bytes: u64,
    /// What they take, summed over calls, in ps.
    pub time_ps: u64,
    /// How much earlier the run would end if they took no time, in ps: measured by such a run.
    pub exposed_ps: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CopiesLimit {
    /// Path of the parameter, if it is one.
    pub parameter: Option<String>,
    pub value: Option<String>,
    /// The unit at which it shows.
    pub unit: String,
    /// `busy`, a stall, `copying`, `queued`, `kernels` or `network`.
    pub state: String,
    /// Part of the time of all copies that copies with this limit took, 0 to 1.
    pub part: f64,
}

impl CopiesLimit {
    fn waits_for_kernels(&self) -> bool {
        waits_for_kernels(&self.unit, &self.state)
    }
}

/// The state of copies that wait for what comes or goes over a network.
const NETWORK: &str = "network";

/// Whether a copy waited for kernels: in a queue behind them, or in a call that returns when it is done, while no unit works for it.
fn waits_for_kernels(unit: &str, state: &str) -> bool {
    state == "kernels" || (unit == "none" && state == "idle")
}

/// Part of a run from which on collectives are what limits it.
const GOOD_PART: f64 = 0.1;

/// Below this a GPU has work almost all the time, and kernels are what limits.
const BARELY_IDLE: f64 = 0.1;

impl WorkloadFigures {
    /// What limits it, in a word: `collectives` where the run would end a good part earlier without their time, `kernels` where the GPU is
    /// barely idle, else what limits its copies.
    #[must_use]
    pub fn limit(&self) -> String {
        let exposed = self.collectives.map_or(0.0, |all| all.exposed_ps as f64 / self.time_ps.max(1) as f64);
        match &self.limited_by_parts {
            _ if exposed >= GOOD_PART => "collectives".to_owned(),
            _ if self.gpu_idle < BARELY_IDLE => "kernels".to_owned(),
            None => "-".to_owned(),
            Some(limit) => match &limit.parameter {
                Some(parameter) => parameter.clone(),
                None if limit.state == NETWORK => NETWORK.to_owned(),
                None if limit.waits_for_kernels() => "kernels".to_owned(),
                None => format!("{} {}", limit.unit, limit.state),
            },
        }
    }
}

/// The run of one candidate.
struct Task<'c> {
    candidate: &'c Candidate,
    workload: &'c Workload,
    sample: Option<Sample>,
    /// SHA-256 of what the workload does, hexadecimal.
    digest: &'c str,
}

impl Piece for Task<'_> {
    type Answer = WorkloadFigures;
    type Error = CompareError;

    fn key(&self) -> String {
        format!("{} {}", self.candidate.resolved.digest, self.digest)
    }

    fn cost(&self) -> u64 {
        1
    }

    fn answer(&self, observer: &(dyn Fn() -> Control + Sync)) -> Result<Option<WorkloadFigures>, CompareError> {
        unless_stopped(run(self.candidate, (self.workload, self.sample), observer))
    }
}

/// Runs a workload on every candidate, on so many threads. `observer` is asked now and then whether to go on, and `progress` is called with
/// each part of all the work that is done. Machines that are equal are simulated once, and what is finished already is not simulated again.
///
/// # Errors
/// A run fails, or a copy is not delivered.
pub fn compare_workload(
    candidates: &[Candidate],
    (workload, sample): (&Workload, Option<Sample>),
    threads: usize,
    finished: &Finished<WorkloadFigures>,
    observer: &(dyn Fn() -> Control + Sync),
    progress: &(dyn Fn(f64) + Sync),
) -> Result<ComparedWorkload, CompareError> {
    let mut machines: BTreeMap<&str, &Candidate> = BTreeMap::new();
    for candidate in candidates {
        machines.entry(&candidate.resolved.digest).or_insert(candidate);
    }
    let digest = hex::encode(Sha256::digest(format!("{:?} {:?} {sample:?}", workload.copies, workload.steps)));
    let tasks: Vec<_> =
        machines.values().map(|&candidate| Task { candidate, workload, sample, digest: &digest }).collect();
    let figures = each(&tasks, threads, finished, observer, progress)?;
    let unfinished = figures.iter().filter(|figures| figures.is_none()).count();
    let by_machine: BTreeMap<_, _> = machines.into_keys().zip(&figures).collect();
    let of = |candidate: &Candidate| by_machine.get(candidate.resolved.digest.as_str())?.as_ref();
    let end = |baseline: Baseline| {
        let candidate = candidates.iter().find(|candidate| candidate.name == baseline.design())?;
        of(candidate).map(|figures| figures.time_ps as f64)
    };
    let (off, cc) = (end(Baseline::Off), end(Baseline::Cc));
    let named = candidates.iter().filter_map(|candidate| {
        let figures = of(candidate)?;
        let own = (figures.time_ps as f64).max(1.0);
        Some(WorkloadFigures {
            name: candidate.name.clone(),
            summary: summary(&candidate.resolved),
            slowdown_over_off: off.filter(|off| *off > 0.0).map(|off| own / off),
            speedup_over_h100_cc: cc.map(|cc| cc / own),
            ..figures.clone()
        })
    });
    Ok(ComparedWorkload { designs: named.collect(), pieces: tasks.len(), unfinished })
}

fn summary(resolved: &Resolved) -> String {
    let summaries = resolved.designs.iter().map(|design| design.summary.as_str()).filter(|text| !text.is_empty());
    summaries.collect::<Vec<_>>().join("; ")
}

/// Kernels of a workload, and what they last together by themselves.
#[must_use]
pub fn kernels(workload: &Workload) -> (usize, Femtos) {
    let steps = workload.steps.iter().flatten();
    let durations = steps.filter_map(|step| match step {
        WorkloadStep::Kernel { duration, .. } => Some((1, *duration)),
        WorkloadStep::Launch { kernels, duration, .. } => {
            Some((*kernels as usize, Femtos(duration.0.saturating_mul(u64::from(*kernels)))))
        }
        _ => None,
    });
    durations.fold((0, Femtos::ZERO), |(count, sum), (more, one)| (count + more, sum.saturating_add(one)))
}

fn request(workload: &Workload, collectives: &CollectiveTimes) -> Result<Request, RunError> {
    let workload = workload.only_timing(u64::MAX);
    let arrivals: Vec<_> = workload.copies.iter().map(|_| Arrival::new(false, None)).collect();
    workload.request(&arrivals, collectives).map_err(|error| RunError::Payload(error.to_string()))
}

/// Runs a workload, whose copies must all arrive; with it how long its collectives take.
pub(super) fn run_workload(
    what: &str,
    machine: &MachineSpec,
    (workload, sample): (&Workload, Option<Sample>),
    observer: &(dyn Fn() -> Control + Sync),
) -> Result<(Outcome, Option<Sampled>, CollectiveTimes), CompareError> {
    let failed = |error| CompareError::Run { what: what.to_owned(), error };
    let collectives = workload.collectives(machine, &mut |_| observer());
    let collectives = collectives.map_err(|error| match error {
        CollectiveError::Run(error) => failed(error),
        error => CompareError::Collective { what: what.to_owned(), error },
    })?;
    let (outcome, sampled) = outcome_of((machine, workload, sample), &collectives, observer).map_err(failed)?;
    match outcome.copies.iter().enumerate().find(|(_, copy)| !copy.delivered) {
        None => Ok((outcome, sampled, collectives)),
        Some((place, copy)) => {
            let reason = copy.reason.as_deref().unwrap_or("its bytes did not all arrive").to_owned();
            Err(CompareError::NotDelivered { what: format!("{what}, copy {}", place + 1), reason })
        }
    }
}

/// The outcome of a workload, simulated or sampled.
fn outcome_of(
    (machine, workload, sample): (&MachineSpec, &Workload, Option<Sample>),
    collectives: &CollectiveTimes,
    observer: &(dyn Fn() -> Control + Sync),
) -> Result<(Outcome, Option<Sampled>), RunError> {
    let Some(sample) = sample else {
        return Ok((system::run(machine, request(workload, collectives)?, &mut |_| observer())?, None));
    };
    let asked = Asked { machine, workload, collectives, sample, threads: 1 };
    sampling::time(asked, observer).map(|(outcome, sampled)| (outcome, Some(sampled)))
}

fn run(
    candidate: &Candidate,
    (workload, sample): (&Workload, Option<Sample>),
    observer: &(dyn Fn() -> Control + Sync),
) -> Result<WorkloadFigures, CompareError> {
    let resolved = &candidate.resolved;
    let work = (workload, sample);
    let (outcome, sampled, collectives) = run_workload(&candidate.name, &resolved.machine, work, observer)?;
    let failed = |error| CompareError::Run { what: candidate.name.clone(), error };
    let free = || {
        let none = CollectiveTimes::default();
        outcome_of((&resolved.machine, workload, sample), &none, observer).map(|(outcome, _)| outcome.end)
    };
    let free = if collectives.is_empty() { None } else { Some(free().map_err(failed)?) };
    let figures = |outcome: &Outcome| of_outcome(candidate, workload, (&collectives, free), outcome);
    Ok(WorkloadFigures { sampled: sampled.map(|sampled| Told::of(&sampled, figures)), ..figures(&outcome) })
}

/// The figures of an outcome; with collectives also of when it would end if they took no time.
fn of_outcome(
    candidate: &Candidate,
    workload: &Workload,
    (collectives, free): (&CollectiveTimes, Option<Femtos>),
    outcome: &Outcome,
) -> WorkloadFigures {
    let resolved = &candidate.resolved;
    let free = free.unwrap_or(outcome.end);
    let value = |path: &str| resolved.parameter(path).map(|parameter| parameter.value.clone());
    let queues = || outcome.gpus.iter().map(|gpu| &gpu.tag_queue);
    WorkloadFigures {
        name: candidate.name.clone(),
        summary: summary(resolved),
        confidential_computing: resolved.machine.confidential_computing,
        config_digest: resolved.digest.clone(),
        assumed_parameters: resolved.assumed().len(),
        cost: price(&resolved.machine),
        time_ps: outcome.end.picos(),
        slowdown_over_off: None,
        speedup_over_h100_cc: None,
        h2d: way(&outcome.copies, Direction::H2d),
        d2h: way(&outcome.copies, Direction::D2h),
        d2d: way(&outcome.copies, Direction::D2d),
        gpu_idle: idle(outcome),
        collectives: collective_figures(collectives, outcome.end.saturating_sub(free)),
        messages: outcome.copies.iter().map(|copy| copy.messages).sum(),
        tags_verified: outcome.copies.iter().map(|copy| copy.tags_verified).sum(),
        quarantine_bytes: queues().map(|queue| queue.peak_quarantine_bytes).max().unwrap_or(0),
        exposure_ps: queues().map(|queue| queue.longest_exposure.picos()).max().unwrap_or(0),
        exposure_total_ps: queues().map(|queue| queue.total_exposure.picos()).sum(),
        exposed_bytes: queues().map(|queue| queue.most_exposed_bytes).max().unwrap_or(0),
        exposed_byte_ns: queues().map(|queue| queue.exposed_byte_ns).fold(0, u64::saturating_add),
        limited_by_parts: limit(&outcome.copies, &value).map(|limit| behind_network(limit, workload)),
        sampled: None,
    }
}

/// Copies of one direction, summed.
fn way(copies: &[CopyOutcome], direction: Direction) -> WayFigures {
    let copies: Vec<_> = copies.iter().filter(|copy| copy.direction == direction).collect();
    let spans = copies.iter().filter_map(|copy| copy.device.map(|span| (copy.gpu, span)));
    WayFigures {
        copies: copies.len(),
        bytes: copies.iter().map(|copy| copy.bytes).fold(0, u64::saturating_add),
        device_ps: covered(spans.collect()).picos(),
        calls_ps: copies.iter().map(|copy| copy.time()).fold(Femtos::ZERO, Femtos::saturating_add).picos(),
    }
}

/// Time that lies in at least one of the spans of a GPU, summed over GPUs.
fn covered(mut spans: Vec<(usize, (Femtos, Femtos))>) -> Femtos {
    spans.sort_unstable();
    let (mut sum, mut reached) = (Femtos::ZERO, (0, Femtos::ZERO));
    for (gpu, (start, end)) in spans {
        let from = if reached.0 == gpu { start.max(reached.1) } else { start };
        sum = sum.saturating_add(end.saturating_sub(from));
        reached = (gpu, if reached.0 == gpu { end.max(reached.1) } else { end });
    }
    sum
}

fn collective_figures(times: &CollectiveTimes, exposed: Femtos) -> Option<CollectiveFigures> {
    let sum = |amount: &dyn Fn(&CollectiveCall, &CollectiveTime) -> u64| {
        times.iter().map(|(call, time)| amount(call, time)).fold(0, u64::saturating_add)
    };
    let figures = CollectiveFigures {
        calls: sum(&|_, time| time.calls),
        simulated: times.iter().count() as u64,
        bytes: sum(&|call, time| call.bytes.saturating_mul(time.calls)),
        time_ps: sum(&|_, time| time.time.picos().saturating_mul(time.calls)),
        exposed_ps: exposed.picos(),
    };
    (!times.is_empty()).then_some(figures)
}

/// The compute sides that had something to do.
fn compute(outcome: &Outcome) -> impl Iterator<Item = &UnitOutcome> {
    outcome.units.iter().filter(|unit| unit.name.ends_with(".compute") && unit.idle < unit.cycles)
}

/// Part of the time in which these had nothing to do.
fn idle(outcome: &Outcome) -> f64 {
    let (idle, cycles) = compute(outcome).fold((0, 0), |(idle, cycles), unit| (idle + unit.idle, cycles + unit.cycles));
    if cycles == 0 { 1.0 } else { idle as f64 / cycles as f64 }
}

/// Where a workload has a network, copies that wait for work on their stream wait for that.
fn behind_network(limit: CopiesLimit, workload: &Workload) -> CopiesLimit {
    let mut steps = workload.steps.iter().flatten();
    let network = limit.waits_for_kernels() && steps.any(|step| matches!(step, WorkloadStep::Network { .. }));
    CopiesLimit { state: if network { NETWORK.to_owned() } else { limit.state }, ..limit }
}

/// What limited the copies that took most of the time of all, those aside that waited for kernels if there are others.
/// `value` is that of a parameter of the machine, if it is one.
pub(super) fn limit(copies: &[CopyOutcome], value: &dyn Fn(&str) -> Option<String>) -> Option<CopiesLimit> {
    let mut shares: BTreeMap<_, (u128, &CopyOutcome)> = BTreeMap::new();
    for copy in copies {
        let by = &copy.limited_by;
        // One parameter may show at several units.
        let place = if by.parameter.is_some() { ("", "") } else { (by.unit.as_str(), by.state.as_str()) };
        shares.entry((&by.parameter, place)).or_insert((0, copy)).0 += u128::from(copy.time().0);
    }
    let whole: u128 = shares.values().map(|(time, _)| time).sum();
    let waits = |copy: &CopyOutcome| waits_for_kernels(&copy.limited_by.unit, &copy.limited_by.state);
    let (time, copy) = shares.into_values().max_by_key(|(time, copy)| (!waits(copy), *time))?;
    let by = &copy.limited_by;
    let value = by.parameter.as_deref().and_then(value);
    Some(CopiesLimit {
        parameter: by.parameter.clone().filter(|_| value.is_some()),
        value,
        unit: by.unit.clone(),
        state: by.state.clone(),
        part: time as f64 / whole.max(1) as f64,
    })
}

#[cfg(test)]
mod tests {
    use super::super::named;
    use super::*;
    use crate::{
        config::Layers,
        sim::Kernel,
        system::{DataMode, Memory},
        workload::{ShippedWorkload, WorkloadFile, sized},
    };

    fn workload(name: &str) -> Workload {
        let shipped = ShippedWorkload::find(name).unwrap();
        let file = WorkloadFile::parse(name, shipped.text.to_owned()).unwrap();
        Workload {
            copies: sized(&file.copies, None).unwrap(),
            steps: Some(file.steps),
            payload: None,
            data: DataMode::None,
            seed: 0,
            kernel: Kernel::Skip,
            injections: Vec::new(),
        }
    }

    fn figures(designs: &[&str], threads: usize) -> Vec<WorkloadFigures> {
        let machine = Layers::new("h100-nvl-tdx");
        let candidates = designs.iter().map(|name| named(&machine, name, Memory::Pinned).unwrap());
        let (candidates, workload) = (candidates.collect::<Vec<_>>(), workload("upload-compute-download"));
        let finished = Finished::default();
        compare_workload(&candidates, (&workload, None), threads, &finished, &|| Control::Continue, &|_| ())
            .unwrap()
            .designs
    }

    #[test]
    fn a_design_is_held_against_off_and_the_machine_as_it_is() {
        let all = figures(&["off", "h100-cc", "direct"], 2);
        let [off, cc, direct] = [0, 1, 2].map(|place| &all[place]);
        assert_eq!((off.slowdown_over_off, cc.speedup_over_h100_cc), (Some(1.0), Some(1.0)));
        assert_eq!(direct.slowdown_over_off, Some(direct.time_ps as f64 / off.time_ps as f64));
        assert_eq!((off.h2d.bytes, off.d2h.bytes, off.d2d.copies), (16 << 20, 4 << 20, 0));
        assert!(off.exposure_ps == 0 && cc.exposure_ps > 0 && off.gpu_idle < cc.gpu_idle);
        assert_eq!(cc.limit(), "cipher.seal_rate");
        assert_eq!(kernels(&workload("upload-compute-download")), (1, Femtos(500_000_000_000)));
    }

    #[test]
    fn without_off_there_is_no_slowdown_and_threads_change_nothing() {
        let [one, many] =
            [1, 5].map(|threads| serde_json::to_value(figures(&["direct", "fastrack"], threads)).unwrap());
        assert_eq!(one, many);
        assert!(one[0]["slowdown_over_off"].is_null());
    }

    #[test]
    fn spans_that_overlap_count_once_and_those_of_other_gpus_apart() {
        let span = |gpu, start, end| (gpu, (Femtos(start), Femtos(end)));
        assert_eq!(covered(vec![span(0, 0, 10), span(0, 5, 12), span(0, 20, 21), span(0, 6, 7)]), Femtos(13));
        assert_eq!(covered(vec![span(0, 0, 10), span(1, 5, 12)]), Femtos(17));
    }
}
