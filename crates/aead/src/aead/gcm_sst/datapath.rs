//! The registers of a GCM-SST engine, cycle by cycle: AES lanes, a GHASH unit on mirrored blocks, and the last product.

use super::{GcmSstSpec, SUBKEYS, counter};
use crate::aead::model::{Event, Registers};
use crate::gcm::aes::{Lane, RoundKeys};
use crate::gcm::counter::length_block;
use crate::gcm::field::Element;
use crate::gcm::ghash::{Datapath as _, GhashUnit};
use crate::gcm::message::{SealOpen, Shape};
use crate::gcm::multiplier::Multiplier;
use crate::gcm::spec::SpecError;
use std::collections::VecDeque;

/// POLYVAL is GHASH with mirrored blocks, and its key mirrored and times x (RFC 8452, appendix A): wires.
const fn mirrored(block: Element) -> Element {
    Element(block.0.swap_bytes())
}

fn hash_key(block: Element) -> Element {
    const X: Element = Element(1 << 126);
    mirrored(block).times(X)
}

/// An engine with its values: [`Registers::start`], then [`Registers::step`] once per cycle.
#[derive(Debug, Clone)]
pub struct Datapath {
    spec: GcmSstSpec,
    cycle: u64,
    message: Option<Message>,
}

impl Datapath {
    pub fn new(spec: &GcmSstSpec) -> Result<Self, SpecError> {
        spec.check()?;
        Ok(Self { spec: spec.clone(), cycle: 0, message: None })
    }
}

impl Registers for Datapath {
    fn cycle(&self) -> u64 {
        self.cycle
    }

    /// A key of another length than 16, 24 or 32 bytes starts nothing.
    fn start(&mut self, key: &[u8], nonce: &[u8], aad: &[u8], text: &[u8], direction: SealOpen) {
        self.message = Message::new(&self.spec, key, nonce, aad, text, direction);
    }

    fn step(&mut self, see: &mut dyn FnMut(u64, Event)) {
        if let Some(message) = &mut self.message {
            if message.work(self.cycle, see) {
                self.message = None;
            } else {
                message.clock();
            }
        }
        self.cycle += 1;
    }
}

/// A message, and the registers that it finds at rest.
#[derive(Debug, Clone)]
struct Message {
    shape: Shape,
    nonce: [u8; 12],
    aad: Vec<u8>,
    text: Vec<u8>,
    tag_bytes: usize,
    keys: RoundKeys,
    /// With each block its number.
    lanes: Vec<Lane<u64>>,
    /// AES blocks that have entered a lane.
    begun: u64,
    subkeys: [Option<Element>; SUBKEYS as usize],
    keystream: VecDeque<Element>,
    /// Room for keystream, in lanes and FIFO.
    depth: u64,
    taken: u64,
    /// Ciphertext on its way to POLYVAL, on seal.
    output: VecDeque<Element>,
    polyval: GhashUnit,
    /// Whether POLYVAL has begun, with all powers valid, and the blocks that have entered.
    begins: bool,
    hashed: u64,
    /// A multiplier of POLYVAL's unit, as it is used once its own work is done.
    last: Multiplier<()>,
    issued: bool,
    product: Option<Element>,
    tag: Option<Vec<u8>>,
}

impl Message {
    fn new(spec: &GcmSstSpec, key: &[u8], nonce: &[u8], aad: &[u8], text: &[u8], direction: SealOpen) -> Option<Self> {
        let keys = RoundKeys::expand(key)?;
        let lane = || Lane::new(&spec.aes, keys.rounds());
        Some(Self {
            shape: Shape::new(aad.len() as u64, text.len() as u64, direction),
            nonce: nonce.try_into().ok()?,
            aad: aad.to_vec(),
            text: text.to_vec(),
            tag_bytes: spec.tag.0 as usize,
            lanes: (0..spec.aes.lanes).map(|_| lane()).collect(),
            keys,
            begun: 0,
            subkeys: [None; SUBKEYS as usize],
            keystream: VecDeque::new(),
            depth: spec.aes.keystream_blocks.into(),
            taken: 0,
            output: VecDeque::new(),
            polyval: GhashUnit::new(&spec.polyval),
            begins: false,
            hashed: 0,
            last: Multiplier::new(spec.polyval.multiplier()),
            issued: false,
            product: None,
            tag: None,
        })
    }

    fn hash_blocks(&self) -> u64 {
        self.shape.aad_blocks() + self.shape.text_blocks()
    }

