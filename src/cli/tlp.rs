//! `sealsim tlp`: PCIe bytes to fields and back.

mod decode;
mod document;
mod encode;
mod hexadecimal;
mod item;
mod lines;
mod text;

pub use lines::{tlp_from_json, tlp_to_json};

use super::Failure;
use clap::{Args, Subcommand, ValueEnum};
use item::Item;
use miette::miette;
use std::io::{self, Write};

/// Decode and encode PCIe TLPs and DLLPs.
#[derive(Debug, Args)]
#[command(after_long_help = "\
`decode` and `encode` are inverse: what decode prints with --format json, encode takes, and a good frame comes back \
as it was.

Examples:
  sealsim tlp decode 20082000010055ff0000000100000000
      a read of 4096 B with a 10-bit tag, from its header alone
  sealsim tlp decode --wire f0ac000000059617
      an Ack as it stands on a gen3 to gen5 link
  sealsim tlp decode --wire --format json HEX | jq -c '.fields.tag = 7' | sealsim tlp encode --wire
      change a field and get the frame with new CRCs")]
pub struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Decode(Decode),
    Encode(Encode),
}

/// Print the fields of TLPs and DLLPs, and what is wrong with them.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Bytes are written in the order in which they are sent, two digits each. Spaces, line ends, `,`, `:`, `_` and a \
leading `0x` are skipped, and all HEX arguments are one stream, so that a pasted dump needs no quotes. Frames that \
follow each other are decoded one after another.

Without --wire the stream is TLPs without framing: prefixes, header, data, and digest if TD is set. A header without \
its data is taken too if nothing follows it.

Problems are errors (against a rule, or damaged in transit), warnings (against a rule that receivers need not check) \
and notes. After an error in the framing nothing more can be read.

Exit status: 0 no errors, 1 errors, 2 unreadable hexadecimal, 4 unreadable input.

Examples:
  sealsim tlp decode 4a0000010000000101002003 000000a5
  sealsim tlp decode --wire 5f006000000000010100000f123456784f2b77e3
  sealsim tlp decode --wire=gen1 5c000000059617fd
  sealsim tlp decode --dllp 8084b345
  sealsim tlp decode --format json - < frames.hex | jq -c '.problems[]'

Every field is described in docs/tlp.md.")]
struct Decode {
    /// Bytes in hexadecimal; `-` reads standard input
    #[arg(required = true, value_name = "HEX")]
    hex: Vec<String>,
    /// The bytes are frames of a link: token, sequence number and CRC around each TLP and DLLP
    #[arg(long, value_name = "GENERATION", num_args = 0..=1, require_equals = true, default_missing_value = "gen3")]
    wire: Option<Generation>,
    /// The bytes are one DLLP: 4 bytes, or 6 with its CRC
    #[arg(long, conflicts_with = "wire")]
    dllp: bool,
    /// Text for people, or one JSON object per frame and line
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// Print the bytes of TLPs and DLLPs given as JSON on standard input.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Reads one JSON object or several, as `sealsim tlp decode --format json` prints them, and prints one line of \
hexadecimal for each. CRCs, token and `name` are made anew, whatever stands in the JSON; `problems` is ignored.

A TLP needs `kind`, `fields` and `payload` (without it, only the header is printed), with --wire also `seq`. In \
`fields`, `fmt` and `type` say which others are due; tc, attr, at, td, ep, th, ln, tag and requester_id may be left \
out if 0.

Exit status: 0 printed, 2 no JSON or not what a frame can hold, 4 unreadable input.

Example:
  echo '{\"kind\":\"tlp\",\"payload\":\"\",\"seq\":0,\"fields\":{\"fmt\":0,\"type\":0,\"length_dw\":1,
        \"address\":4096,\"first_be\":15,\"last_be\":0}}' | sealsim tlp encode --wire

Every field is described in docs/tlp.md.")]
struct Encode {
    /// Print frames of a link: token, sequence number and CRC around each TLP and DLLP
    #[arg(long, value_name = "GENERATION", num_args = 0..=1, require_equals = true, default_missing_value = "gen3")]
    wire: Option<Generation>,
}

/// How a link frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Generation {
    /// Tokens of 128b/130b links: gen3, gen4 and gen5
    #[value(aliases = ["gen4", "gen5"])]
    Gen3,
    /// Symbols of 8b/10b links, before scrambling: gen1 and gen2
    #[value(alias = "gen2")]
    Gen1,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
}

