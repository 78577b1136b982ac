//! One thread that simulates, whoever asks. What nobody waits for any more is not begun, or is stopped.

use super::answer::{Answer, Memory, answer};
use crate::cli::{Failure, run::Interruption};
use std::{
    collections::VecDeque,
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
};
use tokio::sync::oneshot;

/// Answers that are remembered.
const REMEMBERED: usize = 48;
/// Questions that wait. A server has fewer connections.
const WAITING: usize = 32;

/// An answer, or the words of a failure.
pub type Reply = Result<Arc<Answer>, String>;

struct Piece {
    command: Vec<String>,
    stop: Interruption,
    reply: oneshot::Sender<Reply>,
}

#[derive(Default)]
struct Desk {
    waiting: VecDeque<Piece>,
    /// The last answers, the latest at the back. A command has one answer, but for what the host's clock says.
    known: VecDeque<(Vec<String>, Arc<Answer>)>,
}

#[derive(Default)]
pub struct Simulator {
    desk: Mutex<Desk>,
    called: Condvar,
}

/// Stops a run when whoever waits for it goes.
struct Waits(Interruption);

impl Drop for Waits {
    fn drop(&mut self) {
        self.0.ask();
    }
}

impl Simulator {
    /// Begins its thread, which lasts as long as the process.
    pub fn begin() -> io::Result<Arc<Self>> {
        let simulator = Arc::new(Self::default());
        let works = Arc::clone(&simulator);
        thread::Builder::new().name("simulator".to_owned()).spawn(move || works.work())?;
        Ok(simulator)
    }

    /// Asks, and waits for the answer. If it is dropped before, the run stops.
    pub async fn ask(&self, command: Vec<String>) -> Reply {
        let (reply, answer) = oneshot::channel();
        let waits = Waits(Interruption::default());
        {
            let mut desk = self.desk();
            if let Some(known) = desk.recall(&command) {
                return Ok(known);
            }
            // What has been waiting longest gets no answer.
            if desk.waiting.len() >= WAITING {
                desk.waiting.pop_front();
            }
            desk.waiting.push_back(Piece { command, stop: waits.0.clone(), reply });
        }
        self.called.notify_one();
        answer.await.unwrap_or_else(|_| Err("too many questions at once: ask again".to_owned()))
    }

    fn desk(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) {
        let mut memory = Memory::default();
        loop {
            let Piece { command, stop, reply } = self.next();
            if reply.is_closed() {
                continue;
            }
            let found = catch_unwind(AssertUnwindSafe(|| answer(&command, &stop, &mut memory)));
            let found = match found {
                Ok(found) => found.map(Arc::new).map_err(|failure: Failure| failure.told()),
                Err(_) => {
                    Err("the program has a fault: please report the state with what its terminal shows".to_owned())
                }
            };
            // Pages are large.
            let small = !stop.asked() && !command.iter().any(|word| word == "--report");
            if let (Ok(found), true) = (&found, small) {
                self.desk().keep(command, Arc::clone(found));
            }
            // Nobody may wait any more.
            let _ = reply.send(found);
        }
    }

    fn next(&self) -> Piece {
        let mut desk = self.desk();
        loop {
            if let Some(piece) = desk.waiting.pop_front() {
                return piece;
            }
            desk = self.called.wait(desk).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Desk {
    fn keep(&mut self, command: Vec<String>, answer: Arc<Answer>) {
        if self.known.len() >= REMEMBERED {
            self.known.pop_front();
        }
        self.known.push_back((command, answer));
    }

    /// A known answer, which becomes the latest.
    fn recall(&mut self, command: &[String]) -> Option<Arc<Answer>> {
        let place = self.known.iter().position(|(known, _)| known == command)?;
        let known = self.known.remove(place)?;
        let answer = Arc::clone(&known.1);
        self.known.push_back(known);
        Some(answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        future::Future,
        pin::pin,
        task::{Context, Poll, Waker},
        time::{Duration, Instant},
    };

    fn run(more: &str) -> Vec<String> {
        format!("sealsim run h100-nvl-tdx --data none --what-if 0 {more}").split(' ').map(str::to_owned).collect()
    }

    fn block_on<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
    }

    #[test]
    fn a_question_is_answered_once_and_failures_have_words() {
        let simulator = Simulator::begin().unwrap();
        let ask = |copy| block_on(simulator.ask(run(copy))).unwrap();
        let (first, again) = (ask("--copy h2d:4KiB"), ask("--copy h2d:4KiB"));
        assert!(Arc::ptr_eq(&first, &again) && first.text.contains("\"gb_per_s\""));
        assert!(!Arc::ptr_eq(&first, &ask("--copy h2d:8KiB")));
        let wrong = run("--copy h2d:4KiB --set link.lames=1");
        assert!(block_on(simulator.ask(wrong)).unwrap_err().contains("lames"));
    }

    #[test]
    fn what_nobody_waits_for_does_not_keep_others_waiting() {
        let simulator = Simulator::begin().unwrap();
        let begun = Instant::now();
        for size in ["1024MiB", "1023MiB", "1022MiB"] {
            let mut long = pin!(simulator.ask(run(&format!("--copy h2d:{size}"))));
            assert!(matches!(long.as_mut().poll(&mut Context::from_waker(Waker::noop())), Poll::Pending));
        }
        block_on(simulator.ask(run("--copy h2d:4KiB"))).unwrap();
        // Without a stop, 3 GiB take minutes in a build for tests.
        assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    }

    #[test]
    fn answers_are_remembered_up_to_a_number() {
        let mut desk = Desk::default();
        let answer = Arc::new(Answer { text: String::new(), drawing: None, toml: None });
        for bytes in 1..=2 * REMEMBERED {
            desk.keep(run(&format!("--copy h2d:{bytes}")), Arc::clone(&answer));
        }
        assert_eq!(desk.known.len(), REMEMBERED);
        let oldest = desk.known[0].0.clone();
        assert!(desk.recall(&oldest).is_some());
        assert!(desk.known.len() == REMEMBERED && desk.known.back().unwrap().0 == oldest);
    }
}
