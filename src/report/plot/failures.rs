//! What failing tags leave behind, by release policy.

use super::{
    axis::tick,
    bars::{Bar, BarPanel, Bars, paint},
    figure::Label,
    legend::{Key, Sample},
    mark::Style,
};
use crate::{
    explore::{FailureFigures, Failures, PolicyFigures},
    units::Bytes,
    workload::memory_name,
};

const STYLE: Style = Style::of(0);

/// A figure of a failure, in ps.
type Figure = fn(&FailureFigures) -> Option<u64>;

/// How long plaintext was visible, how much work is squashed, and how much time is lost, by policy.
pub fn failures(answer: &Failures) -> Bars {
    let of: [(&str, Figure); 3] = [
        ("Failed message visible (µs)", |failure| failure.visible_ps),
        ("Work squashed (µs)", |failure| failure.squashed_work_ps),
        ("Time lost (µs)", |failure| Some(failure.lost_ps)),
    ];
    let panel = |(label, figure): (&str, Figure)| BarPanel {
        label: Label::new(label),
        base: 0.0,
        rows: answer.policies.iter().map(|policy| vec![bar(policy, figure)]).collect(),
    };
    let own = |policy: &PolicyFigures| if policy.own { " (the machine's own)" } else { "" };
    let names =
        answer.policies.iter().map(|policy| format!("{}{}", policy.release.name().replace('_', " "), own(policy)));
    let failed = answer.policies.iter().map(|policy| policy.failures.len()).max().unwrap_or(0);
    let skipped: Vec<_> = answer.skipped.iter().map(|skipped| skipped.name.as_str()).collect();
    Bars {
        title: format!(
            "{}, h2d:{} ({}): one of {failed} messages fails",
            answer.machine,
            Bytes(answer.bytes),
            memory_name(answer.host_memory)
        ),
        names: names.collect(),
        panels: of.map(panel).to_vec(),
        keys: vec![
            Key::new(Sample::Area(paint(STYLE)), "greatest over the failures"),
            Key::new(Sample::Interval, "least to greatest"),
        ],
        notes: if skipped.is_empty() { Vec::new() } else { vec![format!("Not measured: {}.", skipped.join(", "))] },
    }
}

fn bar(policy: &PolicyFigures, figure: Figure) -> Bar {
    let times: Vec<f64> = policy.failures.iter().filter_map(figure).map(|picos| picos as f64 * 1e-6).collect();
    let low = times.iter().copied().fold(f64::INFINITY, f64::min);
    let high = times.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if times.is_empty() {
        return Bar { to: None, ends: None, style: STYLE, text: "none".into() };
    }
    Bar { to: Some(high), ends: Some((low, high)), style: STYLE, text: tick(high, false) }
}
