//! What may be wrong with a TLP, as values and sentences.

use super::message::{MessageData, routings};

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
    #[error("{length_dw} DW from {address:#x} cross a 4 KiB boundary")]
    PageCrossing { address: u64, length_dw: u16 },
    #[error("address {address:#x} is below 4 GiB, where the header must have three DW")]
    WideHeader { address: u64 },
    #[error("last BE is {last_be:04b}, but must be 0000 with a length of 1 DW")]
    LastByteEnables { last_be: u8 },
    #[error("{which} BE is 0000, but the length is {length_dw} DW")]
    NoByteEnabled { which: &'static str, length_dw: u16 },
    #[error("first BE {first_be:04b} and last BE {last_be:04b} leave holes in {length_dw} DW")]
    ByteEnableHoles { first_be: u8, last_be: u8, length_dw: u16 },
    #[error("{name} cannot have a length of {length_dw} DW")]
    Length { name: &'static str, length_dw: u16 },
    #[error("{name} carries {bytes} bytes, but a completer announces {} at most", super::MOST_DEFERRABLE_BYTES)]
    DeferrableLength { name: &'static str, bytes: u32 },
    #[error("{name} must have traffic class, relaxed ordering, no snoop and AT 0")]
    PlainRequest { name: &'static str },
    #[error("AT 3 is reserved")]
    AddressType,
    #[error("AT 1 asks for a translation, which only MRd can, not {name}")]
    TranslationRequest { name: &'static str },
    #[error(
        "a translation request has an even length and all byte enables set, not {length_dw} DW with {first_be:04b} and {last_be:04b}"
    )]
    TranslationLength { length_dw: u16, first_be: u8, last_be: u8 },
    #[error("{name} of {operand} bytes must be at a multiple of {operand}, not at {address:#x}")]
    Alignment { name: &'static str, operand: u32, address: u64 },
    #[error("{name} must have traffic class 0, not {tc}")]
    TrafficClass { name: &'static str, tc: u8 },
    #[error("{name} cannot have routing {routing:03b}; it has {}", routings(.due))]
    Routing { name: &'static str, routing: u8, due: &'static [u8] },
    #[error("{name} must have {}, not {have_dw} DW", .due.text())]
    MessageData { name: &'static str, have_dw: u16, due: MessageData },
    #[error("{name} must have neither relaxed ordering nor no snoop")]
    MessageAttributes { name: &'static str },
    #[error("completion status {status} is reserved")]
    Status { status: u8 },
    #[error("a completion with data has status {status}, not SC")]
    DataWithoutSuccess { status: u8 },
    #[error("{length_dw} DW are more than the byte count {byte_count} at lower address {lower_address:#04x} leaves")]
    ByteCount { length_dw: u16, byte_count: u16, lower_address: u8 },
    #[error(
        "{length_dw} DW of {byte_count} bytes from lower address {lower_address:#04x} end at no multiple of 64 B, where alone a read may be split"
    )]
    CompletionSplit { length_dw: u16, byte_count: u16, lower_address: u8 },
    #[error("{have} End-End prefixes: a TLP has {} at most", super::prefix::MOST_END_TO_END)]
    EndToEndPrefixes { have: usize },
    #[error("the local prefix {} stands behind an End-End prefix: local ones stand first", hex::encode(.prefix))]
    LocalPrefixBehind { prefix: [u8; 4] },
    #[error("an IDE prefix stands behind another End-End prefix: it is the first of them")]
    IdePrefixBehind,
    #[error("{name} has a PASID prefix, which only requests to memory and messages of address translation have")]
    PasidPrefix { name: &'static str },
    #[error("reserved bits are set, which a receiver ignores")]
    ReservedBits,
    #[error("the ECRC of this TLP is {}, the digest is {}", hex::encode(.expected), hex::encode(.found))]
    Ecrc { expected: [u8; 4], found: [u8; 4] },
}

impl Finding {
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
