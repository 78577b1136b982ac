//! Every shipped machine with every design, and the four workloads that show the file's fields, give the events, accounts and dates that the tables in `golden/runs` hold.
//!
//! | column | |
//! | --- | --- |
//! | `machine`, `design` | as shipped |
//! | `what` | a copy, or a workload |
//! | `end_fs` | end of the run, fs |
//! | `events` | SHA-256 over the names and digests of all channels, shortened |
//! | `accounts` | the same over what every unit and meter was, and when each copy began and ended |
//!
//! The default kernel is held to every row, the reference kernel to the short ones. `SEALSIM_GOLDEN=all` takes the long rows as well, with both
//! kernels; `SEALSIM_GOLDEN=record` writes the file anew, for a change that is meant to move a row.

use crate::{
    CAMPAIGN,
    common::{copy, request, run},
};
use sealsim::{
    config::{Layers, MachineSpec, SHIPPED, Shipped},
    sim::{Kernel, Order},
    system::{DataMode, Direction, Memory, Outcome, Request},
    workload::{Arrival, Copy, Workload, WorkloadFile, collective::CollectiveTimes},
};
use sha2::{Digest, Sha256};
use std::{collections::BTreeMap, env, fmt::Write, fs, path::PathBuf};

/// Names of channels, units and meters that have changed since the table was recorded: as they are now, and as they were then.
const RENAMED: &[(&str, &str)] = &[];

const SIZES: [(&str, u64); 4] = [("4KiB", 4 << 10), ("64KiB", 64 << 10), ("1MiB", 1 << 20), ("16MiB", 16 << 20)];
/// The largest copies that the default run takes, and those that it lets the reference kernel make.
const USUAL: u64 = if CAMPAIGN { 1 << 20 } else { WORKLOAD };
const SHORT: u64 = if CAMPAIGN { 64 << 10 } else { 4 << 10 };
/// What a workload counts as: it takes the reference kernel too long.
const WORKLOAD: u64 = (64 << 10) + 1;

#[derive(Clone, Copy, PartialEq)]
enum Extent {
    Usual,
    All,
    Record,
}

