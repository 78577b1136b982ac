//! JSON that says everything once.

use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Number, Value};
use std::fmt;

/// Reads one JSON value. Of an object that has a key twice, most readers see one of the two values without a word: it is refused.
pub fn parse_json(text: &str) -> Result<Value, serde_json::Error> {
    serde_json::from_str::<Once>(text).map(|Once(value)| value)
}

/// What `serde_json` says, and where: a value that it quotes whole is cut, the place is not.
pub fn json_fault(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rsplit_once(" at line ") {
        Some((fault, place)) if error.line() > 0 => format!("{} at line {place}", super::excerpt(fault, 200)),
        _ => super::excerpt(&text, 200).into_owned(),
    }
}

/// A value whose objects have each key once.
struct Once(Value);

impl<'de> Deserialize<'de> for Once {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OnceVisitor).map(Self)
    }
}

struct OnceVisitor;

impl<'de> Visitor<'de> for OnceVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, truth: bool) -> Result<Value, E> {
        Ok(truth.into())
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Value, E> {
        Number::from_f64(number).map(Value::Number).ok_or_else(|| E::custom("not a finite number"))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut all = Vec::new();
        while let Some(Once(item)) = items.next_element()? {
            all.push(item);
        }
        Ok(Value::Array(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut all = Map::new();
        while let Some(key) = fields.next_key::<String>()? {
            if all.contains_key(&key) {
                return Err(A::Error::custom(format!("the key `{}` is given twice", super::excerpt(&key, 40))));
            }
            let Once(value) = fields.next_value()?;
            all.insert(key, value);
        }
        Ok(Value::Object(all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_value_is_read_as_serde_json_reads_it() {
        let text = r#" {"a": [1, -2, 2.5, true, null, "tü\n", {}], "b": {"a": 18446744073709551615}, "c": 1e3} "#;
        assert_eq!(parse_json(text).unwrap(), serde_json::from_str::<Value>(text).unwrap());
    }

    #[test]
    fn a_key_that_is_given_twice_is_refused_at_any_depth() {
        for text in [r#"{"a": 1, "a": 1}"#, r#"[{"b": {"a": 1, "c": 2, "a": null}}]"#] {
            assert!(parse_json(text).unwrap_err().to_string().contains("the key `a` is given twice at line 1"));
        }
        assert!(parse_json("{} {}").is_err() && parse_json("").is_err());
        assert!(parse_json(&"[".repeat(10_000)).is_err());
    }
}
