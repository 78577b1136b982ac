//! The two kernels: `every-cycle` ticks every unit at every edge of its clock; `skip` jumps to the earliest wake.
//!
//! They drive the same units. `skip` relies on each unit's [`Wake`]; `every-cycle` does not, and so is the reference: both must
//! give the same events, the same bytes and the same account of cycles.

mod every_cycle;

use super::{
    activity::{Account, Activity},
    clock::{Clock, Now},
    deadlock::{Wait, waits},
    machine::{Machine, UnitInfo},
    wake::{MOST_UNITS, UnitId, Wake},
};
use crate::units::Femtos;
use serde::Serialize;
use thiserror::Error;

/// Which kernel drives the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kernel {
    /// Jumps to the earliest wake.
    #[default]
    Skip,
    /// Ticks everything at every edge.
    EveryCycle,
}

/// In which order units that have an edge at the same instant are ticked. It must not matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// By number.
    #[default]
    Ascending,
    /// At random, anew at each instant.
    Shuffled(u64),
}

/// Whether a run goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Control {
    /// Go on.
    Continue,
    /// Stop now.
    Stop,
}

/// Why a simulation ended without finishing.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SimulationError {
    /// Nothing can run any more, and work is left.
    #[error("deadlock at {} ps: {}", at.picos(), describe(waits))]
    Deadlock {
        /// When.
        at: Femtos,
        /// Who waits for what; a cycle first if there is one.
        waits: Vec<Wait>,
    },
    /// A unit found something that cannot be.
    #[error("fault at {} ps: {what}", at.picos())]
    Fault {
        /// When.
        at: Femtos,
        /// What.
        what: String,
    },
    /// Simulated time has run out of its 64 bits of femtoseconds.
    #[error("simulated time exceeds five hours, the range of 64-bit femtoseconds")]
    TimeOverflow,
    /// The observer asked to stop.
    #[error("stopped at {} ps", at.picos())]
    Stopped {
        /// When.
        at: Femtos,
    },
}

fn describe(waits: &[Wait]) -> String {
    let each = waits.iter().map(|w| match &w.on {
        Some((unit, queue)) => format!("{} ({}) waits for {unit} through {queue}", w.unit, w.state),
        None => format!("{} ({}) waits for no one", w.unit, w.state),
    });
    each.collect::<Vec<_>>().join("; ")
}

/// What a run has cost and how the units spent their cycles.
#[derive(Debug, Clone)]
pub struct Run {
    /// The instant at which the work was done.
    pub end: Femtos,
    /// Ticks executed: the host's work, not the machine's.
    pub ticks: u64,
    /// Each unit's account up to the end, then each meter's.
    pub accounts: Vec<Account>,
}

/// Ticks between two looks at the observer.
const OBSERVE_EVERY: u64 = 1 << 16;

/// What the kernel keeps of a unit.
#[derive(Debug, Clone)]
struct Schedule {
    clock: Clock,
    /// Edge of its next tick, whose date is in `Driver::next`.
    cycle: u64,
    /// What it said last that it is, and until when it is busy before.
    activity: Activity,
    busy_until: u64,
}

struct Driver<'m, M> {
    machine: &'m mut M,
    /// Date of each unit's next tick.
    next: Vec<Femtos>,
    units: Vec<Schedule>,
    /// Units that a change on a port wakes.
    listens: u64,
    /// Units that will do work by themselves.
    foreground: u64,
    /// Units whose ports have changed at an instant at which they are still to run.
    deferred: u64,
    ticks: u64,
    /// So many ticks before the next look at the observer.
    observe_at: u64,
    random: Option<u64>,
    /// The clocks of units and meters.
    clocks: Vec<Clock>,
}

