//! Pushes on their way from the driver to the GPU: launches into class C8B5 methods.

use crate::{
    gpu::{
        front_end::PushMemory,
        launch::{Flush, Launch, Location, Operation, Order as LaunchOrder, Semaphore, Side, Transfer},
        pushbuffer::{Command, encode},
    },
    host::{Order, OrderKind, Push, Pushes},
};
use std::collections::BTreeMap;

/// Method bytes by the number of their push.
#[derive(Debug, Default)]
pub(super) struct PushStore {
    pushes: BTreeMap<u32, Vec<u8>>,
    fault: Option<String>,
}

impl PushStore {
    /// A push that could not be put into methods.
    pub fn fault(&self) -> Option<&String> {
        self.fault.as_ref()
    }
}

impl Pushes for PushStore {
    fn put(&mut self, push: Push) {
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
        match encode(&commands) {
            Ok(bytes) => {
                self.pushes.insert(push.number, bytes);
            }
            Err(error) => self.fault = Some(format!("push {} cannot be put into methods: {error}", push.number)),
        }
    }
}

/// A launch; the last one of a push flushes.
fn launch(order: &Order, last: bool) -> Launch {
    let (source, destination) = (Location::virt(order.source), Location::virt(order.destination));
    let operation = match order.kind {
        OrderKind::Open => Operation::Decrypt { source, tag: order.tag },
        OrderKind::Seal => Operation::Encrypt { source, tag: order.tag, iv: order.iv },
        OrderKind::Fetch | OrderKind::Store | OrderKind::Local => Operation::Copy { source, side: Side::Protected },
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
    fn take(&mut self, number: u32) -> Option<Vec<u8>> {
        self.pushes.remove(&number)
    }
}
