//! The table of a sweep: as CSV and Parquet, one row per point in the study's order.

use super::column::{AxisColumn, parsed};
use super::folder_error::{FolderError, failed};
use super::lines::BoundedLines;
use super::partial::Partial;
use super::row::{COLUMNS, Row, Value};
use super::study::StudyError;
use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
use parquet::errors::ParquetError;
use parquet::file::{properties::WriterProperties, writer::SerializedFileWriter};
use parquet::schema::types::Type;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use thiserror::Error;

/// Why there is no table.
#[derive(Debug, Error)]
pub enum TableError {
    /// A file.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The study.
    #[error(transparent)]
    Study(#[from] StudyError),
    /// The CSV writer.
    #[error("{0}")]
    Csv(String),
    /// The Parquet writer.
    #[error("{0}")]
    Parquet(#[from] ParquetError),
}

/// Columns of figures that hold texts.
const TEXTS: [&str; 4] = ["limited_by", "limited_parameter", "after_first_success", "cost_notes"];

/// Ends of the names of columns of times, and how many picoseconds one is.
const TIME_UNITS: [(&str, f64); 4] = [("_ns", 1e3), ("_us", 1e6), ("_ms", 1e9), ("_s", 1e12)];

/// Rows and what their columns are called.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Columns: `index`, the axes, the figures, `error`, `id`.
    pub columns: Vec<String>,
    /// By row and column.
    pub rows: Vec<Vec<Value>>,
}

impl Table {
    /// Reads what a [`TableWriter`] wrote as CSV.
    ///
    /// # Errors
    /// If it is not there or is no table, or has a line of more than [`LONGEST_LINE`](super::LONGEST_LINE).
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

    /// As CSV, with a head line.
    ///
    /// # Errors
    /// [`TableError::Csv`].
    pub fn csv(&self) -> Result<Vec<u8>, TableError> {
        let wrong = |error: &dyn std::fmt::Display| TableError::Csv(error.to_string());
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(&self.columns).map_err(|error| wrong(&error))?;
        for row in &self.rows {
            writer.write_record(row.iter().map(Value::shown)).map_err(|error| wrong(&error))?;
        }
        writer.into_inner().map_err(|error| wrong(&error))
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

    /// The place of a column.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column == name)
    }
}

/// The names of all columns.
pub(super) fn columns(axes: &[AxisColumn]) -> Vec<String> {
    let figures = COLUMNS.iter().map(|(name, _)| (*name).to_owned());
    let ends = ["error".to_owned(), "id".to_owned()];
    let axes = axes.iter().map(|axis| axis.name.clone());
    std::iter::once("index".to_owned()).chain(axes).chain(figures).chain(ends).collect()
}

/// The values of a row, by column.
fn values(axes: &[AxisColumn], row: &Row) -> Vec<Value> {
    let settings = axes.iter().zip(&row.point.settings);
    let settings = settings.map(|(axis, (_, value))| value.as_deref().map_or(Value::None, |value| axis.value(value)));
    let figures = COLUMNS.iter().map(|(name, _)| row.figures.get(*name).cloned().unwrap_or(Value::None));
    let error = row.error.clone().map_or(Value::None, Value::Text);
    let ends = [error, Value::Text(row.point.id.to_string())];
    std::iter::once(Value::Integer(row.point.index as i64)).chain(settings).chain(figures).chain(ends).collect()
}

/// Rows of one group of the Parquet file, which are all that a writer holds.
const GROUP: usize = 1024;

/// Writes points.csv and points.parquet, row by row. Neither has its name before both are whole.
pub struct TableWriter {
    axes: Vec<AxisColumn>,
    csv: csv::Writer<Partial>,
    parquet: SerializedFileWriter<Partial>,
    /// By column: whether it is of numbers, else of texts.
    numeric: Vec<bool>,
    group: Vec<Vec<Value>>,
}

impl TableWriter {
    /// Begins both files in a folder.
    ///
    /// # Errors
    /// If one cannot be made or written.
    pub fn create(folder: &Path, axes: Vec<AxisColumn>) -> Result<Self, TableError> {
        let names = columns(&axes);
        let numeric: Vec<bool> = names.iter().enumerate().map(|(place, name)| is_numeric(&axes, place, name)).collect();
        let mut csv = csv::Writer::from_writer(Partial::create(&folder.join("points.csv"))?);
        csv.write_record(&names).map_err(|error| failed_csv(&error))?;
        let fields = names.iter().zip(&numeric).map(|(name, numeric)| {
            let physical = if *numeric { Physical::DOUBLE } else { Physical::BYTE_ARRAY };
            let logical = (!numeric).then_some(LogicalType::String);
            let builder = Type::primitive_type_builder(name, physical).with_repetition(Repetition::OPTIONAL);
            builder.with_logical_type(logical).build().map(Arc::new)
        });
        let schema = Type::group_type_builder("points").with_fields(fields.collect::<Result<_, _>>()?).build()?;
        let out = Partial::create(&folder.join("points.parquet"))?;
        let properties = Arc::new(WriterProperties::builder().build());
        let parquet = SerializedFileWriter::new(out, Arc::new(schema), properties)?;
        Ok(Self { axes, csv, parquet, numeric, group: Vec::new() })
    }

