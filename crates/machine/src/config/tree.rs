//! TOML values that remember where they were written.

use super::provenance::Provenance;
use crate::files::{Place, Source};
use serde_json::{Map, Number, Value as Json};
use std::{collections::BTreeMap, sync::Arc};
use toml::{Spanned, de::DeTable, de::DeValue};

/// A value, the place it was written at, and, for a leaf, where it comes from.
#[derive(Debug, Clone)]
pub struct Node {
    pub value: Value,
    pub place: Option<Place>,
    pub provenance: Option<Provenance>,
}

#[derive(Debug, Clone)]
pub struct Entry {
    pub key: Option<Place>,
    pub node: Node,
}

pub type Table = BTreeMap<String, Entry>;

#[derive(Debug, Clone)]
pub enum Value {
    Text(String),
    Integer(i128),
    Float(f64),
    Bool(bool),
    Date(String),
    Array(Vec<Node>),
    Table(Table),
}

impl Value {
    /// What a text says in TOML, if that is a number, a switch or a date; else the text itself.
    pub fn scalar(text: &str) -> Self {
        let parsed = DeValue::parse(text).map(|value| Node::from_value(&value, &Source::new("", String::new())).value);
        parsed
            .ok()
            .filter(|value| !matches!(value, Self::Array(_) | Self::Table(_)))
            .unwrap_or_else(|| Self::Text(text.to_owned()))
    }

    /// What it is, with an article.
    pub fn what(&self) -> &'static str {
        match self {
            Self::Text(_) => "a text",
            Self::Integer(_) => "an integer",
            Self::Float(_) => "a number with a fraction",
            Self::Bool(_) => "a boolean",
            Self::Date(_) => "a date",
            Self::Array(_) => "an array",
            Self::Table(_) => "a table",
        }
    }
}

/// The name of a key, and which item it is of an array by that name, as in `gpu[3]`.
pub(super) fn item_of(key: &str) -> (&str, Option<&str>) {
    match key.strip_suffix(']').and_then(|key| key.split_once('[')) {
        Some((name, item)) => (name, Some(item)),
        None => (key, None),
    }
}

impl Node {
    fn new(value: Value, place: Option<Place>) -> Self {
        Self { value, place, provenance: None }
    }

    /// An empty table without a place.
    pub fn empty() -> Self {
        Self::new(Value::Table(Table::new()), None)
    }

    pub fn table(&self) -> Option<&Table> {
        match &self.value {
            Value::Table(table) => Some(table),
            _ => None,
        }
    }

    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The items of the array at `path` below this one.
    pub fn items(&self, path: &str) -> &[Self] {
        match self.at(path).map(|node| &node.value) {
            Some(Value::Array(items)) => items,
            _ => &[],
        }
    }

    /// The node at `path` below this one; items of an array are counted from 0, as in `gpu[1].link`.
    pub fn at(&self, path: &str) -> Option<&Self> {
        path.split('.').try_fold(self, |node, key| {
            let (key, item) = item_of(key);
            let node = &node.table()?.get(key)?.node;
            match (item, &node.value) {
                (None, _) => Some(node),
                (Some(item), Value::Array(items)) => items.get(item.parse::<usize>().ok()?),
                _ => None,
            }
        })
    }

    /// The same, to change it.
    pub fn at_mut(&mut self, path: &str) -> Option<&mut Self> {
        path.split('.').try_fold(self, |node, key| {
            let (key, item) = item_of(key);
            let Value::Table(table) = &mut node.value else { return None };
            let node = &mut table.get_mut(key)?.node;
            let Some(item) = item else { return Some(node) };
            match &mut node.value {
                Value::Array(items) => items.get_mut(item.parse::<usize>().ok()?),
                _ => None,
            }
        })
    }

    pub fn from_table(table: &DeTable<'_>, span: std::ops::Range<usize>, source: &Arc<Source>) -> Self {
        let mut entries = Table::new();
        for (key, value) in table {
            let node = Self::from_value(value, source);
            entries.insert(key.get_ref().to_string(), Entry { key: Some(Place::new(source, key.span())), node });
        }
        Self::new(Value::Table(entries), Some(Place::new(source, span)))
    }

    pub fn from_value(value: &Spanned<DeValue<'_>>, source: &Arc<Source>) -> Self {
        let read = match value.get_ref() {
            DeValue::Table(table) => return Self::from_table(table, value.span(), source),
            DeValue::String(text) => Value::Text(text.to_string()),
            DeValue::Integer(integer) => {
                Value::Integer(i128::from_str_radix(integer.as_str(), integer.radix()).unwrap_or(i128::MAX))
            }
            DeValue::Float(float) => Value::Float(float.as_str().parse().unwrap_or(f64::NAN)),
            DeValue::Boolean(truth) => Value::Bool(*truth),
            DeValue::Datetime(date) => Value::Date(date.to_string()),
            DeValue::Array(items) => Value::Array(items.iter().map(|item| Self::from_value(item, source)).collect()),
        };
        Self::new(read, Some(Place::new(source, value.span())))
    }

    /// Reads JSON, which has no places. `null` is left out.
    pub fn from_json(json: &Json) -> Option<Self> {
        let read = match json {
            Json::Null => return None,
            Json::Bool(truth) => Value::Bool(*truth),
            Json::Number(number) => match number.as_i128() {
                Some(integer) => Value::Integer(integer),
                None => Value::Float(number.as_f64().unwrap_or(f64::NAN)),
            },
            Json::String(text) => Value::Text(text.clone()),
            Json::Array(items) => Value::Array(items.iter().filter_map(Self::from_json).collect()),
            Json::Object(map) => {
                let entry = |(key, json)| Some((String::clone(key), Entry { key: None, node: Self::from_json(json)? }));
                Value::Table(map.iter().filter_map(entry).collect())
            }
        };
        Some(Self::new(read, None))
    }

    /// As JSON. What JSON cannot hold becomes a text, which no numeric type accepts.
    pub fn to_json(&self) -> Json {
        match &self.value {
            Value::Text(text) | Value::Date(text) => Json::String(text.clone()),
            Value::Integer(integer) => {
                Number::from_i128(*integer).map_or_else(|| Json::String(integer.to_string()), Json::Number)
            }
            Value::Float(float) => {
                Number::from_f64(*float).map_or_else(|| Json::String(float.to_string()), Json::Number)
            }
            Value::Bool(truth) => Json::Bool(*truth),
            Value::Array(items) => Json::Array(items.iter().map(Self::to_json).collect()),
            Value::Table(table) => {
                let map: Map<_, _> = table.iter().map(|(key, entry)| (key.clone(), entry.node.to_json())).collect();
                Json::Object(map)
            }
        }
    }
}

/// `key` below `path`.
pub(super) fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}
