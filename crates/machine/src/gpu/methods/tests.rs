//! Words of each command, what is encoded decodes to itself, and each rule where it begins to hold.

use super::{table::METHODS, *};
use crate::stream::{Launch, LaunchKind, Semaphore};
use proptest::prelude::*;
use std::ops::Range;

const DEVICE: Range<u64> = 1 << 55..1 << 57;
const HOST: u64 = 0x12_3456_0000;
const SEMAPHORE: Semaphore = Semaphore { address: 0x40, value: 1 };

/// A launch of so many bytes as the driver makes them.
fn launch(kind: LaunchKind, bytes: u64) -> Launch {
    let end = |host| if host { HOST } else { DEVICE.start };
    let (source, destination) = (end(kind.reads_host()), end(kind.writes_host()));
    let (tag, iv) = (if kind.is_secure() { 0x100 } else { 0 }, if kind == LaunchKind::Seal { 0x200 } else { 0 });
    Launch { kind, source, destination, bytes, tag, iv, pipelined: false, flush: false }
}

/// What a fresh engine, with confidential computing on if asked for, makes of a launch.
fn decoded(launch: Launch, confidential: bool) -> Result<Vec<Command>, MethodError> {
    let words = encode(&[launch], SEMAPHORE).unwrap();
    let commands = Lce::new(confidential, DEVICE).decode(&words)?;
    Ok(commands.into_iter().map(|(_, command)| command).collect())
}

fn rule(launch: Launch) -> Option<Rule> {
    decoded(launch, launch.kind.is_secure()).err().map(|error| error.rule)
}

/// The rule that a push of these words breaks, after the registers of a plain copy of 64 bytes to the device were written.
fn word_rule(words: &[u32]) -> Option<Rule> {
    let mut lce = Lce::new(false, DEVICE);
    lce.decode(&encode(&[launch(LaunchKind::Fetch, 64)], SEMAPHORE).unwrap()).unwrap();
    lce.decode(words).err().map(|error| error.rule)
}

const fn header(count: u32, method: u32) -> u32 {
    1 << 29 | count << 16 | 4 << 13 | (method / 4)
}

#[test]
fn each_command_has_the_drivers_size() {
    let words = |launches: &[Launch]| encode(launches, SEMAPHORE).unwrap().len();
    let release = 6;
    assert_eq!(words(&[]), release);
    assert_eq!(words(&[launch(LaunchKind::Open, 4096)]), 14 + release);
    assert_eq!(words(&[launch(LaunchKind::Seal, 4096)]), 16 + release);
    for plain in [LaunchKind::Fetch, LaunchKind::Store, LaunchKind::Local] {
        assert_eq!(words(&[launch(plain, 8)]), 9 + release);
    }
    // 512 of them, in bytes: the driver's own arithmetic.
    assert_eq!(4 * (words(&[launch(LaunchKind::Open, 4096); 512]) - release), 28_672);
    assert_eq!(4 * (words(&[launch(LaunchKind::Seal, 4096); 512]) - release), 32_768);
}

#[test]
fn the_words_of_a_decryption_and_its_release_are_these() {
    let expected = [
        &[header(1, 0x500), 1][..],
        &[header(2, 0x514), 0, 0x100],
        &[header(4, 0x400), 0x12, 0x3456_0000, 1 << 23, 0],
        &[header(1, 0x418), 4096],
        &[header(1, 0x300), 0x0010_0186],
        &[header(3, 0x240), 0, 0x40, 1],
        &[header(1, 0x300), 0x8],
    ];
    let flushing = Launch { flush: true, ..launch(LaunchKind::Open, 4096) };
    assert_eq!(encode(&[flushing], SEMAPHORE).unwrap(), expected.concat());
}

