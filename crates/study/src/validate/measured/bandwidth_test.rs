//! What NVIDIA's `bandwidthTest` prints, by sections or with `--csv`, as a table of bandwidth.
//!
//! | line | what is taken |
//! | --- | --- |
//! | ` Host to Device Bandwidth, 1 Device(s)` | the direction of the rows that follow |
//! | ` PINNED Memory Transfers` | their host memory, but for copies within the device |
//! | `   Transfer Size (Bytes)  Bandwidth(GB/s)` | their unit: older versions print MB/s |
//! | two numbers | size and rate |
//! | `bandwidthTest-H2D-Pinned, Bandwidth = 25.3 GB/s, ..., Size = 32000000 bytes, ...` | all of it |
//!
//! The output does not say whether confidential computing was on.

use super::Mode;

/// Ways, as sections and as lines of `--csv` name them, and as tables do.
const WAYS: [(&str, &str, &str); 3] = [
    ("Host to Device Bandwidth", "H2D", "h2d"),
    ("Device to Host Bandwidth", "D2H", "d2h"),
    ("Device to Device Bandwidth", "D2D", "d2d"),
];

/// What rows rest on.
#[derive(Debug, Clone, Copy, Default)]
struct Section {
    way: Option<&'static str>,
    memory: Option<&'static str>,
    /// GB/s of a unit of the rates.
    unit: Option<f64>,
}

pub fn is_bandwidth_test(text: &str) -> bool {
    text.contains("CUDA Bandwidth Test") || text.contains("bandwidthTest-") || text.contains("Memory Transfers")
}

/// Makes a table of it; `mode` is that in which the program ran.
pub fn bandwidth_test(text: &str, mode: Mode) -> Result<String, String> {
    let mut table = String::from("platform,mode,host_memory,direction,bytes,gb_per_s\n");
    let (mut section, mut rows) = (Section::default(), 0);
    for (number, line) in (1..).zip(text.lines().map(str::trim)) {
        if let Some(of) = WAYS.iter().find(|way| line.starts_with(way.0)) {
            if !line.contains(", 1 Device") {
                return Err(format!("line {number} is of several devices: their rates are added up; measure one"));
            }
            section = Section { way: Some(of.2), ..Section::default() };
        } else if line.ends_with("Memory Transfers") {
            section.memory = memory(line);
        } else if line.starts_with("Transfer Size (Bytes)") {
            section.unit = unit(line);
        } else if let Some(row) = csv_row(line).or_else(|| row(line, section)) {
            let (memory, way, bytes, rate) = row.map_err(|what| format!("line {number} has no {what}"))?;
            let memory = if way == "d2d" { "device" } else { memory };
            table += &format!("bandwidth-test,{},{memory},{way},{bytes},{rate}\n", mode.name());
            rows += 1;
        }
    }
    if rows == 0 { Err("no line has a size and a rate".to_owned()) } else { Ok(table) }
}

type Row = (&'static str, &'static str, u64, f64);

fn memory(text: &str) -> Option<&'static str> {
    let text = text.to_ascii_lowercase();
    ["pinned", "pageable"].into_iter().find(|memory| text.contains(memory))
}

fn unit(text: &str) -> Option<f64> {
    [("GB/s", 1.0), ("MB/s", 1e-3)].into_iter().find(|(name, _)| text.contains(name)).map(|(_, factor)| factor)
}

fn rate(text: &str, unit: f64) -> Option<f64> {
    let rate = text.parse::<f64>().ok()? * unit;
    (rate.is_finite() && rate > 0.0).then_some(rate)
}

/// A line of two numbers, below the lines that say what they are; nothing of any other line.
fn row(line: &str, section: Section) -> Option<Result<Row, &'static str>> {
    let cells: Vec<_> = line.split_whitespace().collect();
    let [bytes, given] = cells[..] else { return None };
    let bytes = bytes.parse::<u64>().ok().filter(|bytes| *bytes > 0)?;
    let found = || {
        let way = section.way.ok_or("direction above it")?;
        let memory = section.memory.ok_or("kind of memory above it")?;
        let unit = section.unit.ok_or("unit above it")?;
        Ok((memory, way, bytes, rate(given, unit).ok_or("rate")?))
    };
    Some(found())
}

