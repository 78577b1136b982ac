use crate::aead::arbitrary::any_clocked;
use crate::gcm::arbitrary::pattern;
use proptest::prelude::*;
use sealsim_aead::aead::flow::Dates;
use sealsim_aead::aead::model::*;
use sealsim_aead::aead::{bytes::Key, spec::AeadSpec};
use sealsim_aead::gcm::message::{SealOpen, Shape};

proptest! {
    #![proptest_config(ProptestConfig { cases: 700, ..ProptestConfig::default() })]

    #[test]
    fn the_registers_give_the_bytes_of_the_crates_and_the_cycles_of_the_timing_model(
        spec in any_clocked(), seed in any::<u64>(),
        messages in prop::collection::vec((0..200_usize, 0..700_usize, any::<bool>()), 1..4),
    ) {
        let (model, mut timing) = (spec.model(), spec.timing().unwrap());
        let (format, mut engine) = (model.format().unwrap(), model.registers().unwrap());
        for (number, (aad, length, seal)) in messages.into_iter().enumerate() {
            let of = |part: u64, length| pattern(seed ^ (8 * number as u64 + part), length);
            let (key, nonce) = (of(0, model.key_bits() as usize / 8), of(1, format.nonce_bytes() as usize));
            let (aad, plain) = (of(2, aad), of(3, length));
            let mut cipher = plain.clone();
            let expected = Key::new(format, &key).unwrap().seal(&nonce, &aad, &mut cipher).unwrap();
            let direction = if seal { SealOpen::Seal } else { SealOpen::Open };
            let (input, output) = if seal { (plain, cipher) } else { (cipher, plain) };
            let start = engine.cycle();
            let shape = Shape::new(aad.len() as u64, input.len() as u64, direction);
            let Clocked { dates, taken, output: text, tag } = engine.message([&key, &nonce, &aad, &input], direction);
            prop_assert_eq!((text, tag), (output, expected));
            prop_assert_eq!(Dates { verdict: dates.tag + model.compare().0, ..dates }, timing.message(start, &shape));
            if let AeadSpec::Aegis256(spec) | AeadSpec::Aegis128L(spec) = &spec {
                prop_assert!(taken.windows(2).all(|pair| pair[1] - pair[0] == spec.round.0));
            }
        }
    }
}
