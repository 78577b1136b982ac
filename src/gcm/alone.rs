//! An engine on a bench: input always ready, output always taken, nothing around it.
//!
//! ```text
//!   load key, first message          first input   first output      last output         tag
//!        |-------- setup --------------->|--- first --->|----- span ------->|---- tail ---->|
//!        0                                                                                  total
//! ```
//!
//! Bytes are real: every output and tag is compared with [`bulk`](super::bulk). Messages follow each other: the next starts in the
//! cycle after the one in which the tag of the one before stands, under the same key, with its powers kept.

mod trace;

use super::bulk::chains::{Chains, Format};
use super::bulk::{BulkError, Key};
use super::engine::{Engine, EngineError, Event, Phase};
use super::message::Direction;
use super::spec::{EngineSpec, SpecError};
use serde::Serialize;
use sha2::{Digest, Sha256};
use thiserror::Error;
pub use trace::{BlockTrace, RegisterTrace, Trace};

/// What the bench is asked for.
#[derive(Debug, Clone)]
pub struct Bench {
    /// Blocks of AAD.
    pub aad_blocks: u64,
    /// Blocks of text.
    pub blocks: u64,
    /// Which way.
    pub direction: Direction,
    /// Messages, one after the other.
    pub messages: u32,
    /// Where key, IVs, AAD and text come from.
    pub seed: u64,
    /// Blocks of the first message to trace.
    pub trace_blocks: u64,
}

/// Why there is no result.
#[derive(Debug, Error)]
pub enum AloneError {
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
    #[error("message {message}: the engine's {what} is not AES-GCM's")]
    Wrong {
        /// From 1.
        message: u32,
        /// `output` or `tag`.
        what: &'static str,
    },
    /// The engine stood still.
    #[error("message {message}: nothing happened for {cycles} cycles; this engine's control never lets it end")]
    Stuck {
        /// From 1.
        message: u32,
        /// How long.
        cycles: u64,
    },
}

/// The cycles of one message. What does not apply is `None`.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Metrics {
    /// From the start to the first input block, AAD if there is any.
    pub setup_cycles: Option<u64>,
    /// From the first input block to the first text block at the output.
    pub first_output_cycles: Option<u64>,
    /// From the first to the last text block at the output.
    pub output_span_cycles: Option<u64>,
    /// From the last text block at the output to the tag.
    pub tail_cycles: Option<u64>,
    /// From the start to the tag: the sum of the four.
    pub total_cycles: Option<u64>,
    /// `output_span_cycles` per block after the first.
    pub cycles_per_block: Option<f64>,
    /// From the start to H and the mask, of an engine that is driven phase by phase.
    pub h_and_mask_cycles: Option<u64>,
    /// AAD through GHASH, from the phase's start.
    pub aad_cycles: Option<u64>,
    /// First text block at the output, from the phase's start.
    pub first_text_output_cycles: Option<u64>,
    /// Last text block at the output, from the phase's start.
    pub last_text_output_cycles: Option<u64>,
    /// From the start of the length block's phase to the tag.
    pub length_to_tag_cycles: Option<u64>,
}

/// One message: its cycles and its bytes.
#[derive(Debug, Clone, Serialize)]
pub struct MessageOutcome {
    /// Its cycles.
    #[serde(flatten)]
    pub metrics: Metrics,
    /// The cycle in which its tag stands, counted from the start of the first message.
    pub tag_cycle: u64,
    /// The IV, in hexadecimal like all bytes here.
    pub iv: String,
    /// The tag; of several, one behind the other.
    pub tag: String,
    /// SHA-256 of AAD, input and output.
    pub aad_sha256: String,
    /// See `aad_sha256`.
    pub input_sha256: String,
    /// See `aad_sha256`.
    pub output_sha256: String,
    /// AAD, input and output themselves, if each is no longer than [`SHOWN`] bytes.
    pub aad: Option<String>,
    /// See `aad`.
    pub input: Option<String>,
    /// See `aad`.
    pub output: Option<String>,
}

/// Longest byte string that an outcome holds in full.
pub const SHOWN: usize = 1 << 16;

/// What came out.
#[derive(Debug, Clone, Serialize)]
pub struct Outcome {
    /// The key.
    pub key: String,
    /// By message.
    pub messages: Vec<MessageOutcome>,
    /// The first blocks of the first message, register by register.
    pub trace: Option<Trace>,
}

/// Cycles without an event after which an engine is said to stand still; far more than any one stage may be declared to take.
const PATIENCE: u64 = 1 << 26;

