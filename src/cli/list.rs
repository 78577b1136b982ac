//! `sealsim list`: what is built in.

use super::Failure;
use crate::config::{Role, SHIPPED, Shipped};
use clap::{Args, ValueEnum};
use serde_json::json;
use std::io::{self, Write};

/// Lists the machines and designs that are built in.
///
/// A machine is complete; a design is a layer over one, for `--design`. `sealsim describe NAME` shows a machine,
/// `sealsim describe NAME --format toml` writes it to a file to start from.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  sealsim list
  sealsim list --format json | jq -r '.[] | select(.kind == \"design\") | .name'")]
pub struct List {
    /// How to print it.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// A line each: name, kind, summary.
    Text,
    /// An array of objects with fields name, kind, summary.
    Json,
}

/// One thing to list.
struct Row {
    name: String,
    kind: &'static str,
    summary: String,
}

impl List {
    pub(super) fn run(&self) -> Result<(), Failure> {
        let rows = configurations();
        let text = match self.format {
            Format::Text => text(&rows),
            Format::Json => format!("{:#}\n", to_json(&rows)),
        };
        io::stdout().write_all(text.as_bytes()).map_err(|error| Failure::output(&error))
    }
}

/// The shipped machines and designs. Further things to list are further functions that give rows.
fn configurations() -> Vec<Row> {
    SHIPPED.iter().map(row).collect()
}

fn row(shipped: &Shipped) -> Row {
    let kind = match shipped.role {
        Role::Machine => "machine",
        Role::Design => "design",
    };
    Row { name: shipped.name().to_owned(), kind, summary: shipped.summary() }
}

fn text(rows: &[Row]) -> String {
    let width = rows.iter().map(|row| row.name.len()).max().unwrap_or(0);
    rows.iter().map(|row| format!("{:width$}  {:7}  {}\n", row.name, row.kind, row.summary)).collect()
}

fn to_json(rows: &[Row]) -> serde_json::Value {
    rows.iter().map(|row| json!({ "name": row.name, "kind": row.kind, "summary": row.summary })).collect()
}
