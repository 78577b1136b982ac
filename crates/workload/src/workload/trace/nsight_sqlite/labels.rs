//! What numbers in the database stand for.

use super::database::Database;
use crate::files::Refusal;
use crate::workload::trace::{
    builder::Builder,
    model::{Direction, Memory, NameId},
    names,
};
use rusqlite::{ErrorCode, Statement, types::ValueRef};
use std::collections::HashMap;

/// Copies by number, as the driver interface defines them: those of a file without a table of its own.
const COPIES: &[(i64, &str)] = &[
    (1, "Host-to-Device"),
    (2, "Device-to-Host"),
    (3, "Host-to-Array"),
    (4, "Array-to-Host"),
    (5, "Array-to-Array"),
    (6, "Array-to-Device"),
    (7, "Device-to-Array"),
    (8, "Device-to-Device"),
    (9, "Host-to-Host"),
    (10, "Peer-to-Peer"),
    (11, "Unified Host-to-Device"),
    (12, "Unified Device-to-Host"),
    (13, "Unified Device-to-Device"),
];

/// Kinds of memory by number, likewise.
const MEMORIES: &[(i64, &str)] = &[
    (0, "Pageable"),
    (1, "Pinned"),
    (2, "Device"),
    (3, "Array"),
    (4, "Managed"),
    (5, "Device Static"),
    (6, "Managed Static"),
];

pub(super) struct Labels<'d> {
    copies: HashMap<i64, String>,
    memories: HashMap<i64, String>,
    strings: Statement<'d>,
    known: HashMap<i64, NameId>,
}

impl<'d> Labels<'d> {
    pub fn read(database: &'d Database<'_>) -> Result<Self, Refusal> {
        for column in ["id", "value"] {
            let columns = database.columns("StringIds")?.ok_or_else(|| database.lacks("StringIds", None))?;
            if !columns.iter().any(|name| name == column) {
                return Err(database.lacks("StringIds", Some(column)));
            }
        }
        let strings = database.connection().prepare("SELECT value FROM StringIds WHERE id = ?1");
        Ok(Self {
            copies: table(database, "ENUM_CUDA_MEMCPY_OPER", COPIES)?,
            memories: table(database, "ENUM_CUDA_MEM_KIND", MEMORIES)?,
            strings: strings.map_err(|error| database.refused("StringIds", &error))?,
            known: HashMap::new(),
        })
    }

    pub fn name(&mut self, id: i64, builder: &mut Builder) -> Result<NameId, String> {
        if let Some(name) = self.known.get(&id) {
            return Ok(*name);
        }
        let name = self.text(id)?;
        let name = builder.name(&name);
        self.known.insert(id, name);
        Ok(name)
    }

    pub fn text(&mut self, id: i64) -> Result<String, String> {
        let text = self.strings.query_row([id], |row| match row.get_ref(0)? {
            ValueRef::Text(text) => Ok(String::from_utf8_lossy(text).into_owned()),
            _ => Err(rusqlite::Error::InvalidQuery),
        });
        text.map_err(|error| match error.sqlite_error_code() {
            Some(ErrorCode::TooBig) => format!("the name {id} is too long for any name"),
            Some(ErrorCode::OperationInterrupted) => format!("the name {id} takes too long to find in StringIds"),
            _ => format!("the name {id} is not in the table StringIds"),
        })
    }

    /// The name of a copy and which way it goes.
    pub fn copy(&self, kind: i64) -> Result<(String, Direction), String> {
        let label = self.copies.get(&kind).map_or("", String::as_str);
        let direction =
            names::direction(label).ok_or_else(|| format!("`copyKind` {kind} does not say which way it copies"))?;
        Ok((format!("[CUDA memcpy {label}]"), direction))
    }

    pub fn memory(&self, kind: Option<i64>) -> Memory {
        kind.and_then(|kind| self.memories.get(&kind)).map_or(Memory::Unknown, |label| names::memory(label))
    }
}

/// Labels by number: those of the file before those that are known.
fn table(database: &Database<'_>, name: &str, known: &[(i64, &str)]) -> Result<HashMap<i64, String>, Refusal> {
    let mut labels: HashMap<_, _> = known.iter().map(|(id, label)| (*id, (*label).to_owned())).collect();
    let Some(columns) = database.columns(name)? else { return Ok(labels) };
    let has = |column: &str| columns.iter().any(|name| name == column);
    let Some(label) = ["label", "name"].into_iter().find(|column| has(column) && has("id")) else { return Ok(labels) };
    let refused = |error| database.refused(name, &error);
    let select =
        format!("SELECT id, {label} FROM {name} WHERE typeof(id) = 'integer' AND typeof({label}) = 'text' LIMIT 1000");
    let mut statement = database.connection().prepare(&select).map_err(refused)?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).map_err(refused)?;
    for row in rows {
        let (id, label): (i64, String) = row.map_err(refused)?;
        labels.insert(id, label);
    }
    Ok(labels)
}
