//! The database: its tables, their columns, and rows with the columns that are asked for.

use super::{row::Row, take::Sought};
use crate::{files::Refusal, workload::trace::error};
use rusqlite::{Connection, ErrorCode, OpenFlags, config::DbConfig, limits::Limit};
use std::{
    cell::Cell,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
};

/// Rows between two questions whether to go on.
const ROWS: u64 = 4096;
/// What SQLite does between two looks at the bound, in steps of its machine.
const STEPS: i32 = 4096;
/// How often it may look between two questions: hundreds of times what rows take, and a fraction of a second.
const LOOKS: u32 = 4096;
const LONGEST: i32 = 1 << 20;

/// Refuses to go on, asked with the rows that were read and the rows that there are about.
type GoesOn<'a> = dyn Fn(u64, u64) -> Result<(), Refusal> + 'a;

pub(super) struct Database<'a> {
    connection: Connection,
    name: String,
    tables: Vec<String>,
    /// Looks since it was last asked whether to go on.
    looks: Arc<AtomicU32>,
    /// Rows that were read, and bytes of the file: no table has more rows than its file has bytes.
    rows: Cell<u64>,
    bytes: u64,
    /// Rows by the last row of each table, for who is told how far the reading is.
    of: u64,
    goes_on: &'a GoesOn<'a>,
}

impl<'a> Database<'a> {
    /// Opens a file that has so many bytes.
    pub fn open(path: &Path, name: &str, bytes: u64, goes_on: &'a GoesOn<'a>) -> Result<Self, Refusal> {
        let refused = |error| unread(name, "sqlite_master", &error);
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection = Connection::open_with_flags(path, flags).map_err(refused)?;
        let looks = Arc::new(AtomicU32::new(0));
        let counted = Arc::clone(&looks);
        connection.progress_handler(STEPS, Some(move || counted.fetch_add(1, Relaxed) >= LOOKS)).map_err(refused)?;
        connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, LONGEST).map_err(refused)?;
        // What a file says about itself is not run.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false).map_err(refused)?;
        connection.pragma_update(None, "trusted_schema", false).map_err(refused)?;
        let (owned, rows) = (name.to_owned(), Cell::new(0));
        let mut database = Self { connection, name: owned, tables: Vec::new(), looks, rows, bytes, of: 1, goes_on };
        database.tables = database.described().map_err(refused)?;
        let last = |table: &String| {
            let last = format!("SELECT max(rowid) FROM {}", quoted(table));
            database.connection.query_row(&last, [], |row| row.get::<_, i64>(0)).unwrap_or(0).max(0).unsigned_abs()
        };
        database.of = database.tables.iter().map(last).fold(1, u64::saturating_add);
        Ok(database)
    }

    fn described(&self) -> rusqlite::Result<Vec<String>> {
        // Views and virtual tables compute what they show; an export has none. SQLite itself writes a table's description so.
        let listed = "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE TABLE %' ORDER BY name";
        self.connection.prepare(listed)?.query_map([], |row| row.get(0))?.collect()
    }

    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    pub fn has(&self, table: &str) -> bool {
        self.tables.iter().any(|known| known == table)
    }

    /// Columns of a table, if there is such a table.
    pub fn columns(&self, table: &str) -> Result<Option<Vec<String>>, Refusal> {
        if !self.has(table) {
            return Ok(None);
        }
        let columns = || -> rusqlite::Result<Vec<_>> {
            let mut columns = self.connection.prepare("SELECT name FROM pragma_table_info(?1)")?;
            columns.query_map([table], |row| row.get(0))?.collect()
        };
        columns().map(Some).map_err(|error| self.refused(table, &error))
    }

    pub fn tables(&self) -> impl Iterator<Item = &str> {
        self.tables.iter().map(String::as_str)
    }

    pub fn lacks(&self, table: &str, column: Option<&str>) -> Refusal {
        let what = match column {
            Some(column) => format!("the table {table} lacks the column {column}"),
            None => format!("the table {table} is missing"),
        };
        let remedy = "export the report with a version of `nsys` from 2021 on: `nsys export --type sqlite`";
        error::refused("missing", &self.name, what).remedy(remedy)
    }

    pub fn refused(&self, table: &str, error: &rusqlite::Error) -> Refusal {
        unread(&self.name, table, error)
    }

    /// The latest of a table's versions that has rows, or that is there.
    pub fn version(&self, sought: &Sought) -> Option<&'static &'static str> {
        let filled = |table: &&&str| {
            let any = format!("SELECT 1 FROM {} LIMIT 1", quoted(table));
            self.has(table) && self.connection.query_row(&any, [], |_| Ok(())).is_ok()
        };
        sought.tables.iter().find(filled).or_else(|| sought.tables.iter().find(|table| self.has(table)))
    }

    /// Shows `take` each row of a table, if it is there, with the columns that are sought; those that may be absent and are say nothing.
    pub fn each(&self, sought: &'static Sought, take: &mut dyn FnMut(&Row<'_>)) -> Result<(), Refusal> {
        let Some(table) = self.version(sought) else { return Ok(()) };
        let there = self.columns(table)?.unwrap_or_default();
        let has = |column: &str| there.iter().any(|name| name == column);
        if let Some(column) = sought.needed.iter().find(|column| !has(column)) {
            return Err(self.lacks(table, Some(column)));
        }
        let optional = sought.optional.iter().map(|column| if has(column) { quoted(column) } else { "NULL".into() });
        let columns: Vec<_> = sought.needed.iter().map(|column| quoted(column)).chain(optional).collect();
        let columns = format!("rowid, {}", columns.join(", "));
        self.rows(table, &columns, &mut |row| take(&Row { row, sought, table })).map(|_| ())
    }

    pub fn count(&self, table: &str) -> Result<u64, Refusal> {
        self.rows(table, "1", &mut |_| ())
    }

    fn rows(&self, table: &str, columns: &str, take: &mut dyn FnMut(&rusqlite::Row<'_>)) -> Result<u64, Refusal> {
        let refused = |error| self.refused(table, &error);
        let mut statement =
            self.connection.prepare(&format!("SELECT {columns} FROM {}", quoted(table))).map_err(refused)?;
        let (mut rows, before) = (statement.query([]).map_err(refused)?, self.rows.get());
        while let Some(row) = rows.next().map_err(refused)? {
            self.rows.set(self.rows.get() + 1);
            if self.rows.get() > self.bytes {
                return Err(too_much(&self.name, table));
            }
            if self.rows.get().is_multiple_of(ROWS) {
                self.looks.store(0, Relaxed);
                (self.goes_on)(self.rows.get(), self.of)?;
            }
            take(row);
        }
        Ok(self.rows.get() - before)
    }
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn unread(name: &str, table: &str, cause: &rusqlite::Error) -> Refusal {
    let (kind, what) = match cause.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => ("syntax", "the database is damaged".to_owned()),
        Some(ErrorCode::OperationInterrupted) => return too_much(name, table),
        Some(ErrorCode::TooBig) => ("too_many", format!("table {table}: a text of more than {LONGEST} bytes")),
        _ => return error::refused("unreadable", name, format!("the database cannot be read: {cause}")),
    };
    error::refused(kind, name, what).remedy("export the report again")
}

fn too_much(name: &str, table: &str) -> Refusal {
    let what = format!("the table {table} shows more rows than a file of this size can hold");
    error::refused("too_many", name, what).remedy("the database is damaged: export the report again")
}
