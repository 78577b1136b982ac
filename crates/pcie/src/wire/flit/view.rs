//! The checked zero-copy view of a flit, and what a receiver makes of one.

use super::{BYTES, DLP_BYTES, FlitRepr, TLP_BYTES, crc, ecc, field};

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FlitError {
    #[error("a flit has {BYTES} bytes, there are {have}")]
    Size { have: usize },
    #[error("the ECC finds more wrong bytes than it corrects, in group {group}")]
    Ecc { group: usize },
    #[error("the CRC of this flit is {}, it has {}", hex::encode(.expected), hex::encode(.found))]
    Crc { expected: [u8; crc::BYTES], found: [u8; crc::BYTES] },
}

#[derive(Debug, Clone, Copy)]
pub struct FlitView<'a> {
    bytes: &'a [u8; BYTES],
}

fn part<const LEN: usize>(bytes: &[u8]) -> [u8; LEN] {
    let mut part = [0; LEN];
    part.copy_from_slice(bytes);
    part
}

impl<'a> FlitView<'a> {
    /// A view of exactly one flit. Neither CRC nor ECC is checked here: see [`Self::check_crc`] and [`receive`].
    pub fn new_checked(bytes: &'a [u8]) -> Result<Self, FlitError> {
        bytes.try_into().map(|bytes| Self { bytes }).map_err(|_| FlitError::Size { have: bytes.len() })
    }

    pub fn tlp(&self) -> [u8; TLP_BYTES] {
        part(&self.bytes[field::TLP])
    }

    pub fn dlp(&self) -> [u8; DLP_BYTES] {
        part(&self.bytes[field::DLP])
    }

    pub fn crc(&self) -> [u8; crc::BYTES] {
        part(&self.bytes[field::CRC])
    }

    pub fn ecc(&self) -> [u8; 6] {
        part(&self.bytes[field::ECC])
    }

    pub fn check_crc(&self) -> Result<(), FlitError> {
        let (expected, found) = (crc::of(&self.bytes[..field::CRC.start]), self.crc());
        if found == expected { Ok(()) } else { Err(FlitError::Crc { expected, found }) }
    }
}

/// What a receiver makes of a flit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Received {
    /// The flit's bytes after correction.
    pub bytes: [u8; BYTES],
    /// Its values, to be used if there is no fault.
    pub repr: FlitRepr,
    /// What the ECC did in each group.
    pub verdicts: [ecc::Verdict; ecc::GROUPS],
    /// Why the flit must be sent again, if it must.
    pub fault: Option<FlitError>,
}

/// Corrects a flit, then checks its CRC.
pub fn receive(bytes: &[u8; BYTES]) -> Received {
    let mut bytes = *bytes;
    let verdicts = ecc::correct(&mut bytes);
    let view = FlitView { bytes: &bytes };
    let uncorrectable = verdicts.iter().position(|verdict| *verdict == ecc::Verdict::Uncorrectable);
    let fault = uncorrectable.map(|group| FlitError::Ecc { group }).or_else(|| view.check_crc().err());
    let repr = FlitRepr::parse(&view);
    Received { bytes, repr, verdicts, fault }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::{collection::btree_map, prelude::*};
    use std::collections::BTreeMap;

    /// Places and flipped bits of `count` wrong bytes.
    fn wrong(
        places: std::ops::Range<usize>,
        count: std::ops::RangeInclusive<usize>,
    ) -> impl Strategy<Value = BTreeMap<usize, u8>> {
        btree_map(places, 1..=255_u8, count)
    }

    fn flit() -> impl Strategy<Value = [u8; BYTES]> {
        (any::<[u8; DLP_BYTES]>(), any::<[u8; TLP_BYTES]>())
            .prop_map(|(dlp, tlp)| FlitRepr { dlp: super::super::Dlp::parse(dlp), tlp }.emit())
    }

    fn flipped(mut flit: [u8; BYTES], wrong: &BTreeMap<usize, u8>) -> [u8; BYTES] {
        wrong.iter().for_each(|(&place, &bits)| flit[place] ^= bits);
        flit
    }

    #[test]
    fn a_flit_has_256_bytes() {
        for have in [0, 1, 255, 257, 512] {
            assert_eq!(FlitView::new_checked(&vec![0; have]).unwrap_err(), FlitError::Size { have });
        }
    }

    #[test]
    fn zeros_are_a_good_flit() {
        let received = receive(&[0; BYTES]);
        assert_eq!((received.verdicts, received.fault), ([ecc::Verdict::Good; 3], None));
    }

    proptest! {
        #[test]
        fn any_bytes_are_received_without_panic(bytes in any::<[u8; BYTES]>()) {
            let received = receive(&bytes);
            prop_assert_eq!(FlitRepr::parse(&FlitView::new_checked(&received.bytes).unwrap()), received.repr);
        }

        #[test]
        fn a_good_flit_round_trips(flit in flit()) {
            let received = receive(&flit);
            prop_assert_eq!(received.fault, None);
            prop_assert_eq!(received.repr.emit(), flit);
        }

        #[test]
        fn up_to_eight_wrong_bytes_are_found_by_the_crc(flit in flit(), wrong in wrong(0..field::CRC.end, 1..=8)) {
            let wrong = flipped(flit, &wrong);
            prop_assert!(FlitView::new_checked(&wrong).unwrap().check_crc().is_err());
        }

        /// A correction changes one byte of a group at most, so five wrong bytes become eight, which the CRC finds.
        #[test]
        fn up_to_five_wrong_bytes_are_corrected_or_found(flit in flit(), wrong in wrong(0..BYTES, 1..=5)) {
            let received = receive(&flipped(flit, &wrong));
            prop_assert!(received.fault.is_some() || received.bytes[..field::ECC.start] == flit[..field::ECC.start]);
        }

        #[test]
        fn one_wrong_byte_a_group_is_corrected(flit in flit(), places in any::<[u8; 3]>(), bits in any::<[u8; 3]>()) {
            let place = |group: usize| (usize::from(places[group]) % 85) * 3 + group;
            let wrong = (0..3).map(|group| (place(group), bits[group])).collect();
            let received = receive(&flipped(flit, &wrong));
            prop_assert_eq!((received.fault, received.bytes), (None, flit));
        }
    }
}
