//! The two kernels: `every-cycle` ticks every unit at every edge of its clock; `skip` jumps to the earliest wake.
//!
//! They drive the same units. `skip` relies on each unit's [`Wake`]; `every-cycle` does not, and so is the reference: both must
//! give the same events, the same bytes and the same account of cycles.

mod every_cycle;
mod still;

pub use still::Still;

use super::{
    activity::{Account, Activity},
    agenda::Agenda,
    board::Board,
    clock::{Clock, Now},
    deadlock::{Wait, waits},
    error_log::UnitError,
    fault::Effect,
    netlist::{Netlist, NetlistError, UnitInfo},
    wake::Wake,
};
use crate::units::Femtos;
use serde::{Deserialize, Serialize};
use std::rc::Rc;
use thiserror::Error;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
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
    #[default]
    Ascending,
    /// At random, anew at each instant.
    Shuffled(u64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Control {
    Continue,
    /// Go on, and let the observer [look](Observer::look) when all units have run that are due at this instant, or, if it just has, at the next.
    Look,
    Stop,
}

/// What has become of injected faults in a run that broke off, and which errors its units have signalled.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Seen {
    /// The faults, in the order in which they were asked for.
    pub faults: Vec<Effect>,
    /// The errors, the first ones first.
    pub errors: Vec<UnitError>,
}

