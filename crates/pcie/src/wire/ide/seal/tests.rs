use super::*;
use crate::{
    split::Request,
    wire::tlp::{Attributes, MemoryOp, TlpRepr},
};
use proptest::prelude::*;
use ring::aead;

const RAW_KEY: [u8; 32] = *b"thirty-two bytes make an AES key";

fn protection(sub_stream: SubStream, pcrc: bool) -> Protection {
    Protection { key: Key::new(&RAW_KEY).unwrap(), stream: 9, sub_stream, pcrc }
}

fn data(bytes: usize, seed: u64) -> Vec<u8> {
    (0..bytes as u64).map(|n| ((n ^ seed).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8).collect()
}

/// Header and data of a write of whole DW to an address above 4 GiB.
fn write(bytes: usize, seed: u64) -> (Vec<u8>, Vec<u8>) {
    let request = Request { address: (1 << 40) + (seed % 256) * 4096, bytes: bytes as u32 };
    let repr = TlpRepr::memory(MemoryOp::Write, request, 0x100, 0, Attributes::default());
    (repr.emit().to_vec(), data(bytes, seed))
}

fn read(bytes: u32) -> (Vec<u8>, Vec<u8>) {
    let request = Request { address: 1 << 40, bytes };
    (TlpRepr::memory(MemoryOp::Read, request, 0x100, 77, Attributes::default()).emit().to_vec(), Vec::new())
}

fn completion(bytes: usize) -> (Vec<u8>, Vec<u8>) {
    let dw = bytes / 4;
    let header = [0x4a, 0, (dw >> 8) as u8, dw as u8, 0, 0, (bytes >> 8) as u8, bytes as u8, 1, 0, 7, 0];
    (header.to_vec(), data(bytes, 1))
}

fn seal(sealer: &mut Sealer, tlps: &[(Vec<u8>, Vec<u8>)]) -> Vec<Vec<u8>> {
    let count = tlps.len();
    tlps.iter().enumerate().map(|(n, (head, data))| sealer.seal(head, data, 0, n + 1 == count)).collect()
}

fn sizes() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec((1usize..=64).prop_map(|dw| dw * 4), 1..=8)
}

proptest! {
    #[test]
    fn the_bytes_are_those_of_another_aes_gcm(
        sizes in sizes(), seed: u64, with_pcrc: bool, counter in 1u64.., number in 0usize..3,
    ) {
        let tlps: Vec<_> = sizes.iter().map(|&bytes| write(bytes, seed)).collect();
        let sub_stream = SubStream::ALL[number];
        let sealed = seal(&mut Sealer::new(protection(sub_stream, with_pcrc), counter), &tlps);
        let mut text: Vec<u8> = tlps.iter().flat_map(|(_, data)| data.clone()).collect();
        if with_pcrc {
            text.extend(crc32fast::hash(&text).to_le_bytes());
        }
        let aad: Vec<u8> = sealed.iter().flat_map(|tlp| tlp[..20].to_vec()).collect();
        let key = aead::LessSafeKey::new(aead::UnboundKey::new(&aead::AES_256_GCM, &RAW_KEY).unwrap());
        let mut nonce = [[0x00, 0x10, 0x20][number], 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        nonce[4..].copy_from_slice(&counter.to_be_bytes());
        let nonce = aead::Nonce::assume_unique_for_key(nonce);
        let tag = key.seal_in_place_separate_tag(nonce, aead::Aad::from(&aad), &mut text).unwrap();
        let after_headers: Vec<u8> = sealed.iter().flat_map(|tlp| tlp[20..].to_vec()).collect();
        prop_assert_eq!(after_headers, [&text[..], &tag.as_ref()[..12]].concat());
    }

    #[test]
    fn tlps_come_back_as_they_were_once_their_mac_has_come(
        messages in prop::collection::vec(sizes(), 1..4), with_pcrc: bool, number in 0usize..3,
    ) {
        let protection = protection(SubStream::ALL[number], with_pcrc);
        let (mut sealer, mut opener) = (Sealer::new(protection.clone(), 1), Opener::new(protection, 1));
        for (seed, sizes) in messages.iter().enumerate() {
            let tlps: Vec<_> = sizes.iter().map(|&bytes| write(bytes, seed as u64)).collect();
            let sealed = seal(&mut sealer, &tlps);
            for (tlp, (_, plain)) in sealed.iter().zip(&tlps) {
                prop_assert!(plain.len() < 8 || tlp[20..20 + plain.len()] != plain[..]);
            }
            let (last, others) = sealed.split_last().unwrap();
            for tlp in others {
                prop_assert_eq!(opener.open(tlp), Ok(Vec::new()));
            }
            let plain: Vec<_> = tlps.iter().map(|(head, data)| [&head[..], data].concat()).collect();
            prop_assert_eq!(opener.open(last), Ok(plain));
        }
        prop_assert!(opener.secure());
    }

    #[test]
    fn a_bit_flipped_anywhere_makes_the_stream_insecure(
        sizes in sizes(), with_pcrc: bool, which: prop::sample::Index, bit: prop::sample::Index,
    ) {
        let protection = protection(SubStream::Completion, with_pcrc);
        let tlps: Vec<_> = sizes.iter().map(|&bytes| completion(bytes)).collect();
        let mut sealer = Sealer::new(protection.clone(), 1);
        let mut sealed = seal(&mut sealer, &tlps);
        let next = seal(&mut sealer, &tlps[..1]);
        let tlp = which.index(sealed.len());
        let bit = bit.index(sealed[tlp].len() * 8);
        sealed[tlp][bit / 8] ^= 1 << (bit % 8);
        // The reserved bit of the prefix is authenticated like all others, so no bit is spared.
        let mut opener = Opener::new(protection, 1);
        let mut came = Vec::new();
        for tlp in &sealed {
            came.extend(opener.open(tlp).into_iter().flatten());
        }
        prop_assert!(came.is_empty() && !opener.secure(), "bit {bit} of TLP {tlp}");
        prop_assert_eq!(opener.open(&next[0]), Err(IdeError::Insecure));
    }

    #[test]
    fn any_bytes_are_refused_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..80), prefixed: bool) {
        let start = if prefixed { vec![super::super::FIRST_BYTE, 0, 9, 4] } else { vec![] };
        let mut opener = Opener::new(protection(SubStream::Posted, false), 1);
        prop_assert!(opener.open(&[start, bytes].concat()).is_err());
    }
}

