//! Looks at the run for the page, and carries out its orders.

use super::{
    desk::{Desk, Order, Phase},
    recording::Recording,
    snapshot::{CopyState, Names, Snapshot, Total, shown},
};
use crate::{
    sim::{Control, Observer, Still},
    system::Onlooker,
    units::Femtos,
    workload::Arrival,
};
use std::{
    cell::RefCell,
    time::{Duration, Instant},
};

pub struct Subject<'a> {
    /// Its copies before they begin.
    pub copies: Vec<CopyState>,
    /// What of their bytes arrives, if they are carried.
    pub arrivals: Option<&'a [Arrival]>,
    /// Whoever else is asked whether to go on.
    pub observer: &'a mut dyn FnMut(Femtos) -> Control,
}

pub struct Watcher<'a> {
    desk: &'a Desk,
    recording: &'a RefCell<Recording>,
    subject: Subject<'a>,
    names: Option<Names>,
    phase: Phase,
    /// Messages that are to be done before it pauses.
    until: u64,
    stopwatch: Stopwatch,
}

/// Counts the time in which the run does not stand still.
struct Stopwatch {
    since: Instant,
    paused: Duration,
}

impl<'a> Watcher<'a> {
    pub fn new(desk: &'a Desk, recording: &'a RefCell<Recording>, subject: Subject<'a>) -> Self {
        let stopwatch = Stopwatch { since: Instant::now(), paused: Duration::ZERO };
        Self { desk, recording, subject, names: None, phase: Phase::Running, until: 0, stopwatch }
    }

    fn obey(&mut self, orders: Vec<Order>, still: &mut Still<'_, '_>) {
        for order in orders {
            match order {
                Order::Pause => self.phase = Phase::Paused,
                Order::Go | Order::Close => self.phase = Phase::Running,
                Order::Step => {
                    self.phase = Phase::Stepping;
                    self.until = still.netlist().work_done() + 1;
                }
                Order::Record => self.recording.borrow_mut().begin(still),
            }
        }
    }

    fn names(&mut self, still: &Still<'_, '_>) -> &Names {
        self.names.get_or_insert_with(|| Names::of(still.netlist()))
    }

    /// Brings to the desk what there is to see.
    fn bring(&mut self, still: &mut Still<'_, '_>) {
        let (accounts, host_seconds) = (still.accounts(), self.stopwatch.seconds());
        self.count_arrivals();
        let (total, copies) = (Total::of(&self.subject.copies), shown(&self.subject.copies));
        let (names, netlist) = (self.names(still), still.netlist());
        let snapshot = Snapshot {
            time_ps: still.time().picos(),
            host_seconds,
            messages_done: netlist.work_done(),
            total,
            copies,
            queues: names.queues(netlist),
            units: names.units(&accounts),
            gauges: names.gauges(netlist),
        };
        self.desk.bring(self.phase, self.recording.borrow().state(), snapshot);
    }

    fn count_arrivals(&mut self) {
        for (copy, arrival) in self.subject.copies.iter_mut().zip(self.subject.arrivals.unwrap_or_default()) {
            copy.arrived = Some(arrival.bytes());
        }
    }

    fn wait(&mut self) {
        let begun = Instant::now();
        self.desk.wait_for_call();
        self.stopwatch.paused += begun.elapsed();
    }
}

impl Stopwatch {
    fn seconds(&self) -> f64 {
        self.since.elapsed().saturating_sub(self.paused).as_secs_f64()
    }
}

impl Observer for Watcher<'_> {
    fn at(&mut self, time: Femtos) -> Control {
        match (self.subject.observer)(time) {
            Control::Continue if self.desk.called() || self.phase != Phase::Running => Control::Look,
            control => control,
        }
    }

    fn look(&mut self, still: &mut Still<'_, '_>) -> Control {
        loop {
            if self.phase == Phase::Stepping && still.netlist().work_done() >= self.until {
                self.phase = Phase::Paused;
            }
            if self.desk.called() {
                let orders = self.desk.take_orders();
                self.obey(orders, still);
                self.bring(still);
            }
            match self.phase {
                Phase::Paused => self.wait(),
                Phase::Stepping => return Control::Look,
                _ => return Control::Continue,
            }
            if (self.subject.observer)(still.time()) == Control::Stop {
                return Control::Stop;
            }
        }
    }

    fn ended(&mut self, still: &mut Still<'_, '_>) {
        self.phase = Phase::Reporting;
        self.bring(still);
    }
}

impl Onlooker for Watcher<'_> {
    fn copy_begun(&mut self, copy: usize, at: Femtos) {
        if let Some(copy) = self.subject.copies.get_mut(copy) {
            copy.start_ps = Some(at.picos());
        }
    }

    fn copy_ended(&mut self, copy: usize, at: Femtos) {
        if let Some(copy) = self.subject.copies.get_mut(copy) {
            copy.end_ps = Some(at.picos());
        }
    }
}
