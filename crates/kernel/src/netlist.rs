//! A machine as data: units, the channels between their ports, and clocks.
//!
//! Whoever builds a machine makes its channels, gives their ends to units, and adds these. Kernels, fault points, probes, digests, accounts and reports
//! find everything here.

use super::{
    activity::Account,
    board::{Board, Signals},
    channel::{Channel, Side},
    clock::{Clock, Now},
    error_log::{Signalled, UnitError},
    fault::{Armed, Effect, FaultKind, Injection, Selectors},
    gauge::Gauged,
    item::Item,
    outline::below,
    probe::{Instant, Place as Heard, Places, Probe, SharedListener},
    queue::{In, Out, Queue},
    unit::{Ends, Key, Place, Placed, TiedOff, Unit},
    wake::{UnitId, Wake},
    wire::{Rx, Tx, Wire},
};
use crate::units::Femtos;
use std::{cell::RefCell, collections::BTreeSet, marker::PhantomData, rc::Rc};
use thiserror::Error;

/// A unit as the kernel knows it, or a part of one that has an account of its own.
#[derive(Debug, Clone)]
pub struct UnitInfo {
    pub name: String,
    pub clock: Clock,
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NetlistError {
    #[error("nothing holds the {side} end of channel `{path}`: give it to a unit's ports")]
    OpenEnd { path: String, side: Side },
    #[error("`{path}` is there twice: paths tell units and channels apart")]
    SamePath { path: String },
    #[error("a machine has 1 to {} units, not {count}", UnitId::MOST)]
    Units { count: usize },
}

/// Something with fault points that is neither a unit nor a channel, such as a memory.
pub trait FaultSite {
    /// Its fault points: path, and what can go wrong there.
    fn fault_points(&self) -> Vec<(String, &'static [FaultKind])>;
    /// Arms a fault at one of its points.
    fn arm(&mut self, injection: &Injection, armed: Armed);
    /// The faults that were armed here, and what became of them.
    fn armed(&self) -> Vec<Armed>;
}

#[derive(Default)]
pub struct Netlist {
    infos: Vec<UnitInfo>,
    pub(super) units: Vec<Box<dyn Placed>>,
    channels: Vec<Rc<dyn Channel>>,
    sites: Vec<Rc<RefCell<dyn FaultSite>>>,
    board: Rc<Board>,
    /// By unit: who hears its account.
    heard: Vec<Option<Probe>>,
    stall_names: &'static [&'static str],
    pub(super) begun: bool,
}

impl Netlist {
    pub const MOST_UNITS: usize = UnitId::MOST;

    pub fn new() -> Self {
        Self::default()
    }

    /// Names what its units wait for, in the order of their numbers; without, a deadlock says `stall`.
    pub const fn name_stalls(&mut self, names: &'static [&'static str]) {
        self.stall_names = names;
    }