/// Runs `machine` until its work is done. `observer` is asked now and then, with the simulated time, whether to go on.
///
/// # Errors
/// [`SimulationError`] if the work cannot be finished.
pub fn run<M: Machine>(
    machine: &mut M,
    kernel: Kernel,
    order: Order,
    observer: &mut dyn FnMut(Femtos) -> Control,
) -> Result<Run, SimulationError> {
    let schedule = |unit: &UnitInfo| Schedule { clock: unit.clock, cycle: 0, activity: Activity::Idle, busy_until: 0 };
    let units: Vec<_> = machine.units().iter().map(schedule).collect();
    let count = units.len();
    assert!((1..=MOST_UNITS).contains(&count), "a machine has 1 to {MOST_UNITS} units");
    let clocks: Vec<_> = machine.units().iter().chain(machine.meters()).map(|unit| unit.clock).collect();
    machine.wakes().open_accounts(clocks.len());
    let mut driver = Driver {
        machine,
        next: vec![Femtos(0); count],
        units,
        listens: 0,
        foreground: u64::MAX >> (MOST_UNITS - count),
        deferred: 0,
        ticks: 0,
        observe_at: OBSERVE_EVERY,
        random: match order {
            Order::Ascending => None,
            Order::Shuffled(seed) => Some(seed | 1),
        },
        clocks,
    };
    let end = match kernel {
        Kernel::Skip => driver.skip(observer)?,
        Kernel::EveryCycle => driver.every_cycle(observer)?,
    };
    let accounts = driver.accounts_at(end);
    Ok(Run { end, ticks: driver.ticks, accounts })
}

