//! What may be wrong with a TLP that can be read.

use super::{Body, MemoryOp, TlpRepr, TlpView};

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Worth knowing; the TLP is fine.
    Note,
    /// Against a rule, but a receiver need not notice.
    Warning,
    /// Malformed, or not what was sent.
    Error,
}

/// One thing that is wrong with a TLP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Finding {
    /// An access across a 4 KiB boundary.
    #[error("{length_dw} DW from {address:#x} cross a 4 KiB boundary")]
    PageCrossing {
        /// Address of the first DW.
        address: u64,
        /// Length in DW.
        length_dw: u16,
    },
    /// A four-DW header for an address below 4 GiB.
    #[error("address {address:#x} is below 4 GiB, where the header must have three DW")]
    WideHeader {
        /// Address.
        address: u64,
    },
    /// An address that the three-DW header cannot carry.
    #[error("address {address:#x} does not fit a header of three DW")]
    NarrowHeader {
        /// Address.
        address: u64,
    },
    /// Last BE set although there is one DW.
    #[error("last BE is {last_be:04b}, but must be 0000 with a length of 1 DW")]
    LastByteEnables {
        /// Last BE.
        last_be: u8,
    },
    /// A byte enable of 0 with more than one DW.
    #[error("{which} BE is 0000, but the length is {length_dw} DW")]
    NoByteEnabled {
        /// `first` or `last`.
        which: &'static str,
        /// Length in DW.
        length_dw: u16,
    },
    /// Byte enables with holes where they must be contiguous.
    #[error("first BE {first_be:04b} and last BE {last_be:04b} leave holes in {length_dw} DW")]
    ByteEnableHoles {
        /// First BE.
        first_be: u8,
        /// Last BE.
        last_be: u8,
        /// Length in DW.
        length_dw: u16,
    },
    /// A length that this kind of TLP cannot have.
    #[error("{name} cannot have a length of {length_dw} DW")]
    Length {
        /// Kind.
        name: &'static str,
        /// Length in DW.
        length_dw: u16,
    },
    /// A deferrable write that is longer than any completer announces to take.
    #[error("{name} carries {bytes} bytes, but a completer announces {} at most", super::MOST_DEFERRABLE_BYTES)]
    DeferrableLength {
        /// Kind.
        name: &'static str,
        /// Bytes of data.
        bytes: u32,
    },
    /// Traffic class, attributes or address type set where they must be 0.
    #[error("{name} must have traffic class, relaxed ordering, no snoop and AT 0")]
    PlainRequest {
        /// Kind.
        name: &'static str,
    },
    /// Address type 3.
    #[error("AT 3 is reserved")]
    AddressType,
    /// A reserved completion status.
    #[error("completion status {status} is reserved")]
    Status {
        /// Status.
        status: u8,
    },
    /// A failed completion that carries data.
    #[error("a completion with data has status {status}, not SC")]
    DataWithoutSuccess {
        /// Status.
        status: u8,
    },
    /// A completion with more data than are left.
    #[error("{length_dw} DW are more than the byte count {byte_count} at lower address {lower_address:#04x} leaves")]
    ByteCount {
        /// Length in DW.
        length_dw: u16,
        /// Byte count.
        byte_count: u16,
        /// Lower address.
        lower_address: u8,
    },
    /// A reserved bit is set.
    #[error("reserved bits are set, which a receiver ignores")]
    ReservedBits,
    /// The ECRC does not fit.
    #[error("the ECRC of this TLP is {}, the digest is {}", hex::encode(.expected), hex::encode(.found))]
    Ecrc {
        /// ECRC of the TLP.
        expected: [u8; 4],
        /// Digest as received.
        found: [u8; 4],
    },
}

impl Finding {
    /// How bad it is.
    #[must_use]
    pub const fn severity(&self) -> Severity {
        match self {
            Self::WideHeader { .. } | Self::DeferrableLength { .. } | Self::ReservedBits => Severity::Warning,
            _ => Severity::Error,
        }
    }

