//! The streams as the driver sees them: what was submitted on each, and what of it is done.

use crate::host::map::{DONE, MAX_STREAMS, STREAM_STRIDE};
use std::collections::VecDeque;

/// One stream. Pushes are numbered over all streams.
#[derive(Debug, Clone, Default)]
struct Stream {
    rung: u32,
    done: u32,
    verified: u32,
    /// Copies that nobody waits for, and their last pushes.
    left: VecDeque<(usize, u32)>,
}

/// All streams, and which copies have ended.
#[derive(Debug)]
pub(super) struct Streams {
    streams: Vec<Stream>,
    over: Vec<bool>,
    /// Copies with which the GPU is done; all that are over are among them.
    gpu_done: Vec<bool>,
    ended: usize,
    edges: Vec<CopyEdge>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopyEdge {
    Begun(usize),
    /// Its end, delivered or not.
    Ended(usize),
}

/// The stream of a semaphore, and whether it is the one of verified pushes.
pub(super) const fn semaphore(address: u64) -> Option<(u32, bool)> {
    if address < DONE || address >= DONE + MAX_STREAMS as u64 * STREAM_STRIDE {
        return None;
    }
    let stream = ((address - DONE) / STREAM_STRIDE) as u32;
    match (address - DONE) % STREAM_STRIDE {
        0 => Some((stream, false)),
        16 => Some((stream, true)),
        _ => None,
    }
}

impl Streams {
    pub fn new(copies: usize) -> Self {
        Self {
            streams: vec![Stream::default(); MAX_STREAMS as usize],
            over: vec![false; copies],
            gpu_done: vec![false; copies],
            ended: 0,
            edges: Vec::new(),
        }
    }

    fn stream(&self, stream: u32) -> &Stream {
        &self.streams[stream as usize]
    }

    pub fn rang(&mut self, stream: u32, number: u32) {
        self.streams[stream as usize].rung = number;
    }

    /// Notes that a push is done; gives the copies that are done with it.
    pub fn done(&mut self, stream: u32, number: u32) -> Vec<usize> {
        let stream = &mut self.streams[stream as usize];
        stream.done = number;
        let count = stream.left.iter().take_while(|(_, last)| *last <= number).count();
        stream.left.drain(..count).map(|(copy, _)| copy).collect()
    }

    pub fn verified(&mut self, stream: u32, number: u32) {
        self.streams[stream as usize].verified = number;
    }

    /// Leaves a copy whose pushes are all submitted to its stream.
    pub fn leave(&mut self, copy: usize, stream: u32) {
        let stream = &mut self.streams[stream as usize];
        stream.left.push_back((copy, stream.rung));
    }

    pub fn last_rung(&self, stream: u32) -> u32 {
        self.stream(stream).rung
    }

    pub fn last_done(&self, stream: u32) -> u32 {
        self.stream(stream).done
    }

    pub fn last_verified(&self, stream: u32) -> u32 {
        self.stream(stream).verified
    }

    pub fn is_done(&self, stream: u32) -> bool {
        self.stream(stream).done >= self.stream(stream).rung
    }

    pub fn is_verified(&self, stream: u32) -> bool {
        self.stream(stream).verified >= self.stream(stream).rung
    }

    /// Whether nothing is left on any of them.
    pub fn idle(&self) -> bool {
        self.streams.iter().all(|stream| stream.done >= stream.rung && stream.left.is_empty())
    }

    pub fn begin(&mut self, copy: usize) {
        self.edges.push(CopyEdge::Begun(copy));
    }

    /// Whether copies have begun or ended since they were last taken.
    pub const fn has_edges(&self) -> bool {
        !self.edges.is_empty()
    }

    /// What has begun and ended since this was last asked, in order.
    pub fn take_edges(&mut self) -> Vec<CopyEdge> {
        std::mem::take(&mut self.edges)
    }

    pub fn end(&mut self, copy: usize) {
        self.edges.push(CopyEdge::Ended(copy));
        self.over[copy] = true;
        self.leave_gpu(copy);
    }

    /// Notes that the GPU is done with a copy, whose call returns.
    pub fn leave_gpu(&mut self, copy: usize) {
        self.gpu_done[copy] = true;
        while self.gpu_done.get(self.ended).is_some_and(|done| *done) {
            self.ended += 1;
        }
    }

    pub fn is_over(&self, copy: usize) -> bool {
        self.over.get(copy).is_none_or(|over| *over)
    }

    /// Copies with which the GPU is done, from the first on without a gap.
    pub const fn ended(&self) -> usize {
        self.ended
    }

    /// Gives up everything; gives the copies that had not ended.
    pub fn abandon(&mut self) -> Vec<usize> {
        let open: Vec<_> = (0..self.over.len()).filter(|copy| !self.over[*copy]).collect();
        self.edges.extend(open.iter().map(|copy| CopyEdge::Ended(*copy)));
        self.over.fill(true);
        self.gpu_done.fill(true);
        self.ended = self.over.len();
        for stream in &mut self.streams {
            stream.left.clear();
            stream.done = stream.rung;
        }
        open
    }
}