#[test]
fn the_words_of_an_encryption_are_these() {
    let expected = [
        &[header(1, 0x500), 0][..],
        &[header(4, 0x530), 0, 0x100, 0, 0x200],
        &[header(4, 0x400), 1 << 23, 0, 0x12, 0x3456_0000],
        &[header(1, 0x418), 4096],
        &[header(1, 0x300), 0x0010_0181],
    ];
    let words = encode(&[Launch { pipelined: true, ..launch(LaunchKind::Seal, 4096) }], SEMAPHORE).unwrap();
    assert_eq!(words[..16], expected.concat());
}

#[test]
fn the_map_is_sorted_word_aligned_and_its_fields_do_not_overlap() {
    assert!(METHODS.windows(2).all(|pair| pair[0].offset < pair[1].offset));
    for method in METHODS {
        assert!(method.offset % 4 == 0, "{}", method.name);
        let bits: u32 = method.fields.iter().map(|field| field.high - field.low + 1).sum();
        assert_eq!(bits, method.reserved().count_zeros(), "{}", method.name);
    }
}

#[test]
fn values_that_do_not_fit_are_refused() {
    let wrong = |launch| encode(&[launch], SEMAPHORE).unwrap_err();
    let open = launch(LaunchKind::Open, 64);
    assert_eq!(wrong(Launch { bytes: 1 << 32, ..open }), EncodeError::LineLength(1 << 32));
    for far in [Launch { tag: 1 << 57, ..open }, Launch { source: 1 << 57, ..open }] {
        assert_eq!(wrong(far), EncodeError::Address(1 << 57));
    }
}

#[test]
fn above_32_bytes_both_ends_are_aligned_to_32() {
    let open = launch(LaunchKind::Open, 33);
    assert_eq!(rule(open), None);
    assert_eq!(rule(Launch { source: HOST + 16, ..open }), Some(Rule::DataAlignment));
    assert_eq!(rule(Launch { destination: DEVICE.start + 31, ..open }), Some(Rule::DataAlignment));
    let fetch = launch(LaunchKind::Fetch, 33);
    assert_eq!(rule(Launch { source: HOST + 1, destination: DEVICE.start + 3, ..fetch }), None);
}

#[test]
fn up_to_32_bytes_each_end_lies_in_one_sector() {
    let open = |from, to, bytes| {
        rule(Launch { source: HOST + from, destination: DEVICE.start + to, ..launch(LaunchKind::Open, bytes) })
    };
    assert_eq!(open(0, 0, 32), None);
    assert_eq!(open(1, 0, 32), Some(Rule::OneSector));
    assert_eq!(open(31, 29, 1), None);
    assert_eq!(open(29, 29, 3), None);
    assert_eq!(open(29, 30, 3), Some(Rule::OneSector));
}

#[test]
fn tag_and_iv_pointers_are_aligned_to_16() {
    let (open, seal) = (launch(LaunchKind::Open, 64), launch(LaunchKind::Seal, 64));
    assert_eq!(rule(Launch { tag: 0x48, ..seal }), Some(Rule::TagAlignment));
    assert_eq!(rule(Launch { iv: 0x4C, ..seal }), Some(Rule::IvAlignment));
    assert_eq!(rule(Launch { tag: 0x31, ..open }), Some(Rule::TagAlignment));
    // What the direction does not use does not matter.
    assert_eq!(rule(Launch { iv: 0x4C, ..open }), None);
}

#[test]
fn with_confidential_computing_plaintext_stays_where_it_is_protected() {
    for kind in [LaunchKind::Fetch, LaunchKind::Store] {
        assert!(decoded(launch(kind, 64), false).is_ok());
        assert_eq!(decoded(launch(kind, 64), true).unwrap_err().rule, Rule::MixedProtection);
    }
    assert!(decoded(launch(LaunchKind::Local, 64), true).is_ok());
    let (open, seal) = (launch(LaunchKind::Open, 64), launch(LaunchKind::Seal, 64));
    for wrong in [
        Launch { destination: HOST, ..open },
        Launch { source: DEVICE.start, ..open },
        Launch { tag: DEVICE.start, ..open },
        Launch { source: HOST, ..seal },
        Launch { destination: DEVICE.start, ..seal },
        Launch { iv: DEVICE.start, ..seal },
    ] {
        assert_eq!(rule(wrong), Some(Rule::SecureSides), "{wrong:?}");
    }
    for kind in [LaunchKind::Open, LaunchKind::Seal] {
        assert_eq!(decoded(launch(kind, 64), false).unwrap_err().rule, Rule::NotConfidential);
    }
}

