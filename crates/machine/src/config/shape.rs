//! The shape of a configuration: which fields there are and what each takes.
//!
//! It is read from the JSON Schema that the spec types derive, so a field that is added to a spec is known here at once.

use super::machine::MachineSpec;
use super::relax::Relaxes;
use super::tree::{item_of, join};
use crate::units::{ByteRate, FlopRate, KINDS, Kind};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value as Json};
use std::sync::LazyLock;

/// What a value may be.
#[derive(Debug)]
pub(super) enum Shape {
    /// A table with these fields.
    Table(Vec<Field>),
    /// A table whose fields depend on the text in field `tag`.
    Union {
        tag: String,
        variants: Vec<Variant>,
    },
    /// One of these texts.
    Choice(Vec<String>),
    /// A number with a unit.
    Quantity(&'static Kind),
    /// An integer between two bounds, inclusive.
    Integer {
        low: i128,
        high: i128,
    },
    Number,
    /// `true` or `false`.
    Switch,
    Text,
    Array(Box<Shape>),
    /// A table with any other keys besides these fields.
    Map {
        fields: Vec<Field>,
        others: Box<Shape>,
    },
    /// The innermost union around it: of an array in a type that holds itself so.
    Again,
    /// Something that only the type itself can judge.
    Opaque,
}

#[derive(Debug)]
pub(super) struct Field {
    pub name: String,
    pub shape: Shape,
    pub required: bool,
    /// What plots call it, behind the words of the tables around it.
    pub words: Option<String>,
    /// The way in which it can only help.
    pub relaxes: Option<Relaxes>,
    /// What it means; empty in a shape that is not [documented](Shape::documented).
    pub meaning: String,
    /// What each text means that it may be, where it is one of several and the shape is documented.
    pub choices: Vec<(String, String)>,
}

/// The fields of a union's table when its tag is `name`.
#[derive(Debug)]
pub(super) struct Variant {
    pub name: String,
    pub fields: Vec<Field>,
}

/// The schema of a machine: most programs ask for one shape of it, and giving it back would take longer than reading it.
static SCHEMA: LazyLock<Json> = LazyLock::new(|| schemars::schema_for!(MachineSpec).to_value());

/// What kind of quantity the field at `path` takes, if it takes one.
pub fn quantity(path: &str) -> Option<&'static Kind> {
    match Shape::machine().at(path)? {
        Shape::Quantity(kind) => Some(kind),
        _ => None,
    }
}

/// Fields of a whole machine that name it and are no parameters.
pub(super) const LABELS: [&str; 2] = ["name", "summary"];

/// Quantities that no machine has, but programs on it.
const OF_PROGRAMS: [(&str, &Kind); 2] = [("ByteRate", &ByteRate::KIND), ("FlopRate", &FlopRate::KIND)];

/// The types that schemas refer to by name.
#[derive(Clone, Copy)]
struct Definitions<'a> {
    all: &'a Map<String, Json>,
    /// Types that hold themselves and are being read, the innermost first: they shadow those of `all`.
    hidden: Option<&'a Hidden<'a>>,
    /// The type that is being read.
    within: Option<&'a str>,
    /// Whether to read what fields mean, too.
    documented: bool,
}

/// A type that holds itself, and those of its alternatives that do not.
struct Hidden<'a> {
    name: &'a str,
    schema: &'a Json,
    kept: Vec<&'a Json>,
    outer: Option<&'a Hidden<'a>>,
}

impl<'a> Definitions<'a> {
    fn hidden(self, name: &str) -> Option<&'a Hidden<'a>> {
        std::iter::successors(self.hidden, |one| one.outer).find(|one| one.name == name)
    }
}

