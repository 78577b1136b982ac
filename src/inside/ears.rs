//! Several listeners as one.

use crate::{
    sim::{Ear, Listener, Passage, Place, Places, Spell},
    units::Femtos,
};
use std::{cell::RefCell, rc::Rc};

/// Listeners, each of which hears what it wants to hear.
#[derive(Default)]
pub struct Ears {
    ears: Vec<Hearer>,
}

/// One of them, and what it hears, by number.
struct Hearer {
    ear: Ear,
    channels: Vec<bool>,
    accounts: Vec<bool>,
    gauges: Vec<bool>,
}

impl Ears {
    /// Adds one.
    pub fn add(&mut self, ear: Ear) {
        self.ears.push(Hearer { ear, channels: Vec::new(), accounts: Vec::new(), gauges: Vec::new() });
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.ears.is_empty()
    }

    /// As a netlist holds them.
    #[must_use]
    pub fn ear(self) -> Ear {
        Rc::new(RefCell::new(self))
    }
}

impl Hearer {
    fn begin(&mut self, places: &Places) {
        self.ear.borrow_mut().begin(places);
        let ear = self.ear.borrow();
        self.channels = places.channels.iter().map(|one| ear.hears(Place::Channel(one))).collect();
        self.accounts = places.accounts.iter().map(|one| ear.hears(Place::Account(one))).collect();
        self.gauges = places.gauges.iter().map(|(unit, name)| ear.hears(Place::Gauge(unit, name))).collect();
    }
}

fn at(heard: &[bool], place: usize) -> bool {
    heard.get(place).copied().unwrap_or(false)
}

impl Listener for Ears {
    fn begin(&mut self, places: &Places) {
        self.ears.iter_mut().for_each(|one| one.begin(places));
    }

    fn hears(&self, place: Place<'_>) -> bool {
        self.ears.iter().any(|one| one.ear.borrow().hears(place))
    }

    fn passed(&mut self, passage: Passage<'_>) {
        let hearers = self.ears.iter().filter(|one| at(&one.channels, passage.channel));
        hearers.for_each(|one| one.ear.borrow_mut().passed(passage));
    }

    fn taken(&mut self, channel: usize, time: Femtos) {
        let hearers = self.ears.iter().filter(|one| at(&one.channels, channel));
        hearers.for_each(|one| one.ear.borrow_mut().taken(channel, time));
    }

    fn spell(&mut self, spell: Spell) {
        let hearers = self.ears.iter().filter(|one| at(&one.accounts, spell.account));
        hearers.for_each(|one| one.ear.borrow_mut().spell(spell));
    }

    fn level(&mut self, gauge: usize, time: Femtos, value: u64) {
        let hearers = self.ears.iter().filter(|one| at(&one.gauges, gauge));
        hearers.for_each(|one| one.ear.borrow_mut().level(gauge, time, value));
    }
}
