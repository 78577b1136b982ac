//! Aligned columns.

use super::layout::fitted;

const GAP: usize = 2;
/// Columns of the terminal that words in a last column have at least.
const WORDS: usize = 24;

/// A table in progress: a head and rows of cells.
#[derive(Debug)]
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
    /// Columns that align to the left; the others hold numbers and align to the right.
    left: Vec<usize>,
}

impl Table {
    pub fn new(head: &[&str], left: &[usize]) -> Self {
        Self { rows: vec![head.iter().map(|cell| (*cell).to_owned()).collect()], left: left.to_vec() }
    }

    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// The columns of these numbers alone.
    pub fn only(mut self, kept: impl Fn(usize) -> bool) -> Self {
        let columns: Vec<_> = (0..self.columns()).filter(|column| kept(*column)).collect();
        self.left = (0..columns.len()).filter(|place| self.left.contains(&columns[*place])).collect();
        for row in &mut self.rows {
            *row = columns.iter().filter_map(|column| row.get(*column).cloned()).collect();
        }
        self
    }

    /// One line per row, no blanks at its end.
    pub fn lines(&self) -> Vec<String> {
        self.block(&(0..self.columns()).collect::<Vec<_>>(), usize::MAX)
    }

    /// The same within a width: what does not fit next to the first column stands in further tables below, each with the first column again.
    /// A last column of words has several lines to a row where it needs them.
    pub fn fitted(&self, width: usize) -> Vec<String> {
        let (mut blocks, mut wide) = (vec![vec![0]], self.width(0));
        for column in 1..self.columns() {
            let (own, words) = (self.width(column), column + 1 == self.columns() && self.left.contains(&column));
            let fits = wide + GAP + own <= width || words && wide + GAP + WORDS <= width;
            match blocks.last_mut() {
                Some(block) if fits || block.len() == 1 => block.push(column),
                _ => {
                    blocks.push(vec![0, column]);
                    wide = self.width(0);
                }
            }
            wide += GAP + own;
        }
        let mut lines = Vec::new();
        for block in blocks {
            if !lines.is_empty() {
                lines.push(String::new());
            }
            lines.extend(self.block(&block, width));
        }
        lines
    }

    /// Adds it to a text, set in by two blanks.
    pub fn push_to(&self, text: &mut String, width: usize) {
        for line in self.fitted(width.saturating_sub(2)) {
            *text += &(format!("  {line}").trim_end().to_owned() + "\n");
        }
    }

    fn columns(&self) -> usize {
        self.rows.iter().map(Vec::len).max().unwrap_or(0)
    }

    fn width(&self, column: usize) -> usize {
        self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    }

    fn block(&self, columns: &[usize], width: usize) -> Vec<String> {
        let line = |row: &Vec<String>| {
            let cells = columns.iter().filter_map(|column| Some((row.get(*column)?, column)));
            let cells = cells.map(|(cell, column)| {
                let width = self.width(*column);
                if self.left.contains(column) { format!("{cell:width$}") } else { format!("{cell:>width$}") }
            });
            let line = cells.collect::<Vec<_>>().join("  ").trim_end().to_owned();
            // A line of blanks alone stays one.
            let line = if line.is_empty() { "\n".to_owned() } else { fitted(&line, width) };
            line.lines().map(str::to_owned).collect::<Vec<_>>()
        };
        self.rows.iter().flat_map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_align_left_and_numbers_right() {
        let mut table = Table::new(&["unit", "busy", "stalls"], &[0, 2]);
        table.row(["a".into(), "1000".into(), String::new()]);
        table.row(["host.cipher".into(), "7".into(), "x 3".into()]);
        assert_eq!(table.lines(), ["unit         busy  stalls", "a            1000", "host.cipher     7  x 3"]);
    }

    #[test]
    fn a_head_of_blanks_is_a_line_too() {
        let mut table = Table::new(&["", ""], &[1]);
        table.row(["1".into(), "a".into()]);
        assert_eq!(table.lines(), ["", "1  a"]);
    }

    #[test]
    fn what_is_too_wide_stands_in_a_table_below_or_in_lines_of_its_own() {
        let mut table = Table::new(&["design", "area in all", "energy of h2d", "notes"], &[0, 3]);
        table.row(["a".into(), "1000".into(), "7.5".into(), "words that need room".into()]);
        assert_eq!(table.fitted(80), table.lines());
        assert_eq!(
            table.fitted(40),
            [
                "design  area in all  energy of h2d",
                "a              1000            7.5",
                "",
                "design  notes",
                "a       words that need room"
            ]
        );
        let mut table = Table::new(&["design", "notes"], &[0, 1]);
        table.row(["a".into(), "words that need more room than there is here".into()]);
        assert_eq!(
            table.fitted(34),
            ["design  notes", "a       words that need more room", "        than there is here"]
        );
    }
}
