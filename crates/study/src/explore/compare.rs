//! Designs against each other: the same work on each, a copy at a time or a whole workload.
//!
//! ```text
//!   designs, one machine each --+
//!   work, timing alone ---------+--> a run each, over threads --> a Row of figures each --> gains over the baselines
//! ```

use super::candidate::{self, Baseline, Candidate, Skipped};
use super::finished::{Finished, Piece, each};
use super::outcome::Shared;
use super::sweep::Table;
use super::uncertainty::{Draws, Plan, Uncertainty};
use super::what_if;
use super::work::{CompareError, NETWORK, Work, busiest, free_end, short, unless_stopped};
use crate::{
    config::Resolved,
    cost::technology::{PROCESS_SPREAD, SYNTHESIS},
    figures::{
        self, About, Figure, Of, Other, Price, Row, Value, column_names,
        price::price,
        table::{
            BASELINE, BUSIEST, BYTES, COLLECTIVES_EXPOSED, COPIES, DESIGN, DIRECTION, IDLE, LIMITED_BY, TIME, WORKLOAD,
            WORKLOADS,
        },
    },
    sampling::{Sample, Told},
    sim::Control,
    system::Direction,
    units::Bytes,
    workload::{Workload, direction_name},
};
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

#[derive(Debug, Clone)]
pub struct Grid {
    pub work: Work,
    /// How many parameters to [measure](super::what_if::measure) for each copy; none if 0.
    pub what_if: usize,
    /// How much of each is simulated, if not all.
    pub sample: Option<Sample>,
    /// What is drawn for intervals, if they are asked for.
    pub uncertainty: Option<Draws>,
}

impl Grid {
    /// Work that is simulated as a whole, without measuring what limits it.
    pub const fn of(work: Work) -> Self {
        Self { work, what_if: 0, sample: None, uncertainty: None }
    }
}

/// Designs of one machine, side by side. Every field is described in `docs/results.md`.
#[derive(Debug, Clone, Serialize)]
pub struct Comparison {
    pub machine: String,
    #[serde(flatten)]
    pub work: Work,
    /// By what factor all absolute areas and energies may be off alike, beyond what each states.
    pub process_spread_factor: f64,
    /// What they rest on.
    pub cost_source: &'static str,
    /// The designs, baselines first.
    pub designs: Vec<Design>,
    /// Shipped designs that the machine cannot have.
    pub skipped: Vec<Skipped>,
    /// What these figures rest on whose held-out error is large or not known.
    pub cautions: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uncertainty: Option<Uncertainty>,
    /// Runs that were not made, since the comparison was interrupted.
    #[serde(skip_serializing_if = "is_none")]
    pub unfinished: usize,
}

/// Whether nothing is left to be done.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
const fn is_none(unfinished: &usize) -> bool {
    *unfinished == 0
}

#[derive(Debug, Clone, Serialize)]
pub struct Design {
    pub name: String,
    /// What it is, in a sentence for each of its parts.
    pub summary: String,
    /// The design that its gain is stated against; none if that is not there.
    pub baseline: Option<&'static str>,
    pub confidential_computing: bool,
    /// SHA-256 of the configuration, hexadecimal.
    pub config_digest: String,
    /// How many parameters are not published.
    pub assumed_parameters: usize,
    pub cost: Price,
    #[serde(flatten)]
    pub figures: Figures,
}

#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum Figures {
    /// By direction and size.
    Copies {
        copies: Vec<Row>,
    },
    Workload(Box<Row>),
}

impl Design {
    /// A row for each piece of work that was done.
    pub fn rows(&self) -> &[Row] {
        match &self.figures {
            Figures::Copies { copies } => copies,
            Figures::Workload(row) => std::slice::from_ref(row),
        }
    }

    /// That of its copy of so many bytes.
    pub fn row(&self, direction: Direction, bytes: u64) -> Option<&Row> {
        self.rows().iter().find(|row| way(row) == Some(direction) && row.number(&BYTES) == Some(bytes as f64))
    }

    pub(super) fn rows_mut(&mut self) -> &mut [Row] {
        match &mut self.figures {
            Figures::Copies { copies } => copies,
            Figures::Workload(row) => std::slice::from_mut(row),
        }
    }

