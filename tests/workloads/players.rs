//! The two who play a program, against each other: the machine, and the replay of what it would be as a profile.

use crate::CAMPAIGN;
use proptest::{
    prelude::*,
    strategy::ValueTree,
    test_runner::{RngAlgorithm, TestRng, TestRunner},
};
use sealsim::{
    config::{Layers, Resolved},
    host::law::{
        self, After, Asked, Engine, Knobs,
        PageableUpload::{Returns, Waits},
        Session, Waits as Answer, law,
    },
    replay::{Causes, End, Job, Known, Played, Question, Simulator, written},
    sim::Control,
    system::{self, DataMode, Direction, Memory, Outcome, Pages},
    units::Femtos,
    workload::{
        Arrival, Copy, SHIPPED_WORKLOADS, Workload, WorkloadFile, WorkloadStep, collective::CollectiveTimes, sized,
        trace::Trace,
    },
};
use std::collections::BTreeSet;

/// A call, or an operation of the GPU, in both.
#[derive(Debug, Clone, PartialEq)]
struct Both {
    what: String,
    /// Start and end, ns.
    run: (u64, u64),
    replay: (u64, u64),
}

impl Both {
    /// How far they are apart: 1 is what is allowed, 1 % of the date or 2 us.
    fn apart(&self) -> f64 {
        let of = |one: u64, other: u64| one.abs_diff(other) as f64 / (one as f64 / 100.0).max(2_000.0);
        of(self.run.0, self.replay.0).max(of(self.run.1, self.replay.1))
    }
}

fn ns(time: Femtos) -> u64 {
    time.0 / 1_000_000
}

/// A program on a machine, with confidential computing or without, as both play it.
fn both(steps: &[WorkloadStep], copies: &[Copy], machine: &Resolved, secure: bool, planted: Planted) -> Vec<Both> {
    let outcome = run(steps, copies, machine, secure);
    let (trace, job, played) = replay(steps, copies, machine, secure, planted);
    paired(steps, &outcome, (&trace, &job, &played))
}

fn replay(
    steps: &[WorkloadStep],
    copies: &[Copy],
    machine: &Resolved,
    secure: bool,
    planted: Planted,
) -> (Trace, Job, Played) {
    let known = Known::default();
    let simulator = Simulator {
        threads: 2,
        go_on: &|| Control::Continue,
        progress: &|| (),
        known: &known,
        sample: None,
        end: End::Middle,
    };
    let trace = written(steps, copies, machine, simulator).unwrap();
    let submission = machine.machine.calls.as_ref().unwrap().submission.off.0 / 1_000_000;
    let mut job = Job::of(&trace, submission);
    let (mut machine, mut free) = (machine.clone(), Causes::default());
    match planted {
        Planted::Nothing => {}
        Planted::Events => job.after.clear(),
        Planted::Slots => machine = machine.with(&["compute.slots=64".to_owned()]).unwrap(),
        Planted::Host => free.synchrony = true,
    }
    let question = Question::new(&job, &machine, simulator).unwrap();
    let answer = if secure { question.secure(&machine, free) } else { question.off(&machine) };
    let played = answer.unwrap().played;
    (trace, job, played)
}

fn run(steps: &[WorkloadStep], copies: &[Copy], machine: &Resolved, secure: bool) -> Outcome {
    let mut spec = machine.machine.clone();
    spec.confidential_computing = secure;
    let workload = Workload::timed(copies.to_vec(), Some(steps.to_vec()));
    let arrivals: Vec<_> = copies.iter().map(|_| Arrival::new(false, None)).collect();
    let request = workload.request(&arrivals, &CollectiveTimes::default()).unwrap();
    let outcome = system::run(&spec, request, &mut |_| Control::Continue).unwrap();
    assert!(outcome.copies.iter().all(|copy| copy.delivered && copy.tags_failed == 0), "{:?}", outcome.incidents);
    outcome
}

