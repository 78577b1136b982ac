//! Pushes in transit from the driver to the GPU: launches into class C8B5 methods, and who carries them out.

use crate::{
    gpu::{
        launch::{Flush, Launch, Location, Operation, Order as LaunchOrder, Semaphore, Side, Transfer},
        pushbuffer::{Command, EncodeError, encode},
        scheduler::{PushMemory, Submission, Work},
    },
    host::{Order, Push, Pushes},
    sim::Signals,
    stream::LaunchKind,
};
use std::collections::BTreeMap;

#[derive(Debug)]
pub(super) struct PushStore {
    pushes: BTreeMap<u32, Submission>,
    signals: Signals,
}

impl PushStore {
    /// None yet; one that cannot be put into methods ends the run.
    pub const fn new(signals: Signals) -> Self {
        Self { pushes: BTreeMap::new(), signals }
    }
}

impl Pushes for PushStore {
    fn put(&mut self, push: Push) {
        // A push is for one LCE.
        let writes_host = push.orders.first().is_some_and(|order| order.kind.writes_host());
        let work = match push.task {
            Some(task) => Work::Task(task),
            None => match methods(&push) {
                Ok(methods) => Work::Copies { writes_host, methods },
                Err(error) => {
                    self.signals.fail(&format!("push {} cannot be put into methods: {error}", push.number));
                    return;
                }
            },
        };
        let Push { number, stream, copy, semaphore, .. } = push;
        self.pushes.insert(number, Submission { number, stream, copy, work, semaphore: semaphore.address });
    }
}

/// The methods of a push of launches.
fn methods(push: &Push) -> Result<Vec<u8>, EncodeError> {
    let count = push.orders.len();
    let launches = push.orders.iter().enumerate().map(|(place, order)| launch(order, place + 1 == count));
    let semaphore = Semaphore {
        address: push.semaphore.address,
        payload: u64::from(push.semaphore.value),
        wide: false,
        timestamp: false,
        reduction: None,
    };
    let release = Launch { semaphore: Some(semaphore), ..Launch::default() };
    let commands: Vec<_> = launches.chain([release]).map(Command::Launch).collect();
    encode(&commands)
}

/// A launch; the last one of a push flushes.
fn launch(order: &Order, last: bool) -> Launch {
    let (source, destination) = (Location::virt(order.source), Location::virt(order.destination));
    let operation = match order.kind {
        LaunchKind::Open => Operation::Decrypt { source, tag: order.tag },
        LaunchKind::Seal => Operation::Encrypt { source, tag: order.tag, iv: order.iv },
        LaunchKind::Fetch | LaunchKind::Store | LaunchKind::Local => Operation::Copy { source, side: Side::Protected },
    };
    let transfer = Transfer {
        operation,
        destination,
        line_bytes: order.bytes,
        lines: None,
        order: if order.pipelined { LaunchOrder::Pipelined } else { LaunchOrder::NonPipelined },
    };
    Launch { transfer: Some(transfer), flush: last.then_some(Flush::Sys), ..Launch::default() }
}

impl PushMemory for PushStore {
    fn take(&mut self, number: u32) -> Option<Submission> {
        self.pushes.remove(&number)
    }
}
