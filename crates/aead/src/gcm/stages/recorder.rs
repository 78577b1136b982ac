//! Watches an engine and writes down its stages.

use super::{Given, Recording, Stage, StageValue, Watch};
use crate::gcm::engine::{Engine, Event, Look, Purpose};
use crate::gcm::field::Element;
use crate::gcm::message::Shape;
use crate::gcm::register::{Field, TABLE, WEIGHTING};
use crate::gcm::spec::GcmSpec;
use crate::gcm::standalone::{GIVE_UP_AFTER, StandaloneError};
use rustc_hash::FxHashMap as Map;

/// The registers of a GHASH unit that hold sums of products.
const ACCUMULATORS: [&str; 3] = ["accumulator", "sum", "total"];

pub(super) struct Recorder<'a> {
    shape: Shape,
    text: std::slice::Chunks<'a, u8>,
    first_key: Option<Element>,
    /// Blocks of text and AAD that are shown.
    blocks: u64,
    /// Cycles that a product may take in transit into an accumulator.
    settling: u64,
    /// Products and accumulators are shown up to this cycle.
    shown_until: u64,
    taken: u64,
    left: u64,
    hashed: u64,
    registers: Map<(&'static str, usize), u128>,
    j0: Option<[u8; 16]>,
    values: usize,
    stages: Vec<StageValue>,
    output: Vec<u8>,
    tags: Vec<[u8; 16]>,
}

impl<'a> Recorder<'a> {
    pub fn new(spec: &GcmSpec, given: &Given<'a>, blocks: u64) -> Self {
        let Given { key, iv, aad, text, direction } = *given;
        let shape =
            Shape { iv_bytes: iv.len() as u64, aad_bytes: aad.len() as u64, text_bytes: text.len() as u64, direction };
        Self {
            shape,
            text: text.chunks(16),
            first_key: key.get(..16).map(Element::from_partial),
            blocks,
            settling: 2 * spec.ghash.multiplier().latency() + 4,
            shown_until: 0,
            taken: 0,
            left: 0,
            hashed: 0,
            registers: Map::default(),
            j0: None,
            values: 0,
            stages: Vec::new(),
            output: Vec::new(),
            tags: Vec::new(),
        }
    }

    pub fn run(mut self, mut engine: Engine, watch: Watch<'_>) -> Result<Recording, StandaloneError> {
        let (mut events, mut quiet) = (Vec::new(), 0);
        loop {
            let (cycle, seen) = (engine.cycle(), self.stages.len());
            engine.step_seen(&mut events, &mut |cycle, look| self.look(cycle, look));
            self.look_at_values(&engine, cycle);
            self.look_at_registers(&mut engine);
            quiet = if events.is_empty() { quiet + 1 } else { 0 };
            let end = events.drain(..).filter_map(|(at, event)| self.note(at, event).then_some(at)).last();
            watch(&mut engine, &self.stages[seen..]);
            if let Some(end) = end {
                return Ok(self.finish(end));
            }
            if quiet == GIVE_UP_AFTER {
                return Err(StandaloneError::Stuck { message: 1, cycles: quiet });
            }
        }
    }

    fn finish(mut self, end: u64) -> Recording {
        // What the last cycles made of registers that nobody reads any more.
        self.stages.retain(|stage| stage.cycle <= end);
        self.stages.sort_by_key(|stage| (stage.cycle, stage.stage));
        Recording { stages: self.stages, output: self.output, tags: self.tags, end }
    }

    const fn shown(&self, block: u64) -> bool {
        block < self.blocks
    }

    /// Notes an event; says whether it is the tag.
    fn note(&mut self, at: u64, event: Event) -> bool {
        match event {
            Event::Taken(blocks) => (0..blocks).for_each(|_| self.take(at)),
            Event::Text(bytes) => {
                if self.shown(self.left) {
                    self.stages.push(StageValue::text_out(at, self.left, bytes.clone()));
                }
                self.left += 1;
                self.output.extend(bytes);
            }
            Event::ChainTag(_, tag) => self.tags.push(tag),
            Event::Tag(tag) => {
                // The first chain's comes last.
                self.tags.insert(0, tag);
                for (chain, tag) in self.tags.iter().enumerate() {
                    let stage = StageValue::new(at, Stage::Tag, *tag);
                    self.stages.push(StageValue { unit: Some(chain), ..stage });
                }
                return true;
            }
            Event::KeyReady | Event::Phase(_) | Event::Aad => {}
        }
        false
    }

    fn take(&mut self, at: u64) {
        let block = self.taken;
        self.taken += 1;
        if let Some(text) = self.text.next().filter(|_| self.shown(block)) {
            self.stages.push(StageValue { block: Some(block), ..StageValue::new(at, Stage::TextIn, text) });
        }
    }

