//! Parameters fitted to measured points.
//!
//! ```text
//!  stage file --> Stage --+-- parameters with bounds --> fit: Levenberg and Marquardt, differences by simulation
//!                         +-- points by selection          |
//!                                                          v
//!   configuration <-- write: values, provenance <-- findings: intervals, correlations, what is not determined
//! ```
//!
//! Parameters are whole numbers of their base units, as configurations hold them, so every candidate is a machine that can be
//! written down. Residuals are relative: simulated over measured, less one.

mod findings;
mod fit;
mod linear;
mod plan;
mod stage;
mod write;

pub use findings::{Determination, Finding, findings};
pub use fit::{Fit, Variable, fit};
pub use plan::{Step, plan};
pub use stage::{Bounds, Selection, Stage, StageFile, Tuned};
pub use write::{Entry, WriteError, write};
