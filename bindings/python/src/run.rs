//! `sealsim.run`: the report of `sealsim run --format json`.

use super::{
    fault::Fault,
    machine::{MachineQuestion, workload},
    watch::{Watch, watched},
};
use pyo3::prelude::*;
use sealsim::{
    config::Resolved,
    explore::levers::{self, Answers, Done},
    report::{CollectiveRecord, Context, Report},
    sim::{Control, Kernel, Observer},
    system::{self, DataMode, Onlooker, Outcome},
    units::Femtos,
    workload::{Arrival, CopyArgument, InjectionArgument, Workload, collective::CollectiveTimes, sized},
};
use std::{num::NonZero, time::Instant};

/// What to run.
#[derive(Debug, FromPyObject)]
#[pyo3(from_item_all)]
pub struct Question {
    machine: MachineQuestion,
    copies: Vec<String>,
    workload: Option<String>,
    parameters: Vec<String>,
    data: bool,
    seed: u64,
    inject: Vec<String>,
    what_if: Option<u8>,
    threads: Option<u16>,
}

/// Runs, and gives the report as JSON with what falls short in it.
#[pyfunction]
pub fn run(py: Python<'_>, question: Question, progress: Option<&Bound<'_, PyAny>>) -> PyResult<(String, Vec<String>)> {
    let told = progress.is_some();
    watched(py, progress, |watch| {
        let report = question.answer(watch, told)?;
        let json = serde_json::to_string(&report).map_err(Fault::simulation)?;
        Ok((json, report.shortcomings()))
    })
}

impl Question {
    fn answer(&self, watch: &Watch, told: bool) -> Result<Report, Fault> {
        let file = self.workload.as_deref().map(|name| workload(name, &self.parameters)).transpose()?;
        let resolved = self.machine.resolve(file.as_ref())?;
        let (copies, steps) = match file {
            None => (parsed::<CopyArgument>("copies", &self.copies)?, None),
            Some(mut file) => {
                file.without_size.take().map_or(Ok(()), Err)?;
                (file.copies, Some(file.steps))
            }
        };
        let injections = parsed::<InjectionArgument>("inject", &self.inject)?;
        let workload = Workload {
            copies: sized(&copies, None).map_err(Fault::usage)?,
            steps,
            payload: None,
            data: if self.data { DataMode::Exact } else { DataMode::None },
            seed: self.seed,
            kernel: Kernel::Skip,
            injections: injections.into_iter().map(|InjectionArgument(one)| one).collect(),
        };
        self.report(&resolved, &workload, (watch, told))
    }

    fn report(&self, resolved: &Resolved, workload: &Workload, (watch, told): (&Watch, bool)) -> Result<Report, Fault> {
        let started = Instant::now();
        let collectives = workload
            .collectives(&resolved.machine, &mut |_| watch.control())
            .map_err(|error| Fault::of_collective(&error))?;
        let outcome = self.simulate(resolved, workload, &collectives, (watch, told))?;
        let wall = started.elapsed();
        let done = Done { machine: resolved, workload, outcome: &outcome };
        let (mut answers, asked) = (Answers::default(), (self.what_if.map(usize::from), true));
        let answered = levers::answer(&mut answers, done, asked, &collectives, &|| watch.control());
        answered.map_err(|error| Fault::of_run(&error))?;
        let context = Context {
            machine: resolved.name(),
            confidential_computing: resolved.machine.confidential_computing,
            config_digest: resolved.digest.clone(),
            does_not_close: resolved.machine.does_not_close(),
            assumed_parameters: resolved.assumed(),
            streams: workload.streams(),
            sha256: None,
            limit: answers.limit.take(),
            wall,
        };
        let mut report = Report::new(context, &outcome);
        report.answer(answers, resolved);
        report.collectives = CollectiveRecord::all(&collectives);
        Ok(report)
    }

    fn simulate(
        &self,
        resolved: &Resolved,
        workload: &Workload,
        collectives: &CollectiveTimes,
        (watch, told): (&Watch, bool),
    ) -> Result<Outcome, Fault> {
        let arrivals: Vec<_> = workload.copies.iter().map(|_| Arrival::new(false, None)).collect();
        let request = workload.request(&arrivals, collectives)?;
        let threads = self.threads.and_then(|threads| NonZero::new(threads.into()));
        let outcome = if told {
            let mut follower = Follower { watch, workload, arrivals: &arrivals, ended: 0 };
            system::run_observed(&resolved.machine, request, None, &mut follower)
        } else {
            system::run_on(&resolved.machine, request, threads, &mut |_| watch.control())
        };
        outcome.map_err(|error| match arrivals.iter().find_map(Arrival::trouble) {
            Some(trouble) => Fault::input_output(trouble),
            None => Fault::of_run(&error),
        })
    }
}

/// Each text as the command line reads it.
fn parsed<T: std::str::FromStr<Err: std::fmt::Display>>(what: &str, texts: &[String]) -> Result<Vec<T>, Fault> {
    let one = |(place, text): (usize, &String)| {
        text.parse().map_err(|error| Fault::usage(format!("{what}[{place}]: {error}")))
    };
    texts.iter().enumerate().map(one).collect()
}

/// Notes how far a run is: by bytes that have arrived where they are carried, else by copies that have ended.
struct Follower<'a> {
    watch: &'a Watch,
    workload: &'a Workload,
    arrivals: &'a [Arrival],
    /// Bytes of copies that have ended.
    ended: u64,
}

impl Observer for Follower<'_> {
    fn at(&mut self, _: Femtos) -> Control {
        let arrived = match self.workload.data {
            DataMode::Exact => self.arrivals.iter().map(Arrival::bytes).sum(),
            DataMode::None => self.ended,
        };
        self.watch.set(arrived as f64 / self.workload.bytes().max(1) as f64);
        self.watch.control()
    }
}

impl Onlooker for Follower<'_> {
    fn copy_ended(&mut self, copy: usize, _: Femtos) {
        self.ended += self.workload.copies.get(copy).map_or(0, |copy| copy.bytes);
    }
}
