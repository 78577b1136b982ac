use crate::gcm::arbitrary::{multiplier, pipelined, serial};
use proptest::prelude::*;
use sealsim_aead::aead::bytes::{BytesError, Key, Scheme, WireFormat};
use sealsim_aead::aead::gcm_sst::*;
use sealsim_aead::aead::model::Model;
use sealsim_aead::aead::scheme_timing::SchemeTiming;
use sealsim_aead::gcm::message::{SealOpen, Shape};
use sealsim_aead::gcm::spec::GhashSpec;
use sealsim_aead::units::{Bytes, Cycles};

/// Key, nonce, AAD and text by the first byte of each, from which they count, and their lengths; ciphertext; whole tag; bytes of the draft's tag.
type Vector = ([(u8, usize); 4], &'static str, &'static str, usize);

/// Cases 1d, 1e, 3b, 3c and 3d of the draft's appendix; `tests/vectors` of the whole product has all of them.
const VECTORS: [Vector; 5] = [
    (
        [(0, 16), (0x30, 12), (0x40, 16), (0x60, 31)],
        "64f05bae1ed2403a71255edd53495ce17dc0cbc785a7a920db4228ff633210",
        "934356140b84482cd014c7407ee9ccb6",
        12,
    ),
    (
        [(0, 16), (0x30, 12), (0x40, 15), (0x60, 17)],
        "64f05bae1ed2403a71255edd53495ce17d",
        "f850b7971143abe9315ad7eb3b0a1681",
        12,
    ),
    ([(0, 32), (0x30, 12), (0x40, 5), (0x60, 0)], "", "63acca4d209fb39028ffc31704016761", 12),
    ([(0, 32), (0x30, 12), (0x40, 0), (0x60, 12)], "fc462d34a75b22624fd73b27", "e1debffd5f3a85e348bd6fcc6e621090", 12),
    (
        [(0, 32), (0x30, 12), (0x40, 16), (0x60, 31)],
        "fc462d34a75b22624fd73b2784de105133117e1758b5edd0d65d683206bbad",
        "c35ed7839f21f7bba5a8a28e1f49ed04",
        12,
    ),
];

#[test]
fn the_bytes_are_the_drafts_and_a_shorter_tag_is_the_beginning_of_a_longer_one() {
    for (inputs, cipher, whole, own) in VECTORS {
        let [key, nonce, aad, text] = inputs.map(|(first, count)| (first..).take(count).collect::<Vec<u8>>());
        for tag_bytes in [4, 6, own, 14, 16] {
            let sealing = Key::new(WireFormat::new(Scheme::GcmSst, tag_bytes as u64), &key).unwrap();
            let mut sealed = text.clone();
            let tag = sealing.seal(&nonce, &aad, &mut sealed).unwrap();
            assert_eq!((hex::encode(&sealed), hex::encode(&tag)), (cipher.into(), whole[..2 * tag_bytes].into()));
            assert_eq!(sealing.open(&nonce, &aad, &mut sealed.clone(), &tag), Ok(()));
            // Tags of another length under this key do not pass, nor do others of its own.
            assert_eq!(sealing.open(&nonce, &aad, &mut sealed.clone(), &tag[1..]), Err(BytesError::Forged));
            let mut other = tag;
            other[tag_bytes - 1] ^= 1;
            assert_eq!(sealing.open(&nonce, &aad, &mut sealed, &other), Err(BytesError::Forged));
        }
    }
}

