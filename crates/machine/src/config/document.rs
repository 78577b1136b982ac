//! Documents that are one text: workloads, studies, stages. Their types say what may stand where.

use super::{
    examine::{Tagged, Telling, choice_remedy, examine, fits},
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
    fn what(&self, path: &str, variant: Tagged<'_>) -> String {
        let of = |field: &str| self.tables.iter().find(|(name, _)| *name == field).map(|(_, what)| (*what).to_owned());
        variant.map(|(_, name)| format!("a {name}")).or_else(|| of(key(path))).unwrap_or_else(|| format!("`{path}`"))
    }

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
    fn unknown(&self, name: &str, fields: &[Field], path: &str, variant: Tagged<'_>) -> Refusal {
        let tag = variant.map(|(tag, _)| tag);
        let others = fields.iter().map(|field| field.name.as_str()).filter(|name| Some(*name) != tag);
        let known = tag.into_iter().chain(others);
        let meant = nearest(name, known.clone()).map_or_else(String::new, |meant| format!("did you mean `{meant}`? "));
        let known = known.map(|field| format!("`{field}`")).collect::<Vec<_>>().join(", ");
        let what = format!("{} has no field `{}`", self.what(path, variant), short(name));
        self.refused("unknown_field", what).remedy(format!("{meant}its fields are {known}"))
    }

    fn missing(&self, table: &Node, missing: &[&Field], _: &[Field], path: &str, variant: Tagged<'_>) -> Vec<Refusal> {
        let what = self.what(path, variant);
        missing.iter().map(|field| self.lacks(&what, &field.name, &field.shape, table)).collect()
    }

    fn untagged(&self, table: &Node, tag: &str, names: &[String], path: &str) -> Refusal {
        self.lacks(&self.what(path, None), tag, &Shape::Choice(names.to_vec()), table)
    }

    fn no_variant(&self, chosen: &Node, names: Vec<String>, path: &str) -> Option<Refusal> {
        let Some(text) = chosen.text() else {
            let what = format!("`{}` is {}, but must be a text", key(path), chosen.value.what());
            let example = self.example(key(path), &Shape::Choice(names));
            let refusal = self.refused("wrong_type", what).at(chosen.place.as_ref());
            return Some(refusal.remedy(format!("write for example {example}")));
        };
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
                    Shape::Array(items) if matches!(**items, Shape::Text) => "an array of texts".to_owned(),
                    shape => shape.expected(),
                };
                let what = format!("`{field}` is {}, but must be {expected}", value.what());
                refused("wrong_type", what, format!("write for example {}", self.example(field, shape)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{files::Explained, units::Bytes};
    use serde::Deserialize;

    const DOCUMENT: Document =
        Document { room: "tree", tables: &[("", "a tree"), ("parts", "a part")], examples: &[], help: "write TOML" };

    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    struct Tree {
        #[schemars(with = "Option<String>")]
        width: Option<Even>,
        parts: Vec<Part>,
    }

    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    #[serde(tag = "op", rename_all = "lowercase")]
    enum Part {
        Leaf { size: Bytes },
        Branch { parts: Vec<Part> },
    }

    /// What only the type itself can judge.
    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(try_from = "String")]
    struct Even(u64);

    impl TryFrom<String> for Even {
        type Error = String;

        fn try_from(text: String) -> Result<Self, String> {
            let number = text.parse().ok().filter(|number: &u64| number.is_multiple_of(2));
            number.map(Self).ok_or_else(|| format!("`{text}` is not even"))
        }
    }

    /// Line, code and text of each fault.
    fn refused(text: &str) -> Vec<String> {
        let refusal = DOCUMENT.read::<Tree>("it", text).unwrap_err();
        let line = |one: &Refusal| one.place().map_or(0, |place| place.line_and_column().0);
        refusal.each().map(|one| format!("{} {} {one}", line(one), one.code())).collect()
    }

    #[test]
    fn a_type_that_holds_itself_is_examined_at_every_depth() {
        let nested =
            |inner: &str| format!("[[parts]]\nop = 'branch'\nparts = [{{ op = 'branch', parts = [\n{inner}\n] }}]\n");
        let whole = DOCUMENT.read::<Tree>("it", &nested("{ op = 'leaf', size = '2 KiB' }")).unwrap();
        let branch = |part| Part::Branch { parts: vec![part] };
        assert_eq!(whole.parts, [branch(branch(Part::Leaf { size: Bytes(2048) }))]);
        let faults =
            refused(&nested("{ op = 'leaf', size = '2' },\n{ op = 'leef' },\n{ op = 'branch' },\n{ sise = 3 }"));
        for (fault, expected) in faults.iter().zip([
            "4 tree::quantity `size`: ",
            "5 tree::unknown_operation there is no operation `leef`",
            "6 tree::missing a branch lacks `parts`",
            "7 tree::missing a part lacks `op`",
        ]) {
            assert!(fault.starts_with(expected), "{fault}");
        }
        assert_eq!(faults.len(), 4);
    }

    #[test]
    fn what_only_a_type_can_judge_is_refused_where_it_is_written() {
        assert_eq!(refused("parts = []\nwidth = '3'"), ["2 tree::senseless `3` is not even"]);
        assert_eq!(refused("parts = ["), ["1 tree::syntax not TOML: unclosed array, expected `]`"]);
    }
}
