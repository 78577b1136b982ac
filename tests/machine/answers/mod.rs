//! What a copy is said to be limited by, held against runs of its own.
//!
//! `SEALSIM_LIMITS=all cargo test --release --test machine answers` asks the three calibrated machines, every shipped design that they accept, both directions
//! and all sizes, and every engine as the bottleneck; without it a part of them.

mod engines;
mod overlapping;
mod throttled;

use crate::common::{self, copy};
use sealsim::{
    config::{Layers, Parameter, Resolved},
    explore::{
        self, Candidate,
        what_if::{self, Found, Gain, LEAST_GAIN, Pair},
    },
    sim::{Control, Kernel, Order},
    system::{self, DataMode, Direction, Limiter, Memory, Request, RunError},
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

/// How often a name that nobody measured is right: where relaxing what it names gains as much as what measuring names, but for [`LEAST_GAIN`], below
/// which nothing counts as a gain.
#[derive(Default)]
struct Tally {
    asked: u32,
    wrong: Vec<String>,
}

/// In so many of a hundred cases a name without measurement is right, at least.
const RIGHT_PERCENT: f64 = 98.0;

impl Tally {
    fn take(
        &mut self,
        what: &str,
        (machine, found): (&Resolved, &Found),
        likeliest: &Limiter,
        gain: impl Fn(&Resolved) -> f64,
    ) {
        let Some(best) = found.best.first() else { return };
        self.asked += 1;
        let named = likeliest.parameter.as_ref().and_then(|path| what_if::relax(machine, path));
        let own = named.map_or(0.0, |(relaxed, _)| gain(&relaxed));
        if own < best.gain_percent - LEAST_GAIN {
            let Gain { parameter, gain_percent, .. } = best;
            self.wrong
                .push(format!("{what}: {parameter} {gain_percent:.1} %, by the accounts {own:.1} % by {likeliest:?}"));
        }
    }

    fn holds(&self) {
        let right = f64::from(self.asked - self.wrong.len() as u32) / f64::from(self.asked) * 100.0;
        println!("{} asked, {right:.1} % of them right without a measurement; the others:", self.asked);
        self.wrong.iter().for_each(|wrong| println!("{wrong}"));
        assert!(
            self.asked > part(50, 15) as u32 && right >= RIGHT_PERCENT,
            "{right:.1} % of {}:\n{}",
            self.asked,
            self.wrong.join("\n")
        );
    }
}

/// What the accounts of the copy alone say.
fn likeliest(machine: &Resolved, direction: Direction, bytes: u64) -> Limiter {
    let request = request(direction, bytes, Memory::Pinned)(u64::MAX).unwrap();
    system::run(&machine.machine, request, &mut |_| Control::Continue).unwrap().copies.remove(0).limited_by
}

/// Asks what limits a copy, without a measurement and with one.
fn named_without_measurement(tally: &mut Tally, what: &str, machine: &Resolved, direction: Direction, bytes: u64) {
    let found = measure(machine, direction, bytes, Memory::Pinned);
    let before = time(machine, direction, bytes, Memory::Pinned);
    let gain = |machine: &Resolved| (before / time(machine, direction, bytes, Memory::Pinned) - 1.0) * 100.0;
    tally.take(what, (machine, &found), &likeliest(machine, direction, bytes), gain);
}

/// What is asked of a machine.
struct Case {
    machine: Candidate,
    direction: Direction,
    bytes: u64,
}

/// Every how manieth is taken in campaigns, and otherwise.
const fn part(campaign: usize, usual: usize) -> usize {
    if crate::CAMPAIGN { campaign } else { usual }
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
    let (mut named, mut nothing, mut tally) = (0, 0, Tally::default());
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
            tally.take(&what, (machine, &found), &likeliest(machine, direction, bytes), gain);
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
    println!("{named} named; nothing alone in {nothing}");
    tally.holds();
}
