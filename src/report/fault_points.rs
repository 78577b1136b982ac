//! Every single fault of a copy, point by point, for people and for spreadsheets.

use super::{layout::fitted, table::Table, text::micros};
use crate::explore::{
    faults::{PointTally, Single, Tally, clopper_pearson},
    sweep::csv_text,
};
use serde::Serialize;
use std::{borrow::Cow, collections::BTreeMap, fmt::Write};

/// What whoever reads a table has to know beside it.
#[derive(Debug, Clone)]
pub struct Stated {
    /// The machine with its designs, and the digest of its configuration.
    pub machine: String,
    pub digest: String,
    /// The copies, and most states of a point that were tried.
    pub copies: String,
    pub per_point: Option<usize>,
    pub seed: u64,
    pub command: String,
}

impl Stated {
    /// Fault model, sample, machine and command, a line each.
    pub fn lines(&self) -> Vec<String> {
        let sample = self.per_point.map_or_else(
            || "each state of each point once".to_owned(),
            |most| format!("at most {most} states of each point, drawn evenly"),
        );
        vec![
            format!("machine: {}, digest {}", self.machine, self.digest),
            format!("copies: {}, each alone in a machine of its own; seed {}", self.copies, self.seed),
            "fault model: one transient fault in a run: what passes a channel is inverted in a bit, lost, repeated or exchanged with what follows; a bit \
             of a register of a copy engine's engine is inverted in a cycle. Points are equally likely, so shares are not failure rates"
                .to_owned(),
            format!("sample: {sample}; a state is a transfer (of a flip, a field of it) or a cycle in which a register holds a value"),
            format!("command: {}", self.command),
        ]
    }
}

/// What is in a page beyond the table of points.
#[derive(Debug, Serialize)]
pub struct Shown<'a> {
    stated: Vec<String>,
    /// What the classes are called here, and what in IEC 61508 and ISO 26262-11.
    words: [[&'static str; 2]; 5],
    by_sort: Vec<Row<'a>>,
    by_point: Vec<Row<'a>>,
}

/// What the faults at one point, or at all of a sort, came to.
#[derive(Debug, Serialize)]
struct Row<'a> {
    point: String,
    states: u64,
    struck: u64,
    harmless: u64,
    detected: u64,
    silent: u64,
    hang: u64,
    /// The share that is detected, with its bounds.
    coverage: Option<[f64; 3]>,
    latency_ps: Option<u64>,
    detected_by: Cow<'a, BTreeMap<String, u64>>,
}

impl<'a> Row<'a> {
    fn of(point: String, states: u64, tally: Cow<'a, Tally>) -> Self {
        let Tally { struck, harmless, detected, silent, hang, .. } = *tally;
        let coverage = tally.coverage().map(|(share, [low, high])| [share, low, high]);
        let latency_ps = tally.latency().map(|(median, _)| median);
        let detected_by = match tally {
            Cow::Borrowed(tally) => Cow::Borrowed(&tally.detected_by),
            Cow::Owned(tally) => Cow::Owned(tally.detected_by),
        };
        Self { point, states, struck, harmless, detected, silent, hang, coverage, latency_ps, detected_by }
    }
}

/// The words of functional safety.
const WORDS: [[&str; 2]; 5] = [
    [
        "harmless",
        "safe fault; latent if it leaves a protection broken for a second fault, which single faults do not tell",
    ],
    ["detected, also repaired", "detected fault; coverage is diagnostic coverage if each state is equally likely"],
    ["silent", "residual fault (dangerous undetected)"],
    ["hang", "dangerous undetected for availability; detected if whoever uses the machine has a timeout"],
    ["latency", "fault detection time, to be compared with the fault tolerant time interval"],
];

impl<'a> Shown<'a> {
    pub fn of(single: &'a Single, stated: &Stated) -> Self {
        let by_point =
            single.points.iter().map(|point| Row::of(point.point.clone(), point.states, Cow::Borrowed(&point.tally)));
        let all = Row::of(
            "all".to_owned(),
            single.points.iter().map(|point| point.states).sum(),
            Cow::Borrowed(&single.total),
        );
        let by_sort =
            groups(single).into_iter().map(|(sort, (states, tally))| Row::of(sort, states, Cow::Owned(tally)));
        Self {
            stated: stated.lines(),
            words: WORDS,
            by_sort: by_sort.chain([all]).collect(),
            by_point: by_point.collect(),
        }
    }
}

