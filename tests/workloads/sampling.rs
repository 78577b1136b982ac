//! Sampled timing against runs of all of the work: how far off the estimates are, and how often their intervals hold the truth.
//!
//! `SEALSIM_SAMPLING=all cargo test --release --test campaigns -- --nocapture sampling::campaign` runs every shipped machine and design with copies from 16 MiB
//! to 4 GiB and every shipped workload, and prints the table of `docs/tables/sampling.csv`.

use crate::CAMPAIGN;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sealsim::{
    config::{Layers, MachineSpec, Role, Shipped},
    explore::{Candidate, shipped},
    pool,
    sampling::{Asked, Sample, Sampled, sample, time},
    sim::{Control, Kernel, Stall},
    system::{self, CopyOutcome, DataMode, Direction, Memory, Outcome, UnitOutcome},
    workload::{Arrival, Copy, SHIPPED_WORKLOADS, Workload, WorkloadFile, collective::CollectiveTimes, sized},
};
use std::{fmt::Write, num::NonZero};

fn copies(copies: Vec<Copy>) -> Workload {
    let (data, kernel) = (DataMode::None, Kernel::Skip);
    Workload { copies, steps: None, payload: None, data, seed: 0, kernel, injections: Vec::new() }
}

fn copy(direction: Direction, bytes: u64, memory: Memory) -> Copy {
    Copy { gpu: 0, direction, bytes, memory }
}

fn go_on() -> Control {
    Control::Continue
}

/// A run of all of it.
fn whole(machine: &MachineSpec, workload: &Workload, collectives: &CollectiveTimes) -> Outcome {
    let arrivals: Vec<_> = workload.copies.iter().map(|_| Arrival::new(false, None)).collect();
    let request = workload.request(&arrivals, collectives).unwrap();
    system::run(machine, request, &mut |_| go_on()).unwrap()
}

fn sampled(machine: &MachineSpec, workload: &Workload, how: Sample) -> Option<(Outcome, Sampled)> {
    let collectives = workload.collectives(machine, &mut |_| go_on()).unwrap();
    let asked = Asked { machine, workload, collectives: &collectives, sample: how, threads: 1 };
    sample(asked, &go_on).unwrap()
}

/// What becomes of one sort of figure.
#[derive(Debug, Clone, Copy, Default)]
struct Sort {
    figures: u64,
    held: u64,
    worst: f64,
}

impl Sort {
    fn note(&mut self, (low, middle, high): (u64, u64, u64), truth: u64, of: u64) {
        if std::env::var("SEALSIM_MISSES").is_ok() && !(low <= truth && truth <= high) {
            println!("missed {truth}: {low} {middle} {high} of {of}");
        }
        self.figures += 1;
        self.held += u64::from(low <= truth && truth <= high);
        self.worst = self.worst.max(middle.abs_diff(truth) as f64 / of.max(1) as f64);
    }

    fn join(&mut self, other: Self) {
        self.figures += other.figures;
        self.held += other.held;
        self.worst = self.worst.max(other.worst);
    }
}

/// Cycles of a unit in a stall, or busy.
fn cycles(unit: &UnitOutcome, stall: Option<Stall>) -> u64 {
    let Some(stall) = stall else { return unit.busy };
    unit.stalls.iter().find(|(own, _)| *own == stall).map_or(0, |(_, cycles)| *cycles)
}

/// Estimates against the truth.
#[derive(Debug, Clone, Copy, Default)]
struct Verdict {
    cases: u64,
    time: Sort,
    /// Busy and stalls, over the cycles of their units.
    states: Sort,
    exposure: Sort,
    /// What limits copies: the part of their time, in billionths.
    limits: Sort,
    /// How many of them name the same parameter.
    named: u64,
}

