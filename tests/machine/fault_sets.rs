//! Sets of faults: classes follow from signals and oracle, and the simulator calls nothing delivered that is not, in both data modes and on both kernels.
//!
//! `SEALSIM_SETS=n` runs n sets in all instead of a few hundred, over all shipped designs and stacks of two.

use crate::{
    CAMPAIGN,
    common::{QUICK, copy, machine, request, run},
};
use sealsim::{
    config::{Layers, MachineSpec, Shipped},
    explore::faults::{Campaign, Question, campaign},
    sim::{Control, FaultKind, Injection, Kernel, Order, SimulationError},
    system::{self, DataMode, Direction, FaultClass, FaultVerdict, Memory, Outcome, RunError, fault_points, outline},
    units::Femtos,
    workload::{CopyArgument, InjectionArgument, Workload, sized},
};

fn faults(list: &[&str]) -> Vec<Injection> {
    list.iter().map(|one| one.parse::<InjectionArgument>().unwrap().0).collect()
}

/// Runs copies with faults in both data modes, which must agree; gives what came of it.
fn strike(machine: &MachineSpec, copies: &[(Direction, u64)], list: &[&str]) -> Outcome {
    let [exact, none] = [DataMode::Exact, DataMode::None].map(|data| {
        let copies = copies.iter().map(|&(direction, bytes)| copy(direction, bytes, Memory::Pinned));
        let mut request = request(copies.collect(), data, Kernel::Skip, Order::Ascending);
        request.injections = faults(list);
        run(machine, request).unwrap()
    });
    let verdict = |outcome: &Outcome| {
        let copies = outcome.copies.iter().map(|copy| (copy.delivered, copy.tags_verified, copy.tags_failed));
        (copies.collect::<Vec<_>>(), outcome.event_digest.clone())
    };
    assert_eq!(verdict(&exact), verdict(&none), "{list:?}");
    assert_eq!(exact.faults_struck(), (list.len(), list.len()), "{list:?}");
    exact
}

fn h100(design: Option<&str>) -> MachineSpec {
    let layers = Layers::new("h100-nvl-tdx");
    design.into_iter().fold(layers, |layers, design| layers.overlay(design)).resolve().unwrap().machine
}

#[test]
fn a_dropped_write_beside_a_duplicated_one_leaves_a_hole() {
    let holes = ["host.writes.drop:2", "host.writes.duplicate:5"];
    for design in ["off", "ide", "ide-8"] {
        let outcome = strike(&h100(Some(design)), &[(Direction::D2h, 64 << 10)], &holes);
        let copy = &outcome.copies[0];
        assert_eq!((copy.completed, copy.delivered), (true, false), "{design}");
        assert_eq!(outcome.fault_verdict().class, Some(FaultClass::Silent), "{design}");
        let reason = copy.reason.as_ref().unwrap();
        assert!(reason.contains("have not arrived, but") && reason.contains("were written again"), "{reason}");
    }
}

#[test]
fn a_burst_that_never_reached_device_memory_is_missed_though_another_came_twice() {
    for release in ["withhold_completion", "eager", "hold"] {
        let set = format!("tag_queue.release={release}");
        let machine = machine("h100-nvl-tdx", &[&set, "tag_queue.quarantine=2 MiB"]);
        let lost = ["gpu.pce0.writes.drop:2", "gpu.pce0.writes.duplicate:5"];
        let outcome = strike(&machine, &[(Direction::H2d, 64 << 10)], &lost);
        assert!(!outcome.copies[0].delivered, "{release}");
        // The tag is right and the semaphore comes: no unit knows that the burst is missing.
        assert_eq!((outcome.copies[0].tags_failed, outcome.fault_verdict().class), (0, Some(FaultClass::Silent)));
        assert!(outcome.copies[0].reason.as_ref().unwrap().contains("bytes 512 to 1023"), "{release}");
    }
}

#[test]
fn both_data_modes_find_the_wrong_tag_of_a_message_with_a_hole() {
    let holes = ["host.writes.drop:2", "host.writes.duplicate:5"];
    let outcome = strike(&h100(None), &[(Direction::D2h, 256 << 10)], &holes);
    assert_eq!((outcome.copies[0].delivered, outcome.copies[0].tags_failed), (false, 1));
}

#[test]
fn a_wrong_iv_is_not_made_right_by_a_flipped_bit_of_a_stand_in() {
    let copies = [(Direction::H2d, 4 << 10), (Direction::H2d, 4 << 10)];
    let outcome = strike(&h100(None), &copies, &["gpu.front_end_read.iv.skip:2", "staging.tag.flip:2"]);
    assert_eq!(outcome.copies.iter().map(|copy| copy.delivered).collect::<Vec<_>>(), [true, false]);
}

#[test]
fn what_is_written_again_rightly_is_right_in_both_data_modes() {
    let again = ["gpu.pce1.work.duplicate:1", "host.writes.flip:50"];
    let outcome = strike(&h100(Some("direct")), &[(Direction::D2h, 64 << 10)], &again);
    assert!(outcome.copies[0].delivered, "{:?}", outcome.copies[0].reason);
}

