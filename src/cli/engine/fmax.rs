//! `sealsim engine --fmax`: the clock that an engine's stages reach.

use super::{Arguments, Failure, output};
use crate::aead::spec::EngineSpec;
use crate::cost::clock::{self, Stage, Timing};
use crate::cost::library::{DEFAULT, Library};
use crate::units::Frequency;
use miette::miette;
use serde::Serialize;
use std::io::{self, Write};

#[derive(Serialize)]
struct Document<'a> {
    config: &'a str,
    library: &'a str,
    library_sha256: &'a str,
    tools: &'a str,
    wire_ff_per_pin: f64,
    stages: &'a [Stage],
    fastest_hz: f64,
    fastest_wired_hz: f64,
}

/// Shows each stage of the engine with its delays.
pub(super) fn run(arguments: &Arguments, engine: &EngineSpec) -> Result<(), Failure> {
    let name = arguments.library.as_deref().unwrap_or(DEFAULT);
    let unknown = || Failure::Usage(miette!("--library {name}: rtl/results.toml has {}", Library::names().join(", ")));
    let library = Library::named(name).ok_or_else(unknown)?;
    // At a clock that nothing reaches an engine has its fastest parts.
    let beyond = Frequency(u64::MAX);
    let timing = clock::engine(&engine.model().hardware(), beyond, library);
    let none = || Failure::Usage(miette!("--fmax: no ChaCha20 rounds or Poly1305 multipliers were synthesised"));
    let timing = timing.ok_or_else(none)?;
    let [fastest_hz, fastest_wired_hz] = timing.fastest();
    let document = Document {
        config: &arguments.config,
        library: name,
        library_sha256: &library.sha256,
        tools: &library.tools,
        wire_ff_per_pin: library.wire_ff_per_pin,
        stages: &timing.stages,
        fastest_hz,
        fastest_wired_hz,
    };
    output::print_as(arguments.format, |out| text(out, &arguments.config, library, &timing), &document)
}

fn text(out: &mut dyn Write, config: &str, library: &Library, timing: &Timing) -> io::Result<()> {
    writeln!(
        out,
        "{config} in {}, before layout: ps from flip-flop to flip-flop, without wires and with {} fF per pin",
        library.title, library.wire_ff_per_pin
    )?;
    for stage in &timing.stages {
        writeln!(out, "\n{} with {}", stage.name, stage.cut)?;
        writeln!(out, "  {:.0} ps, {:.0} with wires", stage.delay.ps, stage.delay.ps_wired)?;
        stage.rows.iter().try_for_each(|row| writeln!(out, "  row {row}"))?;
    }
    let [bare, wired] = timing.fastest().map(|hertz| hertz / 1e9);
    writeln!(out, "\nmarginal up to {bare:.3} GHz, closes up to {wired:.3} GHz")
}
