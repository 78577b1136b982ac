//! Puts fitted values and their provenance into a configuration file, which otherwise stays as it is: comments, order, layout.

use crate::{
    config::{Layers, Refusal},
    files::{ReadError, Snippet, WholeFile, excerpt, read_text},
    units::Bytes,
};
use std::{
    collections::BTreeSet,
    io::{self, Write},
    path::Path,
};
use thiserror::Error;
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, Value};

const LONGEST: Bytes = Bytes(1 << 20);
/// The key of the digests of points.
const POINTS: &str = "fitted_to";

/// One fitted parameter as a file states it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub path: String,
    pub value: String,
    pub low: String,
    pub high: String,
    pub bare: bool,
    /// What it was fitted to.
    pub source: String,
}

/// Why a file was not written. It is then as it was.
#[derive(Debug, Error)]
pub enum WriteError {
    /// It cannot be written, which the error names.
    #[error(transparent)]
    Unwritten(#[from] io::Error),
    #[error("{path}: {error}")]
    File { path: String, error: io::Error },
    /// It is not TOML, or has something else where a value belongs.
    #[error("{path}: {what}")]
    Content { path: String, what: String },
    /// It is no text of a fit length.
    #[error(transparent)]
    Unfit(ReadError),
    /// What came out is refused as a configuration.
    #[error(transparent)]
    Config(Box<Refusal>),
}

/// Writes the entries into the file at `path`, or into a new one over `below`, with the digests of the points that they were fitted to.
/// The new text replaces the old at once, and only if it is accepted as a configuration.
pub fn write(path: &Path, below: &str, entries: &[Entry], points: &BTreeSet<String>) -> Result<(), WriteError> {
    let shown = || path.display().to_string();
    let failed = |error: io::Error| WriteError::File { path: shown(), error };
    let old = match read_text(path, LONGEST) {
        Ok(text) => text,
        Err(ReadError::Unreadable { error, .. }) if error.kind() == io::ErrorKind::NotFound => layer_over(below),
        Err(ReadError::Unreadable { error, .. }) => return Err(failed(error)),
        Err(error) => return Err(WriteError::Unfit(error)),
    };
    let text = edited(&old, entries, points).map_err(|what| WriteError::Content { path: shown(), what })?;
    let mut file = WholeFile::create(path)?;
    file.write_all(text.as_bytes())?;
    let resolved = Layers::new(file.temporary().to_string_lossy()).resolve();
    resolved.map_err(|error| WriteError::Config(Box::new(error)))?;
    Ok(file.keep()?)
}

/// A file that says only what it lies on.
fn layer_over(below: &str) -> String {
    let place = Path::new(below);
    let below = if place.exists() { std::path::absolute(place).unwrap_or_else(|_| place.into()) } else { place.into() };
    format!("extends = {}\n", Value::from(below.display().to_string()))
}

fn edited(text: &str, entries: &[Entry], points: &BTreeSet<String>) -> Result<String, String> {
    let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| {
        let place = Snippet::new("", text, error.span().unwrap_or(0..0)).line_and_column();
        format!("line {}, column {}: {}", place.0, place.1, excerpt(error.message(), 300))
    })?;
    add_points(&mut document, points)?;
    for entry in entries {
        let written = |text: &str| match text.parse::<i64>() {
            Ok(number) if entry.bare => Value::from(number),
            _ => Value::from(text),
        };
        set(document.as_item_mut(), &entry.path, written(&entry.value))?;
        let fields = [
            ("kind", Value::from("calibrated")),
            ("source", Value::from(entry.source.as_str())),
            ("low", written(&entry.low)),
            ("high", written(&entry.high)),
        ];
        for (name, value) in fields {
            set(document.as_item_mut(), &format!("provenance.{}.{name}", entry.path), value)?;
        }
    }
    Ok(document.to_string())
}

/// What is above a new list of points.
const POINTS_COMMENT: &str =
    "# Points that values below were fitted to, by digest: `sealsim validate` does not hold them out.\n";
const POINTS_PER_LINE: usize = 6;

/// Adds points to those that the document was fitted to before. A document that has all of them stays as it is.
fn add_points(document: &mut DocumentMut, points: &BTreeSet<String>) -> Result<(), String> {
    let before = document.get(POINTS).map(|item| item.as_array().ok_or_else(|| no_table(POINTS))).transpose()?;
    let mut all: BTreeSet<String> =
        before.into_iter().flatten().filter_map(|digest| digest.as_str().map(str::to_owned)).collect();
    if points.is_subset(&all) {
        return Ok(());
    }
    let is_new = before.is_none();
    all.extend(points.iter().cloned());
    let mut array = Array::new();
    for (place, digest) in all.into_iter().enumerate() {
        let before = if place % POINTS_PER_LINE == 0 { "\n    " } else { " " };
        array.push_formatted(Value::from(digest).decorated(before, ""));
    }
    array.set_trailing("\n");
    replace(document.as_item_mut(), POINTS, array.into())?;
    if is_new && let Some(mut key) = document.key_mut(POINTS) {
        key.leaf_decor_mut().set_prefix(POINTS_COMMENT);
    }
    Ok(())
}

