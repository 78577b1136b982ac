use crate::gcm::arbitrary::{any_controlled_engine, any_direction, any_engine, pattern};
use proptest::prelude::*;
use sealsim_aead::gcm::bulk::{
    Key,
    chains::{ChainFormat, Chains},
    text_crc::TextCrc,
};
use sealsim_aead::gcm::engine::{Engine, Purpose};
use sealsim_aead::gcm::message::SealOpen;
use sealsim_aead::gcm::spec::GcmSpec;
use sealsim_aead::gcm::upset::*;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Harmless,
    Detected,
    Silent,
}

/// Text and tags of a message that nothing upsets.
fn right(spec: &GcmSpec, key: &Key, text: &[u8], direction: SealOpen) -> (Vec<u8>, Vec<u8>) {
    let mut chains = Chains::new(ChainFormat::of(&spec.ghash), key, &[9; 12], &[], direction).unwrap();
    let mut text = text.to_vec();
    chains.update(key, &mut text);
    let tags = chains.on_wire(key);
    (text, tags)
}

struct Judge {
    spec: GcmSpec,
    key: Key,
    engine: Engine,
    plain: Vec<u8>,
    cipher: Vec<u8>,
    tags: Vec<u8>,
}

impl Judge {
    fn new(spec: GcmSpec, bytes: usize) -> Self {
        let raw = pattern(1, spec.key_bits as usize / 8);
        let (key, engine) = (Key::new(&raw).unwrap(), rested(&spec, &raw).unwrap());
        let plain = pattern(2, bytes);
        let (cipher, tags) = right(&spec, &key, &plain, SealOpen::Seal);
        Self { spec, key, engine, plain, cipher, tags }
    }

    fn states(&self, direction: SealOpen) -> Vec<State> {
        states(self.engine.clone(), self.plain.len() as u64, direction)
    }

    /// What a message with upsets comes to where the other side is sound, its text in pieces of `piece` bytes.
    fn class(&self, direction: SealOpen, upsets: Vec<Upset>, piece: usize) -> (Class, Vec<Option<u64>>) {
        self.class_of(direction, upsets, piece, false)
    }

    /// The same, with a CRC of the text in the tags or without.
    fn class_of(
        &self,
        direction: SealOpen,
        upsets: Vec<Upset>,
        piece: usize,
        text_crc: bool,
    ) -> (Class, Vec<Option<u64>>) {
        let with_crc = |tags: &[u8], plain: &[u8]| {
            let (mut crc, mut tags) = (TextCrc::new(SealOpen::Seal), tags.to_vec());
            crc.pass(&mut plain.to_vec(), |_| ());
            if text_crc {
                crc.add_to(&mut tags);
            }
            tags
        };
        let bytes = self.plain.len() as u64;
        let mut message = UpsetMessage::new(self.engine.clone(), &[9; 12], bytes, direction, upsets).unwrap();
        let mut text = if direction == SealOpen::Seal { self.plain.clone() } else { self.cipher.clone() };
        text.chunks_mut(piece).for_each(|piece| message.update(piece));
        let tags = message.finish().to_vec();
        let (opened, agree) = match direction {
            SealOpen::Open => {
                let agree = with_crc(&tags, &text) == with_crc(&self.tags, &self.plain);
                (text, agree)
            }
            SealOpen::Seal => {
                let (opened, theirs) = right(&self.spec, &self.key, &text, SealOpen::Open);
                let agree = with_crc(&theirs, &opened) == with_crc(&tags, &self.plain);
                (opened, agree)
            }
        };
        let class = match (agree, opened == self.plain) {
            (false, _) => Class::Detected,
            (true, false) => Class::Silent,
            (true, true) => Class::Harmless,
        };
        (class, message.hits().to_vec())
    }
}