impl Shape {
    /// The shape of [`MachineSpec`], without what its fields mean: most runs only check names and values.
    pub fn machine() -> &'static Self {
        static SHAPE: LazyLock<Shape> = LazyLock::new(|| Shape::of_schema(&SCHEMA, false));
        &SHAPE
    }

    /// The same with what its fields mean, as references print it.
    pub fn documented() -> &'static Self {
        static SHAPE: LazyLock<Shape> = LazyLock::new(|| Shape::of_schema(&SCHEMA, true));
        &SHAPE
    }

    pub fn of<T: JsonSchema>() -> Self {
        Self::of_schema(&schemars::schema_for!(T).to_value(), false)
    }

    fn of_schema(schema: &Json, documented: bool) -> Self {
        let none = Map::new();
        let all = schema.get("$defs").and_then(Json::as_object).unwrap_or(&none);
        Self::read(schema, Definitions { all, hidden: None, within: None, documented })
    }

    fn read(schema: &Json, definitions: Definitions<'_>) -> Self {
        if let Some(reference) = schema.get("$ref").and_then(Json::as_str) {
            let name = reference.rsplit('/').next().unwrap_or(reference);
            if let Some((_, kind)) = KINDS.iter().chain(&OF_PROGRAMS).find(|(known, _)| *known == name) {
                return Self::Quantity(kind);
            }
            let definitions = Definitions { within: Some(name), ..definitions };
            if let Some(hidden) = definitions.hidden(name) {
                return Self::read_alternatives(hidden.schema, hidden.kept.clone(), definitions);
            }
            return match definitions.all.get(name).map(|schema| (schema, without(schema, reference))) {
                None => Self::Opaque,
                Some((schema, None)) => Self::read(schema, definitions),
                Some((schema, Some(kept))) => {
                    // A type that holds itself: within it, only what does not hold it again.
                    let hidden = Hidden { name, schema, kept, outer: definitions.hidden };
                    Self::read(schema, Definitions { hidden: Some(&hidden), ..definitions })
                }
            };
        }
        if let Some(alternatives) = alternatives(schema) {
            return Self::read_alternatives(schema, alternatives.iter().collect(), definitions);
        }
        if let Some(texts) = texts(schema) {
            return Self::Choice(texts);
        }
        match type_of(schema) {
            Some("object") => match schema.get("additionalProperties").filter(|others| **others != false) {
                Some(others) => {
                    let others = Box::new(Self::read(others, definitions));
                    Self::Map { fields: fields(schema, definitions), others }
                }
                None => Self::Table(fields(schema, definitions)),
            },
            Some("integer") => Self::Integer { low: low(schema), high: high(schema) },
            Some("number") => Self::Number,
            Some("boolean") => Self::Switch,
            Some("string") if schema.get("pattern").is_none() => Self::Text,
            Some("array") => match schema.get("items") {
                Some(items) if definitions.within.is_some_and(|name| refers(items, name)) => {
                    Self::Array(Box::new(Self::Again))
                }
                Some(items) => Self::Array(Box::new(Self::read(items, definitions))),
                None => Self::Opaque,
            },
            _ => Self::Opaque,
        }
    }

    /// `Option`, an enum of plain variants, or a tagged enum: `whole`, of these alternatives.
    fn read_alternatives(whole: &Json, mut alternatives: Vec<&Json>, definitions: Definitions<'_>) -> Self {
        alternatives.retain(|schema| type_of(schema) != Some("null"));
        if let [only] = alternatives[..] {
            return Self::read(only, definitions);
        }
        if let Some(choices) = alternatives.iter().map(|schema| texts(schema)).collect::<Option<Vec<_>>>() {
            return Self::Choice(choices.concat());
        }
        let variants: Option<Vec<_>> = alternatives.iter().map(|schema| variant(schema, definitions, whole)).collect();
        match variants.as_deref() {
            Some([(tag, _), ..]) => {
                let tag = tag.clone();
                Self::Union { tag, variants: variants.into_iter().flatten().map(|(_, variant)| variant).collect() }
            }
            _ => Self::Opaque,
        }
    }

    /// The field `name` of a table. In a union, that of variant `tag`, else of whichever has it.
    pub fn field(&self, name: &str, tag: Option<&str>) -> Option<&Self> {
        fn find_in<'a>(fields: &'a [Field], name: &str) -> Option<&'a Shape> {
            fields.iter().find(|field| field.name == name).map(|field| &field.shape)
        }
        match self {
            Self::Table(fields) => find_in(fields, name),
            Self::Union { variants, .. } => {
                let chosen = variants.iter().filter(|variant| tag.is_none_or(|tag| tag == variant.name));
                chosen.chain(variants).find_map(|variant| find_in(&variant.fields, name))
            }
            _ => None,
        }
    }

    /// Its fields, in whichever variants.
    pub fn fields(&self) -> impl Iterator<Item = &Field> {
        let (own, variants): (&[Field], &[Variant]) = match self {
            Self::Table(fields) => (fields, &[]),
            Self::Union { variants, .. } => (&[], variants),
            _ => (&[], &[]),
        };
        own.iter().chain(variants.iter().flat_map(|variant| &variant.fields))
    }

    /// What is at `path` below this one, in whichever variants have it.
    pub fn at(&self, path: &str) -> Option<&Self> {
        path.split('.').try_fold(self, |shape, key| shape.field(key, None))
    }

    /// The fields on the way to `path`, each with the number of its item where it is one of several, as in `gpu[3].link`.
    pub fn along<'a>(&'a self, path: &'a str) -> Option<Vec<(&'a Field, Option<&'a str>)>> {
        let (mut shape, mut fields) = (self, Vec::new());
        for key in path.split('.') {
            let (name, item) = item_of(key);
            let field = shape.fields().find(|field| field.name == name)?;
            shape = match (&field.shape, item) {
                (Shape::Array(each), Some(_)) => each,
                (shape, None) => shape,
                _ => return None,
            };
            fields.push((field, item));
        }
        Some(fields)
    }

    pub const fn is_table(&self) -> bool {
        matches!(self, Self::Table(_) | Self::Union { .. })
    }

    /// The paths of all leaves, those of every variant included.
    pub fn paths(&self) -> Vec<String> {
        let mut paths = Vec::new();
        self.collect_paths("", &mut paths);
        paths.sort();
        paths.dedup();
        paths
    }

    fn collect_paths(&self, path: &str, paths: &mut Vec<String>) {
        if !self.is_table() {
            return paths.push(path.to_owned());
        }
        self.fields().for_each(|field| field.shape.collect_paths(&join(path, &field.name), paths));
    }

    /// What it takes, with an article, and an example where one helps.
    pub fn expected(&self) -> String {
        match self {
            Self::Table(_) | Self::Union { .. } | Self::Map { .. } | Self::Again => "a table".into(),
            Self::Choice(texts) => format!("one of {}", quoted(texts)),
            Self::Quantity(kind) => format!("{} with its unit, such as \"{}\"", kind.what, kind.example),
            Self::Integer { .. } => "an integer".into(),
            Self::Number => "a number".into(),
            Self::Switch => "true or false".into(),
            Self::Text => "a text".into(),
            Self::Array(_) => "an array".into(),
            Self::Opaque => "another value".into(),
        }
    }
}

