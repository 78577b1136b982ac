//! What a request asks of each copy, as reports remember it.

use super::{
    limits,
    request::{CopyRequest, Direction, Memory, Operation, Pages, Request},
};
use crate::stream::StreamTask;
use std::collections::BTreeSet;

/// What is remembered of a copy while its bytes are in the machine.
pub(super) struct Asked {
    pub direction: Direction,
    pub bytes: u64,
    pub memory: Memory,
    pub place: limits::Place,
    pub pages: Pages,
    /// Whether the program drives out the caches before it.
    pub flushed: bool,
}

/// The copies of a request, in its order.
pub(super) fn asked(request: &Request) -> Vec<Asked> {
    let asked = request.copies.iter();
    let mut asked: Vec<_> = asked
        .map(|&CopyRequest { direction, bytes, memory, pages, .. }| Asked {
            direction,
            bytes,
            memory,
            place: limits::Place::default(),
            pages,
            flushed: false,
        })
        .collect();
    let (mut flushed, mut kernels) = (BTreeSet::new(), BTreeSet::new());
    for step in &request.program {
        match step.operation {
            Operation::Flush { .. } => _ = flushed.insert(step.gpu),
            Operation::Copy { copy, .. } => {
                if let Some(asked) = asked.get_mut(copy) {
                    let behind_kernels = kernels.contains(&(step.gpu, step.stream));
                    asked.place = limits::Place { stream: Some(step.stream), behind_kernels };
                    asked.flushed = flushed.contains(&step.gpu);
                }
                flushed.remove(&step.gpu);
            }
            Operation::Task(StreamTask::Record { .. }) | Operation::Sync | Operation::Host { .. } => {}
            Operation::Task(_) | Operation::Graph { .. } => _ = kernels.insert((step.gpu, step.stream)),
        }
    }
    asked
}
