//! How often measured figures lie within the interval that draws of the parameters give, by platform and class of point, and how wide that is.
//!
//! `SEALSIM_COVERAGE=record cargo test --release --test campaigns coverage -- --ignored` writes `validation/coverage.csv` anew.

use sealsim::{
    explore::{Draws, OF_CALLS, ON_DEVICE, drawn_machines, interval_of, widened},
    sim::Control,
    validate::{
        catalogue::{Catalogue, Dataset, layers},
        class::Class,
        issue,
        measured::{Experiment, Point},
        pool,
    },
};
use std::{collections::BTreeMap, env, fs, path::PathBuf};

/// Few, since all points of a platform share them, and each costs a machine: the fifth of a hundred is just inside the least of them.
const DRAWS: Draws = Draws { count: 12, seed: 1 };

/// Platforms with points held out, but for H800 and A100, whose two each take minutes. Both are judged by the residual of the first, the only one with
/// fitted points of each kind.
const JUDGED: [&str; 2] = ["p1", "sxm5-vm"];

/// What stands for an interval without a model: as much either way.
const FIXED: f64 = 0.15;

/// Points that take minutes for all draws are left out: so many bytes are simulated at most.
const MOST_BYTES: u64 = 128 << 20;

/// Points of a curve, which err together: so many of them at most, spread evenly over it.
const OF_CURVE: usize = 2;

/// What points of one curve have in common: all columns but the size.
fn curve(point: &Point) -> Vec<(&str, &str)> {
    let cells = point.cells.iter().filter(|(column, _)| !matches!(column.as_str(), "bytes" | "place"));
    cells.map(|(column, cell)| (column.as_str(), cell.as_str())).collect()
}

/// A few points of each curve.
fn thinned<'p>(points: &[&'p Point]) -> Vec<&'p Point> {
    let mut curves: BTreeMap<_, Vec<&Point>> = BTreeMap::new();
    points.iter().for_each(|point| curves.entry(curve(point)).or_default().push(*point));
    let few = |points: Vec<&'p Point>| {
        let taken = points.len().min(OF_CURVE);
        (0..taken).map(move |place| points[(2 * place + 1) * points.len() / (2 * taken)]).collect::<Vec<_>>()
    };
    curves.into_values().flat_map(few).collect()
}

/// What figures are compared as; the fitted points of p1 leave each a residual of its own.
#[derive(Clone, Copy, PartialEq)]
enum Figure {
    /// Rates of copies back to back.
    Rate,
    /// Times of single calls.
    Call,
    /// Times on the device.
    Device,
}

fn figure(point: &Point) -> Figure {
    match point.experiment {
        Experiment::Bandwidth(_) | Experiment::Overlap(_) => Figure::Rate,
        Experiment::Call(_) => Figure::Call,
        _ => Figure::Device,
    }
}

/// How some intervals do.
#[derive(Debug, Default)]
struct Sums {
    held: usize,
    widths: f64,
    scores: f64,
}

impl Sums {
    /// Widths and scores are parts of the measured figure.
    fn add(&mut self, measured: f64, between: [f64; 2]) {
        self.held += usize::from((between[0]..=between[1]).contains(&measured));
        self.widths += (between[1] - between[0]) / measured;
        self.scores += score(measured, between) / measured;
    }

    fn cells(&self, points: usize) -> String {
        let percent = |sum: f64| format!("{:.0}", 100.0 * sum / points as f64);
        [self.held as f64, self.widths, self.scores].map(percent).join(",")
    }
}

/// The interval score of Gneiting and Raftery for 90 %: the width, and 20 times what the figure lies outside.
fn score(measured: f64, [low, high]: [f64; 2]) -> f64 {
    high - low + 20.0 * ((low - measured).max(0.0) + (measured - high).max(0.0))
}

/// The residual of the fitted points of p1 that a figure is compared as.
fn residual(catalogue: &Catalogue, of: Figure) -> f64 {
    let machine = layers(&catalogue.platforms["p1"]).resolve().unwrap().machine;
    let fitted = chosen(catalogue, "p1", Class::Fitted);
    let square = |point: &Point| {
        let simulated = issue::simulate(&machine, point, &mut |_| Control::Continue).unwrap();
        (simulated / point.measured).ln().powi(2)
    };
    let squares: Vec<f64> = fitted.iter().filter(|point| figure(point) == of).map(square).collect();
    (squares.iter().sum::<f64>() / squares.len() as f64).sqrt()
}

