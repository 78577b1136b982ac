//! `sealsim collective`: what several GPUs do together, under one security of the fabric or another.

use super::{AlternativeArguments, Failure, output, sample::SampleArgument, watch::Watch};
use crate::{
    config::{MachineSpec, Resolved},
    fabric::element::Element,
    figures::{
        Value,
        table::{REFUSED, WRONG},
    },
    report::{
        SCHEMA_VERSION,
        collectives::{self, CollectiveRow},
    },
    sampling::{self, SampledCollective},
    sim::SimulationError,
    system::{DataMode, FaultPoint, RunError},
    units::Femtos,
    workload::{
        InjectionArgument,
        collective::{
            Collective, CollectiveCost, CollectiveError, CollectiveOutcome, CollectiveRequest, Extent,
            collective_fault_points, run_collective, unsealed,
        },
        read_size,
    },
};
use clap::{Args, ValueEnum};
use miette::miette;
use serde::Serialize;

/// Simulates a collective of several GPUs: an all-reduce, an all-gather, and others.
#[derive(Debug, Args)]
#[command(after_long_help = "\
The first row, off, is without confidential computing, with a plain fabric. The second is the machine as it is, and one more is there for each \
design. docs/fabric.md describes modes, units and closed forms.

Of a ring, where all GPUs do the same at the same time, one GPU is simulated for all. With --data exact every GPU is, with its bytes, and the sums \
are checked.

Exit status: 0 done; 1 interrupted, or something was refused, or a buffer was wrong; 2 wrong arguments; 3 a machine that cannot do it; 4 the output cannot be written; 5 a fault of the simulation.

Examples:
  sealsim collective hgx-h100-8gpu --size 1MiB,64MiB --design staged --design direct --design link --design pad-ahead
  sealsim collective generic-16gpu --ranks 2,4,8,16 --design staged --format csv
  sealsim collective hgx-h100-8gpu --op broadcast --size 140GiB --sample auto    # seconds, with intervals
  sealsim collective hgx-h100-8gpu --op all-to-all --data exact
  sealsim collective hgx-h100-8gpu --ranks 3 --size 12KiB --design link --inject fabric.gpu1.port.packets.flip:5")]
