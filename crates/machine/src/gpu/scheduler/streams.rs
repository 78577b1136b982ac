//! The streams: what waits in each, what of it is in progress, and whose turn it is.

use super::{Engine, StreamTask, Submission, Work};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

#[derive(Debug)]
struct Waiting {
    submission: Submission,
    /// Cycle in which its doorbell rang, and from which on it may go.
    rung: u64,
    from: u64,
    /// Of a wait: the push that records its event, if one has been announced.
    record: Option<u32>,
}

#[derive(Debug, Default)]
struct Stream {
    waiting: VecDeque<Waiting>,
    open: usize,
    /// What they are in progress on.
    engine: Option<Engine>,
    /// Cycle from which on the first push that waits may go.
    ready: Option<u64>,
}

impl Stream {
    /// The engine that the first push may go to now.
    fn may_go(&self) -> Option<Engine> {
        let engine = self.waiting.front()?.submission.work.engine()?;
        let pipelined = engine != Engine::Compute && self.engine == Some(engine);
        (self.open == 0 || pipelined).then_some(engine)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// The first push of a stream goes.
    Go { stream: u32 },
    /// No stream's before a cycle.
    At(u64),
    /// No stream's until something changes.
    Never,
}

/// All streams that have something to do.
#[derive(Debug, Default)]
pub(super) struct Streams {
    streams: BTreeMap<u32, Stream>,
    /// Streams of the pushes in flight.
    open: BTreeMap<u32, u32>,
    /// By event: the push that records it last, until it comes.
    announced: BTreeMap<u32, u32>,
    /// Records that have not come.
    records: BTreeSet<u32>,
    /// Whether a push has joined, gone or been done since this was last asked.
    changed: bool,
}

impl Streams {
    pub fn add(&mut self, submission: Submission, (rung, from): (u64, u64)) {
        self.changed = true;
        let mut record = None;
        match submission.work {
            Work::Task(StreamTask::Record { event }) => {
                self.announced.insert(event, submission.number);
                self.records.insert(submission.number);
            }
            Work::Task(StreamTask::Wait { event }) => record = self.announced.get(&event).copied(),
            Work::Copies { .. } | Work::Task(StreamTask::Compute(_)) => {}
        }
        let stream = self.streams.entry(submission.stream).or_default();
        stream.waiting.push_back(Waiting { submission, rung, from, record });
    }

    pub fn waiting(&self) -> bool {
        self.streams.values().any(|stream| !stream.waiting.is_empty())
    }

    #[cfg(test)]
    pub fn is_empty(&self) -> bool {
        self.streams.is_empty() && self.open.is_empty()
    }

    pub fn finish(&mut self, push: u32) {
        let Some(number) = self.open.remove(&push) else { return };
        self.changed = true;
        let Some(stream) = self.streams.get_mut(&number) else { return };
        stream.open -= 1;
        if stream.open == 0 {
            stream.engine = None;
            if stream.waiting.is_empty() {
                self.streams.remove(&number);
            }
        }
    }

    /// Whether a push has joined, gone or been done since this was last asked: only then can events settle and other pushes go.
    #[inline]
    pub fn take_change(&mut self) -> bool {
        std::mem::take(&mut self.changed)
    }

    /// Lets records come and waits end, as far as they can; gives their pushes and semaphores.
    pub fn settle_events(&mut self) -> Vec<(u32, u64)> {
        let mut settled = Vec::new();
        let Self { streams, open, announced, records, .. } = self;
        loop {
            let before = settled.len();
            for (number, stream) in streams.iter_mut().filter(|(_, stream)| stream.open == 0) {
                let Some(Waiting { submission, record, .. }) = stream.waiting.front() else { continue };
                match submission.work {
                    Work::Task(StreamTask::Record { event }) => {
                        records.remove(&submission.number);
                        if announced.get(&event) == Some(&submission.number) {
                            announced.remove(&event);
                        }
                    }
                    Work::Task(StreamTask::Wait { .. }) if record.is_none_or(|record| !records.contains(&record)) => {}
                    _ => continue,
                }
                settled.push((submission.number, submission.semaphore));
                open.insert(submission.number, *number);
                stream.open = 1;
                stream.waiting.pop_front();
            }
            if settled.len() == before {
                return settled;
            }
        }
    }

    /// Notes which pushes may go from `cycle` on.
    pub fn mark_ready(&mut self, cycle: u64) {
        for stream in self.streams.values_mut() {
            if stream.ready.is_none() && stream.may_go().is_some() {
                stream.ready = stream.waiting.front().map(|first| first.from.max(cycle));
            }
        }
    }

    /// Whose turn it is: of all whose latency is over and whose engine has room, the one that may go for longest.
    pub fn next(&self, cycle: u64, latency: u64, room: &mut dyn FnMut(Engine) -> bool) -> Turn {
        let (mut best, mut at) = (None, u64::MAX);
        for (&number, stream) in &self.streams {
            let (Some(ready), Some(engine), Some(front)) = (stream.ready, stream.may_go(), stream.waiting.front())
            else {
                continue;
            };
            let date = ready.saturating_add(latency);
            if date > cycle {
                at = at.min(date);
            } else if room(engine) {
                let rank = (ready, front.submission.number, number);
                best = Some(best.map_or(rank, |best: (u64, u32, u32)| best.min(rank)));
            }
        }
        match best {
            Some((.., stream)) => Turn::Go { stream },
            None if at < u64::MAX => Turn::At(at),
            None => Turn::Never,
        }
    }

    /// Takes the first push of a stream, and the cycle in which its doorbell rang.
    pub fn take(&mut self, number: u32) -> Option<(Submission, u64)> {
        let stream = self.streams.get_mut(&number)?;
        let Waiting { submission, rung, .. } = stream.waiting.pop_front()?;
        self.changed = true;
        stream.ready = None;
        stream.open += 1;
        stream.engine = submission.work.engine();
        self.open.insert(submission.number, number);
        Some((submission, rung))
    }
}
