//! Pictures of results, and curves out of characters.
//!
//! ```text
//!  studies, fronts  [chart] --+
//!  comparisons [comparison] --+--> [figure] panels, legend --+
//!  measurements  [measured] --+                              +--> [drawing] plain data --> [file] SVG or PDF
//!  sensitivity, risk [bars] --------------------------------+
//!  replays [timeline] --------------------------------------+
//! ```
//!
//! [`terminal`] draws measurements for people at work.
//!
//! Why not a crate: `kuva` 0.6 has log axes in powers of ten only (no `64 KiB`), and its PDF needs Rust 1.92. `plotters` 0.3 has no PDF, and its log axes,
//! intervals and outer legend would be drawn by hand too. `svg2pdf` is archived. The font's widths equal Helvetica's and Arial's, so SVG and PDF agree.

pub mod axis;
pub mod bars;
pub mod chart;
mod columns;
pub mod comparison;
pub mod drawing;
pub mod failures;
pub mod figure;
pub mod file;
pub mod font;
pub mod legend;
pub mod mark;
pub mod measured;
mod panel;
#[cfg(feature = "plot")]
mod pdf;
pub mod svg;
pub mod terminal;
pub mod timeline;
pub mod tornado;

pub use file::{Format, PlotError};
