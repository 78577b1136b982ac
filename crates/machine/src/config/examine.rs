//! Holds a tree against the shape that it must have: every fault at its place.

use super::error::Wrong;
use super::layer::path_remedy;
use super::shape::{Field, Shape, quoted};
use super::tree::{Node, Table, Value, join};
use crate::files::{Refusal, Refusals};
use crate::units::nearest;

/// Everything that is wrong with `node`, which is at `path`.
pub(super) fn examine(node: &Node, shape: &Shape, path: &str, chain: &str) -> Refusals {
    let mut examiner = Examiner { chain, faults: Refusals::default() };
    examiner.value(node, shape, path);
    examiner.faults
}

struct Examiner<'a> {
    /// The layers, for what is missing in all of them.
    chain: &'a str,
    faults: Refusals,
}

impl Examiner<'_> {
    fn leaf(&mut self, node: &Node, shape: &Shape, path: &str) {
        if let Some(error) = leaf(node, shape, path) {
            self.faults.push(|| error);
        }
    }

    fn value(&mut self, node: &Node, shape: &Shape, path: &str) {
        match (shape, &node.value) {
            (Shape::Table(fields), Value::Table(table)) => self.fields(node, table, fields, path, None),
            (Shape::Union { .. }, Value::Table(table)) => self.union(node, table, shape, path),
            (Shape::Array(items), Value::Array(nodes)) => {
                for (i, node) in nodes.iter().enumerate() {
                    self.value(node, items, &format!("{path}[{i}]"));
                }
            }
            _ => self.leaf(node, shape, path),
        }
    }

    fn union(&mut self, node: &Node, table: &Table, shape: &Shape, path: &str) {
        let Shape::Union { tag, variants } = shape else { return };
        let names: Vec<_> = variants.iter().map(|variant| variant.name.clone()).collect();
        let tag_path = join(path, tag);
        match table.get(tag).map(|entry| &entry.node) {
            None => self.missing(node, vec![tag_path], format!("give it one of {}", quoted(&names))),
            Some(chosen) => match chosen.text().and_then(|text| variants.iter().find(|known| known.name == text)) {
                Some(variant) => self.fields(node, table, &variant.fields, path, Some(&variant.name)),
                None => self.leaf(chosen, &Shape::Choice(names), &tag_path),
            },
        }
    }

    fn fields(&mut self, node: &Node, table: &Table, fields: &[Field], path: &str, variant: Option<&str>) {
        for (key, entry) in table {
            match fields.iter().find(|field| field.name == *key) {
                Some(field) => self.value(&entry.node, &field.shape, &join(path, key)),
                None => self.faults.push(|| {
                    let error = Refusal::from(Wrong::UnknownField { path: join(path, key) });
                    error.at(entry.key.as_ref()).remedy(unknown_remedy(key, fields, path, variant))
                }),
            }
        }
        let missing: Vec<_> =
            fields.iter().filter(|field| field.required && !table.contains_key(&field.name)).collect();
        let remedy = match (&missing[..], variant) {
            ([], _) => return,
            (_, Some(variant)) => format!(
                "\"{variant}\" starts a table of its own: {path} = {{ {} }}",
                fields.iter().map(|field| format!("{} = ...", field.name)).collect::<Vec<_>>().join(", ")
            ),
            ([only], None) if !path.is_empty() => format!("give it {}", only.shape.expected()),
            _ => "give them values, or extend a machine that has them: extends = \"h100-nvl-tdx\"".to_owned(),
        };
        self.missing(node, missing.iter().map(|field| join(path, &field.name)).collect(), remedy);
    }

    /// Fields of one table that no layer gives.
    fn missing(&mut self, table: &Node, paths: Vec<String>, remedy: String) {
        // The whole document is no useful place to point at.
        let place = table.place.as_ref().filter(|_| paths.iter().any(|path| path.contains('.')));
        let error = Refusal::from(Wrong::Missing { path: paths.join("`, `"), chain: self.chain.to_owned() });
        self.faults.push(|| error.at(place).remedy(remedy));
    }
}

/// What is wrong with a leaf.
fn leaf(node: &Node, shape: &Shape, path: &str) -> Option<Refusal> {
    let fault = |kind: Wrong| Some(Refusal::from(kind).at(node.place.as_ref()));
    let path = path.to_owned();
    match (shape, &node.value) {
        (Shape::Quantity(kind), Value::Text(text)) => {
            let error = kind.parse(text).err()?;
            let units: Vec<_> = kind.scales.iter().map(|scale| scale.unit).collect();
            let remedy =
                format!("{} is written as \"{}\"; its units are {}", kind.what, kind.example, units.join(", "));
            fault(Wrong::Quantity { path, error }).map(|error| error.remedy(remedy))
        }
        (Shape::Quantity(kind), Value::Integer(_) | Value::Float(_)) => {
            let text = bare_number(node);
            let remedy = format!("a bare number has no unit: write {} such as \"{}\"", kind.what, kind.example);
            let error = crate::units::QuantityError::NoUnit { text, example: kind.example };
            fault(Wrong::Quantity { path, error }).map(|error| error.remedy(remedy))
        }
        (Shape::Choice(choices), Value::Text(text)) if !choices.contains(text) => {
            let guess = nearest(text, choices.iter().map(String::as_str));
            let guess = guess.map_or(String::new(), |guess| format!("did you mean \"{guess}\"? "));
            let remedy = format!("{guess}it is one of {}", quoted(choices));
            fault(Wrong::Choice { path, text: text.clone() }).map(|error| error.remedy(remedy))
        }
        (Shape::Integer { low, high }, Value::Integer(integer)) if !(low..=high).contains(&integer) => {
            let (text, low, high) = (bare_number(node), low.to_string(), high.to_string());
            let remedy = format!("write an integer from {low} to {high}");
            fault(Wrong::Range { path, text, low, high }).map(|error| error.remedy(remedy))
        }
        (Shape::Choice(_) | Shape::Text, Value::Text(_))
        | (Shape::Integer { .. }, Value::Integer(_))
        | (Shape::Number, Value::Integer(_) | Value::Float(_))
        | (Shape::Switch, Value::Bool(_))
        | (Shape::Opaque, _) => None,
        (shape, value) => fault(Wrong::WrongType { path, found: value.what().into(), expected: shape.expected() }),
    }
}

/// A number as it was written, else as it was read.
fn bare_number(node: &Node) -> String {
    match (&node.place, &node.value) {
        (Some(place), _) => place.text().trim().to_owned(),
        (None, Value::Float(float)) => float.to_string(),
        (None, Value::Integer(integer)) => integer.to_string(),
        (None, other) => other.what().to_owned(),
    }
}

fn unknown_remedy(key: &str, fields: &[Field], path: &str, variant: Option<&str>) -> String {
    let names: Vec<_> = fields.iter().map(|field| field.name.as_str()).collect();
    let guess = match nearest(key, names.iter().copied()) {
        Some(name) => format!("did you mean `{name}`? "),
        None if variant.is_none() => match path_remedy(key) {
            remedy if remedy.starts_with("did you mean") => format!("{remedy} "),
            _ => String::new(),
        },
        None => String::new(),
    };
    let place = match (path, variant) {
        ("", _) => "a machine".to_owned(),
        (path, None) => format!("`{path}`"),
        (path, Some(variant)) => format!("`{path}` of design \"{variant}\""),
    };
    format!("{guess}the fields of {place} are {}", names.join(", "))
}