impl Verdict {
    /// Copies of loops have dates with intervals; only how long the others take is held to account.
    fn of(truth: &Outcome, middle: &Outcome, Sampled { low, high, .. }: &Sampled, looped: bool) -> Self {
        let mut all = Self { cases: 1, ..Self::default() };
        all.time.note((low.end.0, middle.end.0, high.end.0), truth.end.0, truth.end.0);
        for (place, copy) in truth.copies.iter().enumerate() {
            let own = |outcome: &Outcome| outcome.copies[place].end.0;
            all.time.note((own(low), own(middle), own(high)), copy.end.0, truth.end.0);
            let off = copy.time().0.abs_diff(middle.copies[place].time().0);
            if !looped {
                all.time.worst = all.time.worst.max(off as f64 / copy.time().0.max(1) as f64);
            }
            if !looped {
                all.note_limit(copy, [low, middle, high].map(|outcome| &outcome.copies[place]));
            }
            assert_eq!((copy.messages, copy.bytes), (middle.copies[place].messages, middle.copies[place].bytes));
            assert_eq!(
                (copy.tags_verified, copy.direction),
                (middle.copies[place].tags_verified, middle.copies[place].direction)
            );
        }
        for (place, unit) in truth.units.iter().enumerate() {
            let seen = |stall: &Stall| unit.stalls.iter().chain(&high.units[place].stalls).any(|own| own.0 == *stall);
            let stalls = Stall::ALL.into_iter().filter(seen).map(Some);
            for state in std::iter::once(None).chain(stalls) {
                let of = |outcome: &Outcome| cycles(&outcome.units[place], state);
                all.states.note((of(low), of(middle), of(high)), cycles(unit, state), unit.cycles);
            }
            assert_eq!(
                middle.units[place].busy
                    + middle.units[place].idle
                    + middle.units[place].stalls.iter().map(|own| own.1).sum::<u64>(),
                middle.units[place].cycles
            );
        }
        for (place, gpu) in truth.gpus.iter().enumerate() {
            let queues = [low, middle, high].map(|outcome| outcome.gpus[place].tag_queue);
            let three = |of: fn(&system::TagQueueOutcome) -> u64| (of(&queues[0]), of(&queues[1]), of(&queues[2]));
            let total = |queue: &system::TagQueueOutcome| queue.total_exposure.0;
            for of in [total, |queue: &system::TagQueueOutcome| queue.longest_exposure.0] {
                all.exposure.note(three(of), of(&gpu.tag_queue), of(&gpu.tag_queue));
            }
        }
        all
    }

    fn note_limit(&mut self, truth: &CopyOutcome, said: [&CopyOutcome; 3]) {
        let same = truth.busiest.unit == said[1].busiest.unit;
        self.named += u64::from(same);
        if std::env::var("SEALSIM_MISSES").is_ok() && !same {
            println!("{:?}, not {:?}", truth.busiest, said[1].busiest);
        }
        let billionths = |copy: &CopyOutcome| (copy.busiest.fraction * 1e9) as u64;
        let [low, middle, high] = said.map(billionths);
        if same {
            self.limits.note((low, middle, high), billionths(truth), 1_000_000_000);
        }
    }

    fn join(mut self, other: Self) -> Self {
        self.cases += other.cases;
        self.limits.join(other.limits);
        self.named += other.named;
        self.time.join(other.time);
        self.states.join(other.states);
        self.exposure.join(other.exposure);
        self
    }

    /// As a row of a table.
    fn row(&self) -> String {
        let sort = |Sort { figures, held, worst }: Sort| {
            if figures == 0 {
                "- | -".to_owned()
            } else {
                format!("{:.4} % | {:.2} % of {figures}", worst * 100.0, held as f64 * 100.0 / figures as f64)
            }
        };
        let figures = [self.time, self.states, self.exposure, self.limits].map(sort).join(" | ");
        format!("{} | {figures} | {} of {}", self.cases, self.named, self.limits.figures)
    }

    fn assert_earned(&self, what: &str) {
        assert!(self.time.worst <= 0.005, "{what}: time {:?}", self.time);
        assert!(self.states.worst <= 0.01, "{what}: states {:?}", self.states);
        assert!(self.exposure.worst <= 0.01, "{what}: exposure {:?}", self.exposure);
        assert!(self.limits.worst <= 0.01, "{what}: limits {:?}", self.limits);
        assert_eq!(self.named, self.limits.figures, "{what}: copies that name another parameter");
    }

