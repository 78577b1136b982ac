//! A campaign of faults, for people and for spreadsheets.

use super::{layout::fitted, table::Table};
use crate::explore::faults::{Campaign, Caught, Judged};
use std::{collections::BTreeMap, fmt::Write};

/// Two tables, who caught how many sets after how long and what which kind of fault came to, and the findings with the commands that repeat
/// them. `command` is the run without its faults.
#[must_use]
pub fn text(campaign: &Campaign, command: &str, width: usize) -> String {
    let mut text = format!(
        "{} sets of faults at {} points; without a fault the copies take {} us\n\ncaught by\n",
        campaign.sets.len(),
        campaign.points,
        micros(campaign.sound_ps)
    );
    push(&mut text, &by_catcher(&campaign.sets), width);
    text.push_str("\nfaults in the sets, by kind and by who caught the set\n");
    push(&mut text, &by_kind(&campaign.sets), width);
    let cancelled = campaign.sets.iter().filter(|set| set.cancelled > 0).count();
    if cancelled > 0 {
        let _ = writeln!(text, "\nsets with faults that cancelled each other: {cancelled}");
    }
    for set in campaign.findings() {
        let _ = writeln!(text, "\n{}", finding(set, command));
    }
    text.push_str(
        "\nTimes in us, from the first fault that struck to the end of the copy that failed. Sets that hang, or break the rules of flow control, \
         end the run without such a time.\n",
    );
    fitted(&text, width)
}

/// What is wrong with a set, and the command that repeats it.
#[must_use]
pub fn finding(set: &Judged, command: &str) -> String {
    let what = set.finding.as_deref().unwrap_or_default();
    let faults = set.faults.iter().fold(String::new(), |line, fault| line + " --inject " + fault);
    format!("set {}: {what}\n  {command} --seed {}{faults}", set.number, set.seed)
}

fn push(text: &mut String, table: &Table, width: usize) {
    for line in table.fitted(width.saturating_sub(2)) {
        let _ = writeln!(text, "{}", format!("  {line}").trim_end());
    }
}

fn micros(picos: u64) -> String {
    format!("{:.2}", picos as f64 * 1e-6)
}

fn by_catcher(sets: &[Judged]) -> Table {
    let mut table = Table::new(&["caught by", "sets", "share", "least", "median", "most"], &[0]);
    for caught in Caught::ALL {
        let mine: Vec<_> = sets.iter().filter(|set| set.caught == caught).collect();
        if mine.is_empty() {
            continue;
        }
        let mut times: Vec<_> = mine.iter().filter_map(|set| set.after_ps).collect();
        times.sort_unstable();
        let at = |place: usize| times.get(place).map_or_else(|| "-".to_owned(), |&time| micros(time));
        table.row([
            caught.name().to_owned(),
            mine.len().to_string(),
            format!("{:.1} %", 100.0 * mine.len() as f64 / sets.len().max(1) as f64),
            at(0),
            at(times.len() / 2),
            at(times.len().saturating_sub(1)),
        ]);
    }
    table
}

/// The kind of a fault as `--inject` takes it.
fn kind(fault: &str) -> &str {
    let point = fault.split(':').next().unwrap_or_default();
    point.rsplit('.').next().unwrap_or_default()
}

fn by_kind(sets: &[Judged]) -> Table {
    let there: Vec<_> = Caught::ALL.into_iter().filter(|&caught| sets.iter().any(|set| set.caught == caught)).collect();
    let head: Vec<_> = ["kind"].into_iter().chain(there.iter().map(|caught| caught.name())).collect();
    let mut counts: BTreeMap<&str, BTreeMap<Caught, u64>> = BTreeMap::new();
    for set in sets {
        for fault in &set.faults {
            *counts.entry(kind(fault)).or_default().entry(set.caught).or_default() += 1;
        }
    }
    let mut table = Table::new(&head, &[0]);
    for (kind, by) in counts {
        let cells = there.iter().map(|caught| by.get(caught).copied().unwrap_or(0).to_string());
        table.row(std::iter::once(kind.to_owned()).chain(cells));
    }
    table
}

/// One row for each set; faults are separated by blanks.
///
/// # Errors
/// None but those of memory.
pub fn csv(campaign: &Campaign) -> Result<String, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record([
        "number",
        "seed",
        "faults",
        "struck",
        "cancelled",
        "delivered",
        "caught",
        "after_ps",
        "finding",
    ])?;
    for set in &campaign.sets {
        writer.write_record([
            set.number.to_string(),
            set.seed.to_string(),
            set.faults.join(" "),
            set.struck.to_string(),
            set.cancelled.to_string(),
            set.delivered.to_string(),
            set.caught.name().to_owned(),
            set.after_ps.map_or_else(String::new, |time| time.to_string()),
            set.finding.clone().unwrap_or_default(),
        ])?;
    }
    let bytes = writer.into_inner().map_err(|error| error.into_error())?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(number: u64, caught: Caught, after_ps: Option<u64>, finding: Option<&str>) -> Judged {
        let faults = vec!["host.writes.drop:2".into(), "gpu.pce0.tags.flip:1".into()];
        let finding = finding.map(str::to_owned);
        Judged { number, seed: 7, faults, struck: 2, cancelled: 0, delivered: 1, caught, after_ps, finding }
    }

    fn campaign() -> Campaign {
        let sets = vec![
            set(1, Caught::TagQueue, Some(3_000_000), None),
            set(2, Caught::TagQueue, Some(1_000_000), None),
            set(3, Caught::Harmless, None, Some("copy 1 is called delivered")),
        ];
        Campaign { sound_ps: 5_000_000, points: 4, sets }
    }

    #[test]
    fn the_tables_count_sets_by_catcher_and_faults_by_kind() {
        let text = text(&campaign(), "sealsim run m", 120);
        for line in [
            "3 sets of faults at 4 points; without a fault the copies take 5.00 us",
            "  tag queue            2  66.7 %   1.00    3.00  3.00",
            "  flip                 1          2",
            "set 3: copy 1 is called delivered\n  sealsim run m --seed 7 --inject host.writes.drop:2 --inject gpu.pce0.tags.flip:1",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
    }

    #[test]
    fn a_spreadsheet_has_a_row_for_each_set() {
        let text = csv(&campaign()).unwrap();
        assert_eq!(text.lines().count(), 4);
        assert!(text.contains("1,7,host.writes.drop:2 gpu.pce0.tags.flip:1,2,0,1,tag queue,3000000,\n"), "{text}");
    }
}
