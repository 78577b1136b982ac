//! One row, by column.

use super::take::Sought;
use crate::workload::trace::{Place, time::Time};
use rusqlite::types::ValueRef;

pub(super) struct Row<'r> {
    pub row: &'r rusqlite::Row<'r>,
    pub sought: &'static Sought,
    pub table: &'static &'static str,
}

impl Row<'_> {
    pub fn place(&self) -> Place {
        Place::Row { table: self.table, row: self.row.get(0).unwrap_or(u32::MAX) }
    }

    /// What stands in a column; nothing if none is sought by this name.
    fn cell(&self, column: &str) -> Option<rusqlite::Result<ValueRef<'_>>> {
        let mut columns = self.sought.needed.iter().chain(self.sought.optional);
        columns.position(|name| *name == column).map(|place| self.row.get_ref(place + 1))
    }

    /// A whole number; `None` if there is none.
    pub fn maybe(&self, column: &str) -> Result<Option<i64>, String> {
        match self.cell(column) {
            None | Some(Ok(ValueRef::Null)) => Ok(None),
            Some(Ok(ValueRef::Integer(number))) => Ok(Some(number)),
            Some(_) => Err(format!("`{column}` is no whole number")),
        }
    }

    pub fn text(&self, column: &str) -> Option<String> {
        match self.cell(column) {
            Some(Ok(ValueRef::Text(text))) => Some(String::from_utf8_lossy(text).into_owned()),
            _ => None,
        }
    }

    /// A whole number that has to be there.
    pub fn number(&self, column: &str) -> Result<i64, String> {
        self.maybe(column)?.ok_or_else(|| format!("`{column}` is empty"))
    }

    /// A number that is not negative, and small enough.
    pub fn natural<T: TryFrom<i64>>(&self, column: &str) -> Result<T, String> {
        let number = self.number(column)?;
        T::try_from(number).map_err(|_| format!("`{column}` is {number}"))
    }

    pub fn time(&self) -> Result<Time, String> {
        let (start, end) = (i128::from(self.number("start")?), i128::from(self.number("end")?));
        Time::new(start, end - start)
    }
}
