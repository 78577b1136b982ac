//! The head of a table: which one it is, and where its columns are. Columns that are not known are passed over.

use super::{
    cells::{Line, cells, content},
    unit,
};
use crate::{files::Refusal, workload::trace::time::Time};
use std::ops::Range;

/// The head of a table that has starts and durations.
#[derive(Debug)]
pub(super) struct Head {
    columns: Vec<Column>,
    pub separator: char,
}

/// `Start (ns)`: a name in small letters, and a unit.
#[derive(Debug)]
struct Column {
    name: String,
    unit: String,
    span: Range<usize>,
}

impl Head {
    pub fn of(line: &str) -> Option<Self> {
        // Most lines are rows and begin with a digit.
        if line.trim_start().starts_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
        let separator = if line.contains('\t') && !line.contains(',') { '\t' } else { ',' };
        let columns = cells(line, separator).into_iter().map(|span| Column::of(&line[span.clone()], span)).collect();
        let head = Self { columns, separator };
        let named = ["start", "duration", "name"].iter().all(|name| head.column(name).is_some());
        named.then_some(head)
    }

    /// Whether it is that of `cuda_gpu_trace`.
    pub fn is_operations(&self) -> bool {
        let own = ["strm", "stream", "throughput", "srcmemkd", "grdx"];
        self.column("end").is_none() && own.iter().any(|name| self.column(name).is_some())
    }

    /// Whether it is that of `cuda_api_trace`.
    pub fn is_calls(&self) -> bool {
        let own = ["corrid", "tid"];
        self.column("end").is_none() && own.iter().all(|name| self.column(name).is_some())
    }

    pub fn len(&self) -> usize {
        self.columns.len()
    }

    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// Where a column is that has to be there. `written` is how `nsys` writes it.
    pub fn needed(&self, name: &str, written: &str, line: &Line<'_>) -> Result<usize, Refusal> {
        self.column(name).ok_or_else(|| {
            let what = format!("the column `{written}` is missing");
            line.refused("missing", None, &what, "give the table as `nsys stats` prints it, with all of its columns")
        })
    }

    pub fn unit<T>(&self, column: usize, read: fn(&str) -> Option<T>, line: &Line<'_>) -> Result<T, Refusal> {
        let here = &self.columns[column];
        read(&here.unit).ok_or_else(|| {
            let what = match here.unit.as_str() {
                "" => "a column without a unit".to_owned(),
                unit => format!("`{}` is no unit of this column", crate::files::excerpt(unit, 20)),
            };
            line.error(
                Some(&here.span),
                &what,
                "times are in (ns), (us), (ms) or (s), sizes in (B), (KB), (MB) or (MiB)",
            )
        })
    }
}

/// Where starts and durations are, and the powers of ten that make nanoseconds of them.
pub(super) struct TimeColumns {
    start: (usize, i32),
    pub duration: (usize, i32),
}

impl TimeColumns {
    pub fn of(head: &Head, line: &Line<'_>) -> Result<Self, Refusal> {
        let time = |name: &str, written: &str| {
            let column = head.needed(name, written, line)?;
            Ok((column, head.unit(column, unit::time, line)?))
        };
        Ok(Self { start: time("start", "Start (ns)")?, duration: time("duration", "Duration (ns)")? })
    }

    pub fn read(&self, line: &Line<'_>, row: &[Range<usize>]) -> Result<Time, Refusal> {
        let [start, duration] = [self.start, self.duration].map(|(column, power)| line.number(row, column, power));
        let wrong = |what: String| line.error(row.get(self.start.0), &what, "correct it, or delete the line");
        Time::new(start?, duration?).map_err(wrong)
    }
}

impl Column {
    fn of(cell: &str, span: Range<usize>) -> Self {
        let text = content(cell);
        let (name, unit) = match text.rfind('(') {
            Some(at) => {
                (text[..at].trim().to_ascii_lowercase(), text[at + 1..].trim_end().trim_end_matches(')').to_owned())
            }
            None => (text.trim().to_ascii_lowercase(), String::new()),
        };
        Self { name, unit, span }
    }
}
