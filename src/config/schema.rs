//! The JSON Schema of a configuration file, for editors.

use super::machine::MachineSpec;
use super::provenance::Kind;
use super::shape::Shape;
use serde_json::{Map, Value as Json, json};

/// The schema of one file. A file is a layer, so every field is optional; `extends` and `provenance` come on top.
#[must_use]
pub fn schema() -> Json {
    let mut schema = schemars::schema_for!(MachineSpec).to_value();
    relax(&mut schema);
    let kind = schemars::schema_for!(Kind).to_value();
    schema["title"] = json!("sealsim configuration");
    schema["description"] = json!("A machine, or a layer over one");
    schema["properties"]["extends"] =
        json!({ "type": "string", "description": "The file below this one: a path relative to it, or a shipped name" });
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
