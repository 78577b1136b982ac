//! What things are called and how they are painted, in pictures and on pages: the rows of a table that Rust and the pages' script read.
//!
//! ```text
//!   names.csv: colours, stages, operations, causes, fields, designs --+--> [`nth`], [`colour`] --> pictures
//!   figures::table, Stall::MEANINGS ----------------------------------+--> [`script`] -----------> pages
//! ```

use super::plot::drawing::Colour;
use crate::{
    figures::{Figure, table::SHOWN},
    sim::Stall,
};
use std::sync::LazyLock;

/// A row: kind, name, label, colour. That of a colour has a light and a dark form, that of a design its group.
type Row = [&'static str; 4];

fn rows() -> impl Iterator<Item = Row> {
    include_str!("names.csv").lines().skip(1).filter_map(|line| {
        let mut cells = line.splitn(4, ',');
        Some([cells.next()?, cells.next()?, cells.next()?, cells.next()?])
    })
}

/// Label and number of the colour of a row of a kind, which stand in the order of their variants.
pub fn nth(kind: &str, place: usize) -> (&'static str, Option<usize>) {
    let found = rows().filter(|row| row[0] == kind).nth(place);
    found.map_or(("", None), |[_, _, label, colour]| (label, colour.parse().ok()))
}

/// Colours on white: people with any colour vision distinguish them, and each has a contrast of 3 to its paper at least.
static COLOURS: LazyLock<Vec<Colour>> = LazyLock::new(|| {
    let part = |text: &str, at: usize| u8::from_str_radix(text.get(at..at + 2)?, 16).ok();
    let colour = |[_, _, light, _]: Row| Some(Colour(part(light, 1)?, part(light, 3)?, part(light, 5)?));
    rows().filter(|row| row[0] == "colour").filter_map(colour).collect()
});

pub const COLOUR_COUNT: usize = 8;

/// The colour of a number; they repeat.
pub fn colour(number: usize) -> Colour {
    COLOURS[number % COLOUR_COUNT]
}

/// The colours of pages, as variables of their style: those of dark paper where that is asked for.
pub fn style() -> String {
    let all = |form: usize| -> String {
        rows().filter(|row| row[0] == "colour").map(|row| format!("--c{}: {}; ", row[1], row[form])).collect()
    };
    let (light, dark) = (all(2), all(3));
    format!(":root {{ {light}}}\n@media screen and (prefers-color-scheme: dark) {{ :root {{ {dark}}} }}\n")
}

/// The table with all figures and stalls, as a constant of the pages' script.
pub fn script() -> String {
    let figures = SHOWN.iter().flat_map(|(_, figures)| figures.iter());
    let unit = |figure: &Figure| figure.unit.shown().map_or("", |(unit, _)| unit);
    let figures = figures.map(|figure| ["figure", figure.name, figure.words, unit(figure)]);
    let short = |meaning: &'static str| meaning.split([',', ':']).next().unwrap_or(meaning);
    let stalls = Stall::ALL.map(|stall| ["stall", stall.name(), short(Stall::MEANINGS[stall as usize]), ""]);
    let all: Vec<Row> = rows().chain(figures).chain(stalls).collect();
    format!("const ROWS = {};\n", serde_json::json!(all))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        config::{Role, Shipped},
        replay::Mark,
    };

    #[test]
    fn every_design_has_a_group_and_every_row_names_one() {
        let of = |kind: &'static str| rows().filter(move |row| row[0] == kind).map(|row| row[1]);
        let mut shipped: Vec<_> = Shipped::names(Role::Design).collect();
        let mut known: Vec<_> = of("design").collect();
        shipped.sort_unstable();
        known.sort_unstable();
        assert_eq!((known, COLOURS.len()), (shipped, COLOUR_COUNT));
        assert_eq!(nth("operation", Mark::OtherWork as usize), ("fills and copies on the GPU", None));
        assert!(rows().filter(|row| row[0] == "design").all(|row| of("group").any(|group| group == row[2])));
    }
}
