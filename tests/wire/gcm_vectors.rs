//! Every published case through the bulk bytes and through the structural engine with every GHASH design.

use sealsim::config::{Layers, Role, Shipped};
use sealsim::gcm::spec::{AesSpec, Closing, GcmSpec, GhashSpec, MultiplierSpec};
use sealsim::gcm::structure::Structure;
use sealsim::units::Cycles;
use sealsim::validate::vectors::{Algorithm, Bulk, Case, Processed, Structural, Subject, read};
use sha2::{Digest, Sha256};
use std::{collections::HashSet, fs, path::PathBuf};

const FILES: [(&str, usize); 8] = [
    ("gcmEncryptExtIV128.rsp", 7875),
    ("gcmEncryptExtIV192.rsp", 7875),
    ("gcmEncryptExtIV256.rsp", 7875),
    ("gcmDecrypt128.rsp", 7875),
    ("gcmDecrypt192.rsp", 7875),
    ("gcmDecrypt256.rsp", 7875),
    ("aes_gcm_test.json", 316),
    ("aes_gmac_test.json", 414),
];

fn path(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests", "vectors", name].iter().collect()
}

fn cases(name: &str) -> Vec<Case> {
    let text = fs::read_to_string(path(name)).expect("the vector file is part of the sources");
    read(&text).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn pass(name: &str, cases: &[Case], subject: &mut dyn Subject) {
    for case in cases {
        if let Err(mismatch) = case.check(subject) {
            panic!("{name}, {}: {mismatch}", case.id);
        }
    }
}

fn parallel(product: u64, reduction: u64) -> MultiplierSpec {
    MultiplierSpec {
        product: Cycles(product),
        reduction: Cycles(reduction),
        digit_bits: 128,
        structure: Structure::default(),
    }
}

fn digits(bits: u32) -> MultiplierSpec {
    let product = Cycles(128_u64.div_ceil(bits.into()));
    MultiplierSpec { product, reduction: Cycles(0), digit_bits: bits, structure: Structure::default() }
}

fn interleaved(ways: u32, multipliers: u32, closing: Closing, multiplier: MultiplierSpec) -> GhashSpec {
    GhashSpec::Interleaved { ways, multipliers, closing, multiplier }
}

fn karatsuba(levels: u32, multiplier: MultiplierSpec) -> MultiplierSpec {
    MultiplierSpec { structure: Structure::Karatsuba { levels }, ..multiplier }
}

fn segmented(units: u32, segment: u32, buffer: u32, unit: GhashSpec) -> GhashSpec {
    GhashSpec::Segmented { units, segment, ports: 2, buffer, unit: Box::new(unit) }
}

fn message_parallel(units: u32, unit: GhashSpec) -> GhashSpec {
    GhashSpec::MessageParallel { units, ports: 2, buffer: 8, unit: Box::new(unit) }
}

/// GHASH designs with plain and with odd parameters, on lanes of several shapes.
fn engines() -> Vec<GcmSpec> {
    use Closing::{Afterwards, LookAhead};
    let designs = [
        (4, 14, 1, GhashSpec::Serial { multiplier: parallel(0, 1), first_block: None }),
        (1, 1, 1, GhashSpec::Serial { multiplier: digits(16), first_block: None }),
        (2, 7, 0, GhashSpec::Serial { multiplier: parallel(3, 2), first_block: None }),
        (4, 14, 1, interleaved(16, 4, LookAhead, parallel(2, 2))),
        (3, 5, 2, interleaved(7, 3, LookAhead, parallel(1, 0))),
        (1, 14, 0, interleaved(1, 1, LookAhead, parallel(2, 1))),
        (4, 14, 1, interleaved(16, 4, Afterwards, parallel(2, 2))),
        (5, 3, 1, interleaved(5, 2, Afterwards, digits(48))),
        (1, 14, 4, interleaved(2, 5, Afterwards, parallel(0, 3))),
        (4, 14, 1, GhashSpec::Aggregated { width: 4, groups: 4, multiplier: parallel(2, 2) }),
        (2, 14, 1, GhashSpec::Aggregated { width: 8, groups: 1, multiplier: parallel(1, 1) }),
        (3, 2, 1, GhashSpec::Aggregated { width: 3, groups: 5, multiplier: digits(30) }),
        (1, 14, 1, GhashSpec::Folded { powers: 8, fold: Cycles(2), multiplier: parallel(6, 1) }),
        (2, 7, 1, GhashSpec::Folded { powers: 3, fold: Cycles(0), multiplier: digits(32) }),
        (1, 1, 3, GhashSpec::Aggregated { width: 1, groups: 1, multiplier: parallel(0, 1) }),
        (
            4,
            14,
            1,
            segmented(3, 2, 4, GhashSpec::Serial { multiplier: karatsuba(2, parallel(2, 2)), first_block: None }),
        ),
        (2, 7, 1, segmented(2, 3, 9, GhashSpec::Aggregated { width: 3, groups: 2, multiplier: parallel(1, 1) })),
        (4, 14, 1, message_parallel(3, interleaved(3, 2, Afterwards, karatsuba(4, parallel(1, 1))))),
        (1, 2, 1, message_parallel(2, GhashSpec::Serial { multiplier: digits(40), first_block: None })),
    ];
    let engine = |(lanes, rounds_in_hardware, registers_per_round, ghash)| GcmSpec {
        aes: AesSpec {
            lanes,
            rounds_in_hardware,
            registers_per_round,
            start_interval: Cycles(1),
            keystream_blocks: 16,
        },
        ghash,
        ..GcmSpec::four_lanes()
    };
    let shipped =
        Shipped::names(Role::Engine).map(|name| Layers::new(name).resolve_standalone().expect("a shipped engine"));
    let shipped = shipped.map(|engine| engine.gcm().expect("one of AES-GCM").clone());
    designs.into_iter().map(engine).chain(shipped).collect()
}

#[test]
fn the_files_are_the_published_ones() {
    let readme = fs::read_to_string(path("README.md")).expect("a README");
    for (name, count) in FILES {
        let bytes = fs::read(path(name)).expect("a vector file");
        let digest = hex::encode(Sha256::digest(&bytes));
        assert!(readme.contains(&format!("{digest}  {name}")), "{name} has digest {digest}");
        assert_eq!(cases(name).len(), count, "{name}");
    }
}

#[test]
fn the_files_reach_every_kind_of_case() {
    let all: Vec<Case> = FILES.iter().flat_map(|(name, _)| cases(name)).collect();
    let lengths = |of: fn(&Case) -> usize| all.iter().map(of).collect::<HashSet<_>>();
    assert_eq!(lengths(|case| case.key.len()), HashSet::from([16, 24, 32]));
    assert!(lengths(|case| case.iv.len()).is_superset(&HashSet::from([0, 1, 8, 12, 16, 128, 257])));
    assert!(lengths(|case| case.tag.len()).is_superset(&HashSet::from([4, 8, 12, 13, 14, 15, 16])));
    assert!(all.iter().all(|case| !case.iv.is_empty() || !case.valid));
    assert_eq!(all.iter().filter(|case| !case.valid).count(), 4011 + 3978 + 3919 + 87 + gmac_invalid());
}

fn gmac_invalid() -> usize {
    cases("aes_gmac_test.json").iter().filter(|case| !case.valid).count()
}

#[test]
fn bulk_passes_every_case() {
    for (name, _) in FILES {
        pass(name, &cases(name), &mut Bulk);
    }
}

/// Which cases a GHASH design is held to: all in the campaigns, otherwise every eleventh, each design others.
const STEP: usize = if crate::CAMPAIGN { 1 } else { 17 };

#[test]
fn every_ghash_design_passes_every_case() {
    assert!(engines().iter().all(|engine| engine.ghash.wire_compatible()));
    let files: Vec<_> = FILES.iter().map(|(name, _)| (name, cases(name))).collect();
    std::thread::scope(|scope| {
        for half in engines().chunks(engines().len().div_ceil(2)) {
            let (files, half) = (&files, half.to_vec());
            scope.spawn(move || {
                for (place, spec) in half.into_iter().enumerate() {
                    let mut subject = Structural::new(spec);
                    for (name, cases) in files {
                        let some: Vec<_> = cases.iter().skip(place % STEP).step_by(STEP).cloned().collect();
                        pass(name, &some, &mut subject);
                    }
                }
            });
        }
    });
}

#[test]
fn a_wrong_implementation_is_found() {
    struct Wrong;
    impl Subject for Wrong {
        fn algorithms(&self) -> &'static [Algorithm] {
            Bulk.algorithms()
        }

        fn process(&mut self, case: &Case, text: &[u8], direction: sealsim::gcm::message::SealOpen) -> Processed {
            let (text, mut tag) = Bulk.process(case, text, direction)?;
            tag[3] ^= 1;
            Ok((text, tag))
        }
    }
    let all = cases("aes_gcm_test.json");
    assert!(all.iter().filter(|case| case.valid).all(|case| case.check(&mut Wrong).is_err()));
}
