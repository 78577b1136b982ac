//! The values of every stage of one message of AES-GCM, as software computes them: what a bench compares registers with.

use super::Case;
use crate::gcm::aes::RoundKeys;
use crate::gcm::bulk::{BulkError, Key};
use crate::gcm::counter;
use crate::gcm::field::{Element, powers};

/// Powers of H that are given: H to H^8.
const POWERS: usize = 8;

/// A stage by its name, with its values in order.
pub type StageValues = (&'static str, Vec<[u8; 16]>);

pub const STAGES: [&str; 6] = ["round_keys", "h_powers", "j0", "mask", "keystream", "ghash"];

/// The stages of a message. `mask` is E(K, J0); `ghash` is the accumulator behind each block of AAD, of ciphertext and of lengths; the tag is the last one plus the mask.
pub fn stages(case: &Case) -> Result<[StageValues; 6], BulkError> {
    let key = Key::new(&case.key)?;
    let rounds = RoundKeys::expand(&case.key).ok_or(BulkError::KeyBytes(case.key.len()))?;
    let j0 = key.j0(&case.iv)?;
    let blocks = case.ciphertext.len().div_ceil(16) as u32;
    let keystream = (1..=blocks).map(|block| key.encrypt_block(counter::advanced(j0, block))).collect();
    let (aad, text) = (case.aad.chunks(16), case.ciphertext.chunks(16));
    let lengths = counter::length_block(case.aad.len() as u64, case.ciphertext.len() as u64);
    let hashed = aad.chain(text).map(Element::from_partial).chain([lengths]);
    let ghash = hashed.scan(Element::ZERO, |sum, block| {
        *sum = (*sum ^ block).times(key.h());
        Some(sum.to_bytes())
    });
    let values = [
        (0..=rounds.rounds()).map(|round| rounds.round_key(round).to_bytes()).collect(),
        powers(key.h(), POWERS).into_iter().map(Element::to_bytes).collect(),
        vec![j0],
        vec![key.encrypt_block(j0)],
        keystream,
        ghash.collect(),
    ];
    let mut values = values.into_iter();
    Ok(STAGES.map(|name| (name, values.next().unwrap_or_default())))
}
