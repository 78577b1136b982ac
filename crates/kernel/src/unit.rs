//! What a unit is to the kernel, and the ends of channels that it holds.

use super::{
    activity::Activity,
    clock::Now,
    error_log::Signalled,
    fault::{Armed, FaultKind},
    meter::Meter,
    wake::{UnitId, Wake},
};
use std::{
    any::Any,
    cell::{Cell, RefCell},
    marker::PhantomData,
    ops::{Deref, DerefMut},
    rc::Rc,
};

/// A part of the machine that has a clock: a state that changes at the edges of the clock, and the ends of channels by which it is known to others.
///
/// Rules that it keeps so that both kernels agree:
///
/// * what it does at an edge depends only on its state, the edge's number and what its ports show at that edge;
/// * a tick at which nothing has changed does nothing and answers the same activity;
/// * its [`Wake`] names the first edge at which it would do something or change its activity, if no port changes before.
pub trait Unit: 'static {
    /// Its ends of channels. Declared with [`ports!`](crate::ports).
    type Ports: Ends + 'static;

    fn tick(&mut self, now: Now, ports: &mut Self::Ports) -> Wake;

    /// Takes what had come by an edge that may have passed and that it has deferred, and does nothing else.
    fn catch_up(&mut self, _now: Now, _ports: &mut Self::Ports) {}

    /// Its parts with accounts of their own.
    fn meters(&self) -> Vec<&Meter> {
        Vec::new()
    }

    /// Shows what it holds, by names that are always the same and in the same order: levels that people watch, such as credits or bytes in a buffer. They
    /// are read behind ticks while somebody listens.
    fn gauges(&self, _show: &mut dyn FnMut(&'static str, u64)) {}

    /// The first edge at which a gauge changes though the unit has nothing to do there. While somebody listens to its gauges it is ticked there.
    fn next_gauge(&self) -> Option<u64> {
        None
    }

    /// Shows parameters of the configuration of which it learns nothing but whether so much is within them, and the most that was: see [`Room`](super::Room).
    fn bounded(&self, _show: &mut dyn FnMut(&'static str, u64)) {}

    /// Pieces of work that it has done, if it is one of those by which people count the work of the machine.
    fn work_done(&self) -> Option<u64> {
        None
    }

    /// Whether its account as a whole says nothing in addition to those of its [meters](Self::meters).
    fn is_only_parts(&self) -> bool {
        false
    }

    /// What went wrong here, in words.
    fn incidents(&self) -> Vec<String> {
        Vec::new()
    }

    /// The errors that it has signalled, as a driver, a register or a log of the real machine would show them.
    fn errors(&self) -> &[Signalled] {
        &[]
    }

    /// Its own fault points, in addition to those of its channels: the name behind its path, and what can go wrong there.
    fn fault_points(&self) -> &'static [(&'static str, &'static [FaultKind])] {
        &[]
    }

    /// Its registers that faults can strike, which are not listed among its fault points: the names behind its path.
    fn registers(&self) -> Vec<String> {
        Vec::new()
    }

    /// Arms a fault at one of its fault points or registers.
    fn arm(&mut self, _point: &str, _armed: Armed) {}

    /// The faults that were armed here, and what became of them.
    fn armed(&self) -> Vec<Armed> {
        Vec::new()
    }
}

pub trait End {
    /// The unit that holds it is this one.
    fn attach(&self, unit: UnitId);
}

/// An end of a queue or wire, which is in a field of it.
macro_rules! end_of_channel {
    ($end:ident, $field:ident, $side:ident) => {
        impl<T: Item> Ends for $end<T> {
            fn each_end(&self, visit: &mut dyn FnMut(&dyn End)) {
                visit(self);
            }
        }

        impl<T: Item> End for $end<T> {
            fn attach(&self, unit: UnitId) {
                self.$field.link.attach(Side::$side, unit);
            }
        }

        impl<T> fmt::Debug for $end<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({})", stringify!($end), self.$field.link.path)
            }
        }
    };
}
pub(super) use end_of_channel;

/// A number of ends of channels.
pub trait Ends {
    /// Shows each of them.
    fn each_end(&self, visit: &mut dyn FnMut(&dyn End));
}

impl Ends for () {
    fn each_end(&self, _visit: &mut dyn FnMut(&dyn End)) {}
}

/// What units share in addition to channels, such as the bytes of a memory, has no ends.
impl<T: ?Sized> Ends for Rc<RefCell<T>> {
    fn each_end(&self, _visit: &mut dyn FnMut(&dyn End)) {}
}

/// The same of what is read and written as a whole, such as counts.
impl<T> Ends for Rc<Cell<T>> {
    fn each_end(&self, _visit: &mut dyn FnMut(&dyn End)) {}
}

impl Ends for super::Signals {
    fn each_end(&self, _visit: &mut dyn FnMut(&dyn End)) {}
}

impl<E: Ends> Ends for Option<E> {
    fn each_end(&self, visit: &mut dyn FnMut(&dyn End)) {
        self.iter().for_each(|end| end.each_end(visit));
    }
}

impl<E: Ends> Ends for Vec<E> {
    fn each_end(&self, visit: &mut dyn FnMut(&dyn End)) {
        self.iter().for_each(|end| end.each_end(visit));
    }
}

