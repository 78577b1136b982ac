//! Closed forms of controlled engines, derived from their registers: AES-128, a round per cycle, so 10 cycles in the lane; `a` blocks of
//! AAD and `n` of text. Each form gives the cycle of the last ciphertext block at GHASH and what follows it.

use crate::gcm::arbitrary::{any_controlled_engine, serial};
use proptest::prelude::*;
use sealsim_aead::gcm::bench::{Bench, Metrics};
use sealsim_aead::gcm::control::{ControlSpec, FirstCounter, Inputs, Keystream, Mask, Origin, PhaseSpec, Start};
use sealsim_aead::gcm::message::SealOpen;
use sealsim_aead::gcm::spec::{AesSpec, GcmSpec};
use sealsim_aead::gcm::standalone::*;
use sealsim_aead::units::Cycles;

const LENGTHS: [i64; 6] = [1, 2, 3, 9, 11, 40];

fn bench(a: i64, n: i64, direction: SealOpen, messages: u32) -> Bench {
    Bench { aad_blocks: a as u64, blocks: n as u64, direction, messages, seed: 5, trace_blocks: 0 }
}

/// A pipelined lane and a GHASH unit of `ghash` cycles per block.
fn pipelined(ghash: u64, control: ControlSpec) -> GcmSpec {
    let aes = AesSpec {
        lanes: 1,
        rounds_in_hardware: 14,
        registers_per_round: 1,
        start_interval: Cycles(1),
        keystream_blocks: if control.keystream == Keystream::Ahead { 64 } else { 1 },
    };
    let ghash = serial(ghash - 1, 1);
    let none = GcmSpec::four_lanes();
    GcmSpec { key_bits: 128, aes, ghash, key_setup: Cycles(0), compare: Cycles(0), control: Some(control), ..none }
}

/// A small core: one round, one block at a time, text with its counter, tag in the cycle of GHASH's value.
fn small(ghash: u64, control: ControlSpec) -> GcmSpec {
    let spec = pipelined(ghash, small_control(control));
    GcmSpec { aes: AesSpec { rounds_in_hardware: 1, ..spec.aes }, ..spec }
}

fn small_control(control: ControlSpec) -> ControlSpec {
    ControlSpec {
        keystream: Keystream::WithText,
        one_at_a_time: true,
        shared_port: true,
        leave_with_hash: true,
        tag_at_once: true,
        ..control
    }
}

fn metrics(spec: &GcmSpec, a: i64, n: i64) -> Metrics {
    run(spec, &bench(a, n, SealOpen::Seal, 1)).unwrap().messages[0].metrics
}

fn total(spec: &GcmSpec, a: i64, n: i64) -> i64 {
    metrics(spec, a, n).total_cycles.unwrap()
}

#[test]
fn a_mask_behind_the_text_lets_text_enter_with_h_and_the_tag_waits_for_it() {
    let last = || ControlSpec { mask: Mask::Last, ..ControlSpec::default() };
    for n in LENGTHS {
        // H 0..10; text i 10 (i + 1)..10 (i + 2); length 9 behind the last text; J0 0..10 behind it.
        let hashed = 10 + 10 * n;
        assert_eq!(total(&small(9, last()), 0, n), hashed + 18);
        assert_eq!(total(&small(1, last()), 0, n), hashed + 10);
        // J0 before the text: ten cycles later, and nothing waits for the mask.
        assert_eq!(total(&small(9, ControlSpec::default()), 0, n), hashed + 10 + 18);
        assert_eq!(total(&small(1, ControlSpec::default()), 0, n), hashed + 10 + 2);
    }
    // Without text J0 follows H: the length block enters GHASH at 10, J0 is valid at 20.
    assert_eq!(total(&small(9, last()), 0, 0), 20);
}

#[test]
fn registers_behind_the_outputs_delay_text_and_tag_and_nothing_else() {
    for (n, registers) in LENGTHS.into_iter().zip(1..) {
        let control = |output_registers| ControlSpec { output_registers, ..ControlSpec::default() };
        for bare in [small, pipelined] {
            let [with, without] = [registers, 0].map(|registers| metrics(&bare(9, control(Cycles(registers))), 2, n));
            let later = |cycles: Option<i64>| cycles.map(|cycles| cycles + registers.cast_signed());
            assert_eq!(
                (with.setup_cycles, with.first_output_cycles),
                (without.setup_cycles, later(without.first_output_cycles))
            );
            assert_eq!((with.tail_cycles, with.total_cycles), (without.tail_cycles, later(without.total_cycles)));
        }
    }
}

