//! Facts about headers, bindings and errors.

use super::*;
use proptest::prelude::*;

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn cause(words: &[u32]) -> (usize, DecodeCause) {
    let error = Decoder::new().decode(&bytes(words)).unwrap_err();
    assert!(error.to_string().contains(&format!("{:#010x} at byte {}", error.word, error.offset)));
    (error.offset, error.cause)
}

/// SET_OBJECT 0xC8B5 on subchannel 4.
const BIND: [u32; 2] = [0x2001_8000, 0xC8B5];

fn after_bind(words: &[u32]) -> Vec<u32> {
    [&BIND[..], words].concat()
}

#[test]
fn the_maps_are_sorted_word_aligned_and_their_fields_do_not_overlap() {
    for (map, first, end) in [(c86f::METHODS, 0, 0x100), (c8b5::METHODS, 0x100, 0x4000)] {
        assert!(map.windows(2).all(|pair| pair[0].offset < pair[1].offset));
        for method in map {
            assert!(method.offset % 4 == 0 && (first..end).contains(&method.offset), "{}", method.name);
            let bits: u32 = method.fields.iter().map(|field| field.high - field.low + 1).sum();
            assert_eq!(bits, method.reserved().count_zeros(), "{}", method.name);
        }
    }
}

#[test]
fn set_object_binds_one_subchannel() {
    let mut decoder = Decoder::new();
    let writes = decoder.decode(&bytes(&BIND)).unwrap();
    assert_eq!((writes[0].class, writes[0].method.name, writes[0].at), (Class::Host, "SET_OBJECT", 4));
    assert!(decoder.is_bound(4) && !decoder.is_bound(0));
    assert_eq!(decoder, Decoder::bound());
}

#[test]
fn each_opcode_moves_the_address_its_own_way() {
    let methods = |opcode: u32, count: u32| {
        let mut words = after_bind(&[opcode << 29 | count << 16 | 4 << 13 | (0x400 / 4)]);
        words.extend(std::iter::repeat_n(7, if opcode == 4 { 0 } else { count as usize }));
        let writes = Decoder::new().decode(&bytes(&words)).unwrap();
        writes[1..].iter().map(|write| (write.method.offset, write.data)).collect::<Vec<_>>()
    };
    assert_eq!(methods(1, 3), [(0x400, 7), (0x404, 7), (0x408, 7)]);
    assert_eq!(methods(3, 3), [(0x400, 7), (0x400, 7), (0x400, 7)]);
    assert_eq!(methods(4, 0x1FFF), [(0x400, 0x1FFF)]);
    assert_eq!(methods(5, 3), [(0x400, 7), (0x404, 7), (0x404, 7)]);
    assert_eq!(methods(1, 0), []);
}

#[test]
fn a_length_that_is_no_multiple_of_four_names_the_partial_word() {
    let mut stream = bytes(&BIND);
    stream.extend([0xAB, 0xCD]);
    let error = Decoder::new().decode(&stream).unwrap_err();
    assert_eq!(error, DecodeError { offset: 8, word: 0xCDAB, cause: DecodeCause::Misaligned(2) });
}

#[test]
fn reserved_opcodes_and_header_bits_are_refused() {
    for opcode in [0, 2, 6, 7] {
        assert_eq!(cause(&[opcode << 29]), (0, DecodeCause::Opcode(opcode)));
    }
    assert_eq!(cause(&after_bind(&[1 << 29 | 1 << 12])), (8, DecodeCause::HeaderBit));
}

#[test]
fn a_count_past_the_end_tells_both_numbers() {
    let expected = DecodeCause::Truncated { announced: 4, present: 1 };
    assert_eq!(cause(&after_bind(&[1 << 29 | 4 << 16 | 4 << 13 | 0x100, 0])), (8, expected));
}

#[test]
fn an_unbound_subchannel_and_a_wrong_class_are_refused() {
    let unbound = DecodeCause::Unbound { subchannel: 3, method: 0x300 };
    assert_eq!(cause(&after_bind(&[1 << 29 | 1 << 16 | 3 << 13 | 0xC0, 0])), (8, unbound));
    assert_eq!(cause(&[0x2001_8000, 0xC7B5]), (4, DecodeCause::Class(0xC7B5)));
}

#[test]
fn unknown_methods_and_stray_bits_name_their_word() {
    let unknown = DecodeCause::Method { class: "0xc8b5", method: 0x420 };
    assert_eq!(cause(&after_bind(&[1 << 29 | 2 << 16 | 4 << 13 | (0x41C / 4), 1, 2])), (16, unknown));
    let host = DecodeCause::Method { class: "0xc86f", method: 0x10 };
    assert_eq!(cause(&[1 << 29 | 1 << 16 | 4, 0]), (4, host));
    let past_the_last = DecodeCause::Method { class: "0xc8b5", method: 0x3FFC };
    assert_eq!(cause(&after_bind(&[1 << 29 | 2 << 16 | 4 << 13 | 0xFFF, 1, 2])), (12, past_the_last));
    let stray = DecodeCause::DataBits { method: "OFFSET_IN_UPPER", bits: 1 << 25 };
    assert_eq!(cause(&after_bind(&[1 << 29 | 1 << 16 | 4 << 13 | 0x100, 1 << 25 | 1])), (12, stray));
}

