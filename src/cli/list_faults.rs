//! `sealsim list --faults`: where `--inject` can strike, and how.

use super::Failure;
use crate::{
    config::Layers,
    sim::FaultKind,
    system::{FaultPoint, fault_points},
};

/// One fault point.
pub(super) struct Row {
    /// As `--inject` takes it.
    pub name: String,
    /// What goes wrong.
    pub summary: &'static str,
}

/// The fault points of a machine under some designs: files, or the names of shipped ones.
///
/// # Errors
/// If the machine's configuration is wrong.
pub(super) fn rows(machine: &str, designs: &[String]) -> Result<Vec<Row>, Failure> {
    let resolved = designs.iter().fold(Layers::new(machine), Layers::overlay).resolve()?;
    let points = fault_points(&resolved.machine).map_err(|error| Failure::Config(miette::miette!("{error}")))?;
    let rows = points.into_iter().flat_map(|FaultPoint { place, kinds }| {
        kinds.into_iter().map(move |kind| Row { name: format!("{place}.{}", kind.name()), summary: summary(kind) })
    });
    Ok(rows.collect())
}

const fn summary(kind: FaultKind) -> &'static str {
    match kind {
        FaultKind::Flip => "a bit of what passes is inverted",
        FaultKind::FlipToken => "a bit of the framing token is inverted",
        FaultKind::Drop => "what passes is lost",
        FaultKind::Duplicate => "what passes comes twice",
        FaultKind::Reorder => "what passes changes places with what comes next",
        FaultKind::Skip => "a counter takes a step too many",
        FaultKind::IdeFlip => "a bit of a protected TLP is inverted above the LCRC, where only IDE can tell",
    }
}