/// Whether a schema is that of the type `name`.
fn refers(schema: &Json, name: &str) -> bool {
    schema.get("$ref").and_then(Json::as_str).and_then(|path| path.rsplit('/').next()) == Some(name)
}

/// Whether a schema refers to `reference` anywhere but in an array.
fn mentions(schema: &Json, reference: &str) -> bool {
    match schema {
        Json::Object(map) => {
            let outside = map.iter().filter(|(key, _)| *key != "items");
            outside.into_iter().any(|(key, json)| (key == "$ref" && json == reference) || mentions(json, reference))
        }
        Json::Array(items) => items.iter().any(|json| mentions(json, reference)),
        _ => false,
    }
}

fn alternatives(schema: &Json) -> Option<&Vec<Json>> {
    ["oneOf", "anyOf"].iter().find_map(|key| schema.get(key)?.as_array())
}

/// The alternatives of a schema that do not refer to `reference`, if others do.
fn without<'a>(schema: &'a Json, reference: &str) -> Option<Vec<&'a Json>> {
    let all = alternatives(schema)?;
    let kept: Vec<_> = all.iter().filter(|alternative| !mentions(alternative, reference)).collect();
    (kept.len() < all.len()).then_some(kept)
}

/// `"a", "b"`.
pub(super) fn quoted(texts: &[String]) -> String {
    texts.iter().map(|text| format!("{text:?}")).collect::<Vec<_>>().join(", ")
}

/// The type that a schema names, `null` left aside.
fn type_of(schema: &Json) -> Option<&str> {
    match schema.get("type")? {
        Json::String(name) => Some(name),
        Json::Array(names) => names.iter().filter_map(Json::as_str).find(|name| *name != "null"),
        _ => None,
    }
}

/// The texts that a schema admits, if it lists them.
fn texts(schema: &Json) -> Option<Vec<String>> {
    let text = |json: &Json| json.as_str().map(str::to_owned);
    match (schema.get("const"), schema.get("enum").and_then(Json::as_array)) {
        (Some(constant), _) => Some(vec![text(constant)?]),
        (None, Some(list)) => list.iter().filter(|json| !json.is_null()).map(text).collect(),
        (None, None) => None,
    }
}

fn fields(schema: &Json, definitions: Definitions<'_>) -> Vec<Field> {
    let required = schema.get("required").and_then(Json::as_array);
    let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|known| known == name));
    let properties = schema.get("properties").and_then(Json::as_object);
    properties
        .into_iter()
        .flatten()
        .map(|(name, schema)| Field {
            name: name.clone(),
            shape: Shape::read(schema, definitions),
            required: is_required(name),
            words: title(schema),
            relaxes: schema.get("relaxes").and_then(|word| Relaxes::deserialize(word).ok()),
            meaning: if definitions.documented { description(schema) } else { String::new() },
            choices: if definitions.documented { choices(schema, definitions) } else { Vec::new() },
        })
        .collect()
}

/// One alternative of the tagged enum `whole`: the tag's field and the variant.
fn variant(schema: &Json, definitions: Definitions<'_>, whole: &Json) -> Option<(String, Variant)> {
    let properties = schema.get("properties")?.as_object()?;
    let constant = |(name, schema): (&String, &Json)| Some((name.clone(), schema.get("const")?.as_str()?.to_owned()));
    let (tag, name) = properties.iter().find_map(constant)?;
    let mut fields = fields(schema, definitions);
    for field in fields.iter_mut().filter(|field| field.name == tag) {
        field.shape = Shape::Text;
        field.words = title(whole);
        if definitions.documented {
            field.meaning = description(whole);
            field.choices = vec![(name.clone(), description(schema))];
        }
    }
    Some((tag, Variant { name, fields }))
}

