//! The JSON Schema of a configuration file, for editors.

use super::machine::MachineSpec;
use super::provenance::Kind;
use super::shape::Shape;
use serde_json::{Map, Value as Json, json};

/// The schema of one file. A file is a layer, so every field is optional; `extends`, `fitted_to` and `provenance` come on top.
pub fn schema() -> Json {
    let mut schema = schemars::schema_for!(MachineSpec).to_value();
    relax(&mut schema);
    let kind = schemars::schema_for!(Kind).to_value();
    schema["title"] = json!("sealsim configuration");
    schema["description"] = json!("A machine, or a layer over one");
    schema["properties"]["extends"] =
        json!({ "type": "string", "description": "The file below this one: a path relative to it, or a shipped name" });
    schema["properties"]["fitted_to"] = json!({
        "type": "array",
        "items": { "type": "string" },
        "description": "Digests of the measured points that `sealsim calibrate --write` fitted to",
    });
    schema["properties"]["provenance"] = provenance(Shape::machine(), true);
    schema["$defs"]["Provenance"] = json!({
        "type": "object",
        "description": "Where a value comes from, and the range in which it may lie",
        "properties": {
            "kind": { "enum": Kind::ALL.map(Kind::name), "description": kind["description"] },
            "source": { "type": "string", "description": "The public source, the data set, or the reason" },
            "low": { "type": ["string", "integer"], "description": "Least value that it may have" },
            "high": { "type": ["string", "integer"], "description": "Greatest value that it may have" },
        },
        "required": ["kind", "source"],
        "additionalProperties": false,
    });
    schema
}

/// Makes all fields optional. Where a tag chooses among alternatives, a layer may leave the tag out, so that more than
/// one alternative fits.
fn relax(schema: &mut Json) {
    match schema {
        Json::Object(map) => {
            if map.contains_key("properties") {
                map.remove("required");
            }
            if let Some(alternatives) = map.remove("oneOf") {
                map.insert("anyOf".into(), alternatives);
            }
            map.values_mut().for_each(relax);
        }
        Json::Array(items) => items.iter_mut().for_each(relax),
        _ => {}
    }
}

/// The schema of `[provenance]` for one shape: the same tables, with a provenance at each leaf.
fn provenance(shape: &Shape, is_root: bool) -> Json {
    let fields = match shape {
        Shape::Table(fields) => fields.iter().collect::<Vec<_>>(),
        Shape::Union { variants, .. } => variants.iter().flat_map(|variant| &variant.fields).collect(),
        _ => return json!({ "$ref": "#/$defs/Provenance" }),
    };
    let mut properties: Map<_, _> =
        fields.into_iter().map(|field| (field.name.clone(), provenance(&field.shape, false))).collect();
    if !is_root {
        properties.entry("kind").or_insert_with(|| json!({ "enum": Kind::ALL.map(Kind::name) }));
        properties.entry("source").or_insert_with(|| json!({ "type": "string" }));
    }
    json!({ "type": "object", "properties": properties, "additionalProperties": false })
}

#[cfg(test)]
mod tests {
    use super::super::SHIPPED;
    use super::*;

    /// Holds `value` against `schema`; says why not. Panics on a keyword that it does not know, so that nothing is
    /// passed over in silence. Patterns are left to the quantities' own tests.
    fn hold(value: &Json, schema: &Json, root: &Json, path: &str) -> Result<(), String> {
        let Some(map) = schema.as_object() else {
            return if schema == &json!(true) { Ok(()) } else { Err(format!("{path}: nothing is allowed here")) };
        };
        for (keyword, rule) in map {
            let fine = match keyword.as_str() {
                "$ref" => return hold(value, root.pointer(&rule.as_str().unwrap()[1..]).unwrap(), root, path),
                "anyOf" => rule.as_array().unwrap().iter().any(|schema| hold(value, schema, root, path).is_ok()),
                "type" => {
                    let is = |name: &Json| match name.as_str().unwrap() {
                        "object" => value.is_object(),
                        "array" => value.is_array(),
                        "string" => value.is_string(),
                        "integer" => value.is_i64() || value.is_u64(),
                        "boolean" => value.is_boolean(),
                        other => panic!("type {other}"),
                    };
                    rule.as_array().map_or_else(|| is(rule), |names| names.iter().any(is))
                }
                "items" => {
                    let mut items = value.as_array().into_iter().flatten().enumerate();
                    items.try_for_each(|(item, value)| hold(value, rule, root, &format!("{path}[{item}]")))?;
                    true
                }
                "enum" => rule.as_array().unwrap().contains(value),
                "const" => rule == value,
                "minimum" => value.as_f64().is_none_or(|value| value >= rule.as_f64().unwrap()),
                "required" => rule.as_array().unwrap().iter().all(|name| value.get(name.as_str().unwrap()).is_some()),
                "properties" | "additionalProperties" => {
                    fields(value, map, root, path)?;
                    true
                }
                "$schema" | "$defs" | "title" | "relaxes" | "description" | "examples" | "format" | "pattern"
                | "default" => true,
                other => panic!("keyword {other}"),
            };
            if !fine {
                return Err(format!("{path}: {value} against {keyword} {rule}"));
            }
        }
        Ok(())
    }

    fn fields(value: &Json, schema: &Map<String, Json>, root: &Json, path: &str) -> Result<(), String> {
        let properties = schema.get("properties").and_then(Json::as_object);
        for (key, value) in value.as_object().into_iter().flatten() {
            let rule = properties.and_then(|all| all.get(key)).or_else(|| schema.get("additionalProperties"));
            rule.map_or(Ok(()), |rule| hold(value, rule, root, &format!("{path}.{key}")))?;
        }
        Ok(())
    }

    fn check(text: &str) -> Result<(), String> {
        let schema = schema();
        hold(&serde_json::to_value(toml::from_str::<toml::Table>(text).unwrap()).unwrap(), &schema, &schema, "")
    }

    #[test]
    fn every_shipped_file_fits_the_schema() {
        for shipped in SHIPPED {
            assert_eq!(check(shipped.text), Ok(()), "{}", shipped.path);
        }
    }

    #[test]
    fn a_layer_may_be_partial_but_not_wrong() {
        assert_eq!(check("extends = \"x\"\n[engine.ghash]\nways = 4"), Ok(()));
        assert_eq!(
            check("[provenance.link]\nkind = \"user\"\nsource = \"me\"\nlanes = { kind = \"user\", source = \"me\" }"),
            Ok(())
        );
        for bad in [
            "[link]\nlanse = 16",
            "[link]\nlanes = \"16\"",
            "[link]\nlanes = -1",
            "[link]\nmax_payload = 256",
            "[tag_queue]\nrelease = \"egaer\"",
            "[engine.ghash]\ndesign = \"seriel\"",
            "[engine.ghash]\ndesign = \"serial\"\nways = 4",
            "[provenance]\nkind = \"user\"",
            "[provenance.link.lanes]\nkind = \"guessed\"\nsource = \"x\"",
            "[provenance.link.lanes]\nkind = \"user\"",
            "extends = 5",
        ] {
            assert!(check(bad).is_err(), "{bad}");
        }
    }
}
