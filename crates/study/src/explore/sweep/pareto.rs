//! The front of a table: the rows that no other row beats.
//!
//! A row beats another if it is at least as good in every objective and better in one. Equal rows stay together.

use super::table::Table;
use crate::figures::{Value, table::DOES_NOT_CLOSE};
use thiserror::Error;

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ParetoError {
    #[error("no column `{name}`; there are {known}")]
    Unknown {
        name: String,
        /// The columns that hold numbers.
        known: String,
    },
    #[error("no objective: give --min COLUMN or --max COLUMN")]
    NoObjective,
    #[error("no point has a number in every objective")]
    NoRows,
    #[error("`{name}` may be {of}: write which")]
    Ambiguous { name: String, of: String },
    #[error("`{column}` cannot be held against `{value}`: that is no number, or not in its unit")]
    Bound { column: String, value: String },
    /// Different work is neither better nor worse.
    #[error("points of different copies, which no front can hold against each other: {copies}")]
    Mixed { copies: String },
    #[error("the copy is no axis of the study: there are none that could stand together")]
    OneCopy,
}

/// The axis whose values are different work.
pub(super) const COPY: &str = "copy";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Front {
    /// Rows on it, in the table's order.
    pub rows: Vec<usize>,
    /// Of three rows and more: where the objectives, each from its worst on the front to its best, are greatest in sum. Beyond it one is
    /// bought with more of another.
    pub knee: Option<usize>,
    /// Rows that took part.
    pub taken: Vec<usize>,
    pub compared: usize,
    /// Rows without a number in some objective, or of a design that does not close at its clock.
    pub left_out: usize,
}

/// The front of a table for columns to be small and columns to be large.
pub fn front(table: &Table, min: &[String], max: &[String]) -> Result<Front, ParetoError> {
    front_of(table, &(0..table.rows.len()).collect::<Vec<_>>(), min, max)
}

/// The front of some rows of a table.
pub(super) fn front_of(table: &Table, rows: &[usize], min: &[String], max: &[String]) -> Result<Front, ParetoError> {
    let unknown = |name: &String| {
        let numbers = table
            .columns
            .iter()
            .enumerate()
            .filter(|(column, _)| table.rows.iter().any(|row| row[*column].number().is_some()));
        let known = numbers.map(|(_, name)| name.as_str()).collect::<Vec<_>>().join(", ");
        ParetoError::Unknown { name: name.clone(), known }
    };
    let signed = min.iter().map(|name| (name, 1.0)).chain(max.iter().map(|name| (name, -1.0)));
    let columns: Vec<(usize, f64)> = signed
        .map(|(name, sign)| table.column(name).map(|column| (column, sign)).ok_or_else(|| unknown(name)))
        .collect::<Result<_, _>>()?;
    if columns.is_empty() {
        return Err(ParetoError::NoObjective);
    }
    let score = |row: &Vec<Value>| -> Option<Vec<f64>> {
        columns
            .iter()
            .map(|(column, sign)| Some(row[*column].number().filter(|value| value.is_finite())? * sign))
            .collect()
    };
    // A design that does not close at its clock is none.
    let column = table.column(DOES_NOT_CLOSE.name);
    let closes = |row: &[Value]| column.is_none_or(|column| row[column].shown().is_empty());
    let closing = rows.iter().map(|place| (*place, &table.rows[*place])).filter(|(_, row)| closes(row));
    let mut scored: Vec<(usize, Vec<f64>)> = closing.filter_map(|(place, row)| Some((place, score(row)?))).collect();
    let (compared, left_out) = (scored.len(), rows.len() - scored.len());
    if compared == 0 {
        return Err(ParetoError::NoRows);
    }
    one_work(table, &scored)?;
    let taken = scored.iter().map(|(place, _)| *place).collect();
    // A row that beats another comes before it in lexical order.
    scored.sort_by(|(_, one), (_, other)| one.partial_cmp(other).unwrap_or(std::cmp::Ordering::Equal));
    let mut front: Vec<(usize, Vec<f64>)> = Vec::new();
    for (place, own) in scored {
        if !front.iter().any(|(_, other)| beats(other, &own)) {
            front.push((place, own));
        }
    }
    let knee = knee(&front);
    let mut rows: Vec<usize> = front.into_iter().map(|(place, _)| place).collect();
    rows.sort_unstable();
    Ok(Front { rows, knee, taken, compared, left_out })
}

fn one_work(table: &Table, scored: &[(usize, Vec<f64>)]) -> Result<(), ParetoError> {
    let Some(column) = table.column(COPY) else { return Ok(()) };
    let mut copies: Vec<String> = scored.iter().map(|(row, _)| table.rows[*row][column].shown()).collect();
    copies.sort_unstable();
    copies.dedup();
    if copies.len() > 1 { Err(ParetoError::Mixed { copies: copies.join(", ") }) } else { Ok(()) }
}

