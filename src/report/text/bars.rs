//! Where the time of each unit went, as a bar.
//!
//! ```text
//! host.driver   █▓▓▓▓▓▓▓▓▓▓▓▓▓▓▒  █ busy 5.3 %, ▓ host_cipher 92.7 %, ▒ completion 1.9 %
//! ```

use super::percent;
use crate::report::record::{Report, UnitRecord};

/// Cells of a bar where there are 80 columns, and where there are many.
const CELLS: (usize, usize) = (16, 50);
/// What a unit does, and what it waits for, the longest wait first; and what it is when it does nothing. Waits beyond the last share it.
pub(super) const BUSY: char = '█';
const WAITS: [char; 4] = ['▓', '▒', '░', '+'];
const IDLE: char = '·';

/// A line for each unit that did something or waited, and one for all others.
pub(super) fn units(report: &Report, width: usize) -> Vec<String> {
    let (idle, others): (Vec<_>, Vec<_>) = report
        .units
        .iter()
        .filter(|(name, _)| report.shows(name))
        .partition(|(_, unit)| unit.busy == 0 && unit.stalls.iter().all(|(_, cycles)| *cycles == 0));
    let names = others.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let cells = (width.saturating_sub(names + 44)).clamp(CELLS.0, CELLS.1);
    let mut lines = vec![format!("{:names$}  part of its cycles", "unit")];
    for (name, unit) in others {
        let parts = parts(unit);
        let told = parts.iter().map(|(mark, what, cycles)| format!("{mark} {what} {}", percent(*cycles, unit.cycles)));
        let told = told.collect::<Vec<_>>().join(", ");
        lines.push(format!("{name:names$}  {}  {told}", bar(&parts, unit.cycles, cells)));
    }
    if !idle.is_empty() {
        let names: Vec<_> = idle.iter().map(|(name, _)| name.to_string()).collect();
        lines.push(format!("idle throughout: {}", names.join(", ")));
    }
    lines
}

/// What a unit's cycles went into, those that are none left out.
fn parts(unit: &UnitRecord) -> Vec<(char, String, u64)> {
    let mut stalls: Vec<_> = unit.stalls.iter().map(|(name, &cycles)| (name.to_string(), cycles)).collect();
    stalls.sort_by_key(|&(_, cycles)| std::cmp::Reverse(cycles));
    let mark = |place: usize| WAITS[place.min(WAITS.len() - 1)];
    let waits = stalls.into_iter().enumerate().map(|(place, (name, cycles))| (mark(place), name, cycles));
    let all =
        [(BUSY, "busy".to_owned(), unit.busy)].into_iter().chain(waits).chain([(IDLE, "idle".to_owned(), unit.idle)]);
    all.filter(|(_, _, cycles)| *cycles > 0).collect()
}

/// Cells by part, in all as many as there are; none is more than a cell off.
fn bar(parts: &[(char, String, u64)], cycles: u64, cells: usize) -> String {
    let (mut bar, mut drawn, mut until) = (String::new(), 0, 0);
    for (mark, _, own) in parts {
        until += own;
        let end = (until as f64 / cycles.max(1) as f64 * cells as f64).round() as usize;
        bar.extend(std::iter::repeat_n(*mark, end.min(cells).saturating_sub(drawn)));
        drawn = drawn.max(end.min(cells));
    }
    bar + &" ".repeat(cells - drawn)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(mark: char, cycles: u64) -> (char, String, u64) {
        (mark, String::new(), cycles)
    }

    #[test]
    fn a_bar_has_a_cell_for_each_share_and_is_full() {
        assert_eq!(bar(&[part(BUSY, 50), part('▓', 25), part(IDLE, 25)], 100, 8), "████▓▓··");
        assert_eq!(bar(&[part(BUSY, 1), part(IDLE, 99)], 100, 8), "········");
        assert_eq!(bar(&[], 0, 3), "   ");
    }
}
