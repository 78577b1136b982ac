//! What the points that machines were fitted to say about the ranges of their parameters: `validation/ranges.csv`, and whether the machines state them.
//!
//! A value stays in a range if, with all others at their own, it adds to the mean square error of no curve more than the fit has left in that data set.
//! The table has the ranges that this cuts; [`adds_too_much`] is the rule.

use sealsim::{
    config::{Layers, MachineSpec},
    pool,
    sim::Control,
    system::Direction,
    validate::{
        catalogue::Catalogue,
        class::Class,
        measured::{Experiment, HostMemory, Mode, Point},
        reproduce,
    },
};
use std::{collections::BTreeMap, fs, path::PathBuf};

/// Machines whose fitted points cut ranges, and the data sets of these.
const CUT_BY: [(&str, &[&str]); 2] = [
    ("h100-nvl-tdx", &["p1-spans", "p1-ce-fits", "p1-api", "p1-bandwidth"]),
    ("h100-tdx-gen5", &["p2-bandwidth", "p2-dense"]),
];

/// A row of the table: a parameter, the machine whose fitted points cut its range, the range that was assumed or that its calibration gave, and what the
/// points leave of it. Before the ranges stands by which values a machine has the part that the row holds for.
struct Row {
    path: String,
    machine: String,
    before: [String; 2],
    cut: [String; 2],
}

fn rows() -> Vec<Row> {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("validation/ranges.csv");
    let text = fs::read_to_string(file).unwrap();
    let row = |line: &str| {
        let cells: Vec<String> = line.split(',').map(str::to_owned).collect();
        let [path, machine, _, from, to, low, high] = <[String; 7]>::try_from(cells).unwrap();
        Row { path, machine, before: [from, to], cut: [low, high] }
    };
    text.lines().skip(1).map(row).collect()
}

#[test]
fn machines_state_the_ranges_of_the_table() {
    for Row { path, machine, before, cut } in rows() {
        let machine = Layers::new(machine).resolve().unwrap();
        let one = machine.parameter(&path).unwrap_or_else(|| panic!("there is no {path}"));
        // A range without another value is none.
        let bounds =
            [&one.provenance.low, &one.provenance.high].map(|end| end.clone().unwrap_or_else(|| one.value.clone()));
        assert_eq!(bounds, cut, "{path}");
        assert!(one.provenance.source.contains("validation/ranges.csv"), "{path}: {}", one.provenance.source);
        assert_ne!(before, cut, "{path} is not cut");
    }
}

/// Whether a fitted point is looked at: all single copies; of bandwidths, which take a hundred copies, few sizes that wait for different things.
fn judges(point: &Point) -> bool {
    match &point.experiment {
        Experiment::Call(_) | Experiment::Span(_) => true,
        Experiment::Bandwidth(copy) if point.platform == "p2" => match (point.mode, copy.direction) {
            (Mode::Cc, Direction::H2d) => true,
            _ => [4, 8, 64, 72, 256, 264].contains(&(copy.bytes >> 10)),
        },
        Experiment::Bandwidth(copy) => match (point.mode, copy.memory) {
            (_, HostMemory::Device) => false,
            (Mode::Off, HostMemory::Pinned) => [64, 8 << 10, 256 << 10].contains(&copy.bytes),
            (Mode::Off, _) => [64, 8 << 10].contains(&copy.bytes),
            (Mode::Cc, HostMemory::Pinned) => [64, 4 << 10, 1 << 20].contains(&copy.bytes),
            (Mode::Cc, _) => [64, 32 << 10].contains(&copy.bytes),
        },
        _ => false,
    }
}

/// Mean squares of errors, each the logarithm of simulated over measured: of data sets, and of their curves. Long copies of a bandwidth are a curve of
/// their own, since they wait for other things than short ones.
#[derive(Default)]
struct Errors {
    datasets: BTreeMap<String, f64>,
    curves: BTreeMap<(String, String), f64>,
}

