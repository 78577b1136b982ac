//! The JSON form of a packet's fields: flat, in the order of the table, each as wide as its bits.

use super::{Code, Due, Family, Field, Kind};
use crate::credit::Scale;
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error, MapAccess, Visitor},
    ser::SerializeMap,
};
use std::{fmt, marker::PhantomData};

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Value {
    Number(u64),
    Text(String),
    Flag(bool),
    Scale(Scale),
}

/// What JSON says of a packet: fields of a family by name, before it is known whether they fit together.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Given<F> {
    values: Vec<(&'static str, Value)>,
    family: PhantomData<F>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FieldsError {
    /// There is no such kind.
    #[error("{0}")]
    Kind(String),
    #[error("{who} needs the field `{field}`")]
    Missing {
        /// The packet, as a sentence has it.
        who: String,
        field: &'static str,
    },
    #[error("{name} has no field `{field}`; beside {beside} it has {}", list(.own))]
    Surplus {
        /// The kind, for example `MWr64`.
        name: String,
        field: &'static str,
        /// The fields that every packet has, as a sentence has them.
        beside: &'static str,
        own: Vec<&'static str>,
    },
    #[error("`{field}` is {value}, but must lie in {low}..={high}")]
    Range { field: &'static str, value: u64, low: u64, high: u64 },
    #[error("`{field}` is {value}, which does not fit its {bits} bits")]
    Width { field: &'static str, value: u64, bits: u32 },
    #[error("`{field}` is {value:#x}, but must be a multiple of 4: bytes are chosen by first_be and last_be")]
    Unaligned { field: &'static str, value: u64 },
    #[error("`{field}` is {value}, but a hint needs `{flag}` 1")]
    HintWithoutFlag { field: &'static str, value: u64, flag: &'static str },
    #[error("`{field}` must be {digits} hexadecimal digits")]
    Hexadecimal { field: &'static str, digits: u32 },
}

fn list(own: &[&str]) -> String {
    if own.is_empty() { "none".to_owned() } else { format!("`{}`", own.join("`, `")) }
}

/// How messages speak of a packet.
pub(in crate::wire) struct Words {
    /// What it is called where it has too much, and where it lacks something.
    pub name: String,
    pub who: String,
    /// The fields that every packet has.
    pub beside: &'static str,
}

pub(in crate::wire) fn range(field: &'static str, value: u64, low: u64, high: u64) -> Result<(), FieldsError> {
    if (low..=high).contains(&value) { Ok(()) } else { Err(FieldsError::Range { field, value, low, high }) }
}

impl Field {
    /// The bits that stand for a value, which must be one that the field takes.
    fn accept(&self, value: &Value) -> Result<u64, FieldsError> {
        let field = self.name;
        match value {
            Value::Number(value) => {
                let (low, high) = self.range();
                range(field, *value, low, high)?;
                if self.code == Code::Times4 && value & 3 != 0 {
                    return Err(FieldsError::Unaligned { field, value: *value });
                }
                Ok(*value)
            }
            Value::Text(text) => {
                let mut bytes = [0; 8];
                let part = &mut bytes[8 - self.bits() as usize / 8..];
                let read = hex::decode_to_slice(text, part);
                read.map_err(|_| FieldsError::Hexadecimal { field, digits: self.bits() / 4 })?;
                Ok(u64::from_be_bytes(bytes))
            }
            Value::Flag(value) => Ok((*value).into()),
            Value::Scale(value) => Ok(value.bits().into()),
        }
    }
}

impl<F> Given<F> {
    /// The same, of whatever family.
    pub fn of_any(self) -> Given<()> {
        Given { values: self.values, family: PhantomData }
    }
}

impl<F: Family> Given<F> {
    /// The number that a field is given as, or 0.
    pub(in crate::wire) fn number(&self, name: &str) -> u64 {
        match self.value(name) {
            Some(Value::Number(value)) => *value,
            _ => 0,
        }
    }

    /// The text that a field is given as.
    pub(in crate::wire) fn text(&self, name: &str) -> &str {
        match self.value(name) {
            Some(Value::Text(text)) => text,
            _ => "",
        }
    }

    fn value(&self, name: &str) -> Option<&Value> {
        self.values.iter().find(|value| value.0 == name).map(|value| &value.1)
    }

    pub(in crate::wire) fn has(&self, name: &str) -> bool {
        self.value(name).is_some()
    }

    /// Takes a text out, if it is given.
    pub(in crate::wire) fn take_text(&mut self, name: &str) -> Option<String> {
        let place = self.values.iter().position(|value| value.0 == name)?;
        match self.values.remove(place).1 {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Puts a text behind the fields.
    pub(in crate::wire) fn put_text(&mut self, name: &'static str, text: String) {
        self.values.push((name, Value::Text(text)));
    }

    /// Writes the fields into the bytes of a packet of a kind.
    pub(in crate::wire) fn fill(&self, kind: &Kind, words: Words, bytes: &mut [u8]) -> Result<(), FieldsError> {
        let Words { name, who, beside } = words;
        let there = |field: &Field| self.value(field.name).is_some();
        if let Some(field) = F::fields().iter().find(|field| there(field) && kind.field(field.name).is_none()) {
            let own = kind.fields().filter(|field| field.is_own()).map(|field| field.name).collect();
            return Err(FieldsError::Surplus { name, field: field.name, beside, own });
        }
        if let Some(field) = kind.fields().find(|field| field.due == Due::Own && !there(field)) {
            return Err(FieldsError::Missing { who, field: field.name });
        }
        let own_first =
            kind.fields().filter(|field| field.is_own()).chain(kind.fields().filter(|field| !field.is_own()));
        for field in own_first.filter(|field| field.code != Code::Name) {
            let Some(value) = self.value(field.name) else { continue };
            let value = field.accept(value)?;
            field.put(bytes, value);
            if let Code::With(flag) = field.code
                && value != 0
                && self.number(flag) == 0
            {
                return Err(FieldsError::HintWithoutFlag { field: field.name, value, flag });
            }
        }
        Ok(())
    }

    pub(in crate::wire) fn of(kind: &Kind, bytes: &[u8]) -> Self {
        let value = |field: &Field| {
            let number = kind.get(bytes, field.name).unwrap_or_default();
            match field.code {
                Code::Hex => Value::Text(format!("{number:0digits$x}", digits = field.bits() as usize / 4)),
                Code::Name => Value::Text(kind.name.to_owned()),
                Code::Flag => Value::Flag(number == 1),
                Code::Scale => Value::Scale(Scale::from_bits(number as u8)),
                _ => Value::Number(number),
            }
        };
        let shown = kind.fields().filter(|field| match field.due {
            Due::OwnUnlessZero => field.raw(bytes) != 0,
            Due::Never => false,
            _ => field.within.is_none() || kind.means(field, bytes),
        });
        let values = shown.map(|field| (field.name, value(field))).collect();
        Self { values, family: PhantomData }
    }
}

impl<F> Serialize for Given<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.values.len()))?;
        self.values.iter().try_for_each(|(name, value)| map.serialize_entry(name, value))?;
        map.end()
    }
}

impl<'de, F: Family> Deserialize<'de> for Given<F> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(FieldsVisitor(PhantomData))
    }
}

struct FieldsVisitor<F>(PhantomData<F>);

impl<'de, F: Family> Visitor<'de> for FieldsVisitor<F> {
    type Value = Given<F>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object of fields")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Given<F>, A::Error> {
        let (rows, mut values) = (F::fields(), Vec::new());
        while let Some(key) = map.next_key::<String>()? {
            let row = rows.iter().find(|row| row.name == key);
            let row = row.ok_or_else(|| A::Error::custom(format!("unknown field `{key}`")))?;
            if values.iter().any(|(name, _)| *name == row.name) {
                return Err(A::Error::duplicate_field(row.name));
            }
            let value = match (row.code, row.bits()) {
                (Code::Hex | Code::Name, _) => next(&mut map, row, Value::Text)?,
                (Code::Flag, _) => next(&mut map, row, Value::Flag)?,
                (Code::Scale, _) => next(&mut map, row, Value::Scale)?,
                (_, 0..=8) => next(&mut map, row, |value: u8| Value::Number(value.into()))?,
                (_, 9..=16) => next(&mut map, row, |value: u16| Value::Number(value.into()))?,
                (_, 17..=32) => next(&mut map, row, |value: u32| Value::Number(value.into()))?,
                _ => next(&mut map, row, Value::Number)?,
            };
            values.extend(value.map(|value| (row.name, value)));
        }
        let missing =
            rows.iter().find(|row| row.due == Due::Always && !values.iter().any(|(name, _)| *name == row.name));
        match missing {
            Some(row) => Err(A::Error::missing_field(row.name)),
            None => Ok(Given { values, family: PhantomData }),
        }
    }
}

/// The next value, if it is there: fields that not every packet has may be null.
fn next<'de, T: Deserialize<'de>, A: MapAccess<'de>>(
    map: &mut A,
    row: &Field,
    value: impl Fn(T) -> Value,
) -> Result<Option<Value>, A::Error> {
    if row.is_own() { Ok(map.next_value::<Option<T>>()?.map(value)) } else { map.next_value().map(value).map(Some) }
}
