//! Copies and kernels on streams: two points in each row.

use super::{
    Read,
    copies::{mode, platform},
    point::{Curve, Experiment, Overlap, Point, Schedule},
    table::{Cells, Table},
};
use crate::{files::Refusal, units::Femtos};

/// More streams than any program has.
const MOST_STREAMS: u64 = 4096;

pub(super) fn read(table: &Table) -> Read {
    let mut points = Vec::new();
    for row in table.rows() {
        for (schedule, name, column) in
            [(Schedule::Sequential, "sequential", "sequential_s"), (Schedule::Pipelined, "pipelined", "pipelined_s")]
        {
            points.push(point(&row, schedule, name, column)?);
        }
    }
    Ok((points, Vec::new()))
}

fn point(row: &Cells<'_>, schedule: Schedule, name: &str, column: &str) -> Result<Point, Refusal> {
    let (platform, mode) = (platform(row)?, mode(row)?);
    let mebibytes = row.whole("mebibytes_each_way", 1, 1 << 20)?;
    let streams = row.whole("streams", 1, MOST_STREAMS)?;
    let kernel_ms = row.number("kernel_ms", 0.0)?;
    if kernel_ms > 1e6 {
        return Err(row.error("kernel_ms", format!("kernel_ms is {kernel_ms}"), "write milliseconds, at most 1000000"));
    }
    let kernel = Femtos((kernel_ms * 1e12).round() as u64);
    let mut cells: std::collections::BTreeMap<String, String> = ["mebibytes_each_way", "kernel_ms", "streams"]
        .map(|column| (column.to_owned(), row.text(column).to_owned()))
        .into();
    cells.insert("platform".into(), platform.clone());
    cells.insert("mode".into(), mode.name().into());
    cells.insert("schedule".into(), name.into());
    Ok(Point {
        label: format!("{} {mebibytes} MiB, {kernel_ms} ms, {streams} streams, {name}", mode.name()),
        platform,
        mode,
        line: row.line(),
        cells,
        experiment: Experiment::Overlap(Overlap {
            bytes_each_way: mebibytes << 20,
            kernel,
            streams: streams as u32,
            schedule,
        }),
        measured: row.positive(column)?,
        unit: "s",
        curve: Curve {
            panel: format!("{mebibytes} MiB, {kernel_ms} ms kernels, {name}"),
            series: mode.name().into(),
            x: streams as f64,
            x_label: "streams",
        },
    })
}
