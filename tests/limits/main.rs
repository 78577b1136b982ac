//! What a copy is said to be limited by, held against runs of its own.
//!
//! `SEALSIM_LIMITS=all cargo test --release --test limits` asks every shipped machine, design, direction and size; without it a part of them.

#[path = "../common/mod.rs"]
mod common;
mod overlapping;
mod throttled;

use common::copy;
use sealsim::{
    config::{Layers, Parameter, Resolved},
    explore::{
        self, Candidate,
        what_if::{self, Found, LEAST_GAIN, Pair},
    },
    sim::{Control, Kernel, Order},
    system::{self, DataMode, Direction, Memory, Request, RunError},
};

/// One copy, as a request of at most so many bytes.
fn request(direction: Direction, bytes: u64, memory: Memory) -> impl Fn(u64) -> Result<Request, RunError> {
    move |most| {
        Ok(common::request(
            vec![copy(direction, bytes.min(most), memory)],
            DataMode::None,
            Kernel::Skip,
            Order::Ascending,
        ))
    }
}

/// How long the copy takes, in femtoseconds.
fn time(machine: &Resolved, direction: Direction, bytes: u64, memory: Memory) -> f64 {
    let request = request(direction, bytes, memory)(u64::MAX).unwrap();
    let outcome = system::run(&machine.machine, request, &mut |_| Control::Continue).unwrap();
    let copy = &outcome.copies[0];
    assert!(copy.delivered, "{:?}", copy.reason);
    (copy.end.0 - copy.start.0) as f64
}

fn measure(machine: &Resolved, direction: Direction, bytes: u64, memory: Memory) -> Found {
    what_if::measure(machine, &request(direction, bytes, memory), 0, 1, &mut || Control::Continue).unwrap()
}

fn with(machine: &Resolved, settings: &[(&str, &str)]) -> Resolved {
    let settings: Vec<_> = settings.iter().map(|(path, value)| format!("{path}={value}")).collect();
    machine.with(&settings).unwrap()
}

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// What is asked of a machine.
struct Case {
    machine: Candidate,
    direction: Direction,
    bytes: u64,
}

fn everything() -> bool {
    std::env::var("SEALSIM_LIMITS").is_ok_and(|value| value == "all")
}

fn cases() -> Vec<Case> {
    let (machines, sizes): (&[&str], &[u64]) = if everything() {
        (&["h100-nvl-tdx", "h100-tdx-gen5", "h100-sxm5-off"], &[4 * KIB, 64 * KIB, MIB, 16 * MIB, 64 * MIB])
    } else {
        (&["h100-nvl-tdx"], &[4 * KIB, 300 * KIB])
    };
    let mut cases = Vec::new();
    for machine in machines {
        for candidate in explore::shipped(&Layers::new(*machine), Memory::Pinned).unwrap().0 {
            for direction in [Direction::H2d, Direction::D2h] {
                cases.extend(sizes.iter().map(|&bytes| Case { machine: candidate.clone(), direction, bytes }));
            }
        }
    }
    cases
}

/// Every number that could be relaxed: not the clocks, which hold for much at once, nor the sizes that things are cut into.
fn numbers(machine: &Resolved) -> impl Iterator<Item = &Parameter> {
    const CUT: [&str; 8] = ["message", "push", "stripe", "burst", "small.limit", "buffer", "l2", "llc"];
    let cut = |path: &str| {
        CUT.iter().any(|name| path.ends_with(name)) && path != "copy_engine.read_buffer" || path.contains("push_d2h")
    };
    let clock = |path: &str| path.ends_with(".clock");
    machine.parameters.iter().filter(move |one| one.amount.is_some() && !cut(&one.path) && !clock(&one.path))
}

#[test]
fn what_is_named_gains_when_it_is_relaxed_and_where_nothing_is_named_nothing_does() {
    let (mut named, mut nothing, mut likely) = (0, 0, 0);
    for Case { machine, direction, bytes } in cases() {
        let what = format!("{} {direction:?} {bytes}", machine.name);
        let (machine, memory) = (&machine.resolved, Memory::Pinned);
        let before = time(machine, direction, bytes, memory);
        let gain = |machine: &Resolved| (before / time(machine, direction, bytes, memory) - 1.0) * 100.0;
        let found = measure(machine, direction, bytes, memory);
        if let Some(best) = found.best.first() {
            let own = gain(&with(machine, &[(&best.parameter, &best.relaxed_to)]));
            assert!(own >= LEAST_GAIN, "{what}: {best:?} gains {own}");
            assert!((own - best.gain_percent).abs() < 1e-6, "{what}: {best:?} gains {own}");
            named += 1;
            let request = request(direction, bytes, memory)(u64::MAX).unwrap();
            let outcome = system::run(&machine.machine, request, &mut |_| Control::Continue).unwrap();
            let likeliest = &outcome.copies[0].limited_by;
            likely += u32::from(likeliest.parameter.as_ref() == Some(&best.parameter));
            println!("{what}: {} {:.1} %, by the accounts {likeliest:?}", best.parameter, best.gain_percent);
            continue;
        }
        nothing += 1;
        for one in numbers(machine) {
            if let Some(relaxed) = what_if::relax(machine, &one.path) {
                let gain = gain(&relaxed.0);
                assert!(gain < LEAST_GAIN, "{what}: {} = {} gains {gain} with {}", one.path, one.value, relaxed.1);
            }
        }
        if let Some(Pair { parameters, relaxed_to, gain_percent }) = &found.pair {
            let path = |place: usize| parameters[place].split(" = ").next().unwrap();
            let own = gain(&with(machine, &[(path(0), &relaxed_to[0]), (path(1), &relaxed_to[1])]));
            assert!(own >= LEAST_GAIN && (own - gain_percent).abs() < 1e-6, "{what}: {parameters:?} gain {own}");
        }
    }
    println!("{named} named, of which {likely} by the accounts alone; nothing alone in {nothing}");
    assert!(named > 50, "{named}");
}