    /// How much of each was simulated, where that was asked for.
    pub fn sampled(&self) -> impl Iterator<Item = &Told> + Clone {
        self.rows().iter().filter_map(|row| row.sampled.as_ref())
    }
}

#[derive(Debug)]
pub struct Compared {
    pub designs: Vec<Design>,
    /// What was drawn, if it was asked for and nothing is unfinished.
    pub uncertainty: Option<Uncertainty>,
    /// Runs of all designs together, and of all draws.
    pub pieces: usize,
    /// Those of them that were not made, since it was interrupted.
    pub unfinished: usize,
}

impl Compared {
    /// The whole of it, of the machine `own`.
    pub fn on(self, own: &Resolved, work: Work, (candidates, skipped): (&[Candidate], Vec<Skipped>)) -> Comparison {
        Comparison {
            machine: own.name(),
            process_spread_factor: PROCESS_SPREAD,
            cost_source: SYNTHESIS,
            cautions: candidate::cautions(own, candidates, work.calls_collectives()),
            work,
            designs: self.designs,
            skipped,
            uncertainty: self.uncertainty,
            unfinished: self.unfinished,
        }
    }
}

impl Comparison {
    pub const fn list(&self) -> &'static [&'static Figure] {
        match self.work {
            Work::Copies { .. } => COPIES,
            Work::Workload { .. } => WORKLOADS,
        }
    }

    /// As a table: its head, then a row for each design and piece of work.
    pub fn table(&self) -> Table {
        let rows = self.designs.iter().flat_map(|design| design.rows().iter().map(|row| self.values(design, row)));
        Table { columns: column_names(self.list()), rows: rows.collect() }
    }

    fn values(&self, design: &Design, row: &Row) -> Vec<Value> {
        let name = |name: &str| match (name, &self.work) {
            _ if name == DESIGN.name => design.name.as_str().into(),
            _ if name == BASELINE.name => design.baseline.into(),
            (_, Work::Workload { workload, .. }) if name == WORKLOAD.name => workload.as_str().into(),
            _ => Value::None,
        };
        row.values(self.list(), (&design.cost, way(row)), name)
    }
}

pub fn way(row: &Row) -> Option<Direction> {
    let Value::Text(way) = row.get(&DIRECTION) else { return None };
    [Direction::H2d, Direction::D2h, Direction::D2d].into_iter().find(|known| direction_name(*known) == way)
}

#[derive(Debug)]
struct Task<'c> {
    candidate: &'c Candidate,
    workload: &'c Workload,
    grid: &'c Grid,
    outcomes: &'c Shared,
}

/// Bytes that stand for what a run costs besides those that it copies.
pub(super) const OVERHEAD: u64 = 1 << 20;

/// Simulates every piece of work on every candidate, on so many threads. `observer` is asked now and then whether to go on, and
/// `progress` is called with each part of all the work that is done. Machines that are equal are simulated once, and what is finished already
/// is not simulated again.
pub fn compare(
    candidates: &[Candidate],
    grid: &Grid,
    threads: usize,
    finished: &Finished<Row>,
    observer: &(dyn Fn() -> Control + Sync),
    progress: &(dyn Fn(f64) + Sync),
) -> Result<Compared, CompareError> {
    let mut machines: BTreeMap<&str, &Candidate> = BTreeMap::new();
    for candidate in candidates {
        machines.entry(&candidate.resolved.digest).or_insert(candidate);
    }
    let pieces = grid.work.pieces();
    let outcomes = &finished.outcomes;
    let of_machine = |&candidate| pieces.iter().map(move |workload| Task { candidate, workload, grid, outcomes });
    let tasks: Vec<_> = machines.values().flat_map(of_machine).collect();
    let alike: Vec<_> = machines.values().copied().collect();
    let plan = |draws| Plan::of(&alike, (&grid.work, &pieces, grid.sample), draws, threads);
    let plan = grid.uncertainty.map(plan).transpose()?;
    let all = tasks.len() + plan.as_ref().map_or(0, Plan::runs);
    let part = |of: usize| move |part: f64| progress(part * of as f64 / all as f64);
    let rows = each(&tasks, threads, finished, observer, &part(tasks.len()))?;
    let drawn = plan.as_ref().map(|plan| plan.run(threads, finished, observer, &part(plan.runs()))).transpose()?;
    let unfinished = rows.iter().chain(drawn.iter().flatten()).filter(|row| row.is_none()).count();
    let by_machine: BTreeMap<_, _> = machines.into_keys().zip(rows.chunks(pieces.len().max(1))).collect();
    let of = |candidate: &Candidate| by_machine.get(candidate.resolved.digest.as_str()).copied().unwrap_or_default();
    let rows = Held { candidates, of: &of };
    let mut designs: Vec<_> = candidates.iter().filter_map(|candidate| design(candidate, grid, &rows)).collect();
    let drawn = plan.zip(drawn).filter(|_| unfinished == 0);
    let uncertainty = drawn.map(|(plan, drawn)| plan.conclude(&drawn, candidates, &mut designs));
    Ok(Compared { designs, uncertainty, pieces: all, unfinished })
}

