//! Each rule on both sides of its edge.

use super::*;
use crate::gpu::method::c8b5;
use proptest::prelude::*;

const FB: Aperture = Aperture::LocalFb;
const SYSMEM: Aperture = Aperture::CoherentSysmem;

/// LAUNCH_DMA: non-pipelined, pitch to pitch, virtual; plus `COPY_TYPE` SECURE.
const PLAIN: u32 = 2 | 1 << 7 | 1 << 8;
const SECURE: u32 = PLAIN | 1 << 20;
const SOURCE_PHYSICAL: u32 = 1 << 12;
const DESTINATION_PHYSICAL: u32 = 1 << 13;
const FLUSH: u32 = 1 << 2;
const RELEASE: u32 = 1 << 3;

/// An engine with every register written to something legal; then `writes` on top.
fn engine(confidential: bool, writes: &[(u16, u32)]) -> Lce {
    let mut lce = Lce::new(confidential);
    let legal = [
        (c8b5::OFFSET_IN_UPPER::OFFSET, 1),
        (c8b5::OFFSET_IN_LOWER::OFFSET, 0x1000),
        (c8b5::OFFSET_OUT_UPPER::OFFSET, 2),
        (c8b5::OFFSET_OUT_LOWER::OFFSET, 0x2000),
        (c8b5::LINE_LENGTH_IN::OFFSET, 4096),
        (c8b5::SET_SECURE_COPY_MODE::OFFSET, 1),
        (c8b5::SET_DECRYPT_AUTH_TAG_COMPARE_ADDR_UPPER::OFFSET, 3),
        (c8b5::SET_DECRYPT_AUTH_TAG_COMPARE_ADDR_LOWER::OFFSET, 0x30),
        (c8b5::SET_ENCRYPT_AUTH_TAG_ADDR_UPPER::OFFSET, 4),
        (c8b5::SET_ENCRYPT_AUTH_TAG_ADDR_LOWER::OFFSET, 0x40),
        (c8b5::SET_ENCRYPT_IV_ADDR_UPPER::OFFSET, 5),
        (c8b5::SET_ENCRYPT_IV_ADDR_LOWER::OFFSET, 0x50),
        (c8b5::SET_SEMAPHORE_A::OFFSET, 6),
        (c8b5::SET_SEMAPHORE_B::OFFSET, 0x60),
        (c8b5::SET_SEMAPHORE_PAYLOAD::OFFSET, 7),
        (c8b5::SET_SEMAPHORE_PAYLOAD_UPPER::OFFSET, 8),
        (c8b5::SET_SRC_PHYS_MODE::OFFSET, 1),
        (c8b5::SET_DST_PHYS_MODE::OFFSET, 0),
        (c8b5::LINE_COUNT::OFFSET, 3),
        (c8b5::PITCH_IN::OFFSET, 8192),
        (c8b5::PITCH_OUT::OFFSET, 4096),
        (c8b5::SET_REMAP_CONST_A::OFFSET, 0x1111_2222),
        (c8b5::SET_REMAP_CONST_B::OFFSET, 0x3333_4444),
        (c8b5::SET_REMAP_COMPONENTS::OFFSET, 5 | 3 << 16),
    ];
    for &(method, data) in legal.iter().chain(writes) {
        assert_eq!(lce.write(method, data, &by_aperture), Ok(None));
    }
    lce
}

fn launch(writes: &[(u16, u32)], word: u32) -> Result<Launch, LaunchError> {
    engine(true, writes).write(c8b5::LAUNCH_DMA::OFFSET, word, &by_aperture).map(Option::unwrap)
}

fn rule(writes: &[(u16, u32)], word: u32) -> Option<Rule> {
    launch(writes, word).err().map(|error| error.rule)
}

fn ends(source: u32, destination: u32, bytes: u32) -> [(u16, u32); 3] {
    [
        (c8b5::OFFSET_IN_LOWER::OFFSET, source),
        (c8b5::OFFSET_OUT_LOWER::OFFSET, destination),
        (c8b5::LINE_LENGTH_IN::OFFSET, bytes),
    ]
}

const ENCRYPT: (u16, u32) = (c8b5::SET_SECURE_COPY_MODE::OFFSET, 0);

#[test]
fn a_decryption_takes_its_tag_from_the_sources_space() {
    let word = SECURE | SOURCE_PHYSICAL | DESTINATION_PHYSICAL;
    let transfer = launch(&[], word).unwrap().transfer.unwrap();
    assert_eq!(transfer.source(), Some(Location::phys(SYSMEM, 0x1_0000_1000)));
    assert_eq!(transfer.destination, Location::phys(FB, 0x2_0000_2000));
    assert_eq!(transfer.tag(), Some(Location::phys(SYSMEM, 0x3_0000_0030)));
    assert_eq!((transfer.iv(), transfer.bytes(), transfer.order), (None, 4096, Order::NonPipelined));
}

