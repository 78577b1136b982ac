//! The registers of an AEGIS-256 engine, cycle by cycle, from single AES rounds.

use super::{Aegis256Spec, FIRST_UPDATES, LAST_UPDATES};
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

/// The state of one lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lane(pub [Block; 6]);

impl Lane {
    /// Key and nonce with the constants.
    fn loaded(key: &[Block; 2], nonce: &[Block; 2]) -> Self {
        let [c0, c1] = [Block::from(C0), Block::from(C1)];
        Self([xor(&key[0], &nonce[0]), xor(&key[1], &nonce[1]), c1, c0, xor(&key[0], &c0), xor(&key[1], &c1)])
    }

    /// Six AES rounds side by side, each of the left neighbour's block under the own one.
    #[must_use]
    pub fn updated(&self, message: &Block) -> Self {
        let before = &self.0;
        let mut after = *before;
        for (index, block) in after.iter_mut().enumerate() {
            let own = if index == 0 { xor(&before[0], message) } else { before[index] };
            *block = before[(index + 5) % 6];
            hazmat::cipher_round(block, &own);
        }
        Self(after)
    }

    fn keystream(&self) -> Block {
        let [_, s1, s2, s3, s4, s5] = &self.0;
        xor(&xor(&xor(s1, s4), s5), &and(s2, s3))
    }
}

/// The states of all lanes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State(pub Vec<Lane>);

impl State {
    fn zero(lanes: u32) -> Self {
        Self(vec![Lane([Block::default(); 6]); lanes as usize])
    }

    /// With key and nonce mixed in: ready for AAD or text.
    #[must_use]
    pub fn mixed(lanes: u32, key: &[u8; 32], nonce: &[u8; 32]) -> Self {
        let (key, nonce) = (halves(key), halves(nonce));
        let mut state = Self(vec![Lane::loaded(&key, &nonce); lanes as usize]);
        for number in 0..FIRST_UPDATES {
            state = state.mixed_once(number, &key, &nonce);
        }
        state
    }

    /// After first update `number`.
    fn mixed_once(mut self, number: u64, key: &[Block; 2], nonce: &[Block; 2]) -> Self {
        let half = number as usize % 2;
        let word = if number % 4 < 2 { key[half] } else { xor(&key[half], &nonce[half]) };
        self.separate();
        self.updated(&vec![word; self.0.len()])
    }

    /// Keeps the lanes apart: number and count of lanes into S3 and S5. Nothing with one lane.
    fn separate(&mut self) {
        let last = self.0.len() as u8 - 1;
        for (number, lane) in self.0.iter_mut().enumerate() {
            for index in [3, 5] {
                lane.0[index][0] ^= number as u8;
                lane.0[index][1] ^= last;
            }
        }
    }

    /// The keystream for the next 16 bytes of each lane.
    pub fn keystream(&self) -> impl Iterator<Item = u8> {
        self.0.iter().flat_map(|lane| lane.keystream().0)
    }

    /// Takes the next text, at most 16 bytes for each lane, padded with zeroes.
    pub fn update(&mut self, text: &[u8]) {
        let lanes = self.0.len();
        for (number, lane) in self.0.iter_mut().enumerate() {
            let piece = text.get(16 * number..).unwrap_or_default();
            *lane = lane.updated(&block(&piece[..piece.len().min(16)]));
        }
        debug_assert!(text.len() <= 16 * lanes);
    }

    fn updated(&self, message: &[Block]) -> Self {
        Self(self.0.iter().zip(message).map(|(lane, message)| lane.updated(message)).collect())
    }

    /// Mixes the lengths in, in bytes.
    pub fn mix_lengths(&mut self, aad: u64, text: u64) {
        let lengths = self.lengths(aad, text);
        for _ in 0..LAST_UPDATES {
            *self = self.updated(&lengths);
        }
    }

    /// What the last updates take, of each lane.
    fn lengths(&self, aad: u64, text: u64) -> Vec<Block> {
        let mut bits = Block::default();
        bits[..8].copy_from_slice(&(8 * aad).to_le_bytes());
        bits[8..].copy_from_slice(&(8 * text).to_le_bytes());
        self.0.iter().map(|lane| xor(&lane.0[3], &bits)).collect()
    }

