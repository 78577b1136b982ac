//! `--workload FILE|NAME`: what the host does, as docs/workloads.md describes it.
//!
//! ```text
//!  text --> tree, parameters settled --> operations, repeats among them --check--> --unroll--> steps --check--> WorkloadFile
//! ```

mod check;
mod head;
mod name;
mod operation;
mod parameters;
mod unroll;

pub use head::Head;
pub use parameters::Setting;

use super::{copy::CopyArgument, program::WorkloadStep, shipped::ShippedWorkload};
use crate::{
    config::Document,
    files::{ReadError, Refusal, Source, read_text},
    units::Bytes,
};
use head::Machine;
use operation::Operation;
use schemars::JsonSchema;
use serde::Deserialize;
use std::path::Path;

pub const MAX_FILE: Bytes = Bytes(1 << 20);

/// Its form.
#[derive(Debug, Deserialize, JsonSchema)]
struct Written {
    machine: Option<String>,
    summary: Option<String>,
    #[serde(default)]
    source: Vec<String>,
    operations: Vec<Operation>,
}

const DOCUMENT: Document = Document {
    room: "workload",
    tables: &[("", "a workload"), ("operations", "an operation"), ("layers", "a layer")],
    examples: EXAMPLES,
    help: "docs/workloads.md has examples",
};

/// How fields are written that are no choice.
const EXAMPLES: &[(&str, &str)] = &[
    ("machine", "machine = \"h100-nvl-tdx\""),
    ("summary", "summary = \"Weights that do not fit, layer by layer\""),
    ("source", "source = [\"sizes: arXiv 2411.03357\"]"),
    ("stream", "stream = \"a\""),
    ("size", "size = \"64 MiB\""),
    ("duration", "duration = \"2 ms\""),
    ("kernels", "kernels = 300"),
    ("host", "host = \"30 us\""),
    ("call", "call = \"7 us\""),
    ("event", "event = \"loaded\""),
    ("ranks", "ranks = 8"),
    ("latency", "latency = \"10 ms\""),
    ("collectives", "collectives = \"nccl\""),
    ("layers", "layers = [{ count = 12, uses = 128, shapes = [[768, 3072], [3072]] }]"),
    ("name", "name = \"block\""),
    ("uses", "uses = 128"),
    ("shapes", "shapes = [[768, 3072], [3072]]"),
    ("shared", "shared = [[50257, 768]]"),
    ("batch", "batch = 32"),
    ("bucket_cap", "bucket_cap = \"25 MiB\""),
    ("first_bucket", "first_bucket = \"1 MiB\""),
    ("update", "update = \"2 ms\""),
    ("count", "count = 4"),
    ("index", "index = \"i\""),
    ("operations", "operations = [{ op = \"copy\", direction = \"h2d\", size = \"64 MiB\", stream = \"a\" }]"),
];

/// How a field is written.
fn example(field: &str) -> &'static str {
    EXAMPLES.iter().find(|(name, _)| *name == field).map_or("", |(_, example)| example)
}

#[derive(Debug)]
pub struct WorkloadFile {
    pub head: Head,
    /// Its copies; a size may be left to the payload.
    pub copies: Vec<CopyArgument>,
    pub steps: Vec<WorkloadStep>,
    /// The error that it is if there is no payload: a copy without size.
    pub without_size: Option<Refusal>,
}

impl WorkloadFile {
    /// Finds what the command line calls `name`: a file, else a shipped workload. `settings` are values of its parameters.
    pub fn find(name: &Path, settings: &[Setting]) -> Result<Self, Refusal> {
        let text = name.to_string_lossy();
        if let Some(shipped) = ShippedWorkload::find(&text).filter(|_| !name.exists()) {
            let name = format!("workloads/{}.toml (shipped)", shipped.name);
            return Self::parse_with(&name, shipped.text.to_owned(), settings);
        }
        Self::read(name, settings).map_err(|error| {
            let meant = ShippedWorkload::meant(&text).filter(|_| error.is("workload::unreadable"));
            match meant {
                Some(meant) => error.remedy(format!("did you mean the shipped `{meant}`? `sealsim list` names all")),
                None => error,
            }
        })
    }

    pub fn read(path: &Path, settings: &[Setting]) -> Result<Self, Refusal> {
        let shown = path.display().to_string();
        let text = read_text(path, MAX_FILE).map_err(|error| match error {
            ReadError::Unreadable { .. } | ReadError::NoFile { .. } => {
                DOCUMENT.refused("unreadable", format!("workload {error}"))
            }
            error => DOCUMENT
                .refused("not_a_file", error.to_string())
                .remedy("a workload is TOML, which is UTF-8 text; repeats make long ones short"),
        })?;
        let mut file = Self::parse_with(&shown, text, settings)?;
        file.head.lies_in(path.parent());
        Ok(file)
    }

    /// Reads the text of the file that messages call `name`.
    pub fn parse(name: &str, text: String) -> Result<Self, Refusal> {
        Self::parse_with(name, text, &[])
    }

    /// The same with other values for its parameters.
    pub fn parse_with(name: &str, text: String, settings: &[Setting]) -> Result<Self, Refusal> {
        let mut tree = DOCUMENT.parse(&Source::new(name, text))?;
        parameters::settle(&mut tree, settings)?;
        let written: Written = DOCUMENT.fill(&tree)?;
        check::check(&written, &tree).sorted().result()?;
        let unrolled = unroll::unroll(&written.operations, &tree)?;
        let without_size = unrolled.without_size.map(|node| {
            let remedy = "add for example size = \"64 MiB\", or give a file with --payload".to_owned();
            check::refused(
                "missing",
                node,
                "",
                "a copy without `size`, and no payload to take it from".to_owned(),
                remedy,
            )
        });
        let (copies, steps) = (unrolled.copies, unrolled.steps);
        let place = tree.at("machine").and_then(|node| node.place.clone());
        let machine = written.machine.map(|name| Machine { name, place, folder: None });
        let head = Head { summary: written.summary, source: written.source, machine };
        Ok(Self { head, copies, steps, without_size })
    }
}

impl WorkloadFile {
    /// Itself, if one thread of the host does all of it.
    pub fn of_one_thread(self) -> Result<Self, Refusal> {
        if !self.steps.iter().any(|step| matches!(step, WorkloadStep::Thread { .. })) {
            return Ok(self);
        }
        let what = "a workload of several host threads: a session in full detail has one";
        Err(DOCUMENT
            .refused("threads", what)
            .remedy("`sealsim replay FILE` plays it; without its `thread` operations it can be run"))
    }

    pub fn calls_collectives(&self) -> bool {
        self.steps.iter().any(|step| matches!(step, WorkloadStep::Collective { .. }))
    }
}

#[cfg(test)]
mod tests;
