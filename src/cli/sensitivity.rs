//! `sealsim sensitivity`: which parameters that nobody knows exactly move the answer.

use super::{
    AlternativeArguments, Failure, WorkArguments,
    machine::machine_of,
    output::{self, Output},
    plot::PlotFile,
    run::Interruption,
};
use crate::explore::sensitivity::{
    Conclusion, End, Flip, Question, Range, Sensitivity, SensitivityError, Swing, Together, sensitivity,
};
use crate::report::plot::tornado::tornado;
use crate::sim::Control;
use crate::units::Bytes;
use crate::validate::pool;
use crate::workload::direction_name;
use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use miette::miette;
use std::{
    io::{self, IsTerminal, Write},
    path::{Path, PathBuf},
};

/// Varies every assumed and calibrated parameter within its stated range, and says what that does to a copy's rate (or to that of a workload's runs) and to the gains of designs.
///
/// One at a time for the tornado, all together (Latin hypercube) for the spread. A conclusion is whether a design is faster than its baseline
/// (that of `sealsim compare`), by the margin at least; where one changes within a range, the value is searched for. Values that contradict
/// others are moved to the nearest that makes a machine, and counted.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  sealsim sensitivity hw-configs/h100-nvl-tdx.toml --copy h2d:64MiB
  sealsim sensitivity h100-nvl-tdx --copy h2d:1MiB --design fastrack --design ide --margin 0.05
  sealsim sensitivity h100-nvl-tdx --copy d2h:64KiB --samples 0 --plot tornado.svg
  sealsim sensitivity --workload layerwise-kv --design fastrack --samples 0
  sealsim sensitivity h100-nvl-tdx --copy d2h:64KiB --samples 0 --format json | jq '.swings[:5] | .[].path'")]
pub struct Arguments {
    /// The machine: a TOML file, or the name of a shipped one (see `sealsim list`). A file takes precedence. May be left out for a
    /// workload that names its machine
    #[arg(value_name = "CONFIG", required_unless_present = "workload")]
    config: Option<String>,
    #[command(flatten)]
    alternatives: AlternativeArguments,
    #[command(flatten)]
    work: WorkArguments,
    /// A design counts as faster from this gain on: 0.05 for five per cent.
    #[arg(long, value_name = "FRACTION", default_value_t = 0.0)]
    margin: f64,
    /// Points with all parameters varied together; 0 for none.
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = clap::value_parser!(u32).range(..=100_000))]
    samples: u32,
    /// Where these points come from.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Lines of the tornado; all of them with 0.
    #[arg(long, value_name = "N", default_value_t = 15)]
    top: usize,
    /// Machines simulated at once; as many as this computer has cores, if not said. The answer does not depend on it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Draw the tornado, of as many lines as --top says: SVG or PDF, by the ending of the file.
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// How to print it.
    #[arg(long, value_enum, default_value_t = SensitivityFormat::Text)]
    format: SensitivityFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SensitivityFormat {
    /// A tornado, for people.
    Text,
    /// Everything.
    Json,
}

/// Runs the verb.
///
/// # Errors
/// [`Failure::Config`] for a machine or design that is none, [`Failure::Usage`] for copies of which none or several are given.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let file = arguments.work.file()?;
    let machine = machine_of(arguments.config.as_deref(), file.as_ref())?;
    let workload = arguments.work.timed(file)?;
    if workload.steps.is_none() && workload.copies.len() != 1 {
        let help = "give one, or a --workload of several";
        let count = workload.copies.len();
        return Err(Failure::Usage(miette!(help = help, "{count} copies: the answer is the rate of a single one")));
    }
    if !arguments.margin.is_finite() || arguments.margin < 0.0 {
        return Err(Failure::Usage(miette!("--margin {}: it is a fraction, 0 or more", arguments.margin)));
    }
    let question = Question {
        machine: arguments.alternatives.machine(&machine),
        designs: arguments.alternatives.design.clone(),
        workload,
        samples: arguments.samples,
        seed: arguments.seed,
        margin: arguments.margin,
    };
    let plot = PlotFile::begin(arguments.plot.as_ref())?;
    let interruption = Interruption::listen();
    let observer = || if interruption.asked() { Control::Stop } else { Control::Continue };
    let bar = bar();
    let progress = |pieces: u64| if pieces > 0 { bar.set_length(pieces) } else { bar.inc(1) };
    let threads = arguments.threads.map_or_else(pool::threads, usize::from);
    let answer = sensitivity(&question, threads, &observer, &progress);
    bar.finish_and_clear();
    let answer = answer.map_err(|error| match error {
        SensitivityError::Candidate(error) => error.into(),
        SensitivityError::Stopped => Failure::Verification(miette!("interrupted")),
        error @ SensitivityError::Base(_) => Failure::Simulation(miette!("{error}")),
    })?;
    if let Some(plot) = plot {
        plot.write(&tornado(&answer, &arguments.subject(&question), arguments.top).draw())?;
    }
    let mut out = Output;
    let written = match arguments.format {
        SensitivityFormat::Text => out.write_all(output::fitted(&text(&answer, arguments.top)).as_bytes()),
        SensitivityFormat::Json => {
            serde_json::to_writer_pretty(&mut out, &answer).map_err(io::Error::from).and_then(|()| writeln!(out))
        }
    };
    written.and_then(|()| out.flush()).map_err(|error| Failure::output(&error))
}

impl Arguments {
    /// What is run, for people.
    fn subject(&self, question: &Question) -> String {
        match (&self.work.workload, question.workload.copies.first()) {
            (None, Some(copy)) => format!("{}:{}", direction_name(copy.direction), Bytes(copy.bytes)),
            (name, _) => name.as_deref().unwrap_or(Path::new("")).display().to_string(),
        }
    }
}