    fn assert_held(&self) {
        let all = [("time", self.time), ("states", self.states), ("exposure", self.exposure), ("limits", self.limits)];
        for (what, sort) in all {
            assert!(sort.held as f64 >= 0.95 * sort.figures as f64, "{what}: {sort:?}");
        }
    }
}

/// A machine with little staging, so that one turn through it is short.
fn machine(name: &str, design: Option<&str>) -> Option<MachineSpec> {
    let layers = Layers::new(name).set("staging.buffers=8").set("memory.llc=\"8 MiB\"");
    let layers = design.into_iter().fold(layers, Layers::overlay);
    layers.resolve().ok().map(|resolved| resolved.machine)
}

fn verdict(machine: &MachineSpec, workload: &Workload, how: Sample) -> Option<Verdict> {
    let (middle, sampled) = sampled(machine, workload, how)?;
    let collectives = workload.collectives(machine, &mut |_| go_on()).unwrap();
    Some(Verdict::of(&whole(machine, workload, &collectives), &middle, &sampled, workload.steps.is_some()))
}

#[test]
#[ignore = "long samples: .ci/run"]
fn estimates_are_near_the_truth_and_intervals_hold_it() {
    let cases = [
        ("h100-nvl-tdx", None, Direction::H2d, Memory::Pinned),
        ("h100-nvl-tdx", None, Direction::D2h, Memory::Pageable),
        ("h100-nvl-tdx", Some("off"), Direction::H2d, Memory::Pinned),
        ("h100-nvl-tdx", Some("off"), Direction::D2h, Memory::Pageable),
        ("h100-nvl-tdx", Some("fastrack"), Direction::H2d, Memory::Pinned),
        ("hgx-h100-8gpu", Some("eager"), Direction::H2d, Memory::Pageable),
        ("b200-tdx", Some("overlap"), Direction::D2h, Memory::Pinned),
    ];
    let one = |&(name, design, direction, memory): &(&str, Option<&str>, Direction, Memory)| {
        let work = copies(vec![copy(direction, (600 << 20) + 12345, memory)]);
        let machine = machine(name, design).unwrap();
        let found = verdict(&machine, &work, Sample::Most(NonZero::new(96).unwrap()))
            .unwrap_or_else(|| panic!("{name} {design:?} {direction:?} {memory:?} is not sampled"));
        found.assert_earned(&format!("{name} {design:?} {direction:?}"));
        Ok::<_, ()>(found)
    };
    let cases = if CAMPAIGN { &cases[..] } else { &cases[3..5] };
    let all = pool::map(cases, 2, |_| 0, one).unwrap().into_iter().reduce(Verdict::join).unwrap();
    println!("{}", all.row());
    all.assert_held();
}

#[test]
fn a_tebibyte_takes_no_longer_than_its_sample() {
    let machine = Layers::new("h100-nvl-tdx").resolve().unwrap().machine;
    let (outcome, sampled) =
        sampled(&machine, &copies(vec![copy(Direction::H2d, 1 << 40, Memory::Pinned)]), Sample::Auto).unwrap();
    assert!(sampled.simulated < 1 << 30 && sampled.of == 1 << 40, "{sampled:?}");
    assert_eq!((outcome.copies[0].messages, outcome.gpus[0].key_work[0].bytes), (1 << 20, 1 << 40));
}

