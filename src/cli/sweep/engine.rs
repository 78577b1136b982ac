//! Engines: who runs the points of a sweep. What they share: points are split into chunks, each of which is run by a process of its own that
//! writes its rows into the folder.

use super::{Failure, gathered, interrupted};
use crate::cli::{output::complain, run::Interruption};
use crate::explore::sweep::{Chunks, Ended, Folder, MOST_CHUNKS, Study, chunk_size};
use clap::{Args, ValueEnum};
use miette::miette;
use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

crate::units::named! {
    /// Who runs the points.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
    pub(super) enum Engine {
        /// Threads of this process
        #[default]
        Local = "local",
        /// Workers of HyperQueue, wherever they are: this process submits, shows progress and writes the table
        Hq = "hq",
        /// Jobs of Slurm: two scripts are written, and the commands that submit them are printed
        Slurm = "slurm",
    }
}

/// How points become jobs.
#[derive(Debug, Args)]
#[command(next_help_heading = "Engines")]
pub(super) struct EngineArguments {
    /// Who runs the points.
    #[arg(long, value_name = "ENGINE", value_enum, default_value_t)]
    pub engine: Engine,
    /// Points of one job of hq or slurm; what takes some seconds here, if not said.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    chunk: Option<u64>,
    /// Jobs of slurm that may run at once; as many as Slurm lets, if not said.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub at_once: Option<u32>,
}

/// Points that a sample takes at most, and the time.
const SAMPLE: (u64, Duration) = (16, Duration::from_secs(2));

impl EngineArguments {
    /// Refuses options that the engine does not have.
    pub fn check(&self) -> Result<(), Failure> {
        let wrong = |option| Err(Failure::Usage(miette!("{option} is not for --engine {}", self.engine.name())));
        match self.engine {
            Engine::Local if self.chunk.is_some() => wrong("--chunk"),
            Engine::Local | Engine::Hq if self.at_once.is_some() => wrong("--at-once"),
            _ => Ok(()),
        }
    }

    /// The chunks that are to be run: those of the plan that is there, else new ones. None if no point is missing.
    pub fn chunks(
        &self,
        study: &Study,
        folder: &mut Folder,
        most: u64,
        interruption: &Interruption,
    ) -> Result<Option<Chunks>, Failure> {
        gathered(study, folder)?;
        if let Some(chunks) = Chunks::read(folder.path(), study)?.filter(|chunks| !chunks.missing().is_empty()) {
            if self.chunk.is_some() {
                complain(format_args!("{} chunks were cut before: --chunk is for new ones", chunks.len()));
            }
            return Ok(Some(chunks));
        }
        let (total, done) = study.progress(folder)?;
        if done == total {
            return Ok(None);
        }
        let size = self.size(study, folder, total - done, interruption)?;
        let least = (total - done).div_ceil(most.min(MOST_CHUNKS));
        if self.chunk.is_some() && size < least {
            complain(format_args!("at most {most} chunks: {least} points are in each, not {size}"));
        }
        let chunks = Chunks::cut(folder, study, size.max(least))?;
        Ok((!chunks.is_empty()).then_some(chunks))
    }

    fn size(
        &self,
        study: &Study,
        folder: &mut Folder,
        missing: u64,
        interruption: &Interruption,
    ) -> Result<u64, Failure> {
        if let Some(size) = self.chunk {
            return Ok(size);
        }
        let seconds = if self.engine == Engine::Slurm { 60.0 } else { 5.0 };
        let observer = || interruption.control();
        let begun = Instant::now();
        let enough = || begun.elapsed() >= SAMPLE.1;
        let points = study.sample(folder, (missing, SAMPLE.0), &observer, &enough).map_err(|ended| match ended {
            Ended::Stopped => interrupted(folder.len()),
            Ended::Folder(error) => error.into(),
            Ended::Study(error) => error.into(),
        })?;
        Ok(chunk_size(points, begun.elapsed().as_secs_f64(), seconds, missing - points.min(missing)))
    }
}

pub(super) fn program() -> Result<PathBuf, Failure> {
    std::env::current_exe().map_err(|error| Failure::input_output("this program", &error))
}
