//! Designs against each other: one copy at a time, of several sizes, in both directions.

use super::candidate::{Baseline, Candidate, Skipped, copy};
use super::finished::{Finished, Piece, each};
use super::price::{Price, Risk, price, risk};
use super::what_if::{self, LimitedBy};
use crate::{
    config::Resolved,
    sampling::{self, Asked, Sample, Sampled, Told},
    sim::{Control, Kernel, Order, SimulationError},
    system::{self, CopyRequest, DataMode, Direction, Memory, Outcome, Request, RunError},
    units::Femtos,
    workload::{
        Copy, Workload,
        collective::{CollectiveError, CollectiveTimes},
    },
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use thiserror::Error;

/// What is asked of each design.
#[derive(Debug, Clone)]
pub struct Grid {
    /// The copies, each of which is made alone.
    pub copies: Vec<Copy>,
    /// How many parameters to [measure](what_if::measure) for each copy; none if 0.
    pub what_if: usize,
    /// How much of each is simulated, if not all.
    pub sample: Option<Sample>,
}

impl Grid {
    /// Copies of each of these sizes, in both directions, of the first GPU.
    #[must_use]
    pub fn both_ways(sizes: &[u64], memory: Memory, what_if: usize) -> Self {
        let of_size = |direction| move |&bytes: &u64| Copy { gpu: 0, direction, bytes, memory };
        let copies = [Direction::H2d, Direction::D2h].into_iter().flat_map(|way| sizes.iter().map(of_size(way)));
        Self { copies: copies.collect(), what_if, sample: None }
    }
}

/// Designs of one machine, side by side. Every field is described in `docs/results.md`.
#[derive(Debug, Clone, Serialize)]
pub struct Comparison {
    pub machine: String,
    /// The host's end of the copies.
    pub host_memory: Memory,
    /// Bytes of the copies.
    pub sizes_bytes: Vec<u64>,
    #[serde(skip)]
    pub copies: Vec<Copy>,
    /// By what factor all absolute areas and energies may be off alike, beyond what each states.
    pub process_spread_factor: f64,
    /// What they rest on.
    pub cost_source: &'static str,
    /// The designs, baselines first.
    pub designs: Vec<DesignFigures>,
    /// Shipped designs that the machine cannot have.
    pub skipped: Vec<Skipped>,
    /// What these figures rest on whose held-out error is large or not known.
    pub cautions: Vec<String>,
    /// Copies that were not made, since the comparison was interrupted.
    #[serde(skip_serializing_if = "is_none")]
    pub unfinished: usize,
}

/// Whether nothing is left to be done.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
pub(super) const fn is_none(unfinished: &usize) -> bool {
    *unfinished == 0
}

#[derive(Debug, Clone, Serialize)]
pub struct DesignFigures {
    pub name: String,
    /// What it is, in a sentence for each of its parts.
    pub summary: String,
    /// The design that its gain is stated against; none if that is not there.
    pub baseline: Option<&'static str>,
    /// Whether copies are sealed.
    pub confidential_computing: bool,
    /// SHA-256 of the configuration, hexadecimal.
    pub config_digest: String,
    /// How many parameters are not published.
    pub assumed_parameters: usize,
    /// What its crypto units and buffers cost.
    pub cost: Price,
    /// By direction and size.
    pub copies: Vec<CopyFigures>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CopyFigures {
    pub direction: Direction,
    pub bytes: u64,
    /// From the call until the host knew that it was done and verified, in ps.
    pub time_ps: u64,
    /// 10^9 bytes per second of that time.
    pub gb_per_s: f64,
    /// Rate over that of the baseline.
    pub speedup_over_baseline: Option<f64>,
    /// Rate over that of `h100-cc`.
    pub speedup_over_h100_cc: Option<f64>,
    /// Rate over that of `off`.
    pub fraction_of_off: Option<f64>,
    /// From the call until its first message was where it belongs and had its verdict, in ps.
    pub first_verified_ps: Option<u64>,
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
    /// What its tags and keys leave open.
    #[serde(flatten)]
    pub risk: Risk,
    /// What limited it, for people.
    pub limited_by: String,
    /// The same in parts.
    pub limited_by_parts: LimitedBy,
    /// How much of it was simulated, if it was asked to be sampled, and what its figures may be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampled: Option<Told>,
}

/// Why there is no comparison.
#[derive(Debug, Error)]
pub enum CompareError {
    #[error("{what}: {error}")]
    Run {
        /// Design, direction and size.
        what: String,
        error: RunError,
    },
    /// The collectives of a workload cannot be run.
    #[error("{what}: {error}")]
    Collective { what: String, error: CollectiveError },
    /// A copy did not arrive.
    #[error("{what}: not delivered: {reason}")]
    NotDelivered {
        /// Design, direction and size.
        what: String,
        reason: String,
    },
}

/// What came of a comparison.
#[derive(Debug)]
pub struct Compared {
    /// The designs, with the copies that were made.
    pub designs: Vec<DesignFigures>,
    /// Copies of all designs together.
    pub pieces: usize,
    /// Those of them that were not made, since it was interrupted.
    pub unfinished: usize,
}

#[derive(Debug)]
struct Task<'c> {
    machine: &'c Resolved,
    what: String,
    copy: Copy,
    what_if: usize,
    sample: Option<Sample>,
}

/// Bytes that stand for what a run costs besides those that it copies.
const OVERHEAD: u64 = 1 << 20;

/// Simulates every copy of the grid on every candidate, on so many threads. `observer` is asked now and then whether to go on, and
/// `progress` is called with each part of all the work that is done. Machines that are equal are simulated once, and what is finished already
/// is not simulated again.
///
/// # Errors
/// A run fails, or a copy is not delivered.
pub fn compare(
    candidates: &[Candidate],
    grid: &Grid,
    threads: usize,
    finished: &Finished<CopyFigures>,
    observer: &(dyn Fn() -> Control + Sync),
    progress: &(dyn Fn(f64) + Sync),
) -> Result<Compared, CompareError> {
    let mut machines: BTreeMap<&str, &Candidate> = BTreeMap::new();
    for candidate in candidates {
        machines.entry(&candidate.resolved.digest).or_insert(candidate);
    }
    let tasks: Vec<_> = machines.values().flat_map(|candidate| tasks(candidate, grid)).collect();
    let figures = each(&tasks, threads, finished, observer, progress)?;
    let unfinished = figures.iter().filter(|figures| figures.is_none()).count();
    let by_machine: BTreeMap<_, _> = machines.into_keys().zip(figures.chunks(grid.copies.len().max(1))).collect();
    let of = |candidate: &Candidate| by_machine.get(candidate.resolved.digest.as_str()).copied().unwrap_or_default();
    let baseline = |baseline: Baseline| candidates.iter().find(|candidate| candidate.name == baseline.design()).map(of);
    let designs = candidates.iter().map(|candidate| design(candidate, of(candidate), &baseline));
    Ok(Compared { designs: designs.collect(), pieces: tasks.len(), unfinished })
}

fn tasks<'c>(candidate: &'c Candidate, grid: &'c Grid) -> impl Iterator<Item = Task<'c>> {
    grid.copies.iter().map(|&copy| {
        let way = crate::workload::direction_name(copy.direction);
        let what = format!("{}, {way} of {}", candidate.name, crate::units::Bytes(copy.bytes));
        Task { machine: &candidate.resolved, what, copy, what_if: grid.what_if, sample: grid.sample }
    })
}

impl Piece for Task<'_> {
    type Answer = CopyFigures;
    type Error = CompareError;

    fn key(&self) -> String {
        let sample = self.sample.map_or_else(String::new, |sample| sample.to_string());
        format!("{} {} {} {sample}", self.machine.digest, self.copy, self.what_if)
    }

    fn cost(&self) -> u64 {
        self.copy.bytes + OVERHEAD
    }

    fn answer(&self, observer: &(dyn Fn() -> Control + Sync)) -> Result<Option<CopyFigures>, CompareError> {
        unless_stopped(self.run(observer))
    }
}

