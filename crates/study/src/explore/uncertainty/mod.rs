//! What figures of a comparison may be, given how far the parameters are known.
//!
//! ```text
//!   numbers with a stated range --> Latin hypercube: the same draws for all designs --> a run of each piece of work for each draw
//!                                                                                                  |
//!        5 to 95 % of the draws, by figure <-- rates, gains, times, exposure, area of each draw <--+
//!        how often a design is faster than another, draw by draw <---------------------------------+
//! ```
//!
//! **Designs are compared alike.** What a design states (a shipped one, a user's file, `--set`) is a choice, and is pinned; what only the machine states is
//! not known, and is drawn. What one design of a comparison states is pinned in all of them: in the others it is as the machine states it. So a parameter
//! that is drawn has one value in a draw, in every design. Where a value makes no machine with some design, it moves for all of them. A design's own range
//! is for `sensitivity`, which asks what of a design matters.
//!
//! Rates and times of a copy are then wider by what the fitted model leaves (`residuals`), which is common to all designs: it cancels in gains and in pairs.
//! Draws of different parameters are independent: no fit of this repository states a correlation.

mod residual;

pub use residual::{OF_ANOTHER_HOST, OF_CALLS, ON_DEVICE, Residual, widened};
pub(super) use residual::{residuals, with_residual};

use super::{
    candidate::Candidate,
    compare::{Design, Held, held, way},
    finished::{Finished, Piece, each},
    sensitivity::{
        Range,
        draw::{self, Drawn},
        variant::Variant,
        varied,
    },
    work::{CompareError, Work, free_end, run_workload, unless_stopped},
};
use crate::{
    config::{Base, Layers, MachineSpec, Refusal},
    figures::{
        About, Figure, Of, Row, Value,
        price::price,
        table::{BYTES, COPIES, RATE, TIME, WORKLOADS},
    },
    pool,
    sampling::Sample,
    sim::Control,
    workload::{Workload, direction_name},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::{
    cmp::Ordering::{Equal, Greater, Less},
    collections::BTreeMap,
    convert::Infallible,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct Draws {
    #[serde(rename = "draws")]
    pub count: u32,
    #[serde(default = "first")]
    pub seed: u64,
}

const fn first() -> u64 {
    1
}

/// What was drawn, and who was faster. Every field is described in `docs/results.md`.
#[derive(Debug, Clone, Serialize)]
pub struct Uncertainty {
    /// Draws that gave an answer for every design.
    pub draws: usize,
    /// Draws that did not: they are left out for all.
    pub refused: usize,
    pub seed: u64,
    pub varied: usize,
    /// Values per draw, on the average, that contradicted others and were moved to the nearest that makes a machine.
    pub moved_per_draw: f64,
    /// What the model leaves where it was fitted, by which rates and times of copies are wider than the draws; none of workloads.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub residuals: Vec<Residual>,
    /// For each piece of work, each design against each that comes after it.
    pub pairs: Vec<Pair>,
}

/// Two designs that do the same work, draw by draw.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pair {
    pub design: String,
    pub other: String,
    /// Of copies one by one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub direction: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Part of the draws in which `design` is faster than `other`.
    pub faster: f64,
    pub slower: f64,
    /// And in which both are equally fast.
    pub equal: f64,
}

/// Where an interval of draws ends.
const ENDS: [f64; 2] = [0.05, 0.95];

/// What is drawn for the machines of a comparison.
pub(super) struct Plan<'c> {
    draws: Draws,
    work: &'c Work,
    pieces: &'c [Workload],
    sample: Option<Sample>,
    /// A machine each, no two alike.
    variants: Vec<Variant>,
    ranges: Vec<Range>,
    points: Vec<Drawn>,
    /// By draw: where in the range of its technology an area or an energy lies, for all designs alike.
    technology: Vec<f64>,
}

/// By draw, variant and piece: what ran. Nothing where the draw makes no machine that does the work.
pub(super) type Rows = Vec<Option<Row>>;

impl<'c> Plan<'c> {
    /// Draws for these candidates, no two of which are the same machine.
    pub fn of(
        candidates: &[&Candidate],
        (work, pieces, sample): (&'c Work, &'c [Workload], Option<Sample>),
        draws: Draws,
        threads: usize,
    ) -> Result<Self, CompareError> {
        let variant = |candidate: &&Candidate| {
            let base = candidate.layers.clone().base()?;
            Ok::<_, CompareError>(Variant { name: candidate.name.clone(), base, against: 0, pins_designs: true })
        };
        let variants = candidates.iter().map(variant).collect::<Result<Vec<_>, _>>()?;
        let (ranges, points) = drawn(&variants, &[], work.calls_collectives(), draws, threads);
        let technology = draw::parts("technology", draws.count, draws.seed).collect();
        Ok(Self { draws, work, pieces, sample, variants, ranges, points, technology })
    }

