//! Messages for a bench of an AEAD: constrained-random ones with their corners, as many as are asked for.
//!
//! Of sixteen draws of a message's [`Shape`] the one with most pairs of choices that no message had yet is taken, so the first few hundred messages have all pairs that
//! exist ([`Generator::coverage`]). A seed gives the same messages on each platform.

mod shape;
#[cfg(test)]
mod tests;

pub use shape::{Choice, Dimension, Shape};

use super::{Algorithm, Case, Refusal};
use crate::aead::bytes::{self, BytesError, Scheme};
use crate::gcm::bulk::{BulkError, Key};
use crate::gcm::counter;
use crate::gcm::field::Element;
use rand::{Rng, RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use std::collections::BTreeSet;

#[derive(Debug, Clone, Copy)]
pub struct Plan {
    pub algorithm: Algorithm,
    pub messages: u64,
    pub seed: u64,
    /// Bytes of the longest text and AAD, at least [`Plan::LONG`].
    pub longest: u32,
    /// How likely a message is to be valid.
    pub valid_percent: u32,
}

impl Plan {
    /// Bytes from which a text or AAD counts as long.
    pub const LONG: u32 = 256;
}

#[derive(Debug, Clone)]
pub struct Message {
    pub case: Case,
    pub shape: Shape,
}

/// How many pairs of choices the messages had, and which are missing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Coverage {
    pub pairs: usize,
    /// Those that messages of the algorithm can have.
    pub possible: usize,
    /// Such as `IV 96 bits, tag bits 32`.
    pub missing: Vec<String>,
}

/// Gives the messages of a plan, one by one.
#[derive(Debug)]
pub struct Generator {
    plan: Plan,
    random: ChaCha8Rng,
    given: u64,
    key: Option<Vec<u8>>,
    seen: BTreeSet<(Choice, Choice)>,
}

/// Draws of which the one that covers most is taken.
const DRAWS: usize = 16;

impl Generator {
    pub fn new(plan: Plan) -> Self {
        Self { plan, random: ChaCha8Rng::seed_from_u64(plan.seed), given: 0, key: None, seen: BTreeSet::new() }
    }

    pub fn coverage(&self) -> Coverage {
        let possible = shape::possible(self.plan.algorithm);
        let word = |(dimension, bin): Choice| format!("{} {}", dimension.name(), dimension.bins()[usize::from(bin)]);
        let missing = possible.difference(&self.seen).map(|(a, b)| format!("{}, {}", word(*a), word(*b))).collect();
        Coverage { pairs: self.seen.len(), possible: possible.len(), missing }
    }

    fn shape(&mut self) -> Shape {
        let key = self.key.as_ref().map(Vec::len);
        let valid = self.random.random_range(0..100) < self.plan.valid_percent;
        let drawn = [(); DRAWS].map(|()| Shape::draw(self.plan.algorithm, key, valid, &mut self.random));
        let new = |shape: &Shape| shape.pairs().filter(|pair| !self.seen.contains(pair)).count();
        let first = drawn[0];
        drawn
            .into_iter()
            .fold((first, new(&first)), |best, shape| {
                let pairs = new(&shape);
                if pairs > best.1 { (shape, pairs) } else { best }
            })
            .0
    }

    fn below(&mut self, limit: usize) -> usize {
        self.random.random_range(0..limit as u32) as usize
    }

    fn bytes(&mut self, shape: Shape, length: usize) -> Vec<u8> {
        let mut bytes = vec![if shape.has(Dimension::Bytes, 2) { 0xff } else { 0 }; length];
        if shape.has(Dimension::Bytes, 0) {
            self.random.fill_bytes(&mut bytes);
        }
        bytes
    }

    fn length(&mut self, bin: u8) -> usize {
        match bin {
            0 => 0,
            1 => 1 + self.below(15),
            2 => 16,
            3 => 32 + 16 * self.below(7),
            4 => 16 * (1 + self.below(8)) + 1 + self.below(15),
            _ => (Plan::LONG + self.random.random_range(0..=self.plan.longest.saturating_sub(Plan::LONG))) as usize,
        }
    }

