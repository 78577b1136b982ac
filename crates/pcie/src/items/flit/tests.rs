use super::{
    super::{
        Form,
        tests::{json, printed},
    },
    *,
};
use crate::wire::flit::{DLP_BYTES, FlitRepr, stream};
use proptest::{prelude::*, sample::select};

fn codes(items: &[Item]) -> Vec<&str> {
    items.iter().flat_map(|item| &item.problems).map(|problem| problem.code.as_str()).collect()
}

fn encoded(text: &str) -> Vec<u8> {
    encode::lines(text).unwrap().concat()
}

fn refused(text: &str) -> String {
    format!("{}", encode::lines(text).unwrap_err())
}

/// A write of so many DW, as an object.
fn write(dw: usize) -> String {
    let payload = "5a".repeat(4 * dw);
    format!(
        r#"{{"kind":"flit_tlp","payload":"{payload}","fields":{{"type":96,"length_dw":{dw},"address":4294967296}}}}"#
    )
}

#[test]
fn a_tlp_over_three_flits_is_one_item_and_comes_back() {
    let flits = encoded(&(write(150) + &write(1)));
    assert_eq!(flits.len(), 3 * BYTES);
    let items = items(&flits);
    assert_eq!(codes(&items), [""; 0]);
    let text = printed(&items);
    assert!(text.starts_with("Flit, payload: explicit sequence number 1\n"), "{text}");
    assert!(text.contains("MWr64: 600 bytes at 0x100000000\n"), "{text}");
    assert!(text.contains("byte enables    all, without OHC-A1\n") && text.contains("NOP TLP, 18 times\n"), "{text}");
    assert_eq!(encoded(&json(&items)), flits);
}

#[test]
fn flits_that_are_missing_are_made_with_the_next_sequence_numbers() {
    let flit = r#"{"kind":"flit","fields":{"usage":1,"seq":1022}}"#;
    let ack = r#"{"kind":"flit","fields":{"usage":0,"seq":9,"replay_command":1,"dllp":"31000000"}}"#;
    let items = items(&encoded(&(write(170) + flit + ack)));
    let text = printed(&items);
    for line in [
        "payload: explicit sequence number 1022\n",
        "Flit, NOP: Ack of sequence number 9\n  usage           0\n  prior flit      no payload\n",
        "  DLLP            31000000  NOP\n",
        "payload: explicit sequence number 1023\n  usage           1\n  prior flit      no payload\n",
        "payload: explicit sequence number 1\n  usage           1\n  prior flit      payload\n",
        "MWr64: 680 bytes",
    ] {
        assert!(text.contains(line), "{line}{text}");
    }
}

#[test]
fn zeros_are_an_idle_flit() {
    let items = items(&[0; BYTES]);
    assert!(printed(&items).starts_with("Flit, IDLE: explicit sequence number 0\n"));
    assert_eq!((items.len(), codes(&items).len()), (1, 0));
    assert_eq!(encoded(&json(&items)), [0; BYTES]);
}

