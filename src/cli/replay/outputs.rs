//! Files that a replay writes in addition to what it prints.

use crate::{
    cli::{
        Failure, output,
        page::{PageArgument, PageFile},
        places::{Named, clash},
        plot::PlotFile,
    },
    files::WholeFile,
    replay::{Job, Played, Timeline, write_chakra},
    report::plot::timeline::{self, Run},
    workload::trace::Trace,
};
use clap::Args;
use miette::miette;
use std::{
    io::{self, BufWriter},
    path::{Path, PathBuf},
};

/// Which files.
#[derive(Debug, Args)]
pub(super) struct Outputs {
    /// Draw all runs over one axis of time, what each thread and each GPU does: SVG or PDF, by the ending of the file
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
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
    chakra: Option<WholeFile>,
    pub page: Option<PageFile>,
}

/// A run.
pub(super) struct Done<'a> {
    pub name: &'a str,
    pub slowdown: Option<f64>,
    pub played: &'a Played,
}

impl Outputs {
    /// Begins the files, so that one that cannot be written says so before anything is played. `read` is what is read.
    pub fn begin(&self, read: &[Named<'_>], runs: &[&str]) -> Result<Begun, Failure> {
        let (plot, chakra) = (self.plot.as_deref(), self.chakra.as_deref());
        output::refuse_stream("--plot", plot)?;
        output::refuse_stream("--chakra", chakra)?;
        if let Some((one, other, path)) = clash(read, &[("--plot", plot), ("--chakra", chakra)]) {
            let path = path.display();
            return Err(Failure::Usage(miette!(
                help = "write to another file",
                "{one} and {other} are the same file, {path}"
            )));
        }
        if !runs.contains(&self.chakra_run.as_str()) {
            let help = format!("there are {}; --design gives more", runs.join(", "));
            return Err(Failure::Usage(miette!(help = help, "--chakra-run {}: no such run", self.chakra_run)));
        }
        let begin = |path: Option<&Path>| path.map(WholeFile::create).transpose().map_err(unwritten);
        let others: Vec<_> = read.iter().copied().chain([("--plot", plot), ("--chakra", chakra)]).collect();
        let page = self.page.begin(&others)?;
        Ok(Begun { plot: PlotFile::begin(self.plot.as_ref())?, chakra: begin(chakra)?, page })
    }

    /// Writes them.
    pub fn write(
        &self,
        begun: Begun,
        title: &str,
        (trace, job): (&Trace, &Job),
        runs: &[Done<'_>],
    ) -> Result<(), Failure> {
        if let Some(file) = begun.plot {
            let drawn = runs.iter().map(|run| {
                let timeline = Timeline::of(job, run.played);
                Run { name: run.name, slowdown: run.slowdown, timeline }
            });
            let runs: Vec<_> = drawn.collect();
            file.write(&timeline::draw(title, &runs))?;
        }
        let chosen = runs.iter().find(|run| run.name == self.chakra_run);
        if let (Some(file), Some(run)) = (begun.chakra, chosen) {
            let mut out = BufWriter::new(file);
            let written = write_chakra(trace, job, run.played, &mut out);
            let file = written.and_then(|()| out.into_inner().map_err(io::IntoInnerError::into_error));
            file.and_then(WholeFile::keep).map_err(unwritten)?;
        }
        Ok(())
    }
}

fn unwritten(error: io::Error) -> Failure {
    Failure::InputOutput(miette!("{error}"))
}