fn paired(steps: &[WorkloadStep], outcome: &Outcome, (trace, job, played): (&Trace, &Job, &Played)) -> Vec<Both> {
    let gpus = outcome.gpus.len();
    let thread = |gpu: usize| {
        let named = |name: &str| if gpu == 0 { name == "main" } else { name.ends_with(&format!(" of GPU {gpu}")) };
        trace.threads.iter().position(|thread| named(&thread.thread))
    };
    let traced = |call: &sealsim::replay::Call| trace.calls[call.number.unwrap().get() as usize - 1].thread;
    let mut calls: Vec<_> = (0..gpus)
        .map(|gpu| {
            let own = thread(gpu);
            let of = job.calls.iter().enumerate().filter(move |(_, call)| Some(traced(call) as usize) == own);
            of.map(|(place, _)| place).collect::<Vec<_>>().into_iter()
        })
        .collect();
    let mut dates: Vec<_> = outcome.gpus.iter().map(|gpu| gpu.steps.iter()).collect();
    let mut pending = vec![BTreeSet::new(); gpus];
    let (mut found, mut copies) = (Vec::new(), outcome.copies.iter());
    for (place, step) in steps.iter().enumerate() {
        let gpu = step.gpu();
        let count = match step {
            WorkloadStep::Sync { stream: None, .. } => std::mem::take(&mut pending[gpu]).len(),
            WorkloadStep::Sync { stream: Some(stream), .. } => {
                pending[gpu].remove(stream.as_str());
                1
            }
            WorkloadStep::Host { .. } => 1,
            other => {
                pending[gpu].extend(other.stream());
                1
            }
        };
        let own: Vec<_> = dates[gpu].by_ref().take(count).collect();
        if matches!(step, WorkloadStep::Host { .. }) {
            continue;
        }
        let call = calls[gpu].next().unwrap();
        let (span, ops) = (played.calls[call], &job.calls[call].ops);
        let what = format!("{place} {step:?}");
        if let (Some(first), Some(last)) = (own.first(), own.last()) {
            let run = (ns(first.start), ns(last.returned));
            found.push(Both { what: format!("call {what}"), run, replay: (span.start, span.end) });
        }
        let computed = own.first().and_then(|step| step.computed);
        let copied = matches!(step, WorkloadStep::Copy { .. }).then(|| copies.next().unwrap().device).flatten();
        if let (Some((start, end)), [first, .., last] | [first @ last]) = (computed.or(copied), &ops[..]) {
            let replay = (played.ops[*first as usize].start, played.ops[*last as usize].end);
            found.push(Both { what: format!("operation {what}"), run: (ns(start), ns(end)), replay });
        }
    }
    found
}

/// Part of a random program, on streams and with events that are numbered.
#[derive(Debug, Clone, Copy)]
enum Act {
    Kernel(u8, u64),
    Graph(u8, u32, u64),
    Host(u64),
    /// Direction, bytes, memory, whether it blocks.
    Copy(u8, Direction, u64, Memory, bool),
    /// An event of one stream, and a copy of another behind it.
    Behind(u8, u8, Direction, u64, Memory),
    Sync(u8),
    SyncAll,
}

const STREAMS: [&str; 3] = ["a", "b", "c"];

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let stream = 0..STREAMS.len() as u8;
    let way = || prop::sample::select(vec![Direction::H2d, Direction::D2h, Direction::D2d]);
    let host_way = || prop::sample::select(vec![Direction::H2d, Direction::D2h]);
    let memory = || prop::sample::select(vec![Memory::Pinned, Memory::Pageable]);
    let bytes =
        || (0_u32..24, 0.5_f64..1.0).prop_map(|(bits, part)| ((f64::from(2_u32.pow(bits)) * part) as u64).max(1));
    let act = prop_oneof![
        3 => (stream.clone(), 5_u64..2_000).prop_map(|(stream, us)| Act::Kernel(stream, us)),
        1 => (stream.clone(), 2_u32..40, 5_u64..100).prop_map(|(stream, count, us)| Act::Graph(stream, count, us)),
        1 => (1_u64..500).prop_map(Act::Host),
        4 => (stream.clone(), way(), bytes(), memory(), any::<bool>())
            .prop_map(|(stream, way, bytes, memory, blocking)| Act::Copy(stream, way, bytes, memory, blocking)),
        2 => (stream.clone(), stream.clone(), host_way(), bytes(), memory())
            .prop_map(|(one, other, way, bytes, memory)| Act::Behind(one, other, way, bytes, memory)),
        1 => stream.prop_map(Act::Sync),
        1 => Just(Act::SyncAll),
    ];
    prop::collection::vec(act, 1..24)
}

