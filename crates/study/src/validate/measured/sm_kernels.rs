//! Rates of AES-GCM kernels on SMs, as `validation/cuda/aes_gcm.cu` writes them.

use super::{
    Read,
    copies::platform,
    point::{Curve, Experiment, Mode, Point, SmKernel},
    table::{Cells, Table},
};
use crate::{
    files::Refusal,
    gpu::sm::spec::{AesKernel, GhashKernel},
};

pub(super) const COLUMNS: &[&str] =
    &["platform", "kernel", "sms", "threads", "bytes", "cycles", "bytes_per_clock_per_sm"];

/// How far the rate may be from bytes over SMs and cycles: it is written with six digits.
const ROUNDING: f64 = 1e-5;

/// How a kernel enciphers and how it authenticates.
type Parts = (Option<AesKernel>, Option<GhashKernel>);

/// The kernel whose blocks of threads are summed by a single thread.
const SERIAL: &str = "ghash_serial";

/// Kernels: how each enciphers and how it authenticates; neither in the one that only multiplies bit matrices.
const KERNELS: [(&str, Parts); 10] = [
    ("ctr_tables", (Some(AesKernel::TTables), None)),
    ("ctr_bitsliced", (Some(AesKernel::Bitsliced), None)),
    ("ghash_tables", (None, Some(GhashKernel::FourBitTables))),
    (SERIAL, (None, Some(GhashKernel::FourBitTables))),
    ("ghash_tensor", (None, Some(GhashKernel::TensorCore))),
    ("gcm_tables_tables", (Some(AesKernel::TTables), Some(GhashKernel::FourBitTables))),
    ("gcm_tables_tensor", (Some(AesKernel::TTables), Some(GhashKernel::TensorCore))),
    ("gcm_bitsliced_tables", (Some(AesKernel::Bitsliced), Some(GhashKernel::FourBitTables))),
    ("gcm_bitsliced_tensor", (Some(AesKernel::Bitsliced), Some(GhashKernel::TensorCore))),
    ("mma_b1", (None, None)),
];

pub(super) fn read(table: &Table) -> Read {
    let points = table.rows().map(|row| measured(&row)).collect::<Result<_, _>>()?;
    Ok((points, Vec::new()))
}

pub(super) fn point(row: &Cells<'_>, rate: f64) -> Result<Point, Refusal> {
    let platform = platform(row)?;
    let (aes, ghash) = row.choice("kernel", &KERNELS)?;
    let (sms, threads) = (row.whole("sms", 1, 1 << 12)?, row.whole("threads", 32, 1024)?);
    if !threads.is_multiple_of(32) {
        let remedy = "a block of threads has whole warps of 32";
        return Err(row.error("threads", format!("threads is {threads}"), remedy));
    }
    let bytes = row.whole("bytes", 16 * sms, 1 << 40)?;
    let kernel = row.text("kernel");
    let cells = ["platform", "kernel", "sms", "threads", "bytes"];
    Ok(Point {
        platform,
        mode: Mode::Off,
        line: row.line(),
        label: format!("{kernel} on {sms} SM{}", if sms == 1 { "" } else { "s" }),
        cells: cells.map(|name| (name.to_owned(), row.text(name).to_owned())).into(),
        experiment: Experiment::SmKernel(SmKernel {
            aes,
            ghash,
            serial: kernel == SERIAL,
            sms: sms as u32,
            warps: (threads / 32) as u32,
            bytes,
        }),
        measured: rate,
        unit: "B/clk/SM",
        curve: Curve { panel: kernel.to_owned(), series: "kernel".into(), x: sms as f64, x_label: "SMs" },
    })
}

/// The same of a measured row, whose rate follows from its cycles.
fn measured(row: &Cells<'_>) -> Result<Point, Refusal> {
    let measured = row.positive("bytes_per_clock_per_sm")?;
    let point = point(row, measured)?;
    let (sms, bytes, cycles) =
        (row.whole("sms", 1, 1 << 12)?, row.whole("bytes", 1, 1 << 40)?, row.whole("cycles", 1, 1 << 50)?);
    let follows = bytes as f64 / sms as f64 / cycles as f64;
    if (measured / follows - 1.0).abs() > ROUNDING {
        let what = format!("{measured} B per clock and SM are not {bytes} B on {sms} SMs in {cycles} cycles");
        let remedy = format!("bytes / sms / cycles is {follows:.6}; take the row as the program has written it");
        return Err(row.error("bytes_per_clock_per_sm", what, &remedy));
    }
    Ok(point)
}

#[cfg(test)]
mod tests {
    use super::super::{Kind, Measured};

    const HEAD: &str =
        "platform,kernel,sms,threads,bytes,cycles,bytes_per_clock_per_sm,hash_cycles,gb_per_s,device,driver,date\n";

    /// Rows in these tests are made up: nothing was measured.
    fn read(row: &str) -> Result<Measured, String> {
        Measured::read("m.csv", &format!("{HEAD}{row},0,1,none,none,none\n")).map_err(|error| error.to_string())
    }

    #[test]
    fn a_row_is_a_point_of_its_kernel_by_number_of_sms() {
        let measured = read("made-up,gcm_tables_tensor,4,512,1048576,300000,0.873813").unwrap();
        assert_eq!(measured.kind, Kind::SmKernels);
        let point = &measured.points[0];
        assert_eq!((point.label.as_str(), point.unit), ("gcm_tables_tensor on 4 SMs", "B/clk/SM"));
        assert_eq!((point.curve.panel.as_str(), point.curve.x), ("gcm_tables_tensor", 4.0));
        assert_eq!(point.cells["threads"], "512");
    }

    #[test]
    fn a_row_of_what_cannot_be_is_refused_at_its_line() {
        for (row, phrase) in [
            ("x,ctr_cubes,1,1024,262144,262144,1", "`ctr_cubes` is no kernel"),
            (",ctr_tables,1,1024,262144,262144,1", "no platform"),
            ("x,ctr_tables,0,1024,262144,262144,1", "sms is 0"),
            ("x,ctr_tables,1.5,1024,262144,262144,1", "sms is 1.5"),
            ("x,ctr_tables,1,1000,262144,262144,1", "threads is 1000"),
            ("x,ctr_tables,1,2048,262144,262144,1", "threads is 2048"),
            ("x,ctr_tables,2,1024,16,16,1", "bytes is 16"),
            ("x,ctr_tables,1,1024,262144,0,1", "cycles is 0"),
            ("x,ctr_tables,1,1024,262144,262144,nan", "`nan` is no number"),
            ("x,ctr_tables,2,1024,262144,262144,1", "are not 262144 B on 2 SMs in 262144 cycles"),
        ] {
            let error = read(row).unwrap_err();
            assert!(error.contains("m.csv, line 2") && error.contains(phrase), "{row}: {error}");
        }
    }

    #[test]
    fn sms_that_reach_into_host_memory_are_another_table_and_not_read() {
        let text = "platform,mode,access,blocks,threads,bytes,gb_per_s\nx,off,read,1,256,1024,1\n";
        assert!(Measured::read("m.csv", text).unwrap_err().to_string().contains("no known table"));
    }
}
