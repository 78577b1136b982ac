use super::*;
use crate::{
    split::{Completion, Request},
    wire::flit::tlp::FlitTlpError,
    wire::tlp::{Attributes, MemoryOp, TlpRepr, TlpView},
};
use proptest::prelude::*;

fn repr(hexadecimal: &str) -> FlitTlpRepr {
    let bytes = hex::decode(hexadecimal.replace(' ', "")).unwrap();
    let repr = FlitTlpRepr::parse(&FlitTlpView::new_header(&bytes).unwrap());
    assert_eq!(hex::encode(repr.emit()), hex::encode(&bytes));
    repr
}

#[test]
fn a_request_has_its_fields_at_their_bits() {
    let read = repr("202f0c10 01089234 00000001 fedcba9a 5123450f 00000001 11111111 22222222");
    assert_eq!((read.name(), read.length_dw(), read.payload_dw(), read.trailer()), ("MRd64", 16, 0, TrailerSize::None));
    let values = ["tc", "requester_id", "tag", "ep", "attr"].map(|field| read.value(field));
    assert_eq!(values, [1, 0x108, 0x1234, 1, 3]);
}

#[test]
fn each_ohc_stands_behind_the_base_in_order() {
    let write = repr("40000001 01000002 00001000");
    assert_eq!(
        (write.get("ohc_b"), write.get("ohc_c"), write.get("first_be"), write.ohc_e().len()),
        (None, None, None, 0)
    );
    let all = repr("401f0001 01000002 00001002 c234560f 0b0b0b0b 0c0c0c0c e0e0e0e0 e1e1e1e1 e2e2e2e2 e3e3e3e3");
    for (field, value) in [
        ("address", 0x1000),
        ("at", 2),
        ("pasid_flags", 0xc),
        ("pasid", 0x23456),
        ("last_be", 0),
        ("first_be", 15),
        ("ohc_b", 0x0b0b_0b0b),
        ("ohc_c", 0x0c0c_0c0c),
    ] {
        assert_eq!(all.get(field), Some(value), "{field}");
    }
    assert_eq!(all.ohc_e(), [[0xe0; 4], [0xe1; 4], [0xe2; 4], [0xe3; 4]]);
    assert_eq!(repr("40080001 01000002 00001000 e0e0e0e0").ohc_e().len(), 1);
    assert_eq!(repr("40100001 01000002 00001000 e0e0e0e0 e1e1e1e1").ohc_e().len(), 2);
}

#[test]
fn the_lower_address_of_a_completion_is_in_three_places() {
    let completion = repr("4a010001 00184007 01005ffd 0a0b8019");
    let values = ["completer_id", "byte_count", "lower_address", "destination_segment", "completer_segment", "status"];
    assert_eq!(values.map(|field| completion.value(field)), [0x18, 0xffd, 0x57, 10, 11, 1]);
    assert_eq!(["requester_id", "tag"].map(|field| completion.value(field)), [0x100, 7]);
    let plain = repr("0a000000 00180007 01000000");
    assert_eq!(["byte_count", "lower_address", "status"].map(|field| plain.get(field)), [Some(4096), Some(0), None]);
}

#[test]
fn a_tlp_ends_behind_its_trailer() {
    for (ts, trailer) in [(0, 0), (1, 4), (5, 12), (6, 16)] {
        let header = [0x40, 1, ts << 5, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff];
        let tlp = [&header[..], &[7; 8], &vec![9; trailer]].concat();
        let view = FlitTlpView::new_checked(&tlp).unwrap();
        assert_eq!((view.payload(), view.trailer().len()), (&[7; 8][..], trailer));
        let short = FlitTlpView::new_checked(&tlp[..tlp.len() - 1]).unwrap_err();
        assert!(matches!(short, FlitTlpError::Truncated { need, .. } if need == tlp.len()));
        let long = FlitTlpView::new_checked(&[&tlp[..], &[0]].concat()).unwrap_err();
        assert!(matches!(long, FlitTlpError::Surplus { need, .. } if need == tlp.len()));
    }
}

#[test]
fn what_is_not_known_is_refused_by_name() {
    let error = |bytes: &[u8]| FlitTlpView::new_header(bytes).unwrap_err().to_string();
    assert!(error(&[0x02; 12]).starts_with("type 02 is none of 03 (MRd32), 20 (MRd64)"));
    assert_eq!(error(&[0x40, 0, 0x40, 1]), "TS 2 announces a trailer of no known size");
    assert_eq!(error(&[0x40]), "the TLP is cut off: its header ends at byte 4, there are 1 bytes");
    assert_eq!(error(&[0x60, 3, 0, 1]), "the TLP is cut off: its header ends at byte 24, there are 4 bytes");
}

