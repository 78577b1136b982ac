//! What the thread of the server and the simulation's have in common: the page's orders one way, the state of the run the other.

use super::{recording::RecordingState, snapshot::Snapshot};
use serde::Serialize;
use std::{
    sync::{
        Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};
use tokio::{sync::Notify, time::timeout};

/// So long a question waits for an answer of the run.
const GIVE_UP_AFTER: Duration = Duration::from_secs(2);
/// So often someone who waits looks whether the user wants the program to end.
const POLL_EVERY: Duration = Duration::from_millis(50);
/// So many orders wait for the run.
const ORDERS: usize = 1000;
/// A page that has not asked for so long is not there any more.
const ABSENT: Duration = Duration::from_secs(3);

crate::units::named! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Order {
        Pause = "pause",
        Go = "go",
        /// Go on until one more message is done.
        Step = "step",
        Record = "record",
        /// Serve no page any more.
        Close = "close",
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// It has not begun.
    Preparing,
    Running,
    /// It runs until one more message is done.
    Stepping,
    Paused,
    /// It has ended, and results are made of it.
    Reporting,
    Ended,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    Well,
    /// With what it says on standard error.
    Failed(String),
}

#[derive(Debug, Clone, Serialize)]
pub struct State {
    phase: Phase,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<String>,
    /// Whether the program stays until the page is closed.
    hold: bool,
    /// Whether the run has not answered for a while.
    late: bool,
    recording: RecordingState,
    snapshot: Option<Snapshot>,
}

/// What lies on the desk.
struct Papers {
    orders: Vec<Order>,
    state: State,
    /// How often the state was brought.
    brought: u64,
    asked: Option<Instant>,
    /// Whether the page knows that all is over.
    told: bool,
    closed: bool,
}

pub(in crate::cli) struct Desk {
    /// Whether there is something for the simulation to do.
    called: AtomicBool,
    papers: Mutex<Papers>,
    /// For the simulation's thread, which may block.
    changed: Condvar,
    /// For the server's, which must not.
    brought: Notify,
}

impl Desk {
    /// Of a run that is to begin, paused if so `hold` says.
    pub(in crate::cli) fn new(hold: bool) -> Self {
        let recording = RecordingState::None;
        let state = State { phase: Phase::Preparing, failure: None, hold, late: false, recording, snapshot: None };
        let orders = if hold { vec![Order::Pause] } else { Vec::new() };
        let papers = Papers { orders, state, brought: 0, asked: None, told: false, closed: false };
        Self {
            called: AtomicBool::new(hold),
            papers: Mutex::new(papers),
            changed: Condvar::new(),
            brought: Notify::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Papers> {
        self.papers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether somebody has called since this was last taken. It is all that a run pays while nobody does.
    pub fn called(&self) -> bool {
        self.called.load(Ordering::Relaxed)
    }

    pub fn take_orders(&self) -> Vec<Order> {
        let mut papers = self.lock();
        self.called.store(false, Ordering::Relaxed);
        std::mem::take(&mut papers.orders)
    }

    /// Brings what the page is to know.
    pub fn bring(&self, phase: Phase, recording: RecordingState, snapshot: Snapshot) {
        let mut papers = self.lock();
        papers.brought += 1;
        (papers.state.phase, papers.state.recording) = (phase, recording);
        papers.state.snapshot = Some(snapshot);
        self.brought.notify_waiters();
    }

    /// What became of a recording at the end of the run.
    pub fn tell_of_recording(&self, recording: RecordingState) {
        self.lock().state.recording = recording;
    }

    /// Waits a moment, as a run that stands still, unless somebody calls.
    pub fn wait_for_call(&self) {
        let papers = self.lock();
        drop(self.changed.wait_timeout_while(papers, POLL_EVERY, |_| !self.called()));
    }

    pub fn end(&self, ending: Ending) {
        let mut papers = self.lock();
        papers.brought += 1;
        papers.state.phase = Phase::Ended;
        papers.state.failure = match ending {
            Ending::Well => None,
            Ending::Failed(why) => Some(why),
        };
        self.brought.notify_waiters();
    }

    /// Waits until the page is closed, or the user wants the program to end.
    pub fn wait_until_closed(&self, interrupted: &dyn Fn() -> bool) {
        let mut papers = self.lock();
        while !papers.closed && !interrupted() {
            let waited = self.changed.wait_timeout(papers, POLL_EVERY);
            papers = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Waits until a page that is there knows that all is done, not longer than `most`.
    pub fn wait_until_told(&self, most: Duration, interrupted: &dyn Fn() -> bool) {
        let (begun, mut papers) = (Instant::now(), self.lock());
        let is_there = papers.asked.is_some_and(|asked| asked.elapsed() < ABSENT);
        while is_there && !papers.told && !papers.closed && begun.elapsed() < most && !interrupted() {
            let waited = self.changed.wait_timeout(papers, POLL_EVERY);
            papers = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Gives an order to the run. Where it has not taken many, as one that has ended does not, they are dropped.
    pub fn order(&self, order: Order) {
        let mut papers = self.lock();
        papers.closed |= order == Order::Close;
        if papers.orders.len() < ORDERS {
            papers.orders.push(order);
        }
        self.call();
        self.brought.notify_waiters();
    }

    fn call(&self) {
        self.called.store(true, Ordering::Relaxed);
        self.changed.notify_all();
    }

    /// Asks for the state of the run as it is now; for the last one that is known if the run does not answer.
    pub async fn ask(&self) -> State {
        let before = {
            let mut papers = self.lock();
            papers.asked = Some(Instant::now());
            if papers.answers() {
                self.call();
            }
            papers.brought
        };
        let answered = timeout(GIVE_UP_AFTER, self.answered(before)).await;
        State { late: answered.is_err(), ..self.lock().state.clone() }
    }

    /// Waits until more has been brought than this, or nothing more will be.
    async fn answered(&self, before: u64) {
        loop {
            // What is brought from here on wakes it.
            let brought = self.brought.notified();
            let waits = {
                let papers = self.lock();
                papers.brought == before && papers.answers()
            };
            if !waits {
                return;
            }
            brought.await;
        }
    }

    pub fn told(&self, state: &State) {
        if state.phase == Phase::Ended {
            self.lock().told = true;
            self.changed.notify_all();
        }
    }
}

impl Papers {
    /// Whether the run brings its state when it is called.
    const fn answers(&self) -> bool {
        self.state.phase.answers() && !self.closed
    }
}

impl Phase {
    /// Whether a run in this phase brings its state when it is called.
    const fn answers(self) -> bool {
        matches!(self, Self::Preparing | Self::Running | Self::Stepping | Self::Paused)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    fn ask(desk: &Desk) -> State {
        tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(desk.ask())
    }

    #[test]
    fn a_question_is_answered_by_the_run_and_orders_are_taken_once() {
        let desk = Desk::new(false);
        assert!(!desk.called());
        let state = thread::scope(|scope| {
            let asks = scope.spawn(|| ask(&desk));
            while !desk.called() {
                thread::yield_now();
            }
            assert!(desk.take_orders().is_empty());
            desk.bring(Phase::Running, RecordingState::None, Snapshot::default());
            asks.join().unwrap()
        });
        assert_eq!((state.phase, state.late, desk.called()), (Phase::Running, false, false));
        desk.order(Order::Step);
        desk.order(Order::Record);
        assert_eq!((desk.take_orders(), desk.take_orders()), (vec![Order::Step, Order::Record], vec![]));
    }

    #[test]
    fn one_that_is_held_begins_paused_and_stays_until_it_is_closed() {
        let desk = Desk::new(true);
        assert!(desk.called());
        assert_eq!(desk.take_orders(), [Order::Pause]);
        desk.end(Ending::Failed("deadlock".into()));
        let state = ask(&desk);
        assert_eq!((state.phase, state.failure.as_deref()), (Phase::Ended, Some("deadlock")));
        thread::scope(|scope| {
            let held = scope.spawn(|| desk.wait_until_closed(&|| false));
            desk.order(Order::Close);
            held.join().unwrap();
        });
        desk.wait_until_closed(&|| true);
    }

    #[test]
    fn nobody_waits_for_a_page_that_is_not_there() {
        let (desk, begun) = (Desk::new(false), Instant::now());
        desk.end(Ending::Well);
        desk.wait_until_told(Duration::from_secs(60), &|| false);
        assert!(begun.elapsed() < Duration::from_secs(30));
    }
}
