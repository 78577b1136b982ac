//! Aligned columns.

/// A table under way: a head and rows of cells.
#[derive(Debug)]
pub(super) struct Table {
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

    /// One line per row, no blanks at its end.
    pub fn lines(&self) -> Vec<String> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| self.rows.iter().filter_map(|row| row.get(column)).map(|c| c.chars().count()).max();
        let widths: Vec<_> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
        let line = |row: &Vec<String>| {
            let cells = row.iter().zip(&widths).enumerate();
            let cells = cells.map(|(column, (cell, &width))| {
                if self.left.contains(&column) { format!("{cell:width$}") } else { format!("{cell:>width$}") }
            });
            cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
        };
        self.rows.iter().map(line).collect()
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
}