    pub const fn runs(&self) -> usize {
        self.points.len() * self.variants.len() * self.pieces.len()
    }

    /// Makes the runs that are not finished.
    pub fn run(
        &self,
        threads: usize,
        finished: &Finished<Row>,
        observer: &(dyn Fn() -> Control + Sync),
        progress: &(dyn Fn(f64) + Sync),
    ) -> Result<Rows, CompareError> {
        let (variants, pieces) = (self.variants.len(), self.pieces.len());
        let draw = |number: usize| {
            let [draw, variant, piece] = [number / pieces / variants, number / pieces % variants, number % pieces];
            Draw { plan: self, draw, variant, piece }
        };
        let draws: Vec<_> = (0..self.runs()).map(draw).collect();
        each(&draws, threads, finished, observer, progress)
    }

    /// Puts intervals on the figures of designs, whose rows are those of all pieces, and says who is faster.
    pub fn conclude(&self, rows: &Rows, candidates: &[Candidate], designs: &mut [Design]) -> Uncertainty {
        let pieces = self.pieces.len();
        let whole: Vec<&[Option<Row>]> = rows.chunks(self.variants.len() * pieces).collect();
        let answered = |draw: &&&[Option<Row>]| draw.iter().flatten().all(|row| !row.cells.0.is_empty());
        let answered: Vec<_> = whole.iter().filter(answered).collect();
        let place = |candidate: &Candidate| {
            let is_it = |variant: &Variant| variant.base.resolved().digest == candidate.resolved.digest;
            self.variants.iter().position(is_it).unwrap_or_default()
        };
        // By draw, design and piece.
        let of_draw = |draw: &&&[Option<Row>]| -> Vec<Vec<Row>> {
            let of = |candidate: &Candidate| &draw[place(candidate) * pieces..][..pieces];
            let all = Held { candidates, of: &of };
            candidates.iter().map(|candidate| held(candidate, &all).collect()).collect()
        };
        let drawn: Vec<Vec<Vec<Row>>> = answered.iter().map(of_draw).collect();
        let residuals = match self.work {
            Work::Copies { .. } => residuals(self.variants[0].base.resolved(), COPIES),
            Work::Workload { .. } => Vec::new(),
        };
        for (place, design) in designs.iter_mut().enumerate() {
            for (piece, row) in design.rows_mut().iter_mut().enumerate() {
                let rows: Vec<_> = drawn.iter().map(|draw| &draw[place][piece]).collect();
                let drawn = list(self.work).iter().filter_map(|figure| Some((*figure, interval(figure, &rows)?)));
                let wide = |(figure, (name, drawn)): (&Figure, (String, [f64; 2]))| {
                    let wide = with_residual(&residuals, &name, drawn, row.number(figure));
                    (name, wide)
                };
                let intervals = drawn.map(wide).collect();
                row.interval_90 = intervals;
            }
        }
        let moved: usize = self.points.iter().map(|point| point.moved.len()).sum();
        Uncertainty {
            draws: answered.len(),
            refused: whole.len() - answered.len(),
            seed: self.draws.seed,
            varied: self.ranges.len(),
            moved_per_draw: moved as f64 / self.points.len().max(1) as f64,
            residuals,
            pairs: pairs(designs, &drawn),
        }
    }
}

/// A machine of which what designs state stays.
const fn nameless(base: Base) -> Variant {
    Variant { name: String::new(), base, against: 0, pins_designs: true }
}

/// What is drawn for machines, and where: what none of their designs states, but for paths that are `chosen`. What no run looks at is not drawn: `calls` are
/// those of profiles, and `fabric` is of collectives.
fn drawn(
    variants: &[Variant],
    chosen: &[&str],
    collectives: bool,
    draws: Draws,
    threads: usize,
) -> (Vec<Range>, Vec<Drawn>) {
    let (mut ranges, _) = varied(variants);
    ranges.retain(|Range { path, applies, .. }| {
        let looked_at = !path.starts_with("calls.") && (collectives || !path.starts_with("fabric."));
        looked_at && !chosen.contains(&path.as_str()) && applies.iter().all(|applies| *applies)
    });
    let points = draw::hypercube(&ranges, draws.count, draws.seed);
    let repaired = |point: &Vec<_>| Ok::<_, Infallible>(draw::repaired(variants, &ranges, point));
    let Ok(points) = pool::map(&points, threads, |_| 0, repaired);
    (ranges, points)
}

