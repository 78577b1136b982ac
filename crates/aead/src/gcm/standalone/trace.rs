//! Per-stage golden values: what each stage of a datapath should show.

use crate::gcm::aes::RoundKeys;
use crate::gcm::bulk::{BulkError, Key};
use crate::gcm::counter;
use crate::gcm::engine::Engine;
use crate::gcm::field::Element;
use crate::gcm::message::SealOpen;
use crate::gcm::spec::GcmSpec;
use serde::Serialize;
use std::collections::BTreeMap;

/// The first blocks of a message. All values are 16 bytes in hexadecimal, in the order of the bytes of a block.
#[derive(Debug, Clone, Serialize)]
pub struct Trace {
    /// H = E(K, 0).
    pub h: String,
    pub j0: String,
    /// E(K, J0).
    pub mask: String,
    pub blocks: Vec<BlockTrace>,
    /// The GHASH unit's accumulators, each time that one of them changed, as long as the traced blocks were in transit.
    pub accumulators: Vec<RegisterTrace>,
}

#[derive(Debug, Clone, Serialize)]
pub struct BlockTrace {
    /// From 0.
    pub block: u64,
    pub counter: String,
    /// The AES state after round 0 (the first key addition) to the last round, which is the keystream.
    pub aes_rounds: Vec<String>,
    pub input: String,
    pub output: String,
    /// The standard's Y after this block: Horner's rule over AAD and ciphertext so far.
    pub y: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RegisterTrace {
    /// The first cycle in which it shows it.
    pub cycle: u64,
    pub name: &'static str,
    /// Its index among those of that name.
    pub index: usize,
    pub value: String,
}

fn shown(element: Element) -> String {
    hex::encode(element.to_bytes())
}

#[derive(Debug)]
pub(super) struct Recorder {
    keys: Option<RoundKeys>,
    blocks: u64,
    trace: Option<Trace>,
    seen: BTreeMap<(&'static str, usize), u128>,
    /// Cycles that a product may still take once the last traced block has entered GHASH; none before and after that.
    left: Option<u64>,
    settling: u64,
}

impl Recorder {
    pub(super) fn new(key: &[u8], blocks: u64, spec: &GcmSpec) -> Self {
        // Twice a product and its way into an accumulator.
        let settling = 2 * spec.ghash.multiplier().latency() + 4;
        Self { keys: RoundKeys::expand(key), blocks, trace: None, seen: BTreeMap::new(), left: None, settling }
    }

    /// The golden values of the first message.
    pub(super) fn begin(
        &mut self,
        reference: &Key,
        iv: &[u8],
        aad: &[u8],
        input: &[u8],
        direction: SealOpen,
    ) -> Result<(), BulkError> {
        let Some(keys) = &self.keys else { return Ok(()) };
        let (h, j0) = (reference.h(), reference.j0(iv)?);
        let mut y = aad.chunks(16).fold(Element::ZERO, |y, block| (y ^ Element::from_partial(block)).times(h));
        let blocks = input.chunks(16).zip(0..self.blocks).map(|(input, block)| {
            let counter = counter::advanced(j0, block as u32 + 1);
            let rounds = keys.states(counter);
            let (input, keystream) = (Element::from_partial(input), rounds.last().copied().unwrap_or_default());
            let output = input ^ keystream;
            y = (y ^ if direction == SealOpen::Seal { output } else { input }).times(h);
            BlockTrace {
                block,
                counter: hex::encode(counter),
                aes_rounds: rounds.into_iter().map(shown).collect(),
                input: shown(input),
                output: shown(output),
                y: shown(y),
            }
        });
        let blocks = blocks.collect();
        let mask = hex::encode(reference.encrypt_block(j0));
        self.trace = Some(Trace { h: shown(h), j0: hex::encode(j0), mask, blocks, accumulators: Vec::new() });
        self.left = Some(self.settling);
        Ok(())
    }

    pub(super) fn look(&mut self, engine: &mut Engine) {
        let (Some(trace), Some(left)) = (&mut self.trace, &mut self.left) else { return };
        let (seen, cycle) = (&mut self.seen, engine.cycle());
        engine.registers(&mut |unit, name, index, value| {
            let accumulator = unit == "ghash" && ["accumulator", "sum", "total"].contains(&name);
            if accumulator && seen.insert((name, index), *value).unwrap_or_default() != *value {
                trace.accumulators.push(RegisterTrace { cycle, name, index, value: shown(Element(*value)) });
            }
        });
        if engine.hashed() >= self.blocks {
            *left -= 1;
        }
        if *left == 0 {
            self.left = None;
        }
    }

    pub(super) fn finish(self) -> Option<Trace> {
        self.trace
    }
}
