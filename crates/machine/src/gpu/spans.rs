//! When copies began and ended on the device, and when their first message could be trusted.

use super::work::{Edge, Mark};
use crate::units::Femtos;
use std::collections::BTreeMap;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Spans {
    /// By copy: from the first byte that an engine was to move to the last that it had moved.
    pub moved: BTreeMap<usize, (Femtos, Femtos)>,
    /// By push of what is no copy: from its start to its end.
    pub computed: BTreeMap<u32, (Femtos, Femtos)>,
    /// By copy to the GPU: when its first message could be used and had its verdict.
    pub first_verified: BTreeMap<usize, Femtos>,
}

impl Spans {
    /// Notes what has begun, ended or been verified. Of a copy of several pushes, the first beginning and the last end count.
    pub fn note(&mut self, Mark { copy, edge, time }: Mark) {
        match edge {
            Edge::Verified => _ = self.first_verified.entry(copy).or_insert(time),
            Edge::Begin | Edge::End => self.moves(copy, (time, time)),
        }
    }

    pub fn join(&mut self, other: &Self) {
        other.moved.iter().for_each(|(&copy, &span)| self.moves(copy, span));
        for (&copy, &time) in &other.first_verified {
            let first = self.first_verified.entry(copy).or_insert(time);
            *first = (*first).min(time);
        }
    }

    fn moves(&mut self, copy: usize, (begin, end): (Femtos, Femtos)) {
        let span = self.moved.entry(copy).or_insert((begin, end));
        *span = (span.0.min(begin), span.1.max(end));
    }
}
