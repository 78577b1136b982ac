//! Operations and calls out of rows.

use super::{Reader, row::Row};
use crate::workload::trace::{
    calls,
    model::{Communication, DeviceKind, DeviceOp, HostCall, Memory, NameId, Synchronization, Waited},
    names,
};

type Names = &'static [&'static str];
type Take = fn(&mut Reader<'_>, &Row<'_>) -> Result<(), String>;

/// A table that is read.
pub(super) struct Sought {
    /// Names of the table, that of the latest version first.
    pub tables: Names,
    /// Columns without which it says nothing.
    pub needed: Names,
    /// Columns that versions lack.
    pub optional: Names,
    pub take: Take,
}

const fn sought(tables: Names, needed: Names, optional: Names, take: Take) -> Sought {
    Sought { tables, needed, optional, take }
}

/// Names of a table in all of its versions, the latest first.
macro_rules! versions {
    ($($kind:literal)*) => { versions!(@ $($kind)* : "_V12" "_V11" "_V10" "_V9" "_V8" "_V7" "_V6" "_V5" "_V4" "_V3" "_V2" "") };
    (@ $kind:literal : $($version:literal)*) => { &[$(concat!("CUPTI_ACTIVITY_KIND_", $kind, $version)),*] };
    (@ $one:literal $other:literal : $($version:literal)*) => {
        &[$(concat!("CUPTI_ACTIVITY_KIND_", $one, $version), concat!("CUPTI_ACTIVITY_KIND_", $other, $version)),*]
    };
}

const CALL: Names = &["start", "end", "globalTid", "correlationId", "nameId"];

/// All of them. Calls come first: they show how many processes there are.
pub(super) const TABLES: &[Sought] = &[
    sought(versions!("RUNTIME"), CALL, &["returnValue"], call),
    sought(versions!("DRIVER"), CALL, &["returnValue"], call),
    sought(
        versions!("MEMCPY"),
        &["start", "end", "deviceId", "streamId", "correlationId", "bytes", "copyKind"],
        &["globalPid", "srcKind", "dstKind", "graphNodeId"],
        copy,
    ),
    sought(
        versions!("MEMSET"),
        &["start", "end", "deviceId", "streamId", "correlationId", "bytes"],
        &["globalPid", "graphNodeId"],
        fill,
    ),
    sought(
        versions!("KERNEL" "CONCURRENT_KERNEL"),
        &["start", "end", "deviceId", "streamId", "correlationId", "demangledName"],
        &["globalPid", "graphNodeId"],
        kernel,
    ),
    sought(versions!("GRAPH_TRACE"), &["start", "end", "deviceId", "correlationId"], &["globalPid", "streamId"], graph),
    sought(versions!("SYNCHRONIZATION"), &["correlationId", "syncType"], &["globalPid", "streamId"], synchronization),
    sought(&["NVTX_EVENTS"], &["start"], &["end", "text", "textId", "globalTid"], range),
];

/// A range that the program names: it may mark a step.
fn range(reader: &mut Reader<'_>, row: &Row<'_>) -> Result<(), String> {
    let name = row.text("text").or_else(|| reader.labels.text(row.maybe("textId").ok()??).ok()).unwrap_or_default();
    let thread = row.maybe("globalTid").ok().flatten().unwrap_or(0) & 0xff_ffff;
    reader.builder.marks.take(&name, u32::try_from(thread).ok(), || row.time().ok());
    reader.builder.leave_out("range of NVTX: nothing is done by it");
    Ok(())
}

fn call(reader: &mut Reader<'_>, row: &Row<'_>) -> Result<(), String> {
    let time = row.time()?;
    let (id, global) = (row.number("nameId")?, row.number("globalTid")?);
    let name = reader.labels.name(id, &mut reader.builder)?;
    let what = calls::kind(&reader.builder.named(name));
    let failed = row.maybe("returnValue")?.is_some_and(|value| value != 0);
    if failed {
        reader.builder.failed();
    }
    let (process, thread) = (global >> 24 & 0xff_ffff, global & 0xff_ffff);
    let call = HostCall {
        start_ns: time.start,
        duration_ns: time.duration,
        name,
        thread: reader.builder.thread(&process.to_string(), &thread.to_string()),
        correlation: reader.correlation(Some(global), row.maybe("correlationId")?)?,
        failed,
        what,
        place: row.place(),
    };
    reader.builder.call(call);
    Ok(())
}

