//! Answers questions, each in a thread of its own, some at a time. What nobody waits for any more is stopped. One that takes long gives its turn to others; one that
//! does not come to an end is left alone.

use super::answer::{Answer, Memory, answer};
use crate::{
    cli::{Failure, run::Interruption},
    pool,
};
use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::Duration,
};
use tokio::{
    sync::{Semaphore, oneshot},
    time::timeout,
};

const REMEMBERED: usize = 48;
/// So long a question keeps others waiting.
const TURN: Duration = Duration::from_secs(30);
/// So long it is waited for, which is less than a connection lasts.
const GIVE_UP_AFTER: Duration = Duration::from_secs(100);
/// Threads in all, with those of questions that do not stop.
const MOST: usize = 16;

/// An answer, or the words of a failure.
pub type Reply = Result<Arc<Answer>, String>;

type Answers = fn(&[String], &Interruption, &Memory) -> Result<Answer, Failure>;

pub struct Simulator {
    answers: Answers,
    /// How long a turn is, and how long an answer is waited for.
    times: [Duration; 2],
    turns: Semaphore,
    /// Each thread has one more of it.
    at_work: Arc<()>,
    memory: Memory,
    known: Mutex<Remembered>,
}

/// The last answers, the latest at the back. A command has one answer, but for what the host's clock says.
#[derive(Default)]
struct Remembered(VecDeque<(Vec<String>, Arc<Answer>)>);

/// Stops a run when whoever waits for it goes.
#[derive(Default)]
pub struct Waits(pub Interruption);

impl Drop for Waits {
    fn drop(&mut self) {
        self.0.ask();
    }
}

impl Default for Simulator {
    fn default() -> Self {
        Self::with(answer, [TURN, GIVE_UP_AFTER])
    }
}

impl Simulator {
    fn with(answers: Answers, times: [Duration; 2]) -> Self {
        let turns = Semaphore::new(pool::threads().clamp(2, 4));
        let (memory, known) = (Memory::default(), Mutex::default());
        Self { answers, times, turns, at_work: Arc::default(), memory, known }
    }

    /// Asks, and waits for the answer. If it is dropped before, the run stops.
    pub async fn ask(self: &Arc<Self>, command: Vec<String>) -> Reply {
        if let Some(known) = self.known(|known| known.recall(&command)) {
            return Ok(known);
        }
        let turn = self.turns.acquire().await;
        let waits = Waits::default();
        let mut answer = self.begin(command, waits.0.clone())?;
        let [turn_lasts, patience] = self.times;
        let mut found = timeout(turn_lasts, &mut answer).await;
        drop(turn);
        if found.is_err() {
            found = timeout(patience.saturating_sub(turn_lasts), answer).await;
        }
        let found =
            found.map_err(|_| format!("no answer within {patience:?}: it is given up; the command line gives it"))?;
        found.unwrap_or_else(|_| Err("the program has a fault: please report what its terminal shows".to_owned()))
    }

    /// Begins to answer, in a thread that goes when it has.
    fn begin(self: &Arc<Self>, command: Vec<String>, stop: Interruption) -> Result<oneshot::Receiver<Reply>, String> {
        let at_work = self.at_work();
        let (reply, answer) = oneshot::channel();
        let (simulator, one) = (Arc::clone(self), Arc::clone(&self.at_work));
        let work = move || {
            let _one = one;
            let found = (simulator.answers)(&command, &stop, &simulator.memory);
            let found = found.map(Arc::new).map_err(|failure| failure.told());
            // Pages are large.
            let small = !stop.asked() && !command.iter().any(|word| word == "--report");
            if let (Ok(found), true) = (&found, small) {
                simulator.known(|known| known.keep(command, Arc::clone(found)));
            }
            // Nobody may wait any more.
            let _ = reply.send(found);
        };
        if at_work < MOST && thread::Builder::new().name("question".to_owned()).spawn(work).is_ok() {
            return Ok(answer);
        }
        Err(format!("{at_work} questions do not come to an end, and no more can begin: start `sealsim lab` again"))
    }

    fn at_work(&self) -> usize {
        Arc::strong_count(&self.at_work) - 1
    }

