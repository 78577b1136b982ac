//! Points of a study with their figures, as lines of JSON and as Parquet.

mod id;
#[cfg(feature = "parquet")]
pub mod parquet;
mod row;

pub use id::PointId;
pub use row::{Origin, Point, PointRow};
