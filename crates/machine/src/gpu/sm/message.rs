//! A message in transit through the SMs: what is known of it, and its bytes.

use crate::{
    aead::stream::Stream,
    gcm::{message::SealOpen, part::Part, pseudo::pseudo_tag, worker::Worker},
    gpu::{
        pce::{Keys, opening::Opening, text},
        work::{LaunchKind, SmJob},
    },
    pcie::packet::Payload,
};
use std::{rc::Rc, sync::Arc};

#[derive(Debug)]
pub(super) struct SmMessage {
    pub job: SmJob,
    /// Place of the PCE that it came from.
    pub place: usize,
    /// From which cycle on its kernel may start, once that is known.
    pub ready: Option<u64>,
    /// Whether all of its ciphertext has come to device memory.
    pub whole: bool,
    pub text: Text,
}

/// The bytes of a message.
#[derive(Debug)]
pub(super) enum Text {
    /// A run without data.
    None,
    /// Being opened in parallel with the simulation.
    Open(Opening),
    /// Being sealed as it is read.
    Seal(Stream, Vec<u8>),
}

impl Text {
    pub fn begin(keys: Option<&Arc<Keys>>, worker: &Rc<Worker>, job: &SmJob) -> Self {
        let Some(keys) = keys else { return Self::None };
        let whole = Part::whole(job.bytes);
        if job.kind == LaunchKind::Open {
            let Some(stream) = keys.h2d.begin(job.nonce, whole, SealOpen::Open) else { return Self::None };
            let opening = Opening::new(worker, text::Text::Sound(stream), job.bytes);
            opening.take(job.text.clone());
            return Self::Open(opening);
        }
        let stream = keys.d2h.begin(job.nonce, whole, SealOpen::Seal);
        stream.map_or(Self::None, |stream| Self::Seal(stream, Vec::with_capacity(job.bytes as usize)))
    }

    /// Takes what has been read from device memory. What is opened is known from the PCE that wrote it there.
    pub fn take(&mut self, payload: &Payload) {
        if let Self::Seal(stream, text) = self {
            let start = text.len();
            text.extend_from_slice(payload.bytes().unwrap_or_default());
            stream.update(&mut text[start..]);
        }
    }
}

impl SmMessage {
    pub fn direction(&self) -> SealOpen {
        if self.job.kind == LaunchKind::Open { SealOpen::Open } else { SealOpen::Seal }
    }

    pub fn finish(&mut self) -> (Payload, Vec<u8>) {
        match std::mem::replace(&mut self.text, Text::None) {
            Text::Open(opening) => {
                let (text, tag) = opening.finish();
                (Payload::of(text), tag)
            }
            Text::Seal(stream, text) => (Payload::of(text), stream.tag()),
            Text::None => (Payload::none(), pseudo_tag(self.job.nonce, self.job.bytes).to_vec()),
        }
    }
}
