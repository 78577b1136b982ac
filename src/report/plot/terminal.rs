//! Curves out of characters.
//!
//! ```text
//! p1-bandwidth: pinned h2d (GB/s)
//!    43 |            ■ ▣ ▣
//!       |      ■ □ ▣
//!       |  ▣ ▣     ◉ ◉ ○ ◉
//! 0.003 |  ○ ● ◉
//!         64 B         1 GiB
//! ```

use super::{
    axis::tick,
    measured::{Pair, Panel},
};
use crate::validate::measured::Mode;

/// Characters of a plot's area.
const COLUMNS: usize = 40;
const ROWS: usize = 10;
/// Characters of the figures on its left.
const MARGIN: usize = 9;

pub const LEGEND: &str = "measured ● simulated ○ both ◉ with CC, measured ■ simulated □ both ▣ without";

/// The marks of measured, simulated and both.
const fn marks(mode: Mode) -> [char; 3] {
    match mode {
        Mode::Cc => ['●', '○', '◉'],
        Mode::Off => ['■', '□', '▣'],
    }
}

/// All plots, as many side by side as a width has room for.
pub fn draw(panels: &[Panel], width: usize) -> String {
    let abreast = (width / (MARGIN + COLUMNS + 6)).max(1);
    let mut text = String::new();
    for row in panels.chunks(abreast) {
        let drawn: Vec<_> = row.iter().map(lines).collect();
        for line in 0..ROWS + 2 {
            let cells = drawn.iter().map(|lines| lines.get(line).map_or("", String::as_str));
            let width = MARGIN + COLUMNS + 6;
            let joined: String = cells.map(|cell| format!("{cell:width$}")).collect();
            text.push_str(joined.trim_end());
            text.push('\n');
        }
        text.push('\n');
    }
    text
}

/// One plot: title, rows, and what is below.
fn lines(panel: &Panel) -> Vec<String> {
    let (x, y) = (panel.x_axis(), panel.y_axis());
    let mut area = vec![vec![' '; COLUMNS]; ROWS];
    for curve in &panel.curves {
        let [measured_mark, simulated_mark, both] = marks(curve.mode);
        for &Pair { place, measured, simulated, .. } in &curve.points {
            let column = at(x.place(place), COLUMNS);
            let [measured, simulated] = [measured, simulated].map(|value| ROWS - 1 - at(y.place(value), ROWS));
            put(&mut area, simulated, column, simulated_mark, measured_mark, both);
            put(&mut area, measured, column, measured_mark, simulated_mark, both);
        }
    }
    let mut lines = vec![format!("{} ({})", panel.title, panel.unit)];
    for (row, characters) in area.iter().enumerate() {
        let figure = match row {
            0 => tick(y.high, false),
            _ if row == ROWS - 1 => tick(y.low, false),
            _ => String::new(),
        };
        lines.push(format!("{figure:>MARGIN$} |{}", characters.iter().collect::<String>()));
    }
    let bytes = panel.x_label == "bytes";
    let (left, right) = (tick(x.low, bytes), tick(x.high, bytes));
    let right = if bytes { right } else { format!("{right} {}", panel.x_label) };
    let room = COLUMNS.saturating_sub(left.chars().count());
    lines.push(format!("{:MARGIN$}  {left}{right:>room$}", ""));
    lines
}

fn at(place: f64, cells: usize) -> usize {
    (place * (cells - 1) as f64).round() as usize
}

/// Puts a mark; on its counterpart's it becomes the mark of both.
fn put(area: &mut [Vec<char>], row: usize, column: usize, mark: char, counterpart: char, both: char) {
    if let Some(cell) = area.get_mut(row).and_then(|row| row.get_mut(column)) {
        *cell = if *cell == counterpart || *cell == both { both } else { mark };
    }
}

#[cfg(test)]
mod tests {
    use super::super::measured::tests::panel;
    use super::*;

    #[test]
    fn marks_stand_where_the_figures_are() {
        let text = draw(&[panel()], 80);
        let lines: Vec<_> = text.lines().collect();
        let mark = |line: usize, column: usize| lines[line].chars().nth(MARGIN + 2 + column);
        assert_eq!(lines[0], "a<b: pinned h2d (GB/s)");
        assert!(lines[1].starts_with("       20 |") && lines[ROWS].starts_with("      0.1 |"), "{text}");
        assert_eq!((mark(1, COLUMNS - 1), mark(ROWS, 0)), (Some('■'), Some('●')), "{text}");
        assert_eq!(text.matches('▣').count() + text.matches('◉').count(), 2, "{text}");
        assert!(lines[ROWS + 1].ends_with("1 KiB"), "{text}");
    }
}
