//! Totals of whole programs. Sizes are not published: all copies of one direction and kind of memory are taken to be equal, and a whole
//! number of 64 KiB where that prints alike: a copy of 1 MiB and one of 424 B more do not go the same way.
//!
//! A profiler reports copies of pinned memory as copies within the device when confidential computing is on. Their directions come from
//! the row of the same program without it: what is lacking there of the copies by direction are those of pinned memory. The same
//! difference shows which copies to the host go to pageable memory, which neither row says by itself.

use super::{
    Read,
    copies::{mode, platform},
    point::{Copied, Curve, Experiment, Group, HostMemory, LeftOut, Mode, Point},
    table::{Cells, Table},
};
use crate::{files::Refusal, system::Direction, workload::MAX_BYTES};
use std::collections::{BTreeMap, HashMap};

pub(super) const COLUMNS: &[&str] = &[
    "platform",
    "app",
    "mode",
    "h2d_megabytes",
    "h2d_ns",
    "h2d_count",
    "d2h_megabytes",
    "d2h_ns",
    "d2h_count",
    "d2d_megabytes",
    "d2d_ns",
    "d2d_count",
    "src_pinned",
    "src_pageable",
    "src_device",
    "src_managed",
];

/// The smallest size that is estimated: totals of a few bytes are printed as nothing.
const LEAST_BYTES: f64 = 4.0;

/// Megabytes are printed with three decimals.
const PRINTED: f64 = 500.0;
/// Arrays are often a whole number of these.
const ROUND: f64 = 65536.0;

/// More copies, or megabytes, than any program has.
const MOST: u64 = 1 << 40;

#[derive(Debug, Clone, Copy, Default)]
struct Total {
    megabytes: f64,
    nanoseconds: f64,
    count: u64,
}

struct Row {
    platform: String,
    app: String,
    mode: Mode,
    line: usize,
    h2d: Total,
    d2h: Total,
    d2d: Total,
    pinned_sources: u64,
    pageable_sources: u64,
    managed_sources: u64,
}

pub(super) fn read(table: &Table) -> Read {
    let rows = table.rows().map(|row| Row::read(&row)).collect::<Result<Vec<_>, _>>()?;
    let (mut points, mut left_out) = (Vec::new(), Vec::new());
    let mut programs: HashMap<&str, usize> = HashMap::new();
    // Of two rows of one program and mode, the first counts.
    let mut first = HashMap::new();
    for row in &rows {
        first.entry((&row.platform, &row.app, row.mode)).or_insert(row);
    }
    for row in &rows {
        let next = programs.len();
        let place = *programs.entry(&row.app).or_insert(next);
        let other = if row.mode == Mode::Off { Mode::Cc } else { Mode::Off };
        let partner = first.get(&(&row.platform, &row.app, other)).copied();
        let figures = match (row.mode, partner) {
            (Mode::Off, partner) => row.without(partner),
            (Mode::Cc, Some(partner)) => row.with(partner),
            (Mode::Cc, None) => {
                let why = "without the program's row with CC off nothing tells which way its pinned copies go";
                left_out.push(LeftOut { line: row.line, why });
                Vec::new()
            }
        };
        let real = figures.into_iter().filter(|(_, nanoseconds, groups)| *nanoseconds > 0.0 && !groups.is_empty());
        points.extend(real.map(|(what, nanoseconds, groups)| row.point(what, nanoseconds, groups, place)));
    }
    Ok((points, left_out))
}

