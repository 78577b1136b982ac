//! `sealsim describe`: every parameter of a machine and where it comes from.

mod costs;
mod engine;
mod first;

use super::{Failure, machine::MachineArguments, output};
use crate::config::{DescribedEngine, Kind, Layers, Parameter, Resolved};
use crate::report;
use crate::system::{self, fixed};
use crate::units::Fixed;
use clap::{Args, ValueEnum};
use serde_json::{Map, json};

/// Shows a machine: each parameter with its value, its origin and the range in which it may lie, and what is fixed in the code; then what its
/// crypto units cost, and the forgery bound of its tags. Of an engine (`sealsim list`) it shows each parameter with its value and what it means.
///
/// The origin is one of: documented (a public source states it), measured (published measurements give it), calibrated
/// (fitted so that the model meets measurements), assumed (no value is published; the source gives the reason), user
/// (set with --set, or in a file that does not say where it comes from).
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  sealsim describe h100-nvl-tdx
  sealsim describe h100-nvl-tdx --design hold --set tag_queue.quarantine=4MiB
  sealsim describe unrolled-1                                       # an engine
  sealsim describe my-machine.toml --format json | jq '.parameters[] | select(.kind == \"assumed\") | .path'
  sealsim describe h100-nvl-tdx --format toml > my-machine.toml     # one file that needs no other
  sealsim describe h100-nvl-tdx --netlist text                      # its units and channels
  sealsim describe h100-nvl-tdx --netlist svg > machine.svg")]