fn extent() -> Extent {
    match env::var("SEALSIM_GOLDEN").as_deref() {
        Ok("all") => Extent::All,
        Ok("record") => Extent::Record,
        Ok(other) => panic!("SEALSIM_GOLDEN is all or record, not {other}"),
        Err(_) => Extent::Usual,
    }
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn then(name: &str) -> &str {
    RENAMED.iter().find(|(now, _)| *now == name).map_or(name, |(_, then)| then)
}

fn short(lines: &mut [String]) -> String {
    lines.sort();
    hex::encode(&Sha256::digest(lines.concat())[..8])
}

/// The columns of an outcome.
fn columns(outcome: &Outcome) -> String {
    let events = outcome.channels.iter().map(|channel| format!("{} {:x}\n", then(&channel.name), channel.digest));
    let units = outcome.units.iter().map(|unit| {
        format!("{} {:?} {} {} {} {:?}\n", then(&unit.name), unit.clock, unit.cycles, unit.busy, unit.idle, unit.stalls)
    });
    let copies = outcome.copies.iter().enumerate().map(|(place, copy)| {
        assert!(copy.delivered, "{:?}", copy.reason);
        format!("copy {place} {:?} {:?} {:?} {:?}\n", copy.start, copy.end, copy.device, copy.first_verified)
    });
    let (mut events, mut accounts) = (events.collect::<Vec<_>>(), units.chain(copies).collect::<Vec<_>>());
    format!("{},{},{}", outcome.end.0, short(&mut events), short(&mut accounts))
}

/// The rows of one part of the table: what is asked, and how many bytes are copied.
struct Rows {
    extent: Extent,
    golden: BTreeMap<String, String>,
    rows: Vec<(String, String)>,
    wrong: String,
}

impl Rows {
    fn of(part: &str) -> Self {
        let text = fs::read_to_string(path(part)).unwrap_or_default();
        let rows = text.lines().skip(1).filter_map(|line| {
            let end = line.match_indices(',').nth(2)?.0;
            Some((line[..end].to_owned(), line[end + 1..].to_owned()))
        });
        Self { extent: extent(), golden: rows.collect(), rows: Vec::new(), wrong: String::new() }
    }

    fn take(&mut self, key: String, machine: &MachineSpec, bytes: u64, ask: &dyn Fn(Kernel) -> Request) {
        if self.extent == Extent::Usual && bytes > USUAL {
            return;
        }
        let ran = |kernel| columns(&run(machine, ask(kernel)).unwrap_or_else(|error| panic!("{key}: {error}")));
        let reference = bytes <= SHORT || self.extent == Extent::All;
        let mut seen = vec![("skip", ran(Kernel::Skip))];
        seen.extend(reference.then(|| ("every-cycle", ran(Kernel::EveryCycle))));
        if self.extent != Extent::Record {
            let golden = self.golden.get(&key).map_or("none", String::as_str);
            for (kernel, columns) in seen.iter().filter(|(_, columns)| columns != golden) {
                writeln!(self.wrong, "{key} ({kernel}): {columns}, golden {golden}").unwrap();
            }
        }
        self.rows.push((key, seen.swap_remove(0).1));
    }

    /// Holds what was seen to the table, or writes it.
    fn finish(self, part: &str) {
        if self.extent == Extent::Record {
            let lines = self.rows.iter().map(|(key, columns)| format!("{key},{columns}\n"));
            let text = format!("machine,design,what,end_fs,events,accounts\n{}", lines.collect::<String>());
            fs::write(path(part), text).unwrap();
            return;
        }
        assert!(self.wrong.is_empty(), "{} rows differ:\n{}", self.wrong.lines().count(), self.wrong);
        if self.extent == Extent::All {
            assert_eq!(self.rows.len(), self.golden.len(), "{part}: rows that nothing stands for any more");
        }
    }
}

fn path(part: &str) -> PathBuf {
    folder().join(format!("tests/golden/runs/{part}.csv"))
}

fn directions() -> [(&'static str, Direction); 2] {
    [("h2d", Direction::H2d), ("d2h", Direction::D2h)]
}

/// The copies of a machine with every design.
fn copies(name: &str) {
    let mut rows = Rows::of(name);
    for design in std::iter::once("").chain(Shipped::copy_designs()) {
        let layers = Layers::new(name);
        let layers = if design.is_empty() { layers } else { layers.overlay(design) };
        let machine = layers.resolve().unwrap_or_else(|error| panic!("{name} {design}: {error}")).machine;
        for (size, bytes) in SIZES {
            for (way, direction) in directions() {
                for (kind, memory) in [("pinned", Memory::Pinned), ("pageable", Memory::Pageable)] {
                    let key = format!("{name},{design},{way}:{size}:{kind}");
                    let ask = |kernel| {
                        request(vec![copy(direction, bytes, memory)], DataMode::None, kernel, Order::Ascending)
                    };
                    rows.take(key, &machine, bytes, &ask);
                }
            }
        }
    }
    rows.finish(name);
}

#[test]
fn copies_on_the_machine_with_confidential_computing() {
    copies("h100-nvl-tdx");
}

#[test]
fn copies_on_the_machine_that_the_link_limits() {
    copies("h100-tdx-gen5");
}

#[test]
fn copies_on_the_machine_without_confidential_computing() {
    copies("h100-sxm5-off");
}

fn workload(name: &str, kernel: Kernel) -> Request {
    let file = WorkloadFile::read(&folder().join("workloads").join(name), &[]).unwrap();
    let copies = file.copies.iter().map(|copy| Copy {
        gpu: copy.gpu,
        direction: copy.direction,
        bytes: copy.bytes.expect("a size"),
        memory: copy.memory,
    });
    let copies: Vec<_> = copies.collect();
    let arrivals: Vec<_> = copies.iter().map(|_| Arrival::new(false, None)).collect();
    let (steps, data, injections) = (Some(file.steps), DataMode::None, Vec::new());
    let workload = Workload { copies, steps, payload: None, data, seed: 7, kernel, injections };
    workload.request(&arrivals, &CollectiveTimes::default()).unwrap()
}

#[test]
fn workloads() {
    let mut rows = Rows::of("workloads");
    let files = ["overlap-pipelined", "overlap-sequential", "upload-compute-download", "weight-streaming"];
    let files = files.map(|name| format!("{name}.toml"));
    // The others have the same units, with other numbers.
    for name in SHIPPED.iter().filter(|shipped| shipped.is_calibrated()).map(Shipped::name) {
        let machine = Layers::new(name).resolve().unwrap().machine;
        for file in &files {
            rows.take(format!("{name},,{file}"), &machine, WORKLOAD, &|kernel| workload(file, kernel));
        }
    }
    rows.finish("workloads");
}