/// A line of `--csv`; nothing of any other line.
fn csv_row(line: &str) -> Option<Result<Row, &'static str>> {
    let (name, rest) = line.strip_prefix("bandwidthTest-")?.split_once(',')?;
    let cell = |key: &str| {
        let cells = rest.split(',').filter_map(|cell| cell.split_once('='));
        cells.map(|(name, value)| (name.trim(), value.trim())).find(|(name, _)| *name == key).map(|(_, value)| value)
    };
    let found = || {
        let way = WAYS.iter().find(|way| name.starts_with(way.1)).ok_or("direction")?.2;
        let given = cell("Bandwidth").ok_or("rate")?;
        let rate = rate(given.split(' ').next().unwrap_or_default(), unit(given).ok_or("unit")?).ok_or("rate")?;
        let bytes = cell("Size").and_then(|size| size.strip_suffix("bytes")?.trim().parse().ok());
        let bytes = bytes.filter(|bytes| *bytes > 0).ok_or("size")?;
        if cell("NumDevsUsed").is_some_and(|devices| devices != "1") {
            return Err("single device");
        }
        Ok((memory(name).unwrap_or("pinned"), way, bytes, rate))
    };
    Some(found())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Made up in the program's format.
    const TEXT: &str = "\
[CUDA Bandwidth Test] - Starting...
Running on...

 Device 0: made up
 Shmoo Mode

 Host to Device Bandwidth, 1 Device(s)
 PAGEABLE Memory Transfers
   Transfer Size (Bytes)\tBandwidth(GB/s)
   1024\t\t\t0.3
   33554432\t\t\t8.5

 Device to Device Bandwidth, 1 Device(s)
 PAGEABLE Memory Transfers
   Transfer Size (Bytes)\tBandwidth(MB/s)
   33554432\t\t\t2100000.0

Result = PASS
";
    const CSV: &str =
        "bandwidthTest-D2H-Pinned, Bandwidth = 25.5 GB/s, Time = 0.00126 s, Size = 32000000 bytes, NumDevsUsed = 1\n";

    #[test]
    fn both_shapes_become_points() {
        let head = "platform,mode,host_memory,direction,bytes,gb_per_s\n";
        assert!(is_bandwidth_test(TEXT) && is_bandwidth_test(CSV));
        let rows = "bandwidth-test,off,pageable,h2d,1024,0.3\nbandwidth-test,off,pageable,h2d,33554432,8.5\nbandwidth-test,off,device,d2d,33554432,2100\n";
        assert_eq!(bandwidth_test(TEXT, Mode::Off).unwrap(), format!("{head}{rows}"));
        assert_eq!(
            bandwidth_test(CSV, Mode::Cc).unwrap(),
            format!("{head}bandwidth-test,cc,pinned,d2h,32000000,25.5\n")
        );
    }

    #[test]
    fn what_is_no_such_output_is_refused_and_says_why() {
        for (text, phrase) in [
            (TEXT.replace("1 Device(s)", "2 Device(s)"), "line 7 is of several devices"),
            (TEXT.replace("GB/s", "furlongs"), "line 10 has no unit"),
            (TEXT.replace("PAGEABLE", "SOME"), "line 10 has no kind of memory"),
            (TEXT.replace("\t0.3", "\t-0.3"), "line 10 has no rate"),
            (CSV.replace("Used = 1", "Used = 8"), "line 1 has no single device"),
            (CSV.replace("Size", "Sighs"), "line 1 has no size"),
            ("[CUDA Bandwidth Test] - Starting...\n".to_owned(), "no line has a size"),
        ] {
            let error = bandwidth_test(&text, Mode::Off).unwrap_err();
            assert!(error.contains(phrase), "{error}");
        }
    }

    proptest! {
        #[test]
        fn no_output_is_too_odd(place in 0usize..2000, byte in any::<u8>(), csv: bool) {
            let mut text = if csv { CSV } else { TEXT }.as_bytes().to_vec();
            let place = place % text.len();
            text[place] = byte;
            if let Ok(text) = std::str::from_utf8(&text) {
                let _ = bandwidth_test(text, Mode::Off);
            }
        }
    }
}
