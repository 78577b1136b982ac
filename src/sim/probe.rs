//! Probes: listeners on queues and wires. A machine without probes pays nothing for them.

use crate::units::Femtos;
use std::{cell::RefCell, fmt, rc::Rc};

/// Something that passed a probed place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// Number of the place, as given to [`Recorder::probe`].
    pub place: u32,
    /// When.
    pub time: Femtos,
    /// The word of the item.
    pub word: u64,
}

/// A listener at one place.
#[derive(Clone)]
pub struct Probe {
    place: u32,
    events: Rc<RefCell<Vec<Event>>>,
}

impl fmt::Debug for Probe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Probe({})", self.place)
    }
}

impl Probe {
    pub(super) fn event(&self, time: Femtos, word: u64) {
        self.events.borrow_mut().push(Event { place: self.place, time, word });
    }
}

/// Collects what its probes hear.
#[derive(Debug, Default, Clone)]
pub struct Recorder {
    events: Rc<RefCell<Vec<Event>>>,
}

impl Recorder {
    /// A probe for the place with this number.
    #[must_use]
    pub fn probe(&self, place: u32) -> Probe {
        Probe { place, events: Rc::clone(&self.events) }
    }

    /// All events heard, by time, then place.
    #[must_use]
    pub fn take(&self) -> Vec<Event> {
        let mut events = self.events.take();
        events.sort_by_key(|e| (e.time, e.place));
        events
    }
}