/// The program of these parts: with its copies.
fn program(acts: &[Act]) -> (Vec<WorkloadStep>, Vec<Copy>) {
    let (mut steps, mut copies, mut used) = (Vec::new(), Vec::new(), BTreeSet::new());
    let named = |stream: u8| STREAMS[stream as usize].to_owned();
    let micros = |us: u64| Femtos(us * 1_000_000_000);
    for (number, act) in acts.iter().enumerate() {
        let mut copy = |stream: u8, direction, bytes, memory, blocking| {
            copies.push(Copy { gpu: 0, direction, bytes, memory });
            WorkloadStep::Copy { gpu: 0, stream: named(stream), buffer: None, pages: Pages::Warm, blocking }
        };
        match *act {
            Act::Kernel(stream, us) => {
                steps.push(WorkloadStep::Kernel { gpu: 0, stream: named(stream), duration: micros(us) });
            }
            Act::Graph(stream, kernels, us) => {
                let (duration, call) = (micros(us), None);
                steps.push(WorkloadStep::Launch { gpu: 0, stream: named(stream), kernels, duration, call });
            }
            Act::Host(us) => steps.push(WorkloadStep::Host { gpu: 0, duration: micros(us) }),
            Act::Copy(stream, way, bytes, memory, blocking) => steps.push(copy(stream, way, bytes, memory, blocking)),
            Act::Behind(one, other, way, bytes, memory) => {
                let event = format!("e{number}");
                steps.push(WorkloadStep::Record { gpu: 0, stream: named(one), event: event.clone() });
                steps.push(WorkloadStep::Wait { gpu: 0, stream: named(other), event });
                steps.push(copy(other, way, bytes, memory, false));
                used.insert(one);
            }
            Act::Sync(stream) if used.contains(&stream) => {
                steps.push(WorkloadStep::Sync { gpu: 0, stream: Some(named(stream)) });
            }
            Act::Sync(_) => continue,
            Act::SyncAll => steps.push(WorkloadStep::Sync { gpu: 0, stream: None }),
        }
        if let Act::Kernel(stream, _) | Act::Graph(stream, ..) | Act::Copy(stream, ..) | Act::Behind(_, stream, ..) =
            act
        {
            used.insert(*stream);
        }
    }
    steps.push(WorkloadStep::Sync { gpu: 0, stream: None });
    (steps, copies)
}

const MACHINES: [&str; 3] = ["h100-nvl-tdx", "h100-tdx-gen5", "h200-tdx"];

/// What the replay is given that the machine does not have, or the other way round: a row of the law is left out.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Planted {
    Nothing,
    /// An operation does not wait for events of other streams.
    Events,
    /// Kernels have all the slots that they want.
    Slots,
    /// Copies let the host go on as they do without confidential computing.
    Host,
}