/// What a run gave; none if it was stopped.
pub(super) fn unless_stopped<T>(result: Result<T, CompareError>) -> Result<Option<T>, CompareError> {
    match result {
        Err(CompareError::Run { error: RunError::Simulation(SimulationError::Stopped { .. }), .. }) => Ok(None),
        result => result.map(Some),
    }
}

impl Task<'_> {
    /// Of at most so many bytes.
    fn request(&self, most: u64) -> Request {
        let Copy { gpu, direction, bytes, memory } = self.copy;
        Request {
            copies: vec![CopyRequest { gpu, ..copy(direction, bytes.min(most), memory) }],
            program: Vec::new(),
            data: DataMode::None,
            seed: 0,
            kernel: Kernel::Skip,
            order: Order::Ascending,
            injections: Vec::new(),
        }
    }

    fn run(&self, observer: &(dyn Fn() -> Control + Sync)) -> Result<CopyFigures, CompareError> {
        let what = || self.what.clone();
        let (outcome, sampled) = self.outcome(observer).map_err(|error| CompareError::Run { what: what(), error })?;
        let not_delivered = |reason: &str| CompareError::NotDelivered { what: what(), reason: reason.to_owned() };
        let copy = outcome.copies.first().ok_or_else(|| not_delivered("there is no such copy"))?;
        if !copy.delivered {
            return Err(not_delivered(copy.reason.as_deref().unwrap_or("its bytes did not all arrive")));
        }
        let limited_by = LimitedBy::of(&copy.limited_by, self.machine);
        let limited_by = match self.what_if {
            0 => limited_by,
            most => limited_by.measured(
                what_if::measure(self.machine, &|most| Ok(self.request(most)), 0, most, &mut || observer())
                    .map_err(|error| CompareError::Run { what: what(), error })?,
            ),
        };
        let figures = |outcome: &Outcome| self.figures(outcome, limited_by.clone());
        let all = figures(&outcome).ok_or_else(|| not_delivered("there is no such GPU"))?;
        Ok(CopyFigures { sampled: sampled.map(|sampled| Told::of(&sampled, figures)), ..all })
    }

    /// The whole copy, simulated or sampled.
    fn outcome(&self, observer: &(dyn Fn() -> Control + Sync)) -> Result<(Outcome, Option<Sampled>), RunError> {
        let machine = &self.machine.machine;
        let Some(sample) = self.sample else {
            return Ok((system::run(machine, self.request(u64::MAX), &mut |_| observer())?, None));
        };
        let (workload, none) = (Workload::timed(vec![self.copy], None), CollectiveTimes::default());
        let asked = Asked { machine, workload: &workload, collectives: &none, sample, threads: 1 };
        sampling::time(asked, observer).map(|(outcome, sampled)| (outcome, Some(sampled)))
    }

    /// The figures of an outcome; none without a copy or its GPU.
    fn figures(&self, outcome: &Outcome, limited_by: LimitedBy) -> Option<CopyFigures> {
        let (copy, gpu) = (outcome.copies.first()?, outcome.gpus.get(self.copy.gpu)?);
        let since = |date: Femtos| date.saturating_sub(copy.start);
        let time = copy.time();
        Some(CopyFigures {
            direction: self.copy.direction,
            bytes: self.copy.bytes,
            time_ps: time.picos(),
            gb_per_s: copy.gb_per_s(),
            speedup_over_baseline: None,
            speedup_over_h100_cc: None,
            fraction_of_off: None,
            first_verified_ps: copy.first_verified.map(|date| since(date).picos()),
            messages: copy.messages,
            tags_verified: copy.tags_verified,
            quarantine_bytes: gpu.tag_queue.peak_quarantine_bytes,
            exposure_ps: gpu.tag_queue.longest_exposure.picos(),
            exposure_total_ps: gpu.tag_queue.total_exposure.picos(),
            exposed_bytes: gpu.tag_queue.most_exposed_bytes,
            exposed_byte_ns: gpu.tag_queue.exposed_byte_ns,
            risk: risk(&self.machine.machine, self.copy.bytes, copy.messages, gpu.link.h2d.tlps + gpu.link.d2h.tlps),
            limited_by: limited_by.text(),
            limited_by_parts: limited_by,
            sampled: None,
        })
    }
}

