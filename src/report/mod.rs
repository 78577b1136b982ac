//! The results of a run: one typed record, as JSON for programs and as text for people.
//!
//! ```text
//!  system::Outcome --+
//!  Arrival digests --+--> Report --+--> serde_json   (docs/results.md)
//!  host time --------+             +--> text
//!  Resolved, Workload, Outcome ---> Manifest         (enough to run it again)
//! ```
//!
//! Times are picoseconds, rounded down; sizes are bytes; a GB is 10^9 bytes.

pub mod collectives;
pub mod comparison;
pub mod difference;
pub mod explain;
pub mod failed_tags;
mod failure;
pub mod fault_points;
pub mod fault_sets;
mod faults;
mod gpus;
pub mod html;
pub mod layout;
mod manifest;
mod names;
pub mod netlist;
pub mod plot;
mod record;
pub mod replay;
pub(crate) mod table;
mod text;

pub use collectives::CollectiveRecord;
pub use failure::{ErrorRecord, FailureReport, WaitRecord};
pub use faults::{Faults, SignalRecord};
pub use gpus::{GpuRecord, KeyUse, Keys, Link, TagQueue};
pub use manifest::{MANIFEST_VERSION, Manifest, ManifestError, PayloadRecord};
pub use record::{Context, CopyRecord, FirstMessage, Host, Report, Rerun, UnitRecord};

/// Version of the results: it changes when a field is renamed or removed, or its meaning changes.
pub const SCHEMA_VERSION: u32 = 4;
