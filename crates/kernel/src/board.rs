//! What units, channels and the kernel exchange outside of the channels: who is to run, and the lines that concern the whole machine.

use super::{bits::Bits, wake::UnitId};
use crate::units::Femtos;
use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};

/// A fault after which the run cannot continue: where, and what.
type Fatal = (String, String);

/// The units whose ports have changed since the kernel last looked, and the machine's lines.
#[derive(Debug)]
pub(super) struct Board {
    next_edge: Bits,
    dated: Bits,
    /// By unit: the earliest date that was asked for.
    dates: Box<[Cell<Femtos>]>,
    defers_nothing: Cell<bool>,
    look: Cell<bool>,
    stop: Cell<bool>,
    /// Those whose work the run is, as far as they still work.
    workers: Cell<usize>,
    milestone: Cell<bool>,
    fatal: RefCell<Option<Fatal>>,
}

impl Default for Board {
    fn default() -> Self {
        Self {
            next_edge: Bits::below(Bits::MOST),
            dated: Bits::below(Bits::MOST),
            dates: vec![Cell::new(Femtos::MAX); Bits::MOST].into(),
            defers_nothing: Cell::default(),
            look: Cell::default(),
            stop: Cell::default(),
            workers: Cell::default(),
            milestone: Cell::default(),
            fatal: RefCell::default(),
        }
    }
}

impl Board {
    /// Asks that `unit` run at its first edge after now.
    #[inline(always)]
    pub fn touch(&self, UnitId(unit): UnitId) {
        self.next_edge.add(unit.into());
    }

    /// Asks that `unit` run at its first edge at or after `date`.
    #[inline(always)]
    pub fn touch_at(&self, UnitId(unit): UnitId, date: Femtos) {
        let asked = &self.dates[usize::from(unit)];
        if date < asked.get() {
            asked.set(date);
            self.dated.add(unit.into());
        }
    }

    /// Something is wrong: nothing is deferred any more, and all units look at what has come to them.
    pub fn defer_nothing(&self) {
        if !self.defers_nothing.replace(true) {
            self.look.set(true);
        }
    }

    #[inline]
    pub const fn defers_nothing(&self) -> bool {
        self.defers_nothing.get()
    }

    /// Whether all units are to look at what has come to them, asked once.
    pub fn take_look(&self) -> bool {
        self.look.take()
    }

    /// Takes a unit that is to run at its next edge.
    #[inline(always)]
    pub fn pop_next_edge(&self) -> Option<usize> {
        self.next_edge.pop()
    }

    /// Whether there are dated requests, or all units are to look.
    #[inline(always)]
    pub const fn any_dated(&self) -> bool {
        !self.dated.is_empty() || self.look.get()
    }

    /// Takes a unit with dated requests, and the earliest of their dates.
    #[inline(always)]
    pub fn pop_dated(&self) -> Option<(usize, Femtos)> {
        let unit = self.dated.pop()?;
        Some((unit, self.dates[unit].replace(Femtos::MAX)))
    }

    #[inline]
    pub const fn stopped(&self) -> bool {
        self.stop.get()
    }

    /// Whether a milestone has been reached, asked once.
    #[inline]
    pub fn take_milestone(&self) -> bool {
        self.milestone.get() && self.milestone.take()
    }

    /// The fault that ended the run, in words.
    pub fn fatal(&self) -> Option<String> {
        self.fatal.borrow().as_ref().map(|(_, what)| what.clone())
    }
}

/// The lines that concern the whole machine, as a unit holds them.
#[derive(Debug, Clone)]
pub struct Signals {
    pub(super) board: Rc<Board>,
    place: Rc<str>,
    /// Whether it still works, where it is one of those whose work the run is.
    working: Option<Rc<Cell<bool>>>,
}

impl Signals {
    pub(super) fn of(place: &str, board: Rc<Board>) -> Self {
        Self { board, place: place.into(), working: None }
    }

    /// Of one of those whose work the run is.
    pub(super) fn of_worker(place: &str, board: Rc<Board>) -> Self {
        board.workers.set(board.workers.get() + 1);
        Self { board, place: place.into(), working: Some(Rc::new(Cell::new(true))) }
    }

    /// All work is done: the run ends when all units have run that are due at this instant. If it is the work of [one of several](super::Netlist::worker),
    /// it ends when all of them have said so.
    pub fn stop(&self) {
        match &self.working {
            None => self.board.stop.set(true),
            Some(working) => {
                if working.replace(false) && self.board.workers.replace(self.board.workers.get() - 1) == 1 {
                    self.board.stop.set(true);
                }
            }
        }
    }

    /// Something has begun or come to its end that reports distinguish.
    pub fn milestone(&self) {
        self.board.milestone.set(true);
    }

    /// Something has been found after which the run cannot continue. Of several at one instant that of the first place in the alphabet is reported, so that
    /// it does not matter which unit runs first.
    pub fn fail(&self, what: &str) {
        let mut fatal = self.board.fatal.borrow_mut();
        if fatal.as_ref().is_none_or(|(other, _)| *self.place < **other) {
            *fatal = Some((self.place.to_string(), what.to_owned()));
        }
        self.board.stop.set(true);
    }

    /// Something is wrong, so that what changes nothing in a sound machine may change something: nothing is deferred any more, and all units look
    /// at what has come to them.
    pub fn defer_nothing(&self) {
        self.board.defer_nothing();
    }

    #[inline]
    pub fn defers_nothing(&self) -> bool {
        self.board.defers_nothing()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_failures_the_first_place_is_told_whichever_comes_first() {
        for places in [["a", "b"], ["b", "a"]] {
            let board = Rc::new(Board::default());
            for place in places {
                Signals::of(place, Rc::clone(&board)).fail(&format!("{place} broke"));
            }
            assert_eq!((board.fatal().as_deref(), board.stopped()), (Some("a broke"), true));
        }
    }

    #[test]
    fn the_run_ends_when_each_worker_has_stopped_or_somebody_else_does() {
        let board = Rc::new(Board::default());
        let workers = ["a", "b"].map(|place| Signals::of_worker(place, Rc::clone(&board)));
        for _ in 0..3 {
            workers[0].stop();
        }
        assert!(!board.stopped());
        workers[1].clone().stop();
        assert!(board.stopped());
        let board = Rc::new(Board::default());
        let _worker = Signals::of_worker("a", Rc::clone(&board));
        Signals::of("b", Rc::clone(&board)).stop();
        assert!(board.stopped());
    }

    #[test]
    fn the_earliest_date_of_a_unit_is_kept() {
        let board = Board::default();
        for date in [7, 3, 9] {
            board.touch_at(UnitId(70), Femtos(date));
        }
        assert_eq!((board.pop_dated(), board.pop_dated()), (Some((70, Femtos(3))), None));
        assert!(!board.any_dated());
    }
}