/// What is summed, its nanoseconds, and the copies in it.
type Figure = (&'static str, f64, Vec<Group>);

impl Row {
    fn read(row: &Cells<'_>) -> Result<Self, Refusal> {
        let total = |direction: &str| {
            let column = |what: &str| format!("{direction}_{what}");
            let most = |column: &str, number: f64| {
                let large = || row.error(column, format!("{column} is {number}"), "no program copies that much");
                if number < MOST as f64 { Ok(number) } else { Err(large()) }
            };
            let megabytes = column("megabytes");
            Ok(Total {
                megabytes: most(&megabytes, row.number(&megabytes, 0.0)?)?,
                nanoseconds: row.number(&column("ns"), 0.0)?,
                count: row.whole(&column("count"), 0, MOST)?,
            })
        };
        Ok(Self {
            platform: platform(row)?,
            app: row.text("app").to_owned(),
            mode: mode(row)?,
            line: row.line(),
            h2d: total("h2d")?,
            d2h: total("d2h")?,
            d2d: total("d2d")?,
            pinned_sources: row.whole("src_pinned", 0, MOST)?,
            pageable_sources: row.whole("src_pageable", 0, MOST)?,
            managed_sources: row.whole("src_managed", 0, MOST)?,
        })
    }

    /// The figures of a row without confidential computing.
    fn without(&self, partner: Option<&Self>) -> Vec<Figure> {
        let sources = self.pinned_sources + self.pageable_sources;
        let share = |count: u64| Total {
            megabytes: self.h2d.megabytes * count as f64 / sources.max(1) as f64,
            count,
            ..Total::default()
        };
        let up = [
            group(Direction::H2d, HostMemory::Pinned, share(self.pinned_sources)),
            group(Direction::H2d, HostMemory::Pageable, share(self.pageable_sources)),
        ];
        let pageable = match partner {
            Some(partner) => partner.d2h,
            None if self.pageable_sources > self.pinned_sources => self.d2h,
            None => Total::default(),
        };
        let down = [
            group(Direction::D2h, HostMemory::Pinned, self.d2h.less(pageable)),
            group(Direction::D2h, HostMemory::Pageable, pageable),
        ];
        vec![
            ("h2d", self.h2d.nanoseconds, up.into_iter().flatten().collect()),
            ("d2h", self.d2h.nanoseconds, down.into_iter().flatten().collect()),
            ("d2d", self.d2d.nanoseconds, group(Direction::D2d, HostMemory::Device, self.d2d).into_iter().collect()),
        ]
    }

    /// The figures of a row with confidential computing; `off` is its program's row without.
    fn with(&self, off: &Self) -> Vec<Figure> {
        let up = Total { count: self.managed_sources, ..off.h2d.less(self.h2d) };
        let managed = [
            group(Direction::H2d, HostMemory::Pinned, up),
            group(Direction::D2h, HostMemory::Pinned, off.d2h.less(self.d2h)),
            group(Direction::D2d, HostMemory::Device, off.d2d),
        ];
        let one = |direction, total| group(direction, HostMemory::Pageable, total).into_iter().collect();
        vec![
            ("pageable h2d", self.h2d.nanoseconds, one(Direction::H2d, self.h2d)),
            ("pageable d2h", self.d2h.nanoseconds, one(Direction::D2h, self.d2h)),
            ("pinned, both ways", self.d2d.nanoseconds, managed.into_iter().flatten().collect()),
        ]
    }

    fn point(&self, what: &'static str, nanoseconds: f64, groups: Vec<Group>, place: usize) -> Point {
        let mode = self.mode.name();
        let cells = [("platform", self.platform.as_str()), ("app", &self.app), ("mode", mode), ("total", what)];
        Point {
            platform: self.platform.clone(),
            mode: self.mode,
            line: self.line,
            label: format!("{mode} {} {what}", self.app),
            cells: BTreeMap::from(cells.map(|(name, text)| (name.to_owned(), text.to_owned()))),
            experiment: Experiment::Totals(groups),
            measured: nanoseconds * 1e-6,
            unit: "ms",
            curve: Curve { panel: what.into(), series: mode.into(), x: place as f64 + 1.0, x_label: "program" },
        }
    }
}

impl Total {
    fn less(self, other: Self) -> Self {
        Self {
            megabytes: (self.megabytes - other.megabytes).max(0.0),
            nanoseconds: 0.0,
            count: self.count.saturating_sub(other.count),
        }
    }
}

fn group(direction: Direction, memory: HostMemory, total: Total) -> Option<Group> {
    let mean = (total.megabytes * 1e6 / total.count.max(1) as f64).clamp(LEAST_BYTES, MAX_BYTES as f64);
    let copy = Copied { direction, memory, bytes: rounded(mean) };
    (total.count > 0).then_some(Group { copy, count: total.count })
}

/// A whole number of [`ROUND`] that prints alike, else the mean itself.
fn rounded(mean: f64) -> u64 {
    let round = (mean / ROUND).round() * ROUND;
    let alike = round > 0.0 && (round - mean).abs() <= PRINTED;
    if alike { round as u64 } else { mean.round() as u64 }
}

#[cfg(test)]
mod tests {
    use super::super::Measured;
    use super::*;

    fn read(rows: &str) -> Measured {
        Measured::read("m", &format!("{}\n{rows}", COLUMNS.join(","))).unwrap()
    }

    fn groups(point: &Point) -> Vec<(Direction, HostMemory, u64, u64)> {
        let Experiment::Totals(groups) = &point.experiment else { panic!("no totals") };
        groups.iter().map(|group| (group.copy.direction, group.copy.memory, group.copy.bytes, group.count)).collect()
    }

    #[test]
    fn directions_of_pinned_copies_come_from_the_other_row() {
        use {Direction::*, HostMemory::*};
        let measured = read(
            "p1,kmeans,off,8.0,190664.0,4.0,4.0,1934101.0,3.0,0.0,0.0,0.0,4.0,0.0,3.0,0.0\n\
             p1,kmeans,cc,0.0,0.0,0.0,4.0,2155878.0,1.0,8.0,2130565.0,6.0,0.0,0.0,3.0,4.0\n",
        );
        let all: Vec<_> = measured.points.iter().map(|point| (point.label.as_str(), groups(point))).collect();
        assert_eq!(
            all,
            [
                ("off kmeans h2d", vec![(H2d, Pinned, 2_000_000, 4)]),
                ("off kmeans d2h", vec![(D2h, Pinned, 4, 2), (D2h, Pageable, 4_000_000, 1)]),
                ("cc kmeans pageable d2h", vec![(D2h, Pageable, 4_000_000, 1)]),
                ("cc kmeans pinned, both ways", vec![(H2d, Pinned, 2_000_000, 4), (D2h, Pinned, 4, 2)]),
            ]
        );
        assert_eq!(measured.points[3].measured, 2.130_565);
    }

    #[test]
    fn sizes_are_whole_numbers_of_64_kib_where_they_print_alike() {
        let size = |megabytes, count| {
            let total = Total { megabytes, count, ..Total::default() };
            group(Direction::H2d, HostMemory::Pinned, total).map(|group| group.copy.bytes)
        };
        assert_eq!([size(7.343, 7), size(16.777, 1), size(25.167, 3)], [1 << 20, 1 << 24, 1 << 23].map(Some));
        assert_eq!(size(4.0, 1), Some(4_000_000));
        assert_eq!([size(0.11, 4502), size(37.597, 9001), size(0.0, 2)], [24, 4177, 4].map(Some));
        assert_eq!(size(0.0, 0), None);
    }

    #[test]
    fn a_row_whose_directions_nobody_knows_is_left_out() {
        let measured = read("p1,a,cc,0.0,0.0,0.0,4.0,2155878.0,1.0,8.0,2130565.0,6.0,0.0,0.0,3.0,4.0\n");
        assert_eq!((measured.points.len(), measured.left_out.len()), (0, 1));
    }
}
