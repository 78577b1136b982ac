//! `sealsim rerun`: a run again, from its manifest alone.

use super::{
    Failure, collective, explain,
    run::{Expected, InsideArguments, Interruption, Job, LiveArguments, RunFormat},
};
use crate::{
    config::Resolved,
    files::read_text,
    report::{Manifest, ManifestError},
    sim::Control,
    units::{Bytes, Femtos},
    workload::{
        Payload, Workload,
        collective::{CollectiveError, CollectiveTimes},
    },
};
use clap::Args;
use miette::miette;
use std::path::{Path, PathBuf};

/// The longest manifest: three times that of a workload with as many operations as there may be.
const MOST: Bytes = Bytes(64 << 20);

/// Repeat a run from its manifest alone, and check that it is the same.
#[derive(Debug, Args)]
#[command(after_long_help = "\
The configuration is in the manifest: no other file is read, but for a payload, which must not have changed.

It holds a digest over itself, which tells whether it was edited.

Exit status: 0 the same; 1 another event digest or simulated time, or a copy not delivered; 3 a manifest that is broken, was edited, has \
a key twice, is longer than 64 MiB, or is of another version; 4 a file that cannot be read, or a payload that has changed; 5 a fault of the simulation.

Example:
  sealsim run h100-nvl-tdx --copy h2d:16MiB --manifest run.json && sealsim rerun run.json")]
pub struct Arguments {
    /// The manifest that `sealsim run --manifest` wrote
    #[arg(value_name = "MANIFEST")]
    manifest: PathBuf,
    /// Text for people, or one JSON object
    #[arg(long, value_enum, default_value_t = RunFormat::Text)]
    format: RunFormat,
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let text = text(&arguments.manifest)?;
    job(&arguments.manifest.display().to_string(), &text, arguments.format)?.execute(&Interruption::listen())
}

/// The run that a manifest is of, compared with it. `path` is where it was read.
pub(super) fn job(path: &str, text: &str, format: RunFormat) -> Result<Job, Failure> {
    let Again { resolved, workload, expected } = again(path, text)?;
    Ok(Job {
        resolved,
        workload,
        out: None,
        digest: false,
        manifest: None,
        page: None,
        format,
        expected: Some(expected),
        must_strike: false,
        what_if: None,
        threads: None,
        sample: None,
        inside: InsideArguments::default(),
        live: LiveArguments::default(),
        all: false,
    })
}

pub(super) struct Again {
    pub resolved: Resolved,
    pub workload: Workload,
    pub expected: Expected,
}

pub(super) fn read(file: &Path) -> Result<Again, Failure> {
    again(&file.display().to_string(), &text(file)?)
}

fn text(file: &Path) -> Result<String, Failure> {
    read_text(file, MOST).map_err(|error| match error.is_input_output() {
        true => Failure::InputOutput(miette!("{error}")),
        false => Failure::Config(miette!("not a manifest of sealsim: {error}")),
    })
}

/// The run of a manifest that was read at `path`.
fn again(path: &str, text: &str) -> Result<Again, Failure> {
    let wrong = |error: ManifestError| Failure::Config(miette!("{path}: {error}"));
    let manifest = Manifest::read(text).map_err(wrong)?;
    let (resolved, workload) = (manifest.resolved().map_err(wrong)?, manifest.workload().map_err(wrong)?);
    if let Some(known) = &manifest.payload {
        let found = Payload::find(&known.path)?.size;
        if found != known.size {
            let text =
                format!("payload {} has {found} bytes, but the manifest says {}", known.path.display(), known.size);
            return Err(Failure::InputOutput(miette!(help = "put the file back that the run was made with", "{text}")));
        }
    }
    let expected = Expected {
        event_digest: manifest.event_digest,
        simulated_ps: manifest.simulated_ps,
        sealsim_version: manifest.sealsim_version,
        payload: manifest.payload,
    };
    Ok(Again { resolved, workload, expected })
}

/// How long the collectives of a workload take on the machine.
pub(super) fn collectives(
    resolved: &Resolved,
    workload: &Workload,
    observer: &mut dyn FnMut(Femtos) -> Control,
) -> Result<CollectiveTimes, Failure> {
    workload.collectives(&resolved.machine, observer).map_err(|error| match error {
        CollectiveError::Run(error) => explain::failed(error.into()),
        error => collective::failed(error),
    })
}
