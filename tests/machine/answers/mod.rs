//! What a copy is said to be limited by, held against brute force: each parameter relaxed alone, and each pair of the printed list.
//!
//! `SEALSIM_LIMITS=all cargo test --release --test campaigns answers` asks all machines, for half an hour; without it a part of them.

mod designs;
mod engines;
mod overlapping;
mod random;
mod throttled;

use crate::common::{self, copy};
use sealsim::{
    config::{Relaxes, Resolved, relaxes},
    explore::what_if::{self, LEAST_GAIN, LimitedBy, PAIRS},
    sim::{Control, Kernel, Order},
    system::{self, DataMode, Direction, Memory, Request, RunError},
};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// A copy that is asked about.
#[derive(Debug, Clone, Copy)]
struct Asked {
    direction: Direction,
    bytes: u64,
    memory: Memory,
}

impl Asked {
    const fn pinned(direction: Direction, bytes: u64) -> Self {
        Self { direction, bytes, memory: Memory::Pinned }
    }

    fn request(self, most: u64) -> Request {
        let copies = vec![copy(self.direction, self.bytes.min(most), self.memory)];
        common::request(copies, DataMode::None, Kernel::Skip, Order::Ascending)
    }

    /// How long the copy takes, in femtoseconds; none on a machine that does not deliver it.
    fn time(self, machine: &Resolved) -> Option<f64> {
        let outcome = system::run(&machine.machine, self.request(u64::MAX), &mut |_| Control::Continue).ok()?;
        let copy = &outcome.copies[0];
        copy.delivered.then(|| (copy.end.0 - copy.start.0) as f64)
    }

    /// How much faster it is on another machine, in percent.
    fn gain(self, before: f64, machine: &Resolved) -> f64 {
        self.time(machine).map_or(0.0, |time| (before / time - 1.0) * 100.0)
    }

    fn measure(self, machine: &Resolved) -> LimitedBy {
        let repeat = |most| Ok::<_, RunError>(self.request(most));
        what_if::measure(machine, &repeat, 0, 1, &mut || Control::Continue).unwrap()
    }
}

fn with(machine: &Resolved, settings: &[(&str, &str)]) -> Option<Resolved> {
    let settings: Vec<_> = settings.iter().map(|(path, value)| format!("{path}={value}")).collect();
    machine.with(&settings).ok()
}

/// The best of all that can only help, alone or where none gains enough in pairs; its gain is 0 if that is not enough either.
fn brute(machine: &Resolved, asked: Asked, before: f64) -> (String, f64) {
    let mut best = (String::new(), 0.0);
    let mut take = |name: String, machine: Option<Resolved>| {
        let gain = machine.map_or(0.0, |machine| asked.gain(before, &machine));
        if gain > best.1 {
            best = (name, gain);
        }
        best.1
    };
    let can_help = |path: &str| relaxes(path).is_some_and(|way| way != Relaxes::Physics);
    for path in machine.parameters.iter().map(|one| &one.path).filter(|path| can_help(path)) {
        take(path.clone(), what_if::relax(machine, path).map(|(relaxed, _)| relaxed));
    }
    if take(String::new(), None) < LEAST_GAIN {
        for [one, other] in PAIRS {
            let value = |path| what_if::relax(machine, path).map(|(_, value)| value);
            let Some((to, other_to)) = value(one).zip(value(other)) else { continue };
            take(format!("{one} and {other}"), with(machine, &[(one, &to), (other, &other_to)]));
        }
    }
    if best.1 < LEAST_GAIN { (String::new(), 0.0) } else { best }
}

/// How often what is named gains as much as the best by brute force, but for two points.
#[derive(Default)]
struct Tally {
    asked: usize,
    nothing: usize,
    wrong: Vec<String>,
    /// The most runs that an answer took.
    runs: u32,
}

/// In so many of a hundred cases the named gain is that of the best.
const RIGHT_PERCENT: f64 = 98.0;

/// By how many points it may fall short.
const SHORT: f64 = 2.0;

impl Tally {
    /// Asks about a copy on a machine. Whatever is named gains what the answer says when it is changed: always.
    fn ask(&mut self, what: &str, machine: &Resolved, asked: Asked) {
        let Some(before) = asked.time(machine) else { return };
        let limit = asked.measure(machine);
        let named: Vec<_> = match (limit.best.first(), &limit.together) {
            (Some(one), _) => vec![one],
            (None, Some(pair)) => pair.iter().collect(),
            (None, None) => Vec::new(),
        };
        let settings: Vec<_> = named.iter().map(|one| (&*one.parameter, &*one.relaxed_to)).collect();
        let own = with(machine, &settings).map_or(0.0, |machine| asked.gain(before, &machine));
        let said = named.first().map_or(0.0, |one| one.gain_percent);
        assert!((own - said).abs() < 1e-6, "{what}: {} gains {own}", limit.text());
        self.asked += 1;
        self.nothing += usize::from(named.is_empty());
        self.runs = self.runs.max(limit.runs);
        let (best, gain) = brute(machine, asked, before);
        if own < gain - SHORT {
            self.wrong.push(format!("{what}: {}, and {best} gains {gain:.1} %", limit.text()));
        }
    }

    fn holds(&self, least: usize) {
        let Self { asked, nothing, wrong, runs } = self;
        let right = (asked - wrong.len()) as f64 / *asked as f64 * 100.0;
        println!("{asked} asked, nothing in {nothing}, {right:.1} % right, {runs} runs at most; the others:");
        wrong.iter().for_each(|wrong| println!("{wrong}"));
        assert!(*asked >= least && right >= RIGHT_PERCENT, "{right:.1} % of {asked}:\n{}", wrong.join("\n"));
        assert!(*runs <= 60, "{runs}");
    }
}

/// How many are asked if all are, in campaigns, and otherwise.
fn part(all: usize, campaign: usize, usual: usize) -> usize {
    match std::env::var("SEALSIM_LIMITS").is_ok_and(|value| value == "all") {
        true => all,
        false if crate::CAMPAIGN => campaign,
        false => usual,
    }
}
