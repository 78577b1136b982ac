//! Facts about counters.

use super::*;
use proptest::prelude::*;
use std::collections::HashSet;

const MASK: IvMask = IvMask([0xA0, 0xA1, 0xA2, 0xA3, 0xA4, 0xA5, 0xA6, 0xA7, 0xA8, 0xA9, 0xAA, 0xAB]);

#[test]
fn an_iv_is_three_little_endian_dwords_under_a_mask() {
    let iv = Iv { channel: 0x1122_3344_5566_7788, message: 0x0102_0304 };
    assert_eq!(iv.to_bytes(), [4, 3, 2, 1, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11]);
    let nonce = iv.nonce(MASK).0;
    assert_eq!(nonce[..5], [0xA4, 0xA2, 0xA0, 0xA2, 0x2C]);
    assert_eq!(iv.nonce(MASK).j0()[..12], nonce);
    assert_eq!(iv.nonce(MASK).j0()[12..], [0, 0, 0, 1]);
}

#[test]
fn the_first_message_has_counter_one() {
    let mut stream = KeySlot::default().open().unwrap();
    assert_eq!(stream.remaining(), u32::MAX);
    assert_eq!(stream.advance(), Ok(Iv { channel: 1, message: 1 }));
    assert_eq!(stream.next_nonce().unwrap(), Iv { channel: 1, message: 2 }.nonce(IvMask::default()));
    assert_eq!(stream.remaining(), u32::MAX - 2);
}

#[test]
fn the_message_counter_stops_and_never_wraps() {
    let mut stream = Stream::at(Iv { channel: 9, message: u32::MAX - 1 }, MASK);
    assert_eq!(stream.remaining(), 1);
    assert_eq!(stream.advance(), Ok(Iv { channel: 9, message: u32::MAX }));
    for _ in 0..3 {
        assert_eq!(stream.advance(), Err(IvError::MessageCounter(u32::MAX.into())));
        assert_eq!((stream.remaining(), stream.last().message), (0, u32::MAX));
    }
}

#[test]
fn channels_and_rotations_take_the_next_channel_counter() {
    let mut slots = SlotPair::default();
    slots.rekey(MASK, IvMask::default());
    let mut first = slots.open().unwrap();
    let second = slots.open().unwrap();
    assert_eq!((first.h2d.last().channel, second.d2h.last().channel), (1, 2));
    first.h2d.advance().unwrap();
    first.rotate(&mut slots).unwrap();
    assert_eq!(first.h2d.last(), Iv { channel: 3, message: 0 });
    assert_eq!((first.d2h.last().channel, first.h2d.mask()), (3, MASK));
}

#[test]
fn a_key_rotation_keeps_the_channel_counter_and_brings_new_masks() {
    let mut slots = SlotPair::default();
    let mut ivs = slots.open().unwrap();
    ivs.h2d.advance().unwrap();
    slots.rekey(MASK, IvMask([1; 12]));
    ivs.rekey(&slots);
    assert_eq!(ivs.h2d, Stream::at(Iv { channel: 1, message: 0 }, MASK));
    assert_eq!(ivs.d2h, Stream::at(Iv { channel: 1, message: 0 }, IvMask([1; 12])));
    assert_eq!(slots.h2d.channel_counter, 1);
}

#[test]
fn directions_count_on_their_own() {
    let mut ivs = SlotPair::default().open().unwrap();
    ivs.h2d.advance().unwrap();
    ivs.h2d.advance().unwrap();
    ivs.d2h.advance().unwrap();
    assert_eq!((ivs.h2d.last().message, ivs.d2h.last().message), (2, 1));
}

#[test]
fn an_exhausted_channel_counter_refuses_and_moves_neither_direction() {
    let mut slots = SlotPair::default();
    slots.d2h.channel_counter = u64::MAX - 1;
    let mut ivs = slots.open().unwrap();
    assert_eq!(ivs.d2h.last().channel, u64::MAX);
    let before = (slots, ivs);
    assert_eq!(slots.open(), Err(IvError::ChannelCounter));
    assert_eq!(ivs.rotate(&mut slots), Err(IvError::ChannelCounter));
    assert_eq!((slots, ivs), before);
}

