//! The operations of the program: which costs each begins with.

use super::{Driver, DriverPorts, Operation, Step, Task};
use crate::{
    host::work::Direction,
    sim::Now,
    stream::{Computation, PushWork, StreamTask},
    units::Femtos,
};

impl Driver {
    /// Begins the next operation of the program.
    pub(super) fn operate(&mut self, now: Now, ports: &mut DriverPorts) -> bool {
        let Some(&Step { stream, operation }) = self.program.get(self.step) else { return false };
        self.begin_step(now);
        let (task, call) = match operation {
            Operation::Copy { copy, .. } => {
                if !std::mem::replace(&mut self.syncing, true) {
                    self.outcomes[copy].start = now.time;
                    self.streams.begin(copy);
                }
                if self.waits_for_session(copy, stream, &ports.memory.borrow()) {
                    return false;
                }
                self.syncing = false;
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
                self.next_step(now);
                return true;
            }
            Operation::Sync => return self.sync(stream, now),
            Operation::Host { duration } => {
                let cycles = self.clock.cycles_in(duration);
                self.begin(Task::Host, now, cycles, 0);
                return true;
            }
            Operation::Task(task) => (task, None),
            Operation::Graph { kernels, duration, call } => {
                let gaps = self.options.gap.0.saturating_mul(u64::from(kernels.saturating_sub(1)));
                let duration = Femtos(duration.0.saturating_mul(u64::from(kernels)).saturating_add(gaps));
                (StreamTask::Compute(Computation::Kernel { duration }), call)
            }
        };
        let kernel = matches!(task, StreamTask::Compute(Computation::Kernel { .. } | Computation::Collective { .. }));
        let plain = match call.filter(|_| kernel) {
            Some(call) => self.clock.cycles_in(call),
            None if kernel => self.spec.launch.0,
            None => self.spec.push.0,
        };
        let secure = self.sealed(task, Femtos(self.clock.edge(plain).0));
        let push = self.push(stream, None, PushWork::Task(task));
        if let Some(dates) = self.dates.last_mut() {
            dates.push = Some(push.number);
        }
        self.begin(Task::Push { push, upto: None }, now, plain, secure);
        true
    }

    /// What the call of a task takes longer with confidential computing, which takes so long without.
    fn sealed(&self, task: StreamTask, plain: Femtos) -> u64 {
        let push = self.spec.secure_push.0;
        let Some(calls) = self.options.calls else { return push };
        match task {
            // The rest of a sealed launch passes behind its doorbell.
            StreamTask::Compute(Computation::Kernel { .. } | Computation::Collective { .. }) => {
                self.clock.cycles_in(calls.launch.more(plain)).min(push)
            }
            StreamTask::Compute(_) => push,
            StreamTask::Record { .. } => self.clock.cycles_in(calls.record),
            StreamTask::Wait { .. } => self.clock.cycles_in(calls.wait),
        }
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
            let own = self.options.calls.map(|calls| self.clock.cycles_in(calls.completion));
            let secure = own.unwrap_or(self.spec.secure_completion.0);
            self.begin(Task::Synced, now, self.spec.completion.0, secure);
        } else {
            self.syncing = false;
            self.next_step(now);
        }
        true
    }
}
