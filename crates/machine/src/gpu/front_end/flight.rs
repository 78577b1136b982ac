//! Launches that are not yet complete.

use crate::gpu::{
    release::Release,
    work::{Job, JobId, LaunchKind},
};
use std::{
    collections::{BTreeSet, VecDeque},
    ops::Range,
};

/// One launch in progress. The numbers of its jobs are contiguous.
#[derive(Debug)]
pub(super) struct Flight {
    kind: LaunchKind,
    first: JobId,
    /// Its tags, of one job each but for parts of a message, which have one together.
    tags: u64,
    /// One past the last job.
    end: JobId,
    /// Jobs whose bytes are still in progress.
    moving: u64,
    /// Whether all its jobs have been given out.
    pub complete: bool,
    /// Of a message that is sealed in parts: the tag that is still to be written.
    pub tag: Option<PartTag>,
}

/// The tag of a message that is sealed in parts.
#[derive(Debug)]
pub(super) struct PartTag {
    pub message: Job,
    parts: u64,
    shares: Vec<JobId>,
    pub sum: [u8; 16],
}

impl PartTag {
    pub fn new(message: Job, parts: u64) -> Self {
        Self { message, parts, shares: Vec::new(), sum: [0; 16] }
    }

    fn take(&mut self, job: JobId, share: [u8; 16]) {
        if !self.shares.contains(&job) {
            self.shares.push(job);
            self.sum.iter_mut().zip(share).for_each(|(sum, byte)| *sum ^= byte);
        }
    }

    fn is_known(&self) -> bool {
        self.shares.len() as u64 == self.parts
    }
}

impl Flight {
    pub fn new(first: JobId, kind: LaunchKind) -> Self {
        Self::of_pieces(first, kind, 1)
    }

    /// With so many tags, the jobs of which are added one by one.
    pub fn of_pieces(first: JobId, kind: LaunchKind, tags: u64) -> Self {
        Self { kind, first, tags, end: first, moving: 0, complete: false, tag: None }
    }

    /// What may have a verdict of its own.
    const fn judged(&self) -> Range<JobId> {
        self.first..self.first + self.tags
    }

    pub fn add(&mut self, job: JobId) {
        self.end = job + 1;
        self.moving += 1;
    }
}

/// All launches in flight, oldest first.
#[derive(Debug, Default)]
pub(super) struct Flights {
    flights: VecDeque<Flight>,
    begun: u64,
    unjudged: BTreeSet<JobId>,
    /// Whether anything has changed since they were last settled.
    changed: bool,
}

impl Flights {
    pub fn is_empty(&self) -> bool {
        self.flights.is_empty()
    }

    pub fn len(&self) -> usize {
        self.flights.len()
    }

    /// Jobs whose bytes are in progress.
    pub fn open_jobs(&self) -> usize {
        self.flights.iter().map(|f| f.moving as usize).sum()
    }

    pub fn push(&mut self, flight: Flight) {
        self.changed = true;
        self.begun += flight.tags;
        if flight.kind == LaunchKind::Open {
            self.unjudged.extend(flight.judged());
        }
        self.flights.push_back(flight);
    }

    /// Adds a job to the newest launch.
    pub fn extend(&mut self, job: JobId, last: bool) {
        self.changed = true;
        if let Some(flight) = self.flights.back_mut() {
            flight.add(job);
            flight.complete = last;
        }
    }

    /// The bytes of a job have arrived.
    pub fn moved(&mut self, job: JobId) {
        self.changed = true;
        if let Some(flight) = self.flights.iter_mut().find(|f| (f.first..f.end).contains(&job)) {
            flight.moving = flight.moving.saturating_sub(1);
        }
    }

    /// A part of a message has its share of the tag.
    pub fn shared(&mut self, job: JobId, share: [u8; 16]) {
        if let Some(flight) = self.flights.iter_mut().find(|f| (f.first..f.end).contains(&job))
            && let Some(tag) = &mut flight.tag
        {
            tag.take(job, share);
        }
    }

    /// The oldest tag that is known and still to be written.
    pub fn known_tag(&mut self) -> Option<&mut Option<PartTag>> {
        // This is asked in each cycle, and in most there is no launch.
        if self.flights.is_empty() {
            return None;
        }
        let known = |flight: &&mut Flight| flight.tag.as_ref().is_some_and(PartTag::is_known);
        let flight = self.flights.iter_mut().find(known)?;
        self.changed = true;
        Some(&mut flight.tag)
    }

    pub fn verified(&mut self, job: JobId) {
        self.changed = true;
        self.unjudged.remove(&job);
    }

    /// Whether a message with a number below `end` has no verdict.
    pub fn awaits_verdict_before(&self, end: JobId) -> bool {
        self.unjudged.first().is_some_and(|&job| job < end)
    }

    /// Messages with a number below `end` that have no verdict.
    pub fn await_verdicts_before(&self, end: JobId) -> u64 {
        self.unjudged.range(..end).count() as u64
    }

    /// Messages, or their pieces, that are complete and, if they are to have one, have their verdict.
    pub fn done(&self) -> u64 {
        let judged = |flight: &Flight| flight.tags - self.unjudged.range(flight.judged()).count() as u64;
        self.begun - self.flights.iter().map(judged).sum::<u64>() - self.unjudged.len() as u64
    }

    /// Forgets launches that are complete.
    pub fn settle(&mut self, release: Release) {
        if !std::mem::take(&mut self.changed) {
            return;
        }
        let unjudged = &self.unjudged;
        self.flights.retain(|flight| {
            let waits = release.completion_waits() && unjudged.range(flight.judged()).next().is_some();
            flight.moving > 0 || !flight.complete || flight.tag.is_some() || waits
        });
    }
}