#[test]
#[ignore = "long samples: .ci/run"]
fn loops_go_on_as_they_do() {
    let text = "operations = [{ op = \"repeat\", count = 1000, operations = [\
        { op = \"copy\", direction = \"h2d\", size = \"256 KiB\", stream = \"a\", buffer = \"in\" },\
        { op = \"kernel\", duration = \"20 us\", stream = \"a\" },\
        { op = \"copy\", direction = \"d2h\", size = \"64 KiB\", stream = \"a\", buffer = \"out\" } ] },\
        { op = \"sync\" }, { op = \"copy\", direction = \"d2h\", size = \"1 MiB\", stream = \"a\" }, { op = \"sync\" }]";
    let file = WorkloadFile::parse("test", text.to_owned()).unwrap();
    let work = Workload { steps: Some(file.steps), ..copies(sized(&file.copies, None).unwrap()) };
    let mut all = Verdict::default();
    for design in [None, Some("off"), Some("fastrack")] {
        let found = verdict(&machine("h100-nvl-tdx", design).unwrap(), &work, Sample::Auto).expect("sampled");
        println!("{design:?} {}", found.row());
        found.assert_earned(&format!("{design:?}"));
        all = all.join(found);
    }
    all.assert_held();
}

#[test]
#[ignore = "long samples: .ci/run"]
fn what_comes_before_a_loop_and_behind_it_is_sampled_beside_it() {
    let text = "operations = [{ op = \"copy\", direction = \"h2d\", size = \"512 MiB\", stream = \"a\" }, { op = \"sync\" },\
        { op = \"repeat\", count = 500, operations = [\
        { op = \"copy\", direction = \"h2d\", size = \"256 KiB\", stream = \"a\", buffer = \"in\" },\
        { op = \"kernel\", duration = \"20 us\", stream = \"a\" } ] }, { op = \"sync\" },\
        { op = \"copy\", direction = \"d2h\", size = \"384 MiB\", stream = \"a\" }, { op = \"sync\" }]";
    let file = WorkloadFile::parse("test", text.to_owned()).unwrap();
    let work = Workload { steps: Some(file.steps), ..copies(sized(&file.copies, None).unwrap()) };
    let found = verdict(&machine("h100-nvl-tdx", None).unwrap(), &work, Sample::Most(NonZero::new(32).unwrap()))
        .expect("sampled");
    println!("{}", found.row());
    found.assert_earned("a loop between two copies");
    found.assert_held();
}

#[test]
fn work_that_is_short_or_differs_between_gpus_is_simulated_whole() {
    let own = Layers::new("h100-nvl-tdx").resolve().unwrap().machine;
    let short = copies(vec![copy(Direction::H2d, 16 << 20, Memory::Pinned)]);
    assert!(sampled(&own, &short, Sample::Auto).is_none());
    let none = CollectiveTimes::default();
    let asked = Asked { machine: &own, workload: &short, collectives: &none, sample: Sample::Auto, threads: 2 };
    let (outcome, told) = time(asked, &go_on).unwrap();
    assert_eq!((outcome.end, told.simulated, told.of), (whole(&own, &short, &none).end, 16 << 20, 16 << 20));
    let many = Layers::new("hgx-h100-8gpu").resolve().unwrap().machine;
    let lists = |other: u64| {
        copies(vec![
            copy(Direction::H2d, 1 << 33, Memory::Pinned),
            Copy { gpu: 1, ..copy(Direction::H2d, other, Memory::Pinned) },
        ])
    };
    let most = Sample::Most(NonZero::new(64).unwrap());
    assert!(sampled(&many, &lists(1 << 32), most).is_none());
    assert!(sampled(&many, &lists(1 << 33), most).is_some());
}

#[test]
#[ignore = "long samples: .ci/run"]
fn of_many_different_copies_the_longest_are_sampled() {
    let machine = machine("h100-nvl-tdx", None).unwrap();
    let mut all: Vec<_> = (0..400).map(|number| copy(Direction::H2d, 4096 + number, Memory::Pinned)).collect();
    all.extend((0..5).map(|number| copy(Direction::D2h, (1 << 26) << (2 * number), Memory::Pinned)));
    let work = copies(all);
    let (outcome, told) = sampled(&machine, &work, Sample::Most(NonZero::new(32).unwrap())).expect("sampled");
    assert_eq!(told.runs, 1 + 4 * 5);
    assert_eq!(outcome.copies.iter().map(|copy| copy.bytes).sum::<u64>(), work.bytes());
    assert!(told.simulated < told.of, "{} of {}", told.simulated, told.of);
}

