//! Designs that are compared: each laid over one machine, and refused before anything runs where there is no such machine.

use crate::{
    config::{Layers, Refusal, Resolved, Shipped},
    host::spec::CipherWork,
    system::{self, CopyRequest, Direction, Memory, Request, RunError},
    validate::summary::{self, Part},
};
use serde::Serialize;
use thiserror::Error;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Baseline {
    Off,
    /// The machine as it is.
    Cc,
    /// Data come sealed by the user.
    Resealed,
}

impl Baseline {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 3] = [Self::Off, Self::Cc, Self::Resealed];

    pub const fn design(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Cc => "h100-cc",
            Self::Resealed => "h100-cc-resealed",
        }
    }
}

#[derive(Debug, Clone)]
pub struct Candidate {
    /// As asked for: a design, or several joined by `+`.
    pub name: String,
    /// The machine with it.
    pub resolved: Resolved,
    pub layers: Layers,
}

/// What figures of these designs rest on whose held-out error is large or not known; `collectives` if they are among the work.
pub fn cautions(own: &Resolved, candidates: &[Candidate], collectives: bool) -> Vec<String> {
    let sms = candidates.iter().any(|candidate| candidate.resolved.machine.sm.is_some());
    let parts = [(Part::Copies, true), (Part::Sms, sms), (Part::Collectives, collectives)];
    let parts: Vec<_> = parts.into_iter().filter(|part| part.1).map(|part| part.0).collect();
    summary::cautions(&own.machine.name, &parts)
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Skipped {
    pub name: String,
    pub reason: String,
}

#[derive(Debug, Error)]
pub enum CandidateError {
    /// A layer is wrong, or missing, or the whole is.
    #[error(transparent)]
    Config(#[from] Refusal),
    #[error("`{name}` is without confidential computing, and a setting above it switches that on")]
    StillOn { name: String },
    #[error("`{name}` has no effect: the machine has confidential computing off, and the design does not switch it on")]
    NothingSealed { name: String },
    #[error("`{name}`: {error}")]
    Build { name: String, error: RunError },
}

impl Candidate {
    /// What the design's gain is stated against: a design in which the user seals, against the path on which the CPU seals anew.
    pub const fn baseline(&self) -> Baseline {
        let machine = &self.resolved.machine;
        match machine.cipher.work {
            CipherWork::Forward | CipherWork::InPlace if machine.sealed_path() => Baseline::Resealed,
            _ => Baseline::Cc,
        }
    }
}

/// The machine without confidential computing and with nothing protected between GPUs, by the name of [`Baseline::Off`].
pub fn nothing_protected(machine: &Layers, memory: Memory) -> Result<Candidate, CandidateError> {
    let name = Baseline::Off.design();
    let layers = machine.clone().overlay(name).overlay("plain");
    let resolved = still_off(name, layers.resolve()?)?;
    built(name, resolved, layers, memory)
}

/// Lays a design, or several joined by `+`, over a machine. What is set on the machine lies above them. Refused where the design has no effect.
pub fn named(machine: &Layers, name: &str, memory: Memory) -> Result<Candidate, CandidateError> {
    let layers = machine.clone().overlay(name);
    let resolved = layers.resolve()?;
    if name == Baseline::Off.design() {
        return built(name, still_off(name, resolved)?, layers, memory);
    }
    let off = |resolved: &Resolved| !resolved.machine.confidential_computing;
    if off(&resolved) && off(&machine.resolve()?) {
        return Err(CandidateError::NothingSealed { name: name.to_owned() });
    }
    built(name, resolved, layers, memory)
}

/// Refuses a baseline that is not what its name says.
fn still_off(name: &str, resolved: Resolved) -> Result<Resolved, CandidateError> {
    if resolved.machine.confidential_computing {
        return Err(CandidateError::StillOn { name: name.to_owned() });
    }
    Ok(resolved)
}

/// A candidate that can be built.
fn built(name: &str, resolved: Resolved, layers: Layers, memory: Memory) -> Result<Candidate, CandidateError> {
    let name = name.to_owned();
    match system::check(&resolved.machine, request(memory)) {
        Ok(()) => Ok(Candidate { name, resolved, layers }),
        Err(error) => Err(CandidateError::Build { name, error }),
    }
}

/// Every shipped design of copies over a machine, the baselines first; and those that it cannot have.
pub fn shipped(machine: &Layers, memory: Memory) -> Result<(Vec<Candidate>, Vec<Skipped>), CandidateError> {
    let baselines = Baseline::ALL.map(Baseline::design);
    let others = Shipped::copy_designs().filter(|name| !baselines.contains(name));
    all(machine, baselines.into_iter().chain(others), (memory, false))
}

/// Every shipped design of what lies between GPUs, with the same baselines but the last; and those that the machine cannot have.
pub fn shipped_fabric(machine: &Layers, memory: Memory) -> Result<(Vec<Candidate>, Vec<Skipped>), CandidateError> {
    let baselines = [Baseline::Off, Baseline::Cc].map(Baseline::design);
    all(machine, baselines.into_iter().chain(Shipped::fabric_designs()), (memory, true))
}

/// The designs asked for behind the baselines, or all that are shipped where none is: those of the fabric where there are collectives. Baselines
/// that the machine cannot have are skipped, a design that was asked for must be possible.
pub fn asked(
    machine: &Layers,
    designs: &[String],
    memory: Memory,
    collectives: bool,
) -> Result<(Vec<Candidate>, Vec<Skipped>), CandidateError> {
    match (designs.is_empty(), collectives) {
        (true, true) => return shipped_fabric(machine, memory),
        (true, false) => return shipped(machine, memory),
        (false, _) => {}
    }
    let baselines = Baseline::ALL.map(Baseline::design);
    let unasked = baselines.into_iter().filter(|name| !designs.iter().any(|design| design == name));
    let (mut candidates, skipped) = all(machine, unasked, (memory, collectives))?;
    for (place, name) in designs.iter().enumerate() {
        if !designs[..place].contains(name) {
            candidates.push(named(machine, name, memory)?);
        }
    }
    let rank = |candidate: &Candidate| baselines.iter().position(|name| *name == candidate.name);
    candidates.sort_by_key(|candidate| rank(candidate).unwrap_or(baselines.len()));
    Ok((candidates, skipped))
}

/// Those that are possible; where there are collectives, off protects nothing between GPUs either.
fn all<'n>(
    machine: &Layers,
    names: impl Iterator<Item = &'n str>,
    (memory, collectives): (Memory, bool),
) -> Result<(Vec<Candidate>, Vec<Skipped>), CandidateError> {
    machine.resolve()?;
    let (mut candidates, mut skipped) = (Vec::new(), Vec::new());
    for name in names {
        let candidate = match collectives && name == Baseline::Off.design() {
            true => nothing_protected(machine, memory),
            false => named(machine, name, memory),
        };
        match candidate {
            Ok(candidate) => candidates.push(candidate),
            Err(error) => skipped.push(Skipped { name: name.to_owned(), reason: error.to_string() }),
        }
    }
    Ok((candidates, skipped))
}

/// Copies of a byte in both directions, which show whether a machine can be built.
fn request(memory: Memory) -> Request {
    let copies = [Direction::H2d, Direction::D2h].map(|direction| copy(direction, 1, memory));
    Request { copies: copies.into(), ..Request::none() }
}

/// A copy as `sealsim run --copy` makes it, without bytes.
pub(super) fn copy(direction: Direction, bytes: u64, memory: Memory) -> CopyRequest {
    CopyRequest { direction, memory, ..Request::h2d(bytes).copies.remove(0) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Role;

    fn refused(machine: &str, name: &str) -> String {
        named(&Layers::new(machine), name, Memory::Pinned).unwrap_err().to_string()
    }

    #[test]
    fn every_shipped_design_is_possible_on_every_shipped_machine_that_seals() {
        for machine in Shipped::names(Role::Machine) {
            let (candidates, skipped) = shipped(&Layers::new(machine), Memory::Pageable).unwrap();
            let resolved = Layers::new(machine).resolve().unwrap().machine;
            // Link IDE ends at a switch.
            let (switched, other): (Vec<_>, Vec<_>) =
                skipped.iter().partition(|one| !resolved.switch.is_empty() && one.name.starts_with("ide"));
            let total = Shipped::copy_designs().count() - switched.len();
            assert_eq!(
                candidates.len(),
                if resolved.confidential_computing { total } else { 1 },
                "{machine}: {skipped:?}"
            );
            assert_eq!(candidates[0].name, "off");
            assert!(other.iter().all(|one| one.reason.contains("confidential computing off")));
        }
    }

    #[test]
    fn fastrack_is_its_three_steps() {
        let machine = |name: &str| named(&Layers::new("h100-nvl-tdx"), name, Memory::Pinned).unwrap().resolved.machine;
        assert_eq!(machine("fastrack"), machine("direct+parallel-auth+overlap"));
        assert_eq!(machine("fastrack"), machine("overlap + parallel-auth + direct"));
        assert_eq!(machine("h100-cc"), Layers::new("h100-nvl-tdx").resolve().unwrap().machine);
    }

    #[test]
    fn a_design_in_which_the_user_seals_is_held_against_the_resealed_path() {
        let baseline = |name| named(&Layers::new("h100-nvl-tdx"), name, Memory::Pinned).unwrap().baseline();
        for name in ["direct", "direct-in-place", "fastrack", "overlap+direct"] {
            assert_eq!(baseline(name), Baseline::Resealed, "{name}");
        }
        for name in ["off", "h100-cc", "h100-cc-resealed", "overlap", "direct+off"] {
            assert_eq!(baseline(name), Baseline::Cc, "{name}");
        }
    }

    #[test]
    fn what_cannot_be_compared_is_refused_with_its_reason() {
        assert!(refused("h100-nvl-tdx", "direct+").contains("missing"));
        assert!(refused("h100-nvl-tdx", "+").contains("missing"));
        assert!(refused("h100-sxm5-off", "direct").contains("no effect"));
        let on = Layers::new("h100-nvl-tdx").set("confidential_computing=true");
        assert!(matches!(named(&on, "off", Memory::Pinned), Err(CandidateError::StillOn { .. })));
        let switched = Layers::new("h100-nvl-tdx").confidential_computing(true);
        assert!(named(&switched, "off", Memory::Pinned).is_ok());
        assert!(refused("h100-nvl-tdx", "directly").contains("directly"));
        assert!(refused("no-such-machine", "direct").contains("no-such-machine"));
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("nine+pces.toml");
        std::fs::write(&file, "[copy_engine]\npces_secure = 9\n").unwrap();
        assert!(refused("h100-nvl-tdx", file.to_str().unwrap()).contains("9 PCEs"));
    }
}