    fn known<T>(&self, ask: impl FnOnce(&mut Remembered) -> T) -> T {
        ask(&mut self.known.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Remembered {
    fn keep(&mut self, command: Vec<String>, answer: Arc<Answer>) {
        if self.0.len() >= REMEMBERED {
            self.0.pop_front();
        }
        self.0.push_back((command, answer));
    }

    /// A known answer, which becomes the latest.
    fn recall(&mut self, command: &[String]) -> Option<Arc<Answer>> {
        let place = self.0.iter().position(|(known, _)| known == command)?;
        let known = self.0.remove(place)?;
        let answer = Arc::clone(&known.1);
        self.0.push_back(known);
        Some(answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{future::Future, io::Read, time::Instant};

    fn run(more: &str) -> Vec<String> {
        format!("sealsim run h100-nvl-tdx --data none --what-if 0 {more}").split(' ').map(str::to_owned).collect()
    }

    fn block_on<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(future)
    }

    #[test]
    fn a_question_is_answered_once_and_failures_have_words() {
        let simulator = Arc::new(Simulator::default());
        let ask = |copy| block_on(simulator.ask(run(copy))).unwrap();
        let (first, again) = (ask("--copy h2d:4KiB"), ask("--copy h2d:4KiB"));
        assert!(Arc::ptr_eq(&first, &again) && first.text.contains("\"gb_per_s\""));
        assert!(!Arc::ptr_eq(&first, &ask("--copy h2d:8KiB")));
        let wrong = run("--copy h2d:4KiB --set link.lames=1");
        assert!(block_on(simulator.ask(wrong)).unwrap_err().contains("lames"));
    }

    #[test]
    fn what_nobody_waits_for_does_not_keep_others_waiting() {
        let simulator = Arc::new(Simulator::default());
        let begun = Instant::now();
        block_on(async {
            for size in ["1024MiB", "1023MiB", "1022MiB"] {
                let long = simulator.ask(run(&format!("--copy h2d:{size}")));
                assert!(timeout(Duration::from_millis(10), long).await.is_err());
            }
            simulator.ask(run("--copy h2d:4KiB")).await.unwrap();
        });
        // Without a stop, 3 GiB take minutes in a build for tests.
        while simulator.at_work() > 0 {
            assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Some work that never ends, and asks nobody.
    fn stuck(command: &[String], _: &Interruption, _: &Memory) -> Result<Answer, Failure> {
        match command[0].as_str() {
            "reads" => drop(std::io::pipe().map(|(mut reader, _writer)| reader.read(&mut [0]))),
            "sleeps" => thread::sleep(Duration::MAX),
            "breaks" => panic!("as asked for"),
            _ => {}
        }
        Ok(Answer { text: String::new(), drawing: None, toml: None })
    }

    #[test]
    fn what_does_not_end_keeps_nobody_waiting_and_is_given_up_with_a_sentence() {
        let simulator = Arc::new(Simulator::with(stuck, [50, 400].map(Duration::from_millis)));
        let begin = |word: &str| {
            let (simulator, word) = (Arc::clone(&simulator), word.to_owned());
            thread::spawn(move || block_on(simulator.ask(vec![word])).map(|_| ()))
        };
        let waits = ["reads", "sleeps", "sleeps", "reads", "sleeps"].map(begin);
        let ask = |word| begin(word).join().unwrap();
        assert_eq!(ask("answers"), Ok(()));
        assert!(ask("breaks").unwrap_err().contains("has a fault"));
        assert!(waits.into_iter().all(|wait| wait.join().unwrap().unwrap_err().contains("given up")));
        let more: Vec<_> = (simulator.at_work()..MOST).map(|_| begin("reads")).collect();
        assert!(more.into_iter().all(|wait| wait.join().unwrap().unwrap_err().contains("given up")));
        assert_eq!(simulator.at_work(), MOST);
        assert!(ask("answers again").unwrap_err().contains("start `sealsim lab` again"));
        assert_eq!(ask("answers"), Ok(()), "it is known");
    }

    #[test]
    fn a_curve_is_that_of_a_comparison_of_its_own_whatever_was_asked_before() {
        let memory = Memory::default();
        let curve = |reads| {
            let words = format!(
                "sealsim compare h100-nvl-tdx --size 4KiB,64KiB --design h100-cc --design direct --set copy_engine.outstanding_reads={reads}"
            );
            words.split(' ').map(str::to_owned).collect::<Vec<_>>()
        };
        for reads in [128, 64, 128, 16, 2, 3] {
            let ask = |memory: &Memory| answer(&curve(reads), &Interruption::default(), memory).unwrap().text;
            assert_eq!(ask(&memory), ask(&Memory::default()), "{reads}");
        }
        // Two designs and two that they are compared with, two sizes, two directions, five machines.
        assert_eq!(memory.rows().kept().0, 5 * 16);
    }

    #[test]
    fn answers_are_remembered_up_to_a_number() {
        let mut known = Remembered::default();
        let answer = Arc::new(Answer { text: String::new(), drawing: None, toml: None });
        for bytes in 1..=2 * REMEMBERED {
            known.keep(run(&format!("--copy h2d:{bytes}")), Arc::clone(&answer));
        }
        assert_eq!(known.0.len(), REMEMBERED);
        let oldest = known.0[0].0.clone();
        assert!(known.recall(&oldest).is_some());
        assert!(known.0.len() == REMEMBERED && known.0.back().unwrap().0 == oldest);
    }
}
