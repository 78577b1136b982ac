//! Rows of `cuda_gpu_trace`.

use super::{
    cells::Line,
    head::{Head, TimeColumns},
    unit,
};
use crate::files::Refusal;
use crate::workload::trace::{
    builder::Builder,
    decimal,
    model::{Communication, DeviceKind, DeviceOp, Memory},
    names,
    size::{self, Printed},
    time::Time,
};
use std::{num::NonZeroU64, ops::Range};

/// Where the columns are, and what makes nanoseconds and bytes of them.
pub(super) struct GpuColumns {
    columns: usize,
    times: TimeColumns,
    bytes: Option<(usize, f64)>,
    rate: Option<(usize, f64)>,
    correlation: Option<usize>,
    source: Option<usize>,
    target: Option<usize>,
    device: Option<usize>,
    stream: usize,
    name: usize,
}

impl GpuColumns {
    pub fn of(head: &Head, line: &Line<'_>) -> Result<Self, Refusal> {
        let optional = |name: &str, read: fn(&str) -> Option<f64>| {
            head.column(name).map(|column| Ok((column, head.unit(column, read, line)?))).transpose()
        };
        Ok(Self {
            columns: head.len(),
            times: TimeColumns::of(head, line)?,
            bytes: optional("bytes", unit::bytes)?,
            rate: optional("throughput", unit::rate)?,
            correlation: head.column("corrid"),
            source: head.column("srcmemkd"),
            target: head.column("dstmemkd"),
            device: head.column("device"),
            stream: head.column("stream").map_or_else(|| head.needed("strm", "Strm", line), Ok)?,
            name: head.needed("name", "Name", line)?,
        })
    }

    /// Takes a row that is counted already.
    pub fn row(&self, line: &Line<'_>, row: &[Range<usize>], builder: &mut Builder) -> Result<(), Refusal> {
        line.check_cells(row, self.columns)?;
        let time = self.times.read(line, row)?;
        let name = line.text(row, Some(self.name));
        let kind = self.kind(line, row, &name, time, builder)?;
        let stream = line.id(row, Some(self.stream))?.and_then(|stream| u32::try_from(stream).ok());
        let stream = stream.ok_or_else(|| line.no_number(row, self.stream, &line.text(row, Some(self.stream))))?;
        let op = DeviceOp {
            start_ns: time.start,
            duration_ns: time.duration,
            kind,
            device: device(&line.text(row, self.device)).unwrap_or(0),
            stream,
            correlation: line.id(row, self.correlation)?.and_then(NonZeroU64::new),
            in_graph: false,
            name: builder.name(&name),
            place: line.place,
        };
        builder.device(op);
        Ok(())
    }

    fn kind(
        &self,
        line: &Line<'_>,
        row: &[Range<usize>],
        name: &str,
        time: Time,
        builder: &mut Builder,
    ) -> Result<DeviceKind, Refusal> {
        // What is no kernel is written between brackets: [CUDA memcpy Host-to-Device].
        let plain = name.to_ascii_lowercase();
        if !plain.starts_with("[cuda") {
            let Some(op) = names::collective(name) else { return Ok(DeviceKind::Kernel) };
            let op = builder.name(op);
            return Ok(Communication::named(op).into());
        }
        let unknown = |what: &str| line.error(row.get(self.name), what, "correct the name, or delete the line");
        if plain.contains("memset") {
            return Ok(DeviceKind::Memset { bytes: self.bytes(line, row, time, builder)?.unwrap_or(0) });
        }
        if plain.contains("graph") {
            return Ok(DeviceKind::Graph);
        }
        if !plain.contains("memcpy") {
            return Err(unknown("is neither a copy, a fill nor a kernel"));
        }
        let direction = names::direction(name).ok_or_else(|| unknown("does not say which way it copies"))?;
        let memory = |column| names::memory(&line.text(row, column));
        let (source, target) = names::completed(direction, (memory(self.source), memory(self.target)));
        // Pages of managed memory that the driver moves say so in their name only.
        let moved =
            |memory| if memory == Memory::Unknown && plain.contains("unified") { Memory::Managed } else { memory };
        let bytes = self.bytes(line, row, time, builder)?.ok_or_else(|| {
            let at = self.bytes.or(self.rate).and_then(|(column, _)| row.get(column));
            let what = "the size of this copy is missing, or contradicts its throughput";
            line.error(at, what, "give the columns `Bytes (MB)` and `Throughput (MB/s)` as `nsys stats` prints them")
        })?;
        Ok(DeviceKind::Copy { direction, bytes, source: moved(source), target: moved(target) })
    }

    /// The size of an operation. An empty cell says nothing.
    fn bytes(
        &self,
        line: &Line<'_>,
        row: &[Range<usize>],
        time: Time,
        builder: &mut Builder,
    ) -> Result<Option<u64>, Refusal> {
        let printed = |column: Option<(usize, f64)>| {
            let Some((column, unit)) = column else { return Ok(None) };
            let text = line.text(row, Some(column));
            if text.is_empty() {
                return Ok(None);
            }
            let (value, half) = decimal::printed(&text).ok_or_else(|| line.no_number(row, column, &text))?;
            Ok(Some(Printed { value: value * unit, half: half * unit }))
        };
        // Throughput says a size only together with a duration that is not itself rounded.
        let duration = line.text(row, Some(self.times.duration.0));
        let decimals = duration.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        let exact = i32::try_from(decimals).is_ok_and(|decimals| decimals >= self.times.duration.1);
        let rate = printed(self.rate)?;
        if rate.is_some_and(|rate| rate.value > size::MOST_RATE as f64) {
            let at = self.rate.and_then(|(column, _)| row.get(column));
            return Err(line.error(at, "a throughput that no machine has", "correct it, or delete the line"));
        }
        let size = size::size(printed(self.bytes)?, rate.filter(|_| exact), time.duration);
        Ok(size.map(|size| builder.sized(size)))
    }
}

/// The number at the end of `NVIDIA H100 NVL (0)`, or all there is.
fn device(text: &str) -> Option<u32> {
    let text = text.trim();
    text.strip_suffix(')').and_then(|rest| rest.rsplit('(').next()).unwrap_or(text).parse().ok()
}
