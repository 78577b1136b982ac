//! What a design costs in silicon, and what it risks.
//!
//! ```text
//!   Hardware, clock   ---> [ engine ] ---> area, energy per byte     each an interval, with notes where
//!   SmSpec            ---> [ sm     ] ---> energy per byte, SMs
//!   bytes             ---> [ storage] ---> area                      a figure is stretched
//!   tags, messages    ---> [ risk   ] ---> forgery bound, key budget
//!                               |
//!            [ library ]  rows of rtl/results.toml        [ technology ]  energies, spreads, SRAM
//!            [ parts   ]  the rule between rows           [ clock      ]  which cycles a clock holds
//!            [ control ]  what joins the parts               [ wide       ]  an engine of several lanes and messages
//! ```
//!
//! Nothing here is simulated: an area is a sum over parts, each with rows of [`library`] behind it. A result is an [`Interval`]
//! as wide as its figures' own uncertainty ([`technology`] says what that is), and a list of notes: whatever lies outside of the range that a figure was made for is
//! said there and not passed over. Energy is that of the crypto units alone: no clock tree, no wires between units, no memories.

pub mod clock;
pub mod control;
mod engine;
mod interval;
pub mod library;
pub mod parts;
mod risk;
mod sm;
mod storage;
pub mod technology;
pub mod wide;

pub use clock::Sboxes;
pub use engine::{EngineCost, built, engine};
pub use interval::Interval;
pub use library::Library;
pub use risk::{AfterSuccess, KeyBudget, forgery_log2, key_budget};
pub use sm::{SmCost, sm};
pub use storage::{StorageCost, sram_access, storage};
