//! `sealsim cost-table`: what copies cost, for other simulators.

mod simulators;

use super::{Failure, MachineArguments, output, run::Interruption, watch::bar};
use crate::{
    explore::{CostGrid, CostRow, cost_table},
    pool,
    report::SCHEMA_VERSION,
    system::Memory,
    workload::{direction_name, memory_name, read_memory, read_size},
};
use clap::{Args, ValueEnum};
use miette::miette;
use serde::Serialize;
use simulators::{Mode, Simulator, Way};

/// Writes what copies cost on a machine, as a table that other simulators read.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Each row is a simulation of one copy, or of several that are asked for at once, on an idle machine: without confidential computing (off) and \
with it (cc), both ways, for each size and kind of memory. docs/replay.md describes the columns. --for writes what another simulator reads, \
and says on standard error how far that is off.

Exit status: 0 written; 1 interrupted; 2 wrong arguments; 3 a machine that is none; 4 the output cannot be written; 5 a fault of the \
simulation.

Examples:
  sealsim cost-table h100-nvl-tdx > h100.csv
  sealsim cost-table h20-tdx --size 4KiB,64KiB,1MiB --concurrency 1,2,4 --format json
  sealsim cost-table h100-nvl-tdx --for astra-sim --direction h2d > remote_memory.json
  sealsim cost-table h100-nvl-tdx --for llmservingsim --size 64KiB,1MiB,16MiB > cpu_mem.json
  sealsim cost-table hgx-h100-8gpu --for vidur --design staged > collectives.csv")]
pub struct Arguments {
    #[command(flatten)]
    machine: MachineArguments,
    /// Size of a copy, as 64MiB. May be given several times, or separated by commas
    #[arg(long = "size", value_name = "SIZE", value_delimiter = ',', value_parser = read_size,
          default_values = ["64B", "1KiB", "4KiB", "16KiB", "64KiB", "256KiB", "1MiB", "4MiB", "16MiB", "64MiB"])]
    sizes: Vec<u64>,
    /// Copies asked for at once, each on a stream of its own (default: 1 and 4; with --for 1). May be given several times, or separated by commas
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=32))]
    concurrency: Vec<u32>,
    /// Kind of host memory (default: pinned and pageable; with --for pinned). May be given several times, or separated by commas
    #[arg(long, value_name = "MEM", value_delimiter = ',', value_parser = read_memory)]
    memory: Vec<Memory>,
    /// Write what another simulator reads
    #[arg(long = "for", value_name = "SIMULATOR", value_enum, conflicts_with = "format")]
    simulator: Option<Simulator>,
    /// Without or with confidential computing, of --for
    #[arg(long, value_enum, default_value_t = Mode::Cc, requires = "simulator")]
    mode: Mode,
    /// Copies of this direction alone, of --for (default: one line through both)
    #[arg(long, value_enum, requires = "simulator")]
    direction: Option<Way>,
    /// Copies simulated at the same time (default: as many as there are cores); the figures do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// A table for spreadsheets, or one JSON object
    #[arg(long, value_enum, default_value_t = TableFormat::Csv)]
    format: TableFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum TableFormat {
    /// A row for each mode, direction, memory, size and concurrency
    Csv,
    /// machine, machine_digest and rows[]
    Json,
}

