//! Copies of programs, one in each row, in the order of the program: the copies of the run without confidential computing are what is
//! issued, whichever mode a point is of.

use super::{
    Read,
    copies::{direction, memory, mode, platform},
    point::{Copied, Curve, Experiment, HostMemory, Mode, Point},
    table::{Cells, Table},
};
use crate::{
    files::Refusal,
    system::Direction,
    workload::{MAX_BYTES, direction_name},
};
use std::{
    collections::{BTreeMap, HashMap, hash_map::Entry},
    sync::Arc,
};

struct Run {
    platform: String,
    program: String,
    mode: Mode,
    line: usize,
    copies: Vec<Copied>,
    device_ns: Vec<f64>,
}

pub(super) fn read(table: &Table) -> Read {
    let mut runs: Vec<Run> = Vec::new();
    let mut places = HashMap::new();
    for row in table.rows() {
        let (platform, program, mode) = (platform(&row)?, row.text("program").to_owned(), mode(&row)?);
        let (copy, nanoseconds) = (copy(&row)?, row.positive("device_ns")?);
        match places.entry((platform, program, mode)) {
            Entry::Occupied(place) => {
                let run: &mut Run = &mut runs[*place.get()];
                run.copies.push(copy);
                run.device_ns.push(nanoseconds);
            }
            Entry::Vacant(place) => {
                let (copies, device_ns, line) = (vec![copy], vec![nanoseconds], row.line());
                let (platform, program, mode) = place.key().clone();
                place.insert(runs.len());
                runs.push(Run { platform, program, mode, line, copies, device_ns });
            }
        }
    }
    Ok((points(&runs), Vec::new()))
}

fn copy(row: &Cells<'_>) -> Result<Copied, Refusal> {
    let direction = direction(row)?;
    // With confidential computing a profiler calls pinned memory managed.
    let memory = memory(row, direction)?.unwrap_or(HostMemory::Pinned);
    Ok(Copied { direction, memory, bytes: row.whole("bytes", 1, MAX_BYTES)? })
}

fn points(runs: &[Run]) -> Vec<Point> {
    let (mut points, mut names) = (Vec::new(), HashMap::new());
    let without = runs.iter().filter(|run| run.mode == Mode::Off);
    let without: HashMap<_, _> = without.map(|run| ((&run.platform, &run.program), run)).collect();
    for run in runs {
        let input = without.get(&(&run.platform, &run.program)).copied().unwrap_or(run);
        let input = Arc::new(input.copies.clone());
        let next = names.len();
        let program = *names.entry(&run.program).or_insert(next);
        for counted in [Direction::H2d, Direction::D2h, Direction::D2d] {
            let spans = run.copies.iter().zip(&run.device_ns).filter(|(copy, _)| copy.direction == counted);
            let total: f64 = spans.map(|(_, span)| span).sum();
            if total > 0.0 {
                points.push(run.point(Arc::clone(&input), counted, total, program));
            }
        }
    }
    points
}

impl Run {
    fn point(&self, copies: Arc<Vec<Copied>>, counted: Direction, nanoseconds: f64, place: usize) -> Point {
        let (mode, direction) = (self.mode.name(), direction_name(counted));
        let cells = [
            ("platform", self.platform.as_str()),
            ("program", self.program.as_str()),
            ("mode", mode),
            ("direction", direction),
        ];
        Point {
            platform: self.platform.clone(),
            mode: self.mode,
            line: self.line,
            label: format!("{mode} {} {direction}", self.program),
            cells: BTreeMap::from(cells.map(|(name, text)| (name.to_owned(), text.to_owned()))),
            experiment: Experiment::Program { copies, counted },
            measured: nanoseconds * 1e-3,
            unit: "us",
            curve: Curve {
                panel: format!("copies {direction}"),
                series: mode.into(),
                x: place as f64 + 1.0,
                x_label: "program",
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Measured;
    use super::*;

    #[test]
    fn the_run_without_confidential_computing_is_the_input_of_both() {
        let text = "platform,program,mode,place,direction,host_memory,bytes,device_ns\n\
                    p1,a,off,1,h2d,pinned,100,1000\np1,a,off,2,d2h,pageable,50,500\np1,a,cc,1,h2d,managed,101,3000\n\
                    p1,a,cc,2,h2d,managed,1,200\n";
        let points = Measured::read("m", text).unwrap().points;
        let figures: Vec<_> = points.iter().map(|point| (point.label.as_str(), point.measured)).collect();
        assert_eq!(figures, [("off a h2d", 1.0), ("off a d2h", 0.5), ("cc a h2d", 3.2)]);
        for point in &points {
            let Experiment::Program { copies, .. } = &point.experiment else { panic!("no program") };
            assert_eq!(copies.iter().map(|copy| copy.bytes).collect::<Vec<_>>(), [100, 50]);
        }
    }
}
