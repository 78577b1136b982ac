//! A thread that computes bytes while the simulation goes on.
//!
//! What it gives does not depend on when it gives it: tasks are done one after the other, in the order in which they were posted, and
//! a caller that needs a result waits for it. On a host with one core, and where no thread can be had, tasks are done on the spot.

use std::{
    fmt,
    sync::mpsc::{Receiver, Sender, channel},
    thread::{self, JoinHandle},
};

type Task = Box<dyn FnOnce() + Send>;

#[derive(Default)]
pub struct Worker {
    tasks: Option<Sender<Task>>,
    thread: Option<JoinHandle<()>>,
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.tasks.is_some() { "Worker with a thread" } else { "Worker on the spot" })
    }
}

impl Worker {
    /// A worker with a thread of its own where the host has a core for it.
    pub fn new() -> Self {
        if thread::available_parallelism().map_or(1, usize::from) < 2 {
            return Self::default();
        }
        let (tasks, inbox) = channel::<Task>();
        let body = move || inbox.into_iter().for_each(|task| task());
        match thread::Builder::new().name("bytes".into()).spawn(body) {
            Ok(thread) => Self { tasks: Some(tasks), thread: Some(thread) },
            Err(_) => Self::default(),
        }
    }

    /// Has a task done.
    pub fn post(&self, task: impl FnOnce() + Send + 'static) {
        match &self.tasks {
            // A thread that is gone has panicked in an earlier task, which the waiter for that task reports.
            Some(tasks) => drop(tasks.send(Box::new(task))),
            None => task(),
        }
    }

    /// Has a task done and gives a hold of its result.
    pub fn ask<T: Send + 'static>(&self, task: impl FnOnce() -> T + Send + 'static) -> Pending<T> {
        let (answer, result) = channel();
        self.post(move || drop(answer.send(task())));
        Pending(result)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.tasks = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// A result that may still be in progress.
#[derive(Debug)]
pub struct Pending<T>(Receiver<T>);

impl<T> Pending<T> {
    /// Waits for it.
    ///
    /// # Panics
    /// If the task has panicked.
    pub fn wait(self) -> T {
        self.0.recv().expect("a task of the byte thread has panicked")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    #[test]
    fn tasks_are_done_in_the_order_in_which_they_were_posted() {
        for worker in [Worker::new(), Worker::default()] {
            let seen = Arc::new(Mutex::new(Vec::new()));
            for number in 0..100 {
                let seen = Arc::clone(&seen);
                worker.post(move || seen.lock().unwrap().push(number));
            }
            let all = Arc::clone(&seen);
            let result = worker.ask(move || all.lock().unwrap().clone()).wait();
            assert_eq!(result, (0..100).collect::<Vec<_>>());
        }
    }
}