#[test]
fn flips_of_one_message_strike_different_bits_and_those_that_cancel_are_told() {
    let machine = h100(None);
    let copies = [(Direction::H2d, 256 << 10)];
    let apart = strike(&machine, &copies, &["staging.tag.flip:1", "gpu.pce0.tags.flip:1"]);
    assert!(!apart.copies[0].delivered && apart.cancelled.is_empty());
    // The same bit of the same tag, by way of a set in which another fault lies 128 places before.
    let mut list = vec!["staging.tag.flip:1"];
    list.extend(["staging.tag.flip:2"; 127]);
    list.push("gpu.pce0.tags.flip:1");
    let copies = copies.into_iter().map(|(direction, bytes)| copy(direction, bytes, Memory::Pinned));
    let mut request = request(copies.collect(), DataMode::Exact, Kernel::Skip, Order::Ascending);
    request.injections = faults(&list);
    let outcome = run(&machine, request).unwrap();
    assert_eq!(outcome.cancelled, [(0, 128)]);
    assert!(outcome.copies[0].delivered);
}

/// Quick machines with short messages, so that a few dozen KiB make a history and a timeout is soon over.
const SMALL: &[&str] = &[
    "driver.pinned={message=\"4 KiB\",push=\"8 KiB\"}",
    "driver.pageable={message=\"4 KiB\",push=\"8 KiB\"}",
    "copy_engine.completion_timeout=20 us",
    "link.credit_update=3000 cycles",
];

/// Of every shipped design, and every design upon every other, one in so many, as far as there are such machines.
fn machines(every: usize) -> Vec<(String, MachineSpec)> {
    let designs: Vec<_> = Shipped::copy_designs().collect();
    let mut stacks: Vec<Vec<&str>> = designs.iter().map(|&design| vec![design]).collect();
    stacks.extend(designs.iter().flat_map(|&a| designs.iter().filter(move |&&b| a != b).map(move |&b| vec![a, b])));
    stacks.push(Vec::new());
    let machine = |stack: Vec<&str>| {
        let layers = stack.iter().fold(Layers::new("h100-nvl-tdx"), |layers, design| layers.overlay(*design));
        let layers = QUICK.iter().chain(SMALL).fold(layers, |layers, set| layers.set(*set));
        Some((stack.join("+"), layers.resolve().ok()?.machine))
    };
    stacks.into_iter().step_by(every).filter_map(machine).collect()
}

fn sets(machine: &MachineSpec, count: u64, seed: u64) -> Option<Campaign> {
    let copies = ["h2d:20000", "d2h:20000:pageable", "h2d:3000:pageable", "d2h:9000"];
    let copies: Vec<CopyArgument> = copies.iter().map(|copy| copy.parse().unwrap()).collect();
    let copies = sized(&copies, None).unwrap();
    let (data, kernel) = (DataMode::None, Kernel::Skip);
    let workload = Workload { copies, steps: None, payload: None, data, seed, kernel, injections: Vec::new() };
    let question = Question { machine: machine.clone(), workload, sets: count, most: 5, seed, both_kernels: true };
    campaign(&question, 2, &|| Control::Continue, &|| {}).ok()
}

#[test]
fn no_set_of_faults_makes_the_simulator_contradict_itself() {
    let asked = std::env::var("SEALSIM_SETS").ok().and_then(|sets| sets.parse::<u64>().ok());
    let (part, least) = if CAMPAIGN { (9, 200) } else { (180, 10) };
    let chosen = machines(if asked.is_some() { 1 } else { part });
    let each = asked.map_or(4, |sets| sets.div_ceil(chosen.len() as u64));
    let (mut judged, mut complaints) = (0, Vec::new());
    for (seed, (name, machine)) in (asked.unwrap_or(0)..).zip(&chosen) {
        // Not every stack is a machine that can be built.
        let Some(campaign) = sets(machine, each, seed) else { continue };
        judged += campaign.sets.len();
        complaints.extend(campaign.findings().map(|set| format!("{name} seed {seed}: {set:?}")));
    }
    eprintln!("{judged} sets");
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    assert!(judged as u64 >= asked.unwrap_or(least), "{judged}");
}

