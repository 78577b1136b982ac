//! A line and its cells, each with its place, so that an error can point at it.

use crate::{
    files::{Place as Written, Refusal, Source, excerpt},
    workload::trace::{Place, decimal, error::refused_at},
};
use std::{borrow::Cow, ops::Range};

/// The cells of a line. A separator between double quotes does not end a cell.
pub(super) fn cells(line: &str, separator: char) -> Vec<Range<usize>> {
    let (mut cells, mut from, mut quoted) = (Vec::with_capacity(24), 0, false);
    for (place, byte) in line.bytes().enumerate() {
        match byte {
            b'"' => quoted = !quoted,
            byte if char::from(byte) == separator && !quoted => {
                cells.push(from..place);
                from = place + 1;
            }
            _ => {}
        }
    }
    cells.push(from..line.len());
    cells
}

/// What a cell says, without its quotes.
pub(super) fn content(cell: &str) -> Cow<'_, str> {
    let cell = cell.trim();
    match cell.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(inside) if inside.contains("\"\"") => Cow::Owned(inside.replace("\"\"", "\"")),
        Some(inside) => Cow::Borrowed(inside),
        None => Cow::Borrowed(cell),
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'l> {
    pub file: &'l str,
    pub text: &'l str,
    pub place: Place,
}

impl<'l> Line<'l> {
    /// An error about a cell, or about the whole line.
    pub fn error(&self, cell: Option<&Range<usize>>, what: &str, remedy: &str) -> Refusal {
        self.refused("event", cell, what, remedy)
    }

    pub fn refused(&self, kind: &'static str, cell: Option<&Range<usize>>, what: &str, remedy: &str) -> Refusal {
        let span = cell.cloned().unwrap_or(0..self.text.len());
        let number = self.place.line().and_then(|line| usize::try_from(line).ok()).unwrap_or(1);
        let shown = Written::new(&Source::line(self.file, self.text, number), span);
        refused_at(kind, self.file, self.place, what).at(&shown).remedy(remedy)
    }

    /// What a column says; nothing if there is no such column, or no such cell.
    pub fn text(&self, row: &[Range<usize>], column: Option<usize>) -> Cow<'l, str> {
        let cell = column.and_then(|column| row.get(column)).and_then(|cell| self.text.get(cell.clone()));
        cell.map_or(Cow::Borrowed(""), content)
    }

    /// A number times ten to `power`.
    pub fn number(&self, row: &[Range<usize>], column: usize, power: i32) -> Result<i128, Refusal> {
        let text = self.text(row, Some(column));
        decimal::scaled(&text, power).ok_or_else(|| self.no_number(row, column, &text))
    }

    /// A whole number that is not negative; `None` if the cell is empty.
    pub fn id(&self, row: &[Range<usize>], column: Option<usize>) -> Result<Option<u64>, Refusal> {
        let text = self.text(row, column);
        match column {
            Some(column) if !text.is_empty() => text.parse().map(Some).map_err(|_| self.no_number(row, column, &text)),
            _ => Ok(None),
        }
    }

    pub fn no_number(&self, row: &[Range<usize>], column: usize, text: &str) -> Refusal {
        let what = format!("`{}` is no number", excerpt(text, 40));
        self.error(row.get(column), &what, "give the table as `nsys stats` prints it, or delete the line")
    }

    /// An error if a row has not as many cells as its head.
    pub fn check_cells(&self, row: &[Range<usize>], head: usize) -> Result<(), Refusal> {
        if row.len() == head {
            return Ok(());
        }
        let what = format!("{} cells, but the head has {head} columns", row.len());
        Err(self.error(None, &what, "give the table as `nsys stats` prints it, or delete the line"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_between_quotes_belong_to_a_cell() {
        let line = r#"1,"k(int, ""a"")",,x"#;
        let texts: Vec<_> = cells(line, ',').into_iter().map(|cell| content(&line[cell]).into_owned()).collect();
        assert_eq!(texts, ["1", r#"k(int, "a")"#, "", "x"]);
        assert_eq!(cells("", ',').len(), 1);
    }
}
