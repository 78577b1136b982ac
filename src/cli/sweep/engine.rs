//! Engines: who runs the points of a sweep. Schedulers get it as an array of jobs, each of which runs `sealsim sweep --shard`.

use super::{Failure, gathered};
use crate::cli::output::complain;
use crate::explore::sweep::{Folder, ShardArray, Study};
use clap::{Args, ValueEnum};
use miette::miette;
use std::path::PathBuf;

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
    /// Points of one job of hq or slurm; a 256th of the study, if not said.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    chunk: Option<u64>,
    /// Jobs of slurm that may run at once; as many as Slurm lets, if not said.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub at_once: Option<u32>,
}

/// Shards of a sweep of which nobody says how many points they are to have: so many that workers are at work until its end.
const SHARDS: u64 = 256;

/// The most jobs: what a scheduler gets of them stays short.
pub(super) const MOST_SHARDS: u32 = 10_000;

/// Shards of a study that lack rows, as a scheduler gets them.
pub(super) struct Shards {
    /// What distinguishes them from those of other studies and numbers.
    pub name: String,
    pub array: ShardArray,
    /// Their numbers.
    pub lacking: Vec<u32>,
    /// The folder of results; absolute, for jobs that run elsewhere.
    pub folder: PathBuf,
}

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

    /// What is to be run, in as many shards as before if it was split before. None if no point is missing.
    pub fn shards(&self, study: &Study, folder: &mut Folder, most: u32) -> Result<Option<Shards>, Failure> {
        gathered(study, folder)?;
        let (total, done) = study.progress(folder)?;
        if done == total {
            return Ok(None);
        }
        let array = match ShardArray::read(folder.path()).filter(|array| array.of <= most) {
            Some(array) => array,
            None => self.split(study.most_points()?, most),
        };
        array.write(folder.path())?;
        let lacking = array.lacking(study, |id| folder.has(id))?;
        let name = format!("sealsim-{:.12}-{}", study.digest, array.of);
        let shown = folder.path().display().to_string();
        let folder = folder.path().canonicalize().map_err(|error| Failure::input_output(&shown, &error))?;
        Ok((!lacking.is_empty()).then_some(Shards { name, array, lacking, folder }))
    }

    /// As many shards as it takes for each to have at most so many points.
    fn split(&self, points: u64, most: u32) -> ShardArray {
        let least = points.div_ceil(most.into());
        let size = self.chunk.unwrap_or_else(|| points.div_ceil(SHARDS));
        if size < least {
            complain(format_args!("at most {most} shards: {least} points are in each, not {size}"));
        }
        let of = points.div_ceil(size.max(least).max(1));
        ShardArray { of: u32::try_from(of).unwrap_or(most), job: None }
    }
}

pub(super) fn program() -> Result<PathBuf, Failure> {
    std::env::current_exe().map_err(|error| Failure::input_output("this program", &error))
}
