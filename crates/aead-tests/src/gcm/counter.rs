use sealsim_aead::gcm::counter::*;
#[test]
fn the_counter_wraps_within_its_32_bits() {
    let block = [0xff; 16];
    let mut wrapped = [0xff; 16];
    wrapped[12..].copy_from_slice(&[0, 0, 0, 1]);
    assert_eq!(advanced(block, 2), wrapped);
    assert_eq!(advanced(wrapped, 0), wrapped);
}

#[test]
fn masks_count_back_from_j0_and_text_counts_on() {
    let j0 = j0_of_96_bits(&[7; 12]);
    let counters = |masks| (0..5).map(move |block| u128::from_be_bytes(of_block(j0, block, masks)) as u32);
    assert_eq!(counters(1).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    assert_eq!(counters(3).collect::<Vec<_>>(), [1, 0, !0, 2, 3]);
    assert_eq!(of_block(j0, 2, 3)[..12], [7; 12]);
}

#[test]
fn the_first_text_block_of_a_96_bit_iv_counts_two() {
    assert_eq!(advanced(j0_of_96_bits(&[7; 12]), 1)[12..], [0, 0, 0, 2]);
}

#[test]
fn lengths_are_written_in_bits() {
    assert_eq!(length_block(1, 3).to_bytes(), [0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 24]);
}
