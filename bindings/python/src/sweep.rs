//! `sealsim.sweep`: a study into a folder, and the folder's table.

use super::{
    compare::threads,
    fault::Fault,
    watch::{Watch, watched},
};
use pyo3::prelude::*;
use sealsim::{
    explore::sweep::{Ended, Folder, Study},
    files::read_text,
    units::Bytes,
};
use std::path::PathBuf;

/// The longest study.
const LONGEST_STUDY: Bytes = Bytes(1 << 20);

/// Which study, by its path or by its text, and where its results go.
#[derive(Debug, FromPyObject)]
#[pyo3(from_item_all)]
pub struct Question {
    path: Option<PathBuf>,
    text: String,
    folder: PathBuf,
    threads: Option<u16>,
}

/// Runs the points that the folder does not have: the columns, and the rows as JSON.
#[pyfunction]
pub fn sweep(
    py: Python<'_>,
    question: Question,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<(Vec<String>, String)> {
    watched(py, progress, |watch| question.answer(watch))
}

impl Question {
    fn answer(&self, watch: &Watch) -> Result<(Vec<String>, String), Fault> {
        let (study, text) = self.study()?;
        let mut folder = Folder::open(&self.folder, &study, &text)?;
        let (total, done) = study.progress(&folder)?;
        let part = 1.0 / total.max(1) as f64;
        watch.set(done as f64 * part);
        let swept = study.sweep(&mut folder, threads(self.threads), &|| watch.control(), &|| watch.add(part));
        swept.map_err(|ended| match ended {
            Ended::Stopped => Fault::verification("interrupted").help("run the same sweep again to go on"),
            Ended::Folder(error) => error.into(),
            Ended::Study(error) => error.into(),
        })?;
        study.tabulate(&folder)?;
        let table = study.table(&folder)?;
        Ok((table.columns, serde_json::to_string(&table.rows).map_err(Fault::simulation)?))
    }

    fn study(&self) -> Result<(Study, String), Fault> {
        let (name, text) = match &self.path {
            Some(path) => (path.display().to_string(), read_text(path, LONGEST_STUDY).map_err(Fault::input_output)?),
            None => ("the study".to_owned(), self.text.clone()),
        };
        let study = Study::read(&name, &text)?;
        Ok((study, text))
    }
}