/// States and faults by sort of point, of those that have states.
fn groups(single: &Single) -> BTreeMap<String, (u64, Tally)> {
    let mut groups: BTreeMap<String, (u64, Tally)> = BTreeMap::new();
    for PointTally { point, states, tally } in single.points.iter().filter(|point| point.states > 0) {
        let (sum, joined) = groups.entry(group(point)).or_default();
        *sum += states;
        joined.join(tally);
    }
    groups
}

/// A table by kind of point, and what stands beside it.
pub fn text(single: &Single, stated: &Stated, width: usize) -> String {
    let mut text = stated.lines().join("\n") + "\n\n";
    let groups: BTreeMap<_, _> = groups(single).into_iter().map(|(sort, (_, tally))| (sort, tally)).collect();
    let head =
        ["point", "struck", "harmless", "detected", "silent", "hang", "coverage %", "95 % bounds", "latency us", "by"];
    let mut table = Table::new(&head, &[0, 9]);
    for (name, tally) in groups.iter().chain([(&"all".to_owned(), &single.total)]).filter(|(_, tally)| tally.struck > 0)
    {
        let percent = |share: f64| format!("{:.1}", 100.0 * share);
        let none = || "-".to_owned();
        let bounds = |[low, high]: [f64; 2]| format!("{} to {}", percent(low), percent(high));
        let by = tally.detected_by.iter().max_by_key(|(_, count)| **count);
        let counts = [tally.struck, tally.harmless, tally.detected, tally.silent, tally.hang].map(|n| n.to_string());
        table.row(std::iter::once(name.clone()).chain(counts).chain([
            tally.coverage().map_or_else(none, |(share, _)| percent(share)),
            tally.coverage().map_or_else(none, |(_, interval)| bounds(interval)),
            tally.latency().map_or_else(none, |(median, _)| micros(median)),
            by.filter(|_| name != "all").map_or_else(none, |(signal, _)| signal.clone()),
        ]));
    }
    table.push_to(&mut text, width);
    let never: Vec<_> =
        single.points.iter().filter(|point| point.tally.struck == 0).map(|point| &*point.point).collect();
    let _ = writeln!(text, "\nnever struck: {} of {} points", never.len(), single.points.len());
    if single.members > 0 {
        let [low, high] = clopper_pearson(single.agreed, single.members);
        let (agreed, members) = (single.agreed, single.members);
        let _ = writeln!(
            text,
            "\nmembers: {agreed} of {members} have the class of their representative (95 % bounds {:.2} to {:.2} %)",
            100.0 * low,
            100.0 * high
        );
        for (fault, theirs, own) in &single.disagreements {
            let name = |class: &Option<_>| class.map_or("not activated", crate::system::FaultClass::name);
            let _ = writeln!(text, "  {fault}: {}, another bit {}", name(theirs), name(own));
        }
    }
    for (fault, finding) in &single.findings {
        let _ = writeln!(text, "\nfinding: {fault}: {finding}");
    }
    text.push_str(
        "\ncoverage: detected of those with an effect (detected, silent, hang). docs/faults.md says what IEC 61508 and ISO 26262 call these.\n",
    );
    fitted(&text, width)
}

/// The point without numbers and kind: channels of one sort, and registers of one sort, are shown together.
fn group(point: &str) -> String {
    let place = point.rsplit_once('.').map_or(point, |(place, _)| place);
    let place = place.split_once("_stage").map_or(place, |(name, _)| name);
    place.split('.').map(|word| word.trim_end_matches(|end: char| end.is_ascii_digit())).collect::<Vec<_>>().join(".")
}