/// What a run with one fault ends in.
enum End {
    Outcome(Box<Outcome>),
    Hang,
    /// What a unit found, and the uncorrected errors that were signalled.
    Named(String, Vec<&'static str>),
}

fn end(machine: &MachineSpec, injection: Injection) -> End {
    let copies = [Direction::H2d, Direction::D2h].map(|way| copy(way, 20_000, Memory::Pinned));
    let mut request = request(copies.into(), DataMode::Exact, Kernel::Skip, Order::Ascending);
    request.injections = vec![injection];
    match system::run(machine, request, &mut |_| Control::Continue) {
        Ok(outcome) => End::Outcome(Box::new(outcome)),
        Err(RunError::Simulation(SimulationError::Deadlock { .. })) => End::Hang,
        Err(RunError::Simulation(SimulationError::Fault { what, seen, .. })) => {
            let errors = seen.errors.iter().filter(|error| !error.signalled.signal.corrected);
            End::Named(what, errors.map(|error| error.signalled.signal.name).collect())
        }
        Err(error) => panic!("{error}"),
    }
}

/// Over random machines of all designs, and any transfer of any channel that is lost.
#[test]
fn a_lost_hand_over_hangs_without_a_timeout_and_ends_in_a_named_one_with_it() {
    let (mut runs, mut hung) = (0, 0);
    for (seed, (name, machine)) in (0_u64..).zip(&machines(if CAMPAIGN { 7 } else { 331 })) {
        // Not every stack is a machine that can be built.
        let Ok(points) = fault_points(machine) else { continue };
        let points: Vec<_> = points.iter().filter(|point| point.kinds.contains(&FaultKind::Drop)).collect();
        let mut protected = machine.clone();
        protected.copy_engine.handover_timeout = Some(Femtos(50_000_000_000));
        for number in 0..16_u64 {
            let draw = |salt: u64, of: u64| (seed * 977 + number * 131 + salt * 7919 + 5) % of;
            let point = points[draw(1, points.len() as u64) as usize];
            let lost = Injection::nth(point.place.clone(), FaultKind::Drop, 1 + draw(2, 6));
            let what = format!("{name} {lost:?}");
            runs += 1;
            match (end(machine, lost.clone()), end(&protected, lost)) {
                (End::Outcome(before), End::Outcome(after)) => {
                    assert_eq!((before.end, before.event_digest), (after.end, after.event_digest), "{what}");
                }
                (End::Hang, End::Named(words, errors)) => {
                    hung += 1;
                    assert!(words.starts_with("hand-over timeout: nothing has come to "), "{what}: {words}");
                    assert_eq!(errors.last(), Some(&"handover_timeout"), "{what}");
                }
                (End::Named(before, _), End::Named(after, _)) => assert_eq!(before, after, "{what}"),
                _ => panic!("{what}: the timeout changes more than a hang"),
            }
        }
    }
    eprintln!("{runs} runs, {hung} hang without a timeout");
    assert!(hung > runs / 10, "{hung} of {runs}");
}

/// Over random machines of all designs, and random single faults and pairs: a class is what the run's own report says. `detected` names a unit of the machine
/// and an error that it has signalled; `silent` is what the oracle objects to and no unit has signalled; `harmless` is neither.
#[test]
fn a_class_follows_from_the_signals_and_the_oracle_of_the_run() {
    let (mut seen, mut runs) = (std::collections::BTreeMap::new(), 0);
    for (seed, (name, machine)) in (0_u64..).zip(&machines(if CAMPAIGN { 61 } else { 122 })) {
        // Not every stack is a machine that can be built.
        let Ok(points) = fault_points(machine) else { continue };
        let units = outline(machine).unwrap().units;
        for number in 0..24_u64 {
            let draw = |salt: u64, of: u64| (seed * 977 + number * 131 + salt * 7919 + 5) % of;
            let point = &points[draw(1, points.len() as u64) as usize];
            let kind = point.kinds[draw(2, point.kinds.len() as u64) as usize];
            let copies = [Direction::H2d, Direction::D2h].map(|way| copy(way, 20_000, Memory::Pinned));
            let mut request = request(copies.into(), DataMode::Exact, Kernel::Skip, Order::Ascending);
            request.injections = vec![Injection::nth(point.place.clone(), kind, 1 + draw(3, 24))];
            let what = format!("{name} {:?}", request.injections);
            runs += 1;
            let (verdict, errors, silent) = match system::run(machine, request, &mut |_| Control::Continue) {
                Ok(outcome) => {
                    let objects = outcome.copies.iter().any(|copy| copy.completed && !copy.delivered);
                    (outcome.fault_verdict(), outcome.errors, Some(objects))
                }
                Err(RunError::Simulation(SimulationError::Deadlock { seen, .. })) => {
                    (FaultVerdict::of_broken(&seen, true), seen.errors, None)
                }
                Err(RunError::Simulation(SimulationError::Fault { seen, .. })) => {
                    (FaultVerdict::of_broken(&seen, false), seen.errors, Some(false))
                }
                Err(error) => panic!("{what}: {error}"),
            };
            let Some(class) = verdict.class else { continue };
            *seen.entry(class).or_insert(0) += 1;
            if let Some(error) = &verdict.error {
                assert!(units.iter().any(|unit| unit.path == error.unit), "{what}: {error:?}");
                assert!(errors.contains(error) && verdict.latency.is_some(), "{what}: {error:?}");
            }
            let expected = match silent {
                None => FaultClass::Hang,
                Some(true) if errors.iter().all(|error| error.signalled.signal.corrected) => FaultClass::Silent,
                Some(_) if !errors.is_empty() => FaultClass::Detected,
                Some(_) => FaultClass::Harmless,
            };
            assert_eq!(
                (class, verdict.error.is_some()),
                (expected, class == FaultClass::Detected),
                "{what}: {errors:?}"
            );
        }
    }
    eprintln!("{runs} runs: {seen:?}");
    assert!(FaultClass::ALL.iter().all(|class| seen.contains_key(class)), "{seen:?}");
}
