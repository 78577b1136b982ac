//! The three CRCs of a PCIe link.
//!
//! | CRC | polynomial | over | sent |
//! | --- | --- | --- | --- |
//! | LCRC | 04C11DB7, reflected, preset and complemented | four zero bits, 12-bit sequence number, whole TLP | little endian |
//! | ECRC | same | TLP without local prefixes and digest, variant bits set | little endian |
//! | DLLP | 100B, reflected, preset and complemented | the four bytes of the DLLP | little endian |

use crc32fast::Hasher;

/// LCRC of a TLP in pieces, as its four bytes are sent. `header` starts with the prefixes, if there are any.
/// The upper four bits of `sequence` are dropped.
pub fn lcrc(sequence: u16, header: &[u8], payload: &[u8], digest: Option<[u8; 4]>) -> [u8; 4] {
    let mut head = [0u8; 18];
    let mut hasher = Hasher::new();
    head[..2].copy_from_slice(&(sequence & 0xfff).to_be_bytes());
    // One update over sequence number and header spares a call on the path that runs once per TLP.
    if let Some(room) = head.get_mut(2..2 + header.len()) {
        room.copy_from_slice(header);
        hasher.update(&head[..2 + header.len()]);
    } else {
        hasher.update(&head[..2]);
        hasher.update(header);
    }
    hasher.update(payload);
    if let Some(digest) = digest {
        hasher.update(&digest);
    }
    hasher.finalize().to_le_bytes()
}

/// The CRC-32 of some bytes alone, little endian.
pub fn plain(bytes: &[u8]) -> [u8; 4] {
    crc32fast::hash(bytes).to_le_bytes()
}

/// The LCRC that a nullified TLP carries.
pub fn inverted(lcrc: [u8; 4]) -> [u8; 4] {
    lcrc.map(|byte| !byte)
}

/// ECRC of a TLP, as its four bytes are sent. The variant bits (Type\[0\] and EP) count as ones, so that a switch may
/// change them. `prefixes` are the end-to-end prefixes; local ones are not covered.
pub fn ecrc(prefixes: &[u8], header: &[u8], payload: &[u8]) -> [u8; 4] {
    let mut hasher = Hasher::new();
    hasher.update(prefixes);
    let (start, rest) = header.split_at(header.len().min(4));
    let mut first = [0u8; 4];
    first[..start.len()].copy_from_slice(start);
    first[0] |= 0x01;
    first[2] |= 0x40;
    hasher.update(&first[..start.len()]);
    hasher.update(rest);
    hasher.update(payload);
    hasher.finalize().to_le_bytes()
}

const DLLP_TABLE: [u16; 256] = dllp_table();

const fn dllp_table() -> [u16; 256] {
    const REFLECTED: u16 = 0xd008;
    let mut table = [0; 256];
    let mut index = 0;
    while index < 256 {
        let mut value = index as u16;
        let mut bit = 0;
        while bit < 8 {
            value = if value & 1 == 1 { value >> 1 ^ REFLECTED } else { value >> 1 };
            bit += 1;
        }
        table[index] = value;
        index += 1;
    }
    table
}

/// CRC-16 of the four bytes of a DLLP, as its two bytes are sent.
pub fn dllp(bytes: [u8; 4]) -> [u8; 2] {
    let crc = bytes.iter().fold(0xffff_u16, |crc, &byte| crc >> 8 ^ DLLP_TABLE[usize::from(crc as u8 ^ byte)]);
    (!crc).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The definition, a bit at a time.
    fn crc32_by_bits(bytes: &[u8]) -> u32 {
        let mut crc = u32::MAX;
        for &byte in bytes {
            crc ^= u32::from(byte);
            for _ in 0..8 {
                crc = if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
            }
        }
        !crc
    }

    proptest! {
        #[test]
        fn lcrc_in_pieces_is_the_crc_of_the_whole(
            sequence in 0u16..4096,
            tlp in prop::collection::vec(any::<u8>(), 0..400),
            cut in 0usize..400,
            digest in any::<Option<[u8; 4]>>(),
        ) {
            let (header, payload) = tlp.split_at(cut.min(tlp.len()));
            let mut whole = sequence.to_be_bytes().to_vec();
            whole.extend(&tlp);
            whole.extend(digest.iter().flatten());
            prop_assert_eq!(lcrc(sequence, header, payload, digest), crc32_by_bits(&whole).to_le_bytes());
        }

        #[test]
        fn ecrc_does_not_see_the_variant_bits(header in any::<[u8; 16]>(), payload in any::<[u8; 8]>()) {
            let mut changed = header;
            changed[0] ^= 1;
            changed[2] ^= 0x40;
            prop_assert_eq!(ecrc(&[], &header, &payload), ecrc(&[], &changed, &payload));
            changed[1] ^= 1;
            prop_assert_ne!(ecrc(&[], &header, &payload), ecrc(&[], &changed, &payload));
        }

        #[test]
        fn ecrc_of_any_bytes_does_not_panic(header in prop::collection::vec(any::<u8>(), 0..9)) {
            let _ = ecrc(&[], &header, &[]);
        }
    }
}