impl Errors {
    fn of(machine: &MachineSpec, points: &[(String, Point)]) -> Self {
        let (mut datasets, mut curves) = (BTreeMap::<_, Vec<f64>>::new(), BTreeMap::<_, Vec<f64>>::new());
        for (dataset, point) in points {
            let simulated = reproduce::simulate(machine, point, &mut |_| Control::Continue).unwrap();
            let square = (simulated / point.measured).ln().powi(2);
            let cell = |column: &str| point.cells.get(column).map_or("", String::as_str);
            let long = matches!(point.experiment, Experiment::Bandwidth(copy) if copy.bytes > 128 << 10);
            let curve = format!("{} {} {} {long}", cell("mode"), cell("host_memory"), cell("direction"));
            datasets.entry(dataset.clone()).or_default().push(square);
            curves.entry((dataset.clone(), curve)).or_default().push(square);
        }
        let mean = |squares: Vec<f64>| squares.iter().sum::<f64>() / squares.len() as f64;
        Self {
            datasets: datasets.into_iter().map(|(name, squares)| (name, mean(squares))).collect(),
            curves: curves.into_iter().map(|(name, squares)| (name, mean(squares))).collect(),
        }
    }

    /// The first curve whose error these make greater by more than there is in its data set.
    fn adds_too_much(&self, with: &Self) -> Option<&(String, String)> {
        let more = |(name, own): &(&(String, String), &f64)| with.curves[*name] > *own + self.datasets[&name.0];
        self.curves.iter().find(more).map(|(name, _)| name)
    }
}

#[test]
#[ignore = "minutes: run it where a range, a figure or the rule has changed"]
fn fitted_points_leave_the_ranges_of_the_table() {
    let catalogue = Catalogue::shipped().unwrap();
    let of = |name: &str| catalogue.datasets.iter().find(|dataset| dataset.name == name).unwrap();
    let fitted = |name: &str| {
        let points = of(name).points.iter().filter(|(point, class)| *class == Class::Fitted && judges(point));
        points.map(|(point, _)| (name.to_owned(), point.clone())).collect::<Vec<_>>()
    };
    for (name, datasets) in CUT_BY {
        let points: Vec<_> = datasets.iter().flat_map(|dataset| fitted(dataset)).collect();
        leave_the_ranges(name, &points);
    }
}

fn leave_the_ranges(name: &str, points: &[(String, Point)]) {
    let machine = |setting: Option<String>| {
        let layers = setting.into_iter().fold(Layers::new(name), |layers, setting| layers.set(setting));
        layers.resolve().map(|resolved| resolved.machine)
    };
    let own = Errors::of(&machine(None).unwrap(), points);
    // The ends of what is left are kept, and those that were cut off are not.
    let ends = rows().into_iter().filter(|row| row.machine == name).flat_map(|row| {
        let [before, cut] = [row.before, row.cut];
        before
            .into_iter()
            .zip(cut)
            .filter(|(before, cut)| before != cut)
            .map(move |(before, cut)| (row.path.clone(), before, cut))
    });
    let ends: Vec<_> = ends.collect();
    let judged = |(path, before, cut): &(String, String, String)| {
        let with = |value: &str| machine(Some(format!("{path}={value}"))).map(|machine| Errors::of(&machine, points));
        // A push that does not hold the machine's own message makes no machine by itself, and is not judged.
        let kept = with(cut).ok().and_then(|with| own.adds_too_much(&with).cloned());
        assert_eq!(kept, None, "{name}: {path} = {cut}");
        // What makes no machine was not cut for its errors.
        let gone = with(before).map_or(true, |with| own.adds_too_much(&with).is_some());
        assert!(gone, "{name}: {path} = {before} adds little");
        Ok::<_, ()>(())
    };
    pool::map(&ends, pool::threads(), |_| 0, judged).unwrap();
}
