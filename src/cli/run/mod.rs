//! `sealsim run`: copies on a machine, or a whole workload.

mod execute;
mod inside;
mod limits;
mod live;
mod progress;

pub use crate::sim::Interruption;
pub(super) use execute::{Expected, Job};
pub(super) use inside::InsideArguments;
pub(super) use live::{Desk, LiveArguments, LiveSite};
pub(super) use progress::Progress;

use live::Live;

use super::{
    Failure, OverlayArguments, WorkArguments,
    machine::machine_of,
    output,
    page::PageArgument,
    places::{Named, refuse_clash},
    sample::SampleArgument,
};
use crate::{
    config::Resolved,
    sim::Kernel,
    system::DataMode,
    workload::{InjectionArgument, Payload, PayloadError, Workload, WorkloadFile, sized},
};
use clap::{Args, ValueEnum};
use miette::miette;
use std::{
    num::NonZero,
    path::{Path, PathBuf},
    sync::Arc,
};

/// Run copies, or a workload of copies and kernels, on a machine: what they took, what limited them, and whether every byte arrived.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Every byte is real: it is sealed, split into TLPs, carried, checked, opened, and compared with the source. What arrived is \
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

With --inject the report says what the faults came to: harmless; detected, with the unit and the error that it signals and how long after the fault; SILENT, \
where no unit of the machine signals an error and the data are wrong, which only the simulator's comparison with the source tells; or a hang.

Exit status: 0 delivered; 1 not delivered (detected or silent), or interrupted; 2 wrong arguments; 3 wrong configuration or workload; 4 a file that \
cannot be read or written; 5 a deadlock (a hang, where --inject caused it) or another fault of the simulation.

Examples:
  sealsim run h100-nvl-tdx --copy h2d:64MiB
  sealsim run h100-nvl-tdx --copy h2d --payload model.safetensors --out arrived --digest
  sealsim run h100-nvl-tdx --copy d2h:1GiB:pageable --data none --format json | jq '.copies[0].gb_per_s'
  sealsim run h100-nvl-tdx --cc off --copy h2d:64MiB --copy d2h:64MiB
  sealsim run h100-nvl-tdx --cc off --copy h2d:64MiB --data none --what-if 5        # what limits it, the best five
  sealsim run h100-nvl-tdx --copy h2d:1TiB --sample auto                            # seconds instead of minutes
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
    #[command(flatten)]
    work: WorkArguments,
    /// Take the bytes of every copy from this file, from its beginning; a copy without SIZE takes all of it. A workload must have exactly one
    /// copy
    #[arg(long, value_name = "FILE")]
    payload: Option<PathBuf>,
    /// Write the bytes that arrived to this file, if they are delivered. Needs exactly one copy
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Carry every byte, or keep only the timing, which is the same [default: exact, but none with --sample]
    #[arg(long, value_enum)]
    data: Option<Data>,
    #[command(flatten)]
    sample: SampleArgument,
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
    /// A fault: POINT is a place and what goes wrong there (`sealsim list --faults`); it activates at the N-th transfer, from 1 (default), or at
    /// the first at or after TIME. Instead of N, tlp=N, dllp=N or message=N; field=NAME and bit=N aim a flip, as in link.h2d.flip:tlp=7,field=length,bit=3.
    /// May be given several times
    #[arg(long, value_name = "POINT[@TIME][:N,...]")]
    inject: Vec<InjectionArgument>,
    /// Status 1 if a fault of --inject is not activated, which is a warning otherwise
    #[arg(long, requires = "inject")]
    inject_must_strike: bool,
    /// Measure what limits the copy that ends last: run it again, without data and 64 MiB of it at most, with the parameters relaxed
    /// that may bind (twice the rate or depth, half the latency), and give the best N. Before that, copies of at most 64 MiB in all are compared with CC
    /// off, and what can be done without another GPU is tried. 0 for none of it. Default: 1, but 0 with --inject and for more than 64 MiB in several copies
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=20))]
    what_if: Option<u8>,
    /// Text for people, or one JSON object
    #[arg(long, value_enum, default_value_t = RunFormat::Text)]
    format: RunFormat,
    /// In text, say all: each copy, unit and link, the tag queue, keys and the event digest
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
    /// As [`Self::Nothing`], and no progress is shown: another part of this program takes the results.
    #[value(skip)]
    Silent,
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    job(arguments)?.execute(&Interruption::listen())
}

/// What `--format json` prints or, made by a command, what `--report` writes; nothing is printed or written.
pub fn answer(arguments: &Arguments, page: Option<String>, interruption: &Interruption) -> Result<String, Failure> {
    job(arguments)?.answer(page, interruption)
}

/// Runs while a page that another site holds shows it; nothing is printed. How it ends, the page says.
pub(super) fn watched(arguments: &Arguments, desk: &Arc<Desk>, interruption: &Interruption) {
    let live = Live::hosted(Arc::clone(desk));
    let result = job(arguments).and_then(|job| job.watched(&live, interruption));
    live.leave(&result, &|| true);
}

