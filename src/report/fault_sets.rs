//! A campaign of faults, for people and for spreadsheets.

use super::{layout::fitted, table::Table, text::micros};
use crate::{
    explore::{
        faults::{Campaign, ClassShare, Judged, Signal},
        sweep::csv_text,
    },
    system::FaultClass,
};
use std::{collections::BTreeMap, fmt::Write};

/// Tables of classes, of the signals that detected sets, and of kinds of fault by class; then the findings with the commands that repeat them. `command` is
/// the run without its faults.
pub fn text(campaign: &Campaign, command: &str, width: usize) -> String {
    let most = if campaign.most == 1 { "one fault".to_owned() } else { format!("one to {} faults", campaign.most) };
    let mut text = format!(
        "{} sets of {most} at {} points; without a fault the copies take {} us\n\n",
        campaign.sets.len(),
        campaign.points,
        micros(campaign.sound_ps)
    );
    by_class(campaign).push_to(&mut text, width);
    let idle = campaign.sets.iter().filter(|set| set.class.is_none()).count();
    if idle > 0 {
        let _ = writeln!(text, "\nnot counted, since no fault was activated: {idle}");
    }
    text.push_str("\ndetected by, and latency in us\n");
    by_signal(&campaign.sets).push_to(&mut text, width);
    text.push_str("\nfaults in the sets, by kind and by class of the set\n");
    by_kind(&campaign.sets).push_to(&mut text, width);
    let cancelled = campaign.sets.iter().filter(|set| set.cancelled > 0).count();
    if cancelled > 0 {
        let _ = writeln!(text, "\nsets with faults that cancelled each other: {cancelled}");
    }
    for set in campaign.findings() {
        let _ = writeln!(text, "\n{}", finding(set, command));
    }
    text.push_str(
        "\nsilent: a copy was reported complete, is wrong, and no unit had signalled an error; only the simulator's comparison with the source tells. hang: \
         the machine waits for what never comes; the only timeout that is modelled is that of reads over PCIe. Latency is from the activation of the first \
         fault to the signal. Shares are those of this draw, not of faults in the field; their bounds are Wilson's at 95 %.\n",
    );
    fitted(&text, width)
}

/// What is wrong with a set, and the command that repeats it.
pub fn finding(set: &Judged, command: &str) -> String {
    let what = set.finding.as_deref().unwrap_or_default();
    let faults = set.faults.iter().fold(String::new(), |line, fault| line + " --inject " + fault);
    format!("set {}: {what}\n  {command} --seed {}{faults}", set.number, set.seed)
}

fn by_class(campaign: &Campaign) -> Table {
    let mut table = Table::new(&["class", "sets", "share", "95 % bounds"], &[0]);
    let all: u64 = campaign.classes.iter().map(|share| share.sets).sum();
    let percent = |share: f64| format!("{:.1}", 100.0 * share);
    for ClassShare { class, sets, bounds: [low, high] } in &campaign.classes {
        let share = *sets as f64 / all.max(1) as f64;
        let bounds = format!("{} to {} %", percent(*low), percent(*high));
        table.row([class.name().to_owned(), sets.to_string(), percent(share) + " %", bounds]);
    }
    table
}

fn by_signal(sets: &[Judged]) -> Table {
    let mut table = Table::new(&["signal", "unit", "sets", "min", "median", "max"], &[0, 1]);
    let mut latencies: BTreeMap<(bool, &str, &str), Vec<u64>> = BTreeMap::new();
    for set in sets {
        let Some(Signal { unit, signal, corrected }) = &set.signal else { continue };
        latencies.entry((*corrected, signal, unit)).or_default().extend(set.latency_ps);
    }
    for ((corrected, signal, unit), mut times) in latencies {
        times.sort_unstable();
        let at = |place: usize| times.get(place).map_or_else(|| "-".to_owned(), |&time| micros(time));
        let signal = if corrected { format!("{signal} (repaired)") } else { signal.to_owned() };
        let (median, most) = (at(times.len() / 2), at(times.len().saturating_sub(1)));
        table.row([signal, unit.to_owned(), times.len().to_string(), at(0), median, most]);
    }
    table
}

/// The kind of a fault as `--inject` takes it.
fn kind(fault: &str) -> &str {
    let point = fault.split(':').next().unwrap_or_default();
    point.rsplit('.').next().unwrap_or_default()
}