#[test]
fn json_says_what_is_wrong() {
    let refused = |json: &str| serde_json::from_str::<FlitTlpRepr>(json).unwrap_err().to_string();
    let write = r#""type":64,"length_dw":1"#;
    let completion = r#""type":74,"length_dw":1,"completer_id":0,"byte_count":4"#;
    for (json, message) in [
        (r#"{"type":1,"length_dw":1}"#.to_owned(), "`type` 1 is none of 3 (MRd32)"),
        (format!("{{{write}}}"), "MWr32 needs the field `address`"),
        (format!(r#"{{{write},"address":2}}"#), "a multiple of 4"),
        (format!(r#"{{{write},"address":4294967296}}"#), "`address` is 4294967296"),
        (format!(r#"{{{write},"address":0,"first_be":1}}"#), "MWr32 needs the field `last_be` beside `first_be`"),
        (format!(r#"{{{write},"address":0,"pasid":1}}"#), "MWr32 needs the field `first_be` beside `pasid`"),
        (format!(r#"{{{write},"address":0,"status":1}}"#), "MWr32 has no field `status`"),
        (format!(r#"{{{write},"address":0,"ts":2}}"#), "`ts` is 2, but must be 0, 1, 5 or 6"),
        (format!(r#"{{{write},"address":0,"tag":16384}}"#), "`tag` is 16384, but must lie in 0..=16383"),
        (format!(r#"{{{write},"address":0,"ohc_b":""}}"#), "`ohc_b` must be 8 hexadecimal digits"),
        (format!(r#"{{{write},"address":0,"ohc_e":"000000000000000000000000"}}"#), "`ohc_e` must be 8, 16 or 32"),
        (format!(r#"{{{completion},"lower_address":1}}"#), "add \\\"status\\\": 0"),
        (format!(r#"{{{completion},"lower_address":0,"completer_segment":1}}"#), "needs the field `status` beside"),
    ] {
        let given = refused(&json);
        assert!(given.contains(&message.replace("\\\"", "\"")), "{given}");
    }
}

fn request() -> impl Strategy<Value = TlpRepr> {
    let op = prop::sample::select(vec![MemoryOp::Read, MemoryOp::Write]);
    (op, any::<u64>(), 0..=4092_u32, any::<u16>(), 0..1024_u16, 0..8_u8).prop_map(
        |(op, address, bytes, id, tag, attr)| {
            // Within a page, from any of its first four bytes.
            let address = address >> 12 << 12;
            TlpRepr::memory(
                op,
                Request { address: address + u64::from(tag & 3), bytes },
                id,
                tag,
                Attributes::from_bits(attr),
            )
        },
    )
}

fn completion() -> impl Strategy<Value = TlpRepr> {
    (request(), 1..=1024_u16, 1..=4096_u16, 0..128_u8, any::<u16>()).prop_map(
        |(request, length_dw, byte_count, low, id)| {
            TlpRepr::completion(
                &request,
                Completion { address: 0, bytes: 0, length_dw, byte_count, lower_address: low },
                id,
            )
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_bytes_parse_without_panic_and_what_parses_round_trips(
        mut bytes in prop::collection::vec(any::<u8>(), 0..60),
        code in prop::sample::select(vec![3, 0x20, 0x40, 0x60, 0x0a, 0x4a, 0, 0xff]),
        trailer in any::<bool>(),
    ) {
        if let Some(first) = bytes.first_mut() {
            *first = code;
        }
        if let (Some(flags), false) = (bytes.get_mut(2), trailer) {
            *flags &= 0x1f;
        }
        let _ = FlitTlpView::new_checked(&bytes);
        let Ok(view) = FlitTlpView::new_header(&bytes) else { return Ok(()) };
        let _ = (view.payload(), view.trailer(), view.header(), view.total_bytes());
        let repr = FlitTlpRepr::parse(&view);
        let header = repr.emit();
        prop_assert_eq!(header.len(), view.header_bytes());
        prop_assert_eq!(FlitTlpRepr::parse(&FlitTlpView::new_header(&header).unwrap()), repr);
        let json = serde_json::to_string(&repr).unwrap();
        prop_assert_eq!(serde_json::from_str::<FlitTlpRepr>(&json).unwrap(), repr);
        if let Ok(plain) = repr.to_non_flit() {
            let header = plain.emit();
            prop_assert_eq!(TlpRepr::parse(&TlpView::new_header(header).unwrap()), Ok(plain));
        }
    }

    #[test]
    fn requests_and_completions_convert_and_come_back(plain in prop_oneof![request(), completion()]) {
        let flit = FlitTlpRepr::from_non_flit(&plain).unwrap();
        prop_assert_eq!(flit.name(), plain.name());
        prop_assert_eq!(flit.to_non_flit(), Ok(plain));
        let header = flit.emit();
        prop_assert_eq!(FlitTlpRepr::parse(&FlitTlpView::new_header(&header).unwrap()), flit);
        // The same fields, but for a DW where bytes are enabled one by one.
        let plain_dw = usize::from(plain.total_dw() - plain.payload_dw());
        prop_assert!((plain_dw..=plain_dw + 1).contains(&(header.len() / 4)));
    }
}

#[test]
fn what_has_no_counterpart_is_refused_by_name() {
    let read = TlpRepr::memory(MemoryOp::Read, Request { address: 0, bytes: 4 }, 0, 0, Attributes::default());
    let refused = FlitTlpRepr::from_non_flit(&read.with(&[("th", 1)])).unwrap_err().to_string();
    assert_eq!(refused, "MRd32 with processing hints has no counterpart in the other mode");
    let atomic = TlpRepr::memory(MemoryOp::Swap, Request { address: 0, bytes: 4 }, 0, 0, Attributes::default());
    assert_eq!(FlitTlpRepr::from_non_flit(&atomic).unwrap_err().what, "this type");
    let long_tag = FlitTlpRepr::from_non_flit(&read).unwrap().with(&[("tag", 0x400)]);
    assert_eq!(long_tag.to_non_flit().unwrap_err().what, "a tag of more than 10 bits");
    let hinted = long_tag.with(&[("ohc_b_there", 1), ("tag", 0)]);
    assert_eq!(hinted.to_non_flit().unwrap_err().what, "OHC-B");
}
