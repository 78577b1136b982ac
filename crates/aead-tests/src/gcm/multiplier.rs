use proptest::prelude::*;
use sealsim_aead::gcm::field::Element;
use sealsim_aead::gcm::multiplier::*;
use sealsim_aead::gcm::spec::MultiplierSpec;
use sealsim_aead::gcm::structure::Structure;
use sealsim_aead::units::Cycles;

fn spec(product: u64, reduction: u64, digit_bits: u32) -> MultiplierSpec {
    let structure = Structure::default();
    MultiplierSpec { product: Cycles(product), reduction: Cycles(reduction), digit_bits, structure }
}

proptest! {
    #[test]
    fn a_result_stands_after_the_latency_and_not_before(
        a: u128, b: u128, product in 0..6_u64, reduction in 0..4_u64, digit_bits in 1..=128_u32,
    ) {
        let spec = spec(product + 128_u64.div_ceil(digit_bits.into()) - 1, reduction, digit_bits);
        prop_assume!(spec.check().is_ok());
        let mut multiplier = Multiplier::new(&spec);
        multiplier.issue(Element(a), Element(b), ());
        for cycle in 1..spec.latency() {
            prop_assert!(multiplier.clock().is_none(), "a result in cycle {}", cycle);
            prop_assert_eq!(multiplier.free(), cycle >= spec.interval());
        }
        prop_assert_eq!(multiplier.clock(), Some((Element(a).times(Element(b)), ())));
        prop_assert!(multiplier.clock().is_none());
    }

    #[test]
    fn a_full_pipeline_has_a_register_for_each_cycle_but_the_last(product in 0..6_u64, reduction in 0..4_u64) {
        let spec = spec(product, reduction, 128);
        prop_assume!(spec.check().is_ok());
        let (mut multiplier, mut seen) = (Multiplier::new(&spec), Vec::new());
        for _ in 0..=spec.latency() {
            multiplier.clock();
            multiplier.issue(Element::ONE, Element::ONE, ());
        }
        multiplier.registers(0, &mut |name, index, _| seen.push((name, index)));
        seen.retain(|(name, _)| *name != "product.high");
        prop_assert_eq!(seen.len() as u64, spec.latency() - 1);
        prop_assert!(seen.iter().collect::<std::collections::HashSet<_>>().len() == seen.len(), "{:?}", seen);
    }
}

#[test]
fn a_bit_parallel_multiplier_takes_a_pair_in_every_cycle() {
    let mut multiplier = Multiplier::new(&spec(2, 1, 128));
    let mut results = Vec::new();
    for n in 0..10 {
        results.extend(multiplier.clock());
        assert!(multiplier.free());
        multiplier.issue(Element(n << 90), Element(3 << 60), n);
    }
    assert_eq!(results, (0..7).map(|n| (Element(n << 90).times(Element(3 << 60)), n)).collect::<Vec<_>>());
}

#[test]
fn a_digit_serial_partial_product_grows_digit_by_digit() {
    let (a, b) = (Element(0x1234_5678_9abc_def0_0fed_cba9_8765_4321), Element(!0));
    let mut unit = ProductUnit::new(&spec(8, 0, 16));
    unit.issue(a, b, ());
    for digits in 1..8 {
        assert!(unit.clock().is_none());
        let read = Element(!0 << (128 - 16 * digits));
        let (product, mut shown) = (a.product(read), Vec::new());
        unit.registers(0, &mut |_, _, value| shown.push(*value));
        assert_eq!(shown, [product.low, product.high], "after {digits} digits");
    }
    assert_eq!(unit.clock(), Some((a.product(b), ())));
}

#[test]
fn a_product_may_not_end_before_its_operand_is_read() {
    assert!(spec(7, 1, 16).check().is_err());
    assert!(spec(8, 0, 16).check().is_ok());
    assert!(spec(0, 0, 128).check().is_err());
}