#[test]
fn sizes_and_ranges_that_no_copy_has_are_refused() {
    let fetch = launch(LaunchKind::Fetch, 4096);
    for kind in [LaunchKind::Open, LaunchKind::Fetch] {
        assert_eq!(rule(launch(kind, 0)), Some(Rule::SizeZero));
    }
    assert_eq!(rule(Launch { destination: DEVICE.end - 4096, ..fetch }), None);
    assert_eq!(rule(Launch { destination: DEVICE.end - 4095, ..fetch }), Some(Rule::AddressRange));
    assert_eq!(rule(Launch { destination: HOST + 4096, ..fetch }), Some(Rule::Unmodelled));
    let unaligned = encode(&[], Semaphore { address: 0x42, ..SEMAPHORE }).unwrap();
    assert_eq!(word_rule(&unaligned), Some(Rule::SemaphoreAlignment));
}

#[test]
fn launches_that_no_run_drives_are_refused() {
    const PLAIN: u32 = 0x182;
    assert_eq!(word_rule(&[header(1, 0x300), PLAIN]), None);
    assert_eq!(word_rule(&[header(1, 0x300), 1 << 3]), None);
    let driven = [0_u32, 1, 2, 3, 4, 7, 8, 20, 21];
    for bit in (0..32).filter(|bit| !driven.contains(bit)) {
        assert_eq!(word_rule(&[header(1, 0x300), PLAIN | 1 << bit]), Some(Rule::Unmodelled), "{bit}");
    }
    for word in
        [PLAIN | 3, PLAIN | 1 << 3, PLAIN | 2 << 20, PLAIN | 3 << 20, PLAIN & !(1 << 7), PLAIN & !(1 << 8), 2 << 3, 0]
    {
        assert_eq!(word_rule(&[header(1, 0x300), word]), Some(Rule::Unmodelled), "{word:#x}");
    }
}

#[test]
fn headers_of_other_kinds_and_words_of_no_method_are_refused() {
    for other in [0_u32, 2, 3, 4, 5, 6, 7] {
        assert_eq!(word_rule(&[header(1, 0x418) & !(7 << 29) | other << 29, 64]), Some(Rule::Header), "{other}");
    }
    assert_eq!(word_rule(&[header(1, 0x418) | 1 << 12, 64]), Some(Rule::Header));
    assert_eq!(word_rule(&[header(1, 0x418) | 1 << 13, 64]), Some(Rule::Header));
    assert_eq!(word_rule(&[header(4, 0x400), 0]), Some(Rule::Header));
    for method in [0, 0x100, 0x41C, 0x3FFC] {
        assert_eq!(word_rule(&[header(1, method), 0]), Some(Rule::KnownMethod), "{method:#x}");
    }
    assert_eq!(word_rule(&[header(1, 0x400), 1 << 25]), Some(Rule::KnownMethod));
    assert_eq!(word_rule(&[header(0, 0x400)]), None);
}

#[test]
fn a_refusal_names_word_rule_and_where_the_rule_is_stated() {
    let wrong = Launch { source: HOST + 16, ..launch(LaunchKind::Open, 64) };
    let error = decoded(wrong, true).unwrap_err();
    assert_eq!((error.at, error.rule), (52, Rule::DataAlignment));
    let text = error.to_string();
    for part in
        ["at byte 52", "source of 64 bytes at 0x1234560010", "DataAlignment", "UVM_CONF_COMPUTING_BUF_ALIGNMENT"]
    {
        assert!(text.contains(part), "{text}");
    }
    let unwritten = Lce::new(true, DEVICE).decode(&[header(1, 0x300), 0x182]).unwrap_err();
    assert_eq!((unwritten.rule, &unwritten.found[..]), (Rule::Written, "OFFSET_IN_UPPER has not been written"));
    assert!(Rule::ALL.iter().all(|rule| !rule.statement().is_empty() && rule.stated_in().contains(':')));
}

