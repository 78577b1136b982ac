//! Random engines and bytes for tests.

use proptest::prelude::*;
use sealsim_aead::gcm::control::{ControlSpec, FirstCounter, Inputs, Keystream, Mask, Origin, PhaseSpec, Start};
use sealsim_aead::gcm::message::SealOpen;
use sealsim_aead::gcm::spec::{AesSpec, Closing, GcmSpec, GhashSpec, MultiplierSpec};
use sealsim_aead::gcm::structure::Structure;
use sealsim_aead::units::{Bytes, Cycles};

pub fn pattern(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed;
    let next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    std::iter::repeat_with(next).take(length).collect()
}

pub fn any_direction() -> BoxedStrategy<SealOpen> {
    prop::sample::select(vec![SealOpen::Seal, SealOpen::Open]).boxed()
}

pub fn multiplier(product: u64, reduction: u64, digit_bits: u32) -> MultiplierSpec {
    let structure = Structure::Schoolbook;
    MultiplierSpec { product: Cycles(product), reduction: Cycles(reduction), digit_bits, structure }
}

/// GHASH on one multiplier that takes a pair in every cycle.
pub fn serial(product: u64, reduction: u64) -> GhashSpec {
    GhashSpec::Serial { multiplier: multiplier(product, reduction, 128), first_block: None }
}

/// Lanes that take a block in every cycle, with keystream as far ahead as any test needs.
pub fn pipelined(lanes: u32, registers_per_round: u32) -> AesSpec {
    AesSpec { lanes, rounds_in_hardware: 14, registers_per_round, start_interval: Cycles(1), keystream_blocks: 1024 }
}

pub fn any_multiplier() -> BoxedStrategy<MultiplierSpec> {
    let structure = prop_oneof![
        Just(Structure::Schoolbook),
        (1..=sealsim_aead::gcm::structure::MOST_LEVELS).prop_map(|levels| Structure::Karatsuba { levels }),
    ];
    let parallel = (0..5_u64, 0..4_u64, structure).prop_map(|(product, reduction, structure)| MultiplierSpec {
        structure,
        ..multiplier(product, reduction, 128)
    });
    let serial = (9..128_u32, 0..3_u64, 0..3_u64)
        .prop_map(|(bits, product, reduction)| multiplier(128_u64.div_ceil(bits.into()) + product, reduction, bits));
    prop_oneof![3 => parallel, 1 => serial].prop_filter("buildable", |spec| spec.check().is_ok()).boxed()
}

pub fn any_ghash() -> BoxedStrategy<GhashSpec> {
    prop_oneof![1 => any_simple_ghash(), 1 => any_compound_ghash()].boxed()
}

/// Any GHASH unit that hashes one message at a time to one value.
pub fn any_single_ghash() -> BoxedStrategy<GhashSpec> {
    any_ghash().prop_filter("one value of one message", GhashSpec::is_single).boxed()
}

