//! The kinds of TLP and their fields, a row each. [`super::super::table`] says what follows from a row.

use super::STATUS;
use crate::wire::table::{
    Code::{Hex as Bytes, Times4, With, ZeroIs},
    Field,
    Form::{self, Binary, Dw, Flags, Hex, Id, Named, Names, NotZero},
    Kind, Run, always, common, kind, own,
};

const fn flag(name: &'static str, bits: &'static [Run], says: &'static [(u64, &'static str)]) -> Field {
    common(name, bits).text("flags", Flags(says)).rank(4)
}

const FIRST: &[Field] = &[
    always("fmt", &[(0, 5, 3)]).text("fmt, type", Form::Decimal).rank(0),
    always("type", &[(0, 0, 5)]).text("fmt, type", Binary(5)).rank(0),
];

pub(in crate::wire) const LENGTH_RUNS: &[Run] = &[(3, 0, 8), (2, 0, 2)];
const LENGTH: &[Field] = &[always("length_dw", LENGTH_RUNS).code(ZeroIs(1024)).text("length", Dw).rank(1)];
/// Of TLPs that have a length with data alone.
const RESERVED_LENGTH: &[Field] = &[always("length_dw", LENGTH_RUNS).text("length", Dw).rank(1)];

pub(in crate::wire) const ATTRIBUTES: &[(u64, &str)] =
    &[(2, "relaxed ordering"), (1, "no snoop"), (4, "ID-based ordering")];
const ADDRESS_TYPES: &[&str] = &["", "1 (translation request)", "2 (translated)", "3 (reserved)"];

const COMMON: &[Field] = &[
    common("tc", &[(1, 4, 3)]).text("traffic class", NotZero).rank(5),
    flag("attr", &[(2, 4, 2), (1, 2, 1)], ATTRIBUTES),
    common("at", &[(2, 2, 2)]).text("address type", Names(ADDRESS_TYPES)).rank(6),
    flag("td", &[(2, 7, 1)], &[(1, "digest (TD)")]),
    flag("ep", &[(2, 6, 1)], &[(1, "poisoned (EP)")]),
    flag("th", &[(1, 0, 1)], &[(1, "processing hints (TH)")]),
    flag("ln", &[(1, 1, 1)], &[(1, "lightweight notification (LN)")]),
];

const REQUEST: &[Field] = &[
    common("tag", &[(6, 0, 8), (1, 3, 1), (1, 7, 1)]).text("tag", Hex(5)).rank(3),
    common("requester_id", &[(5, 0, 8), (4, 0, 8)]).text("requester", Id).rank(2),
];

const CONFIGURATION: &[Field] = &[
    own("completer_id", &[(9, 0, 8), (8, 0, 8)]).text("destination", Id),
    own("address", &[(11, 2, 6), (10, 0, 4)]).code(Times4).text("register", Hex(5)),
];

const ADDRESS_32: &[Field] =
    &[own("address", &[(11, 2, 6), (10, 0, 8), (9, 0, 8), (8, 0, 8)]).code(Times4).text("address", Hex(0))];
pub(in crate::wire) const RUNS_64: &[Run] =
    &[(15, 2, 6), (14, 0, 8), (13, 0, 8), (12, 0, 8), (11, 0, 8), (10, 0, 8), (9, 0, 8), (8, 0, 8)];
const ADDRESS_64: &[Field] = &[own("address", RUNS_64).code(Times4).text("address", Hex(0))];

const ENABLES: &[Field] = &[
    own("first_be", &[(7, 0, 4)]).text("first, last BE", Binary(4)),
    own("last_be", &[(7, 4, 4)]).text("first, last BE", Binary(4)),
];

const HINT_32: &[Field] = &[own("ph", &[(11, 0, 2)]).code(With("th")).or_zero().text("hint (PH)", Form::Decimal)];
const HINT_64: &[Field] = &[own("ph", &[(15, 0, 2)]).code(With("th")).or_zero().text("hint (PH)", Form::Decimal)];

