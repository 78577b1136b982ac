//! What is visible without a verdict, and since when.

use crate::{
    gpu::work::{JobId, Verdict},
    sim::Level,
    units::Femtos,
};
use std::collections::VecDeque;

/// How much unverified plaintext was visible, and how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Exposure {
    /// From the first visible byte of a message to its verdict: of the message with the longest such time.
    pub longest: Femtos,
    /// Of all messages together.
    pub total: Femtos,
    pub most_bytes: u64,
    /// From each byte's becoming visible to the verdict of its message, summed over bytes: bytes times femtoseconds.
    pub byte_time: u128,
    /// Messages whose bytes were scrubbed.
    pub scrubbed: u64,
}

/// What was visible when a message failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exposed {
    pub message: JobId,
    pub time: Femtos,
    /// When its first byte was visible, if one was by then.
    pub first_visible: Option<Femtos>,
    /// Bytes of it that were visible.
    pub bytes: u64,
    /// Other messages of which something was visible and that had no verdict.
    pub other_messages: u64,
    pub other_bytes: u64,
}

/// A write whose bytes will be visible.
#[derive(Debug)]
struct Write {
    message: JobId,
    visible: Femtos,
    bytes: u32,
}

/// A message of which something is visible, without a verdict.
#[derive(Debug)]
struct Message {
    job: JobId,
    first: Femtos,
    bytes: u64,
    /// Since the beginning of time: bytes times the date from which they are visible.
    unseen: u128,
}

/// The plaintext that is visible without a verdict, or will be.
#[derive(Debug, Default)]
pub(super) struct Visible {
    /// By the dates from which they are visible.
    writes: VecDeque<Write>,
    messages: Vec<Message>,
    bytes: Level,
    exposure: Exposure,
    failures: Vec<Exposed>,
}

impl Visible {
    /// By failed message: what was visible at its verdict.
    pub fn failures(&self) -> &[Exposed] {
        &self.failures
    }

    pub fn exposure(&self, until: Femtos) -> Exposure {
        let mut bytes = self.bytes;
        let more = self.writes.iter().take_while(|write| write.visible <= until);
        more.for_each(|write| bytes.change(write.visible, write.bytes.into(), 0));
        Exposure { most_bytes: bytes.peak(), ..self.exposure }
    }

    /// Messages of which something is visible, and their visible bytes.
    pub const fn now(&self) -> (u64, u64) {
        (self.messages.len() as u64, self.bytes.value())
    }

    pub fn next(&self) -> Option<Femtos> {
        self.writes.front().map(|write| write.visible)
    }

    /// A write of a message that has no verdict yet. No `visible` lies before an earlier one.
    #[inline]
    pub fn wrote(&mut self, message: JobId, visible: Femtos, bytes: u32) {
        self.writes.push_back(Write { message, visible, bytes });
    }

    /// Takes what is visible by a date.
    #[inline]
    pub fn reach(&mut self, time: Femtos) {
        while self.writes.front().is_some_and(|write| write.visible <= time)
            && let Some(Write { message, visible, bytes }) = self.writes.pop_front()
        {
            let bytes = u64::from(bytes);
            self.bytes.change(visible, bytes, 0);
            let place = self.messages.iter().rposition(|known| known.job == message).unwrap_or_else(|| {
                self.messages.push(Message { job: message, first: visible, bytes: 0, unseen: 0 });
                self.messages.len() - 1
            });
            let message = &mut self.messages[place];
            message.bytes += bytes;
            message.unseen += u128::from(bytes) * u128::from(visible.0);
        }
    }

    /// A message has its verdict: what comes of it later is of no account.
    pub fn judged(&mut self, Verdict { job, ok }: Verdict, time: Femtos) {
        self.reach(time);
        self.writes.retain(|write| write.message != job);
        let place = self.messages.iter().position(|message| message.job == job);
        let message = place.map(|place| self.messages.remove(place));
        let bytes = message.as_ref().map_or(0, |message| message.bytes);
        self.bytes.change(time, 0, bytes);
        if let Some(message) = &message {
            let exposed = Femtos(time.0.saturating_sub(message.first.0));
            self.exposure.longest = self.exposure.longest.max(exposed);
            self.exposure.total.0 += exposed.0;
            self.exposure.byte_time += (u128::from(bytes) * u128::from(time.0)).saturating_sub(message.unseen);
        }
        if !ok {
            self.failures.push(Exposed {
                message: job,
                time,
                first_visible: message.map(|message| message.first),
                bytes,
                other_messages: self.messages.len() as u64,
                other_bytes: self.messages.iter().map(|message| message.bytes).sum(),
            });
        }
    }

    /// A message that failed had landed, or lands now, and is scrubbed.
    pub const fn scrub(&mut self) {
        self.exposure.scrubbed += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visible(writes: &[(JobId, u64)]) -> Visible {
        let mut visible = Visible::default();
        writes.iter().for_each(|&(message, date)| visible.wrote(message, Femtos(date), 64));
        visible
    }

    #[test]
    fn only_what_is_visible_and_without_a_verdict_counts() {
        let mut visible = visible(&[(1, 10), (2, 20), (3, 25), (2, 30), (3, 60), (4, 70)]);
        visible.judged(Verdict { job: 1, ok: true }, Femtos(40));
        visible.judged(Verdict { job: 2, ok: false }, Femtos(50));
        visible.judged(Verdict { job: 4, ok: false }, Femtos(65));
        let failed = |message, time, first_visible: Option<u64>, bytes, other_messages, other_bytes| Exposed {
            message,
            time: Femtos(time),
            first_visible: first_visible.map(Femtos),
            bytes,
            other_messages,
            other_bytes,
        };
        assert_eq!(visible.failures(), [failed(2, 50, Some(20), 128, 1, 64), failed(4, 65, None, 0, 1, 128)]);
    }

    #[test]
    fn bytes_are_exposed_from_when_each_is_visible_to_the_verdict_of_its_message() {
        let mut visible = visible(&[(1, 10), (1, 20), (2, 30), (2, 90)]);
        assert_eq!((visible.next(), visible.now()), (Some(Femtos(10)), (0, 0)));
        visible.reach(Femtos(35));
        assert_eq!((visible.next(), visible.now()), (Some(Femtos(90)), (2, 192)));
        visible.judged(Verdict { job: 1, ok: true }, Femtos(40));
        let exposure = visible.exposure(Femtos(50));
        assert_eq!((exposure.longest, exposure.most_bytes, exposure.byte_time), (Femtos(30), 192, 64 * (30 + 20)));
        visible.judged(Verdict { job: 2, ok: true }, Femtos(80));
        let exposure = visible.exposure(Femtos(100));
        assert_eq!((exposure.total, exposure.most_bytes, exposure.byte_time), (Femtos(80), 192, 64 * (30 + 20 + 50)));
        assert_eq!((visible.next(), visible.now()), (None, (0, 0)));
    }

    #[test]
    fn what_is_visible_at_the_end_and_never_judged_counts_among_the_most() {
        let visible = visible(&[(1, 10), (2, 20)]);
        assert_eq!([5, 10, 20].map(|until| visible.exposure(Femtos(until)).most_bytes), [0, 64, 128]);
    }
}
