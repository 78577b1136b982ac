//! Programs of several streams on whole machines: whatever the host does, both kernels, any order of ticks and any data mode give
//! the same run, every copy is delivered, and a stream keeps its order.
//!
//! `SEALSIM_CASES` sets the number of random programs.

use crate::common::{Delivered, Pattern, QUICK, machine};
use proptest::{
    prelude::*,
    test_runner::{Config, TestRunner},
};
use sealsim::{
    config::MachineSpec,
    sim::{Control, Kernel, Order},
    system::{self, CopyRequest, DataMode, Direction, Memory, Operation, Outcome, Pages, Request, Step, StreamTask},
    units::Femtos,
};

/// Looks of the observer after which a run counts as one that does not end.
const GIVE_UP_AFTER: u32 = 3000;

/// Events of a program.
const EVENTS: u32 = 3;

/// What a random program does on one stream.
#[derive(Debug, Clone, Copy)]
enum Act {
    Copy {
        direction: Direction,
        memory: Memory,
        bytes: u64,
        buffer: u32,
        pages: Pages,
        blocking: bool,
    },
    Kernel(u64),
    Record(u32),
    /// Comes to nothing in a program that has not recorded the event by then.
    Wait(u32),
    Sync,
    Flush(u64),
}

#[derive(Debug, Clone)]
struct Case {
    machine: usize,
    acts: Vec<(u32, Act)>,
    seed: u64,
}

/// Machines that differ in what streams share.
const MACHINES: [(&str, &[&str]); 6] = [
    ("h100-nvl-tdx", &[]),
    ("h100-nvl-tdx", &["confidential_computing=false"]),
    ("h100-nvl-tdx", &["confidential_computing=false", "compute.slots=1", "copy_engine.fetch=0 cycles"]),
    ("h100-sxm5-off", &["compute.slots=4", "compute.clock=1 GHz"]),
    ("h100-nvl-tdx", &["tag_queue.release=eager", "cipher.on_caller=false", "cipher.threads=3"]),
    (
        "h100-nvl-tdx",
        &["tag_queue.release=hold", "tag_queue.quarantine=4 MiB", "driver.pinned={message=\"4 KiB\",push=\"8 KiB\"}"],
    ),
];

fn machine_of(case: &Case) -> MachineSpec {
    let (name, sets) = MACHINES[case.machine];
    machine(name, &[QUICK, sets].concat())
}

/// The program, as far as it makes sense, and for each copy its stream.
fn program(case: &Case) -> (Vec<Step>, Vec<u32>) {
    let (mut steps, mut streams, mut recorded) = (Vec::new(), Vec::new(), [false; EVENTS as usize]);
    for &(stream, act) in &case.acts {
        let operation = match act {
            Act::Copy { blocking, .. } => {
                streams.push(stream);
                Operation::Copy { copy: streams.len() - 1, blocking }
            }
            Act::Kernel(nanos) => Operation::kernel(Femtos(nanos * 1_000_000)),
            Act::Record(event) => {
                recorded[event as usize] = true;
                Operation::Task(StreamTask::Record { event })
            }
            Act::Wait(event) if !recorded[event as usize] => continue,
            Act::Wait(event) => Operation::Task(StreamTask::Wait { event }),
            Act::Sync => Operation::Sync,
            Act::Flush(bytes) => Operation::Flush { bytes },
        };
        steps.push(Step { gpu: 0, stream, operation });
    }
    (steps, streams)
}

fn copies(case: &Case, sinks: &[Delivered]) -> Vec<CopyRequest> {
    let asked = case.acts.iter().filter_map(|(_, act)| match *act {
        Act::Copy { direction, memory, bytes, buffer, pages, .. } => Some((direction, memory, bytes, buffer, pages)),
        _ => None,
    });
    let copies = asked.zip(sinks).zip(1..).map(|(((direction, memory, bytes, buffer, pages), sink), number)| {
        let (source, sink) = (Box::new(Pattern(number)), Some(Box::new(sink.clone()) as _));
        CopyRequest { gpu: 0, direction, bytes, memory, buffer, buffer_bytes: bytes, pages, source, sink }
    });
    copies.collect()
}

struct Ran {
    outcome: Outcome,
    sinks: Vec<Delivered>,
}

fn run(case: &Case, machine: &MachineSpec, (data, kernel, order): (DataMode, Kernel, Order)) -> Result<Ran, String> {
    let (program, streams) = program(case);
    let sinks: Vec<_> = streams.iter().map(|_| Delivered::default()).collect();
    let copies = copies(case, &sinks);
    let request =
        Request { copies, program, data, seed: case.seed, kernel, order, injections: Vec::new(), answers: false };
    let mut looks = 0;
    let outcome = system::run(machine, request, &mut |_| {
        looks += 1;
        if looks > GIVE_UP_AFTER { Control::Stop } else { Control::Continue }
    });
    outcome.map(|outcome| Ran { outcome, sinks }).map_err(|error| error.to_string())
}