    /// Adds a row.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn add(&mut self, row: &Row) -> Result<(), TableError> {
        let values = values(&self.axes, row);
        self.csv.write_record(values.iter().map(Value::shown)).map_err(|error| failed_csv(&error))?;
        self.group.push(values);
        if self.group.len() == GROUP { self.end_group() } else { Ok(()) }
    }

    fn end_group(&mut self) -> Result<(), TableError> {
        let mut group = self.parquet.next_row_group()?;
        for (column, numeric) in self.numeric.iter().enumerate() {
            let Some(mut out) = group.next_column()? else { break };
            let values = || self.group.iter().map(move |row| &row[column]);
            let levels: Vec<i16> = values().map(|value| i16::from(*value != Value::None)).collect();
            if *numeric {
                let numbers: Vec<f64> = values().filter_map(Value::number).collect();
                out.typed::<DoubleType>().write_batch(&numbers, Some(&levels), None)?;
            } else {
                let there = values().filter(|value| **value != Value::None);
                let texts: Vec<ByteArray> = there.map(|value| ByteArray::from(value.shown().into_bytes())).collect();
                out.typed::<ByteArrayType>().write_batch(&texts, Some(&levels), None)?;
            }
            out.close()?;
        }
        group.close()?;
        self.group.clear();
        Ok(())
    }

    /// Ends both files and gives them their names.
    ///
    /// # Errors
    /// If one cannot be written; the old ones are then still there.
    pub fn finish(mut self) -> Result<(), TableError> {
        if !self.group.is_empty() {
            self.end_group()?;
        }
        let parquet = self.parquet.into_inner()?;
        let csv = self.csv.into_inner().map_err(|error| TableError::Csv(error.error().to_string()))?;
        csv.finish()?;
        Ok(parquet.finish()?)
    }
}

fn failed_csv(error: &csv::Error) -> TableError {
    TableError::Csv(error.to_string())
}

/// A column is of numbers if every value in it is one, whatever the rows.
fn is_numeric(axes: &[AxisColumn], place: usize, name: &str) -> bool {
    match place.checked_sub(1).and_then(|place| axes.get(place)) {
        Some(axis) => axis.numeric,
        None => !TEXTS.contains(&name) && !["error", "id"].contains(&name),
    }
}

impl Value {
    /// As a number, if it is one.
    #[must_use]
    pub const fn number(&self) -> Option<f64> {
        match self {
            Self::Integer(number) => Some(*number as f64),
            Self::Number(number) => Some(*number),
            Self::Text(_) | Self::None => None,
        }
    }

    /// As text; nothing where it does not apply.
    #[must_use]
    pub fn shown(&self) -> String {
        match self {
            Self::Integer(number) => number.to_string(),
            Self::Number(number) => number.to_string(),
            Self::Text(text) => text.clone(),
            Self::None => String::new(),
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
