//! Studies and their points, measurements, stages, vectors.

use super::{draw, text};
use sealsim::{
    config::{Layers, Resolved},
    explore::sweep::{Point, PointRow, Study, StudyError},
    validate::{
        calibrate::StageFile,
        catalogue::{Catalogue, Dataset},
        vectors::{self, Bulk},
    },
};
use std::sync::OnceLock;

/// Points that are tried of a study.
const POINTS: usize = 20;
/// The longest message that is sealed or opened.
const LONGEST: usize = 1 << 12;

/// The study owns its points, also those that went through a line of text.
pub fn study(input: &[u8]) {
    let Some(text) = text(input) else { return };
    let study = match Study::read("in", text) {
        Ok(study) => study,
        Err(StudyError::Refused(error)) => return draw(error),
        Err(error) => return assert!(error.to_string().len() < 4000, "{error}"),
    };
    for point in study.points().unwrap().take(POINTS) {
        let line = serde_json::to_string(&point).unwrap();
        let read: Point = serde_json::from_str(&line).unwrap();
        assert!(read == point && study.owns(&read), "{line}");
        let _ = study.machine(&point);
    }
}

/// A row is the same after it was written.
pub fn points(input: &[u8]) {
    for line in text(input).into_iter().flat_map(str::lines) {
        let Ok(row) = serde_json::from_str::<PointRow>(line) else { continue };
        let again: PointRow = serde_json::from_str(&serde_json::to_string(&row).unwrap()).unwrap();
        assert_eq!(again, row);
    }
}

pub fn stages(input: &[u8]) {
    static SHIPPED: OnceLock<(Resolved, Vec<Dataset>)> = OnceLock::new();
    let shipped = || (Layers::new("h100-nvl-tdx").resolve().unwrap(), Catalogue::shipped().unwrap().datasets);
    let (machine, datasets) = SHIPPED.get_or_init(shipped);
    let file = match text(input).map(|text| StageFile::read("in", text)) {
        None => return,
        Some(Ok(file)) => file,
        Some(Err(error)) => return draw(error),
    };
    for stage in &file.stages {
        let _ = stage.points(datasets);
        // What is fitted starts within its bounds.
        for tuned in stage.parameters(machine).into_iter().flatten() {
            let variable = &tuned.variable;
            assert!((variable.low..=variable.high).contains(&variable.start), "{tuned:?}");
        }
    }
}

/// A point measures something.
pub fn measured(input: &[u8]) {
    let Some(text) = text(input) else { return };
    match Dataset::read("in", "in.csv", text) {
        Ok(dataset) => {
            for (point, _) in &dataset.points {
                assert!(point.measured.is_finite() && point.measured > 0.0, "{point:?}");
            }
        }
        Err(error) => draw(error),
    }
}

pub fn vectors(input: &[u8]) {
    let Some(text) = text(input) else { return };
    let cases = match vectors::read(text) {
        Ok(cases) => cases,
        Err(error) => return assert!(error.to_string().len() < 4000, "{error}"),
    };
    for case in cases.iter().filter(|case| case.ciphertext.len() + case.aad.len() <= LONGEST).take(POINTS) {
        let _ = case.check(&mut Bulk);
    }
}
