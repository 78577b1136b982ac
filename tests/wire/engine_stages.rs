//! Every stage of every shipped engine against AES and GHASH as their standards write them, bit by bit.

use proptest::prelude::*;
use sealsim::{
    aead::spec::EngineSpec,
    config::{Layers, Role, Shipped},
    gcm::{
        message::SealOpen,
        spec::GcmSpec,
        stages::{Given, Recording, Stage, StageValue, record},
    },
};

/// A block.
type Block = [u8; 16];

/// FIPS 197, section 4.2: multiplication by x.
fn xtime(byte: u8) -> u8 {
    byte << 1 ^ if byte & 0x80 == 0 { 0 } else { 0x1b }
}

/// Multiplication in GF(2^8).
fn times(a: u8, b: u8) -> u8 {
    let power = |n: u32| (0..n).fold(a, |power, _| xtime(power));
    (0..8).filter(|bit| b >> bit & 1 == 1).fold(0, |sum, bit| sum ^ power(bit))
}

/// Section 5.1.1: the inverse, then the affine transformation.
fn substitute(byte: u8) -> u8 {
    let inverse = (0..=255).find(|&other| times(byte, other) == 1).unwrap_or(0);
    (0..5).fold(0x63, |sum, turn| sum ^ inverse.rotate_left(turn))
}

/// Section 5.2.
fn round_keys(sbox: &[u8; 256], key: &[u8]) -> Vec<Block> {
    let words = key.len() / 4;
    let mut schedule: Vec<[u8; 4]> = key.chunks(4).map(|word| word.try_into().unwrap()).collect();
    let mut constant = 1;
    for place in words..4 * (words + 7) {
        let mut word = schedule[place - 1];
        if place % words == 0 {
            word.rotate_left(1);
            word = word.map(|byte| sbox[usize::from(byte)]);
            word[0] ^= constant;
            constant = xtime(constant);
        } else if words > 6 && place % words == 4 {
            word = word.map(|byte| sbox[usize::from(byte)]);
        }
        let before = schedule[place - words];
        schedule.push(std::array::from_fn(|byte| before[byte] ^ word[byte]));
    }
    schedule.chunks(4).map(|words| words.concat().try_into().unwrap()).collect()
}

fn xor(a: Block, b: Block) -> Block {
    std::array::from_fn(|byte| a[byte] ^ b[byte])
}

/// Section 5.1: the state after each round.
fn states(sbox: &[u8; 256], keys: &[Block], block: Block) -> Vec<Block> {
    let mut all = vec![xor(block, keys[0])];
    for (round, key) in keys.iter().enumerate().skip(1) {
        let state = all[round - 1];
        // SubBytes and ShiftRows.
        let moved: Block = std::array::from_fn(|place| sbox[usize::from(state[(place + 4 * (place % 4)) % 16])]);
        let mixed: Block = std::array::from_fn(|place| {
            let column = &moved[place / 4 * 4..place / 4 * 4 + 4];
            let of = |turn: usize| column[(place + turn) % 4];
            times(of(0), 2) ^ times(of(1), 3) ^ of(2) ^ of(3)
        });
        all.push(xor(if round + 1 == keys.len() { moved } else { mixed }, *key));
    }
    all
}

/// SP 800-38D, section 6.3: the product of blocks, bit by bit.
fn product(x: Block, y: Block) -> Block {
    let (x, mut v, mut z) = (u128::from_be_bytes(x), u128::from_be_bytes(y), 0);
    for bit in (0..128).rev() {
        if x >> bit & 1 == 1 {
            z ^= v;
        }
        v = v >> 1 ^ if v & 1 == 1 { 0xe1 << 120 } else { 0 };
    }
    z.to_be_bytes()
}

fn padded(bytes: &[u8]) -> Vec<Block> {
    let block = |chunk: &[u8]| std::array::from_fn(|place| chunk.get(place).copied().unwrap_or(0));
    bytes.chunks(16).map(block).collect()
}

fn lengths(a: usize, c: usize) -> Block {
    (((8 * a as u128) << 64) | (8 * c as u128)).to_be_bytes()
}

fn ghash(h: Block, blocks: &[Block]) -> Vec<Block> {
    let mut y = [0; 16];
    blocks
        .iter()
        .map(|block| {
            y = product(xor(y, *block), h);
            y
        })
        .collect()
}

/// GCM as SP 800-38D writes it.
struct Standard<'a> {
    given: Given<'a>,
    sbox: [u8; 256],
    keys: Vec<Block>,
    h: Block,
    j0: Block,
    cipher: Vec<u8>,
    output: Vec<u8>,
    ghash: Vec<Block>,
    hashed: Vec<Block>,
}