#[test]
fn a_channel_that_would_run_out_of_ivs_is_not_sampled() {
    let machine = Layers::new("h100-nvl-tdx")
        .set("driver.pinned={message=\"256 B\", push=\"64 KiB\"}")
        .resolve()
        .unwrap()
        .machine;
    let of = |bytes| {
        sampled(
            &machine,
            &copies(vec![copy(Direction::H2d, bytes, Memory::Pinned)]),
            Sample::Most(NonZero::new(8192).unwrap()),
        )
    };
    assert!(of(1 << 34).is_some() && of(1 << 40).is_none());
}

/// A machine and a copy, at random: none of the shipped ones.
fn any_case(random: &mut ChaCha8Rng) -> (MachineSpec, Workload) {
    let mut from = |least: u64, most: u64| random.random_range(least..=most);
    let layers = Layers::new("h100-nvl-tdx")
        .set("staging.buffers=8")
        .set("memory.llc=\"8 MiB\"")
        .set(format!("cipher.seal_rate=\"{} B/cycle\"", from(1, 39)))
        .set(format!("root_complex.read_latency=\"{} cycles\"", from(100, 2999)))
        .set(format!("driver.in_flight.h2d={}", from(1, 5)));
    let direction = if from(0, 1) == 0 { Direction::H2d } else { Direction::D2h };
    let memory = if from(0, 1) == 0 { Memory::Pinned } else { Memory::Pageable };
    let work = copies(vec![copy(direction, from(256 << 20, 320 << 20), memory)]);
    (layers.resolve().unwrap().machine, work)
}

