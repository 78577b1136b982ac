//! Holds a tree against the shape that it must have: every fault at its place.

use super::error::{Wrong, refusal};
use super::layer::path_remedy;
use super::shape::{Field, Shape, Variant, quoted};
use super::tree::{Node, Table, Value, join};
use crate::files::{Refusal, Refusals};
use crate::units::nearest;

/// The field that says which of several a table is, and what it says.
pub(super) type Tagged<'t> = Option<(&'t str, &'t str)>;

/// How the faults of a tree are told. Those without a place get that of what is wrong.
pub(super) trait Telling {
    /// A key that is none of `fields`, in the table at `path`.
    fn unknown(&self, key: &str, fields: &[Field], path: &str, variant: Tagged<'_>) -> Refusal;

    /// Fields of the table at `path` that are not there.
    fn missing(
        &self,
        table: &Node,
        missing: &[&Field],
        fields: &[Field],
        path: &str,
        variant: Tagged<'_>,
    ) -> Vec<Refusal>;

    /// A table without the field that says which of `names` it is.
    fn untagged(&self, table: &Node, tag: &str, names: &[String], path: &str) -> Refusal;

    /// One that is none of `names`.
    fn no_variant(&self, chosen: &Node, names: Vec<String>, path: &str) -> Option<Refusal>;

    /// What is wrong with a leaf, or with a value where another sort must stand.
    fn leaf(&self, node: &Node, shape: &Shape, path: &str) -> Option<Refusal>;
}

/// Everything that is wrong with `node`, which is at `path`.
pub(super) fn examine(node: &Node, shape: &Shape, path: &str, telling: &dyn Telling) -> Refusals {
    let mut examiner = Examiner { telling, within: shape, faults: Refusals::default() };
    examiner.value(node, shape, path);
    examiner.faults
}

struct Examiner<'a> {
    telling: &'a dyn Telling,
    /// The innermost union around what is examined, for one that holds itself.
    within: &'a Shape,
    faults: Refusals,
}

impl<'a> Examiner<'a> {
    fn value(&mut self, node: &Node, shape: &'a Shape, path: &str) {
        match (shape, &node.value) {
            (Shape::Again, _) => self.value(node, self.within, path),
            (Shape::Table(fields), Value::Table(table)) => self.fields(node, table, (fields, None), path, None),
            (Shape::Union { tag, variants }, Value::Table(table)) => {
                let outer = std::mem::replace(&mut self.within, shape);
                self.union(node, table, (tag, variants), path);
                self.within = outer;
            }
            (Shape::Map { fields, others }, Value::Table(table)) => {
                self.fields(node, table, (fields, Some(others)), path, None);
            }
            (Shape::Array(items), Value::Array(nodes)) => {
                for (i, node) in nodes.iter().enumerate() {
                    self.value(node, items, &format!("{path}[{i}]"));
                }
            }
            _ => self.faults.extend(self.telling.leaf(node, shape, path)),
        }
    }

    fn union(&mut self, node: &Node, table: &Table, (tag, variants): (&str, &'a [Variant]), path: &str) {
        let names = || variants.iter().map(|variant| variant.name.clone()).collect::<Vec<_>>();
        match table.get(tag).map(|entry| &entry.node) {
            None => self.faults.push(|| self.telling.untagged(node, tag, &names(), path)),
            Some(chosen) => match chosen.text().and_then(|text| variants.iter().find(|known| known.name == text)) {
                Some(variant) => self.fields(node, table, (&variant.fields, None), path, Some((tag, &variant.name))),
                None => self.faults.extend(self.telling.no_variant(chosen, names(), &join(path, tag))),
            },
        }
    }

    fn fields(
        &mut self,
        node: &Node,
        table: &Table,
        (fields, others): (&'a [Field], Option<&'a Shape>),
        path: &str,
        variant: Tagged<'_>,
    ) {
        for (key, entry) in table {
            let field = fields.iter().find(|field| field.name == *key);
            match field.map(|field| &field.shape).or(others) {
                Some(shape) => self.value(&entry.node, shape, &join(path, key)),
                None => self.faults.push(|| self.telling.unknown(key, fields, path, variant).at(entry.key.as_ref())),
            }
        }
        let missing: Vec<_> =
            fields.iter().filter(|field| field.required && !table.contains_key(&field.name)).collect();
        if !missing.is_empty() {
            self.faults.extend(self.telling.missing(node, &missing, fields, path, variant));
        }
    }
}

/// Whether a value is of the sort that a shape takes.
pub(super) fn fits(shape: &Shape, value: &Value) -> bool {
    matches!(
        (shape, value),
        (Shape::Choice(_) | Shape::Quantity(_) | Shape::Text, Value::Text(_))
            | (Shape::Integer { .. }, Value::Integer(_))
            | (Shape::Number, Value::Integer(_) | Value::Float(_))
            | (Shape::Switch, Value::Bool(_))
            | (Shape::Opaque, _)
    )
}

/// What to do about a text that is none of several.
pub(super) fn choice_remedy(text: &str, choices: &[String]) -> String {
    let guess = nearest(text, choices.iter().map(String::as_str));
    let guess = guess.map_or(String::new(), |guess| format!("did you mean \"{guess}\"? "));
    format!("{guess}it is one of {}", quoted(choices))
}

/// Tells the faults of layers, which complete each other: by whole paths. The names of the layers are for what is missing in all of them.
pub(super) struct Layered<'c>(pub &'c str);

