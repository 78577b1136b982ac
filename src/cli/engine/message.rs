//! `sealsim engine` with one message given by its bytes: from a vector file or as hexadecimal.

use super::{Arguments, Failure, judged};
use crate::cli::output;
use crate::config::{Role, Shipped};
use crate::files::read_text;
use crate::gcm::message::SealOpen;
use crate::gcm::spec::GcmSpec;
use crate::gcm::stages::{Given, StageValue};
use crate::observe::waves::EngineWaves;
use crate::units::Bytes;
use crate::validate::vectors::{Algorithm, Case, Judgement, JudgementError, Said, VectorParts, judge, read, select};
use clap::Args;
use miette::miette;
use serde::Serialize;
use std::{
    fs::File,
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

const MOST: Bytes = Bytes(64 << 20);

/// Blocks of text and AAD that are shown where nothing says how many, and with --all: some hundred MB of stages.
const SHOWN: u64 = 4;
const ALL: u64 = 1 << 16;

/// One message by its bytes.
#[derive(Debug, Args)]
#[command(next_help_heading = "One message, every stage with its cycle")]
pub(super) struct MessageArguments {
    /// The message of a vector file (CAVP .rsp, Wycheproof or ACVP .json): its case ID, or the first. ID is a tcId, a Count, or a line as `line 15`.
    #[arg(long, value_name = "FILE[:ID]", conflicts_with_all = ["key", "iv", "aad", "text", "tag"])]
    vector: Option<String>,
    /// The key: 16, 24 or 32 bytes in hexadecimal. It sets the engine's key size.
    #[arg(long, value_name = "HEX", requires = "iv", value_parser = bytes)]
    key: Option<Hex>,
    /// The IV, of any length but none.
    #[arg(long, value_name = "HEX", requires = "key", value_parser = bytes)]
    iv: Option<Hex>,
    /// Additional authenticated data; none without it.
    #[arg(long, value_name = "HEX|@FILE", requires = "key", value_parser = bytes_or_file)]
    aad: Option<Hex>,
    /// The text: plaintext, or ciphertext with --open; none without it. `@FILE` takes the bytes of a file as they are.
    #[arg(long, value_name = "HEX|@FILE", requires = "key", value_parser = bytes_or_file)]
    text: Option<Hex>,
    /// The tag that must come out, maybe cut short.
    #[arg(long, value_name = "HEX", requires = "key", value_parser = bytes)]
    tag: Option<Hex>,
    /// Show all blocks of text and AAD, not the first 4 (or those of --trace-blocks); at most 65536.
    #[arg(long, conflicts_with = "trace_blocks")]
    all: bool,
    /// Write the registers of the engine and the stages of the message as waves to this file, as FST for GTKWave and Surfer; a cycle is 1 ns.
    #[arg(long, value_name = "FILE")]
    waves: Option<PathBuf>,
}

#[derive(Debug, Clone)]
struct Hex(Vec<u8>);

fn bytes(text: &str) -> Result<Hex, String> {
    hex::decode(text).map(Hex).map_err(|error| format!("not hexadecimal: {error}"))
}

/// Bytes in hexadecimal, or those of a file behind an `@`.
fn bytes_or_file(text: &str) -> Result<Hex, String> {
    let Some(path) = text.strip_prefix('@') else { return bytes(text) };
    let mut read = Vec::new();
    let taken = File::open(path).and_then(|file| file.take(MOST.0 + 1).read_to_end(&mut read));
    match taken {
        Ok(length) if length as u64 > MOST.0 => Err(format!("{path}: more than {MOST}")),
        Ok(_) => Ok(Hex(read)),
        Err(error) => Err(format!("{path}: {error}")),
    }
}

impl MessageArguments {
    /// Whether a message is given by its bytes.
    pub(super) const fn is_given(&self) -> bool {
        self.vector.is_some() || self.key.is_some()
    }

    /// Refuses what only a message by its bytes has.
    pub(super) fn refuse(&self) -> Result<(), Failure> {
        let flag = match (self.all, &self.waves) {
            (true, _) => "--all",
            (_, Some(_)) => "--waves",
            _ => return Ok(()),
        };
        Err(Failure::Usage(miette!("{flag} shows one message by its bytes: give --vector, or --key and --iv")))
    }
}

/// A message of a file, or of the arguments.
struct Chosen {
    name: String,
    case: Case,
    direction: SealOpen,
}

#[derive(Serialize)]
struct Document<'a> {
    config: &'a str,
    message: &'a str,
    direction: SealOpen,
    key: String,
    iv: String,
    aad: String,
    input: String,
    output: String,
    tag: String,
    tag_cycle: u64,
    /// The first stage that is not software AES-GCM's; none in an engine that is one.
    engine_parts: &'a Option<judged::Engine>,
    /// The first stage that is not what the vector or the arguments say.
    vector_parts: &'a Option<VectorParts>,
    /// Whether stages of later blocks were left out.
    cut: bool,
    stages: &'a [StageValue],
    engine: &'a GcmSpec,
}

