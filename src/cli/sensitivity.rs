//! `sealsim sensitivity`: which parameters that are uncertain move the answer.

use super::{
    AlternativeArguments, Failure, WorkArguments, kept, machine::machine_of, output, plot::PlotFile, watch::Watch,
};
use crate::config::Kind;
use crate::explore::Finished;
use crate::explore::sensitivity::{
    Conclusion, Fixed, Flip, Indices, Part, Parts, Question, Rate, Sample, Sensitivity, SensitivityError, Swing,
    Together, Why, sensitivity,
};
use crate::explore::sweep::csv_text;
use crate::files::write_whole;
use crate::pool;
use crate::report::{
    layout::{digits, screen, some},
    plot::tornado::tornado,
    replay::cut,
    table::Table,
};
use crate::units::Bytes;
use crate::workload::direction_name;
use clap::{Args, ValueEnum};
use miette::miette;
use std::path::{Path, PathBuf};

/// Varies every number that states a range within it, and says what that does to a copy's rate (or to that of a workload's runs) and to the gains of designs.
///
/// Each is varied in the machine that runs: what a design sets within the design's own range, elsewhere within the machine's. Numbers without
/// a range are listed as not varied. One at a time for the tornado, all together (Latin hypercube) for the spread. A conclusion is whether a design is faster than its baseline
/// (that of `sealsim compare`), by the margin at least; where one changes within a range, the value is searched for. Values that contradict
/// others are moved to the nearest that makes a machine, and counted.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  sealsim sensitivity hw-configs/h100-nvl-tdx.toml --copy h2d:64MiB
  sealsim sensitivity h100-nvl-tdx --copy h2d:1MiB --design fastrack --design ide --margin 0.05
  sealsim sensitivity h100-nvl-tdx --copy d2h:64KiB --samples 0 --plot tornado.svg
  sealsim sensitivity --workload layerwise-kv --design fastrack --samples 0
  sealsim sensitivity h100-nvl-tdx --copy h2d:1MiB --samples 0 --indices --draws points.csv
  sealsim sensitivity h100-nvl-tdx --copy h2d:1GiB --resume      # continues where it was interrupted
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
    /// Find what part of the variance the parameters give that move a rate most, at most eight, alone and with others, from so many points and as many for each of
    /// them and once more; 256 if N is left out. The others keep their own values.
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "256", value_parser = clap::value_parser!(u32).range(16..=100_000))]
    indices: Option<u32>,
    /// Where these points come from.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Lines of the tornado, in the text with --all; all of them with 0.
    #[arg(long, value_name = "N", default_value_t = 15)]
    top: usize,
    /// In text, give the whole tornado with what each end meets, parts of the variance, and what is not varied.
    #[arg(long)]
    all: bool,
    /// Machines simulated at once; as many as this computer has cores, if not said. The answer does not depend on it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Continue where the same command was interrupted: what it had finished is not simulated again.
    #[arg(long)]
    resume: bool,
    /// Draw the tornado, of as many lines as --top says: SVG or PDF, by the ending of the file.
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Write every point with several parameters varied, and what came of it, into this file, as CSV.
    #[arg(long, value_name = "FILE")]
    draws: Option<PathBuf>,
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
    /// A row for each parameter and what it is varied in, and for each that is not varied.
    Csv,
}

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
        indices: arguments.indices.unwrap_or_default(),
        seed: arguments.seed,
        margin: arguments.margin,
    };
    let plot = PlotFile::begin(arguments.plot.as_ref())?;
    let finished = kept::begin::<Rate>(&format!("sensitivity {question:?}"), arguments.resume);
    let watch = Watch::begin("the runs");
    let (observer, progress) = (|| watch.control(), |part| watch.tell(part));
    let threads = arguments.threads.map_or_else(pool::threads, usize::from);
    let answer = sensitivity(&question, threads, &finished, &observer, &progress);
    watch.end();
    let answer = settle(finished, answer)?;
    if let Some(path) = &arguments.draws {
        let text = draws(&answer, &question.designs)?;
        write_whole(path, text.as_bytes()).map_err(Failure::of_file)?;
    }
    if let Some(plot) = plot {
        plot.write(&tornado(&answer, &arguments.subject(&question), arguments.top).draw())?;
    }
    output::print(&match arguments.format {
        SensitivityFormat::Text if arguments.all => output::fitted(&text(&answer, arguments.top)),
        SensitivityFormat::Text => first(&answer, output::width()),
        SensitivityFormat::Json => output::json(&answer)?,
        SensitivityFormat::Csv => csv(&answer)?,
    });
    Ok(())
}

