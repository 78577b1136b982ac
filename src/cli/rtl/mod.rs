//! `sealsim rtl`: the engine of a machine as SystemVerilog, with a bench, a synthesis script and what was promised of it.

mod shape;
mod vectors;

use super::{Failure, MachineArguments, output};
use crate::{
    aead::{model::Hardware, spec::EngineSpec},
    cost::{
        self, Library,
        clock::{Sboxes, period_ps, sboxes},
        wide::whole,
    },
    files::Visible,
    gcm::spec::GcmSpec,
    units::Frequency,
};
use clap::Args;
use miette::miette;
use shape::Shape;
use std::{
    fmt::Write as _,
    fs, io,
    path::{Path, PathBuf},
};
use vectors::Vectors;

/// Writes the AES-GCM engine of a machine as SystemVerilog, with a bench, vectors and a synthesis script.
#[derive(Debug, Args)]
#[command(after_long_help = "\
The folder has the engine's sources with the design's parameters (files.f, top.sv, src/), a bench for Verilator (bench.sv), messages with values of their stages and the cycles that the simulator's engine takes (vectors/), and scripts \
that synthesise it (run, flow/). Its README.md says what was promised of cycles, area, delay and energy, and which command checks it.

The RTL has engines of 1, 2, 4 or 8 lanes, of all rounds or of one, with serial or aggregated GHASH. Others are refused with the nearest that it has. Round keys are \
given from outside, and tags are compared there.

Exit status: 0 written; 2 wrong arguments, or an engine that the RTL does not have; 3 wrong configuration; 4 a folder that is not empty or cannot be written; 5 the \
engine cannot be simulated.

Examples:
  sealsim rtl h100-nvl-tdx --design direct-in-place --set engine.aes.lanes=2 --out engine/
  make -C engine lint verilator                        # every vector, cycle by cycle
  make -C engine synthesis                             # area and delay, held against what was promised
  sealsim rtl h100-nvl-tdx --design serial-ghash --seed 7 --out serial/")]
pub struct Arguments {
    #[command(flatten)]
    machine: MachineArguments,
    /// The folder, which must not be there or be empty
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// What the bench's messages are drawn from
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

/// Files that are the same for each engine, by their places below the folder.
macro_rules! shipped {
    ($($place:literal),* $(,)?) => { [$(($place, include_str!(concat!("../../../rtl/", $place)))),*] };
}
const SHIPPED: [(&str, &str); 10] = shipped![
    "src/gf.sv",
    "src/aes.sv",
    "src/wide.sv",
    "src/ghash.sv",
    "src/engine.sv",
    "src/tag_queue.sv",
    "flow/liberty.py",
    "flow/sta.py",
    "flow/synthesise.py",
    "run",
];
/// Files with the engine's own values in the place of `@NAME@`.
macro_rules! templates {
    ($($name:literal),* $(,)?) => { [$(($name, include_str!(concat!("templates/", $name)))),*] };
}
const TEMPLATES: [(&str, &str); 7] =
    templates!["top.sv", "bench.sv", "axis.sv", "cocotb_bench.py", "files.f", "Makefile", "README.md"];

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    refuse_what_is_there(&arguments.out)?;
    let machine = arguments.machine.resolve()?.machine;
    let clock = machine.copy_engine.clock_of_engines();
    let compact = |spec: &GcmSpec| sboxes(&hardware(spec), clock, Library::shipped()) != Some(Sboxes::Table);
    let shape = Shape::of(&machine, compact).map_err(|missing| {
        Failure::Usage(miette!(help = missing.nearest, "the RTL has no such engine: {}", missing.what))
    })?;
    let vectors = Vectors::of(&shape.spec, arguments.seed)?;
    let values = arguments.values(&shape, &vectors, clock, &machine.name);
    let mut files: Vec<(String, String)> = SHIPPED.map(|(place, text)| (place.to_owned(), text.to_owned())).into();
    files.extend(TEMPLATES.map(|(name, text)| (name.to_owned(), filled(text, &values))));
    files.extend(vectors.files);
    write_folder(&arguments.out, &files)?;
    let text = format!("{}: {} files; README.md says what to run\n", arguments.out.display(), files.len());
    output::print(&text);
    Ok(())
}

