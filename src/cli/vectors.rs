//! `sealsim vectors`: messages for benches of AEADs.

use super::{
    Failure,
    output::{self, Format},
    run::Interruption,
    watch::bar,
};
use crate::{
    files::WholeFile,
    validate::vectors::{
        Algorithm,
        generate::{Coverage, Generator, Plan},
        written::{Style, Writer},
    },
    workload::read_size,
};
use clap::{Args, Subcommand, ValueEnum};
use indicatif::ProgressBar;
use miette::miette;
use serde::Serialize;
use std::{
    fmt::Write as _,
    io::BufWriter,
    path::{Path, PathBuf},
};

/// Arguments of `sealsim vectors`.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Writes constrained-random messages of an AEAD, with its corners, for a bench.
    ///
    /// Messages differ in nine dimensions: size of the key, new key or that of the message before, length of the IV, where the counter wraps, lengths of AAD, text and tag,
    /// whether a bit was flipped after sealing and where, and random, zero or one bits. All pairs of choices come within the first 256 messages; what is printed says
    /// which have and which are missing. The same seed gives the same messages everywhere.
    #[command(after_long_help = "\
`sealsim verify vectors FILE` reads each of these files. docs/bindings.md describes the words for $readmemh.

Exit status: 0 written; 1 interrupted: no file is left; 2 wrong arguments; 4 the file cannot be written.

Examples:
  sealsim vectors generate --out gcm.json                             # 256 messages of AES-GCM, as Wycheproof's
  sealsim vectors generate aes-gcm --count 10000 --seed 7 --out gcm.rsp
  sealsim vectors generate aes-gcm --stages --out gcm.hex             # $readmemh, with round keys, keystream and GHASH of each message
  sealsim vectors generate aes-gcm-siv --as acvp --out siv.json")]
    Generate(Generate),
}

#[derive(Debug, Args)]
struct Generate {
    /// aes-gcm, aes-gmac, aes-gcm-siv, aes-gcm-sst, aegis-256, aegis-256x2, aegis-256x4, aegis-128l, aegis-128x2, aegis-128x4 or chacha20-poly1305.
    #[arg(value_name = "AEAD", default_value = "aes-gcm", value_parser = algorithm)]
    algorithm: Algorithm,
    /// The file.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// How many messages.
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    count: u64,
    /// What they are drawn from.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// The longest text and the longest AAD, from 256B to 1MiB.
    #[arg(long, value_name = "SIZE", default_value = "1KiB", value_parser = longest)]
    longest: u32,
    /// How likely a message is to be valid. Without forged messages, or with nothing else, some pairs are missing.
    #[arg(long, value_name = "PERCENT", default_value_t = 50, value_parser = clap::value_parser!(u32).range(0..=100))]
    valid: u32,
    /// How the file is written (default: what its ending says: .rsp, .json, .csv, .hex or .mem).
    #[arg(long = "as", value_name = "STYLE", value_enum)]
    style: Option<StyleName>,
    /// Add round keys, H to H^8, J0, mask, keystream and GHASH of each message. Only of AES-GCM and GMAC, in csv and memh.
    #[arg(long)]
    stages: bool,
    /// How the coverage is printed.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum StyleName {
    /// NIST CAVP response file
    Cavp,
    /// Wycheproof's JSON
    Wycheproof,
    /// NIST ACVP's internal projection
    Acvp,
    /// A row for each message
    Csv,
    /// Words of 128 bits for $readmemh
    Memh,
}

#[derive(Debug, Serialize)]
struct Report {
    file: String,
    algorithm: &'static str,
    messages: u64,
    invalid: u64,
    seed: u64,
    coverage: Coverage,
}

fn algorithm(name: &str) -> Result<Algorithm, String> {
    Algorithm::named(&name.to_ascii_uppercase()).ok_or_else(|| format!("no AEAD of these: {}", Algorithm::names()))
}

fn longest(text: &str) -> Result<u32, String> {
    let bytes = read_size(text).map_err(|error| error.to_string())?;
    let fits = u32::try_from(bytes).ok().filter(|bytes| (Plan::LONG..=1 << 20).contains(bytes));
    fits.ok_or_else(|| "from 256B to 1MiB".to_owned())
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let What::Generate(generate) = &arguments.what;
    let style = generate.style()?;
    output::refuse_stream("--out", Some(&generate.out))?;
    let report = generate.write(style)?;
    match generate.format {
        Format::Json => output::print(&output::json(&report)?),
        Format::Text => output::print(&output::fitted(&report.text())),
    }
    Ok(())
}

