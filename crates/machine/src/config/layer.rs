//! One layer: a file, or one `--set`, taken apart.

use super::error::{Wrong, refusal};
use super::provenance::{Kind, Provenance};
use super::shape::Shape;
use super::tree::{Entry, Node, Table, Value, join};
use crate::files::{Place, Refusal, Source};
use crate::units::nearest;
use std::sync::Arc;
use toml::de::{DeTable, DeValue};

/// A layer, read but not yet laid on anything.
#[derive(Debug)]
pub(super) struct Layer {
    pub source: Arc<Source>,
    /// What it gives, without `extends`, `fitted_to` and `provenance`.
    pub values: Node,
    /// The file below it.
    pub extends: Option<(String, Option<Place>)>,
    /// Digests of the measured points that its values were fitted to.
    pub fitted_to: Vec<String>,
    /// Where its values come from.
    pub origins: Vec<Stated>,
}

/// A provenance that a layer states for one field, or for all fields of a table.
#[derive(Debug)]
pub(super) struct Stated {
    pub path: String,
    pub whole_table: bool,
    pub provenance: Provenance,
    pub place: Option<Place>,
}

impl Layer {
    pub fn read(source: Arc<Source>) -> Result<Self, Refusal> {
        let parsed = DeTable::parse(&source.text).map_err(|error| syntax(&source, &error, 0))?;
        let mut values = Node::from_table(parsed.get_ref(), parsed.span(), &source);
        let Value::Table(table) = &mut values.value else { return Err(expected("", &values, "a table")) };
        let extends = match table.remove("extends").map(|entry| entry.node) {
            None => None,
            Some(Node { value: Value::Text(name), place, .. }) => Some((name, place)),
            Some(node) => return Err(expected("extends", &node, "the path of another file")),
        };
        let fitted_to = table.remove("fitted_to").map_or(Ok(Vec::new()), |entry| digests(&entry.node))?;
        let mut origins = Vec::new();
        if let Some(Entry { node, .. }) = table.remove("provenance") {
            let Some(stated) = node.table() else { return Err(expected("provenance", &node, "a table")) };
            collect(stated, Some(Shape::machine()), "", &mut origins)?;
        }
        Ok(Self { source, values, extends, fitted_to, origins })
    }

    /// Reads `path=value`. The value is TOML, or, where it is not, a text.
    pub fn set(argument: &str) -> Result<Self, Refusal> {
        let text = argument.to_owned();
        let source = Source::new("--set", text);
        let malformed = || {
            refusal(&Wrong::Set { text: argument.to_owned() })
                .remedy("write for example `--set link.max_payload=512B` or `--set tag_queue.release=hold`")
        };
        let (path, text) = argument.split_once('=').ok_or_else(malformed)?;
        let start = path.len() + 1;
        let path_place = Place::new(&source, 0..path.trim_end().len());
        let path = path.trim();
        if path.is_empty() || path.split('.').any(str::is_empty) || text.trim().is_empty() {
            return Err(malformed());
        }
        check_path(path, &path_place)?;
        let mut node = match DeValue::parse(text.trim()) {
            Ok(value) => Node::from_value(&value, &source),
            Err(error) if text.trim_start().starts_with(['"', '\'', '[', '{']) => {
                let blanks = text.len() - text.trim_start().len();
                return Err(syntax(&source, &error, start + blanks));
            }
            Err(_) => Node { value: Value::Text(text.trim().to_owned()), place: None, provenance: None },
        };
        place_all(&mut node, &Place::new(&source, start..argument.len()));
        for key in path.rsplit('.') {
            let entry = Entry { key: Some(path_place.clone()), node };
            let place = Some(path_place.clone());
            node = Node { value: Value::Table(Table::from([(key.to_owned(), entry)])), place, provenance: None };
        }
        Ok(Self { source, values: node, extends: None, fitted_to: Vec::new(), origins: Vec::new() })
    }
}

/// The texts of `fitted_to`.
fn digests(node: &Node) -> Result<Vec<String>, Refusal> {
    let wrong =
        |node: &Node| expected("fitted_to", node, "an array of digests, as `sealsim calibrate --write` writes it");
    let Value::Array(digests) = &node.value else { return Err(wrong(node)) };
    digests.iter().map(|digest| digest.text().map(str::to_owned).ok_or_else(|| wrong(digest))).collect()
}