pub(super) fn run(arguments: &Arguments, spec: &GcmSpec) -> Result<(), Failure> {
    let own = &arguments.message;
    output::refuse_stream("--waves", own.waves.as_deref())?;
    let chosen = chosen(arguments)?;
    if own.vector.is_some() || own.tag.is_some() {
        chosen.case.algorithm.scheme().check_tag(chosen.case.tag.len()).map_err(|error| refused(&chosen, &error))?;
    }
    let spec = GcmSpec { key_bits: 8 * chosen.case.key.len() as u32, ..spec.clone() };
    spec.check().map_err(|error| refused(&chosen, &error))?;
    let (given, said) = sides(arguments, &chosen)?;
    let blocks = if own.all { ALL } else { arguments.trace_blocks.unwrap_or(SHOWN) };
    let mut waves = waves(own.waves.as_deref(), &spec)?;
    let mut watch =
        |engine: &mut _, stages: &[StageValue]| waves.iter_mut().for_each(|waves| waves.look(engine, stages));
    let judgement = judge(&spec, given, said, blocks, &mut watch).map_err(|error| failure(&chosen, error))?;
    if let Some(waves) = waves {
        let end = judgement.recording.end;
        waves.close(end).map_err(|error| Failure::InputOutput(miette!("--waves {error}")))?;
    }
    let longest = given.text.len().max(given.aad.len()).div_ceil(16) as u64;
    let shown = Shown { arguments, spec: &spec, chosen: &chosen, given, judgement: &judgement, cut: longest > blocks };
    output::print_as(arguments.format, |out| shown.text(out), &shown.document())?;
    judged::verdict(&chosen.name, &judgement)
}

fn waves(path: Option<&Path>, spec: &GcmSpec) -> Result<Option<EngineWaves>, Failure> {
    let waves = path.map(|path| EngineWaves::create(path, spec)).transpose();
    waves.map_err(|error| Failure::InputOutput(miette!("--waves {error}")))
}

fn refused(chosen: &Chosen, error: &dyn std::fmt::Display) -> Failure {
    Failure::Usage(miette!("{}: {error}", chosen.name))
}

fn failure(chosen: &Chosen, error: JudgementError) -> Failure {
    match error {
        JudgementError::Software(error) => refused(chosen, &error),
        JudgementError::Engine(error) => super::failure(error.into()),
    }
}

/// What goes in, and what must come out.
fn sides<'a>(arguments: &'a Arguments, chosen: &'a Chosen) -> Result<(Given<'a>, Said<'a>), Failure> {
    if arguments.message.vector.is_none() {
        let Case { key, iv, aad, ciphertext: text, .. } = &chosen.case;
        let given = Given { key, iv, aad, text, direction: chosen.direction };
        return Ok((given, Said { text: None, tag: arguments.message.tag.as_ref().map(|tag| &tag.0[..]) }));
    }
    let given = chosen.case.given(chosen.direction);
    let given = given.ok_or_else(|| refused(chosen, &"the case has no plaintext that could be sealed: add --open"))?;
    Ok((given, chosen.case.said(chosen.direction)))
}