/// A sample of so many messages promises its intervals alone: `auto` asks for narrow ones.
#[test]
fn short_samples_on_random_machines_hold_what_their_intervals_say() {
    let cases =
        std::env::var("SEALSIM_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(if CAMPAIGN { 12 } else { 1 });
    let mut random = ChaCha8Rng::seed_from_u64(24);
    let cases: Vec<_> = (0..cases).map(|_| any_case(&mut random)).collect();
    let most = Sample::Most(NonZero::new(48).unwrap());
    let one = |(machine, work): &(MachineSpec, Workload)| Ok::<_, ()>(verdict(machine, work, most).expect("sampled"));
    let all = pool::map(&cases, 2, |_| 0, one).unwrap().into_iter().reduce(Verdict::join).unwrap();
    println!("{}", all.row());
    all.assert_held();
}

/// One row of the campaign.
struct Row {
    what: String,
    machine: MachineSpec,
    works: Vec<Workload>,
}

/// Copies of these sizes, each way.
fn sizes(all: &[u64], memory: Memory) -> Vec<Workload> {
    all.iter()
        .flat_map(|bytes| [Direction::H2d, Direction::D2h].map(|way| copies(vec![copy(way, *bytes, memory)])))
        .collect()
}

fn campaign_rows() -> Vec<Row> {
    const SIZES: [u64; 5] = [16 << 20, 64 << 20, 256 << 20, 1 << 30, 4 << 30];
    let mut rows = Vec::new();
    for name in Shipped::names(Role::Machine) {
        let own = Layers::new(name);
        let machine = own.resolve().unwrap().machine;
        let works = [sizes(&SIZES, Memory::Pinned), sizes(&SIZES, Memory::Pageable)].concat();
        rows.push(Row { what: name.to_owned(), machine, works });
        let Ok((designs, _)) = shipped(&own, Memory::Pinned) else { continue };
        // Shorter copies are hardly sampled: half of them would be simulated anyway.
        let own: &[u64] = if name == "h100-nvl-tdx" { &SIZES } else { &SIZES[3..] };
        let row = |Candidate { name: design, resolved, .. }: Candidate| Row {
            what: format!("{name}+{design}"),
            machine: resolved.machine,
            works: sizes(own, Memory::Pinned),
        };
        rows.extend(designs.into_iter().map(row));
    }
    let machine = machine("h100-nvl-tdx", None).unwrap();
    rows.push(Row { what: "h100-nvl-tdx 64 GiB".to_owned(), machine, works: sizes(&[1 << 36], Memory::Pinned) });
    rows
}

fn workload_rows() -> Vec<Row> {
    let row = |name: &str| {
        let file = WorkloadFile::find(name.as_ref(), &[]).unwrap();
        let machine = file.head.machine().unwrap().unwrap_or_else(|| "h100-nvl-tdx".to_owned());
        let machine = Layers::new(machine).resolve().unwrap().machine;
        let works = vec![Workload { steps: Some(file.steps), ..copies(sized(&file.copies, None).unwrap()) }];
        Row { what: format!("workload {name}"), machine, works }
    };
    SHIPPED_WORKLOADS.iter().map(|one| row(one.name)).collect()
}

#[test]
fn campaign() {
    if std::env::var("SEALSIM_SAMPLING").as_deref() != Ok("all") {
        return;
    }
    let only = std::env::var("SEALSIM_ONLY").unwrap_or_default();
    let mut rows = workload_rows();
    rows.extend(campaign_rows());
    rows.retain(|row| row.what.contains(&only));
    let one = |row: &Row| {
        let verdicts: Vec<_> = row.works.iter().map(|work| verdict(&row.machine, work, Sample::Auto)).collect();
        let all = verdicts.len();
        let found = verdicts.into_iter().flatten().reduce(Verdict::join).unwrap_or_default();
        println!("| {} | {all} | {} |", row.what, found.row());
        Ok::<_, ()>((all, found))
    };
    let cost = |row: &Row| row.works.iter().map(Workload::bytes).sum();
    let all = pool::map(&rows, 2, cost, one).unwrap();
    let total = all.iter().map(|(_, found)| *found).reduce(Verdict::join).unwrap();
    let mut text = String::new();
    writeln!(text, "| all | {} | {} |", all.iter().map(|(all, _)| all).sum::<usize>(), total.row()).unwrap();
    println!("{text}");
    total.assert_earned("all");
    total.assert_held();
}

/// What a collective takes lies between what a sample of it says, and as many transfers are accounted for.
#[test]
fn collectives_take_what_their_samples_say() {
    use sealsim::{
        sampling::collective,
        workload::collective::{Collective, CollectiveRequest},
    };
    let designs = ["plain", "link", "pad-ahead", "direct"];
    for design in if CAMPAIGN { &designs[..] } else { &designs[..1] } {
        let machine =
            Layers::new("hgx-h100-8gpu").overlay(*design).set("fabric.message=64 KiB").resolve().unwrap().machine;
        for (kind, ranks) in [(Collective::AllReduce, 4), (Collective::AllToAll, 3), (Collective::Broadcast, 2)] {
            if kind == Collective::Broadcast && *design != "plain" {
                continue;
            }
            // Of what is passed on in pieces of 1 MiB more is needed.
            let bytes = 12_345 + if kind == Collective::Broadcast { 520 << 20 } else { ranks as u64 * (40 << 20) };
            let request = CollectiveRequest::new(kind, ranks, bytes);
            let of = |sample| collective(&machine, &request, sample, &mut |_| Control::Continue).unwrap();
            let (whole, sampled) = (of(None), of(Some(Sample::Auto)));
            let (time, what) = (whole.outcome.time, format!("{design} {}: {sampled:?}", kind.name()));
            assert!(sampled.low <= time && time <= sampled.high, "{time:?} {what}");
            let short = sampled.runs > 1 && sampled.simulated < bytes;
            assert!(short || kind == Collective::AllToAll, "{what}");
            let transfers = |one: &sealsim::sampling::SampledCollective| one.outcome.simulated + one.outcome.shared;
            // Short runs together may have more transfers than the whole.
            assert_eq!(transfers(&sampled), transfers(&whole).max(sampled.outcome.simulated), "{what}");
            assert_eq!((whole.outcome.buffer, whole.outcome.part), (sampled.outcome.buffer, sampled.outcome.part));
        }
    }
}
