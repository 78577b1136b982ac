//! When a unit must run again.

use super::{activity::Activity, bits::Bits};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnitId(pub u16);

impl UnitId {
    /// No unit of any machine: at the end of a channel that nobody holds.
    pub(super) const NONE: Self = Self(Bits::MOST as u16 - 1);
    /// Most units of a machine.
    pub(super) const MOST: usize = Self::NONE.0 as usize;
}

/// What a unit answers to a tick: when it must run again and what it is until then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wake {
    /// The edge of its own clock at which it must run again; [`Wake::NEVER`] if only a port can wake it.
    pub at: u64,
    /// Whether a change on a port wakes it earlier.
    pub listens: bool,
    /// Whether `at` is only a timer that by itself finishes no work.
    pub background: bool,
    /// The edge before which it works, whatever else it says: so that a unit need not run only to say that it is done.
    pub busy_until: u64,
    /// What it is from then on, until it runs again.
    pub activity: Activity,
}

impl Wake {
    pub const NEVER: u64 = u64::MAX;

    #[inline]
    pub const fn on_port(activity: Activity) -> Self {
        Self { at: Self::NEVER, listens: true, background: false, busy_until: 0, activity }
    }

    /// Sleeps until an edge or a change on a port, whichever comes first.
    #[inline]
    pub const fn at_or_port(at: u64, activity: Activity) -> Self {
        Self { at, listens: true, background: false, busy_until: 0, activity }
    }

    /// Sleeps until an edge, deaf to its ports.
    #[inline]
    pub const fn at(at: u64, activity: Activity) -> Self {
        Self { at, listens: false, background: false, busy_until: 0, activity }
    }

    /// The same wake, of a unit that works until `edge`.
    #[inline]
    pub const fn busy_until(mut self, edge: u64) -> Self {
        self.busy_until = edge;
        self
    }
}