#[test]
fn a_block_of_aad_has_a_time_of_its_own_and_a_word_of_the_key_one_in_the_load() {
    let control = |aad_idle| ControlSpec { mask: Mask::Last, take_turns: true, aad_idle, ..ControlSpec::default() };
    for (a, idle) in [(0, 3), (1, 1), (2, 3), (7, 2), (40, 9)] {
        // In turns everything waits until GHASH has rested: AES of 10 for H, texts and J0, GHASH of 9.
        let spec = small(9, control(Cycles(idle)));
        assert_eq!(total(&spec, a, 3), 10 + (9 + idle.cast_signed()) * a + 19 * 4);
    }
    for (key_bits, words) in [(128, 4), (192, 6), (256, 8)] {
        let load = ControlSpec { load: Cycles(3), load_key_word: Cycles(2), ..control(Cycles(0)) };
        // A round per cycle: six more than words.
        assert_eq!(total(&GcmSpec { key_bits, ..small(9, load) }, 0, 2), 3 * 9 + (3 + 2 * words + words + 6) * 4);
    }
}

#[test]
fn in_turns_a_mask_behind_the_text_waits_for_ghash_and_the_length_block_for_the_mask() {
    let control = ControlSpec { mask: Mask::Last, take_turns: true, ..ControlSpec::default() };
    for n in LENGTHS {
        // 10 cycles of AES, 9 of GHASH for each text block, then for J0 and the length block.
        assert_eq!(total(&small(9, control.clone()), 0, n), 10 + 19 * (n + 1));
    }
}

#[test]
fn phase_by_phase_the_first_phase_ends_with_h_if_the_mask_is_last() {
    let phases = Some(PhaseSpec { aad: Cycles(5), text: Cycles(2), length: Cycles(5), ..PhaseSpec::default() });
    let run = |mask, n| metrics(&small(9, ControlSpec { mask, phases, ..ControlSpec::default() }), 0, n);
    for n in LENGTHS {
        for (mask, made) in [(Mask::Last, 10), (Mask::First, 20)] {
            let metrics = run(mask, n);
            assert_eq!(metrics.h_and_mask_cycles, Some(made));
            assert_eq!(metrics.first_text_output_cycles, Some(12));
            assert_eq!(metrics.last_text_output_cycles, Some(2 + 10 * n));
            assert_eq!(metrics.length_to_tag_cycles, Some(14));
        }
    }
}

#[test]
fn phases_have_the_five_counts_of_all_engines_as_well_from_the_origin_and_with_the_offset() {
    let phases = Some(PhaseSpec { aad: Cycles(5), text: Cycles(2), length: Cycles(5), ..PhaseSpec::default() });
    for (n, (origin, start)) in
        LENGTHS.into_iter().zip([Origin::KeyLoaded, Origin::FirstInput].into_iter().zip([0, 22]).cycle())
    {
        let control = ControlSpec { phases, origin, offset: 3, ..ControlSpec::default() };
        let metrics = metrics(&small(9, control), 0, n);
        // H 0..10, J0 10..20, text from 22, GHASH 9 behind the last block, the length block 5 later.
        let tag = 22 + 10 * n + 9 + 5 + 9;
        assert_eq!(metrics.setup_cycles, Some(22 - start + 3));
        assert_eq!(metrics.total_cycles, Some(tag - start + 3));
        assert_eq!(metrics.h_and_mask_cycles, Some(20 - start + 3));
        assert_eq!(metrics.length_to_tag_cycles, Some(14));
    }
}

#[test]
fn an_empty_phase_costs_its_cycles() {
    let run = |empty_aad, empty_text, a, n| {
        let phases = PhaseSpec {
            aad: Cycles(5),
            text: Cycles(2),
            length: Cycles(5),
            empty_aad: Cycles(empty_aad),
            empty_text: Cycles(empty_text),
        };
        total(&small(9, ControlSpec { phases: Some(phases), ..ControlSpec::default() }), a, n)
    };
    for n in LENGTHS {
        assert_eq!(run(7, 0, 0, n), run(0, 0, 0, n) + 7);
        assert_eq!(run(0, 7, n, 0), run(0, 0, n, 0) + 7);
        assert_eq!(run(7, 7, n, n), run(0, 0, n, n));
    }
    assert_eq!(run(3, 4, 0, 0), run(0, 0, 0, 0) + 3 + 4);
}

