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
