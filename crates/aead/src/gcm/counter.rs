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