    pub(super) const fn stall_names(&self) -> &'static [&'static str] {
        self.stall_names
    }

    pub(super) fn board(&self) -> Rc<Board> {
        Rc::clone(&self.board)
    }

    pub fn queue<T: Item>(&mut self, path: impl Into<String>, depth: usize) -> (Out<T>, In<T>) {
        self.queue_of(Queue::new(path.into(), depth, false, self.board()))
    }

    /// A queue of `depth` places, for [deferrable](Out::push_deferrable) items too.
    pub fn deferring_queue<T: Item>(&mut self, path: impl Into<String>, depth: usize) -> (Out<T>, In<T>) {
        self.queue_of(Queue::new(path.into(), depth, true, self.board()))
    }

    fn queue_of<T: Item>(&mut self, queue: Rc<Queue<T>>) -> (Out<T>, In<T>) {
        let ends = Queue::ends(&queue);
        self.channels.push(queue);
        ends
    }

    /// A wire on which nothing arrives sooner than `flight` after what caused it.
    pub fn wire<T: Item>(&mut self, path: impl Into<String>, flight: Femtos) -> (Tx<T>, Rx<T>) {
        self.deferring_wire(path, flight, Femtos(0))
    }

    /// The same, on which what [can be deferred](Tx::send_deferrable) wakes the receiver `window` after its date.
    pub fn deferring_wire<T: Item>(
        &mut self,
        path: impl Into<String>,
        flight: Femtos,
        window: Femtos,
    ) -> (Tx<T>, Rx<T>) {
        let wire = Wire::new(path.into(), flight, window, self.board());
        let ends = Wire::ends(&wire);
        self.channels.push(wire);
        ends
    }

    /// The lines that concern the whole machine, for what lies at `path`.
    pub fn signals(&self, path: &str) -> Signals {
        Signals::of(path, self.board())
    }

    /// The same for one of those whose work the run is: it ends when all of them have [stopped](Signals::stop).
    pub fn worker(&self, path: &str) -> Signals {
        Signals::of_worker(path, self.board())
    }

    pub fn add<U: Unit>(&mut self, path: impl Into<String>, clock: Clock, unit: U, ports: U::Ports) -> Key<U> {
        let id = UnitId(self.units.len().min(UnitId::MOST) as u16);
        ports.each_end(&mut |end| end.attach(id));
        self.infos.push(UnitInfo { name: path.into(), clock });
        self.units.push(Box::new(Place { unit, ports }));
        Key::new(id)
    }

    /// Ties off ends of channels that the machine has no use for. What is sent to them stays where it is.
    pub fn tie_off<E: Ends + 'static>(&mut self, path: impl Into<String>, clock: Clock, ends: E) {
        self.add(path, clock, TiedOff(PhantomData), ends);
    }

    /// Lets `listener` hear from now on what it wants to hear. To be called once, when the machine is complete and has not run; a run in progress is
    /// listened to by [`Still::listen`](super::Still::listen).
    pub fn listen(&mut self, listener: &SharedListener) {
        let places = self.places();
        listener.borrow_mut().begin(&places);
        self.board.defer_nothing();
        let now = Instant::default();
        let hears = |place: Heard<'_>| listener.borrow().hears(place);
        for (number, (channel, outline)) in self.channels.iter().zip(&places.channels).enumerate() {
            if hears(Heard::Channel(outline)) {
                channel.listen(Probe::new(number, listener, &now));
            }
        }
        let probe = |(number, info)| hears(Heard::Account(info)).then(|| Probe::new(number, listener, &now));
        let mut probes: Vec<_> = places.accounts.iter().enumerate().map(probe).collect();
        let parts = probes.split_off(self.units.len());
        self.heard = probes;
        let meters = self.units.iter().flat_map(|unit| unit.meters());
        for (meter, probe) in meters.zip(parts) {
            probe.into_iter().for_each(|probe| meter.account().listen(probe));
        }
        self.listen_to_gauges(listener, &now);
    }

    fn listen_to_gauges(&mut self, listener: &SharedListener, now: &Instant) {
        let mut number = 0;
        let units = std::mem::take(&mut self.units).into_iter().zip(&self.infos);
        let gauged = units.map(|(unit, info)| -> Box<dyn Placed> {
            let mut probes = Vec::new();
            unit.gauges(&mut |name, _| {
                let heard = listener.borrow().hears(Heard::Gauge(info, name));
                probes.push(heard.then(|| Probe::new(number, listener, now)));
                number += 1;
            });
            Box::new(Gauged::new(unit, Instant::clone(now), probes))
        });
        self.units = gauged.collect();
    }

    /// The values of all gauges, in the order of [`Places::gauges`].
    pub fn gauges(&self) -> Vec<u64> {
        let mut values = Vec::new();
        self.units.iter().for_each(|unit| unit.gauges(&mut |_, value| values.push(value)));
        values
    }

    /// Pieces of work that all units have done that count them.
    pub fn work_done(&self) -> u64 {
        self.units.iter().filter_map(|unit| unit.work_done()).sum()
    }

    /// What there is to listen to.
    pub fn places(&self) -> Places {
        let mut gauges = Vec::new();
        for (unit, info) in self.units.iter().zip(&self.infos) {
            unit.gauges(&mut |name, _| gauges.push((info.clone(), name)));
        }
        let channels = self.channels().map(|channel| self.channel_outline(channel)).collect();
        Places { channels, accounts: self.accounts(), units: self.units.len(), gauges }
    }

    pub const fn is_heard(&self) -> bool {
        !self.heard.is_empty()
    }

    /// The accounts of the units as a run begins.
    pub(super) fn fresh_accounts(&self) -> Vec<Account> {
        let accounts = vec![Account::default(); self.units.len()];
        self.hear(&accounts);
        accounts
    }

    /// Lets who listens hear the accounts of the units from now on.
    pub(super) fn hear(&self, accounts: &[Account]) {
        for (account, probe) in accounts.iter().zip(&self.heard) {
            probe.iter().for_each(|probe| account.listen(probe.clone()));
        }
    }

    /// Adds fault points that belong to no unit and no channel.
    pub fn add_fault_site(&mut self, site: Rc<RefCell<dyn FaultSite>>) {
        self.sites.push(site);
    }

    /// Whether it is a machine.
    pub fn check(&self) -> Result<(), NetlistError> {
        let count = self.units.len();
        if !(1..=UnitId::MOST).contains(&count) {
            return Err(NetlistError::Units { count });
        }
        let mut seen = BTreeSet::new();
        let paths = self.infos.iter().map(|unit| unit.name.as_str()).chain(self.channels.iter().map(|c| c.path()));
        if let Some(path) = paths.into_iter().find(|path| !seen.insert(*path)) {
            return Err(NetlistError::SamePath { path: path.to_owned() });
        }
        for channel in &self.channels {
            let (sender, receiver) = channel.ends();
            for (end, side) in [(sender, Side::Sending), (receiver, Side::Receiving)] {
                if end.is_none() {
                    return Err(NetlistError::OpenEnd { path: channel.path().to_owned(), side });
                }
            }
        }
        Ok(())
    }

    /// The units, in the order of their numbers.
    pub fn units(&self) -> &[UnitInfo] {
        &self.infos
    }

    /// The channels, in the order in which they were made.
    pub fn channels(&self) -> impl Iterator<Item = &dyn Channel> {
        self.channels.iter().map(|channel| &**channel)
    }

    /// A unit.
    ///
    /// # Panics
    /// If the key is of another netlist.
    pub fn unit<U: Unit>(&self, key: &Key<U>) -> &U {
        let unit = self.units.get(usize::from(key.unit.0)).and_then(|placed| placed.unit().downcast_ref());
        unit.expect("the key is of another netlist")
    }

    /// A unit, to change it.
    ///
    /// # Panics
    /// If the key is of another netlist.
    pub fn unit_mut<U: Unit>(&mut self, key: &Key<U>) -> &mut U {
        let unit = self.units.get_mut(usize::from(key.unit.0)).and_then(|placed| placed.unit_mut().downcast_mut());
        unit.expect("the key is of another netlist")
    }

    /// Whose accounts a run gives, in their order: the units, then the parts of units.
    pub fn accounts(&self) -> Vec<UnitInfo> {
        let part = |(info, meter): (&UnitInfo, _)| UnitInfo { name: format!("{}.{meter}", info.name), ..info.clone() };
        let placed = self.infos.iter().zip(&self.units);
        let parts = placed.flat_map(|(info, unit)| unit.meters().into_iter().map(move |meter| (info, meter.name())));
        self.infos.iter().cloned().chain(parts.map(part)).collect()
    }

    /// The places among the [accounts](Self::accounts) of units that have none in addition to those of their parts.
    pub fn only_parts(&self) -> BTreeSet<usize> {
        self.units.iter().enumerate().filter(|(_, unit)| unit.is_only_parts()).map(|(place, _)| place).collect()
    }

    /// What units say of the parameters that [bound](super::Unit::bounded) them.
    pub fn bounded(&self) -> Vec<(&'static str, u64)> {
        let mut all = Vec::new();
        self.units.iter().for_each(|unit| unit.bounded(&mut |parameter, asked| all.push((parameter, asked))));
        all
    }

    /// What went wrong, unit by unit, in words.
    pub fn incidents(&self) -> Vec<String> {
        self.units.iter().flat_map(|unit| unit.incidents()).collect()
    }

    /// The errors that units have signalled, the first ones first.
    pub fn errors(&self) -> Vec<UnitError> {
        let placed = self.infos.iter().zip(&self.units);
        let named =
            |info: &UnitInfo, signalled: &Signalled| UnitError { unit: info.name.clone(), signalled: *signalled };
        let all = placed.flat_map(|(info, unit)| unit.errors().iter().map(|signalled| named(info, signalled)));
        let mut all: Vec<_> = all.collect();
        all.sort_by_key(|error| error.signalled.first);
        all
    }

    /// Every fault point: its path, and what can go wrong there.
    pub fn fault_points(&self) -> Vec<(String, &'static [FaultKind])> {
        let channels = self.channels.iter().map(|channel| (channel.path().to_owned(), channel.fault_kinds()));
        let units = self.infos.iter().zip(&self.units).flat_map(|(info, unit)| {
            unit.fault_points().iter().map(|&(name, kinds)| (format!("{}.{name}", info.name), kinds))
        });
        let sites = self.sites.iter().flat_map(|site| site.borrow().fault_points());
        channels.chain(units).chain(sites).collect()
    }

    /// Every register of a unit that faults can strike, by its path.
    pub fn registers(&self) -> impl Iterator<Item = String> + '_ {
        let placed = self.infos.iter().zip(&self.units);
        placed.flat_map(|(info, unit)| unit.registers().into_iter().map(|name| format!("{}.{name}", info.name)))
    }

    /// Arms a fault in the register of a unit; false if there is none of this path.
    pub fn arm_register(&mut self, place: &str, armed: &Armed) -> bool {
        self.infos.iter().zip(&mut self.units).any(|(info, unit)| {
            let point = below(place, &info.name).filter(|point| unit.registers().iter().any(|name| name == point));
            point.map(|point| unit.arm(point, armed.clone())).is_some()
        })
    }

    /// What an injection can choose among what passes a place.
    pub fn selectors(&self, place: &str) -> Selectors {
        let channel = self.channels.iter().find(|channel| channel.path() == place);
        channel.map_or(Selectors::NONE, |channel| channel.selectors())
    }

    /// Arms a fault at the point that `injection` names; false if there is none, or this cannot go wrong there.
    pub fn arm(&mut self, injection: &Injection, armed: Armed) -> bool {
        let place = injection.place.as_str();
        let points = self.fault_points();
        if !points.iter().any(|(path, kinds)| path == place && kinds.contains(&injection.kind)) {
            return false;
        }
        if let Some(channel) = self.channels.iter().find(|channel| channel.path() == place) {
            channel.arm(armed);
            return true;
        }
        for (info, unit) in self.infos.iter().zip(&mut self.units) {
            let point = below(place, &info.name);
            if let Some(point) = point.filter(|point| unit.fault_points().iter().any(|(name, _)| name == point)) {
                unit.arm(point, armed);
                return true;
            }
        }
        let site = self.sites.iter().find(|site| site.borrow().fault_points().iter().any(|(path, _)| path == place));
        site.map(|site| site.borrow_mut().arm(injection, armed)).is_some()
    }

    /// What became of the faults that were armed, in the order of their numbers.
    pub fn effects(&self) -> Vec<Effect> {
        let channels = self.channels.iter().flat_map(|channel| channel.armed());
        let units = self.units.iter().flat_map(|unit| unit.armed());
        let sites = self.sites.iter().flat_map(|site| site.borrow().armed());
        let mut armed: Vec<_> = channels.chain(units).chain(sites).collect();
        armed.sort_by_key(Armed::number);
        armed.iter().map(Armed::effect).collect()
    }

    #[inline(always)]
    pub(super) fn tick(&mut self, unit: usize, now: Now) -> Wake {
        self.units[unit].tick(now)
    }

    pub(super) fn catch_up(&mut self, unit: usize, now: Now) {
        self.units[unit].catch_up(now);
    }

    /// The accounts of parts of units, as they are.
    pub(super) fn metered(&self) -> impl Iterator<Item = &Account> {
        self.units.iter().flat_map(|unit| unit.meters().into_iter().map(|meter| meter.account()))
    }
}