/// What draws give, by figure: a number for each, none where the draw gave no answer.
pub(super) type Numbers = BTreeMap<String, Vec<Option<f64>>>;

/// Draws for some designs over a machine, which those with a few settings on them share.
#[derive(Debug)]
pub(super) struct MachineDraws {
    ranges: Vec<Range>,
    points: Vec<Drawn>,
    technology: Vec<f64>,
}

impl MachineDraws {
    /// The paths that are `chosen` are pinned, as what a design states.
    pub fn of<'b>(bases: impl Iterator<Item = &'b Base>, chosen: &[&str], collectives: bool, draws: Draws) -> Self {
        let variants: Vec<_> = bases.map(|base| nameless(base.clone())).collect();
        let (ranges, points) = drawn(&variants, chosen, collectives, draws, pool::threads());
        Self { ranges, points, technology: draw::parts("technology", draws.count, draws.seed).collect() }
    }

    /// The figures with ends of some work, on the machine with `settings`, whose paths were `chosen`. A draw that they contradict is moved to the nearest
    /// that makes a machine. None if it was stopped.
    pub fn figures(
        &self,
        machine: Layers,
        settings: &[String],
        (list, what): (&[&'static Figure], (&Workload, Option<Sample>)),
        observer: &(dyn Fn() -> Control + Sync),
    ) -> Result<Option<Numbers>, CompareError> {
        let base = settings.iter().fold(machine, |layers, setting| layers.set(setting)).base()?;
        let variants = [Variant { name: "a draw".to_owned(), ..nameless(base) }];
        let list: Vec<_> = list.iter().copied().filter(|figure| figure.has_ends()).collect();
        let mut numbers: Numbers = list.iter().map(|figure| (figure.name.to_owned(), Vec::new())).collect();
        for (point, technology) in self.points.iter().zip(&self.technology) {
            let drawn = draw::repaired(&variants, &self.ranges, &point.settings).settings;
            let settings = draw::of_variant(&self.ranges, &drawn, 0);
            let ran = variants[0]
                .base
                .varied(&settings)
                .map_err(CompareError::from)
                .and_then(|varied| ended(&list, (&variants[0].name, &varied.machine), what, *technology, observer));
            let row = match unless_stopped(ran) {
                Ok(None) => return Ok(None),
                Ok(Some(row)) => row,
                Err(_) => Row::default(),
            };
            for figure in &list {
                let number = row.number(figure).filter(|number| number.is_finite()).map(rounded);
                numbers.entry(figure.name.to_owned()).or_default().push(number);
            }
        }
        Ok(Some(numbers))
    }
}

/// A number to six digits, which is more than draws tell apart.
fn rounded(number: f64) -> f64 {
    format!("{number:.5e}").parse().unwrap_or(number)
}

/// The machines that draws make of one; `collectives` if these are run.
pub fn drawn_machines(
    machine: &Layers,
    collectives: bool,
    draws: Draws,
    threads: usize,
) -> Result<Vec<MachineSpec>, Refusal> {
    let variants = [nameless(machine.clone().base()?)];
    let (ranges, points) = drawn(&variants, &[], collectives, draws, threads);
    let machine = |point: &Drawn| variants[0].base.varied(&draw::of_variant(&ranges, &point.settings, 0));
    points.iter().map(|point| machine(point).map(|varied| varied.machine)).collect()
}

/// The 5th and the 95th percentile of the numbers that draws gave; none of none.
pub fn interval_of(numbers: &[f64]) -> Option<[f64; 2]> {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    let [low, high] = ENDS.map(|part| percentile(&sorted, part));
    Some([low?, high?])
}

const fn list(work: &Work) -> &'static [&'static Figure] {
    match work {
        Work::Copies { .. } => COPIES,
        Work::Workload { .. } => WORKLOADS,
    }
}

/// The 5th and the 95th percentile of a figure that has ends, by its name; none where a draw has no such number.
fn interval(figure: &Figure, rows: &[&Row]) -> Option<(String, [f64; 2])> {
    figure.has_ends().then_some(())?;
    let numbers = rows.iter().map(|row| row.number(figure)).collect::<Option<Vec<f64>>>()?;
    Some((figure.name.to_owned(), interval_of(&numbers)?))
}

/// What so great a part of sorted numbers lies below: on the line between two, of which number n of N stands for the part (n - 1/2) / N, as draws do.
pub(super) fn percentile(sorted: &[f64], part: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let place = (part * sorted.len() as f64 - 0.5).clamp(0.0, last as f64);
    let (below, above) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    Some(below + (above - below) * place.fract())
}

