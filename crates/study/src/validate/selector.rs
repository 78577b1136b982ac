//! Which points of a data set something is said of.

use super::measured::Point;
use crate::units::Bytes;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// Values that some columns must have, by column: a text, a number, or a list of which any will do.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Selector(#[schemars(with = "BTreeMap<String, Json>")] pub BTreeMap<String, toml::Value>);

impl Selector {
    /// Whether a point agrees with every key.
    pub fn takes(&self, point: &Point) -> bool {
        self.0.iter().all(|(column, wanted)| {
            point.cells.get(column).is_some_and(|cell| match wanted {
                toml::Value::Array(any) => any.iter().any(|one| same(column, cell, one)),
                one => same(column, cell, one),
            })
        })
    }

    /// As a sentence has it: `mode = "cc", bytes = "64 B"`.
    pub fn text(&self) -> String {
        self.0.iter().map(|(column, wanted)| format!("{column} = {wanted}")).collect::<Vec<_>>().join(", ")
    }
}

/// Whether a cell is what is wanted: sizes and numbers by value, all else by its text.
fn same(column: &str, cell: &str, wanted: &toml::Value) -> bool {
    let wanted = match wanted {
        toml::Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    if column == "bytes"
        && let (Ok(cell), Ok(wanted)) = (cell.parse::<u64>(), wanted.parse::<Bytes>())
    {
        return cell == wanted.0;
    }
    match (cell.parse::<f64>(), wanted.parse::<f64>()) {
        (Ok(cell), Ok(wanted)) => cell == wanted,
        _ => cell == wanted,
    }
}
