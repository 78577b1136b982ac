use crate::gcm::arbitrary::pattern;
use proptest::prelude::*;
use sealsim_aead::gcm::bulk::chains::*;
use sealsim_aead::gcm::{bulk::Key, counter, field::Element, message::SealOpen};

fn sealed(format: ChainFormat, key: &Key, aad: &[u8], text: &[u8], pieces: usize) -> (Vec<u8>, Vec<[u8; 16]>) {
    let mut chains = Chains::new(format, key, &[3; 12], aad, SealOpen::Seal).unwrap();
    let mut text = text.to_vec();
    text.chunks_mut(pieces).for_each(|piece| chains.update(key, piece));
    let tags = chains.tags(key).collect();
    (text, tags)
}

/// The head's formulas, block by block in the field.
fn by_formula(format: ChainFormat, key: &Key, aad: &[u8], cipher: &[u8]) -> Vec<[u8; 16]> {
    let blocks: Vec<Element> = aad.chunks(16).chain(cipher.chunks(16)).map(Element::from_partial).collect();
    let length = counter::length_block(aad.len() as u64, cipher.len() as u64);
    let tag = |chain: usize| {
        let chunks = blocks.chunks(format.chunk as usize / 16).skip(chain).step_by(format.chains as usize);
        let all = chunks.flatten().chain([&length]);
        let value = all.fold(Element::ZERO, |sum, &block| (sum ^ block).times(key.h()));
        let mut counter = [3; 16];
        counter[12..].copy_from_slice(&1_u32.wrapping_sub(chain as u32).to_be_bytes());
        (value ^ Element::from_bytes(key.encrypt_block(counter))).to_bytes()
    };
    (0..format.chains as usize).map(tag).collect()
}

proptest! {
    #[test]
    fn tags_are_those_of_the_formulas_whatever_the_pieces(
        chains in 1..6_u32, chunk in 1..9_u64, aad in 0..200_usize, text in 0..2000_usize, pieces in 1..300_usize,
    ) {
        let (format, key) = (ChainFormat { chains, chunk: 16 * chunk, ..ChainFormat::GCM }, Key::new(&pattern(1, 32)).unwrap());
        let (aad, text) = (pattern(2, aad), pattern(3, text));
        let (cipher, tags) = sealed(format, &key, &aad, &text, pieces);
        prop_assert_eq!(&tags, &by_formula(format, &key, &aad, &cipher));
        let mut own = text.clone();
        let tag = key.seal(&[3; 12], &aad, &mut own).unwrap();
        prop_assert_eq!(&own, &cipher);
            // One chunk is all that the first chain gets, as GCM's only one would.
        let one_chunk = aad.len().div_ceil(16) + text.len().div_ceil(16) <= chunk as usize;
        prop_assert_eq!(tags[0] == tag, chains == 1 || one_chunk);
    }
}

#[test]
fn parts_and_their_tags_may_not_change_places() {
    let (format, key) = (ChainFormat { chains: 2, chunk: 16, ..ChainFormat::GCM }, Key::new(&pattern(1, 32)).unwrap());
    let (mut cipher, tags) = sealed(format, &key, &[], &[0; 32], 32);
    let (left, right) = cipher.split_at_mut(16);
    left.swap_with_slice(right);
    let mut chains = Chains::new(format, &key, &[3; 12], &[], SealOpen::Open).unwrap();
    chains.update(&key, &mut cipher);
    let got: Vec<_> = chains.tags(&key).collect();
    assert!(got[0] != tags[1] && got[1] != tags[0] && got[0] != tags[0] && got[1] != tags[1]);
}

#[test]
fn a_change_anywhere_is_seen_by_the_chain_it_falls_to_and_a_change_of_length_by_all() {
    let (format, key) = (ChainFormat { chains: 3, chunk: 32, ..ChainFormat::GCM }, Key::new(&pattern(1, 32)).unwrap());
    let text = pattern(5, 300);
    let (_, tags) = sealed(format, &key, &[], &text, 300);
    for place in 0..300 {
        let mut other = text.clone();
        other[place] ^= 1;
        let (_, changed) = sealed(format, &key, &[], &other, 300);
        for chain in 0..3 {
            assert_eq!(tags[chain] != changed[chain], place / 32 % 3 == chain, "byte {place}, chain {chain}");
        }
    }
    let (_, shorter) = sealed(format, &key, &[], &text[..299], 300);
    assert!(tags.iter().zip(&shorter).all(|(a, b)| a != b));
}