/// Says what is kept if it was stopped.
fn settle(finished: Finished<Rate>, answer: Result<Sensitivity, SensitivityError>) -> Result<Sensitivity, Failure> {
    match answer {
        Ok(answer) => {
            finished.discard();
            Ok(answer)
        }
        Err(SensitivityError::Stopped { of }) => Err(kept::interrupted(&finished, of)),
        Err(SensitivityError::Candidate(error)) => Err(error.into()),
        Err(error @ SensitivityError::Base(_)) => Err(Failure::Simulation(miette!("{error}"))),
    }
}

impl Arguments {
    fn subject(&self, question: &Question) -> String {
        match (&self.work.workload, question.workload.copies.first()) {
            (None, Some(copy)) => format!("{}:{}", direction_name(copy.direction), Bytes(copy.bytes)),
            (name, _) => name.as_deref().unwrap_or(Path::new("")).display().to_string(),
        }
    }
}

/// Parameters on the first screen, and characters of a name there.
const FIRST: usize = 10;
const NAME: usize = 28;

/// The first screen: what is not known, and whether it changes the answer; then what moves the rate most.
fn first(answer: &Sensitivity, width: usize) -> String {
    let (rate, unit, count) = (digits(answer.base.rate), answer.unit, answer.swings.len());
    let mut text = format!("{}: {rate} {unit}", answer.machine);
    text += &answer.together.as_ref().map_or_else(String::new, |together| {
        let [low, _, high] = together.rate_percentiles.map(digits);
        format!("; {low} to {high} in 5 to 95 % of {} points with all varied", together.samples)
    });
    let flips: Vec<&Flip> = answer.swings.iter().flat_map(|swing| &swing.flips).collect();
    let said: Vec<_> = answer.conclusions.iter().map(|one| conclusion(one, &flips)).collect();
    if !said.is_empty() {
        let holds = answer.conclusions.iter().all(|one| one.survives);
        let answered = if holds { "no" } else { "YES" };
        text += &format!("\n\nDoes what is not known change which is faster? {answered}, of {count} ranges:\n");
        text += &some(said.concat().lines().map(str::to_owned).collect(), FIRST).join("\n");
    }
    text.extend(answer.does_not_close.iter().map(|sentence| format!("\n{sentence}")));
    let moving: Vec<_> = answer.swings.iter().filter(|swing| swing.relative_swing > 0.0).collect();
    let designs = !answer.conclusions.is_empty();
    let mut table = Table::new(&["what moves a rate most", "at low", "at high", "a design", "low..high"], &[0, 4]);
    for swing in moving.iter().take(FIRST) {
        let change =
            |change: Option<f64>| change.map_or_else(|| "-".to_owned(), |part| format!("{:+.1} %", 100.0 * part));
        let [low, high] = answer.changes(swing).map(change);
        let of_design = if designs { format!("{:.1} %", 100.0 * swing.relative_swing) } else { "-".to_owned() };
        let (from, to) = (swing.at_low.at.as_str(), swing.at_high.at.as_str());
        let unit = to.split_once(' ').map_or("", |(_, unit)| unit);
        let between = cut(&format!("{}..{to}", from.strip_suffix(unit).unwrap_or(from).trim_end()), 20);
        table.row([cut(&named(&swing.range.path, &swing.range.of), NAME), low, high, of_design, between]);
    }
    text += &format!("\n\n{}\n", table.lines().join("\n"));
    let rest = moving.len().saturating_sub(FIRST);
    let (still, fixed) = (count - moving.len(), answer.not_varied.len());
    text += &format!("{rest} more move a rate less; {still} move nothing; {fixed} are not varied\n");
    screen(&text, "--all: the whole tornado, what is not varied   --plot FILE   --indices", width)
}

const HALF: usize = 20;

