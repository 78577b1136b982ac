//! Which file a picture becomes: the ending of its name says so.

use super::{drawing::Drawing, svg};
use std::path::Path;
use thiserror::Error;

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PlotError {
    #[error("{path}: plots are SVG or PDF: name the file .svg or .pdf")]
    Ending { path: String },
    #[error("{path}: built without the feature `plot`, which PDF needs: name the file .svg")]
    NoPdf { path: String },
    #[error("the plot does not become a PDF: {0}")]
    Pdf(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Svg,
    /// Portable Document Format, with the font of its texts.
    #[cfg(feature = "plot")]
    Pdf,
}

impl Format {
    pub fn of(path: &Path) -> Result<Self, PlotError> {
        let ending = path.extension().and_then(|ending| ending.to_str()).map(str::to_ascii_lowercase);
        let shown = || path.display().to_string();
        match ending.as_deref() {
            Some("svg") => Ok(Self::Svg),
            #[cfg(feature = "plot")]
            Some("pdf") => Ok(Self::Pdf),
            #[cfg(not(feature = "plot"))]
            Some("pdf") => Err(PlotError::NoPdf { path: shown() }),
            _ => Err(PlotError::Ending { path: shown() }),
        }
    }

    pub fn write(self, drawing: &Drawing) -> Result<Vec<u8>, PlotError> {
        match self {
            Self::Svg => Ok(svg::write(drawing).into_bytes()),
            #[cfg(feature = "plot")]
            Self::Pdf => super::pdf::write(drawing).map_err(PlotError::Pdf),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_says_which_and_another_one_names_both() {
        assert_eq!(Format::of(Path::new("a.b/c.SVG")), Ok(Format::Svg));
        #[cfg(feature = "plot")]
        assert_eq!(Format::of(Path::new("c.pdf")), Ok(Format::Pdf));
        for other in ["c", "c.png", ".svg", "svg"] {
            let said = Format::of(Path::new(other)).unwrap_err().to_string();
            assert!(said.contains(".svg") && said.contains(".pdf"), "{said}");
        }
    }
}
