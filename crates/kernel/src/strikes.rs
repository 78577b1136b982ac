//! The faults that are armed on one channel, and what they do to what passes.

use super::{
    fault::{Armed, FaultKind},
    item::Item,
};
use crate::units::Femtos;
use std::collections::VecDeque;

#[derive(Debug)]
pub(super) struct Strikes<T> {
    armed: Vec<Armed>,
    /// Transfers that they have counted.
    counted: u64,
    held: Option<T>,
}

impl<T: Item> Strikes<T> {
    pub const fn new() -> Self {
        Self { armed: Vec::new(), counted: 0, held: None }
    }

    /// Arms one behind so many transfers.
    pub fn arm(&mut self, armed: Armed, transfers: u64) {
        self.count_to(transfers);
        self.armed.push(armed);
    }

    /// All of them, behind so many transfers.
    pub fn armed(&self, transfers: u64) -> Vec<Armed> {
        let mut armed = self.armed.clone();
        let waiting = armed.iter_mut().filter(|armed| armed.quiet().is_some());
        waiting.for_each(|armed| armed.count(transfers - self.counted));
        armed
    }

    fn count_to(&mut self, transfers: u64) {
        let quiet = transfers - self.counted;
        self.armed.iter_mut().filter(|armed| armed.quiet().is_some()).for_each(|armed| armed.count(quiet));
        self.counted = transfers;
    }

    /// The transfer that is the next one's behind so many; `u64::MAX` if there is none.
    pub fn next(&self, transfers: u64) -> u64 {
        if self.held.is_some() {
            return transfers + 1;
        }
        let quiet = self.armed.iter().filter_map(Armed::quiet);
        quiet.map(|quiet| self.counted.saturating_add(quiet)).min().unwrap_or(u64::MAX)
    }

    /// What comes out when `item` passes at `time` as transfer `number`: nothing, one or two items; and whether a fault is active.
    pub fn pass(&mut self, mut item: T, number: u64, time: Femtos) -> (VecDeque<T>, bool) {
        self.count_to(number - 1);
        self.counted = number;
        let (mut out, mut struck) = (VecDeque::new(), false);
        let held = self.held.take();
        let mut copies = 1;
        for armed in &mut self.armed {
            if !armed.transfer_of(time, item.sort(), item.message()) {
                continue;
            }
            struck = true;
            let seed = armed.seed();
            match armed.kind {
                FaultKind::Flip if armed.aim().is_free() => armed.flipped(time, item.flip(seed)),
                FaultKind::Flip => {
                    let flip = item.flip_bit(armed.aim().field.as_deref(), armed.pick_within());
                    armed.flipped(time, flip);
                }
                FaultKind::FlipToken => armed.flipped(time, item.flip_token(seed)),
                FaultKind::IdeFlip => armed.flipped(time, item.flip_protected(seed)),
                FaultKind::Drop | FaultKind::Duplicate | FaultKind::Reorder | FaultKind::Skip => {
                    armed.struck(time);
                }
                // Only a register holds what a bit could be stuck in.
                FaultKind::Stuck0 | FaultKind::Stuck1 => armed.flipped(time, None),
            }
            match armed.kind {
                FaultKind::Drop => copies = 0,
                FaultKind::Duplicate => copies = 2,
                FaultKind::Reorder => {
                    self.held = Some(item.clone());
                    copies = 0;
                }
                _ => {}
            }
        }
        out.extend(std::iter::repeat_n(item, copies));
        out.extend(held);
        (out, struck)
    }
}
