//! A CSV file with the place of each cell, so that an error can point at it.

use crate::files::{Place, Refusal, Source, excerpt};
use std::{borrow::Cow, ops::Range, str::FromStr, sync::Arc};

/// A file with one head line and rows below it.
#[derive(Debug)]
pub(super) struct Table {
    source: Arc<Source>,
    head: Row,
    rows: Vec<Row>,
}

#[derive(Debug)]
struct Row {
    line: usize,
    cells: Vec<Range<usize>>,
}

impl Table {
    /// Reads `text`, which is called `file` in errors. Empty lines are passed over, and so are lines that begin with `#`.
    pub fn read(file: &str, text: &str) -> Result<Self, Refusal> {
        let mut rows = lines(text);
        let head = if rows.is_empty() { Row { line: 1, cells: Vec::new() } } else { rows.remove(0) };
        let table = Self { source: Source::new(file, text.to_owned()), head, rows };
        let columns = table.head.cells.len();
        let odd = table.rows.iter().find(|row| row.cells.len() != columns);
        if let Some(row) = odd {
            let what = format!("{} cells, but the head has {columns} columns", row.cells.len());
            return Err(table.error(row.line, table.span(row), what, "give each row as many cells as the head has"));
        }
        if table.rows.is_empty() {
            let span = table.span(&table.head);
            return Err(table.error(table.head.line, span, "no rows".into(), "put measurements below the head line"));
        }
        Ok(table)
    }

    pub fn has(&self, columns: &[&str]) -> bool {
        columns.iter().all(|column| self.column(column).is_some())
    }

    pub fn columns(&self) -> Vec<&str> {
        self.head.cells.iter().map(|cell| self.cell(cell)).collect()
    }

    pub fn rows(&self) -> impl Iterator<Item = Cells<'_>> {
        self.rows.iter().map(|row| Cells { table: self, row })
    }

    pub fn head_error(&self, what: String, remedy: &str) -> Refusal {
        self.error(self.head.line, self.span(&self.head), what, remedy)
    }

    fn column(&self, name: &str) -> Option<usize> {
        self.head.cells.iter().position(|cell| self.cell(cell) == name)
    }

    fn cell(&self, cell: &Range<usize>) -> &str {
        let text = self.source.text.get(cell.clone()).unwrap_or_default().trim();
        text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text)
    }

    fn span(&self, row: &Row) -> Range<usize> {
        let start = row.cells.first().map_or(0, |cell| cell.start);
        start..row.cells.last().map_or(start, |cell| cell.end)
    }

    fn error(&self, line: usize, span: Range<usize>, what: String, remedy: &str) -> Refusal {
        let what = format!("{}, line {line}: {}", self.source.name, excerpt(&what, 300));
        let place = Place::new(&self.source, span);
        Refusal::new("measured", "", what).at(&place).remedy(excerpt(remedy, 500))
    }
}

/// What a cell says, as messages quote it.
fn short(text: &str) -> Cow<'_, str> {
    excerpt(text, 80)
}

/// The cells of each line that is not empty. A comma between double quotes does not end a cell.
fn lines(text: &str) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut start = 0;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let content = line.trim_end_matches(['\n', '\r']);
        if !content.trim().is_empty() && !content.starts_with('#') {
            rows.push(Row { line: number + 1, cells: cells(content, start) });
        }
        start += line.len();
    }
    rows
}

fn cells(line: &str, start: usize) -> Vec<Range<usize>> {
    let (mut cells, mut from, mut quoted) = (Vec::new(), 0, false);
    for (place, character) in line.char_indices() {
        match character {
            '"' => quoted = !quoted,
            ',' if !quoted => {
                cells.push(start + from..start + place);
                from = place + 1;
            }
            _ => {}
        }
    }
    cells.push(start + from..start + line.len());
    cells
}

/// Columns of rates, and what no machine exceeds: a petabyte in a second.
const RATE: &str = "gb_per_s";
const FASTEST: f64 = 1e6;

#[derive(Debug, Clone, Copy)]
pub(super) struct Cells<'t> {
    table: &'t Table,
    row: &'t Row,
}

