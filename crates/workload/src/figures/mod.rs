//! One table of figures: what each is called, in which unit, what it means, and where it comes from.
//!
//! ```text
//!   Outcome of a run, its machine --> Seen --+
//!   what limited it, measured -> LimitedBy --+--> Figure::of, a row of `table` --> Row, by name --> JSON
//!   what the machine costs --------> Price --+                                      +--> columns, values --> CSV, Parquet
//!                                                                    unit, words --> text, plots, pages
//! ```
//!
//! A verb is a list of rows of the table ([`table::SHOWN`] has all lists). A new figure is one more row, and its name in the lists of those verbs that
//! show it.

pub mod energy;
pub mod limit;
mod named;
pub mod price;
mod protection;
mod seen;
pub mod table;
mod unit;
mod value;

pub use limit::{LimitedBy, busiest, waits_for_kernels};
pub use named::Named;
pub use price::{Price, Risk};
pub use seen::{About, Seen};
pub use unit::Unit;
pub use value::Value;

use crate::{
    cost::Interval,
    sampling::{Sampled, Told},
    system::{Busiest, Direction, Outcome},
};
use serde::{Deserialize, Serialize, Serializer, ser::SerializeMap};
use std::collections::BTreeMap;

#[derive(Debug)]
pub struct Figure {
    /// Its name in JSON, CSV and Parquet, which ends with its unit where that is no count.
    pub name: &'static str,
    pub unit: Unit,
    /// What plots and pages call it, without the unit.
    pub words: &'static str,
    /// What the reference says.
    pub says: &'static str,
    pub of: Of,
}

impl Figure {
    /// Whether tables have its least and its most, behind all figures: they are empty unless work was sampled or parameters drawn.
    const fn ends_behind(&self) -> bool {
        matches!(self.of, Of::Estimate(_) | Of::Beside(..))
    }

    pub const fn has_ends(&self) -> bool {
        self.ends_behind() || matches!(self.of, Of::Between(_))
    }
}