fn pairs(designs: &[Design], drawn: &[Vec<Vec<Row>>]) -> Vec<Pair> {
    let mut pairs = Vec::new();
    let pieces = designs.first().map_or(0, |design| design.rows().len());
    for piece in 0..pieces {
        for (place, design) in designs.iter().enumerate() {
            let row = &design.rows()[piece];
            let direction = way(row).map(direction_name);
            let bytes = direction.map(|_| row.cells.count(&BYTES));
            for (further, other) in designs.iter().enumerate().skip(place + 1) {
                let order = |draw: &Vec<Vec<Row>>| speed(&draw[place][piece]).total_cmp(&speed(&draw[further][piece]));
                let count = |wanted| {
                    let orders = drawn.iter().map(order);
                    orders.filter(|order| *order == wanted).count() as f64 / drawn.len().max(1) as f64
                };
                let [faster, slower, equal] = [Greater, Less, Equal].map(count);
                let (design, other) = (design.name.clone(), other.name.clone());
                pairs.push(Pair { design, other, direction, bytes, faster, slower, equal });
            }
        }
    }
    pairs
}

/// The rate of a copy; of a workload, what is greater the sooner it ends.
fn speed(row: &Row) -> f64 {
    row.number(&RATE).or_else(|| row.number(&TIME).map(|time| -time)).unwrap_or_default()
}

/// A piece of work on one machine of one draw.
struct Draw<'p> {
    plan: &'p Plan<'p>,
    draw: usize,
    variant: usize,
    piece: usize,
}

impl Draw<'_> {
    fn settings(&self) -> Vec<String> {
        draw::of_variant(&self.plan.ranges, &self.plan.points[self.draw].settings, self.variant)
    }
}

impl Piece for Draw<'_> {
    type Answer = Row;
    type Error = CompareError;

    fn key(&self) -> String {
        let (plan, workload) = (self.plan, &self.plan.pieces[self.piece]);
        let technology = plan.technology[self.draw];
        let what =
            format!("{:?} {:?} {:?} {technology} {:?}", workload.copies, workload.steps, plan.sample, self.settings());
        format!("{} draw {}", plan.variants[self.variant].base.resolved().digest, hex::encode(Sha256::digest(what)))
    }

    fn cost(&self) -> u64 {
        self.plan.pieces[self.piece].bytes().saturating_add(super::compare::OVERHEAD)
    }

    /// What ran; a row without figures where nothing can.
    fn answer(&self, observer: &(dyn Fn() -> Control + Sync)) -> Result<Option<Row>, CompareError> {
        match unless_stopped(self.ran(observer)) {
            Err(_) => Ok(Some(Row::default())),
            answer => answer,
        }
    }
}

impl Draw<'_> {
    fn ran(&self, observer: &(dyn Fn() -> Control + Sync)) -> Result<Row, CompareError> {
        let Plan { variants, pieces, sample, technology, work, .. } = self.plan;
        let (variant, workload) = (&variants[self.variant], &pieces[self.piece]);
        let machine = &variant.base.varied(&self.settings())?.machine;
        let list: Vec<_> = list(work).iter().copied().filter(|figure| figure.has_ends()).collect();
        ended(&list, (&variant.name, machine), (workload, *sample), technology[self.draw], observer)
    }
}

/// Figures with ends, of some work on a machine; `technology` is where in the range of its technology an area or an energy lies.
fn ended(
    list: &[&'static Figure],
    (name, machine): (&str, &MachineSpec),
    what: (&Workload, Option<Sample>),
    technology: f64,
    observer: &(dyn Fn() -> Control + Sync),
) -> Result<Row, CompareError> {
    let (outcome, _, collectives) = run_workload(name, machine, what, observer)?;
    let failed = |error| CompareError::Run { what: name.to_owned(), error };
    let free = free_end(machine, what, &collectives, observer).map_err(failed)?;
    let alone = what.0.alone();
    let collectives = free.map(|free| (&collectives, free));
    let about = About { machine, assumed: 0, alone: alone.is_some(), collectives };
    let mut row = Row::of(list, about, (&outcome, None), |_| None);
    let (price, way) = (price(machine), alone.map(|copy| copy.direction));
    for figure in list {
        if let Of::Between(of) = figure.of {
            let within = of(&price, way).map(|known| known.low + (known.high - known.low) * technology);
            row.cells.set(figure.name, Value::from(within));
        }
    }
    Ok(row)
}

#[cfg(test)]
mod tests;
