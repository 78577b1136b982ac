//! The structural engine: every register of the configured hardware, cycle by cycle, with its value.
//!
//! Its ports and its contract are those of [`timing`](super::timing), which shows the same cycles without values; tests
//! hold the two together. Here a cycle is [`Engine::step`]: what was loaded, started or offered before the call happens in
//! that cycle.

mod hashing;
mod looks;
mod registers;
mod sequence;
use super::aes::{Lane, RoundKeys};
use super::control::{ControlSpec, FirstCounter, Inputs, Keystream, Mask, Start};
use super::counter;
use super::field::Element;
use super::ghash::{Datapath, GhashUnit};
use super::message::{SealOpen, Shape};
use super::spec::{GcmSpec, SpecError};
use hashing::Hasher;
pub use looks::{Look, Purpose};
pub use registers::Register;
pub use sequence::Phase;
use sequence::Sequence;
use std::collections::VecDeque;
use thiserror::Error;

/// Why the engine refuses a key or a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum EngineError {
    #[error("a key of {got} bits in an engine for {expected}")]
    KeyBits { expected: u32, got: usize },
    #[error("a key may not be loaded while messages or another key's H and powers are in the engine")]
    InUse,
    #[error("a message may not start before a key is loaded")]
    NoKey,
    #[error("an empty IV: GCM needs at least one byte")]
    EmptyIv,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// All that depends on the key is valid: messages may start.
    KeyReady,
    /// A phase of a message begins, in an engine that is driven phase by phase.
    Phase(Phase),
    /// An AAD block came in: into GHASH, or into the registers before it.
    Aad,
    /// Text blocks were taken.
    Taken(u32),
    /// Text is valid at the output: one block, the last of a message maybe short.
    Text(Vec<u8>),
    /// A further tag of the oldest message is valid, that of a chain after the first. Comes before [`Event::Tag`], in its cycle.
    ChainTag(u32, [u8; 16]),
    /// The tag of the oldest message is valid; of several, that of the first chain.
    Tag([u8; 16]),
}

#[derive(Debug, Clone, Copy)]
enum KeyState {
    Expanding { until: u64 },
    MakingH,
    MakingPowers,
    Settling { until: u64 },
    Ready,
}

#[derive(Debug, Clone)]
struct EngineMessage {
    shape: Shape,
    iv: Vec<u8>,
    aad: Vec<u8>,
    j0: Option<[u8; 16]>,
    /// Whether the mask comes behind the keystream.
    mask_last: bool,
    /// AES blocks that have entered a lane.
    blocks_started: u64,
    /// AAD blocks that have come in, where registers hold them before GHASH.
    aad_taken: u64,
    /// Text blocks taken from the input, XORed with keystream that was made ahead, and sent to GHASH.
    taken: u64,
    crossed: u64,
    hashed: u64,
    /// The GHASH unit that works on the message.
    hasher: Option<usize>,
    masks: Vec<Option<Element>>,
    values: Option<Vec<Element>>,
    /// The tags, and the cycle from which they are valid.
    tags: Option<(u64, Vec<[u8; 16]>)>,
}

impl EngineMessage {
    const fn all_started(&self) -> bool {
        self.blocks_started == self.aes_blocks()
    }

    const fn aes_blocks(&self) -> u64 {
        self.shape.text_blocks() + self.masks.len() as u64
    }

    /// AES block `block` in the order that has masks first.
    const fn standard(&self, block: u64) -> u64 {
        let text = self.shape.text_blocks();
        match self.mask_last {
            true if block < text => block + self.masks.len() as u64,
            true => block - text,
            false => block,
        }
    }

    /// The counter block of AES block `block`, and the mask that it makes, if it makes one.
    fn aes_block(&self, j0: [u8; 16], block: u64) -> ([u8; 16], Option<usize>) {
        let (masks, standard) = (self.masks.len() as u64, self.standard(block));
        (counter::of_block(j0, standard, masks), (standard < masks).then_some(standard as usize))
    }

    /// Whether a control that says when counters begin speaks of AES block `block`: the first counter, or a mask behind no text.
    const fn begins(&self, block: u64) -> bool {
        let first = if self.mask_last { 0 } else { self.masks.len() as u64 };
        block == first
    }

    /// Bytes of the next text block to be taken.
    fn next_block(&self) -> usize {
        (self.shape.text_bytes - 16 * self.taken).min(16) as usize
    }
}

