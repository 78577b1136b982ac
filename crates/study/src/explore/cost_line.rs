//! The line that other simulators take for a copy's time: a latency and a rate.

use super::CostRow;

/// `latency + bytes / rate`, fitted to the times of copies of several sizes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CostLine {
    pub latency_ns: f64,
    pub ns_per_byte: f64,
    /// The largest relative error over the copies that it was fitted to.
    pub worst: f64,
    pub worst_at: u64,
}

/// Bytes, and ns.
type Point = (f64, f64);

impl CostLine {
    /// The line with the least squares of relative errors, so that small copies count as much as large ones. Neither value is negative. None if
    /// no copy takes any time.
    pub fn through(rows: &[CostRow]) -> Option<Self> {
        let points = points(rows);
        let sum = |of: fn(Point) -> f64| points.iter().copied().map(of).sum::<f64>();
        let (u, v) = (sum(|(_, ns)| 1.0 / ns), sum(|(bytes, ns)| bytes / ns));
        let (uu, vv) = (sum(|(_, ns)| (1.0 / ns).powi(2)), sum(|(bytes, ns)| (bytes / ns).powi(2)));
        let uv = sum(|(bytes, ns)| bytes / ns / ns);
        let det = uu * vv - uv * uv;
        let free = ((u * vv - v * uv) / det, (v * uu - u * uv) / det);
        // Without a latency the rate alone is fitted; so it is with a single size.
        let (latency, slope) = if det > 1e-9 * uu * vv && free.0 >= 0.0 { free } else { (0.0, v / vv) };
        (slope > 0.0 && slope.is_finite()).then(|| Self::checked(&points, latency, slope))
    }

    /// The same for a simulator that reads whole GB/s and whole ns: the better of the two rates beside the fitted one.
    pub fn whole(&self, rows: &[CostRow]) -> Self {
        let points = points(rows);
        let at_rate = |rate: f64| {
            let slope = 1.0 / rate.max(1.0);
            let sum = |of: &dyn Fn(Point) -> f64| points.iter().copied().map(of).sum::<f64>();
            let latency = sum(&|(bytes, ns)| (1.0 - slope * bytes / ns) / ns) / sum(&|(_, ns)| (1.0 / ns).powi(2));
            Self::checked(&points, latency.max(0.0).round(), slope)
        };
        let (below, above) = (at_rate(self.gb_per_s().floor()), at_rate(self.gb_per_s().ceil()));
        if below.worst <= above.worst { below } else { above }
    }

    pub fn gb_per_s(&self) -> f64 {
        1.0 / self.ns_per_byte
    }

    fn checked(points: &[Point], latency_ns: f64, ns_per_byte: f64) -> Self {
        let off = |(bytes, ns): &Point| ((latency_ns + ns_per_byte * bytes) / ns - 1.0).abs();
        let worst = points.iter().max_by(|one, other| off(one).total_cmp(&off(other)));
        let (worst, worst_at) = worst.map_or((0.0, 0), |point| (off(point), point.0 as u64));
        Self { latency_ns, ns_per_byte, worst, worst_at }
    }
}

fn points(rows: &[CostRow]) -> Vec<Point> {
    rows.iter().filter(|row| row.latency_ns > 0).map(|row| (row.bytes as f64, row.latency_ns as f64)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::{Direction, Memory};

    fn rows(points: &[(u64, u64)]) -> Vec<CostRow> {
        let row = |&(bytes, latency_ns): &(u64, u64)| CostRow {
            mode: "cc",
            direction: Direction::H2d,
            memory: Memory::Pinned,
            bytes,
            concurrency: 1,
            latency_ns,
            makespan_ns: latency_ns,
            gb_per_s: 0.0,
        };
        points.iter().map(row).collect()
    }

    #[test]
    fn copies_on_a_line_return_that_line() {
        let points: Vec<_> = [64_u64, 4096, 1 << 20, 1 << 26].map(|bytes| (bytes, 12_000 + bytes / 4)).to_vec();
        let line = CostLine::through(&rows(&points)).unwrap();
        assert!((line.latency_ns - 12_000.0).abs() < 0.1 && (line.gb_per_s() - 4.0).abs() < 1e-6, "{line:?}");
        assert!(line.worst < 1e-5);
        let whole = line.whole(&rows(&points));
        assert_eq!((whole.latency_ns, whole.gb_per_s()), (12_000.0, 4.0));
    }

    #[test]
    fn no_latency_is_negative_and_whole_rates_say_what_they_cost() {
        // Two sizes, the larger of which takes more than in proportion.
        let bent = rows(&[(1_000, 100), (1_000_000, 300_000)]);
        let line = CostLine::through(&bent).unwrap();
        assert_eq!(line.latency_ns, 0.0);
        let one = CostLine::through(&rows(&[(1 << 20, 300_000)])).unwrap();
        assert!(one.worst < 1e-12 && one.latency_ns == 0.0);
        // 3.5 GB/s lies between 3 and 4: at least an eighth is lost at large sizes.
        let slow = rows(&[(1 << 20, (1 << 20) * 2 / 7), (1 << 26, (1 << 26) * 2 / 7)]);
        let whole = CostLine::through(&slow).unwrap().whole(&slow);
        assert!(whole.worst > 0.1 && whole.gb_per_s().fract() == 0.0, "{whole:?}");
        assert!(CostLine::through(&[]).is_none());
    }
}