#[test]
fn what_the_ecc_corrects_is_said_and_comes_back_corrected() {
    let good = encoded(&write(3));
    let mut flit = good.clone();
    flit[16] ^= 0x81;
    flit[17] ^= 0xff;
    flit[255] ^= 1;
    let items = items(&flit);
    assert_eq!(codes(&items), ["corrected"]);
    let text = printed(&items);
    assert!(text.contains("byte 255, bits 01\n") && text.contains("byte 17, bits ff\n"), "{text}");
    assert!(json(&items).contains(r#"{"byte":16,"bits":"81"}"#));
    assert_eq!(encoded(&json(&items)), good);
}

#[test]
fn behind_a_lost_flit_no_tlp_is_read() {
    let mut flits = encoded(&(write(100) + &write(100)));
    assert_eq!(flits.len(), 4 * BYTES);
    for place in [0, 3] {
        flits[BYTES + place] ^= 1;
    }
    flits[BYTES + 6] ^= 1;
    let items = items(&flits);
    let codes = codes(&items);
    assert!(matches!(codes[..], ["flit_ecc" | "flit_crc", "truncated", "tlps_not_read", "tlps_not_read"]), "{codes:?}");
    // The bytes stay, so the two flits behind come back.
    let others: Vec<_> = items.into_iter().filter(|item| !matches!(item.content, Content::Unreadable { .. })).collect();
    assert_eq!(encoded(&json(&others))[2 * BYTES..], flits[2 * BYTES..]);
}

#[test]
fn a_lost_flit_without_tlps_takes_none_with_it() {
    let idle = |prior| format!(r#"{{"kind":"flit","fields":{{"usage":0,"seq":0,"prior_payload":{prior}}}}}"#);
    let payload = |prior| format!(r#"{{"kind":"flit","fields":{{"usage":1,"seq":5,"prior_payload":{prior}}}}}"#);
    for (prior, expected) in [(0, &["flit_crc"][..]), (1, &["flit_crc", "truncated", "tlps_not_read"])] {
        let mut flits = encoded(&(payload(0) + &idle(1) + &payload(prior) + &write(100)));
        for place in [0, 3] {
            flits[BYTES + place] ^= 1;
        }
        let items = items(&flits);
        assert_eq!(codes(&items), expected);
        assert_eq!(printed(&items).contains("MWr64: 400 bytes"), prior == 0);
    }
}

#[test]
fn each_fault_has_its_name() {
    let dlp = |usage: u8| Dlp::parse([usage << 6, 1, 0, 0, 0, 0]);
    let flit = |usage, first: &[u8]| {
        let tlp = stream::areas(first).next().unwrap();
        items(&FlitRepr { dlp: dlp(usage), tlp }.emit())
    };
    assert_eq!(codes(&flit(2, &[0])), ["reserved_usage"]);
    assert_eq!(codes(&flit(0, &[1])), ["reserved_bits"]);
    assert_eq!(codes(&flit(1, &[0, 0, 0, 1])), ["reserved_bits"]);
    assert_eq!(codes(&flit(1, &[0x44])), ["flit_type"]);
    assert_eq!(codes(&flit(1, &[0x40, 0, 0x60])), ["trailer_size"]);
    assert_eq!(codes(&flit(1, &[0x40, 0, 0, 100])), ["truncated"]);
    assert_eq!(codes(&flit(1, &[0x03, 0, 0, 0, 0, 0, 0x40])), ["reserved_bits"]);
    assert_eq!(codes(&flit(1, &[0x03, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0xf, 0xfc])), ["page_crossing"]);
    assert_eq!(codes(&items(&[0; BYTES + 1])), ["truncated"]);
    let text = flit(1, &[0x40, 0, 0, 100])[1].problems[0].text.clone();
    assert_eq!(
        text,
        "the TLP is cut off: its data ends at byte 412, there are 236 bytes; the rest would stand in the next payload flit"
    );
}

#[test]
fn encode_says_what_is_wrong() {
    let fields = r#""fields":{"type":64,"length_dw":1,"address":0}"#;
    for (text, message) in [
        (r#"{"kind":"tlp"}"#.to_owned(), "kind `tlp` does not stand on a link in flit mode"),
        (r#"{"kind":"flit"}"#.to_owned(), "`fields` is missing"),
        (r#"{"kind":"flit","payload":""}"#.to_owned(), "no key `payload`; it has `kind`, `name`, `fields`, `crc`"),
        (r#"{"kind":"flit","fields":{"usage":1}}"#.to_owned(), "missing field `seq`"),
        (r#"{"kind":"flit","tlp_bytes":"00","fields":{"usage":1,"seq":1}}"#.to_owned(), "`tlp_bytes` has 1 bytes"),
        (format!(r#"{{"kind":"flit_tlp",{fields}}}"#), "`payload` has 0 bytes, but MWr32 with `length_dw` 1 carries 4"),
        (format!(r#"{{"kind":"flit_tlp",{fields},"payload":"00000000","trailer":"00"}}"#), "with `ts` 0 there are 0"),
        (r#"{"kind":"nop","count":0}"#.to_owned(), "`count` must lie in 1..=524288"),
        (r#"{"kind":"nop","count":524288}{"kind":"nop","count":1}"#.to_owned(), "`count` must lie in"),
        (r#"{"kind":"unreadable","bytes":"00"}"#.to_owned(), "kind `unreadable` has no fields"),
        (String::new(), "no JSON object"),
    ] {
        let given = refused(&text);
        assert!(given.contains(message), "{given}");
    }
    let nop = super::super::encode::lines(r#"{"kind":"nop","count":1}"#, Form::Tlps).unwrap_err();
    assert!(format!("{}", nop).contains("`nop` stands only on a link in flit mode"));
}

/// The bytes of TLPs and NOP TLPs behind each other.
fn tlps() -> impl Strategy<Value = Vec<u8>> {
    let header = (select(vec![3_u8, 0x20, 0x40, 0x60, 0x0a, 0x4a]), prop::collection::vec(any::<u8>(), 48));
    let tlp = (header, 0..80_u8, select(vec![0_u8, 1, 5, 6]), any::<u8>(), 0..70_usize);
    let bytes = tlp.prop_map(|((code, mut header), length, ts, fill, nops)| {
        // The length of a completion without data is reserved.
        let length = if code == 0x0a { 0 } else { length.max(1) };
        (header[0], header[2], header[3]) = (code, ts << 5 | header[2] & 0x1c, length);
        let header = FlitTlpRepr::parse(&FlitTlpView::new_header(&header).unwrap()).emit();
        let rest = FlitTlpView::new_header(&header).unwrap().total_bytes() - header.len();
        [header, vec![fill; rest], vec![0; 4 * nops]].concat()
    });
    prop::collection::vec(bytes, 0..12).prop_map(|tlps| tlps.concat())
}

/// Good flits: payload flits with TLPs, and other flits among them.
fn flits() -> impl Strategy<Value = Vec<u8>> {
    (tlps(), any::<[[u8; DLP_BYTES]; 16]>()).prop_map(|(tlps, dlps)| {
        let mut dlps = dlps.into_iter().cycle().map(Dlp::parse);
        let mut flit = |usage, tlp| FlitRepr { dlp: Dlp { usage, ..dlps.next().unwrap() }, tlp }.emit();
        let mut flits = flit(Usage::Nop, [0; TLP_BYTES]).to_vec();
        for (index, area) in stream::areas(&tlps).enumerate() {
            flits.extend(flit(Usage::Payload, area));
            if index % 3 == 0 {
                flits.extend(flit(Usage::Nop, [0; TLP_BYTES]));
            }
        }
        flits
    })
}

proptest! {
    #[test]
    fn good_flits_come_back_as_they_were(flits in flits()) {
        let items = items(&flits);
        prop_assert!(!codes(&items).iter().any(|code| ["reserved_bits", "flit_crc", "flit_ecc", "truncated"].contains(code)));
        prop_assert_eq!(encoded(&json(&items)), flits);
        prop_assert!(!printed(&items).is_empty());
    }

    #[test]
    fn any_bytes_decode_without_panic_and_print(
        flits in flits(),
        wrong in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..12),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = flits;
        for (place, bits) in wrong {
            let place = place.index(bytes.len());
            bytes[place] ^= bits;
        }
        bytes.truncate(cut.index(bytes.len() + 1));
        let items = items(&bytes);
        printed(&items);
        for item in &items {
            let _ = encode::lines(&json(std::slice::from_ref(item)));
        }
    }

    #[test]
    fn noise_decodes_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        printed(&items(&bytes));
    }
}
