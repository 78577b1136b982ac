//! The fault points of a machine.

use super::{machine::System, outcome::RunError, request::Request};
use crate::{
    config::MachineSpec,
    sim::{Armed, Effect, FaultKind, Injection, Netlist},
};

/// A place where faults can be injected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FaultPoint {
    /// Its name.
    pub place: String,
    /// What can go wrong there.
    pub kinds: Vec<FaultKind>,
}

/// Every fault point of a machine.
///
/// # Errors
/// If the machine cannot be built.
pub fn fault_points(machine: &MachineSpec) -> Result<Vec<FaultPoint>, RunError> {
    System::new(machine, &mut Request::none()).map(|system| points(&system))
}

fn points(system: &System) -> Vec<FaultPoint> {
    let all = system.netlist.fault_points().into_iter();
    let mut points: Vec<_> = all.map(|(place, kinds)| FaultPoint { place, kinds: kinds.to_vec() }).collect();
    if system.parts.iter().all(|parts| parts.machine.link.ide.is_none()) {
        points.iter_mut().for_each(|point| point.kinds.retain(|&kind| kind != FaultKind::IdeFlip));
    }
    points.retain(|point| !point.kinds.is_empty());
    points.sort_by(|a, b| a.place.cmp(&b.place));
    points
}

/// Arms all faults of a run.
pub(super) fn arm(system: &mut System, injections: &[Injection], seed: u64) -> Result<(), RunError> {
    if injections.is_empty() {
        return Ok(());
    }
    let points = points(system);
    arm_at(&mut system.netlist, &points, injections, seed)
}

/// The same in any netlist.
pub(super) fn arm_netlist(netlist: &mut Netlist, injections: &[Injection], seed: u64) -> Result<(), RunError> {
    let all = netlist.fault_points().into_iter();
    let points: Vec<_> = all.map(|(place, kinds)| FaultPoint { place, kinds: kinds.to_vec() }).collect();
    arm_at(netlist, &points, injections, seed)
}

fn arm_at(netlist: &mut Netlist, points: &[FaultPoint], injections: &[Injection], seed: u64) -> Result<(), RunError> {
    for (number, injection) in injections.iter().enumerate() {
        let known = points.iter().any(|p| p.place == injection.place && p.kinds.contains(&injection.kind));
        if !known {
            return Err(unknown(points, injection));
        }
        netlist.arm(injection, Armed::new(injection, number, seed));
    }
    Ok(())
}

fn unknown(points: &[FaultPoint], injection: &Injection) -> RunError {
    let point = format!("{}.{}", injection.place, injection.kind.name());
    let names = points.iter().flat_map(|p| p.kinds.iter().map(move |kind| format!("{}.{}", p.place, kind.name())));
    let nearest = names.max_by_key(|name| likeness(name, &point)).unwrap_or_default();
    RunError::FaultPoint { point, nearest }
}

/// Length of what two names share at both ends.
fn likeness(a: &str, b: &str) -> usize {
    let front = a.bytes().zip(b.bytes()).take_while(|(x, y)| x == y).count();
    let back = a.bytes().rev().zip(b.bytes().rev()).take_while(|(x, y)| x == y).count();
    front + back
}

/// A fault at every point that never strikes, so that its [passages](Effect::Waiting) are counted.
///
/// # Errors
/// If the machine cannot be built.
pub fn counters(machine: &MachineSpec) -> Result<Vec<Injection>, RunError> {
    let counter = |place: &str, kind| Injection { place: place.to_owned(), kind, passage: u64::MAX };
    let points = fault_points(machine)?;
    Ok(points.iter().flat_map(|point| point.kinds.iter().map(|&kind| counter(&point.place, kind))).collect())
}

/// Pairs of faults that undo each other: both invert the same bit.
pub(super) fn cancelled(injections: &[Injection], effects: &[Effect]) -> Vec<(usize, usize)> {
    let flip = |effect: &Effect| match effect {
        Effect::Struck { flip, .. } => *flip,
        _ => None,
    };
    let flips: Vec<_> =
        effects.iter().enumerate().filter_map(|(number, effect)| Some((number, flip(effect)?))).collect();
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    for (place, &(later, ref second)) in flips.iter().enumerate() {
        let free = |number: usize| pairs.iter().all(|&(a, b)| a != number && b != number);
        let undone = flips[..place].iter().find(|&&(earlier, ref first)| {
            let (a, b) = (&injections[earlier], &injections[later]);
            free(earlier) && first.cancels(second, (&a.place, a.passage) == (&b.place, b.passage))
        });
        let undone = undone.map(|&(earlier, _)| earlier);
        pairs.extend(undone.map(|earlier| (earlier, later)));
    }
    pairs
}
