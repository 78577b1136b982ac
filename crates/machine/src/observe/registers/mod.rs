//! The registers of an engine in a running machine: a structural engine next to it is given what it is given, in the same cycles.
//!
//! ```text
//!   PCE --- message, text, beats ---> engine of the machine (cycles)
//!                  |
//!                  +-- listener ----> structural engine (registers)
//! ```
//!
//! Both have the same contract, so the tag of each message stands in both in the same cycle: [`Followed`] has the two.

mod follower;

pub use crate::gcm::names::{Name, Names};
pub use follower::{Followed, Follower};
