//! What a run reports to a listener, made into what people look at.
//!
//! ```text
//!   sim::Listener
//!     +-- capture     packets of links, as pcapng
//!     +-- waves       queues, tags, gauges and registers, as FST
//!     |     +-- registers    of an engine, by a structural engine next to it
//!     +-- events      every transfer on every channel, in memory or as lines
//!     |     +-- parting     where two runs part
//!     +-- messages    the way of each message, by stage
//!     |     +-- perfetto    units, streams, messages and counters as a trace
//!     +-- path        why the run took as long as it took
//! ```

pub mod capture;
pub mod events;
pub mod identity;
pub mod listeners;
pub mod messages;
pub mod parting;
pub mod path;
mod pcapng;
pub mod perfetto;
pub mod registers;
#[cfg(feature = "observe")]
pub mod waves;
pub mod window;

pub use listeners::Listeners;
pub use window::Window;