fn chosen(arguments: &Arguments) -> Result<Chosen, Failure> {
    let own = &arguments.message;
    let Some(vector) = &own.vector else {
        let of = |hex: &Option<Hex>| hex.as_ref().map_or_else(Vec::new, |hex| hex.0.clone());
        let case = Case {
            id: String::new(),
            algorithm: Algorithm::AES_GCM,
            key: of(&own.key),
            iv: of(&own.iv),
            aad: of(&own.aad),
            plaintext: None,
            ciphertext: of(&own.text),
            tag: of(&own.tag),
            valid: true,
            may_refuse: false,
        };
        let direction = if arguments.open { SealOpen::Open } else { SealOpen::Seal };
        return Ok(Chosen { name: "the message".to_owned(), case, direction });
    };
    let (path, id) = file_and_id(vector);
    let text = read_text(path, MOST).map_err(Failure::of_file)?;
    let cases = read(&text).map_err(|error| Failure::InputOutput(miette!("{}: {error}", path.display())))?;
    let case = select(&cases, id).map_err(|error| Failure::Usage(miette!("--vector {}: {error}", path.display())))?;
    let name = format!("{} of {}", case.id, path.file_name().unwrap_or_default().to_string_lossy());
    if ![Algorithm::AES_GCM, Algorithm::AesGmac].contains(&case.algorithm) {
        let other = case.algorithm;
        return Err(Failure::Usage(miette!("{name} is of {other}: stages are those of AES-GCM")));
    }
    let direction = if arguments.open { SealOpen::Open } else { case.direction() };
    Ok(Chosen { name, case: case.clone(), direction })
}

/// A file, and the case in it. A file may have a colon in its name.
fn file_and_id(text: &str) -> (&Path, Option<&str>) {
    match text.rsplit_once(':') {
        Some((path, id)) if !Path::new(text).exists() => (Path::new(path), Some(id)),
        _ => (Path::new(text), None),
    }
}

struct Shown<'a> {
    arguments: &'a Arguments,
    spec: &'a GcmSpec,
    chosen: &'a Chosen,
    given: Given<'a>,
    judgement: &'a Judgement,
    cut: bool,
}

/// Bytes of a text that a line shows.
const LINE: usize = 32;

fn short(bytes: &[u8]) -> String {
    match bytes.len() {
        0 => "none".to_owned(),
        length if length <= LINE => hex::encode(bytes),
        length => format!("{}... ({length} bytes)", hex::encode(&bytes[..LINE - 8])),
    }
}

impl Shown<'_> {
    fn document(&self) -> Document<'_> {
        let Judgement { recording, engine, vector, direction } = self.judgement;
        let Given { key, iv, aad, text, .. } = self.given;
        Document {
            config: &self.arguments.config,
            message: &self.chosen.name,
            direction: *direction,
            key: hex::encode(key),
            iv: hex::encode(iv),
            aad: hex::encode(aad),
            input: hex::encode(text),
            output: hex::encode(&recording.output),
            tag: hex::encode(recording.tags.concat()),
            tag_cycle: recording.end,
            engine_parts: engine,
            vector_parts: vector,
            cut: self.cut,
            stages: &recording.stages,
            engine: self.spec,
        }
    }

    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        let Judgement { recording, direction, .. } = self.judgement;
        let Given { key, iv, aad, text, .. } = self.given;
        let config = &self.arguments.config;
        let name = Shipped::find(Role::Engine, config).map(Shipped::name).unwrap_or(config);
        let (way, input, output) = match direction {
            SealOpen::Seal => ("seals", "plaintext", "ciphertext"),
            SealOpen::Open => ("opens", "ciphertext", "plaintext"),
        };
        let (message, bits) = (&self.chosen.name, self.spec.key_bits);
        writeln!(out, "{name}, AES-{bits}, {way} {message}: {} B of AAD, {} B of text", aad.len(), text.len())?;
        for (name, bytes) in [("key", key), ("iv", iv), ("aad", aad), (input, text), (output, &recording.output[..])] {
            writeln!(out, "{name:12}{}", short(bytes))?;
        }
        writeln!(out, "{:12}{}, valid in cycle {}", "tag", hex::encode(recording.tags.concat()), recording.end)?;
        judged::summary(out, self.judgement, self.arguments.message.vector.is_some())?;
        writeln!(out, "\n{:>7}  {:12}{:25}value", "cycle", "stage", "of")?;
        for stage in &recording.stages {
            let of = judged::place(stage);
            writeln!(out, "{:7}  {:12}{of:24} {}", stage.cycle, stage.stage.name(), hex::encode(&stage.value))?;
        }
        match self.cut {
            true if self.arguments.message.all => writeln!(out, "\nblocks from {ALL} on are left out"),
            true => writeln!(out, "\nlater blocks are left out: --all shows them, --trace-blocks N those before N"),
            false => Ok(()),
        }
    }
}
