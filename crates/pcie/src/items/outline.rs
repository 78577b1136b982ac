//! The keys of a JSON object, before its values are read.
//!
//! Which keys an object may have depends on its kind, which may stand anywhere in it. So the keys are looked through first, without keeping
//! a value, and the values are read once all keys are known to belong there.

use super::document::Kind;
use super::refused::{Refused, refused};
use sealsim_units::{excerpt, nearest};
use serde::{
    Deserialize, Deserializer,
    de::{Error, IgnoredAny, MapAccess, Visitor},
};
use std::fmt;

/// More keys than any object has.
const MOST_KEYS: usize = 64;

/// The keys of an object and of its fields.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Outline {
    kind: Option<String>,
    keys: Vec<String>,
    fields: Vec<String>,
}

impl Outline {
    /// The kind, if all keys belong to it.
    pub(super) fn check(&self) -> Result<Kind, Refused> {
        let names = || Kind::ALL.map(Kind::name);
        let Some(name) = &self.kind else {
            return Err(refused!("`kind` is missing: it is one of {}", list(&names())));
        };
        let Some(kind) = Kind::ALL.into_iter().find(|kind| kind.name() == name) else {
            let remedy = remedy(name, &names(), "kinds are");
            return Err(refused!("`kind` is {:?}; {remedy}", excerpt(name, 40)));
        };
        refuse_others(&self.keys, kind.keys(), &format!("an object of kind `{name}` has no key"))?;
        refuse_others(&self.fields, &kind.fields(), &format!("the `fields` of kind `{name}` have no"))?;
        Ok(kind)
    }
}

fn refuse_others(keys: &[String], known: &[&str], refusal: &str) -> Result<(), Refused> {
    match keys.iter().find(|key| !known.contains(&key.as_str())) {
        Some(key) => Err(refused!("{refusal} `{}`; {}", excerpt(key, 40), remedy(key, known, "it has"))),
        None => Ok(()),
    }
}

fn remedy(given: &str, known: &[&str], have: &str) -> String {
    // A longer name is no slip, and comparing it takes time.
    let guess = if given.len() <= 40 { nearest(given, known.iter().copied()) } else { None };
    let guess = guess.map_or(String::new(), |guess| format!("did you mean `{guess}`? "));
    format!("{guess}{have} {}", list(known))
}

fn list(names: &[&str]) -> String {
    format!("`{}`", names.join("`, `"))
}

/// Reads the next key, unless it stands there already.
fn next_key<'de, A: MapAccess<'de>>(map: &mut A, keys: &[String]) -> Result<Option<String>, A::Error> {
    let key: Option<String> = map.next_key()?;
    match &key {
        Some(key) if keys.contains(key) => {
            Err(A::Error::custom(format!("the key `{}` stands twice", excerpt(key, 40))))
        }
        Some(_) if keys.len() == MOST_KEYS => Err(A::Error::custom(format!("more than {MOST_KEYS} keys"))),
        _ => Ok(key),
    }
}

impl<'de> Deserialize<'de> for Outline {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(OutlineVisitor)
    }
}

struct OutlineVisitor;

impl<'de> Visitor<'de> for OutlineVisitor {
    type Value = Outline;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Outline, A::Error> {
        let mut outline = Outline::default();
        while let Some(key) = next_key(&mut map, &outline.keys)? {
            match key.as_str() {
                "kind" => outline.kind = Some(map.next_value()?),
                "fields" => {
                    outline.fields = map.next_value::<Option<FieldKeys>>()?.map_or_else(Vec::new, |keys| keys.0)
                }
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
            outline.keys.push(key);
        }
        Ok(outline)
    }
}

struct FieldKeys(Vec<String>);

impl<'de> Deserialize<'de> for FieldKeys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(FieldsVisitor)
    }
}

struct FieldsVisitor;

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = FieldKeys;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object of fields")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<FieldKeys, A::Error> {
        let mut keys = Vec::new();
        while let Some(key) = next_key(&mut map, &keys)? {
            map.next_value::<IgnoredAny>()?;
            keys.push(key);
        }
        Ok(FieldKeys(keys))
    }
}