impl Layered<'_> {
    fn lacks(&self, table: &Node, paths: &[String], remedy: String) -> Refusal {
        // The whole document is no useful place to point at.
        let place = table.place.as_ref().filter(|_| paths.iter().any(|path| path.contains('.')));
        let missing = Wrong::Missing { path: paths.join("`, `"), chain: self.0.to_owned() };
        refusal(&missing).at(place).remedy(remedy)
    }
}

impl Telling for Layered<'_> {
    fn unknown(&self, key: &str, fields: &[Field], path: &str, variant: Tagged<'_>) -> Refusal {
        let error = refusal(&Wrong::UnknownField { path: join(path, key) });
        error.remedy(unknown_remedy(key, fields, path, variant))
    }

    fn missing(
        &self,
        table: &Node,
        missing: &[&Field],
        fields: &[Field],
        path: &str,
        variant: Tagged<'_>,
    ) -> Vec<Refusal> {
        let remedy = match (missing, variant) {
            (_, Some((_, variant))) => format!(
                "\"{variant}\" starts a table of its own: {path} = {{ {} }}",
                fields.iter().map(|field| format!("{} = ...", field.name)).collect::<Vec<_>>().join(", ")
            ),
            ([only], None) if !path.is_empty() => format!("give it {}", only.shape.expected()),
            _ => "give them values, or extend a machine that has them: extends = \"h100-nvl-tdx\"".to_owned(),
        };
        let paths: Vec<_> = missing.iter().map(|field| join(path, &field.name)).collect();
        vec![self.lacks(table, &paths, remedy)]
    }

    fn untagged(&self, table: &Node, tag: &str, names: &[String], path: &str) -> Refusal {
        self.lacks(table, &[join(path, tag)], format!("give it one of {}", quoted(names)))
    }

    fn no_variant(&self, chosen: &Node, names: Vec<String>, path: &str) -> Option<Refusal> {
        self.leaf(chosen, &Shape::Choice(names), path)
    }

    fn leaf(&self, node: &Node, shape: &Shape, path: &str) -> Option<Refusal> {
        let fault = |kind: Wrong| Some(refusal(&kind).at(node.place.as_ref()));
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
                let remedy = choice_remedy(text, choices);
                fault(Wrong::Choice { path, text: text.clone() }).map(|error| error.remedy(remedy))
            }
            (Shape::Integer { low, high }, Value::Integer(integer)) if !(low..=high).contains(&integer) => {
                let (text, low, high) = (bare_number(node), low.to_string(), high.to_string());
                let remedy = format!("write an integer from {low} to {high}");
                fault(Wrong::Range { path, text, low, high }).map(|error| error.remedy(remedy))
            }
            (shape, value) if fits(shape, value) => None,
            (shape, value) => fault(Wrong::Type { path, found: value.what().into(), expected: shape.expected() }),
        }
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

fn unknown_remedy(key: &str, fields: &[Field], path: &str, variant: Tagged<'_>) -> String {
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
        (path, Some((_, variant))) => format!("`{path}` of design \"{variant}\""),
    };
    format!("{guess}the fields of {place} are {}", names.join(", "))
}
