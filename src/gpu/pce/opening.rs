//! The bytes of a message that is being opened, a piece at a time, beside the simulation.

use super::Keys;
use crate::{
    gcm::{bulk::Stream, message::Direction, part::Part, worker::Worker},
    pcie::packet::Payload,
};
use std::{
    rc::Rc,
    sync::{Arc, Mutex, PoisonError},
};

/// Plaintext so far, and the state of the stream.
#[derive(Debug)]
struct State {
    stream: Stream,
    text: Vec<u8>,
}

/// A message, or a part of one, under way.
#[derive(Debug)]
pub(super) struct Opening {
    worker: Rc<Worker>,
    keys: Arc<Keys>,
    nonce: [u8; 12],
    part: Part,
    state: Arc<Mutex<State>>,
}

impl Opening {
    /// Begins a part of a message, which may be all of it.
    pub fn new(worker: &Rc<Worker>, keys: &Arc<Keys>, nonce: [u8; 12], part: Part) -> Self {
        let stream = part.stream(&keys.h2d, nonce, Direction::Open);
        let state = Arc::new(Mutex::new(State { stream, text: Vec::with_capacity(part.bytes as usize) }));
        Self { worker: Rc::clone(worker), keys: Arc::clone(keys), nonce, part, state }
    }

    /// Takes the next piece of ciphertext.
    pub fn take(&self, piece: Payload) {
        let (keys, state) = (Arc::clone(&self.keys), Arc::clone(&self.state));
        self.worker.post(move || {
            let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
            let State { stream, text } = &mut *state;
            let start = text.len();
            text.extend_from_slice(piece.bytes().unwrap_or_default());
            stream.update(&keys.h2d, &mut text[start..]);
        });
    }

    /// Ends it: plaintext and its share of the tag.
    pub fn finish(self) -> (Vec<u8>, [u8; 16]) {
        let Self { worker, keys, nonce, part, state } = self;
        let ended = worker.ask(move || {
            let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
            let tag = part.share(&keys.h2d, nonce, &state.stream);
            (std::mem::take(&mut state.text), tag)
        });
        ended.wait()
    }
}