/// Programs whose uploads of pageable memory return before they are done carry all bytes, and no tag fails: copies of other streams come after them in
/// the order of IVs.
#[test]
fn uploads_that_return_early_arrive_with_every_tag_right() {
    let machine = Layers::new("h100-nvl-tdx").set("driver.pageable_upload=returns").resolve().unwrap();
    for acts in random(40) {
        let (steps, copies) = program(&acts);
        let workload = Workload { data: DataMode::Exact, ..Workload::timed(copies.clone(), Some(steps)) };
        let arrivals: Vec<_> = copies.iter().map(|_| Arrival::new(false, None)).collect();
        let request = workload.request(&arrivals, &CollectiveTimes::default()).unwrap();
        let outcome = system::run(&machine.machine, request, &mut |_| Control::Continue).unwrap();
        for copy in &outcome.copies {
            assert!(copy.delivered && copy.tags_failed == 0, "{acts:?} {:?}", outcome.incidents);
            let sealed = copy.direction != Direction::D2d;
            assert!(copy.tags_verified == copy.messages && (!sealed || copy.messages > 0), "{acts:?}");
        }
    }
}

/// Also where a call waits by itself, finds an upload of another stream in progress, or cannot submit all of its own before its stream has come to it.
#[test]
fn uploads_that_return_early_do_so_in_both() {
    let settings = ["driver.pageable_upload=returns", "driver.pageable_upload_plain=returns"];
    let machines = MACHINES.map(|name| settings.iter().fold(Layers::new(name), |layers, set| layers.set(*set)));
    let machines = machines.map(|layers| layers.resolve().unwrap());
    for (case, acts) in random(if CAMPAIGN { 1_000 } else { 50 }).enumerate() {
        for secure in [false, true] {
            let found = difference(&acts, &machines[case % machines.len()], secure, Planted::Nothing);
            assert_eq!(found, None, "case {case} {acts:?}");
        }
    }
}

/// The first difference of a random program, if there is one.
fn difference(acts: &[Act], machine: &Resolved, secure: bool, planted: Planted) -> Option<String> {
    let (steps, copies) = program(acts);
    let found = both(&steps, &copies, machine, secure, planted);
    let first = found.iter().find(|both| both.apart() > 1.0)?;
    let all: Vec<_> = found.iter().map(|both| format!("{:?} {:?} {}", both.run, both.replay, both.what)).collect();
    Some(format!("{} {secure}: {first:?}\n{}", machine.name(), all.join("\n")))
}

/// So many random programs, the same each time.
fn random(cases: u32) -> impl Iterator<Item = Vec<Act>> {
    drawn(acts(), cases)
}

/// So many random values, the same each time.
fn drawn<S: Strategy>(values: S, cases: u32) -> impl Iterator<Item = S::Value> {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[61; 32]);
    let mut runner = TestRunner::new_with_rng(ProptestConfig::default(), rng);
    (0..cases).map(move |_| values.new_tree(&mut runner).unwrap().current())
}

/// How so many random programs differ, off or with confidential computing.
fn differing(cases: u32, planted: Planted) -> impl Iterator<Item = String> {
    let machines = MACHINES.map(|name| Layers::new(name).resolve().unwrap());
    random(cases).enumerate().flat_map(move |(case, acts)| {
        let what = |secure| difference(&acts, &machines[case % machines.len()], secure, planted);
        [false, true].map(what).into_iter().flatten().map(move |what| format!("case {case}, {what}"))
    })
}