#[derive(Debug, Serialize)]
struct Document<'a> {
    schema_version: u32,
    machine: String,
    machine_digest: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    does_not_close: Option<&'a str>,
    rows: &'a [CostRow],
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let grid = arguments.grid()?;
    let machine = arguments.machine.resolve()?;
    let rows = 4 * grid.sizes.len() * grid.concurrency.len() * grid.memory.len();
    let interruption = Interruption::listen();
    if arguments.simulator == Some(Simulator::Vidur) {
        let (text, note) = simulators::vidur(&machine.machine, arguments.mode, &grid.sizes, &interruption)?;
        output::complain(format!("{}: {note}", machine.name()));
        output::print(&text);
        return Ok(());
    }
    let go_on = || interruption.control();
    let bar = bar(rows as u64, "{pos} of {len} rows");
    let threads = arguments.threads.map_or_else(pool::threads, usize::from);
    let table = cost_table(&machine.machine, &grid, threads, &go_on, &|| bar.inc(1));
    bar.finish_and_clear();
    let rows = table.map_err(|error| Failure::of_run(&error, "interrupted: nothing was written"))?;
    let does_not_close = machine.machine.does_not_close();
    if let Some(sentence) = &does_not_close {
        output::complain(format!("{} {sentence}", machine.name()));
    }
    let text = match (arguments.simulator, arguments.format) {
        (Some(simulator), _) => arguments.line(simulator, &machine.name(), &rows)?,
        (None, TableFormat::Csv) => csv(&rows),
        (None, TableFormat::Json) => {
            let (schema_version, machine_digest) = (SCHEMA_VERSION, machine.digest.as_str());
            let (name, does_not_close) = (machine.name(), does_not_close.as_deref());
            output::json(&Document { schema_version, machine: name, machine_digest, does_not_close, rows: &rows })?
        }
    };
    output::print(&text);
    Ok(())
}

impl Arguments {
    /// What is simulated. A line has one kind of memory and one concurrency, and collectives neither.
    fn grid(&self) -> Result<CostGrid, Failure> {
        let or = |given: &[u32], all: &[u32]| if given.is_empty() { all.to_vec() } else { given.to_vec() };
        let (concurrency, kinds) = (self.concurrency.len(), self.memory.len());
        let unfit = match self.simulator {
            Some(Simulator::Vidur) => concurrency + kinds > 0 || self.direction.is_some(),
            Some(_) => concurrency > 1 || kinds > 1,
            None => false,
        };
        if unfit {
            let help = match self.simulator {
                Some(Simulator::Vidur) => "it reads collectives: leave out --memory, --concurrency and --direction",
                _ => "it reads one line: give one --memory and one --concurrency",
            };
            return Err(Failure::Usage(miette!(help = help, "--for does not go with these options")));
        }
        let (copies, memory) = match self.simulator {
            Some(_) => (or(&self.concurrency, &[1]), vec![Memory::Pinned]),
            None => (or(&self.concurrency, &[1, 4]), vec![Memory::Pinned, Memory::Pageable]),
        };
        let memory = if self.memory.is_empty() { memory } else { self.memory.clone() };
        Ok(CostGrid { sizes: self.sizes.clone(), concurrency: copies, memory })
    }

    /// What a simulator reads that takes a latency and a rate.
    fn line(&self, simulator: Simulator, machine: &str, rows: &[CostRow]) -> Result<String, Failure> {
        let wanted = |row: &&CostRow| {
            row.mode == self.mode.name() && self.direction.is_none_or(|way| way.direction() == row.direction)
        };
        let rows: Vec<_> = rows.iter().filter(wanted).cloned().collect();
        let none = || Failure::Simulation(miette!("copies of these sizes take no time"));
        let (line, note) = simulators::fitted(simulator, &rows).ok_or_else(none)?;
        output::complain(format!("{machine}, {note}"));
        Ok(simulators::line(simulator, &line))
    }
}

fn csv(rows: &[CostRow]) -> String {
    let mut text = String::from("mode,direction,memory,bytes,concurrency,latency_ns,makespan_ns,gb_per_s\n");
    for row in rows {
        let CostRow { mode, bytes, concurrency, latency_ns, makespan_ns, gb_per_s, .. } = row;
        let (direction, memory) = (direction_name(row.direction), memory_name(row.memory));
        text +=
            &format!("{mode},{direction},{memory},{bytes},{concurrency},{latency_ns},{makespan_ns},{gb_per_s:.6}\n");
    }
    text
}
