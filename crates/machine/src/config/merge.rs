//! Layers laid on each other.

use super::provenance::{Kind, Provenance};
use super::shape::Shape;
use super::tree::{Node, Table, Value};
use crate::files::Place;

/// Lays `upper` on `lower`. Tables merge, all else is replaced, and so is a table whose tag changes: a design's
/// fields mean nothing to another design.
pub(super) fn merge(lower: &mut Node, upper: Node, shape: Option<&Shape>) {
    let Node { value: Value::Table(upper_table), place, .. } = upper else {
        *lower = upper;
        return;
    };
    let changes_tag = lower.table().is_none_or(|lower| changes_tag(lower, &upper_table, shape));
    if changes_tag {
        lower.value = Value::Table(Table::new());
    }
    lower.place = place.or_else(|| lower.place.take());
    lower.provenance = None;
    let Value::Table(lower_table) = &mut lower.value else { return };
    for (key, entry) in upper_table {
        let below = shape.and_then(|shape| shape.field(&key, None));
        match lower_table.get_mut(&key) {
            Some(known) => {
                known.key = entry.key;
                merge(&mut known.node, entry.node, below);
            }
            None => {
                lower_table.insert(key, entry);
            }
        }
    }
}

fn changes_tag(lower: &Table, upper: &Table, shape: Option<&Shape>) -> bool {
    let Some(Shape::Union { tag, .. }) = shape else { return false };
    let text = |table: &Table| table.get(tag).and_then(|entry| entry.node.text().map(str::to_owned));
    text(upper).is_some_and(|upper| text(lower).as_ref() != Some(&upper))
}

/// The source of a value that no layer gives.
pub const DEFAULT: &str = "the default";

/// The provenance of a value whose layer states none.
pub(super) fn unstated(place: Option<&Place>) -> Provenance {
    let source = match place.map(|place| &place.source) {
        None => DEFAULT.to_owned(),
        Some(source) if source.name == "--set" => format!("--set {}", source.text),
        Some(source) => format!("set in {}", source.name),
    };
    Provenance { kind: Kind::User, source, low: None, high: None }
}
