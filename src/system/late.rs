//! The GPU port and the PCEs that read host memory, where they [take their time](crate::gpu::pce::Pce::take_time).
//!
//! Each of them does at once what it was to do at many edges. What one does at an edge the other must see at its edges behind that one, and
//! not before: so they are run in turns up to now, whenever one of them runs, and before device memory takes what the PCEs have written.
//!
//! | who runs | up to |
//! | --- | --- |
//! | the port | the next edge of a PCE, or the first at which it hands completions on or takes what a PCE has found no room for |
//! | a PCE | the next arrival on the link, and the edge at which it ticks for new work |
//!
//! A PCE may so run ahead of what the port sends. That matters only to one that finds no room: it stops at that edge, until the port has come so
//! far or has taken a TLP.

use super::machine::{FIRST_PCE, GPU_PORT, System};
use crate::{
    sim::{Clock, Now, UnitId, Wake},
    units::Femtos,
};

/// The PCEs that may be late.
pub(super) struct LateReaders {
    clock: Clock,
    /// How late they may be.
    patience: Femtos,
    /// By PCE: when it has something to do by itself while it is late.
    due: Vec<Turn>,
    /// By PCE: the last edge that it has run at while it was late.
    looked: Vec<u64>,
}

/// When a late PCE is to run.
#[derive(Debug, Clone, Copy)]
struct Turn {
    place: usize,
    /// The edge of its clock, and the date of that.
    cycle: u64,
    date: Femtos,
}

impl LateReaders {
    /// So many PCEs on `clock`.
    pub fn new(count: usize, clock: Clock, patience: Femtos) -> Self {
        let never = |place| Turn { place, cycle: Wake::NEVER, date: Femtos::MAX };
        Self { clock, patience, due: (0..count).map(never).collect(), looked: vec![0; count] }
    }

    /// A turn at an edge.
    #[inline]
    fn turn(&self, place: usize, cycle: u64) -> Turn {
        let date = if cycle == Wake::NEVER { Femtos::MAX } else { self.clock.edge(cycle) };
        Turn { place, cycle, date }
    }

    /// From now on a PCE has something to do by itself at an edge.
    #[inline]
    fn set_due(&mut self, place: usize, cycle: u64) {
        self.due[place] = self.turn(place, cycle);
    }
}

impl System {
    /// Runs those that are late up to a date, the port only up to what lies before it. A PCE that runs now hears of it from the kernel.
    #[inline(always)]
    pub(super) fn run_late(&mut self, until: Femtos) {
        if !self.late_readers.due.is_empty() {
            self.run_in_turns(until);
        }
    }

    fn run_in_turns(&mut self, until: Femtos) {
        let mut next = self.next_reader();
        loop {
            let paused = self.work_off(next.date.min(until));
            if let Some(date) = paused {
                self.note_room(date);
                next = self.next_reader();
            }
            let arrival = self.channels.h2d.front_date().unwrap_or(Femtos::MAX);
            // One that has found no room runs when it is made, or when the port has come so far.
            let waits =
                paused.is_some_and(|date| date < next.date) && self.channels.gpu_send[next.place].sender_waits();
            if next.date <= until && next.date <= arrival && !waits {
                next = self.run_reader(next, until.min(arrival));
            } else if paused.is_none() {
                return;
            }
        }
    }

    /// Sees to it that those that are late run in time for what they are to do by themselves.
    #[inline(always)]
    pub(super) fn announce(&mut self) {
        if !self.late_readers.due.is_empty() {
            self.announce_next();
        }
    }

    fn announce_next(&mut self) {
        let Turn { date, .. } = self.next_reader();
        if date != Femtos::MAX {
            self.wakes.touch_at(GPU_PORT, Femtos(date.0.saturating_add(self.late_readers.patience.0)));
        }
    }

    /// Notes what a PCE that has just ticked will do by itself if it is late.
    #[inline]
    pub(super) fn note_reader(&mut self, place: usize, was_late: bool, now: Femtos) {
        if place >= self.late_readers.due.len() {
            return;
        }
        let due = self.pces[place].late_due();
        self.late_readers.set_due(place, due.unwrap_or(Wake::NEVER));
        if was_late && due.is_none() {
            // What arrives at this very instant it sees at its next edge, even if it was handed on before it has ticked.
            if !self.channels.gpu_receive[place].is_vacant() {
                self.wakes.touch(reader(place));
            }
            while self.work_off(Femtos(now.0 + 1)).is_some() {}
        }
    }

    /// The late PCE that is to run first.
    #[inline]
    fn next_reader(&self) -> Turn {
        let mut next = self.turn_of(0);
        for place in 1..self.late_readers.due.len() {
            let other = self.turn_of(place);
            if other.date < next.date {
                next = other;
            }
        }
        next
    }

    /// When a PCE is to run if it is late.
    #[inline]
    fn turn_of(&self, place: usize) -> Turn {
        let due = &self.late_readers.due[place];
        let turn = match self.channels.gpu_receive[place].front_date() {
            Some(pushed) if self.pces[place].late_due().is_some() => {
                let seen = self.late_readers.clock.first_after(pushed);
                if seen < due.cycle { self.late_readers.turn(place, seen) } else { *due }
            }
            _ => *due,
        };
        if turn.date <= self.work_shows(place) { turn } else { self.late_readers.turn(place, Wake::NEVER) }
    }

    /// The instant behind which a PCE ticks for new work. What that makes it send goes before what it asks for at that edge.
    #[inline]
    fn work_shows(&self, place: usize) -> Femtos {
        self.channels.work[place].front_date().unwrap_or(Femtos::MAX)
    }

    /// A PCE that has found no room sees at its next edge what the port has taken at `date`: at the one that it has stopped at if that lies behind.
    #[inline]
    fn note_room(&mut self, date: Femtos) {
        if self.wakes.any_touched() {
            self.look_for_room(date);
        }
    }

    #[cold]
    fn look_for_room(&mut self, date: Femtos) {
        for place in 0..self.late_readers.due.len() {
            if self.pces[place].late_due().is_some() && self.wakes.take_touch(reader(place)) {
                let late = &mut self.late_readers;
                let seen = late.clock.first_after(date).max(late.looked[place]);
                if seen < late.due[place].cycle {
                    late.set_due(place, seen);
                }
            }
        }
    }

    /// Runs a late PCE from its next edge on, up to a date before which nothing more arrives; gives the one that is next.
    fn run_reader(&mut self, Turn { place, cycle, date }: Turn, until: Femtos) -> Turn {
        let (now, until) = (Now { cycle, time: date }, until.min(self.work_shows(place)));
        let last = self.with_pce(place, now, |pce, ports| pce.run_late(now, until, ports));
        let due = self.pces[place].late_due().unwrap_or(Wake::NEVER);
        self.late_readers.set_due(place, due);
        self.late_readers.looked[place] = last.cycle;
        // It may have found no room at the very instant at which some was made.
        self.note_room(last.time);
        self.next_reader()
    }
}

const fn reader(place: usize) -> UnitId {
    UnitId(FIRST_PCE + place as u8)
}
