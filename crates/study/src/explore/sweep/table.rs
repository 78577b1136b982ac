//! The table of a sweep: as CSV and Parquet, one row per point in the study's order.

use super::column::{AxisColumn, parsed};
use super::folder_error::{FolderError, failed};
use super::lines::BoundedLines;
use super::study::StudyError;
use crate::figures::{self, Column, Value, table::SWEEP};
use crate::files::WholeFile;
use crate::table::PointRow;
#[cfg(feature = "parquet")]
use crate::table::parquet::ParquetWriter;
use std::fs::File;
use std::path::Path;
use thiserror::Error;

#[derive(Debug, Error)]
pub enum TableError {
    #[error(transparent)]
    Folder(#[from] FolderError),
    #[error(transparent)]
    Study(#[from] StudyError),
    #[error("{0}")]
    Csv(String),
    #[cfg(feature = "parquet")]
    #[error("{0}")]
    Parquet(#[from] crate::table::parquet::ParquetError),
}

/// Ends of the names of columns of times, and how many picoseconds one is.
const TIME_UNITS: [(&str, f64); 4] = [("_ns", 1e3), ("_us", 1e6), ("_ms", 1e9), ("_s", 1e12)];

/// Rows and what their columns are called.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Columns: `index`, the axes, the figures, `error`, `id`.
    pub columns: Vec<String>,
    pub rows: Vec<Vec<Value>>,
}

impl Table {
    /// Reads what a [`TableWriter`] wrote as CSV.
    pub fn read_csv(path: &Path) -> Result<Self, TableError> {
        let wrong = |error: csv::Error| TableError::Csv(format!("{}: {error}", path.display()));
        let file = File::open(path).map_err(failed(path))?;
        let mut reader = csv::Reader::from_reader(BoundedLines::new(file));
        let columns = reader.headers().map_err(wrong)?.iter().map(str::to_owned).collect();
        let value = |text: &str| if text.is_empty() { Value::None } else { parsed(text) };
        let row = |record: Result<csv::StringRecord, _>| Ok(record.map_err(wrong)?.iter().map(value).collect());
        let rows = reader.records().map(row).collect::<Result<_, TableError>>()?;
        Ok(Self { columns, rows })
    }

    /// As CSV, with a head line. A cell without a value is empty.
    pub fn text(&self) -> Result<String, TableError> {
        let rows = self.rows.iter().map(|row| row.iter().map(Value::shown).collect());
        csv_text(std::iter::once(self.columns.clone()).chain(rows)).map_err(|error| failed_csv(&error))
    }

    /// Adds a column of times that is asked for in another unit than the table's, `exposure_ns` where it has `exposure_ps`.
    pub fn add_in_unit(&mut self, name: &str) {
        let stem = |&(ending, _): &(&str, f64)| name.strip_suffix(ending).map(|stem| format!("{stem}_ps"));
        let found = TIME_UNITS.iter().find_map(|unit| Some((self.column(&stem(unit)?)?, unit.1)));
        let Some((column, scale)) = found.filter(|_| self.column(name).is_none()) else { return };
        self.columns.push(name.to_owned());
        for row in &mut self.rows {
            let picos = row.get(column).and_then(Value::number);
            row.push(picos.map_or(Value::None, |picos| Value::Number(picos / scale)));
        }
    }

    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column == name)
    }
}

/// Records as CSV, of which the first is the head.
pub fn csv_text(records: impl IntoIterator<Item = Vec<String>>) -> csv::Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    records.into_iter().try_for_each(|record| writer.write_record(record))?;
    let bytes = writer.into_inner().map_err(|error| error.into_error())?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

pub(super) fn columns(axes: &[AxisColumn]) -> Vec<String> {
    let figures = figures::columns(SWEEP).into_iter().map(Column::name);
    let ends = ["error".to_owned(), "id".to_owned()];
    let axes = axes.iter().map(|axis| axis.name.clone());
    std::iter::once("index".to_owned()).chain(axes).chain(figures).chain(ends).collect()
}