const COMPLETION: &[Field] = &[
    common("tag", &[(10, 0, 8), (1, 3, 1), (1, 7, 1)]).text("tag", Hex(5)).rank(3),
    common("requester_id", &[(9, 0, 8), (8, 0, 8)]).text("requester", Id).rank(2),
    own("completer_id", &[(5, 0, 8), (4, 0, 8)]).text("completer", Id),
    own("status", &[(6, 5, 3)]).text("status", Named(&STATUS)),
    own("bcm", &[(6, 4, 1)]).or_zero().text("BCM", NotZero).rank(11),
    own("byte_count", &[(7, 0, 8), (6, 0, 4)]).code(ZeroIs(4096)).text("byte count", Form::Decimal),
    own("lower_address", &[(11, 0, 7)]).text("lower address", Hex(4)),
];

const RUNS_CONTENT: &[Run] =
    &[(15, 0, 8), (14, 0, 8), (13, 0, 8), (12, 0, 8), (11, 0, 8), (10, 0, 8), (9, 0, 8), (8, 0, 8)];
const MESSAGE: &[Field] = &[
    own("message_code", &[(7, 0, 8)]).text("message code", Hex(4)),
    own("message_content", RUNS_CONTENT).code(Bytes).text("content", Form::Bytes),
];

const CONFIG: &[&[Field]] = &[FIRST, LENGTH, COMMON, REQUEST, CONFIGURATION, ENABLES];
const IO: &[&[Field]] = &[FIRST, LENGTH, COMMON, REQUEST, ADDRESS_32, ENABLES];
const MEMORY_32: &[&[Field]] = &[FIRST, LENGTH, COMMON, REQUEST, ADDRESS_32, ENABLES, HINT_32];
const MEMORY_64: &[&[Field]] = &[FIRST, LENGTH, COMMON, REQUEST, ADDRESS_64, ENABLES, HINT_64];

pub static KINDS: [Kind; 26] = [
    kind("CfgRd0", 0x04, CONFIG),
    kind("CfgWr0", 0x44, CONFIG),
    kind("CfgRd1", 0x05, CONFIG),
    kind("CfgWr1", 0x45, CONFIG),
    kind("IORd", 0x02, IO),
    kind("IOWr", 0x42, IO),
    kind("MRd32", 0x00, MEMORY_32),
    kind("MRd64", 0x20, MEMORY_64),
    kind("MRdLk32", 0x01, MEMORY_32),
    kind("MRdLk64", 0x21, MEMORY_64),
    kind("MWr32", 0x40, MEMORY_32),
    kind("MWr64", 0x60, MEMORY_64),
    kind("DMWr32", 0x5b, MEMORY_32),
    kind("DMWr64", 0x7b, MEMORY_64),
    kind("FetchAdd32", 0x4c, MEMORY_32),
    kind("FetchAdd64", 0x6c, MEMORY_64),
    kind("Swap32", 0x4d, MEMORY_32),
    kind("Swap64", 0x6d, MEMORY_64),
    kind("CAS32", 0x4e, MEMORY_32),
    kind("CAS64", 0x6e, MEMORY_64),
    kind("Cpl", 0x0a, &[FIRST, RESERVED_LENGTH, COMMON, COMPLETION]),
    kind("CplD", 0x4a, &[FIRST, LENGTH, COMMON, COMPLETION]),
    kind("CplLk", 0x0b, &[FIRST, RESERVED_LENGTH, COMMON, COMPLETION]),
    kind("CplDLk", 0x4b, &[FIRST, LENGTH, COMMON, COMPLETION]),
    Kind { mask: 0xf8, ..kind("Msg", 0x30, &[FIRST, RESERVED_LENGTH, COMMON, REQUEST, MESSAGE]) },
    Kind { mask: 0xf8, ..kind("MsgD", 0x70, &[FIRST, LENGTH, COMMON, REQUEST, MESSAGE]) },
];
