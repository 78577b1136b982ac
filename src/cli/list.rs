//! `sealsim list`: what is built in.

use super::{Failure, list_faults, output};
use crate::{
    config::{Role, SHIPPED, Shipped},
    workload::{SHIPPED_WORKLOADS, ShippedWorkload},
};
use clap::{Args, ValueEnum};
use serde_json::json;

/// Lists the machines, designs, engines and workloads that are built in.
///
/// A machine is complete; a design is a layer over one, for `--design`; an engine is a standalone AES-GCM engine, and an aead one of another AEAD, not compatible on the wire; both are for `sealsim engine`. A workload is what a host does, for `sealsim run --workload` and `sealsim compare --workload`. `sealsim describe NAME` shows a machine,
/// `sealsim describe NAME --format toml` writes it to a file to start from.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  sealsim list
  sealsim list --faults
  sealsim list --faults my-machine.toml
  sealsim list --faults h100-nvl-tdx --design ide
  sealsim list --format json | jq -r '.[] | select(.kind == \"design\") | .name'")]
pub struct List {
    /// List what `sealsim run --inject` takes instead: each place of a machine with what can go wrong there, and in brackets what else can be chosen.
    ///
    /// --inject takes POINT[@TIME][:SELECTOR,...]: at a transfer (`:3`), a time (`@12us`), a TLP or DLLP (`:tlp=7`), a message (`:message=2`); a flip at a
    /// bit, of a field (`:field=length,bit=3`). `docs/faults.md` has all of it.
    #[arg(long, value_name = "CONFIG", num_args = 0..=1, default_missing_value = "h100-nvl-tdx")]
    faults: Option<String>,
    /// With `--faults`: a design that overrides values of the machine, a TOML file or the name of a shipped one. May be given several times; later
    /// ones override earlier ones.
    #[arg(long, value_name = "DESIGN", requires = "faults")]
    design: Vec<String>,
    /// How to print it.
    #[arg(long, value_enum, default_value_t = ListFormat::Text)]
    format: ListFormat,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ListFormat {
    /// A line each: name, kind, summary.
    Text,
    /// An array of objects with fields name, kind, summary.
    Json,
}

struct Row {
    name: String,
    kind: &'static str,
    group: &'static str,
    summary: String,
}

impl List {
    pub(super) fn run(&self) -> Result<(), Failure> {
        let rows: Vec<Row> = match &self.faults {
            Some(machine) => list_faults::rows(machine, &self.design)?.into_iter().map(Row::from).collect(),
            None => configurations().chain(SHIPPED_WORKLOADS.iter().map(workload)).collect(),
        };
        let text = match self.format {
            ListFormat::Text => output::fitted(&text(&rows)),
            ListFormat::Json => format!("{:#}\n", to_json(&rows)),
        };
        output::print(&text);
        Ok(())
    }
}

/// What is shipped, as `--format json` prints it.
pub(super) fn shipped() -> serde_json::Value {
    to_json(&configurations().collect::<Vec<_>>())
}

/// The shipped machines, designs and engines. Further things to list are further functions that give rows.
fn configurations() -> impl Iterator<Item = Row> {
    SHIPPED.iter().map(row)
}

fn workload(shipped: &ShippedWorkload) -> Row {
    let group = "workloads, for sealsim run --workload and sealsim compare --workload";
    Row { name: shipped.name.to_owned(), kind: "workload", group, summary: shipped.summary() }
}

fn row(shipped: &Shipped) -> Row {
    let kind = match shipped.role {
        Role::Machine => "machine",
        Role::Design => "design",
        Role::Engine => "engine",
        Role::Aead => "aead",
    };
    Row { name: shipped.name().to_owned(), kind, group: shipped.group(), summary: shipped.summary() }
}

impl From<list_faults::Row> for Row {
    fn from(point: list_faults::Row) -> Self {
        Self { name: point.name, kind: "fault", group: "", summary: point.summary }
    }
}

fn text(rows: &[Row]) -> String {
    let width = rows.iter().map(|row| row.name.len()).max().unwrap_or(0);
    let mut groups: Vec<&str> = Vec::new();
    rows.iter().for_each(|row| {
        if !groups.contains(&row.group) {
            groups.push(row.group)
        }
    });
    let of = |group: &str| -> String {
        let rows = rows.iter().filter(|row| row.group == group);
        rows.map(|row| format!("{:width$}  {:8}  {}\n", row.name, row.kind, row.summary)).collect()
    };
    let titled = |group: &str| if group.is_empty() { of(group) } else { format!("{group}:\n{}", of(group)) };
    groups.into_iter().map(titled).collect::<Vec<_>>().join("\n")
}

fn to_json(rows: &[Row]) -> serde_json::Value {
    rows.iter()
        .map(|row| json!({ "name": row.name, "kind": row.kind, "group": row.group, "summary": row.summary }))
        .collect()
}