/// Between what the rate of a copy over that of another lies.
fn ratio(one: &CopyFigures, other: &CopyFigures) -> [f64; 2] {
    let rate = |copy: &CopyFigures| {
        let told = copy.sampled.as_ref().and_then(|told| told.interval("/gb_per_s"));
        told.unwrap_or([copy.gb_per_s; 2])
    };
    let ([low, high], [least, most]) = (rate(one), rate(other));
    [low / most, high / least]
}

/// The figures of a design in addition to those of the baselines.
fn design<'f>(
    candidate: &Candidate,
    figures: &[Option<CopyFigures>],
    baseline: &dyn Fn(Baseline) -> Option<&'f [Option<CopyFigures>]>,
) -> DesignFigures {
    let own = candidate.baseline();
    let over = |which: Baseline, place: usize, rate: f64| {
        let other = baseline(which)?.get(place)?.as_ref()?;
        Some(rate / other.gb_per_s)
    };
    let copies = figures.iter().enumerate().filter_map(|(place, figures)| {
        let figures = figures.as_ref()?;
        let beside = |which: Baseline| baseline(which)?.get(place)?.as_ref();
        let over = |which| over(which, place, figures.gb_per_s);
        let sampled = figures.sampled.clone().map(|mut told| {
            let gains = [
                ("/speedup_over_baseline", own),
                ("/speedup_over_h100_cc", Baseline::Cc),
                ("/fraction_of_off", Baseline::Off),
            ];
            for (name, which) in gains {
                if let Some(other) = beside(which) {
                    told.note(name, ratio(figures, other));
                }
            }
            told
        });
        Some(CopyFigures {
            sampled,
            speedup_over_baseline: over(own),
            speedup_over_h100_cc: over(Baseline::Cc),
            fraction_of_off: over(Baseline::Off),
            ..figures.clone()
        })
    });
    let resolved = &candidate.resolved;
    let summaries = resolved.designs.iter().map(|design| design.summary.as_str()).filter(|text| !text.is_empty());
    DesignFigures {
        name: candidate.name.clone(),
        summary: summaries.collect::<Vec<_>>().join("; "),
        baseline: baseline(own).map(|_| own.design()),
        confidential_computing: resolved.machine.confidential_computing,
        config_digest: resolved.digest.clone(),
        assumed_parameters: resolved.assumed().len(),
        cost: price(&resolved.machine),
        copies: copies.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::named;
    use super::*;
    use crate::config::Layers;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn candidates(names: &[&str]) -> Vec<Candidate> {
        let machine = Layers::new("h100-nvl-tdx");
        names.iter().map(|name| named(&machine, name, Memory::Pinned).unwrap()).collect()
    }

    fn figures(names: &[&str], threads: usize) -> Vec<DesignFigures> {
        let grid = Grid::both_ways(&[4096, 300_000], Memory::Pinned, 0);
        let compared =
            compare(&candidates(names), &grid, threads, &Finished::default(), &|| Control::Continue, &|_| ()).unwrap();
        assert_eq!(compared.unfinished, 0);
        compared.designs
    }

    #[test]
    fn rates_are_held_against_the_baselines_of_the_same_direction_and_size() {
        let all = figures(&["off", "h100-cc", "h100-cc-resealed", "direct"], 2);
        let [off, cc, resealed, direct] = [0, 1, 2, 3].map(|place| &all[place]);
        assert_eq!(direct.baseline, Some("h100-cc-resealed"));
        for place in 0..4 {
            let rate = |design: &DesignFigures| design.copies[place].gb_per_s;
            let copy = &direct.copies[place];
            assert_eq!(copy.speedup_over_baseline, Some(rate(direct) / rate(resealed)));
            assert_eq!(copy.speedup_over_h100_cc, Some(rate(direct) / rate(cc)));
            assert_eq!(copy.fraction_of_off, Some(rate(direct) / rate(off)));
            assert_eq!(cc.copies[place].speedup_over_baseline, Some(1.0));
            assert_eq!((off.copies[place].first_verified_ps, off.copies[place].tags_verified), (None, 0));
            assert_eq!(
                (copy.direction, copy.bytes),
                ([Direction::H2d, Direction::D2h][place / 2], [4096, 300_000][place % 2])
            );
        }
    }

    #[test]
    fn without_the_baselines_nothing_is_held_against_them() {
        let all = figures(&["direct"], 1);
        assert_eq!(all[0].baseline, None);
        assert!(
            all[0].copies.iter().all(|copy| copy.speedup_over_baseline.is_none() && copy.fraction_of_off.is_none())
        );
    }

    #[test]
    fn figures_do_not_depend_on_the_number_of_threads_and_equal_machines_have_equal_figures() {
        let names = ["h100-cc", "fastrack", "direct+parallel-auth+overlap"];
        let [one, many] = [1, 7].map(|threads| serde_json::to_value(figures(&names, threads)).unwrap());
        assert_eq!(one, many);
        assert_eq!(one[1]["copies"], one[2]["copies"]);
        assert_ne!(one[0]["copies"], one[1]["copies"]);
    }

    #[test]
    fn a_comparison_that_is_stopped_gives_what_is_finished_and_the_next_does_the_rest() {
        let names = ["off", "h100-cc", "direct"];
        let (grid, candidates) = (Grid::both_ways(&[4096, 300_000], Memory::Pinned, 0), candidates(&names));
        let (whole, mut known) = (serde_json::to_value(figures(&names, 1)).unwrap(), BTreeMap::new());
        for command in 1..=4 {
            // Each command may do three pieces more than are known, which come first.
            let (told, may) = (AtomicUsize::new(0), known.len() + 3);
            let observer = || if told.load(Ordering::Relaxed) < may { Control::Continue } else { Control::Stop };
            let tell = |_| _ = told.fetch_add(1, Ordering::Relaxed);
            // As a file keeps it.
            let text = serde_json::to_string(&known).unwrap();
            let finished = Finished::of(serde_json::from_str(&text).unwrap());
            let compared = compare(&candidates, &grid, 1, &finished, &observer, &tell).unwrap();
            known = finished.into_pieces();
            assert_eq!((compared.pieces, compared.unfinished, known.len()), (12, 12 - 3 * command, 3 * command));
            let made: usize = compared.designs.iter().map(|design| design.copies.len()).sum();
            assert_eq!(made, known.len());
            if compared.unfinished == 0 {
                assert_eq!(serde_json::to_value(compared.designs).unwrap(), whole);
            }
        }
    }
}
