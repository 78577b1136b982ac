//! Fault points and probes of a channel. A channel only counts what passes until something is to be done about it.

use super::{board::Board, digest::Digest, fault::Armed, item::Item, probe::Probe, strikes::Strikes};
use crate::units::Femtos;
use std::{
    cell::{Cell, RefCell},
    collections::VecDeque,
};

/// The digest of what passes a channel, and who looks at it.
#[derive(Debug)]
pub(super) struct Watch<T> {
    digest: Cell<Digest>,
    transfers: Cell<u64>,
    /// The transfer from which on somebody looks; `u64::MAX` if nobody does.
    from: Cell<u64>,
    lookers: RefCell<Lookers<T>>,
}

/// Who looks, where somebody does.
#[derive(Debug)]
struct Lookers<T> {
    strikes: Option<Strikes<T>>,
    probe: Option<Probe>,
}

impl<T> Default for Watch<T> {
    fn default() -> Self {
        Self {
            digest: Cell::default(),
            transfers: Cell::new(0),
            from: Cell::new(u64::MAX),
            lookers: RefCell::new(Lookers { strikes: None, probe: None }),
        }
    }
}

impl<T: Item> Watch<T> {
    /// Counts a transfer; says whether somebody looks at it.
    #[inline(always)]
    pub fn passes(&self) -> bool {
        let transfers = self.transfers.get() + 1;
        self.transfers.set(transfers);
        transfers >= self.from.get()
    }

    #[inline(always)]
    pub fn digest(&self, date: Femtos, item: &T) {
        let mut digest = self.digest.get();
        digest.add(date.0, item.event_key());
        self.digest.set(digest);
    }

    /// What comes out when `item` passes at `date`.
    pub fn pass(&self, item: T, date: Femtos, board: &Board) -> VecDeque<T> {
        let mut lookers = self.lookers.borrow_mut();
        let passed = match &mut lookers.strikes {
            None => VecDeque::from([item]),
            Some(strikes) => {
                let (passed, struck) = strikes.pass(item, self.transfers.get(), date);
                if struck {
                    board.defer_nothing();
                }
                passed
            }
        };
        if let Some(probe) = &lookers.probe {
            passed.iter().for_each(|item| probe.passed(date, item.event_key(), item));
        }
        self.look(&lookers);
        passed
    }

    /// Notes from which transfer on somebody looks.
    fn look(&self, lookers: &Lookers<T>) {
        let next = lookers.strikes.as_ref().map_or(u64::MAX, |strikes| strikes.next(self.transfers.get()));
        self.from.set(if lookers.probe.is_some() { 0 } else { next });
    }

    pub const fn transfers(&self) -> u64 {
        self.transfers.get()
    }

    pub const fn value(&self) -> u64 {
        self.digest.get().value()
    }

    pub fn arm(&self, armed: Armed) {
        let mut lookers = self.lookers.borrow_mut();
        lookers.strikes.get_or_insert_with(Strikes::new).arm(armed, self.transfers.get());
        self.look(&lookers);
    }

    /// The faults that were armed, as they are.
    pub fn armed(&self) -> Vec<Armed> {
        let lookers = self.lookers.borrow();
        lookers.strikes.as_ref().map_or_else(Vec::new, |strikes| strikes.armed(self.transfers.get()))
    }

    /// Sends what passes to `probe` from now on.
    pub fn listen(&self, probe: Probe) {
        let mut lookers = self.lookers.borrow_mut();
        lookers.probe = Some(probe);
        self.look(&lookers);
    }
}
