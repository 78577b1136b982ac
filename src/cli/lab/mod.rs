//! `sealsim lab`: a page to explore with.
//!
//! ```text
//!   browser --- HTTP on the loopback --- LabSite --- State: a query --- Simulator: some threads --- the verbs' own code
//! ```

mod answer;
mod dropped;
mod inside;
mod own;
mod query;
mod simulator;
mod site;
mod state;
mod workloads;

pub use answer::{Answer, Memory, answer};
pub use dropped::Dropped;
pub use query::{Offered, StateError};
pub use state::{Question, State};

use super::{
    Failure,
    loopback::{self, Server},
    machine::MachineArguments,
    output,
    run::Interruption,
};
use clap::Args;
use inside::Inside;
use miette::miette;
use site::LabSite;
use std::{path::Path, sync::Arc, thread, time::Duration};

/// So often it looks whether the user wants the program to end.
const POLL_EVERY: Duration = Duration::from_millis(50);

/// Serve a page to explore with, to this computer only: move parameters of a machine and see at once what a copy takes and what limits it.
#[derive(Debug, Args)]
#[command(after_long_help = "\
The address is printed, and opened in a browser if there is one. It holds a random token: who does not know it finds nothing. The program serves until Ctrl-C.

The page begins with the machine and what lies over it here. Choose other machines and designs, search parameters by name, unit or meaning, and move them: \
each has its range and its source. The first answer comes within a moment, of large copies from a sample, and says so; then the exact one with what limits the copy, the path \
of a message, and the rate by the size of a copy. A second state beside the first shows what a change does. Three more views replay a profile of your own with confidential computing and with changes that are switched on, \
simulate a shipped workload with designs beside each other, and look inside a run.

PROFILE is what `sealsim replay` reads: a file of the PyTorch profiler, Nsight Systems or Chakra; several are ranks of one job, and --hw is their machine. The page takes such \
files too, up to 128 MiB each.

Each answer is the JSON of a command, which the page shows: what it says, the command line says too. The page can give any shipped machine and design, \
and the files that this command names; it reads no other file. Profiles that are dropped on it are kept in a temporary folder until the program ends; nothing else is written. Up to four questions are simulated at a time, each in one thread, \
besides the run that is looked into.

Exit status: 0 ended by Ctrl-C; 2 wrong arguments; 3 a machine that is none; 4 no such profile, or a port that cannot be had.

Examples:
  sealsim lab
  sealsim lab hgx-h100-8gpu --design fastrack
  sealsim lab job.json.gz --hw hgx-h100-8gpu
  sealsim lab my-machine.toml --design my-idea.toml --port 8080 --no-open

docs/lab.md describes the page.")]
pub struct Arguments {
    #[command(flatten)]
    machine: LabMachine,
    /// The port of the page; a free one if not given
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    port: u16,
    /// Open no browser
    #[arg(long)]
    no_open: bool,
}

/// The machine that the page begins with.
#[derive(Debug, Args)]
struct LabMachine {
    /// The machine to begin with: a TOML file, or the name of a shipped one [default: h100-nvl-tdx]. Or profiles to begin with: with --hw, or files that are no
    /// TOML
    #[arg(value_name = "CONFIG|PROFILE")]
    files: Vec<String>,
    /// The machine of profiles
    #[arg(long, value_name = "CONFIG", requires = "files")]
    hw: Option<String>,
    #[command(flatten)]
    overlays: super::OverlayArguments,
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let LabMachine { overlays, .. } = &arguments.machine;
    let (config, programs) = arguments.machine.parts()?;
    MachineArguments { config: config.clone(), overlays: overlays.clone() }.resolve()?;
    let interruption = Interruption::listen();
    let dropped = Dropped::new().map_err(|error| Failure::input_output("lab: a temporary folder", &error))?;
    let files = [config.clone()].into_iter().chain(overlays.design.clone()).collect();
    let program = (!programs.is_empty()).then(|| program_of(programs, arguments.machine.hw.as_deref(), overlays));
    let first = first(&config, overlays);
    let offered = Offered { files, programs: programs.to_vec(), dropped: Arc::new(dropped) };
    let site = LabSite { simulator: Arc::default(), offered, first, program, inside: Inside::default() };
    let port = arguments.port;
    let server = Server::begin(port, site)
        .map_err(|error| loopback::refused(("lab", "leave out --port", "--port 8080"), port, &error))?;
    output::print(&format!("lab: {}\n", server.address()));
    output::print("Ctrl-C ends it.\n");
    let opened = (!arguments.no_open).then(|| own::open(server.address()));
    if matches!(opened, Some(None)) {
        output::complain("No browser was found: open the address yourself.");
    }
    while !interruption.asked() {
        thread::sleep(POLL_EVERY);
    }
    server.end();
    Ok(())
}

impl LabMachine {
    /// The machine, and the profiles.
    fn parts(&self) -> Result<(String, &[String]), Failure> {
        let is_profile = |name: &String| {
            let path = Path::new(name);
            path.is_file() && path.extension().is_none_or(|ending| ending != "toml")
        };
        let machine = || self.hw.clone().unwrap_or_else(|| "h100-nvl-tdx".to_owned());
        match &self.files[..] {
            [] => Ok((machine(), &[])),
            files if self.hw.is_some() || files.iter().all(is_profile) => {
                let missing = files.iter().find(|file| !Path::new(file).is_file());
                let failed = |file: &String| Failure::InputOutput(miette!("{file}: there is no such file"));
                missing.map_or(Ok((machine(), files)), |file| Err(failed(file)))
            }
            [config] => Ok((config.clone(), &[])),
            _ => {
                let help = "give profiles alone, and their machine with --hw";
                Err(Failure::Usage(miette!(help = help, "several files, not all of which are profiles")))
            }
        }
    }
}

/// A part of a query.
fn part(name: &str, value: &str) -> String {
    format!("{name}={}", query::encoded(value))
}

/// The program that the page begins with, as a query.
fn program_of(programs: &[String], hw: Option<&str>, overlays: &super::OverlayArguments) -> String {
    let parts = programs.iter().map(|program| part("program", program));
    let parts = parts.chain(hw.map(|hw| part("hw", hw)));
    parts.chain(overlays.design.iter().map(|design| part("design", design))).collect::<Vec<_>>().join("&")
}

/// The state that the page begins with, as a query.
fn first(config: &str, overlays: &super::OverlayArguments) -> String {
    let mut parts = vec![part("machine", config)];
    parts.extend(overlays.design.iter().map(|design| part("design", design)));
    parts.extend(overlays.settings.cc.map(|cc| part("cc", cc.name())));
    parts.extend(overlays.settings.set.iter().map(|set| part("set", set)));
    parts.push(part("copy", "h2d:64MiB"));
    parts.join("&")
}
