//! What is kept of a run while it goes on.

use super::shares::CopyAccounts;
use crate::{
    gpu::tag_queue::{TagCounts, TagQueue},
    host::Driver,
    sim::{Account, Control, Key, Netlist, Observer},
    units::Femtos,
};

/// What is kept of copies at their ends.
#[derive(Debug)]
pub(super) struct Kept {
    pub accounts: CopyAccounts,
    /// By copy: the tag queue's counts when it had ended.
    pub tag_counts: Vec<TagCounts>,
}

/// Keeps it.
pub(super) struct Keeper<'a> {
    pub observer: &'a mut dyn FnMut(Femtos) -> Control,
    pub driver: &'a Key<Driver>,
    pub tag_queue: &'a Key<TagQueue>,
    pub kept: Kept,
}

impl Observer for Keeper<'_> {
    fn at(&mut self, time: Femtos) -> Control {
        (self.observer)(time)
    }

    fn milestone(&mut self, netlist: &mut Netlist, accounts: Vec<Account>) {
        let driver = netlist.unit_mut(self.driver);
        let (ended, edges) = (driver.ended(), driver.take_edges());
        self.kept.tag_counts.resize(ended, netlist.unit(self.tag_queue).counts());
        self.kept.accounts.keep(edges, accounts);
    }
}
