//! The machines that an answer is about: the machine itself, each design over it, and what designs are compared with.

use crate::config::{Base, Layers};
use crate::explore::candidate::{Baseline, Candidate, CandidateError, named};
use crate::system::Memory;

#[derive(Debug, Clone)]
pub(in crate::explore) struct Variant {
    /// Its design; the machine's own name for the machine itself.
    pub name: String,
    /// The machine with it.
    pub base: Base,
    /// The place of the variant that its gain is stated against; its own for the machine itself.
    pub against: usize,
    /// Whether what designs state stays, and the machine alone is varied.
    pub pins_designs: bool,
}

impl Variant {
    /// Its name and what it needs, if its engines do not close at their clock.
    pub(super) fn does_not_close(&self) -> Option<String> {
        Some(format!("{} {}", self.name, self.base.resolved().machine.does_not_close()?))
    }
}

/// The machine, the designs in their order, and behind them the path on which the CPU seals anew, if a design is compared with that.
pub(super) fn variants(machine: &Layers, designs: &[String], memory: Memory) -> Result<Vec<Variant>, CandidateError> {
    let layers = |design: Option<&str>| design.into_iter().fold(machine.clone(), Layers::overlay);
    let base = |design| layers(design).base();
    let own = base(None)?;
    let mut variants = vec![Variant { name: own.resolved().name(), base: own, against: 0, pins_designs: false }];
    let mut resealed = false;
    for design in designs {
        named(machine, design, memory)?;
        let base = base(Some(design))?;
        let candidate =
            Candidate { name: design.clone(), resolved: base.resolved().clone(), layers: layers(Some(design)) };
        let against = if candidate.baseline() == Baseline::Resealed { designs.len() + 1 } else { 0 };
        resealed |= against > 0;
        variants.push(Variant { name: design.clone(), base, against, pins_designs: false });
    }
    if resealed {
        let name = Baseline::Resealed.design().to_owned();
        variants.push(Variant { base: base(Some(&name))?, name, against: 0, pins_designs: false });
    }
    Ok(variants)
}