fn text(answer: &Sensitivity, top: usize) -> String {
    let mut text = format!("{}: {:.4} {}\n", answer.machine, answer.base.rate, answer.unit);
    text.extend(answer.does_not_close.iter().map(|sentence| format!("{sentence}\n")));
    let moving = answer.swings.iter().filter(|swing| swing.relative_swing > 0.0).count();
    let what = if answer.conclusions.is_empty() { "the rate" } else { "a rate" };
    let count = answer.swings.len();
    text += &format!("\n{count} parameters varied one at a time, {moving} of them move {what}\n\n");
    let shown = if top == 0 { count } else { top.min(count) };
    let widest = answer.swings.iter().map(Swing::shown_swing).fold(1e-12, f64::max);
    let name = |swing: &Swing| named(&swing.range.path, &swing.range.of);
    let width = answer.swings.iter().take(shown).map(|swing| name(swing).len()).max().unwrap_or(0);
    for swing in &answer.swings[..shown] {
        text += &format!("{:width$}  {}", name(swing), line(swing, answer.changes(swing), widest));
    }
    if let Some(together) = &answer.together {
        text += &all_at_once(together, answer.unit);
    }
    if let Some(indices) = &answer.indices {
        text += &parts_of_variance(indices, &answer.conclusions);
    }
    if !answer.conclusions.is_empty() {
        text += &format!("\nconclusions, at a margin of {} %:\n", 100.0 * answer.margin);
    }
    let flips: Vec<&Flip> = answer.swings.iter().flat_map(|swing| &swing.flips).collect();
    for one in &answer.conclusions {
        text += &conclusion(one, &flips);
    }
    text + &not_varied(&answer.not_varied)
}

