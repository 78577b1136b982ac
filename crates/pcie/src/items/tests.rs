use super::{item::Content, *};
use proptest::prelude::*;
use serde_json::Value;

const GOLDEN: &str = include_str!("../../../../tests/golden/tlp-golden.json");

pub(super) fn json(items: &[Item]) -> String {
    items.iter().map(|item| serde_json::to_string(&document::Document::from(item)).unwrap() + "\n").collect()
}

pub(super) fn printed(items: &[Item]) -> String {
    let mut out = Vec::new();
    items.iter().for_each(|item| text::write(&mut out, item).unwrap());
    String::from_utf8(out).unwrap()
}

/// All golden TLPs and DLLPs in one of their forms.
fn golden(key: &str) -> Vec<Vec<u8>> {
    let golden: Value = serde_json::from_str(GOLDEN).unwrap();
    let cases = ["tlps", "dllps"].into_iter().flat_map(|list| golden[list].as_array().unwrap());
    cases.filter_map(|case| case[key].as_str()).map(|text| hex::decode(text).unwrap()).collect()
}

fn codes(bytes: &str, form: Form) -> Vec<String> {
    let items = decode::items(&hexadecimal::parse(bytes).unwrap(), form);
    items.into_iter().flat_map(|item| item.problems).map(|problem| problem.code).collect()
}

#[test]
fn encode_gives_back_every_golden_frame_that_decode_read() {
    for (key, count, form) in [
        ("tlp", 44, Form::Tlps),
        ("dllp", 16, Form::Dllp),
        ("gen3to5_wire", 60, Form::Wire),
        ("gen12_wire", 60, Form::Symbols),
    ] {
        let frames = golden(key);
        assert_eq!(frames.len(), count);
        for frame in frames {
            let items = decode::items(&frame, form);
            assert!(items[0].problems.is_empty(), "{items:?}");
            assert_eq!(encode::lines(&json(&items), form).unwrap(), [frame]);
        }
    }
}

#[test]
fn frames_in_one_stream_come_out_one_by_one() {
    let golden: Value = serde_json::from_str(GOLDEN).unwrap();
    let block = hex::decode(golden["x16_blocks"][1]["block"].as_str().unwrap()).unwrap();
    let items = decode::items(&block, Form::Wire);
    assert_eq!(items.len(), 5);
    assert_eq!(encode::lines(&json(&items), Form::Wire).unwrap().concat(), block);

    let tlps = self::golden("tlp");
    let items = decode::items(&tlps.concat(), Form::Tlps);
    assert_eq!(encode::lines(&json(&items), Form::Tlps).unwrap(), tlps);
}

#[test]
fn a_nullified_tlp_is_no_error_and_comes_back() {
    let golden: Value = serde_json::from_str(GOLDEN).unwrap();
    let frame = hex::decode(golden["nullified_tlp_example"]["gen3to5_wire"].as_str().unwrap()).unwrap();
    let items = decode::items(&frame, Form::Wire);
    assert!(items[0].problems.is_empty());
    assert!(json(&items).contains("\"nullified\":true"));
    assert_eq!(encode::lines(&json(&items), Form::Wire).unwrap(), [frame]);
}