fn job(arguments: &Arguments) -> Result<Job, Failure> {
    check(arguments)?;
    let file = arguments.work.file()?;
    let resolved = resolve(arguments, file.as_ref())?;
    let (copies, steps) = match file {
        None => (arguments.work.copies.clone(), None),
        Some(mut file) => {
            check_files(arguments, file.copies.len())?;
            let missing = file.without_size.take().filter(|_| arguments.payload.is_none());
            missing.map_or(Ok(()), Err)?;
            (file.copies, Some(file.steps))
        }
    };
    let payload = arguments.payload.as_deref().map(Payload::find).transpose()?;
    let copies = sized(&copies, payload.as_ref()).map_err(|error| Failure::Usage(miette!("{error}")))?;
    let data = if arguments.has_bytes() { DataMode::Exact } else { DataMode::None };
    let kernel = match arguments.kernel {
        KernelArgument::Skip => Kernel::Skip,
        KernelArgument::EveryCycle => Kernel::EveryCycle,
    };
    let injections = arguments.inject.iter().map(|InjectionArgument(one)| one.clone()).collect();
    let page = arguments.page.begin(&files(arguments))?;
    Ok(Job {
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
        sample: arguments.sample.sample,
        threads: arguments.threads.and_then(|threads| NonZero::new(threads.into())),
        inside: arguments.inside.clone(),
        live: arguments.live.clone(),
    })
}

/// The machine, with all that lies over it.
fn resolve(arguments: &Arguments, file: Option<&WorkloadFile>) -> Result<Resolved, Failure> {
    let (overlays, designs) = (&arguments.overlays, &arguments.overlays.design);
    let machine = machine_of(arguments.config.as_deref(), file)?;
    let all = overlays.resolve(&machine)?;
    let first = |count| OverlayArguments { design: designs[..count].to_vec(), ..overlays.clone() }.resolve(&machine);
    let value = |of: &Resolved, path: &str| of.parameter(path).map(|parameter| parameter.value.clone());
    // Who names two designs that change the same may want them side by side.
    for (count, name) in (1..designs.len()).zip(designs) {
        let (Ok(below), Ok(with)) = (first(count - 1), first(count)) else { continue };
        let mut changed = with.parameters.iter().filter(|one| value(&below, &one.path).as_ref() != Some(&one.value));
        if let Some(lost) = changed.find(|one| value(&all, &one.path).as_ref() != Some(&one.value)) {
            let help = format!("write --design {}; `sealsim compare` has them side by side", designs.join("+"));
            let text = format!("--design {name}: a later --design replaces its {}", lost.path);
            return Err(Failure::Usage(miette!(help = help, "{text}")));
        }
    }
    Ok(all)
}

/// What is invalid together.
fn check(arguments: &Arguments) -> Result<(), Failure> {
    let usage = |text: String, help: &str| Err(Failure::Usage(miette!(help = help, "{text}")));
    let needs_bytes = [
        ("--payload", arguments.payload.is_some()),
        ("--out", arguments.out.is_some()),
        ("--digest", arguments.digest),
    ];
    arguments.check_sample()?;
    if let Some((flag, _)) = needs_bytes.iter().find(|(_, given)| *given && arguments.data == Some(Data::None)) {
        return usage(format!("{flag} with --data none: such a run has no bytes"), "leave out one of them");
    }
    if arguments.out.is_some() && arguments.work.workload.is_none() && arguments.work.copies.len() != 1 {
        let count = arguments.work.copies.len();
        return usage(
            format!("--out with {count} copies: it takes what arrived of exactly one"),
            "run them one by one",
        );
    }
    output::refuse_stream("--out", arguments.out.as_deref())?;
    output::refuse_stream("--manifest", arguments.manifest.as_deref())?;
    arguments.inside.check(arguments.has_bytes())?;
    arguments.live.check()?;
    let files = files(arguments);
    let (read, written) = files.split_at(3);
    refuse_clash(read, written)
}

impl Arguments {
    fn has_bytes(&self) -> bool {
        self.data.unwrap_or(if self.sample.sample.is_some() { Data::None } else { Data::Exact }) == Data::Exact
    }

    /// Refuses with --sample what needs each byte and each event.
    fn check_sample(&self) -> Result<(), Failure> {
        let mut others = vec![
            ("--payload", self.payload.is_some()),
            ("--out", self.out.is_some()),
            ("--digest", self.digest),
            ("--data exact", self.data == Some(Data::Exact)),
            ("--inject", !self.inject.is_empty()),
            ("--kernel every-cycle", self.kernel == KernelArgument::EveryCycle),
            ("--manifest", self.manifest.is_some()),
        ];
        others.extend(self.inside.written().into_iter().map(|(name, path)| (name, path.is_some())));
        others.push(("--live", self.live.is_asked()));
        self.sample.refuse(&others)
    }
}

/// The files that are read, then those that are written next to a page.
fn files(arguments: &Arguments) -> Vec<Named<'_>> {
    let mut files = vec![
        ("--payload", arguments.payload.as_deref()),
        ("--workload", arguments.work.workload.as_deref()),
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

impl From<PayloadError> for Failure {
    fn from(error: PayloadError) -> Self {
        match error {
            PayloadError::Interrupted { .. } => Self::Verification(miette!("{error}: nothing was copied")),
            _ => Self::InputOutput(miette!("{error}")),
        }
    }
}