/// Pipelined lanes with POLYVAL on one multiplier of latency L.
fn plain(key_bits: u32, lanes: u32, registers: u32, latency: u64) -> GcmSstSpec {
    let (aes, polyval) = (pipelined(lanes, registers), serial(latency, 0));
    GcmSstSpec { key_bits, aes, polyval, key_setup: Cycles(3), tag: Bytes(12), compare: Cycles(1) }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn a_message_has_its_closed_form(
        long in any::<bool>(), lanes in 1..6_u32, registers in 1..4_u32, latency in 1..9_u64, at in 0..100_u64,
        aad in 0..20_u64, blocks in 0..200_u64, seal in any::<bool>(),
    ) {
        let direction = if seal { SealOpen::Seal } else { SealOpen::Open };
        let spec = plain(if long { 256 } else { 128 }, lanes, registers, latency);
        let dates = GcmSstTiming::new(&spec).unwrap().message(at, &Shape::new(16 * aad, 16 * blocks, direction));
        let depth = at + u64::from(registers) * if long { 14 } else { 10 };
        let (after_aad, number) = (depth + aad * latency, |block: u64| depth + block / u64::from(lanes));
        if blocks == 0 {
            prop_assert_eq!(dates.tag, (after_aad.max(number(1)) + latency).max(number(2)) + 1);
        } else {
            let taken = if seal { number(3) } else { number(3).max(after_aad) };
            let entered = if seal { after_aad.max(taken + 1) } else { taken };
            prop_assert_eq!(dates.first_text, Some(taken + 1));
            prop_assert_eq!(dates.tag, entered + (blocks + 1) * latency + 1);
        }
        prop_assert_eq!(dates.verdict, dates.tag + 1);
    }
}

/// What GCM-SST costs beside AES-GCM on the same parts: a message waits for powers of its own H, and its tag for a product by H2.
#[test]
fn each_message_makes_its_powers_and_ends_with_one_product_more() {
    let tail = |latency| {
        let mut timing = GcmSstTiming::new(&plain(256, 4, 1, latency)).unwrap();
        let dates = timing.message(0, &Shape::new(0, 1600, SealOpen::Open));
        dates.tag - dates.last_text.unwrap()
    };
    // The last block, then the product by H2: AES-GCM has its length block in the place of the latter.
    assert_eq!((tail(4), tail(7)), (8, 14));
    let mut spec = GcmSstSpec::four_lanes();
    let first = |spec: &GcmSstSpec| {
        let dates = GcmSstTiming::new(spec).unwrap().message(0, &Shape::new(0, 1600, SealOpen::Open));
        dates.first_input.unwrap()
    };
    // H is there after 14 cycles; 15 more powers, one at a time, and the last waits for three before it.
    let sixteen = first(&spec);
    spec.polyval = GhashSpec::Aggregated { width: 1, groups: 1, multiplier: multiplier(2, 2, 128) };
    assert_eq!((first(&spec), sixteen), (14, 37));
}

#[test]
fn the_bound_is_that_of_the_tag_until_the_message_is_too_long_for_it() {
    let bound = |tag, bytes| {
        let spec = GcmSstSpec { tag: Bytes(tag), ..GcmSstSpec::four_lanes() };
        (&spec).attempt_log2(bytes)
    };
    assert!((bound(6, 1 << 30) + 48.0).abs() < 1e-6 && (bound(12, 1 << 20) + 96.0).abs() < 1e-4);
    // As many blocks as 2^(128 - t): both ways to pass are as likely.
    assert!((bound(14, 1 << 20) + 111.0).abs() < 1e-9);
    assert!((bound(16, 1 << 20) - 65_537_f64.log2() + 128.0).abs() < 1e-9);
}

#[test]
fn what_cannot_be_is_refused() {
    let good = plain(128, 1, 1, 1);
    assert!(plain(192, 1, 1, 1).check().unwrap_err().to_string().contains("128 or 256"));
    for tag in [0, 3, 17, 32] {
        assert!(GcmSstSpec { tag: Bytes(tag), ..good.clone() }.check().is_err());
    }
    let mut rests = good.clone();
    (rests.aes.registers_per_round, rests.aes.start_interval) = (0, Cycles(3));
    assert!(rests.check().unwrap_err().to_string().contains("from 0 to 2"));
    let unit = Box::new(good.polyval.clone());
    let chained = GhashSpec::SubChains { chains: 2, chunk: Bytes(64), ports: 1, buffer: 8, unit };
    let error = GcmSstSpec { polyval: chained, ..good }.check().unwrap_err().to_string();
    assert!(error.contains("several tags"), "{error}");
}