/// Legal launches: sectors of 32 bytes, pointers of 16.
fn any_launch(secure: bool) -> impl Strategy<Value = Launch> {
    let kinds = if secure {
        vec![LaunchKind::Open, LaunchKind::Seal, LaunchKind::Local]
    } else {
        vec![LaunchKind::Fetch, LaunchKind::Store, LaunchKind::Local]
    };
    let parts =
        (prop::sample::select(kinds), 0_u64..1 << 45, 0_u64..1 << 45, 0_u64..1 << 45, 0_u64..1 << 45, 1..=u32::MAX);
    (parts, any::<bool>(), any::<bool>()).prop_map(|((kind, source, destination, tag, iv, bytes), pipelined, flush)| {
        let usual = launch(kind, bytes.into());
        Launch {
            source: (usual.source & DEVICE.start) + 32 * source,
            destination: (usual.destination & DEVICE.start) + 32 * destination,
            tag: if usual.tag == 0 { 0 } else { 16 * tag },
            iv: if usual.iv == 0 { 0 } else { 16 * iv },
            pipelined,
            flush,
            ..usual
        }
    })
}

proptest! {
    #[test]
    fn a_push_decodes_to_itself(secure in any::<bool>(), seeds in prop::collection::vec((any_launch(true), any_launch(false)), 0..6),
                                address in (0_u64..1 << 54).prop_map(|address| 4 * address), value in any::<u32>()) {
        let launches: Vec<_> = seeds.into_iter().map(|(sealed, plain)| if secure { sealed } else { plain }).collect();
        let semaphore = Semaphore { address, value };
        let mut lce = Lce::new(secure, DEVICE);
        // Registers live on from push to push.
        for _ in 0..2 {
            let commands = lce.decode(&encode(&launches, semaphore).unwrap()).unwrap();
            let commands: Vec<_> = commands.into_iter().map(|(_, command)| command).collect();
            let expected = launches.iter().copied().map(Command::Launch).chain([Command::Release(semaphore)]);
            prop_assert_eq!(commands, expected.collect::<Vec<_>>());
        }
    }

    #[test]
    fn any_words_decode_or_fail_without_panic(words in prop::collection::vec(any::<u32>(), 0..60), confidential in any::<bool>()) {
        let _ = Lce::new(confidential, DEVICE).decode(&words);
    }

    #[test]
    fn a_damaged_push_is_decoded_or_refused_without_panic(launches in prop::collection::vec(any_launch(true), 1..4),
                                                          flips in prop::collection::vec((any::<usize>(), 0_u8..32), 1..8)) {
        let mut words = encode(&launches, SEMAPHORE).unwrap();
        for (at, bit) in flips {
            let at = at % words.len();
            words[at] ^= 1 << bit;
        }
        let _ = Lce::new(true, DEVICE).decode(&words);
    }

    #[test]
    fn an_accepted_secure_launch_obeys_the_published_limits(source in 0_u64..0x80, destination in 0_u64..0x80,
                                                            tag in (0_u64..8).prop_map(|tag| tag * 8), bytes in 0_u64..0x60) {
        let sectors = |at: u64| at / 32 == (at + bytes.max(1) - 1) / 32;
        let data = if bytes > 32 { source % 32 == 0 && destination % 32 == 0 } else { sectors(source) && sectors(destination) };
        let open = Launch { source: HOST + source, destination: DEVICE.start + destination, tag, ..launch(LaunchKind::Open, bytes) };
        prop_assert_eq!(rule(open).is_none(), bytes > 0 && data && tag % 16 == 0);
    }
}
