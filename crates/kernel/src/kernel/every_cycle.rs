//! The reference kernel: every unit at every edge of its clock. Nobody's [`Wake`](super::Wake) has a say in when it runs; it only says whether work is
//! left, so that a deadlock ends.

use super::{Driver, Femtos, Now, Observer, SimulationError};
use crate::Clock;

struct Domain {
    clock: Clock,
    /// Its next edge, and the date of that.
    cycle: u64,
    date: Femtos,
    units: Vec<usize>,
}

struct Domains(Vec<Domain>);

impl Domains {
    fn of(clocks: impl Iterator<Item = Clock>) -> Self {
        let mut domains: Vec<Domain> = Vec::new();
        for (unit, clock) in clocks.enumerate() {
            match domains.iter_mut().find(|domain| domain.clock == clock) {
                Some(domain) => domain.units.push(unit),
                None => domains.push(Domain { clock, cycle: 0, date: clock.edge(0), units: vec![unit] }),
            }
        }
        Self(domains)
    }

    #[inline]
    fn earliest(&self) -> Femtos {
        self.0.iter().map(|domain| domain.date).fold(Femtos::MAX, Femtos::min)
    }
}

impl Driver<'_> {
    pub(super) fn every_cycle(&mut self, observer: &mut dyn Observer) -> Result<Femtos, SimulationError> {
        let mut end = None;
        let mut domains = Domains::of(self.units.iter().map(|unit| unit.clock));
        loop {
            let at = domains.earliest();
            if at == Femtos::MAX {
                return Err(SimulationError::TimeOverflow);
            }
            match self.random {
                None => self.tick_in_order(&mut domains, at),
                Some(_) => self.tick_shuffled(&mut domains, at),
            }
            self.wake_all();
            if self.board.take_milestone() {
                observer.milestone(self.netlist, self.accounts_at(at));
            }
            if self.board.stopped() {
                let end = self.end(at, &mut end, observer)?;
                if domains.earliest() > end {
                    return Ok(end);
                }
            } else if self.foreground == 0 {
                return Err(self.deadlock(at));
            }
            self.observe(at, observer)?;
        }
    }

    #[inline]
    fn tick_at(&mut self, unit: usize, cycle: u64, at: Femtos) {
        let wake = self.netlist.tick(unit, Now { cycle, time: at });
        self.note(unit, cycle, &wake);
        // One that is still to run at this instant says itself what it will do.
        while let Some((unit, _)) = self.board.pop_dated() {
            self.in_foreground(unit);
        }
    }

    /// Ticks all units that have an edge at an instant. The next edges are those behind it.
    #[inline]
    fn tick_in_order(&mut self, domains: &mut Domains, at: Femtos) {
        for domain in domains.0.iter_mut().filter(|domain| domain.date == at) {
            for &unit in &domain.units {
                self.tick_at(unit, domain.cycle, at);
            }
            domain.cycle += 1;
            domain.date = domain.clock.edge(domain.cycle);
        }
    }

    /// The same in any order.
    fn tick_shuffled(&mut self, domains: &mut Domains, at: Femtos) {
        let (mut due, mut cycles) = (Vec::new(), Vec::new());
        for domain in domains.0.iter_mut().filter(|domain| domain.date == at) {
            due.extend_from_slice(&domain.units);
            cycles.resize(due.len(), domain.cycle);
            domain.cycle += 1;
            domain.date = domain.clock.edge(domain.cycle);
        }
        let mut left: Vec<_> = (0..due.len()).collect();
        while !left.is_empty() {
            let place = self.any_of(&left);
            left.retain(|&other| other != place);
            self.tick_at(due[place], cycles[place], at);
        }
    }

    /// Notes whose ports have changed at an instant, and who listens.
    #[inline]
    fn wake_all(&mut self) {
        while let Some(unit) = self.board.pop_next_edge() {
            if self.units[unit].listens {
                self.in_foreground(unit);
            }
        }
    }
}