/// All that runs must agree on.
fn figures(outcome: &Outcome) -> String {
    let copies = outcome.copies.iter().map(|c| {
        let dates = (c.start, c.end, c.returned, c.device);
        let tags = (c.messages, c.tags_verified, c.tags_failed);
        format!("{dates:?} {tags:?} {} {:?}\n", c.delivered, c.reason)
    });
    let units = outcome
        .units
        .iter()
        .map(|u| format!("{} {}: busy {} idle {} {:?}\n", u.name, u.cycles, u.busy, u.idle, u.stalls));
    let rest = (
        &outcome.gpus[0].link.h2d,
        &outcome.gpus[0].link.d2h,
        &outcome.gpus[0].tag_queue,
        &outcome.incidents,
        &outcome.gpus[0].key_work,
    );
    let tail = format!("{rest:?} {:?}\ndigest {}", outcome.end, outcome.event_digest);
    copies.chain(units).chain([tail]).collect()
}

fn check(case: &Case) -> Result<(), TestCaseError> {
    let machine = machine_of(case);
    let reference = (DataMode::Exact, Kernel::EveryCycle, Order::Ascending);
    let Ran { outcome, sinks } = run(case, &machine, reference).map_err(TestCaseError::fail)?;
    let expected = figures(&outcome);
    for how in [
        (DataMode::Exact, Kernel::Skip, Order::Ascending),
        (DataMode::None, Kernel::Skip, Order::Shuffled(case.seed)),
        (DataMode::None, Kernel::EveryCycle, Order::Shuffled(!case.seed)),
    ] {
        let other = run(case, &machine, how).map_err(TestCaseError::fail)?;
        prop_assert_eq!(&expected, &figures(&other.outcome), "{:?} {:?}", how, MACHINES[case.machine]);
    }
    let (_, streams) = program(case);
    prop_assert_eq!(streams.len(), outcome.copies.len());
    for (number, (copy, sink)) in outcome.copies.iter().zip(&sinks).enumerate() {
        prop_assert!(copy.delivered, "copy {}: {:?}", number, copy.reason);
        prop_assert!(sink.covers(copy.bytes) && sink.agrees(&mut Pattern(number as u64 + 1)), "copy {}", number);
        prop_assert!(copy.start <= copy.returned && copy.start <= copy.end, "copy {}: {:?}", number, copy);
        if let Some((begin, end)) = copy.device {
            prop_assert!(copy.start <= begin && begin <= end && end <= copy.end, "copy {}: {:?}", number, copy);
        }
    }
    check_order(&outcome, &streams)
}

/// Copies of one stream follow each other, on the device and for the host.
fn check_order(outcome: &Outcome, streams: &[u32]) -> Result<(), TestCaseError> {
    let copies = || outcome.copies.iter().zip(streams).enumerate();
    for (first, (one, stream)) in copies() {
        for (second, (other, _)) in copies().skip(first + 1).filter(|(_, (_, later))| *later == stream) {
            prop_assert!(one.end <= other.end, "{} and {} of stream {}", first, second, stream);
            let (Some((begin, end)), Some((next_begin, next_end))) = (one.device, other.device) else { continue };
            prop_assert!(begin <= next_begin && end <= next_end, "{} and {} of stream {}", first, second, stream);
            // Of two copies that need the same engine, the second may be fetched while the first is under way.
            if one.direction != other.direction {
                prop_assert!(end <= next_begin, "{} and {} of stream {}", first, second, stream);
            }
        }
    }
    Ok(())
}

fn acts() -> impl Strategy<Value = Act> {
    let direction = prop::sample::select(vec![Direction::H2d, Direction::D2h, Direction::D2d]);
    let memory = prop::sample::select(vec![Memory::Pinned, Memory::Pageable]);
    let bytes = prop_oneof![1u64..40, 4090u64..4100, 1u64..30_000, 1u64..200_000];
    let pages = prop::sample::select(vec![Pages::Warm, Pages::Cold, Pages::Fresh]);
    let copy = (direction, memory, bytes, 0u32..4, pages, prop::bool::weighted(0.2)).prop_map(
        |(direction, memory, bytes, buffer, pages, blocking)| Act::Copy {
            direction,
            memory,
            bytes,
            buffer,
            pages,
            blocking,
        },
    );
    prop_oneof![
        8 => copy,
        4 => (1u64..20_000).prop_map(Act::Kernel),
        3 => (0..EVENTS).prop_map(Act::Record),
        3 => (0..EVENTS).prop_map(Act::Wait),
        1 => Just(Act::Sync),
        1 => (0u64..1 << 20).prop_map(Act::Flush),
    ]
}

fn cases() -> impl Strategy<Value = Case> {
    let acts = prop::collection::vec((0u32..4, acts()), 1..16);
    (0..MACHINES.len(), acts, any::<u64>()).prop_map(|(machine, acts, seed)| Case { machine, acts, seed })
}

#[test]
fn any_program_runs_the_same_however_it_is_simulated_delivers_its_copies_and_keeps_its_streams_in_order() {
    let cases_run = std::env::var("SEALSIM_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(30);
    let config = Config { cases: cases_run, failure_persistence: None, ..Config::default() };
    if let Err(error) = TestRunner::new(config).run(&cases(), |case| check(&case)) {
        panic!("{error}");
    }
}
