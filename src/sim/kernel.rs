//! The two kernels: `every-cycle` ticks every unit at every edge of its clock; `skip` jumps to the earliest wake.
//!
//! They drive the same units. `skip` relies on each unit's [`Wake`]; `every-cycle` does not, and so is the reference: both must
//! give the same events, the same bytes and the same account of cycles.

use super::{
    activity::Account,
    clock::{Clock, Now},
    queue::Channel,
    wake::{UnitId, Wake, Wakes},
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

/// A unit as the kernel knows it.
#[derive(Debug, Clone)]
pub struct UnitInfo {
    /// Its name in reports.
    pub name: String,
    /// Its clock.
    pub clock: Clock,
}

/// A machine: units, wired through queues.
pub trait Machine {
    /// The units, by number.
    fn units(&self) -> &[UnitInfo];
    /// Advances one unit by one edge.
    fn tick(&mut self, unit: UnitId, now: Now) -> Wake;
    /// Where queues note whom they woke.
    fn wakes(&self) -> &Wakes;
    /// Whether all work is done, or a fault makes going on senseless.
    fn finished(&self) -> bool;
    /// A fault that a unit has found, after which going on makes no sense.
    fn fault(&self) -> Option<String>;
    /// Every queue and wire.
    fn channels(&self) -> Vec<&dyn Channel>;
    /// Whether something has just come to its end that reports tell apart: the accounts are then kept as they stand.
    fn milestone(&mut self) -> bool {
        false
    }
}

/// Whether a run goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Control {
    /// Go on.
    Continue,
    /// Stop now.
    Stop,
}

/// One wait in a deadlock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wait {
    /// The unit that waits.
    pub unit: String,
    /// What it is.
    pub state: String,
    /// What it waits for, unit and queue.
    pub on: Option<(String, String)>,
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
    /// Each unit's account up to the end.
    pub accounts: Vec<Account>,
    /// The accounts as they stood at each milestone, oldest first.
    pub milestones: Vec<Vec<Account>>,
}

/// Ticks between two looks at the observer.
const OBSERVE_EVERY: u64 = 1 << 16;

struct Driver<'m, M> {
    machine: &'m mut M,
    clocks: Vec<Clock>,
    /// Date and edge of each unit's next tick.
    next: Vec<Femtos>,
    cycle: Vec<u64>,
    listens: u64,
    foreground: u64,
    accounts: Vec<Account>,
    ticks: u64,
    random: Option<u64>,
    dated: Vec<(UnitId, Femtos)>,
    milestones: Vec<Vec<Account>>,
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
    let clocks: Vec<_> = machine.units().iter().map(|u| u.clock).collect();
    let count = clocks.len();
    assert!(count <= 64, "a machine has at most 64 units");
    let mut driver = Driver {
        machine,
        next: vec![Femtos(0); count],
        cycle: vec![0; count],
        listens: 0,
        foreground: u64::MAX >> (64 - count),
        accounts: vec![Account::default(); count],
        ticks: 0,
        random: match order {
            Order::Ascending => None,
            Order::Shuffled(seed) => Some(seed | 1),
        },
        dated: Vec::new(),
        milestones: Vec::new(),
        clocks,
    };
    let end = driver.drive(kernel, observer)?;
    let accounts = driver.accounts_at(end);
    Ok(Run { end, ticks: driver.ticks, accounts, milestones: driver.milestones })
}

