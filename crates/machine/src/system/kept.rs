//! What is kept of a run while it goes on.

use super::{machine::Parts, onlooker::Onlooker, shares::CopyAccounts};
use crate::{
    gpu::tag_queue::TagCounts,
    host::{CopyEdge, CopyOutcome},
    sim::{Account, Control, Netlist, Observer, Still},
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

pub(super) struct Keeper<'a> {
    pub observer: &'a mut dyn Onlooker,
    pub parts: &'a [Parts],
    pub kept: Vec<Kept>,
}

impl Observer for Keeper<'_> {
    fn at(&mut self, time: Femtos) -> Control {
        self.observer.at(time)
    }

    fn look(&mut self, still: &mut Still<'_, '_>) -> Control {
        self.observer.look(still)
    }

    fn ended(&mut self, still: &mut Still<'_, '_>) {
        self.observer.ended(still);
    }

    fn stopped(&mut self, at: Femtos) -> Femtos {
        self.observer.stopped(at)
    }

    fn milestone(&mut self, netlist: &mut Netlist, accounts: Vec<Account>) {
        let accounts = Rc::new(accounts);
        for (parts, kept) in self.parts.iter().zip(&mut self.kept) {
            let driver = netlist.unit_mut(&parts.host.driver);
            let (ended, edges) = (driver.ended(), driver.take_edges());
            tell(self.observer, &parts.copies, &edges, driver.outcomes());
            kept.tag_counts.resize(ended, parts.gpu.tags.get());
            kept.accounts.keep(edges, &accounts);
        }
    }
}

/// Tells which copies have begun and ended, whose places in the request are `copies`.
fn tell(observer: &mut dyn Onlooker, copies: &[usize], edges: &[CopyEdge], outcomes: &[CopyOutcome]) {
    for edge in edges {
        match *edge {
            CopyEdge::Begun(copy) => observer.copy_begun(copies[copy], outcomes[copy].start),
            CopyEdge::Ended(copy) => observer.copy_ended(copies[copy], outcomes[copy].end),
        }
    }
}