#[test]
fn the_sub_stream_stands_in_bits_95_to_92_of_the_iv() {
    for (sub_stream, first) in [(SubStream::Posted, 0x00), (SubStream::NonPosted, 0x10), (SubStream::Completion, 0x20)]
    {
        assert_eq!(iv(sub_stream, 0x0102_0304_0506_0708), [first, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8]);
    }
}

#[test]
fn a_mac_of_another_place_in_the_stream_is_refused() {
    let protection = protection(SubStream::Posted, false);
    let mut sealer = Sealer::new(protection.clone(), 1);
    let [first, second] = [0, 1].map(|seed| seal(&mut sealer, &[write(64, seed)]).remove(0));
    for missing in [vec![&second], vec![&first, &first]] {
        let mut opener = Opener::new(protection.clone(), 1);
        let results: Vec<_> = missing.into_iter().map(|tlp| opener.open(tlp)).collect();
        assert_eq!(results.last(), Some(&Err(IdeError::Mac)));
    }
}

#[test]
fn the_eighth_tlp_has_a_mac_whatever_was_asked_for() {
    let mut sealer = Sealer::new(protection(SubStream::NonPosted, true), 1);
    let lengths: Vec<_> = (0..9).map(|_| sealer.seal(&read(512).0, &[], 0, false).len()).collect();
    assert_eq!(lengths, [20, 20, 20, 20, 20, 20, 20, 32, 20]);
}

#[test]
fn every_fault_of_form_has_its_name() {
    let protection = protection(SubStream::Posted, false);
    let (head, data) = write(64, 0);
    let good = Sealer::new(protection.clone(), 1).seal(&head, &data, 0, true);
    let opened = |tlp: &[u8]| Opener::new(protection.clone(), 1).open(tlp).unwrap_err();
    let edited = |at: usize, bits: u8| {
        let mut tlp = good.clone();
        tlp[at] ^= bits;
        opened(&tlp)
    };
    assert_eq!(edited(0, 3), IdeError::Prefix(PrefixError::NoPrefix));
    assert_eq!(edited(3, 0x30), IdeError::Prefix(PrefixError::ReservedSubStream(3)));
    assert_eq!(edited(2, 1), IdeError::Stranger);
    assert_eq!(edited(3, 0x10), IdeError::Stranger);
    assert_eq!(edited(3, 2), IdeError::Stranger);
    assert_eq!(edited(6, 0x80), IdeError::Digest);
    assert!(matches!(edited(7, 1), IdeError::Length { .. }));
    assert!(matches!(edited(4, 0xc0), IdeError::Tlp(TlpError::ReservedFmt { .. })));
    assert!(matches!(opened(&good[..good.len() - 1]), IdeError::Length { .. }));
    // The same length with a PCRC where the last data were.
    let mut other = good.clone();
    (other[3], other[7]) = (other[3] | 8, 15);
    assert_eq!(opened(&other), IdeError::Pcrc);
    let mut opener = Opener::new(protection.clone(), 1);
    let mut sealer = Sealer::new(protection, 1);
    let without = sealer.seal(&head, &data, 0, false);
    let results: Vec<_> = (0..9).map(|_| opener.open(&without)).collect();
    assert_eq!(results[7..], [Err(IdeError::NoMac), Err(IdeError::Insecure)]);
}

/// TLP bytes by kind; and on the link, with token and LCRC, plain, with a MAC for one, two, four and eight, and with a PCRC.
#[test]
fn a_tlp_costs_its_prefix_and_its_share_of_mac_and_pcrc() {
    for (tlp, plain, per_eight, with_pcrc) in [
        (write(64, 0), 88, [832, 784, 760, 748], Some(108)),
        (write(128, 0), 152, [1344, 1296, 1272, 1260], Some(172)),
        (write(256, 0), 280, [2368, 2320, 2296, 2284], Some(300)),
        (write(512, 0), 536, [4416, 4368, 4344, 4332], Some(556)),
        (completion(64), 84, [800, 752, 728, 716], Some(104)),
        (completion(128), 148, [1312, 1264, 1240, 1228], Some(168)),
        (completion(256), 276, [2336, 2288, 2264, 2252], Some(296)),
        (read(512), 24, [320, 272, 248, 236], None),
    ] {
        const FRAME: usize = 8;
        assert_eq!(tlp.0.len() + tlp.1.len() + FRAME, plain);
        let of_eight = |aggregation: usize, pcrc| {
            let mut sealer = Sealer::new(protection(SubStream::Posted, pcrc), 1);
            let sealed = (1..=8).map(|n| sealer.seal(&tlp.0, &tlp.1, 0, n % aggregation == 0).len() + FRAME);
            sealed.sum::<usize>()
        };
        assert_eq!([1, 2, 4, 8].map(|aggregation| of_eight(aggregation, false)), per_eight);
        assert_eq!(of_eight(1, true), 8 * with_pcrc.unwrap_or(per_eight[0] / 8));
    }
}