impl<M: Machine> Driver<'_, M> {
    fn drive(
        &mut self,
        kernel: Kernel,
        observer: &mut dyn FnMut(Femtos) -> Control,
    ) -> Result<Femtos, SimulationError> {
        let mut look = OBSERVE_EVERY;
        loop {
            let (at, due) = self.earliest();
            if at == Femtos::MAX {
                return Err(if self.foreground == 0 { self.deadlock(at) } else { SimulationError::TimeOverflow });
            }
            self.instant(at, due, kernel);
            if self.machine.milestone() {
                self.milestones.push(self.accounts_at(at));
            }
            if self.machine.finished() {
                return self.machine.fault().map_or(Ok(at), |what| Err(SimulationError::Fault { at, what }));
            }
            if self.foreground == 0 {
                return Err(self.deadlock(at));
            }
            if self.ticks >= look {
                look = self.ticks + OBSERVE_EVERY;
                self.look(at, observer)?;
            }
        }
    }

    /// The accounts with every cycle up to `end` charged.
    fn accounts_at(&self, end: Femtos) -> Vec<Account> {
        let mut accounts = self.accounts.clone();
        for (account, clock) in accounts.iter_mut().zip(&self.clocks) {
            account.charge(clock.first_after(end), account.current());
        }
        accounts
    }

    fn look(&self, at: Femtos, observer: &mut dyn FnMut(Femtos) -> Control) -> Result<(), SimulationError> {
        match observer(at) {
            Control::Continue => Ok(()),
            Control::Stop => Err(SimulationError::Stopped { at }),
        }
    }

    /// The earliest date and the units due then.
    #[inline]
    fn earliest(&self) -> (Femtos, u64) {
        let (mut at, mut due) = (Femtos::MAX, 0u64);
        for (unit, &date) in self.next.iter().enumerate() {
            if date < at {
                (at, due) = (date, 1 << unit);
            } else if date == at {
                due |= 1 << unit;
            }
        }
        (at, due)
    }

    /// Ticks all units that are due at one instant.
    #[inline]
    fn instant(&mut self, at: Femtos, mut due: u64, kernel: Kernel) {
        while due != 0 {
            let unit = self.pick(due);
            due &= !(1 << unit);
            self.tick(unit, at, kernel);
        }
        self.deliver_wakes(at, kernel);
    }

    #[inline]
    fn pick(&mut self, due: u64) -> usize {
        let Some(state) = &mut self.random else { return due.trailing_zeros() as usize };
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        let mut left = due;
        for _ in 0..*state % u64::from(due.count_ones()) {
            left &= left - 1;
        }
        left.trailing_zeros() as usize
    }

    #[inline]
    fn tick(&mut self, unit: usize, at: Femtos, kernel: Kernel) {
        let cycle = self.cycle[unit];
        let wake = self.machine.tick(UnitId(unit as u8), Now { cycle, time: at });
        self.ticks += 1;
        self.accounts[unit].charge(cycle, wake.activity);
        let bit = 1u64 << unit;
        if wake.at == Wake::NEVER || wake.background {
            self.foreground &= !bit;
        } else {
            self.foreground |= bit;
        }
        if wake.listens {
            self.listens |= bit;
        } else {
            self.listens &= !bit;
        }
        match kernel {
            Kernel::Skip => self.plan_skip(unit, wake),
            Kernel::EveryCycle => self.plan_next(unit, cycle),
        }
    }

    #[inline]
    fn plan_skip(&mut self, unit: usize, wake: Wake) {
        if wake.at == Wake::NEVER {
            self.next[unit] = Femtos::MAX;
        } else {
            let cycle = wake.at.max(self.cycle[unit] + 1);
            self.cycle[unit] = cycle;
            self.next[unit] = self.clocks[unit].edge(cycle);
        }
    }

    /// Brings forward the units whose ports have changed at this instant. All units due at the instant have been ticked, so it
    /// does not matter which of them went first.
    #[inline]
    fn deliver_wakes(&mut self, at: Femtos, kernel: Kernel) {
        let wakes = self.machine.wakes();
        let mut woken = wakes.take_next_edge() & self.listens;
        let mut dated = std::mem::take(&mut self.dated);
        wakes.take_dated(|unit, date| dated.push((unit, date)));
        self.foreground |= woken;
        while woken != 0 && kernel == Kernel::Skip {
            let unit = woken.trailing_zeros() as usize;
            woken &= woken - 1;
            self.bring_forward(unit, self.clocks[unit].first_after(at));
        }
        for (UnitId(unit), date) in dated.drain(..) {
            let unit = usize::from(unit);
            if self.listens & (1 << unit) != 0 {
                self.foreground |= 1 << unit;
                if kernel == Kernel::Skip {
                    self.bring_forward(unit, self.clocks[unit].first_from(date));
                }
            }
        }
        self.dated = dated;
    }

    #[inline]
    fn bring_forward(&mut self, unit: usize, cycle: u64) {
        let date = self.clocks[unit].edge(cycle);
        if date < self.next[unit] {
            self.next[unit] = date;
            self.cycle[unit] = cycle;
        }
    }

    #[inline]
    fn plan_next(&mut self, unit: usize, cycle: u64) {
        self.cycle[unit] = cycle + 1;
        self.next[unit] = self.clocks[unit].edge(cycle + 1);
    }

    fn deadlock(&self, at: Femtos) -> SimulationError {
        SimulationError::Deadlock { at, waits: super::deadlock::waits(self.machine, &self.accounts) }
    }
}
