//! What may differ between machines that do the same in a run: parameters that units are bounded by and look at for nothing else
//! (see [`Unit::bounded`](crate::sim::Unit::bounded)), and engines.

use super::MachineSpec;
use crate::{
    gcm::{
        bulk::chains::ChainFormat,
        spec::{AesSpec, GcmSpec, GhashSpec, MultiplierSpec},
        structure::Structure,
    },
    gpu::spec::Common,
    units::Cycles,
};
use std::mem::take;

impl MachineSpec {
    /// Takes bounds out, by the names that units give them: what is left decides a run, with whether each of them is ever reached.
    pub fn take_bounds(&mut self) -> Vec<(&'static str, u64)> {
        let Self { tag_queue, copy_engine, link, root_complex, compute, .. } = self;
        vec![
            ("tag_queue.depth", take(&mut tag_queue.depth).into()),
            ("tag_queue.quarantine", take(&mut tag_queue.quarantine).0),
            ("copy_engine.outstanding_reads", take(&mut copy_engine.outstanding_reads).into()),
            ("link.replay_tlps", take(&mut link.replay_tlps).into()),
            ("root_complex.reads_in_service", take(&mut root_complex.reads_in_service).into()),
            ("root_complex.writes_in_service", take(&mut root_complex.writes_in_service).into()),
            ("compute.slots", take(&mut compute.slots).into()),
        ]
    }

    /// Takes out what the engines of AES-GCM in PCEs are built of, where each has its own: what is left decides a run, with what they
    /// [answer](crate::gpu::pce::Answers).
    pub fn take_engine(&mut self) -> Option<GcmSpec> {
        let ones = self.aead.is_none() && self.common() == Common::Nothing;
        if !ones || ChainFormat::of(&self.engine.ghash) != ChainFormat::GCM {
            return None;
        }
        let whole = self.engine.clone();
        // Key and tags have as many bytes, and the tag queue compares as long.
        let GcmSpec { key_bits: _, compare: _, control: _, check: _, aes, ghash, key_setup } = &mut self.engine;
        let (none, zero) = (0, Cycles(0));
        *aes = AesSpec {
            lanes: none,
            rounds_in_hardware: none,
            registers_per_round: none,
            start_interval: zero,
            keystream_blocks: none,
        };
        let structure = Structure::default();
        let multiplier = MultiplierSpec { product: zero, reduction: zero, digit_bits: none, structure };
        *ghash = GhashSpec::Serial { multiplier, first_block: None };
        *key_setup = zero;
        Some(whole)
    }
}
