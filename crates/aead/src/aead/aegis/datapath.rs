//! The registers of an AEGIS engine, cycle by cycle, from single AES rounds.

use super::{Aegis, Form, LAST_UPDATES};
use crate::aead::model::{Event, Registers};
use crate::gcm::message::SealOpen;
use crate::gcm::spec::SpecError;
use aes::{Block, hazmat};

const C0: [u8; 16] = [0x00, 0x01, 0x01, 0x02, 0x03, 0x05, 0x08, 0x0d, 0x15, 0x22, 0x37, 0x59, 0x90, 0xe9, 0x79, 0x62];
const C1: [u8; 16] = [0xdb, 0x3d, 0x18, 0x55, 0x6d, 0xc2, 0x2f, 0xf1, 0x20, 0x11, 0x31, 0x42, 0x73, 0xb5, 0x28, 0xdd];

fn xor(one: &Block, other: &Block) -> Block {
    let mut block = *one;
    block.iter_mut().zip(other).for_each(|(byte, other)| *byte ^= other);
    block
}

fn and(one: &Block, other: &Block) -> Block {
    let mut block = *one;
    block.iter_mut().zip(other).for_each(|(byte, other)| *byte &= other);
    block
}

/// The state of one lane: as many blocks as the [`Form`] has, then zeroes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lane(pub [Block; 8]);

/// Text that an update takes in one lane: the second block of AEGIS-128L only.
type Words = [Block; 2];

impl Lane {
    /// Key and nonce with the constants.
    fn loaded(form: Form, key: &Words, nonce: &Words) -> Self {
        let [c0, c1, none] = [Block::from(C0), Block::from(C1), Block::default()];
        Self(match form {
            Form::Wide256 => [
                xor(&key[0], &nonce[0]),
                xor(&key[1], &nonce[1]),
                c1,
                c0,
                xor(&key[0], &c0),
                xor(&key[1], &c1),
                none,
                none,
            ],
            Form::Long128 => {
                let (mixed, [key, _]) = (xor(&key[0], &nonce[0]), key);
                [mixed, c1, c0, c1, mixed, xor(key, &c0), xor(key, &c1), xor(key, &c0)]
            }
        })
    }

    /// AES rounds side by side, each of the left neighbour's block under the own one.
    pub fn updated(&self, form: Form, message: &Words) -> Self {
        let (before, blocks) = (&self.0, form.blocks());
        let mut after = *before;
        for (index, block) in after[..blocks].iter_mut().enumerate() {
            let own = match (index, form) {
                (0, _) => xor(&before[0], &message[0]),
                (4, Form::Long128) => xor(&before[4], &message[1]),
                _ => before[index],
            };
            *block = before[(index + blocks - 1) % blocks];
            hazmat::cipher_round(block, &own);
        }
        Self(after)
    }

