//! Times of collectives, as nccl-tests print them: calls back to back, out of place, so that a call takes what its kernel runs.

use super::{
    Read,
    copies::{mode, platform},
    point::{Curve, Experiment, Point, size},
    table::{Cells, Table},
};
use crate::files::Refusal;
use crate::workload::{
    MAX_BYTES,
    collective::{Collective, CollectiveCall, MOST_RANKS},
};

pub(super) const COLUMNS: &[&str] = &["platform", "mode", "operation", "gpus", "bytes", "us"];

pub(super) fn read(table: &Table) -> Read {
    let points = table.rows().map(|row| point(&row, row.positive("us")?)).collect::<Result<_, _>>()?;
    Ok((points, Vec::new()))
}

/// The point of a row, whose figure was measured or not.
pub(super) fn point(row: &Cells<'_>, us: f64) -> Result<Point, Refusal> {
    let (platform, mode) = (platform(row)?, mode(row)?);
    let kind = row.choice("operation", &Collective::ALL.map(|kind| (kind.name(), kind)))?;
    let (ranks, bytes) = (row.whole("gpus", 2, MOST_RANKS as u64)?, row.whole("bytes", 1, MAX_BYTES)?);
    let cells = ["platform", "mode", "operation", "gpus", "bytes"];
    Ok(Point {
        platform,
        mode,
        line: row.line(),
        label: format!("{} {} {ranks} GPUs {}", mode.name(), kind.name(), size(bytes)),
        cells: cells.map(|name| (name.to_owned(), row.text(name).to_owned())).into(),
        experiment: Experiment::Collective(CollectiveCall { kind, ranks: ranks as usize, bytes }),
        measured: us,
        unit: "us",
        curve: Curve {
            panel: format!("{} {ranks} GPUs", kind.name()),
            series: mode.name().to_owned(),
            x: bytes as f64,
            x_label: "bytes",
        },
    })
}

#[cfg(test)]
mod tests {
    use super::super::{Kind, Measured};
    use super::*;

    #[test]
    fn a_row_is_a_point_of_its_operation_and_what_cannot_be_is_refused_at_its_line() {
        let read = |row: &str| Measured::read("m.csv", &format!("{}\n{row}\n", COLUMNS.join(",")));
        let measured = read("p,off,all-gather,4,1048576,13.5").unwrap();
        let point = &measured.points[0];
        assert_eq!((measured.kind, point.label.as_str()), (Kind::Collectives, "off all-gather 4 GPUs 1 MiB"));
        let call = CollectiveCall { kind: Collective::AllGather, ranks: 4, bytes: 1 << 20 };
        assert_eq!((&point.experiment, point.measured), (&Experiment::Collective(call), 13.5));
        for (row, phrase) in [
            ("p,off,all_gather,4,1024,1", "`all_gather` is no operation"),
            ("p,off,all-gather,1,1024,1", "gpus is 1"),
            ("p,off,all-gather,65,1024,1", "gpus is 65"),
            ("p,off,all-gather,4,0,1", "bytes is 0"),
            ("p,off,all-gather,4,1024,0", "us is 0"),
        ] {
            let error = read(row).unwrap_err().to_string();
            assert!(error.contains("m.csv, line 2") && error.contains(phrase), "{row}: {error}");
        }
    }
}
