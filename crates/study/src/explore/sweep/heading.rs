//! What people call a column: words and a unit, instead of the name that programs read.

use super::column::UNITS;
use crate::config::words;
use crate::figures::{columns, table::SWEEP};
use crate::files::capital;

#[derive(Debug, Clone, PartialEq)]
pub struct Heading {
    /// Words, without the unit.
    pub words: String,
    /// The unit of figures as people see them, if they have one.
    pub unit: Option<&'static str>,
    /// What a figure of the column is multiplied by to be in that unit.
    pub scale: f64,
}

/// Ends of names of axes and of times that are asked for, the units in which they are shown, and the factor between.
const SHOWN: [(&str, &str, f64); 9] = [
    ("_ps", "µs", 1e-6),
    ("_ns", "ns", 1.0),
    ("_us", "µs", 1.0),
    ("_ms", "ms", 1.0),
    ("_s", "s", 1.0),
    ("_bytes_per_cycle", "B/cycle", 1.0),
    ("_bytes", "bytes", 1.0),
    ("_cycles", "cycles", 1.0),
    ("_hz", "GHz", 1e-9),
];

/// Columns around the figures.
const OTHERS: [(&str, &str); 4] =
    [("index", "number of the point"), ("copy", "copy"), ("design", "design"), ("error", "why there are no figures")];

impl Heading {
    /// That of a column of a table of a sweep. One that nobody knows is called by its name.
    pub fn of(name: &str) -> Self {
        let (words, unit) = parameter(name).or_else(|| figure(name)).unwrap_or_else(|| (name.to_owned(), None));
        let words = if words == name { words } else { capital(&words) };
        Self { words, unit: unit.map(|(unit, _)| unit), scale: unit.map_or(1.0, |(_, scale)| scale) }
    }

    /// Words and unit: `Rate (GB/s)`.
    pub fn label(&self) -> String {
        self.unit.map_or_else(|| self.words.clone(), |unit| format!("{} ({unit})", self.words))
    }
}

/// A unit, and the factor to it.
type Unit = (&'static str, f64);

fn unit(name: &str) -> Option<Unit> {
    SHOWN.iter().find(|(ending, ..)| name.ends_with(ending)).map(|(_, unit, scale)| (*unit, *scale))
}

/// A figure, also where a time is asked for in another unit than the table's, and what is around the figures.
fn figure(name: &str) -> Option<(String, Option<Unit>)> {
    if let Some((_, words)) = OTHERS.iter().find(|(other, _)| *other == name) {
        return Some(((*words).to_owned(), None));
    }
    let columns = columns(SWEEP);
    let known = |name: &str| columns.iter().find(|column| column.name() == name);
    let stem = || ["_ns", "_us", "_ms", "_s"].iter().find_map(|ending| name.strip_suffix(ending));
    match (known(name), || known(&format!("{}_ps", stem()?))) {
        (Some(column), _) => Some((column.words(), column.figure.unit.shown())),
        (None, in_picos) => in_picos().map(|column| (column.words(), unit(name))),
    }
}

/// An axis: a parameter's path, and behind it the unit of its values if they have one.
fn parameter(name: &str) -> Option<(String, Option<Unit>)> {
    let stems = UNITS.iter().filter_map(|(_, ending, _)| name.strip_suffix(&format!("_{ending}")));
    let quantity = || stems.into_iter().find_map(words).map(|words| (words, unit(name)));
    words(name).map(|words| (words, None)).or_else(quantity)
}

#[cfg(test)]
mod tests {
    use super::super::study::Study;
    use super::super::table::columns;
    use super::*;
    use crate::explore::sweep::AxisColumn;

    #[test]
    fn labels_are_words_with_units() {
        let label = |name: &str| Heading::of(name).label();
        assert_eq!(label("engine.ghash.width"), "GHASH products per cycle");
        assert_eq!(label("gb_per_s"), "Rate (GB/s)");
        assert_eq!(label("driver.pinned.message_bytes"), "Driver pinned memory, message length (bytes)");
        assert_eq!(label("copy_engine.clock_hz"), "Copy engine clock (GHz)");
        assert_eq!(label("exposure_ps"), "Longest exposure of a message (µs)");
        assert_eq!(label("exposure_ns"), "Longest exposure of a message (ns)");
        assert_eq!(label("hbm.read_rate_bytes_per_cycle"), "Device memory read rate (B/cycle)");
        assert_eq!(label("area_total_kge"), "Area of engines and storage (kGE)");
        assert_eq!(Heading::of("exposure_ps").scale, 1e-6);
        assert_eq!(label("somebody_elses"), "somebody_elses");
    }

    #[test]
    fn every_column_that_a_study_may_name_has_words() {
        let study = "name = \"n\"\nsummary = \"s\"\nmachine = \"h100-nvl-tdx\"\ncopy = \"h2d:1MiB\"\n\
                     [[axis]]\npath = \"copy\"\nvalues = [\"h2d:1MiB\"]\n[[axis]]\npath = \"design\"\nvalues = [\"hold\"]";
        let fixed = columns(&AxisColumn::of(&Study::read("study", study).unwrap()));
        let paths = crate::config::paths();
        let axes = paths.iter().map(|path| AxisColumn::named(path));
        let mut count = 0;
        for name in fixed.into_iter().filter(|name| name != "id").chain(axes) {
            let Heading { words, unit, .. } = Heading::of(&name);
            assert!(!words.is_empty() && !words.contains(['_', '.']), "{name}: {words}");
            let ends_with_unit = SHOWN.iter().any(|(ending, ..)| name.ends_with(ending)) && !name.contains('.');
            assert!(!ends_with_unit || unit.is_some(), "{name} has no unit");
            count += 1;
        }
        assert!(count > 350, "{count}");
    }
}
