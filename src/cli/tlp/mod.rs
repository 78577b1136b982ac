//! `sealsim tlp`: PCIe bytes to fields and back.

use super::{Failure, output};
use crate::{
    files::read_text_from,
    items::{self, Form, Item, Refused, Way},
    units::Bytes,
};
use clap::{Args, Subcommand, ValueEnum};
use miette::{MietteDiagnostic, miette};
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

const LONGEST_HEX: Bytes = Bytes(2 * items::MOST_BYTES as u64);
/// Lines without a log that are named one by one.
const MOST_SKIPPED: usize = 8;
/// Longest input of `encode`: sixteen times that of `decode`, which is more than its JSON takes.
const LONGEST_JSON: Bytes = Bytes(64 << 20);

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
follow each other are decoded one after another. A dump with offsets is refused.

Without --wire the stream is TLPs without framing: prefixes, header, data, and digest if TD is set. A header without \
its data is taken too if nothing follows it.

With --header-log the arguments are what a Linux kernel prints after an AER or DPC error, lines with `TLP Header:` and \
its words as they stand in dmesg, or what `lspci -vv` prints (`HeaderLog:`, unless it is zero). Other lines are passed \
over; one that has such a mark, but no whole log behind it, is skipped, and named on standard error. Of the four words of a header of three DW the last is no \
part of it. Words behind `E-E Prefixes:` are prefixes. The kernel marks a log in flit mode with `(Flit)`.

With --flit the bytes are flits of 256 bytes, one after another, of a link in flit mode (gen6). Each is corrected by \
its ECC, then its CRC is checked. Behind a flit stand the TLPs that end in it; one that goes on in the next payload flit \
is put together. Read are MRd, MWr, Cpl, CplD and NOP TLPs. After a payload flit that is lost, or a TLP of another type, \
nobody knows where the next TLP begins, so no more are read. Some of the format is assumed: see docs/tlp.md.

With --stream packets are checked in view of those before them: completions against their requests, tags, sequence \
numbers and replays, credits. A line that begins with `>` or `<` says which way its packets go. Without, TLPs are taken \
for both directions as a monitor sees them, frames of --wire for one direction of a link.

Problems are errors (against a rule, or damaged in transit), warnings (against a rule that receivers need not check) \
and notes. After an error in the framing nothing more can be read.

Standard input may have 4 MiB of text.

Exit status: 0 no errors, 1 errors, 2 unreadable hexadecimal or no log at all, 4 unreadable or too long input.

Examples:
  sealsim tlp decode 4a0000010000000101002003 000000a5
  sealsim tlp decode --wire 5f006000000000010100000f123456784f2b77e3
  sealsim tlp decode --wire=gen1 5c000000059617fd
  sealsim tlp decode --dllp 8084b345
  sealsim tlp decode --header-log 'TLP Header: 40000001 0000000f fee00000 00000000'
  dmesg | sealsim tlp decode --header-log
  printf '%0512d' 0 | sealsim tlp decode --flit -
  sealsim tlp decode --stream 000000010000050f00001000 4a0000010000000401000500000000a5
  sealsim tlp decode --format json - < frames.hex | jq -c '.problems[]'

Every field is described in docs/tlp.md.")]
struct Decode {
    /// Bytes in hexadecimal; `-`, or none, reads standard input
    #[arg(value_name = "HEX")]
    hex: Vec<String>,
    /// The bytes are frames of a link: token, sequence number and CRC around each TLP and DLLP
    #[arg(long, value_name = "GENERATION", num_args = 0..=1, require_equals = true, default_missing_value = "gen3")]
    wire: Option<Generation>,
    /// The bytes are one DLLP: 4 bytes, or 6 with its CRC
    #[arg(long, conflicts_with = "wire")]
    dllp: bool,
    /// The bytes are flits of a link in flit mode, 256 bytes each
    #[arg(long, conflicts_with_all = ["wire", "dllp"])]
    flit: bool,
    /// The arguments are lines of a kernel's log with `TLP Header:` in them
    #[arg(long, conflicts_with_all = ["wire", "dllp", "flit"])]
    header_log: bool,
    /// Check rules across packets as well: tags, byte counts, sequence numbers, credits. Lines may begin with `>` or `<`
    #[arg(long, conflicts_with_all = ["dllp", "header_log"])]
    stream: bool,
    /// Text for people, or one JSON object per frame and line
    #[arg(long, value_enum, default_value_t = TlpFormat::Text)]
    format: TlpFormat,
}

