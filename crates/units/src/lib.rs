//! Newtypes for the quantities of the model, their parsing and printing.
//!
//! | type | unit | written as |
//! | --- | --- | --- |
//! | [`Femtos`] | femtoseconds, a date or a duration | `"42 ns"` |
//! | [`Cycles`] | cycles of one clock | `"14 cycles"` |
//! | [`Frequency`] | hertz | `"1.755 GHz"` |
//! | [`Bytes`] | bytes | `"2 MiB"` |
//! | [`BytesPerCycle`] | thousandths of a byte per cycle | `"1.6 B/cycle"` |
//!
//! All are exact integers: a text that is not a whole number of the base unit is an error, as is a number without a unit.
//! Times can be added, subtracted and multiplied; an operator never wraps around.

#![deny(missing_docs)]

mod fixed;
mod named;
mod quantity;
mod text;
mod time;
mod types;

pub use fixed::Fixed;
pub use quantity::{Kind, QuantityError, Scale};
pub use text::{excerpt, nearest};
pub use types::{ByteRate, Bytes, BytesPerCycle, Cycles, Femtos, FlopRate, Frequency, KINDS};

/// The code of the README is tested.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
