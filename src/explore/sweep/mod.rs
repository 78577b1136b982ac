//! Sweeps: a study's points, each run once, into one table.
//!
//! ```text
//!   studies/x.toml --> Study --> points --> run, over threads --> folder: points.jsonl   one line per point, as they end
//!                       axes      id each      a Row each             |
//!                                                                     +--> points.csv, points.parquet   in the study's order
//! ```
//!
//! A point is known by its content: what is in the folder is not run again. A line is written whole and flushed before the next, so a
//! run that is killed loses what was under way and no more. The tables are in the study's order, whatever the number of threads.

mod axis;
mod figures;
mod folder;
mod pareto;
mod points;
mod study;
mod table;

pub use axis::{AxisError, AxisSpec};
pub use figures::{COLUMNS, Row, Stopped, Value};
pub use folder::{Folder, FolderError, FolderRecord};
pub use pareto::{Front, ParetoError, front};
pub use points::Point;
pub use study::{Objectives, Random, Study, StudyError, StudySpec};
pub use table::{Table, TableError};