impl Arguments {
    /// What stands in templates, by name.
    fn values(&self, shape: &Shape, vectors: &Vectors, clock: Frequency, machine: &str) -> Vec<(String, String)> {
        let mut command = format!("sealsim rtl {}", self.machine.config);
        let overlays = &self.machine.overlays;
        overlays.design.iter().for_each(|design| _ = write!(command, " --design {design}"));
        overlays.settings.set.iter().for_each(|set| _ = write!(command, " --set '{set}'"));
        let design = [&[machine.to_owned()], &overlays.design[..], &overlays.settings.set].concat().join(", ");
        let (promised, areas) = promises(shape);
        let energy = cost::engine(&hardware(&shape.spec), clock);
        let energy = energy.map_or_else(str::to_owned, |cost| {
            format!("{:.2} to {:.2} pJ/B", cost.pj_per_byte.low, cost.pj_per_byte.high)
        });
        let mut values: Vec<(String, String)> =
            shape.parameters.iter().map(|(name, value)| ((*name).to_owned(), value.to_string())).collect();
        let others = [
            ("DESIGN", Visible::new().piece(design.as_bytes())),
            ("COMMAND", Visible::new().piece(command.as_bytes())),
            ("BLOCK", shape.block()),
            ("KEY_BYTES", (shape.spec.key_bits / 8).to_string()),
            ("KEYS", (128 * (shape.value("ROUNDS") + 1)).to_string()),
            ("MESSAGES", vectors.messages.to_string()),
            ("AADS", vectors.aads.to_string()),
            ("TEXTS", vectors.texts.to_string()),
            ("ROWS", vectors.rows.to_string()),
            ("CYCLES", vectors.cycles.to_string()),
            ("PERIOD", format!("{:.0}", period_ps(clock))),
            ("CLOCK", clock.to_string()),
            ("PROMISED", promised),
            ("AREAS", areas),
            ("ENERGY", energy),
        ];
        values.extend(others.map(|(name, value)| (name.to_owned(), value)));
        values
    }
}

fn hardware(spec: &GcmSpec) -> Hardware {
    EngineSpec::Gcm(spec.clone()).model().hardware()
}

/// Area and delay by library, as the synthesis takes them and as rows of a table: the sum of the cost model's parts, and the slowest of them.
fn promises(shape: &Shape) -> (String, String) {
    let (rounds, compact) = (shape.value("ROUNDS") as u32, shape.value("COMPACT") == 1);
    let (mut promised, mut rows) = (Vec::new(), String::new());
    for name in Library::names() {
        let Some(library) = Library::named(name) else { continue };
        let part = whole(&shape.spec, rounds, compact, library);
        let (kge, ps) = (part.kge(library), part.delay.ps);
        promised.push(format!("{name}:{kge:.1}:{ps:.0}"));
        _ = writeln!(rows, "| area, {} | {kge:.1} kGE | `make synthesis`, within 10 % |", library.title);
        _ = writeln!(rows, "| longest path, {} | {ps:.0} ps | `make synthesis`, within 15 % |", library.title);
    }
    (promised.join(","), rows.trim_end().to_owned())
}

fn filled(template: &str, values: &[(String, String)]) -> String {
    values.iter().fold(template.to_owned(), |text, (name, value)| text.replace(&format!("@{name}@"), value))
}

fn unwritten(path: &Path, error: &io::Error) -> Failure {
    Failure::InputOutput(miette!("{}: {error}", path.display()))
}

fn refuse_what_is_there(folder: &Path) -> Result<(), Failure> {
    match fs::read_dir(folder).map(|mut entries| entries.next().is_some()) {
        Ok(false) => Ok(()),
        Ok(true) => {
            let help = "name another one, or remove it";
            Err(Failure::InputOutput(miette!(help = help, "{}: the folder is not empty", folder.display())))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(unwritten(folder, &error)),
    }
}

/// Writes all files or none: into a folder beside it, which takes its name when it is whole.
fn write_folder(folder: &Path, files: &[(String, String)]) -> Result<(), Failure> {
    let failed = |error: io::Error| unwritten(folder, &error);
    let folder = std::path::absolute(folder).map_err(failed)?;
    let parent = folder.parent().ok_or_else(|| failed(io::ErrorKind::InvalidInput.into()))?;
    fs::create_dir_all(parent).map_err(failed)?;
    let hidden = tempfile::Builder::new().prefix(".sealsim-").suffix(".part").tempdir_in(parent).map_err(failed)?;
    for (name, text) in files {
        let place = hidden.path().join(name);
        fs::create_dir_all(place.parent().unwrap_or(parent)).map_err(failed)?;
        fs::write(&place, text).map_err(failed)?;
    }
    allow(hidden.path()).map_err(failed)?;
    fs::rename(hidden.path(), &folder).map_err(failed)?;
    // It has gone to its place.
    _ = hidden.keep();
    Ok(())
}

/// The folder is everyone's to read, and its script to run.
#[cfg(unix)]
fn allow(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    [folder.to_path_buf(), folder.join("run")]
        .into_iter()
        .try_for_each(|path| fs::set_permissions(path, fs::Permissions::from_mode(0o755)))
}

#[cfg(not(unix))]
fn allow(_: &Path) -> io::Result<()> {
    Ok(())
}
