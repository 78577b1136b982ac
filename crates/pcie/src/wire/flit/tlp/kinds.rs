//! The kinds of TLP in flit mode and their fields, a row each. [`super::super::super::table`] says what follows from a row.
//!
//! OHC moves with what is there. Rows have it in fixed places: A from byte 16 on, B from 20, C from 24, and E from 28.

use crate::wire::{
    table::{
        Code::{Hex as Bytes, Times4, ZeroIs},
        Field, Form,
        Form::{Binary, Dw, Flags, Hex, Id, Named, NotZero},
        Kind, always, common, kind, own,
    },
    tlp::{ATTRIBUTES, LENGTH_RUNS, RUNS_64, STATUS},
};

const FIRST: Field = always("type", &[(0, 0, 8)]).text("type", Hex(4)).rank(0);

const LENGTH: &[Field] = &[FIRST, always("length_dw", LENGTH_RUNS).code(ZeroIs(1024)).text("length", Dw).rank(1)];
const RESERVED_LENGTH: &[Field] = &[FIRST, always("length_dw", LENGTH_RUNS).text("length", Dw).rank(1)];

const COMMON: &[Field] = &[
    common("tc", &[(1, 5, 3)]).text("traffic class", NotZero).rank(5),
    common("attr", &[(2, 2, 3)]).text("flags", Flags(ATTRIBUTES)).rank(4),
    common("ts", &[(2, 5, 3)]).silent(),
    common("ep", &[(6, 7, 1)]).text("flags", Flags(&[(1, "poisoned (EP)")])).rank(4),
    common("tag", &[(7, 0, 8), (6, 0, 6)]).text("tag", Hex(6)).rank(3),
];

const OF_REQUESTS: &[Field] = &[common("requester_id", &[(5, 0, 8), (4, 0, 8)]).text("requester", Id).rank(2)];

const ADDRESS_32: &[Field] = &[
    own("address", &[(11, 2, 6), (10, 0, 8), (9, 0, 8), (8, 0, 8)]).code(Times4).text("address", Hex(0)),
    own("at", &[(11, 0, 2)]).or_zero().text("address type", NotZero),
];
const ADDRESS_64: &[Field] = &[
    own("address", RUNS_64).code(Times4).text("address", Hex(0)),
    own("at", &[(15, 0, 2)]).or_zero().text("address type", NotZero),
];

const A1: &[Field] = &[
    own("first_be", &[(19, 0, 4)]).within("ohc_a").text("first, last BE", Binary(4)),
    own("last_be", &[(19, 4, 4)]).within("ohc_a").text("first, last BE", Binary(4)),
    own("pasid", &[(18, 0, 8), (17, 0, 8), (16, 0, 4)]).within("ohc_a").silent(),
    own("pasid_flags", &[(16, 4, 4)]).within("ohc_a").silent(),
];

const COMPLETION: &[Field] = &[
    common("requester_id", &[(9, 0, 8), (8, 0, 8)]).text("requester", Id).rank(2),
    own("completer_id", &[(5, 0, 8), (4, 0, 8)]).text("completer", Id),
    own("byte_count", &[(11, 0, 8), (10, 0, 4)]).code(ZeroIs(4096)).text("byte count", Form::Decimal),
    // Its low two bits are sent with OHC-A5 alone.
    own("lower_address", &[(19, 3, 2), (10, 4, 4), (6, 6, 1)]).text("lower address", Hex(4)),
    own("status", &[(19, 0, 3)]).within("ohc_a").text("status", Named(&STATUS)),
    own("completer_segment", &[(17, 0, 8)]).within("ohc_a").silent(),
    own("destination_segment", &[(16, 0, 8)]).within("dsv").silent(),
    own("dsv", &[(18, 7, 1)]).implied(),
];

const OHC: &[Field] = &[
    own("ohc_a", &[(1, 0, 1)]).implied(),
    own("ohc_b_there", &[(1, 1, 1)]).implied(),
    own("ohc_c_there", &[(1, 2, 1)]).implied(),
    own("ohc_e_size", &[(1, 3, 2)]).implied(),
    own("ohc_b", &[(23, 0, 8), (22, 0, 8), (21, 0, 8), (20, 0, 8)]).code(Bytes).within("ohc_b_there").silent(),
    own("ohc_c", &[(27, 0, 8), (26, 0, 8), (25, 0, 8), (24, 0, 8)]).code(Bytes).within("ohc_c_there").silent(),
];

/// In JSON alone: it has up to 16 bytes.
pub(super) static OHC_E: Field = own("ohc_e", &[]).code(Bytes).or_zero().silent();

/// All kinds of TLP in flit mode that are read.
pub static KINDS: [Kind; 6] = [
    kind("MRd32", 0x03, &[LENGTH, COMMON, OF_REQUESTS, ADDRESS_32, A1, OHC]),
    kind("MRd64", 0x20, &[LENGTH, COMMON, OF_REQUESTS, ADDRESS_64, A1, OHC]),
    kind("MWr32", 0x40, &[LENGTH, COMMON, OF_REQUESTS, ADDRESS_32, A1, OHC]),
    kind("MWr64", 0x60, &[LENGTH, COMMON, OF_REQUESTS, ADDRESS_64, A1, OHC]),
    kind("Cpl", 0x0a, &[RESERVED_LENGTH, COMMON, COMPLETION, OHC]),
    kind("CplD", 0x4a, &[LENGTH, COMMON, COMPLETION, OHC]),
];
