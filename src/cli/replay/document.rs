//! What a replay prints.

use super::Run;
use crate::{
    cli::{Failure, output},
    replay::{Advice, Figures, Job, Ns, Operation, RankFigures, Share, StepFigures, Steps, WhatIf},
    report::replay as text,
    sampling::Told,
    workload::trace::Trace,
};
use clap::ValueEnum;
use serde::Serialize;
use std::io;

/// How a replay is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum ReplayFormat {
    /// Tables, and advice
    Text,
    /// runs[], breakdown[], operations[], advice[], events; described in docs/replay.md
    Json,
}

/// What a replay prints.
#[derive(Debug, Serialize)]
pub(super) struct Document {
    /// Version of the results.
    pub schema_version: u32,
    /// What a reader has to know before any figure.
    pub notices: Vec<String>,
    /// Steps of the program's loop, if it has one that is looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<Looped>,
    pub machine: String,
    /// What the trace was read from.
    pub trace: &'static str,
    /// What became of its events.
    pub events: Events,
    /// What it lacks and what was taken instead.
    pub assumed: Vec<String>,
    /// How much of the copies was simulated, if they were to be sampled, and what the figures of runs may be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampled: Option<Told>,
    /// From the start of the first operation to the end of the last, in the profile itself.
    pub profile_end_ns: Ns,
    /// Off, CC, and the designs.
    pub runs: Vec<Figures>,
    /// The ranks of the job, if there are several profiles; all the rest is about the first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ranks: Vec<RankFigures>,
    /// What the difference between the first two is made of.
    pub breakdown: Vec<Share>,
    /// The calls that grow most.
    pub operations: Vec<Operation>,
    /// Changes that were asked for, the best first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub what_if: Vec<WhatIf>,
    /// What would give time back.
    pub advice: Vec<Advice>,
}

/// The steps of a loop, run by run.
#[derive(Debug, Serialize)]
pub(super) struct Looped {
    pub count: usize,
    /// How they were found.
    pub found: String,
    /// One step in the profile itself, in the mean.
    pub profile_mean_ns: Ns,
    pub runs: Vec<LoopedRun>,
}

#[derive(Debug, Serialize)]
pub(super) struct LoopedRun {
    pub name: String,
    #[serde(flatten)]
    pub figures: StepFigures,
}

/// Those of these runs, the first of which is without confidential computing.
pub(super) fn looped(steps: &Steps, job: &Job, runs: &[Run]) -> Looped {
    let off = runs.first().map_or(0, |run| steps.length(job, &run.answer.played));
    let of_run = |run: &Run| LoopedRun { name: run.name.clone(), figures: steps.figures(job, &run.answer.played, off) };
    Looped {
        count: steps.count(),
        found: steps.found.clone(),
        profile_mean_ns: steps.traced(job) / steps.count().max(1) as u64,
        runs: runs.iter().map(of_run).collect(),
    }
}

/// What became of the events of a trace.
#[derive(Debug, Serialize)]
pub(super) struct Events {
    /// Those that the replay has.
    pub used: u64,
    pub left_out: Vec<LeftOut>,
}

/// Events that the replay does not have.
#[derive(Debug, Serialize)]
pub(super) struct LeftOut {
    pub reason: String,
    pub count: u64,
}

/// What became of the events of this trace.
pub(super) fn events(trace: &Trace) -> Events {
    let left_out = trace.events.left_out.iter();
    let left_out = left_out.map(|(reason, count)| LeftOut { reason: reason.clone(), count: *count });
    Events { used: trace.events.used, left_out: left_out.collect() }
}

pub(super) fn print(format: ReplayFormat, document: &Document, rows: usize) -> Result<(), Failure> {
    let printed = match format {
        ReplayFormat::Text => Ok(text::text(&text::Shown {
            notices: &document.notices,
            profile_end: document.profile_end_ns,
            steps: document.steps.as_ref().map(|steps| text::Steps {
                found: &steps.found,
                profile: steps.profile_mean_ns,
                runs: steps.runs.iter().map(|run| (run.name.as_str(), &run.figures)).collect(),
            }),
            machine: &document.machine,
            trace: document.trace,
            used: document.events.used,
            left_out: document.events.left_out.iter().map(|one| (one.reason.as_str(), one.count)).collect(),
            assumed: &document.assumed,
            runs: &document.runs,
            ranks: &document.ranks,
            breakdown: &document.breakdown,
            operations: &document.operations,
            what_if: &document.what_if,
            advice: &document.advice,
            sampled: document.sampled.as_ref(),
            rows,
        })),
        ReplayFormat::Json => serde_json::to_string_pretty(document).map(|json| json + "\n").map_err(io::Error::from),
    };
    printed.map(|text| output::print(&text)).map_err(|error| Failure::output(&error))
}
