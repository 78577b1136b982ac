//! The kinds of DLLP and their fields, a row each. [`super::super::table`] says what follows from a row.

use crate::wire::table::{
    Code::{Flag, Name, Scale},
    Field,
    Form::{Bytes, Decimal, Hex, Names},
    Kind, always, kind, own,
};

const TYPE: &[Field] = &[always("type", &[(0, 0, 8)]).code(Name).silent()];

const SEQUENCE: &[Field] = &[own("seq", &[(3, 0, 8), (2, 0, 4)]).text("sequence", Decimal)];

const CREDITS: &[Field] = &[
    own("vc", &[(0, 0, 3)]).unless_zero().text("virtual channel", Decimal),
    own("hdr_scale", &[(1, 6, 2)]).code(Scale).unless_zero().silent(),
    own("hdr_fc", &[(2, 6, 2), (1, 0, 6)]).silent(),
    own("data_scale", &[(2, 4, 2)]).code(Scale).unless_zero().silent(),
    own("data_fc", &[(3, 0, 8), (2, 0, 4)]).silent(),
];

const FEATURES: &[Field] = &[
    own("feature_support", &[(3, 0, 8), (2, 0, 8), (1, 0, 7)]).text("features", Hex(8)),
    own("feature_ack", &[(1, 7, 1)]).code(Flag).text("acknowledged", Names(&["no", "yes"])),
];

const CONTENT: &[Field] = &[own("content", &[(3, 0, 8), (2, 0, 8), (1, 0, 8)]).unless_zero().text("content", Bytes)];

/// A kind of flow control. The low three bits of its first byte are the virtual channel.
const fn credits(name: &'static str, first: u8) -> Kind {
    Kind { mask: 0xf8, ..kind(name, first, &[TYPE, CREDITS]) }
}

pub static KINDS: [Kind; 18] = [
    kind("ACK", 0x00, &[TYPE, SEQUENCE]),
    kind("NAK", 0x10, &[TYPE, SEQUENCE]),
    credits("INIT_FC1_P", 0x40),
    credits("INIT_FC1_NP", 0x50),
    credits("INIT_FC1_CPL", 0x60),
    credits("INIT_FC2_P", 0xc0),
    credits("INIT_FC2_NP", 0xd0),
    credits("INIT_FC2_CPL", 0xe0),
    credits("UPDATE_FC_P", 0x80),
    credits("UPDATE_FC_NP", 0x90),
    credits("UPDATE_FC_CPL", 0xa0),
    kind("DATA_LINK_FEATURE", 0x02, &[TYPE, FEATURES]),
    kind("VENDOR", 0x30, &[TYPE, CONTENT]),
    kind("NOP", 0x31, &[TYPE, CONTENT]),
    kind("PM_ENTER_L1", 0x20, &[TYPE]),
    kind("PM_ENTER_L23", 0x21, &[TYPE]),
    kind("PM_ACTIVE_STATE_REQ_L1", 0x23, &[TYPE]),
    kind("PM_REQ_ACK", 0x24, &[TYPE]),
];
