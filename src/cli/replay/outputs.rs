//! Files that a replay writes in addition to what it prints.

use crate::{
    cli::{
        Failure, output,
        page::{PageArgument, PageFile},
        places::{Named, refuse_clash},
        plot::PlotFile,
    },
    files::{RecordFile, WholeFile},
    observe::perfetto::write_groups,
    replay::{Job, Played, Timeline, step_tracks, write_chakra},
    report::plot::drawing::Drawing,
    workload::trace::Trace,
};
use clap::Args;
use miette::miette;
use std::{
    io::BufWriter,
    path::{Path, PathBuf},
};

/// Which files.
#[derive(Debug, Args)]
pub(super) struct Outputs {
    /// Draw all runs, and changes that --what-if names, over one axis of time, what each thread and each GPU does: the step of median length where there is a
    /// loop and no --whole-profile. SVG or PDF, by the ending of the file
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Write the step of median length as a Perfetto trace, each run below the one before, with the calls that hold the host marked. Open it at
    /// ui.perfetto.dev
    #[arg(long, value_name = "FILE", conflicts_with = "whole_profile")]
    trace: Option<PathBuf>,
    /// Write a run as a Chakra execution trace, for other simulators: cc, if --chakra-run does not say another
    #[arg(long, value_name = "FILE")]
    chakra: Option<PathBuf>,
    /// The run that --chakra writes: off, cc, or a design of --design
    #[arg(long, value_name = "RUN", requires = "chakra", default_value = "cc")]
    chakra_run: String,
    #[command(flatten)]
    page: PageArgument,
}

/// Those that are asked for, begun: each takes its name when it is whole.
pub(super) struct Begun {
    plot: Option<PlotFile>,
    trace: Option<RecordFile>,
    chakra: Option<WholeFile>,
    pub page: Option<PageFile>,
}

/// What a page draws of a run: its timeline, and how many times as long it is as the first.
pub(super) type Drawn = (Timeline, Option<f64>);

pub(super) struct Done<'a> {
    pub name: &'a str,
    pub slowdown: Option<f64>,
    pub played: &'a Played,
}

impl Begun {
    /// The file for a step, which is begun last.
    pub fn show_step(&mut self, file: Option<RecordFile>) {
        self.trace = file;
    }
}

impl Outputs {
    /// Begins the files, so that one that cannot be written says so before anything is played. `read` is what is read.
    pub fn begin(&self, read: &[Named<'_>], runs: &[&str]) -> Result<Begun, Failure> {
        let (plot, trace, chakra) = (self.plot.as_deref(), self.trace.as_deref(), self.chakra.as_deref());
        let written = [("--plot", plot), ("--trace", trace), ("--chakra", chakra)];
        written.iter().try_for_each(|(name, path)| output::refuse_stream(name, *path))?;
        refuse_clash(read, &written)?;
        if !runs.contains(&self.chakra_run.as_str()) {
            let help = format!("there are {}; --design gives more", runs.join(", "));
            return Err(Failure::Usage(miette!(help = help, "--chakra-run {}: no such run", self.chakra_run)));
        }
        let begin = |path: Option<&Path>| path.map(WholeFile::create).transpose().map_err(Failure::of_file);
        let others: Vec<_> = read.iter().copied().chain(written).collect();
        let page = self.page.begin(&others)?;
        Ok(Begun { plot: PlotFile::begin(self.plot.as_ref())?, trace: None, chakra: begin(chakra)?, page })
    }

    /// Whether operations and calls of the profile are written.
    pub const fn shows_trace(&self) -> bool {
        self.chakra.is_some()
    }

    /// Begins the file of a step, once it is known whether the job has any.
    pub fn step_file(&self, job: &Job) -> Result<Option<RecordFile>, Failure> {
        if self.trace.is_none() || job.steps.is_some() {
            return self.trace.as_deref().map(RecordFile::create).transpose().map_err(Failure::of_file);
        }
        let help = "look at --report, which has the whole";
        Err(Failure::Usage(miette!(help = help, "--trace: no loop was found whose step could be shown")))
    }

    pub const fn draws(&self) -> bool {
        self.plot.is_some()
    }

    pub fn write(
        &self,
        begun: Begun,
        drawing: impl FnOnce() -> Drawing,
        (trace, job): (&Trace, &Job),
        runs: &[Done<'_>],
        step: Option<usize>,
    ) -> Result<(), Failure> {
        if let Some((file, (steps, step))) = begun.trace.zip(job.steps.as_ref().zip(step)) {
            let groups = runs.iter().filter_map(|run| {
                let span = steps.span(job, run.played, step)?;
                Some(step_tracks(run.name, job, run.played, span))
            });
            write_groups(file, &groups.collect::<Vec<_>>()).map_err(Failure::of_file)?;
        }
        if let Some(file) = begun.plot {
            file.write(&drawing())?;
        }
        let chosen = runs.iter().find(|run| run.name == self.chakra_run);
        if let (Some(file), Some(run)) = (begun.chakra, chosen) {
            let mut out = BufWriter::new(file);
            let written = write_chakra(trace, job, run.played, &mut out);
            written.and_then(|()| WholeFile::keep_buffered(out)).map_err(Failure::of_file)?;
        }
        Ok(())
    }
}
