//! Profiles as verbs read them: with a bar on standard error, until somebody asks to stop.

use super::{Failure, places::Named, run::Interruption};
use crate::{
    sim::Control,
    workload::{
        MAX_STEPS,
        trace::{self, Input, Trace},
    },
};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use miette::miette;
use std::{
    io::{self, IsTerminal},
    path::{Path, PathBuf},
    time::Duration,
};

/// Which profile.
#[derive(Debug, Args)]
pub(super) struct ProfileArguments {
    /// The profile; with several, each is one rank of the same job
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// The table of calls (cuda_api_trace) that belongs to a table of operations (cuda_gpu_trace)
    #[arg(long, value_name = "FILE")]
    api: Option<PathBuf>,
}

impl ProfileArguments {
    /// Where it is; of several, the first.
    pub fn file(&self) -> &Path {
        self.files.first().map_or(Path::new(""), PathBuf::as_path)
    }

    pub fn ranks(&self) -> &[PathBuf] {
        &self.files
    }

    /// The files that are read, each with what the command line calls it.
    pub fn files(&self) -> impl Iterator<Item = Named<'_>> {
        self.files.iter().map(|file| ("FILE", Some(file.as_path()))).chain([("--api", self.api.as_deref())])
    }

    /// One profile, of no more operations than a workload takes.
    pub fn read(&self, progress: &Progress) -> Result<Trace, Failure> {
        let several = || Failure::Usage(miette!(help = "give the profile of one rank", "there are several profiles"));
        if self.files.len() > 1 {
            return Err(several());
        }
        self.read_all(MAX_STEPS, progress)?.pop().ok_or_else(several)
    }

    /// All profiles, each of at most so many operations of the GPU.
    pub fn read_all(&self, operations: usize, progress: &Progress) -> Result<Vec<Trace>, Failure> {
        if self.files.len() > 1 && self.api.is_some() {
            let help = "give databases (`nsys export --type sqlite`) instead of tables";
            return Err(Failure::Usage(miette!(help = help, "--api belongs to one profile, and there are several")));
        }
        progress.bar.set_message("bytes read");
        let mut before = 0;
        let mut traces: Vec<Trace> = Vec::new();
        for file in &self.files {
            let mut shown = |read: u64, _: Option<u64>| {
                progress.bar.set_position(before + read);
                progress.go_on()
            };
            let api = self.api.as_deref().map(Input::Path);
            let trace = trace::read_up_to(operations, Input::Path(file), api, &mut shown)?;
            let rank = |trace: &Trace| trace.rank.map(|rank| rank.rank);
            if let Some(other) = traces.iter().position(|other| rank(other).is_some() && rank(other) == rank(&trace)) {
                let number = rank(&trace).unwrap_or(0);
                let (one, other) = (self.files[other].display(), file.display());
                let help = "give the profile of each rank once";
                return Err(Failure::Usage(miette!(help = help, "{one} and {other} are both of rank {number}")));
            }
            before += file.metadata().map_or(0, |known| known.len());
            traces.push(trace);
        }
        Ok(traces)
    }
}

/// A line on standard error, if it is a terminal, and whether to go on. It vanishes with this.
pub(super) struct Progress {
    interruption: Interruption,
    bar: ProgressBar,
    seen: bool,
}

impl Progress {
    /// Listens for Ctrl-C from now on.
    pub fn listen() -> Self {
        Self { interruption: Interruption::listen(), bar: bar(), seen: io::stderr().is_terminal() }
    }

    /// Shows nothing, and goes on until this asks to stop.
    pub fn hidden(interruption: &Interruption) -> Self {
        Self { interruption: interruption.clone(), bar: ProgressBar::hidden(), seen: false }
    }

    /// Whether nobody has asked to stop.
    pub fn go_on(&self) -> Control {
        self.interruption.control()
    }

    /// Counts something else from now on.
    pub fn count(&self, what: &'static str) {
        self.bar.set_message(what);
        self.bar.set_position(0);
    }

    /// Tells of bytes from now on, and of how many there are, once that is known.
    pub fn count_bytes(&self, what: &'static str) {
        self.count(what);
        let style = ProgressStyle::with_template("{bar:24} {bytes} of {total_bytes} {msg}, {elapsed} gone, {eta} left");
        self.bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    }

    /// Whether anybody sees it.
    pub const fn is_seen(&self) -> bool {
        self.seen
    }

    /// So many bytes are done, of so many.
    pub fn is_at(&self, (done, of): (u64, u64)) {
        if !self.is_seen() {
            return;
        }
        if self.bar.length() != Some(of) {
            self.bar.set_length(of);
        }
        self.bar.set_position(done);
    }

    pub fn one_more(&self) {
        self.bar.inc(1);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

fn bar() -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{spinner} {human_pos} {msg}");
    let bar = ProgressBar::new_spinner().with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}
