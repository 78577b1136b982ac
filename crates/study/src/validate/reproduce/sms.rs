//! Kernels on SMs: what the structure of one SM takes for its part of the text.
//!
//! | | |
//! | --- | --- |
//! | counted | the steps, as the measured `cycles` do: tables already in shared memory, no closing products, no length block |
//! | text | dealt out to SMs in chunks of 512 B, a step of a warp each; the SM with most of them counts |
//! | SMs | do not slow each other down |
//! | `mma_b1` | not run: what the tensor cores' rate says of 32 B for each product of matrices |

use super::super::measured::SmKernel;
use crate::config::MachineSpec;
use crate::gpu::sm::{
    kernel::Parts,
    spec::{AesKernel, GhashKernel, SmSpec},
    timing::{KernelTiming, serial_sum},
};
use thiserror::Error;

/// Bytes of a step of a warp.
const STEP: u64 = 512;
const KEY_BITS: u32 = 256;
/// Products of single bits of one instruction of the tensor cores, m16n8k256, and the bytes that stand for it.
const PRODUCTS: f64 = (16 * 8 * 256) as f64;
const BYTES: f64 = 32.0;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum SmError {
    #[error("the machine has no table [sm]: lay a design with SMs over it (--design sm-tensor, or sm)")]
    NoSms,
    #[error("the machine has {0} SMs (sm.count)")]
    TooFew(u32),
    #[error("the machine has no sm.tensor_products: lay --design sm-tensor over it, or set it")]
    NoTensorRate,
    #[error("the machine has no sm.serial_sum: set it")]
    NoSerialSum,
}

/// Bytes per clock and SM.
pub(super) fn rate(machine: &MachineSpec, kernel: &SmKernel) -> Result<f64, SmError> {
    let sm = machine.sm.as_ref().ok_or(SmError::NoSms)?;
    if kernel.sms > sm.count {
        return Err(SmError::TooFew(sm.count));
    }
    let on_tensor_cores = (kernel.aes, kernel.ghash) == (None, None) || kernel.ghash == Some(GhashKernel::TensorCore);
    if on_tensor_cores && sm.tensor_products.is_none() {
        return Err(SmError::NoTensorRate);
    }
    if kernel.serial && sm.serial_sum.is_none() {
        return Err(SmError::NoSerialSum);
    }
    let parts = Parts { cipher: kernel.aes.is_some(), hash: kernel.ghash.is_some() };
    if parts == (Parts { cipher: false, hash: false }) {
        return Ok(f64::from(sm.tensor_products.unwrap_or(0)) / PRODUCTS * BYTES);
    }
    // SMs are alike: one stands for the one with most chunks.
    let one = SmSpec {
        used: 1,
        warps: kernel.warps,
        aes: kernel.aes.unwrap_or(AesKernel::TTables),
        ghash: kernel.ghash.unwrap_or(GhashKernel::FourBitTables),
        ..sm.clone()
    };
    let chunks = kernel.bytes.div_ceil(STEP).div_ceil(kernel.sms.into());
    let cycles = KernelTiming::of_parts(&one, KEY_BITS, parts).map_or(1, |mut timing| timing.of_steps(chunks));
    let cycles = cycles + if kernel.serial { serial_sum(&one, kernel.bytes) } else { 0 };
    Ok(kernel.bytes as f64 / f64::from(kernel.sms) / cycles.max(1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{config::Layers, units::Cycles};

    fn machine(design: &str) -> MachineSpec {
        Layers::new("h100-nvl-tdx").overlay(design).resolve().unwrap().machine
    }

    fn kernel(aes: Option<AesKernel>, ghash: Option<GhashKernel>, sms: u32) -> SmKernel {
        SmKernel { aes, ghash, serial: false, sms, warps: 16, bytes: u64::from(sms) << 18 }
    }

    #[test]
    fn one_sm_gives_the_rates_of_its_steps_and_as_many_at_once_give_the_same() {
        let sm = machine("sm-tensor");
        let (tables, bits) = (Some(AesKernel::TTables), Some(AesKernel::Bitsliced));
        let (four, tensor) = (Some(GhashKernel::FourBitTables), Some(GhashKernel::TensorCore));
        // The table of docs/model.md.
        for (aes, ghash, stated) in [
            (tables, None, 1.31),
            (bits, None, 1.07),
            (None, four, 2.68),
            (tables, four, 0.89),
            (tables, tensor, 1.29),
            (None, tensor, 18.8),
        ] {
            let one = rate(&sm, &kernel(aes, ghash, 1)).unwrap();
            assert!((one / stated - 1.0).abs() < 0.03, "{aes:?} {ghash:?}: {one}");
            assert_eq!(rate(&sm, &kernel(aes, ghash, 132)).unwrap(), one);
        }
    }

    #[test]
    fn the_last_chunk_makes_one_sm_wait_for_its_neighbour() {
        let uneven = SmKernel { bytes: (2 << 18) + 512, ..kernel(Some(AesKernel::TTables), None, 2) };
        let even = kernel(Some(AesKernel::TTables), None, 2);
        let sm = machine("sm");
        assert!(rate(&sm, &uneven).unwrap() < rate(&sm, &even).unwrap());
    }

    #[test]
    fn the_instruction_alone_has_the_rate_of_the_tensor_cores() {
        // A product of 16 x 8 x 256 bits, for which 32 B stand, every one and a half cycles.
        assert_eq!(rate(&machine("sm-tensor"), &kernel(None, None, 1)), Ok(21_687.0 / 1024.0));
    }

    #[test]
    fn a_serial_sum_costs_its_cycles_for_each_16_kib_whatever_the_number_of_sms() {
        let mut sm = machine("sm");
        let each = 372.0;
        sm.sm.as_mut().unwrap().serial_sum = Some(Cycles(372));
        for sms in [1, 100] {
            let summed = SmKernel { bytes: 100 << 20, ..kernel(None, Some(GhashKernel::FourBitTables), sms) };
            let cycles = |kernel: &SmKernel| kernel.bytes as f64 / f64::from(sms) / rate(&sm, kernel).unwrap();
            let more = cycles(&SmKernel { serial: true, ..summed }) - cycles(&summed);
            assert!((more / each - 6_400.0).abs() < 0.01, "{sms}: {more}");
        }
    }

    #[test]
    fn a_machine_without_what_a_kernel_needs_says_so() {
        let one = kernel(Some(AesKernel::TTables), None, 1);
        assert_eq!(rate(&machine("h100-cc"), &one), Err(SmError::NoSms));
        assert_eq!(rate(&machine("sm"), &SmKernel { sms: 133, ..one }), Err(SmError::TooFew(132)));
        let serial = SmKernel { serial: true, ..kernel(None, Some(GhashKernel::FourBitTables), 1) };
        assert_eq!(rate(&machine("sm"), &serial), Err(SmError::NoSerialSum));
        for kernel in [kernel(None, Some(GhashKernel::TensorCore), 1), kernel(None, None, 1)] {
            assert_eq!(rate(&machine("sm"), &kernel), Err(SmError::NoTensorRate));
        }
    }
}
