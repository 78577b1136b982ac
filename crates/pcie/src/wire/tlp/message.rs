//! Messages by their code: name, routing, data.

use std::ops::RangeInclusive;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageData {
    Without,
    Dw(u16),
    /// None, or so many DW.
    UpTo(u16),
    Any,
}

impl MessageData {
    /// Whether so many DW are right.
    pub const fn takes(self, have_dw: u16) -> bool {
        match self {
            Self::Without => have_dw == 0,
            Self::Dw(due) => have_dw == due,
            Self::UpTo(due) => have_dw == 0 || have_dw == due,
            Self::Any => true,
        }
    }

    pub(super) fn text(self) -> String {
        match self {
            Self::Without => "no data".to_owned(),
            Self::Dw(due) => format!("{due} DW of data"),
            Self::UpTo(due) => format!("no data or {due} DW"),
            Self::Any => "any data".to_owned(),
        }
    }
}

/// What the specification says of the messages of some codes.
pub(super) struct MessageRule {
    pub(super) codes: RangeInclusive<u8>,
    pub(super) name: &'static str,
    /// The routings that it may have.
    pub(super) routing: &'static [u8],
    pub(super) data: MessageData,
    /// It must have traffic class 0, and neither relaxed ordering nor no snoop.
    pub(super) plain: bool,
}

const TO_ROOT: &[u8] = &[0b000];
const BY_ID: &[u8] = &[0b010];
const BROADCAST: &[u8] = &[0b011];
const LOCAL: &[u8] = &[0b100];
const GATHERED: &[u8] = &[0b101];
/// A vendor's messages go to the root, by ID, to all below, or no further.
const OF_VENDORS: &[u8] = &[0b000, 0b010, 0b011, 0b100];
/// The routings that mean something (2.2.8).
pub(super) const ANY_ROUTING: [u8; 6] = [0, 1, 2, 3, 4, LAST_ROUTING];
/// The last of them; 6 and 7 are reserved.
pub(super) const LAST_ROUTING: u8 = 5;

const fn one(code: u8, name: &'static str, routing: &'static [u8]) -> MessageRule {
    MessageRule { codes: code..=code, name, routing, data: MessageData::Without, plain: true }
}

/// Sections of the base specification: INTx 2.2.8.1, power management 2.2.8.2, errors 2.2.8.3, Unlock 2.2.8.4, slot power 2.2.8.5, vendors
/// 2.2.8.6, LTR 2.2.8.8, OBFF 2.2.8.9, PTM 2.2.8.10; invalidation and page requests chapter 10.
pub(super) static RULES: [MessageRule; 19] = [
    one(0x00, "Unlock", BROADCAST),
    MessageRule { data: MessageData::Dw(2), plain: false, ..one(0x01, "Invalidate Request", BY_ID) },
    MessageRule { plain: false, ..one(0x02, "Invalidate Completion", BY_ID) },
    MessageRule { plain: false, ..one(0x04, "Page Request", TO_ROOT) },
    MessageRule { plain: false, ..one(0x05, "PRG Response", BY_ID) },
    one(0x10, "LTR", LOCAL),
    one(0x12, "OBFF", LOCAL),
    one(0x14, "PM_Active_State_Nak", LOCAL),
    one(0x18, "PM_PME", TO_ROOT),
    one(0x19, "PME_Turn_Off", BROADCAST),
    one(0x1b, "PME_TO_Ack", GATHERED),
    MessageRule { codes: 0x20..=0x27, ..one(0x20, "INTx", LOCAL) },
    one(0x30, "ERR_COR", TO_ROOT),
    one(0x31, "ERR_NONFATAL", TO_ROOT),
    one(0x33, "ERR_FATAL", TO_ROOT),
    MessageRule { data: MessageData::Dw(1), ..one(0x50, "Set_Slot_Power_Limit", LOCAL) },
    one(0x52, "PTM Request", LOCAL),
    MessageRule { data: MessageData::UpTo(1), ..one(0x53, "PTM Response", LOCAL) },
    MessageRule { codes: 0x7e..=0x7f, data: MessageData::Any, plain: false, ..one(0x7e, "Vendor_Defined", OF_VENDORS) },
];

pub(super) fn rule(code: u8) -> Option<&'static MessageRule> {
    RULES.iter().find(|rule| rule.codes.contains(&code))
}

pub(super) fn routings(due: &[u8]) -> String {
    due.iter().map(|routing| format!("{routing:03b}")).collect::<Vec<_>>().join(", ")
}
