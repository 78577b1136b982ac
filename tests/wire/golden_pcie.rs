//! The wire formats against the golden bytes of `tests/golden/tlp-golden.json`, in both directions.

use sealsim::pcie::{
    split::{CompletionRule, CompletionSplit, MaxSize, Request, RequestPolicy, RequestSplit},
    wire::{
        crc,
        dllp::{DllpRepr, DllpView},
        flit::{self, ecc::Verdict},
        frame::{self, Framed, Symbols},
        tlp::{TlpRepr, TlpView},
        token::{self, LENGTH_CODE, Stp, Token},
    },
};
use serde_json::Value;
use sha2::{Digest, Sha256};

fn golden() -> Value {
    serde_json::from_str(include_str!("../golden/tlp-golden.json")).unwrap()
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().unwrap()
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap()
}

fn bytes(value: &Value, key: &str) -> Vec<u8> {
    hex::decode(text(value, key)).unwrap()
}

fn number(value: &Value, key: &str) -> u64 {
    value[key].as_u64().unwrap()
}

fn framed(wire: &[u8]) -> frame::FramedTlp<'_> {
    match frame::read(wire) {
        Ok((Framed::Tlp(tlp), taken)) if taken == wire.len() => tlp,
        other => panic!("{}: {other:?}", hex::encode(wire)),
    }
}

/// `golden/flits.py` computes both codes from their formulas; a public encoder gives the same bytes.
#[test]
fn flits_have_the_crc_and_the_ecc_of_the_formulas_and_are_corrected_by_them() {
    let flits: Vec<[u8; flit::BYTES]> = include_str!("../golden/flits.hex")
        .lines()
        .map(|line| hex::decode(line).unwrap().try_into().unwrap())
        .collect();
    assert_eq!(flits.len(), 12);
    for golden in flits {
        let received = flit::receive(&golden);
        assert_eq!((received.fault, received.verdicts), (None, [Verdict::Good; 3]));
        assert_eq!(received.repr.emit(), golden);
        for byte in 0..=255 {
            let mut wrong = golden;
            wrong[usize::from(byte)] ^= 0x5a;
            let received = flit::receive(&wrong);
            assert_eq!((received.fault, received.bytes), (None, golden));
            assert_eq!(received.verdicts[usize::from(byte) % 3], Verdict::Corrected { byte, flipped: 0x5a });
        }
    }
}

#[test]
fn all_44_tlps_parse_to_their_fields() {
    let golden = golden();
    assert_eq!(list(&golden, "tlps").len(), 44);
    for case in list(&golden, "tlps") {
        let tlp = bytes(case, "tlp");
        let view = TlpView::new_checked(&tlp).unwrap();
        assert_eq!(view.check(), [], "{}", text(case, "name"));
        assert_eq!(view.header(), bytes(case, "header"));
        assert_eq!(view.payload(), bytes(case, "payload"));
        assert_eq!(view.digest().map(hex::encode).unwrap_or_default(), text(case, "ecrc"));
        let repr = TlpRepr::parse(&view).unwrap();
        assert_eq!(serde_json::to_value(repr).unwrap(), case["fields"], "{}", text(case, "name"));
        assert_eq!(serde_json::to_value(repr.credits()).unwrap(), case["fc"]);
        assert_eq!(u64::from(repr.total_dw()) + 2, number(case, "stp_length_dw"));
    }
}

/// Byte 0 and the layout are those of the documentation of rtlp-lib 0.5 (`tlp.md`, section 8).
#[test]
fn a_deferrable_write_is_non_posted_and_comes_back_as_it_was() {
    for (hexadecimal, name, address) in [
        ("5b00000101000a0f0000010011223344", "DMWr32", 0x100),
        ("7b000001beefa50f112233445566778801020304", "DMWr64", 0x1122_3344_5566_7788),
    ] {
        let tlp = hex::decode(hexadecimal).unwrap();
        let view = TlpView::new_checked(&tlp).unwrap();
        assert_eq!(view.check(), []);
        let repr = TlpRepr::parse(&view).unwrap();
        let fields = serde_json::to_value(repr).unwrap();
        assert_eq!((repr.name(), number(&fields, "address")), (name, address));
        let credits = serde_json::json!({"type": "NP", "hdr": 1, "data": 1});
        assert_eq!(serde_json::to_value(repr.credits()).unwrap(), credits);
        assert_eq!(repr.emit()[..], *view.header());
        assert_eq!(serde_json::from_value::<TlpRepr>(fields).unwrap(), repr);
    }
    // Without data the type means nothing.
    let view = [0x1b, 0, 0, 1, 1, 0, 0x0a, 0x0f, 0, 0, 1, 0];
    assert!(TlpRepr::parse(&TlpView::new_header(&view).unwrap()).is_err());
}

#[test]
fn all_44_tlps_are_emitted_from_their_fields() {
    for case in list(&golden(), "tlps") {
        let repr: TlpRepr = serde_json::from_value(case["fields"].clone()).unwrap();
        assert_eq!(*repr.emit(), bytes(case, "header"), "{}", text(case, "name"));
    }
}

