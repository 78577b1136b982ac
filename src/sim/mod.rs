//! Clocks, registered queues, wake-ups, stalls, the two kernels, fault points and probes.
//!
//! A machine is a set of units wired through [`Queue`]s and [`Wire`]s. A unit is a `Spec` (its configuration), a state, and one
//! function `tick(now, ports) -> Wake`. Rules that a unit keeps so that both kernels agree:
//!
//! * what it does at an edge depends only on its state, the edge's number and what its ports show at that edge;
//! * a tick at which nothing has changed does nothing and answers the same activity;
//! * its [`Wake`] names the first edge at which it would do something or change its activity, if no port changes before.
//!
//! A port need not be sensitive to everything that comes. What arrives with a date and changes nothing until something else comes may be
//! [deferred](Wire::send_deferrable): the receiver takes it as at its date when it runs for another reason. The kernel lets receivers take what
//! they have deferred before it keeps accounts; once a fault has struck, nothing is deferred any more.

mod activity;
mod channel;
mod clock;
mod coverage;
mod dated;
mod deadlock;
mod digest;
mod fault;
mod item;
mod kernel;
mod machine;
mod probe;
mod queue;
mod ring;
mod strikes;
mod wake;
mod watch;
mod wire;

pub use activity::{Account, Activity, Stall};
pub use channel::Channel;
pub use clock::{Clock, ClockError, Now};
pub use coverage::{Coverage, Rewritten};
pub use deadlock::Wait;
pub use digest::Digest;
pub use fault::{Armed, Effect, FaultKind, Flip, Injection};
pub use item::Item;
pub use kernel::{Control, Kernel, Order, Run, SimulationError, run};
pub use machine::{Machine, UnitInfo};
pub use probe::{Event, Probe, Recorder};
pub use queue::{In, Out, Queue};
pub(crate) use ring::Ring;
pub use wake::{Meter, UnitId, Wake, Wakes};
pub use wire::{Sensitivity, Wire};

#[cfg(test)]
mod toy;
