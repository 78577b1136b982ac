//! The table of a sweep as Parquet: numbers as `DOUBLE`, texts as UTF-8, each of them optional.

use crate::{figures::Value, files::WholeFile};
use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
pub use parquet::errors::ParquetError;
use parquet::file::{properties::WriterProperties, writer::SerializedFileWriter};
use parquet::schema::types::Type;
use std::{io::BufWriter, sync::Arc};

/// Rows of one group, which are all that a writer holds.
const GROUP: usize = 1024;

pub struct ParquetWriter {
    file: SerializedFileWriter<BufWriter<WholeFile>>,
    /// By column: whether it is of numbers, else of texts.
    numeric: Vec<bool>,
    group: Vec<Vec<Value>>,
}

impl ParquetWriter {
    /// Begins a file with the columns `names`, of which some are `numeric`.
    pub fn create(out: WholeFile, names: &[String], numeric: Vec<bool>) -> Result<Self, ParquetError> {
        let fields = names.iter().zip(&numeric).map(|(name, numeric)| {
            let physical = if *numeric { Physical::DOUBLE } else { Physical::BYTE_ARRAY };
            let logical = (!numeric).then_some(LogicalType::String);
            let builder = Type::primitive_type_builder(name, physical).with_repetition(Repetition::OPTIONAL);
            builder.with_logical_type(logical).build().map(Arc::new)
        });
        let schema = Type::group_type_builder("points").with_fields(fields.collect::<Result<_, _>>()?).build()?;
        let properties = Arc::new(WriterProperties::builder().build());
        let file = SerializedFileWriter::new(BufWriter::new(out), Arc::new(schema), properties)?;
        Ok(Self { file, numeric, group: Vec::new() })
    }

    pub fn add(&mut self, values: Vec<Value>) -> Result<(), ParquetError> {
        self.group.push(values);
        if self.group.len() == GROUP { self.end_group() } else { Ok(()) }
    }

    fn end_group(&mut self) -> Result<(), ParquetError> {
        let mut group = self.file.next_row_group()?;
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

    pub fn finish(mut self) -> Result<BufWriter<WholeFile>, ParquetError> {
        if !self.group.is_empty() {
            self.end_group()?;
        }
        self.file.into_inner()
    }
}
