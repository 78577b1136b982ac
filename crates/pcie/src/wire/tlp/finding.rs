//! What may be wrong with a TLP, as values and sentences.

use super::message::{MessageData, routings};

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
    /// Last BE set although there is one DW.
    #[error("last BE is {last_be:04b}, but must be 0000 with a length of 1 DW")]
    LastByteEnables {
        /// Byte enables of the last DW, 4 bits.
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
        /// Byte enables of the last DW, 4 bits.
        last_be: u8,
        /// Length in DW.
        length_dw: u16,
    },
    /// A length that this kind of TLP cannot have.
    #[error("{name} cannot have a length of {length_dw} DW")]
    Length {
        /// What the kind of TLP is called.
        name: &'static str,
        /// Length in DW.
        length_dw: u16,
    },
    /// A deferrable write that is longer than any completer announces to take.
    #[error("{name} carries {bytes} bytes, but a completer announces {} at most", super::MOST_DEFERRABLE_BYTES)]
    DeferrableLength {
        /// What the kind of TLP is called.
        name: &'static str,
        /// Bytes of data.
        bytes: u32,
    },
    /// Traffic class, attributes or address type set where they must be 0.
    #[error("{name} must have traffic class, relaxed ordering, no snoop and AT 0")]
    PlainRequest {
        /// What the kind of TLP is called.
        name: &'static str,
    },
    /// Address type 3.
    #[error("AT 3 is reserved")]
    AddressType,
    /// A translation request that is no read.
    #[error("AT 1 asks for a translation, which only MRd can, not {name}")]
    TranslationRequest {
        /// What the kind of TLP is called.
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
        /// Byte enables of the last DW, 4 bits.
        last_be: u8,
    },
    /// An AtomicOp whose address is no multiple of its operand.
    #[error("{name} of {operand} bytes must be at a multiple of {operand}, not at {address:#x}")]
    Alignment {
        /// What the kind of TLP is called.
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
    /// More End-End prefixes than any receiver can announce to take.
    #[error("{have} End-End prefixes: a TLP has {} at most", super::prefix::MOST_END_TO_END)]
    EndToEndPrefixes { have: usize },
    /// A local prefix that is not before the End-End ones.
    #[error("the local prefix {} stands behind an End-End prefix: local ones stand first", hex::encode(.prefix))]
    LocalPrefixBehind { prefix: [u8; 4] },
    /// An IDE prefix that is not the first End-End one.
    #[error("an IDE prefix stands behind another End-End prefix: it is the first of them")]
    IdePrefixBehind,
    /// A PASID prefix before what has no address space.
    #[error("{name} has a PASID prefix, which only requests to memory and messages of address translation have")]
    PasidPrefix {
        /// What the kind of TLP is called.
        name: &'static str,
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
    pub const fn code(&self) -> &'static str {
        match self {
            Self::PageCrossing { .. } => "page_crossing",
            Self::WideHeader { .. } => "wide_header",
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
            Self::EndToEndPrefixes { .. } => "prefixes",
            Self::LocalPrefixBehind { .. } | Self::IdePrefixBehind => "prefix_order",
            Self::PasidPrefix { .. } => "prefix_kind",
            Self::ReservedBits => "reserved_bits",
            Self::Ecrc { .. } => "ecrc",
        }
    }
}