#[test]
fn the_rotation_limit_is_inclusive_and_bounded() {
    assert_eq!(RotationLimit::default().messages(), 1 << 31);
    for (messages, accepted) in [(2341, false), (2342, true), (0xFFFF_FFFE, true), (0xFFFF_FFFF, false)] {
        assert_eq!(RotationLimit::new(messages).is_ok(), accepted, "{messages}");
    }
    let limit = RotationLimit::new(5000).unwrap();
    let mut ivs = SlotPair::default().open().unwrap();
    ivs.d2h = Stream::at(Iv { channel: 1, message: u32::MAX - 5001 }, MASK);
    assert!(!ivs.rotation_due(limit));
    ivs.d2h.advance().unwrap();
    assert!(ivs.rotation_due(limit));
}

#[test]
fn gsp_contexts_count_in_64_bits() {
    let mut iv = GspIv { message: u32::MAX.into() };
    assert_eq!(iv.advance().unwrap().to_bytes(), [0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(iv.nonce(MASK).0[..5], [0xA0, 0xA1, 0xA2, 0xA3, 0xA5]);
    let mut last = GspIv { message: u64::MAX };
    assert_eq!(last.advance(), Err(IvError::MessageCounter(u64::MAX)));
    assert_eq!(last.message, u64::MAX);
}

#[test]
fn a_bundle_keeps_sixteen_versions() {
    let mut bundle = KeyBundle::new([1; 32], MASK).unwrap();
    assert_eq!(bundle.get(1), Err(BundleError::NotYet { version: 1, current: 0 }));
    for version in 1..=20 {
        assert_eq!(bundle.install([version as u8 + 1; 32], IvMask([version as u8; 12])), Ok(version));
    }
    assert_eq!(bundle.get(4), Err(BundleError::TooOld { version: 4, oldest: 5, current: 20 }));
    for version in 5..=20 {
        let kept = bundle.get(version).unwrap();
        assert_eq!((kept.version, kept.key[0], kept.mask.0[0]), (version, version as u8 + 1, version as u8));
    }
    assert_eq!(bundle.current().version, 20);
}

#[test]
fn a_key_of_zeroes_is_refused_and_no_key_is_printed() {
    assert_eq!(KeyBundle::new([0; 32], MASK), Err(BundleError::ZeroKey));
    let mut bundle = KeyBundle::new([0x5A; 32], MASK).unwrap();
    assert_eq!(bundle.install([0; 32], MASK), Err(BundleError::ZeroKey));
    assert_eq!(bundle.current().version, 0);
    assert!(!format!("{bundle:?}").contains("90"));
}

#[derive(Debug, Clone, Copy)]
enum Event {
    Open,
    Message { channel: usize, d2h: bool },
    RotateIvs { channel: usize },
    RotateKey,
}

fn any_event() -> impl Strategy<Value = Event> {
    prop_oneof![
        1 => Just(Event::Open),
        8 => (0usize..8, any::<bool>()).prop_map(|(channel, d2h)| Event::Message { channel, d2h }),
        2 => (0usize..8).prop_map(|channel| Event::RotateIvs { channel }),
        1 => Just(Event::RotateKey),
    ]
}

proptest! {
    #[test]
    fn bytes_and_counters_are_the_same_thing(channel in any::<u64>(), message in any::<u32>(), mask in any::<[u8; 12]>()) {
        let iv = Iv { channel, message };
        prop_assert_eq!(Iv::from_bytes(iv.to_bytes()), iv);
        let nonce = iv.nonce(IvMask(mask));
        prop_assert_eq!(Iv::from_bytes(nonce.0).nonce(IvMask(mask)).0, iv.to_bytes());
    }

    #[test]
    fn no_nonce_is_ever_used_twice_under_one_key(events in prop::collection::vec(any_event(), 1..300)) {
        let mut slots = SlotPair::default();
        let mut channels = vec![slots.open().unwrap()];
        let mut key = 0u8;
        let mut used = HashSet::new();
        for event in events {
            match event {
                Event::Open => channels.push(slots.open().unwrap()),
                Event::Message { channel, d2h } => {
                    let index = channel % channels.len();
                    let ivs = &mut channels[index];
                    let stream = if d2h { &mut ivs.d2h } else { &mut ivs.h2d };
                    prop_assert!(used.insert((key, d2h, stream.next_nonce().unwrap())));
                }
                Event::RotateIvs { channel } => {
                    let index = channel % channels.len();
                    channels[index].rotate(&mut slots).unwrap();
                }
                Event::RotateKey => {
                    key += 1;
                    slots.rekey(IvMask([key; 12]), IvMask([!key; 12]));
                    channels.iter_mut().for_each(|ivs| ivs.rekey(&slots));
                }
            }
        }
    }
}
