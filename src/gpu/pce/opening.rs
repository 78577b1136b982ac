//! The bytes of a message that is being opened, a piece at a time, in parallel with the simulation.

use super::{Keys, text::Text};
use crate::{
    gcm::{message::SealOpen, part::Part, worker::Worker},
    pcie::packet::Payload,
    sealing::Format,
};
use std::{
    rc::Rc,
    sync::{Arc, Mutex, PoisonError},
};

/// Plaintext so far, and the state of the stream.
#[derive(Debug)]
struct State {
    message: Text,
    text: Vec<u8>,
}

/// A message, or a part of one, in progress.
#[derive(Debug)]
pub(in crate::gpu) struct Opening {
    worker: Rc<Worker>,
    keys: Arc<Keys>,
    state: Arc<Mutex<State>>,
}

impl Opening {
    /// Begins a part of a message, which may be all of it.
    pub fn new(worker: &Rc<Worker>, keys: &Arc<Keys>, format: Format, nonce: [u8; 12], part: Part) -> Option<Self> {
        let message = Text::new(format, &keys.h2d, nonce, part, SealOpen::Open)?;
        let state = State { message, text: Vec::with_capacity(part.bytes as usize) };
        Some(Self { worker: Rc::clone(worker), keys: Arc::clone(keys), state: Arc::new(Mutex::new(state)) })
    }

    /// Takes the tag that came with the message, before its text.
    pub fn seed(&self, tag: Vec<u8>) {
        let state = Arc::clone(&self.state);
        self.worker.post(move || state.lock().unwrap_or_else(PoisonError::into_inner).message.seed(&tag));
    }

    pub fn take(&self, piece: Payload) {
        let (keys, state) = (Arc::clone(&self.keys), Arc::clone(&self.state));
        self.worker.post(move || {
            let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
            let State { message, text } = &mut *state;
            let start = text.len();
            text.extend_from_slice(piece.bytes().unwrap_or_default());
            message.update(&keys.h2d, &mut text[start..]);
        });
    }

    /// Ends it: plaintext, and tags or a share.
    pub fn finish(self) -> (Vec<u8>, Vec<u8>) {
        let Self { worker, keys, state } = self;
        let ended = worker.ask(move || {
            let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
            let tags = state.message.tags(&keys.h2d);
            (std::mem::take(&mut state.text), tags)
        });
        ended.wait()
    }
}
