//! The reference kernel: every unit at every edge of its clock. Nobody's [`Wake`](super::Wake) has a say in when it runs; it only tells whether work is
//! left, so that a deadlock ends.

use super::{Control, Driver, Femtos, Machine, Now, SimulationError, UnitId};
use crate::sim::Clock;

/// The units of one clock.
struct Domain {
    clock: Clock,
    /// Its next edge, and the date of that.
    cycle: u64,
    date: Femtos,
    /// As a bit mask by number.
    units: u64,
}

/// The clocks of a machine.
struct Domains(Vec<Domain>);

impl Domains {
    fn of(clocks: impl Iterator<Item = Clock>) -> Self {
        let mut domains: Vec<Domain> = Vec::new();
        for (unit, clock) in clocks.enumerate() {
            let units = 1 << unit;
            match domains.iter_mut().find(|domain| domain.clock == clock) {
                Some(domain) => domain.units |= units,
                None => domains.push(Domain { clock, cycle: 0, date: clock.edge(0), units }),
            }
        }
        Self(domains)
    }

    /// The earliest edge of all.
    #[inline]
    fn earliest(&self) -> Femtos {
        self.0.iter().map(|domain| domain.date).fold(Femtos::MAX, Femtos::min)
    }

    /// Notes at the units that have an edge `at` this date which it is; gives them, as a bit mask. The next edges are those behind it.
    #[inline]
    fn pass(&mut self, at: Femtos, cycles: &mut [u64]) -> u64 {
        let mut due = 0;
        for domain in self.0.iter_mut().filter(|domain| domain.date == at) {
            due |= domain.units;
            let mut units = domain.units;
            while units != 0 {
                cycles[units.trailing_zeros() as usize] = domain.cycle;
                units &= units - 1;
            }
            domain.cycle += 1;
            domain.date = domain.clock.edge(domain.cycle);
        }
        due
    }
}

impl<M: Machine> Driver<'_, M> {
    pub(super) fn every_cycle(
        &mut self,
        observer: &mut dyn FnMut(Femtos) -> Control,
    ) -> Result<Femtos, SimulationError> {
        let mut domains = Domains::of(self.units.iter().map(|unit| unit.clock));
        let mut cycles = vec![0; self.units.len()];
        loop {
            let at = domains.earliest();
            if at == Femtos::MAX {
                return Err(SimulationError::TimeOverflow);
            }
            let due = domains.pass(at, &mut cycles);
            self.tick_all(due, at, &cycles);
            if self.machine.milestone() {
                let accounts = self.accounts_at(at);
                self.machine.keep(accounts);
            }
            if self.machine.finished() {
                return self.ended(at);
            }
            if self.foreground == 0 {
                return Err(self.deadlock(at));
            }
            self.observe(at, observer)?;
        }
    }

    /// Ticks the units that are due at an instant.
    #[inline]
    fn tick_all(&mut self, mut due: u64, at: Femtos, cycles: &[u64]) {
        let mut woken = 0;
        while due != 0 {
            let unit = if self.random.is_some() { self.any_of(due) } else { due.trailing_zeros() as usize };
            due &= !(1 << unit);
            let now = Now { cycle: cycles[unit], time: at };
            let wake = self.machine.tick(UnitId(unit as u8), now);
            self.note(unit, now.cycle, &wake);
            let wakes = self.machine.wakes();
            woken |= wakes.take_next_edge();
            if wakes.any_dated() {
                // One that is still to run at this instant sees the wire itself.
                let foreground = &mut self.foreground;
                wakes.take_dated(|UnitId(unit), _| *foreground |= (1 << unit) & !due);
            }
        }
        self.foreground |= woken & self.listens;
    }
}