/// Where a figure comes from.
#[derive(Debug)]
pub enum Of {
    Run(fn(&Seen<'_>) -> Value),
    /// The same, and where only a part was simulated its least and most have columns.
    Estimate(fn(&Seen<'_>) -> Value),
    /// What ran one way.
    Way(Direction, fn(&Seen<'_>) -> Value),
    /// A gain: it against another design, once both have run.
    Beside(Other, Ratio),
    Busiest(fn(&Busiest) -> Value),
    /// What other runs showed.
    Limit(fn(&LimitedBy) -> Value),
    /// What the machine costs.
    Cost(fn(&Price) -> Value),
    /// The same, known between two bounds: that of copies which go one way, if it is asked of these.
    Between(fn(&Price, Option<Direction>) -> Option<Interval>),
    /// How much of it was simulated.
    Part,
    /// What the row is of, and what else whoever makes it knows.
    Name,
}

/// A design that others are held against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Other {
    Off,
    /// The machine as it is.
    Cc,
    /// The one that suits the design.
    Own,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ratio {
    /// How many times as fast.
    Faster,
    /// How many times as long.
    Longer,
}

/// What came of a run, or of a part of it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Row {
    #[serde(flatten)]
    pub cells: Cells,
    /// Who was busiest; none without copies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busiest_parts: Option<Busiest>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limited_by_parts: Option<LimitedBy>,
    /// How much of it was simulated, if it was asked to be sampled, and what its figures may be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampled: Option<Told>,
    /// Where parameters were drawn: the 5th and the 95th percentile of a figure, by its name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub interval_90: BTreeMap<String, [f64; 2]>,
}

impl Row {
    /// What a list shows of the run of a machine; of one that was sampled also between what its figures lie.
    pub fn of<'o>(
        list: &[&Figure],
        about: About<'o>,
        (outcome, sampled): (&'o Outcome, Option<&'o Sampled>),
        busiest: impl Fn(&'o Outcome) -> Option<Busiest>,
    ) -> Self {
        let row = |outcome| Self {
            cells: Cells::of(list, &Seen::run(about, outcome)),
            busiest_parts: busiest(outcome),
            limited_by_parts: None,
            sampled: None,
            interval_90: BTreeMap::new(),
        };
        Self { sampled: sampled.map(|sampled| Told::of(sampled, row)), ..row(outcome) }
    }

    /// The values of [`columns`]; `name` knows what the row is of.
    pub fn values(
        &self,
        list: &[&Figure],
        (price, way): (&Price, Option<Direction>),
        name: impl Fn(&str) -> Value,
    ) -> Vec<Value> {
        let mut values = Vec::new();
        for figure in list {
            match figure.of {
                Of::Run(_) | Of::Estimate(_) | Of::Way(..) | Of::Beside(..) => values.push(self.get(figure).clone()),
                Of::Busiest(of) => values.push(self.busiest_parts.as_ref().map_or(Value::None, of)),
                Of::Limit(of) => values.push(self.limited_by_parts.as_ref().map_or(Value::None, of)),
                Of::Cost(of) => values.push(of(price)),
                Of::Between(of) => {
                    let [low, middle, high] = ends(of(price, way));
                    let drawn = self.interval_90.get(figure.name).map(|ends| ends.map(Value::from));
                    let [low, high] = drawn.unwrap_or([low, high]);
                    values.extend([low, middle, high]);
                }
                Of::Part => values.push(self.sampled.as_ref().map(Told::simulated_part).into()),
                Of::Name => values.push(self.cells.get(figure.name).cloned().unwrap_or_else(|| name(figure.name))),
            }
        }
        for figure in list.iter().filter(|figure| figure.ends_behind()) {
            values.extend([0, 1].map(|end| self.end(figure, end)));
        }
        values
    }

    pub fn get(&self, figure: &Figure) -> &Value {
        self.cells.figure(figure)
    }

    pub fn number(&self, figure: &Figure) -> Option<f64> {
        self.get(figure).number()
    }

    /// The least or the most of a figure, of draws if there are any; the figure itself where what was simulated leaves nothing open.
    fn end(&self, figure: &Figure, end: usize) -> Value {
        if let Some(drawn) = self.interval_90.get(figure.name) {
            return drawn[end].into();
        }
        let Some(told) = &self.sampled else { return Value::None };
        match told.intervals.get(&format!("/{}", figure.name)) {
            None => self.get(figure).clone(),
            Some(ends) => ends[end].as_u64().map(Value::from).or(ends[end].as_f64().map(Value::from)).into(),
        }
    }

    /// A figure with its least and its most.
    fn range(&self, figure: &Figure) -> Option<[f64; 3]> {
        let middle = self.number(figure).filter(|number| *number > 0.0)?;
        let told = self.sampled.as_ref().and_then(|told| told.interval(&format!("/{}", figure.name)));
        let [low, high] = told.unwrap_or([middle; 2]);
        Some([low, middle, high])
    }

    /// Holds it against another row, in one of its figures: by their rates where both have one, else by their times.
    pub fn hold(&mut self, figure: &Figure, gain: Ratio, other: &Self) {
        let over = |figure, one: &Self, other: &Self| {
            let ([low, own, high], [least, others, most]) = (one.range(figure)?, other.range(figure)?);
            Some([low / most, own / others, high / least])
        };
        let by_rates = over(&table::RATE, self, other).filter(|_| gain == Ratio::Faster);
        let (longer, shorter) = if gain == Ratio::Faster { (other, &*self) } else { (&*self, other) };
        let Some([low, ratio, high]) = by_rates.or_else(|| over(&table::TIME, longer, shorter)) else { return };
        self.cells.set(figure.name, ratio.into());
        self.sampled.iter_mut().for_each(|told| told.note(&format!("/{}", figure.name), [low, high]));
    }
}

pub type Cells = Named<Value>;

impl Cells {
    /// A figure; [`Value::None`] if it is not among them.
    pub fn figure(&self, figure: &Figure) -> &Value {
        self.get(figure.name).unwrap_or(&Value::None)
    }

    /// A figure that is a count; 0 if there is none.
    pub fn count(&self, figure: &Figure) -> u64 {
        self.figure(figure).number().map_or(0, |count| count as u64)
    }

    /// What a list shows of a run.
    pub fn of(list: &[&Figure], seen: &Seen<'_>) -> Self {
        let cell = |figure: &&Figure| {
            let value = match figure.of {
                Of::Run(of) | Of::Estimate(of) => of(seen),
                Of::Way(way, of) => of(&seen.way(way)),
                Of::Beside(..) => Value::None,
                _ => return None,
            };
            Some((figure.name.to_owned(), value))
        };
        Self(list.iter().filter_map(cell).collect())
    }
}

/// Least, middle and most.
fn ends(known: Option<Interval>) -> [Value; 3] {
    let ends = known.map(|known| [known.low, known.middle(), known.high]);
    [0, 1, 2].map(|end| ends.map(|ends| ends[end]).into())
}

impl Serialize for Price {
    /// The figures of [`table::COST`], then why some are missing, notes, what the clock holds, and rows.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (list, none) = (table::COST, Row::default());
        let values = none.values(list, (self, None), |_| Value::None);
        let mut map = serializer.serialize_map(None)?;
        for (column, value) in columns(list).iter().zip(values) {
            map.serialize_entry(&column.name(), &value)?;
        }
        map.serialize_entry("missing", &self.missing)?;
        map.serialize_entry("notes", &self.notes)?;
        map.serialize_entry("clock", &self.clock)?;
        map.serialize_entry("rows", &self.rows)?;
        map.end()
    }
}

/// A column of a table: a figure, or an end of one.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    pub figure: &'static Figure,
    pub end: End,
}

/// Which value of a figure that is known between two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Itself,
    Least,
    Most,
}

/// The columns of a list: its figures, those known between two bounds with both, and behind all the ends of what may have been sampled.
pub fn columns(list: &[&'static Figure]) -> Vec<Column> {
    let with = |figure, ends: &[End]| ends.iter().map(|&end| Column { figure, end }).collect::<Vec<_>>();
    let own = list.iter().flat_map(|figure| match figure.of {
        Of::Between(_) => with(figure, &[End::Least, End::Itself, End::Most]),
        _ => with(figure, &[End::Itself]),
    });
    let estimates = list.iter().filter(|figure| figure.ends_behind());
    own.chain(estimates.flat_map(|figure| with(figure, &[End::Least, End::Most]))).collect()
}

pub fn column_names(list: &[&'static Figure]) -> Vec<String> {
    columns(list).into_iter().map(Column::name).collect()
}

impl Column {
    /// In JSON, CSV and Parquet.
    pub fn name(self) -> String {
        let end = self.end.choose("", "_low", "_high");
        format!("{}{end}", self.figure.name)
    }

    /// What plots and pages call it, without its unit.
    pub fn words(self) -> String {
        format!("{}{}", self.end.choose("", "least ", "greatest "), self.figure.words)
    }

    /// What the reference says.
    pub fn says(self) -> String {
        let Figure { name, says, of, .. } = self.figure;
        let of = if matches!(of, Of::Between(_)) {
            ""
        } else {
            ", where it was sampled (at 95 %) or parameters were drawn (5 to 95 %)"
        };
        self.end.choose((*says).to_owned(), format!("least of `{name}`{of}"), format!("most of `{name}`"))
    }
}

impl End {
    fn choose<T>(self, itself: T, least: T, most: T) -> T {
        match self {
            Self::Itself => itself,
            Self::Least => least,
            Self::Most => most,
        }
    }
}
