//! Which rows of a table a front is asked of, which of them are held against each other, and which stand together for one.

use super::axis::equal;
use super::column::UNITS;
use super::pareto::{COPY, Front, ParetoError, front_of};
use super::table::Table;
use crate::explore::uncertainty::Numbers;
use crate::figures::{
    Unit, Value, columns,
    table::{DOES_NOT_CLOSE, SWEEP},
};
use crate::units::KINDS;
use std::{cmp::Ordering, collections::HashMap, str::FromStr};

/// Conditions that all hold: `copy=h2d:1MiB and release=hold,skid and area_total_kge<2000`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Where(Vec<Condition>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Condition {
    column: String,
    relation: Relation,
    /// What the cell is held against: one of these, where it is to be equal.
    values: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Relation {
    Equal,
    Differs,
    AtMost,
    AtLeast,
    Below,
    Above,
}

/// In the order in which they are looked for: one that begins with another comes first.
const RELATIONS: [(&str, Relation); 6] = [
    ("<=", Relation::AtMost),
    (">=", Relation::AtLeast),
    ("!=", Relation::Differs),
    ("<", Relation::Below),
    (">", Relation::Above),
    ("=", Relation::Equal),
];

/// What stands for a cell without a value.
const NONE: &str = "none";

impl FromStr for Where {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.split(" and ").map(str::parse).collect::<Result<_, _>>().map(Self)
    }
}

impl FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong =
            || format!("`{text}` is no condition, such as copy=h2d:1MiB, release!=eager or area_total_kge<2000");
        let place = text.find(['<', '>', '!', '=']).ok_or_else(wrong)?;
        let (column, rest) = (text[..place].trim(), &text[place..]);
        let (sign, relation) = RELATIONS.iter().find(|(sign, _)| rest.starts_with(sign)).ok_or_else(wrong)?;
        let values: Vec<_> = rest[sign.len()..].split(',').map(|value| value.trim().to_owned()).collect();
        let several = values.len() > 1 && !matches!(relation, Relation::Equal | Relation::Differs);
        if column.is_empty() || several || values.iter().any(|value| value.is_empty() || value.starts_with('=')) {
            return Err(wrong());
        }
        Ok(Self { column: column.to_owned(), relation: *relation, values })
    }
}

impl Condition {
    /// Whether a cell of a column is as it says.
    fn holds(&self, column: &str, cell: &Value) -> Result<bool, ParetoError> {
        let is = |value: &String| match cell {
            Value::None => value == NONE,
            cell if column == COPY => equal(COPY, &cell.shown(), value),
            cell => {
                *value == cell.shown()
                    || number(column, value).zip(cell.number()).is_some_and(|(one, other)| one == other)
            }
        };
        let order = || {
            let value = &self.values[0];
            let wanted = number(column, value);
            let wanted =
                wanted.ok_or_else(|| ParetoError::Bound { column: column.to_owned(), value: value.clone() })?;
            Ok::<_, ParetoError>(cell.number().and_then(|number| number.partial_cmp(&wanted)))
        };
        Ok(match self.relation {
            Relation::Equal => self.values.iter().any(is),
            Relation::Differs => !self.values.iter().any(is),
            Relation::Below => order()? == Some(Ordering::Less),
            Relation::Above => order()? == Some(Ordering::Greater),
            Relation::AtMost => order()?.is_some_and(Ordering::is_le),
            Relation::AtLeast => order()?.is_some_and(Ordering::is_ge),
        })
    }
}

/// A number in the unit of a column, with or without a unit.
fn number(column: &str, text: &str) -> Option<f64> {
    let of_unit = || {
        let unit = |(_, ending, _): &&(&str, &str, u64)| column == *ending || column.ends_with(&format!("_{ending}"));
        let (base, _, scale) = UNITS.iter().find(unit)?;
        let (_, kind) = KINDS.iter().find(|(_, kind)| kind.base == *base)?;
        Some(kind.parse(text).ok()? as f64 / *scale as f64)
    };
    text.parse().ok().filter(|number: &f64| number.is_finite()).or_else(of_unit)
}

