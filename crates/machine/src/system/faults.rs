//! The fault points of a machine.

use super::{machine::System, outcome::RunError, request::Request};
use crate::{
    config::MachineSpec,
    sim::{Armed, Effect, FaultKind, Injection, Netlist, Selectors, When},
};

/// A place where faults can be injected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FaultPoint {
    pub place: String,
    /// What can go wrong there.
    pub kinds: Vec<FaultKind>,
    /// What an injection can choose there, in addition to transfer, time and bit.
    pub selectors: Selectors,
}

pub(super) fn all_points(netlist: &Netlist) -> Vec<FaultPoint> {
    let all = netlist.fault_points().into_iter();
    let point = |(place, kinds): (String, &[FaultKind])| {
        let selectors = netlist.selectors(&place);
        FaultPoint { place, kinds: kinds.to_vec(), selectors }
    };
    all.map(point).collect()
}

pub fn fault_points(machine: &MachineSpec) -> Result<Vec<FaultPoint>, RunError> {
    System::new(machine, &mut Request::none()).map(|system| points(&system))
}

fn points(system: &System) -> Vec<FaultPoint> {
    let mut points = all_points(&system.netlist);
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
    let points = all_points(netlist);
    arm_at(netlist, &points, injections, seed)
}

fn arm_at(netlist: &mut Netlist, points: &[FaultPoint], injections: &[Injection], seed: u64) -> Result<(), RunError> {
    for (number, injection) in injections.iter().enumerate() {
        if injection.place.contains(REGISTERS) || is_of_tag_queue(&injection.place) {
            arm_register(netlist, points, injection, Armed::new(injection, number, seed))?;
            continue;
        }
        let known = |place: &str| points.iter().find(|p| p.place == place && p.kinds.contains(&injection.kind));
        let point = known(&injection.place).or_else(|| known(&unnumbered(&injection.place)));
        let point = point.ok_or_else(|| unknown(points, injection))?;
        check(points, point, injection)?;
        let placed = Injection { place: point.place.clone(), ..injection.clone() };
        netlist.arm(&placed, Armed::new(&placed, number, seed));
    }
    Ok(())
}

/// What lies between the path of a copy engine and the name of a register in its engine.
const REGISTERS: &str = ".engine.";

/// What can go wrong in a register.
const UPSETS: [FaultKind; 3] = [FaultKind::Flip, FaultKind::Stuck0, FaultKind::Stuck1];

/// What lies between the path of a GPU and the names of what its tag queue stores and finds.
const ENTRIES: &str = ".tag_queue.entry.";
const COMPARATORS: &str = ".tag_queue.comparator";

fn is_of_tag_queue(place: &str) -> bool {
    place.contains(ENTRIES) || place.contains(COMPARATORS)
}

/// Every register of a machine that faults can strike, by its path.
pub fn registers(machine: &MachineSpec) -> Result<Vec<String>, RunError> {
    System::new(machine, &mut Request::none()).map(|system| system.netlist.registers().collect())
}

fn arm_register(
    netlist: &mut Netlist,
    points: &[FaultPoint],
    injection: &Injection,
    armed: Armed,
) -> Result<(), RunError> {
    let Injection { place, kind, when, aim } = injection;
    let refuse = |what: &str, remedy: &str| {
        let (point, what, remedy) = (format!("{place}.{}", kind.name()), what.to_owned(), remedy.to_owned());
        Err(RunError::FaultSelector { point, what, remedy })
    };
    if matches!(when, When::Sort(..)) || aim.field.is_some() {
        return refuse("items and fields", "use message=, cycle=, cycles= and bit=");
    }
    if aim.cycle.or(aim.cycles).is_some() && is_of_tag_queue(place) {
        return refuse("cycle to choose", "use N, message=N or @TIME");
    }
    if aim.cycles.is_some() && *kind == FaultKind::Flip {
        return refuse("span", "leave out cycles, or use stuck0 or stuck1");
    }
    // A bit of an entry that is stuck is that of any message that comes to lie there, and entries have no places.
    let kinds = if place.contains(ENTRIES) { &UPSETS[..1] } else { &UPSETS[..] };
    let known = kinds.contains(kind)
        && [place.clone(), unnumbered(place)].iter().any(|place| netlist.arm_register(place, &armed));
    if known {
        return Ok(());
    }
    let registers =
        netlist.registers().map(|place| FaultPoint { place, kinds: UPSETS.to_vec(), selectors: Selectors::NONE });
    Err(unknown(&points.iter().cloned().chain(registers).collect::<Vec<_>>(), injection))
}