#[test]
fn each_fault_has_its_name() {
    let gen3 = Form::Wire;
    let good = "5f006000000000010100000f123456784f2b77e3";
    assert_eq!(codes(good, gen3), [""; 0]);
    for (from, to, code) in [
        ("4f2b77e3", "4f2b77e2", "lcrc"),
        ("4f2b77e3", "b0d4881c", "nullified_without_edb"),
        ("4f2b77e3", "4f2b77e3c0c0c0c0", "edb_without_inversion"),
        ("5f0060", "5f8060", "parity"),
        ("5f0060", "5f0070", "fcrc"),
        ("5f0060", "500060", "no_token"),
        ("e3", "", "truncated"),
    ] {
        assert_eq!(codes(&good.replace(from, to), gen3), [code]);
    }
    assert_eq!(codes("c0c0c0c0", gen3), ["stray_edb"]);
    assert_eq!(codes("f0ac000000059618", gen3), ["crc16"]);
    assert_eq!(codes("f0ac000010050000", gen3), ["crc16", "reserved_bits"]);
    assert_eq!(codes("60000010010000ff0000000100000040", Form::Tlps), ["header_only"]);
    assert_eq!(codes("60000010010000ff000000010000004000", Form::Tlps), ["truncated"]);
    assert_eq!(codes("60000001010000ff0000000100000040 00000000", Form::Tlps), ["last_be"]);
    assert_eq!(codes("600000010100000f0000000100000041 00000000", Form::Tlps), ["reserved_bits"]);
    assert_eq!(codes("ff", Form::Tlps), ["reserved_fmt"]);
    assert_eq!(codes("1f0000000000000000000000", Form::Tlps), ["reserved_type"]);
    assert_eq!(codes("000000", Form::Dllp), ["dllp_size"]);
}

#[test]
fn a_digest_that_does_not_fit_is_an_error() {
    let mut tlp = golden("tlp").into_iter().find(|tlp| tlp[2] & 0x80 != 0).unwrap();
    *tlp.last_mut().unwrap() ^= 1;
    let items = decode::items(&tlp, Form::Tlps);
    assert_eq!(items[0].errors().map(|problem| problem.code.as_str()).collect::<Vec<_>>(), ["ecrc"]);
}

