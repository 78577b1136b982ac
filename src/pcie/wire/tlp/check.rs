//! What may be wrong with a TLP that can be read: one table of rules, [`RULES`].

use super::{
    Body, MemoryOp, TlpRepr, TlpView,
    message::{self, MessageData, routings},
};

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
    /// A translation request that is no read.
    #[error("AT 1 asks for a translation, which only MRd can, not {name}")]
    TranslationRequest {
        /// Kind.
        name: &'static str,
    },
    /// A translation request for a part of a translation.
    #[error(
        "a translation request has an even length and all byte enables set, not {length_dw} DW with {first_be:04b} and {last_be:04b}"
    )]
    TranslationLength {
        /// Length in DW.
        length_dw: u16,
        /// First BE.
        first_be: u8,
        /// Last BE.
        last_be: u8,
    },
    /// An AtomicOp whose address is no multiple of its operand.
    #[error("{name} of {operand} bytes must be at a multiple of {operand}, not at {address:#x}")]
    Alignment {
        /// Kind.
        name: &'static str,
        /// Bytes of the operand.
        operand: u32,
        /// Address.
        address: u64,
    },
    /// A message of another traffic class than it must have.
    #[error("{name} must have traffic class 0, not {tc}")]
    TrafficClass {
        /// Message.
        name: &'static str,
        /// Traffic class.
        tc: u8,
    },
    /// A message that is routed otherwise than its code says.
    #[error("{name} cannot have routing {routing:03b}; it has {}", routings(.due))]
    Routing {
        /// Message.
        name: &'static str,
        /// Routing.
        routing: u8,
        /// What it may be.
        due: &'static [u8],
    },
    /// A message with data that its code excludes, or without those that it needs.
    #[error("{name} must have {}, not {have_dw} DW", .due.text())]
    MessageData {
        /// Message.
        name: &'static str,
        /// DW of data.
        have_dw: u16,
        /// What is due.
        due: MessageData,
    },
    /// A message with relaxed ordering or no snoop.
    #[error("{name} must have neither relaxed ordering nor no snoop")]
    MessageAttributes {
        /// Message.
        name: &'static str,
    },
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
    /// A completion that ends before its read does, elsewhere than at a multiple of 64 B.
    #[error(
        "{length_dw} DW of {byte_count} bytes from lower address {lower_address:#04x} end at no multiple of 64 B, where alone a read may be split"
    )]
    CompletionSplit {
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
            Self::WideHeader { .. }
            | Self::DeferrableLength { .. }
            | Self::MessageAttributes { .. }
            | Self::CompletionSplit { .. }
            | Self::ReservedBits => Severity::Warning,
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
            Self::TranslationRequest { .. } => "translation_request",
            Self::TranslationLength { .. } => "translation_length",
            Self::Alignment { .. } => "alignment",
            Self::TrafficClass { .. } => "traffic_class",
            Self::Routing { .. } => "routing",
            Self::MessageData { .. } => "message_data",
            Self::MessageAttributes { .. } => "message_attributes",
            Self::CompletionSplit { .. } => "completion_split",
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

/// A rule about the fields of a header.
pub struct Rule {
    /// Where the PCI Express Base Specification (5.0; chapter 2 is numbered alike from 3.0 on) states it.
    pub section: &'static str,
    /// Codes of what it finds.
    pub codes: &'static [&'static str],
    find: fn(&TlpRepr, &mut Vec<Finding>),
}

