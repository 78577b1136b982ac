//! `sealsim diff`: where two runs part.

use super::{
    Failure, explain, output,
    rerun::{self, Again},
    run::{Interruption, Progress, RunFormat},
};
use crate::{
    explore::explain::{ExplainError, path_to_end},
    files::read_text,
    observe::{
        Listeners,
        events::{EventList, Events, HEAD},
        parting::parting,
        path::Recorder,
    },
    report::difference::{Difference, Side},
    sim::Kernel,
    system::{DataMode, run_with_listener},
    units::{Bytes, Femtos},
};
use clap::Args;
use miette::miette;
use std::{
    cell::RefCell,
    path::{Path, PathBuf},
    rc::Rc,
};

/// The longest list of events, or manifest.
const MOST: Bytes = Bytes(4 << 30);

/// Find the first event at which two runs diverge, and what each gained after it.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Each run is a manifest of `sealsim run --manifest`, which is run again without its data and faults, or a list of events of `sealsim run --events`. Events are identified \
by their subject, a message or an address, not by tags or sequence numbers: two runs diverge where an event is earlier, later, or \
missing.

Of two manifests the changes on the paths that set the ends are given, which add up to the difference of the ends; of lists of events \
the changes by unit.

Exit status: 0 compared, whether or not they part; 1 interrupted; 3 a manifest or list that cannot be read; 4 a file that cannot be read; \
5 a fault of the simulation.

Examples:
  sealsim run h100-nvl-tdx --copy h2d:4MiB --manifest a.json
  sealsim run h100-nvl-tdx --copy h2d:4MiB --set copy_engine.outstanding_reads=48 --manifest b.json
  sealsim diff a.json b.json")]
pub struct Arguments {
    /// The first run: a manifest, or a list of events
    #[arg(value_name = "A")]
    one: PathBuf,
    /// The second
    #[arg(value_name = "B")]
    other: PathBuf,
    /// Lines of each table; the rest is summed
    #[arg(long, value_name = "N", default_value_t = 12)]
    top: usize,
    /// Text for people, or one JSON object
    #[arg(long, value_enum, default_value_t = RunFormat::Text)]
    format: RunFormat,
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let interruption = Interruption::listen();
    let sides = [side(&arguments.one, &interruption)?, side(&arguments.other, &interruption)?];
    let parting = parting(&sides[0].events, &sides[1].events);
    let difference = Difference::new(&sides, parting.as_ref());
    let text = match arguments.format {
        RunFormat::Text | RunFormat::Nothing | RunFormat::Silent => output::fitted(&difference.text(arguments.top)),
        RunFormat::Json => output::json(&difference)?,
    };
    output::print(&text);
    Ok(())
}

fn side(path: &Path, interruption: &Interruption) -> Result<Side, Failure> {
    let text = read_text(path, MOST).map_err(|error| Failure::of_text(&error))?;
    let first_line = HEAD.lines().next().unwrap_or(HEAD);
    if text.starts_with(first_line) {
        let events = Events::read(&text).map_err(|error| Failure::Config(miette!("{}: {error}", path.display())))?;
        return Ok(Side { events, ran: None });
    }
    if !text.trim_start().starts_with('{') {
        let help = "give what `sealsim run` wrote with --manifest or --events";
        return Err(Failure::Config(miette!(
            help = help,
            "{}: neither a manifest nor a list of events",
            path.display()
        )));
    }
    ran(rerun::read(path)?, interruption)
}

/// Runs a manifest again and listens.
fn ran(again: Again, interruption: &Interruption) -> Result<Side, Failure> {
    let Again { resolved, workload, .. } = again;
    let workload = workload.only_timing(u64::MAX);
    let mut progress = Progress::new(workload.bytes(), DataMode::None, Kernel::Skip, false);
    let mut observer = |now: Femtos| {
        progress.show(now, &[]);
        interruption.control()
    };
    let collectives = rerun::collectives(&resolved, &workload, &mut observer)?;
    let record = Rc::new(RefCell::new(Recorder::default()));
    let list = Rc::new(RefCell::new(EventList::default()));
    let mut listeners = Listeners::default();
    listeners.add(Rc::<RefCell<Recorder>>::clone(&record));
    listeners.add(Rc::<RefCell<EventList>>::clone(&list));
    let request = workload.unwatched(&collectives).map_err(|error| explain::failed(error.into()))?;
    let outcome = run_with_listener(&resolved.machine, request, &listeners.listener(), &mut observer);
    let outcome = outcome.map_err(|error| explain::failed(error.into()))?;
    let record = record.take().ended().map_err(|error| explain::failed(ExplainError::TooLong(error)))?;
    let shares = path_to_end(&record, &resolved.machine, &outcome).shares();
    Ok(Side { events: list.take().events(), ran: Some((outcome.end.picos(), shares)) })
}
