//! `sealsim validate`: the machine against measured silicon.

mod bench;
mod register;
mod text;

pub(super) use bench::{Bench, TableMode, catalogue, read_dataset};
use register::{Origin, Scored};

use super::{
    Failure, output,
    page::{PageArgument, PageFile},
    run::Interruption,
};
use crate::{
    files::write_whole,
    pool,
    report::{
        SCHEMA_VERSION,
        plot::{Format, measured::Panel},
    },
    validate::{
        catalogue::Dataset,
        score::DatasetScore,
        summary::{self, Row},
    },
};
use clap::{Args, ValueEnum};
use miette::miette;
use serde::Serialize;
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

/// Compares machines with measured silicon: the error of each data set, and its curves.
#[derive(Debug, Args)]
#[command(after_long_help = "\
For each table of measurements the program issues what was measured, point by point, and prints how far the simulated figures are \
from the measured ones: mean absolute percentage error, mean signed error (bias), and the worst point. Errors are stated apart for points \
that parameters were fitted to, points that were seen while a parameter was chosen (informed), and points held out. A machine that \
`sealsim calibrate --write` wrote, or one that extends it, knows the points that it was fitted to. docs/validation.md says what \
is issued for each kind of table, where the data come from, and which points were fitted to or seen. A table has at most 16 MiB.

For data that nobody here has, --predict takes a CSV table of bandwidth without its figure, with the columns \
platform,mode,host_memory,direction,bytes (mode: off, cc; host_memory: pinned, pageable, device; direction: h2d, d2h, d2d), and writes the same rows \
with predicted_gb_per_s,machine,machine_digest,sealsim. Whoever measures them joins both with --score PREDICTIONS MEASURED, where MEASURED is a table \
of bandwidth (column gb_per_s). Rows join by platform, mode, host_memory, direction and exact size; if a row of either has no partner in the other, \
nothing is scored. validation/predictions/ has those that are committed.

Exit status: 0 all points were simulated, or joined, however far they are; 1 interrupted, a copy was not delivered, or rows of --score do not \
match; 2 wrong arguments; 3 wrong configuration; 4 a file that cannot be read or written; 5 a fault of the simulation.

Examples:
  sealsim validate
  sealsim validate --dataset p1-bandwidth --plot curves
  sealsim validate --report validation.html        # a page with measured and simulated points
  sealsim validate --hw mine.toml --measured mine.csv
  sealsim validate --dataset p2-bandwidth --set driver.in_flight.d2h=1
  sealsim validate --predict validation/predictions/p1-pinned-sizes.csv --out p1-pinned.csv
  sealsim validate --score p1-pinned.csv measured.csv
  sealsim validate --format json | jq '.datasets[] | {name, mape_percent}'")]
pub struct Arguments {
    /// Which data sets, by name (default: all that are built in). May be given several times
    #[arg(long = "dataset", value_name = "NAME")]
    datasets: Vec<String>,
    /// A table of measurements, the JSON of nvbandwidth, or what bandwidthTest or nccl-tests print, instead of those that are built in. May be given several times
    #[arg(long, value_name = "FILE")]
    measured: Vec<PathBuf>,
    /// The mode in which nvbandwidth, bandwidthTest or nccl-tests made a file of --measured: they do not say
    #[arg(long, value_enum, value_name = "MODE", default_value_t = TableMode::Cc)]
    mode: TableMode,
    /// Predict this table of sizes and modes without figures, as CSV
    #[arg(long, value_name = "FILE", conflicts_with_all = ["datasets", "measured", "plot", "format", "report"])]
    predict: Option<PathBuf>,
    /// Write the predictions into this file instead of standard output
    #[arg(long, value_name = "FILE", requires = "predict")]
    out: Option<PathBuf>,
    /// Join predictions with measurements and print the errors; nothing is simulated
    #[arg(long, num_args = 2, value_names = ["PREDICTIONS", "MEASURED"],
          conflicts_with_all = ["predict", "datasets", "measured", "hw", "design", "set", "threads"])]
    score: Option<Vec<PathBuf>>,
    /// The machine, whatever platform a table names: a TOML file, or the name of a shipped one
    #[arg(long, value_name = "CONFIG")]
    hw: Option<String>,
    /// A design that overrides values of the machine. May be given several times
    #[arg(long, value_name = "DESIGN")]
    design: Vec<String>,
    /// Set one value of the machine, above all files. May be given several times
    #[arg(long, value_name = "PATH=VALUE")]
    set: Vec<String>,
    /// Write curves, measured against simulated, into this folder, a file for each plot
    #[arg(long, value_name = "DIR")]
    plot: Option<PathBuf>,
    /// What these files are
    #[arg(long, value_enum, value_name = "FORMAT", requires = "plot", default_value_t = PlotAs::Svg)]
    plot_as: PlotAs,
    /// Points simulated at the same time (default: as many as there are cores); the figures do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Text for people, or one JSON object
    #[arg(long, value_enum, default_value_t = ValidateFormat::Text)]
    format: ValidateFormat,
    #[command(flatten)]
    page: PageArgument,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ValidateFormat {
    /// Errors and curves
    Text,
    /// datasets[] with name, kind, points, errors and values[], and summary[] by platform; described in docs/validation.md
    Json,
}

/// Files of plots.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PlotAs {
    /// Scalable Vector Graphics
    Svg,
    /// Portable Document Format, with its font
    Pdf,
}

