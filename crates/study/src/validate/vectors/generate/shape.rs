//! What a generated message is like: one choice in each of nine dimensions, and which choices exclude each other.

use super::super::Algorithm;
use crate::aead::bytes::Scheme;
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeSet;

crate::units::named! {
    /// In what messages differ.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Dimension {
        KeyBits = "key bits",
        KeyChange = "key",
        Iv = "IV",
        Counter = "counter",
        Aad = "AAD",
        Text = "text",
        Tag = "tag bits",
        Outcome = "outcome",
        Bytes = "bytes",
    }
}

const LENGTHS: [&str; 6] = ["none", "part of a block", "one block", "whole blocks", "blocks and a part", "long"];

impl Dimension {
    pub const fn bins(self) -> &'static [&'static str] {
        match self {
            Self::KeyBits => &["128", "192", "256"],
            Self::KeyChange => &["new", "of the message before"],
            Self::Iv => &["96 bits", "1 to 11 bytes", "128 bits", "longer", "256 bits"],
            Self::Counter => &["does not wrap", "wraps behind J0", "wraps in the text"],
            Self::Aad | Self::Text => &LENGTHS,
            Self::Tag => &["128", "120", "112", "104", "96", "64", "32"],
            Self::Outcome => &["valid", "tag forged", "text forged", "AAD forged", "IV forged", "key forged"],
            Self::Bytes => &["random", "zeros", "ones"],
        }
    }

    /// The choices that messages of an algorithm have.
    pub fn offered(self, algorithm: Algorithm) -> Vec<u8> {
        let gcm = algorithm.scheme() == Scheme::AesGcm;
        let gmac = algorithm == Algorithm::AesGmac;
        match self {
            Self::KeyBits => algorithm.key_bytes().iter().map(|&bytes| ((bytes - 16) / 8) as u8).collect(),
            Self::Iv if gcm => vec![0, 1, 2, 3],
            Self::Iv => match algorithm.scheme().nonce_bytes() {
                12 => vec![0],
                16 => vec![2],
                _ => vec![4],
            },
            Self::Counter if algorithm != Algorithm::AES_GCM => vec![0],
            Self::Text if gmac => vec![0],
            Self::Outcome if gmac => vec![0, 1, 3, 4, 5],
            Self::Tag if !gcm => vec![0],
            _ => (0..self.bins().len() as u8).collect(),
        }
    }
}

pub type Choice = (Dimension, u8);

/// The choices of one message, in the order of [`Dimension::ALL`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape([u8; 9]);

/// Choices that no message has together, the earlier dimension first.
const EXCLUDED: [(Choice, Choice); 12] = {
    use Dimension::{Aad, Counter, Iv, Outcome, Text};
    [
        ((Text, 0), (Outcome, 2)),
        ((Aad, 0), (Outcome, 3)),
        // A counter wraps where J0 is chosen, which an IV of 128 bits allows: as many, and hashed.
        ((Iv, 0), (Counter, 1)),
        ((Iv, 1), (Counter, 1)),
        ((Iv, 3), (Counter, 1)),
        ((Iv, 0), (Counter, 2)),
        ((Iv, 1), (Counter, 2)),
        ((Iv, 3), (Counter, 2)),
        // No text has no counter, and up to a block has one.
        ((Counter, 1), (Text, 0)),
        ((Counter, 2), (Text, 0)),
        ((Counter, 2), (Text, 1)),
        ((Counter, 2), (Text, 2)),
    ]
};

impl Shape {
    /// Draws a valid or a forged one of an algorithm's; its key, if it is that of the message before, has as many bits.
    pub fn draw(algorithm: Algorithm, key_before: Option<usize>, valid: bool, random: &mut ChaCha8Rng) -> Self {
        loop {
            let mut shape = Self(Dimension::ALL.map(|dimension| {
                let mut offered = dimension.offered(algorithm);
                offered.retain(|bin| dimension != Dimension::Outcome || (*bin == 0) == valid);
                offered[random.random_range(0..offered.len() as u32) as usize]
            }));
            match key_before {
                Some(bytes) if shape.has(Dimension::KeyChange, 1) => shape.0[0] = ((bytes - 16) / 8) as u8,
                Some(_) => {}
                None => shape.0[1] = 0,
            }
            if shape.pairs().all(|pair| !EXCLUDED.contains(&pair)) {
                return shape;
            }
        }
    }

    pub const fn bin(&self, dimension: Dimension) -> u8 {
        self.0[dimension as usize]
    }

    pub const fn has(&self, dimension: Dimension, bin: u8) -> bool {
        self.bin(dimension) == bin
    }

    /// A choice in words.
    pub fn word(&self, dimension: Dimension) -> &'static str {
        dimension.bins()[usize::from(self.bin(dimension))]
    }

    pub fn pairs(&self) -> impl Iterator<Item = (Choice, Choice)> + '_ {
        let choices = Dimension::ALL.map(|dimension| (dimension, self.bin(dimension)));
        (0..9).flat_map(move |a| (a + 1..9).map(move |b| (choices[a], choices[b])))
    }
}

/// The pairs of choices that messages of an algorithm can have.
pub fn possible(algorithm: Algorithm) -> BTreeSet<(Choice, Choice)> {
    let mut pairs = BTreeSet::new();
    for (place, a) in Dimension::ALL.into_iter().enumerate() {
        for b in Dimension::ALL.into_iter().skip(place + 1) {
            for first in a.offered(algorithm) {
                let with = |second| ((a, first), (b, second));
                pairs.extend(b.offered(algorithm).into_iter().map(with).filter(|pair| !EXCLUDED.contains(pair)));
            }
        }
    }
    pairs
}