    fn look(&mut self, cycle: u64, look: Look) {
        match look {
            Look::Entered { lane, purpose, state } => {
                let counter = self.first_key.map(|key| key ^ state);
                counter.into_iter().for_each(|counter| self.aes(cycle, Stage::Counter, lane, purpose, None, counter));
                self.aes(cycle, Stage::AesState, lane, purpose, Some(0), state);
            }
            Look::Round { lane, purpose, round, state } => {
                self.aes(cycle, Stage::AesState, lane, purpose, Some(round), state);
            }
            Look::Left { lane, purpose, block } => {
                let stage = match purpose {
                    Purpose::H => Stage::H,
                    Purpose::Mask(_) => Stage::Mask,
                    Purpose::Keystream(_) => Stage::Keystream,
                };
                self.aes(cycle, stage, lane, purpose, None, block);
            }
            Look::Hashed { unit: _, block } => self.hash(cycle, block),
            Look::Product { index, made } if cycle <= self.shown_until || self.hashed == 0 => {
                let (of, unit) = match Field::Part.of(index) {
                    TABLE => ("table", None),
                    WEIGHTING => ("weighting", None),
                    part => ("multiplier", Some(part)),
                };
                self.stages.push(StageValue {
                    of: Some(of),
                    unit,
                    index: Some(Field::Place.of(index)),
                    operands: Some([made.a, made.b].map(Element::to_bytes)),
                    ..StageValue::new(cycle, Stage::Product, made.product.reduce().to_bytes())
                });
            }
            Look::Product { .. } => {}
        }
    }

    fn aes(&mut self, cycle: u64, stage: Stage, lane: usize, purpose: Purpose, round: Option<u32>, value: Element) {
        let (of, block, unit) = match purpose {
            Purpose::H => ("h", None, None),
            Purpose::Mask(chain) => ("mask", None, Some(chain)),
            Purpose::Keystream(block) => ("text", Some(block), None),
        };
        if block.is_some_and(|block| !self.shown(block)) {
            return;
        }
        let of = matches!(stage, Stage::Counter | Stage::AesState).then_some(of);
        let bare = StageValue::new(cycle, stage, value.to_bytes());
        self.stages.push(StageValue { of, block, unit, lane: Some(lane), round, ..bare });
    }

    /// A block enters GHASH: of the IV, of AAD, of text or the lengths.
    fn hash(&mut self, cycle: u64, block: Element) {
        let (iv, aad, text) = (self.shape.iv_blocks(), self.shape.aad_blocks(), self.shape.text_blocks());
        let number = self.hashed;
        self.hashed += 1;
        let (of, place) = match number {
            _ if number < iv => ("iv", Some(number)),
            _ if number < iv + aad => ("aad", Some(number - iv)),
            _ if number < iv + aad + text => ("text", Some(number - iv - aad)),
            _ => ("length", None),
        };
        if place.is_some_and(|place| !self.shown(place)) {
            return;
        }
        // Behind the lengths come the value and the tag.
        self.shown_until = if place.is_none() { u64::MAX } else { self.shown_until.max(cycle + self.settling) };
        let bare = StageValue::new(cycle, Stage::GhashIn, block.to_bytes());
        self.stages.push(StageValue { of: Some(of), block: place, ..bare });
    }

    /// What is valid in the cycle that has been worked.
    fn look_at_values(&mut self, engine: &Engine, cycle: u64) {
        if let (None, Some(j0)) = (self.j0, engine.j0()) {
            self.j0 = Some(j0);
            self.stages.push(StageValue::new(cycle, Stage::J0, j0));
        }
        for (chain, value) in engine.ghash_values().iter().enumerate().skip(self.values) {
            let bare = StageValue::new(cycle, Stage::Ghash, value.to_bytes());
            self.stages.push(StageValue { unit: Some(chain), ..bare });
        }
        self.values = engine.ghash_values().len();
    }

    /// What registers show from the next cycle on.
    fn look_at_registers(&mut self, engine: &mut Engine) {
        let cycle = engine.cycle();
        let accumulators_shown = cycle <= self.shown_until;
        engine.registers(&mut |unit, name, index, value| {
            let stage = match name {
                "power" => Stage::Power,
                name if unit == "ghash" && ACCUMULATORS.contains(&name) => Stage::Accumulator,
                _ => return,
            };
            let changed = self.registers.insert((name, index), *value).unwrap_or_default() != *value;
            if changed && (accumulators_shown || stage == Stage::Power) {
                self.stages.push(StageValue {
                    of: (stage == Stage::Accumulator).then_some(name),
                    unit: Some(Field::Part.of(index)),
                    index: Some(Field::Place.of(index)),
                    ..StageValue::new(cycle, stage, value.to_be_bytes())
                });
            }
        });
    }
}
