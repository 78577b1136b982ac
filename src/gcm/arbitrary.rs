//! Random engines and bytes for tests.

use super::spec::{AesSpec, Closing, EngineSpec, GhashSpec, MultiplierSpec};
use super::structure::Structure;
use crate::units::{Bytes, Cycles};
use proptest::prelude::*;

/// Bytes that a seed gives.
pub fn pattern(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed;
    let next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    std::iter::repeat_with(next).take(length).collect()
}

/// A multiplier from its three figures.
pub fn multiplier(product: u64, reduction: u64, digit_bits: u32) -> MultiplierSpec {
    let structure = Structure::Schoolbook;
    MultiplierSpec { product: Cycles(product), reduction: Cycles(reduction), digit_bits, structure }
}

/// Any multiplier that can be built.
pub fn any_multiplier() -> impl Strategy<Value = MultiplierSpec> {
    let structure = prop_oneof![
        Just(Structure::Schoolbook),
        (1..=super::structure::MOST_LEVELS).prop_map(|levels| Structure::Karatsuba { levels }),
    ];
    let parallel = (0..5_u64, 0..4_u64, structure).prop_map(|(product, reduction, structure)| MultiplierSpec {
        structure,
        ..multiplier(product, reduction, 128)
    });
    let serial = (9..128_u32, 0..3_u64, 0..3_u64)
        .prop_map(|(bits, product, reduction)| multiplier(128_u64.div_ceil(bits.into()) + product, reduction, bits));
    prop_oneof![3 => parallel, 1 => serial].prop_filter("buildable", |spec| spec.check().is_ok())
}

/// Any GHASH unit of modest size.
pub fn any_ghash() -> impl Strategy<Value = GhashSpec> {
    prop_oneof![1 => any_simple_ghash(), 1 => any_compound_ghash()]
}

/// Any family that is built of units that take a message by themselves.
pub fn any_compound_ghash() -> impl Strategy<Value = GhashSpec> {
    let sizes = (1..5_u32, prop_oneof![2..9_u32, 2..70_u32], 1..6_u32, prop_oneof![0..6_u32, 0..90_u32]);
    (0..3, sizes, any_simple_ghash()).prop_map(|(family, (units, segment, ports, beyond), unit)| {
        let (buffer, unit) = (ports + beyond, Box::new(unit));
        match family {
            0 => GhashSpec::Segmented { units, segment, ports, buffer, unit },
            1 => GhashSpec::MessageParallel { units, ports, buffer, unit },
            _ => {
                let chunk = Bytes(16 * u64::from(segment - 1));
                GhashSpec::SubChains { chains: units, chunk, ports, buffer, unit }
            }
        }
    })
}

/// Any unit that takes a message by itself.
pub fn any_simple_ghash() -> impl Strategy<Value = GhashSpec> {
    any_multiplier().prop_flat_map(|multiplier| {
        let (serial, aggregated) = (multiplier.clone(), multiplier.clone());
        let closing = prop::sample::select(vec![Closing::LookAhead, Closing::Afterwards]);
        prop_oneof![
            Just(GhashSpec::Serial { multiplier: serial }),
            (1..20_u32, 1..6_u32, closing).prop_map(move |(ways, multipliers, closing)| GhashSpec::Interleaved {
                ways,
                multipliers,
                closing,
                multiplier: multiplier.clone()
            }),
            (1..7_u32, 1..6_u32).prop_map(move |(width, groups)| GhashSpec::Aggregated {
                width,
                groups,
                multiplier: aggregated.clone()
            }),
        ]
    })
}

/// Any engine of modest size.
pub fn any_engine() -> impl Strategy<Value = EngineSpec> {
    let lanes = prop_oneof![
        (1..6_u32, Just(14_u32), 0..3_u32, 0..2_u64),
        (1..6_u32, 1..15_u32, 0..4_u32, prop_oneof![0..2_u64, 0..30_u64]),
    ];
    let aes = (lanes, prop_oneof![1..6_u32, 1..150_u32]).prop_map(
        |((lanes, rounds, registers, interval), keystream_blocks)| AesSpec {
            lanes,
            rounds_in_hardware: rounds,
            registers_per_round: registers,
            start_interval: Cycles(interval),
            keystream_blocks,
        },
    );
    (prop::sample::select(vec![128, 192, 256]), aes, any_ghash(), 0..20_u64, 0..4_u64).prop_map(
        |(key_bits, aes, ghash, key_setup, compare)| EngineSpec {
            key_bits,
            aes,
            ghash,
            key_setup: Cycles(key_setup),
            compare: Cycles(compare),
        },
    )
}
