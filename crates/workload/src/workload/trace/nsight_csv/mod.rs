//! Tables that `nsys stats --format csv` prints: `cuda_gpu_trace`, and `cuda_api_trace` in the same file or in another.
//!
//! ```text
//!  Processing [report.sqlite] with [cuda_gpu_trace.py]...      outside of the tables: counted
//!
//!  Start (ns),Duration (ns),CorrId,...,Strm,Name               head: which table, where its columns are, their units
//!  411834153,405708,127,...,7,[CUDA memcpy Host-to-Device]     rows
//! ```

mod api;
mod cells;
mod gpu;
mod head;
#[cfg(test)]
mod tests;
mod unit;

use super::{
    Place,
    builder::Builder,
    error::refused,
    formats::{self, Importer},
    input::{Input, Tape},
    model::Trace,
};
use crate::files::Refusal;
use api::ApiColumns;
use cells::{Line, cells};
use gpu::GpuColumns;
use head::Head;

const LINE: u64 = 1 << 20;

/// What the program prints between tables begins with one of these.
const CHATTER: &[&str] =
    &["Processing [", "** ", "Generating ", "Exporting ", "NOTICE:", "WARNING:", "SKIPPED:", "ERROR:", "Using "];

pub(super) const FORMAT: Importer = Importer {
    name: "Nsight Systems CSV",
    make: "`nsys stats --report cuda_gpu_trace --format csv`",
    idle: "give the table that `nsys stats --report cuda_gpu_trace --format csv` prints",
    is_one,
    read,
    takes_calls: true,
};

fn is_one(head: &[u8]) -> bool {
    // A database may hold a text that looks like the head of a table.
    if head.contains(&0) {
        return false;
    }
    let head = String::from_utf8_lossy(head);
    head.lines().any(|line| Head::of(line).is_some())
}

fn is_chatter(line: &str) -> bool {
    CHATTER.iter().any(|beginning| line.trim_start().starts_with(beginning))
}

fn read<'a>(tape: &mut Tape<'a>, calls: Option<Input<'a>>) -> Result<Trace, Refusal> {
    let builder = Builder::new(tape.name(), tape.room(), &FORMAT);
    let mut reader = Reader { builder, operations: false, calls: None, api: api::Api::default() };
    reader.file(tape, Place::Line)?;
    if !reader.operations {
        let what = "holds no table of GPU operations";
        let remedy = "give the table that `nsys stats --report cuda_gpu_trace --format csv` prints, and that of the calls as the second file";
        return Err(refused("missing", tape.name(), what).remedy(remedy));
    }
    if let Some(calls) = calls {
        let mut second = opened(tape, calls)?;
        reader.file(&mut second, Place::CallLine)?;
        if reader.calls.is_none() {
            let error = refused("missing", second.name(), "holds no table of calls");
            return Err(error.remedy("give the table that `nsys stats --report cuda_api_trace --format csv` prints"));
        }
    }
    reader.api.finish(&mut reader.builder);
    reader.builder.finish(Vec::new())
}

/// The table of calls.
fn opened<'a>(tape: &Tape<'a>, calls: Input<'a>) -> Result<Tape<'a>, Refusal> {
    let mut second = tape.next(calls)?;
    let format = formats::of(&mut second)?;
    if format.name == FORMAT.name {
        return Ok(second);
    }
    let what = format!("is a {}, not a table of calls", format.name);
    let remedy = "give the table that `nsys stats --report cuda_api_trace --format csv` prints";
    Err(refused("unrecognised", second.name(), what).remedy(remedy))
}

/// What is read so far.
struct Reader {
    builder: Builder,
    /// Whether there was a table of operations.
    operations: bool,
    /// The file with the table of calls.
    calls: Option<String>,
    api: api::Api,
}

/// What the next line belongs to.
enum Table {
    None,
    Gpu(GpuColumns, char),
    Api(ApiColumns, char),
    Other,
}

impl Reader {
    fn file(&mut self, tape: &mut Tape<'_>, place: fn(u64) -> Place) -> Result<(), Refusal> {
        let (meter, name) = (tape.meter(), tape.name().to_owned());
        let (mut bytes, mut table) = (Vec::new(), Table::None);
        loop {
            let number = meter.line();
            if tape.line(&mut bytes, LINE)?.is_none() {
                return Ok(());
            }
            let text = String::from_utf8_lossy(&bytes);
            if text.trim().is_empty() {
                continue;
            }
            let line = Line { file: &name, text: &text, place: place(number) };
            if let Some(head) = Head::of(&text) {
                table = self.head(&head, &line)?;
                continue;
            }
            self.builder.event();
            if is_chatter(&text) {
                table = Table::None;
            }
            self.row(&mut table, &line);
        }
    }

    fn head(&mut self, head: &Head, line: &Line<'_>) -> Result<Table, Refusal> {
        if head.is_operations() {
            if std::mem::replace(&mut self.operations, true) {
                return Err(line.error(None, "a second table of GPU operations", "give one report at a time"));
            }
            return Ok(Table::Gpu(GpuColumns::of(head, line)?, head.separator));
        }
        if head.is_calls() {
            if let Some(file) = self.calls.replace(line.file.to_owned()) {
                let what = format!("a second table of calls, besides the one in {file}");
                return Err(line.error(None, &what, "give one report at a time"));
            }
            return Ok(Table::Api(ApiColumns::of(head, line)?, head.separator));
        }
        Ok(Table::Other)
    }

    /// A line that is no head, counted already.
    fn row(&mut self, table: &mut Table, line: &Line<'_>) {
        match table {
            Table::None => {
                self.builder.leave_out("line outside of the tables");
                // The head of a table that is not read is the first line with columns.
                if line.text.contains(',') && !is_chatter(line.text) {
                    *table = Table::Other;
                }
            }
            Table::Other => self.builder.leave_out("row of a report that is not read"),
            Table::Gpu(columns, separator) => {
                let row = cells(line.text, *separator);
                if let Err(error) = columns.row(line, &row, &mut self.builder) {
                    self.builder.fault(error);
                }
            }
            Table::Api(columns, separator) => {
                let row = cells(line.text, *separator);
                if let Err(error) = columns.row(line, &row, &mut self.api, &mut self.builder) {
                    self.builder.fault(error);
                }
            }
        }
    }
}