#[test]
fn an_encryption_puts_tag_and_iv_into_the_destinations_space() {
    let modes = [(c8b5::SET_SRC_PHYS_MODE::OFFSET, 0), (c8b5::SET_DST_PHYS_MODE::OFFSET, 2), ENCRYPT];
    let word = SECURE | SOURCE_PHYSICAL | DESTINATION_PHYSICAL;
    let transfer = launch(&modes, word).unwrap().transfer.unwrap();
    assert_eq!(transfer.tag(), Some(Location::phys(Aperture::NonCoherentSysmem, 0x4_0000_0040)));
    assert_eq!(transfer.iv(), Some(Location::phys(Aperture::NonCoherentSysmem, 0x5_0000_0050)));
    assert_eq!(launch(&[ENCRYPT], SECURE).unwrap().transfer.unwrap().tag(), Some(Location::virt(0x4_0000_0040)));
}

#[test]
fn copy_flush_and_semaphore_may_share_a_launch() {
    let all = launch(&[], SECURE | FLUSH | RELEASE).unwrap();
    assert!(all.transfer.unwrap().is_secure());
    assert_eq!(all.flush, Some(Flush::Sys));
    let semaphore = all.semaphore.unwrap();
    assert_eq!((semaphore.address, semaphore.payload, semaphore.bytes()), (0x6_0000_0060, 7, 4));
    assert_eq!(launch(&[], SECURE | FLUSH | 1 << 25).unwrap().flush, Some(Flush::Gl));
    assert_eq!(launch(&[], SECURE | 1 << 25).unwrap().flush, None);
}

#[test]
fn a_launch_without_transfer_only_releases_its_semaphore() {
    let mut lce = Lce::new(true);
    for (method, data) in [(0x240, 0), (0x244, 0x10), (0x248, 9)] {
        lce.write(method, data, &by_aperture).unwrap();
    }
    let launch = lce.write(0x300, RELEASE, &by_aperture).unwrap().unwrap();
    assert_eq!((launch.transfer, launch.semaphore.unwrap().payload), (None, 9));
    // The copy type means nothing without a transfer.
    assert!(lce.write(0x300, RELEASE | 1 << 20, &by_aperture).unwrap().unwrap().transfer.is_none());
}

#[test]
fn a_four_word_release_has_16_bytes_and_a_wide_payload_8() {
    let four = launch(&[], 2 << 3).unwrap().semaphore.unwrap();
    assert_eq!((four.timestamp, four.bytes(), four.payload), (true, 16, 7));
    let wide = launch(&[], RELEASE | 1 << 27).unwrap().semaphore.unwrap();
    assert_eq!((wide.wide, wide.bytes(), wide.payload), (true, 8, 0x8_0000_0007));
}

#[test]
fn above_32_bytes_both_ends_are_aligned_to_32() {
    assert_eq!(rule(&ends(0x1000, 0x2000, 33), SECURE), None);
    assert_eq!(rule(&ends(0x1010, 0x2000, 33), SECURE), Some(Rule::DataAlignment));
    assert_eq!(rule(&ends(0x1000, 0x201F, 33), SECURE), Some(Rule::DataAlignment));
    assert_eq!(rule(&ends(0x1001, 0x2003, 33), PLAIN), None);
}

#[test]
fn up_to_32_bytes_each_end_lies_in_one_sector() {
    assert_eq!(rule(&ends(0x1000, 0x2000, 32), SECURE), None);
    assert_eq!(rule(&ends(0x1001, 0x2000, 32), SECURE), Some(Rule::OneSector));
    assert_eq!(rule(&ends(0x101F, 0x201D, 1), SECURE), None);
    assert_eq!(rule(&ends(0x101D, 0x201D, 3), SECURE), None);
    assert_eq!(rule(&ends(0x101D, 0x201E, 3), SECURE), Some(Rule::OneSector));
}