#[test]
fn encode_says_what_is_missing() {
    let refused = |text: &str, form| format!("{}", encode::lines(text, form).unwrap_err());
    let read = r#""fields":{"fmt":0,"type":0,"length_dw":1,"address":0,"first_be":15,"last_be":0}"#;
    let gen3 = Form::Wire;
    assert!(refused("{", Form::Tlps).contains("line 1"));
    assert!(refused("", Form::Tlps).contains("no JSON object"));
    assert!(refused(r#"{"kind":"tlp"}"#, Form::Tlps).contains("`fields` is missing"));
    assert!(refused(&format!(r#"{{"kind":"tlp",{read},"payload":""}}"#), gen3).contains("`seq` is missing"));
    assert!(refused(&format!(r#"{{"kind":"tlp",{read},"payload":"0"}}"#), Form::Tlps).contains("character 1"));
    assert!(refused(&format!(r#"{{"kind":"tlp",{read},"payload":"00000000"}}"#), Form::Tlps).contains("no data"));
    assert!(refused(&format!(r#"{{"kind":"tlp",{read},"seq":4096}}"#), gen3).contains("4095"));
    assert!(refused(r#"{"kind":"tlp","surplus":1}"#, Form::Tlps).contains("surplus"));
    assert!(refused(r#"{"kind":"idle","idle_bytes":4}"#, Form::Tlps).contains("gen3"));
}

#[test]
fn encode_refuses_a_key_that_the_kind_does_not_have() {
    let refused = |text: &str| format!("{}", encode::lines(text, Form::Wire).unwrap_err());
    let read = r#""fmt":0,"type":0,"length_dw":1,"address":0,"first_be":15,"last_be":0"#;
    for (object, message) in [
        (
            r#"{"kind":"tlp","idle_bytes":4}"#.to_owned(),
            "an object of kind `tlp` has no key `idle_bytes`; it has `kind`, `name`, `fields`",
        ),
        (
            r#"{"kind":"dllp","seq":1}"#.to_owned(),
            "kind `dllp` has no key `seq`; it has `kind`, `name`, `fields`, `crc16`",
        ),
        (r#"{"payload":"","kind":"end_of_data_stream"}"#.to_owned(), "no key `payload`; it has `kind`, `problems`"),
        (r#"{"kind":"idle","idle_byte":4}"#.to_owned(), "no key `idle_byte`; did you mean `idle_bytes`? it has"),
        (r#"{"kind":"tpl"}"#.to_owned(), "`kind` is \"tpl\"; did you mean `tlp`? kinds are `tlp`, `dllp`"),
        (r#"{"fields":{}}"#.to_owned(), "`kind` is missing"),
        (
            format!(r#"{{"kind":"tlp","seq":0,"payload":"","fields":{{{read},"lenght_dw":1}}}}"#),
            "the `fields` of kind `tlp` have no `lenght_dw`; did you mean `length_dw`? it has `fmt`",
        ),
        (
            format!(r#"{{"kind":"tlp","seq":0,"payload":"","fields":{{{read},"status":0}}}}"#),
            "MRd32 has no field `status`; beside those of every TLP it has `address`, `first_be`",
        ),
        (r#"{"kind":"dllp","fields":{"type":"ACK","seq":1,"vc":0}}"#.to_owned(), "a ACK DLLP has no field `vc`"),
    ] {
        let given = refused(&object);
        assert!(given.contains(message), "{given}");
    }
}

#[test]
fn encode_refuses_hostile_json_in_one_short_sentence() {
    let refused = |text: &str| format!("{}", encode::lines(text, Form::Tlps).unwrap_err());
    let read = r#"{"kind":"tlp","fields":{"fmt":0,"type":0,"length_dw":1,"address":0,"first_be":15,"last_be":0}}"#;
    let with = |from: &str, to: &str| format!("{read}\n{}", read.replace(from, to));
    let keys: String = (0..100_000).map(|key| format!(r#""{key}":0,"#)).collect();
    for (text, fault) in [
        (with(r#""fmt":0"#, r#""fmt":0,"fmt":2"#), "object 2, line 2, byte 37: the key `fmt` stands twice"),
        (with(r#""kind""#, r#""kind":"dllp","kind""#), "line 2, byte 21: the key `kind` stands twice"),
        (with(r#""length_dw":1"#, r#""length_dw":70000"#), "object 2, line 2, byte 58: invalid value: integer `70000`"),
        (with(r#""length_dw":1"#, r#""length_dw":1e999"#), "object 2, line 2, byte"),
        (with(r#""length_dw":1"#, r#""length_dw":-1"#), "invalid value: integer `-1`"),
        (with(r#""length_dw":1"#, r#""length_dw":1.5"#), "invalid type: floating point"),
        (with(r#""address":0"#, r#""address":18446744073709551616"#), "line 2, byte"),
        (with(r#"{"fmt""#, &format!(r#"{{{keys}"fmt""#)), "more than 64 keys"),
        (with(r#""length_dw":1"#, &format!(r#""length_dw":"{}""#, "x".repeat(100_000))), "invalid type: string"),
        (with(r#""kind":"tlp""#, &format!(r#""kind":"{}""#, "x".repeat(100_000))), "`kind` is \"xxx"),
        (with(r#""length_dw":1"#, &format!(r#""length_dw":{}"#, "[".repeat(200_000))), "expected value"),
        (with(r#""length_dw":1"#, &format!(r#""length_dw":{}1{}"#, "[".repeat(9999), "]".repeat(9999))), "sequence"),
        ("[".repeat(200_000), "invalid type: sequence, expected an object"),
        ("5".repeat(100_000), "object 1, line 1"),
    ] {
        let given = refused(&text);
        assert!(given.contains(fault) && given.len() < 800, "{given}");
    }
}

#[test]
fn idle_is_bounded_by_what_decode_can_read() {
    let gen3 = Form::Wire;
    let idle = |bytes: usize| format!(r#"{{"kind":"idle","idle_bytes":{bytes}}}"#);
    let most = MOST_BYTES;
    assert_eq!(encode::lines(&idle(most), gen3).unwrap()[0].len(), most);
    assert!(encode::lines(&idle(most + 1), gen3).is_err());
    assert!(encode::lines(&(idle(most) + &idle(1)), gen3).is_err());
}

fn logged(line: &str) -> Item {
    decode::logged(&log::parse(line, "it").logs[0])
}

#[test]
fn a_header_log_is_its_header_and_no_more() {
    for (words, name, header, notes) in [
        ("40000001 0000000f fee00000 00000000", "MWr32", "400000010000000ffee00000", &["header_only"][..]),
        ("40000001 0000000f fee00000 12345678", "MWr32", "400000010000000ffee00000", &["header_only", "fourth_word"]),
        ("04000001 0000000f 01070000 f0f7c8e4", "CfgRd0", "040000010000000f01070000", &["fourth_word"]),
        ("60000001 0100000f 00000002 ffffe000", "MWr64", "600000010100000f00000002ffffe000", &["header_only"]),
        ("34000000 0a000052 00000000 00000000", "Msg", "340000000a0000520000000000000000", &[]),
        ("5b000001 01000a0f 00000100 00000000", "DMWr32", "5b00000101000a0f00000100", &["header_only"]),
    ] {
        let item = logged(&format!("pcieport 0000:00:1c.0: AER:   TLP Header: {words}"));
        let Content::Tlp(tlp) = &item.content else { panic!("{item:?}") };
        assert_eq!((tlp.repr.name(), hex::encode(&tlp.header)), (name, header.to_owned()));
        assert!(tlp.payload.as_ref().is_none_or(Vec::is_empty), "{item:?}");
        assert_eq!(item.problems.iter().map(|problem| &problem.code[..]).collect::<Vec<_>>(), notes);
        assert_eq!(item.source.as_deref(), Some("it, line 1, 0000:00:1c.0"));
        assert_eq!(encode::lines(&json(&[item]), Form::Tlps).unwrap(), [hex::decode(header).unwrap()]);
    }
}

#[test]
fn a_log_in_flit_mode_is_its_header_whatever_follows_it() {
    let item = logged("TLP Header (Flit): 40000001 01000007 fee00000 00000000 12345678");
    let Content::FlitTlp(tlp) = &item.content else { panic!("{item:?}") };
    assert_eq!((hex::encode(&tlp.header), tlp.payload.len()), ("4000000101000007fee00000".to_owned(), 0));
    assert_eq!(item.problems.iter().map(|problem| &problem.code[..]).collect::<Vec<_>>(), ["header_only"]);
    assert!(printed(&[item]).contains("MWr32: 4 bytes at 0xfee00000"));
}

#[test]
fn prefixes_of_a_header_log_stand_before_its_header() {
    let item = logged("TLP Header: 00000001 0000000f 00001000 00000000 E-E Prefixes: 0x91000001 0x92000900");
    let Content::Tlp(tlp) = &item.content else { panic!("{item:?}") };
    assert_eq!(tlp.prefixes, [[0x91, 0, 0, 1], [0x92, 0, 9, 0]]);
    assert_eq!(encode::lines(&json(&[item]), Form::Tlps).unwrap()[0].len(), 20);
}

#[test]
fn a_header_log_without_a_header_is_an_error_and_not_a_read_at_address_0() {
    let code = |line: &str| {
        let item = logged(line);
        assert!(matches!(item.content, Content::Unreadable { .. }), "{item:?}");
        item.errors().map(|problem| problem.code.clone()).collect::<Vec<_>>()
    };
    assert_eq!(code("TLP Header: 00000000 00000000 00000000 00000000"), ["empty_log"]);
    assert_eq!(code("TLP Header: ffffffff ffffffff ffffffff ffffffff"), ["empty_log"]);
    assert_eq!(code("TLP Header (Flit): fe000010 00000000 00000000 00000000 00000000"), ["flit_type"]);
    assert_eq!(code("TLP Header: 91000001 40000001 0000000f fee00000"), ["log_prefix"]);
    assert_eq!(code("TLP Header: 40000001 0000000f fee00000 00000000 E-E Prefixes: 40000001"), ["log_prefix"]);
    assert_eq!(code("TLP Header: c0000001 0000000f fee00000 00000001"), ["reserved_fmt"]);
    let nine = " 91000001".repeat(9);
    assert_eq!(code(&format!("TLP Header: 40000001 0000000f fee00000 00000000 E-E Prefixes:{nine}")), ["prefixes"]);
}

proptest! {
    #[test]
    fn any_bytes_decode_without_panic_and_print(
        bytes in prop::collection::vec(any::<u8>(), 1..80),
        start in prop::sample::select(vec![vec![], vec![0xf0, 0xac], vec![0x5f, 0, 0x60], vec![0x5c], vec![0xfb, 0, 0]]),
    ) {
        let bytes = [start, bytes].concat();
        for form in [Form::Tlps, Form::Dllp, Form::Wire, Form::Symbols] {
            for item in decode::items(&bytes, form) {
                text::write(&mut Vec::new(), &item).unwrap();
                let _ = encode::lines(&json(std::slice::from_ref(&item)), Form::Tlps);
            }
        }
    }
}

#[cfg(feature = "ide")]
mod protected {
    use super::*;
    use crate::wire::ide::{Protection, Sealer, SubStream};
    use sealsim_aead::gcm::bulk::Key;

    /// Two protected writes of 8 B, the second with PCRC and MAC.
    fn protected() -> Vec<Vec<u8>> {
        let key = Key::new(&[7; 32]).unwrap();
        let protection = Protection { key, stream: 9, sub_stream: SubStream::Posted, pcrc: true };
        let mut sealer = Sealer::new(protection, 1);
        let header = hex::decode("60000002010000ff0000000100000040").unwrap();
        [false, true].map(|last| sealer.seal(&header, &[1; 8], 0, last)).into()
    }

    #[test]
    fn protected_tlps_come_back_as_they_were() {
        let tlps = protected();
        assert_eq!([tlps[0].len(), tlps[1].len()], [28, 44]);
        let items = decode::items(&tlps.concat(), Form::Tlps);
        assert!(items.iter().all(|item| item.problems.is_empty()), "{items:?}");
        assert_eq!(encode::lines(&json(&items), Form::Tlps).unwrap(), tlps);
        for form in [Form::Wire, Form::Symbols] {
            let numbered = json(&items).replace("\"payload\"", "\"seq\":5,\"payload\"");
            let frames = encode::lines(&numbered, form).unwrap();
            let items = decode::items(&frames.concat(), form);
            assert!(items.iter().all(|item| item.problems.is_empty()), "{items:?}");
            assert_eq!(encode::lines(&json(&items), form).unwrap(), frames);
        }
    }

    #[test]
    fn each_fault_of_a_protected_tlp_has_its_name() {
        let tlp = &protected()[1];
        let edited = |at: usize, bits: u8| {
            let mut tlp = tlp.clone();
            tlp[at] ^= bits;
            codes(&hex::encode(tlp), Form::Tlps)
        };
        assert_eq!(edited(3, 0x30), ["ide"]);
        // Without M what was a MAC is taken for a TLP.
        assert_eq!(edited(3, 0x04)[0], "ide");
        assert!(edited(6, 0x80).contains(&"ide".to_owned()));
        assert_eq!(codes(&hex::encode(&tlp[..40]), Form::Tlps), ["truncated"]);
        let item = &decode::items(tlp, Form::Tlps)[0];
        let text = json(std::slice::from_ref(item));
        let mac = hex::encode(&tlp[32..]);
        let shorter = encode::lines(&text.replace(&mac, "00"), Form::Tlps).unwrap_err();
        assert!(format!("{}", shorter).contains("`mac` has 1 bytes"));
        let printed = printed(std::slice::from_ref(item));
        assert!(printed.contains("9, posted") && printed.contains(&mac), "{printed}");
    }
}
