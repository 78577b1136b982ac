//! What the kernels drive.

use super::{
    activity::Account,
    channel::Channel,
    clock::{Clock, Now},
    wake::{UnitId, Wake, Wakes},
};

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
    /// Parts of units with accounts of their own, behind those of the units.
    fn meters(&self) -> &[UnitInfo] {
        &[]
    }
    /// Advances one unit by one edge.
    fn tick(&mut self, unit: UnitId, now: Now) -> Wake;
    /// Lets a unit take what had come to it by an edge that may have passed and that it has deferred, and do nothing else.
    fn catch_up(&mut self, _unit: UnitId, _now: Now) {}
    /// Where queues note whom they woke.
    fn wakes(&self) -> &Wakes;
    /// Whether all work is done, or a fault makes going on senseless.
    fn finished(&self) -> bool;
    /// A fault that a unit has found, after which going on makes no sense.
    fn fault(&self) -> Option<String>;
    /// Every queue and wire.
    fn channels(&self) -> Vec<&dyn Channel>;
    /// Whether something has just begun or come to its end that reports tell apart: the machine then gets the accounts as they stand.
    fn milestone(&mut self) -> bool {
        false
    }
    /// Takes the accounts of units and meters at a milestone.
    fn keep(&mut self, _accounts: Vec<Account>) {}
}
