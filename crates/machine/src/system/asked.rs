//! What a request asks of each copy, as reports remember it.

use super::{
    queues::Place,
    request::{CopyRequest, Direction, Memory, Operation, Request},
};
use crate::stream::StreamTask;
use std::collections::BTreeSet;

/// What is remembered of a copy while its bytes are in the machine.
pub(super) struct Asked {
    pub direction: Direction,
    pub bytes: u64,
    pub memory: Memory,
    pub place: Place,
}

/// The copies of a request, in its order.
pub(super) fn asked(request: &Request) -> Vec<Asked> {
    let alone = |copy: &CopyRequest| {
        let CopyRequest { direction, bytes, memory, .. } = *copy;
        Asked { direction, bytes, memory, place: Place::default() }
    };
    let mut asked: Vec<_> = request.copies.iter().map(alone).collect();
    let mut kernels = BTreeSet::new();
    for step in &request.program {
        match step.operation {
            Operation::Copy { copy, .. } => {
                if let Some(asked) = asked.get_mut(copy) {
                    let behind_kernels = kernels.contains(&(step.gpu, step.stream));
                    asked.place = Place { stream: Some(step.stream), behind_kernels };
                }
            }
            Operation::Task(StreamTask::Record { .. })
            | Operation::Flush { .. }
            | Operation::Sync
            | Operation::Host { .. } => {}
            Operation::Task(_) | Operation::Graph { .. } => _ = kernels.insert((step.gpu, step.stream)),
        }
    }
    asked
}
