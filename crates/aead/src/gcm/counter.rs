//! Counter blocks (SP 800-38D, sections 6.2 and 7.1).

use super::field::Element;

/// J0 of a 96-bit IV: the IV and a 32-bit counter of 1.
pub fn j0_of_96_bits(iv: &[u8; 12]) -> [u8; 16] {
    let mut block = [0; 16];
    block[..12].copy_from_slice(iv);
    block[15] = 1;
    block
}

/// The block `steps` after `block`: the last 32 bits count modulo 2^32, the others stay.
pub const fn advanced(block: [u8; 16], steps: u32) -> [u8; 16] {
    let value = u128::from_be_bytes(block);
    let counter = (value as u32).wrapping_add(steps);
    ((value & !0xffff_ffff) | counter as u128).to_be_bytes()
}

/// The counter block of AES block `block` of a message with so many masks. Masks come first: of chain i the block i steps
/// before J0, where no text of up to 2^32 blocks less the chains has its counters. Then the text, from the block after J0 on.
pub const fn of_block(j0: [u8; 16], block: u64, masks: u64) -> [u8; 16] {
    if block < masks { advanced(j0, (block as u32).wrapping_neg()) } else { advanced(j0, (block - masks + 1) as u32) }
}

/// The length block that ends GHASH: both lengths in bits.
pub const fn length_block(aad_bytes: u64, text_bytes: u64) -> Element {
    Element(((aad_bytes.wrapping_mul(8) as u128) << 64) | text_bytes.wrapping_mul(8) as u128)
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