#[derive(Debug, Serialize)]
struct Outcome {
    schema_version: u32,
    /// Of each machine whose engines do not close at their clock: its name and the sentence, which holds for every figure.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    does_not_close: Vec<String>,
    datasets: Vec<DatasetScore>,
    /// Errors by platform and class, over all of these.
    summary: Vec<Row>,
    /// Who predicted, if figures are predictions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    predicted_by: Vec<Origin>,
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let page = arguments.begin()?;
    if let Some([predictions, measured]) = arguments.score.as_deref() {
        let Scored { dataset, score, origins } = register::score(predictions, measured)?;
        return arguments.show(&[dataset], (vec![score], Vec::new()), origins, (&BTreeMap::new(), page));
    }
    let catalogue = catalogue()?;
    let mut bench = Bench::new(catalogue.platforms, Interruption::listen());
    bench.hw = arguments.hw.clone();
    bench.designs.clone_from(&arguments.design);
    bench.settings.clone_from(&arguments.set);
    bench.threads = arguments.threads.map_or_else(pool::threads, usize::from);
    if let Some(asked) = &arguments.predict {
        return register::predict(&bench, asked, arguments.out.as_deref());
    }
    let mut datasets = arguments.datasets(&catalogue.datasets)?;
    let (scores, open) = bench.score(&mut datasets)?;
    arguments.show(&datasets, (scores, open), Vec::new(), (&catalogue.titles, page))
}

impl Arguments {
    fn begin(&self) -> Result<Option<PageFile>, Failure> {
        let tables = self.measured.iter().map(|path| ("--measured", Some(path.as_path())));
        let scored = self.score.iter().flatten().map(|path| ("--score", Some(path.as_path())));
        let layers = self.hw.iter().map(|name| ("--hw", Some(Path::new(name))));
        let designs = self.design.iter().map(|name| ("--design", Some(Path::new(name))));
        self.page.begin(&tables.chain(scored).chain(layers).chain(designs).collect::<Vec<_>>())
    }

    fn show(
        &self,
        datasets: &[Dataset],
        (scores, does_not_close): (Vec<DatasetScore>, Vec<String>),
        origins: Vec<Origin>,
        (titles, page): (&BTreeMap<String, String>, Option<PageFile>),
    ) -> Result<(), Failure> {
        let panels: Vec<_> = datasets.iter().zip(&scores).map(|(dataset, score)| Panel::of(dataset, score)).collect();
        if let Some(folder) = &self.plot {
            plot(folder, &panels.concat(), self.plot_as)?;
        }
        let summary = summary::rows(titles, datasets, &scores);
        let schema_version = SCHEMA_VERSION;
        let outcome = Outcome { schema_version, does_not_close, datasets: scores, summary, predicted_by: origins };
        output::print(&match self.format {
            ValidateFormat::Json => output::json(&outcome)?,
            ValidateFormat::Text => {
                let text = text::text(&outcome.datasets, &panels, output::width());
                let platforms = text::platforms(&outcome.summary, outcome.datasets.len());
                let open: String = outcome.does_not_close.iter().map(|sentence| format!("{sentence}\n")).collect();
                output::fitted(&(text::origins(&outcome.predicted_by) + &open + &text + &platforms))
            }
        });
        page.map_or(Ok(()), |page| page.write(&outcome, |page| Ok(page.with_curves(&panels.concat()))))
    }

    fn datasets(&self, shipped: &[Dataset]) -> Result<Vec<Dataset>, Failure> {
        let given = self.measured.iter().map(|path| read_dataset(path, self.mode)).collect::<Result<Vec<_>, _>>()?;
        let there = if self.measured.is_empty() { shipped } else { given.as_slice() };
        if self.datasets.is_empty() {
            return Ok(there.to_vec());
        }
        let find = |name: &String| {
            let unknown = || {
                let names: Vec<_> = there.iter().map(|dataset| dataset.name.as_str()).collect();
                let help = format!("there is {}", names.join(", "));
                Failure::Usage(miette!(help = help, "--dataset {name}: there is no such data set"))
            };
            there.iter().find(|dataset| dataset.name == *name).cloned().ok_or_else(unknown)
        };
        self.datasets.iter().map(find).collect()
    }
}

/// One file for each plot, named after its title.
fn plot(folder: &Path, panels: &[Panel], plots: PlotAs) -> Result<(), Failure> {
    let failed = |error| Failure::input_output(&folder.display().to_string(), &error);
    fs::create_dir_all(folder).map_err(failed)?;
    for panel in panels {
        let path = folder.join(file_name(&panel.title, plots));
        let bytes = Format::of(&path)?.write(&panel.figure().draw())?;
        write_whole(&path, &bytes).map_err(Failure::of_file)?;
    }
    Ok(())
}

/// Letters, digits and points stay; all between becomes one dash.
fn file_name(title: &str, plots: PlotAs) -> String {
    let kept = |character: char| character.is_ascii_alphanumeric() || character == '.';
    let words: Vec<_> = title.split(|character| !kept(character)).filter(|word| !word.is_empty()).collect();
    words.join("-") + if plots == PlotAs::Svg { ".svg" } else { ".pdf" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plot_is_named_after_its_title() {
        assert_eq!(
            file_name("p1-overlap: 16 MiB, 1.5 ms kernels", PlotAs::Svg),
            "p1-overlap-16-MiB-1.5-ms-kernels.svg"
        );
        assert_eq!(file_name("../x", PlotAs::Pdf), "..-x.pdf");
    }
}
