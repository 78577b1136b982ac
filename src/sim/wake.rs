//! When a unit must run again, and how changes on its ports bring that forward.

use super::activity::{Account, Activity};
use crate::units::Femtos;
use std::cell::{Cell, RefCell};

/// Most units of a machine: as many as a bit mask holds.
pub(super) const MOST_UNITS: usize = 64;

/// A unit's number within its machine: at most 64 units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnitId(pub u8);

impl UnitId {
    #[inline]
    const fn bit(self) -> u64 {
        1 << self.0
    }
}

/// An account of a part of a unit, beside that of the unit as a whole: the unit itself says when the part works and waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Meter(UnitId);

impl Meter {
    /// Of a unit whose parts nobody asks about.
    pub const NONE: Self = Self(UnitId(u8::MAX));

    /// The meter at a place among those of a machine with so many units.
    #[must_use]
    pub const fn at(units: usize, place: usize) -> Self {
        Self(UnitId((units + place) as u8))
    }
}

/// What a unit answers to a tick: when it must run again and what it is until then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wake {
    /// The edge of its own clock at which it must run again; [`Wake::NEVER`] if only a port can wake it.
    pub at: u64,
    /// Whether a change on a port wakes it earlier.
    pub listens: bool,
    /// Whether `at` is only a timer that by itself finishes no work.
    pub background: bool,
    /// The edge before which it works, whatever else it says: so that a unit need not run only to say that it is done.
    pub busy_until: u64,
    /// What it is from then on, until it runs again.
    pub activity: Activity,
}

impl Wake {
    /// No date.
    pub const NEVER: u64 = u64::MAX;

    /// Sleeps until a port changes.
    #[must_use]
    #[inline]
    pub const fn on_port(activity: Activity) -> Self {
        Self { at: Self::NEVER, listens: true, background: false, busy_until: 0, activity }
    }

    /// Sleeps until an edge or a change on a port, whichever comes first.
    #[must_use]
    #[inline]
    pub const fn at_or_port(at: u64, activity: Activity) -> Self {
        Self { at, listens: true, background: false, busy_until: 0, activity }
    }

    /// Sleeps until an edge, deaf to its ports.
    #[must_use]
    #[inline]
    pub const fn at(at: u64, activity: Activity) -> Self {
        Self { at, listens: false, background: false, busy_until: 0, activity }
    }

    /// The same wake, of a unit that works until `edge`.
    #[must_use]
    #[inline]
    pub const fn busy_until(mut self, edge: u64) -> Self {
        self.busy_until = edge;
        self
    }

    /// The same wake, marked as a timer that finishes no work.
    #[must_use]
    #[inline]
    pub const fn in_background(mut self) -> Self {
        self.background = true;
        self
    }
}

/// The units whose ports have changed since the kernel last looked, and the accounts of all.
#[derive(Debug)]
pub struct Wakes {
    next_edge: Cell<u64>,
    /// By unit: the earliest date that was asked for, and whose there are.
    dates: Vec<Cell<Femtos>>,
    dated: Cell<u64>,
    accounts: RefCell<Vec<Account>>,
    defers_nothing: Cell<bool>,
    look: Cell<bool>,
}

impl Default for Wakes {
    fn default() -> Self {
        Self {
            next_edge: Cell::default(),
            dates: vec![Cell::new(Femtos::MAX); MOST_UNITS],
            dated: Cell::default(),
            accounts: RefCell::default(),
            defers_nothing: Cell::default(),
            look: Cell::default(),
        }
    }
}

impl Wakes {
    /// Asks that `unit` run at its first edge after now.
    #[inline]
    pub fn touch(&self, unit: UnitId) {
        self.next_edge.set(self.next_edge.get() | unit.bit());
    }

    /// Asks that `unit` run at its first edge at or after `date`.
    #[inline]
    pub fn touch_at(&self, unit: UnitId, date: Femtos) {
        let asked = &self.dates[usize::from(unit.0)];
        if date < asked.get() {
            asked.set(date);
            self.dated.set(self.dated.get() | unit.bit());
        }
    }

    /// Something is wrong, so that what changes nothing in a sound machine may change something: from now on nothing is deferred, and all units
    /// look at what has come to them.
    pub fn defer_nothing(&self) {
        if !self.defers_nothing.replace(true) {
            self.look.set(true);
        }
    }

    /// Whether nothing is deferred any more.
    #[inline]
    #[must_use]
    pub const fn defers_nothing(&self) -> bool {
        self.defers_nothing.get()
    }

    /// Whether all units are to look at what has come to them, asked once.
    pub(super) fn take_look(&self) -> bool {
        self.look.take()
    }

    /// Opens the accounts of so many units.
    pub(super) fn open_accounts(&self, count: usize) {
        *self.accounts.borrow_mut() = vec![Account::default(); count];
    }

    /// The accounts as they stand.
    pub(super) fn accounts(&self) -> Vec<Account> {
        self.accounts.borrow().clone()
    }

    /// Notes at edge `cycle`, in the account of a part of a unit, what that is from edge `from` on, which may lie ahead: busy before
    /// `busy_until`, then `next`. No `from` lies before an earlier one.
    #[inline]
    pub fn meter(&self, Meter(UnitId(meter)): Meter, (cycle, from): (u64, u64), busy_until: u64, next: Activity) {
        if let Some(account) = self.accounts.borrow_mut().get_mut(usize::from(meter)) {
            account.book(cycle, from, busy_until, next);
        }
    }

    /// Notes in its account what a unit is from now on.
    #[inline]
    pub(super) fn keep(&self, UnitId(unit): UnitId, cycle: u64, busy_until: u64, activity: Activity) {
        if let Some(account) = self.accounts.borrow_mut().get_mut(usize::from(unit)) {
            account.charge(cycle, busy_until, activity);
        }
    }

    /// Takes the units to run at their next edge, as a bit mask by number.
    #[inline]
    pub(super) fn take_next_edge(&self) -> u64 {
        self.next_edge.replace(0)
    }

    /// Whether there are dated requests, or all units are to look.
    #[inline]
    pub(super) const fn any_dated(&self) -> bool {
        self.dated.get() != 0 || self.look.get()
    }

    /// Takes the dated requests, the earliest of each unit.
    #[inline]
    pub(super) fn take_dated(&self, mut each: impl FnMut(UnitId, Femtos)) {
        let mut units = self.dated.take();
        while units != 0 {
            let unit = units.trailing_zeros();
            units &= units - 1;
            each(UnitId(unit as u8), self.dates[unit as usize].replace(Femtos::MAX));
        }
    }
}
