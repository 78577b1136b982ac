//! A run from its inputs to what is printed and written.

use super::{
    Interruption, RunFormat,
    inside::{Inside, InsideArguments, Look},
    live::{CopyState, Live, LiveArguments, Subject},
    progress::Progress,
};
use crate::{
    cli::{
        Failure, collective, describe, output,
        page::{self, PageFile},
    },
    config::Resolved,
    explore::what_if::LimitedBy,
    pool,
    report::{
        CollectiveRecord, Context, FailureReport, Faults, Manifest, PayloadRecord, Report, Rerun,
        html::{Page, PageError},
    },
    sampling::{self, Asked, Sample, Sampled, Told},
    sim::{Control, Effect, SimulationError},
    system::{self, CopyOutcome, DataMode, Outcome, RunError},
    workload::{
        Arrival, InjectionArgument, OutputFile, Workload,
        collective::{CollectiveError, CollectiveTimes},
        direction_name,
    },
};
use miette::miette;
use serde::Serialize;
use std::{
    io,
    num::NonZero,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

/// One run and what to do with its results.
pub(in crate::cli) struct Job {
    pub resolved: Resolved,
    pub workload: Workload,
    pub out: Option<PathBuf>,
    pub digest: bool,
    pub manifest: Option<PathBuf>,
    /// Where a page of the results goes, begun.
    pub page: Option<PageFile>,
    pub format: RunFormat,
    /// Whether each of many copies has a row in the text.
    pub all: bool,
    /// What a repeated run is compared with.
    pub expected: Option<Expected>,
    /// Whether a fault that is not activated is a failure.
    pub must_strike: bool,
    /// How many parameters to measure for the copy that ends last; as many as suit the run if not said.
    pub what_if: Option<usize>,
    /// How much of it is simulated, if not all.
    pub sample: Option<Sample>,
    /// Threads that simulate the machine; as many as there are cores if not said.
    pub threads: Option<NonZero<usize>>,
    pub inside: InsideArguments,
    /// The page that is served while it goes on.
    pub live: LiveArguments,
}

struct Results {
    report: Report,
    outcome: Outcome,
    /// What a page shows of its inside.
    look: Option<Look>,
    /// Whether the recording that its live page asked for was written.
    recorded: Result<(), Failure>,
}

/// What a manifest says about the run that it is of.
pub(in crate::cli) struct Expected {
    pub event_digest: String,
    pub simulated_ps: u64,
    pub sealsim_version: String,
    pub payload: Option<PayloadRecord>,
}

impl Job {
    /// Runs, writes and prints, while a page is served if that is asked for.
    pub fn execute(self, interruption: &Interruption) -> Result<(), Failure> {
        let live = self.live.begin(&self.resolved.name())?;
        let result = self.carry_out(live.as_ref(), interruption);
        live.into_iter().for_each(|live| live.leave(&result, &|| interruption.asked()));
        result
    }

    /// What `--format json` prints or, made by a command, what `--report` writes; nothing is printed or written.
    pub(super) fn answer(mut self, page: Option<String>, interruption: &Interruption) -> Result<String, Failure> {
        self.format = RunFormat::Silent;
        let Results { report, look, .. } = self.results(page.is_some(), None, interruption)?;
        page::answer(&report, page, |page| self.shown(page, look.as_ref()))
    }

    fn shown(&self, page: Page, look: Option<&Look>) -> Result<Page, PageError> {
        let page = match look {
            Some(look) => page.with_look(&look.record, &look.messages),
            None => page,
        };
        page.with_configuration(&describe::to_json(&self.resolved))
    }

    /// Runs for a page that is there already; nothing is printed.
    pub(super) fn watched(mut self, live: &Live, interruption: &Interruption) -> Result<(), Failure> {
        self.format = RunFormat::Silent;
        let results = self.results(false, Some(live), interruption)?;
        self.verdict(&results.report)
    }

    fn carry_out(mut self, live: Option<&Live>, interruption: &Interruption) -> Result<(), Failure> {
        let page = self.page.take();
        let Results { report, outcome, look, recorded } = self.results(page.is_some(), live, interruption)?;
        self.print(&report, || report.text(output::width(), self.all))?;
        if let Some(page) = page {
            page.write(&report, |page| self.shown(page, look.as_ref()))?;
        }
        self.verdict(&report).and_then(|()| self.strikes(&outcome)).and(recorded)
    }

    /// Runs, and writes the files that are not made of the report.
    fn results(&self, has_page: bool, live: Option<&Live>, interruption: &Interruption) -> Result<Results, Failure> {
        let payload = self.payload_record(interruption)?;
        let manifest = self.manifest.as_deref().map(create).transpose()?;
        let arrivals = self.arrivals()?;
        let started = Instant::now();
        let collectives = self.collectives(interruption)?;
        let looked_at = has_page && self.sample.is_none();
        let inside = self.inside.begin(&self.resolved.machine, self.workload.data, looked_at)?;
        let sampled = self.sampled(&collectives, interruption).map_err(|error| self.failed(error, &[]))?;
        let (outcome, sampled) = match sampled {
            Some((outcome, sampled)) => (Ok(outcome), Some(sampled)),
            None => (self.simulate(&arrivals, &collectives, (inside.as_ref(), live), interruption), None),
        };
        let streams = self.workload.streams();
        // What the page has asked for costs the run none of its own files.
        let recorded = live.map_or(Ok(()), |live| live.close_recording(outcome.as_ref().ok(), streams.as_deref()));
        let look = inside.map(|inside| inside.close(outcome.as_ref().ok(), streams.as_deref())).transpose()?.flatten();
        let outcome = outcome.map_err(|error| self.failed(error, &arrivals))?;
        let wall = started.elapsed();
        for (arrival, copy) in arrivals.iter().zip(&outcome.copies) {
            arrival.close(copy.delivered).map_err(Failure::of_file)?;
        }
        if let Some(file) = manifest {
            write_manifest(file, &Manifest::new(&self.resolved, &self.workload, payload, &outcome))?;
        }
        let mut answers =
            self.measured(&outcome, &collectives, interruption).map_err(|error| self.failed(error, &[]))?;
        let mut report = self.report(&outcome, &arrivals, answers.limit.take(), wall, sampled);
        report.answer(answers, &self.resolved);
        report.collectives = CollectiveRecord::all(&collectives);
        Ok(Results { report, outcome, look, recorded })
    }

    /// The payload's digest where a manifest needs it; a repeated run's must be the one of its manifest.
    fn payload_record(&self, interruption: &Interruption) -> Result<Option<PayloadRecord>, Failure> {
        let needed = self.manifest.is_some() || self.expected.is_some();
        let Some(payload) = self.workload.payload.as_ref().filter(|_| needed) else { return Ok(None) };
        let sha256 = payload.sha256(&|| interruption.asked())?;
        let path = std::path::absolute(&payload.path).unwrap_or_else(|_| payload.path.clone());
        let known = self.expected.as_ref().and_then(|expected| expected.payload.as_ref());
        if let Some(known) = known.filter(|known| known.sha256 != sha256) {
            let text = format!("payload {} has changed since the manifest was written", path.display());
            return Err(Failure::InputOutput(miette!(
                help = format!("its SHA-256 must be {}", known.sha256),
                "{text}"
            )));
        }
        Ok(Some(PayloadRecord { path, size: payload.size, sha256 }))
    }

    fn arrivals(&self) -> Result<Vec<Arrival>, Failure> {
        let mut out = self.out.as_deref().map(create).transpose()?;
        Ok(self.workload.copies.iter().map(|_| Arrival::new(self.digest, out.take())).collect())
    }

    /// How long the collectives of a workload take on the machine.
    fn collectives(&self, interruption: &Interruption) -> Result<CollectiveTimes, Failure> {
        let mut observer = |_| interruption.control();
        self.workload.collectives(&self.resolved.machine, &mut observer).map_err(|error| match error {
            CollectiveError::Run(error) => self.failed(error, &[]),
            error => collective::failed(error),
        })
    }

    /// The outcome from a part of the run, if it is to be sampled and can be.
    fn sampled(
        &self,
        collectives: &CollectiveTimes,
        interruption: &Interruption,
    ) -> Result<Option<(Outcome, Sampled)>, RunError> {
        let Some(sample) = self.sample else { return Ok(None) };
        let threads = self.threads.map_or_else(pool::threads, NonZero::get);
        let (machine, workload) = (&self.resolved.machine, &self.workload);
        let observer = || interruption.control();
        sampling::sample(Asked { machine, workload, collectives, sample, threads }, &observer)
    }

    fn simulate(
        &self,
        arrivals: &[Arrival],
        collectives: &CollectiveTimes,
        (inside, live): (Option<&Inside>, Option<&Live>),
        interruption: &Interruption,
    ) -> Result<Outcome, RunError> {
        let request =
            self.workload.request(arrivals, collectives).map_err(|error| RunError::Payload(error.to_string()))?;
        let is_silent = self.format == RunFormat::Silent;
        let mut progress = Progress::new(self.workload.bytes(), self.workload.data, self.workload.kernel, is_silent);
        let machine = &self.resolved.machine;
        let mut observer = |now| {
            progress.show(now, arrivals);
            let ends = interruption.asked() || inside.is_some_and(Inside::in_trouble);
            if ends { Control::Stop } else { Control::Continue }
        };
        let listener = inside.map(Inside::listener);
        match (live, listener) {
            (Some(live), listener) => {
                let (copies, data) = (self.copy_states(), self.workload.data);
                let arrivals = (data == DataMode::Exact).then_some(arrivals);
                let mut watcher = live.watcher(Subject { copies, arrivals, observer: &mut observer });
                system::run_observed(machine, request, listener.as_ref(), &mut watcher)
            }
            (None, None) => system::run_on(machine, request, self.threads, &mut observer),
            (None, Some(listener)) => system::run_with_listener(machine, request, &listener, &mut observer),
        }
    }

    /// The copies before they begin, as a page shows them.
    fn copy_states(&self) -> Vec<CopyState> {
        let streams = self.workload.streams();
        let stream = |place: usize| streams.as_ref().and_then(|streams| streams.get(place)).cloned();
        let copies = self.workload.copies.iter().enumerate().map(|(place, copy)| CopyState {
            number: place + 1,
            direction: direction_name(copy.direction),
            stream: stream(place),
            bytes: copy.bytes,
            ..CopyState::default()
        });
        copies.collect()
    }

    fn report(
        &self,
        outcome: &Outcome,
        arrivals: &[Arrival],
        limit: Option<(usize, LimitedBy)>,
        wall: Duration,
        sampled: Option<Sampled>,
    ) -> Report {
        let sha256 = self.digest.then(|| {
            let arrived = outcome.copies.iter().zip(arrivals).enumerate();
            arrived.map(|(number, (copy, arrival))| self.sha256(number, copy, arrival)).collect()
        });
        let context = Context {
            machine: self.resolved.name(),
            confidential_computing: self.resolved.machine.confidential_computing,
            config_digest: self.resolved.digest.clone(),
            does_not_close: self.resolved.machine.does_not_close(),
            assumed_parameters: self.resolved.assumed(),
            streams: self.workload.streams(),
            sha256,
            limit,
            wall,
        };
        let all = || self.sample.map(|_| Sampled::all(&self.workload, outcome));
        let is_part = sampled.is_some();
        let told = |sampled| Told::of(&sampled, |outcome| Report::new(context.clone(), outcome));
        let record = sampled.or_else(all).map(told);
        let mut report = Report::new(context, outcome);
        report.sampled = record;
        if is_part {
            report.event_digest = None;
            report.host.of_part(report.sampled.as_ref());
        }
        report.rerun = self.expected.as_ref().map(|expected| Rerun {
            expected_event_digest: expected.event_digest.clone(),
            expected_simulated_ps: expected.simulated_ps,
            same: expected.event_digest == outcome.event_digest && expected.simulated_ps == outcome.end.picos(),
        });
        report
    }

    /// The digest of what has arrived of a copy. Where bytes were written again it cannot be taken as they come; a copy that is delivered is
    /// equal to its source.
    fn sha256(&self, number: usize, copy: &CopyOutcome, arrival: &Arrival) -> Option<String> {
        let taken = arrival.sha256(copy.bytes);
        taken.or_else(|| if copy.delivered { self.workload.sha256(number).ok().flatten() } else { None })
    }

    fn print(&self, json: &impl Serialize, text: impl FnOnce() -> String) -> Result<(), Failure> {
        output::print(&match self.format {
            RunFormat::Json => output::json(json)?,
            RunFormat::Text => text(),
            RunFormat::Nothing | RunFormat::Silent => return Ok(()),
        });
        Ok(())
    }

    /// The failure of a run that has no outcome; as JSON it is printed as well.
    fn failed(&self, error: RunError, arrivals: &[Arrival]) -> Failure {
        if let Some(trouble) = arrivals.iter().find_map(Arrival::trouble) {
            return Failure::InputOutput(miette!("{trouble}"));
        }
        let simulation = match error {
            RunError::Simulation(error) => error,
            RunError::FaultPoint { .. } | RunError::FaultSelector { .. } => {
                return Failure::Usage(miette!("--inject: {error}"));
            }
            other => return Failure::of_run(&other, ""),
        };
        if self.format == RunFormat::Json {
            let report = FailureReport::simulation(&self.resolved.digest, &simulation);
            if let Err(failure) = self.print(&report, String::new) {
                return failure;
            }
        }
        match simulation {
            SimulationError::Stopped { at } => {
                let text = format!("interrupted at {} ps of simulated time: nothing was delivered", at.picos());
                Failure::Verification(miette!("{text}"))
            }
            error => {
                let faults = Faults::of_broken(&error).map(|faults| faults.told());
                Failure::Simulation(miette!("{error}{}", faults.unwrap_or_default()))
            }
        }
    }

    /// Warns of faults that were not activated, or fails for them.
    fn strikes(&self, outcome: &Outcome) -> Result<(), Failure> {
        let missed = self.workload.injections.iter().zip(&outcome.faults).filter_map(|(fault, effect)| match effect {
            Effect::Struck { .. } => None,
            Effect::Missed => Some((fault, "nothing passed there then that it could befall".to_owned())),
            Effect::Waiting { passed } => Some((fault, format!("its point was passed {passed} times"))),
        });
        let missed = missed.map(|(fault, why)| format!("{} has not struck: {why}", InjectionArgument(fault.clone())));
        let missed: Vec<_> = missed.collect();
        if self.must_strike && !missed.is_empty() {
            return Err(Failure::Verification(miette!("{}", missed.join("\n"))));
        }
        missed.iter().for_each(|line| output::complain(format_args!("warning: {line}")));
        Ok(())
    }

    fn verdict(&self, report: &Report) -> Result<(), Failure> {
        let shortcomings = report.shortcomings();
        if shortcomings.is_empty() {
            return Ok(());
        }
        let text = shortcomings.join("\n");
        let writer = self.expected.as_ref().map(|expected| expected.sealsim_version.as_str());
        Err(Failure::Verification(match writer.filter(|writer| *writer != env!("CARGO_PKG_VERSION")) {
            Some(writer) => miette!(help = format!("the manifest was written by sealsim {writer}"), "{text}"),
            None => miette!("{text}"),
        }))
    }
}

fn create(path: &Path) -> Result<OutputFile, Failure> {
    OutputFile::create(path).map_err(|error| Failure::InputOutput(miette!("output {error}")))
}

fn write_manifest(mut file: OutputFile, manifest: &Manifest) -> Result<(), Failure> {
    let failed = |error: io::Error| Failure::InputOutput(miette!("manifest {error}"));
    let text = serde_json::to_string_pretty(manifest).map_err(|error| failed(error.into()))? + "\n";
    file.put(0, text.as_bytes()).map_err(failed)?;
    file.keep().map_err(failed)
}
