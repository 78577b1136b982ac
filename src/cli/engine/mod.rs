//! `sealsim engine`: an AES-GCM engine alone, or one of another AEAD.

mod cost;
mod fmax;
pub(super) mod judged;
mod message;

use super::{
    Failure,
    output::{self, Format},
};
use crate::aead::spec::EngineSpec;
use crate::aead::standalone::{StandaloneError, run as run_standalone};
use crate::config::{Layers, Role, Shipped};
use crate::gcm::bench::{Bench, MessageOutcome, Metrics};
use crate::gcm::message::SealOpen;
use crate::gcm::standalone::{Outcome, StandaloneError as GcmError, Trace};
use clap::Args;
use miette::{Report, miette};
use serde::Serialize;
use std::io::{self, Write};

/// Runs an AES-GCM engine alone: input always ready, output always taken.
///
/// Gives the cycles from the key to the tag, and the bytes to check them by. Every output and tag is compared with software AES-GCM.
/// With --vector or --key it runs one message given by its bytes, and shows every stage with its cycle: H, powers, J0, counters, AES states by round and lane,
/// keystream, what enters GHASH, products, accumulators, tag.
/// An engine of another AEAD (`[aead]`: AES-GCM-SIV, GCM-SST, AEGIS, ChaCha20-Poly1305) gives the same figures; it is not compatible with AES-GCM on the wire.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  sealsim engine hw-configs/engines/folded-8.toml --key-bits 256 --aad-blocks 4 --blocks 1024
  sealsim engine unrolled-all --set engine.aes.registers_per_round=2 --blocks 64
  sealsim engine h100-nvl-tdx --blocks 65536 --open
  sealsim engine iterative-masked --key-bits 128 --blocks 8 --format json | jq .last_text_output_cycles
  sealsim engine gcm-siv --blocks 4096 --format json | jq .buffer_bytes       # AES-GCM-SIV; also gcm-sst, aegis-256, -256x2, -256x4, -128l
  sealsim engine h100-nvl-tdx --fmax                        # the clock that it reaches, stage by stage
  sealsim engine serial-aes128 --cost                       # its area, energy and clock by itself
  sealsim engine folded-8 --blocks 3 --trace-blocks 2       # every AES round and GHASH accumulator
  sealsim engine folded-8 --vector tests/vectors/aes_gcm_test.json:7        # one message, every stage with its cycle
  sealsim engine h100-nvl-tdx --key 000102030405060708090a0b0c0d0e0f --iv 000102030405060708090a0b --text 00 --waves message.fst")]
pub struct Arguments {
    /// The engine: a TOML file with a table `engine` or `aead`, a shipped engine or a machine (see `sealsim list`), whose engine is taken.
    #[arg(value_name = "CONFIG")]
    config: String,
    /// Set one value, above all files, for example `engine.ghash.powers=64`; `engine.` may be left out.
    #[arg(long, value_name = "PATH=VALUE")]
    set: Vec<String>,
    /// Key size, where it is not the configuration's.
    #[arg(long, value_name = "BITS", conflicts_with_all = ["vector", "key"])]
    key_bits: Option<u32>,
    /// Blocks of additional authenticated data, 16 bytes each.
    #[arg(long, value_name = "N", default_value_t = 0, conflicts_with_all = ["vector", "key"], value_parser = clap::value_parser!(u64).range(..=MOST_BLOCKS))]
    aad_blocks: u64,
    /// Blocks of text, 16 bytes each.
    #[arg(long, value_name = "N", default_value_t = 64, conflicts_with_all = ["vector", "key"], value_parser = clap::value_parser!(u64).range(..=MOST_BLOCKS))]
    blocks: u64,
    /// Open instead of seal.
    #[arg(long)]
    open: bool,
    /// Messages, one after the other, under the same key.
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with_all = ["vector", "key"], value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    messages: u32,
    /// Where key, IVs, AAD and text come from.
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with_all = ["vector", "key"])]
    seed: u64,
    /// Show, for the first N text blocks of the first message, the AES state after each round and each GHASH accumulator.
    /// Of a message by its bytes: of how many blocks of text and AAD the stages are shown (4).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=4096))]
    trace_blocks: Option<u64>,
    /// Run nothing: show the delay of each stage and the clock that the engine reaches, with the rows of rtl/results.toml that it rests on.
    #[arg(long, conflicts_with_all = ["vector", "key", "open", "trace_blocks"])]
    fmax: bool,
    /// Run nothing: show area, energy and clock of the engine by itself, with S-boxes of 115 gates and with those from the table.
    #[arg(long, conflicts_with_all = ["vector", "key", "open", "trace_blocks", "fmax"])]
    cost: bool,
    /// The cells of --fmax: asap7 (the default) or osu018.
    #[arg(long, value_name = "NAME", requires = "fmax")]
    library: Option<String>,
    #[command(flatten)]
    message: message::MessageArguments,
    /// How to print it.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// A message of 1 GiB; GCM itself ends at 2^32 - 2 blocks.