#[test]
fn all_44_tlps_have_their_crcs_and_frames() {
    let mut ecrcs = 0;
    for case in list(&golden(), "tlps") {
        let (header, payload, tlp) = (bytes(case, "header"), bytes(case, "payload"), bytes(case, "tlp"));
        let sequence = number(case, "seq") as u16;
        let digest = (!text(case, "ecrc").is_empty()).then(|| crc::ecrc(&[], &header, &payload));
        if let Some(ecrc) = digest {
            assert_eq!(hex::encode(ecrc), text(case, "ecrc"));
            ecrcs += 1;
        }
        assert_eq!(hex::encode(crc::lcrc(sequence, &header, &payload, digest)), text(case, "lcrc"));

        let wire = bytes(case, "gen3to5_wire");
        assert_eq!(hex::encode(&wire[..4]), text(case, "stp_token"));
        let mut emitted = Vec::new();
        frame::emit_tlp(&mut emitted, sequence, &tlp, false);
        assert_eq!(emitted, wire);
        let read = framed(&wire);
        assert_eq!((read.sequence, read.tlp, read.edb), (sequence, &tlp[..], false));
        assert_eq!((read.fault(), read.length_fault()), (None, None));

        let wire = bytes(case, "gen12_wire");
        let mut emitted = Vec::new();
        frame::emit_symbols_tlp(&mut emitted, sequence, &tlp, false);
        assert_eq!(emitted, wire);
        assert_eq!(frame::read_symbols(&wire), Ok((Symbols::Tlp(read), wire.len())));
    }
    assert_eq!(ecrcs, 4);
}

#[test]
fn all_16_dllps_in_both_directions() {
    let golden = golden();
    assert_eq!(list(&golden, "dllps").len(), 16);
    for case in list(&golden, "dllps") {
        let repr: DllpRepr = serde_json::from_value(case["fields"].clone()).unwrap();
        assert_eq!(hex::encode(repr.emit()), text(case, "dllp"), "{}", text(case, "name"));
        assert_eq!(hex::encode(frame::emit_dllp(&repr)), text(case, "gen3to5_wire"));
        assert_eq!(hex::encode(frame::emit_symbols_dllp(&repr)), text(case, "gen12_wire"));

        let wire = bytes(case, "gen3to5_wire");
        let Ok((Framed::Dllp(six), 8)) = frame::read(&wire) else { panic!("{}", text(case, "name")) };
        assert_eq!(hex::encode(&six[4..]), text(case, "crc16"));
        let view = DllpView::new_checked(six).unwrap();
        assert_eq!(view.check_crc(), Ok(()));
        let parsed = DllpRepr::parse(&view).unwrap();
        assert_eq!(parsed, repr);
        assert_eq!(serde_json::to_value(parsed).unwrap(), case["fields"]);
        let wire = bytes(case, "gen12_wire");
        assert_eq!(frame::read_symbols(&wire), Ok((Symbols::Dllp(six), 8)));
    }
}

#[test]
fn captured_frames_are_read_without_fault() {
    let golden = golden();
    let frames = list(&golden["captured"], "frames");
    assert_eq!(frames.len(), 8);
    for case in frames {
        let wire = bytes(case, "gen12_wire");
        match frame::read_symbols(&wire).unwrap() {
            (Symbols::Tlp(tlp), taken) => {
                assert_eq!((text(case, "kind"), taken), ("tlp", wire.len()));
                assert_eq!((tlp.sequence.into(), tlp.fault()), (number(case, "seq"), None));
                assert_eq!(hex::encode(tlp.lcrc), text(case, "lcrc"));
                let view = TlpView::new_checked(tlp.tlp).unwrap();
                assert_eq!(view.check(), []);
                assert_eq!(*TlpRepr::parse(&view).unwrap().emit(), bytes(case, "tlp"));
                let derived = bytes(case, "gen3to5_wire_derived");
                assert_eq!(framed(&derived), tlp);
            }
            (Symbols::Dllp(six), taken) => {
                assert_eq!((text(case, "kind"), taken), ("dllp", wire.len()));
                let view = DllpView::new_checked(six).unwrap();
                assert_eq!(view.check_crc(), Ok(()));
                assert_eq!(hex::encode(DllpRepr::parse(&view).unwrap().emit()), text(case, "dllp"));
            }
        }
    }
}

#[test]
fn published_constants_are_met() {
    let golden = golden();
    let constants = list(&golden, "published_constants");
    assert_eq!(constants.len(), 2);
    for case in constants {
        if case["tlp"].is_string() {
            let lcrc = crc::lcrc(number(case, "seq") as u16, &bytes(case, "tlp"), &[], None);
            assert_eq!(hex::encode(lcrc), text(case, "lcrc"));
        } else {
            let crc = crc::dllp(bytes(case, "dllp").try_into().unwrap());
            assert_eq!(hex::encode(crc), text(case, "crc16"));
        }
    }
}

