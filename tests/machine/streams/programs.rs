//! Programs of several streams on whole machines.

use crate::common::{Delivered, Pattern, QUICK, copy, machine, request, run};
use proptest::{
    prelude::*,
    test_runner::{Config, TestRunner},
};
use sealsim::{
    config::MachineSpec,
    sim::{Kernel, Order},
    system::{DataMode, Direction, Memory, Operation, Outcome, Step, StreamTask},
    units::Femtos,
};

/// What a program is made of.
#[derive(Debug, Clone, Copy)]
enum Part {
    Copy(Direction, u64, Memory, bool),
    Other(Operation),
}

type Program = [(u32, Part)];

/// The outcome, and what was delivered of each copy.
fn outcome(
    machine: &MachineSpec,
    program: &Program,
    data: DataMode,
    kernel: Kernel,
    order: Order,
) -> Result<(Outcome, Vec<Delivered>), String> {
    let (mut copies, mut steps, mut sinks) = (Vec::new(), Vec::new(), Vec::new());
    for &(stream, part) in program {
        let operation = match part {
            Part::Copy(direction, bytes, memory, blocking) => {
                let sink = Delivered::default();
                copies.push(sealsim::system::CopyRequest {
                    sink: Some(Box::new(sink.clone())),
                    ..copy(direction, bytes, memory)
                });
                sinks.push(sink);
                Operation::Copy { copy: copies.len() - 1, blocking }
            }
            Part::Other(operation) => operation,
        };
        steps.push(Step { gpu: 0, stream, operation });
    }
    let mut request = request(copies, data, kernel, order);
    request.program = steps;
    run(machine, request).map(|outcome| (outcome, sinks)).map_err(|error| error.to_string())
}

/// The same with bytes, on the default kernel; all is delivered.
fn delivered(machine: &MachineSpec, program: &Program) -> Outcome {
    let (outcome, sinks) = outcome(machine, program, DataMode::Exact, Kernel::Skip, Order::Ascending).unwrap();
    for (copy, sink) in outcome.copies.iter().zip(&sinks) {
        assert!(copy.delivered && sink.covers(copy.bytes) && sink.agrees(&mut Pattern(copy.bytes)), "{copy:?}");
    }
    outcome
}

const fn asynchronous(direction: Direction, bytes: u64) -> Part {
    Part::Copy(direction, bytes, Memory::Pinned, false)
}

const fn kernel(micros: u64) -> Part {
    Part::Other(Operation::kernel(Femtos(micros * 1_000_000_000)))
}

fn micros(time: Femtos) -> f64 {
    time.0 as f64 * 1e-9
}

#[test]
fn copies_of_two_streams_in_both_directions_overlap_and_those_of_one_do_not() {
    let machine = machine("h100-sxm5-off", &[]);
    let bytes = 8 << 20;
    let (up, down) = (asynchronous(Direction::H2d, bytes), asynchronous(Direction::D2h, bytes));
    for (streams, overlap) in [([1, 2], true), ([1, 1], false)] {
        let outcome = delivered(&machine, &[(streams[0], up), (streams[1], down)]);
        let spans: Vec<_> = outcome.copies.iter().map(|copy| copy.device.unwrap()).collect();
        assert_eq!(spans[1].0 < spans[0].1, overlap, "{spans:?}");
        let (first, second) = (micros(spans[0].1) - micros(spans[0].0), micros(spans[1].1) - micros(spans[1].0));
        let least = bytes as f64 / 58e3;
        assert!(first > least && second > least && first.max(second) < 1.25 * least, "{first} {second} {least}");
    }
}

#[test]
fn a_kernel_keeps_copies_of_its_own_stream_waiting_and_no_others() {
    let machine = machine("h100-sxm5-off", &["compute.stretch=1000"]);
    let up = asynchronous(Direction::H2d, 1 << 20);
    let program =
        [(1, kernel(500)), (1, up), (2, up), (2, Part::Other(Operation::Task(StreamTask::Record { event: 0 })))];
    let after =
        [(3, Part::Other(Operation::Task(StreamTask::Wait { event: 0 }))), (3, asynchronous(Direction::D2d, 1 << 20))];
    let outcome = delivered(&machine, &[&program[..], &after].concat());
    let [behind, beside, waits] = [0, 1, 2].map(|copy| outcome.copies[copy].device.unwrap());
    assert!(micros(behind.0) > 500.0 && micros(behind.0) < 515.0, "{behind:?}");
    assert!(micros(beside.1) < 50.0 && micros(waits.1) < 60.0, "{beside:?} {waits:?}");
    assert!(beside.1 < waits.0);
}