#[test]
fn a_mask_behind_the_last_product_adds_a_block_of_aes_to_the_end() {
    let control = ControlSpec { mask: Mask::AfterGhash, ..ControlSpec::default() };
    for n in LENGTHS {
        for ghash in [1, 9] {
            // H 0..10, text i from 10 (i + 1); the last product, the length block's, then J0.
            assert_eq!(total(&small(ghash, control.clone()), 0, n), 10 + 10 * n + 2 * ghash as i64 + 10);
        }
    }
    assert_eq!(total(&small(9, control), 0, 0), 10 + 9 + 10);
}

#[test]
fn idle_cycles_of_lane_and_ghash_add_to_their_intervals_alone() {
    for n in LENGTHS {
        for idle in [0, 1, 3] {
            let lane = ControlSpec { idle: Cycles(idle), mask: Mask::AfterGhash, ..ControlSpec::default() };
            // H, then text; J0 behind 9 cycles of GHASH, longer than any idling.
            let between = idle as i64 * n;
            assert_eq!(total(&small(9, lane), 0, n), 10 + 10 * n + between + 18 + 10);
            let ghash = ControlSpec { ghash_idle: Cycles(idle), ..ControlSpec::default() };
            // AAD: idle between the blocks and before the length block.
            assert_eq!(total(&small(9, ghash), n, 0), 10 + 9 * n + idle as i64 * n + 9);
        }
    }
}

#[test]
fn text_waits_once_for_ghash_to_rest_behind_the_aad_and_then_no_more() {
    for (a, n) in LENGTHS.into_iter().flat_map(|n| [(1, n), (4, n)]) {
        let run = |rest, start| {
            let control = ControlSpec {
                text_after_rest: rest,
                text_start: Cycles(start),
                mask: Mask::Last,
                ..ControlSpec::default()
            };
            metrics(&small(9, control), a, n)
        };
        let first = |metrics: Metrics| metrics.setup_cycles.unwrap() + metrics.first_output_cycles.unwrap();
        // H 0..10; AAD from 10, 9 cycles each; the lane's ten cycles.
        assert_eq!(first(run(true, 0)), 10 + 9 * a + 10);
        assert_eq!(first(run(true, 3)), 10 + 9 * a + 3 + 10);
        assert_eq!(first(run(false, 4)), 10 + 9 * (a - 1) + 4 + 10);
        for metrics in [run(true, 0), run(true, 3), run(false, 4)] {
            assert_eq!(metrics.output_span_cycles, Some(10 * (n - 1)));
        }
    }
}

#[test]
fn a_text_register_takes_a_block_before_its_keystream_and_without_an_output_register_ghash_has_it_at_once() {
    let run = |text_register, leave_with_hash, n| {
        let control = ControlSpec { text_register, leave_with_hash, mask: Mask::Last, ..ControlSpec::default() };
        metrics(&pipelined(1, control), 0, n)
    };
    for n in LENGTHS {
        // H 0..10, first counter at 10: keystream at 20. Through the output register: length at 21 + n, value, tag.
        let of = |metrics: Metrics| (metrics.setup_cycles, metrics.first_output_cycles, metrics.total_cycles);
        assert_eq!(of(run(false, false, n)), (Some(20), Some(1), Some(20 + n + 3)));
        assert_eq!(of(run(false, true, n)), (Some(20), Some(0), Some(20 + n + 2)));
        let taken = run(true, true, n).setup_cycles.unwrap();
        assert!(taken <= 10, "{taken}");
        assert_eq!(run(true, true, n).total_cycles, Some(20 + n + 2));
        assert_eq!(run(true, false, n).total_cycles, Some(20 + n + 3));
    }
}

#[test]
fn a_later_message_of_phases_counts_its_own_mask() {
    let phases = Some(PhaseSpec { aad: Cycles(5), text: Cycles(2), length: Cycles(5), ..PhaseSpec::default() });
    let spec = small(9, ControlSpec { phases, ..ControlSpec::default() });
    let messages = run(&spec, &bench(1, 2, SealOpen::Seal, 2)).unwrap().messages;
    let made = [0, 1].map(|message: usize| messages[message].metrics.h_and_mask_cycles);
    assert_eq!(made, [Some(20), Some(10)]);
}