impl<A: Ends, B: Ends> Ends for (A, B) {
    fn each_end(&self, visit: &mut dyn FnMut(&dyn End)) {
        self.0.each_end(visit);
        self.1.each_end(visit);
    }
}

impl<E: Ends, const N: usize> Ends for [E; N] {
    fn each_end(&self, visit: &mut dyn FnMut(&dyn End)) {
        self.iter().for_each(|end| end.each_end(visit));
    }
}

/// Declares the ports of a unit: a struct of ends of channels, all of which the netlist finds.
///
/// ```
/// use sealsim_kernel::{In, Out, ports};
///
/// ports! {
///     /// Of a repeater.
///     pub struct Ports {
///         /// What comes.
///         pub input: In<u64>,
///         /// What goes.
///         pub output: Out<u64>,
///     }
/// }
/// ```
#[macro_export]
macro_rules! ports {
    (
        $(#[$about:meta])*
        $seen:vis struct $name:ident {
            $($(#[$says:meta])* $field_seen:vis $field:ident: $end:ty,)*
        }
    ) => {
        $(#[$about])*
        $seen struct $name {
            $($(#[$says])* $field_seen $field: $end,)*
        }

        impl $crate::Ends for $name {
            fn each_end(&self, visit: &mut dyn FnMut(&dyn $crate::End)) {
                $($crate::Ends::each_end(&self.$field, visit);)*
            }
        }
    };
}

/// A unit of a netlist, by its type.
#[derive(Debug)]
pub struct Key<U> {
    pub(super) unit: UnitId,
    of: PhantomData<fn() -> U>,
}

impl<U> Key<U> {
    pub(super) const fn new(unit: UnitId) -> Self {
        Self { unit, of: PhantomData }
    }

    pub const fn id(&self) -> UnitId {
        self.unit
    }
}

/// Holds ends of channels that a machine has no use for, and never does anything.
pub(super) struct TiedOff<E>(pub PhantomData<E>);

impl<E: Ends + 'static> Unit for TiedOff<E> {
    type Ports = E;

    fn tick(&mut self, _now: Now, _ports: &mut E) -> Wake {
        Wake::on_port(Activity::Idle)
    }
}

/// What is asked of a unit, whatever its type: each method of [`Unit`] that needs no ports, passed on.
macro_rules! asked {
    ($(fn $name:ident(&self $(, $given:ident: $type:ty)?) $(-> $told:ty)?;)*) => {
        pub(super) trait Asked {
            $(fn $name(&self $(, $given: $type)?) $(-> $told)?;)*
            fn arm(&mut self, point: &str, armed: Armed);
            fn ports(&mut self) -> &mut dyn Any;
            fn ports_name(&self) -> &'static str;
            fn unit(&self) -> &dyn Any;
            fn unit_mut(&mut self) -> &mut dyn Any;
        }

        impl<U: Unit> Asked for Place<U> {
            $(fn $name(&self $(, $given: $type)?) $(-> $told)? {
                self.unit.$name($($given)?)
            })*
            fn arm(&mut self, point: &str, armed: Armed) {
                self.unit.arm(point, armed);
            }
            fn ports(&mut self) -> &mut dyn Any {
                &mut self.ports
            }
            fn ports_name(&self) -> &'static str {
                std::any::type_name::<U::Ports>()
            }
            fn unit(&self) -> &dyn Any {
                &self.unit
            }
            fn unit_mut(&mut self) -> &mut dyn Any {
                &mut self.unit
            }
        }
    };
}

asked! {
    fn meters(&self) -> Vec<&Meter>;
    fn gauges(&self, show: &mut dyn FnMut(&'static str, u64));
    fn next_gauge(&self) -> Option<u64>;
    fn bounded(&self, show: &mut dyn FnMut(&'static str, u64));
    fn work_done(&self) -> Option<u64>;
    fn is_only_parts(&self) -> bool;
    fn incidents(&self) -> Vec<String>;
    fn errors(&self) -> &[Signalled];
    fn fault_points(&self) -> &'static [(&'static str, &'static [FaultKind])];
    fn registers(&self) -> Vec<String>;
    fn armed(&self) -> Vec<Armed>;
}

/// A unit with its ports, whatever its type, and whether or not somebody listens to it.
pub(super) trait Placed: DerefMut<Target = dyn Asked> {
    fn tick(&mut self, now: Now) -> Wake;
    fn catch_up(&mut self, now: Now);
    fn into_ports(self: Box<Self>) -> Box<dyn Any>;
}

/// A unit without its ports.
pub(super) struct Place<U: Unit> {
    pub unit: U,
    pub ports: U::Ports,
}

impl<U: Unit> Deref for Place<U> {
    type Target = dyn Asked;
    fn deref(&self) -> &Self::Target {
        self
    }
}

impl<U: Unit> DerefMut for Place<U> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        self
    }
}

impl<U: Unit> Placed for Place<U> {
    #[inline]
    fn tick(&mut self, now: Now) -> Wake {
        self.unit.tick(now, &mut self.ports)
    }
    fn catch_up(&mut self, now: Now) {
        self.unit.catch_up(now, &mut self.ports);
    }
    fn into_ports(self: Box<Self>) -> Box<dyn Any> {
        Box::new(self.ports)
    }
}
