//! How much room for plaintext that waits for its verdict a configuration can use: what is charged of it.
//!
//! A push's first launch waits until all before it is done, so that what is under way at once is of one push: at most `messages_in_flight` of its messages,
//! and as many tags as the tag queue has entries. A message is one job, or a job for each of its parts or pieces, which go to the PCEs in turn, and each job
//! reserves its bytes. Where verdicts come in order, jobs without one follow each other, and a PCE has at most its turns among them; where they do not, an
//! old job may stay while those of other PCEs are done. Of each PCE `ahead` bytes need no room.

use super::machine::MachineSpec;
use crate::{
    gpu::spec::{Retirement, Sharing},
    host::spec::PathSpec,
};

impl MachineSpec {
    /// Bytes of `tag_queue.quarantine` that can be reserved at once, in a PCE or in what all share.
    pub fn usable_quarantine(&self) -> u64 {
        let paths = [&self.driver.pinned, &self.driver.pageable];
        paths.map(|path| self.usable_by(path)).into_iter().max().unwrap_or_default()
    }

    /// Bytes of `tag_queue.quarantine` that are charged: no more than can be used.
    pub fn charged_quarantine(&self) -> u64 {
        self.tag_queue.quarantine.0.min(self.usable_quarantine())
    }

    fn usable_by(&self, path: &PathSpec) -> u64 {
        let (queue, engine, message) = (&self.tag_queue, &self.copy_engine, path.message.0.max(1));
        let (pces, depth) = (u64::from(engine.pces_secure).max(1), u64::from(queue.depth));
        let slots = u64::from(self.staging.buffers).saturating_mul(self.staging.buffer.0 / message);
        let in_push = path.push.0.div_ceil(message).clamp(1, slots.max(1));
        let job = match queue.tag_every {
            Some(every) => every.0.clamp(1, message),
            None if engine.sharing == Some(Sharing::Split) => {
                message.div_ceil(pces).next_multiple_of(engine.burst.0.max(1)).min(message)
            }
            None => message,
        };
        // An entry of the tag queue is a piece's, or else a message's.
        let (jobs, pieces) = (message.div_ceil(job), queue.tag_every.is_some());
        let messages = in_push.min(engine.messages_in_flight.into()).min(if pieces { u64::MAX } else { depth });
        let under_way = messages.saturating_mul(jobs).min(if pieces { depth } else { u64::MAX });
        let of_pce = match queue.retirement {
            Retirement::InOrder => under_way.div_ceil(pces),
            Retirement::OutOfOrder => {
                let in_turn = in_push.saturating_mul(jobs).div_ceil(pces);
                under_way.min(messages.saturating_mul(jobs.div_ceil(pces))).min(in_turn)
            }
        };
        let bytes =
            |jobs: u64| jobs.saturating_mul(job).min(messages.saturating_mul(message)).saturating_sub(queue.ahead());
        match self.common_quarantine() {
            None => bytes(of_pce),
            Some(_) => bytes(under_way).min(bytes(of_pce).saturating_mul(pces.min(under_way))),
        }
    }
}
