//! Which uncertain parameter moves a rate: a bar for each end of its range.

use super::{
    bars::{Bar, BarPanel, Bars, paint},
    figure::Label,
    legend::{Key, Sample},
    mark::Style,
};
use crate::{
    config::words,
    explore::sensitivity::{End, Sensitivity, Swing},
    files::capital,
};

const LOW: Style = Style::of(0);
const HIGH: Style = Style::of(1).hollow();
const ALL: Style = Style::of(2);

/// The parameters that move the machine's rate most, so many of them at most; all of them with 0. What moves nothing is counted.
pub fn tornado(answer: &Sensitivity, copy: &str, top: usize) -> Bars {
    let moving = answer.swings.iter().filter(|swing| swing.machine_swing > 0.0);
    let mut moving: Vec<&Swing> = moving.collect();
    moving.sort_by(|one, other| other.machine_swing.total_cmp(&one.machine_swing));
    let shown = if top == 0 { moving.len() } else { top.min(moving.len()) };
    let mut names: Vec<String> = moving[..shown].iter().map(|swing| named(swing)).collect();
    let bar = |end: &End, style: Style| {
        let to = end.answer().map(|answer| answer.rate);
        let text = if to.is_some() { format!("at {}", end.at) } else { format!("no answer at {}", end.at) };
        Bar { to, ends: None, style, text }
    };
    let mut rows: Vec<Vec<Bar>> =
        moving[..shown].iter().map(|swing| vec![bar(&swing.at_low, LOW), bar(&swing.at_high, HIGH)]).collect();
    let mut keys = vec![
        Key::new(Sample::Area(paint(LOW)), "at the low end of its range"),
        Key::new(Sample::Area(paint(HIGH)), "at the high end of its range"),
    ];
    if let Some(together) = &answer.together {
        let [low, middle, high] = together.rate_percentiles;
        names.push(format!("All together, {} points", together.samples));
        rows.push(vec![Bar { to: Some(middle), ends: Some((low, high)), style: ALL, text: "median".into() }]);
        keys.push(Key::new(Sample::Area(paint(ALL)), "median of all together"));
        keys.push(Key::new(Sample::Interval, "5 to 95 % of these points"));
    }
    let left_out = moving.len() - shown;
    let still = answer.swings.iter().filter(|swing| swing.range.is_of_machine()).count() - moving.len();
    let mut notes = vec![format!("Bars begin at the machine's own rate, {:.4} {}.", answer.base.rate, answer.unit)];
    if left_out + still > 0 {
        notes.push(format!(
            "Not shown: {left_out} parameters that move the rate less, and {still} that do not move it."
        ));
    }
    let panel = BarPanel { label: Label::new(&format!("Rate ({})", answer.unit)), base: answer.base.rate, rows };
    Bars {
        title: format!("{}, {copy}: what uncertain parameters do to the rate", answer.machine),
        names,
        panels: vec![panel],
        keys,
        notes,
    }
}

/// What a parameter is called, and whose it is.
fn named(swing: &Swing) -> String {
    let words = words(&swing.range.path).unwrap_or_else(|| swing.range.path.clone());
    let words = capital(&words);
    if swing.range.of.is_empty() { words } else { format!("{words} of {}", swing.range.of.join(", ")) }
}
