//! `sealsim list --faults`: where `--inject` can place faults, how, and what it can choose there.

use super::Failure;
use crate::{
    config::Layers,
    sim::{FaultKind, Selectors},
    system::{FaultPoint, fault_points},
};

pub(super) struct Row {
    /// As `--inject` takes it.
    pub name: String,
    /// What goes wrong, and what can be chosen.
    pub summary: String,
}

/// The fault points of a machine under some designs: files, or the names of shipped ones.
pub(super) fn rows(machine: &str, designs: &[String]) -> Result<Vec<Row>, Failure> {
    let resolved = designs.iter().fold(Layers::new(machine), Layers::overlay).resolve()?;
    let points = fault_points(&resolved.machine).map_err(|error| Failure::Config(miette::miette!("{error}")))?;
    let rows = points.into_iter().flat_map(|FaultPoint { place, kinds, selectors }| {
        kinds.into_iter().map(move |kind| {
            let summary = format!("{}{}", summary(kind), choices(kind, &selectors));
            Row { name: format!("{place}.{}", kind.name()), summary }
        })
    });
    Ok(rows.collect())
}

/// What an injection can choose there, in addition to transfer, time and bit.
fn choices(kind: FaultKind, selectors: &Selectors) -> String {
    let mut choices: Vec<String> = selectors.sorts.iter().map(|sort| format!("{sort}=N")).collect();
    choices.extend(selectors.messages.then(|| "message=N".to_owned()));
    let mut parts = if choices.is_empty() { Vec::new() } else { vec![choices.join(", ")] };
    if kind == FaultKind::Flip && !selectors.fields.is_empty() {
        parts.push(format!("field= {}", selectors.fields.join(", ")));
    }
    if parts.is_empty() { String::new() } else { format!(" [{}]", parts.join("; ")) }
}

const fn summary(kind: FaultKind) -> &'static str {
    match kind {
        FaultKind::Flip => "a bit of what passes is inverted",
        FaultKind::FlipToken => "a bit of the framing token is inverted",
        FaultKind::Drop => "what passes is lost",
        FaultKind::Duplicate => "what passes comes twice",
        FaultKind::Reorder => "what passes changes places with what comes next",
        FaultKind::Skip => "a counter takes a step too many",
        FaultKind::Stuck0 => "a bit of a register is held at 0",
        FaultKind::Stuck1 => "a bit of a register is held at 1",
        FaultKind::IdeFlip => "a bit of a protected TLP is inverted above the LCRC, where only IDE can tell",
    }
}
