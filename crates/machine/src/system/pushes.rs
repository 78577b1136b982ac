//! Pushes in transit from the driver to the GPU: launches into class C8B5 methods, and who carries them out.

use crate::{
    gpu::{
        methods::encode,
        scheduler::{PushMemory, Submission, Work},
    },
    host::{Push, Pushes},
    sim::Signals,
    stream::PushWork,
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
        let Push { number, stream, copy, work, semaphore } = push;
        let work = match work {
            PushWork::Task(task) => Work::Task(task),
            PushWork::Launches(launches) => match encode(&launches, semaphore) {
                Ok(methods) => Work::Copies {
                    writes_host: launches.first().is_some_and(|first| first.kind.writes_host()),
                    methods,
                },
                Err(error) => {
                    self.signals.fail(&format!("push {number} cannot be put into methods: {error}"));
                    return;
                }
            },
        };
        self.pushes.insert(number, Submission { number, stream, copy, work, semaphore: semaphore.address });
    }
}

impl PushMemory for PushStore {
    fn take(&mut self, number: u32) -> Option<Submission> {
        self.pushes.remove(&number)
    }
}