/// What is not varied: by name where no value is published, else how many they are.
fn not_varied(all: &[Fixed]) -> String {
    let names = |all: &[&Fixed]| all.iter().map(|one| named(&one.path, &one.of)).collect::<Vec<_>>().join(", ");
    let (all, stuck): (Vec<_>, Vec<_>) = all.iter().partition(|one| one.why == Why::NoRange);
    let known = |one: &&Fixed| matches!(one.kind, Kind::Documented | Kind::Measured);
    let (known, unknown): (Vec<_>, Vec<_>) = all.into_iter().partition(known);
    let mut text = String::new();
    if !unknown.is_empty() {
        text += &format!("\nnot varied, since they state no range: {}\n", names(&unknown));
    }
    if !stuck.is_empty() {
        text += &format!("\nnot varied, since no other value of their range makes a machine: {}\n", names(&stuck));
    }
    if !known.is_empty() {
        let count = known.len();
        text += &format!(
            "\nnot varied either: {count} numbers that are documented or measured without a range (--format json lists them)\n"
        );
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

fn parts_of_variance(indices: &Indices, conclusions: &[Conclusion]) -> String {
    let Indices { points, refused, parameters, .. } = indices;
    if parameters.is_empty() {
        return "\nno parameter moves a rate by 1 %: there are no indices\n".to_owned();
    }
    let refused = if *refused == 0 { String::new() } else { format!("; {refused} more gave no answer") };
    let mut text = format!(
        "\nwhat part of the variance each parameter gives alone, and with others ({points} points{refused}; 5 to 95 % of resamplings)\n"
    );
    let width = parameters.iter().map(|index| index.path.len()).max().unwrap_or(0);
    let part = |Part { value, interval_90: [low, high] }: Part| format!("{value:6.3} ({low:.3}..{high:.3})");
    let gains = conclusions.iter().enumerate().map(|(place, one)| (format!("the gain of {}", one.design), Some(place)));
    for (name, design) in std::iter::once(("the rate".to_owned(), None)).chain(gains) {
        text += &format!("  of {name}:\n");
        for index in parameters {
            let Parts { first_order, total } = design.map_or(index.rate, |design| index.gains[design]);
            text += &format!("    {:width$}  {}  {}\n", index.path, part(first_order), part(total));
        }
    }
    text
}

/// Every point that was drawn: what it is of, what came of it, and by parameter the value and the part of its probability.
fn draws(answer: &Sensitivity, designs: &[String]) -> csv::Result<String> {
    let names =
        answer.ranges.iter().map(|range| named(&range.path, &range.of)).flat_map(|name| [format!("{name} part"), name]);
    let gains = designs.iter().map(|design| format!("gain of {design}"));
    let head = ["set", "point", "rate"].map(str::to_owned).into_iter().chain(gains).chain(names).collect();
    let row = |Sample { set, point, values, answer }: &Sample| {
        let rate = answer.as_ref().map_or_else(String::new, |answer| answer.rate.to_string());
        let gain = |place: usize| answer.as_ref().map_or_else(String::new, |answer| answer.gains[place].to_string());
        let cells = values.iter().flat_map(|value| match value {
            Some((part, value)) => [part.to_string(), value.clone()],
            None => [String::new(), String::new()],
        });
        [set.clone(), point.to_string(), rate].into_iter().chain((0..designs.len()).map(gain)).chain(cells).collect()
    };
    csv_text(std::iter::once(head).chain(answer.samples.iter().map(row)))
}

/// A parameter, and the machines that have it so, where these are not all.
fn named(path: &str, of: &[String]) -> String {
    if of.is_empty() { path.to_owned() } else { format!("{path} of {}", of.join(", ")) }
}

/// A line of the tornado: to the left what is slower, to the right what is faster.
fn line(swing: &Swing, changes: [Option<f64>; 2], widest: f64) -> String {
    let [low, high] = changes.map(|change| change.unwrap_or(0.0));
    let cells = |part: f64| ((part.max(0.0) / widest * HALF as f64).round() as usize).min(HALF);
    let (slower, faster) = (cells(-low.min(high)), cells(low.max(high)));
    let bar = format!("{:>HALF$}|{:<HALF$}", "#".repeat(slower), "#".repeat(faster));
    let mut notes = String::new();
    if swing.relative_swing > swing.shown_swing() {
        notes += &format!("; a design by {:.2} %", 100.0 * swing.relative_swing);
    }
    for (end, bound) in [(&swing.at_low, &swing.range.low), (&swing.at_high, &swing.range.high)] {
        if end.answer().is_none() {
            notes += "; an end gives no answer";
        } else if end.at != *bound {
            notes += &format!("; {bound} is no machine");
        }
        if !end.does_not_close.is_empty() {
            notes += &format!("; at {bound} {} does not close", end.does_not_close.join(", "));
        }
    }
    let ends = format!("{:+.2} % at {}, {:+.2} % at {}", 100.0 * low, swing.at_low.at, 100.0 * high, swing.at_high.at);
    format!("{bar}  {ends}{notes}\n")
}

type Column = (&'static str, fn(&Sensitivity, &Swing) -> String);

/// Columns of a spreadsheet, and what each says of a parameter that is varied.
const COLUMNS: [Column; 18] = [
    ("parameter", |_, swing| swing.range.path.clone()),
    ("of", |_, swing| swing.range.of.join(" ")),
    ("kind", |_, swing| swing.range.kind.name().to_owned()),
    ("value", |_, swing| swing.range.value.clone()),
    ("varied", |_, _| "true".to_owned()),
    ("low", |_, swing| swing.range.low.clone()),
    ("high", |_, swing| swing.range.high.clone()),
    ("at_low", |_, swing| swing.at_low.at.clone()),
    ("at_high", |_, swing| swing.at_high.at.clone()),
    ("change_at_low", |answer, swing| or_nothing(answer.changes(swing)[0])),
    ("change_at_high", |answer, swing| or_nothing(answer.changes(swing)[1])),
    ("machine_swing", |_, swing| swing.machine_swing.to_string()),
    ("relative_swing", |_, swing| swing.relative_swing.to_string()),
    ("flips", |_, swing| {
        let flips: Vec<_> = swing.flips.iter().map(|flip| format!("{} at {}", flip.design, flip.at)).collect();
        flips.join("; ")
    }),
    ("does_not_close_at_low", |_, swing| swing.at_low.does_not_close.join(" ")),
    ("does_not_close_at_high", |_, swing| swing.at_high.does_not_close.join(" ")),
    ("first_order", |answer, swing| or_nothing(rate_parts(answer, swing).map(|parts| parts.first_order.value))),
    ("total", |answer, swing| or_nothing(rate_parts(answer, swing).map(|parts| parts.total.value))),
];

fn or_nothing(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

fn rate_parts(answer: &Sensitivity, swing: &Swing) -> Option<Parts> {
    let indices = answer.indices.iter().flat_map(|all| &all.parameters);
    indices.clone().find(|index| index.path == swing.range.path).map(|index| index.rate)
}

/// A row for each parameter: those that are varied, the greatest swing first, then the others.
fn csv(answer: &Sensitivity) -> csv::Result<String> {
    let varied = answer.swings.iter().map(|swing| COLUMNS.map(|(_, of)| of(answer, swing)).to_vec());
    let fixed = answer.not_varied.iter().map(|Fixed { path, kind, value, of, .. }| {
        let own = [path.as_str(), &of.join(" "), kind.name(), value, "false"].map(str::to_owned);
        own.into_iter().chain(std::iter::repeat_n(String::new(), COLUMNS.len() - 5)).collect()
    });
    csv_text(std::iter::once(COLUMNS.map(|(name, _)| name.to_owned()).to_vec()).chain(varied).chain(fixed))
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