    /// What happens in this cycle. Says whether the tag is valid.
    fn work(&mut self, cycle: u64, see: &mut dyn FnMut(u64, Event)) -> bool {
        if let Some(tag) = self.tag.take() {
            see(cycle, Event::Tag(tag));
            return true;
        }
        if !self.begins && self.subkeys[0].is_some() && self.polyval.ready() {
            self.begins = true;
            if self.hash_blocks() > 0 {
                self.polyval.begin(self.hash_blocks());
            }
        }
        self.feed(cycle, see);
        self.start_blocks();
        for _ in 0..self.lanes.len() {
            self.take_block(cycle, see);
        }
        self.multiply();
        self.make_tag();
        false
    }

    /// Feeds POLYVAL with AAD, and on seal with the output register.
    fn feed(&mut self, cycle: u64, see: &mut dyn FnMut(u64, Event)) {
        while self.begins && self.polyval.can_enter() {
            let block = if self.hashed < self.shape.aad_blocks() {
                see(cycle, Event::Aad);
                Element::from_partial(block_of(&self.aad, self.hashed))
            } else if let Some(block) = self.output.pop_front() {
                block
            } else {
                return;
            };
            self.enter(block);
        }
    }

    fn enter(&mut self, block: Element) {
        self.polyval.enter(mirrored(block));
        self.hashed += 1;
    }

    /// Starts AES blocks in order, as far as lanes and, behind the subkeys, the keystream FIFO have room.
    fn start_blocks(&mut self) {
        while self.begun < SUBKEYS + self.shape.text_blocks() {
            let count = self.lanes.len() as u64;
            let lane = &mut self.lanes[(self.begun % count) as usize];
            let full = self.begun >= SUBKEYS && self.begun - SUBKEYS - self.taken == self.depth;
            if full || !lane.free() {
                return;
            }
            lane.start(&self.keys, counter(self.nonce, self.begun as u32), self.begun);
            self.begun += 1;
        }
    }

    /// A block goes from the ports through the XOR.
    fn take_block(&mut self, cycle: u64, see: &mut dyn FnMut(u64, Event)) {
        let sealing = self.shape.direction == SealOpen::Seal;
        let way_free = match sealing {
            true => self.output.len() < self.lanes.len(),
            false => self.begins && self.hashed >= self.shape.aad_blocks() && self.polyval.can_enter(),
        };
        if !way_free || self.taken == self.shape.text_blocks() {
            return;
        }
        let Some(key) = self.keystream.pop_front() else { return };
        let input = block_of(&self.text, self.taken);
        let output: Vec<u8> = input.iter().zip(key.to_bytes()).map(|(byte, key)| byte ^ key).collect();
        let cipher = Element::from_partial(if sealing { &output } else { input });
        self.taken += 1;
        see(cycle, Event::Taken);
        see(cycle + 1, Event::Text(output));
        if sealing {
            self.output.push_back(cipher);
        } else {
            self.enter(cipher);
        }
    }

    /// The value of POLYVAL and the lengths go to a multiplier, with H2.
    fn multiply(&mut self) {
        let [_, Some(h2), _] = self.subkeys else { return };
        if self.issued || !self.begins || self.hashed < self.hash_blocks() {
            return;
        }
        let value = if self.hash_blocks() == 0 { Some(Element::ZERO) } else { self.polyval.result() };
        if let Some(value) = value {
            // Mirrored, the lengths of the draft are GHASH's length block.
            let lengths = length_block(self.shape.aad_bytes, self.shape.text_bytes);
            self.last.issue(value ^ lengths, hash_key(h2), ());
            self.issued = true;
        }
    }

    fn make_tag(&mut self) {
        if let ([_, _, Some(mask)], Some(product)) = (self.subkeys, self.product) {
            let tag = mirrored(product) ^ mask;
            self.tag = Some(tag.to_bytes()[..self.tag_bytes].to_vec());
        }
    }

    fn clock(&mut self) {
        self.polyval.clock();
        let mut free = true;
        self.polyval.products(&mut |_, _| free = false);
        debug_assert!(free || !self.issued, "POLYVAL's unit lends a multiplier that it uses");
        if let Some((product, ())) = self.last.clock() {
            self.product = Some(product);
        }
        let mut made: Vec<_> = self.lanes.iter_mut().filter_map(|lane| lane.clock(&self.keys)).collect();
        made.sort_unstable_by_key(|&(_, number)| number);
        for (block, number) in made {
            match self.subkeys.get_mut(number as usize) {
                Some(subkey) => *subkey = Some(block),
                None => self.keystream.push_back(block),
            }
            if number == 0 {
                self.polyval.load(hash_key(block));
            }
        }
    }
}

/// The bytes of block `index`, the last of them maybe fewer.
fn block_of(bytes: &[u8], index: u64) -> &[u8] {
    let from = bytes.len().min(16 * index as usize);
    &bytes[from..bytes.len().min(from + 16)]
}
