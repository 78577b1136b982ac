//! Columns that are axes: their names with units, and their values as numbers where they are numbers.

use super::study::Study;
use crate::config::quantity;
use crate::figures::Value;
use crate::units::{Bytes, BytesPerCycle, Cycles, Femtos, Frequency, Kind};

/// By the base unit of a quantity: the end of its column's name, and how many base units one of the column is.
pub(super) const UNITS: [(&str, &str, u64); 5] = [
    (Femtos::KIND.base, "ps", 1_000),
    (Cycles::KIND.base, "cycles", 1),
    (Frequency::KIND.base, "hz", 1),
    (Bytes::KIND.base, "bytes", 1),
    (BytesPerCycle::KIND.base, "bytes_per_cycle", 1_000),
];

/// A column of the table that is an axis.
#[derive(Debug, Clone)]
pub struct AxisColumn {
    /// The path of the axis; behind it the unit, if its values have one.
    pub name: String,
    pub numeric: bool,
    /// For quantities: what they are, and base units per unit of the column.
    unit: Option<(&'static Kind, u64)>,
}

/// A text that is a number becomes one, so that axes sort and plot as numbers.
pub(super) fn parsed(text: &str) -> Value {
    let number = || text.parse::<f64>().ok().filter(|number| number.is_finite());
    let integer = text.parse::<i64>().ok().map(Value::Integer);
    integer.or_else(|| number().map(Value::Number)).unwrap_or_else(|| Value::Text(text.to_owned()))
}

impl AxisColumn {
    pub fn of(study: &Study) -> Vec<Self> {
        let axes = study.spec.axis.iter().zip(&study.values);
        axes.map(|(axis, values)| Self::new(&axis.path, values)).collect()
    }

    /// The name of the column of an axis.
    #[cfg(test)]
    pub(super) fn named(path: &str) -> String {
        Self::new(path, &[]).name
    }

    fn new(path: &str, values: &[String]) -> Self {
        let known = quantity(path).and_then(|kind| {
            let (_, ending, scale) = UNITS.iter().find(|(base, ..)| *base == kind.base)?;
            Some((kind, *ending, *scale))
        });
        let name = known.map_or_else(|| path.to_owned(), |(_, ending, _)| format!("{path}_{ending}"));
        let unit = known.map(|(kind, _, scale)| (kind, scale));
        let mut column = Self { name, numeric: true, unit };
        column.numeric = values.iter().all(|value| column.value(value).number().is_some());
        column
    }

    pub fn value(&self, text: &str) -> Value {
        match self.unit.and_then(|(kind, scale)| Some((kind.parse(text).ok()?, scale))) {
            Some((amount, scale)) if amount % scale == 0 => {
                i64::try_from(amount / scale).map_or(Value::Number(amount as f64 / scale as f64), Value::Integer)
            }
            Some((amount, scale)) => Value::Number(amount as f64 / scale as f64),
            None => parsed(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::KINDS;

    fn column(path: &str, values: &[&str]) -> (String, bool, Vec<Value>) {
        let values: Vec<String> = values.iter().map(|&value| value.into()).collect();
        let column = AxisColumn::new(path, &values);
        let shown = values.iter().map(|value| column.value(value)).collect();
        (column.name, column.numeric, shown)
    }

    #[test]
    fn a_quantity_is_a_number_in_the_unit_that_its_columns_name_ends_with() {
        let bytes = column("driver.pinned.message", &["4 KiB", "1 MiB"]);
        assert_eq!(
            bytes,
            ("driver.pinned.message_bytes".into(), true, vec![Value::Integer(4096), Value::Integer(1 << 20)])
        );
        let clock = column("copy_engine.clock", &["1.755 GHz"]);
        assert_eq!(clock, ("copy_engine.clock_hz".into(), true, vec![Value::Integer(1_755_000_000)]));
        let rate = column("memory.llc_rate", &["1.5 B/cycle"]);
        assert_eq!(rate, ("memory.llc_rate_bytes_per_cycle".into(), true, vec![Value::Number(1.5)]));
    }

    #[test]
    fn counts_are_numbers_and_choices_texts() {
        assert_eq!(column("engine.ghash.width", &["1"]), ("engine.ghash.width".into(), true, vec![Value::Integer(1)]));
        let text = |text: &str| Value::Text(text.into());
        let release = column("tag_queue.release", &["hold", "eager"]);
        assert_eq!(release, ("tag_queue.release".into(), false, vec![text("hold"), text("eager")]));
        assert_eq!(column("copy", &["h2d:1MiB"]), ("copy".into(), false, vec![text("h2d:1MiB")]));
    }

    #[test]
    fn every_kind_of_quantity_has_a_unit() {
        for (name, kind) in KINDS {
            assert!(UNITS.iter().any(|(base, ..)| *base == kind.base), "{name}");
        }
    }
}
