use crate::gcm::arbitrary::any_engine;
use proptest::prelude::*;
use sealsim_aead::aead::flow::*;
use sealsim_aead::gcm::ghash::{GhashTiming, TimingModel};
use sealsim_aead::gcm::message::{SealOpen, Shape};
use sealsim_aead::gcm::spec::GcmSpec;
use sealsim_aead::gcm::timing::Timing;

/// Any engine with one tag for each message.
fn any_plain_engine() -> impl Strategy<Value = GcmSpec> {
    any_engine().prop_filter("one value of one message", |spec| spec.ghash.is_single())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn aes_gcm_in_these_terms_has_the_cycles_of_its_own_timing_model(
        spec in any_plain_engine(), aad in 0..12_u64, blocks in 0..90_u64, seal in any::<bool>(),
    ) {
        let direction = if seal { SealOpen::Seal } else { SealOpen::Open };
        let mut timing = Timing::new(&spec).unwrap();
        let start = timing.load_key(0);
        timing.start(start, 16 * aad, 16 * blocks, direction);
        let accepted = timing.accept(start, 16 * blocks as u32);
        let expected = timing.finish().tag;

        let rounds = spec.rounds().unwrap();
        let (mut lanes, mut hash) = (Lanes::new(&spec.aes, rounds), TimingModel::of_family(&spec.ghash));
        let h = lanes.result(spec.key_setup.0);
        prop_assert_eq!(h + hash.power_setup(), start);
        lanes.restart();
        let mask = lanes.result(start);
        hash.begin(start, Shape::new(16 * aad, 16 * blocks, direction).ghash_blocks());
        absorb(&mut hash, aad);
        let flow = Flow {
            ports: spec.aes.lanes.into(),
            unit: 1,
            depth: spec.aes.keystream_blocks.into(),
            hashing: if seal { Hashing::Output } else { Hashing::Input },
        };
        let mut passing = Passing::new(flow, start);
        (0..blocks).for_each(|_| _ = passing.take(start, Some((&mut lanes, start)), &mut hash));
        let extent = passing.extent();
        absorb(&mut hash, 1);
        prop_assert_eq!(extent.last.map_or(accepted.out, |last| last + 1), accepted.out);
        prop_assert_eq!(hash.known().max(mask) + 1, expected);
    }
}
