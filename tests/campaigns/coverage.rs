//! How often measured figures lie within the interval that draws of the parameters give, by platform and class of point, and how wide that is.
//!
//! `SEALSIM_COVERAGE=record cargo test --release --test campaigns coverage -- --ignored` writes `validation/coverage.csv` anew.

use sealsim::{
    explore::{Draws, drawn_machines, interval_of},
    sim::Control,
    validate::{
        catalogue::{Catalogue, layers},
        class::Class,
        issue, pool,
    },
};
use std::{env, fs, path::PathBuf};

/// As many as it takes for the fifth of a hundred to lie between two of them.
const DRAWS: Draws = Draws { count: 40, seed: 1 };

/// Platforms, and the classes of their points that are judged: all points held out, and where there are none those that were seen.
const JUDGED: [(&str, Class); 8] = [
    ("p1", Class::HeldOut),
    ("p2", Class::Informed),
    ("azure-3.0.2", Class::HeldOut),
    ("azure-3.4.1", Class::HeldOut),
    ("h800", Class::HeldOut),
    ("a100", Class::HeldOut),
    ("sxm5-vm", Class::HeldOut),
    ("nccl-rtx-pro-6000", Class::Informed),
];

/// What stands for an interval without a model: as much either way.
const FIXED: f64 = 0.15;

/// Points that take minutes for all draws are left out: so many bytes are simulated at most.
const MOST_BYTES: u64 = 64 << 20;

/// What came of the points of a platform.
#[derive(Debug, Default)]
struct Judged {
    points: usize,
    held: usize,
    held_fixed: usize,
    widths: f64,
    scores: f64,
    fixed_scores: f64,
}

impl Judged {
    /// A measured figure, the interval, and the simulated figure. Widths and scores are parts of the measured figure.
    fn add(&mut self, measured: f64, between: [f64; 2], simulated: f64) {
        let fixed = [simulated * (1.0 - FIXED), simulated * (1.0 + FIXED)];
        let within = |[low, high]: [f64; 2]| usize::from((low..=high).contains(&measured));
        self.points += 1;
        self.held += within(between);
        self.held_fixed += within(fixed);
        self.widths += (between[1] - between[0]) / measured;
        self.scores += score(measured, between) / measured;
        self.fixed_scores += score(measured, fixed) / measured;
    }

    fn row(&self, platform: &str, class: Class) -> String {
        let points = self.points as f64;
        let percent = |part: f64| format!("{:.0}", 100.0 * part / points);
        let [held, fixed] = [self.held, self.held_fixed].map(|held| percent(held as f64));
        let [width, score, fixed_score] = [self.widths, self.scores, self.fixed_scores].map(percent);
        format!("{platform},{},{},{held},{width},{score},{fixed},{fixed_score}", class.name(), self.points)
    }
}

/// The interval score of Gneiting and Raftery for 90 %: the width, and 20 times what the figure lies outside.
fn score(measured: f64, [low, high]: [f64; 2]) -> f64 {
    high - low + 20.0 * ((low - measured).max(0.0) + (measured - high).max(0.0))
}

#[test]
#[ignore = "minutes: run it where ranges or figures have changed, and to write the table anew"]
fn intervals_hold_what_the_table_says() {
    let catalogue = Catalogue::shipped().unwrap();
    let mut rows = Vec::new();
    for (platform, class) in JUDGED {
        let machine = layers(&catalogue.platforms[platform]);
        let own = machine.resolve().unwrap().machine;
        let machines = drawn_machines(&machine, true, DRAWS, pool::threads()).unwrap();
        let all = catalogue.datasets.iter().flat_map(|dataset| &dataset.points);
        let is_it = |(point, known): &&(_, Class)| {
            let point: &sealsim::validate::measured::Point = point;
            point.platform == platform && *known == class && issue::bytes(point) <= MOST_BYTES
        };
        let points: Vec<_> = all.filter(is_it).map(|(point, _)| point).collect();
        let run = |machine, point| issue::simulate(machine, point, &mut |_| Control::Continue).ok();
        let pairs: Vec<_> =
            points.iter().flat_map(|point| machines.iter().map(move |machine| (machine, *point))).collect();
        let figures = pool::map(
            &pairs,
            pool::threads(),
            |(_, point)| issue::bytes(point),
            |(machine, point)| Ok::<_, ()>(run(machine, point)),
        );
        let figures = figures.unwrap();
        let mut judged = Judged::default();
        for (point, drawn) in points.iter().zip(figures.chunks(machines.len())) {
            let drawn: Vec<f64> = drawn.iter().copied().flatten().collect();
            assert!(drawn.len() * 2 > machines.len(), "{}: most draws gave no answer", point.label);
            judged.add(point.measured, interval_of(&drawn).unwrap(), run(&own, point).unwrap());
        }
        rows.push(judged.row(platform, class));
        println!("{}", rows.last().unwrap());
    }
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("validation/coverage.csv");
    let head = "platform,class,points,held_percent,width_percent,score_percent,fixed_held_percent,fixed_score_percent";
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
