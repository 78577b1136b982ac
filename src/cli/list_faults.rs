//! `sealsim list --faults`: where `--inject` can strike, and how.

use super::{Failure, run};
use crate::config::Layers;

/// One place and the kinds of faults that it knows.
pub(super) struct Row {
    /// The queue, wire or counter.
    pub place: String,
    /// What can go wrong there.
    pub kinds: Vec<&'static str>,
}

/// The fault points of a machine: a file, or the name of a shipped one.
///
/// # Errors
/// If the machine's configuration is wrong.
pub(super) fn rows(machine: &str) -> Result<Vec<Row>, Failure> {
    let resolved = Layers::new(machine).resolve()?;
    let points = run::fault_points(&resolved.machine).into_iter();
    Ok(points.map(|point| Row { place: point.place, kinds: point.kinds.iter().map(|kind| kind.name()).collect() }).collect())
}
