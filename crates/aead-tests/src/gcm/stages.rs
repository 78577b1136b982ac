use crate::gcm::arbitrary::{any_controlled_engine, any_direction, any_engine, pattern, serial};
use proptest::prelude::*;
use sealsim_aead::gcm::field::Element;
use sealsim_aead::gcm::message::SealOpen;
use sealsim_aead::gcm::spec::GcmSpec;
use sealsim_aead::gcm::stages::*;
use sealsim_aead::gcm::timing::Timing;

#[derive(Debug, Clone)]
struct Plan {
    iv: usize,
    aad: usize,
    text: usize,
    direction: SealOpen,
    seed: u8,
}

fn any_plan() -> impl Strategy<Value = Plan> {
    let iv = prop_oneof![3 => Just(12_usize), 2 => 1..60_usize];
    (iv, 0..70_usize, 0..400_usize, any_direction(), any::<u8>()).prop_map(|(iv, aad, text, direction, seed)| Plan {
        iv,
        aad,
        text,
        direction,
        seed,
    })
}

/// Records a message and hands the recording with its software to a check.
fn recorded<R>(spec: &GcmSpec, plan: &Plan, blocks: u64, check: impl FnOnce(&Recording, &Software<'_>) -> R) -> R {
    let of = |label: u8, bytes| pattern(plan.seed.wrapping_add(label).into(), bytes);
    let (key, iv, aad, text) = (of(0, spec.key_bits as usize / 8), of(1, plan.iv), of(2, plan.aad), of(3, plan.text));
    let given = Given { key: &key, iv: &iv, aad: &aad, text: &text, direction: plan.direction };
    let recording = record(spec, &given, blocks, &mut |_, _| {}).unwrap();
    check(&recording, &Software::new(spec, given).unwrap())
}

fn count(recording: &Recording, stage: Stage) -> usize {
    recording.stages.iter().filter(|one| one.stage == stage).count()
}

/// All stages are there, and each shows what software says.
fn is_whole(spec: &GcmSpec, plan: &Plan) {
    recorded(spec, plan, u64::MAX, |recording, software| {
        assert_eq!(software.parting(&recording.stages), None);
        assert!(recording.output == software.output() && recording.tags == software.tags());
        assert!(recording.stages.is_sorted_by_key(|stage| stage.cycle));
        let (text, aad) = (plan.text.div_ceil(16), plan.aad.div_ceil(16));
        let iv = if plan.iv == 12 { 0 } else { plan.iv.div_ceil(16) + 1 };
        let (rounds, tags) = (spec.rounds().unwrap() as usize, recording.tags.len());
        assert_eq!(count(recording, Stage::Counter), 1 + tags + text);
        assert_eq!(count(recording, Stage::AesState), (1 + rounds) * (1 + tags + text));
        for stage in [Stage::Keystream, Stage::TextIn, Stage::TextOut] {
            assert_eq!(count(recording, stage), text, "{}", stage.name());
        }
        for stage in [Stage::Mask, Stage::Ghash, Stage::Tag] {
            assert_eq!(count(recording, stage), tags, "{}", stage.name());
        }
        assert_eq!(count(recording, Stage::GhashIn), iv + aad + text + 1);
        assert_eq!((count(recording, Stage::H), count(recording, Stage::J0)), (1, 1));
        assert!(count(recording, Stage::Product) > 0 && count(recording, Stage::Power) > 0);
        assert_eq!(recording.end, recording.stages.last().unwrap().cycle);
    });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn every_stage_of_every_engine_shows_what_software_says(spec in any_engine(), plan in any_plan()) {
        is_whole(&spec, &plan);
    }

    #[test]
    fn whatever_its_control_an_engine_shows_all_stages(spec in any_controlled_engine(), plan in any_plan()) {
        is_whole(&spec, &plan);
    }

    #[test]
    fn the_cycles_are_those_of_the_timing_model(spec in any_engine(), plan in any_plan()) {
        recorded(&spec, &plan, u64::MAX, |recording, _| {
            let mut timing = Timing::new(&spec).unwrap();
            let ready = timing.load_key(0);
            let shape = sealsim_aead::gcm::message::Shape {
                iv_bytes: plan.iv as u64, aad_bytes: plan.aad as u64, text_bytes: plan.text as u64, direction: plan.direction,
            };
            timing.start_shape(ready, &shape);
            let of = |stage| recording.stages.iter().filter(move |one| one.stage == stage).map(|one| one.cycle);
            let left = |block: usize| (plan.text - 16 * block).min(16) as u32;
            for (block, (taken, out)) in of(Stage::TextIn).zip(of(Stage::TextOut)).enumerate() {
                let accepted = timing.accept(0, left(block));
                assert_eq!((accepted.consumed, accepted.out), (taken, out), "block {block}");
            }
            assert_eq!(timing.finish().tag, recording.end);
        });
    }

    #[test]
    fn a_serial_unit_goes_through_the_values_of_the_standard(plan in any_plan()) {
        let spec = GcmSpec { ghash: serial(1, 1), ..GcmSpec::four_lanes() };
        recorded(&spec, &Plan { iv: 12, text: plan.text.max(1), ..plan }, u64::MAX, |recording, _| {
            let of = |stage| recording.stages.iter().filter(move |one| one.stage == stage);
            let bytes = |stage: &StageValue| Element::from_partial(&stage.value);
            let h = bytes(of(Stage::H).next().unwrap());
            let mut y = Element::ZERO;
            let expected: Vec<_> = of(Stage::GhashIn).map(|block| { y = (y ^ bytes(block)).times(h); y }).collect();
            prop_assert_eq!(of(Stage::Accumulator).map(bytes).collect::<Vec<_>>(), expected);
            Ok(())
        })?;
    }

    #[test]
    fn a_stage_that_is_changed_is_found_and_nothing_before_it(
        spec in any_engine(), plan in any_plan(), place: prop::sample::Index, bit in 0..128_usize,
    ) {
        recorded(&spec, &plan, u64::MAX, |recording, software| {
            let mut stages = recording.stages.clone();
            let known: Vec<_> = (0..stages.len()).filter(|&place| software.expected(&stages[place]).is_some()).collect();
            let place = known[place.index(known.len())];
            let bit = bit % (8 * stages[place].value.len());
            stages[place].value[bit / 8] ^= 0x80 >> (bit % 8);
            let parting = software.parting(&stages).unwrap();
            assert_eq!(parting.stage, &stages[place]);
            assert_eq!(parting.expected, recording.stages[place].value);
        });
    }

    #[test]
    fn a_recording_that_is_cut_holds_the_first_blocks_of_the_whole(
        spec in any_engine(), plan in any_plan(), blocks in 0..6_u64,
    ) {
        let mut all = Vec::new();
        recorded(&spec, &plan, u64::MAX, |recording, _| all.clone_from(&recording.stages));
        recorded(&spec, &plan, blocks, |recording, _| {
            let cut: Vec<_> = all.iter().filter(|stage| stage.block.is_none_or(|block| block < blocks)).collect();
            let apart = |stage: &&StageValue| !matches!(stage.stage, Stage::Product | Stage::Accumulator);
            let (expected, got) = (cut.into_iter().filter(apart), recording.stages.iter().filter(apart));
            assert!(expected.eq(got));
            assert!(recording.stages.iter().all(|stage| all.contains(stage)));
        });
    }
}
