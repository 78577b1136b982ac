//! Sweeps: a study's points, each run once, into one table.
//!
//! ```text
//!   studies/x.toml --> Study --> points --> run, over threads --> folder: points.jsonl   one line per point, as they end
//!                       axes      id each      a PointRow each             |  shards/3-of-8.jsonl             likewise, by shard
//!                                                                     +--> points.csv, points.parquet   in the study's order
//! ```
//!
//! A point is known by its content: what is in the folder is not run again. A line is written whole before the next, so a run that is
//! killed loses what was in progress and no more. The tables are in the study's order, whatever the number of threads.
//!
//! | memory | |
//! | --- | --- |
//! | per point in progress | a machine |
//! | per point that has run | its identity and the place of its line: below 100 bytes |
//! | while points run | their settings, some thousands at a time, which are put in order |
//! | while tables are written | the rows of one group of the Parquet file |

mod axis;
mod column;
mod figures;
mod folder;
mod folder_error;
mod heading;
mod lines;
mod pareto;
mod points;
mod read;
mod run;
mod select;
mod shard;
mod status;
mod store;
mod study;
mod table;
mod visits;

pub use crate::table::PointId;
pub use crate::table::{Origin, Point, PointRow};
pub use axis::{AxisError, AxisSpec};
pub use column::AxisColumn;
pub use figures::Stopped;
pub use folder::{Folder, FolderRecord};
pub use folder_error::FolderError;
pub use heading::Heading;
pub(super) use lines::each_line;
pub use lines::{BoundedLines, LONGEST_LINE, sealed};
pub use pareto::{Front, ParetoError, front};
pub use run::{Ended, Origins, Reason, Tabled};
pub use select::{Group, ON_FRONT, Selection, Together, Where};
pub use shard::{Gathering, Shard, ShardArray, discard, gather};
pub use status::{ShardStatus, SweepStatus};
pub use store::{Damaged, Store};
pub use study::{DRAWS, Objectives, Plot, Random, Study, StudyError, StudySpec};
pub use table::{Table, TableError, TableWriter, csv_text};