/// A place with its only GPU, host or link called by no number: `gpu0.pce0.tags` is `gpu.pce0.tags` where there is one GPU.
fn unnumbered(place: &str) -> String {
    let (first, rest) = place.split_once('.').unwrap_or((place, ""));
    let first =
        first.strip_suffix('0').filter(|name| !name.ends_with(|end: char| end.is_ascii_digit())).unwrap_or(first);
    if rest.is_empty() { first.to_owned() } else { format!("{first}.{rest}") }
}

/// Refuses what an injection chooses and no item of its place has.
fn check(points: &[FaultPoint], point: &FaultPoint, injection: &Injection) -> Result<(), RunError> {
    let name = format!("{}.{}", point.place, injection.kind.name());
    let refuse = |what: String, remedy: String| Err(RunError::FaultSelector { point: name.clone(), what, remedy });
    let having = |has: &dyn Fn(&Selectors) -> bool| {
        let places: Vec<_> = points.iter().filter(|point| has(&point.selectors)).map(|point| &*point.place).collect();
        if places.is_empty() {
            "no place of this machine has".to_owned()
        } else {
            format!("these have: {}", places.join(", "))
        }
    };
    match &injection.when {
        When::Message(_) if !point.selectors.messages => {
            return refuse("message that its items know".to_owned(), having(&|one| one.messages));
        }
        When::Sort(sort, _) if !point.selectors.sorts.contains(&&**sort) => {
            return refuse(format!("items of the sort `{sort}`"), having(&|one| one.sorts.contains(&&**sort)));
        }
        _ => {}
    }
    if injection.aim.cycle.or(injection.aim.cycles).is_some() {
        return refuse("cycle to choose".to_owned(), "use @TIME; only registers are struck by cycle".to_owned());
    }
    if !injection.aim.is_free() && injection.kind != FaultKind::Flip {
        return refuse("bit or field to choose".to_owned(), "leave out bit and field, or use flip".to_owned());
    }
    match &injection.aim.field {
        Some(field) if !point.selectors.fields.contains(&&**field) => {
            let known = match point.selectors.fields {
                [] => "leave out field".to_owned(),
                fields => format!("use one of {}", fields.join(", ")),
            };
            refuse(format!("field `{field}`"), known)
        }
        _ => Ok(()),
    }
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

/// A fault at every point that is never activated, so that its [transfers](Effect::Waiting) are counted.
pub fn counters(machine: &MachineSpec) -> Result<Vec<Injection>, RunError> {
    let counter = |place: &str, kind| Injection::nth(place, kind, u64::MAX);
    let points = fault_points(machine)?;
    Ok(points.iter().flat_map(|point| point.kinds.iter().map(|&kind| counter(&point.place, kind))).collect())
}

/// Pairs of faults that undo each other: both invert the same bit.
pub(super) fn cancelled(injections: &[Injection], effects: &[Effect]) -> Vec<(usize, usize)> {
    let flip = |effect: &Effect| match effect {
        Effect::Struck { flip, transfer, .. } => flip.map(|flip| (flip, *transfer)),
        _ => None,
    };
    let flips: Vec<_> =
        effects.iter().enumerate().filter_map(|(number, effect)| Some((number, flip(effect)?))).collect();
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    for (place, &(later, (ref second, transfer))) in flips.iter().enumerate() {
        let free = |number: usize| pairs.iter().all(|&(a, b)| a != number && b != number);
        let undone = flips[..place].iter().find(|&&(earlier, (ref first, before))| {
            let (a, b) = (unnumbered(&injections[earlier].place), unnumbered(&injections[later].place));
            free(earlier) && first.cancels(second, (a, before) == (b, transfer))
        });
        let undone = undone.map(|&(earlier, _)| earlier);
        pairs.extend(undone.map(|earlier| (earlier, later)));
    }
    pairs
}