impl<'a> Standard<'a> {
    fn new(given: Given<'a>) -> Self {
        let sbox = std::array::from_fn(|byte| substitute(byte as u8));
        let keys = round_keys(&sbox, given.key);
        let encrypt = |block| *states(&sbox, &keys, block).last().unwrap();
        let h = encrypt([0; 16]);
        let j0 = match <[u8; 12]>::try_from(given.iv) {
            Ok(iv) => [&iv[..], &[0, 0, 0, 1]].concat().try_into().unwrap(),
            Err(_) => *ghash(h, &[padded(given.iv), vec![lengths(0, given.iv.len())]].concat()).last().unwrap(),
        };
        let keystream = (1..).flat_map(|count| encrypt(counted(j0, count)));
        let output: Vec<u8> = given.text.iter().zip(keystream).map(|(text, key)| text ^ key).collect();
        let cipher = if given.direction == SealOpen::Seal { output.clone() } else { given.text.to_vec() };
        let hashed = [padded(given.aad), padded(&cipher), vec![lengths(given.aad.len(), cipher.len())]].concat();
        let ghash = ghash(h, &hashed);
        Self { given, sbox, keys, h, j0, cipher, output, ghash, hashed }
    }

    fn counter(&self, stage: &StageValue) -> Block {
        match stage.of {
            Some("h") => [0; 16],
            Some("mask") => self.j0,
            _ => counted(self.j0, stage.block.unwrap() as u32 + 1),
        }
    }

    fn encrypt(&self, block: Block) -> Block {
        *states(&self.sbox, &self.keys, block).last().unwrap()
    }

    /// What an engine with one tag must show; none of a register that is its family's own.
    fn expected(&self, stage: &StageValue) -> Option<Vec<u8>> {
        let block = stage.block.unwrap_or_default() as usize;
        let of_text = |text: &[u8]| text.chunks(16).nth(block).unwrap().to_vec();
        Some(match stage.stage {
            Stage::H => self.h.to_vec(),
            Stage::Power => (1..stage.index.unwrap()).fold(self.h, |power, _| product(power, self.h)).to_vec(),
            Stage::J0 => self.j0.to_vec(),
            Stage::Counter => self.counter(stage).to_vec(),
            Stage::AesState => {
                states(&self.sbox, &self.keys, self.counter(stage))[stage.round.unwrap() as usize].to_vec()
            }
            Stage::Keystream => self.encrypt(counted(self.j0, block as u32 + 1)).to_vec(),
            Stage::Mask => self.encrypt(self.j0).to_vec(),
            Stage::TextIn => of_text(self.given.text),
            Stage::TextOut => of_text(&self.output),
            Stage::GhashIn => match stage.of.unwrap() {
                "iv" => [padded(self.given.iv), vec![lengths(0, self.given.iv.len())]].concat()[block].to_vec(),
                "aad" => padded(self.given.aad)[block].to_vec(),
                "text" => padded(&self.cipher)[block].to_vec(),
                _ => self.hashed.last().unwrap().to_vec(),
            },
            Stage::Product => {
                let [a, b] = stage.operands.unwrap();
                product(a, b).to_vec()
            }
            Stage::Accumulator => return None,
            Stage::Ghash => self.ghash.last().unwrap().to_vec(),
            Stage::Tag => xor(*self.ghash.last().unwrap(), self.encrypt(self.j0)).to_vec(),
        })
    }

    fn check(&self, name: &str, recording: &Recording) {
        for stage in &recording.stages {
            let expected = self.expected(stage);
            assert!(
                expected.as_ref().is_none_or(|expected| *expected == stage.value),
                "{name}: {stage:?}: {expected:?}"
            );
        }
        assert!(recording.output == self.output, "{name}");
        // The value of GHASH went through an accumulator, or is the sum of some.
        assert!(recording.stages.iter().any(|stage| stage.stage == Stage::Accumulator), "{name}");
    }
}

fn counted(j0: Block, count: u32) -> Block {
    let low = u32::from_be_bytes(j0[12..].try_into().unwrap()).wrapping_add(count);
    [&j0[..12], &low.to_be_bytes()].concat().try_into().unwrap()
}

/// The shipped engines of AES-GCM with one tag, and that of a machine.
fn engines() -> Vec<(&'static str, GcmSpec)> {
    let names = Shipped::names(Role::Engine);
    let engine = |name: &'static str| match Layers::new(name).resolve_standalone().unwrap() {
        EngineSpec::Gcm(spec) if spec.ghash.wire_compatible() => Some((name, spec)),
        _ => None,
    };
    names.chain(["h100-nvl-tdx"]).filter_map(engine).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4, ..ProptestConfig::default() })]

    #[test]
    fn every_stage_of_every_shipped_engine_is_that_of_the_standards(
        key in prop::collection::vec(any::<u8>(), 32), iv in prop::collection::vec(any::<u8>(), 1..40),
        usual: bool, aad in prop::collection::vec(any::<u8>(), 0..50), text in prop::collection::vec(any::<u8>(), 0..120),
        open: bool, bits in prop::sample::select(vec![128_u32, 192, 256]),
    ) {
        let direction = if open { SealOpen::Open } else { SealOpen::Seal };
        let iv = if usual { [iv, vec![7; 12]].concat()[..12].to_vec() } else { iv };
        for (name, spec) in engines() {
            let given = Given { key: &key[..bits as usize / 8], iv: &iv, aad: &aad, text: &text, direction };
            // Some control is made for one key size.
            let spec = GcmSpec { key_bits: bits, ..spec };
            if spec.check().is_err() {
                continue;
            }
            let recording = record(&spec, &given, u64::MAX, &mut |_, _| {}).unwrap();
            Standard::new(given).check(name, &recording);
        }
    }
}

#[test]
fn there_are_engines_to_check() {
    assert!(engines().len() > 20, "{}", engines().len());
}