/// Print the bytes of TLPs and DLLPs given as JSON.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Reads one JSON object or several, from arguments or standard input, as `sealsim tlp decode --format json` prints them, and prints one line of \
hexadecimal for each. CRCs, token and `name` are made anew, whatever stands in the JSON; `problems` and `source` are \
ignored. A key that the kind does not have is refused, and so is one that stands twice.

A TLP needs `kind`, `fields` and `payload` (without it, only the header is printed), with --wire also `seq`. In \
`fields`, `fmt` and `type` say which others are due; tc, attr, at, td, ep, th, ln, tag and requester_id may be left \
out if 0.

With --flit the objects are flits (`flit`) and the TLPs in them (`flit_tlp`, `nop`), as `sealsim tlp decode --flit` \
prints them. The TLPs go into the payload flits in order, wherever their objects stand; NOP TLPs fill what is left, and \
payload flits with the next sequence numbers are added if those given do not suffice. One line is printed for each flit.

Standard input may have 64 MiB. If anything is wrong, nothing is printed.

Exit status: 0 printed, 2 no JSON or not what a frame can hold, 4 unreadable or too long input.

Examples:
  echo '{\"kind\":\"tlp\",\"payload\":\"\",\"seq\":0,\"fields\":{\"fmt\":0,\"type\":0,\"length_dw\":1,
        \"address\":4096,\"first_be\":15,\"last_be\":0}}' | sealsim tlp encode --wire
  echo '{\"kind\":\"flit_tlp\",\"payload\":\"000000a5\",\"fields\":{\"type\":64,\"length_dw\":1,\"address\":4096}}' |
        sealsim tlp encode --flit | sealsim tlp decode --flit -