#[test]
fn tag_and_iv_pointers_are_aligned_to_16() {
    let (tag, iv) = (c8b5::SET_ENCRYPT_AUTH_TAG_ADDR_LOWER::OFFSET, c8b5::SET_ENCRYPT_IV_ADDR_LOWER::OFFSET);
    let expected = c8b5::SET_DECRYPT_AUTH_TAG_COMPARE_ADDR_LOWER::OFFSET;
    assert_eq!(rule(&[ENCRYPT, (tag, 0x48)], SECURE), Some(Rule::TagAlignment));
    assert_eq!(rule(&[ENCRYPT, (iv, 0x4C)], SECURE), Some(Rule::IvAlignment));
    assert_eq!(rule(&[(expected, 0x31)], SECURE), Some(Rule::TagAlignment));
    // What the direction does not use does not matter.
    assert_eq!(rule(&[(tag, 0x48), (iv, 0x4C)], SECURE), None);
}

#[test]
fn physical_secure_copies_cross_the_link_in_their_direction() {
    let both = SECURE | SOURCE_PHYSICAL | DESTINATION_PHYSICAL;
    let modes = |from, to| [(c8b5::SET_SRC_PHYS_MODE::OFFSET, from), (c8b5::SET_DST_PHYS_MODE::OFFSET, to)];
    for (from, to, broken) in [(2, 0, false), (0, 0, true), (1, 1, true), (0, 1, true)] {
        assert_eq!(rule(&modes(from, to), both), broken.then_some(Rule::DecryptAperture), "{from} {to}");
    }
    for (from, to, broken) in [(0, 1, false), (0, 0, true), (1, 0, true)] {
        let writes = [&modes(from, to)[..], &[ENCRYPT]].concat();
        assert_eq!(rule(&writes, both), broken.then_some(Rule::EncryptAperture), "{from} {to}");
    }
    assert_eq!(rule(&modes(3, 0), both), Some(Rule::PeerMemory));
}

#[test]
fn with_confidential_computing_a_physical_plain_copy_stays_in_vidmem() {
    let both = PLAIN | SOURCE_PHYSICAL | DESTINATION_PHYSICAL;
    assert_eq!(rule(&[], both), Some(Rule::PlainAperture));
    assert_eq!(rule(&[(c8b5::SET_SRC_PHYS_MODE::OFFSET, 0)], both), None);
    let open = engine(false, &[]).write(c8b5::LAUNCH_DMA::OFFSET, both, &by_aperture).unwrap();
    assert!(open.unwrap().transfer.is_some());
}

/// Virtual addresses from 2^33 on are protected.
fn halves(at: Location) -> Option<Side> {
    Some(if at.address < 1 << 33 { Side::Unprotected } else { Side::Protected })
}

#[test]
fn a_plain_copy_does_not_cross_the_protection_boundary() {
    let plain = |upper_in: u32, upper_out: u32, word: u32| {
        let writes = [(c8b5::OFFSET_IN_UPPER::OFFSET, upper_in), (c8b5::OFFSET_OUT_UPPER::OFFSET, upper_out)];
        let result = engine(true, &writes).write(c8b5::LAUNCH_DMA::OFFSET, word, &halves);
        result.err().map(|error| error.rule)
    };
    let unprotected = PLAIN | 2 << 20;
    assert_eq!(plain(2, 3, PLAIN), None);
    assert_eq!(plain(0, 1, unprotected), None);
    assert_eq!(plain(1, 2, PLAIN), Some(Rule::MixedProtection));
    assert_eq!(plain(2, 1, unprotected), Some(Rule::MixedProtection));
    assert_eq!(plain(2, 3, unprotected), Some(Rule::CopyType));
    assert_eq!(plain(0, 1, PLAIN), Some(Rule::CopyType));
}

#[test]
fn plaintext_is_never_written_to_unprotected_memory() {
    let secure = |writes: &[(u16, u32)], sides: &Protection| {
        let result = engine(true, writes).write(c8b5::LAUNCH_DMA::OFFSET, SECURE, sides);
        result.err().map(|error| error.rule)
    };
    let open = |_: Location| Some(Side::Unprotected);
    assert_eq!(secure(&[], &open), Some(Rule::SecureSides));
    assert_eq!(secure(&[ENCRYPT], &open), Some(Rule::SecureSides));
    let tag_outside = [(c8b5::SET_DECRYPT_AUTH_TAG_COMPARE_ADDR_UPPER::OFFSET, 1)];
    assert_eq!(secure(&tag_outside, &halves), None);
    assert_eq!(secure(&[], &halves), Some(Rule::SecureSides), "the tag lies inside");
}

#[test]
fn secure_copies_need_confidential_computing() {
    let error = engine(false, &[]).write(c8b5::LAUNCH_DMA::OFFSET, SECURE, &by_aperture).unwrap_err();
    assert_eq!(error.rule, Rule::NotConfidential);
}