/// The values of a row, in the order of `columns`, which [`columns`] gives for these axes.
pub(super) fn values(axes: &[AxisColumn], columns: &[String], row: &PointRow) -> Vec<Value> {
    let settings = axes.iter().zip(&row.point.settings);
    let settings = settings.map(|(axis, (_, value))| value.as_deref().map_or(Value::None, |value| axis.value(value)));
    let figure = |name: &String| row.figures.get(name).cloned().unwrap_or(Value::None);
    let figures = columns[1 + axes.len()..columns.len() - 2].iter().map(figure);
    let error = row.error.clone().map_or(Value::None, Value::Text);
    let ends = [error, Value::Text(row.point.id.to_string())];
    std::iter::once(Value::Integer(row.point.index as i64)).chain(settings).chain(figures).chain(ends).collect()
}

/// Writes points.csv and, with the feature `parquet`, points.parquet, row by row. Neither has its name before both are whole.
pub struct TableWriter {
    axes: Vec<AxisColumn>,
    columns: Vec<String>,
    csv: csv::Writer<WholeFile>,
    #[cfg(feature = "parquet")]
    parquet: ParquetWriter,
}

impl TableWriter {
    pub fn create(folder: &Path, axes: Vec<AxisColumn>) -> Result<Self, TableError> {
        let names = columns(&axes);
        let mut csv = csv::Writer::from_writer(created(&folder.join("points.csv"))?);
        csv.write_record(&names).map_err(|error| failed_csv(&error))?;
        Ok(Self {
            csv,
            #[cfg(feature = "parquet")]
            parquet: {
                let numeric = |(place, name): (usize, &String)| is_numeric(&axes, place, name);
                let numeric = names.iter().enumerate().map(numeric).collect();
                ParquetWriter::create(created(&folder.join("points.parquet"))?, &names, numeric)?
            },
            axes,
            columns: names,
        })
    }

    pub fn add(&mut self, row: &PointRow) -> Result<(), TableError> {
        let values = values(&self.axes, &self.columns, row);
        self.csv.write_record(values.iter().map(Value::shown)).map_err(|error| failed_csv(&error))?;
        #[cfg(feature = "parquet")]
        self.parquet.add(values)?;
        Ok(())
    }

    /// Ends the files and gives them their names. If that fails, the old ones are still there.
    pub fn finish(self) -> Result<(), TableError> {
        #[cfg(feature = "parquet")]
        let parquet = self.parquet.finish()?;
        let csv = self.csv.into_inner().map_err(|error| TableError::Csv(error.error().to_string()))?;
        csv.keep().map_err(FolderError::from)?;
        #[cfg(feature = "parquet")]
        WholeFile::keep_buffered(parquet).map_err(FolderError::from)?;
        Ok(())
    }
}

fn created(path: &Path) -> Result<WholeFile, FolderError> {
    Ok(WholeFile::create(path)?)
}

fn failed_csv(error: &csv::Error) -> TableError {
    TableError::Csv(error.to_string())
}

/// A column is of numbers if every value in it is one, whatever the rows.
#[cfg(feature = "parquet")]
fn is_numeric(axes: &[AxisColumn], place: usize, name: &str) -> bool {
    match place.checked_sub(1).and_then(|place| axes.get(place)) {
        Some(axis) => axis.numeric,
        None => {
            let texts = figures::columns(SWEEP).into_iter().filter(|column| column.figure.unit == figures::Unit::Text);
            !texts.map(|column| column.name()).chain(["error", "id"].map(str::to_owned)).any(|text| text == name)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_can_be_asked_for_in_other_units_and_nothing_else_can() {
        let rows = vec![vec![Value::Integer(2_500), Value::Number(3.0)], vec![Value::None, Value::Number(4.0)]];
        let table = Table { columns: ["exposure_ps", "gb_per_s"].map(str::to_owned).to_vec(), rows };
        let mut asked = table.clone();
        for name in ["exposure_ps", "gb_per_s", "gb_per_ns", "area_ns", "exposure"] {
            asked.add_in_unit(name);
        }
        assert_eq!(asked, table);
        asked.add_in_unit("exposure_ns");
        asked.add_in_unit("exposure_ns");
        assert_eq!(asked.columns[2..], ["exposure_ns"]);
        assert_eq!((&asked.rows[0][2], &asked.rows[1][2]), (&Value::Number(2.5), &Value::None));
    }
}
