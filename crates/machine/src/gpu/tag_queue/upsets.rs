//! Faults in what the tag queue stores, and in the verdicts of its comparators.
//!
//! | register | is written, and so can be struck | bits |
//! | --- | --- | --- |
//! | `entry.job`: whose entry it is | with the entry | [`JOB_BITS`] |
//! | `entry.awaited`: the shares that have not come | with the entry and each share | the message's parts |
//! | `entry.computed`, `entry.fetched`: the tags | with each share; with the tag that came | theirs |
//! | `comparatorN.verdict`, `comparatorN.twin` | with each of its verdicts | one |
//!
//! A bit of an entry is inverted behind its writing, which stands for every cycle until it is read or written again.

use super::{Entry, JobId};
use crate::{
    sim::{Armed, FaultKind, Flip},
    units::Femtos,
};

/// Bits of the number of a message that an entry keeps. Assumed: no more messages are told apart.
pub const JOB_BITS: u64 = 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Register {
    Job,
    Awaited,
    Computed,
    Fetched,
    Verdict(usize),
    Twin(usize),
}

impl Register {
    pub fn name(self) -> String {
        match self {
            Self::Job => "entry.job".into(),
            Self::Awaited => "entry.awaited".into(),
            Self::Computed => "entry.computed".into(),
            Self::Fetched => "entry.fetched".into(),
            Self::Verdict(comparator) => format!("comparator{comparator}.verdict"),
            Self::Twin(comparator) => format!("comparator{comparator}.twin"),
        }
    }

    /// All of a queue with so many comparators, and twins of them or none.
    pub fn all(comparators: usize, twins: bool) -> impl Iterator<Item = Self> {
        let verdicts = (0..comparators).map(Self::Verdict);
        let twins = (0..comparators).filter(move |_| twins).map(Self::Twin);
        [Self::Job, Self::Awaited, Self::Computed, Self::Fetched].into_iter().chain(verdicts).chain(twins)
    }
}

#[derive(Debug)]
struct Upset {
    register: Register,
    armed: Armed,
    /// Whether it has begun to hold its bit.
    holds: bool,
}

#[derive(Debug, Default)]
pub struct Upsets(Vec<Upset>);

impl Upsets {
    pub fn arm(&mut self, register: Register, armed: Armed) {
        self.0.push(Upset { register, armed, holds: false });
    }

    pub fn armed(&self) -> Vec<Armed> {
        self.0.iter().map(|upset| upset.armed.clone()).collect()
    }

    /// The bits to be inverted of `bits` that are written for a message.
    pub fn flips(&mut self, register: Register, (job, time): (JobId, Femtos), bits: u64) -> Vec<u64> {
        let mut flips = Vec::new();
        for Upset { armed, .. } in self.0.iter_mut().filter(|upset| upset.register == register) {
            if armed.transfer_of(time, "", Some(job)) {
                let bit = armed.pick().and_then(|pick| pick.among(bits));
                armed.flipped(time, bit.map(Flip::in_passing));
                flips.extend(bit);
            }
        }
        flips
    }

    /// Strikes what an entry says of the shares that it waits for.
    pub fn strike_awaited(&mut self, entry: &mut Entry, at: (JobId, Femtos)) {
        for bit in self.flips(Register::Awaited, at, entry.computed.parts.into()) {
            entry.computed.awaited ^= 1 << bit;
            entry.odd[0] ^= true;
        }
    }

    /// What a comparator says of tags that are `right` or not.
    pub fn verdict(&mut self, register: Register, (job, time): (JobId, Femtos), right: bool) -> bool {
        let mut verdict = right;
        for upset in self.0.iter_mut().filter(|upset| upset.register == register) {
            let due = upset.armed.transfer_of(time, "", Some(job));
            match upset.armed.kind() {
                FaultKind::Flip if due => {
                    upset.armed.flipped(time, Some(Flip::in_passing(0)));
                    verdict = !verdict;
                }
                kind @ (FaultKind::Stuck0 | FaultKind::Stuck1) => {
                    if due {
                        upset.armed.struck(time);
                        upset.holds = true;
                    }
                    verdict = if upset.holds { kind == FaultKind::Stuck1 } else { verdict };
                }
                _ => {}
            }
        }
        verdict
    }
}