#[test]
fn secure_copies_of_unstated_shape_are_refused() {
    for bits in [1 << 9, 1 << 10] {
        assert_eq!(rule(&[], SECURE | bits), Some(Rule::SecureShape));
    }
    for layout in [1 << 7, 1 << 8] {
        assert_eq!(rule(&[], SECURE & !layout), Some(Rule::SecureShape));
        assert_eq!(rule(&[], PLAIN & !layout), Some(Rule::Unmodelled));
    }
}

#[test]
fn size_zero_and_ranges_past_57_bits_are_refused() {
    for word in [SECURE, PLAIN] {
        assert_eq!(rule(&ends(0x1000, 0x2000, 0), word), Some(Rule::SizeZero));
    }
    let top = [(c8b5::OFFSET_OUT_UPPER::OFFSET, 0x1FF_FFFF), (c8b5::OFFSET_OUT_LOWER::OFFSET, 0xFFFF_F000)];
    assert_eq!(rule(&top, SECURE), None);
    assert_eq!(rule(&[&top[..], &[(c8b5::LINE_LENGTH_IN::OFFSET, 4097)]].concat(), SECURE), Some(Rule::AddressRange));
}

#[test]
fn reserved_values_are_refused() {
    for word in [PLAIN | 3 << 20, PLAIN | 3, PLAIN | 3 << 5, PLAIN | 1 << 24, PLAIN | 1 << 31] {
        assert_eq!(rule(&[], word), Some(Rule::ReservedValue), "{word:#x}");
    }
    assert_eq!(rule(&[], RELEASE | 1 << 19 | 8 << 14), Some(Rule::ReservedValue));
    assert_eq!(rule(&[], RELEASE | 1 << 19 | 0xA << 14), Some(Rule::Unmodelled));
    assert_eq!(rule(&[], 3 << 3), Some(Rule::Unmodelled));
    assert_eq!(rule(&[(c8b5::SET_RENDER_ENABLE_C::OFFSET, 1)], PLAIN), None);
    assert_eq!(rule(&[(c8b5::SET_RENDER_ENABLE_C::OFFSET, 2)], PLAIN), Some(Rule::Unmodelled));
    assert_eq!(Lce::new(true).write(0x420, 0, &by_aperture).unwrap_err().rule, Rule::KnownMethod);
    assert_eq!(Lce::new(true).write(0x400, 1 << 25, &by_aperture).unwrap_err().rule, Rule::KnownMethod);
}

#[test]
fn an_unwritten_register_is_named() {
    let error = Lce::new(true).write(c8b5::LAUNCH_DMA::OFFSET, SECURE, &by_aperture).unwrap_err();
    assert_eq!(error.rule, Rule::Written);
    assert!(error.to_string().contains("OFFSET_OUT_UPPER has not been written"), "{error}");
}

#[test]
fn several_lines_multiply_the_bytes() {
    let transfer = launch(&[], PLAIN | 1 << 9).unwrap().transfer.unwrap();
    assert_eq!(transfer.lines, Some(Lines { count: 3, pitch_in: 8192, pitch_out: 4096 }));
    assert_eq!(transfer.bytes(), 3 * 4096);
    assert_eq!(rule(&[(c8b5::LINE_COUNT::OFFSET, 0)], PLAIN | 1 << 9), Some(Rule::SizeZero));
}

#[test]
fn a_remap_of_constants_is_a_fill_and_any_other_is_unmodelled() {
    let fill = |components| {
        let writes = [(c8b5::SET_REMAP_COMPONENTS::OFFSET, components), (c8b5::LINE_LENGTH_IN::OFFSET, 4)];
        launch(&writes, PLAIN | 1 << 10).map(|launch| {
            let transfer = launch.transfer.unwrap();
            let Operation::Fill { pattern, .. } = transfer.operation else { panic!("{transfer:?}") };
            (pattern, transfer.bytes())
        })
    };
    assert_eq!(fill(5), Ok((Pattern::B1(0x44), 4)));
    assert_eq!(fill(5 | 1 << 16), Ok((Pattern::B2(0x4444), 8)));
    assert_eq!(fill(4 | 3 << 16), Ok((Pattern::B4(0x1111_2222), 16)));
    assert_eq!(fill(4 | 5 << 4 | 3 << 16 | 1 << 24), Ok((Pattern::B8(0x3333_4444_1111_2222), 32)));
    assert_eq!(Pattern::B8(0x3333_4444_1111_2222).byte(12), 0x44);
    for unmodelled in [3 << 16, 6 | 3 << 16, 5 | 2 << 16, 5 | 5 << 4 | 1 << 24] {
        assert_eq!(fill(unmodelled).unwrap_err().rule, Rule::Unmodelled, "{unmodelled:#x}");
    }
}