#[test]
fn the_length_code_is_the_published_table() {
    let golden = golden();
    assert_eq!(hex::encode(LENGTH_CODE), text(&golden["stp"], "table_hex"));
    assert_eq!(hex::encode(Sha256::digest(LENGTH_CODE)), text(&golden["stp"], "table_sha256"));
}

/// The equations of the file, evaluated as they are written there.
#[test]
fn the_length_code_follows_the_equations() {
    let golden = golden();
    let equations = &golden["stp"]["fcrc_equations"];
    for (length, code) in LENGTH_CODE.iter().enumerate() {
        for bit in 0..4 {
            let terms = text(equations, &format!("C{bit}")).split('^');
            let value = terms.fold(0, |sum, term| sum ^ length >> term[1..].parse::<u32>().unwrap() & 1);
            assert_eq!(usize::from(code >> bit & 1), value, "bit {bit} of length {length}");
        }
        assert_eq!((length.count_ones() + code.count_ones()) % 2, 0);
    }
}

#[test]
fn tokens_are_the_published_ones() {
    let golden = golden();
    let tokens = &golden["tokens_128b130b"];
    for (name, value, token) in [
        ("SDP", &token::SDP[..], Token::Sdp),
        ("IDL", &[token::IDL][..], Token::Idl),
        ("EDB", &token::EDB[..], Token::Edb),
        ("EDS", &token::EDS[..], Token::Eds),
    ] {
        assert_eq!(hex::encode(value), text(tokens, name));
        assert_eq!(Token::decode(value), Ok(token));
    }
    for case in list(&golden, "tlps") {
        let stp = Stp { length: number(case, "stp_length_dw") as u16, sequence: number(case, "seq") as u16 };
        assert_eq!(Token::decode(&bytes(case, "stp_token")), Ok(Token::Stp(stp)));
    }
}

#[test]
fn the_nullified_example_in_both_directions() {
    let golden = golden();
    let example = &golden["nullified_tlp_example"];
    let source = list(&golden, "tlps").iter().find(|case| case["name"] == example["tlp"]).unwrap();
    let (wire, tlp, sequence) = (bytes(example, "gen3to5_wire"), bytes(source, "tlp"), number(source, "seq") as u16);
    let mut emitted = Vec::new();
    frame::emit_tlp(&mut emitted, sequence, &tlp, true);
    assert_eq!(emitted, wire);
    let read = framed(&wire);
    assert!(read.nullified());
    assert_eq!((read.tlp, read.sequence, read.fault()), (&tlp[..], sequence, None));
}

#[test]
fn a_block_is_read_back_frame_by_frame() {
    let golden = golden();
    let block = bytes(&golden["x16_blocks"][1], "block");
    let (mut rest, mut seen) = (&block[..], Vec::new());
    while !rest.is_empty() {
        let (framed, taken) = frame::read(rest).unwrap();
        seen.push((std::mem::discriminant(&framed), taken));
        rest = &rest[taken..];
    }
    assert_eq!(seen.iter().map(|item| item.1).collect::<Vec<_>>(), [88, 24, 8, 132, 4]);
}

#[test]
fn reads_are_split_as_in_the_vectors() {
    let golden = golden();
    let cases = list(&golden, "read_request_splits");
    assert_eq!(cases.len(), 10);
    for case in cases {
        let policy = match text(case, "policy") {
            "greedy" => RequestPolicy::Greedy,
            "mrrs_aligned" => RequestPolicy::Aligned,
            other => panic!("policy {other}"),
        };
        let size = MaxSize::new(number(case, "mrrs")).unwrap();
        let split: Vec<_> = RequestSplit::new(number(case, "address"), number(case, "bytes"), size, policy).collect();
        assert_eq!(split.len() as u64, number(case, "count"));
        // The file lists the first three of long splits.
        for (request, want) in split.iter().zip(list(case, "requests")) {
            assert_eq!((request.address, request.bytes.into()), (number(want, "address"), number(want, "bytes")));
        }
    }
}

#[test]
fn completions_are_split_as_in_the_vectors() {
    let golden = golden();
    let cases = list(&golden, "completion_splits");
    assert_eq!(cases.len(), 12);
    for case in cases {
        let rule = CompletionRule::new(number(case, "rcb"), number(case, "mps")).unwrap();
        let every = case["split_on_every_rcb"].as_bool().unwrap();
        let rule = if every { rule.cut_at_every_boundary() } else { rule };
        let request = &case["request"];
        let request = Request { address: number(request, "address"), bytes: number(request, "bytes") as u32 };
        let split: Vec<_> = CompletionSplit::new(request, rule)
            .map(|piece| (piece.length_dw.into(), piece.byte_count.into(), piece.lower_address.into()))
            .collect();
        let want: Vec<_> = list(case, "completions")
            .iter()
            .map(|piece| (number(piece, "length_dw"), number(piece, "byte_count"), number(piece, "lower_address")))
            .collect();
        assert_eq!(split, want, "{}", case["request"]);
    }
}