/// Any family that is built of units that take a message by themselves.
pub fn any_compound_ghash() -> BoxedStrategy<GhashSpec> {
    let sizes = (1..5_u32, prop_oneof![2..9_u32, 2..70_u32], 1..6_u32, prop_oneof![0..6_u32, 0..90_u32]);
    (0..3, sizes, any_simple_ghash())
        .prop_map(|(family, (units, segment, ports, beyond), unit)| {
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
        .boxed()
}

/// Any unit that takes a message by itself.
pub fn any_simple_ghash() -> BoxedStrategy<GhashSpec> {
    any_multiplier()
        .prop_flat_map(|multiplier| {
            let (serial, aggregated, folded) = (multiplier.clone(), multiplier.clone(), multiplier.clone());
            let closing = prop::sample::select(vec![Closing::LookAhead, Closing::Afterwards]);
            prop_oneof![
                prop::option::of((0..9_u64).prop_map(Cycles))
                    .prop_map(move |first_block| GhashSpec::Serial { multiplier: serial.clone(), first_block }),
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
                (1..12_u32, 0..4_u64).prop_map(move |(powers, fold)| GhashSpec::Folded {
                    powers,
                    fold: Cycles(fold),
                    multiplier: folded.clone()
                }),
            ]
        })
        .boxed()
}

pub fn any_engine() -> BoxedStrategy<GcmSpec> {
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
    (prop::sample::select(vec![128, 192, 256]), aes, any_ghash(), 0..20_u64, 0..4_u64)
        .prop_map(|(key_bits, aes, ghash, key_setup, compare)| GcmSpec {
            key_bits,
            aes,
            ghash,
            key_setup: Cycles(key_setup),
            compare: Cycles(compare),
            control: None,
            check: Default::default(),
        })
        .boxed()
}

/// Any engine with a control of its own.
pub fn any_controlled_engine() -> BoxedStrategy<GcmSpec> {
    use prop::sample::select;
    let keystream = select(vec![Keystream::Ahead, Keystream::Frozen, Keystream::WithText]);
    let start = select(vec![Start::AfterPowers, Start::BehindH]);
    let inputs = select(vec![Inputs::Powers, Inputs::Mask, Inputs::FirstKeystream, Inputs::Key]);
    let mask = select(vec![Mask::First, Mask::Last, Mask::AfterGhash]);
    let first_counter =
        select(vec![FirstCounter::Free, FirstCounter::Free, FirstCounter::WithLastAad, FirstCounter::WithFirstText]);
    let origin = select(vec![Origin::KeyLoaded, Origin::Expansion, Origin::FirstInput]);
    let cycles = || (0..5_u64).prop_map(Cycles);
    let lane = (0..4_u32, any::<bool>(), any::<bool>(), cycles(), cycles(), cycles(), cycles());
    let rules = (cycles(), cycles(), any::<bool>(), any::<bool>(), any::<bool>(), cycles(), any::<bool>());
    let rest = (mask, first_counter, any::<bool>(), cycles(), origin, -40..40_i32);
    let phases = (cycles(), cycles(), cycles(), cycles(), cycles())
        .prop_map(|(aad, text, length, empty_aad, empty_text)| PhaseSpec { aad, text, length, empty_aad, empty_text });
    let rare = || prop_oneof![2 => Just(Cycles(0)), 1 => (1..5_u64).prop_map(Cycles)];
    let waits = (rare(), rare(), rare(), rare(), any::<bool>(), any::<bool>(), [rare(), rare(), rare()]);
    let control = (keystream, start, inputs, lane, rules, prop::option::of(phases), rest, waits).prop_map(
        |(keystream, start, inputs, lane, rules, phases, rest, waits)| ControlSpec {
            idle: if lane.2 { waits.0 } else { Cycles(0) },
            ghash_idle: waits.1,
            aad_idle: waits.6[0],
            load_key_word: waits.6[1],
            output_registers: waits.6[2],
            datapath_bits: None,
            delay: if lane.2 { Cycles(0) } else { waits.2 },
            text_start: if phases.is_some() { Cycles(0) } else { waits.3 },
            text_after_rest: phases.is_none() && waits.4,
            text_register: keystream != Keystream::WithText && waits.5,
            keystream,
            mask: rest.0,
            first_counter: rest.1,
            open_register: rest.2,
            key_load: rest.3,
            origin: rest.4,
            offset: rest.5,
            start,
            inputs,
            passes: lane.0,
            full_length: lane.1,
            one_at_a_time: lane.2,
            load: lane.3,
            unload: lane.4,
            round_key: lane.5,
            schedule_word: lane.6,
            settle: rules.0,
            aad_start: rules.1,
            shared_port: rules.2,
            leave_with_hash: rules.3,
            take_turns: rules.4,
            end_of_text: rules.5,
            tag_at_once: rules.6,
            phases,
        },
    );
    let engine = (any_engine(), control).prop_map(|(engine, control)| match control.inputs {
        Inputs::Key => streaming(engine, control),
        _ => {
            let lanes = if control.keystream == Keystream::Ahead { engine.aes.lanes } else { 1 };
            GcmSpec { aes: AesSpec { lanes, ..engine.aes }, control: Some(control), ..engine }
        }
    });
    engine.prop_filter("its statements agree", |spec| spec.check().is_ok()).boxed()
}

/// The same with a pipeline, since nothing else takes inputs before H: few draws would be one.
fn streaming(engine: GcmSpec, control: ControlSpec) -> GcmSpec {
    let shared_port = control.shared_port || control.first_counter != FirstCounter::WithLastAad;
    let first_counter = if shared_port { FirstCounter::Free } else { control.first_counter };
    let control = ControlSpec {
        keystream: Keystream::WithText,
        start: Start::BehindH,
        passes: 0,
        one_at_a_time: false,
        take_turns: false,
        open_register: false,
        phases: None,
        shared_port,
        first_counter,
        ..control
    };
    GcmSpec { aes: AesSpec { lanes: 1, rounds_in_hardware: 14, ..engine.aes }, control: Some(control), ..engine }
}
