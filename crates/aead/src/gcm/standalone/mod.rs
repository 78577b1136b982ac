//! An engine on a bench: input always ready, output always taken, nothing around it.
//!
//! ```text
//!   load key, first message          first input   first output      last output         tag
//!        |-------- setup --------------->|--- first --->|----- span ------->|---- tail ---->|
//!        0                                                                                  total
//! ```
//!
//! A [control](super::control::ControlSpec) may say where 0 is.
//!
//! Bytes are real: every output and tag is compared with [`bulk`](super::bulk). Messages follow each other: the next starts in the
//! cycle after the one in which the tag of the one before is valid, under the same key, with its powers kept.

mod trace;

use super::bench::{Bench, Drawn, MessageOutcome, Metrics, Stages, Wrong};
use super::bulk::chains::{ChainFormat, Chains};
use super::bulk::{BulkError, Key};
use super::control::{ControlSpec, Origin};
use super::engine::{Engine, EngineError, Event, Phase};
use super::message::SealOpen;
use super::spec::{GcmSpec, SpecError};
use thiserror::Error;
pub use trace::{BlockTrace, RegisterTrace, Trace};

/// Why there is no result.
#[derive(Debug, Error)]
pub enum StandaloneError {
    /// No such engine can be built.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// The engine refuses key or message.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The reference refuses key or message.
    #[error(transparent)]
    Reference(#[from] BulkError),
    /// The engine gave another output or tag than the reference.
    #[error(transparent)]
    Wrong(#[from] Wrong),
    #[error("message {message}: nothing happened for {cycles} cycles; this engine's control never lets it end")]
    Stuck {
        /// From 1.
        message: u32,
        cycles: u64,
    },
}

#[derive(Debug, Clone)]
pub struct Outcome {
    /// The scheme, as its standard calls it.
    pub scheme: &'static str,
    /// How often text passes through the engine.
    pub passes: u32,
    pub key: String,
    pub messages: Vec<MessageOutcome>,
    /// The first blocks of the first message, register by register.
    pub trace: Option<Trace>,
}

/// Cycles without an event after which an engine is said to stand still; far more than any one stage may be declared to take.
pub(super) const GIVE_UP_AFTER: u64 = if cfg!(test) { 1 << 16 } else { 1 << 26 };

/// Runs an engine alone.
pub fn run(spec: &GcmSpec, bench: &Bench) -> Result<Outcome, StandaloneError> {
    let key = bench.key(spec.key_bits);
    let mut engine = Engine::new(spec)?;
    let reference = Key::new(&key)?;
    engine.load_key(&key)?;
    let trace = (bench.trace_blocks > 0).then(|| trace::Recorder::new(&key, bench.trace_blocks, spec));
    let mut bed = Bed { format: ChainFormat::of(&spec.ghash), engine, trace, events: Vec::new(), read: 0 };
    let messages =
        (0..bench.messages).map(|number| bed.message(&reference, bench, number)).collect::<Result<_, _>>()?;
    let trace = bed.trace.and_then(trace::Recorder::finish);
    Ok(Outcome { scheme: "AES-GCM", passes: 1, key: hex::encode(&key), messages, trace })
}

struct Bed {
    format: ChainFormat,
    engine: Engine,
    trace: Option<trace::Recorder>,
    events: Vec<(u64, Event)>,
    read: usize,
}

#[derive(Debug, Default)]
struct Dates {
    first_input: Option<u64>,
    first_text: Option<u64>,
    last_text: Option<u64>,
    phases: Vec<(Phase, u64)>,
    tag: u64,
}

impl Dates {
    fn note(&mut self, at: u64, event: &Event) {
        match event {
            Event::Aad | Event::Taken(_) => _ = self.first_input.get_or_insert(at),
            Event::Text(_) => {
                self.first_text.get_or_insert(at);
                self.last_text = Some(at);
            }
            Event::Phase(phase) => self.phases.push((*phase, at)),
            Event::Tag(_) => self.tag = at,
            Event::KeyReady | Event::ChainTag(..) => {}
        }
    }

    /// From the start of a phase to `end`; without one, to the start of the next.
    fn phase(&self, phase: Phase, end: Option<u64>) -> Option<i64> {
        let index = self.phases.iter().position(|(known, _)| *known == phase)?;
        let next = self.phases.get(index + 1).map(|(_, at)| *at);
        Some((end.or(next)? - self.phases[index].1).cast_signed())
    }

    /// What the start of message `number` counts as; none where nothing came in to count from.
    fn origin(&self, control: &ControlSpec, start: u64, number: u32) -> Option<i64> {
        let offset = i64::from(control.offset);
        match control.origin {
            Origin::FirstInput => Some(offset - (self.first_input? - start).cast_signed()),
            Origin::Expansion if number == 0 => Some(offset - control.key_load.0.cast_signed()),
            Origin::KeyLoaded if number == 0 => Some(offset),
            Origin::Expansion | Origin::KeyLoaded => Some(0),
        }
    }

    fn metrics(&self, start: u64, origin: Option<i64>, blocks: u64) -> Metrics {
        let Self { first_input, first_text, last_text, tag: end, .. } = *self;
        let stages = Stages { start, first_input, first_text, last_text, end };
        let all = origin.map_or_else(|| stages.span(blocks), |origin| stages.metrics(origin, blocks));
        let made = self.phases.iter().find(|(phase, _)| *phase != Phase::Mask);
        let Some((_, mask)) = made else { return all };
        let has_text = first_text.is_some();
        Metrics {
            h_and_mask_cycles: origin.map(|origin| (mask - start).cast_signed() + origin),
            aad_cycles: self.phase(Phase::Aad, None),
            first_text_output_cycles: self.phase(Phase::Text, first_text).filter(|_| has_text),
            last_text_output_cycles: self.phase(Phase::Text, last_text).filter(|_| has_text),
            length_to_tag_cycles: self.phase(Phase::Length, Some(end)),
            ..all
        }
    }
}

impl Bed {
    fn message(&mut self, reference: &Key, bench: &Bench, number: u32) -> Result<MessageOutcome, StandaloneError> {
        let Drawn { iv, aad, text: plain } = bench.message(number, 12);
        let mut cipher = plain.clone();
        let mut chains = Chains::new(self.format, reference, &iv, &aad, SealOpen::Seal)?;
        chains.update(reference, &mut cipher);
        let expected: Vec<u8> = chains.on_wire(reference);
        let (input, output) = bench.ways(plain, cipher);
        let start = self.engine.cycle();
        if let Some(trace) = self.trace.as_mut().filter(|_| number == 0) {
            trace.begin(reference, &iv, &aad, &input, bench.direction)?;
        }
        self.engine.start(&iv, &aad, input.len() as u64, bench.direction)?;
        self.engine.offer(&input);
        let (dates, text, tag) = self.drive(number)?;
        for (what, right) in [("output", text == output), ("tag", tag == expected)] {
            if !right {
                return Err(Wrong { message: number + 1, what }.into());
            }
        }
        let bytes: [&[u8]; 5] = [&iv, &aad, &input, &output, &tag];
        let origin = dates.origin(self.engine.control(), start, number);
        Ok(MessageOutcome::new(dates.metrics(start, origin, bench.blocks), dates.tag, bytes))
    }

    fn drive(&mut self, number: u32) -> Result<(Dates, Vec<u8>, Vec<u8>), StandaloneError> {
        let (mut dates, mut text, mut further, mut quiet) = (Dates::default(), Vec::new(), Vec::new(), 0);
        loop {
            self.engine.step(&mut self.events);
            if let Some(trace) = &mut self.trace {
                trace.look(&mut self.engine);
            }
            quiet = if self.read < self.events.len() { 0 } else { quiet + 1 };
            if quiet == GIVE_UP_AFTER {
                return Err(StandaloneError::Stuck { message: number + 1, cycles: quiet });
            }
            for (at, event) in self.events.drain(..) {
                dates.note(at, &event);
                match event {
                    Event::Text(bytes) => text.extend(bytes),
                    Event::ChainTag(_, tag) => further.extend(tag),
                    Event::Tag(tag) => return Ok((dates, text, [&tag[..], &further].concat())),
                    _ => {}
                }
            }
        }
    }
}
