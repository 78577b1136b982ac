//! Facts about counters.

use super::*;
use proptest::prelude::*;
use std::collections::HashSet;

const MASK: IvMask = IvMask([0xA0, 0xA1, 0xA2, 0xA3, 0xA4, 0xA5, 0xA6, 0xA7, 0xA8, 0xA9, 0xAA, 0xAB]);

#[test]
fn an_iv_is_three_little_endian_dwords_under_a_mask() {
    let iv = Iv { channel: 0x1122_3344_5566_7788, message: 0x0102_0304 };
    assert_eq!(iv.to_bytes(), [4, 3, 2, 1, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11]);
    assert_eq!(iv.nonce(MASK).0[..5], [0xA4, 0xA2, 0xA0, 0xA2, 0x2C]);
}

#[test]
fn the_first_message_has_counter_one() {
    let mut slot = KeySlot::default();
    let mut stream = slot.open().unwrap();
    assert_eq!(stream.advance(), Ok(Iv { channel: 1, message: 1 }));
    assert_eq!(stream.next_nonce().unwrap(), Iv { channel: 1, message: 2 }.nonce(IvMask::default()));
    assert_eq!(slot.open().unwrap().advance(), Ok(Iv { channel: 2, message: 1 }));
}

#[test]
fn the_message_counter_stops_and_never_wraps() {
    let mut stream = Stream::at(Iv { channel: 9, message: u32::MAX - 1 }, MASK);
    assert_eq!(stream.advance(), Ok(Iv { channel: 9, message: u32::MAX }));
    for _ in 0..3 {
        assert_eq!(stream.advance(), Err(IvError::MessageCounter(u32::MAX)));
    }
}

#[test]
fn an_exhausted_channel_counter_refuses_and_stays() {
    let mut slot = KeySlot { channel_counter: u64::MAX - 1, mask: MASK };
    assert_eq!(slot.open().unwrap().advance().unwrap().channel, u64::MAX);
    let before = slot;
    assert_eq!(slot.open(), Err(IvError::ChannelCounter));
    assert_eq!(slot, before);
}

proptest! {
    #[test]
    fn no_nonce_is_ever_used_twice_under_one_key(
        mask in any::<[u8; 12]>(),
        events in prop::collection::vec(prop::option::weighted(0.8, 0usize..8), 1..300),
    ) {
        let mut slot = KeySlot { channel_counter: 0, mask: IvMask(mask) };
        let mut channels = vec![slot.open().unwrap()];
        let mut used = HashSet::new();
        for event in events {
            match event {
                None => channels.push(slot.open().unwrap()),
                Some(channel) => {
                    let index = channel % channels.len();
                    prop_assert!(used.insert(channels[index].next_nonce().unwrap()));
                }
            }
        }
    }
}