    /// A stable name for machines.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::PageCrossing { .. } => "page_crossing",
            Self::WideHeader { .. } => "wide_header",
            Self::NarrowHeader { .. } => "narrow_header",
            Self::LastByteEnables { .. } => "last_be",
            Self::NoByteEnabled { .. } => "no_byte_enabled",
            Self::ByteEnableHoles { .. } => "byte_enable_holes",
            Self::Length { .. } => "length",
            Self::DeferrableLength { .. } => "deferrable_length",
            Self::PlainRequest { .. } => "plain_request",
            Self::AddressType => "address_type",
            Self::Status { .. } => "status",
            Self::DataWithoutSuccess { .. } => "data_without_success",
            Self::ByteCount { .. } => "byte_count",
            Self::ReservedBits => "reserved_bits",
            Self::Ecrc { .. } => "ecrc",
        }
    }
}

impl TlpView<'_> {
    /// What is wrong with the TLP as it stands, beyond its structure: values, reserved bits, ECRC. Empty if its type is
    /// reserved, which [`TlpRepr::parse`] reports.
    #[must_use]
    pub fn check(&self) -> Vec<Finding> {
        let Ok(repr) = TlpRepr::parse(self) else { return Vec::new() };
        let mut findings = repr.check();
        if repr.emit()[..] != *self.header() {
            findings.push(Finding::ReservedBits);
        }
        let expected = self.ecrc();
        findings
            .extend(self.digest().filter(|&found| found != expected).map(|found| Finding::Ecrc { expected, found }));
        findings
    }
}

impl TlpRepr {
    /// What is wrong with the values of the header.
    #[must_use]
    pub fn check(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        let (name, length_dw) = (self.name(), self.length_dw);
        if self.common.at == 3 {
            findings.push(Finding::AddressType);
        }
        match self.body {
            Body::Memory { op, wide, address, first_be, last_be, .. } => {
                check_address(&mut findings, wide, address, length_dw);
                let sized = match op {
                    MemoryOp::FetchAdd | MemoryOp::Swap => matches!(length_dw, 1 | 2),
                    MemoryOp::CompareSwap => matches!(length_dw, 2 | 4 | 8),
                    _ => true,
                };
                if !sized {
                    findings.push(Finding::Length { name, length_dw });
                }
                let bytes = u32::from(length_dw) * 4;
                if op == MemoryOp::DeferrableWrite && bytes > super::MOST_DEFERRABLE_BYTES {
                    findings.push(Finding::DeferrableLength { name, bytes });
                }
                // AtomicOps do not use byte enables; a read with hints carries its steering tag there.
                if !(op.atomic() || self.common.th && !op.has_data()) {
                    check_byte_enables(&mut findings, address, length_dw, first_be, last_be);
                }
            }
            Body::Io { last_be, .. } | Body::Config { last_be, .. } => {
                if length_dw != 1 {
                    findings.push(Finding::Length { name, length_dw });
                }
                if last_be != 0 {
                    findings.push(Finding::LastByteEnables { last_be });
                }
                if self.common.tc != 0 || self.common.attributes.bits() & 3 != 0 || self.common.at != 0 {
                    findings.push(Finding::PlainRequest { name });
                }
            }
            Body::Completion { data, status, byte_count, lower_address, .. } => {
                if super::name_of(&super::STATUS, status).is_none() {
                    findings.push(Finding::Status { status });
                } else if data && status != 0 {
                    findings.push(Finding::DataWithoutSuccess { status });
                }
                let left_dw = (u16::from(lower_address & 3) + byte_count).div_ceil(4);
                if data && length_dw > left_dw {
                    findings.push(Finding::ByteCount { length_dw, byte_count, lower_address });
                }
            }
            Body::Message { .. } => {}
        }
        if !self.has_data()
            && self.length_dw != 0
            && matches!(self.body, Body::Completion { .. } | Body::Message { .. })
        {
            // Without data the field is reserved.
            findings.push(Finding::ReservedBits);
        }
        findings
    }
}

fn check_address(findings: &mut Vec<Finding>, wide: bool, address: u64, length_dw: u16) {
    match (wide, address >> 32 != 0) {
        (true, false) => findings.push(Finding::WideHeader { address }),
        (false, true) => findings.push(Finding::NarrowHeader { address }),
        _ => {}
    }
    if (address & 0xffc) + u64::from(length_dw) * 4 > 4096 {
        findings.push(Finding::PageCrossing { address, length_dw });
    }
}

