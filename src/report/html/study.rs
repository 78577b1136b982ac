//! A sweep's table as results: its points, what its columns say, and its front.

use crate::{
    explore::sweep::{FolderRecord, Front, Heading, Table, front},
    figures::{self, Value, table::SWEEP},
    report::SCHEMA_VERSION,
};
use serde::Serialize;
use std::collections::HashSet;

/// Points of a page. Of a table with more, those on its front and some of the others are shown.
pub const MOST_POINTS: usize = 10_000;

#[derive(Debug, Clone, Serialize)]
pub struct StudyReport {
    schema_version: u32,
    study: String,
    simulator: String,
    text: String,
    axes: Vec<String>,
    /// Objectives of the study: columns to be small.
    min: Vec<String>,
    max: Vec<String>,
    columns: Vec<Column>,
    rows: Vec<Vec<Value>>,
    /// Rows of the whole table.
    points: usize,
    /// The front for the study's objectives, if it has any.
    front: Option<FrontRecord>,
}

#[derive(Debug, Clone, Serialize)]
struct Column {
    name: String,
    /// What people call it, with its unit where that is not the reader's choice.
    label: String,
    what: Option<String>,
}

/// Places in `rows`.
#[derive(Debug, Clone, Serialize)]
struct FrontRecord {
    rows: Vec<usize>,
    knee: Option<usize>,
    compared: usize,
    left_out: usize,
}

impl StudyReport {
    pub fn new(record: FolderRecord, table: Table) -> Self {
        let front = front(&table, &record.min, &record.max).ok();
        let kept = kept(table.rows.len(), front.as_ref());
        let place = |row: usize| kept.binary_search(&row).ok();
        let front = front.map(|front| FrontRecord {
            rows: front.rows.iter().filter_map(|row| place(*row)).collect(),
            knee: front.knee.and_then(place),
            compared: front.compared,
            left_out: front.left_out,
        });
        let figures = figures::columns(SWEEP);
        let what = |name: &str| figures.iter().find(|column| column.name() == name).map(|column| column.says());
        let column = |name: &String| Column { name: name.clone(), label: Heading::of(name).words, what: what(name) };
        Self {
            schema_version: SCHEMA_VERSION,
            study: record.study,
            simulator: record.simulator,
            text: record.text,
            axes: record.axes,
            min: record.min,
            max: record.max,
            columns: table.columns.iter().map(column).collect(),
            points: table.rows.len(),
            rows: kept.iter().map(|row| table.rows[*row].clone()).collect(),
            front,
        }
    }
}

/// Rows that a page shows, in the table's order: all, or those of the front and others at equal distances.
fn kept(rows: usize, front: Option<&Front>) -> Vec<usize> {
    if rows <= MOST_POINTS {
        return (0..rows).collect();
    }
    let step = rows.div_ceil(MOST_POINTS);
    let mut kept: HashSet<usize> = (0..rows).step_by(step).collect();
    kept.extend(front.into_iter().flat_map(|front| front.rows.iter().copied().take(MOST_POINTS)));
    let mut kept: Vec<usize> = kept.into_iter().collect();
    kept.sort_unstable();
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> FolderRecord {
        let text = |text: &str| text.to_owned();
        FolderRecord {
            study: text("s"),
            study_digest: String::new(),
            simulator: text("0"),
            text: String::new(),
            axes: vec![text("x")],
            min: vec![text("x")],
            max: vec![text("gb_per_s")],
            residuals: Vec::new(),
        }
    }

    fn report(rows: i64) -> serde_json::Value {
        // The last two points beat all others.
        let rate = |row: i64| if row >= rows - 2 { 1_000_000 + rows - row } else { -row };
        let row = |row: i64| vec![Value::Integer(if row >= rows - 2 { -row } else { row }), Value::Integer(rate(row))];
        let columns = ["x", "gb_per_s"].map(str::to_owned).to_vec();
        let table = Table { columns, rows: (0..rows).map(row).collect() };
        serde_json::to_value(StudyReport::new(record(), table)).unwrap()
    }

    #[test]
    fn a_small_table_is_whole_and_its_columns_say_what_they_are() {
        let report = report(5);
        assert_eq!(report["rows"].as_array().map(Vec::len), Some(5));
        assert_eq!(report["front"]["rows"], serde_json::json!([3, 4]));
        assert_eq!(report["columns"][1]["what"], "10^9 bytes per second from the call to the copy's end");
        assert_eq!(report["columns"][0]["what"], serde_json::Value::Null);
    }

    #[test]
    fn a_large_table_is_thinned_and_keeps_its_front() {
        let report = report(25_000);
        let rows = report["rows"].as_array().unwrap();
        assert!((5_000..=MOST_POINTS).contains(&rows.len()), "{}", rows.len());
        assert_eq!(report["points"], 25_000);
        let front = report["front"]["rows"].as_array().unwrap();
        let value = |place: &serde_json::Value| rows[place.as_u64().unwrap() as usize][0].as_i64();
        assert_eq!(front.iter().map(value).collect::<Vec<_>>(), [Some(-24_998), Some(-24_999)]);
    }
}
