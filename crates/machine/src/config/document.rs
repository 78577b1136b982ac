//! Documents that are one text: workloads, studies, stages. Their types say what may stand where.

use super::{
    examine::{Telling, choice_remedy, examine, fits},
    layer::syntax_place,
    shape::{Field, Shape},
    tree::{Entry, Node, Value},
};
use crate::{
    files::{Place, Refusal, Source, excerpt},
    units::nearest,
};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;
use std::{borrow::Cow, sync::Arc};
use toml::de::DeTable;

/// A sort of document, and the words in which it is refused.
#[derive(Debug)]
pub struct Document {
    /// The first part of the codes of its errors.
    pub room: &'static str,
    /// What the document and the tables in it are, by the field that holds them: `("layers", "a layer")`. The document itself is `""`.
    pub tables: &'static [(&'static str, &'static str)],
    /// How fields are written.
    pub examples: &'static [(&'static str, &'static str)],
    /// What to do about a text that is not TOML.
    pub help: &'static str,
}

impl Document {
    /// Reads a text that messages call `name`.
    pub fn read<T: DeserializeOwned + JsonSchema>(&self, name: &str, text: &str) -> Result<T, Refusal> {
        self.fill(&self.parse(&Source::new(name, text.to_owned()))?)
    }

    /// Its tree.
    pub fn parse(&self, source: &Arc<Source>) -> Result<Node, Refusal> {
        let parsed = DeTable::parse(&source.text).map_err(|error| {
            self.refused("syntax", format!("not TOML: {}", error.message()))
                .at(&syntax_place(source, &error, 0))
                .remedy(self.help)
        })?;
        // What a whole document lacks belongs into its first line.
        let first_line = source.text.find('\n').unwrap_or(source.text.len());
        Ok(Node::from_table(parsed.get_ref(), 0..first_line, source))
    }

    /// What a tree says, if all in it is of the form that it must have.
    pub fn fill<T: DeserializeOwned + JsonSchema>(&self, tree: &Node) -> Result<T, Refusal> {
        examine(tree, &Shape::of::<T>(), "", self).sorted().result()?;
        let json = tree.to_json();
        serde_json::from_value(json.clone()).map_err(|error| {
            let told = error.to_string();
            self.refused("senseless", &told).at(culprit::<T>(tree, json, &told))
        })
    }

    pub fn refused(&self, kind: &'static str, what: impl AsRef<str>) -> Refusal {
        let word = match kind {
            "unknown_field" | "unknown_operation" => "unknown",
            "missing" => "belongs here",
            _ => "here",
        };
        Refusal::new(self.room, kind, excerpt(what.as_ref(), 500)).marked_as(word)
    }
}

/// Where the field is written without which a document would not be refused like this.
fn culprit<'t, T: DeserializeOwned>(tree: &'t Node, mut json: Json, told: &str) -> Option<&'t Place> {
    let (entries, Json::Object(map)) = (tree.table()?, &mut json) else { return None };
    let at_fault = |(key, entry): (&String, &'t Entry)| {
        let value = map.remove(key)?;
        let without = serde_json::from_value::<T>(Json::Object(map.clone())).err();
        map.insert(key.clone(), value);
        (without.is_none_or(|error| error.to_string() != told)).then_some(entry.node.place.as_ref()?)
    };
    entries.iter().find_map(at_fault)
}

/// The last key of a path.
fn key(path: &str) -> &str {
    let last = path.rsplit('.').next().unwrap_or(path);
    last.split('[').next().unwrap_or(last)
}

/// What a user wrote, as messages quote it.
fn short(text: &str) -> Cow<'_, str> {
    excerpt(text, 100)
}

impl Document {
    /// What a table is.
    fn what(&self, path: &str, variant: Option<&str>) -> String {
        let of = |field: &str| self.tables.iter().find(|(name, _)| *name == field).map(|(_, what)| (*what).to_owned());
        variant.map(|name| format!("a {name}")).or_else(|| of(key(path))).unwrap_or_else(|| format!("`{path}`"))
    }

