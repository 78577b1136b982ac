use crate::gcm::arbitrary::any_direction;
use proptest::prelude::*;
use sealsim_aead::gcm::part::*;
use sealsim_aead::gcm::{
    bulk::chains::{ChainFormat, Chains},
    field,
};
use sealsim_aead::gcm::{
    bulk::{Key, Stream},
    field::Element,
    message::SealOpen,
};

#[test]
fn powers_by_squaring_are_the_powers_and_take_the_products_they_say() {
    let h = Element(0x66e9_4bd4_ef8a_2c3b_884c_fa59_ca34_2b2e);
    for (n, expected) in (1..70).zip(field::powers(h, 69)) {
        assert_eq!(power(h, n), expected, "{n}");
    }
    let products = [(1, 0), (2, 1), (3, 2), (4, 2), (7, 4), (8, 3), (65_536, 16), (65_537, 17)];
    for (n, products) in products {
        let part = Part { start: 0, bytes: 16, total: 16 * n };
        assert_eq!((part.behind(), part.power_products()), (n, products));
    }
}

proptest! {
    #[test]
    fn the_shares_of_any_cut_sum_to_the_tag_of_the_whole(
        text in prop::collection::vec(any::<u8>(), 1..3000), cuts in prop::collection::btree_set(1usize..190, 0..8),
        key: [u8; 32], nonce: [u8; 12], direction in any_direction(),
    ) {
        let key = Key::new(&key).unwrap();
        let mut whole = text.clone();
        let mut stream = Stream::new(&key, &nonce, &[], direction).unwrap();
        stream.update(&key, &mut whole);
        let total = text.len() as u64;
        let ends: Vec<_> = cuts.into_iter().map(|cut| 16 * cut).filter(|&cut| cut < text.len()).chain([text.len()]).collect();
        let (mut start, mut sum, mut joined) = (0, Element::ZERO, Vec::new());
        for end in ends {
            let part = Part { start: start as u64, bytes: (end - start) as u64, total };
            let mut piece = text[start..end].to_vec();
            let mut stream = part.stream(&key, nonce, direction);
            stream.update(&key, &mut piece);
            sum ^= Element::from_bytes(part.share(&key, nonce, &stream));
            joined.extend(piece);
            start = end;
        }
        prop_assert_eq!(joined, whole);
        prop_assert_eq!(sum.to_bytes(), stream.tag(&key));
    }

    #[test]
    fn chunks_that_are_opened_apart_have_the_tags_of_their_message(
        text in prop::collection::vec(any::<u8>(), 1..3000), chunk in (2u64..60).prop_map(|blocks| 16 * blocks), key: [u8; 32], nonce: [u8; 12],
    ) {
        let (total, longest) = (text.len() as u64, ChainFormat { chains: 99, chunk, by_chunk: true, ..ChainFormat::GCM });
        let (mut cipher, key) = (text.clone(), Key::new(&key).unwrap());
        let seal = |format: ChainFormat, text: &mut [u8]| {
            let mut message = Chains::new(format.of_message(total), &key, &nonce, &[], SealOpen::Seal).unwrap();
            message.update(&key, text);
            message.on_wire(&key)
        };
        let tags = seal(longest, &mut cipher);
        let format = ChainFormat { chains: total.div_ceil(chunk) as u32, by_chunk: false, ..longest };
        prop_assert_eq!(&tags, &seal(format, &mut text.clone()));
        for (number, (plain, sealed)) in text.chunks(chunk as usize).zip(cipher.chunks(chunk as usize)).enumerate() {
            let mut piece = sealed.to_vec();
            let part = Part { start: number as u64 * chunk, bytes: piece.len() as u64, total };
            let mut stream = part.stream(&key, nonce, SealOpen::Open);
            stream.update(&key, &mut piece);
            prop_assert_eq!(&piece, plain);
            prop_assert_eq!(&part.chunk_tag(&key, nonce, &stream, number as u32)[..], &tags[16 * number..][..16]);
        }
    }
}