#[test]
fn a_frozen_lane_with_its_mask_last_has_keystream_a_cycle_sooner() {
    let run = |mask, a, n| {
        let control = ControlSpec {
            keystream: Keystream::Frozen,
            mask,
            start: Start::BehindH,
            inputs: Inputs::FirstKeystream,
            shared_port: true,
            ..ControlSpec::default()
        };
        total(&pipelined(1, control), a, n)
    };
    for n in LENGTHS {
        // H at 0, first counter at 1, its keystream at 11: AAD, text; GHASH a cycle behind; length, value, tag.
        assert_eq!(run(Mask::Last, 1, n), 11 + 1 + n + 3);
        assert_eq!(run(Mask::Last, 0, n), 11 + n + 3);
        assert_eq!(run(Mask::First, 1, n), 12 + 1 + n + 3);
    }
}

#[test]
fn keystream_made_ahead_may_have_its_mask_last() {
    for (mask, first) in [(Mask::Last, 10), (Mask::First, 11)] {
        let spec = pipelined(1, ControlSpec { mask, ..ControlSpec::default() });
        for n in LENGTHS {
            // The first counter after H, or after J0 after H.
            assert_eq!(total(&spec, 0, n), first + 10 + n + 3);
        }
    }
}

#[test]
fn the_first_counter_enters_with_the_last_aad_or_with_the_first_text() {
    let run = |first_counter, mask, a, n| {
        let control = ControlSpec { first_counter, mask, shared_port: true, ..ControlSpec::default() };
        total(&pipelined(1, control), a, n)
    };
    for n in LENGTHS {
        for a in [2, 3, 8, 20] {
            // AAD from 10 to 9 + a, then 10 cycles of AES before the first text is taken.
            assert_eq!(run(FirstCounter::WithLastAad, Mask::First, a, n), 9 + a + 10 + n + 3);
            assert_eq!(run(FirstCounter::WithLastAad, Mask::Last, a, n), 9 + a + 10 + n + 3);
            assert_eq!(run(FirstCounter::WithFirstText, Mask::First, a, n), 10 + a + 10 + n + 3);
            // Free, it enters at 11: keystream waits for AAD, or AAD is over.
            assert_eq!(run(FirstCounter::Free, Mask::First, a, n), 21.max(10 + a) + n + 3);
        }
        // Without AAD both are the cycle in which inputs open, where J0 enters first.
        for first_counter in [FirstCounter::WithLastAad, FirstCounter::WithFirstText] {
            assert_eq!(run(first_counter, Mask::First, 0, n), 11 + 10 + n + 3);
            assert_eq!(run(first_counter, Mask::Last, 0, n), 10 + 10 + n + 3);
        }
    }
    // A mask behind no text enters behind the AAD: with its last block.
    assert_eq!(run(FirstCounter::WithLastAad, Mask::Last, 20, 0), 29 + 10 + 1);
    assert_eq!(run(FirstCounter::WithFirstText, Mask::Last, 20, 0), 29 + 10 + 1);
}

#[test]
fn a_frozen_lane_may_wait_for_its_first_text() {
    let control = ControlSpec {
        keystream: Keystream::Frozen,
        first_counter: FirstCounter::WithFirstText,
        start: Start::BehindH,
        shared_port: true,
        ..ControlSpec::default()
    };
    for (a, n) in LENGTHS.into_iter().flat_map(|n| [(0, n), (1, n), (7, n)]) {
        assert_eq!(total(&pipelined(1, control.clone()), a, n), 10 + a + 10 + n + 3);
    }
}

#[test]
fn text_with_its_counter_may_enter_with_the_last_aad() {
    let control = ControlSpec {
        first_counter: FirstCounter::WithLastAad,
        shared_port: false,
        one_at_a_time: false,
        ..small_control(ControlSpec::default())
    };
    let spec = pipelined(1, control);
    for (a, n) in LENGTHS.into_iter().flat_map(|n| [(2, n), (5, n), (30, n)]) {
        // The first text at 9 + a, ten cycles to GHASH, then one per cycle; length and value.
        assert_eq!(total(&spec, a, n), 9 + a + 10 + (n - 1) + 2);
    }
}

