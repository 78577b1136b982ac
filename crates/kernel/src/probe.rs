//! Probes: what a run reports to a listener. A machine that nobody listens to pays nothing for them.
//!
//! | reported | when |
//! | --- | --- |
//! | a transfer | an item is sent on a channel: of a queue the instant of the push, of a wire the date of arrival |
//! | a taking | the receiver of a queue takes its oldest item |
//! | a busy interval | cycles are charged to an account; the busy intervals of an account add up to it |
//! | a level | a gauge of a unit shows another value behind a tick |
//! | an input | something goes into a part of a unit that has an account; its cycle is that of the tick or lies ahead |
//!
//! Nothing is deferred in a machine with probes, so that transfers of queues, takings and levels come in the order of time. A busy interval is reported at its end, and a
//! transfer on a wire before its date.

use super::{activity::Activity, netlist::UnitInfo, outline::ChannelOutline};
use crate::units::Femtos;
use std::{
    any::Any,
    cell::{Cell, RefCell},
    fmt,
    rc::Rc,
};

/// What is there to listen to, by number.
#[derive(Debug, Clone)]
pub struct Places {
    /// Channels, in the order in which they were made.
    pub channels: Vec<ChannelOutline>,
    /// Units, then parts of units, as a run gives their accounts.
    pub accounts: Vec<UnitInfo>,
    /// How many of them are units.
    pub units: usize,
    /// Gauges: the unit, and the name behind its path.
    pub gauges: Vec<(UnitInfo, &'static str)>,
}

#[derive(Debug, Clone, Copy)]
pub enum Place<'a> {
    Channel(&'a ChannelOutline),
    /// A unit or a part of one.
    Account(&'a UnitInfo),
    Gauge(&'a UnitInfo, &'static str),
}

#[derive(Clone, Copy)]
pub struct ChannelTransfer<'a> {
    pub channel: usize,
    /// The edge of the sender at which it was sent.
    pub sent: Femtos,
    /// When it was pushed into a queue, or arrives on a wire.
    pub date: Femtos,
    /// Its word in the event digest.
    pub key: u64,
    pub item: &'a dyn Any,
}

/// Cycles `from` to before `to` of an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spell {
    pub account: usize,
    pub activity: Activity,
    pub from: u64,
    /// The first cycle behind.
    pub to: u64,
}

/// Who hears what a run reports.
pub trait Listener {
    /// The run begins: what there is.
    fn begin(&mut self, places: &Places);

    /// Whether it wants to hear this one.
    fn hears(&self, place: Place<'_>) -> bool;

    fn passed(&mut self, _transfer: ChannelTransfer<'_>) {}

    /// The receiver of this queue has taken its oldest item.
    fn taken(&mut self, _channel: usize, _time: Femtos) {}

    fn spell(&mut self, _spell: Spell) {}

    /// This goes into the part of a unit with this account at edge `cycle` of its clock.
    fn entered(&mut self, _account: usize, _cycle: u64, _input: &dyn Any) {}

    /// This gauge shows `value` from `time` on.
    fn level(&mut self, _gauge: usize, _time: Femtos, _value: u64) {}
}

/// A listener as a netlist holds it.
pub type SharedListener = Rc<RefCell<dyn Listener>>;

#[derive(Clone)]
pub struct Probe {
    place: usize,
    listener: SharedListener,
    now: Instant,
}

/// The edge of the unit that runs.
pub(super) type Instant = Rc<Cell<Femtos>>;

impl fmt::Debug for Probe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Probe({})", self.place)
    }
}

impl Probe {
    /// At the place of this number among those of its sort.
    pub(super) fn new(place: usize, listener: &SharedListener, now: &Instant) -> Self {
        Self { place, listener: Rc::clone(listener), now: Rc::clone(now) }
    }

    pub(super) fn passed(&self, date: Femtos, key: u64, item: &dyn Any) {
        self.listener.borrow_mut().passed(ChannelTransfer {
            channel: self.place,
            sent: self.now.get(),
            date,
            key,
            item,
        });
    }

    pub(super) fn taken(&self, time: Femtos) {
        self.listener.borrow_mut().taken(self.place, time);
    }

    pub(super) fn spell(&self, activity: Activity, from: u64, to: u64) {
        if to > from {
            self.listener.borrow_mut().spell(Spell { account: self.place, activity, from, to });
        }
    }

    pub(super) fn entered(&self, cycle: u64, input: &dyn Any) {
        self.listener.borrow_mut().entered(self.place, cycle, input);
    }

    pub(super) fn level(&self, time: Femtos, value: u64) {
        self.listener.borrow_mut().level(self.place, time, value);
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// Number of the channel.
    pub place: usize,
    pub time: Femtos,
    /// The word of the item.
    pub word: u64,
}

/// Collects the transfers that its probes hear.
#[derive(Debug, Default, Clone)]
pub struct Recorder {
    events: Rc<RefCell<Events>>,
}

#[derive(Debug, Default)]
struct Events(Vec<Event>);

impl Listener for Events {
    fn begin(&mut self, _places: &Places) {}

    fn hears(&self, place: Place<'_>) -> bool {
        matches!(place, Place::Channel(_))
    }

    fn passed(&mut self, transfer: ChannelTransfer<'_>) {
        self.0.push(Event { place: transfer.channel, time: transfer.date, word: transfer.key });
    }
}

impl Recorder {
    /// As a netlist holds it.
    pub fn listener(&self) -> SharedListener {
        Rc::<RefCell<Events>>::clone(&self.events)
    }

    pub fn probe(&self, place: usize) -> Probe {
        Probe::new(place, &self.listener(), &Instant::default())
    }

    /// All events heard, by time, then place.
    pub fn take(&self) -> Vec<Event> {
        let mut events = std::mem::take(&mut self.events.borrow_mut().0);
        events.sort_by_key(|e| (e.time, e.place));
        events
    }
}