/// A few points of each curve of a platform.
fn chosen(catalogue: &Catalogue, platform: &str, class: Class) -> Vec<Point> {
    let is_it = |(point, known): &&(Point, Class)| {
        point.platform == platform && *known == class && issue::bytes(point) <= MOST_BYTES
    };
    let of = |dataset: &Dataset| {
        let points: Vec<_> = dataset.points.iter().filter(is_it).map(|(point, _)| point).collect();
        thinned(&points).into_iter().cloned().collect::<Vec<_>>()
    };
    catalogue.datasets.iter().flat_map(of).collect()
}

#[test]
#[ignore = "minutes: run it where ranges or figures have changed, and to write the table anew"]
fn intervals_hold_what_the_table_says() {
    let catalogue = Catalogue::shipped().unwrap();
    let residuals = [Figure::Rate, Figure::Call, Figure::Device].map(|of| residual(&catalogue, of));
    // What the program states is what is left.
    for (found, stated) in residuals[1..].iter().zip([OF_CALLS, ON_DEVICE]) {
        assert!((found - stated).abs() <= 0.005, "{found} against {stated}");
    }
    let mut rows = Vec::new();
    for platform in JUDGED {
        let machine = layers(&catalogue.platforms[platform]);
        let own = machine.resolve().unwrap().machine;
        let machines = drawn_machines(&machine, false, DRAWS, pool::threads()).unwrap();
        let points = chosen(&catalogue, platform, Class::HeldOut);
        let run = |machine, point| issue::simulate(machine, point, &mut |_| Control::Continue).ok();
        let pairs: Vec<_> =
            points.iter().flat_map(|point| machines.iter().map(move |machine| (machine, point))).collect();
        let figures = pool::map(
            &pairs,
            pool::threads(),
            |(_, point)| issue::bytes(point),
            |(machine, point)| Ok::<_, ()>(run(machine, point)),
        );
        let figures = figures.unwrap();
        let [mut draws, mut whole, mut fixed] = [(); 3].map(|()| Sums::default());
        for (point, drawn) in points.iter().zip(figures.chunks(machines.len())) {
            let drawn: Vec<f64> = drawn.iter().copied().flatten().collect();
            assert!(drawn.len() * 2 > machines.len(), "{}: most draws gave no answer", point.label);
            let (between, simulated) = (interval_of(&drawn).unwrap(), run(&own, point).unwrap());
            draws.add(point.measured, between);
            whole.add(point.measured, widened(between, simulated, residuals[figure(point) as usize]));
            fixed.add(point.measured, [simulated * (1.0 - FIXED), simulated * (1.0 + FIXED)]);
        }
        let cells = [draws, whole, fixed].map(|sums| sums.cells(points.len())).join(",");
        rows.push(format!("{platform},{},{cells}", points.len()));
        println!("{}", rows[rows.len() - 1]);
    }
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("validation/coverage.csv");
    let head = "platform,points,held_percent,width_percent,score_percent,with_residual_held_percent,with_residual_width_percent,\
                with_residual_score_percent,fixed_held_percent,fixed_width_percent,fixed_score_percent";
    let table = format!("{head}\n{}\n", rows.join("\n"));
    if env::var("SEALSIM_COVERAGE").is_ok_and(|how| how == "record") {
        fs::write(&file, table).unwrap();
    } else {
        assert_eq!(table, fs::read_to_string(&file).expect("validation/coverage.csv: record it first"));
    }
}

#[test]
fn an_interval_scores_its_width_and_what_lies_outside() {
    assert_eq!(score(5.0, [4.0, 6.0]), 2.0);
    assert_eq!(score(3.0, [4.0, 6.0]), 2.0 + 20.0);
    assert_eq!(score(6.5, [4.0, 6.0]), 2.0 + 10.0);
}
