//! The machines that an answer is about: the machine itself, each design over it, and what designs are compared with.

use crate::config::{Base, Layers, Parameter};
use crate::explore::candidate::{Baseline, Candidate, CandidateError, named};
use crate::system::Memory;

/// One of the machines.
#[derive(Debug, Clone)]
pub(in crate::explore) struct Variant {
    /// Its design; the machine's own name for the machine itself.
    pub name: String,
    /// The machine with it.
    pub base: Base,
    /// The place of the variant that its gain is stated against; its own for the machine itself.
    pub against: usize,
    /// What may be varied in it.
    pub parameters: Vec<Parameter>,
}

impl Variant {
    /// One in which everything may be varied.
    pub fn new(name: String, base: Base, against: usize) -> Self {
        let parameters = base.resolved().parameters.clone();
        Self { name, base, against, parameters }
    }

    /// One in which only the machine may be varied, and what designs say of it stays.
    pub fn of_machine(name: String, base: Base) -> Self {
        let parameters = base.of_machine();
        Self { name, base, against: 0, parameters }
    }

    /// Its name and what it needs, if its engines do not close at their clock.
    pub(super) fn does_not_close(&self) -> Option<String> {
        Some(format!("{} {}", self.name, self.base.resolved().machine.does_not_close()?))
    }
}

/// The machine, the designs in their order, and behind them the path on which the CPU seals anew, if a design is compared with that.
pub(super) fn variants(machine: &Layers, designs: &[String], memory: Memory) -> Result<Vec<Variant>, CandidateError> {
    let base = |design: Option<&str>| design.into_iter().fold(machine.clone(), Layers::overlay).base();
    let own = base(None)?;
    let mut variants = vec![Variant::new(own.resolved().name(), own, 0)];
    let mut resealed = false;
    for design in designs {
        named(machine, design, memory)?;
        let base = base(Some(design))?;
        let candidate =
            Candidate { name: design.clone(), resolved: base.resolved().clone(), layers: base.layers().clone() };
        let against = if candidate.baseline() == Baseline::Resealed { designs.len() + 1 } else { 0 };
        resealed |= against > 0;
        variants.push(Variant::new(design.clone(), base, against));
    }
    if resealed {
        let name = Baseline::Resealed.design();
        variants.push(Variant::new(name.to_owned(), base(Some(name))?, 0));
    }
    Ok(variants)
}