fn by_kind(sets: &[Judged]) -> Table {
    let head: Vec<_> = ["kind"].into_iter().chain(FaultClass::ALL.map(FaultClass::name)).collect();
    let mut counts: BTreeMap<&str, BTreeMap<FaultClass, u64>> = BTreeMap::new();
    for set in sets {
        let Some(class) = set.class else { continue };
        for fault in &set.faults {
            *counts.entry(kind(fault)).or_default().entry(class).or_default() += 1;
        }
    }
    let mut table = Table::new(&head, &[0]);
    for (kind, by) in counts {
        let cells = FaultClass::ALL.map(|class| by.get(&class).copied().unwrap_or(0).to_string());
        table.row(std::iter::once(kind.to_owned()).chain(cells));
    }
    table
}

type Column = (&'static str, fn(&Judged) -> String);

/// Columns of a spreadsheet, and what each says of a set.
const COLUMNS: [Column; 12] = [
    ("number", |set| set.number.to_string()),
    ("seed", |set| set.seed.to_string()),
    ("faults", |set| set.faults.join(" ")),
    ("struck", |set| set.struck.to_string()),
    ("cancelled", |set| set.cancelled.to_string()),
    ("delivered", |set| set.delivered.to_string()),
    ("class", |set| set.class.map_or("", FaultClass::name).to_owned()),
    ("signal", |set| set.signal.as_ref().map_or("", |signal| signal.signal).to_owned()),
    ("unit", |set| set.signal.as_ref().map_or("", |signal| &signal.unit).to_owned()),
    ("corrected", |set| set.signal.as_ref().map_or_else(String::new, |signal| signal.corrected.to_string())),
    ("latency_ps", |set| set.latency_ps.map_or_else(String::new, |time| time.to_string())),
    ("finding", |set| set.finding.clone().unwrap_or_default()),
];

/// One row for each set; faults are separated by blanks.
pub fn csv(campaign: &Campaign) -> csv::Result<String> {
    let rows = campaign.sets.iter().map(|set| COLUMNS.map(|(_, of)| of(set)).to_vec());
    csv_text(std::iter::once(COLUMNS.map(|(name, _)| name.to_owned()).to_vec()).chain(rows))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::faults::wilson;

    fn set(number: u64, class: FaultClass, latency_ps: Option<u64>, finding: Option<&str>) -> Judged {
        let faults = vec!["host.writes.drop:2".into(), "gpu.pce0.tags.flip:1".into()];
        let signal =
            latency_ps.map(|_| Signal { unit: "gpu.tag_queue".into(), signal: "tag_mismatch", corrected: false });
        let (finding, class) = (finding.map(str::to_owned), Some(class));
        Judged { number, seed: 7, faults, struck: 2, cancelled: 0, delivered: 1, class, signal, latency_ps, finding }
    }

    fn campaign() -> Campaign {
        let sets = vec![
            set(1, FaultClass::Detected, Some(3_000_000), None),
            set(2, FaultClass::Detected, Some(1_000_000), None),
            set(3, FaultClass::Harmless, None, Some("copy 1 is called delivered")),
        ];
        let share = |(class, sets)| ClassShare { class, sets, bounds: wilson(sets, 3) };
        let classes = FaultClass::ALL.into_iter().zip([1, 2, 0, 0]).map(share).collect();
        Campaign { sound_ps: 5_000_000, points: 4, most: 5, classes, sets }
    }

    #[test]
    fn the_tables_count_sets_by_class_and_signal_and_faults_by_kind() {
        let text = text(&campaign(), "sealsim run m", 120);
        for line in [
            "3 sets of one to 5 faults at 4 points; without a fault the copies take 5.00 us",
            "  detected     2  66.7 %  20.8 to 93.9 %",
            "  silent       0   0.0 %   0.0 to 56.1 %",
            "  tag_mismatch  gpu.tag_queue     2  1.00    3.00  3.00",
            "  flip         1         2       0     0",
            "set 3: copy 1 is called delivered\n  sealsim run m --seed 7 --inject host.writes.drop:2 --inject gpu.pce0.tags.flip:1",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
    }

    #[test]
    fn a_spreadsheet_has_a_row_for_each_set() {
        let text = csv(&campaign()).unwrap();
        assert_eq!(text.lines().count(), 4);
        let row =
            "1,7,host.writes.drop:2 gpu.pce0.tags.flip:1,2,0,1,detected,tag_mismatch,gpu.tag_queue,false,3000000,\n";
        assert!(text.contains(row), "{text}");
    }
}
