//! `--plot FILE` of whichever verb: a file that is begun before anything runs, and takes its name when it is whole.

use super::{Failure, output};
use crate::{
    files::WholeFile,
    report::plot::{Format, PlotError, drawing::Drawing},
};
use miette::miette;
use std::{io::Write, path::PathBuf};

/// A file that a picture is to be written to.
#[derive(Debug)]
pub(super) struct PlotFile {
    file: WholeFile,
    format: Format,
}

impl PlotFile {
    /// Begins the file, if one is asked for. What cannot be written says so here, before anything runs.
    pub fn begin(path: Option<&PathBuf>) -> Result<Option<Self>, Failure> {
        let Some(path) = path else { return Ok(None) };
        output::refuse_stream("--plot", Some(path))?;
        let format = Format::of(path)?;
        let file = WholeFile::create(path).map_err(Failure::of_file)?;
        Ok(Some(Self { file, format }))
    }

    pub fn write(mut self, drawing: &Drawing) -> Result<(), Failure> {
        let bytes = self.format.write(drawing)?;
        let written = self.file.write_all(&bytes).and_then(|()| self.file.keep());
        written.map_err(Failure::of_file)
    }
}

impl From<PlotError> for Failure {
    fn from(error: PlotError) -> Self {
        match error {
            PlotError::Ending { .. } | PlotError::NoPdf { .. } => Self::Usage(miette!("--plot {error}")),
            PlotError::Pdf(_) => Self::InputOutput(miette!("{error}")),
        }
    }
}
