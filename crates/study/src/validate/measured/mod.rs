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

crate::units::named! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Kind {
        Bandwidth = "bandwidth",
        /// Host-side times of single calls.
        Api = "api",
        /// Device-side times of single copies.
        Spans = "spans",
        /// Lines through such times.
        CeFits = "ce_fits",
        Overlap = "overlap",
        Applications = "applications",
        Programs = "programs",
        /// A core's cipher rates.
        Cipher = "cipher",
        SmKernels = "sm_kernels",
        Collectives = "collectives",
    }
}

/// What reading a table gives: points, and rows that the model does not cover.
pub type Read = Result<(Vec<Point>, Vec<LeftOut>), Refusal>;

type Format = (Kind, &'static [&'static str], fn(&Table) -> Read);

/// The first format whose columns are all there is the table's. Further columns are not read.
const FORMATS: [Format; 10] = [
    (
        Kind::Programs,
        &["platform", "program", "mode", "place", "direction", "host_memory", "bytes", "device_ns"],
        programs::read,
    ),
    (Kind::CeFits, &["platform", "mode", "host_memory", "direction", "offset_us", "gb_per_s"], copies::ce_fits),
    (Kind::Bandwidth, &["platform", "mode", "host_memory", "direction", "bytes", "gb_per_s"], copies::bandwidth),
    (Kind::Api, &["platform", "mode", "host_memory", "direction", "bytes", "api_us"], copies::api),
    (Kind::Spans, &["platform", "mode", "host_memory", "direction", "bytes", "span_us"], copies::spans),
    (
        Kind::Overlap,
        &["platform", "mode", "mebibytes_each_way", "kernel_ms", "streams", "sequential_s", "pipelined_s"],
        overlap::read,
    ),
    (Kind::Applications, applications::COLUMNS, applications::read),
    (Kind::Cipher, &["platform", "cipher", "clock_ghz", "gb_per_s"], copies::cipher),
    (Kind::SmKernels, sm_kernels::COLUMNS, sm_kernels::read),
    (Kind::Collectives, collectives::COLUMNS, collectives::read),
];

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
        let known = FORMATS.iter().find(|(_, columns, _)| table.has(columns));
        let (kind, _, read) = known.ok_or_else(|| unknown(&table))?;
        let (points, left_out) = read(&table)?;
        Ok(Self { kind: *kind, points, left_out })
    }
}

fn unknown(table: &Table) -> Refusal {
    let there = table.columns();
    let lacking = |(kind, columns, _): &Format| {
        (kind.name(), columns.iter().copied().filter(|column| !there.contains(column)).collect::<Vec<_>>())
    };
    let nearest = FORMATS.iter().map(lacking).min_by_key(|(_, lack)| lack.len());
    let remedy = nearest.map_or_else(String::new, |(name, lack)| {
        let lack = lack.join(", ");
        format!("the nearest is a table of {name}, which also has {lack}; docs/validation.md lists all")
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
