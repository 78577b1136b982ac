//! The database: its tables, their columns, and rows with the columns that are asked for.

use super::row::{Columns, Row};
use crate::{files::Refusal, workload::trace::error};
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::{collections::BTreeMap, path::Path};

pub(super) struct Database {
    connection: Connection,
    name: String,
    tables: BTreeMap<String, Table>,
}

struct Table {
    columns: Vec<String>,
    rows: u64,
}

impl Database {
    pub fn open(path: &Path, name: &str) -> Result<Self, Refusal> {
        let refused = |error| unread(name, &error);
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).map_err(refused)?;
        // What a file says about itself is not run.
        connection.pragma_update(None, "trusted_schema", false).map_err(refused)?;
        let mut database = Self { connection, name: name.to_owned(), tables: BTreeMap::new() };
        database.tables = database.described().map_err(refused)?;
        Ok(database)
    }

    fn described(&self) -> rusqlite::Result<BTreeMap<String, Table>> {
        // Views and virtual tables compute what they show; an export has none.
        let listed = "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'";
        let mut statement = self.connection.prepare(listed)?;
        let names = statement.query_map([], |row| row.get::<_, String>(0))?.collect::<Result<Vec<_>, _>>()?;
        let mut columns = self.connection.prepare("SELECT name FROM pragma_table_info(?1)")?;
        let mut tables = BTreeMap::new();
        for name in names {
            let columns = columns.query_map([&name], |row| row.get(0))?.collect::<Result<Vec<String>, _>>()?;
            let count = format!("SELECT count(*) FROM {}", quoted(&name));
            let rows = self.connection.query_row(&count, [], |row| row.get::<_, i64>(0))?;
            tables.insert(name, Table { columns, rows: u64::try_from(rows).unwrap_or(0) });
        }
        Ok(tables)
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Columns of a table, if there is such a table.
    pub fn columns(&self, table: &str) -> Option<&[String]> {
        self.tables.get(table).map(|table| table.columns.as_slice())
    }

    /// All tables and how many rows each has.
    pub fn tables(&self) -> impl Iterator<Item = (&str, u64)> {
        self.tables.iter().map(|(name, table)| (name.as_str(), table.rows))
    }

    pub fn rows(&self) -> u64 {
        self.tables.values().map(|table| table.rows).sum()
    }

    pub fn lacks(&self, table: &str, column: Option<&str>) -> Refusal {
        let what = match column {
            Some(column) => format!("the table {table} lacks the column {column}"),
            None => format!("the table {table} is missing"),
        };
        let remedy = "export the report with a version of `nsys` from 2021 on: `nsys export --type sqlite`";
        error::refused("missing", &self.name, what).remedy(remedy)
    }

    pub fn refused(&self, error: &rusqlite::Error) -> Refusal {
        unread(&self.name, error)
    }

    /// Shows `take` each row of a table, with the columns that are sought; those that may be absent and are say nothing.
    pub fn each(&self, sought: &Columns, take: &mut dyn FnMut(&Row<'_>) -> Result<(), Refusal>) -> Result<(), Refusal> {
        let there = self.columns(sought.table).unwrap_or_default();
        let has = |column: &str| there.iter().any(|name| name == column);
        if let Some(column) = sought.needed.iter().find(|column| !has(column)) {
            return Err(self.lacks(sought.table, Some(column)));
        }
        let optional = sought.optional.iter().map(|column| if has(column) { quoted(column) } else { "NULL".into() });
        let columns: Vec<_> = sought.needed.iter().map(|column| quoted(column)).chain(optional).collect();
        let select = format!("SELECT rowid, {} FROM {}", columns.join(", "), quoted(sought.table));
        let refused = |error| self.refused(&error);
        let mut statement = self.connection.prepare(&select).map_err(refused)?;
        let mut rows = statement.query([]).map_err(refused)?;
        while let Some(row) = rows.next().map_err(refused)? {
            take(&Row { row, columns: sought })?;
        }
        Ok(())
    }
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn unread(name: &str, cause: &rusqlite::Error) -> Refusal {
    let code = cause.sqlite_error_code();
    let damaged = [ErrorCode::DatabaseCorrupt, ErrorCode::NotADatabase].map(Some).contains(&code);
    if damaged {
        return error::refused("syntax", name, "the database is damaged").remedy("export the report again");
    }
    error::refused("unreadable", name, format!("the database cannot be read: {cause}"))
}