    /// The tag, once the lengths are mixed in: all blocks of all lanes, added; of 32 bytes, the first three of each and the last three.
    #[must_use]
    pub fn tag(&self, bytes: usize) -> Vec<u8> {
        let sum = |blocks: std::ops::Range<usize>| {
            let all = self.0.iter().flat_map(|lane| &lane.0[blocks.clone()]);
            all.fold(Block::default(), |sum, block| xor(&sum, block))
        };
        if bytes == 32 { [sum(0..3), sum(3..6)].concat() } else { sum(0..6).to_vec() }
    }
}

/// What happened in a cycle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A block of AAD was taken.
    Aad,
    /// A block of text was taken.
    Taken,
    /// Text is at the output.
    Text(Vec<u8>),
    /// The tag is valid.
    Tag(Vec<u8>),
}

#[derive(Debug, Clone)]
struct DatapathMessage {
    key: [Block; 2],
    nonce: [Block; 2],
    aad: Vec<u8>,
    text: Vec<u8>,
    direction: SealOpen,
    /// Updates begun.
    updates: u64,
    /// What the last updates take, of each lane.
    lengths: Vec<Block>,
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
    /// An engine at rest in cycle 0.
    ///
    /// # Errors
    /// What [`Aegis256Spec::check`] says.
    pub fn new(spec: &Aegis256Spec) -> Result<Self, SpecError> {
        spec.check()?;
        let (state, round, tag_bytes) = (State::zero(spec.lanes), spec.round.0, spec.tag_bytes() as usize);
        Ok(Self { round, tag_bytes, state, pending: None, message: None, output: None, tag: None, cycle: 0 })
    }

    /// The cycle that the next step works.
    #[must_use]
    pub const fn cycle(&self) -> u64 {
        self.cycle
    }

    /// The state, lane by lane.
    #[must_use]
    pub fn state(&self) -> &[Lane] {
        &self.state.0
    }

    /// Loads key and nonce in this cycle; AAD and text are there from now on.
    pub fn start(&mut self, key: &[u8; 32], nonce: &[u8; 32], aad: &[u8], text: &[u8], direction: SealOpen) {
        let (key, nonce) = (halves(key), halves(nonce));
        self.pending = Some((State(vec![Lane::loaded(&key, &nonce); self.state.0.len()]), 1));
        let (aad, text) = (aad.to_vec(), text.to_vec());
        self.message = Some(DatapathMessage { key, nonce, aad, text, direction, updates: 0, lengths: Vec::new() });
    }

    /// Works one cycle.
    pub fn step(&mut self, see: &mut dyn FnMut(u64, Event)) {
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

    /// Begins the next update, or makes the tag if all are done.
    fn work(&mut self, mut message: DatapathMessage, see: &mut dyn FnMut(u64, Event)) {
        let width = 16 * self.state.0.len();
        let (aad, text) = (message.aad.len().div_ceil(width) as u64, message.text.len().div_ceil(width) as u64);
        let number = message.updates;
        message.updates += 1;
        if number < FIRST_UPDATES {
            let state = self.state.clone().mixed_once(number, &message.key, &message.nonce);
            self.pending = Some((state, self.round));
        } else if number < FIRST_UPDATES + aad {
            see(self.cycle, Event::Aad);
            let at = (number - FIRST_UPDATES) as usize * width;
            self.update(&message.aad[at..message.aad.len().min(at + width)]);
        } else if number < FIRST_UPDATES + aad + text {
            see(self.cycle, Event::Taken);
            let at = (number - FIRST_UPDATES - aad) as usize * width;
            let input = &message.text[at..message.text.len().min(at + width)];
            let output: Vec<u8> = input.iter().zip(self.state.keystream()).map(|(byte, key)| byte ^ key).collect();
            let plain = if message.direction == SealOpen::Seal { input } else { &output };
            self.update(plain);
            self.output = Some(output);
        } else if number < FIRST_UPDATES + aad + text + LAST_UPDATES {
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

fn halves(bytes: &[u8; 32]) -> [Block; 2] {
    [block(&bytes[..16]), block(&bytes[16..])]
}

/// Up to 16 bytes, padded with zeroes.
fn block(bytes: &[u8]) -> Block {
    let mut block = Block::default();
    block[..bytes.len()].copy_from_slice(bytes);
    block
}
