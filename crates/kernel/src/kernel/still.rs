//! A run between two instants, as an observer looks at it.

use super::Driver;
use crate::{Account, Netlist, SharedListener, units::Femtos};

/// A run that stands still: all units have run that were due at an instant.
pub struct Still<'d, 'm> {
    driver: &'d mut Driver<'m>,
    time: Femtos,
}

impl<'d, 'm> Still<'d, 'm> {
    pub(super) const fn at(driver: &'d mut Driver<'m>, time: Femtos) -> Self {
        Self { driver, time }
    }

    pub const fn time(&self) -> Femtos {
        self.time
    }

    pub const fn netlist(&self) -> &Netlist {
        self.driver.netlist
    }

    /// The accounts up to this instant, in the order of [`Netlist::accounts`]. Units take before what they have deferred, so that queues and gauges are
    /// those of this instant too.
    pub fn accounts(&mut self) -> Vec<Account> {
        self.driver.catch_up(self.time);
        self.driver.accounts_at(self.time)
    }

    /// Lets `listener` hear from now on what it wants to hear; false if somebody listens already, and then it hears nothing.
    pub fn listen(&mut self, listener: &SharedListener) -> bool {
        if self.driver.netlist.is_heard() {
            return false;
        }
        self.driver.catch_up(self.time);
        self.driver.netlist.listen(listener);
        self.driver.netlist.hear(&self.driver.accounts);
        true
    }
}
