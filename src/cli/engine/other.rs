//! `sealsim engine` with an engine of another AEAD than AES-GCM.

use super::{Arguments, Failure, Format, Standard, fitted, metrics};
use crate::aead::spec::AeadSpec;
use crate::aead::standalone::{MessageOutcome, Outcome, StandaloneError, run as run_standalone};
use crate::config::{Role, Shipped};
use crate::gcm::bench::Bench;
use crate::gcm::message::SealOpen;
use miette::miette;
use serde::Serialize;
use std::io::{self, Write};

/// What is printed as JSON: the fields of an AES-GCM engine's, and what only another AEAD has.
#[derive(Debug, Serialize)]
struct Document<'a> {
    config: &'a str,
    scheme: &'a str,
    wire_compatible_with_gcm: bool,
    passes: u32,
    key_bits: u32,
    aad_blocks: u64,
    blocks: u64,
    direction: SealOpen,
    seed: u64,
    key: &'a str,
    #[serde(flatten)]
    first: &'a MessageOutcome,
    messages: &'a [MessageOutcome],
    aead: &'a AeadSpec,
}

pub(super) fn run(arguments: &Arguments, mut spec: AeadSpec, bench: &Bench) -> Result<(), Failure> {
    if let Some(bits) = arguments.key_bits {
        set_key_bits(&mut spec, bits)?;
    }
    if arguments.message.is_given() {
        let reason = "--vector and --key show the stages of AES-GCM, and this engine has another AEAD: `sealsim verify vectors` passes whole files through it";
        return Err(Failure::Usage(miette!("{reason}")));
    }
    arguments.message.refuse()?;
    if bench.trace_blocks > 0 {
        let reason = "--trace-blocks shows the stages of AES-GCM, and this engine has another AEAD: leave it out";
        return Err(Failure::Usage(miette!("{reason}")));
    }
    let outcome = run_standalone(&spec, bench).map_err(failure)?;
    let Some(first) = outcome.messages.first() else { return Ok(()) };
    let mut out = Standard;
    let written = match arguments.format {
        Format::Text => fitted(&mut out, |out| text(out, arguments, &outcome)),
        Format::Json => {
            let document = Document {
                config: &arguments.config,
                scheme: outcome.scheme,
                wire_compatible_with_gcm: false,
                passes: outcome.passes,
                key_bits: spec.key_bits(),
                aad_blocks: bench.aad_blocks,
                blocks: bench.blocks,
                direction: bench.direction,
                seed: bench.seed,
                key: &outcome.key,
                first,
                messages: &outcome.messages,
                aead: &spec,
            };
            serde_json::to_writer_pretty(&mut out, &document).map_err(io::Error::from).and_then(|()| writeln!(out))
        }
    };
    written.and_then(|()| out.flush()).map_err(|error| Failure::output(&error))
}

fn set_key_bits(spec: &mut AeadSpec, bits: u32) -> Result<(), Failure> {
    if let Some(key_bits) = spec.key_bits_mut() {
        *key_bits = bits;
    }
    spec.check().map_err(|error| Failure::Config(miette!("--key-bits {bits}: {error}")))?;
    if spec.key_bits() == bits {
        return Ok(());
    }
    Err(Failure::Config(miette!("--key-bits {bits}: this AEAD has keys of {} bits only", spec.key_bits())))
}

fn failure(error: StandaloneError) -> Failure {
    match &error {
        StandaloneError::Wrong(_) => Failure::Verification(miette!("{error}")),
        StandaloneError::Buffer { message, .. } => {
            Failure::Config(miette!("{error}; write `--set buffer=\"{message}\"`, or fewer --blocks"))
        }
        StandaloneError::Spec(_) | StandaloneError::Bytes(_) => Failure::Config(miette!("{error}")),
    }
}

fn text(out: &mut impl Write, arguments: &Arguments, outcome: &Outcome) -> io::Result<()> {
    let way = if arguments.open { "opens" } else { "seals" };
    let name = Shipped::find(Role::Aead, &arguments.config).map(Shipped::name).unwrap_or(&arguments.config);
    let (scheme, aad, blocks) = (outcome.scheme, arguments.aad_blocks, arguments.blocks);
    writeln!(out, "{name}, {scheme}, {way} {aad} blocks of AAD and {blocks} of text")?;
    writeln!(out, "not compatible with AES-GCM on the wire")?;
    for (number, message) in outcome.messages.iter().enumerate() {
        if outcome.messages.len() > 1 {
            writeln!(out, "\nmessage {}", number + 1)?;
        }
        metrics(out, &message.common.metrics)?;
        writeln!(out, "{:26}{}", "tag_from_start_cycles", message.tag_from_start_cycles)?;
        writeln!(out, "{:26}{}", "passes", outcome.passes)?;
        writeln!(out, "{:26}{}", "buffer_bytes", message.buffer_bytes)?;
        writeln!(out, "{:26}{}", "iv", message.common.iv)?;
        writeln!(out, "{:26}{}", "tag", message.common.tag)?;
    }
    writeln!(out, "{:26}{}", "key", outcome.key)
}