#[test]
fn random_programs_have_the_same_dates() {
    let cases = if CAMPAIGN { 2_000 } else { 100 };
    let found: Vec<_> = differing(cases, Planted::Nothing).collect();
    println!("{} of {} outside", found.len(), 2 * cases);
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn each_row_of_the_law_that_is_left_out_is_found() {
    for planted in [Planted::Events, Planted::Slots, Planted::Host] {
        assert!(differing(60, planted).next().is_some(), "{planted:?}");
    }
}

const fn host_works(ns: u64) -> WorkloadStep {
    WorkloadStep::Host { gpu: 0, duration: Femtos(ns * 1_000_000) }
}

fn copy_on(stream: &str) -> WorkloadStep {
    WorkloadStep::Copy { gpu: 0, stream: stream.to_owned(), buffer: None, pages: Pages::Warm, blocking: false }
}

/// Two threads, each with a copy on a stream of its own behind these steps, replayed with confidential computing: call and operation of each copy.
fn of_threads(before: [Vec<WorkloadStep>; 2], copies: &[Copy; 2], machine: &Resolved) -> [[u64; 4]; 2] {
    let names = ["a", "b"];
    let mut steps = Vec::new();
    for (before, name) in before.into_iter().zip(names) {
        steps.push(WorkloadStep::Thread { name: name.to_owned() });
        steps.extend(before);
        steps.push(copy_on(name));
    }
    let (trace, job, played) = replay(&steps, copies, machine, true, Planted::Nothing);
    names.map(|name| {
        let own = |call: &sealsim::replay::Call| trace.threads[call.thread as usize].thread == name;
        let call = job.calls.iter().rposition(own).unwrap();
        let op = played.ops[job.calls[call].ops[0] as usize];
        [played.calls[call].start, played.calls[call].end, op.start, op.end]
    })
}

/// Two threads have the session by turns, so that their copies are those of one thread which makes the later one when the other has returned.
#[test]
fn copies_of_two_threads_are_those_of_one_that_makes_them_in_turn() {
    let way = || prop::sample::select(vec![Direction::H2d, Direction::D2h]);
    let memory = || prop::sample::select(vec![Memory::Pinned, Memory::Pageable]);
    let copy = || (way(), 12.0_f64..23.0, memory());
    let copy =
        || copy().prop_map(|(direction, bits, memory)| Copy { gpu: 0, direction, bytes: bits.exp2() as u64, memory });
    let all = (copy(), copy(), 0..1_000_000_u64, 0..1_000_000_u64);
    for (case, (one, other, first, later)) in drawn(all, if CAMPAIGN { 1_000 } else { 50 }).enumerate() {
        let machine = Layers::new(MACHINES[case % MACHINES.len()]).resolve().unwrap();
        let (first, later) = (first.min(later), first.max(later));
        let replayed = of_threads([vec![host_works(first)], vec![host_works(later)]], &[one, other], &machine);
        let in_turn = |apart: u64| {
            let steps = [host_works(first), copy_on("a"), host_works(apart), copy_on("b")];
            let outcome = run(&steps, &[one, other], &machine, true);
            [0, 1].map(|copy: usize| {
                let (copy, (start, end)) = (&outcome.copies[copy], outcome.copies[copy].device.unwrap());
                [copy.returned, start, end].map(ns)
            })
        };
        let run = in_turn(later.saturating_sub(in_turn(0)[0][0]));
        for (run, replayed) in run.into_iter().zip(replayed) {
            for (run, replayed) in run.into_iter().zip(&replayed[1..]) {
                let what = format!("{one:?} at {first}, {other:?} at {later} on {}", machine.name());
                let both = Both { what, run: (run, run), replay: (*replayed, *replayed) };
                assert!(both.apart() <= 1.0, "case {case}: {both:?}");
            }
        }
    }
}

/// What a copy that waits for a kernel has sealed by then it need not seal when another thread's copy gives the session back.
#[test]
fn a_copy_that_waited_begins_when_the_session_is_given_back() {
    let machine = Layers::new("h100-nvl-tdx").resolve().unwrap();
    for (bytes, kernel) in [(4 << 20, 1_900), (8 << 20, 2_100), (64 << 10, 1_900)] {
        let upload = |bytes| Copy { gpu: 0, direction: Direction::H2d, bytes, memory: Memory::Pinned };
        let duration = Femtos(kernel * 1_000_000_000);
        let kernel = vec![WorkloadStep::Kernel { gpu: 0, stream: "a".to_owned(), duration }];
        let [waits, other] =
            of_threads([kernel, vec![host_works(100_000)]], &[upload(bytes), upload(6 << 20)], &machine);
        assert!(waits[2] < other[1] + 2_000 && other[1] <= waits[2], "{bytes}: {waits:?}, {other:?}");
    }
}

/// What the host stages piece by piece has its engine by turns, between which a pinned copy comes when its kernel is done.
#[test]
fn a_copy_comes_between_the_pieces_of_another_in_both() {
    let copy = |stream, way, bytes, memory| Act::Copy(stream, way, bytes, memory, false);
    for (way, kernel, pinned, pageable) in [
        (Direction::H2d, 91, 600_765, 1_666_221),
        (Direction::H2d, 157, 7_357_215, 9_871_544),
        (Direction::H2d, 142, 281_521, 1_477_460),
        (Direction::D2h, 117, 7_886, 8_906_975),
        (Direction::D2h, 295, 212_413, 8_720_970),
    ] {
        let [pinned, pageable] = [copy(0, way, pinned, Memory::Pinned), copy(1, way, pageable, Memory::Pageable)];
        for name in MACHINES {
            let machine = Layers::new(name).resolve().unwrap();
            let found = difference(&[Act::Kernel(0, kernel), pinned, pageable], &machine, false, Planted::Nothing);
            assert_eq!(found, None);
        }
    }
}

/// The law as a table.
fn printed() -> String {
    let copy = |way, memory, blocking| Asked::Copy { way, memory, blocking };
    let operations = [
        ("copy, pinned, h2d", copy(Direction::H2d, Memory::Pinned, false)),
        ("copy, pinned, d2h", copy(Direction::D2h, Memory::Pinned, false)),
        ("copy, pageable, h2d", copy(Direction::H2d, Memory::Pageable, false)),
        ("copy, pageable, d2h", copy(Direction::D2h, Memory::Pageable, false)),
        ("copy within the GPU", copy(Direction::D2d, Memory::Pinned, false)),
        ("one that blocks by its name", copy(Direction::D2d, Memory::Pinned, true)),
        ("kernel, graph, fill", Asked::Launch),
        ("record of an event", Asked::Record),
        ("wait of a stream for an event", Asked::Wait),
        ("wait of the host for a stream", Asked::Sync),
    ];
    let mut table = "| operation | CC off: its call returns | CC on | begins after | has the session |\n| --- | --- | --- | --- | --- |\n".to_owned();
    for (name, asked) in operations {
        let of = |secure, pageable_upload| law(asked, Knobs { secure, pageable_upload });
        let [off, on] = [false, true].map(|secure| [of(secure, Waits), of(secure, Returns)]);
        let either = |all: &[Answer; 2], of: fn(&Answer) -> &'static str| match (of(&all[0]), of(&all[1])) {
            (one, other) if one == other => one.to_owned(),
            (one, other) => format!("{one} (or {other})"),
        };
        let after = on[0].begins_after.iter().map(|after| match after {
            After::Stream => "stream",
            After::Event => "event",
            After::Engine(Engine::Reading) => "engine that reads the host",
            After::Engine(Engine::Writing) => "engine that writes it",
            After::Engine(Engine::Compute) => "slot",
        });
        let after = after.collect::<Vec<_>>().join(", ");
        let (off, sealed) = (either(&off, host), either(&on, host));
        let row = format!("| {name} | {off} | {sealed} | {after} | {} |\n", either(&on, session));
        table.push_str(&row);
    }
    table
}

