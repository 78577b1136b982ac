use crate::gcm::arbitrary::{any_engine, any_single_ghash, pattern, pipelined, serial};
use proptest::prelude::*;
use sealsim_aead::aead::bytes::{Key, Scheme};
use sealsim_aead::aead::flow::Dates;
use sealsim_aead::aead::gcm_siv::*;
use sealsim_aead::aead::scheme_timing::SchemeTiming;
use sealsim_aead::gcm::bulk;
use sealsim_aead::gcm::field::Element;
use sealsim_aead::gcm::ghash::{Datapath, GhashUnit};
use sealsim_aead::gcm::message::{SealOpen, Shape};
use sealsim_aead::gcm::spec::GhashSpec;
use sealsim_aead::units::{Bytes, Cycles};

/// Pipelined lanes with POLYVAL on one multiplier of latency L.
fn plain(key_bits: u32, lanes: u32, registers: u32, latency: u64, key_setup: u64) -> GcmSivSpec {
    GcmSivSpec {
        key_bits,
        aes: pipelined(lanes, registers),
        polyval: serial(latency, 0),
        key_setup: Cycles(key_setup),
        buffer: Bytes(1 << 20),
        compare: Cycles(1),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn sealing_and_opening_have_their_closed_forms(
        long in any::<bool>(), lanes in 1..6_u32, registers in 1..4_u32, latency in 1..9_u64, key_setup in 0..20_u64,
        at in 0..100_u64, aad in 0..20_u64, blocks in 0..200_u64,
    ) {
        let spec = plain(if long { 256 } else { 128 }, lanes, registers, latency, key_setup);
        let message = |direction| GcmSivTiming::new(&spec).unwrap().message(at, &Shape::new(16 * aad, 16 * blocks, direction));
        let depth = u64::from(registers) * if long { 14 } else { 10 };
        let lanes = u64::from(lanes);
        let h = at + 1 / lanes + depth;
        let keyed = at + (spec.derivation_blocks() - 1) / lanes + depth + key_setup;
        let known = h + (aad + blocks + 1) * latency;
        let tag = (known + 1).max(keyed) + depth;
        let sealed = Dates {
            first_input: (aad + blocks > 0).then_some(h),
            first_text: (blocks > 0).then_some(tag + depth + 1),
            last_text: (blocks > 0).then(|| tag + depth + (blocks - 1) / lanes + 1),
            tag,
            verdict: tag + 1,
        };
        prop_assert_eq!(message(SealOpen::Seal), sealed);
        if blocks > 0 {
            let (first, opened) = (keyed + depth, message(SealOpen::Open));
            // With one multiplier POLYVAL never outruns the lanes: once it has the first block it takes one per L cycles.
            let entered = (h + aad * latency).max(first + 1);
            prop_assert_eq!(opened.first_text, Some(first + 1));
            prop_assert_eq!(opened.tag, entered + (blocks + 1) * latency + 1 + depth);
        }
    }

    #[test]
    fn the_tag_comes_before_the_text_to_seal_and_after_it_to_open(
        engine in any_engine(), polyval in any_single_ghash(), aad in 0..20_u64, blocks in 1..100_u64,
    ) {
        let spec = GcmSivSpec {
            key_bits: if engine.key_bits == 192 { 128 } else { engine.key_bits },
            aes: engine.aes,
            polyval,
            key_setup: engine.key_setup,
            buffer: Bytes(1 << 20),
            compare: engine.compare,
        };
        let rests = spec.aes.start_interval.0 > 1 || spec.aes.passes(14) > 1;
        let mut timing = GcmSivTiming::new(&spec).unwrap();
        let mut start = timing.load_key(0);
        let mut lasts = Vec::new();
        for direction in [SealOpen::Seal, SealOpen::Open, SealOpen::Seal, SealOpen::Open] {
            let dates = timing.message(start, &Shape::new(16 * aad, 16 * blocks, direction));
            let (first, last) = (dates.first_text.unwrap(), dates.last_text.unwrap());
            match direction {
                SealOpen::Seal => prop_assert!(dates.tag < first),
                SealOpen::Open => prop_assert!(last < dates.tag),
            }
            prop_assert!(start <= dates.first_input.unwrap());
            lasts.push(dates.done() - start);
            start = dates.done();
        }
        // Lanes that take a block in every cycle keep nothing of one message for the next.
        if !rests {
            prop_assert_eq!((lasts[0], lasts[1]), (lasts[2], lasts[3]));
        }
    }
}

#[test]
fn key_derivation_takes_six_blocks_for_a_long_key_and_four_for_a_short_one() {
    assert_eq!((plain(256, 1, 1, 1, 0).derivation_blocks(), plain(128, 1, 1, 1, 0).derivation_blocks()), (6, 4));
}

#[test]
fn what_cannot_be_is_refused() {
    assert!(plain(192, 1, 1, 1, 0).check().unwrap_err().to_string().contains("128 or 256"));
    assert!(GcmSivSpec { buffer: Bytes(0), ..plain(128, 1, 1, 1, 0) }.check().is_err());
    assert!(plain(128, 0, 1, 1, 0).check().is_err());
    let good = plain(128, 1, 1, 1, 0);
    let unit = Box::new(good.polyval.clone());
    let chained = GhashSpec::SubChains { chains: 2, chunk: Bytes(64), ports: 1, buffer: 8, unit };
    let error = GcmSivSpec { polyval: chained, ..good }.check().unwrap_err().to_string();
    assert!(error.contains("several tags"), "{error}");
}

/// POLYVAL by the registers of a GHASH unit (RFC 8452, appendix A): H and all blocks mirrored, H times x.
fn polyval(unit: &GhashSpec, h: [u8; 16], blocks: &[[u8; 16]]) -> [u8; 16] {
    const X: Element = Element(1 << 126);
    let mirrored = |mut block: [u8; 16]| {
        block.reverse();
        Element::from_bytes(block)
    };
    let mut unit = GhashUnit::new(unit);
    unit.clock();
    unit.load(mirrored(h).times(X));
    while !unit.ready() {
        unit.clock();
    }
    unit.begin(blocks.len() as u64);
    let mut left = blocks.iter();
    loop {
        while unit.can_enter() {
            unit.enter(mirrored(*left.next().unwrap()));
        }
        if let Some(value) = unit.result() {
            let mut value = value.to_bytes();
            value.reverse();
            return value;
        }
        unit.clock();
    }
}

fn padded(bytes: &[u8]) -> impl Iterator<Item = [u8; 16]> {
    bytes.chunks(16).map(|chunk| Element::from_partial(chunk).to_bytes())
}

/// AES-GCM-SIV step by step, as the engine works: derivation, POLYVAL, tag, counter mode from the tag.
fn sealed(unit: &GhashSpec, key: &[u8], nonce: &[u8], aad: &[u8], text: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let master = bulk::Key::new(key).unwrap();
    let derived = (0..2 + key.len() as u32 / 8).flat_map(|number| {
        let block = [&number.to_le_bytes()[..], nonce].concat();
        master.encrypt_block(block.try_into().unwrap())[..8].to_vec()
    });
    let derived: Vec<u8> = derived.collect();
    let cipher = bulk::Key::new(&derived[16..]).unwrap();
    let bits = |bytes: &[u8]| (8 * bytes.len() as u64).to_le_bytes();
    let length: [u8; 16] = [bits(aad), bits(text)].concat().try_into().unwrap();
    let blocks: Vec<_> = padded(aad).chain(padded(text)).chain([length]).collect();
    let mut sum = polyval(unit, derived[..16].try_into().unwrap(), &blocks);
    sum.iter_mut().zip(nonce).for_each(|(byte, nonce)| *byte ^= nonce);
    sum[15] &= 0x7f;
    let tag = cipher.encrypt_block(sum);
    let first = u32::from_le_bytes([tag[0], tag[1], tag[2], tag[3]]);
    let keystream = (0..).flat_map(|block: u32| {
        let mut counter = tag;
        counter[15] |= 0x80;
        counter[..4].copy_from_slice(&first.wrapping_add(block).to_le_bytes());
        cipher.encrypt_block(counter)
    });
    (text.iter().zip(keystream).map(|(byte, key)| byte ^ key).collect(), tag.to_vec())
}

proptest! {
    #[test]
    fn every_ghash_structure_makes_the_tag_of_aes_gcm_siv(
        unit in any_single_ghash(), seed in any::<u64>(), long in any::<bool>(), aad in 0..90_usize, length in 0..400_usize,
    ) {
        let (key, nonce) = (pattern(seed, if long { 32 } else { 16 }), pattern(seed ^ 1, 12));
        let (aad, mut text) = (pattern(seed ^ 2, aad), pattern(seed ^ 3, length));
        let made = sealed(&unit, &key, &nonce, &aad, &text);
        let tag = Key::new(Scheme::GcmSiv, &key).unwrap().seal(&nonce, &aad, &mut text).unwrap();
        prop_assert_eq!(made, (text, tag));
    }
}