impl Piece for Task<'_> {
    type Answer = Row;
    type Error = CompareError;

    fn key(&self) -> String {
        let Grid { what_if, sample, .. } = self.grid;
        let work = format!("{:?} {:?} {what_if} {sample:?}", self.workload.copies, self.workload.steps);
        format!("{} {}", self.candidate.resolved.digest, hex::encode(Sha256::digest(work)))
    }

    fn cost(&self) -> u64 {
        self.workload.bytes().saturating_add(OVERHEAD)
    }

    fn answer(&self, observer: &(dyn Fn() -> Control + Sync)) -> Result<Option<Row>, CompareError> {
        unless_stopped(self.run(observer))
    }
}

impl Task<'_> {
    fn run(&self, observer: &(dyn Fn() -> Control + Sync)) -> Result<Row, CompareError> {
        let Self { candidate: Candidate { name, resolved, .. }, workload, grid: Grid { what_if, sample, .. }, .. } =
            *self;
        let (machine, alone) = (&resolved.machine, workload.alone());
        let what = match alone {
            Some(copy) => format!("{name}, {} of {}", direction_name(copy.direction), Bytes(copy.bytes)),
            None => name.clone(),
        };
        let failed = |error| CompareError::Run { what: what.clone(), error };
        let (known, _) = self.outcomes.outcome(&what, (machine, false), (workload, *sample), observer)?;
        let (outcome, sampled, collectives) = &*known;
        let free = free_end(machine, (workload, *sample), collectives, observer).map_err(failed)?;
        let measure = || {
            what_if::measure(resolved, &|most| short(workload, most), 0, *what_if, &mut || observer()).map_err(failed)
        };
        let limit = alone.filter(|_| *what_if > 0).map(|_| measure()).transpose()?;
        let about = About {
            machine,
            assumed: resolved.assumed().len(),
            alone: alone.is_some(),
            collectives: free.map(|free| (collectives, free)),
        };
        let list: &[&Figure] = if alone.is_some() { COPIES } else { WORKLOADS };
        let of = |outcome| busiest(workload, outcome);
        let row = Row::of(list, about, (outcome, sampled.as_ref()), of);
        let mut row = Row { limited_by_parts: limit, ..row };
        let words = match (alone, &row.busiest_parts) {
            (Some(_), Some(busiest)) => busiest.to_string(),
            _ => in_a_word(&row),
        };
        row.cells.set(BUSIEST.name, Value::Text(words));
        if let Some(limit) = &row.limited_by_parts {
            let words = Value::Text(limit.text());
            row.cells.set(LIMITED_BY.name, words);
        }
        Ok(row)
    }
}

/// Part of a run from which on its collectives are named.
const GOOD_PART: f64 = 0.1;

/// Below this a GPU has work almost all the time: kernels.
const BARELY_IDLE: f64 = 0.1;

