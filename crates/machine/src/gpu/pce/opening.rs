//! The bytes of a message that is being opened, a piece at a time, in parallel with the simulation.

use super::text::Text;
use crate::{
    gcm::{upset::UpsetMessage, worker::Worker},
    pcie::packet::Payload,
};
use std::{
    rc::Rc,
    sync::{Arc, Mutex, PoisonError},
};

/// Plaintext, tags, and the message where faults struck it.
pub(super) type Ended = (Vec<u8>, Vec<u8>, Option<Box<UpsetMessage>>);

/// Plaintext so far, and the state of the stream.
#[derive(Debug)]
struct State {
    message: Option<Text>,
    text: Vec<u8>,
}

/// A message, or a part of one, in progress.
#[derive(Debug)]
pub(in crate::gpu) struct Opening {
    worker: Rc<Worker>,
    state: Arc<Mutex<State>>,
}

impl Opening {
    /// Begins a text of so many bytes.
    pub fn new(worker: &Rc<Worker>, message: Text, bytes: u64) -> Self {
        let state = State { message: Some(message), text: Vec::with_capacity(bytes as usize) };
        Self { worker: Rc::clone(worker), state: Arc::new(Mutex::new(state)) }
    }

    /// Takes the tag that came with the message, before its text.
    pub fn seed(&self, tag: Vec<u8>) {
        let state = Arc::clone(&self.state);
        self.worker.post(move || {
            let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
            state.message.iter_mut().for_each(|message| message.seed(&tag));
        });
    }

    pub fn take(&self, piece: Payload) {
        let state = Arc::clone(&self.state);
        self.worker.post(move || {
            let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
            let State { message, text } = &mut *state;
            let start = text.len();
            text.extend_from_slice(piece.bytes().unwrap_or_default());
            message.iter_mut().for_each(|message| message.update(&mut text[start..]));
        });
    }

    /// Ends it: plaintext, and tags or a share.
    pub fn finish(self) -> (Vec<u8>, Vec<u8>) {
        let (text, tags, _) = self.end();
        (text, tags)
    }

    /// The same, and where faults struck the message, the message.
    pub(super) fn end(self) -> Ended {
        let Self { worker, state } = self;
        let ended = worker.ask(move || {
            let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
            let mut message = state.message.take();
            let tags = message.as_mut().map_or_else(Vec::new, Text::tags);
            (std::mem::take(&mut state.text), tags, message.and_then(Text::upset))
        });
        ended.wait()
    }
}