pub struct Describe {
    #[command(flatten)]
    machine: MachineArguments,
    /// How to print it.
    #[arg(long, value_enum, default_value_t = DescribeFormat::Text)]
    format: DescribeFormat,
    /// Shows the machine's units and channels instead: unit by unit with its clock, channel by channel with its ends, its depth or least flight time, and its
    /// items.
    #[arg(long, value_enum, value_name = "FORMAT", conflicts_with = "format")]
    netlist: Option<NetlistFormat>,
    /// In text, give every parameter with its origin and range, what is fixed in the code, and costs.
    #[arg(long)]
    all: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum NetlistFormat {
    /// A table of units and one of channels.
    Text,
    /// Fields units (path, clock_hz, parts) and channels (path, from, to, item, and depth or flight_fs).
    Json,
    /// A drawing that fits a page: of several GPUs the first, with its session and its link.
    Svg,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum DescribeFormat {
    /// A table by unit of the machine.
    Text,
    /// Fields name, summary, digest, layers, designs, counts, switches, parameters, fixed; cost and `message_risk` as compare has them.
    Json,
    /// A configuration file that stands on its own.
    Toml,
}

impl Describe {
    pub(super) fn run(&self) -> Result<(), Failure> {
        let layers = self.machine.overlays.layers(&self.machine.config);
        if let Some(engine) = layers.describe_standalone()? {
            return self.engine(&engine);
        }
        let resolved = layers.resolve()?;
        if let Some(format) = self.netlist {
            output::print(&netlist(&resolved, format)?);
            return Ok(());
        }
        let text = match self.format {
            DescribeFormat::Text if !self.all => {
                // A file may be a machine only with what lies over it.
                let own = Layers::new(self.machine.config.as_str()).resolve().unwrap_or_else(|_| resolved.clone());
                first::text(&resolved, &own, output::width())
            }
            DescribeFormat::Text => output::fitted(&text(&resolved, output::width())),
            DescribeFormat::Json => format!("{:#}\n", to_json(&resolved)),
            DescribeFormat::Toml => resolved.to_toml()?,
        };
        output::print(&text);
        Ok(())
    }
}

impl Describe {
    /// What `--format json` prints of a machine, and what `--format toml` prints.
    pub(super) fn answer(&self) -> Result<(String, String), Failure> {
        let resolved = self.machine.resolve()?;
        Ok((format!("{:#}\n", to_json(&resolved)), resolved.to_toml()?))
    }

    fn engine(&self, engine: &DescribedEngine) -> Result<(), Failure> {
        let overlays = &self.machine.overlays;
        if !overlays.design.is_empty() || overlays.settings.cc.is_some() {
            let name = &engine.name;
            return Err(Failure::Usage(miette::miette!("`{name}` is an engine: --design and --cc go with a machine")));
        }
        let text = match self.format {
            _ if self.netlist.is_some() => {
                return Err(Failure::Usage(miette::miette!("`{}` is an engine, which has no netlist", engine.name)));
            }
            DescribeFormat::Text => output::fitted(&engine::text(engine)),
            DescribeFormat::Json => format!("{:#}\n", engine::to_json(engine)),
            DescribeFormat::Toml => engine.to_toml()?,
        };
        output::print(&text);
        Ok(())
    }
}

fn netlist(resolved: &Resolved, format: NetlistFormat) -> Result<String, Failure> {
    // A page has room for one GPU.
    let one = || resolved.machine.of_gpu(0);
    let machine = if matches!(format, NetlistFormat::Svg) { one() } else { resolved.machine.clone() };
    let outline = system::outline(&machine).map_err(|error| Failure::Config(miette::miette!("{error}")))?;
    Ok(match format {
        NetlistFormat::Text => report::netlist::text(&outline, output::width()),
        NetlistFormat::Json => format!("{:#}\n", json!(outline)),
        NetlistFormat::Svg => report::netlist::svg(&outline),
    })
}

fn text(resolved: &Resolved, columns: usize) -> String {
    let mut lines = head(resolved);
    lines.extend([format!("  digest {}", resolved.digest), kinds(resolved), String::new()]);
    lines.extend(resolved.switches.iter().map(|(path, truth)| format!("{path} = {truth}")));
    let width = |get: fn(&Parameter) -> usize| resolved.parameters.iter().map(get).max().unwrap_or(0);
    let (paths, values) = (width(|one| one.path.len()), width(|one| one.value.len()));
    let ranges = width(|one| range(one).len());
    // Where there is no room for all of it side by side, sources stand below.
    let wide = paths + values + 10 + ranges + 8 + SOURCE <= columns;
    let mut unit = None;
    for one in &resolved.parameters {
        let its_unit = one.path.split('.').next();
        if unit != its_unit {
            lines.push(String::new());
            unit = its_unit;
        }
        let (kind, source) = (one.provenance.kind, &one.provenance.source);
        let range = range(one);
        let (path, value) = (&one.path, &one.value);
        if wide {
            lines.push(format!("{path:paths$}  {value:values$}  {kind:10}  {range:ranges$}  {source}"));
        } else {
            let range = if range.is_empty() { range } else { format!("  {range}") };
            lines.push(format!("{path:paths$}  {value:values$}  {kind:10}{range}").trim_end().to_owned());
            lines.push(format!("    {source}"));
        }
    }
    lines.extend([String::new(), "fixed in this version:".into(), String::new()]);
    let widths = (fixed().map(|one| one.name.len()).max(), fixed().map(|one| amount(one).len()).max());
    let (names, amounts) = (widths.0.unwrap_or(0), widths.1.unwrap_or(0));
    lines.extend(fixed().map(|one| format!("{:names$}  {:amounts$}  {}", one.name, amount(one), one.why)));
    lines.push(String::new());
    lines.extend(costs::lines(&resolved.machine));
    lines.push(String::new());
    lines.join("\n")
}

/// What it is, and what it was filled from.
fn head(resolved: &Resolved) -> Vec<String> {
    let mut lines = vec![format!("{}: {}", resolved.name(), resolved.machine.summary)];
    lines.extend(resolved.designs.iter().map(|design| format!("  with {}: {}", design.name, design.summary)));
    lines.push(format!("  from {}", resolved.layers.join(", then ")));
    lines
}

/// How many parameters there are of each kind.
fn kinds(resolved: &Resolved) -> String {
    let counts = resolved.counts();
    let counts: Vec<_> = counts.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
    format!("  {} parameters: {}", resolved.parameters.len(), counts.join(", "))
}

/// Columns that a source needs in addition to the others.
const SOURCE: usize = 50;

fn amount(one: &Fixed) -> String {
    format!("{} {}", one.value, one.unit)
}

fn range(parameter: &Parameter) -> String {
    let bound = |bound: &Option<String>| bound.clone().unwrap_or_default();
    let (low, high) = (bound(&parameter.provenance.low), bound(&parameter.provenance.high));
    if low.is_empty() && high.is_empty() { String::new() } else { format!("{low} .. {high}") }
}

/// All of a machine as `--format json` prints it.
pub(super) fn to_json(resolved: &Resolved) -> serde_json::Value {
    let parameter = |one: &Parameter| {
        json!({
            "path": one.path,
            "value": one.value,
            "unit": one.unit,
            "kind": one.provenance.kind,
            "source": one.provenance.source,
            "low": one.provenance.low,
            "high": one.provenance.high,
        })
    };
    let counts: Map<_, _> =
        resolved.counts().map(|(kind, count)| (Kind::name(kind).to_owned(), json!(count))).into_iter().collect();
    let switches: Map<_, _> = resolved.switches.iter().map(|(path, truth)| (path.clone(), json!(truth))).collect();
    let mut all = json!({
        "name": resolved.name(),
        "summary": resolved.machine.summary,
        "digest": resolved.digest,
        "layers": resolved.layers,
        "designs": resolved.designs,
        "counts": counts,
        "switches": switches,
        "parameters": resolved.parameters.iter().map(parameter).collect::<Vec<_>>(),
        "fixed": fixed().collect::<Vec<_>>(),
    });
    for (name, value) in costs::json(&resolved.machine) {
        all[name] = value;
    }
    all
}