/// A row for each point, behind lines that begin with `#` and state what was done.
pub fn csv(single: &Single, stated: &Stated) -> csv::Result<String> {
    let counted = ["states", "tried", "struck", "harmless", "detected", "silent", "hang"];
    let derived = ["coverage", "coverage_low", "coverage_high", "silent_low", "silent_high"];
    let ending = ["latency_median_ps", "latency_max_ps", "detected_by"];
    let names = ["point"].into_iter().chain(counted).chain(derived).chain(ending).map(str::to_owned).collect();
    let row = |PointTally { point, states, tally }: &PointTally| {
        let coverage = tally.coverage().map(|(share, [low, high])| [share, low, high]);
        let silent = (tally.struck > 0).then(|| clopper_pearson(tally.silent, tally.struck));
        let shares = coverage.map_or([None; 3], |shares| shares.map(Some)).into_iter();
        let shares = shares.chain(silent.map_or([None; 2], |shares| shares.map(Some)));
        let latency = tally.latency().map_or([None; 2], |(median, most)| [Some(median), Some(most)]);
        let by: Vec<_> = tally.detected_by.iter().map(|(signal, count)| format!("{signal}: {count}")).collect();
        let counts = [*states, tally.tried, tally.struck, tally.harmless, tally.detected, tally.silent, tally.hang];
        let cells = counts.map(|count| count.to_string()).into_iter();
        let cells = cells.chain(shares.map(|share| share.map_or_else(String::new, |share| format!("{share:.4}"))));
        let cells = cells.chain(latency.map(|time| time.map_or_else(String::new, |time| time.to_string())));
        std::iter::once(point.clone()).chain(cells).chain([by.join("; ")]).collect()
    };
    let table = csv_text(std::iter::once(names).chain(single.points.iter().map(row)))?;
    Ok(stated.lines().iter().fold(String::new(), |head, line| head + "# " + line + "\n") + &table)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::html::{Kind, Page};

    #[test]
    fn what_is_alike_but_for_numbers_is_shown_together() {
        for (point, expected) in [
            ("gpu.pce0.engine.ghash0.product_low3_stage2.flip", "gpu.pce.engine.ghash.product_low"),
            ("gpu.pce12.engine.aes.lane3.state13.flip", "gpu.pce.engine.aes.lane.state"),
            ("link.h2d.drop", "link.h2d"),
            ("host.writes.flip", "host.writes"),
        ] {
            assert_eq!(group(point), expected, "{point}");
        }
    }

    #[test]
    fn a_table_states_what_was_done_and_has_every_point() {
        let tally = Tally { tried: 4, struck: 3, detected: 2, silent: 1, latencies: vec![5, 9], ..Tally::default() };
        let point = |point: &str, states, tally| PointTally { point: point.into(), states, tally };
        let points = vec![point("a.b0.flip", 9, tally.clone()), point("a.c.drop", 0, Tally::default())];
        let (members, agreed) = (2, 2);
        let single = Single { points, total: tally, members, agreed, disagreements: Vec::new(), findings: Vec::new() };
        let stated = Stated {
            machine: "m".into(),
            digest: "d1".into(),
            copies: "h2d:4KiB".into(),
            per_point: Some(4),
            seed: 3,
            command: "sealsim faults m".into(),
        };
        let table = csv(&single, &stated).unwrap();
        assert!(table.starts_with("# machine: m, digest d1\n# copies: h2d:4KiB"), "{table}");
        assert!(table.contains("\na.b0.flip,9,4,3,0,2,1,0,0.6667,0.0943,0.9916,0.0084,0.9057,9,9,\n"), "{table}");
        assert!(table.contains("\na.c.drop,0,0,0,0,0,0,0,,,,,,,,\n"), "{table}");
        let mut shown = serde_json::to_value(Shown::of(&single, &stated)).unwrap();
        assert_eq!((&shown["by_sort"][0]["point"], &shown["by_sort"][1]["struck"]), (&"a.b".into(), &3.into()));
        let coverage: Vec<f64> = serde_json::from_value(shown["by_point"][0]["coverage"].clone()).unwrap();
        assert!((coverage[0] - 2.0 / 3.0).abs() < 1e-9 && (coverage[1] - 0.0943).abs() < 1e-4, "{coverage:?}");
        shown["machine"] = "m".into();
        let page = Page::of(&shown, String::new()).unwrap();
        assert_eq!((page.kind(), page.html().unwrap().contains("digest d1")), (Kind::Faults, true));
        let text = text(&single, &stated, 200);
        for line in [
            "at most 4 states of each point",
            "  a.b         3",
            "never struck: 1 of 2 points",
            "2 of 2 have the class",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
    }
}
