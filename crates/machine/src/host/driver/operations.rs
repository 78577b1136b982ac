//! The operations of the program: which costs each begins with.

use super::{Driver, DriverPorts, Operation, Step, Task};
use crate::{
    host::work::Direction,
    sim::Now,
    stream::{Computation, PushWork, StreamTask},
};

impl Driver {
    /// Begins the next operation of the program.
    pub(super) fn operate(&mut self, now: Now, ports: &mut DriverPorts) -> bool {
        let Some(&Step { stream, operation }) = self.program.get(self.step) else { return false };
        let task = match operation {
            Operation::Copy { copy, .. } => {
                self.outcomes[copy].start = now.time;
                self.streams.begin(copy);
                if let Err(reason) = self.call(copy, now, ports) {
                    self.fail(now, reason);
                    return true;
                }
                let cost = self.call_cost(self.plans[copy].direction);
                self.begin(Task::Call, now, cost, 0);
                return true;
            }
            Operation::Flush { bytes } => {
                ports.memory.borrow_mut().flush(bytes);
                self.cold = true;
                self.step += 1;
                return true;
            }
            Operation::Sync => return self.sync(stream, now),
            Operation::Host { duration } => {
                let cycles = self.clock.cycles_in(duration);
                self.begin(Task::Host, now, cycles, 0);
                return true;
            }
            Operation::Task(task) => task,
        };
        let kernel = matches!(task, StreamTask::Compute(Computation::Kernel { .. } | Computation::Collective { .. }));
        let cost = if kernel { self.spec.launch.0 } else { self.spec.push.0 };
        let push = self.push(stream, None, PushWork::Task(task));
        self.begin(Task::Push { push, upto: None }, now, cost, self.spec.secure_push.0);
        true
    }

    /// What the call of a copy costs by itself.
    fn call_cost(&mut self, direction: Direction) -> u64 {
        let cold = &self.spec.cold_call;
        let extra = if std::mem::take(&mut self.cold) {
            let secure = if self.options.secure { cold.secure.0 } else { 0 };
            secure + if direction == Direction::D2h { cold.d2h.0 } else { cold.h2d.0 }
        } else {
            0
        };
        extra + if direction == Direction::D2d { 0 } else { self.spec.call.0 }
    }

    fn sync(&mut self, stream: u32, now: Now) -> bool {
        let waited = std::mem::replace(&mut self.syncing, true);
        if !self.streams.is_done(stream) {
            return false;
        }
        if waited {
            self.begin(Task::Synced, now, self.spec.completion.0, self.spec.secure_completion.0);
        } else {
            self.syncing = false;
            self.step += 1;
        }
        true
    }
}