impl<'t> Cells<'t> {
    pub fn line(&self) -> usize {
        self.row.line
    }

    pub fn text(&self, column: &str) -> &'t str {
        self.range(column).map_or("", |cell| self.table.cell(cell))
    }

    pub fn choice<T: Copy>(&self, column: &str, choices: &[(&str, T)]) -> Result<T, Refusal> {
        let text = self.text(column);
        let known = || choices.iter().map(|choice| choice.0).collect::<Vec<_>>().join(", ");
        let found = choices.iter().find(|choice| choice.0 == text).map(|choice| choice.1);
        found.ok_or_else(|| {
            self.error(column, format!("`{}` is no {column}", short(text)), &format!("write one of {}", known()))
        })
    }

    /// A number of at least `least`; `0.0` and `4502.0` are numbers too.
    pub fn number(&self, column: &str, least: f64) -> Result<f64, Refusal> {
        let text = self.text(column);
        let number = f64::from_str(text).ok().filter(|number| number.is_finite());
        let wrong = || {
            self.error(column, format!("`{}` is no number", short(text)), "write digits, with a point before decimals")
        };
        let number = number.ok_or_else(wrong)?;
        if number < least {
            let what = format!("{column} is {text}");
            return Err(self.error(column, what, &format!("it must be at least {least}")));
        }
        Ok(number)
    }

    pub fn positive(&self, column: &str) -> Result<f64, Refusal> {
        let number = self.number(column, 0.0)?;
        let what = || format!("{column} is {}", self.text(column));
        if column == RATE && number > FASTEST {
            return Err(self.error(column, what(), &format!("no copy is faster than {FASTEST} GB/s")));
        }
        if number > 0.0 { Ok(number) } else { Err(self.error(column, what(), "it must be more than 0")) }
    }

    pub fn whole(&self, column: &str, least: u64, most: u64) -> Result<u64, Refusal> {
        let number = self.number(column, 0.0)?;
        let range = least as f64..=most as f64;
        if number.fract() != 0.0 || !range.contains(&number) {
            let what = format!("{column} is {}", self.text(column));
            return Err(self.error(column, what, &format!("write a whole number from {least} to {most}")));
        }
        Ok(number as u64)
    }

    pub fn error(&self, column: &str, what: String, remedy: &str) -> Refusal {
        let span = self.range(column).cloned().unwrap_or_else(|| self.table.span(self.row));
        self.table.error(self.row.line, span, what, remedy)
    }

    fn range(&self, column: &str) -> Option<&'t Range<usize>> {
        self.row.cells.get(self.table.column(column)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_found_whatever_the_line_ends_and_quotes() {
        let table = Table::read("t", "a,b\r\n\r\n# aside\r\n\"x, y\", 4 \r\n").unwrap();
        assert_eq!(table.columns(), ["a", "b"]);
        let row = table.rows().next().unwrap();
        assert_eq!((row.text("a"), row.whole("b", 0, 9).unwrap(), row.line()), ("x, y", 4, 4));
    }

    #[test]
    fn an_error_names_file_line_and_cell() {
        let table = Table::read("m.csv", "a,b\n1,2\n3,x\n").unwrap();
        let row = table.rows().nth(1).unwrap();
        let error = row.number("b", 0.0).unwrap_err();
        assert_eq!(error.to_string(), "m.csv, line 3: `x` is no number");
        assert_eq!(error.place().unwrap().line_and_column(), (3, 3));
        for (text, line) in [("", 1), ("a,b\n", 1), ("a,b\n1,2\n1\n", 3), ("a,b\n1,2,3\n", 2)] {
            let refused = Table::read("m.csv", text).unwrap_err().to_string();
            assert!(refused.starts_with(&format!("m.csv, line {line}: ")), "{text:?}: {refused}");
        }
    }

    #[test]
    fn numbers_that_measure_nothing_are_refused() {
        for bad in ["", "nan", "inf", "-1", "1e999", "0"] {
            let text = format!("a\n{bad},\n").replace(",\n", ",0\n").replace("a\n", "a,b\n");
            let table = Table::read("t", &text).unwrap();
            assert!(table.rows().next().unwrap().positive("a").is_err(), "{bad}");
        }
    }
}