/// Gives a node and all below it one place.
fn place_all(node: &mut Node, place: &Place) {
    node.place = Some(place.clone());
    if let Value::Table(table) = &mut node.value {
        for entry in table.values_mut() {
            entry.key = Some(place.clone());
            place_all(&mut entry.node, place);
        }
    }
}

/// Refuses a path that no machine has, with the nearest that there is.
fn check_path(path: &str, place: &Place) -> Result<(), Refusal> {
    if Shape::machine().at(path).is_some() {
        return Ok(());
    }
    let error = refusal(&Wrong::UnknownField { path: path.to_owned() }).at(Some(place));
    Err(error.remedy(path_remedy(path)))
}

/// What an unknown path was meant to be: a field of the same table, a longer path that ends so, a path that ends alike, or the nearest.
pub(super) fn path_remedy(path: &str) -> String {
    let paths = Shape::machine().paths();
    let (table, last) = path.rsplit_once('.').unwrap_or(("", path));
    let name = |known: &str| known.rsplit('.').next().map(str::to_owned);
    let siblings: Vec<_> = paths.iter().filter(|known| is_in(known, table)).collect();
    let slip = nearest(last, siblings.iter().filter_map(|known| known.rsplit('.').next()));
    let rules: [&dyn Fn(&str) -> bool; 4] = [
        &|known| is_in(known, table) && slip.is_some() && name(known).as_deref() == slip,
        &|known| known.strip_suffix(path).is_some_and(|before| before.ends_with('.')),
        &|known| is_in(known, table) && name(known).is_some_and(|name| name.contains(last)),
        &|known| name(known).as_deref() == Some(last),
    ];
    for rule in rules {
        let alike: Vec<_> = paths.iter().filter(|known| rule(known)).collect();
        if let [first, ..] = alike[..] {
            let rest: String = alike[1..].iter().take(4).map(|path| format!(", `{path}`")).collect();
            return format!("did you mean `{first}`{rest}?");
        }
    }
    let by_last = || {
        let known = nearest(last, paths.iter().filter_map(|path| path.rsplit('.').next()))?;
        paths.iter().map(String::as_str).find(|path| path.rsplit('.').next() == Some(known))
    };
    match nearest(path, paths.iter().map(String::as_str)).or_else(by_last) {
        Some(known) => format!("did you mean `{known}`?"),
        None => "`sealsim describe <CONFIG>` lists every field".into(),
    }
}

/// Whether a path is that of a field directly in a table.
fn is_in(path: &str, table: &str) -> bool {
    !table.is_empty() && path.rsplit_once('.').is_some_and(|(of, _)| of == table)
}