#[test]
fn a_failed_decode_binds_nothing() {
    let mut decoder = Decoder::new();
    decoder.decode(&bytes(&after_bind(&[0]))).unwrap_err();
    assert_eq!(decoder, Decoder::new());
}

#[test]
fn packets_that_do_not_fit_their_header_are_refused() {
    let new = Packet::new;
    assert_eq!(new(Opcode::Incrementing, 8, 0, vec![]), Err(PacketError::Subchannel(8)));
    assert_eq!(new(Opcode::Incrementing, 0, 2, vec![]), Err(PacketError::Method(2)));
    assert_eq!(new(Opcode::Incrementing, 0, 0x4000, vec![]), Err(PacketError::Method(0x4000)));
    assert_eq!(new(Opcode::NonIncrementing, 0, 0, vec![0; 8192]), Err(PacketError::Count(8192)));
    assert_eq!(new(Opcode::Immediate, 0, 0, vec![0x2000]), Err(PacketError::Immediate));
    assert_eq!(new(Opcode::Immediate, 0, 0, vec![1, 2]), Err(PacketError::Immediate));
    assert!(new(Opcode::NonIncrementing, 7, 0x3FFC, vec![0; 8191]).is_ok());
}

fn any_packet() -> impl Strategy<Value = Packet> {
    let opcode = prop_oneof![
        Just(Opcode::Incrementing),
        Just(Opcode::NonIncrementing),
        Just(Opcode::Immediate),
        Just(Opcode::IncrementOnce)
    ];
    (opcode, 0u8..8, 0u16..0x1000, prop::collection::vec(any::<u32>(), 0..6)).prop_map(
        |(opcode, subchannel, method, data)| {
            let data = if opcode == Opcode::Immediate { vec![data.len() as u32] } else { data };
            Packet::new(opcode, subchannel, 4 * method, data).unwrap()
        },
    )
}

/// Writes that the decoder accepts.
fn known_writes() -> impl Strategy<Value = Vec<(u16, u32)>> {
    let one = (0..c8b5::METHODS.len(), any::<u32>()).prop_map(|(row, data)| {
        let method = &c8b5::METHODS[row];
        (method.offset, data & !method.reserved())
    });
    prop::collection::vec(one, 0..20)
}

proptest! {
    #[test]
    fn any_bytes_decode_or_fail_without_panic(stream in prop::collection::vec(any::<u8>(), 0..200)) {
        for mut decoder in [Decoder::new(), Decoder::bound()] {
            let _ = decoder.decode(&stream);
        }
    }

    #[test]
    fn headers_with_random_data_decode_or_fail_without_panic(packets in prop::collection::vec(any_packet(), 0..8),
                                                             cut in 0usize..64) {
        let mut stream = emit(&packets);
        stream.truncate(stream.len().saturating_sub(cut));
        let _ = Decoder::bound().decode(&stream);
    }

    #[test]
    fn packets_survive_the_wire(packets in prop::collection::vec(any_packet(), 0..8)) {
        let parsed: Vec<_> = parse(&emit(&packets)).unwrap().into_iter().map(|(_, packet)| packet).collect();
        prop_assert_eq!(parsed, packets);
    }

    #[test]
    fn whatever_parses_emits_the_same_words(mut words in prop::collection::vec(any::<u32>(), 0..24),
                                            opcodes in prop::collection::vec(0usize..4, 24)) {
        // Small counts and legal opcodes, so that most streams parse.
        for (word, opcode) in words.iter_mut().zip(opcodes) {
            *word = *word & 0x0001_EFFF | [1, 3, 4, 5][opcode] << 29;
        }
        let stream = bytes(&words);
        if let Ok(packets) = parse(&stream) {
            let packets: Vec<_> = packets.into_iter().map(|(_, packet)| packet).collect();
            prop_assert_eq!(emit(&packets), stream);
        }
    }

    #[test]
    fn known_writes_decode_to_themselves(expected in known_writes()) {
        let packets: Vec<_> = expected
            .iter()
            .map(|&(method, data)| Packet::new(Opcode::Incrementing, 4, method, vec![data]).unwrap())
            .collect();
        let writes = Decoder::bound().decode(&emit(&packets)).unwrap();
        let decoded: Vec<_> = writes.iter().map(|write| (write.method.offset, write.data)).collect();
        prop_assert_eq!(decoded, expected);
    }
}
