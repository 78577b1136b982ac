//! The register of predictions: figures that are written down before anybody joins them with measurements.
//!
//! ```text
//!   sizes and modes --> [ simulate ] --> predictions, with machine, digest and version      `sealsim validate --predict`
//!   predictions + measurements --> [ join ] --> errors                                      `sealsim validate --score`
//! ```

use super::{
    catalogue::Dataset,
    measured::{Point, Predicted},
};
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use thiserror::Error;

pub fn table(predictions: &[Predicted]) -> Vec<u8> {
    let mut writer = csv::WriterBuilder::new().comment(Some(b'#')).from_writer(Vec::new());
    // A vector takes whatever is written, and all records have one length.
    let _ = predictions.first().map(|first| writer.write_record(first.columns()));
    for prediction in predictions {
        let _ = writer.write_record(prediction.cells());
    }
    writer.into_inner().unwrap_or_default()
}

#[derive(Debug, Error)]
pub enum JoinError {
    #[error("{file} is a table of {kind}, and predictions are of {predicted}")]
    Kind { file: String, kind: &'static str, predicted: &'static str },
    #[error("predictions and measurements do not match, and nothing was scored:\n{0}")]
    Rows(Rows),
}

/// Rows without a partner: the lines of messages, each with its file and line.
#[derive(Debug)]
pub struct Rows(Vec<String>);

/// As many rows as a message names.
const SHOWN: usize = 20;

impl fmt::Display for Rows {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().take(SHOWN).try_for_each(|row| writeln!(to, "  {row}"))?;
        match self.0.len().saturating_sub(SHOWN) {
            0 => Ok(()),
            more => writeln!(to, "  and {more} more"),
        }
    }
}

/// What two rows of one point have in common: of copies platform, mode, memory, direction and the exact size.
type Key<'p> = &'p BTreeMap<String, String>;

/// For each measured point its predicted figure, in the order of the measurements.
pub fn join(
    file: &str,
    predictions: &[Predicted],
    measured_file: &str,
    measured: &Dataset,
) -> Result<Vec<f64>, JoinError> {
    if let Some(kind) = predictions.first().map(Predicted::kind).filter(|kind| *kind != measured.kind) {
        let (file, predicted) = (measured_file.to_owned(), kind.name());
        return Err(JoinError::Kind { file, kind: measured.kind.name(), predicted });
    }
    let mut open: HashMap<Key<'_>, &Point> = predictions.iter().map(|one| (&one.point.cells, &one.point)).collect();
    let mut taken: HashMap<Key<'_>, usize> = HashMap::new();
    let (mut figures, mut rows) = (Vec::new(), Vec::new());
    let mut complain = |file: &str, line: usize, what: &str| rows.push(format!("{file}:{line}: {what}"));
    let named = |point: &Point| format!("{} of {}", point.label, point.platform);
    for (point, _) in &measured.points {
        match (open.remove(&point.cells), taken.insert(&point.cells, point.line)) {
            (Some(prediction), _) => figures.push(prediction.measured),
            (None, Some(line)) => {
                complain(measured_file, point.line, &format!("{} was measured in line {line} already", named(point)));
            }
            (None, None) => complain(measured_file, point.line, &format!("{} was not predicted", named(point))),
        }
    }
    for row in &measured.left_out {
        complain(measured_file, row.line, &format!("not predicted: {}", row.why));
    }
    for prediction in predictions.iter().filter(|one| open.contains_key(&one.point.cells)) {
        complain(file, prediction.point.line, &format!("{} was not measured", named(&prediction.point)));
    }
    if rows.is_empty() { Ok(figures) } else { Err(JoinError::Rows(Rows(rows))) }
}

#[cfg(test)]
mod tests {
    use super::super::measured::asked;
    use super::*;

    const HEAD: &str = "platform,mode,host_memory,direction,bytes";

    fn predictions(rows: &[&str]) -> Vec<Predicted> {
        let points = asked("p.csv", &format!("{HEAD}\n{}\n", rows.join("\n"))).unwrap();
        let one = |(place, point): (usize, Point)| Predicted {
            point: Point { measured: place as f64 + 1.0, ..point },
            machine: "a, b".into(),
            machine_digest: "d".into(),
            sealsim: "0".into(),
        };
        points.into_iter().enumerate().map(one).collect()
    }

    fn joined(predicted: &[&str], measured: &[&str]) -> Result<Vec<f64>, String> {
        let rows: String = measured.iter().map(|row| format!("{row},5\n")).collect();
        let dataset = Dataset::read("m", "m.csv", &format!("{HEAD},gb_per_s\n{rows}")).unwrap();
        join("p.csv", &predictions(predicted), "m.csv", &dataset).map_err(|error| error.to_string())
    }

    const UP: &str = "p,cc,pinned,h2d,4096";
    const DOWN: &str = "p,cc,pinned,d2h,4096";

    #[test]
    fn rows_join_by_size_mode_direction_and_memory_in_whatever_order() {
        assert_eq!(joined(&[UP, DOWN], &[DOWN, UP]), Ok(vec![2.0, 1.0]));
    }

    #[test]
    fn a_row_without_a_partner_fails_with_file_and_line_in_either_direction() {
        let missing = joined(&[UP, DOWN], &[UP]).unwrap_err();
        assert!(missing.contains("p.csv:3: cc pinned d2h 4 KiB of p was not measured"), "{missing}");
        for other in ["p,cc,pinned,d2h,4097", "p,off,pinned,d2h,4096", "p,cc,pageable,d2h,4096", "q,cc,pinned,d2h,4096"]
        {
            let error = joined(&[UP, DOWN], &[UP, other]).unwrap_err();
            assert!(error.contains("m.csv:3: ") && error.contains("p.csv:3: "), "{error}");
        }
        let twice = joined(&[UP], &[UP, UP]).unwrap_err();
        assert!(twice.contains("m.csv:3: cc pinned h2d 4 KiB of p was measured in line 2 already"), "{twice}");
        let managed = joined(&[UP], &[UP, "p,cc,managed,d2h,4096"]).unwrap_err();
        assert!(managed.contains("m.csv:3: not predicted: managed"), "{managed}");
    }

    #[test]
    fn a_long_list_of_rows_is_cut() {
        let many: Vec<String> = (1..=50).map(|bytes| format!("p,off,pinned,h2d,{bytes}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let error = joined(&many, &[UP]).unwrap_err();
        assert!(error.contains("and 31 more") && error.lines().count() == 22, "{error}");
    }

    #[test]
    fn a_table_of_another_kind_is_no_measurement_of_a_prediction() {
        let dataset = Dataset::read("m", "m.csv", &format!("{HEAD},api_us\n{UP},5\n")).unwrap();
        let error = join("p.csv", &predictions(&[UP]), "m.csv", &dataset).unwrap_err();
        assert_eq!(error.to_string(), "m.csv is a table of api, and predictions are of bandwidth");
    }

    #[test]
    fn a_table_of_predictions_can_be_read_again() {
        let text = String::from_utf8(table(&predictions(&[UP, DOWN]))).unwrap();
        let again = super::super::measured::predicted("p.csv", &text).unwrap();
        assert_eq!((again.len(), again[1].machine.as_str(), again[1].point.measured), (2, "a, b", 2.0));
    }
}