/// The column of a name: its own, with or without its unit, or the end of the path of a parameter, as in `release`.
fn named(table: &Table, name: &str) -> Result<usize, ParetoError> {
    let endings = || std::iter::once(String::new()).chain(UNITS.iter().map(|(_, ending, _)| format!("_{ending}")));
    let whole = endings().find_map(|ending| table.column(&format!("{name}{ending}")));
    if let Some(column) = whole {
        return Ok(column);
    }
    let ends = |column: &str| endings().any(|ending| column.ends_with(&format!(".{name}{ending}")));
    let found: Vec<_> = table.columns.iter().enumerate().filter(|(_, column)| ends(column)).collect();
    match found[..] {
        [(column, _)] => Ok(column),
        [] => Err(ParetoError::Unknown { name: name.to_owned(), known: table.columns.join(", ") }),
        _ => {
            let of = found.iter().map(|(_, name)| name.as_str()).collect::<Vec<_>>().join(", ");
            Err(ParetoError::Ambiguous { name: name.to_owned(), of })
        }
    }
}

/// How points that differ in their copy alone are one, which stands for all of them.
#[derive(Debug, Clone, PartialEq)]
pub enum Together {
    /// By the worst that any copy gives in each objective.
    Worst,
    /// By the mean over copies with these weights, 1 where none is stated; of rates, that of the bytes, if the weights are parts of them.
    Weighted(Vec<(String, f64)>),
}

impl Together {
    fn weight(&self, copy: &str) -> f64 {
        match self {
            Self::Worst => 1.0,
            Self::Weighted(weights) => weights.iter().find(|(own, _)| equal(COPY, own, copy)).map_or(1.0, |own| own.1),
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Worst => "worst",
            Self::Weighted(_) => "mean",
        }
    }