fn parts() -> impl Strategy<Value = Part> {
    let direction = prop::sample::select(vec![Direction::H2d, Direction::D2h, Direction::D2d]);
    let memory = prop::sample::select(vec![Memory::Pinned, Memory::Pageable]);
    prop_oneof![
        6 => (direction, 0u64..60_000, memory, any::<bool>()).prop_map(|(d, b, m, w)| Part::Copy(d, b, m, w)),
        2 => (0u64..20).prop_map(kernel),
        1 => (0u32..2).prop_map(|event| Part::Other(Operation::Task(StreamTask::Record { event }))),
        1 => (0u32..2).prop_map(|event| Part::Other(Operation::Task(StreamTask::Wait { event }))),
        1 => Just(Part::Other(Operation::Sync)),
    ]
}

/// All that both kernels, all orders and both data modes agree on.
fn figures(outcome: &Outcome) -> String {
    let copies = outcome.copies.iter().map(|copy| {
        format!(
            "{:?} {:?} {:?} {:?} {} {:?}\n",
            copy.start, copy.end, copy.returned, copy.device, copy.delivered, copy.reason
        )
    });
    let units =
        outcome.units.iter().map(|unit| format!("{} {} {} {:?}\n", unit.name, unit.busy, unit.idle, unit.stalls));
    copies.chain(units).chain([format!("{:?} {}", outcome.end, outcome.event_digest)]).collect()
}

#[test]
fn programs_run_the_same_on_both_kernels_in_any_order_with_and_without_data() {
    let cases = std::env::var("SEALSIM_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(20);
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let programs = prop::collection::vec((0u32..3, parts()), 1..9);
    let machines = prop::sample::select(vec![
        ("h100-sxm5-off", &[][..]),
        ("h100-sxm5-off", &["compute.slots=1", "compute.schedule=0 cycles", "copy_engine.messages_in_flight=8"]),
        ("h100-nvl-tdx", &["driver.pinned={message=\"4 KiB\",push=\"16 KiB\"}"]),
        ("h100-nvl-tdx", &["tag_queue.release=eager", "compute.clock=1 GHz"]),
    ]);
    let result = TestRunner::new(config).run(&(programs, machines, any::<u64>()), |(program, (name, sets), seed)| {
        let sets: Vec<_> = QUICK.iter().chain(sets).copied().collect();
        let machine = machine(name, &sets);
        let of = |data, kernel, order| {
            outcome(&machine, &program, data, kernel, order).map(|(outcome, _)| figures(&outcome))
        };
        let first = of(DataMode::Exact, Kernel::EveryCycle, Order::Ascending);
        prop_assert!(first.as_ref().is_ok_and(|text| !text.contains("false")), "{:?}", first);
        prop_assert_eq!(&first, &of(DataMode::Exact, Kernel::Skip, Order::Shuffled(seed)));
        prop_assert_eq!(&first, &of(DataMode::None, Kernel::Skip, Order::Ascending));
        prop_assert_eq!(&first, &of(DataMode::None, Kernel::EveryCycle, Order::Shuffled(!seed)));
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn idle_time_costs_nothing() {
    let machine = machine("h100-nvl-tdx", QUICK);
    let [short, long] = [10, 9_000].map(|seconds: u64| {
        let pause = Operation::kernel(Femtos(seconds * 1_000_000_000_000_000));
        let there = |direction| Part::Copy(direction, 64 << 10, Memory::Pinned, true);
        let program = [(0, there(Direction::H2d)), (0, Part::Other(pause)), (0, there(Direction::D2h))];
        delivered(&machine, &program)
    });
    assert!(long.end.0 - short.end.0 > 8_000_000_000_000_000_000);
    // The link rests after a second, and no other unit has anything to do. Where copies fall on the edges of clocks may differ; a
    // repetition of credits in each 30 us of the pause would be 300 million ticks.
    assert!(long.ticks.abs_diff(short.ticks) < 1_000, "{} {}", long.ticks, short.ticks);
}
