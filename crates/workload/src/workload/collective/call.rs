//! A collective as a workload calls it.

use super::{kind::Collective, request::MOST_RANKS};
use serde::{Deserialize, Serialize};

/// What is called. Calls that are equal take equally long on a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CollectiveCall {
    pub kind: Collective,
    pub ranks: usize,
    /// Bytes of the buffer of each.
    pub bytes: u64,
}

impl CollectiveCall {
    /// What is wrong with it: the field, what, and what to do about it.
    pub fn refuse(&self) -> Option<(&'static str, String, String)> {
        let Self { ranks, bytes, .. } = *self;
        if !(2..=MOST_RANKS).contains(&ranks) {
            let what = format!("a collective of {ranks} GPUs");
            return Some(("ranks", what, format!("a collective has 2 to {MOST_RANKS} GPUs")));
        }
        let empty = || ("size", "a collective of 0 bytes".to_owned(), "give it at least one".to_owned());
        (bytes == 0).then(empty)
    }
}