/// Runs an engine alone.
///
/// # Errors
/// An engine that cannot be built or never ends, or one whose bytes are not AES-GCM's.
pub fn run(spec: &EngineSpec, bench: &Bench) -> Result<Outcome, AloneError> {
    let key = bytes(bench.seed, "key", 0, spec.key_bits as usize / 8);
    let mut engine = Engine::new(spec)?;
    let reference = Key::new(&key)?;
    let origin = u64::from(engine.control().origin);
    engine.load_key(&key)?;
    let trace = (bench.trace_blocks > 0).then(|| trace::Recorder::new(&key, bench.trace_blocks, spec));
    let mut bed = Bed { format: Format::of(&spec.ghash), engine, trace, events: Vec::new(), read: 0 };
    let messages = (0..bench.messages)
        .map(|number| {
            let origin = if number == 0 { origin } else { 0 };
            bed.message(&reference, bench, number, origin)
        })
        .collect::<Result<_, _>>()?;
    Ok(Outcome { key: hex::encode(&key), messages, trace: bed.trace.and_then(trace::Recorder::finish) })
}

/// Bytes that a seed gives: SHA-256 over seed, label, number and a counter, as long as needed.
pub(crate) fn bytes(seed: u64, label: &str, number: u32, length: usize) -> Vec<u8> {
    let block = |counter: u64| {
        let mut hash = Sha256::new();
        hash.update(seed.to_le_bytes());
        hash.update(label);
        hash.update(number.to_le_bytes());
        hash.update(counter.to_le_bytes());
        hash.finalize()
    };
    (0..).flat_map(block).take(length).collect()
}

struct Bed {
    format: Format,
    engine: Engine,
    trace: Option<trace::Recorder>,
    events: Vec<(u64, Event)>,
    read: usize,
}

/// When things happened, in cycles.
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
    fn phase(&self, phase: Phase, end: Option<u64>) -> Option<u64> {
        let index = self.phases.iter().position(|(known, _)| *known == phase)?;
        let next = self.phases.get(index + 1).map(|(_, at)| *at);
        Some(end.or(next)? - self.phases[index].1)
    }

    fn metrics(&self, start: u64, origin: u64, blocks: u64) -> Metrics {
        let span = self.last_text.zip(self.first_text).map(|(last, first)| last - first);
        let cycles_per_block = span.filter(|_| blocks > 1).map(|span| span as f64 / (blocks - 1) as f64);
        let mut metrics = Metrics { cycles_per_block, output_span_cycles: span, ..Metrics::default() };
        if let Some((_, mask)) = self.phases.first() {
            let has_text = self.first_text.is_some();
            metrics.h_and_mask_cycles = Some(mask - start + origin);
            metrics.aad_cycles = self.phase(Phase::Aad, None);
            metrics.first_text_output_cycles = self.phase(Phase::Text, self.first_text).filter(|_| has_text);
            metrics.last_text_output_cycles = self.phase(Phase::Text, self.last_text).filter(|_| has_text);
            metrics.length_to_tag_cycles = self.phase(Phase::Length, Some(self.tag));
        } else {
            metrics.setup_cycles = self.first_input.map(|at| at - start + origin);
            metrics.first_output_cycles = self.first_text.zip(self.first_input).map(|(text, input)| text - input);
            metrics.tail_cycles = self.last_text.map(|last| self.tag - last);
            metrics.total_cycles = Some(self.tag - start + origin);
        }
        metrics
    }
}

impl Bed {
    fn message(
        &mut self,
        reference: &Key,
        bench: &Bench,
        number: u32,
        origin: u64,
    ) -> Result<MessageOutcome, AloneError> {
        let of = |label, length: u64| bytes(bench.seed, label, number, length as usize);
        let (iv, aad, plain) = (of("iv", 12), of("aad", 16 * bench.aad_blocks), of("text", 16 * bench.blocks));
        let mut cipher = plain.clone();
        let mut chains = Chains::new(self.format, reference, &iv, &aad, Direction::Seal)?;
        chains.update(reference, &mut cipher);
        let expected: Vec<u8> = chains.tags(reference).flatten().collect();
        let (input, output) = match bench.direction {
            Direction::Seal => (plain, cipher),
            Direction::Open => (cipher, plain),
        };
        let start = self.engine.cycle();
        if let Some(trace) = self.trace.as_mut().filter(|_| number == 0) {
            trace.begin(reference, &iv, &aad, &input, bench.direction)?;
        }
        self.engine.start(&iv, &aad, input.len() as u64, bench.direction)?;
        self.engine.offer(&input);
        let (dates, text, tag) = self.drive(number)?;
        let wrong = |what| AloneError::Wrong { message: number + 1, what };
        if text != output {
            return Err(wrong("output"));
        }
        if tag != expected {
            return Err(wrong("tag"));
        }
        let shown = |bytes: &[u8]| (bytes.len() <= SHOWN).then(|| hex::encode(bytes));
        let digest = |bytes: &[u8]| hex::encode(Sha256::digest(bytes));
        Ok(MessageOutcome {
            metrics: dates.metrics(start, origin, bench.blocks),
            tag_cycle: dates.tag,
            iv: hex::encode(&iv),
            tag: hex::encode(tag),
            aad_sha256: digest(&aad),
            input_sha256: digest(&input),
            output_sha256: digest(&output),
            aad: shown(&aad),
            input: shown(&input),
            output: shown(&output),
        })
    }

