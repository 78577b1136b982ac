//! What a replay found, and the same as text.

use super::{
    layout::{screen, some},
    table::Table,
};
use crate::replay::{Advice, Figures, Ns, Operation, RankFigures, Share, StepFigures, WhatIf};
use crate::sampling::Told;
use serde::Serialize;
use std::fmt::Write;

#[derive(Debug, Serialize)]
pub struct Document {
    pub schema_version: u32,
    /// What a reader has to know before any figure.
    pub notices: Vec<String>,
    /// Steps of the program's loop, if it has one that is looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<Looped>,
    pub machine: String,
    /// What the trace was read from.
    pub trace: &'static str,
    pub events: Events,
    /// What it lacks and what was taken instead.
    pub assumed: Vec<String>,
    /// How much of the copies was simulated, if they were to be sampled, and what the figures of runs may be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampled: Option<Told>,
    /// From the start of the first operation to the end of the last, in the profile itself.
    pub profile_end_ns: Ns,
    /// Off, CC, and the designs.
    pub runs: Vec<Figures>,
    /// The ranks of the job, if there are several profiles; all the rest is about the first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ranks: Vec<RankFigures>,
    /// What the difference between the first two is made of.
    pub breakdown: Vec<Share>,
    /// The calls that grow most.
    pub operations: Vec<Operation>,
    /// Changes that were asked for, the best first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub what_if: Vec<WhatIf>,
    /// What would give time back.
    pub advice: Vec<Advice>,
}

/// The steps of a loop, run by run.
#[derive(Debug, Serialize)]
pub struct Looped {
    pub count: usize,
    pub found: String,
    /// One step in the profile itself, in the mean.
    pub profile_mean_ns: Ns,
    pub runs: Vec<LoopedRun>,
}

#[derive(Debug, Serialize)]
pub struct LoopedRun {
    pub name: String,
    #[serde(flatten)]
    pub figures: StepFigures,
}

/// What became of the events of a trace.
#[derive(Debug, Serialize)]
pub struct Events {
    /// Those that the replay has.
    pub used: u64,
    pub left_out: Vec<LeftOut>,
}

/// Events that the replay does not have.
#[derive(Debug, Serialize)]
pub struct LeftOut {
    pub reason: String,
    pub count: u64,
}

const WIDTH: usize = 80;

/// A time as people write it.
pub(super) fn time(ns: Ns) -> String {
    let digits = |value: f64| if value < 100.0 { format!("{value:.2}") } else { format!("{value:.1}") };
    match ns {
        0..1_000 => format!("{ns} ns"),
        1_000..1_000_000 => format!("{} us", digits(ns as f64 / 1e3)),
        1_000_000..1_000_000_000 => format!("{} ms", digits(ns as f64 / 1e6)),
        _ => format!("{} s", digits(ns as f64 / 1e9)),
    }
}

/// The same with a sign.
fn signed(ns: i64) -> String {
    format!("{}{}", if ns < 0 { "-" } else { "+" }, time(ns.unsigned_abs()))
}

/// Appends a table within the width, with its head or without.
fn table(text: &mut String, indent: usize, table: &Table, head: bool) {
    for line in table.fitted(WIDTH - indent).iter().skip(usize::from(!head)) {
        let _ = writeln!(text, "{:indent$}{line}", "");
    }
}

/// Appends how many rows are not shown.
fn more(text: &mut String, all: usize, shown: usize) {
    if all > shown {
        let _ = writeln!(text, "... and {} more (--rows {all} shows them)", all - shown);
    }
}

