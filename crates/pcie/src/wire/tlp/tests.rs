use super::*;
use proptest::prelude::*;

const WRITE: &str = r#""fmt":3,"type":0,"length_dw":16,"address":4294967296,"first_be":15,"last_be":15"#;

/// What is wrong with a write of which one pair is another, or stands beside the rest.
fn refused(from: &str, to: &str) -> String {
    assert!(serde_json::from_str::<TlpRepr>(&format!("{{{WRITE}}}")).is_ok());
    let changed = format!("{{{}}}", WRITE.replace(from, to));
    serde_json::from_str::<TlpRepr>(&changed).unwrap_err().to_string()
}

#[test]
fn wrong_fields_are_refused_by_name() {
    let beside = |pair: &str| refused("\"fmt\":3", &format!("\"fmt\":3,{pair}"));
    for (message, expected) in [
        (refused(",\"address\":4294967296", ""), "fmt 3 with type 0 needs the field `address`"),
        (refused(",\"length_dw\":16", ""), "missing field `length_dw`"),
        (beside("\"tag\":1024"), "`tag` is 1024, but must lie in 0..=1023"),
        (beside("\"tc\":256"), "invalid value: integer `256`, expected u8"),
        (beside("\"tag\":null"), "invalid type: null, expected u16"),
        (beside("\"ph\":1"), "`ph` is 1, but a hint needs `th` 1"),
        (refused("\"length_dw\":16", "\"length_dw\":0"), "`length_dw` is 0, but must lie in 1..=1024"),
        (refused("\"fmt\":3", "\"fmt\":2"), "`address` is 4294967296, but must lie in 0..=4294967295"),
        (refused("96,", "97,"), "`address` is 0x100000001, but must be a multiple of 4: bytes are chosen by first_be"),
        (refused("\"type\":0", "\"type\":9"), "Fmt 3 with Type 01001 (first byte 69) is reserved"),
        (
            beside("\"status\":0"),
            "MWr64 has no field `status`; beside those of every TLP it has `address`, `first_be`, `last_be`, `ph`",
        ),
    ] {
        assert!(message.starts_with(expected), "{message}");
    }
}

/// What a row cannot say: that the bits of a header are each those of one field, so that none is read twice.
#[test]
fn no_two_fields_of_a_kind_share_a_bit() {
    for kind in &KINDS {
        let mut taken = [0_u8; 16];
        for &(byte, low, count) in kind.fields().flat_map(|field| field.runs) {
            let bits = (0xff_u16 >> (8 - count) << low) as u8;
            assert_eq!(taken[usize::from(byte)] & bits, 0, "{} byte {byte}", kind.name);
            taken[usize::from(byte)] |= bits;
            assert!(usize::from(byte) < if kind.first & 0x20 == 0 { 12 } else { 16 }, "{}", kind.name);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_bytes_parse_without_panic_and_what_parses_round_trips(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
        let _ = TlpView::new_checked(&bytes);
        let Ok(view) = TlpView::new_header(&bytes) else { return Ok(()) };
        let _ = (view.check(), view.payload(), view.digest(), view.prefixes(), view.ecrc());
        let Ok(repr) = TlpRepr::parse(&view) else { return Ok(()) };
        prop_assert_eq!(TlpRepr::parse(&TlpView::new_header(repr.emit()).unwrap()), Ok(repr));
        let json = serde_json::to_string(&repr).unwrap();
        prop_assert_eq!(serde_json::from_str::<TlpRepr>(&json).unwrap(), repr);
    }
}