    /// How a field is written.
    fn example(&self, field: &str, shape: &Shape) -> String {
        if let Some((_, example)) = self.examples.iter().find(|(name, _)| *name == field) {
            return (*example).to_owned();
        }
        match shape {
            Shape::Choice(texts) => format!("{field} = {:?}", texts.first().map_or("", String::as_str)),
            Shape::Quantity(kind) => format!("{field} = \"{}\"", kind.example),
            Shape::Switch => format!("{field} = true"),
            shape => format!("`{field}`, {}", shape.expected()),
        }
    }

    fn lacks(&self, what: &str, field: &str, shape: &Shape, table: &Node) -> Refusal {
        self.refused("missing", format!("{what} lacks `{field}`"))
            .at(table.place.as_ref())
            .remedy(format!("add for example {}", self.example(field, shape)))
    }
}

impl Telling for Document {
    fn unknown(&self, name: &str, fields: &[Field], path: &str, variant: Option<&str>) -> Refusal {
        let known = fields.iter().map(|field| field.name.as_str());
        let meant = nearest(name, known.clone()).map_or_else(String::new, |meant| format!("did you mean `{meant}`? "));
        let known = known.map(|field| format!("`{field}`")).collect::<Vec<_>>().join(", ");
        let what = format!("{} has no field `{}`", self.what(path, variant), short(name));
        self.refused("unknown_field", what).remedy(format!("{meant}its fields are {known}"))
    }

    fn missing(
        &self,
        table: &Node,
        missing: &[&Field],
        _: &[Field],
        path: &str,
        variant: Option<&str>,
    ) -> Vec<Refusal> {
        let what = self.what(path, variant);
        missing.iter().map(|field| self.lacks(&what, &field.name, &field.shape, table)).collect()
    }

    fn untagged(&self, table: &Node, tag: &str, names: &[String], path: &str) -> Refusal {
        self.lacks(&self.what(path, None), tag, &Shape::Choice(names.to_vec()), table)
    }

    fn no_variant(&self, chosen: &Node, names: Vec<String>, path: &str) -> Option<Refusal> {
        let Some(text) = chosen.text() else { return self.leaf(chosen, &Shape::Text, path) };
        let meant = nearest(text, names.iter().map(String::as_str));
        let meant = meant.map_or_else(String::new, |meant| format!("did you mean `{meant}`? "));
        let refusal = self.refused("unknown_operation", format!("there is no operation `{}`", short(text)));
        Some(refusal.at(chosen.place.as_ref()).remedy(format!("{meant}there are {}", names.join(", "))))
    }

    fn leaf(&self, node: &Node, shape: &Shape, path: &str) -> Option<Refusal> {
        let field = key(path);
        let refused =
            |kind, what, remedy: String| Some(self.refused(kind, what).at(node.place.as_ref()).remedy(remedy));
        match (shape, &node.value) {
            (Shape::Quantity(kind), Value::Text(text)) => {
                let what = format!("`{field}`: {}", excerpt(&kind.parse(text).err()?.to_string(), 300));
                refused("quantity", what, format!("for example {}", self.example(field, shape)))
            }
            (Shape::Choice(choices), Value::Text(text)) if !choices.contains(text) => {
                refused("choice", format!("`{field}` cannot be \"{}\"", short(text)), choice_remedy(text, choices))
            }
            (Shape::Integer { low, .. }, Value::Integer(integer)) if integer < low => {
                refused("range", format!("`{field}` is {integer}, too few"), format!("write {low} or more"))
            }
            (Shape::Integer { high, .. }, Value::Integer(integer)) if integer > high => {
                refused("range", format!("`{field}` is {integer}, too many"), format!("write {high} or less"))
            }
            (shape, value) if fits(shape, value) => None,
            (shape, value) => {
                let expected = match shape {
                    Shape::Array(items) if items.is_table() || matches!(**items, Shape::Again) => {
                        format!("an array of {field}")
                    }
                    Shape::Array(items) if matches!(**items, Shape::Array(_)) => "an array of arrays".to_owned(),
                    shape => shape.expected(),
                };
                let what = format!("`{field}` is {}, but must be {expected}", value.what());
                refused("wrong_type", what, format!("write for example {}", self.example(field, shape)))
            }
        }
    }
}
