//! `sealsim sensitivity`: which parameters that nobody knows exactly move the answer.

use super::{Failure, run::Interruption};
use crate::explore::sensitivity::{End, Question, Sensitivity, SensitivityError, Swing, sensitivity};
use crate::sim::Control;
use crate::validate::pool;
use crate::workload::{CopyArgument, sized};
use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use miette::miette;
use std::io::{self, IsTerminal, Write};

/// Varies every assumed and calibrated parameter within its stated range, and says what that does to a copy's rate and to the gains of designs.
///
/// One at a time for the tornado, all together (Latin hypercube) for the spread. A conclusion is whether a design is faster than the machine
/// itself, by the margin at least; where one changes within a range, the value is searched for.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  sealsim sensitivity hw-configs/h100-nvl-tdx.toml --copy h2d:64MiB
  sealsim sensitivity h100-nvl-tdx --copy h2d:1MiB --design fastrack --design ide --margin 0.05
  sealsim sensitivity h100-nvl-tdx --copy d2h:64KiB --samples 0 --format json | jq '.swings[:5] | .[].path'")]
pub struct Arguments {
    /// The machine: a TOML file, or the name of a shipped one (see `sealsim list`).
    #[arg(value_name = "CONFIG")]
    config: String,
    /// Set one value, above the machine. May be given several times.
    #[arg(long, value_name = "PATH=VALUE")]
    set: Vec<String>,
    /// The copy, with its size.
    #[arg(long, value_name = "DIR:SIZE[:MEM]")]
    copy: CopyArgument,
    /// A design whose gain over the machine is looked at; several may be joined by `+`. May be given several times.
    #[arg(long, value_name = "DESIGN")]
    design: Vec<String>,
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
    /// How to print it.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A tornado, for people.
    Text,
    /// Everything.
    Json,
}

/// Runs the verb.
///
/// # Errors
/// [`Failure::Config`] for a machine or design that is none, [`Failure::Usage`] for a copy without a size.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let copies =
        sized(std::slice::from_ref(&arguments.copy), None).map_err(|error| Failure::Usage(miette!("{error}")))?;
    let Some(copy) = copies.into_iter().next() else { return Ok(()) };
    if !arguments.margin.is_finite() || arguments.margin < 0.0 {
        return Err(Failure::Usage(miette!("--margin {}: it is a fraction, 0 or more", arguments.margin)));
    }
    let question = Question {
        machine: arguments.config.clone(),
        set: arguments.set.clone(),
        designs: arguments.design.clone(),
        copy,
        samples: arguments.samples,
        seed: arguments.seed,
        margin: arguments.margin,
    };
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
    let mut out = io::stdout().lock();
    let written = match arguments.format {
        Format::Text => out.write_all(text(&answer, arguments.top).as_bytes()),
        Format::Json => {
            serde_json::to_writer_pretty(&mut out, &answer).map_err(io::Error::from).and_then(|()| writeln!(out))
        }
    };
    written.and_then(|()| out.flush()).map_err(|error| Failure::output(&error))
}

fn bar() -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} machines, {eta} left");
    ProgressBar::new(0).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

const HALF: usize = 20;

fn text(answer: &Sensitivity, top: usize) -> String {
    let mut text = format!("{}: {:.4} GB/s\n", answer.machine, answer.base.gb_per_s);
    for (design, gain) in answer.designs.iter().zip(&answer.base.gains) {
        let verdict = if *gain >= 1.0 + answer.margin { "faster" } else { "not faster" };
        text += &format!("  {design}: {gain:.3} times that, {verdict}\n");
    }
    let moving = answer.swings.iter().filter(|swing| swing.relative_swing > 0.0).count();
    let shown = if top == 0 { answer.swings.len() } else { top.min(answer.swings.len()) };
    text += &format!("\n{} parameters varied one at a time, {moving} of them move the rate\n\n", answer.swings.len());
    let widest = answer.swings.first().map_or(0.0, |swing| swing.relative_swing).max(1e-12);
    let width = answer.swings.iter().take(shown).map(|swing| swing.range.path.len()).max().unwrap_or(0);
    for swing in &answer.swings[..shown] {
        text += &line(swing, answer.base.gb_per_s, widest, width);
    }
    if let Some(together) = &answer.together {
        let [low, middle, high] = together.gb_per_s_percentiles;
        text += &format!(
            "\nall together, {} points: {low:.4} to {high:.4} GB/s (5 to 95 %), median {middle:.4}",
            together.samples
        );
        if together.left_out_per_point > 0.0 {
            text +=
                &format!("; {:.1} values per point contradicted others and were left out", together.left_out_per_point);
        }
        if together.refused > 0 {
            text += &format!("; {} more were no machines", together.refused);
        }
        text.push('\n');
        for (design, part) in answer.designs.iter().zip(&together.conclusions_that_hold) {
            text += &format!("  what is said of {design} above holds in {:.0} % of them\n", 100.0 * part);
        }
    }
    let flips: Vec<String> = answer.swings.iter().flat_map(flips).collect();
    if !answer.designs.is_empty() {
        text += if flips.is_empty() {
            "\nno conclusion changes with one parameter alone\n"
        } else {
            "\nconclusions that change:\n"
        };
        text += &flips.concat();
    }
    if !answer.without_range.is_empty() {
        text += &format!("\nwithout a stated range, and so not varied: {}\n", answer.without_range.join(", "));
    }
    text
}

/// A line of the tornado: to the left what is slower, to the right what is faster.
fn line(swing: &Swing, base: f64, widest: f64, width: usize) -> String {
    let change = |end: &End| match end {
        End::Answer(answer) => answer.gb_per_s / base - 1.0,
        End::Refused(_) => 0.0,
    };
    let (low, high) = (change(&swing.at_low), change(&swing.at_high));
    let cells = |part: f64| ((part.max(0.0) / widest * HALF as f64).round() as usize).min(HALF);
    let (slower, faster) = (cells(-low.min(high)), cells(low.max(high)));
    let bar = format!("{:>HALF$}|{:<HALF$}", "#".repeat(slower), "#".repeat(faster));
    let refused = [&swing.at_low, &swing.at_high].into_iter().any(|end| matches!(end, End::Refused(_)));
    format!(
        "{:width$}  {bar}  {:+.2} % at {}, {:+.2} % at {}{}\n",
        swing.range.path,
        100.0 * low,
        swing.range.low,
        100.0 * high,
        swing.range.high,
        if refused { " (an end is no machine)" } else { "" }
    )
}

fn flips(swing: &Swing) -> Vec<String> {
    let one = |flip: &crate::explore::sensitivity::Flip| {
        format!("  {}: with {} at {}, towards its {} end\n", flip.design, swing.range.path, flip.at, flip.towards)
    };
    swing.flips.iter().map(one).collect()
}