impl Generate {
    /// How the file is written, if it can hold what is asked for.
    fn style(&self) -> Result<Style, Failure> {
        let named = self.style.map(|style| match style {
            StyleName::Cavp => Style::Cavp,
            StyleName::Wycheproof => Style::Wycheproof,
            StyleName::Acvp => Style::Acvp,
            StyleName::Csv => Style::Csv,
            StyleName::Memh => Style::Memh,
        });
        let style = named.or_else(|| ending(&self.out)).ok_or_else(|| {
            Failure::Usage(miette!(
                help = "end it in .rsp, .json, .csv, .hex or .mem, or say --as",
                "--out {}: its ending names no style",
                self.out.display()
            ))
        })?;
        if !style.holds(self.algorithm) {
            return Err(Failure::Usage(miette!(
                help = "wycheproof, csv and memh hold every AEAD",
                "this style has no {}",
                self.algorithm
            )));
        }
        if self.stages && !style.holds_stages() {
            let help = "take csv or memh";
            return Err(Failure::Usage(miette!(help = help, "--stages: this style has no place for them")));
        }
        if self.stages && !matches!(self.algorithm, Algorithm::AES_GCM | Algorithm::AesGmac) {
            return Err(Failure::Usage(miette!("--stages shows those of AES-GCM, and this is {}", self.algorithm)));
        }
        Ok(style)
    }

    fn write(&self, style: Style) -> Result<Report, Failure> {
        let plan = Plan {
            algorithm: self.algorithm,
            messages: self.count,
            seed: self.seed,
            longest: self.longest,
            valid_percent: self.valid,
        };
        let file = BufWriter::new(WholeFile::create(&self.out).map_err(Failure::of_file)?);
        let mut writer = Writer::begin(file, style, &plan, self.stages).map_err(Failure::of_file)?;
        let (mut generator, mut invalid) = (Generator::new(plan), 0);
        let (interruption, bar) = (Interruption::listen(), self.bar());
        for message in &mut generator {
            let message = message.map_err(|error| Failure::Simulation(miette!("{error}")))?;
            invalid += u64::from(!message.case.valid);
            writer.message(&message).map_err(Failure::of_file)?;
            bar.inc(1);
            if interruption.asked() {
                bar.finish_and_clear();
                return Err(Failure::Verification(miette!("interrupted: nothing was written")));
            }
        }
        bar.finish_and_clear();
        writer.end().and_then(WholeFile::keep_buffered).map_err(Failure::of_file)?;
        Ok(Report {
            file: self.out.display().to_string(),
            algorithm: self.algorithm.name(),
            messages: self.count,
            invalid,
            seed: self.seed,
            coverage: generator.coverage(),
        })
    }

    /// Few messages are there at once.
    fn bar(&self) -> ProgressBar {
        if self.count < 10_000 { ProgressBar::hidden() } else { bar(self.count, "{pos}/{len} messages") }
    }
}

fn ending(path: &Path) -> Option<Style> {
    match path.extension()?.to_str()? {
        "rsp" => Some(Style::Cavp),
        "json" => Some(Style::Wycheproof),
        "csv" => Some(Style::Csv),
        "hex" | "mem" => Some(Style::Memh),
        _ => None,
    }
}

/// Missing pairs that are shown as text.
const SHOWN: usize = 10;

impl Report {
    fn text(&self) -> String {
        let Self { file, algorithm, messages, invalid, seed, coverage } = self;
        let Coverage { pairs, possible, missing } = coverage;
        let mut text = format!("{file}: {messages} messages of {algorithm}, {invalid} of them forged, seed {seed}\n");
        let _ = writeln!(text, "pairs of choices: {pairs} of {possible}");
        for pair in missing.iter().take(SHOWN) {
            let _ = writeln!(text, "  missing: {pair}");
        }
        if missing.len() > SHOWN {
            let _ = writeln!(text, "  and {} more (--format json has all)", missing.len() - SHOWN);
        }
        text
    }
}