pub struct Arguments {
    /// The machine: a TOML file, or the name of a shipped one. A file takes precedence
    #[arg(value_name = "CONFIG")]
    config: String,
    /// What the GPUs do
    #[arg(long, value_name = "OP", default_value = "all-reduce", value_parser = collective)]
    op: Collective,
    /// Bytes of the buffer of each GPU, as 64MiB. May be given several times, or separated by commas
    #[arg(long = "size", value_name = "SIZE", value_delimiter = ',', value_parser = read_size, default_values = ["64MiB"])]
    sizes: Vec<u64>,
    /// GPUs (default: those of the machine, two if it has one). A fabric is built for as many as are asked for; through the host, the
    /// machine must have them. May be given several times, or separated by commas
    #[arg(long, value_name = "N", value_delimiter = ',')]
    ranks: Vec<usize>,
    #[command(flatten)]
    alternatives: AlternativeArguments,
    /// What buffers are made of
    #[arg(long, value_enum, default_value_t = Numbers::F32)]
    element: Numbers,
    /// Whether bytes are sealed, carried, opened and added
    #[arg(long, value_enum, default_value_t = Carried::None)]
    data: Carried,
    /// Simulate every GPU and every transfer, also where one stands for others
    #[arg(long)]
    full: bool,
    /// Seed of keys, numbers and of the bits that faults pick
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Inject a fault on the fabric, as fabric.gpu1.port.packets.flip:5, into all rows but off. May be given several times
    #[arg(long, value_name = "POINT[:N]")]
    inject: Vec<InjectionArgument>,
    #[command(flatten)]
    sample: SampleArgument,
    /// List where --inject can place faults in the last design, and run nothing
    #[arg(long)]
    list_faults: bool,
    /// A table for people, CSV, or one JSON object
    #[arg(long, value_enum, default_value_t = Shape::Text)]
    format: Shape,
    /// In text, give every row, and what each costs by launch, path and cryptography
    #[arg(long)]
    all: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Numbers {
    /// binary32
    F32,
    /// bfloat16
    Bf16,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Carried {
    /// All of them
    Exact,
    /// Only the timing
    None,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Shape {
    /// A table
    Text,
    /// A row for each size, number of GPUs and design
    Csv,
    /// rows[]; described in docs/fabric.md
    Json,
}

fn collective(text: &str) -> Result<Collective, String> {
    let names = || Collective::ALL.map(Collective::name).join(", ");
    Collective::named(text).ok_or_else(|| format!("use one of {}", names()))
}

#[derive(Debug, Serialize)]
struct Document<'a> {
    schema_version: u32,
    machine: &'a str,
    rows: &'a [CollectiveRow],
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let (exact, faulty) = (arguments.data == Carried::Exact, !arguments.inject.is_empty());
    arguments.sample.refuse(&[("--data exact", exact), ("--inject", faulty), ("--full", arguments.full)])?;
    let machines = arguments.machines()?;
    let ranks = match (&arguments.ranks[..], machines.last()) {
        ([], Some((_, machine))) => vec![machine.machine.gpus().max(2)],
        (given, _) => given.to_vec(),
    };
    if arguments.list_faults {
        return arguments.print_faults(&machines, &ranks);
    }
    let rows = arguments.rows(&machines, &ranks)?;
    print((arguments.format, arguments.all), &machines[0].1.name(), &rows)?;
    verdict(&rows)
}

impl Arguments {
    /// Off, the machine, and each design on it.
    fn machines(&self) -> Result<Vec<(String, Resolved)>, Failure> {
        let machine = self.alternatives.machine(&self.config);
        let off = machine.clone().set("confidential_computing=false").set("fabric.mode=\"plain\"").resolve()?;
        let own = machine.resolve()?;
        let mut machines = vec![("off".to_owned(), off), (own.name(), own)];
        for design in &self.alternatives.design {
            machines.push((design.clone(), machine.clone().overlay(design).resolve()?));
        }
        Ok(machines)
    }

    /// A row for each size, number of GPUs and machine. Observers learn how far they are.
    fn rows(&self, machines: &[(String, Resolved)], ranks: &[usize]) -> Result<Vec<CollectiveRow>, Failure> {
        let asked = self.sizes.iter().flat_map(|bytes| ranks.iter().map(|ranks| (*ranks, *bytes)));
        let asked: Vec<_> = asked.collect();
        let weight = |(ranks, bytes): &(usize, u64)| *ranks as f64 * *bytes as f64;
        let all = asked.iter().map(weight).sum::<f64>() * machines.len() as f64;
        let watch = Watch::begin(&format!("{} collectives", asked.len() * machines.len()));
        let mut rows = Vec::new();
        for one in &asked {
            let (mut off, share) = (None::<(CollectiveRow, CollectiveOutcome)>, weight(one) / all.max(1.0));
            for (name, machine) in machines {
                let request = self.request(one.0, one.1, off.is_some());
                let found = self.run(&machine.machine, &request, (&watch, share))?;
                let mut row = CollectiveRow::of(name, (&request, one.1), &found, self.sample.sample.is_some());
                row.does_not_close = machine.machine.does_not_close();
                let plain = CollectiveRequest { data: DataMode::None, injections: Vec::new(), ..request };
                let plain = unsealed(&machine.machine).map(|machine| self.run(&machine, &plain, (&watch, 0.0)));
                let plain = plain.transpose()?.map(|found| found.outcome);
                let (base, outcome) = off.get_or_insert_with(|| (row.clone(), found.outcome.clone()));
                let cost = CollectiveCost::over(outcome, &found.outcome, plain.as_ref());
                rows.push(row.against(base, cost));
            }
        }
        watch.end();
        Ok(rows)
    }

    /// Runs one, which is such a share of all.
    fn run(
        &self,
        machine: &MachineSpec,
        request: &CollectiveRequest,
        (watch, share): (&Watch, f64),
    ) -> Result<SampledCollective, Failure> {
        let seen = watch.is_seen() && self.sample.sample.is_none();
        let expected = if seen { expected(machine, request, watch).map_err(failed)? } else { None };
        let mut told = 0.0;
        let mut observer = |now: Femtos| {
            if let Some(expected) = expected {
                let part = share * (now.seconds() / expected).min(1.0);
                if part > told + share / 500.0 {
                    watch.tell(part - told);
                    told = part;
                }
            }
            watch.control()
        };
        let found = sampling::collective(machine, request, self.sample.sample, &mut observer).map_err(failed)?;
        watch.tell(share - told);
        Ok(found)
    }

    /// Prints each fault point of the last machine, as --inject takes it.
    fn print_faults(&self, machines: &[(String, Resolved)], ranks: &[usize]) -> Result<(), Failure> {
        let (Some((_, machine)), Some(ranks)) = (machines.last(), ranks.first()) else { return Ok(()) };
        let points = collective_fault_points(&machine.machine, self.op, *ranks).map_err(failed)?;
        let names = points.iter().flat_map(|FaultPoint { place, kinds, .. }| {
            kinds.iter().map(move |kind| format!("{place}.{}\n", kind.name()))
        });
        output::print(&names.collect::<String>());
        Ok(())
    }

    fn request(&self, ranks: usize, bytes: u64, faulty: bool) -> CollectiveRequest {
        let injections = self.inject.iter().filter(|_| faulty).map(|InjectionArgument(one)| one.clone());
        CollectiveRequest {
            element: if self.element == Numbers::F32 { Element::F32 } else { Element::Bf16 },
            data: if self.data == Carried::Exact { DataMode::Exact } else { DataMode::None },
            seed: self.seed,
            extent: if self.full { Extent::Full } else { Extent::Shared },
            injections: injections.collect(),
            ..CollectiveRequest::new(self.op, ranks, bytes)
        }
    }
}

/// A part of a long collective is run first to say how far it is.
const PILOT: u64 = 64;
/// Shorter ones are over soon.
const LONG: u64 = 32 << 20;

/// How many seconds a long collective will have taken, going by a short one.
fn expected(machine: &MachineSpec, request: &CollectiveRequest, watch: &Watch) -> Result<Option<f64>, CollectiveError> {
    if request.bytes < LONG {
        return Ok(None);
    }
    // Bytes and faults do not change how long it takes by much.
    let (data, injections) = (DataMode::None, Vec::new());
    let short = CollectiveRequest { bytes: request.bytes / PILOT, data, injections, ..request.clone() };
    let outcome = run_collective(machine, &short, &mut |_| watch.control())?;
    let own = outcome.time.saturating_sub(outcome.launch).seconds() * PILOT as f64;
    Ok(Some(outcome.launch.seconds() + own).filter(|seconds| *seconds > 0.0))
}

fn print((format, all): (Shape, bool), machine: &str, rows: &[CollectiveRow]) -> Result<(), Failure> {
    let text = match format {
        Shape::Text if !all => collectives::first(rows, output::width()),
        Shape::Text => output::fitted(&collectives::text(rows)),
        Shape::Csv => collectives::sheet(rows).text()?,
        Shape::Json => output::json(&Document { schema_version: SCHEMA_VERSION, machine, rows })?,
    };
    output::print(&text);
    Ok(())
}

/// Whether all that was asked for came about.
fn verdict(rows: &[CollectiveRow]) -> Result<(), Failure> {
    let refused = rows.iter().filter(|one| *one.row.get(&REFUSED) != Value::None).count();
    let wrong = rows.iter().filter(|one| one.row.number(&WRONG).is_some_and(|wrong| wrong > 0.0)).count();
    match (refused, wrong) {
        (0, 0) => Ok(()),
        (refused, 0) => Err(Failure::Verification(miette!("{refused} collectives were refused"))),
        (_, 1) => Err(Failure::Verification(miette!("a collective ended with a wrong buffer"))),
        (_, wrong) => Err(Failure::Verification(miette!("{wrong} collectives ended with a wrong buffer"))),
    }
}

pub(super) fn failed(error: CollectiveError) -> Failure {
    match error {
        CollectiveError::Run(RunError::Simulation(SimulationError::Stopped { .. })) => {
            Failure::Verification(miette!("interrupted: nothing is printed"))
        }
        CollectiveError::Run(RunError::FaultPoint { point, nearest }) => {
            let help = "`sealsim collective CONFIG --design DESIGN --list-faults` lists all";
            Failure::Config(miette!(help = help, "no fault point `{point}` on the fabric; the nearest is `{nearest}`"))
        }
        CollectiveError::Run(error @ RunError::Build(_)) => Failure::Config(miette!("{error}")),
        CollectiveError::Run(error) => Failure::Simulation(miette!("{error}")),
        CollectiveError::Bridge(_) => {
            let help = "take a machine with a switch, such as hgx-h100-8gpu, or set fabric.topology=\"switch\"";
            Failure::Config(miette!(help = help, "{error}"))
        }
        CollectiveError::Gpus { .. } => {
            let help = "take a machine with more GPUs, such as hgx-h100-8gpu or generic-16gpu, or set gpu=[{count=16}]";
            Failure::Config(miette!(help = help, "{error}"))
        }
        error => Failure::Config(miette!("{error}")),
    }
}
