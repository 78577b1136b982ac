//! Machines, data sets and threads, for the verbs that hold one against the other.

use super::super::{Failure, output, run::Interruption, watch::bar};
use super::register::name;
use crate::{
    config::{Layers, MachineSpec, Resolved},
    files::read_text,
    pool,
    sim::SimulationError,
    system::RunError,
    units::Bytes,
    validate::{
        catalogue::{self, Catalogue, Dataset},
        class::Class,
        measured::{Mode, Point, bandwidth_test, is_bandwidth_test, is_nccl, is_nvbandwidth, nccl, nvbandwidth},
        reproduce::{self, ReproduceError},
        score::DatasetScore,
    },
};
use clap::ValueEnum;
use miette::miette;
use std::{collections::BTreeMap, path::Path};

pub fn catalogue() -> Result<Catalogue, Failure> {
    Ok(Catalogue::shipped()?)
}

const LONGEST_TABLE: Bytes = Bytes(16 << 20);

/// A user's table, named after its file. What benchmarks print does not say in which mode it was made.
pub fn read_dataset(path: &Path, mode: TableMode) -> Result<Dataset, Failure> {
    let mut text = table_text(path)?;
    let mode = if mode == TableMode::Cc { Mode::Cc } else { Mode::Off };
    let wrong = |why| Failure::InputOutput(miette!("{}: {why}", path.display()));
    if is_nccl(&text) {
        text = nccl(&name(path), &text, mode).map_err(wrong)?;
    }
    if is_bandwidth_test(&text) {
        text = bandwidth_test(&text, mode).map_err(wrong)?;
    }
    if is_nvbandwidth(&text) {
        let found = nvbandwidth(&text, mode).map_err(wrong)?;
        output::complain(format_args!("{}: used as {}: {}", path.display(), mode.name(), found.used.join(", ")));
        for (case, why) in &found.left_out {
            output::complain(format_args!("{}: left out: {case}, {why}", path.display()));
        }
        text = found.table;
    }
    Dataset::read(&name(path), &path.display().to_string(), &text).map_err(Failure::from)
}

/// Whether confidential computing was on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TableMode {
    /// It was off
    Off,
    /// It was on
    Cc,
}

pub fn table_text(path: &Path) -> Result<String, Failure> {
    read_text(path, LONGEST_TABLE).map_err(Failure::of_file)
}

pub type Machines = BTreeMap<String, Resolved>;

pub struct Bench {
    /// The machine for every platform, if one was given.
    pub hw: Option<String>,
    pub designs: Vec<String>,
    pub settings: Vec<String>,
    /// Points at the same time.
    pub threads: usize,
    platforms: BTreeMap<String, String>,
    interruption: Interruption,
}

impl Bench {
    pub fn new(platforms: BTreeMap<String, String>, interruption: Interruption) -> Self {
        let threads = pool::threads();
        Self { hw: None, designs: Vec::new(), settings: Vec::new(), threads, platforms, interruption }
    }

    /// The errors of data sets, and which machines do not close at their clock. Points that a machine says it was fitted to are marked so first.
    pub fn score(&self, datasets: &mut [Dataset]) -> Result<(Vec<DatasetScore>, Vec<String>), Failure> {
        let points = datasets.iter().flat_map(|dataset| &dataset.points).map(|(point, _)| point);
        let (machines, figures) = self.figures(points)?;
        for (point, class) in datasets.iter_mut().flat_map(|dataset| &mut dataset.points) {
            if machines.get(&point.platform).is_some_and(|machine| machine.fitted_to.contains(&point.digest())) {
                *class = Class::Fitted;
            }
        }
        let mut rest = figures.as_slice();
        let score = |dataset: &Dataset| {
            let (own, others) = rest.split_at(dataset.points.len());
            rest = others;
            let platforms = dataset.points.iter().map(|(point, _)| &point.platform);
            let mut names: Vec<_> = platforms.filter_map(|one| Some(machines.get(one)?.name())).collect();
            names.dedup();
            DatasetScore::new(dataset, names, own)
        };
        let scores = datasets.iter().map(score).collect();
        let open = |machine: &Resolved| Some(format!("{} {}", machine.name(), machine.machine.does_not_close()?));
        let mut open: Vec<_> = machines.values().filter_map(open).collect();
        open.dedup();
        Ok((scores, open))
    }

    pub fn figures<'p>(&self, points: impl IntoIterator<Item = &'p Point>) -> Result<(Machines, Vec<f64>), Failure> {
        let points: Vec<_> = points.into_iter().collect();
        let mut machines = Machines::new();
        for point in &points {
            if !machines.contains_key(&point.platform) {
                machines.insert(point.platform.clone(), self.machine(&point.platform)?);
            }
        }
        let pair = |point: &&'p Point| Some((&machines.get(&point.platform)?.machine, *point));
        let work: Vec<_> = points.iter().filter_map(pair).collect();
        let figures = self.simulate(&work)?;
        Ok((machines, figures))
    }

    /// Figures of points on machines, with a bar where somebody looks.
    pub fn simulate(&self, work: &[(&MachineSpec, &Point)]) -> Result<Vec<f64>, Failure> {
        let cost = |(_, point): &(&MachineSpec, &Point)| reproduce::bytes(point) + OVERHEAD;
        let bar = bar(work.iter().map(cost).sum(), &format!("{{percent:>3}} % of {} points", work.len()));
        let one = |pair: &(&MachineSpec, &Point)| {
            let mut observer = |_| self.interruption.control();
            let figure = reproduce::simulate(pair.0, pair.1, &mut observer);
            bar.inc(cost(pair));
            figure
        };
        let figures = pool::map(work, self.threads, cost, one);
        bar.finish_and_clear();
        figures.map_err(failed)
    }

    fn machine(&self, platform: &str) -> Result<Resolved, Failure> {
        let unknown = || {
            let known: Vec<_> = self.platforms.keys().map(String::as_str).collect();
            let help = format!("say with --hw which machine it is; built in are {}", known.join(", "));
            Failure::Usage(miette!(help = help, "no machine is known for platform `{platform}`"))
        };
        let name = self.hw.as_ref().or_else(|| self.platforms.get(platform)).ok_or_else(unknown)?;
        let layers = if self.hw.is_some() { Layers::new(name) } else { catalogue::layers(name) };
        let layers = self.designs.iter().fold(layers, |layers, design| layers.overlay(design));
        Ok(self.settings.iter().fold(layers, |layers, setting| layers.set(setting)).resolve()?)
    }
}

/// What a point costs besides its bytes, in bytes.
const OVERHEAD: u64 = 1 << 20;

fn failed(error: ReproduceError) -> Failure {
    match &error {
        ReproduceError::Run { error: RunError::Simulation(SimulationError::Stopped { .. }), .. } => {
            Failure::Verification(miette!("interrupted: nothing was written"))
        }
        ReproduceError::Run { error: RunError::Build(_), .. }
        | ReproduceError::Sms { .. }
        | ReproduceError::Collective { .. } => Failure::Config(miette!("{error}")),
        ReproduceError::Run { .. } | ReproduceError::NoSpan { .. } => Failure::Simulation(miette!("{error}")),
        ReproduceError::NotDelivered { .. } => Failure::Verification(miette!("{error}")),
    }
}