    /// What stands for numbers with their weights.
    fn of(&self, numbers: &[(f64, f64)], large: bool, rate: bool) -> f64 {
        let weights: f64 = numbers.iter().map(|(_, weight)| weight).sum();
        let values = || numbers.iter().map(|(value, _)| *value);
        match self {
            Self::Worst if large => values().fold(f64::INFINITY, f64::min),
            Self::Worst => values().fold(f64::NEG_INFINITY, f64::max),
            Self::Weighted(_) if rate => weights / numbers.iter().map(|(value, weight)| weight / value).sum::<f64>(),
            Self::Weighted(_) => numbers.iter().map(|(value, weight)| value * weight).sum::<f64>() / weights,
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Selection {
    /// Rows that take part; all, if not said.
    pub only: Option<Where>,
    /// Columns: rows in which they are equal have a front of their own.
    pub per: Vec<String>,
    pub together: Option<Together>,
}

/// A front, and the values in which its rows are equal.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    pub of: Vec<(String, Value)>,
    /// Its rows are those of the whole table.
    pub front: Front,
}

impl Selection {
    /// The rows that take part, those that stand together as one.
    pub fn table(
        &self,
        mut table: Table,
        axes: &[String],
        (min, max): (&[String], &[String]),
    ) -> Result<Table, ParetoError> {
        for condition in self.only.iter().flat_map(|only| &only.0) {
            let column = named(&table, &condition.column)?;
            let name = table.columns[column].clone();
            let mut rows = Vec::new();
            for row in std::mem::take(&mut table.rows) {
                if condition.holds(&name, &row[column])? {
                    rows.push(row);
                }
            }
            table.rows = rows;
        }
        match (&self.together, table.column(COPY)) {
            (Some(how), Some(copy)) => Ok(together(table, axes, (min, max), copy, how)),
            (Some(_), None) => Err(ParetoError::OneCopy),
            (None, _) => Ok(table),
        }
    }

    /// A front for each group of rows of [`Self::table`].
    pub fn fronts(&self, table: &Table, (min, max): (&[String], &[String])) -> Result<Vec<Group>, ParetoError> {
        let columns = self.per.iter().map(|name| named(table, name)).collect::<Result<Vec<_>, _>>()?;
        let mut groups: Vec<(Vec<String>, Vec<usize>)> = Vec::new();
        for (place, row) in table.rows.iter().enumerate() {
            let key: Vec<_> = columns.iter().map(|column| row[*column].shown()).collect();
            match groups.iter_mut().find(|(known, _)| *known == key) {
                Some((_, rows)) => rows.push(place),
                None => groups.push((key, vec![place])),
            }
        }
        let mut fronts = Vec::new();
        for (_, rows) in groups {
            let of = |column: &usize| (table.columns[*column].clone(), table.rows[rows[0]][*column].clone());
            let of = columns.iter().map(of).collect();
            match front_of(table, &rows, min, max) {
                Ok(front) => fronts.push(Group { of, front }),
                Err(ParetoError::NoRows) => {}
                Err(error) => return Err(error),
            }
        }
        if fronts.is_empty() { Err(ParetoError::NoRows) } else { Ok(fronts) }
    }
}

/// The column that says in what part of the draws a point is on its front.
pub const ON_FRONT: &str = "on_front_in";

impl Selection {
    /// Adds to [`Self::table`] in what part of the draws in which a row has all objectives it is on its front; `whole` is the table that it was made of, and
    /// `draws` are by point. Nothing where no objective was drawn.
    pub fn add_certainty(
        &self,
        table: &mut Table,
        (whole, draws): (&Table, &HashMap<String, Numbers>),
        axes: &[String],
        (min, max): (&[String], &[String]),
    ) -> Result<(), ParetoError> {
        let objectives: Vec<&String> = min.iter().chain(max).collect();
        // A time may be asked for in another unit than that in which it was drawn.
        let drawn_as = |name: &str| table.column(&in_picos(name)).map_or_else(|| name.to_owned(), |_| in_picos(name));
        let drawn: Vec<String> = objectives.iter().map(|name| drawn_as(name)).collect();
        let count = |numbers: &Numbers| drawn.iter().find_map(|name| numbers.get(name)).map(Vec::len);
        let Some(count) = draws.values().find_map(count) else { return Ok(()) };
        let id = whole.column("id").ok_or(ParetoError::NoRows)?;
        // Rows are chosen by their own values, not by those that are drawn.
        let only = Self { only: self.only.clone(), ..Self::default() }.table(whole.clone(), axes, (min, max))?;
        let per = self.per.iter().map(|name| named(whole, name)).collect::<Result<Vec<_>, _>>()?;
        let is_needed = |(column, name): &(usize, &String)| {
            let fixed = [COPY, DOES_NOT_CLOSE.name].contains(&name.as_str());
            *column == 0 || fixed || axes.contains(name) || drawn.contains(name) || per.contains(column)
        };
        let needed: Vec<usize> = whole.columns.iter().enumerate().filter(is_needed).map(|(column, _)| column).collect();
        let columns: Vec<String> = needed.iter().map(|column| whole.columns[*column].clone()).collect();
        let without = Self { only: None, ..self.clone() };
        let mut on = vec![(0_usize, 0_usize); table.rows.len()];
        for draw in 0..count {
            let cell = |row: &Vec<Value>, column: usize| {
                let numbers = draws.get(&row[id].shown()).and_then(|numbers| numbers.get(&whole.columns[column]));
                numbers.map_or_else(|| row[column].clone(), |numbers| numbers.get(draw).copied().flatten().into())
            };
            let row = |row: &Vec<Value>| needed.iter().map(|column| cell(row, *column)).collect();
            let mut one = Table { columns: columns.clone(), rows: only.rows.iter().map(row).collect() };
            objectives.iter().for_each(|name| one.add_in_unit(name));
            let one = without.table(one, axes, (min, max))?;
            let groups = match without.fronts(&one, (min, max)) {
                Err(ParetoError::NoRows) => continue,
                groups => groups?,
            };
            let columns: Vec<_> = objectives.iter().filter_map(|name| one.column(name)).collect();
            for (row, (_, all)) in one.rows.iter().zip(&mut on) {
                *all += usize::from(columns.iter().all(|column| row[*column].number().is_some()));
            }
            groups.iter().flat_map(|group| &group.front.rows).for_each(|row| on[*row].0 += 1);
        }
        table.columns.push(ON_FRONT.to_owned());
        for (row, (on, all)) in table.rows.iter_mut().zip(on) {
            row.push(if all == 0 { Value::None } else { Value::Number(on as f64 / all as f64) });
        }
        Ok(())
    }
}

/// The column of a time in picoseconds, of which another has it in another unit.
fn in_picos(name: &str) -> String {
    let stem = ["_ns", "_us", "_ms", "_s"].iter().find_map(|end| name.strip_suffix(end));
    stem.map_or_else(|| name.to_owned(), |stem| format!("{stem}_ps"))
}

/// One row for those that differ in their copy alone; without objectives where one of the copies has no such row.
fn together(table: Table, axes: &[String], (min, max): (&[String], &[String]), copy: usize, how: &Together) -> Table {
    let mut copies: Vec<String> = Vec::new();
    let mut points: Vec<Vec<Vec<Value>>> = Vec::new();
    let mut places: HashMap<Vec<String>, usize> = HashMap::new();
    let keys: Vec<usize> = axes.iter().filter_map(|name| table.column(name)).filter(|column| *column != copy).collect();
    for row in table.rows {
        let name = row[copy].shown();
        if !copies.contains(&name) {
            copies.push(name);
        }
        let key = keys.iter().map(|column| row[*column].shown()).collect();
        let place = *places.entry(key).or_insert(points.len());
        if place == points.len() {
            points.push(Vec::new());
        }
        points[place].push(row);
    }
    let figures = columns(SWEEP);
    let is_rate = |name: &str| figures.iter().any(|one| one.name() == name && one.figure.unit == Unit::GbPerS);
    // The ends of an objective stand together as it does.
    let stem = |name: &str| ["_low", "_high"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name).to_owned();
    let among = |names: &[String], name: &String| names.contains(name) || names.contains(&stem(name));
    let row = |members: Vec<Vec<Value>>| -> Vec<Value> {
        let cell = |(column, name): (usize, &String)| {
            let own = &members[0][column];
            let large = among(max, name);
            if column == copy {
                return Value::Text(format!("{} of {}", how.name(), copies.join(", ")));
            }
            if large || among(min, name) {
                let number = |row: &Vec<Value>| Some((row[column].number()?, how.weight(&row[copy].shown())));
                let numbers = members.iter().map(number).collect::<Option<Vec<_>>>();
                let whole = numbers.filter(|numbers| numbers.len() == copies.len());
                return whole.map_or(Value::None, |numbers| Value::Number(how.of(&numbers, large, is_rate(name))));
            }
            if *name == DOES_NOT_CLOSE.name {
                let told = members.iter().map(|row| &row[column]).find(|cell| !cell.shown().is_empty());
                return told.unwrap_or(own).clone();
            }
            if column == 0 || members.iter().all(|row| row[column] == *own) { own.clone() } else { Value::None }
        };
        table.columns.iter().enumerate().map(cell).collect()
    };
    let rows = points.into_iter().map(row).collect();
    Table { columns: table.columns, rows }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Copy, release, bytes of a buffer, rate and area.
    fn table(rows: &[(&str, &str, i64, f64, i64)]) -> Table {
        let columns = ["index", "copy", "tag_queue.release", "a.buffer_bytes", "gb_per_s", "area_kge"];
        let row = |(place, row): (usize, &(&str, &str, i64, f64, i64))| {
            let (copy, release, buffer, rate, area) = *row;
            let text = |text: &str| Value::Text(text.to_owned());
            let own = [text(copy), text(release), Value::Integer(buffer), Value::Number(rate), Value::Integer(area)];
            std::iter::once(Value::Integer(place as i64)).chain(own).collect()
        };
        Table { columns: columns.map(str::to_owned).to_vec(), rows: rows.iter().enumerate().map(row).collect() }
    }

    fn points() -> Table {
        table(&[
            ("h2d:1MiB", "hold", 4096, 10.0, 5),
            ("d2h:1MiB", "hold", 4096, 2.0, 5),
            ("h2d:1MiB", "eager", 8192, 12.0, 7),
            ("d2h:1MiB", "eager", 8192, 1.0, 7),
        ])
    }

    fn axes() -> Vec<String> {
        ["copy", "tag_queue.release", "a.buffer_bytes"].map(str::to_owned).to_vec()
    }

    fn objectives() -> (Vec<String>, Vec<String>) {
        (vec!["area_kge".into()], vec!["gb_per_s".into()])
    }

    fn kept(only: &str) -> Result<Vec<i64>, ParetoError> {
        let selection = Selection { only: Some(only.parse().unwrap()), ..Selection::default() };
        let (min, max) = objectives();
        let rows = selection.table(points(), &axes(), (&min, &max))?.rows;
        Ok(rows.iter().map(|row| row[0].number().unwrap() as i64).collect())
    }

    #[test]
    fn conditions_compare_copies_texts_and_quantities_in_their_units() {
        assert_eq!(kept("copy=h2d:1024KiB"), Ok(vec![0, 2]));
        assert_eq!(kept("copy=h2d:1MiB and release=hold"), Ok(vec![0]));
        assert_eq!(kept("tag_queue.release!=hold"), Ok(vec![2, 3]));
        assert_eq!(kept("release=hold,eager and buffer=8KiB"), Ok(vec![2, 3]));
        assert_eq!(kept("buffer<=4 KiB"), Ok(vec![0, 1]));
        assert_eq!(kept("gb_per_s>2 and gb_per_s<12"), Ok(vec![0]));
        assert_eq!(kept("gb_per_s>=2 and area_kge<7"), Ok(vec![0, 1]));
        assert!(matches!(kept("colour=red"), Err(ParetoError::Unknown { .. })));
        assert!(matches!(kept("buffer<soon"), Err(ParetoError::Bound { .. })));
        for wrong in ["", "copy", "=h2d", "a<1,2", "a=", "a==b", "a!b", "a=1 and "] {
            assert!(wrong.parse::<Where>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_front_of_several_copies_is_refused_unless_each_has_its_own() {
        let (min, max) = objectives();
        let whole = Selection::default();
        assert!(matches!(whole.fronts(&points(), (&min, &max)), Err(ParetoError::Mixed { .. })));
        let each = Selection { per: vec!["copy".into()], ..Selection::default() };
        let fronts = each.fronts(&points(), (&min, &max)).unwrap();
        let rows: Vec<_> = fronts.iter().map(|group| (group.of[0].1.shown(), group.front.rows.clone())).collect();
        assert_eq!(rows, [("h2d:1MiB".to_owned(), vec![0, 2]), ("d2h:1MiB".to_owned(), vec![1])]);
    }

    #[test]
    fn a_point_is_certain_where_no_draw_takes_it_from_its_front() {
        let (min, max) = objectives();
        let mut whole = points();
        whole.columns.push("id".to_owned());
        let rates: [&[Option<f64>]; 4] = [
            &[Some(10.0), Some(11.0), Some(9.0), None],
            &[Some(2.0), Some(2.0), Some(2.0), Some(2.0)],
            &[Some(12.0), Some(10.0), Some(8.0), Some(8.0)],
            &[Some(1.0), Some(3.0), Some(1.0), Some(1.0)],
        ];
        let mut draws = HashMap::new();
        for ((row, rates), name) in whole.rows.iter_mut().zip(rates).zip(["a", "b", "c", "d"]) {
            row.push(Value::Text(name.to_owned()));
            draws.insert(name.to_owned(), Numbers::from([("gb_per_s".to_owned(), rates.to_vec())]));
        }
        let parts = |selection: &Selection| {
            let mut table = selection.table(whole.clone(), &axes(), (&min, &max)).unwrap();
            selection.add_certainty(&mut table, (&whole, &draws), &axes(), (&min, &max)).unwrap();
            let column = table.column(ON_FRONT).unwrap();
            table.rows.iter().map(|row| row[column].number()).collect::<Vec<_>>()
        };
        // The dearer of two copies one way is on the front where it is faster, and where the other gave no answer.
        let each = Selection { per: vec!["copy".into()], ..Selection::default() };
        assert_eq!(parts(&each), [Some(1.0), Some(1.0), Some(0.5), Some(0.25)]);
        let one = Selection { only: Some("copy=h2d:1MiB".parse().unwrap()), ..Selection::default() };
        assert_eq!(parts(&one), [Some(1.0), Some(0.5)]);
        // The worst is that of the way back.
        let both = Selection { together: Some(Together::Worst), ..Selection::default() };
        assert_eq!(parts(&both), [Some(1.0), Some(0.5)]);
    }

    #[test]
    fn copies_together_are_as_the_worst_of_them_or_as_their_mean() {
        let (min, max) = objectives();
        let both = |how| Selection { together: Some(how), ..Selection::default() };
        let rates = |how| {
            let table = both(how).table(points(), &axes(), (&min, &max)).unwrap();
            (table.rows.iter().map(|row| row[4].number().unwrap()).collect::<Vec<_>>(), table)
        };
        let (worst, table) = rates(Together::Worst);
        assert_eq!(worst, [2.0, 1.0]);
        assert_eq!(
            (table.rows[1][5].number(), table.rows[0][1].shown()),
            (Some(7.0), "worst of h2d:1MiB, d2h:1MiB".into())
        );
        assert_eq!(both(Together::Worst).fronts(&table, (&min, &max)).unwrap()[0].front.rows, [0]);
        // Three parts of the bytes one way and one the other: 4 / (3 / 10 + 1 / 2), 4 / (3 / 12 + 1 / 1).
        let (mean, _) = rates(Together::Weighted(vec![("h2d:1MiB".into(), 3.0)]));
        assert_eq!(mean, [5.0, 3.2]);
        // A point without one of the copies is none.
        let mut less = points();
        less.rows.pop();
        let table = both(Together::Worst).table(less, &axes(), (&min, &max)).unwrap();
        let front = both(Together::Worst).fronts(&table, (&min, &max)).unwrap().remove(0).front;
        assert_eq!((front.rows, front.compared, front.left_out), (vec![0], 1, 1));
    }
}
