//! What is visible without a verdict, write by write. It changes nothing; runs without faults do not keep it.

use crate::{
    gpu::work::{JobId, Verdict},
    units::Femtos,
};
use std::collections::BTreeSet;

/// What was visible when a message failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exposed {
    /// The message.
    pub message: JobId,
    /// When its verdict came.
    pub time: Femtos,
    /// When its first byte was visible, if one was by then.
    pub first_visible: Option<Femtos>,
    /// Bytes of it that were visible.
    pub bytes: u64,
    /// Other messages of which something was visible and that had no verdict.
    pub other_messages: u64,
    /// Their visible bytes.
    pub other_bytes: u64,
}

/// A write whose bytes have no verdict.
#[derive(Debug)]
struct Write {
    message: JobId,
    visible: Femtos,
    bytes: u32,
}

/// The watch.
#[derive(Debug, Default)]
pub(super) struct Watch {
    writes: Vec<Write>,
    failures: Vec<Exposed>,
}

impl Watch {
    pub fn failures(&self) -> &[Exposed] {
        &self.failures
    }

    /// A write of a message that has no verdict yet.
    pub fn wrote(&mut self, message: JobId, visible: Femtos, bytes: u32) {
        self.writes.push(Write { message, visible, bytes });
    }

    pub fn judged(&mut self, Verdict { job, ok }: Verdict, time: Femtos) {
        if !ok {
            self.failures.push(self.exposed(job, time));
        }
        self.writes.retain(|write| write.message != job);
    }

    fn exposed(&self, message: JobId, time: Femtos) -> Exposed {
        let visible = || self.writes.iter().filter(|write| write.visible <= time);
        let of_it = || visible().filter(|write| write.message == message);
        let of_others = || visible().filter(|write| write.message != message);
        let bytes = |bytes: u32| u64::from(bytes);
        Exposed {
            message,
            time,
            first_visible: of_it().map(|write| write.visible).min(),
            bytes: of_it().map(|write| bytes(write.bytes)).sum(),
            other_messages: of_others().map(|write| write.message).collect::<BTreeSet<_>>().len() as u64,
            other_bytes: of_others().map(|write| bytes(write.bytes)).sum(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_visible_and_without_a_verdict_counts() {
        let mut watch = Watch::default();
        for (message, visible) in [(1, 10), (2, 20), (2, 30), (3, 25), (3, 60), (4, 70)] {
            watch.wrote(message, Femtos(visible), 64);
        }
        watch.judged(Verdict { job: 1, ok: true }, Femtos(40));
        watch.judged(Verdict { job: 2, ok: false }, Femtos(50));
        watch.judged(Verdict { job: 4, ok: false }, Femtos(65));
        let failed = |message, time, first_visible: Option<u64>, bytes, other_messages, other_bytes| Exposed {
            message,
            time: Femtos(time),
            first_visible: first_visible.map(Femtos),
            bytes,
            other_messages,
            other_bytes,
        };
        assert_eq!(watch.failures(), [failed(2, 50, Some(20), 128, 1, 64), failed(4, 65, None, 0, 1, 128)]);
    }
}