#[derive(Debug, Clone)]
pub struct Engine {
    spec: GcmSpec,
    control: ControlSpec,
    sequence: Sequence,
    cycle: u64,
    keys: Option<(RoundKeys, KeyState)>,
    lanes: Vec<Lane<Purpose>>,
    /// Keystream blocks begun in the life of the engine, and those begun and not yet used.
    begun: u64,
    reserved: u64,
    /// Cycle in which the last AES block of a message entered its lane, while no message has followed.
    counters_ended: Option<u64>,
    keystream: VecDeque<Element>,
    text: VecDeque<u8>,
    /// Ciphertext in transit to GHASH, on seal.
    output: VecDeque<Element>,
    hashers: Vec<Hasher>,
    open: VecDeque<EngineMessage>,
    waiting: VecDeque<EngineMessage>,
    /// The GHASH values of the message that was hashed last, by chain.
    values: Vec<Element>,
}

impl Engine {
    /// An engine at rest in cycle 0, without a key.
    pub fn new(spec: &GcmSpec) -> Result<Self, SpecError> {
        spec.check()?;
        let rounds = spec.rounds()?;
        let control = spec.control.clone().unwrap_or_default();
        let lane = || Lane::controlled(&spec.aes, &control, rounds);
        let hasher = |_| Hasher::new(GhashUnit::new(&spec.ghash), &control);
        let hashers = (0..spec.ghash.messages()).map(hasher).collect();
        Ok(Self {
            spec: spec.clone(),
            sequence: Sequence::default(),
            cycle: 0,
            keys: None,
            lanes: (0..spec.aes.lanes).map(|_| lane()).collect(),
            control,
            begun: 0,
            reserved: 0,
            counters_ended: None,
            keystream: VecDeque::new(),
            text: VecDeque::new(),
            output: VecDeque::new(),
            hashers,
            open: VecDeque::new(),
            waiting: VecDeque::new(),
            values: Vec::new(),
        })
    }

    /// The cycle that the next [`Engine::step`] works.
    pub const fn cycle(&self) -> u64 {
        self.cycle
    }

    pub fn idle(&self) -> bool {
        self.open.is_empty() && self.waiting.is_empty()
    }

    /// Loads a key in this cycle.
    pub fn load_key(&mut self, key: &[u8]) -> Result<(), EngineError> {
        let wrong = EngineError::KeyBits { expected: self.spec.key_bits, got: 8 * key.len() };
        let loading =
            matches!(self.keys, Some((_, KeyState::MakingH | KeyState::MakingPowers | KeyState::Settling { .. })));
        if !self.idle() || loading {
            return Err(EngineError::InUse);
        }
        let keys = RoundKeys::expand(key).filter(|_| 8 * key.len() == self.spec.key_bits as usize).ok_or(wrong)?;
        let expansion = self.control.key_load.0 + self.spec.key_setup.0 + self.control.schedule(keys.rounds());
        self.keys = Some((keys, KeyState::Expanding { until: self.cycle + expansion }));
        Ok(())
    }

    /// Starts a message in this cycle.
    pub fn start(&mut self, iv: &[u8], aad: &[u8], text_bytes: u64, direction: SealOpen) -> Result<(), EngineError> {
        if iv.is_empty() {
            return Err(EngineError::EmptyIv);
        }
        if self.keys.is_none() {
            return Err(EngineError::NoKey);
        }
        let shape = Shape { iv_bytes: iv.len() as u64, aad_bytes: aad.len() as u64, text_bytes, direction };
        self.waiting.push_back(EngineMessage {
            shape,
            iv: iv.to_vec(),
            aad: aad.to_vec(),
            j0: <&[u8; 12]>::try_from(iv).ok().map(counter::j0_of_96_bits),
            mask_last: self.control.mask != Mask::First,
            blocks_started: 0,
            aad_taken: 0,
            taken: 0,
            crossed: 0,
            hashed: 0,
            hasher: None,
            masks: vec![None; self.spec.ghash.tags() as usize],
            values: None,
            tags: None,
        });
        Ok(())
    }

    /// Text that is visible from this cycle on. It belongs to the messages in the order of their starts.
    pub fn offer(&mut self, text: &[u8]) {
        self.text.extend(text);
    }

    /// Works one cycle and goes to the next. What happens is added to `events` with its cycle.
    pub fn step(&mut self, events: &mut Vec<(u64, Event)>) {
        self.work(events);
        self.clock(&mut |_, _| {});
    }

    fn work(&mut self, events: &mut Vec<(u64, Event)>) {
        self.advance_key(events);
        self.retire(events);
        self.sequence_hashing();
        self.advance_phase(events);
        self.feed_hash(events);
        self.see_end_of_aad();
        // A lane that stood still takes a block in the cycle in which text makes room at its end.
        match self.control.keystream {
            Keystream::Ahead => {
                self.start_blocks();
                self.take_text(events);
            }
            Keystream::Frozen => {
                self.take_text(events);
                self.start_blocks();
            }
            Keystream::WithText => {
                self.delay_aad(events);
                self.enter_text(events);
                self.start_blocks();
            }
        }
        self.feed_length();
        self.make_tag();
        if self.control.tag_at_once {
            self.retire(events);
        }
    }