/// Sets the value at a path, with tables on the way where there are none.
fn set(item: &mut Item, path: &str, value: Value) -> Result<(), String> {
    let Some((key, rest)) = path.split_once('.') else { return replace(item, path, value) };
    let inline = item.is_inline_table();
    let table = item.as_table_like_mut().ok_or_else(|| no_table(path))?;
    if !table.contains_key(key) {
        table.insert(key, if inline { Item::Value(InlineTable::new().into()) } else { Item::Table(implicit()) });
    }
    set(table.get_mut(key).ok_or_else(|| no_table(path))?, rest, value)
}

fn replace(item: &mut Item, key: &str, mut value: Value) -> Result<(), String> {
    let table = item.as_table_like_mut().ok_or_else(|| no_table(key))?;
    match table.get_mut(key).map(Item::as_value_mut) {
        Some(Some(old)) => {
            *value.decor_mut() = old.decor().clone();
            *old = value;
        }
        Some(None) => return Err(no_table(key)),
        None => {
            table.insert(key, Item::Value(value));
        }
    }
    Ok(())
}

fn no_table(path: &str) -> String {
    format!("something else stands where `{path}` belongs")
}

/// A table whose head is written only if it has values of its own.
fn implicit() -> Table {
    let mut table = Table::new();
    table.set_implicit(true);
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Kind;
    use std::fs;

    fn entry(path: &str, value: &str, low: &str, high: &str) -> Entry {
        let [value, low, high] = [value, low, high].map(str::to_owned);
        let bare = value.parse::<i64>().is_ok();
        Entry { path: path.into(), value, low, high, bare, source: "stage s: 3 points".into() }
    }

    fn points(digests: &[&str]) -> BTreeSet<String> {
        digests.iter().map(|&digest| digest.to_owned()).collect()
    }

    #[test]
    fn only_what_was_fitted_changes() {
        let old = "# head\nextends = \"h100-nvl-tdx\" # below\n\n[driver]\ncall = \"2000 cycles\" # why\n\
                   pinned = { message = \"1 MiB\", push = \"1 MiB\" }\n\n[copy_engine]\nstripe = \"4 KiB\"\n\n\
                   [provenance.driver.call]\nkind = \"assumed\" # not known\nsource = \"closed\"\nlow = \"1 cycle\"\n\
                   high = \"5000 cycles\"\n\n[provenance.driver]\npinned = { push = { kind = \"assumed\", source = \"x\" } }\n";
        let new = edited(old, &[entry("driver.call", "1234 cycles", "1200 cycles", "1300 cycles")], &BTreeSet::new())
            .unwrap();
        let expected = old
            .replace("\"2000 cycles\"", "\"1234 cycles\"")
            .replace("kind = \"assumed\" # not", "kind = \"calibrated\" # not")
            .replace("\"closed\"", "\"stage s: 3 points\"")
            .replace("\"1 cycle\"", "\"1200 cycles\"")
            .replace("\"5000 cycles\"", "\"1300 cycles\"");
        assert_eq!(new, expected);
        let new = edited(old, &[entry("driver.pinned.push", "2 MiB", "1 MiB", "4 MiB")], &BTreeSet::new()).unwrap();
        assert!(new.contains("push = \"2 MiB\" }") && new.contains("low = \"1 MiB\""), "{new}");
    }

    #[test]
    fn what_a_file_does_not_have_is_added_and_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mine.toml");
        let first = [entry("driver.push", "1234 cycles", "1200 cycles", "1300 cycles")];
        let second = [entry("copy_engine.outstanding_reads", "60", "50", "70")];
        write(&path, "h100-nvl-tdx", &first, &points(&["bb", "aa"])).unwrap();
        write(&path, "h100-nvl-tdx", &second, &points(&["cc"])).unwrap();
        let resolved = Layers::new(path.display().to_string()).resolve().unwrap();
        let push = resolved.parameter("driver.push").unwrap();
        assert_eq!((push.value.as_str(), push.provenance.kind), ("1234 cycles", Kind::Calibrated));
        assert_eq!(push.provenance.low.as_deref(), Some("1200 cycles"));
        assert_eq!(resolved.machine.copy_engine.outstanding_reads, 60);
        assert_eq!(resolved.fitted_to, points(&["aa", "bb", "cc"]));
        let text = fs::read_to_string(&path).unwrap();
        let head =
            format!("extends = \"h100-nvl-tdx\"\n{POINTS_COMMENT}fitted_to = [\n    \"aa\", \"bb\", \"cc\"\n]\n");
        assert!(text.starts_with(&head), "{text}");
        assert!(text.contains("[provenance.driver.push]\n") && !text.contains("[provenance]\n"), "{text}");
    }

    #[test]
    fn what_would_be_refused_is_not_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mine.toml");
        let old = "extends = \"h100-nvl-tdx\"\n";
        fs::write(&path, old).unwrap();
        let outside = [entry("driver.push", "1234 cycles", "1300 cycles", "1400 cycles")];
        assert!(matches!(write(&path, "", &outside, &BTreeSet::new()), Err(WriteError::Config(_))));
        assert!(matches!(
            write(&path, "", &[entry("driver", "3", "3", "4")], &BTreeSet::new()),
            Err(WriteError::Config(_))
        ));
        fs::write(&path, "driver = 3\n").unwrap();
        assert!(matches!(write(&path, "", &outside, &BTreeSet::new()), Err(WriteError::Content { .. })));
        assert_eq!(fs::read_to_string(&path).unwrap(), "driver = 3\n");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