/// A streaming core: three cycles of key expansion, then a block per cycle.
fn streaming(ghash: u64, control: ControlSpec) -> GcmSpec {
    let control = ControlSpec {
        start: Start::BehindH,
        inputs: Inputs::Key,
        one_at_a_time: false,
        shared_port: control.first_counter == FirstCounter::Free,
        ..small_control(control)
    };
    GcmSpec { key_setup: Cycles(3), ..pipelined(ghash, control) }
}

#[test]
fn a_streaming_core_takes_blocks_while_h_is_made_and_each_meets_h_at_the_end_of_the_lane() {
    let run = |mask, settle, a, n| {
        metrics(&streaming(1, ControlSpec { mask, settle: Cycles(settle), ..ControlSpec::default() }), a, n)
    };
    for n in LENGTHS {
        for a in [2, 3, 9, 30] {
            // H at 3, AAD from 3 and text from 3 + a, all ten cycles later at GHASH; length and value.
            for mask in [Mask::First, Mask::Last] {
                let metrics = run(mask, 0, a, n);
                assert_eq!(metrics.setup_cycles, Some(3));
                assert_eq!(metrics.first_output_cycles, Some(a + 10));
                assert_eq!(metrics.total_cycles, Some(3 + a + 10 + (n - 1) + 2));
            }
            assert_eq!(run(Mask::First, 2, a, n).total_cycles, Some(5 + a + 10 + (n - 1) + 2));
        }
        // Without AAD text comes behind H and J0, or behind H.
        assert_eq!(run(Mask::First, 0, 0, n).total_cycles, Some(5 + 10 + (n - 1) + 2));
        assert_eq!(run(Mask::Last, 0, 0, n).total_cycles, Some(4 + 10 + (n - 1) + 2));
    }
}

#[test]
fn the_registers_of_a_streaming_core_stand_still_while_ghash_takes_nothing() {
    let spec = streaming(4, ControlSpec::default());
    for (a, n) in LENGTHS.into_iter().flat_map(|n| [(2, n), (5, n), (30, n)]) {
        // Every block takes GHASH four cycles, from the cycle in which H is valid.
        assert_eq!(total(&spec, a, n), 13 + 4 * (a + n + 1));
    }
}

#[test]
fn a_streaming_core_with_two_ports_takes_text_with_the_last_aad_and_ghash_one_after_the_other() {
    let spec = streaming(1, ControlSpec { first_counter: FirstCounter::WithLastAad, ..ControlSpec::default() });
    for (a, n) in LENGTHS.into_iter().flat_map(|n| [(3, n), (5, n), (30, n)]) {
        assert_eq!(total(&spec, a, n), 2 + a + 10 + n + 2);
    }
}

#[test]
fn cycle_0_lies_where_the_origin_says_and_counts_as_the_offset() {
    let run = |origin, offset, a, n| {
        let control = ControlSpec { key_load: Cycles(4), origin, offset, ..ControlSpec::default() };
        run(&small(9, control), &bench(a, n, SealOpen::Seal, 2)).unwrap().messages
    };
    // Key loaded at 0, expansion from 4, H until 14, inputs from then on; the tag of two AAD blocks and no text.
    let tag = 14 + 3 * 9;
    for (origin, start) in [(Origin::KeyLoaded, 0), (Origin::Expansion, 4), (Origin::FirstInput, 14)] {
        for offset in [0, 1, 50, -3, -60] {
            let first = run(origin, offset, 2, 0)[0].metrics;
            assert_eq!(first.setup_cycles, Some(14 - start + i64::from(offset)));
            assert_eq!(first.total_cycles, Some(tag - start + i64::from(offset)));
        }
    }
    let later = |origin, offset| run(origin, offset, 2, 0)[1].metrics.setup_cycles;
    assert_eq!(later(Origin::KeyLoaded, 5), later(Origin::Expansion, -9));
    assert_eq!(later(Origin::FirstInput, 1), Some(1));
    let nothing = run(Origin::FirstInput, 0, 0, 0)[0].metrics;
    assert_eq!((nothing.setup_cycles, nothing.total_cycles), (None, None));
}

