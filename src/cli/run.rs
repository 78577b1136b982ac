//! `sealsim run`: copies on a machine, or a whole workload.

mod execute;
mod inside;
mod interruption;
mod limits;
mod live;
mod places;
mod progress;

pub(super) use execute::{Expected, Job};
pub(super) use inside::InsideArguments;
pub(super) use interruption::Interruption;
pub(super) use limits::request;
pub(super) use live::LiveArguments;
pub(super) use places::{Named, clash};

use super::{Failure, OverlayArguments, machine::machine_of, output, page::PageArgument};
use crate::{
    config::Resolved,
    sim::Kernel,
    system::DataMode,
    workload::{
        CopyArgument, InjectionArgument, Payload, PayloadError, Setting, Workload, WorkloadFile, WorkloadFileError,
        sized,
    },
};
use clap::{Args, ValueEnum};
use miette::miette;
use std::{
    num::NonZero,
    path::{Path, PathBuf},
};

/// Run copies, or a workload of copies and kernels, on a machine: what they took, what limited them, and whether every byte arrived.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Every byte is real: it is sealed, cut into TLPs, carried, checked, opened, and compared with the source. What arrived is \
written to --out only if all of it was delivered; otherwise an old file stays as it was.

With --copy, copies run one after the other on one stream. With --workload, a TOML file, or a shipped workload, says what the host does, \
in its order:

  machine = \"h100-nvl-tdx\"          # where CONFIG is left out
  summary = \"Upload, compute, download\"
  operations = [
      { op = \"copy\", direction = \"h2d\", size = \"64 MiB\", stream = \"a\" },
      { op = \"kernel\", duration = \"2 ms\", stream = \"a\" },
      { op = \"record\", event = \"computed\", stream = \"a\" },
      { op = \"wait\", event = \"computed\", stream = \"b\" },
      { op = \"repeat\", count = 4, operations = [
          { op = \"copy\", direction = \"d2h\", size = \"16 MiB\", stream = \"b\", buffer = \"out{i}\" },
      ] },
      { op = \"sync\" },
  ]

docs/workloads.md describes each field. Bytes come from --payload, or are generated from --seed.

Exit status: 0 delivered; 1 not delivered, or interrupted; 2 wrong arguments; 3 wrong configuration or workload; 4 a file that cannot \
be read or written; 5 a deadlock or another fault of the simulation.

Examples:
  sealsim run h100-nvl-tdx --copy h2d:64MiB
  sealsim run h100-nvl-tdx --copy h2d --payload model.safetensors --out arrived --digest
  sealsim run h100-nvl-tdx --copy d2h:1GiB:pageable --data none --format json | jq '.copies[0].gb_per_s'
  sealsim run h100-nvl-tdx --cc off --copy h2d:64MiB --copy d2h:64MiB
  sealsim run h100-nvl-tdx --cc off --copy h2d:64MiB --data none --what-if 5        # what limits it, the best five
  sealsim run h100-nvl-tdx --design hold --set tag_queue.quarantine=4MiB --copy h2d:16MiB
  sealsim run h100-nvl-tdx --copy h2d:4MiB --inject link.d2h.flip:100
  sealsim run h100-nvl-tdx --workload workloads/overlap-pipelined.toml --data none
  sealsim run --workload weight-streaming --cc off --data none   # a shipped one, on the machine that it names
  sealsim run h100-nvl-tdx --copy h2d:4MiB --trace run.pftrace --capture link.pcapng@0us..200us   # look inside
  sealsim run h100-nvl-tdx --copy h2d:4GiB --live                # watch it in a browser
  sealsim run --workload ddp-gpt2-xl --param ranks=4 --design link
  sealsim run h100-nvl-tdx --copy h2d:64MiB --report run.html    # a page with plots

The results are described in docs/results.md.")]
pub struct Arguments {
    /// The machine: a TOML file, or the name of a shipped one (see `sealsim list`). A file takes precedence. May be left out for a
    /// workload that names its machine
    #[arg(value_name = "CONFIG", required_unless_present = "workload")]
    config: Option<String>,
    #[command(flatten)]
    overlays: OverlayArguments,
    /// A copy: DIR is h2d, d2h or d2d; SIZE as 64MiB, or a bare number of bytes, the whole payload if empty or left out;
    /// MEM is pinned (default) or pageable, and left out for d2d. May be given several times
    #[arg(long = "copy", value_name = "DIR[:SIZE[:MEM]]", required_unless_present = "workload")]
    copies: Vec<CopyArgument>,
    /// What the host does, from this TOML file or shipped workload: copies, kernels and events on several streams, and repeats. In place
    /// of --copy. A file takes precedence
    #[arg(long, value_name = "FILE|NAME", conflicts_with = "copies")]
    workload: Option<PathBuf>,
    /// Set a parameter of the workload, as bucket_cap=100MiB. May be given several times
    #[arg(long, value_name = "NAME=VALUE", requires = "workload")]
    param: Vec<Setting>,
    /// Confidential computing on or off, whatever the configuration says
    #[arg(long, value_enum, value_name = "MODE")]
    cc: Option<Switch>,
    /// Take the bytes of every copy from this file, from its beginning. A workload must have exactly one copy
    #[arg(long, value_name = "FILE")]
    payload: Option<PathBuf>,
    /// Write the bytes that arrived to this file, if they are delivered. Needs exactly one copy
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Carry every byte, or keep only the timing, which is the same
    #[arg(long, value_enum, default_value_t = Data::Exact)]
    data: Data,
    /// Take the SHA-256 of the bytes that arrived
    #[arg(long)]
    digest: bool,
    /// How simulated time advances: both kernels give the same results
    #[arg(long, value_enum, default_value_t = KernelArgument::Skip)]
    kernel: KernelArgument,
    /// Threads that simulate what is below different root complexes of a machine, with --data none; as many as this computer has cores, if
    /// not said. The results do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Seed of generated bytes, keys, IV masks and of the bits that faults pick
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
    seed: u64,
    /// A fault: POINT is a place and what goes wrong there (`sealsim list --faults`); it strikes at the N-th passage, from 1 (default), or at
    /// the first at or after TIME. Instead of N, tlp=N, dllp=N or message=N; field=NAME and bit=N aim a flip, as in link.h2d.flip:tlp=7,field=length,bit=3.
    /// May be given several times
    #[arg(long, value_name = "POINT[@TIME][:N,...]")]
    inject: Vec<InjectionArgument>,
    /// Status 1 if a fault of --inject does not strike, which is a warning otherwise
    #[arg(long, requires = "inject")]
    inject_must_strike: bool,
    /// Measure what limits the copy that ends last: run it again, without data and 64 MiB of it at most, with the parameters relaxed
    /// that may bind (twice the rate or depth, half the latency), and give the best N; 0 for none. Default: 1, but 0 with --inject
    /// and for more than 64 MiB in several copies
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=20))]
    what_if: Option<u8>,
    /// Text for people, or one JSON object
    #[arg(long, value_enum, default_value_t = RunFormat::Text)]
    format: RunFormat,
    /// In text, give each copy a row, also of more than 20, which are grouped otherwise by GPU, stream, direction and memory
    #[arg(long)]
    all: bool,
    /// Write what `sealsim rerun` needs to repeat this run to this file
    #[arg(long, value_name = "FILE")]
    manifest: Option<PathBuf>,
    #[command(flatten)]
    inside: InsideArguments,
    #[command(flatten)]
    live: LiveArguments,
    #[command(flatten)]
    page: PageArgument,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Switch {
    On,
    Off,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Data {
    Exact,
    None,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum KernelArgument {
    /// Jump to the next event
    Skip,
    /// Tick every unit at every edge of its clock
    EveryCycle,
}

/// How results are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum RunFormat {
    Text,
    Json,
    /// Nothing is printed: the results go elsewhere.
    #[value(skip)]
    Nothing,
}

/// Runs the verb.
///
/// # Errors
/// See the help text for each exit status.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    check(arguments)?;
    let file = arguments.workload.as_deref().map(|name| WorkloadFile::find(name, &arguments.param)).transpose()?;
    let resolved = resolve(arguments, file.as_ref())?;
    let (copies, steps) = match file {
        None => (arguments.copies.clone(), None),
        Some(mut file) => {
            check_files(arguments, file.copies.len())?;
            let missing = file.without_size.take().filter(|_| arguments.payload.is_none());
            missing.map_or(Ok(()), Err)?;
            (file.copies, Some(file.steps))
        }
    };
    let payload = arguments.payload.as_deref().map(Payload::find).transpose()?;
    let copies = sized(&copies, payload.as_ref()).map_err(|error| Failure::Usage(miette!("{error}")))?;
    let data = match arguments.data {
        Data::Exact => DataMode::Exact,
        Data::None => DataMode::None,
    };
    let kernel = match arguments.kernel {
        KernelArgument::Skip => Kernel::Skip,
        KernelArgument::EveryCycle => Kernel::EveryCycle,
    };
    let injections = arguments.inject.iter().map(|InjectionArgument(one)| one.clone()).collect();
    let page = arguments.page.begin(&files(arguments))?;
    let job = Job {
        resolved,
        workload: Workload { copies, steps, payload, data, seed: arguments.seed, kernel, injections },
        out: arguments.out.clone(),
        digest: arguments.digest,
        manifest: arguments.manifest.clone(),
        page,
        format: arguments.format,
        all: arguments.all,
        expected: None,
        must_strike: arguments.inject_must_strike,
        what_if: arguments.what_if.map(usize::from),
        threads: arguments.threads.and_then(|threads| NonZero::new(threads.into())),
        inside: arguments.inside.clone(),
        live: arguments.live.clone(),
    };
    job.execute(&Interruption::listen())
}

/// The machine, with all that lies over it.
fn resolve(arguments: &Arguments, file: Option<&WorkloadFile>) -> Result<Resolved, Failure> {
    let mut overlays = arguments.overlays.clone();
    if let Some(cc) = arguments.cc {
        overlays.set.push(format!("confidential_computing={}", cc == Switch::On));
    }
    overlays.resolve(&machine_of(arguments.config.as_deref(), file)?)
}

/// What makes no sense together.
fn check(arguments: &Arguments) -> Result<(), Failure> {
    let usage = |text: String, help: &str| Err(Failure::Usage(miette!(help = help, "{text}")));
    let needs_bytes = [
        ("--payload", arguments.payload.is_some()),
        ("--out", arguments.out.is_some()),
        ("--digest", arguments.digest),
    ];
    if let Some((flag, _)) = needs_bytes.iter().find(|(_, given)| *given && arguments.data == Data::None) {
        return usage(format!("{flag} with --data none: such a run has no bytes"), "leave out one of them");
    }
    if arguments.out.is_some() && arguments.workload.is_none() && arguments.copies.len() != 1 {
        let count = arguments.copies.len();
        return usage(
            format!("--out with {count} copies: it takes what arrived of exactly one"),
            "run them one by one",
        );
    }
    output::refuse_stream("--out", arguments.out.as_deref())?;
    output::refuse_stream("--manifest", arguments.manifest.as_deref())?;
    arguments.inside.check(arguments.data == Data::Exact)?;
    arguments.live.check()?;
    let files = files(arguments);
    let (read, written) = files.split_at(3);
    match clash(read, written) {
        Some((one, other, path)) => {
            let text = format!("{one} and {other} are the same file, {}", path.display());
            usage(text, "write to another file")
        }
        None => Ok(()),
    }
}

/// The files that are read, then those that are written beside a page.
fn files(arguments: &Arguments) -> Vec<Named<'_>> {
    let mut files = vec![
        ("--payload", arguments.payload.as_deref()),
        ("--workload", arguments.workload.as_deref()),
        ("CONFIG", arguments.config.as_deref().map(Path::new)),
        ("--out", arguments.out.as_deref()),
        ("--manifest", arguments.manifest.as_deref()),
    ];
    files.extend(arguments.inside.written());
    files.push(arguments.live.written());
    files
}

/// Which file would be whose among several copies of a workload, nothing says.
fn check_files(arguments: &Arguments, copies: usize) -> Result<(), Failure> {
    let files = [("--payload", arguments.payload.is_some()), ("--out", arguments.out.is_some())];
    match files.iter().find(|(_, given)| *given && copies != 1) {
        Some((flag, _)) => {
            let text = format!("{flag} with a workload of {copies} copies: it needs one of exactly one copy");
            Err(Failure::Usage(miette!(help = format!("leave out {flag}"), "{text}")))
        }
        None => Ok(()),
    }
}

impl From<WorkloadFileError> for Failure {
    fn from(error: WorkloadFileError) -> Self {
        if error.is_unreadable() { Self::InputOutput(error.into()) } else { Self::Config(error.into()) }
    }
}

impl From<PayloadError> for Failure {
    fn from(error: PayloadError) -> Self {
        match error {
            PayloadError::Interrupted { .. } => Self::Verification(miette!("{error}: nothing was copied")),
            _ => Self::InputOutput(miette!("{error}")),
        }
    }
}