const fn rule(section: &'static str, codes: &'static [&'static str], find: fn(&TlpRepr, &mut Vec<Finding>)) -> Rule {
    Rule { section, codes, find }
}

/// All rules. Structure (Fmt and Type, lengths, prefixes) is [`TlpView`]'s, ECRC and bits that no field has are [`TlpView::check`]'s.
pub const RULES: [Rule; 14] = [
    rule("10.2.1", &["address_type", "translation_request"], address_type),
    rule("10.2.2", &["translation_length"], translation),
    rule("2.2.4.1", &["wide_header", "narrow_header"], header_form),
    rule("2.2.5", &["last_be", "no_byte_enabled", "byte_enable_holes"], byte_enables),
    rule("2.2.7", &["page_crossing"], page),
    rule("2.2.7", &["length", "alignment"], atomic),
    rule("2.2.7", &["deferrable_length"], deferrable),
    rule("2.2.7", &["length", "last_be", "plain_request"], plain_request),
    rule("2.2.8", &["routing", "message_data", "traffic_class"], message),
    rule("2.2.6.4, 2.2.6.5", &["message_attributes"], message_attributes),
    rule("2.2.9", &["status", "data_without_success", "byte_count"], completion),
    rule("2.3.1.1", &["completion_split"], split),
    rule("2.2.8, 2.2.9", &["reserved_bits"], length_without_data),
    rule("2.2.7, 2.2.8, 2.2.9", &["reserved_bits"], reserved_flags),
];

impl TlpRepr {
    /// What is wrong with the values of the header, rule by rule.
    #[must_use]
    pub fn check(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        RULES.iter().for_each(|rule| (rule.find)(self, &mut findings));
        findings
    }

    /// Bytes of the operand of an AtomicOp, of which a CAS has two.
    #[must_use]
    pub fn operand_bytes(&self) -> Option<u32> {
        let Body::Memory { op, .. } = self.body else { return None };
        let operands = if op == MemoryOp::CompareSwap { 2 } else { 1 };
        op.atomic().then_some(u32::from(self.length_dw) * 4 / operands)
    }
}

fn address_type(tlp: &TlpRepr, findings: &mut Vec<Finding>) {
    let memory = |op| matches!(tlp.body, Body::Memory { op: of, .. } if of == op);
    match (tlp.common.at, tlp.body) {
        (3, _) => findings.push(Finding::AddressType),
        (1, Body::Memory { .. }) if !memory(MemoryOp::Read) => {
            findings.push(Finding::TranslationRequest { name: tlp.name() });
        }
        _ => {}
    }
}

fn translation(tlp: &TlpRepr, findings: &mut Vec<Finding>) {
    let Body::Memory { op: MemoryOp::Read, first_be, last_be, .. } = tlp.body else { return };
    let length_dw = tlp.length_dw;
    if tlp.common.at == 1 && (length_dw % 2 == 1 || first_be != 0xf || last_be != 0xf) {
        findings.push(Finding::TranslationLength { length_dw, first_be, last_be });
    }
}

fn header_form(tlp: &TlpRepr, findings: &mut Vec<Finding>) {
    let Body::Memory { wide, address, .. } = tlp.body else { return };
    match (wide, address >> 32 != 0) {
        (true, false) => findings.push(Finding::WideHeader { address }),
        (false, true) => findings.push(Finding::NarrowHeader { address }),
        _ => {}
    }
}

fn byte_enables(tlp: &TlpRepr, findings: &mut Vec<Finding>) {
    let Body::Memory { op, address, first_be, last_be, .. } = tlp.body else { return };
    let length_dw = tlp.length_dw;
    // AtomicOps do not use byte enables; a read with hints carries its steering tag there; of a translation request all are set.
    if op.atomic() || tlp.common.th && !op.has_data() || tlp.common.at == 1 {
        return;
    }
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

fn page(tlp: &TlpRepr, findings: &mut Vec<Finding>) {
    let Body::Memory { op, address, .. } = tlp.body else { return };
    let length_dw = tlp.length_dw;
    // An operand that is aligned crosses nothing.
    if !op.atomic() && (address & 0xffc) + u64::from(length_dw) * 4 > 4096 {
        findings.push(Finding::PageCrossing { address, length_dw });
    }
}

fn atomic(tlp: &TlpRepr, findings: &mut Vec<Finding>) {
    let (Body::Memory { op, address, .. }, Some(operand)) = (tlp.body, tlp.operand_bytes()) else { return };
    let (name, length_dw) = (tlp.name(), tlp.length_dw);
    let sized = if op == MemoryOp::CompareSwap { matches!(length_dw, 2 | 4 | 8) } else { matches!(length_dw, 1 | 2) };
    if !sized {
        findings.push(Finding::Length { name, length_dw });
    } else if !address.is_multiple_of(operand.into()) {
        findings.push(Finding::Alignment { name, operand, address });
    }
}

fn deferrable(tlp: &TlpRepr, findings: &mut Vec<Finding>) {
    let bytes = u32::from(tlp.length_dw) * 4;
    let defers = matches!(tlp.body, Body::Memory { op: MemoryOp::DeferrableWrite, .. });
    if defers && bytes > super::MOST_DEFERRABLE_BYTES {
        findings.push(Finding::DeferrableLength { name: tlp.name(), bytes });
    }
}

fn plain_request(tlp: &TlpRepr, findings: &mut Vec<Finding>) {
    let (Body::Io { last_be, .. } | Body::Config { last_be, .. }) = tlp.body else { return };
    let (name, length_dw, common) = (tlp.name(), tlp.length_dw, tlp.common);
    if length_dw != 1 {
        findings.push(Finding::Length { name, length_dw });
    }
    if last_be != 0 {
        findings.push(Finding::LastByteEnables { last_be });
    }
    if common.tc != 0 || common.attributes.bits() & 3 != 0 || common.at != 0 {
        findings.push(Finding::PlainRequest { name });
    }
}

fn message(tlp: &TlpRepr, findings: &mut Vec<Finding>) {
    let Body::Message { routing, code, .. } = tlp.body else { return };
    let Some(known) = message::rule(code) else {
        if routing > message::LAST_ROUTING {
            findings.push(Finding::Routing { name: tlp.name(), routing, due: &message::ANY_ROUTING });
        }
        return;
    };
    let (name, have_dw, tc) = (known.name, tlp.payload_dw(), tlp.common.tc);
    if !known.routing.contains(&routing) {
        findings.push(Finding::Routing { name, routing, due: known.routing });
    }
    if !known.data.takes(have_dw) {
        findings.push(Finding::MessageData { name, have_dw, due: known.data });
    }
    if known.plain && tc != 0 {
        findings.push(Finding::TrafficClass { name, tc });
    }
}

fn message_attributes(tlp: &TlpRepr, findings: &mut Vec<Finding>) {
    let Body::Message { code, .. } = tlp.body else { return };
    if let Some(known) = message::rule(code).filter(|known| known.plain)
        && tlp.common.attributes.bits() & 3 != 0
    {
        findings.push(Finding::MessageAttributes { name: known.name });
    }
}

fn completion(tlp: &TlpRepr, findings: &mut Vec<Finding>) {
    let Body::Completion { data, status, byte_count, lower_address, .. } = tlp.body else { return };
    if super::name_of(&super::STATUS, status).is_none() {
        findings.push(Finding::Status { status });
    } else if data && status != 0 {
        findings.push(Finding::DataWithoutSuccess { status });
    }
    let (length_dw, left_dw) = (tlp.length_dw, (u16::from(lower_address & 3) + byte_count).div_ceil(4));
    if data && length_dw > left_dw {
        findings.push(Finding::ByteCount { length_dw, byte_count, lower_address });
    }
}

fn split(tlp: &TlpRepr, findings: &mut Vec<Finding>) {
    let Body::Completion { data: true, byte_count, lower_address, .. } = tlp.body else { return };
    let length_dw = tlp.length_dw;
    let is_last = length_dw >= (u16::from(lower_address & 3) + byte_count).div_ceil(4);
    if !is_last && !(u16::from(lower_address & !3) + length_dw * 4).is_multiple_of(64) {
        findings.push(Finding::CompletionSplit { length_dw, byte_count, lower_address });
    }
}

fn length_without_data(tlp: &TlpRepr, findings: &mut Vec<Finding>) {
    let reserved = matches!(tlp.body, Body::Completion { .. } | Body::Message { .. }) && !tlp.has_data();
    if reserved && tlp.length_dw != 0 {
        findings.push(Finding::ReservedBits);
    }
}

/// Hints and notifications are those of requests to memory, and so is the address type; ID-based ordering is not for I/O and configuration.
fn reserved_flags(tlp: &TlpRepr, findings: &mut Vec<Finding>) {
    let common = tlp.common;
    let set = match tlp.body {
        Body::Memory { .. } => false,
        Body::Io { .. } | Body::Config { .. } => common.th || common.ln || common.attributes.id_based_ordering,
        Body::Message { .. } => common.th || common.ln || common.at != 0,
        Body::Completion { .. } => common.th || common.at != 0,
    };
    if set {
        findings.push(Finding::ReservedBits);
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

    /// A header that breaks one rule, and one beside it that does not: code, header against the rule, header in keeping with it.
    const SIDES: [(&str, &str, &str); 34] = [
        ("address_type", "00000c01 0000000f 00001000", "00000801 0000000f 00001000"),
        ("translation_request", "40000401 0000000f 00001000", "40000801 0000000f 00001000"),
        ("translation_request", "4c000402 00000000 00001000", "4c000802 00000000 00001000"),
        ("translation_request", "01000402 000000ff 00001000", "00000402 000000ff 00001000"),
        ("translation_length", "00000401 000000ff 00001000", "00000402 000000ff 00001000"),
        ("translation_length", "00000402 0000007f 00001000", "00000402 000000ff 00001000"),
        ("wide_header", "20000001 0000000f 00000000 fffffffc", "20000001 0000000f 00000001 00000000"),
        ("last_be", "00000001 0000001f 00001000", "00000001 0000000f 00001000"),
        ("no_byte_enabled", "00000002 0000000f 00001000", "00000002 0000001f 00001000"),
        ("byte_enable_holes", "00000002 000000f5 00001004", "00000002 000000f5 00001000"),
        ("page_crossing", "00000002 000000ff 00001ffc", "00000002 000000ff 00001ff8"),
        ("length", "4c000003 00000000 00001000", "4c000002 00000000 00001000"),
        ("length", "4e000001 00000000 00001000", "4e000004 00000000 00001000"),
        ("alignment", "4c000002 00000000 00001004", "4c000001 00000000 00001004"),
        ("alignment", "4d000002 00000000 0000100c", "4d000002 00000000 00001008"),
        ("alignment", "4e000008 00000000 00001008", "4e000004 00000000 00001ff8"),
        ("deferrable_length", "5b000021 000000ff 00001000", "5b000020 000000ff 00001000"),
        ("length", "04000002 0000000f 01000000", "04000001 0000000f 01000000"),
        ("last_be", "02000001 0000001f 00001000", "02000001 0000000f 00001000"),
        ("plain_request", "42100001 0000000f 00001000", "42000001 0000000f 00001000"),
        ("plain_request", "04002001 0000000f 01000000", "04000001 0000000f 01000000"),
        ("routing", "30000000 00000010 00000000 00000000", "34000000 00000010 00000000 00000000"),
        ("routing", "34000000 00000018 00000000 00000000", "30000000 00000018 00000000 00000000"),
        ("routing", "36000000 000000c0 00000000 00000000", "35000000 000000c0 00000000 00000000"),
        ("routing", "71000001 0000007e 00000000 00000000", "72000001 0000007e 00000000 00000000"),
        ("message_data", "74000001 00000020 00000000 00000000", "34000000 00000020 00000000 00000000"),
        ("message_data", "34000000 00000050 00000000 00000000", "74000001 00000050 00000000 00000000"),
        ("traffic_class", "30100000 00000018 00000000 00000000", "33100000 0000007f 00000000 00000000"),
        ("message_attributes", "30002000 00000030 00000000 00000000", "33002000 0000007f 00000000 00000000"),
        ("status", "0a000000 00006004 00000000", "0a000000 00008004 00000000"),
        ("data_without_success", "4a000001 00002004 00000000", "4a000001 00000004 00000000"),
        ("byte_count", "4a000002 00000004 00000000", "4a000002 00000005 00000000"),
        ("completion_split", "4a000008 00000080 00000000", "4a000010 00000080 00000000"),
        ("reserved_bits", "0a000001 00008004 00000000", "4a000001 00000004 00000000"),
    ];

    fn header_codes(hexadecimal: &str) -> Vec<&'static str> {
        let bytes = hex::decode(hexadecimal.replace(' ', "")).unwrap();
        TlpView::new_header(&bytes).unwrap().check().iter().map(Finding::code).collect()
    }

    #[test]
    fn each_rule_is_broken_on_one_side_and_kept_on_the_other() {
        for (code, broken, kept) in SIDES {
            assert_eq!(header_codes(broken), [code], "{broken}");
            assert_eq!(header_codes(kept), [""; 0], "{kept}");
        }
        // A header of three DW cannot hold what `narrow_header` is about: see the test of four GiB.
        let shown: Vec<_> = SIDES.iter().map(|side| side.0).chain(["narrow_header"]).collect();
        for code in RULES.iter().flat_map(|rule| rule.codes) {
            assert!(shown.contains(code), "{code}");
        }
    }

    #[test]
    fn hints_address_types_and_id_based_ordering_are_reserved_where_they_mean_nothing() {
        for (broken, kept) in [
            ("04010001 0000000f 01000000", "04000001 0000000f 01000000"),
            ("02040001 0000000f 00001000", "00040001 0000000f 00001000"),
            ("34000400 00000020 00000000 00000000", "34040000 00000020 00000000 00000000"),
            ("0a000800 00008004 00000000", "0a040000 00008004 00000000"),
        ] {
            assert_eq!((header_codes(broken), header_codes(kept)), (vec!["reserved_bits"], vec![]), "{broken}");
        }
    }

    #[test]
    fn each_message_has_its_routing_its_data_and_its_class() {
        for known in &message::RULES {
            for (routing, have_dw, tc) in (0..8)
                .flat_map(|routing| [(routing, 0), (routing, 1), (routing, 2)])
                .flat_map(|(r, d)| [(r, d, 0), (r, d, 5)])
            {
                let mut tlp = write(0, 4);
                let data = have_dw > 0;
                (tlp.length_dw, tlp.common.tc) = (have_dw, tc);
                tlp.body = Body::Message { data, routing, code: *known.codes.start(), content: [0; 8] };
                let mut expected = Vec::new();
                expected.extend((!known.routing.contains(&routing)).then_some("routing"));
                expected.extend((!known.data.takes(have_dw)).then_some("message_data"));
                expected.extend((known.plain && tc != 0).then_some("traffic_class"));
                assert_eq!(codes(&tlp), expected, "{} {routing} {have_dw} {tc}", known.name);
            }
        }
    }
}
