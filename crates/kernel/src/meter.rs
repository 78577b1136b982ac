//! Accounts of parts of units.

use super::activity::{Account, Activity};
use std::any::Any;

/// The account of a part of a unit, in addition to that of the unit as a whole: the unit itself says when the part works and waits.
#[derive(Debug, Clone)]
pub struct Meter {
    name: &'static str,
    account: Account,
}

impl Meter {
    /// Of a part that is called so, behind the path of its unit.
    pub fn new(name: &'static str) -> Self {
        Self { name, account: Account::default() }
    }

    /// The part's name behind the path of its unit.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Notes at edge `cycle` what the part is from edge `from` on, which may lie ahead: busy before `busy_until`, then `next`. No `from` lies before
    /// an earlier one.
    #[inline]
    pub fn book(&mut self, (cycle, from): (u64, u64), busy_until: u64, next: Activity) {
        self.account.book(cycle, from, busy_until, next);
    }

    /// Tells who listens what goes into the part at edge `cycle`, which is that of this tick or lies ahead.
    #[inline]
    pub fn enters<T: Any>(&self, cycle: u64, input: impl FnOnce() -> T) {
        if self.account.is_heard() {
            self.account.tell_of_input(cycle, &input());
        }
    }

    pub const fn account(&self) -> &Account {
        &self.account
    }
}