const MOST_BLOCKS: u64 = 1 << 26;

/// What is printed as JSON: the first message's cycles and bytes, then all messages.
#[derive(Debug, Serialize)]
struct Document<'a> {
    config: &'a str,
    #[serde(flatten)]
    other: Option<OtherAead<'a>>,
    key_bits: u32,
    aad_blocks: u64,
    blocks: u64,
    direction: SealOpen,
    seed: u64,
    key: &'a str,
    #[serde(flatten)]
    first: &'a MessageOutcome,
    messages: &'a [MessageOutcome],
    #[serde(skip_serializing_if = "Option::is_none")]
    trace: Option<&'a Trace>,
    #[serde(skip_serializing_if = "Option::is_none")]
    engine: Option<&'a EngineSpec>,
    #[serde(skip_serializing_if = "Option::is_none")]
    aead: Option<&'a EngineSpec>,
}

/// What only another AEAD than AES-GCM has.
#[derive(Debug, Serialize)]
struct OtherAead<'a> {
    scheme: &'a str,
    wire_compatible_with_gcm: bool,
    passes: u32,
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let bench = Bench {
        aad_blocks: arguments.aad_blocks,
        blocks: arguments.blocks,
        direction: if arguments.open { SealOpen::Open } else { SealOpen::Seal },
        messages: arguments.messages,
        seed: arguments.seed,
        trace_blocks: arguments.trace_blocks.unwrap_or_default(),
    };
    let mut engine = engine(arguments)?;
    if arguments.fmax {
        return fmax::run(arguments, &engine);
    }
    if let Some(bits) = arguments.key_bits {
        set_key_bits(&mut engine, bits)?;
    }
    if arguments.cost {
        return cost::run(arguments, &engine);
    }
    match &engine {
        EngineSpec::Gcm(spec) if arguments.message.is_given() => return message::run(arguments, spec),
        EngineSpec::Gcm(_) => arguments.message.refuse()?,
        EngineSpec::Other(_) => refuse_stages(arguments, &bench)?,
    }
    let outcome = run_standalone(&engine, &bench).map_err(failure)?;
    let Some(first) = outcome.messages.first() else { return Ok(()) };
    let is_gcm = engine.gcm().is_some();
    let Outcome { scheme, passes, .. } = outcome;
    let document = Document {
        config: &arguments.config,
        other: (!is_gcm).then_some(OtherAead { scheme, wire_compatible_with_gcm: false, passes }),
        key_bits: engine.model().key_bits(),
        aad_blocks: bench.aad_blocks,
        blocks: bench.blocks,
        direction: bench.direction,
        seed: bench.seed,
        key: &outcome.key,
        first,
        messages: &outcome.messages,
        trace: outcome.trace.as_ref(),
        engine: is_gcm.then_some(&engine),
        aead: (!is_gcm).then_some(&engine),
    };
    output::print_as(arguments.format, |out| text(out, arguments, &engine, &outcome), &document)
}

fn engine(arguments: &Arguments) -> Result<EngineSpec, Failure> {
    let layers = Layers::new(&arguments.config);
    if arguments.set.is_empty() {
        return Ok(layers.resolve_standalone()?);
    }
    // What a path without a table belongs to depends on the engine. One that cannot be read without its settings has AES-GCM, or says why not.
    let table = match layers.resolve_standalone() {
        Ok(EngineSpec::Other(_)) => "aead",
        _ => "engine",
    };
    let path = |setting: &String| match setting.starts_with("engine.") || setting.starts_with("aead.") {
        true => setting.clone(),
        false => format!("{table}.{setting}"),
    };
    Ok(arguments.set.iter().map(path).fold(layers, Layers::set).resolve_standalone()?)
}

fn set_key_bits(engine: &mut EngineSpec, bits: u32) -> Result<(), Failure> {
    if let Some(key_bits) = engine.key_bits_mut() {
        *key_bits = bits;
    }
    let model = engine.model();
    model.check().map_err(|error| Failure::Config(miette!("--key-bits {bits}: {error}")))?;
    if model.key_bits() == bits {
        return Ok(());
    }
    Err(Failure::Config(miette!("--key-bits {bits}: this AEAD has keys of {} bits only", model.key_bits())))
}

