//! What each stage must show, by software AES-GCM.

use super::{Given, Stage, StageValue};
use crate::gcm::aes::RoundKeys;
use crate::gcm::bulk::chains::{ChainFormat, Chains};
use crate::gcm::bulk::{BulkError, Key};
use crate::gcm::counter;
use crate::gcm::field::Element;
use crate::gcm::message::SealOpen;
use crate::gcm::spec::GcmSpec;

/// A message in software AES-GCM.
#[derive(Debug)]
pub struct Software<'a> {
    given: Given<'a>,
    key: Key,
    rounds: RoundKeys,
    j0: [u8; 16],
    output: Vec<u8>,
    tags: Vec<[u8; 16]>,
}

/// A stage that shows something else than software.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parting<'a> {
    pub stage: &'a StageValue,
    pub expected: Vec<u8>,
}

impl<'a> Software<'a> {
    /// The message in software; an engine of `spec` may have several tags.
    pub fn new(spec: &GcmSpec, given: Given<'a>) -> Result<Self, BulkError> {
        let key = Key::new(given.key)?;
        let rounds = RoundKeys::expand(given.key).ok_or(BulkError::KeyBytes(given.key.len()))?;
        let j0 = key.j0(given.iv)?;
        let mut output = given.text.to_vec();
        let mut chains = Chains::new(ChainFormat::of(&spec.ghash), &key, given.iv, given.aad, given.direction)?;
        chains.update(&key, &mut output);
        let tags = chains.tags(&key).collect();
        Ok(Self { given, key, rounds, j0, output, tags })
    }

    pub fn output(&self) -> &[u8] {
        &self.output
    }

    /// The tag; of several chains, each.
    pub fn tags(&self) -> &[[u8; 16]] {
        &self.tags
    }

    /// What a stage must show; nothing where that depends on how GHASH is organised.
    pub fn expected(&self, stage: &StageValue) -> Option<Vec<u8>> {
        let (block, unit) = (stage.block.unwrap_or_default(), stage.unit.unwrap_or_default());
        let of_16 = |bytes: [u8; 16]| Some(bytes.to_vec());
        match stage.stage {
            Stage::H => of_16(self.key.h().to_bytes()),
            Stage::Power => of_16(self.power(stage.index?).to_bytes()),
            Stage::J0 => of_16(self.j0),
            Stage::Counter => of_16(self.counter(stage)?),
            Stage::AesState => {
                let states = self.rounds.states(self.counter(stage)?);
                of_16(states.get(stage.round? as usize)?.to_bytes())
            }
            Stage::Keystream => of_16(self.key.encrypt_block(self.text_counter(block))),
            Stage::Mask => of_16(self.mask(unit)),
            Stage::TextIn => self.given.text.chunks(16).nth(block as usize).map(<[u8]>::to_vec),
            Stage::TextOut => self.output.chunks(16).nth(block as usize).map(<[u8]>::to_vec),
            Stage::GhashIn => of_16(self.hashed(stage.of?, block)?.to_bytes()),
            Stage::Product => {
                let [a, b] = stage.operands?.map(Element::from_bytes);
                of_16(a.times(b).to_bytes())
            }
            Stage::Accumulator => None,
            Stage::Ghash => {
                of_16((Element::from_bytes(self.mask(unit)) ^ Element::from_bytes(*self.tags.get(unit)?)).to_bytes())
            }
            Stage::Tag => of_16(*self.tags.get(unit)?),
        }
    }

    /// The first stage of a recording that shows something else.
    pub fn parting<'b>(&self, stages: &'b [StageValue]) -> Option<Parting<'b>> {
        stages.iter().find_map(|stage| {
            let expected = self.expected(stage).filter(|expected| *expected != stage.value)?;
            Some(Parting { stage, expected })
        })
    }

    fn power(&self, exponent: usize) -> Element {
        (1..exponent).fold(self.key.h(), |power, _| power.times(self.key.h()))
    }

    fn mask(&self, chain: usize) -> [u8; 16] {
        self.key.encrypt_block(counter::advanced(self.j0, (chain as u32).wrapping_neg()))
    }

    const fn text_counter(&self, block: u64) -> [u8; 16] {
        counter::advanced(self.j0, block as u32 + 1)
    }

    fn counter(&self, stage: &StageValue) -> Option<[u8; 16]> {
        match stage.of? {
            "h" => Some([0; 16]),
            "mask" => Some(counter::advanced(self.j0, (stage.unit? as u32).wrapping_neg())),
            _ => Some(self.text_counter(stage.block?)),
        }
    }

    fn hashed(&self, of: &str, block: u64) -> Option<Element> {
        let Given { iv, aad, text, direction, .. } = self.given;
        let cipher = if direction == SealOpen::Seal { &self.output } else { text };
        let of_bytes = |bytes: &[u8]| bytes.chunks(16).nth(block as usize).map(Element::from_partial);
        match of {
            // Behind the IV comes its length.
            "iv" => of_bytes(iv).or(Some(counter::length_block(0, iv.len() as u64))),
            "aad" => of_bytes(aad),
            "text" => of_bytes(cipher),
            _ => Some(counter::length_block(aad.len() as u64, text.len() as u64)),
        }
    }
}