    fn keystream(&self, form: Form) -> Words {
        let [_, s1, s2, s3, s4, s5, s6, s7] = &self.0;
        match form {
            Form::Wide256 => [xor(&xor(&xor(s1, s4), s5), &and(s2, s3)), Block::default()],
            Form::Long128 => [xor(&xor(s6, s1), &and(s2, s3)), xor(&xor(s2, s5), &and(s6, s7))],
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    form: Form,
    pub lanes: Vec<Lane>,
}

impl State {
    fn zero(form: Form, lanes: u32) -> Self {
        Self { form, lanes: vec![Lane([Block::default(); 8]); lanes as usize] }
    }

    fn loaded(form: Form, lanes: u32, key: &Words, nonce: &Words) -> Self {
        Self { form, lanes: vec![Lane::loaded(form, key, nonce); lanes as usize] }
    }

    /// With key and nonce mixed in: ready for AAD or text.
    pub fn mixed(form: Form, lanes: u32, key: &[u8], nonce: &[u8]) -> Self {
        let (key, nonce) = (words(key), words(nonce));
        let mut state = Self::loaded(form, lanes, &key, &nonce);
        for number in 0..form.first_updates() {
            state = state.mixed_once(number, &key, &nonce);
        }
        state
    }

    /// After first update `number`.
    fn mixed_once(mut self, number: u64, key: &Words, nonce: &Words) -> Self {
        let half = number as usize % 2;
        let words = match self.form {
            Form::Long128 => [nonce[0], key[0]],
            Form::Wide256 if number % 4 < 2 => [key[half], Block::default()],
            Form::Wide256 => [xor(&key[half], &nonce[half]), Block::default()],
        };
        self.separate();
        self.updated(&vec![words; self.lanes.len()])
    }

    /// Keeps the lanes apart: number and count of lanes into two blocks of each. Nothing with one lane.
    fn separate(&mut self) {
        let last = self.lanes.len() as u8 - 1;
        let into = match self.form {
            Form::Long128 => [3, 7],
            Form::Wide256 => [3, 5],
        };
        for (number, lane) in self.lanes.iter_mut().enumerate() {
            for index in into {
                lane.0[index][0] ^= number as u8;
                lane.0[index][1] ^= last;
            }
        }
    }

    /// The keystream for the text of the next update: the first block of each lane, then the second.
    pub fn keystream(&self) -> impl Iterator<Item = u8> {
        let word = move |word: usize| self.lanes.iter().flat_map(move |lane| lane.keystream(self.form)[word].0);
        (0..self.form.words()).flat_map(word)
    }

    /// Takes the next text, at most as much as an update takes, padded with zeroes.
    pub fn update(&mut self, text: &[u8]) {
        let (form, lanes) = (self.form, self.lanes.len());
        debug_assert!(text.len() <= 16 * lanes * form.words());
        let word = |number: usize| {
            let piece = text.get(16 * number..).unwrap_or_default();
            block(&piece[..piece.len().min(16)])
        };
        for (number, lane) in self.lanes.iter_mut().enumerate() {
            *lane = lane.updated(form, &[word(number), word(lanes + number)]);
        }
    }

    fn updated(&self, message: &[Words]) -> Self {
        let lanes = self.lanes.iter().zip(message).map(|(lane, message)| lane.updated(self.form, message)).collect();
        Self { form: self.form, lanes }
    }

    /// Mixes the lengths in, in bytes.
    pub fn mix_lengths(&mut self, aad: u64, text: u64) {
        let lengths = self.lengths(aad, text);
        for _ in 0..LAST_UPDATES {
            *self = self.updated(&lengths);
        }
    }

    /// What the last updates take, of each lane.
    fn lengths(&self, aad: u64, text: u64) -> Vec<Words> {
        let mut bits = Block::default();
        bits[..8].copy_from_slice(&(8 * aad).to_le_bytes());
        bits[8..].copy_from_slice(&(8 * text).to_le_bytes());
        let of = match self.form {
            Form::Long128 => 2,
            Form::Wide256 => 3,
        };
        self.lanes.iter().map(|lane| [xor(&lane.0[of], &bits); 2]).collect()
    }

    /// The tag, once the lengths are mixed in: blocks of all lanes, added. A tag of 32 bytes has those of each half of the lanes' blocks, one of 16
    /// bytes all of them, but for the last one of AEGIS-128L.
    pub fn tag(&self, bytes: usize) -> Vec<u8> {
        let sum = |blocks: std::ops::Range<usize>| {
            let all = self.lanes.iter().flat_map(|lane| &lane.0[blocks.clone()]);
            all.fold(Block::default(), |sum, block| xor(&sum, block))
        };
        match (self.form, bytes) {
            (Form::Wide256, 32) => [sum(0..3), sum(3..6)].concat(),
            (Form::Wide256, _) => sum(0..6).to_vec(),
            (Form::Long128, 32) => [sum(0..4), sum(4..8)].concat(),
            (Form::Long128, _) => sum(0..7).to_vec(),
        }
    }
}

#[derive(Debug, Clone)]
struct DatapathMessage {
    key: Words,
    nonce: Words,
    aad: Vec<u8>,
    text: Vec<u8>,
    direction: SealOpen,
    updates: u64,
    /// What the last updates take, of each lane.
    lengths: Vec<Words>,
}

/// An engine with its values: [`Datapath::start`], then [`Datapath::step`] once per cycle.
#[derive(Debug, Clone)]
pub struct Datapath {
    round: u64,
    tag_bytes: usize,
    state: State,
    /// The state after the update in progress, and the cycles until it is valid.
    pending: Option<(State, u64)>,
    message: Option<DatapathMessage>,
    output: Option<Vec<u8>>,
    tag: Option<Vec<u8>>,
    cycle: u64,
}

impl Datapath {
    pub fn new(engine: Aegis<'_>) -> Result<Self, SpecError> {
        let Aegis { form, spec } = engine;
        spec.check()?;
        let (state, round, tag_bytes) = (State::zero(form, spec.lanes), spec.round.0, spec.tag_bytes() as usize);
        Ok(Self { round, tag_bytes, state, pending: None, message: None, output: None, tag: None, cycle: 0 })
    }

    pub fn state(&self) -> &[Lane] {
        &self.state.lanes
    }
}

impl Registers for Datapath {
    fn cycle(&self) -> u64 {
        self.cycle
    }

    fn start(&mut self, key: &[u8], nonce: &[u8], aad: &[u8], text: &[u8], direction: SealOpen) {
        let (key, nonce) = (words(key), words(nonce));
        self.pending = Some((State::loaded(self.state.form, self.state.lanes.len() as u32, &key, &nonce), 1));
        let (aad, text) = (aad.to_vec(), text.to_vec());
        self.message = Some(DatapathMessage { key, nonce, aad, text, direction, updates: 0, lengths: Vec::new() });
    }

    fn step(&mut self, see: &mut dyn FnMut(u64, Event)) {
        if let Some((state, left)) = self.pending.take() {
            match left {
                0 => self.state = state,
                _ => self.pending = Some((state, left)),
            }
        }
        if let Some(text) = self.output.take() {
            see(self.cycle, Event::Text(text));
        }
        if let Some(tag) = self.tag.take() {
            see(self.cycle, Event::Tag(tag));
        }
        if self.pending.is_none()
            && let Some(message) = self.message.take()
        {
            self.work(message, see);
        }
        if let Some((_, left)) = &mut self.pending {
            *left -= 1;
        }
        self.cycle += 1;
    }
}

impl Datapath {
    /// Begins the next update, or makes the tag if all are done.
    fn work(&mut self, mut message: DatapathMessage, see: &mut dyn FnMut(u64, Event)) {
        let (form, lanes) = (self.state.form, self.state.lanes.len());
        let (width, first) = (16 * form.words() * lanes, form.first_updates());
        let (aad, text) = (message.aad.len().div_ceil(width) as u64, message.text.len().div_ceil(width) as u64);
        let number = message.updates;
        message.updates += 1;
        if number < first {
            let state = self.state.clone().mixed_once(number, &message.key, &message.nonce);
            self.pending = Some((state, self.round));
        } else if number < first + aad {
            see(self.cycle, Event::Aad);
            let at = (number - first) as usize * width;
            self.update(&message.aad[at..message.aad.len().min(at + width)]);
        } else if number < first + aad + text {
            see(self.cycle, Event::Taken);
            let at = (number - first - aad) as usize * width;
            let input = &message.text[at..message.text.len().min(at + width)];
            let output: Vec<u8> = input.iter().zip(self.state.keystream()).map(|(byte, key)| byte ^ key).collect();
            let plain = if message.direction == SealOpen::Seal { input } else { &output };
            self.update(plain);
            self.output = Some(output);
        } else if number < first + aad + text + LAST_UPDATES {
            if message.lengths.is_empty() {
                message.lengths = self.state.lengths(message.aad.len() as u64, message.text.len() as u64);
            }
            self.pending = Some((self.state.updated(&message.lengths), self.round));
        } else {
            self.tag = Some(self.state.tag(self.tag_bytes));
            return;
        }
        self.message = Some(message);
    }

    fn update(&mut self, text: &[u8]) {
        let mut state = self.state.clone();
        state.update(text);
        self.pending = Some((state, self.round));
    }
}

/// One block or two.
fn words(bytes: &[u8]) -> Words {
    let (first, second) = bytes.split_at(bytes.len().min(16));
    [block(first), block(&second[..second.len().min(16)])]
}

/// Up to 16 bytes, padded with zeroes.
fn block(bytes: &[u8]) -> Block {
    let mut block = Block::default();
    block[..bytes.len()].copy_from_slice(bytes);
    block
}
