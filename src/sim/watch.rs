//! Fault points and probes of a channel. A channel only counts what passes until something is to be done about it.

use super::{digest::Digest, fault::Armed, item::Item, probe::Probe, strikes::Strikes, wake::Wakes};
use crate::units::Femtos;
use std::collections::VecDeque;

/// The digest of what passes a channel, and who looks at it.
#[derive(Debug)]
pub(super) struct Watch<T> {
    digest: Digest,
    passages: u64,
    /// The passage from which on somebody looks; `u64::MAX` if nobody does.
    from: u64,
    strikes: Option<Box<Strikes<T>>>,
    probe: Option<Probe>,
}

impl<T> Default for Watch<T> {
    fn default() -> Self {
        Self { digest: Digest::default(), passages: 0, from: u64::MAX, strikes: None, probe: None }
    }
}

impl<T: Item> Watch<T> {
    /// Counts a passage; says whether somebody looks at it.
    #[inline(always)]
    pub const fn passes(&mut self) -> bool {
        self.passages += 1;
        self.passages >= self.from
    }

    /// Adds what has passed to the digest.
    #[inline(always)]
    pub fn digest(&mut self, date: Femtos, item: &T) {
        self.digest.add(date.0, item.word());
    }

    /// What comes out when `item` passes at `date`.
    pub fn pass(&mut self, item: T, date: Femtos, wakes: &Wakes) -> VecDeque<T> {
        let passed = match &mut self.strikes {
            None => VecDeque::from([item]),
            Some(strikes) => {
                let (passed, struck) = strikes.pass(item, self.passages, date);
                if struck {
                    wakes.defer_nothing();
                }
                passed
            }
        };
        if let Some(probe) = &self.probe {
            passed.iter().for_each(|item| probe.event(date, item.word()));
        }
        self.look();
        passed
    }

    /// Notes from which passage on somebody looks.
    fn look(&mut self) {
        let next = self.strikes.as_ref().map_or(u64::MAX, |strikes| strikes.next(self.passages));
        self.from = if self.probe.is_some() { 0 } else { next };
    }

    /// The digest so far.
    pub const fn value(&self) -> u64 {
        self.digest.value()
    }

    /// Arms a fault.
    pub fn arm(&mut self, armed: Armed) {
        self.strikes.get_or_insert_with(|| Box::new(Strikes::new())).arm(armed, self.passages);
        self.look();
    }

    /// The faults that were armed, as they stand.
    pub fn armed(&self) -> Vec<Armed> {
        self.strikes.as_ref().map_or_else(Vec::new, |strikes| strikes.armed(self.passages))
    }

    /// Sends what passes to `probe` from now on.
    pub fn listen(&mut self, probe: Probe) {
        self.probe = Some(probe);
        self.look();
    }
}