/// Where a TOML parser finds an error, `offset` bytes into the source. One at the end of the text points at its last character.
pub(super) fn syntax_place(source: &Arc<Source>, error: &toml::de::Error, offset: usize) -> Place {
    let end = source.text.len();
    let span = error.span().map_or(offset..end, |span| span.start + offset..span.end + offset);
    let last = source.text.char_indices().next_back().map_or(0, |(at, _)| at);
    let start = span.start.min(last);
    let width = source.text.get(start..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
    Place::new(source, start..span.end.min(end).max(start + width))
}

fn syntax(source: &Arc<Source>, error: &toml::de::Error, offset: usize) -> Refusal {
    refusal(&Wrong::Syntax { message: error.message().to_owned() })
        .at(&syntax_place(source, error, offset))
        .remedy("quantities and texts stand in double quotes: clock = \"1.755 GHz\"")
}

fn expected(path: &str, node: &Node, what: &str) -> Refusal {
    let found = node.value.what().to_owned();
    refusal(&Wrong::Type { path: path.to_owned(), found, expected: what.to_owned() }).at(node.place.as_ref())
}

/// Collects what a `[provenance]` table states. Where the machine has a table, so has the provenance; `kind` and
/// `source` directly in it speak for all of its fields.
fn collect(table: &Table, shape: Option<&Shape>, path: &str, into: &mut Vec<Stated>) -> Result<(), Refusal> {
    let own = |key: &str| shape.is_some_and(|shape| shape.field(key, None).is_some());
    if ["kind", "source", "low", "high"].iter().any(|key| table.contains_key(*key) && !own(key)) && !path.is_empty() {
        let place = table.values().next().and_then(|entry| entry.key.clone());
        into.push(Stated {
            path: path.to_owned(),
            whole_table: true,
            provenance: read_stated(table, path, true)?,
            place,
        });
    }
    for (key, Entry { key: key_place, node }) in table {
        let path = join(path, key);
        match (shape.and_then(|shape| shape.field(key, None)), node.table()) {
            (Some(below), Some(inner)) if below.is_table() => collect(inner, Some(below), &path, into)?,
            (Some(_), Some(inner)) => {
                let provenance = read_stated(inner, &path, false)?;
                into.push(Stated { path, whole_table: false, provenance, place: node.place.clone() });
            }
            (Some(_), None) => return Err(expected(&format!("provenance.{path}"), node, PATTERN)),
            (None, _) if !path.contains('.') || !["kind", "source", "low", "high"].contains(&key.as_str()) => {
                let error = refusal(&Wrong::UnknownField { path: format!("provenance.{path}") });
                return Err(error.at(key_place.as_ref()).remedy(path_remedy(&path)));
            }
            (None, _) => {}
        }
    }
    Ok(())
}

const PATTERN: &str = "a table { kind = \"...\", source = \"...\", low = \"...\", high = \"...\" }";

/// Reads `{ kind, source, low, high }`.
fn read_stated(table: &Table, path: &str, whole_table: bool) -> Result<Provenance, Refusal> {
    let wrong = |reason: String, place: Option<&Place>| {
        refusal(&Wrong::Provenance { path: path.to_owned(), reason }).at(place).remedy(format!("write {PATTERN}"))
    };
    let somewhere = table.values().next().and_then(|entry| entry.key.as_ref());
    let text = |key: &str| match table.get(key) {
        None => Err(wrong(format!("`{key}` is missing"), somewhere)),
        Some(entry) => entry
            .node
            .text()
            .filter(|text| !text.trim().is_empty())
            .map(str::to_owned)
            .ok_or_else(|| wrong(format!("`{key}` must be a text that says something"), entry.node.place.as_ref())),
    };
    let bound = |key: &str| match table.get(key).map(|entry| &entry.node) {
        None => Ok(None),
        Some(node) if whole_table => {
            Err(wrong(format!("`{key}` can only stand beside a single field"), node.place.as_ref()))
        }
        Some(node) => match &node.value {
            Value::Text(text) => Ok(Some(text.clone())),
            Value::Integer(integer) => Ok(Some(integer.to_string())),
            other => Err(wrong(format!("`{key}` is {}", other.what()), node.place.as_ref())),
        },
    };
    let known = |key: &str| ["kind", "source", "low", "high"].contains(&key);
    // Below a table's own statement stand those of its fields.
    let below = |entry: &Entry| whole_table && entry.node.table().is_some();
    if let Some((key, entry)) = table.iter().find(|(key, entry)| !(known(key) || below(entry))) {
        return Err(wrong(format!("there is no `{key}`"), entry.key.as_ref()));
    }
    let kind = text("kind")?;
    let kind = Kind::named(&kind).ok_or_else(|| {
        let known = Kind::ALL.map(Kind::name).join(", ");
        let place = table.get("kind").and_then(|entry| entry.node.place.as_ref());
        wrong(format!("\"{kind}\" is not a kind"), place).remedy(format!("the kinds are {known}"))
    })?;
    Ok(Provenance { kind, source: text("source")?, low: bound("low")?, high: bound("high")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: String) -> Result<Layer, Refusal> {
        Layer::read(Source::new("random", text))
    }

    #[test]
    fn a_syntax_error_at_the_end_points_at_the_last_character() {
        for text in ["a = \"x", "a = \"\u{fc}", "[a", "a ="] {
            let error = read(text.into()).unwrap_err();
            let span = error.place().unwrap().span.clone();
            assert!(
                span.start < span.end && span.end <= text.len() && text.is_char_boundary(span.start),
                "{text}: {span:?}"
            );
        }
    }
}