/// What a stream of bytes holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stream {
    Tlps,
    Dllp,
    Wire(Generation),
}

/// Runs the verb.
///
/// # Errors
/// See the help texts for each exit status.
pub fn run(arguments: Arguments) -> Result<(), Failure> {
    match arguments.verb {
        Verb::Decode(arguments) => run_decode(&arguments),
        Verb::Encode(arguments) => run_encode(&arguments),
    }
}

fn run_decode(arguments: &Decode) -> Result<(), Failure> {
    let bytes = read_hex(&arguments.hex)?;
    let stream = match (arguments.wire, arguments.dllp) {
        (Some(generation), _) => Stream::Wire(generation),
        (None, true) => Stream::Dllp,
        (None, false) => Stream::Tlps,
    };
    let items = decode::items(&bytes, stream);
    print_items(&items, arguments.format).map_err(|error| Failure::output(&error))?;
    match items.iter().flat_map(Item::errors).count() {
        0 => Ok(()),
        1 => Err(Failure::Verification(miette!("1 error in what was decoded; it is named above"))),
        count => Err(Failure::Verification(miette!("{count} errors in what was decoded; they are named above"))),
    }
}

fn print_items(items: &[Item], format: Format) -> io::Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    for (index, item) in items.iter().enumerate() {
        match format {
            Format::Json => {
                serde_json::to_writer(&mut out, &document::Document::from(item))?;
                writeln!(out)?;
            }
            Format::Text => {
                if index > 0 {
                    writeln!(out)?;
                }
                text::write(&mut out, item)?;
            }
        }
    }
    out.flush()
}

fn read_hex(arguments: &[String]) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    for (index, argument) in arguments.iter().enumerate() {
        let from_input = argument == "-";
        let text = if from_input { read_input()? } else { argument.clone() };
        bytes.extend(hexadecimal::parse(&text).map_err(|error| {
            let place = if from_input {
                format!("standard input, line {}, column {}", error.line, error.column)
            } else {
                format!("HEX {}, character {}", index + 1, error.column)
            };
            Failure::Usage(miette!(help = "write each byte as two digits, for example 4a 00 00 10", "{place}: {error}"))
        })?);
    }
    if bytes.is_empty() {
        return Err(Failure::Usage(miette!(help = "`sealsim tlp decode --help` shows examples", "there are no bytes")));
    }
    Ok(bytes)
}

fn read_input() -> Result<String, Failure> {
    io::read_to_string(io::stdin()).map_err(|error| Failure::input_output("standard input", &error))
}