fn operation(reader: &mut Reader<'_>, row: &Row<'_>, name: NameId, kind: DeviceKind) -> Result<(), String> {
    let time = row.time()?;
    let stream =
        if kind == DeviceKind::Graph && row.maybe("streamId")?.is_none() { 0 } else { row.natural("streamId")? };
    let op = DeviceOp {
        start_ns: time.start,
        duration_ns: time.duration,
        kind,
        device: row.natural("deviceId")?,
        stream,
        correlation: reader.correlation(row.maybe("globalPid")?, row.maybe("correlationId")?)?,
        in_graph: row.maybe("graphNodeId")?.is_some_and(|node| node > 0),
        name,
        place: row.place(),
    };
    reader.builder.device(op);
    Ok(())
}

fn copy(reader: &mut Reader<'_>, row: &Row<'_>) -> Result<(), String> {
    let (name, direction) = reader.labels.copy(row.number("copyKind")?)?;
    let memory = |column| Ok::<_, String>(reader.labels.memory(row.maybe(column)?));
    let (source, target) = names::completed(direction, (memory("srcKind")?, memory("dstKind")?));
    // Pages of managed memory that the driver moves say so in their kind of copy only.
    let moved = |memory| if memory == Memory::Unknown && name.contains("Unified") { Memory::Managed } else { memory };
    let kind =
        DeviceKind::Copy { direction, bytes: row.natural("bytes")?, source: moved(source), target: moved(target) };
    let name = reader.builder.name(&name);
    operation(reader, row, name, kind)
}

fn fill(reader: &mut Reader<'_>, row: &Row<'_>) -> Result<(), String> {
    let kind = DeviceKind::Memset { bytes: row.natural("bytes")? };
    let name = reader.builder.name("[CUDA memset]");
    operation(reader, row, name, kind)
}

fn kernel(reader: &mut Reader<'_>, row: &Row<'_>) -> Result<(), String> {
    let name = reader.labels.name(row.number("demangledName")?, &mut reader.builder)?;
    let text = reader.builder.named(name);
    let kind = names::collective(&text).map_or(DeviceKind::Kernel, |op| {
        let op = reader.builder.name(op);
        Communication::named(op).into()
    });
    operation(reader, row, name, kind)
}

fn graph(reader: &mut Reader<'_>, row: &Row<'_>) -> Result<(), String> {
    let name = reader.builder.name("[CUDA graph]");
    operation(reader, row, name, DeviceKind::Graph)
}

fn synchronization(reader: &mut Reader<'_>, row: &Row<'_>) -> Result<(), String> {
    let host_waits_for = match row.number("syncType")? {
        1 => Some(Waited::Event),
        2 => None,
        3 => Some(Waited::Stream),
        4 => Some(Waited::Device),
        _ => {
            reader.builder.leave_out("wait of an unknown kind: the call itself is read");
            return Ok(());
        }
    };
    // A stream that is none is written as the largest number.
    let stream =
        row.maybe("streamId")?.and_then(|stream| u32::try_from(stream).ok()).filter(|stream| *stream < u32::MAX);
    let waits = host_waits_for.is_none();
    let synchronization = Synchronization {
        correlation: reader.correlation(row.maybe("globalPid")?, row.maybe("correlationId")?)?,
        waiting_stream: stream.filter(|_| waits),
        host_waits_for,
        stream: stream.filter(|_| host_waits_for == Some(Waited::Stream)),
        record: None,
        place: row.place(),
    };
    reader.builder.synchronization(synchronization);
    Ok(())
}
