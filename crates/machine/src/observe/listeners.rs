//! Several listeners as one.

use crate::{
    sim::{ChannelTransfer, Listener, Place, Places, SharedListener, Spell},
    units::Femtos,
};
use std::{any::Any, cell::RefCell, rc::Rc};

#[derive(Default)]
pub struct Listeners {
    listeners: Vec<Hearer>,
}

struct Hearer {
    listener: SharedListener,
    channels: Vec<bool>,
    accounts: Vec<bool>,
    gauges: Vec<bool>,
}

impl Listeners {
    pub fn add(&mut self, listener: SharedListener) {
        self.listeners.push(Hearer { listener, channels: Vec::new(), accounts: Vec::new(), gauges: Vec::new() });
    }

    pub const fn is_empty(&self) -> bool {
        self.listeners.is_empty()
    }

    /// As a netlist holds them.
    pub fn listener(self) -> SharedListener {
        Rc::new(RefCell::new(self))
    }
}

impl Hearer {
    fn begin(&mut self, places: &Places) {
        self.listener.borrow_mut().begin(places);
        let listener = self.listener.borrow();
        self.channels = places.channels.iter().map(|one| listener.hears(Place::Channel(one))).collect();
        self.accounts = places.accounts.iter().map(|one| listener.hears(Place::Account(one))).collect();
        self.gauges = places.gauges.iter().map(|(unit, name)| listener.hears(Place::Gauge(unit, name))).collect();
    }
}

fn at(heard: &[bool], place: usize) -> bool {
    heard.get(place).copied().unwrap_or(false)
}

impl Listener for Listeners {
    fn begin(&mut self, places: &Places) {
        self.listeners.iter_mut().for_each(|one| one.begin(places));
    }

    fn hears(&self, place: Place<'_>) -> bool {
        self.listeners.iter().any(|one| one.listener.borrow().hears(place))
    }

    fn passed(&mut self, transfer: ChannelTransfer<'_>) {
        let hearers = self.listeners.iter().filter(|one| at(&one.channels, transfer.channel));
        hearers.for_each(|one| one.listener.borrow_mut().passed(transfer));
    }

    fn taken(&mut self, channel: usize, time: Femtos) {
        let hearers = self.listeners.iter().filter(|one| at(&one.channels, channel));
        hearers.for_each(|one| one.listener.borrow_mut().taken(channel, time));
    }

    fn spell(&mut self, spell: Spell) {
        let hearers = self.listeners.iter().filter(|one| at(&one.accounts, spell.account));
        hearers.for_each(|one| one.listener.borrow_mut().spell(spell));
    }

    fn entered(&mut self, account: usize, cycle: u64, input: &dyn Any) {
        let hearers = self.listeners.iter().filter(|one| at(&one.accounts, account));
        hearers.for_each(|one| one.listener.borrow_mut().entered(account, cycle, input));
    }

    fn level(&mut self, gauge: usize, time: Femtos, value: u64) {
        let hearers = self.listeners.iter().filter(|one| at(&one.gauges, gauge));
        hearers.for_each(|one| one.listener.borrow_mut().level(gauge, time, value));
    }
}