/// What GCM says of a flip: the tag is over ciphertext, and the keystream is not in it. None where it depends on when what is struck is read.
fn law(state: State, direction: SealOpen) -> Option<Class> {
    let (unit, name, _) = state.register;
    Some(match (unit, name, state.purpose, direction) {
        ("aes", _, Some(Purpose::Keystream(_)), _) | ("keystream", ..) | ("delay", "keystream", ..) => Class::Silent,
        ("input", _, _, SealOpen::Seal) => Class::Silent,
        ("input", _, _, SealOpen::Open) | ("output", ..) | ("aes", ..) | ("tag", "tag", ..) => Class::Detected,
        _ => return None,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn a_flip_is_silent_in_the_keystream_without_a_crc_of_the_text_and_never_in_ghash(
        spec in prop_oneof![any_engine(), any_controlled_engine()], blocks in 1..40_usize, direction in any_direction(),
        picks in prop::collection::vec((any::<prop::sample::Index>(), 0..128_u32), 12),
    ) {
        let judge = Judge::new(spec, 16 * blocks);
        let states = judge.states(direction);
        for (pick, bit) in picks {
            let state = *pick.get(&states);
            let State { register, cycle, .. } = state;
            let flip = vec![Upset { register, cycle, bit, kind: UpsetKind::Flip }];
            let (class, hits) = judge.class(direction, flip.clone(), 16 * blocks);
            prop_assert_eq!(hits, [Some(cycle)], "{:?}", state);
            match law(state, direction) {
                Some(expected) => prop_assert_eq!(class, expected, "{:?} {:?}", state, direction),
                None if ["ghash", "tag"].contains(&register.0) => prop_assert_ne!(class, Class::Silent, "{:?}", state),
                None => {}
            }
            // A CRC in the tag detects what is silent, and changes nothing else.
            let (with_crc, _) = judge.class_of(direction, flip, 16 * blocks, true);
            prop_assert_eq!(with_crc, if class == Class::Silent { Class::Detected } else { class }, "{:?}", state);
        }
    }

    #[test]
    fn without_a_strike_and_with_one_that_is_undone_all_is_right_in_any_pieces(
        spec in any_engine(), bytes in 1..600_usize, direction in any_direction(), piece in 1..100_usize,
        pick in any::<prop::sample::Index>(), bit in 0..128_u32,
    ) {
        let judge = Judge::new(spec, bytes);
        prop_assert_eq!(judge.class(direction, Vec::new(), piece).0, Class::Harmless);
        let states = judge.states(direction);
        let State { register, cycle, .. } = *pick.get(&states);
        let flip = Upset { register, cycle, bit, kind: UpsetKind::Flip };
        prop_assert_eq!(judge.class(direction, vec![flip, flip], piece).0, Class::Harmless);
    }

    #[test]
    fn a_bit_that_is_stuck_does_what_a_flip_does_or_nothing(
        spec in any_engine(), direction in any_direction(), pick in any::<prop::sample::Index>(), bit in 0..128_u32,
    ) {
        let judge = Judge::new(spec, 160);
        let states = judge.states(direction);
        let State { register, cycle, .. } = *pick.get(&states);
        let upset = |kind| judge.class(direction, vec![Upset { register, cycle, bit, kind }], 160).0;
        let stuck = [false, true].map(|at| upset(UpsetKind::Stuck { at, cycles: 1 }));
        let flip = upset(UpsetKind::Flip);
        prop_assert!(stuck == [Class::Harmless, flip] || stuck == [flip, Class::Harmless], "{:?} {:?}", stuck, flip);
    }
}

/// A round key is in every block behind it: from before the first block on, mask and text are wrong.
#[test]
fn a_round_key_that_is_wrong_from_the_start_is_detected_and_one_behind_the_last_block_is_not_seen() {
    for direction in [SealOpen::Seal, SealOpen::Open] {
        let judge = Judge::new(GcmSpec::four_lanes(), 256);
        let of = |round: usize| {
            let upsets = judge.states(direction).into_iter().filter(|state| state.register == ("key", "round", round));
            let upset = |State { register, cycle, .. }| Upset { register, cycle, bit: 5, kind: UpsetKind::Flip };
            upsets.map(|state| judge.class(direction, vec![upset(state)], 256).0).collect::<Vec<_>>()
        };
        for classes in [of(0), of(7), of(14)] {
            assert_eq!((classes[0], classes[classes.len() - 1]), (Class::Detected, Class::Harmless));
            // In between the mask is through and text is not.
            assert!(classes.contains(&Class::Silent));
            assert!(classes.windows(2).all(|pair| pair[0] == pair[1] || pair[0] != Class::Harmless));
        }
    }
}