impl<M: Machine> Driver<'_, M> {
    fn skip(&mut self, observer: &mut dyn FnMut(Femtos) -> Control) -> Result<Femtos, SimulationError> {
        let (mut at, mut unit) = self.earliest();
        loop {
            self.run_unit(unit, at);
            let (next, due) = self.earliest();
            unit = due;
            if next == at {
                continue;
            }
            // All units that were due at this instant have run.
            if self.machine.milestone() {
                self.catch_up(at);
                let accounts = self.accounts_at(at);
                self.machine.keep(accounts);
            }
            if self.machine.finished() {
                self.catch_up(at);
                return self.ended(at);
            }
            if self.foreground == 0 {
                return Err(self.deadlock(at));
            }
            if next == Femtos::MAX {
                return Err(SimulationError::TimeOverflow);
            }
            self.observe(at, observer)?;
            at = next;
        }
    }

    /// All work is done, or a fault makes going on senseless.
    fn ended(&self, at: Femtos) -> Result<Femtos, SimulationError> {
        self.machine.fault().map_or(Ok(at), |what| Err(SimulationError::Fault { at, what }))
    }

    /// The accounts with every cycle up to `end` charged.
    fn accounts_at(&self, end: Femtos) -> Vec<Account> {
        let mut accounts = self.machine.wakes().accounts();
        for (account, clock) in accounts.iter_mut().zip(&self.clocks) {
            account.settle(clock.first_after(end));
        }
        accounts
    }

    /// Asks the observer now and then.
    #[inline]
    fn observe(&mut self, at: Femtos, observer: &mut dyn FnMut(Femtos) -> Control) -> Result<(), SimulationError> {
        if self.ticks < self.observe_at {
            return Ok(());
        }
        self.observe_at = self.ticks + OBSERVE_EVERY;
        match observer(at) {
            Control::Continue => Ok(()),
            Control::Stop => Err(SimulationError::Stopped { at }),
        }
    }

    /// The earliest date and a unit that is due then.
    #[inline]
    fn earliest(&mut self) -> (Femtos, usize) {
        let (mut date, mut unit) = (Femtos::MAX, 0);
        for (place, &next) in self.next.iter().enumerate() {
            let earlier = next < date;
            date = if earlier { next } else { date };
            unit = if earlier { place } else { unit };
        }
        if self.random.is_some() {
            let due = |place: &usize| self.next[*place] == date;
            let due = (0..self.next.len()).filter(due).fold(0, |due, place| due | 1 << place);
            unit = self.any_of(due);
        }
        (date, unit)
    }

    /// One of the units of a bit mask, at random.
    fn any_of(&mut self, mut due: u64) -> usize {
        let Some(state) = &mut self.random else { return 0 };
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        for _ in 0..*state % u64::from(due.count_ones()) {
            due &= due - 1;
        }
        due.trailing_zeros() as usize
    }

    /// Lets units take what they have deferred, as at their last edges up to `at`, at which all others have run. It is not a tick: when they run
    /// next stays as it is.
    fn catch_up(&mut self, at: Femtos) {
        for (unit, schedule) in self.units.iter().enumerate() {
            let cycle = schedule.clock.first_after(at) - 1;
            self.machine.catch_up(UnitId(unit as u8), Now { cycle, time: schedule.clock.edge(cycle) });
        }
    }

    /// Runs a unit at its edge `at` this date.
    #[inline(always)]
    fn run_unit(&mut self, unit: usize, at: Femtos) {
        let cycle = self.units[unit].cycle;
        let wake = self.machine.tick(UnitId(unit as u8), Now { cycle, time: at });
        self.note(unit, cycle, &wake);
        let schedule = &mut self.units[unit];
        let next = wake.at.max(cycle + 1);
        schedule.cycle = next;
        self.next[unit] = if next == Wake::NEVER { Femtos::MAX } else { schedule.clock.edge(next) };
        let bit = 1u64 << unit;
        let woken = self.machine.wakes().take_next_edge() | self.deferred & bit;
        self.deferred &= !bit;
        if woken != 0 {
            self.deliver(woken, at);
        }
        if self.machine.wakes().any_dated() {
            self.deliver_dated(at);
        }
    }

    /// Notes what a unit has said at its edge `cycle`.
    #[inline(always)]
    fn note(&mut self, unit: usize, cycle: u64, wake: &Wake) {
        self.ticks += 1;
        let schedule = &mut self.units[unit];
        // Mostly it goes on as it was.
        if wake.activity != schedule.activity || wake.busy_until | schedule.busy_until != 0 {
            self.machine.wakes().keep(UnitId(unit as u8), cycle, wake.busy_until, wake.activity);
            (schedule.activity, schedule.busy_until) = (wake.activity, wake.busy_until);
        }
        let bit = 1u64 << unit;
        let foreground = wake.at != Wake::NEVER && !wake.background;
        self.foreground = self.foreground & !bit | u64::from(foreground) << unit;
        self.listens = self.listens & !bit | u64::from(wake.listens) << unit;
    }

    /// Brings forward the units whose ports have changed. One that is still to run at this very instant hears of it afterwards, when it
    /// has said whether it listens; so it does not matter which unit of an instant goes first.
    #[inline]
    fn deliver(&mut self, mut woken: u64, at: Femtos) {
        while woken != 0 {
            let unit = woken.trailing_zeros() as usize;
            let bit = woken & woken.wrapping_neg();
            woken ^= bit;
            if self.next[unit] == at {
                self.deferred |= bit;
            } else if self.listens & bit != 0 {
                self.foreground |= bit;
                let cycle = self.units[unit].clock.first_after(at);
                bring_forward(&mut self.units[unit], &mut self.next[unit], cycle);
            }
        }
    }

    /// An arrival on a wire wakes its receiver even if it is deaf to its queues. A receiver that is still to run at this instant sees the
    /// wire itself.
    fn deliver_dated(&mut self, at: Femtos) {
        let Self { machine, units, next, foreground, .. } = self;
        if machine.wakes().take_look() {
            for (unit, next) in units.iter_mut().zip(next.iter_mut()).filter(|(_, next)| **next != at) {
                let cycle = unit.clock.first_after(at);
                bring_forward(unit, next, cycle);
            }
        }
        machine.wakes().take_dated(|UnitId(unit), date| {
            let unit = usize::from(unit);
            if next[unit] == at {
                return;
            }
            *foreground |= 1 << unit;
            if next[unit] <= date {
                return;
            }
            // What comes late wakes at once.
            let cycle = units[unit].clock.first_from(date.max(Femtos(at.0 + 1)));
            bring_forward(&mut units[unit], &mut next[unit], cycle);
        });
    }

    fn deadlock(&self, at: Femtos) -> SimulationError {
        let mut accounts = self.machine.wakes().accounts();
        accounts.truncate(self.units.len());
        SimulationError::Deadlock { at, waits: waits(self.machine, &accounts) }
    }
}

#[inline]
fn bring_forward(unit: &mut Schedule, next: &mut Femtos, cycle: u64) {
    let date = unit.clock.edge(cycle);
    if date < *next {
        *next = date;
        unit.cycle = cycle;
    }
}
