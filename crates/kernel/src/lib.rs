//! Clocks, registered queues, wake-ups, stalls, two kernels, fault points and probes: what runs a machine of clocked units.
//!
//! A machine is a [`Netlist`]: [units](Unit), and queues and wires between their ports. A unit is a `Spec` (its configuration), a state, its ports and one
//! function `tick(now, ports) -> Wake`.
//!
//! A port need not be sensitive to everything that comes. What arrives with a date and changes nothing until something else comes may be
//! [deferred](Tx::send_deferrable): the receiver takes it as at its date when it runs for another reason. The kernel lets receivers take what
//! they have deferred before it keeps accounts; once a fault is active, nothing is deferred any more.

mod activity;
mod agenda;
mod bits;
mod board;
mod channel;
mod clock;
mod coverage;
mod deadlock;
mod digest;
mod error_log;
mod exchange;
mod fault;
mod gauge;
mod interruption;
mod item;
mod kernel;
mod level;
mod meter;
mod netlist;
mod outline;
mod probe;
mod queue;
mod ring;
mod room;
mod strikes;
mod transit;
mod unit;
mod wake;
mod watch;
mod wire;

pub use activity::{Account, Activity};
pub use board::Signals;
pub use channel::{Carrier, Channel, Side};
pub use clock::{Clock, ClockError, Now};
pub use coverage::{Coverage, Rewritten};
pub use deadlock::Wait;
pub use digest::Digest;
pub use error_log::{ErrorLog, ErrorSignal, Signalled, UnitError};
pub use exchange::ExchangeError;
pub use fault::{Aim, Armed, Effect, FaultKind, Flip, Injection, Pick, Selectors, When};
pub use interruption::Interruption;
pub use item::Item;
pub use kernel::{Control, Kernel, Observer, Order, Run, Seen, SimulationError, Still, run};
pub use level::Level;
pub use meter::Meter;
pub use netlist::{FaultSite, Netlist, NetlistError, UnitInfo};
pub use outline::{ChannelOutline, Outline, UnitOutline};
pub use probe::{ChannelTransfer, Event, Listener, Place, Places, Probe, Recorder, SharedListener, Spell};
pub use queue::{In, Out};
pub use ring::Ring;
pub use room::Room;
/// Times, frequencies and sizes.
pub use sealsim_units as units;
pub use unit::{End, Ends, Key, Unit};
pub use wake::{UnitId, Wake};
pub use wire::{Rx, Sensitivity, Tx};

#[cfg(test)]
mod toy;

/// The code of the README is tested.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
