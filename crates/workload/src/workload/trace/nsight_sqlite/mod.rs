//! The database that `nsys export --type sqlite` writes, one row at a time.
//!
//! ```text
//!  CUPTI_ACTIVITY_KIND_RUNTIME --> calls           StringIds   names of calls and kernels
//!  CUPTI_ACTIVITY_KIND_MEMCPY, _MEMSET, _KERNEL    ENUM_...    names of kinds
//!  ..._GRAPH_TRACE, _SYNCHRONIZATION               any other table: its rows are counted
//!  ..._V2, ..._V3 of each: the latest that has rows
//! ```

mod database;
mod labels;
mod row;
mod take;
#[cfg(test)]
mod tests;

use super::{
    builder::Builder,
    error::refused,
    formats::Importer,
    input::{Input, Tape},
    model::Trace,
};
use crate::files::{Refusal, note_unfinished};
use database::Database;
use labels::Labels;
use std::{
    collections::HashMap,
    io::{BufRead, Write},
    num::NonZeroU64,
};
use take::{Sought, TABLES};
use tempfile::NamedTempFile;

/// Tables that hold no events.
const REFERENCE: &[&str] =
    &["StringIds", "ENUM_", "TARGET_INFO_", "META_DATA_", "EXPORT_", "sqlite_", "ANALYSIS_DETAILS"];

pub(super) const FORMAT: Importer = Importer {
    name: "Nsight Systems SQLite export",
    make: "`nsys export --type sqlite`",
    idle: "profile with `nsys profile --trace=cuda`",
    is_one: |head| head.starts_with(b"SQLite format 3\0"),
    read,
    takes_calls: false,
};

fn read(tape: &mut Tape<'_>, _: Option<Input<'_>>) -> Result<Trace, Refusal> {
    let (name, input) = (tape.name().to_owned(), tape.input());
    let unpacked = if tape.is_packed() { Some(unpack(tape)?) } else { None };
    let path = match (&unpacked, input) {
        (Some(file), _) => file.path(),
        (None, Input::Path(path)) => path,
        (None, Input::Bytes { .. }) => {
            let error = refused("unrecognised", &name, "a database is read from a file only");
            return Err(error.remedy("write it to a file first"));
        }
    };
    let length = input.length().unwrap_or(0);
    if unpacked.is_none() && length < length_by(tape.head()?) {
        return Err(truncated(&name));
    }
    let held = path.metadata().map_or(length, |known| known.len());
    let tape = &*tape;
    let goes_on = |rows: u64, of: u64| {
        let read = u128::from(length) * u128::from(rows.min(of)) / u128::from(of);
        let read = u64::try_from(read).unwrap_or(length);
        if tape.goes_on(read) { Ok(()) } else { Err(tape.stopped()) }
    };
    let database = Database::open(path, &name, held, &goes_on)?;
    let mut reader = Reader {
        builder: Builder::new(&name, tape.room(), &FORMAT),
        labels: Labels::read(&database)?,
        processes: HashMap::new(),
        orphans: 0,
    };
    if TABLES.iter().all(|sought| database.version(sought).is_none()) {
        let error = refused("missing", &name, "is a database without tables of Nsight Systems about CUDA");
        return Err(
            error.remedy("profile with `nsys profile --trace=cuda` and export with `nsys export --type sqlite`")
        );
    }
    for sought in TABLES {
        reader.table(sought, &database)?;
    }
    reader.leave_out(&database)?;
    if reader.orphans > 0 {
        let orphans = reader.orphans;
        let sentence =
            format!("{orphans} operations do not say which of several processes asked for them: they join no call.");
        reader.builder.assume(sentence);
    }
    reader.builder.finish(Vec::new())
}

struct Reader<'d> {
    builder: Builder,
    labels: Labels<'d>,
    /// Processes by their numbers, in the order in which they come up.
    processes: HashMap<i64, u64>,
    /// Operations without a process, if there is more than one.
    orphans: u64,
}

impl Reader<'_> {
    fn table(&mut self, sought: &'static Sought, database: &Database<'_>) -> Result<(), Refusal> {
        database.each(sought, &mut |row| {
            self.builder.event();
            if let Err(what) = (sought.take)(self, row) {
                self.builder.wrong(row.place(), what, "export the report again, or delete the row");
            }
        })
    }

    /// Counts what is not read.
    fn leave_out(&mut self, database: &Database<'_>) -> Result<(), Refusal> {
        let read: Vec<_> = TABLES.iter().filter_map(|sought| database.version(sought)).collect();
        let read = |name: &str| read.iter().any(|table| **table == name);
        for table in database.tables().filter(|table| !read(table) && !is_reference(table)) {
            let rows = database.count(table)?;
            self.builder.leave_out_all(&format!("table {table} is not read"), rows);
        }
        Ok(())
    }

    /// A number that calls and operations of one process share. Each process counts its own from 1.
    fn correlation(&mut self, global: Option<i64>, number: Option<i64>) -> Result<Option<NonZeroU64>, String> {
        let Some(number) = number.filter(|number| *number != 0) else { return Ok(None) };
        let number = u32::try_from(number).map_err(|_| format!("a correlation of {number}"))?;
        let next = self.processes.len() as u64;
        let process = match global {
            // The number of a process is in the middle of that of a thread.
            Some(global) => *self.processes.entry(global >> 24 & 0xff_ffff).or_insert(next),
            None if next > 1 => {
                self.orphans += 1;
                return Ok(None);
            }
            None => 0,
        };
        Ok(NonZeroU64::new(process << 32 | u64::from(number)))
    }
}

fn truncated(name: &str) -> Refusal {
    let error = refused("truncated", name, "the database ends in the middle");
    error.remedy("copy it again, or export the report again")
}

/// Unpacks a database into a file that goes away with it: as many bytes as its head says that there are.
fn unpack(tape: &mut Tape<'_>) -> Result<NamedTempFile, Refusal> {
    let name = tape.name().to_owned();
    let failed = |error: std::io::Error| {
        let what = format!("the database cannot be unpacked to a temporary file: {error}");
        refused("unreadable", &name, what).remedy("unpack it where there is room, with `gunzip`")
    };
    let mut file = NamedTempFile::new().map_err(failed)?;
    note_unfinished(file.path());
    let mut left = length_by(tape.head()?);
    while left > 0 {
        let part = tape.available()?;
        if part == 0 {
            return Err(truncated(&name));
        }
        let part = usize::try_from(left).unwrap_or(usize::MAX).min(part);
        let bytes = tape.fill_buf().map_err(failed)?;
        file.write_all(&bytes[..part]).map_err(failed)?;
        tape.consume(part);
        left -= part as u64;
    }
    file.flush().map_err(failed)?;
    Ok(file)
}

/// Length of a database by its first bytes. What a file lacks at its end SQLite takes for zeros.
fn length_by(head: &[u8]) -> u64 {
    let number = |from: usize, to: usize| {
        let bytes = head.get(from..to).unwrap_or_default();
        bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
    };
    let page = if number(16, 18) == 1 { 1 << 16 } else { number(16, 18) };
    page * number(28, 32)
}

fn is_reference(table: &str) -> bool {
    REFERENCE.iter().any(|beginning| table.starts_with(beginning))
}