#[test]
fn what_is_opened_by_way_of_the_register_takes_a_cycle_more_and_those_of_sealing() {
    let cycles = |open_register, direction| {
        let spec = pipelined(1, ControlSpec { open_register, ..ControlSpec::default() });
        run(&spec, &bench(1, 9, direction, 1)).unwrap().messages[0].metrics.total_cycles.unwrap()
    };
    assert_eq!(cycles(false, SealOpen::Open) + 1, cycles(false, SealOpen::Seal));
    assert_eq!(cycles(true, SealOpen::Open), cycles(true, SealOpen::Seal));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn opening_takes_the_cycles_of_sealing_where_its_ciphertext_goes_the_same_way(
        mut spec in any_controlled_engine(), a in 0..20_i64, n in 0..60_i64,
    ) {
        if let Some(control) = &mut spec.control {
            control.open_register |= control.keystream != Keystream::WithText && !control.leave_with_hash;
            prop_assert!(control.opens_as_it_seals());
        }
        let cycles = |direction| {
            let messages = run(&spec, &bench(a, n, direction, 3)).unwrap().messages;
            messages.into_iter().map(|message| message.metrics).collect::<Vec<_>>()
        };
        prop_assert_eq!(cycles(SealOpen::Open), cycles(SealOpen::Seal));
    }
}

type Change = fn(&mut ControlSpec);

#[test]
fn what_cannot_be_built_together_is_refused_with_its_reason() {
    use FirstCounter::{WithFirstText, WithLastAad};
    let of = |change: Change, spec: GcmSpec| {
        let mut control = spec.control.clone().unwrap();
        change(&mut control);
        GcmSpec { control: Some(control), ..spec }.check().unwrap_err().to_string()
    };
    let (ahead, small) = (|| pipelined(1, ControlSpec::default()), || small(1, ControlSpec::default()));
    let stream = || streaming(1, ControlSpec::default());
    let folded = || GcmSpec { ghash: GcmSpec::four_lanes().ghash, ..pipelined(1, ControlSpec::default()) };
    let refused: [(Change, GcmSpec, &str); 24] = [
        (|c| (c.mask, c.inputs) = (Mask::Last, Inputs::Mask), ahead(), "wait for the mask"),
        (|c| (c.first_counter, c.inputs) = (WithLastAad, Inputs::FirstKeystream), ahead(), "neither could begin"),
        (|c| c.first_counter = WithFirstText, small(), "leave it \"free\""),
        (|c| c.first_counter = WithLastAad, small(), "a port that AAD and text share"),
        (|c| (c.first_counter, c.shared_port, c.take_turns) = (WithLastAad, false, true), small(), "take_turns"),
        (|c| c.open_register = true, small(), "opening takes the cycles of sealing without it"),
        (|c| c.inputs = Inputs::Key, ahead(), "\"with_text\""),
        (|c| c.start = Start::AfterPowers, stream(), "\"behind_h\""),
        (|c| c.one_at_a_time = true, stream(), "no pipeline"),
        (|c| c.passes = 2, stream(), "no pipeline"),
        (|c| c.take_turns = true, stream(), "take_turns"),
        (|c| c.shared_port = false, stream(), "before the last AAD"),
        (|c| c.offset = i32::MIN, ahead(), "control.offset"),
        (|c| c.key_load = Cycles(1 << 21), ahead(), "control.key_load"),
        (|c| (c.mask, c.inputs) = (Mask::AfterGhash, Inputs::Mask), ahead(), "wait for the mask"),
        (|c| c.idle = Cycles(1), ahead(), "set control.one_at_a_time"),
        (|c| c.ghash_idle = Cycles(1), folded(), "only a serial one rests"),
        (|c| c.aad_idle = Cycles(1), folded(), "only a serial one rests"),
        (|c| c.delay = Cycles(1), ahead(), "set control.keystream to \"with_text\""),
        (|c| c.delay = Cycles(1), small(), "no pipeline"),
        (|c| c.text_register = true, small(), "it waits in the lane"),
        (|c| (c.open_register, c.leave_with_hash) = (true, true), ahead(), "without an output register"),
        (|c| (c.text_start, c.phases) = (Cycles(1), Some(PhaseSpec::default())), small(), "control.phases.text"),
        (
            |c| (c.first_counter, c.shared_port, c.text_after_rest) = (WithLastAad, false, true),
            small(),
            "text_after_rest",
        ),
    ];
    for (change, spec, reason) in refused {
        assert!(spec.check().is_ok());
        let message = of(change, spec);
        assert!(message.contains(reason), "{message}");
    }
}
