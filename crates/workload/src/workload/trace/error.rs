//! How traces are refused.

use super::place::Place;
use crate::files::{Refusal, excerpt};

/// Something about a file as a whole.
pub(super) fn refused(kind: &'static str, file: &str, what: impl AsRef<str>) -> Refusal {
    Refusal::new("trace", kind, format!("{file}: {}", excerpt(what.as_ref(), 500)))
}

/// Something about one of its events.
pub(super) fn refused_at(kind: &'static str, file: &str, place: Place, what: impl AsRef<str>) -> Refusal {
    Refusal::new("trace", kind, format!("{file}, {place}: {}", excerpt(what.as_ref(), 500)))
}