fn bar() -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{wide_bar} {pos}/{len} machines, {eta} left");
    ProgressBar::new(0).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

const HALF: usize = 20;

fn text(answer: &Sensitivity, top: usize) -> String {
    let mut text = format!("{}: {:.4} {}\n", answer.machine, answer.base.rate, answer.unit);
    let moving = answer.swings.iter().filter(|swing| swing.relative_swing > 0.0).count();
    let what = if answer.conclusions.is_empty() { "the rate" } else { "a rate" };
    let count = answer.swings.len();
    text += &format!("\n{count} parameters varied one at a time, {moving} of them move {what}\n\n");
    let shown = if top == 0 { count } else { top.min(count) };
    let widest = answer.swings.iter().map(|swing| swing.machine_swing).fold(1e-12, f64::max);
    let width = answer.swings.iter().take(shown).map(|swing| named(swing).len()).max().unwrap_or(0);
    for swing in &answer.swings[..shown] {
        text += &line(swing, answer.base.rate, widest, width);
    }
    if let Some(together) = &answer.together {
        text += &all_at_once(together, answer.unit);
    }
    if !answer.conclusions.is_empty() {
        text += &format!("\nconclusions, at a margin of {} %:\n", 100.0 * answer.margin);
    }
    let flips: Vec<&Flip> = answer.swings.iter().flat_map(|swing| &swing.flips).collect();
    for one in &answer.conclusions {
        text += &conclusion(one, &flips);
    }
    if !answer.without_range.is_empty() {
        text += &format!("\nwithout a stated range, and so not varied: {}\n", answer.without_range.join(", "));
    }
    text
}

fn all_at_once(together: &Together, unit: &str) -> String {
    let [low, middle, high] = together.rate_percentiles;
    let mut text = format!(
        "\nall together, {} points: {low:.4} to {high:.4} {unit} (5 to 95 %), median {middle:.4}\n",
        together.samples
    );
    if together.moved_per_point > 0.0 {
        let mut moved: Vec<_> = together.moved.iter().collect();
        moved.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        let most: Vec<_> = moved.iter().take(4).map(|(path, _)| path.as_str()).collect();
        text += &format!(
            "  {:.1} values per point contradicted others and were moved to the nearest that makes a machine, {:.1} of them back to the \
             own value; most often {}\n",
            together.moved_per_point,
            together.own_per_point,
            most.join(", ")
        );
    }
    if together.refused > 0 {
        text += &format!("  {} more gave no answer\n", together.refused);
    }
    text
}

/// A parameter, and the designs whose own it is.
fn named(swing: &Swing) -> String {
    let Range { path, of, .. } = &swing.range;
    if of.is_empty() { path.clone() } else { format!("{path} of {}", of.join(", ")) }
}

/// A line of the tornado: to the left what is slower, to the right what is faster.
fn line(swing: &Swing, base: f64, widest: f64, width: usize) -> String {
    let change = |end: &End| end.answer().map_or(0.0, |answer| answer.rate / base - 1.0);
    let (low, high) = (change(&swing.at_low), change(&swing.at_high));
    let cells = |part: f64| ((part.max(0.0) / widest * HALF as f64).round() as usize).min(HALF);
    let (slower, faster) = (cells(-low.min(high)), cells(low.max(high)));
    let bar = format!("{:>HALF$}|{:<HALF$}", "#".repeat(slower), "#".repeat(faster));
    let mut notes = String::new();
    if swing.relative_swing > swing.machine_swing {
        notes += &format!("; a design by {:.2} %", 100.0 * swing.relative_swing);
    }
    for (end, bound) in [(&swing.at_low, &swing.range.low), (&swing.at_high, &swing.range.high)] {
        if end.answer().is_none() {
            notes += "; an end gives no answer";
        } else if end.at != *bound {
            notes += &format!("; {bound} is no machine");
        }
    }
    let ends = format!("{:+.2} % at {}, {:+.2} % at {}", 100.0 * low, swing.at_low.at, 100.0 * high, swing.at_high.at);
    format!("{:width$}  {bar}  {ends}{notes}\n", named(swing))
}

fn conclusion(one: &Conclusion, flips: &[&Flip]) -> String {
    let verdict = if one.faster { "is faster" } else { "is not faster" };
    let mut text = format!("  {} {verdict}, {:.3} times {}", one.design, one.gain, one.against);
    text += if one.survives { ": survives every parameter alone" } else { ": changes" };
    if let Some(part) = one.holds_in {
        text += &format!("; holds in {:.0} % of the points", 100.0 * part);
    }
    text.push('\n');
    for flip in flips.iter().filter(|flip| flip.design == one.design) {
        text += &format!("    no longer with {} at {}, towards its {} end\n", flip.path, flip.at, flip.towards);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conclusion_says_whether_it_survives_and_where_it_changes() {
        let mut one = Conclusion {
            design: "fastrack".into(),
            against: "h100-cc-resealed".into(),
            gain: 4.0321,
            faster: true,
            survives: true,
            holds_in: Some(0.975),
        };
        let said = conclusion(&one, &[]);
        assert_eq!(
            said,
            "  fastrack is faster, 4.032 times h100-cc-resealed: survives every parameter alone; holds in 98 % of the points\n"
        );
        one.survives = false;
        let [design, path, at] = ["fastrack", "link.flight", "90 cycles"].map(str::to_owned);
        let said = conclusion(&one, &[&Flip { design, path, at, towards: "high" }]);
        assert!(said.ends_with("    no longer with link.flight at 90 cycles, towards its high end\n"), "{said}");
    }
}
