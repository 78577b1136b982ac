//! Semaphores that have changed, and what they say.

use super::{CHANNEL_ERROR, Driver, DriverPorts, Task, errors, streams};
use crate::{host::memory::HostState, pcie::root_complex::Notice, sim::Now};

impl Driver {
    /// Takes note of the next semaphore, if one has come.
    pub(super) fn heed_next(&mut self, now: Now, ports: &mut DriverPorts) -> bool {
        let notice = ports.notices.arrive(now.time);
        if let Some(notice) = notice {
            self.heed(notice, now, &mut ports.memory.borrow_mut());
        }
        notice.is_some()
    }

    fn heed(&mut self, notice: Notice, now: Now, memory: &mut HostState) {
        let Notice { address, value } = notice;
        if value & CHANNEL_ERROR != 0 {
            self.errors.note(errors::CHANNEL_ERROR, now.time);
            return self.fail(now, format!("channel error: robust-channel error {}", value & (CHANNEL_ERROR - 1)));
        }
        let Some((stream, verified)) = streams::semaphore(address) else { return self.impossible(now, &notice) };
        let last = if verified { self.streams.last_verified(stream) } else { self.streams.last_done(stream) };
        match u32::try_from(value) {
            Ok(number) if number > last && number <= self.streams.last_rung(stream) => {
                if verified {
                    self.streams.verified(stream, number);
                } else if self.current.as_ref().is_some_and(|current| current.waits_for(number)) {
                    let (plain, secure) = (self.spec.completion.0, self.spec.secure_completion.0);
                    self.begin(Task::Completion { stream, number }, now, plain, secure);
                } else {
                    self.note_done(stream, number, now, memory);
                }
            }
            Ok(number) if number == last => {
                self.incidents.push(format!("the semaphore at {address:#x} took the value {value} twice"));
            }
            _ => self.impossible(now, &notice),
        }
    }

    fn impossible(&mut self, now: Now, notice: &Notice) {
        let what =
            format!("the semaphore at {:#x} took the value {}: no push waits for it", notice.address, notice.value);
        self.errors.note(errors::SEMAPHORE, now.time);
        self.incidents.push(what.clone());
        self.fail(now, what);
    }

    /// A push of a stream is done: so are the copies on it that nobody waits for, and what they have of staging is free.
    pub(super) fn note_done(&mut self, stream: u32, number: u32, now: Now, memory: &mut HostState) {
        self.left.retain_mut(|left| {
            if left.stream == stream {
                left.transfer.push_done(number, memory);
            }
            !left.transfer.complete()
        });
        for copy in self.streams.done(stream, number) {
            let outcome = &mut self.outcomes[copy];
            (outcome.end, outcome.verified, outcome.delivered) = (now.time, now.time, true);
            self.streams.end(copy);
        }
    }
}
