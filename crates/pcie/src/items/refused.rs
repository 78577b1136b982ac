//! Why JSON gives no bytes.

use thiserror::Error;

/// Why JSON gives no bytes, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{place}{what}")]
pub struct Refused {
    /// The object, and where in it, as far as that is known.
    place: String,
    what: String,
    help: Option<&'static str>,
}

impl Refused {
    pub(super) const fn new(what: String, help: Option<&'static str>) -> Self {
        Self { place: String::new(), what, help }
    }

    /// At a line and a byte of it, from 1.
    pub(super) fn at(self, line: usize, byte: usize) -> Self {
        Self { place: format!(", line {line}, byte {byte}"), ..self }
    }

    /// In the object with this number, from 1.
    pub(super) fn in_object(self, number: usize) -> Self {
        Self { place: format!("object {number}{}: ", self.place), ..self }
    }

    /// What to do about it, if the message does not say so.
    pub const fn help(&self) -> Option<&'static str> {
        self.help
    }
}

/// A [`Refused`] with a message as `format!` makes it, behind its remedy if it has one.
macro_rules! refused {
    (help = $help:expr, $($message:tt)+) => { Refused::new(format!($($message)+), Some($help)) };
    ($($message:tt)+) => { Refused::new(format!($($message)+), None) };
}

pub(super) use refused;
