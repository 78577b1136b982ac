//! `sealsim engine --cost`: area, clock and energy of an engine by itself.

use super::{Arguments, Failure, output};
use crate::aead::spec::EngineSpec;
use crate::cost::clock;
use crate::cost::technology::{PROCESS_SPREAD, SYNTHESIS};
use crate::cost::{EngineCost, Interval, Library, Sboxes, built};
use crate::units::Frequency;
use miette::miette;
use serde::Serialize;
use serde_json::json;
use std::io::{self, Write};

/// What no part stands for, in any engine.
const NOT_COUNTED: &str = "key expansion before the first block, making powers of H, control of AEGIS, ports, clock tree, wires, memories; energy of control and of a key schedule";

/// An engine that is built with one kind of S-boxes.
#[derive(Serialize)]
struct Built {
    sboxes: Sboxes,
    #[serde(flatten)]
    cost: EngineCost,
    fastest_hz: f64,
    fastest_wired_hz: f64,
}

/// Shows the engine's cost with either kind of S-boxes, the smaller first.
pub(super) fn run(arguments: &Arguments, engine: &EngineSpec) -> Result<(), Failure> {
    let hardware = engine.model().hardware();
    let one = |sboxes| {
        let timing = clock::built(&hardware, sboxes == Sboxes::Compact, Frequency(u64::MAX), Library::shipped());
        let [fastest_hz, fastest_wired_hz] = timing.map_or([0.0; 2], |timing| timing.fastest());
        built(&hardware, sboxes).map(|cost| Built { sboxes, cost, fastest_hz, fastest_wired_hz })
    };
    let both: Result<Vec<_>, _> = [Sboxes::Compact, Sboxes::Table].into_iter().map(one).collect();
    let both = both.map_err(|why| Failure::Config(miette!("--cost: {why}")))?;
    output::print_as(
        arguments.format,
        |out| text(out, &arguments.config, &both),
        &json!({
            "config": arguments.config, "cost_source": SYNTHESIS, "process_spread_factor": PROCESS_SPREAD,
            "not_counted": NOT_COUNTED, "built": both,
        }),
    )
}

fn text(out: &mut dyn Write, config: &str, both: &[Built]) -> io::Result<()> {
    writeln!(out, "{config} in {}, before layout\n", Library::shipped().title)?;
    writeln!(out, "{:<28}{:>20}{:>20}", "S-boxes", "of 115 gates", "from the table")?;
    let range = |of: Interval, digits| format!("{:.digits$} to {:.digits$}", of.low, of.high);
    let mut row = |name: &str, of: &dyn Fn(&Built) -> String| {
        let cells: String = both.iter().map(|one| format!("{:>20}", of(one))).collect();
        writeln!(out, "{name:<28}{cells}")
    };
    row("area, kGE", &|one| range(one.cost.area_kge, 1))?;
    row("  AES", &|one| range(one.cost.aes_kge, 1))?;
    row("  GHASH", &|one| range(one.cost.ghash_kge, 1))?;
    row("  control and keystream", &|one| range(one.cost.control_kge, 1))?;
    row("energy, pJ/B", &|one| range(one.cost.pj_per_byte, 2))?;
    row("marginal up to, GHz", &|one| format!("{:.3}", one.fastest_hz / 1e9))?;
    row("closes up to, GHz", &|one| format!("{:.3}", one.fastest_wired_hz / 1e9))?;
    writeln!(out)?;
    both.iter().take(1).flat_map(|one| &one.cost.notes).try_for_each(|note| writeln!(out, "{note}"))?;
    writeln!(out, "not counted: {NOT_COUNTED}")
}
