//! What is kept of a run while it goes on.

use super::{machine::Parts, shares::CopyAccounts};
use crate::{
    gpu::tag_queue::TagCounts,
    sim::{Account, Control, Netlist, Observer},
    units::Femtos,
};
use std::rc::Rc;

/// What is kept of copies at their ends.
#[derive(Debug)]
pub(super) struct Kept {
    pub accounts: CopyAccounts,
    /// By copy: the tag queue's counts when it had ended.
    pub tag_counts: Vec<TagCounts>,
}

/// Keeps it.
pub(super) struct Keeper<'a> {
    pub observer: &'a mut dyn Observer,
    pub parts: &'a [Parts],
    /// By GPU.
    pub kept: Vec<Kept>,
}

impl Observer for Keeper<'_> {
    fn at(&mut self, time: Femtos) -> Control {
        self.observer.at(time)
    }

    fn stopped(&mut self, at: Femtos) -> Femtos {
        self.observer.stopped(at)
    }

    fn milestone(&mut self, netlist: &mut Netlist, accounts: Vec<Account>) {
        let accounts = Rc::new(accounts);
        for (parts, kept) in self.parts.iter().zip(&mut self.kept) {
            let driver = netlist.unit_mut(&parts.host.driver);
            let (ended, edges) = (driver.ended(), driver.take_edges());
            kept.tag_counts.resize(ended, netlist.unit(&parts.gpu.tag_queue).counts());
            kept.accounts.keep(edges, &accounts);
        }
    }
}
