//! The table of a sweep: as CSV and Parquet, one row per point in the study's order.

use super::figures::{COLUMNS, Row, Value};
use super::folder::{FolderError, write_whole};
use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
use parquet::errors::ParquetError;
use parquet::file::{properties::WriterProperties, writer::SerializedFileWriter};
use parquet::schema::types::Type;
use std::path::Path;
use std::sync::Arc;
use thiserror::Error;

/// Why there is no table.
#[derive(Debug, Error)]
pub enum TableError {
    /// A file.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The CSV writer.
    #[error("{0}")]
    Csv(String),
    /// The Parquet writer.
    #[error("points.parquet: {0}")]
    Parquet(#[from] ParquetError),
}

/// Columns of figures that hold texts.
const TEXTS: [&str; 2] = ["limited_by", "cost_notes"];

/// Rows and what their columns are called.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Columns: `index`, the axes, the figures, `error`, `id`.
    pub columns: Vec<String>,
    /// By row and column.
    pub rows: Vec<Vec<Value>>,
}

/// A text that is a number becomes one, so that axes sort and plot as numbers.
fn parsed(text: &str) -> Value {
    text.parse::<i64>()
        .map(Value::Integer)
        .or_else(|_| text.parse::<f64>().map(Value::Number))
        .unwrap_or_else(|_| Value::Text(text.to_owned()))
}

impl Table {
    /// The table of so many rows.
    #[must_use]
    pub fn new(axes: &[String], rows: &[Row]) -> Self {
        let figures = COLUMNS.iter().map(|(name, _)| (*name).to_owned());
        let index = std::iter::once("index".to_owned());
        let ends = ["error".to_owned(), "id".to_owned()];
        let columns = index.chain(axes.iter().cloned()).chain(figures).chain(ends).collect();
        let row = |row: &Row| {
            let settings = row.point.settings.iter().map(|(_, value)| value.as_deref().map_or(Value::None, parsed));
            let figures = COLUMNS.iter().map(|(name, _)| row.figures.get(*name).cloned().unwrap_or(Value::None));
            let error = row.error.clone().map_or(Value::None, Value::Text);
            let ends = [error, Value::Text(row.point.id.clone())];
            std::iter::once(Value::Integer(row.point.index as i64)).chain(settings).chain(figures).chain(ends).collect()
        };
        Self { columns, rows: rows.iter().map(row).collect() }
    }

    /// Reads what [`Table::write`] wrote as CSV.
    ///
    /// # Errors
    /// If it is not there or is no table.
    pub fn read_csv(path: &Path) -> Result<Self, TableError> {
        let wrong = |error: csv::Error| TableError::Csv(format!("{}: {error}", path.display()));
        let mut reader = csv::Reader::from_path(path).map_err(wrong)?;
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

    /// As Parquet: a column is of doubles if every value in it is a number, else of texts.
    ///
    /// # Errors
    /// [`TableError::Parquet`].
    pub fn parquet(&self) -> Result<Vec<u8>, TableError> {
        let numeric: Vec<bool> = (0..self.columns.len()).map(|column| self.is_numeric(column)).collect();
        let fields = self.columns.iter().zip(&numeric).map(|(name, numeric)| {
            let physical = if *numeric { Physical::DOUBLE } else { Physical::BYTE_ARRAY };
            let logical = (!numeric).then_some(LogicalType::String);
            let builder = Type::primitive_type_builder(name, physical).with_repetition(Repetition::OPTIONAL);
            builder.with_logical_type(logical).build().map(Arc::new)
        });
        let schema = Type::group_type_builder("points").with_fields(fields.collect::<Result<_, _>>()?).build()?;
        let properties = Arc::new(WriterProperties::builder().build());
        let mut writer = SerializedFileWriter::new(Vec::new(), Arc::new(schema), properties)?;
        let mut group = writer.next_row_group()?;
        for (column, numeric) in numeric.into_iter().enumerate() {
            let Some(mut out) = group.next_column()? else { break };
            let values = || self.rows.iter().map(move |row| &row[column]);
            let levels: Vec<i16> = values().map(|value| i16::from(*value != Value::None)).collect();
            if numeric {
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
        Ok(writer.into_inner()?)
    }

    fn is_numeric(&self, column: usize) -> bool {
        let known = COLUMNS.iter().any(|(name, _)| *name == self.columns[column] && !TEXTS.contains(name));
        let texts = self.rows.iter().any(|row| matches!(row[column], Value::Text(_)));
        known || (!texts && !["error", "id"].contains(&self.columns[column].as_str()))
    }

    /// Writes both files into a folder, each whole or not at all.
    ///
    /// # Errors
    /// If one cannot be made or written.
    pub fn write(&self, folder: &Path) -> Result<(), TableError> {
        write_whole(&folder.join("points.csv"), &self.csv()?)?;
        write_whole(&folder.join("points.parquet"), &self.parquet()?)?;
        Ok(())
    }

    /// The place of a column.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column == name)
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
