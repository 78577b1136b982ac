//! Collectives: what several GPUs do together with their buffers.
//!
//! ```text
//!  kind, ranks, bytes --> [ schedule ] --> a program for each GPU
//!                                            |
//!  machine -------------> [ run ] -----------+--> the fabric, or copies through the host --> time, sums, who refused what
//! ```
//!
//! A buffer's numbers are small integers, whose sums are exact in every format and order. So whether a sum is right does not depend on rounding.

mod call;
mod choice;
mod closed_form;
mod cost;
mod data;
mod judge;
mod kind;
mod request;
mod run;
mod schedule;
mod staged;
mod times;

pub use call::CollectiveCall;
pub use closed_form::{HopTerms, hop_terms};
pub use cost::{CollectiveCost, unsealed};
pub use data::{expected, input};
pub use judge::transfer_count;
pub use kind::Collective;
pub use request::{CollectiveError, CollectiveOutcome, CollectiveRequest, Extent, MOST_RANKS};
pub use run::{collective_fault_points, run_collective};
pub use schedule::{Passing, Plan, extent, folded, plan, stride};
pub use times::{CollectiveTime, CollectiveTimes};
