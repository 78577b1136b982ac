//! The kernel against AES-GCM of another code base, its rates against hand-counted bounds, and its timing against the structure.

use super::{
    kernel::{Kernel, KernelMessage, Parts, Worked},
    processor::Processor,
    spec::{AesKernel, GhashKernel, SmSpec},
    timing::KernelTiming,
    warp::Instruction,
};
use crate::{
    gcm::{aes::RoundKeys, bulk::Key, field::Element, message::SealOpen},
    units::{Bytes, Cycles, Frequency},
};
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};

/// An H100's SM with the kernel of the design `sm`.
pub(super) fn h100() -> SmSpec {
    SmSpec {
        clock: Frequency(1_755_000_000),
        count: 132,
        used: 3,
        sub_cores: 4,
        lanes: 64,
        banks: 32,
        shared_memory: Bytes(227 << 10),
        registers: 65536,
        warps: 16,
        integer_latency: Cycles(4),
        shared_latency: Cycles(30),
        load_latency: Cycles(700),
        tensor_products: Some(4096),
        serial_sum: None,
        aes: AesKernel::TTables,
        ghash: GhashKernel::FourBitTables,
    }
}

const SECRET: [u8; 32] = *b"a key of thirty-two bytes, yes! ";

fn kernels(spec: &SmSpec) -> Vec<Kernel> {
    let (keys, key) = (RoundKeys::expand(&SECRET).unwrap(), Key::new(&SECRET).unwrap());
    (0..spec.used).map(|place| Kernel::new(spec, &keys, key.h(), place)).collect()
}

/// What the SMs give for a message, and the cycles of the structure from the first step to the last text.
fn run(spec: &SmSpec, message: KernelMessage<'_>) -> (Vec<u8>, [u8; 16], u64) {
    let steps = Kernel::steps_of(spec, message.text.len() as u64);
    let mut text = vec![0; message.text.len().div_ceil(16) * 16];
    let (mut hash, mut mask, mut cycles) = (Element::ZERO, [0; 16], 0);
    for kernel in kernels(spec) {
        let mut programs = Vec::new();
        let mut values = Vec::new();
        for warp in 0..spec.warps {
            let Worked { program, sum, output } = kernel.steps(warp, steps, message, Parts::BOTH);
            for (block, bytes) in output {
                match text.get_mut(16 * block as usize..16 * block as usize + 16) {
                    Some(to) => to.copy_from_slice(&bytes),
                    None => mask = bytes,
                }
            }
            programs.push(program);
            values.push(sum);
        }
        let programs: Vec<_> = programs.iter().map(Vec::as_slice).collect();
        cycles = cycles.max(Processor::new(spec).run(&programs).cycles);
        hash ^= kernel.finish(kernel.between_warps(values).1).1;
    }
    text.truncate(message.text.len());
    (text, (hash ^ Element::from_bytes(mask)).to_bytes(), cycles)
}

