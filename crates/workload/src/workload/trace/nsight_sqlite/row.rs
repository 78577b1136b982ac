//! One row, by column.

use crate::workload::trace::{Place, time::Time};
use rusqlite::types::ValueRef;

pub(super) struct Columns {
    /// Names of the table, that of the latest version first.
    pub tables: &'static [&'static str],
    /// Columns without which it says nothing.
    pub needed: &'static [&'static str],
    /// Columns that versions lack.
    pub optional: &'static [&'static str],
}

pub(super) struct Row<'r> {
    pub row: &'r rusqlite::Row<'r>,
    pub columns: &'static Columns,
    pub table: &'static &'static str,
}

impl Row<'_> {
    pub fn place(&self) -> Place {
        Place::Row { table: self.table, row: self.row.get(0).unwrap_or(u32::MAX) }
    }

    /// A whole number; `None` if there is none.
    pub fn maybe(&self, column: &str) -> Result<Option<i64>, String> {
        let mut columns = self.columns.needed.iter().chain(self.columns.optional);
        let Some(place) = columns.position(|name| *name == column) else { return Ok(None) };
        match self.row.get_ref(place + 1) {
            Ok(ValueRef::Integer(number)) => Ok(Some(number)),
            Ok(ValueRef::Null) => Ok(None),
            _ => Err(format!("`{column}` is no whole number")),
        }
    }

    pub fn text(&self, column: &str) -> Option<String> {
        let mut columns = self.columns.needed.iter().chain(self.columns.optional);
        let place = columns.position(|name| *name == column)?;
        match self.row.get_ref(place + 1) {
            Ok(ValueRef::Text(text)) => Some(String::from_utf8_lossy(text).into_owned()),
            _ => None,
        }
    }

    /// A whole number that has to be there.
    pub fn number(&self, column: &str) -> Result<i64, String> {
        self.maybe(column)?.ok_or_else(|| format!("`{column}` is empty"))
    }

    /// A small number that is not negative.
    pub fn id(&self, column: &str) -> Result<u32, String> {
        let number = self.number(column)?;
        u32::try_from(number).map_err(|_| format!("`{column}` is {number}"))
    }

    pub fn size(&self, column: &str) -> Result<u64, String> {
        let number = self.number(column)?;
        u64::try_from(number).map_err(|_| format!("`{column}` is {number}"))
    }

    pub fn time(&self) -> Result<Time, String> {
        let (start, end) = (i128::from(self.number("start")?), i128::from(self.number("end")?));
        Time::new(start, end - start)
    }
}