    /// The stages of a key load that end without a clock edge.
    fn advance_key(&mut self, events: &mut Vec<(u64, Event)>) {
        let Some((keys, state)) = &mut self.keys else { return };
        if let KeyState::Expanding { until } = *state
            && self.cycle >= until
            && self.lanes[0].free()
        {
            self.lanes[0].start(keys, [0; 16], Purpose::H);
            self.sequence.h_entered = self.cycle;
            *state = KeyState::MakingH;
        }
        if matches!(state, KeyState::MakingPowers) && self.hashers.iter().all(|hasher| hasher.unit.ready()) {
            let settle = if self.control.inputs == Inputs::Key { 0 } else { self.control.settle.0 };
            *state = KeyState::Settling { until: self.cycle + settle };
        }
        if let KeyState::Settling { until } = *state
            && self.cycle >= until
        {
            *state = KeyState::Ready;
            events.push((self.cycle, Event::KeyReady));
        }
    }

    /// Lets go of messages whose tag is valid, and opens others in their place.
    fn retire(&mut self, events: &mut Vec<(u64, Event)>) {
        let cycle = self.cycle;
        if let Some((_, tags)) =
            self.open.front().and_then(|message| message.tags.as_ref()).filter(|tags| tags.0 <= cycle)
        {
            let further = (1_u32..).zip(&tags[1..]).map(|(chain, &tag)| Event::ChainTag(chain, tag));
            events.extend(further.chain([Event::Tag(tags[0])]).map(|event| (cycle, event)));
            self.open.pop_front();
        }
        while self.may_open()
            && let Some(message) = self.waiting.pop_front()
        {
            self.open.push_back(message);
            self.sequence.fresh = true;
        }
    }

    /// Starts AES blocks in order, masks before or behind the keystream, as far as lanes and the keystream FIFO have room.
    fn start_blocks(&mut self) {
        if !self.key_serves() || self.lane_stands_still() {
            return;
        }
        let Some(index) = self.open.iter().position(|message| !message.all_started()) else { return };
        let (counters_open, mask_open) = (self.counters_may_begin(index), self.mask_may_enter(index));
        let with_text = self.control.keystream == Keystream::WithText;
        let counted = self.control.keystream == Keystream::Ahead;
        let (Some((keys, _)), message) = (&self.keys, &mut self.open[index]) else { return };
        let (Some(j0), true) = (message.j0, self.counters_ended.is_none_or(|cycle| cycle < self.cycle)) else { return };
        while !message.all_started() {
            let block = message.blocks_started;
            let (counter, mask) = message.aes_block(j0, block);
            let lane_index = (block % self.lanes.len() as u64) as usize;
            let lane = &mut self.lanes[lane_index];
            let full = counted && self.reserved == u64::from(self.spec.aes.keystream_blocks);
            let open = if mask.is_some() { mask_open } else { !with_text && !full };
            if !lane.free() || !open || (!counters_open && message.begins(block)) {
                return;
            }
            let purpose = mask.map_or(Purpose::Keystream(self.begun), Purpose::Mask);
            if mask.is_none() {
                self.begun += 1;
                self.reserved += 1;
            }
            lane.start(keys, counter, purpose);
            message.blocks_started += 1;
        }
        if message.all_started() {
            self.counters_ended = Some(self.cycle);
        }
    }

    /// Takes text blocks through the ports, one per lane, with their keystream.
    fn take_text(&mut self, events: &mut Vec<(u64, Event)>) {
        let lanes = self.spec.aes.lanes;
        let taken = match self.control.text_register {
            false => (0..lanes).take_while(|_| self.take_block(events)).count(),
            true => {
                // The register is filled in the cycle in which it is emptied.
                (0..lanes).take_while(|_| self.cross_register(events)).for_each(|_| ());
                (0..lanes).take_while(|_| self.fill_register()).count()
            }
        };
        if taken > 0 {
            events.push((self.cycle, Event::Taken(taken as u32)));
        }
    }

    /// A block goes from the port through the XOR.
    fn take_block(&mut self, events: &mut Vec<(u64, Event)>) -> bool {
        let Some(index) = self.next_text() else { return false };
        if !self.text_may_enter(index) || self.text.len() < self.open[index].next_block() || !self.may_cross(index) {
            return false;
        }
        let input = self.take_input(index);
        self.cross(index, input, events)
    }

    /// A block goes from the port into the register before the XOR.
    fn fill_register(&mut self) -> bool {
        let Some(index) = self.next_text() else { return false };
        let room = self.sequence.at_xor.len() < self.lanes.len();
        if !room || !self.text_may_enter(index) || self.text.len() < self.open[index].next_block() {
            return false;
        }
        let input = self.take_input(index);
        self.sequence.at_xor.push_back(input);
        true
    }