fn message(length: usize) -> Vec<u8> {
    (0..length as u64).map(|n| (n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as u8).collect()
}

fn sealed(nonce: [u8; 12], text: &[u8]) -> (Vec<u8>, [u8; 16]) {
    let key = LessSafeKey::new(UnboundKey::new(&AES_256_GCM, &SECRET).unwrap());
    let mut sealed = text.to_vec();
    let tag = key.seal_in_place_separate_tag(Nonce::assume_unique_for_key(nonce), Aad::empty(), &mut sealed).unwrap();
    (sealed, tag.as_ref().try_into().unwrap())
}

#[test]
fn sms_seal_and_open_as_another_code_base_does() {
    for (aes, ghash, warps, used) in [
        (AesKernel::TTables, GhashKernel::FourBitTables, 4, 3),
        (AesKernel::Bitsliced, GhashKernel::FourBitTables, 8, 1),
        (AesKernel::TTables, GhashKernel::ShiftAndXor, 4, 2),
        (AesKernel::TTables, GhashKernel::TensorCore, 4, 1),
    ] {
        let spec = SmSpec { aes, ghash, warps, used, ..h100() };
        // 300,000 bytes are more than 32 steps of 4 warps: the tensor cores' sums go through a multiplication.
        for length in [0, 1, 15, 16, 17, 511, 512, 513, 2033, 20_000, 300_000] {
            let (text, nonce) = (message(length), *b"twelve bytes");
            let (cipher, tag) = sealed(nonce, &text);
            let seal = run(&spec, KernelMessage { nonce, text: &text, direction: SealOpen::Seal });
            assert_eq!((&seal.0, seal.1), (&cipher, tag), "{ghash:?} {length}");
            if length < 30_000 {
                let open = run(&spec, KernelMessage { nonce, text: &cipher, direction: SealOpen::Open });
                assert_eq!((&open.0, open.1), (&text, tag), "{ghash:?} {length}");
            }
        }
    }
}

/// Bytes per cycle of one SM while its warps are at their steps.
fn rate(spec: &SmSpec, parts: Parts) -> f64 {
    let spec = SmSpec { used: 1, ..spec.clone() };
    let cycles = |steps: u64| {
        let text = message((steps * u64::from(spec.warps) * 512) as usize - 16);
        let kernel = &kernels(&spec)[0];
        let of = |warp| {
            let message = KernelMessage { nonce: *b"twelve bytes", text: &text, direction: SealOpen::Open };
            kernel.steps(warp, steps, message, parts).program
        };
        let programs: Vec<Vec<Instruction>> = (0..spec.warps).map(of).collect();
        Processor::new(&spec).run(&programs.iter().map(Vec::as_slice).collect::<Vec<_>>()).cycles
    };
    let (short, long) = (cycles(3), cycles(7));
    4.0 * 512.0 * f64::from(spec.warps) / (long - short) as f64
}

#[test]
fn the_rates_of_an_sm_come_within_a_tenth_of_the_hand_counted_bounds() {
    let spec = h100();
    for (parts, bound) in
        [(Parts { cipher: true, hash: false }, 1.38), (Parts { cipher: false, hash: true }, 2.9), (Parts::BOTH, 0.94)]
    {
        let rate = rate(&spec, parts);
        println!("{parts:?}: {rate:.3} B/cycle, bound {bound}");
        assert!((rate / bound - 1.0).abs() < 0.1, "{parts:?}: {rate}");
    }
}

#[test]
fn bitsliced_aes_comes_within_a_tenth_of_its_bound_and_leaves_shared_memory_to_ghash() {
    let spec = SmSpec { aes: AesKernel::Bitsliced, ..h100() };
    let cipher = rate(&spec, Parts { cipher: true, hash: false });
    println!("bitsliced: {cipher:.3} B/cycle, with tables for GHASH {:.3}", rate(&spec, Parts::BOTH));
    assert!((cipher / 1.07 - 1.0).abs() < 0.1, "{cipher}");
    assert_eq!(h100().shared_memory_needed() - spec.shared_memory_needed(), (32 + 8) << 10);
}

#[test]
fn tensor_cores_leave_the_rate_to_aes_if_they_are_fast_and_bound_it_if_slow() {
    let hash = Parts { cipher: false, hash: true };
    let tensor = |products| SmSpec { ghash: GhashKernel::TensorCore, tensor_products: Some(products), ..h100() };
    // 16,384 products per block of 16 bytes.
    let alone = rate(&tensor(4096), hash);
    assert!((alone / 4.0 - 1.0).abs() < 0.1, "{alone}");
    let cipher = rate(&h100(), Parts { cipher: true, hash: false });
    let both = rate(&tensor(4096), Parts::BOTH);
    println!("tensor: {alone:.3} alone, {both:.3} with AES, AES alone {cipher:.3}");
    assert!((both / 1.38 - 1.0).abs() < 0.1, "{both}, AES alone {cipher}");
    let slow = rate(&tensor(512), Parts::BOTH);
    assert!((slow / 0.5 - 1.0).abs() < 0.1, "{slow}");
}

#[test]
fn the_kernel_takes_the_shared_memory_that_the_configuration_is_held_against() {
    for ghash in [GhashKernel::FourBitTables, GhashKernel::ShiftAndXor, GhashKernel::TensorCore] {
        for (aes, warps) in [(AesKernel::TTables, 4), (AesKernel::TTables, 16), (AesKernel::Bitsliced, 8)] {
            let spec = SmSpec { aes, ghash, warps, ..h100() };
            assert_eq!(kernels(&spec)[0].shared_memory(), spec.shared_memory_needed());
        }
    }
}

#[test]
fn forty_two_sms_carry_the_link_in_long_messages_but_not_in_short_ones() {
    let spec = SmSpec { used: 42, ..h100() };
    let mut timing = KernelTiming::new(&spec, 256).unwrap();
    let mut rate = |bytes: u64| bytes as f64 * 1.755 / timing.span(bytes, SealOpen::Open).total as f64;
    let (long, short) = (rate(64 << 20), rate(1 << 20));
    println!("42 SMs: {long:.2} GB/s at 64 MiB, {short:.2} GB/s at 1 MiB");
    assert!((long - 65.3).abs() < 0.1 && (short - 42.0).abs() < 0.1, "{long} {short}");
}

#[test]
fn few_warps_do_not_hide_latencies() {
    let one = rate(&SmSpec { warps: 4, ..h100() }, Parts::BOTH);
    let many = rate(&h100(), Parts::BOTH);
    println!("4 warps {one:.3}, 16 warps {many:.3} B/cycle");
    assert!(one < 0.9 * many, "{one} {many}");
}

#[test]
fn the_timing_model_shows_the_cycles_of_the_structure_within_two_percent() {
    for (ghash, warps) in
        [(GhashKernel::FourBitTables, 16), (GhashKernel::FourBitTables, 4), (GhashKernel::TensorCore, 8)]
    {
        let spec = SmSpec { ghash, warps, used: 2, ..h100() };
        let mut timing = KernelTiming::new(&spec, 256).unwrap();
        let nothing = timing.span(0, SealOpen::Open);
        let one = run(&spec, KernelMessage { nonce: [7; 12], text: &[], direction: SealOpen::Open }).2;
        for length in [0, 496, 5_000, 65_536, 200_000] {
            for direction in [SealOpen::Open, SealOpen::Seal] {
                let text = message(length);
                let structure = run(&spec, KernelMessage { nonce: [7; 12], text: &text, direction }).2;
                let span = timing.span(length as u64, direction);
                let shown = span.text - (nothing.text - one);
                let error = shown as f64 / structure as f64 - 1.0;
                println!("{ghash:?} {warps} warps {length} {direction:?}: {shown} shown, {structure}");
                assert!(error.abs() < 0.02, "{ghash:?} {warps} {length} {direction:?}: {shown} {structure}");
                assert_eq!(span.total - span.text, nothing.total - nothing.text);
            }
        }
    }
}
