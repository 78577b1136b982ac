//! An engine of any AEAD on a bench: input always ready, output always taken, nothing around it.
//!
//! ```text
//!   first message          first input   first output      last output    text and tag out
//!        |------- setup -------->|--- first --->|----- span ------->|---- tail ---->|
//!        0                                                                        total
//! ```
//!
//! One of AES-GCM has [a bench of its own](crate::gcm::standalone), for it is traced and may be controlled. The metrics are the same. Where the tag is valid before the last output, as that of AES-GCM-SIV to seal, the
//! tail is none. Messages follow each other: the next starts when text and tag of the one before are out.
//!
//! Cycles come from the scheme's timing, bytes from [`bytes`](super::bytes). An engine whose registers are modelled is clocked through them as well, and the run
//! fails if its bytes or its cycles differ from either.

use super::bytes::{BytesError, Key};
use super::flow::Dates;
use super::model::Model;
use super::spec::EngineSpec;
use crate::gcm::bench::{Bench, Drawn, MessageOutcome, Stages, Wrong};
use crate::gcm::message::{SealOpen, Shape};
use crate::gcm::standalone::{self as gcm, Outcome};
use crate::units::Bytes;
use thiserror::Error;

/// Why there is no result.
#[derive(Debug, Error)]
pub enum StandaloneError {
    /// No such engine can be built, or what came out of it is wrong.
    #[error(transparent)]
    Engine(#[from] gcm::StandaloneError),
    /// The scheme refuses key or message.
    #[error(transparent)]
    Bytes(#[from] BytesError),
    #[error("a message of {message} is sealed in two passes, and the buffer between them holds {buffer}")]
    Buffer { message: Bytes, buffer: Bytes },
}

/// Runs an engine alone. Only the stages of AES-GCM are traced.
pub fn run(spec: &EngineSpec, bench: &Bench) -> Result<Outcome, StandaloneError> {
    let (model, timing) = match spec {
        EngineSpec::Gcm(spec) => return Ok(gcm::run(spec, bench)?),
        EngineSpec::Other(spec) => (spec.model(), spec.timing()),
    };
    let (mut timing, format) = (timing.map_err(gcm::StandaloneError::from)?, spec.format());
    let scheme = format.scheme;
    let raw = bench.key(model.key_bits());
    let key = Key::new(format, &raw)?;
    let (passes, buffer_bytes) = passes(&*model, bench)?;
    let mut start = 0;
    let mut messages = Vec::new();
    for number in 0..bench.messages {
        let Drawn { iv: nonce, aad, text: plain } = bench.message(number, scheme.nonce_bytes() as u64);
        let mut cipher = plain.clone();
        let tag = key.seal(&nonce, &aad, &mut cipher)?;
        let (input, output) = bench.ways(plain, cipher);
        // The first message starts with its key.
        let begins = if number == 0 { timing.load_key(0) } else { start };
        let dates = timing.message(begins, &Shape::new(aad.len() as u64, input.len() as u64, bench.direction));
        if let Some(mut engine) = model.registers() {
            let seen = engine.message([&raw, &nonce, &aad, &input], bench.direction);
            let what = [
                ("output", seen.output == output),
                ("tag", seen.tag == tag),
                ("timing", Dates { verdict: dates.verdict, ..seen.dates.counted_from(begins) } == dates),
            ];
            if let Some((what, _)) = what.into_iter().find(|(_, right)| !right) {
                return Err(gcm::StandaloneError::from(Wrong { message: number + 1, what }).into());
            }
        }
        let Dates { first_input, first_text, last_text, tag: tag_cycle, .. } = dates;
        let stages = Stages { start, first_input, first_text, last_text, end: dates.done() };
        let bytes: [&[u8]; 5] = [&nonce, &aad, &input, &output, &tag];
        messages.push(MessageOutcome {
            tag_from_start_cycles: Some(tag_cycle - start),
            buffer_bytes: Some(buffer_bytes),
            ..MessageOutcome::new(stages.metrics(0, bench.blocks), tag_cycle, bytes)
        });
        start = dates.done();
    }
    Ok(Outcome { scheme: scheme.name(), passes, key: hex::encode(&raw), messages, trace: None })
}

/// How often text passes, and what of it is held in between.
fn passes(model: &dyn Model, bench: &Bench) -> Result<(u32, u64), StandaloneError> {
    match (model.buffer(), bench.direction) {
        (Some(buffer), SealOpen::Seal) => {
            let message = Bytes(16 * bench.blocks);
            if message <= buffer { Ok((2, message.0)) } else { Err(StandaloneError::Buffer { message, buffer }) }
        }
        _ => Ok((1, 0)),
    }
}