const fn host(waits: &Answer) -> &'static str {
    match waits.host {
        law::Returns::AtOnce => "at once",
        law::Returns::Submitted => "submitted",
        law::Returns::StreamDone => "done",
    }
}

const fn session(waits: &Answer) -> &'static str {
    match waits.session {
        Session::No => "never",
        Session::ToReturn => "turn to return",
        Session::ToEnd => "call to end",
    }
}

#[test]
fn the_law_is_printed_in_the_documents() {
    let text = std::fs::read_to_string("docs/replay.md").unwrap();
    let table = printed();
    assert!(text.contains(&table), "docs/replay.md lacks this table:\n{table}");
}

/// Lines of the player that compare dates, or lengths of time, by file: who adds one changes its count here, and asks whether it belongs into the law.
const COMPARISONS: [(&str, usize, &str); 6] = [
    ("copy", 8, "returns of a call's copies, what is submitted by then, who has the session; the profile's own dates"),
    ("device", 16, "turns: what is ready, pieces, engines, sessions, collectives"),
    ("launch", 16, "a full queue, jitter of the profile, graphs"),
    ("mod", 16, "when a call begins; which calls follow others in the profile"),
    ("plain", 5, "frees, allocations out of slabs"),
    ("wait", 10, "what a wait waits for, in the profile and now"),
];