impl Seen {
    fn of(netlist: &Netlist) -> Self {
        Self { faults: netlist.effects(), errors: netlist.errors() }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SimulationError {
    /// The netlist is no machine.
    #[error(transparent)]
    Netlist(#[from] NetlistError),
    #[error("deadlock at {} ps: {}", at.picos(), describe(waits))]
    Deadlock {
        at: Femtos,
        /// Who waits for what; a cycle first if there is one.
        waits: Vec<Wait>,
        seen: Seen,
    },
    #[error("fault at {} ps: {what}", at.picos())]
    Fault { at: Femtos, what: String, seen: Seen },
    #[error("simulated time exceeds five hours, the range of 64-bit femtoseconds")]
    TimeOverflow,
    #[error("stopped at {} ps", at.picos())]
    Stopped { at: Femtos },
}

impl SimulationError {
    /// The instant at which the run came to its end, if it had begun and time goes so far.
    const fn at(&self) -> Option<Femtos> {
        match self {
            Self::Deadlock { at, .. } | Self::Fault { at, .. } | Self::Stopped { at } => Some(*at),
            Self::Netlist(_) | Self::TimeOverflow => None,
        }
    }
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

/// Who looks at a run from outside.
pub trait Observer {
    /// Asked at the first instant, then now and then, with the simulated time, whether to go on.
    fn at(&mut self, time: Femtos) -> Control;

    /// Looks at the run, which stands still until this returns. It changes nothing, however often and however long.
    fn look(&mut self, _still: &mut Still<'_, '_>) -> Control {
        Control::Continue
    }

    /// Looks at the run for the last time: it has ended, well or not.
    fn ended(&mut self, _still: &mut Still<'_, '_>) {}

    /// Something has begun or come to its end that reports distinguish; all units have run that are due at this instant, and `accounts` are up to it.
    fn milestone(&mut self, _netlist: &mut Netlist, _accounts: Vec<Account>) {}

    /// All work is done: until when to go on. By default the run ends there. Where other netlists are parts of the same machine, it ends with the last of them.
    fn stopped(&mut self, at: Femtos) -> Femtos {
        at
    }
}

impl<F: FnMut(Femtos) -> Control> Observer for F {
    fn at(&mut self, time: Femtos) -> Control {
        self(time)
    }
}

/// Ticks between two looks at the observer.
const OBSERVE_EVERY: u64 = 1 << 16;

/// What the kernel keeps of a unit, in addition to the date of its next tick.
#[derive(Debug, Clone)]
struct Schedule {
    clock: Clock,
    /// Edge of its next tick.
    cycle: u64,
    /// What it said last that it is, and until when it is busy before.
    activity: Activity,
    busy_until: u64,
    /// Whether a change on a port wakes it.
    listens: bool,
    /// Whether it will do work by itself.
    foreground: bool,
    /// Whether its ports have changed at an instant at which it was still to run.
    changed: bool,
}

struct Driver<'m> {
    netlist: &'m mut Netlist,
    board: Rc<Board>,
    agenda: Agenda,
    units: Vec<Schedule>,
    accounts: Vec<Account>,
    /// Units that will do work by themselves.
    foreground: usize,
    ticks: u64,
    /// So many ticks before the next look at the observer.
    observe_at: u64,
    random: Option<u64>,
    /// The clocks of units and of their parts.
    clocks: Vec<Clock>,
}

/// Runs a machine until its work is done.
pub fn run(
    netlist: &mut Netlist,
    kernel: Kernel,
    order: Order,
    observer: &mut dyn Observer,
) -> Result<Run, SimulationError> {
    netlist.check()?;
    netlist.begun = true;
    let schedule = |unit: &UnitInfo| Schedule {
        clock: unit.clock,
        cycle: 0,
        activity: Activity::Idle,
        busy_until: 0,
        listens: false,
        foreground: true,
        changed: false,
    };
    let units: Vec<_> = netlist.units().iter().map(schedule).collect();
    let count = units.len();
    let mut driver = Driver {
        board: netlist.board(),
        agenda: Agenda::new(count),
        units,
        accounts: netlist.fresh_accounts(),
        foreground: count,
        ticks: 0,
        observe_at: 0,
        random: match order {
            Order::Ascending => None,
            Order::Shuffled(seed) => Some(seed | 1),
        },
        clocks: netlist.accounts().iter().map(|unit| unit.clock).collect(),
        netlist,
    };
    let ended = match kernel {
        Kernel::Skip => driver.skip(observer),
        Kernel::EveryCycle => driver.every_cycle(observer),
    };
    let last = ended.as_ref().map_or_else(SimulationError::at, |end| Some(*end));
    if let Some(time) = last {
        observer.ended(&mut Still::at(&mut driver, time));
    }
    let end = ended?;
    let accounts = driver.accounts_ended(end);
    Ok(Run { end, ticks: driver.ticks, accounts })
}

impl Driver<'_> {
    fn skip(&mut self, observer: &mut dyn Observer) -> Result<Femtos, SimulationError> {
        let mut end = None;
        let (mut at, mut unit) = self.earliest();
        loop {
            self.run_unit(unit, at);
            let (next, due) = self.earliest();
            unit = due;
            if next == at {
                continue;
            }
            // All units that were due at this instant have run.
            if self.board.take_milestone() {
                self.catch_up(at);
                observer.milestone(self.netlist, self.accounts_at(at));
            }
            if self.board.stopped() {
                let end = self.end(at, &mut end, observer)?;
                if next > end {
                    self.catch_up(end);
                    return Ok(end);
                }
            } else if self.foreground == 0 {
                return Err(self.deadlock(at));
            } else if next == Femtos::MAX {
                return Err(SimulationError::TimeOverflow);
            }
            self.observe(at, observer)?;
            at = next;
        }
    }

    /// The end of a run whose work is done, which the observer is asked for once; an error if a fault makes going on senseless.
    fn end(
        &self,
        at: Femtos,
        end: &mut Option<Femtos>,
        observer: &mut dyn Observer,
    ) -> Result<Femtos, SimulationError> {
        match self.board.fatal() {
            Some(what) => Err(SimulationError::Fault { at, what, seen: Seen::of(self.netlist) }),
            None => Ok(*end.get_or_insert_with(|| observer.stopped(at))),
        }
    }

    /// The accounts with every cycle up to `end` charged.
    fn accounts_at(&self, end: Femtos) -> Vec<Account> {
        let mut accounts: Vec<_> = self.accounts.iter().chain(self.netlist.metered()).cloned().collect();
        for (account, clock) in accounts.iter_mut().zip(&self.clocks) {
            account.settle(clock.first_after(end));
        }
        accounts
    }

    /// The same at the end of the run, of which those hear that listen.
    fn accounts_ended(&self, end: Femtos) -> Vec<Account> {
        let accounts = self.accounts.iter().chain(self.netlist.metered()).zip(&self.clocks);
        accounts.map(|(account, clock)| account.ended(clock.first_after(end))).collect()
    }

    #[inline]
    fn observe(&mut self, at: Femtos, observer: &mut dyn Observer) -> Result<(), SimulationError> {
        if self.ticks < self.observe_at {
            return Ok(());
        }
        self.ask(at, observer)
    }

    /// Asks the observer, and lets it look if it wants to.
    #[cold]
    fn ask(&mut self, at: Femtos, observer: &mut dyn Observer) -> Result<(), SimulationError> {
        let control = match observer.at(at) {
            Control::Look => observer.look(&mut Still::at(self, at)),
            other => other,
        };
        self.observe_at = self.ticks + if control == Control::Look { 0 } else { OBSERVE_EVERY };
        match control {
            Control::Continue | Control::Look => Ok(()),
            Control::Stop => Err(SimulationError::Stopped { at }),
        }
    }

    /// The earliest date and a unit that is due then.
    #[inline(always)]
    fn earliest(&mut self) -> (Femtos, usize) {
        let (date, unit) = self.agenda.earliest();
        if self.random.is_none() {
            return (date, unit);
        }
        let due: Vec<_> = self.agenda.due(date).collect();
        (date, self.any_of(&due))
    }

    fn any_of(&mut self, due: &[usize]) -> usize {
        let Some(state) = &mut self.random else { return 0 };
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        due[(*state % due.len() as u64) as usize]
    }

    /// Lets units take what they have deferred, as at their last edges up to `at`, at which all others have run. It is not a tick: when they run
    /// next stays as it is.
    fn catch_up(&mut self, at: Femtos) {
        for (unit, schedule) in self.units.iter().enumerate() {
            let cycle = schedule.clock.first_after(at) - 1;
            self.netlist.catch_up(unit, Now { cycle, time: schedule.clock.edge(cycle) });
        }
    }

    /// Runs a unit at its edge `at` this date.
    #[inline(always)]
    fn run_unit(&mut self, unit: usize, at: Femtos) {
        let cycle = self.units[unit].cycle;
        let wake = self.netlist.tick(unit, Now { cycle, time: at });
        self.note(unit, cycle, &wake);
        let schedule = &mut self.units[unit];
        let next = wake.at.max(cycle + 1);
        schedule.cycle = next;
        let date = if next == Wake::NEVER { Femtos::MAX } else { schedule.clock.edge(next) };
        self.agenda.set(unit, date);
        if std::mem::take(&mut self.units[unit].changed) {
            self.deliver(unit, at);
        }
        while let Some(unit) = self.board.pop_next_edge() {
            self.deliver(unit, at);
        }
        if self.board.any_dated() {
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
            self.accounts[unit].charge(cycle, wake.busy_until, wake.activity);
            (schedule.activity, schedule.busy_until) = (wake.activity, wake.busy_until);
        }
        schedule.listens = wake.listens;
        let foreground = wake.at != Wake::NEVER && !wake.background;
        self.foreground = self.foreground + usize::from(foreground) - usize::from(schedule.foreground);
        schedule.foreground = foreground;
    }

    /// A unit will do work by itself.
    #[inline(always)]
    fn in_foreground(&mut self, unit: usize) {
        let schedule = &mut self.units[unit];
        self.foreground += usize::from(!schedule.foreground);
        schedule.foreground = true;
    }

    /// Brings forward a unit whose ports have changed. One that is still to run at this very instant is notified of it afterwards, when it has said whether
    /// it listens; so it does not matter which unit of an instant goes first.
    #[inline]
    fn deliver(&mut self, unit: usize, at: Femtos) {
        if self.agenda.of(unit) == at {
            self.units[unit].changed = true;
        } else if self.units[unit].listens {
            self.in_foreground(unit);
            let cycle = self.units[unit].clock.first_after(at);
            self.bring_forward(unit, cycle);
        }
    }

    /// An arrival on a wire wakes its receiver even if it is deaf to its queues. A receiver that is still to run at this instant sees the
    /// wire itself.
    #[inline]
    fn deliver_dated(&mut self, at: Femtos) {
        if self.board.take_look() {
            for unit in (0..self.units.len()).filter(|&unit| self.agenda.of(unit) != at).collect::<Vec<_>>() {
                let cycle = self.units[unit].clock.first_after(at);
                self.bring_forward(unit, cycle);
            }
        }
        while let Some((unit, date)) = self.board.pop_dated() {
            let next = self.agenda.of(unit);
            if next == at {
                continue;
            }
            self.in_foreground(unit);
            if next > date {
                // What comes late wakes at once.
                let cycle = self.units[unit].clock.first_from(date.max(Femtos(at.0 + 1)));
                self.bring_forward(unit, cycle);
            }
        }
    }

    #[inline]
    fn bring_forward(&mut self, unit: usize, cycle: u64) {
        let schedule = &mut self.units[unit];
        let date = schedule.clock.edge(cycle);
        if date < self.agenda.of(unit) {
            self.agenda.bring_forward(unit, date);
            schedule.cycle = cycle;
        }
    }

    fn deadlock(&self, at: Femtos) -> SimulationError {
        SimulationError::Deadlock { at, waits: waits(self.netlist, &self.accounts), seen: Seen::of(self.netlist) }
    }
}
