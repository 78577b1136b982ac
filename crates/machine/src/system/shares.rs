//! What every unit was while a copy was in progress.

use crate::{
    host::CopyEdge,
    sim::{Account, Activity},
};
use std::rc::Rc;

/// What a unit was for a part of a copy's time.
#[derive(Debug, Clone, Copy)]
struct Share {
    /// Its place among units and meters.
    unit: usize,
    activity: Activity,
    /// 0 to 1.
    fraction: f64,
}

/// What the units were during a copy, from its call to its end.
#[derive(Debug, Clone, Default)]
pub(super) struct Shares(Vec<Share>);

impl Shares {
    /// Between two states of all accounts.
    pub fn between(begin: &[Account], end: &[Account]) -> Self {
        let mut shares = Vec::new();
        for (unit, (begin, end)) in begin.iter().zip(end).enumerate() {
            let spent = end.since(begin);
            let total = spent.total();
            let stalls = spent.stalls().map(|(stall, cycles)| (Activity::Stall(stall), cycles));
            for (activity, cycles) in stalls.chain([(Activity::Busy, spent.busy())]).filter(|(_, cycles)| *cycles > 0) {
                shares.push(Share { unit, activity, fraction: cycles as f64 / total as f64 });
            }
        }
        Self(shares)
    }

    /// The part of the time that a unit worked.
    pub fn busy(&self, unit: usize) -> f64 {
        let share = self.0.iter().find(|share| share.unit == unit && share.activity == Activity::Busy);
        share.map_or(0.0, |share| share.fraction)
    }

    /// What a unit waited for, and for which part of the time.
    pub fn stalls(&self, unit: usize) -> impl Iterator<Item = (Activity, f64)> {
        let own = self.0.iter().filter(move |share| share.unit == unit && share.activity != Activity::Busy);
        own.map(|share| (share.activity, share.fraction))
    }
}

/// The accounts of copies in flight, and the shares of those that have ended.
#[derive(Debug, Default)]
pub(super) struct CopyAccounts {
    /// Copies in progress, with the accounts at their beginning.
    open: Vec<(usize, Rc<Vec<Account>>)>,
    shares: Vec<Option<Shares>>,
}

impl CopyAccounts {
    pub fn new(copies: usize) -> Self {
        Self { shares: vec![None; copies], ..Self::default() }
    }

    /// Takes what has begun and ended at an instant, in order, and the accounts of that instant.
    pub fn keep(&mut self, edges: Vec<CopyEdge>, accounts: &Rc<Vec<Account>>) {
        for edge in edges {
            match edge {
                CopyEdge::Begun(copy) => self.open.push((copy, Rc::clone(accounts))),
                CopyEdge::Ended(copy) => {
                    let Some(place) = self.open.iter().position(|(open, _)| *open == copy) else { continue };
                    let (_, begin) = self.open.swap_remove(place);
                    if let Some(shares) = self.shares.get_mut(copy) {
                        *shares = Some(Shares::between(&begin, accounts));
                    }
                }
            }
        }
    }

    /// The shares of a copy; of one that has not ended, up to `end`.
    pub fn of(&self, copy: usize, end: &[Account]) -> Shares {
        if let Some(Some(shares)) = self.shares.get(copy) {
            return shares.clone();
        }
        let begin = self.open.iter().find(|(open, _)| *open == copy);
        begin.map_or_else(Shares::default, |(_, begin)| Shares::between(begin, end))
    }
}