    /// A block goes from the register through the XOR.
    fn cross_register(&mut self, events: &mut Vec<(u64, Event)>) -> bool {
        let Some(index) = self.open.iter().position(|message| message.crossed < message.taken) else { return false };
        if !self.may_cross(index) {
            return false;
        }
        let Some(input) = self.sequence.at_xor.pop_front() else { return false };
        self.cross(index, input, events)
    }

    fn take_input(&mut self, index: usize) -> Vec<u8> {
        let length = self.open[index].next_block();
        self.open[index].taken += 1;
        self.text.drain(..length).collect()
    }

    /// Whether keystream is valid, and what is behind the XOR takes a block of open message `index`.
    fn may_cross(&mut self, index: usize) -> bool {
        let way_free = match self.control.by_register(self.open[index].shape.direction) {
            true => self.output.len() < self.lanes.len(),
            false => self.powers_stand() && self.text_unit(index).is_some(),
        };
        way_free && !self.keystream.is_empty()
    }

    /// A block of open message `index` meets its keystream.
    fn cross(&mut self, index: usize, input: Vec<u8>, events: &mut Vec<(u64, Event)>) -> bool {
        let Some(key) = self.keystream.pop_front() else { return false };
        let output: Vec<u8> = input.iter().zip(key.to_bytes()).map(|(byte, key)| byte ^ key).collect();
        self.reserved -= 1;
        let direction = self.open[index].shape.direction;
        let cipher = Element::from_partial(if direction == SealOpen::Seal { &output } else { &input });
        if self.control.by_register(direction) {
            self.output.push_back(cipher);
        } else if let Some(unit) = self.text_unit(index) {
            unit.enter(cipher);
            self.open[index].hashed += 1;
            self.sequence.last_hashed = Some(self.cycle);
        }
        self.open[index].crossed += 1;
        events.push((self.cycle + self.control.output_cycles(), Event::Text(output)));
        true
    }

    fn make_tag(&mut self) {
        for message in &mut self.open {
            let masks = message.masks.iter().copied().collect::<Option<Vec<_>>>();
            if let (Some(values), Some(masks), None) = (&message.values, masks, &message.tags) {
                let at = self.cycle + u64::from(!self.control.tag_at_once) + self.control.output_registers.0;
                let tags = values.iter().zip(masks).map(|(&value, mask)| (value ^ mask).to_bytes()).collect();
                message.tags = Some((at, tags));
            }
        }
    }

    /// To the next cycle; `see` is shown what AES has made for it.
    fn clock(&mut self, see: &mut impl FnMut(u64, Look)) {
        let still = self.lane_stands_still();
        self.cycle += 1;
        let cycle = self.cycle;
        self.hashers.iter_mut().for_each(Hasher::clock);
        let delay = self.control.delay.0;
        if !still {
            self.keystream.extend(self.sequence.clock(self.lanes[0].latency(), delay));
        }
        let Some((keys, state)) = &mut self.keys else { return };
        let mut keystream = Vec::new();
        for (number, lane) in self.lanes.iter_mut().enumerate().filter(|_| !still) {
            let left = lane.clock_seen(keys, |&purpose, round, state| {
                see(cycle, Look::Round { lane: number, purpose, round, state });
            });
            left.iter().for_each(|&(block, purpose)| see(cycle, Look::Left { lane: number, purpose, block }));
            match left {
                Some((h, Purpose::H)) => {
                    self.hashers.iter_mut().for_each(|hasher| hasher.unit.load(h));
                    *state = KeyState::MakingPowers;
                }
                Some((mask, Purpose::Mask(chain))) => {
                    if let Some(message) = self.open.iter_mut().find(|message| message.masks[chain].is_none()) {
                        message.masks[chain] = Some(mask);
                    }
                }
                Some((block, Purpose::Keystream(_))) if delay > 0 => self.sequence.put_behind(block),
                Some((block, Purpose::Keystream(number))) => keystream.push((number, block)),
                None => {}
            }
        }
        keystream.sort_unstable_by_key(|&(number, _)| number);
        self.keystream.extend(keystream.into_iter().map(|(_, block)| block));
    }

    /// Runs until the oldest message's tag is valid; gives the text that came out and the tag, of several the first.
    pub fn run(&mut self, events: &mut Vec<(u64, Event)>) -> Result<(Vec<u8>, [u8; 16]), EngineError> {
        let mut text = Vec::new();
        let mut seen = events.len();
        while !self.idle() {
            self.step(events);
            for (_, event) in &events[seen..] {
                match event {
                    Event::Text(bytes) => text.extend(bytes),
                    Event::Tag(tag) => return Ok((text, *tag)),
                    Event::KeyReady | Event::Phase(_) | Event::Aad | Event::Taken(_) | Event::ChainTag(..) => {}
                }
            }
            seen = events.len();
        }
        Err(EngineError::NoKey)
    }
}
