//! Every published case of AES-GCM-SIV, GCM-SST, AEGIS-256 and AEGIS-128L through the bytes, and of GCM-SST and AEGIS through their registers.

use sealsim::aead::aegis::AegisSpec;
use sealsim::aead::bytes::{BytesError, Key, Scheme, WireFormat};
use sealsim::aead::gcm_siv::GcmSivSpec;
use sealsim::aead::gcm_sst::GcmSstSpec;
use sealsim::aead::spec::AeadSpec;
use sealsim::gcm::message::SealOpen;
use sealsim::units::{Bytes, Cycles};
use sealsim::validate::vectors::{Algorithm, Case, Mismatch, Other, read};
use sha2::{Digest, Sha256};
use std::{fs, path::PathBuf};

const FILES: [(&str, Scheme, usize, usize); 4] = [
    ("aes_gcm_siv_test.json", Scheme::GcmSiv, 202, 66),
    ("gcm_sst_test.json", Scheme::GcmSst, 24, 0),
    ("aegis256_test.json", Scheme::Aegis256, 472, 112),
    ("aegis128L_test.json", Scheme::Aegis128L, 479, 112),
];

fn path(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests", "vectors", name].iter().collect()
}

fn cases(name: &str) -> Vec<Case> {
    let text = fs::read_to_string(path(name)).expect("the vector file is part of the sources");
    read(&text).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Whether a case comes out as the file says, both ways.
fn passes(scheme: Scheme, case: &Case) -> bool {
    let tag = &case.tag;
    let Ok(key) = Key::new(WireFormat::new(scheme, tag.len() as u64), &case.key) else { return !case.valid };
    if scheme.check_tag(tag.len()).is_err() {
        return !case.valid;
    }
    let mut text = case.ciphertext.clone();
    let opened = key.open(&case.iv, &case.aad, &mut text, tag);
    let Some(plain) = case.plaintext.as_ref().filter(|_| case.valid) else {
        return opened == Err(BytesError::Forged);
    };
    let opened = opened.is_ok() && text == *plain;
    let mut text = plain.clone();
    opened && key.seal(&case.iv, &case.aad, &mut text) == Ok(tag.clone()) && text == case.ciphertext
}

#[test]
fn the_files_are_the_published_ones() {
    let readme = fs::read_to_string(path("README.md")).expect("a README");
    for (name, _, count, invalid) in FILES {
        let digest = hex::encode(Sha256::digest(fs::read(path(name)).expect("a vector file")));
        assert!(readme.contains(&format!("{digest}  {name}")), "{name} has digest {digest}");
        let cases = cases(name);
        assert_eq!((cases.len(), cases.iter().filter(|case| !case.valid).count()), (count, invalid), "{name}");
    }
}

#[test]
fn the_bytes_pass_every_case() {
    for (name, scheme, ..) in FILES {
        for case in &cases(name) {
            assert!(passes(scheme, case), "{name}, {}", case.id);
        }
    }
}

/// What a copy engine makes of a message in pieces. It has no AAD, so cases that have some are left out.
#[test]
fn the_engines_streams_pass_every_case_without_aad() {
    for (name, scheme, ..) in FILES {
        let all = cases(name);
        let mut checked = 0;
        for case in all.iter().filter(|case| case.aad.is_empty()) {
            let format = WireFormat::new(scheme, case.tag.len() as u64);
            let stream = |direction| {
                let bytes = case.ciphertext.len() as u64;
                Key::new(format, &case.key).and_then(|key| key.begin(&case.iv, bytes, direction))
            };
            let Ok(mut opening) = stream(SealOpen::Open) else {
                assert!(!case.valid, "{name}, {}", case.id);
                continue;
            };
            opening.seed(&case.tag);
            let mut text = case.ciphertext.clone();
            text.chunks_mut(7).for_each(|piece| opening.update(piece));
            assert_eq!(opening.tag() == case.tag, case.valid, "{name}, {}", case.id);
            if let Some(plain) = case.plaintext.as_ref().filter(|_| case.valid) {
                assert_eq!(text, *plain, "{name}, {}", case.id);
                let mut sealing = stream(SealOpen::Seal).expect("as to open");
                if scheme == Scheme::GcmSiv {
                    text.chunks(7).for_each(|piece| sealing.absorb(piece));
                    sealing.turn();
                }
                text.chunks_mut(7).for_each(|piece| sealing.update(piece));
                assert_eq!((&text, sealing.tag()), (&case.ciphertext, case.tag.clone()), "{name}, {}", case.id);
            }
            checked += 1;
        }
        assert!(checked > if scheme == Scheme::GcmSst { 7 } else { 20 }, "{name}: {checked} cases");
    }
}

#[test]
fn the_cases_of_one_scheme_are_not_those_of_another() {
    let valid = |name| cases(name).into_iter().filter(|case| case.valid);
    assert!(valid("aegis256_test.json").all(|case| !passes(Scheme::Aegis256X2, &case)));
    assert!(
        valid("aes_gcm_siv_test.json")
            .filter(|case| case.key.len() == 32)
            .all(|case| !passes(Scheme::ChaCha20Poly1305, &case))
    );
}

/// By whoever judges: bytes where there are no registers, registers elsewhere. The beginning of a tag of GCM-SST is one; a long tag of AEGIS is another.
#[test]
fn tags_of_every_length_that_a_scheme_has_are_judged_and_no_others() {
    let [sst, siv] = [("gcm_sst_test.json", 12), ("aes_gcm_siv_test.json", 16)].map(|(name, least)| {
        cases(name)
            .into_iter()
            .filter(move |case| case.valid && case.tag.len() >= least)
            .max_by_key(|case| case.tag.len())
            .unwrap()
    });
    // draft-irtf-cfrg-aegis-aead, A.2.2: the first vector of AEGIS-128L.
    let bytes = |text| hex::decode(text).unwrap();
    let aegis = |tag| Case {
        id: String::new(),
        algorithm: Algorithm::named("aegis128l").unwrap(),
        key: bytes("10010000000000000000000000000000"),
        iv: bytes("10000200000000000000000000000000"),
        aad: Vec::new(),
        plaintext: Some(vec![0; 16]),
        ciphertext: bytes("c1c0e58bd913006feba00f4b3cc3594e"),
        tag: bytes(tag),
        valid: true,
        may_refuse: false,
    };
    let long = aegis("25835bfbb21632176cf03840687cb968cace4617af1bd0f7d064c639a5c79ee4");
    let spec = AeadSpec::Aegis128L(AegisSpec { lanes: 1, round: Cycles(1), tag: None, compare: Cycles(0) });
    let (mut hash, mut state) = (Other::new(AeadSpec::GcmSst(GcmSstSpec::four_lanes())), Other::new(spec));
    let mut other = Other::new(AeadSpec::GcmSiv(GcmSivSpec::four_lanes(Bytes(1 << 16))));
    let mut judged = |case: &Case, bytes: usize| {
        let case = Case { tag: case.tag[..bytes].to_vec(), ..case.clone() };
        let subject = match case.algorithm.scheme() {
            Scheme::GcmSst => &mut hash,
            Scheme::GcmSiv => &mut other,
            _ => &mut state,
        };
        let mut struck = case.clone();
        struck.tag.iter_mut().take(1).for_each(|byte| *byte ^= 0x80);
        (case.check(subject), struck.check(subject))
    };
    for bytes in 0..=sst.tag.len() {
        let (right, struck) = judged(&sst, bytes);
        assert_eq!(right.is_ok(), bytes >= 4, "GCM-SST {bytes}: {right:?}");
        assert!(struck.is_err(), "GCM-SST {bytes}");
        assert!(bytes >= 4 || matches!(right, Err(Mismatch::Malformed(_))));
    }
    let short = aegis("abe0ece80c24868a226a35d16bdae37a");
    for (case, bytes, fits) in [
        (&long, 32, true),
        (&long, 31, false),
        (&long, 17, false),
        (&short, 16, true),
        (&short, 15, false),
        (&siv, 16, true),
        (&siv, 12, false),
    ] {
        let (right, struck) = judged(case, bytes);
        assert_eq!((right.is_ok(), struck.is_err()), (fits, true), "{bytes}: {right:?}");
    }
}

/// And none that is poisoned: of each valid one a bit of text, tag or key is changed.
#[test]
fn the_registers_pass_every_case_and_no_poisoned_one() {
    let spec = || AegisSpec { lanes: 1, round: Cycles(2), tag: None, compare: Cycles(0) };
    for (name, spec) in [
        ("aegis256_test.json", AeadSpec::Aegis256(spec())),
        ("aegis128L_test.json", AeadSpec::Aegis128L(spec())),
        ("gcm_sst_test.json", AeadSpec::GcmSst(GcmSstSpec::four_lanes())),
    ] {
        let mut subject = Other::new(spec);
        for case in &cases(name) {
            assert_eq!(case.check(&mut subject), Ok(()), "{name}, {}", case.id);
            for part in 0..3 {
                let mut poisoned = case.clone();
                let bytes = [&mut poisoned.ciphertext, &mut poisoned.tag, &mut poisoned.key];
                let Some(byte) = bytes.into_iter().nth(part).and_then(|bytes| bytes.first_mut()) else { continue };
                *byte ^= 4;
                assert!(!case.valid || poisoned.check(&mut subject).is_err(), "{name}, {}: part {part}", case.id);
            }
        }
    }
}
