//! What the tests of the formats share.

use super::{Input, Trace, read};
use crate::{
    files::{Explained, Refusal},
    sim::Control,
};

pub(super) const KINETO: &[u8] = include_bytes!("samples/kineto.json");
pub(super) const GPU: &[u8] = include_bytes!("samples/gpu.csv");
pub(super) const API: &[u8] = include_bytes!("samples/api.csv");

pub(super) fn bytes(content: &[u8]) -> Result<Trace, Refusal> {
    read(Input::Bytes { name: "it", bytes: content }, None, &mut |_, _| Control::Continue)
}

pub(super) fn both(gpu: &[u8], api: &[u8]) -> Result<Trace, Refusal> {
    let api = Input::Bytes { name: "calls", bytes: api };
    read(Input::Bytes { name: "it", bytes: gpu }, Some(api), &mut |_, _| Control::Continue)
}

/// Message and remedy of what is refused.
pub(super) fn refused(read: Result<Trace, Refusal>) -> String {
    let error = read.unwrap_err();
    let others: Vec<_> = error.others().iter().map(ToString::to_string).collect();
    format!("{error} | {} | {}", error.help().unwrap_or("no remedy"), others.join(" | "))
}

/// Whether any of the sentences holds these words.
pub(super) fn says(trace: &Trace, words: &str) -> bool {
    trace.assumed.iter().any(|sentence| sentence.contains(words))
}
