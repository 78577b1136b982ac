//! Engines: who runs the points of a sweep. Schedulers get it as an array of jobs, each of which runs `sealsim sweep --shard`.

use super::{Failure, gathered, interrupted};
use crate::cli::{output::complain, run::Interruption};
use crate::explore::sweep::{Ended, Folder, ShardArray, Study};
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
    pub fn shards(
        &self,
        study: &Study,
        folder: &mut Folder,
        most: u32,
        interruption: &Interruption,
    ) -> Result<Option<Shards>, Failure> {
        gathered(study, folder)?;
        let (total, done) = study.progress(folder)?;
        if done == total {
            return Ok(None);
        }
        let array = match ShardArray::read(folder.path()).filter(|array| array.of <= most) {
            Some(array) => array,
            None => {
                let array = self.split(study, folder, (total - done, most), interruption)?;
                array.write(folder.path())?;
                array
            }
        };
        let lacking = array.lacking(study, |id| folder.has(id))?;
        let name = format!("sealsim-{:.12}-{}", study.digest, array.of);
        let shown = folder.path().display().to_string();
        let folder = folder.path().canonicalize().map_err(|error| Failure::input_output(&shown, &error))?;
        Ok((!lacking.is_empty()).then_some(Shards { name, array, lacking, folder }))
    }

    /// As many shards as it takes for each to have at most so many points.
    fn split(
        &self,
        study: &Study,
        folder: &mut Folder,
        (missing, most): (u64, u32),
        interruption: &Interruption,
    ) -> Result<ShardArray, Failure> {
        let all = study.most_points()?;
        let (least, size) = (all.div_ceil(most.into()), self.size(study, folder, missing, interruption)?);
        if self.chunk.is_some() && size < least {
            complain(format_args!("at most {most} shards: {least} points are in each, not {size}"));
        }
        let of = all.div_ceil(size.max(least)).max(1);
        Ok(ShardArray { of: u32::try_from(of).unwrap_or(most), job: None })
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
        let begun = Instant::now();
        let enough = || begun.elapsed() >= SAMPLE.1;
        let points = study.sample(folder, (missing, SAMPLE.0), &|| interruption.control(), &enough).map_err(
            |ended| match ended {
                Ended::Stopped => interrupted(folder.len()),
                ended => ended.into(),
            },
        )?;
        Ok(fit(points, begun.elapsed().as_secs_f64(), seconds, missing - points.min(missing)))
    }
}

/// How many points take some seconds, from a sample of them; never so many that few workers have all the work.
fn fit(points: u64, sample: f64, seconds: f64, missing: u64) -> u64 {
    let fit = if sample > 0.0 { (points as f64 * seconds / sample) as u64 } else { missing };
    fit.min(missing.div_ceil(64)).max(1)
}

pub(super) fn program() -> Result<PathBuf, Failure> {
    std::env::current_exe().map_err(|error| Failure::input_output("this program", &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shard_takes_some_seconds_unless_that_leaves_workers_idle() {
        // Ten points take a second.
        assert_eq!(fit(10, 1.0, 5.0, 1_000_000), 50);
        assert_eq!(fit(10, 1.0, 5.0, 640), 10);
        assert_eq!(fit(10, 0.0, 5.0, 64), 1);
        assert_eq!(fit(1, 1e9, 5.0, 10_000_000), 1);
    }
}
