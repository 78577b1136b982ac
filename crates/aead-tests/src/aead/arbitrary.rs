//! Random engines of other AEADs for tests.

use crate::gcm::arbitrary::{any_engine, any_simple_ghash, any_single_ghash};
use proptest::prelude::*;
use sealsim_aead::aead::aegis::AegisSpec;
use sealsim_aead::aead::bytes::Scheme;
use sealsim_aead::aead::chacha20_poly1305::{ChaCha20Poly1305Spec, ChaChaSpec, Poly1305Spec};
use sealsim_aead::aead::gcm_siv::GcmSivSpec;
use sealsim_aead::aead::gcm_sst::GcmSstSpec;
use sealsim_aead::aead::spec::{AeadSpec, EngineSpec};
use sealsim_aead::gcm::spec::{Closing, aes_rounds};
use sealsim_aead::units::{Bytes, Cycles};

pub fn any_sst() -> BoxedStrategy<GcmSstSpec> {
    (any_engine(), any_single_ghash(), 4..17_u64)
        .prop_map(|(engine, polyval, tag)| {
            let key_bits = if engine.key_bits == 192 { 256 } else { engine.key_bits };
            let mut aes = engine.aes;
            let latency = aes.latency(aes_rounds(key_bits));
            aes.start_interval = Cycles(aes.start_interval.0.min(latency + 1));
            GcmSstSpec { key_bits, aes, polyval, key_setup: engine.key_setup, tag: Bytes(tag), compare: engine.compare }
        })
        .boxed()
}

/// Any engine of another AEAD whose registers are modelled.
pub fn any_clocked() -> BoxedStrategy<AeadSpec> {
    let lanes = prop::sample::select(vec![1, 2, 4]);
    let tag = prop::option::of(prop::sample::select(vec![Bytes(16), Bytes(32)]));
    let aegis = (lanes, 1..6_u64, tag, 0..5_u64, any::<bool>()).prop_map(|(lanes, round, tag, compare, wide)| {
        let scheme = if wide { AeadSpec::Aegis256 } else { AeadSpec::Aegis128L };
        scheme(AegisSpec { lanes, round: Cycles(round), tag, compare: Cycles(compare) })
    });
    prop_oneof![any_sst().prop_map(AeadSpec::GcmSst), aegis].boxed()
}

pub fn any_aead() -> BoxedStrategy<AeadSpec> {
    let cycles = || (0..5_u64).prop_map(Cycles);
    let siv = (any_engine(), any_simple_ghash()).prop_map(|(engine, polyval)| {
        AeadSpec::GcmSiv(GcmSivSpec {
            key_bits: if engine.key_bits == 192 { 256 } else { engine.key_bits },
            aes: engine.aes,
            polyval,
            key_setup: engine.key_setup,
            buffer: Bytes(960),
            compare: engine.compare,
        })
    });
    let chacha = (1..4_u32, 1..21_u32, 0..4_u32, 0..9_u64, 1..40_u32).prop_map(
        |(lanes, rounds_in_hardware, registers_per_round, interval, keystream_blocks)| ChaChaSpec {
            lanes,
            rounds_in_hardware,
            registers_per_round,
            start_interval: Cycles(interval),
            keystream_blocks,
        },
    );
    let closing = prop::sample::select(vec![Closing::LookAhead, Closing::Afterwards]);
    let poly1305 = (1..20_u32, 1..6_u32, closing, 0..5_u64, 1..4_u64, cycles()).prop_map(
        |(ways, multipliers, closing, product, reduction, finish)| Poly1305Spec {
            ways,
            multipliers,
            closing,
            product: Cycles(product),
            reduction: Cycles(reduction),
            finish,
        },
    );
    let chacha = (chacha, poly1305, cycles()).prop_map(|(chacha, poly1305, compare)| {
        AeadSpec::ChaCha20Poly1305(ChaCha20Poly1305Spec { chacha, poly1305, compare })
    });
    prop_oneof![1 => siv, 2 => any_clocked(), 1 => chacha].boxed()
}

pub fn siv(buffer: u64) -> AeadSpec {
    AeadSpec::GcmSiv(GcmSivSpec::four_lanes(Bytes(buffer)))
}

pub fn any_spec() -> BoxedStrategy<EngineSpec> {
    prop_oneof![any_engine().prop_map(EngineSpec::Gcm), any_aead().prop_map(EngineSpec::Other)].boxed()
}

pub fn any_scheme() -> BoxedStrategy<Scheme> {
    prop::sample::select(Scheme::ALL.to_vec()).boxed()
}

pub fn longest_key(scheme: Scheme) -> usize {
    scheme.wire().key_bytes.iter().copied().max().unwrap()
}
