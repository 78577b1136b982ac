//! Published measurements: tables of points, distinguished by their heads.
//!
//! | kind | columns besides `platform` and `mode` | a point is |
//! | --- | --- | --- |
//! | `bandwidth` | host_memory, direction, bytes, gb_per_s | the rate of many copies of one size |
//! | `api` | host_memory, direction, bytes, api_us | the time of one synchronous call |
//! | `spans` | host_memory, direction, bytes, span_us | the device-side time of one copy |
//! | `ce_fits` | host_memory, direction, offset_us, gb_per_s | that of one copy, on a line through many |
//! | `overlap` | mebibytes_each_way, kernel_ms, streams, sequential_s, pipelined_s | copies and kernels on streams |
//! | `applications` | app, totals and counts by direction | the device-side time of all copies of a program |
//! | `programs` | program, place, direction, host_memory, bytes, device_ns | the same, with the size of each copy |
//! | `cipher` | cipher, clock_ghz, gb_per_s, perhaps bytes (no mode) | one core sealing |
//! | `sm_kernels` | kernel, sms, threads, bytes, cycles, bytes_per_clock_per_sm (no mode) | a kernel on SMs |
//! | `collectives` | operation, gpus, bytes, us | the time of one of many calls back to back |
//!
//! Tables of what is to be predicted, and of predictions, are `bandwidth` without its figure and with a predicted one: [`asked`],
//! [`predicted`].

mod applications;
mod bandwidth_test;
mod collectives;
mod copies;
mod nccl;
mod nvbandwidth;
mod overlap;
mod point;
mod predictions;
mod programs;
mod sm_kernels;
mod table;

use crate::files::Refusal;
pub use bandwidth_test::{bandwidth_test, is_bandwidth_test};
pub use nccl::{is_nccl, nccl};
pub use nvbandwidth::{NvBandwidth, is_nvbandwidth, nvbandwidth};
pub use point::{Copied, Curve, Experiment, Group, HostMemory, LeftOut, Mode, Overlap, Point, Schedule, SmKernel};
pub use predictions::{Predicted, asked, predicted};
use table::Table;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Bandwidth,
    /// Host-side times of single calls.
    Api,
    /// Device-side times of single copies.
    Spans,
    /// Lines through such times.
    CeFits,
    Overlap,
    Applications,
    Programs,
    /// A core's cipher rates.
    Cipher,
    SmKernels,
    Collectives,
}

/// What reading a table gives: points, and rows that the model does not cover.
pub type Read = Result<(Vec<Point>, Vec<LeftOut>), Refusal>;

struct TableFormat {
    kind: Kind,
    name: &'static str,
    columns: &'static [&'static str],
    read: fn(&Table) -> Read,
}

const fn table(
    kind: Kind,
    name: &'static str,
    columns: &'static [&'static str],
    read: fn(&Table) -> Read,
) -> TableFormat {
    TableFormat { kind, name, columns, read }
}

/// The first format whose columns are all there is the table's. Further columns are not read.
const FORMATS: [TableFormat; 10] = [
    table(
        Kind::Programs,
        "programs",
        &["platform", "program", "mode", "place", "direction", "host_memory", "bytes", "device_ns"],
        programs::read,
    ),
    table(
        Kind::CeFits,
        "ce_fits",
        &["platform", "mode", "host_memory", "direction", "offset_us", "gb_per_s"],
        copies::ce_fits,
    ),
    table(
        Kind::Bandwidth,
        "bandwidth",
        &["platform", "mode", "host_memory", "direction", "bytes", "gb_per_s"],
        copies::bandwidth,
    ),
    table(Kind::Api, "api", &["platform", "mode", "host_memory", "direction", "bytes", "api_us"], copies::api),
    table(Kind::Spans, "spans", &["platform", "mode", "host_memory", "direction", "bytes", "span_us"], copies::spans),
    table(
        Kind::Overlap,
        "overlap",
        &["platform", "mode", "mebibytes_each_way", "kernel_ms", "streams", "sequential_s", "pipelined_s"],
        overlap::read,
    ),
    table(Kind::Applications, "applications", applications::COLUMNS, applications::read),
    table(Kind::Cipher, "cipher", &["platform", "cipher", "clock_ghz", "gb_per_s"], copies::cipher),
    table(Kind::SmKernels, "sm_kernels", sm_kernels::COLUMNS, sm_kernels::read),
    table(Kind::Collectives, "collectives", collectives::COLUMNS, collectives::read),
];

impl Kind {
    pub fn name(self) -> &'static str {
        FORMATS.iter().find(|format| format.kind == self).map_or("", |format| format.name)
    }
}

#[derive(Debug, Clone)]
pub struct Measured {
    pub kind: Kind,
    /// Its points, in the order of its rows.
    pub points: Vec<Point>,
    pub left_out: Vec<LeftOut>,
}

impl Measured {
    /// Reads a table; `file` is what errors call it.
    pub fn read(file: &str, text: &str) -> Result<Self, Refusal> {
        let table = Table::read(file, text)?;
        let format = FORMATS.iter().find(|format| table.has(format.columns)).ok_or_else(|| unknown(&table))?;
        let (points, left_out) = (format.read)(&table)?;
        Ok(Self { kind: format.kind, points, left_out })
    }
}

fn unknown(table: &Table) -> Refusal {
    let there = table.columns();
    let lacking = |format: &&TableFormat| format.columns.iter().filter(|column| !there.contains(column)).count();
    let nearest = FORMATS.iter().min_by_key(lacking);
    let remedy = nearest.map_or_else(String::new, |format| {
        let lack: Vec<_> = format.columns.iter().filter(|column| !there.contains(column)).copied().collect();
        format!(
            "the nearest is a table of {}, which also has {}; docs/validation.md lists all",
            format.name,
            lack.join(", ")
        )
    });
    table.head_error("the columns are those of no known table".into(), &remedy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::Explained;

    #[test]
    fn a_table_is_told_by_its_head() {
        let text = "platform,mode,host_memory,direction,bytes,span_us,note\np9,cc,pinned,h2d,64,1.5,x\n";
        let measured = Measured::read("m", text).unwrap();
        assert_eq!((measured.kind, measured.points.len()), (Kind::Spans, 1));
        let error = Measured::read("m", "platform,mode,host_memory,direction,bytes,rate\n1,2,3,4,5,6\n").unwrap_err();
        assert!(error.help().unwrap().contains("also has gb_per_s;"), "{error:?}");
    }
}
