//! Tables with one copy in each row.

use super::{
    Read,
    point::{Copied, Curve, Experiment, HostMemory, LeftOut, Mode, Point, size},
    table::{Cells, Table},
};
use crate::{
    files::Refusal,
    system::Direction,
    workload::{MAX_BYTES, direction_name},
};

/// Why rows of managed memory are left out.
const MANAGED: &str = "managed memory migrates by pages, which is not modelled";

/// Sizes at which the line of a fit is taken: it holds below about 1 MB.
const FIT_SIZES: [u64; 3] = [4 << 10, 64 << 10, 512 << 10];

/// Kinds of memory; none stands for managed memory.
const MEMORIES: [(&str, Option<HostMemory>); 4] = [
    ("pinned", Some(HostMemory::Pinned)),
    ("pageable", Some(HostMemory::Pageable)),
    ("device", Some(HostMemory::Device)),
    ("managed", None),
];

pub(super) struct Head {
    platform: String,
    mode: Mode,
    direction: Direction,
    memory: HostMemory,
}

pub(super) fn direction(row: &Cells<'_>) -> Result<Direction, Refusal> {
    let all = [Direction::H2d, Direction::D2h, Direction::D2d];
    row.choice("direction", &all.map(|direction| (direction_name(direction), direction)))
}

/// The kind of memory, which must go with the direction; none for managed memory.
pub(super) fn memory(row: &Cells<'_>, direction: Direction) -> Result<Option<HostMemory>, Refusal> {
    let memory = row.choice("host_memory", &MEMORIES)?;
    let fits = memory.is_none_or(|memory| (memory == HostMemory::Device) == (direction == Direction::D2d));
    let what = || format!("{} between host_memory {}", row.text("direction"), row.text("host_memory"));
    let wrong =
        || row.error("host_memory", what(), "d2d goes with device, h2d and d2h with pinned, pageable or managed");
    if fits { Ok(memory) } else { Err(wrong()) }
}

pub(super) fn mode(row: &Cells<'_>) -> Result<Mode, Refusal> {
    row.choice("mode", &Mode::ALL.map(|mode| (mode.name(), mode)))
}

pub(super) fn platform(row: &Cells<'_>) -> Result<String, Refusal> {
    let platform = row.text("platform");
    let nameless = || row.error("platform", "no platform".into(), "name it, and say with --hw which machine it is");
    if platform.is_empty() { Err(nameless()) } else { Ok(platform.to_owned()) }
}

pub(super) fn head(row: &Cells<'_>) -> Result<Option<Head>, Refusal> {
    let (platform, mode, direction) = (platform(row)?, mode(row)?, direction(row)?);
    Ok(memory(row, direction)?.map(|memory| Head { platform, mode, direction, memory }))
}

fn bytes(row: &Cells<'_>) -> Result<u64, Refusal> {
    row.whole("bytes", 1, MAX_BYTES)
}

impl Head {
    fn copy(&self, bytes: u64) -> Copied {
        Copied { direction: self.direction, memory: self.memory, bytes }
    }

    fn point(self, line: usize, copy: Copied, experiment: Experiment, measured: f64, unit: &'static str) -> Point {
        let (mode, memory, direction) = (self.mode.name(), self.memory.name(), direction_name(self.direction));
        let cells = [
            ("platform", self.platform.clone()),
            ("mode", mode.to_owned()),
            ("host_memory", memory.to_owned()),
            ("direction", direction.to_owned()),
            ("bytes", copy.bytes.to_string()),
        ];
        Point {
            label: format!("{mode} {memory} {direction} {}", size(copy.bytes)),
            platform: self.platform,
            mode: self.mode,
            line,
            cells: cells.map(|(name, text)| (name.to_owned(), text)).into(),
            experiment,
            measured,
            unit,
            curve: Curve {
                panel: format!("{memory} {direction}"),
                series: mode.to_owned(),
                x: copy.bytes as f64,
                x_label: "bytes",
            },
        }
    }
}

