//! What calls cost on a machine as its driver and its GPU have them: a short program is run, and its dates are read.
//!
//! ```text
//!  host    launch  launch  record  wait  launch  sync
//!  first           A-------B-------
//!  second                                  C-----
//! ```
//!
//! | read from it | |
//! | --- | --- |
//! | a call | from its start to its return |
//! | submission | from the return of the first launch to A |
//! | gap | from A to B |
//! | event | from B to C |
//! | completion | from C to the return of the wait for it |

use super::{Ns, error::ReplayError, rules::ns};
use crate::{
    config::MachineSpec,
    sim::Control,
    stream::StreamTask,
    system::{self, Operation, Outcome, Request, Step},
    units::{Femtos, Frequency},
};
use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

/// Kernels of the program last so long: longer than all its calls.
const KERNEL: Femtos = Femtos(1_000_000_000_000);

/// What calls cost, in one mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Calls {
    pub launch: Ns,
    pub record: Ns,
    pub wait: Ns,
    pub submission: Ns,
    pub gap: Ns,
    pub event: Ns,
    pub completion: Ns,
    /// Of submission, gap and event, what the compute side takes before it starts: copies on engines of their own do without.
    pub start: Ns,
    /// Of completion, what passes until the host can know.
    pub notice: Ns,
}

impl Calls {
    /// From what a stream had done to a copy between host and device.
    pub const fn copy_gap(&self) -> Ns {
        self.gap.saturating_sub(self.start)
    }
}

/// What calls cost on machines that were probed.
#[derive(Debug, Default)]
pub(super) struct Probed(Mutex<BTreeMap<String, Calls>>);

impl Probed {
    /// What they cost on a machine, which its name identifies.
    pub fn of(&self, name: &str, machine: &MachineSpec, go_on: &dyn Fn() -> Control) -> Result<Calls, ReplayError> {
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(calls) = lock().get(name) {
            return Ok(*calls);
        }
        let calls = probe(machine, go_on)?;
        lock().insert(name.to_owned(), calls);
        Ok(calls)
    }
}

fn probe(machine: &MachineSpec, go_on: &dyn Fn() -> Control) -> Result<Calls, ReplayError> {
    let mut request = Request::h2d(1).without_data();
    let step = |stream, operation| Step { gpu: 0, stream, operation };
    let event = 0;
    request.program = vec![
        step(0, Operation::kernel(KERNEL)),
        step(0, Operation::kernel(KERNEL)),
        step(0, Operation::Task(StreamTask::Record { event })),
        step(1, Operation::Task(StreamTask::Wait { event })),
        step(1, Operation::kernel(KERNEL)),
        step(1, Operation::Sync),
    ];
    let outcome = system::run(machine, request, &mut |_| go_on()).map_err(ReplayError::run)?;
    let calls = read(&outcome).ok_or_else(|| ReplayError::lost(0))?;
    let MachineSpec { compute, driver, cpu, .. } = machine;
    let notice = calls.completion.saturating_sub(nanos(driver.completion.0, cpu.clock));
    Ok(Calls { start: nanos(compute.launch.0, compute.clock), notice, ..calls })
}

/// Cycles of a clock, ns.
pub(super) fn nanos(cycles: u64, clock: Frequency) -> Ns {
    (u128::from(cycles) * 1_000_000_000 / u128::from(clock.0.max(1))) as Ns
}

fn read(outcome: &Outcome) -> Option<Calls> {
    let [first, second, record, wait, third, sync] = outcome.gpus.first()?.steps.get(..6)? else { return None };
    let between = |from: Femtos, to: Femtos| ns(to.saturating_sub(from));
    let [a, b, c] = [first.computed?, second.computed?, third.computed?];
    Some(Calls {
        launch: between(first.start, first.returned),
        record: between(record.start, record.returned),
        wait: between(wait.start, wait.returned),
        submission: between(first.returned, a.0),
        gap: between(a.1, b.0),
        event: between(b.1, c.0),
        completion: between(c.1, sync.returned),
        ..Calls::default()
    })
}