fn paragraph(text: &mut String, first: &str, words: &str) {
    let (mut line, indent) = (first.to_owned(), " ".repeat(first.chars().count()));
    for word in words.split_whitespace() {
        if line.chars().count() + 1 + word.chars().count() > WIDTH && line.trim() != first.trim() {
            let _ = writeln!(text, "{}", line.trim_end());
            line.clone_from(&indent);
        }
        if !line.ends_with(' ') && !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    let _ = writeln!(text, "{}", line.trim_end());
}

/// Cuts a name to so many characters.
pub(crate) fn cut(name: &str, length: usize) -> String {
    if name.chars().count() <= length { name.to_owned() } else { name.chars().take(length - 1).chain(['~']).collect() }
}

/// What of many paragraphs or rows stands on the first screen.
const FIRST: usize = 5;

/// The first screen: how much longer it takes, what gives that back, and where it comes from.
pub fn first(document: &Document) -> String {
    let mut text = String::new();
    let runs = document.steps.as_ref().map_or(&[][..], |steps| &steps.runs);
    let (what, times): (_, Vec<_>) = match runs {
        [] => (
            "the program",
            document.runs.iter().map(|run| Some((&run.name, run.end_ns?, run.slowdown_over_off?))).collect(),
        ),
        _ => {
            let one = |run: &'_ LoopedRun| (run.figures.mean_ns, run.figures.slowdown_over_off);
            ("a step", runs.iter().map(|run| Some((&run.name, one(run).0, one(run).1))).collect())
        }
    };
    let answer = match &times[..] {
        [Some((_, off, _)), Some((_, cc, slowdown)), ..] => {
            format!("{what} takes {} with CC, {} without: {slowdown:.3} x as long", time(*cc), time(*off))
        }
        _ => format!("what CC costs {what} is not known"),
    };
    paragraph(&mut text, "", &format!("{answer} ({}, on {})", document.trace, document.machine));
    for (name, ns, slowdown) in times.iter().skip(2).take(FIRST).flatten() {
        paragraph(&mut text, "  ", &format!("{}: {}, {slowdown:.3} x", cut(name, 22), time(*ns)));
    }
    text.push('\n');
    for row in document.what_if.iter().take(2 * FIRST) {
        let took = time(row.step_ns.unwrap_or(row.ns));
        let _ = writeln!(text, "{:24} {:>7.1} %  {took}", cut(&row.name, 24), 100.0 * row.gain);
    }
    let mut said = String::new();
    advice(&mut said, &document.advice);
    text += &(some(said.lines().map(str::to_owned).collect(), 2 * FIRST).join("\n") + "\n\n");
    let mut shares = String::new();
    difference(&mut shares, document);
    text += &(some(shares.trim_end().lines().map(str::to_owned).collect(), 2 * FIRST - 1).join("\n") + "\n\n");
    let mut notices = String::new();
    document.notices.iter().for_each(|notice| paragraph(&mut notices, "", notice));
    text.extend(some(notices.lines().map(str::to_owned).collect(), FIRST).iter().map(|line| format!("{line}\n")));
    let _ = writeln!(text, "assumptions about the profile: {} (--all)", document.assumed.len());
    screen(&text, "--all: runs, steps, ranks, calls, events   --what-if all   --report FILE", WIDTH)
}

/// The same for people, with so many names of calls; of ranks and changes at least 40.
pub fn text(document: &Document, rows: usize) -> String {
    let mut text = String::new();
    head(&mut text, document);
    if let Some(steps) = &document.steps {
        looped(&mut text, steps);
    }
    runs(&mut text, document);
    ranks(&mut text, &document.ranks, rows.max(MANY));
    difference(&mut text, document);
    calls(&mut text, &document.runs, rows);
    operations(&mut text, &document.operations);
    what_if(&mut text, &document.what_if, rows.max(MANY));
    advice(&mut text, &document.advice);
    text
}

fn head(text: &mut String, document: &Document) {
    document.notices.iter().for_each(|notice| paragraph(text, "", notice));
    let _ = writeln!(text, "{}, played on {}", document.trace, document.machine);
    let _ = writeln!(text, "{} events used", document.events.used);
    for LeftOut { reason, count } in &document.events.left_out {
        paragraph(text, "  ", &format!("{count} left out: {reason}"));
    }
    for sentence in &document.assumed {
        paragraph(text, "  assumed: ", sentence);
    }
    if let Some(cc) = document.runs.get(1) {
        let copies = cc.copies;
        let _ = writeln!(text, "{} copies simulated, {} more share one of these", copies.simulated, copies.shared);
    }
    if let Some(told) = &document.sampled {
        paragraph(text, "", &format!("{} of the run with confidential computing.", super::text::sampled(told)));
    }
    for run in document.runs.iter().filter(|run| run.collectives_kept > 0) {
        let (count, name) = (run.collectives_kept, &run.name);
        let what =
            format!("{name}: {count} collectives keep their length: the machine has no fabric for as many GPUs.");
        paragraph(text, "  ", &what);
    }
    text.push('\n');
}

fn looped(text: &mut String, steps: &Looped) {
    paragraph(text, "", &format!("{}:", steps.found));
    let columns = ["step", "mean", "slow-down", "median", "90 %", "99 %", "GPU idle", "bound by"];
    let mut of_steps = Table::new(&columns, &[0, 7]);
    let none = || "-".to_owned();
    let profile = ["profile".into(), time(steps.profile_mean_ns)].into_iter().chain(std::iter::repeat_with(none));
    of_steps.row(profile.take(columns.len()).collect::<Vec<_>>());
    for LoopedRun { name, figures: step } in &steps.runs {
        of_steps.row([
            cut(name, 22),
            time(step.mean_ns),
            format!("{:.3}", step.slowdown_over_off),
            time(step.median_ns),
            time(step.p90_ns),
            time(step.p99_ns),
            time(step.gpu_idle_ns),
            if step.host_bound { "host" } else { "GPU" }.to_owned(),
        ]);
    }
    let mut host = Table::new(&["host, of a step", "own work", "launches", "copies", "waits", "other calls"], &[0]);
    for LoopedRun { name, figures: step } in &steps.runs {
        host.row([
            cut(name, 22),
            time(step.host_gap_ns),
            time(step.launch_calls_ns),
            time(step.copy_calls_ns),
            time(step.wait_calls_ns),
            time(step.other_calls_ns),
        ]);
    }
    table(text, 0, &of_steps, true);
    table(text, 0, &host, true);
    text.push('\n');
}

fn runs(text: &mut String, document: &Document) {
    let mut table = Table::new(&["run", "end", "slow-down", "in calls", "h2d", "d2h", "GPU idle"], &[0]);
    let none = || "-".to_owned();
    let told = |ns: Option<Ns>| ns.map_or_else(none, time);
    table.row(["profile".into(), time(document.profile_end_ns), none(), none(), none(), none(), none()]);
    for run in &document.runs {
        let copies = run.device_copy_ns;
        table.row([
            cut(&run.name, 22),
            told(run.end_ns),
            run.slowdown_over_off.map_or_else(none, |slowdown| format!("{slowdown:.3}")),
            told(run.host_call_ns),
            told(copies.map(|copies| copies.h2d)),
            told(copies.map(|copies| copies.d2h)),
            told(run.gpu_idle_ns),
        ]);
    }
    self::table(text, 0, &table, true);
    paragraph(
        text,
        "",
        "end: from the first operation of the GPU to the end of the last; h2d and d2h: device time of copies",
    );
    text.push('\n');
}

/// Ranks and changes that have a row.
const MANY: usize = 40;

fn ranks(text: &mut String, ranks: &[RankFigures], most: usize) {
    if ranks.is_empty() {
        return;
    }
    let mut table = Table::new(&["rank", "off", "cc", "slow-down", "waits, off", "waits, cc", "profile"], &[0, 6]);
    for (place, rank) in ranks.iter().take(most).enumerate() {
        table.row([
            rank.rank.map_or_else(|| format!("({place})"), |rank| rank.to_string()),
            time(rank.off_ns),
            time(rank.cc_ns),
            format!("{:.3}", rank.slowdown_over_off),
            time(rank.waits_off_ns),
            time(rank.waits_cc_ns),
            rank.file.clone(),
        ]);
    }
    self::table(text, 0, &table, true);
    more(text, ranks.len(), most);
    paragraph(
        text,
        "",
        "waits: what collectives take longer than on the rank that comes last; everything else is about the first rank",
    );
    text.push('\n');
}

fn difference(text: &mut String, document: &Document) {
    let [off, cc, ..] = &document.runs[..] else { return };
    let Some((off, cc)) = off.end_ns.zip(cc.end_ns) else { return };
    let all = i64::try_from(i128::from(cc) - i128::from(off)).unwrap_or(0);
    let per_step = document.steps.as_ref().and_then(|steps| match steps.runs.as_slice() {
        [off, cc, ..] => i64::try_from(i128::from(cc.figures.mean_ns) - i128::from(off.figures.mean_ns)).ok(),
        _ => None,
    });
    let (all, of) = per_step.map_or((all, ""), |step| (step, " a step"));
    let sentence =
        format!("Where the difference of {}{of} comes from, one cause left out after the other:", signed(all));
    paragraph(text, "", &sentence);
    let mut table = Table::new(&["", "", ""], &[2]);
    let of_share = |share: &Share| per_step.and(share.per_step_ns).unwrap_or(share.ns);
    for (share, ns) in document.breakdown.iter().map(|share| (share, of_share(share))).filter(|(_, ns)| *ns != 0) {
        let Share { cause, .. } = share;
        let part = if all == 0 { 0.0 } else { 100.0 * ns as f64 / all as f64 };
        table.row([signed(ns), format!("{part:.1} %"), cause.name().to_owned()]);
    }
    self::table(text, 2, &table, false);
    text.push('\n');
}

fn calls(text: &mut String, runs: &[Figures], most: usize) {
    let [off, cc, ..] = runs else { return };
    if cc.host_calls.is_empty() {
        return;
    }
    let mut table = Table::new(&["calls", "count", "off", "cc", "each, off", "each, cc"], &[0]);
    for call in cc.host_calls.iter().take(most) {
        let before = off.host_calls.iter().find(|other| other.name == call.name).map_or(0, |other| other.total_ns);
        let each = |total: Ns| time(total / call.count.max(1));
        table.row([
            cut(&call.name, 28),
            call.count.to_string(),
            time(before),
            time(call.total_ns),
            each(before),
            each(call.total_ns),
        ]);
    }
    self::table(text, 0, &table, true);
    more(text, cc.host_calls.len(), most);
    text.push('\n');
}

fn operations(text: &mut String, operations: &[Operation]) {
    if operations.is_empty() {
        return;
    }
    let mut table = Table::new(&["costliest calls", "bytes", "at", "off", "cc", "in the trace"], &[0, 5]);
    for one in operations {
        table.row([
            cut(&one.name, 24),
            one.bytes.map_or_else(|| "-".to_owned(), |bytes| bytes.to_string()),
            time(one.start_ns),
            time(one.off_ns),
            time(one.cc_ns),
            one.place.clone(),
        ]);
    }
    self::table(text, 0, &table, true);
    text.push('\n');
}

fn what_if(text: &mut String, rows: &[WhatIf], most: usize) {
    if rows.is_empty() {
        return;
    }
    let of = if rows.iter().any(|row| row.step_ns.is_some()) { "step" } else { "end" };
    let mut table = Table::new(&["what if", "gain", of, "calls", "how the program was changed"], &[0, 4]);
    for row in rows.iter().take(most) {
        table.row([
            cut(&row.name, 24),
            format!("{:.1} %", 100.0 * row.gain),
            time(row.step_ns.unwrap_or(row.ns)),
            row.calls.to_string(),
            row.how.clone(),
        ]);
    }
    self::table(text, 0, &table, true);
    more(text, rows.len(), most);
    text.push('\n');
}

fn advice(text: &mut String, advice: &[Advice]) {
    for one in advice {
        paragraph(text, "- ", &one.text);
    }
}
