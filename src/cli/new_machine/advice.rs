//! What to measure on a machine, in which order, and what that says.

use super::super::{Failure, run::Interruption, validate::Bench};
use crate::{
    config::{MachineSpec, Resolved},
    units::Bytes,
    validate::{
        calibrate::{Step, plan},
        catalogue::Dataset,
        measured::Point,
    },
};
use miette::miette;
use std::{collections::BTreeMap, fmt::Write, path::Path};

/// Standard error, relative to the value, that is good enough for a parameter.
const GOAL: f64 = 0.05;
/// By how much a parameter is changed, in both directions, to see what a figure says about it.
const CHANGE: f64 = 1.1;
/// Sizes that may be measured.
const SIZES: [u64; 6] = [64, 4 << 10, 64 << 10, 1 << 20, 16 << 20, 64 << 20];
/// How far from its value a parameter may be found: this many times less or more.
const WITHIN: i128 = 4;

/// A parameter to be found, and those that take its value.
type Wanted = (&'static str, &'static [&'static str]);

/// What sets the rates of copies that are sealed, and of others.
const SEALED: [Wanted; 4] = [
    ("driver.push", &[]),
    ("root_complex.read_latency", &[]),
    ("cipher.seal_rate", &["cipher.open_rate"]),
    ("driver.secure_completion", &[]),
];
/// See [`SEALED`].
const PLAIN: [Wanted; 2] = [("root_complex.read_latency", &[]), ("copy_engine.turnaround", &[])];

pub struct Advice {
    wanted: Vec<Bounded>,
    points: Vec<Point>,
    steps: Vec<Step>,
    scatter: f64,
}

/// A parameter with bounds around its value, as they are written.
struct Bounded {
    path: &'static str,
    with: &'static [&'static str],
    low: String,
    high: String,
}

impl Advice {
    /// For a machine, whose measurements scatter by a part of their value.
    pub fn of(machine: &Resolved, scatter: f64) -> Result<Self, Failure> {
        let secure = machine.machine.confidential_computing;
        let wanted: &[Wanted] = if secure { &SEALED } else { &PLAIN };
        let points = candidates(secure)?;
        let changed = |factor: f64| -> Result<Vec<MachineSpec>, Failure> {
            wanted.iter().map(|wanted| Ok(changed(machine, wanted, factor)?.machine)).collect()
        };
        let (less, more) = (changed(1.0 / CHANGE)?, changed(CHANGE)?);
        let machines = || less.iter().chain(&more);
        let work: Vec<_> = machines().flat_map(|machine| points.iter().map(move |point| (machine, point))).collect();
        let figures = Bench::new(BTreeMap::new(), Interruption::listen()).simulate(&work)?;
        let (less, more) = figures.split_at(figures.len() / 2);
        let slope = |(less, more): (&f64, &f64)| (more / less).ln() / (2.0 * CHANGE.ln());
        let slopes: Vec<f64> = less.iter().zip(more).map(slope).collect();
        let slopes: Vec<_> = slopes.chunks(points.len()).map(<[f64]>::to_vec).collect();
        let bounded = |&(path, with): &Wanted| {
            let amount = machine.parameter(path).and_then(|parameter| parameter.amount).unwrap_or(1).max(1);
            let text = |amount: i128| written(machine, path, amount.max(1));
            Bounded { path, with, low: text(amount / WITHIN), high: text(amount.saturating_mul(WITHIN)) }
        };
        let wanted = wanted.iter().map(bounded).collect();
        Ok(Self { wanted, steps: plan(&slopes, scatter, GOAL), points, scatter })
    }

    pub fn text(&self, stages: Option<&Path>) -> String {
        let percent = |error: f64| if error > 0.5 { "-".to_owned() } else { format!("{:.1} %", error * 100.0) };
        let mut text = format!(
            "Measure these copies, in this order; standard errors of the parameters after each, if a measurement scatters by {}:\n",
            percent(self.scatter)
        );
        let width = self.points.iter().map(|point| point.label.chars().count()).max().unwrap_or(0);
        let paths: Vec<_> = self.wanted.iter().map(|wanted| wanted.path).collect();
        _ = writeln!(text, "      {:width$}  {}", "", paths.join("  "));
        for (step, number) in self.steps.iter().zip(1..) {
            let cells =
                step.errors.iter().zip(&paths).map(|(error, path)| format!("{:>1$}", percent(*error), path.len()));
            let cells: Vec<_> = cells.collect();
            _ = writeln!(text, "  {number:2}  {:width$}  {}", self.points[step.point].label, cells.join("  "));
        }
        let (count, parameters) = (self.steps.len(), paths.len());
        let reached = self.steps.last().is_some_and(|last| last.errors.iter().all(|error| *error <= GOAL));
        _ = match reached {
            true => writeln!(text, "These {count} determine these {parameters} parameters to {}.", percent(GOAL)),
            false => writeln!(
                text,
                "Further copies tell next to nothing of what is not known to {} by then: it needs better measurements.",
                percent(GOAL)
            ),
        };
        let stages = stages.map_or_else(|| "STAGES.toml".to_owned(), |path| path.display().to_string());
        _ = write!(
            text,
            "Then: sealsim calibrate {stages} --measured mine.csv --hw mine.toml --write mine.toml (--stages FILE writes the stage file)"
        );
        text
    }

    /// The stage file for `sealsim calibrate`.
    pub fn stages(&self) -> String {
        let mut text = "# What `sealsim new-machine` advises to find from a table of one's own, mine.csv.\n\n[[stage]]\nname = \"path\"\nparameters = [\n".to_owned();
        for Bounded { path, with, low, high } in &self.wanted {
            let with = if with.is_empty() { String::new() } else { format!(", with = {with:?}") };
            _ = writeln!(text, "  {{ path = \"{path}\"{with}, low = \"{low}\", high = \"{high}\" }},");
        }
        text.push_str("]\npoints = [{ dataset = \"mine\" }]\n");
        text
    }
}

fn changed(machine: &Resolved, (path, with): &Wanted, factor: f64) -> Result<Resolved, Failure> {
    let parameter = machine.parameter(path).and_then(|parameter| parameter.amount);
    let amount = parameter.ok_or_else(|| Failure::Config(miette!("the machine has no `{path}`")))?;
    let value = written(machine, path, (amount as f64 * factor).round().max(1.0) as i128);
    let settings: Vec<_> = std::iter::once(path).chain(*with).map(|path| format!("{path}={value}")).collect();
    Ok(machine.with(&settings)?)
}

/// An amount of a parameter's base unit, as a configuration writes it.
fn written(machine: &Resolved, path: &str, amount: i128) -> String {
    let unit = machine.parameter(path).map_or("", |parameter| parameter.unit);
    let kinds = crate::units::KINDS.iter().map(|(_, kind)| *kind);
    let kind = kinds.into_iter().find(|kind| kind.what.strip_prefix("a ").unwrap_or(kind.what) == unit);
    kind.map_or_else(|| amount.to_string(), |kind| kind.print(u64::try_from(amount).unwrap_or(u64::MAX)))
}

fn candidates(secure: bool) -> Result<Vec<Point>, Failure> {
    let mut table = "platform,mode,host_memory,direction,bytes,gb_per_s\n".to_owned();
    for mode in if secure { &["cc", "off"][..] } else { &["off"] } {
        for direction in ["h2d", "d2h"] {
            SIZES.iter().for_each(|bytes| _ = writeln!(table, "mine,{mode},pinned,{direction},{bytes},1"));
        }
    }
    let read = Dataset::read("mine", "mine.csv", &table).map_err(|error| Failure::Simulation(miette!("{error}")))?;
    let mut points: Vec<_> = read.points.into_iter().map(|(point, _)| point).collect();
    for (point, bytes) in points.iter_mut().zip(SIZES.iter().cycle()) {
        let cell = |name: &str| point.cells.get(name).cloned().unwrap_or_default();
        point.label = format!("{} {} {}", Bytes(*bytes), cell("direction"), cell("mode"));
    }
    Ok(points)
}