#[test]
fn a_fill_names_the_side_it_writes_to() {
    let fill = |word: u32, side: Side| {
        engine(true, &[]).write(c8b5::LAUNCH_DMA::OFFSET, word | 1 << 10, &move |_| Some(side)).is_ok()
    };
    assert!(fill(PLAIN, Side::Protected) && !fill(PLAIN, Side::Unprotected));
    assert!(fill(PLAIN | 2 << 20, Side::Unprotected) && !fill(PLAIN | 2 << 20, Side::Protected));
}

#[test]
fn reductions_combine_old_value_and_payload() {
    let next = |code: u32, unsigned: u32, old| {
        let word = RELEASE | 1 << 19 | code << 14 | unsigned << 18;
        launch(&[], word).unwrap().semaphore.unwrap().next(old)
    };
    let minus_one = u64::from(u32::MAX);
    assert_eq!((next(0, 1, 3), next(0, 1, minus_one), next(0, 0, minus_one)), (3, 7, minus_one));
    assert_eq!((next(1, 1, 3), next(1, 1, minus_one), next(1, 0, minus_one)), (7, minus_one, 7));
    assert_eq!((next(2, 1, 5), next(3, 1, 5), next(4, 1, 8)), (2, 5, 15));
    assert_eq!(next(5, 1, minus_one), 6, "the sum wraps in 4 bytes");
    assert_eq!((next(6, 1, 6), next(6, 1, 7)), (7, 0));
    assert_eq!((next(7, 1, 0), next(7, 1, 7), next(7, 1, 8)), (7, 6, 7));
    assert_eq!(launch(&[], RELEASE).unwrap().semaphore.unwrap().next(99), 7);
}

#[test]
fn a_semaphore_is_aligned_to_its_size() {
    let at = |lower| [(c8b5::SET_SEMAPHORE_B::OFFSET, lower)];
    assert_eq!(rule(&at(0x64), RELEASE), None);
    assert_eq!(rule(&at(0x62), RELEASE), Some(Rule::SemaphoreAlignment));
    assert_eq!(rule(&at(0x64), RELEASE | 1 << 27), Some(Rule::SemaphoreAlignment));
    assert_eq!(rule(&at(0x68), 2 << 3), Some(Rule::SemaphoreAlignment));
}

#[test]
fn every_refusal_names_its_rule_and_where_the_rule_is_stated() {
    let text = launch(&ends(0x1010, 0x2000, 64), SECURE).unwrap_err().to_string();
    for part in ["source of 64 bytes at 0x100001010", "DataAlignment", "UVM_CONF_COMPUTING_BUF_ALIGNMENT"] {
        assert!(text.contains(part), "{text}");
    }
    assert!(Rule::ALL.iter().all(|rule| !rule.statement().is_empty() && rule.stated_in().contains(':')));
}

proptest! {
    #[test]
    fn any_methods_are_taken_or_refused_without_panic(writes in prop::collection::vec((any::<u16>(), any::<u32>()), 0..40),
                                                      words in prop::collection::vec(any::<u32>(), 1..20)) {
        for confidential in [false, true] {
            let mut lce = engine(confidential, &[]);
            for (method, data) in &writes {
                let row = &c8b5::METHODS[usize::from(*method) % c8b5::METHODS.len()];
                let _ = lce.write(row.offset, data & !row.reserved(), &halves);
            }
            for word in &words {
                let _ = lce.write(c8b5::LAUNCH_DMA::OFFSET, *word, &halves);
                let _ = lce.write(c8b5::LAUNCH_DMA::OFFSET, word & 0x0830_07FF, &|_| None);
            }
        }
    }

    #[test]
    fn an_accepted_secure_launch_obeys_the_published_limits(source in 0u32..0x80, destination in 0u32..0x80,
                                                            tag in (0u32..8).prop_map(|tag| tag * 8), bytes in 0u32..0x60) {
        let writes = [&ends(source, destination, bytes)[..],
                      &[(c8b5::SET_DECRYPT_AUTH_TAG_COMPARE_ADDR_LOWER::OFFSET, tag)]].concat();
        let sectors = |at: u32| at / 32 == (at + bytes.max(1) - 1) / 32;
        let data = if bytes > 32 { source % 32 == 0 && destination % 32 == 0 } else { sectors(source) && sectors(destination) };
        prop_assert_eq!(launch(&writes, SECURE).is_ok(), bytes > 0 && data && tag % 16 == 0);
    }
}
