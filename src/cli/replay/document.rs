//! What a replay prints.

use super::Run;
use crate::{
    cli::{Failure, output},
    replay::{Job, Steps},
    report::replay::{Document, Events, LeftOut, Looped, LoopedRun, first, text},
    workload::trace::Trace,
};
use clap::ValueEnum;

/// How a replay is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum ReplayFormat {
    /// Tables, and advice
    Text,
    /// runs[], breakdown[], operations[], advice[], events; described in docs/replay.md
    Json,
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

/// What became of the events of this trace.
pub(super) fn events(trace: &Trace) -> Events {
    let left_out = trace.events.left_out.iter();
    let left_out = left_out.map(|(reason, count)| LeftOut { reason: reason.clone(), count: *count });
    Events { used: trace.events.used, left_out: left_out.collect() }
}

pub(super) fn print(format: ReplayFormat, document: &Document, rows: Option<usize>) -> Result<(), Failure> {
    output::print(&match format {
        ReplayFormat::Text => rows.map_or_else(|| first(document), |rows| text(document, rows)),
        ReplayFormat::Json => output::json(document)?,
    });
    Ok(())
}