/// The scores are less the better. Of equals, the first of the table.
fn knee(front: &[(usize, Vec<f64>)]) -> Option<usize> {
    let objectives = front.first()?.1.len();
    if front.len() < 3 || objectives < 2 {
        return None;
    }
    let ends = |place: usize| {
        let scores = front.iter().map(move |(_, scores)| scores[place]);
        scores.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), score| (low.min(score), high.max(score)))
    };
    let ends: Vec<(f64, f64)> = (0..objectives).map(ends).collect();
    let lost = |scores: &[f64]| -> f64 {
        let each = scores.iter().zip(&ends).filter(|(_, (low, high))| high > low);
        each.map(|(score, (low, high))| (score - low) / (high - low)).sum()
    };
    let order = |one: &&(usize, Vec<f64>), other: &&(usize, Vec<f64>)| {
        lost(&one.1).total_cmp(&lost(&other.1)).then(one.0.cmp(&other.0))
    };
    front.iter().min_by(order).map(|(place, _)| *place)
}

fn beats(one: &[f64], other: &[f64]) -> bool {
    let pairs = || one.iter().zip(other);
    pairs().all(|(one, other)| one <= other) && pairs().any(|(one, other)| one < other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn table(rows: &[(i64, i64, i64)]) -> Table {
        let columns = ["a", "b", "c"].map(str::to_owned).to_vec();
        let row = |&(a, b, c): &(i64, i64, i64)| [a, b, c].map(Value::Integer).to_vec();
        Table { columns, rows: rows.iter().map(row).collect() }
    }

    proptest! {
        #[test]
        fn the_front_is_what_brute_force_finds(rows in prop::collection::vec((0..8_i64, 0..8_i64, 0..8_i64), 1..60)) {
            let found = front(&table(&rows), &["a".into(), "b".into()], &["c".into()]).unwrap();
            let beaten = |&(a, b, c): &(i64, i64, i64)| {
                rows.iter().any(|&(d, e, f)| d <= a && e <= b && f >= c && (d < a || e < b || f > c))
            };
            let expected: Vec<usize> = (0..rows.len()).filter(|place| !beaten(&rows[*place])).collect();
            prop_assert_eq!(found.rows, expected);
        }

        #[test]
        fn a_point_that_does_not_close_is_on_no_front_and_beats_no_other(
            rows in prop::collection::vec(((0..8_i64, 0..8_i64, 0..8_i64), any::<bool>()), 1..60),
        ) {
            let (min, max) = (["a".to_owned(), "b".to_owned()], ["c".to_owned()]);
            let mut told = table(&rows.iter().map(|(row, _)| *row).collect::<Vec<_>>());
            told.columns.push(DOES_NOT_CLOSE.name.to_owned());
            for (row, (_, closes)) in told.rows.iter_mut().zip(&rows) {
                row.push(if *closes { Value::None } else { Value::Text("does not close at 2 GHz".to_owned()) });
            }
            let places: Vec<usize> = (0..rows.len()).filter(|place| rows[*place].1).collect();
            let alone = table(&places.iter().map(|place| rows[*place].0).collect::<Vec<_>>());
            let in_whole = |alone: Front| alone.rows.into_iter().map(|row| places[row]).collect::<Vec<_>>();
            prop_assert_eq!(front(&told, &min, &max).map(|front| front.rows), front(&alone, &min, &max).map(in_whole));
        }
    }

    #[test]
    fn the_knee_is_where_the_least_is_lost_and_ends_of_a_front_are_none() {
        let bent = table(&[(0, 0, 0), (1, 0, 80), (2, 0, 90), (10, 0, 100)]);
        let knee = |table: &Table| front(table, &["a".into()], &["c".into()]).unwrap().knee;
        // Lost: 1, 0.1 + 0.2, 0.2 + 0.1, 1; of equals the first.
        assert_eq!(knee(&bent), Some(1));
        assert_eq!(knee(&table(&[(0, 0, 0), (1, 0, 80)])), None);
        assert_eq!(front(&bent, &["a".into()], &[]).unwrap().knee, None);
    }

    #[test]
    fn rows_without_a_number_are_left_out_and_counted() {
        let mut table = table(&[(1, 1, 1), (0, 0, 0)]);
        table.rows[1][0] = Value::None;
        assert_eq!(
            front(&table, &["a".into()], &[]),
            Ok(Front { rows: vec![0], knee: None, taken: vec![0], compared: 1, left_out: 1 })
        );
        assert!(matches!(front(&table, &["d".into()], &[]), Err(ParetoError::Unknown { .. })));
        assert_eq!(front(&table, &[], &[]), Err(ParetoError::NoObjective));
    }
}