/// Refuses what shows the stages of AES-GCM, for an engine of another AEAD.
fn refuse_stages(arguments: &Arguments, bench: &Bench) -> Result<(), Failure> {
    if arguments.message.is_given() {
        let reason = "--vector and --key show the stages of AES-GCM, and this engine has another AEAD: `sealsim verify vectors` passes whole files through it";
        return Err(Failure::Usage(miette!("{reason}")));
    }
    arguments.message.refuse()?;
    if bench.trace_blocks > 0 {
        let reason = "--trace-blocks shows the stages of AES-GCM, and this engine has another AEAD: leave it out";
        return Err(Failure::Usage(miette!("{reason}")));
    }
    Ok(())
}

fn failure(error: StandaloneError) -> Failure {
    match error {
        StandaloneError::Engine(GcmError::Spec(_)) | StandaloneError::Bytes(_) => Failure::Config(miette!("{error}")),
        StandaloneError::Engine(GcmError::Wrong(_)) => Failure::Verification(miette!("{error}")),
        StandaloneError::Buffer { message, .. } => {
            Failure::Config(miette!("{error}; write `--set buffer=\"{message}\"`, or fewer --blocks"))
        }
        StandaloneError::Engine(error) => Failure::Simulation(Report::from_err(error)),
    }
}

fn text(out: &mut dyn Write, arguments: &Arguments, engine: &EngineSpec, outcome: &Outcome) -> io::Result<()> {
    let way = if arguments.open { "opens" } else { "seals" };
    let shipped = [Role::Engine, Role::Aead].into_iter().find_map(|role| Shipped::find(role, &arguments.config));
    let name = shipped.map(Shipped::name).unwrap_or(&arguments.config);
    let scheme = engine.gcm().map_or_else(|| outcome.scheme.to_owned(), |spec| format!("AES-{}", spec.key_bits));
    let (aad, blocks) = (arguments.aad_blocks, arguments.blocks);
    writeln!(out, "{name}, {scheme}, {way} {aad} blocks of AAD and {blocks} of text")?;
    if engine.gcm().is_none() {
        writeln!(out, "not compatible with AES-GCM on the wire")?;
    }
    for (number, message) in outcome.messages.iter().enumerate() {
        if outcome.messages.len() > 1 {
            writeln!(out, "\nmessage {}", number + 1)?;
        }
        metrics(out, &message.metrics)?;
        if let (Some(tag), Some(buffer)) = (message.tag_from_start_cycles, message.buffer_bytes) {
            writeln!(out, "{:26}{tag}", "tag_from_start_cycles")?;
            writeln!(out, "{:26}{}", "passes", outcome.passes)?;
            writeln!(out, "{:26}{buffer}", "buffer_bytes")?;
        }
        writeln!(out, "{:26}{}", "iv", message.iv)?;
        writeln!(out, "{:26}{}", "tag", message.tag)?;
    }
    writeln!(out, "{:26}{}", "key", outcome.key)?;
    outcome.trace.as_ref().map_or(Ok(()), |trace| traced(out, trace))
}

fn metrics(out: &mut dyn Write, metrics: &Metrics) -> io::Result<()> {
    let rows = [
        ("setup_cycles", metrics.setup_cycles),
        ("first_output_cycles", metrics.first_output_cycles),
        ("output_span_cycles", metrics.output_span_cycles),
        ("tail_cycles", metrics.tail_cycles),
        ("total_cycles", metrics.total_cycles),
        ("h_and_mask_cycles", metrics.h_and_mask_cycles),
        ("aad_cycles", metrics.aad_cycles),
        ("first_text_output_cycles", metrics.first_text_output_cycles),
        ("last_text_output_cycles", metrics.last_text_output_cycles),
        ("length_to_tag_cycles", metrics.length_to_tag_cycles),
    ];
    for (name, value) in rows.into_iter().filter_map(|(name, value)| Some((name, value?))) {
        writeln!(out, "{name:26}{value}")?;
    }
    metrics.cycles_per_block.map_or(Ok(()), |cycles| writeln!(out, "{:26}{cycles:.3}", "cycles_per_block"))
}

fn traced(out: &mut dyn Write, trace: &Trace) -> io::Result<()> {
    writeln!(out, "\nH    {}\nJ0   {}\nmask {}", trace.h, trace.j0, trace.mask)?;
    for block in &trace.blocks {
        writeln!(out, "\nblock {}\n  counter  {}", block.block, block.counter)?;
        for (round, state) in block.aes_rounds.iter().enumerate() {
            writeln!(out, "  round {round:2} {state}")?;
        }
        writeln!(out, "  input    {}\n  output   {}\n  Y        {}", block.input, block.output, block.y)?;
    }
    writeln!(out, "\ncycle  accumulator")?;
    for one in &trace.accumulators {
        writeln!(out, "{:5}  {}[{}] = {}", one.cycle, one.name, one.index, one.value)?;
    }
    Ok(())
}
