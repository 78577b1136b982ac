//! Units as heads of tables write them: `Start (ns)`, `Bytes (MB)`, `Throughput (MB/s)`, in older versions `(nsec)` and `(MBps)`.

/// The power of ten that makes nanoseconds of a time.
pub(super) fn time(unit: &str) -> Option<i32> {
    Some(match unit {
        "ns" | "nsec" => 0,
        "us" | "usec" | "\u{b5}s" | "\u{3bc}s" => 3,
        "ms" | "msec" => 6,
        "s" | "sec" => 9,
        _ => return None,
    })
}

pub(super) fn bytes(unit: &str) -> Option<f64> {
    let (prefix, thousand) = match unit.strip_suffix("iB") {
        Some(prefix) => (prefix, 1024.0),
        None => (unit.strip_suffix('B')?, 1000.0),
    };
    let power = match prefix {
        "" if thousand < 1024.0 => 0,
        "K" | "k" => 1,
        "M" => 2,
        "G" => 3,
        "T" => 4,
        _ => return None,
    };
    Some(f64::powi(thousand, power))
}

/// Bytes per second of a throughput.
pub(super) fn rate(unit: &str) -> Option<f64> {
    bytes(unit.strip_suffix("/s").or_else(|| unit.strip_suffix("ps"))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_read_as_versions_write_them() {
        assert_eq!(["ns", "usec", "ms", "sec"].map(time), [Some(0), Some(3), Some(6), Some(9)]);
        assert_eq!(["B", "KB", "MiB", "GB"].map(bytes), [Some(1.0), Some(1e3), Some(1_048_576.0), Some(1e9)]);
        assert_eq!(
            ["MB/s", "MBps", "GiB/s", "B/s"].map(rate),
            [Some(1e6), Some(1e6), Some(1_073_741_824.0), Some(1.0)]
        );
        assert_eq!((time("min"), bytes("iB"), bytes("Mb"), rate("MB")), (None, None, None, None));
    }
}