    fn iv(&mut self, shape: Shape, key: &[u8], text: usize) -> Result<Vec<u8>, Refusal> {
        let length = match shape.bin(Dimension::Iv) {
            0 => 12,
            1 => 1 + self.below(11),
            2 => 16,
            3 => 17 + self.below(112),
            _ => 32,
        };
        let mut iv = vec![0; length];
        self.random.fill_bytes(&mut iv);
        let wraps_after = match shape.bin(Dimension::Counter) {
            0 => return Ok(iv),
            1 => 0,
            _ => 1 + self.below(text.div_ceil(16) - 1) as u32,
        };
        iv[12..].copy_from_slice(&(u32::MAX - wraps_after).to_be_bytes());
        let mut j0 = [0; 16];
        j0.copy_from_slice(&iv);
        Ok(iv_of(j0, &Key::new(key)?).to_vec())
    }

    fn message(&mut self) -> Result<Message, Refusal> {
        let (shape, algorithm) = (self.shape(), self.plan.algorithm);
        let key = match self.key.take().filter(|_| shape.has(Dimension::KeyChange, 1)) {
            Some(key) => key,
            None => self.bytes(shape, 16 + 8 * usize::from(shape.bin(Dimension::KeyBits))),
        };
        let length = self.length(shape.bin(Dimension::Text));
        let text = self.bytes(shape, length);
        let length = self.length(shape.bin(Dimension::Aad));
        let aad = self.bytes(shape, length);
        let iv = self.iv(shape, &key, text.len())?;
        let mut ciphertext = text.clone();
        let mut tag = seal(algorithm, &key, &iv, &aad, &mut ciphertext)?;
        let bits: usize = shape.word(Dimension::Tag).parse().unwrap_or(128);
        tag.truncate(bits / 8);
        self.key = Some(key.clone());
        let (id, valid) = (format!("tcId {}", self.given + 1), shape.has(Dimension::Outcome, 0));
        let mut case =
            Case { id, algorithm, key, iv, aad, plaintext: Some(text), ciphertext, tag, valid, may_refuse: false };
        if !valid {
            self.forge(&mut case, shape)?;
        }
        self.seen.extend(shape.pairs());
        self.given += 1;
        Ok(Message { case, shape })
    }

    /// Flips a bit of what the outcome names. Where a short tag happens to belong to that message too, a bit of the tag.
    fn forge(&mut self, case: &mut Case, shape: Shape) -> Result<(), Refusal> {
        let struck = match shape.bin(Dimension::Outcome) {
            1 => &mut case.tag,
            2 => &mut case.ciphertext,
            3 => &mut case.aad,
            4 => &mut case.iv,
            _ => &mut case.key,
        };
        let bit = self.random.random_range(0..8 * struck.len() as u32) as usize;
        struck[bit / 8] ^= 1 << (bit % 8);
        if opens(case)? {
            case.tag[0] ^= 1;
        }
        Ok(())
    }
}

impl Iterator for Generator {
    type Item = Result<Message, Refusal>;

    fn next(&mut self) -> Option<Self::Item> {
        (self.given < self.plan.messages).then(|| self.message())
    }
}

/// The IV of 128 bits that gives a J0. J0 = ((IV H) + L) H, where L is the block of lengths (NIST SP 800-38D, section 7.1), so IV = (J0 / H + L) / H.
fn iv_of(j0: [u8; 16], key: &Key) -> [u8; 16] {
    let inverse = inverse(key.h());
    let hashed = Element::from_bytes(j0).times(inverse) ^ counter::length_block(0, 16);
    hashed.times(inverse).to_bytes()
}

/// The inverse in GF(2^128), by Fermat: the power of 2^128 - 2.
fn inverse(element: Element) -> Element {
    let (mut square, mut product) = (element, Element::ONE);
    for _ in 1..128 {
        square = square.times(square);
        product = product.times(square);
    }
    product
}

fn seal(algorithm: Algorithm, key: &[u8], iv: &[u8], aad: &[u8], text: &mut [u8]) -> Result<Vec<u8>, Refusal> {
    Ok(match algorithm.scheme() {
        Scheme::AesGcm => Key::new(key)?.seal(iv, aad, text)?.to_vec(),
        scheme => bytes::Key::new(scheme, key)?.seal(iv, aad, text)?,
    })
}

fn opens(case: &Case) -> Result<bool, Refusal> {
    let mut text = case.ciphertext.clone();
    match case.algorithm.scheme() {
        Scheme::AesGcm => match Key::new(&case.key)?.open(&case.iv, &case.aad, &mut text, &case.tag) {
            Err(BulkError::Forged) => Ok(false),
            opened => Ok(opened.map(|()| true)?),
        },
        scheme => match bytes::Key::new(scheme, &case.key)?.open(&case.iv, &case.aad, &mut text, &case.tag) {
            Err(BytesError::Forged) => Ok(false),
            opened => Ok(opened.map(|()| true)?),
        },
    }
}