/// What a workload does most, in a word: `collectives` where the run would end a good part earlier without their time, `kernels` where the GPU is
/// barely idle, else who is busiest in its copies.
fn in_a_word(row: &Row) -> String {
    let number = |figure| row.number(figure).unwrap_or(0.0);
    match &row.busiest_parts {
        _ if number(&COLLECTIVES_EXPOSED) / number(&TIME).max(1.0) >= GOOD_PART => "collectives".to_owned(),
        _ if number(&IDLE) < BARELY_IDLE => "kernels".to_owned(),
        None => "-".to_owned(),
        Some(busiest) if busiest.state == NETWORK => NETWORK.to_owned(),
        Some(busiest) if figures::waits_for_kernels(busiest) => "kernels".to_owned(),
        Some(busiest) => format!("{} {}", busiest.unit, busiest.state),
    }
}

pub(super) struct Held<'f, 'r> {
    pub candidates: &'f [Candidate],
    pub of: &'f dyn Fn(&Candidate) -> &'r [Option<Row>],
}

impl<'r> Held<'_, 'r> {
    fn baseline(&self, baseline: Baseline) -> Option<&'r [Option<Row>]> {
        self.candidates.iter().find(|candidate| candidate.name == baseline.design()).map(self.of)
    }
}

/// The rows of a candidate that there are, held against those of its baselines.
pub(super) fn held<'r>(candidate: &Candidate, all: &Held<'_, 'r>) -> impl Iterator<Item = Row> {
    let own = candidate.baseline();
    (all.of)(candidate).iter().enumerate().filter_map(move |(place, row)| {
        let mut row = row.clone()?;
        for figure in [COPIES, WORKLOADS].concat() {
            let Of::Beside(other, ratio) = figure.of else { continue };
            let other = match other {
                Other::Off => Baseline::Off,
                Other::Cc => Baseline::Cc,
                Other::Own => own,
            };
            let other = all.baseline(other).and_then(|rows| rows.get(place)?.as_ref());
            other
                .filter(|_| row.cells.get(figure.name).is_some())
                .into_iter()
                .for_each(|other| row.hold(figure, ratio, other));
        }
        Some(row)
    })
}

/// The figures of a design in addition to those of the baselines; none where its only run was not made.
fn design(candidate: &Candidate, grid: &Grid, all: &Held<'_, '_>) -> Option<Design> {
    let (own, resolved) = (candidate.baseline(), &candidate.resolved);
    let mut rows = held(candidate, all);
    let figures = match grid.work {
        Work::Copies { .. } => Figures::Copies { copies: rows.collect() },
        Work::Workload { .. } => Figures::Workload(Box::new(rows.next()?)),
    };
    let summaries = resolved.designs.iter().map(|design| design.summary.as_str()).filter(|text| !text.is_empty());
    Some(Design {
        name: candidate.name.clone(),
        summary: summaries.collect::<Vec<_>>().join("; "),
        baseline: all.baseline(own).map(|_| own.design()),
        confidential_computing: resolved.machine.confidential_computing,
        config_digest: resolved.digest.clone(),
        assumed_parameters: resolved.assumed().len(),
        cost: price(&resolved.machine),
        figures,
    })
}

#[cfg(test)]
mod tests {
    use super::super::named;
    use super::*;
    use crate::{
        config::Layers,
        figures::table::{EXPOSURE, FIRST_VERIFIED, H2D_BYTES, OF_OFF, OVER_BASELINE, OVER_CC, OVER_OFF, RATE, TAGS},
        system::Memory,
        workload::{ShippedWorkload, WorkloadFile, sized},
    };
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn candidates(names: &[&str]) -> Vec<Candidate> {
        let machine = Layers::new("h100-nvl-tdx");
        names.iter().map(|name| named(&machine, name, Memory::Pinned).unwrap()).collect()
    }

    fn grid() -> Grid {
        Grid::of(Work::both_ways(&[4096, 300_000], Memory::Pinned))
    }