    /// Steps until the tag stands.
    fn drive(&mut self, number: u32) -> Result<(Dates, Vec<u8>, Vec<u8>), AloneError> {
        let (mut dates, mut text, mut further, mut quiet) = (Dates::default(), Vec::new(), Vec::new(), 0);
        loop {
            self.engine.step(&mut self.events);
            if let Some(trace) = &mut self.trace {
                trace.look(&self.engine);
            }
            quiet = if self.read < self.events.len() { 0 } else { quiet + 1 };
            if quiet == PATIENCE {
                return Err(AloneError::Stuck { message: number + 1, cycles: quiet });
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gcm::arbitrary::{any_controlled_engine, any_engine};
    use proptest::prelude::*;

    fn bench(aad_blocks: u64, blocks: u64, direction: Direction, messages: u32) -> Bench {
        Bench { aad_blocks, blocks, direction, messages, seed: 3, trace_blocks: 2 }
    }

    fn any_bench() -> impl Strategy<Value = Bench> {
        let direction = prop::sample::select(vec![Direction::Seal, Direction::Open]);
        (0..20_u64, 0..60_u64, direction, 1..4_u32)
            .prop_map(|(aad, text, way, messages)| bench(aad, text, way, messages))
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

        #[test]
        fn whatever_its_control_an_engine_gives_aes_gcm(spec in any_controlled_engine(), bench in any_bench()) {
            let outcome = run(&spec, &bench);
            prop_assert!(outcome.is_ok(), "{:?}", outcome.err());
        }

        #[test]
        fn the_four_parts_sum_up_to_the_total(spec in any_engine(), bench in any_bench()) {
            for message in run(&spec, &bench).unwrap().messages {
                let metrics = message.metrics;
                let parts = [metrics.setup_cycles, metrics.first_output_cycles, metrics.output_span_cycles, metrics.tail_cycles];
                if bench.blocks > 0 {
                    prop_assert_eq!(parts.into_iter().sum::<Option<u64>>(), metrics.total_cycles);
                }
            }
        }
    }

    #[test]
    fn a_second_message_finds_key_and_powers() {
        let messages = run(&EngineSpec::four_lanes(), &bench(1, 8, Direction::Seal, 3)).unwrap().messages;
        assert!(messages[0].metrics.total_cycles > messages[1].metrics.total_cycles);
        assert_eq!(messages[1].metrics, messages[2].metrics);
        assert_ne!(messages[1].iv, messages[2].iv);
    }

    #[test]
    fn without_text_what_belongs_to_text_does_not_apply() {
        let metrics = run(&EngineSpec::four_lanes(), &bench(1, 0, Direction::Seal, 1)).unwrap().messages[0].metrics;
        assert!(metrics.setup_cycles.is_some() && metrics.total_cycles.is_some());
        assert_eq!((metrics.first_output_cycles, metrics.output_span_cycles, metrics.tail_cycles), (None, None, None));
        assert_eq!(metrics.cycles_per_block, None);
    }

    #[test]
    fn the_trace_ends_each_block_in_the_keystream_that_it_is_sealed_with() {
        let outcome = run(&EngineSpec::four_lanes(), &bench(2, 5, Direction::Seal, 1)).unwrap();
        let trace = outcome.trace.unwrap();
        assert_eq!(trace.blocks.len(), 2);
        for block in &trace.blocks {
            assert_eq!(block.aes_rounds.len(), 15);
            let [keystream, input, output] = [block.aes_rounds.last().unwrap(), &block.input, &block.output]
                .map(|text| u128::from_str_radix(text, 16).unwrap());
            assert_eq!(keystream ^ input, output);
        }
        let shown = outcome.messages[0].output.as_ref().unwrap();
        assert_eq!(shown[..64], format!("{}{}", trace.blocks[0].output, trace.blocks[1].output));
        assert!(!trace.accumulators.is_empty());
    }
}