fn check_byte_enables(findings: &mut Vec<Finding>, address: u64, length_dw: u16, first_be: u8, last_be: u8) {
    if length_dw == 1 {
        if last_be != 0 {
            findings.push(Finding::LastByteEnables { last_be });
        }
        return;
    }
    for (which, enables) in [("first", first_be), ("last", last_be)] {
        if enables == 0 {
            findings.push(Finding::NoByteEnabled { which, length_dw });
        }
    }
    // Two DW in one aligned quadword may have holes; everything longer reaches across its DW without any.
    let holes = !matches!(first_be, 0 | 0b1111 | 0b1110 | 0b1100 | 0b1000)
        || !matches!(last_be, 0 | 0b1111 | 0b0111 | 0b0011 | 0b0001);
    if holes && !(length_dw == 2 && address.is_multiple_of(8)) {
        findings.push(Finding::ByteEnableHoles { first_be, last_be, length_dw });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pcie::{split::Request, wire::tlp::Attributes};

    fn write(address: u64, bytes: u32) -> TlpRepr {
        TlpRepr::memory(MemoryOp::Write, Request { address, bytes }, 0x100, 0, Attributes::default())
    }

    fn codes(repr: &TlpRepr) -> Vec<&'static str> {
        repr.check().iter().map(Finding::code).collect()
    }

    #[test]
    fn the_last_byte_of_a_page_may_be_written_and_no_further() {
        assert!(write(0x1_0000_0f00, 256).check().is_empty());
        assert_eq!(codes(&write(0x1_0000_0f04, 256)), ["page_crossing"]);
    }

    #[test]
    fn four_gib_is_the_first_address_with_a_wide_header() {
        let mut tlp = write(0xffff_fff8, 4);
        assert!(!tlp.four_dw());
        assert!(write(1 << 32, 4).four_dw());
        let Body::Memory { wide, .. } = &mut tlp.body else { unreachable!() };
        *wide = true;
        assert_eq!(codes(&tlp), ["wide_header"]);
        assert_eq!(tlp.check()[0].severity(), Severity::Warning);
        let mut tlp = write(1 << 32, 4);
        let Body::Memory { wide, .. } = &mut tlp.body else { unreachable!() };
        *wide = false;
        assert_eq!(codes(&tlp), ["narrow_header"]);
    }

    #[test]
    fn each_byte_enable_rule_is_found_broken() {
        let broken = |length: u32, first, last, at| {
            let mut tlp = write(at, 4 * length);
            let Body::Memory { first_be, last_be, .. } = &mut tlp.body else { unreachable!() };
            (*first_be, *last_be) = (first, last);
            codes(&tlp)
        };
        assert_eq!(broken(1, 0b1111, 0b0001, 0), ["last_be"]);
        assert!(broken(1, 0b0101, 0, 0).is_empty());
        assert!(broken(1, 0, 0, 0).is_empty());
        assert_eq!(broken(2, 0, 0b1111, 0), ["no_byte_enabled"]);
        assert_eq!(broken(2, 0b1111, 0, 0), ["no_byte_enabled"]);
        assert!(broken(2, 0b0101, 0b1010, 8).is_empty());
        assert_eq!(broken(2, 0b0101, 0b1010, 4), ["byte_enable_holes"]);
        assert_eq!(broken(3, 0b1111, 0b1110, 0), ["byte_enable_holes"]);
    }

    #[test]
    fn a_deferrable_write_follows_the_rules_of_a_write_and_is_no_longer_than_128_bytes() {
        let defer = |address, bytes| {
            let request = Request { address, bytes };
            TlpRepr::memory(MemoryOp::DeferrableWrite, request, 0x100, 0, Attributes::default())
        };
        assert!(defer(1 << 32, 128).check().is_empty());
        assert_eq!(codes(&defer(1 << 32, 132)), ["deferrable_length"]);
        assert_eq!(defer(1 << 32, 132).check()[0].severity(), Severity::Warning);
        assert_eq!(codes(&defer((1 << 32) + 0xfc4, 64)), ["page_crossing"]);
        let mut tlp = defer(1 << 32, 4);
        let Body::Memory { last_be, .. } = &mut tlp.body else { unreachable!() };
        *last_be = 1;
        assert_eq!(codes(&tlp), ["last_be"]);
    }

    #[test]
    fn a_completion_cannot_carry_more_than_is_left() {
        let mut tlp = write(0, 64);
        tlp.body = Body::Completion {
            data: true,
            locked: false,
            completer_id: 0,
            status: 0,
            bcm: false,
            byte_count: 64,
            lower_address: 0,
        };
        assert!(tlp.check().is_empty());
        tlp.length_dw = 17;
        assert_eq!(codes(&tlp), ["byte_count"]);
    }
}