Every field is described in docs/tlp.md.")]
struct Encode {
    /// JSON objects; `-`, or none, reads standard input
    #[arg(value_name = "JSON")]
    json: Vec<String>,
    /// Print frames of a link: token, sequence number and CRC around each TLP and DLLP
    #[arg(long, value_name = "GENERATION", num_args = 0..=1, require_equals = true, default_missing_value = "gen3")]
    wire: Option<Generation>,
    /// Print flits of a link in flit mode
    #[arg(long, conflicts_with = "wire")]
    flit: bool,
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
enum TlpFormat {
    Text,
    Json,
}

impl Generation {
    const fn form(self) -> Form {
        match self {
            Self::Gen3 => Form::Wire,
            Self::Gen1 => Form::Symbols,
        }
    }
}

pub fn run(arguments: Arguments) -> Result<(), Failure> {
    match arguments.verb {
        Verb::Decode(arguments) => run_decode(&arguments),
        Verb::Encode(arguments) => run_encode(&arguments),
    }
}

/// What is given, or standard input if nothing is.
fn or_input(arguments: &[String]) -> Vec<String> {
    if arguments.is_empty() { vec!["-".to_owned()] } else { arguments.to_vec() }
}

fn run_decode(arguments: &Decode) -> Result<(), Failure> {
    let given = or_input(&arguments.hex);
    let items = if arguments.header_log {
        read_logs(&given)?
    } else {
        let form = match arguments.wire {
            Some(generation) => generation.form(),
            None if arguments.dllp => Form::Dllp,
            None if arguments.flit => Form::Flits,
            None => Form::Tlps,
        };
        match arguments.stream {
            true => read_stream(&given, form)?,
            false => items::read(&read_hex(&given)?, form),
        }
    };
    print_items(&items, arguments.format).map_err(|error| Failure::output(&error))?;
    match items.iter().flat_map(Item::errors).count() {
        0 => Ok(()),
        1 => Err(Failure::Verification(miette!("1 error in what was decoded; it is named above"))),
        count => Err(Failure::Verification(miette!("{count} errors in what was decoded; they are named above"))),
    }
}

fn print_items(items: &[Item], format: TlpFormat) -> io::Result<()> {
    let mut out = io::BufWriter::new(super::output::Output);
    for (index, item) in items.iter().enumerate() {
        match format {
            TlpFormat::Json => writeln!(out, "{}", item.to_json())?,
            TlpFormat::Text => {
                if index > 0 {
                    writeln!(out)?;
                }
                item.write_text(&mut out)?;
            }
        }
    }
    out.flush()
}

fn read_hex(arguments: &[String]) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    for (index, argument) in arguments.iter().enumerate() {
        let from_input = argument == "-";
        let text = if from_input { read_input(LONGEST_HEX)? } else { argument.clone() };
        bytes.extend(items::parse_hex(&text).map_err(|error| {
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

/// Items of both directions, in their order. A line that begins with a way, and those without behind it, are read by themselves.
fn read_stream(arguments: &[String], form: Form) -> Result<Vec<Item>, Failure> {
    let mut parts: Vec<(Option<Way>, usize, String)> = Vec::new();
    for argument in arguments {
        let text = if argument == "-" { read_input(LONGEST_HEX)? } else { argument.clone() };
        for (number, line) in text.lines().enumerate() {
            match (Way::of_line(line), parts.last_mut()) {
                (Some((way, rest)), _) => parts.push((Some(way), number, rest.to_owned())),
                (None, Some((.., part))) => {
                    part.push('\n');
                    part.push_str(line);
                }
                (None, None) => parts.push((None, number, line.to_owned())),
            }
        }
    }
    let mut stream = Vec::new();
    for (way, line, text) in parts {
        let bytes = items::parse_hex(&text);
        let bytes = bytes.map_err(|error| Failure::Usage(miette!("line {}: {error}", line + error.line)))?;
        stream.extend(items::read(&bytes, form).into_iter().map(|item| (way, item)));
    }
    if stream.is_empty() {
        return Err(Failure::Usage(miette!(help = "`sealsim tlp decode --help` shows examples", "there are no bytes")));
    }
    items::judge(&mut stream);
    Ok(stream.into_iter().map(|(_, item)| item).collect())
}

/// Arguments of one word each are one line, so that it needs no quotes; an argument with spaces stands for itself.
fn read_logs(arguments: &[String]) -> Result<Vec<Item>, Failure> {
    let word = |argument: &String| argument != "-" && !argument.contains(char::is_whitespace);
    let (mut logs, mut skipped, mut first) = (Vec::new(), Vec::new(), 1);
    for group in arguments.chunk_by(|before, after| word(before) && word(after)) {
        let (name, text) = if group == ["-"] {
            ("standard input".to_owned(), read_input(LONGEST_HEX)?)
        } else {
            (format!("argument {first}"), group.join(" "))
        };
        first += group.len();
        let (read, wrong) = items::logs(&text, &name);
        logs.extend(read);
        skipped.extend(wrong);
    }
    if let Some(error) = skipped.first().filter(|_| logs.is_empty()) {
        let help = "such a line reads `TLP Header: 40000001 0000000f fee00000 00000000`, with anything before it";
        return Err(Failure::Usage(miette!(help = help, "{error}")));
    }
    for error in skipped.iter().take(MOST_SKIPPED) {
        output::complain(format_args!("skipped: {error}"));
    }
    if skipped.len() > MOST_SKIPPED {
        output::complain(format_args!("skipped: {} more lines", skipped.len() - MOST_SKIPPED));
    }
    if logs.is_empty() {
        return Err(Failure::Usage(miette!(
            help = "`sealsim tlp decode --help` shows examples; without --header-log the arguments are bytes",
            "{}",
            items::NO_LOG
        )));
    }
    Ok(logs)
}

fn read_input(longest: Bytes) -> Result<String, Failure> {
    read_text_from(io::stdin().lock(), "standard input", longest).map_err(Failure::of_file)
}

fn run_encode(arguments: &Encode) -> Result<(), Failure> {
    let given = or_input(&arguments.json).into_iter();
    let texts = given.map(|given| if given == "-" { read_input(LONGEST_JSON) } else { Ok(given) });
    let text = texts.collect::<Result<Vec<_>, _>>()?.join("\n");
    let form = if arguments.flit { Form::Flits } else { arguments.wire.map_or(Form::Tlps, Generation::form) };
    let lines = items::write(&text, form)?;
    let mut out = io::BufWriter::new(super::output::Output);
    let printed = lines.iter().try_for_each(|line| writeln!(out, "{}", hex::encode(line)));
    printed.and_then(|()| out.flush()).map_err(|error| Failure::output(&error))
}

impl From<Refused> for Failure {
    fn from(error: Refused) -> Self {
        let said = MietteDiagnostic::new(error.to_string());
        Self::Usage(error.help().into_iter().fold(said, MietteDiagnostic::with_help).into())
    }
}
