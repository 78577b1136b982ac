//! A message that goes through an engine register by register, while faults upset registers.
//!
//! ```text
//!                        upsets, at the beginning of their cycles
//!                           |
//!   text, in pieces ---> [ engine ] ---> text, tags
//! ```
//!
//! Faults upset the datapath and never the control, so an upset message takes the cycles of any other. Cycle 0 is that in which the message starts.
//! The engine's clock stands while it waits for text that has not come.

use super::engine::{Engine, Event, Purpose, Register};
use super::message::SealOpen;
use super::spec::GcmSpec;

/// Cycles without an event after which an engine is given up: its control never lets it end.
pub(super) const GIVE_UP_AFTER: u32 = 1 << 22;

/// What a fault does to a bit of a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UpsetKind {
    /// It inverts the bit once.
    Flip,
    /// It holds the bit at a value for so many cycles.
    Stuck { at: bool, cycles: u64 },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Upset {
    pub register: Register,
    /// The first cycle in which it acts.
    pub cycle: u64,
    /// The bit, 0 being the lowest of the register read as a number.
    pub bit: u32,
    pub kind: UpsetKind,
}

impl Upset {
    const fn acts(&self, cycle: u64) -> bool {
        let span = match self.kind {
            UpsetKind::Flip => 1,
            UpsetKind::Stuck { cycles, .. } => cycles,
        };
        self.cycle <= cycle && cycle - self.cycle < span
    }

    const fn apply(&self, value: &mut u128) {
        let bit = 1 << (self.bit % 128);
        match self.kind {
            UpsetKind::Flip => *value ^= bit,
            UpsetKind::Stuck { at: true, .. } => *value |= bit,
            UpsetKind::Stuck { at: false, .. } => *value &= !bit,
        }
    }
}

/// An engine at rest with this key, as far as it will ever be; none if there can be no such engine.
pub fn rested(spec: &GcmSpec, key: &[u8]) -> Option<Engine> {
    let mut engine = Engine::new(spec).ok()?;
    engine.load_key(key).ok()?;
    let mut events = Vec::new();
    (0..GIVE_UP_AFTER).find(|_| {
        engine.step(&mut events);
        !events.is_empty()
    })?;
    Some(engine)
}

/// A message on its way through a structural engine.
#[derive(Debug, Clone)]
pub struct UpsetMessage {
    engine: Engine,
    start: u64,
    bytes: u64,
    upsets: Vec<Upset>,
    /// By upset: the cycle in which it found a value.
    hits: Vec<Option<u64>>,
    offered: u64,
    text: Vec<u8>,
    tags: Vec<u8>,
    ended: bool,
}

impl UpsetMessage {
    /// Starts a message without AAD of `bytes` bytes in an engine at rest; none if it refuses it.
    pub fn new(mut engine: Engine, nonce: &[u8], bytes: u64, direction: SealOpen, upsets: Vec<Upset>) -> Option<Self> {
        let start = engine.cycle();
        engine.start(nonce, &[], bytes, direction).ok()?;
        let (hits, text) = (vec![None; upsets.len()], Vec::with_capacity(bytes as usize));
        Some(Self { engine, start, bytes, upsets, hits, offered: 0, text, tags: Vec::new(), ended: false })
    }

    /// Enciphers or deciphers the next bytes in place.
    pub fn update(&mut self, text: &mut [u8]) {
        self.engine.offer(text);
        let from = self.offered as usize;
        self.offered += text.len() as u64;
        let whole = if self.offered == self.bytes { self.offered } else { self.offered / 16 * 16 };
        self.run(|message| message.text.len() as u64 >= whole);
        if whole == self.offered {
            return text.copy_from_slice(&self.text[from.min(self.text.len())..][..text.len()]);
        }
        // What a block that has come in part becomes is seen in an engine that gets the rest as zeroes.
        let mut ahead = self.clone();
        let end = (whole + 16).min(self.bytes);
        ahead.engine.offer(&vec![0; (end - self.offered) as usize]);
        ahead.run(|message| message.text.len() as u64 >= end);
        text.copy_from_slice(&ahead.text[from..][..text.len()]);
    }

    /// Works until all of it is through; gives its tags, as they are on the wire.
    pub fn finish(&mut self) -> &[u8] {
        self.run(|message| message.ended);
        &self.tags
    }

    /// By upset: the cycle in which it found its register with a value, if it did.
    pub fn hits(&self) -> &[Option<u64>] {
        &self.hits
    }

    /// The engine, at rest once the message has been finished, with what faults have left in the registers of its key.
    pub fn into_engine(self) -> Engine {
        self.engine
    }

    fn run(&mut self, until: impl Fn(&Self) -> bool) {
        let mut quiet = 0;
        while !until(self) && quiet < GIVE_UP_AFTER {
            quiet = if self.step(&mut |_, _| {}) { 0 } else { quiet + 1 };
        }
        // Of an engine that never ends, what has not come is zero.
        if quiet == GIVE_UP_AFTER {
            self.text.resize(self.bytes as usize, 0);
            self.ended = true;
        }
    }

    /// Works a cycle; `see` is shown what registers hold in it. Says whether anything came out.
    fn step(&mut self, see: &mut dyn FnMut(Register, Option<Purpose>)) -> bool {
        let cycle = self.engine.cycle() - self.start;
        let (upsets, hits) = (&self.upsets, &mut self.hits);
        self.engine.all_registers(&mut |register, purpose, value| {
            see(register, purpose);
            let here = upsets.iter().zip(&mut *hits).filter(|(upset, _)| upset.register == register);
            for (upset, hit) in here.filter(|(upset, _)| upset.acts(cycle)) {
                upset.apply(value);
                hit.get_or_insert(cycle);
            }
        });
        let mut events = Vec::new();
        self.engine.step(&mut events);
        let mut further = Vec::new();
        for (_, event) in &events {
            match event {
                Event::Text(bytes) => self.text.extend(bytes),
                Event::ChainTag(_, tag) => further.extend(tag),
                Event::Tag(tag) => {
                    self.tags = [&tag[..], &further].concat();
                    self.ended = true;
                }
                Event::KeyReady | Event::Phase(_) | Event::Aad | Event::Taken(_) => {}
            }
        }
        !events.is_empty()
    }
}

/// A register that holds a value in a cycle of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct State {
    pub register: Register,
    pub cycle: u64,
    /// What a block of AES becomes.
    pub purpose: Option<Purpose>,
}

/// All registers that hold a value in each cycle of a message of so many bytes: none depends on key, nonce or text.
pub fn states(engine: Engine, bytes: u64, direction: SealOpen) -> Vec<State> {
    let mut states = Vec::new();
    let Some(mut message) = UpsetMessage::new(engine, &[0; 12], bytes, direction, Vec::new()) else { return states };
    message.engine.offer(&vec![0; bytes as usize]);
    for cycle in 0..u64::from(GIVE_UP_AFTER) {
        message.step(&mut |register, purpose| states.push(State { register, cycle, purpose }));
        if message.ended {
            break;
        }
    }
    states
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gcm::arbitrary::{any_controlled_engine, any_direction, any_engine, pattern};
    use crate::gcm::bulk::{
        Key,
        chains::{ChainFormat, Chains},
        text_crc::TextCrc,
    };
    use proptest::prelude::*;

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
            ("aes", _, Some(Purpose::Keystream(_)), _) | ("keystream", ..) | ("delay", "keystream", ..) => {
                Class::Silent
            }
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
                let upsets =
                    judge.states(direction).into_iter().filter(|state| state.register == ("key", "round", round));
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
}