/// Reads each row that the model covers with `read`.
fn each(table: &Table, read: impl Fn(&Cells<'_>, Head, &mut Vec<Point>) -> Result<(), Refusal>) -> Read {
    let (mut points, mut left_out) = (Vec::new(), Vec::new());
    for row in table.rows() {
        match head(&row)? {
            Some(head) => read(&row, head, &mut points)?,
            None => left_out.push(LeftOut { line: row.line(), why: MANAGED }),
        }
    }
    Ok((points, left_out))
}

pub(super) fn bandwidth(table: &Table) -> Read {
    each(table, |row, head, points| {
        points.push(rate(row, head, row.positive("gb_per_s")?)?);
        Ok(())
    })
}

/// The rate of many copies of one size, measured or not.
pub(super) fn rate(row: &Cells<'_>, head: Head, gb_per_s: f64) -> Result<Point, Refusal> {
    let copy = head.copy(bytes(row)?);
    Ok(head.point(row.line(), copy, Experiment::Bandwidth(copy), gb_per_s, "GB/s"))
}

pub(super) fn api(table: &Table) -> Read {
    each(table, |row, head, points| {
        let copy = head.copy(bytes(row)?);
        points.push(head.point(row.line(), copy, Experiment::Call(copy), row.positive("api_us")?, "us"));
        Ok(())
    })
}

pub(super) fn spans(table: &Table) -> Read {
    each(table, |row, head, points| {
        let copy = head.copy(bytes(row)?);
        points.push(head.point(row.line(), copy, Experiment::Span(copy), row.positive("span_us")?, "us"));
        Ok(())
    })
}

pub(super) fn ce_fits(table: &Table) -> Read {
    each(table, |row, head, points| {
        let (offset, rate) = (row.positive("offset_us")?, row.positive("gb_per_s")?);
        for bytes in FIT_SIZES {
            let copy = head.copy(bytes);
            let head = Head { platform: head.platform.clone(), ..head };
            let span = offset + bytes as f64 / rate * 1e-3;
            points.push(head.point(row.line(), copy, Experiment::Span(copy), span, "us"));
        }
        Ok(())
    })
}

pub(super) fn cipher(table: &Table) -> Read {
    let sized = table.has(&["bytes"]);
    let (mut points, mut left_out) = (Vec::new(), Vec::new());
    for row in table.rows() {
        let (platform, cipher) = (platform(&row)?, row.text("cipher"));
        let rate = row.positive("gb_per_s")?;
        let why = match cipher {
            "AES-256-GCM" if row.text("clock_ghz").is_empty() => Some("no clock is stated"),
            "AES-256-GCM" => None,
            _ => Some("copies are sealed with AES-256-GCM alone"),
        };
        if let Some(why) = why {
            left_out.push(LeftOut { line: row.line(), why });
            continue;
        }
        let clock_ghz = row.positive("clock_ghz")?;
        let bytes = if sized { Some(row.whole("bytes", 1, MAX_BYTES)?) } else { None };
        let label = match bytes {
            Some(bytes) => format!("{platform} {cipher} {}", size(bytes)),
            None => format!("{cipher} at {clock_ghz} GHz"),
        };
        let mut names = vec!["platform", "cipher", "clock_ghz"];
        names.extend(["bytes", "run"].iter().filter(|name| table.has(&[**name])));
        let (series, x, x_label) = match bytes {
            Some(bytes) => (platform.clone(), bytes as f64, "bytes"),
            None => ("cc".into(), clock_ghz, "GHz"),
        };
        points.push(Point {
            mode: Mode::Cc,
            line: row.line(),
            label,
            cells: names.into_iter().map(|name| (name.to_owned(), row.text(name).to_owned())).collect(),
            experiment: Experiment::Cipher { clock_ghz, bytes },
            measured: rate,
            unit: "GB/s",
            curve: Curve { panel: cipher.to_owned(), series, x, x_label },
            platform,
        });
    }
    Ok((points, left_out))
}

#[cfg(test)]
mod tests {
    use super::super::Measured;

    const HEAD: &str = "platform,mode,host_memory,direction,bytes,gb_per_s\n";

    fn read(row: &str) -> Result<Measured, String> {
        Measured::read("m.csv", &format!("{HEAD}{row}\n")).map_err(|error| error.to_string())
    }

    #[test]
    fn a_row_of_what_cannot_be_is_refused_at_its_line() {
        for (row, phrase) in [
            ("p1,on,pinned,h2d,64,1", "`on` is no mode"),
            ("p1,cc,pined,h2d,64,1", "`pined` is no host_memory"),
            ("p1,cc,pinned,up,64,1", "`up` is no direction"),
            ("p1,cc,pinned,d2d,64,1", "d2d between host_memory pinned"),
            ("p1,cc,device,h2d,64,1", "h2d between host_memory device"),
            ("p1,cc,pinned,h2d,64.5,1", "bytes is 64.5"),
            ("p1,cc,pinned,h2d,0,1", "bytes is 0"),
            ("p1,cc,pinned,h2d,9e30,1", "bytes is 9e30"),
            ("p1,cc,pinned,h2d,64,0", "gb_per_s is 0"),
            ("p1,cc,pinned,h2d,64,1e308", "gb_per_s is 1e308"),
            ("p1,cc,pinned,h2d,64,1000001", "gb_per_s is 1000001"),
            ("p1,off,pageable,d2h,64,4294967303", "gb_per_s is 4294967303"),
            (",cc,pinned,h2d,64,1", "no platform"),
        ] {
            let error = read(row).unwrap_err();
            assert!(error.contains("m.csv, line 2") && error.contains(phrase), "{row}: {error}");
        }
    }

    #[test]
    fn managed_memory_is_left_out_and_said() {
        let measured = read("p1,cc,managed,h2d,64,1").unwrap();
        assert_eq!((measured.points.len(), measured.left_out.len()), (0, 1));
    }

    #[test]
    fn a_fit_stands_for_points_on_its_line() {
        let text = "platform,mode,host_memory,direction,offset_us,gb_per_s\np1,cc,pinned,h2d,1.5,16\n";
        let points = Measured::read("m", text).unwrap().points;
        let spans: Vec<_> = points.iter().map(|point| point.measured).collect();
        assert_eq!(spans, [1.5 + 0.256, 1.5 + 4.096, 1.5 + 32.768]);
    }
}