    fn figures(names: &[&str], threads: usize) -> Vec<Design> {
        let grid = grid();
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
            let number = |design: &Design, figure| design.rows()[place].number(figure);
            let over = |other| Some(number(direct, &RATE).unwrap() / number(other, &RATE).unwrap());
            assert_eq!(number(direct, &OVER_BASELINE), over(resealed));
            assert_eq!(number(direct, &OVER_CC), over(cc));
            assert_eq!(number(direct, &OF_OFF), over(off));
            assert_eq!(number(cc, &OVER_BASELINE), Some(1.0));
            assert_eq!((number(off, &FIRST_VERIFIED), number(off, &TAGS)), (None, Some(0.0)));
            let row = &direct.rows()[place];
            assert_eq!(way(row), Some([Direction::H2d, Direction::D2h][place / 2]));
            assert_eq!(row.number(&BYTES), Some([4096.0, 300_000.0][place % 2]));
        }
    }

    #[test]
    fn without_the_baselines_nothing_is_held_against_them() {
        let all = figures(&["direct"], 1);
        assert_eq!(all[0].baseline, None);
        let none = |figure| all[0].rows().iter().all(|row| row.number(figure).is_none());
        assert!(none(&OVER_BASELINE) && none(&OF_OFF));
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
        let (grid, candidates) = (grid(), candidates(&names));
        let (whole, folder) = (serde_json::to_value(figures(&names, 1)).unwrap(), tempfile::tempdir().unwrap());
        for command in 1..=4 {
            let finished = Finished::of(Ok(folder.path().join("below/pieces.jsonl")));
            finished.resume();
            // Each command may do three pieces more than are known, which come first.
            let (told, may) = (AtomicUsize::new(0), finished.kept().0 + 3);
            let observer = || if told.load(Ordering::Relaxed) < may { Control::Continue } else { Control::Stop };
            let tell = |_| _ = told.fetch_add(1, Ordering::Relaxed);
            let compared = compare(&candidates, &grid, 1, &finished, &observer, &tell).unwrap();
            let (known, kept) = finished.kept();
            assert_eq!(kept, Ok(()));
            assert_eq!((compared.pieces, compared.unfinished, known), (12, 12 - 3 * command, 3 * command));
            let made: usize = compared.designs.iter().map(|design| design.rows().len()).sum();
            assert_eq!(made, known);
            if compared.unfinished == 0 {
                assert_eq!(serde_json::to_value(compared.designs).unwrap(), whole);
            }
        }
    }

    fn over_a_workload(designs: &[&str], threads: usize) -> Vec<Design> {
        let name = "upload-compute-download";
        let file = WorkloadFile::parse(name, ShippedWorkload::find(name).unwrap().text.to_owned()).unwrap();
        let job = Workload::timed(sized(&file.copies, None).unwrap(), Some(file.steps));
        let work = Work::workload(name.to_owned(), None, job);
        let Work::Workload { kernels, kernels_ps, .. } = work else { panic!("a workload") };
        assert_eq!((kernels, kernels_ps), (1, 500_000_000));
        let (candidates, finished) = (candidates(designs), Finished::default());
        compare(&candidates, &Grid::of(work), threads, &finished, &|| Control::Continue, &|_| ()).unwrap().designs
    }

    #[test]
    fn a_design_is_held_against_off_and_the_machine_as_it_is() {
        let all = over_a_workload(&["off", "h100-cc", "direct"], 2);
        let number = |place: usize, figure| all[place].rows()[0].number(figure);
        assert_eq!((number(0, &OVER_OFF), number(1, &OVER_CC)), (Some(1.0), Some(1.0)));
        assert_eq!(number(2, &OVER_OFF), Some(number(2, &TIME).unwrap() / number(0, &TIME).unwrap()));
        assert_eq!(number(0, &H2D_BYTES), Some(f64::from(16 << 20)));
        assert!(number(0, &EXPOSURE) == Some(0.0) && number(1, &EXPOSURE) > Some(0.0));
        assert!(number(0, &IDLE) < number(1, &IDLE));
        assert_eq!(all[1].rows()[0].get(&BUSIEST).shown(), "host.cipher busy");
    }

    #[test]
    fn without_off_there_is_no_slowdown_and_threads_change_nothing() {
        let [one, many] =
            [1, 5].map(|threads| serde_json::to_value(over_a_workload(&["direct", "fastrack"], threads)).unwrap());
        assert_eq!(one, many);
        assert!(one[0]["slowdown_over_off"].is_null());
    }
}