#[test]
fn every_place_of_the_player_that_compares_dates_is_counted() {
    let compares = |line: &&str| {
        let code = line.trim_start();
        !code.starts_with("//")
            && [".max(", ".min(", " < ", " > ", " <= ", " >= ", "Ns::max"].iter().any(|one| code.contains(one))
    };
    for (file, count, what) in COMPARISONS {
        let text = std::fs::read_to_string(format!("crates/workload/src/replay/play/{file}.rs")).unwrap();
        assert_eq!(text.lines().filter(compares).count(), count, "{file}: {what}");
    }
}

/// More buffers than the last-level cache has room for, beside the staging ring, which a copy finds fuller than the one before it did.
#[test]
fn buffers_that_drive_each_other_out_of_the_caches_are_as_slow_in_a_replay() {
    let machine = Layers::new("h100-nvl-tdx").resolve().unwrap();
    for (size, count) in [("3584 KiB", 30), ("3584 KiB", 40), ("1536 KiB", 90), ("7 MiB", 20)] {
        let text = format!(
            r#"machine = "h100-nvl-tdx"
            summary = "uploads"
            operations = [
                {{ op = "repeat", count = {count}, index = "n", operations = [
                    {{ op = "copy", direction = "h2d", size = "{size}", stream = "s", buffer = "b{{n}}" }},
                ] }},
                {{ op = "sync" }},
            ]"#
        );
        let file = WorkloadFile::parse("uploads", text).unwrap();
        let copies = sized(&file.copies, None).unwrap();
        let found = both(&file.steps, &copies, &machine, true, Planted::Nothing);
        let end = |of: fn(&Both) -> u64| found.iter().map(of).max().unwrap() as f64;
        let apart = 100.0 * (end(|both| both.replay.1) / end(|both| both.run.1) - 1.0);
        assert!(apart.abs() < 2.0, "{count} of {size}: {apart:+.2} %");
    }
}

#[test]
fn shipped_workloads_end_alike() {
    let mut outside = Vec::new();
    for shipped in SHIPPED_WORKLOADS.iter().step_by(if CAMPAIGN { 1 } else { 3 }) {
        let file = WorkloadFile::parse(shipped.name, shipped.text.to_owned()).unwrap();
        let copies = sized(&file.copies, None).unwrap();
        let several = copies.iter().any(|copy| copy.gpu > 0) || file.steps.iter().any(|step| step.gpu() > 0);
        let long = copies.iter().map(|copy| copy.bytes).fold(0, u64::saturating_add)
            > if CAMPAIGN { 32 << 30 } else { 256 << 20 };
        if file.calls_collectives() || several || long {
            continue;
        }
        let machine = file.head.machine().unwrap().unwrap_or_else(|| "h100-nvl-tdx".to_owned());
        let machine = Layers::new(machine).resolve().unwrap();
        for secure in [false, true] {
            let found = both(&file.steps, &copies, &machine, secure, Planted::Nothing);
            let end = |of: fn(&Both) -> u64| found.iter().map(of).max().unwrap() as f64;
            let apart = 100.0 * (end(|both| both.replay.1) / end(|both| both.run.1) - 1.0);
            println!("{} {secure}: {apart:+.2} %", shipped.name);
            outside.extend((apart.abs() > 2.0).then(|| format!("{} {secure}: {apart:+.2} %", shipped.name)));
        }
    }
    assert!(outside.is_empty(), "{outside:?}");
}
