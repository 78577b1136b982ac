//! A message in transit through the SMs: what is known of it, and its bytes.

use crate::{
    gcm::{bulk::Stream, message::SealOpen, part::Part, pseudo::pseudo_tag, worker::Worker},
    gpu::{
        pce::{Keys, opening::Opening},
        work::{LaunchKind, SmJob},
    },
    pcie::packet::Payload,
    sealing::Format,
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
    Seal(Box<Stream>, Vec<u8>),
}

impl Text {
    pub fn begin(keys: Option<&Arc<Keys>>, worker: &Rc<Worker>, job: &SmJob) -> Self {
        let Some(keys) = keys else { return Self::None };
        if job.kind == LaunchKind::Open {
            let Some(opening) = Opening::new(worker, keys, Format::GCM, job.nonce, Part::whole(job.bytes)) else {
                return Self::None;
            };
            opening.take(job.text.clone());
            return Self::Open(opening);
        }
        let stream = keys.d2h.gcm().and_then(|key| Stream::new(key, &job.nonce, &[], SealOpen::Seal).ok());
        stream.map_or(Self::None, |stream| Self::Seal(Box::new(stream), Vec::with_capacity(job.bytes as usize)))
    }

    /// Takes what has been read from device memory. What is opened is known from the PCE that wrote it there.
    pub fn take(&mut self, keys: Option<&Arc<Keys>>, payload: &Payload) {
        if let (Self::Seal(stream, text), Some(key)) = (self, keys.and_then(|keys| keys.d2h.gcm())) {
            let start = text.len();
            text.extend_from_slice(payload.bytes().unwrap_or_default());
            stream.update(key, &mut text[start..]);
        }
    }
}

impl SmMessage {
    pub fn direction(&self) -> SealOpen {
        if self.job.kind == LaunchKind::Open { SealOpen::Open } else { SealOpen::Seal }
    }

    pub fn finish(&mut self, keys: Option<&Arc<Keys>>) -> (Payload, Vec<u8>) {
        match (std::mem::replace(&mut self.text, Text::None), keys.and_then(|keys| keys.d2h.gcm())) {
            (Text::Open(opening), _) => {
                let (text, tag) = opening.finish();
                (Payload::of(text), tag)
            }
            (Text::Seal(stream, text), Some(key)) => {
                let tag = stream.tag(key);
                (Payload::of(text), tag.to_vec())
            }
            _ => (Payload::none(), pseudo_tag(self.job.nonce, self.job.bytes).to_vec()),
        }
    }
}
