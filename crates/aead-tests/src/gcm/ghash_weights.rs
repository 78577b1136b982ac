use crate::gcm::arbitrary::multiplier;
use proptest::prelude::*;
use sealsim_aead::gcm::{
    field::Element,
    ghash::weights::{Table, Weighting, setup},
};

fn power(h: Element, exponent: u64) -> Element {
    (0..64).rev().fold(Element::ONE, |sum, bit| {
        let squared = sum.times(sum);
        if exponent >> bit & 1 == 1 { squared.times(h) } else { squared }
    })
}

proptest! {
    #[test]
    fn the_table_stands_after_its_set_up_and_weighs_every_position(
        segment in prop_oneof![2..300_u32, 2..1_u32 << 24], h: u128, value: u128, position in 0..100_000_u64,
        latency in 1..5_u64,
    ) {
        let (spec, h) = (multiplier(latency, 0, 128), Element(h));
        let mut table = Table::new(segment, &spec);
        table.load(h);
        for _ in 0..setup(segment, &spec) {
            prop_assert!(!table.ready());
            table.clock();
        }
        prop_assert!(table.ready());
        let mut powers = Vec::new();
        table.registers(&mut |name, _, value| powers.extend((name == "weight").then_some(*value)));
        prop_assert_eq!(powers.len(), table.size());
        for (index, &entry) in powers.iter().enumerate() {
            prop_assert_eq!(Element(entry), power(h, u64::from(segment) << index));
        }
        let position = position % (1 << table.size().min(60));
        let mut weighting = Weighting::new(&spec);
        let mut result = weighting.take(Element(value), position, &table);
        for cycle in 0..latency * u64::from(position.count_ones()) {
            prop_assert!(result.is_none() && !weighting.free(), "in cycle {}", cycle);
            result = weighting.clock(&table);
        }
        prop_assert_eq!(result, Some(Element(value).times(power(h, u64::from(segment) * position))));
        prop_assert!(weighting.free());
    }
}