fn run_encode(arguments: &Encode) -> Result<(), Failure> {
    let lines = encode::lines(&read_input()?, arguments.wire).map_err(Failure::Usage)?;
    let mut out = io::BufWriter::new(io::stdout().lock());
    let printed = lines.iter().try_for_each(|line| writeln!(out, "{}", hex::encode(line)));
    printed.and_then(|()| out.flush()).map_err(|error| Failure::output(&error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        gcm::bulk::Key,
        pcie::wire::ide::{Protection, Sealer, SubStream},
    };
    use proptest::prelude::*;
    use serde_json::Value;

    const GOLDEN: &str = include_str!("../../tests/golden/tlp-golden.json");

    fn json(items: &[Item]) -> String {
        items.iter().map(|item| serde_json::to_string(&document::Document::from(item)).unwrap() + "\n").collect()
    }

    /// All golden TLPs and DLLPs in one of their forms.
    fn golden(key: &str) -> Vec<Vec<u8>> {
        let golden: Value = serde_json::from_str(GOLDEN).unwrap();
        let cases = ["tlps", "dllps"].into_iter().flat_map(|list| golden[list].as_array().unwrap());
        cases.filter_map(|case| case[key].as_str()).map(|text| hex::decode(text).unwrap()).collect()
    }

    fn codes(bytes: &str, stream: Stream) -> Vec<String> {
        let items = decode::items(&hexadecimal::parse(bytes).unwrap(), stream);
        items.into_iter().flat_map(|item| item.problems).map(|problem| problem.code).collect()
    }

    #[test]
    fn encode_gives_back_every_golden_frame_that_decode_read() {
        for (key, count, stream, wire) in [
            ("tlp", 44, Stream::Tlps, None),
            ("dllp", 16, Stream::Dllp, None),
            ("gen3to5_wire", 60, Stream::Wire(Generation::Gen3), Some(Generation::Gen3)),
            ("gen12_wire", 60, Stream::Wire(Generation::Gen1), Some(Generation::Gen1)),
        ] {
            let frames = golden(key);
            assert_eq!(frames.len(), count);
            for frame in frames {
                let items = decode::items(&frame, stream);
                assert!(items[0].problems.is_empty(), "{items:?}");
                assert_eq!(encode::lines(&json(&items), wire).unwrap(), [frame]);
            }
        }
    }

    #[test]
    fn frames_in_one_stream_come_out_one_by_one() {
        let golden: Value = serde_json::from_str(GOLDEN).unwrap();
        let block = hex::decode(golden["x16_blocks"][1]["block"].as_str().unwrap()).unwrap();
        let items = decode::items(&block, Stream::Wire(Generation::Gen3));
        assert_eq!(items.len(), 5);
        assert_eq!(encode::lines(&json(&items), Some(Generation::Gen3)).unwrap().concat(), block);

        let tlps = self::golden("tlp");
        let items = decode::items(&tlps.concat(), Stream::Tlps);
        assert_eq!(encode::lines(&json(&items), None).unwrap(), tlps);
    }

    #[test]
    fn a_nullified_tlp_is_no_error_and_comes_back() {
        let golden: Value = serde_json::from_str(GOLDEN).unwrap();
        let frame = hex::decode(golden["nullified_tlp_example"]["gen3to5_wire"].as_str().unwrap()).unwrap();
        let items = decode::items(&frame, Stream::Wire(Generation::Gen3));
        assert!(items[0].problems.is_empty());
        assert!(json(&items).contains("\"nullified\":true"));
        assert_eq!(encode::lines(&json(&items), Some(Generation::Gen3)).unwrap(), [frame]);
    }

    #[test]
    fn each_fault_has_its_name() {
        let gen3 = Stream::Wire(Generation::Gen3);
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
        assert_eq!(codes("60000010010000ff0000000100000040", Stream::Tlps), ["header_only"]);
        assert_eq!(codes("60000010010000ff000000010000004000", Stream::Tlps), ["truncated"]);
        assert_eq!(codes("60000001010000ff0000000100000040 00000000", Stream::Tlps), ["last_be"]);
        assert_eq!(codes("600000010100000f0000000100000041 00000000", Stream::Tlps), ["reserved_bits"]);
        assert_eq!(codes("ff", Stream::Tlps), ["reserved_fmt"]);
        assert_eq!(codes("1f0000000000000000000000", Stream::Tlps), ["reserved_type"]);
        assert_eq!(codes("000000", Stream::Dllp), ["dllp_size"]);
    }

    #[test]
    fn a_digest_that_does_not_fit_is_an_error() {
        let mut tlp = golden("tlp").into_iter().find(|tlp| tlp[2] & 0x80 != 0).unwrap();
        *tlp.last_mut().unwrap() ^= 1;
        let items = decode::items(&tlp, Stream::Tlps);
        assert_eq!(items[0].errors().map(|problem| problem.code.as_str()).collect::<Vec<_>>(), ["ecrc"]);
    }

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
        let items = decode::items(&tlps.concat(), Stream::Tlps);
        assert!(items.iter().all(|item| item.problems.is_empty()), "{items:?}");
        assert_eq!(encode::lines(&json(&items), None).unwrap(), tlps);
        for generation in [Generation::Gen3, Generation::Gen1] {
            let numbered = json(&items).replace("\"payload\"", "\"seq\":5,\"payload\"");
            let frames = encode::lines(&numbered, Some(generation)).unwrap();
            let items = decode::items(&frames.concat(), Stream::Wire(generation));
            assert!(items.iter().all(|item| item.problems.is_empty()), "{items:?}");
            assert_eq!(encode::lines(&json(&items), Some(generation)).unwrap(), frames);
        }
    }

    #[test]
    fn each_fault_of_a_protected_tlp_has_its_name() {
        let tlp = &protected()[1];
        let edited = |at: usize, bits: u8| {
            let mut tlp = tlp.clone();
            tlp[at] ^= bits;
            codes(&hex::encode(tlp), Stream::Tlps)
        };
        assert_eq!(edited(3, 0x30), ["ide"]);
        // Without M what was a MAC is taken for a TLP.
        assert_eq!(edited(3, 0x04)[0], "ide");
        assert!(edited(6, 0x80).contains(&"ide".to_owned()));
        assert_eq!(codes(&hex::encode(&tlp[..40]), Stream::Tlps), ["truncated"]);
        let item = &decode::items(tlp, Stream::Tlps)[0];
        let text = json(std::slice::from_ref(item));
        let mac = hex::encode(&tlp[32..]);
        let shorter = encode::lines(&text.replace(&mac, "00"), None).unwrap_err();
        assert!(format!("{:#}", shorter.root_cause()).contains("`mac` has 1 bytes"));
        let mut printed = Vec::new();
        text::write(&mut printed, item).unwrap();
        let printed = String::from_utf8(printed).unwrap();
        assert!(printed.contains("9, posted") && printed.contains(&mac), "{printed}");
    }

    #[test]
    fn encode_says_what_is_missing() {
        let refused = |text: &str, wire| format!("{:#}", encode::lines(text, wire).unwrap_err().root_cause());
        let read = r#""fields":{"fmt":0,"type":0,"length_dw":1,"address":0,"first_be":15,"last_be":0}"#;
        let gen3 = Some(Generation::Gen3);
        assert!(refused("{", None).contains("line 1"));
        assert!(refused("", None).contains("no JSON object"));
        assert!(refused(r#"{"kind":"tlp"}"#, None).contains("`fields` is missing"));
        assert!(refused(&format!(r#"{{"kind":"tlp",{read},"payload":""}}"#), gen3).contains("`seq` is missing"));
        assert!(refused(&format!(r#"{{"kind":"tlp",{read},"payload":"0"}}"#), None).contains("character 1"));
        assert!(refused(&format!(r#"{{"kind":"tlp",{read},"payload":"00000000"}}"#), None).contains("no data"));
        assert!(refused(&format!(r#"{{"kind":"tlp",{read},"seq":4096}}"#), gen3).contains("4095"));
        assert!(refused(r#"{"kind":"tlp","surplus":1}"#, None).contains("surplus"));
        assert!(refused(r#"{"kind":"idle","idle_bytes":4}"#, None).contains("gen3"));
    }

    proptest! {
        #[test]
        fn any_bytes_decode_without_panic_and_print(
            bytes in prop::collection::vec(any::<u8>(), 1..80),
            start in prop::sample::select(vec![vec![], vec![0xf0, 0xac], vec![0x5f, 0, 0x60], vec![0x5c], vec![0xfb, 0, 0]]),
        ) {
            let bytes = [start, bytes].concat();
            for stream in [Stream::Tlps, Stream::Dllp, Stream::Wire(Generation::Gen3), Stream::Wire(Generation::Gen1)] {
                for item in decode::items(&bytes, stream) {
                    text::write(&mut Vec::new(), &item).unwrap();
                    let _ = encode::lines(&json(std::slice::from_ref(&item)), None);
                }
            }
        }
    }
}
