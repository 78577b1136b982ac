//! `sealsim search`: the front of a study from a part of its points. The Python package searches; this verb says what it takes, and calls it.

use super::{Failure, OverlayArguments, WorkArguments, pareto::ParetoFormat, sample::SampleArgument};
use clap::{Args, ValueEnum};
use miette::miette;
use std::{
    env,
    path::PathBuf,
    process::{Command, Stdio},
};

/// Searches a study for its front with a part of its points.
///
/// `sweep` runs every point of a study. A search asks an optimiser (Optuna) which points to run, and tells it what came of them. A point
/// that is refused, or whose engines do not close at their clock, is on no front. The folder is one of a sweep: `pareto` shows it, `sweep`
/// runs the rest. Points that it holds are not run again, so the same command continues an interrupted search. It may propose other points
/// then than it would have; the number of threads changes nothing.
#[derive(Debug, Args)]
#[command(
    after_help = "Needs Python with the package `sealsim` and Optuna: pip install sealsim-*.whl 'optuna>=5,<6' tqdm, or
'./bindings/python[search]' in a clone.

nsga2 breeds points from the best ones and costs next to nothing; tpe models good and bad points, which takes some 70 ms each, and
pays where a point takes seconds; random is what they have to beat. A tenth of the points finds nearly all of the front of the studies that are
built in (docs/studies.md); a larger --budget continues where the last one ended.

Examples:
  sealsim search studies/search-engine.toml --budget 1000 --out results/engine
  sealsim search studies/search-engine.toml --budget 500 --out results/large --copy h2d:64MiB --cheap-copy h2d:2MiB
  sealsim pareto results/engine --plot front.svg
  optuna-dashboard results/engine/search.journal     # watch it (pip install optuna-dashboard)"
)]
pub struct Arguments {
    /// The study: a TOML file.
    #[arg(value_name = "STUDY")]
    study: PathBuf,
    /// Points to run at most; those that an earlier part of the search has run count.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    budget: u32,
    /// The folder of results; made if it is not there.
    #[arg(long, value_name = "FOLDER")]
    out: PathBuf,
    /// What chance depends on.
    #[arg(long, value_name = "S", default_value_t = 0)]
    seed: u32,
    /// Who proposes points.
    #[arg(long, value_enum, default_value_t = Sampler::Nsga2)]
    sampler: Sampler,
    /// A column to be small. May be given several times; without --min and --max, the objectives of the study are taken.
    #[arg(long, value_name = "COLUMN")]
    min: Vec<String>,
    /// A column to be large. May be given several times.
    #[arg(long, value_name = "COLUMN")]
    max: Vec<String>,
    /// Points at work at once; as many as this computer has cores, if not said.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// How to print the front.
    #[arg(long, value_enum, default_value_t = ParetoFormat::Text)]
    format: ParetoFormat,
    #[command(flatten)]
    over: OverArguments,
    #[command(flatten)]
    cheap: CheapArguments,
    #[command(flatten)]
    several: SeveralArguments,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Over the study's own machine and copy")]
struct OverArguments {
    #[command(flatten)]
    overlays: OverlayArguments,
    #[command(flatten)]
    work: WorkArguments,
    #[command(flatten)]
    sample: SampleArgument,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "A first search at less cost, whose best points are the first to run in full")]
struct CheapArguments {
    /// With a smaller copy.
    #[arg(long, value_name = "DIR:SIZE[:MEM]")]
    cheap_copy: Option<String>,
    /// With a part of each point simulated.
    #[arg(long, value_name = "auto|N")]
    cheap_sample: Option<String>,
    /// Its points; twice the budget, if not said.
    #[arg(long, value_name = "N")]
    cheap_budget: Option<u32>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Several processes on one search")]
struct SeveralArguments {
    /// A database of Optuna, as sqlite:///search.db, or the path of a journal; a journal in the folder, if not said.
    #[arg(long, value_name = "URL")]
    storage: Option<String>,
    /// Which of the processes this is: each needs a number of its own.
    #[arg(long, value_name = "N", default_value_t = 0)]
    worker: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Sampler {
    /// A genetic algorithm, NSGA-II.
    Nsga2,
    /// A tree of Parzen estimators.
    Tpe,
    /// Chance.
    Random,
}

/// Runs the verb: this process becomes that of Python, which has the same arguments.
pub fn run(_: &Arguments) -> Result<(), Failure> {
    // The wheel puts the program beside its Python, which need not be on the path.
    let beside = env::current_exe().ok().map(|program| program.with_file_name("python3"));
    let able = |python: &PathBuf| {
        let mut asked = Command::new(python);
        asked.args(["-c", "import optuna, sealsim.search"]).stdout(Stdio::null()).stderr(Stdio::null());
        asked.status().is_ok_and(|status| status.success())
    };
    let python = beside.into_iter().chain([PathBuf::from("python3")]).find(able).ok_or_else(|| {
        Failure::Usage(miette!(
            help = "pip install sealsim-*.whl 'optuna>=5,<6' tqdm puts program and packages beside each other; in a clone it is \
                    './bindings/python[search]', with its Python on the path",
            "a search needs a `python3` with the packages sealsim and Optuna, beside the program or on the path"
        ))
    })?;
    let mut search = Command::new(python);
    search.args(["-m", "sealsim.search"]);
    search.args(env::args_os().skip(2));
    if let Ok(program) = env::current_exe() {
        search.env("SEALSIM", program);
    }
    Err(Failure::input_output("python3", &turned_into(search)))
}

/// Ctrl-C is then Python's, which keeps what has run.
#[cfg(unix)]
fn turned_into(mut command: Command) -> std::io::Error {
    std::os::unix::process::CommandExt::exec(&mut command)
}

#[cfg(not(unix))]
fn turned_into(mut command: Command) -> std::io::Error {
    match command.status() {
        Ok(status) => std::process::exit(status.code().unwrap_or(5)),
        Err(error) => error,
    }
}
