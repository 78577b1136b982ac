//! What failing tags leave behind, for people and for spreadsheets.

use super::{layout::fitted, table::Table, text::micros};
use crate::{
    explore::{FailureFigures, Failures, PolicyFigures},
    units::Bytes,
    workload::memory_name,
};
use serde_json::Value;
use std::fmt::Write;

/// Two tables with a row for each policy: what was visible, and what is squashed and lost.
pub fn text(answer: &Failures, width: usize) -> String {
    let (bytes, memory) = (Bytes(answer.bytes), memory_name(answer.host_memory));
    let mut text = format!("{}: a message of h2d:{bytes} ({memory}) fails, one at a time\n", answer.machine);
    text.push_str("\nwithout a failure, and what the verdict of the failed message found\n");
    visible(answer).push_to(&mut text, width);
    text.push_str("\nwhat is squashed and lost\n");
    squashed(answer).push_to(&mut text, width);
    if let Some((log2, after)) = answer.risk.forgery_log2.zip(answer.risk.after_first_success) {
        let _ = writeln!(
            text,
            "\na first forgery of any tag of the copy: at most 2^{log2:.1} with one attempt at each;\n{}",
            after.text()
        );
    }
    for skipped in &answer.skipped {
        let _ = writeln!(text, "\nnot measured: {}: {}", skipped.name, skipped.reason);
    }
    text.push_str(
        "\nTimes in us, as least..most over the failures. Visible: from the first byte of the failed message in device memory to its verdict. \
         Work squashed: how long consumers that wait for its push on the GPU had worked by then; consumed: what they can have read of it at \
         most. Lost: from the call until the host knew, all of which is to be done again. * marks the machine's own policy.\n",
    );
    fitted(&text, width)
}

fn name(policy: &PolicyFigures) -> String {
    format!("{}{}", policy.release.name(), if policy.own { " *" } else { "" })
}

fn visible(answer: &Failures) -> Table {
    let head =
        ["policy", "copy", "messages", "quarantine", "failures", "visible", "bytes", "other messages", "other bytes"];
    let mut table = Table::new(&head, &[0]);
    for policy in &answer.policies {
        table.row([
            name(policy),
            micros(policy.time_ps),
            policy.messages.to_string(),
            Bytes(policy.quarantine_capacity_bytes).to_string(),
            policy.failures.len().to_string(),
            times(policy, |failure| failure.visible_ps),
            counts(policy, |failure| failure.visible_bytes),
            counts(policy, |failure| failure.other_visible_messages),
            counts(policy, |failure| failure.other_visible_bytes),
        ]);
    }
    table
}

fn squashed(answer: &Failures) -> Table {
    let head =
        ["policy", "consumers started", "work squashed", "messages squashed", "consumed B", "host knows after", "lost"];
    let mut table = Table::new(&head, &[0]);
    for policy in &answer.policies {
        let started = policy.failures.iter().filter(|failure| failure.squashed_work_ps.is_some()).count();
        table.row([
            name(policy),
            format!("{started} of {}", policy.failures.len()),
            times(policy, |failure| failure.squashed_work_ps),
            counts(policy, |failure| failure.squashed_messages),
            counts(policy, |failure| failure.consumed_bytes_at_most),
            times(policy, |failure| Some(failure.host_knows_ps)),
            times(policy, |failure| Some(failure.lost_ps)),
        ]);
    }
    table
}

/// Least and most of a time over the failures that have one.
fn times(policy: &PolicyFigures, of: impl Fn(&FailureFigures) -> Option<u64>) -> String {
    span(&policy.failures.iter().filter_map(of).collect::<Vec<_>>(), micros)
}

fn counts(policy: &PolicyFigures, of: impl Fn(&FailureFigures) -> u64) -> String {
    span(&policy.failures.iter().map(of).collect::<Vec<_>>(), |count| count.to_string())
}

fn span(values: &[u64], shown: impl Fn(u64) -> String) -> String {
    match values.iter().copied().min().zip(values.iter().copied().max()) {
        Some((least, most)) if least < most => format!("{}..{}", shown(least), shown(most)),
        Some((least, _)) => shown(least),
        None => "-".to_owned(),
    }
}

const COLUMNS: [&str; 17] = [
    "release",
    "own",
    "time_ps",
    "messages",
    "exposure_ps",
    "quarantine_capacity_bytes",
    "position",
    "verdict_ps",
    "visible_ps",
    "visible_bytes",
    "other_visible_messages",
    "other_visible_bytes",
    "squashed_work_ps",
    "squashed_messages",
    "consumed_bytes_at_most",
    "host_knows_ps",
    "lost_ps",
];

/// One row for each policy and failure, with the fields of both; a cell without a value is empty.
pub fn csv(answer: &Failures) -> serde_json::Result<String> {
    let mut text = COLUMNS.join(",") + "\n";
    for policy in &answer.policies {
        for failure in &policy.failures {
            let records = [serde_json::to_value(policy)?, serde_json::to_value(failure)?];
            let cells = COLUMNS.map(|name| match records.iter().find_map(|record| record.get(name)) {
                None | Some(Value::Null) => String::new(),
                Some(Value::String(text)) => text.clone(),
                Some(value) => value.to_string(),
            });
            let _ = writeln!(text, "{}", cells.join(","));
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_least_and_most_or_one_number_or_a_dash() {
        let shown = |values: &[u64]| span(values, |value| value.to_string());
        assert_eq!((shown(&[3, 1, 2]), shown(&[4, 4]), shown(&[])), ("1..3".into(), "4".into(), "-".into()));
    }
}