/// The texts that a field may be, each with its meaning.
fn choices(schema: &Json, definitions: Definitions<'_>) -> Vec<(String, String)> {
    let reference = schema.get("$ref").and_then(Json::as_str).and_then(|path| path.rsplit('/').next());
    if let Some(named) = reference.and_then(|name| definitions.all.get(name)) {
        return choices(named, definitions);
    }
    if let Some(alternatives) = alternatives(schema) {
        return alternatives.iter().flat_map(|schema| choices(schema, definitions)).collect();
    }
    let texts = texts(schema).unwrap_or_default();
    let meaning = if schema.get("const").is_some() { description(schema) } else { String::new() };
    texts.into_iter().map(|text| (text, meaning.clone())).collect()
}

/// The title of a field, or of the type whose tag it is.
fn title(schema: &Json) -> Option<String> {
    schema.get("title").and_then(Json::as_str).map(str::to_owned)
}

/// What a field or a type means, as one line.
fn description(schema: &Json) -> String {
    let text = schema.get("description").and_then(Json::as_str).unwrap_or_default();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn low(schema: &Json) -> i128 {
    let stated = schema.get("minimum").and_then(Json::as_f64).map(|low| low as i128);
    stated.unwrap_or_else(|| match schema.get("format").and_then(Json::as_str) {
        Some("int32") => i32::MIN.into(),
        _ => i64::MIN.into(),
    })
}

fn high(schema: &Json) -> i128 {
    let stated = schema.get("maximum").and_then(Json::as_f64).map(|high| high as i128);
    stated.unwrap_or_else(|| match schema.get("format").and_then(Json::as_str) {
        Some("uint8") => u8::MAX.into(),
        Some("uint16") => u16::MAX.into(),
        Some("uint32") => u32::MAX.into(),
        Some("int32") => i32::MAX.into(),
        Some("uint64" | "uint") => u64::MAX.into(),
        _ => i64::MAX.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walk(shape: &Shape, path: &str, visit: &mut impl FnMut(&Shape, &str)) {
        visit(shape, path);
        let mut descend = |fields: &[Field]| {
            fields.iter().for_each(|field| walk(&field.shape, &format!("{path}.{}", field.name), visit));
        };
        match shape {
            Shape::Table(fields) => descend(fields),
            Shape::Union { variants, .. } => variants.iter().for_each(|variant| descend(&variant.fields)),
            _ => {}
        }
    }

    #[test]
    fn every_field_of_a_machine_has_a_shape_of_its_own() {
        let mut leaves = 0;
        walk(Shape::machine(), "machine", &mut |shape, path| {
            assert!(!matches!(shape, Shape::Opaque), "{path}");
            leaves += usize::from(!shape.is_table());
        });
        assert!(leaves > 60, "{leaves}");
    }

    #[test]
    fn documentation_changes_no_shape() {
        let (plain, documented) = (Shape::machine(), Shape::documented());
        assert_eq!(plain.paths(), documented.paths());
        assert!(plain.fields().all(|field| field.meaning.is_empty() && field.choices.is_empty()));
        assert!(documented.fields().all(|field| !field.meaning.is_empty()));
    }

    #[test]
    fn the_types_of_known_fields_are_seen() {
        let machine = Shape::machine();
        let at = |path: &str| machine.at(path);
        assert!(matches!(at("link.max_payload"), Some(Shape::Quantity(kind)) if kind.what == "a size"));
        assert!(matches!(at("link.lanes"), Some(Shape::Integer { low: 0, high: 4_294_967_295 })));
        assert!(matches!(at("link.ecrc"), Some(Shape::Switch)));
        assert!(matches!(at("tag_queue.release"), Some(Shape::Choice(texts)) if texts.iter().any(|t| t == "hold")));
        assert!(matches!(at("engine.ghash"), Some(Shape::Union { tag, .. }) if tag == "design"));
        let names = |shape: Option<&Shape>| match shape {
            Some(Shape::Union { variants, .. }) => variants.iter().map(|variant| variant.name.clone()).collect(),
            _ => Vec::new(),
        };
        assert!(names(at("engine.ghash")).contains(&"segmented".to_owned()));
        let inner = names(at("engine.ghash.unit"));
        assert!(inner.contains(&"serial".to_owned()) && !inner.contains(&"segmented".to_owned()));
        assert!(at("engine.ghash.ways").is_some() && at("engine.ghash.multiplier.product").is_some());
    }
}
