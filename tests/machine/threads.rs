//! A machine whose root complexes are simulated by several threads: the outcome is that of one thread, in every field.
//!
//! `SEALSIM_CASES` sets the number of random machines.

use crate::common::{QUICK, copy, machine, request};
use proptest::{
    prelude::*,
    test_runner::{Config, TestRunner},
};
use sealsim::{
    config::MachineSpec,
    sim::{Control, Kernel, Order, SimulationError},
    system::{CopyRequest, DataMode, Direction, Memory, Operation, Outcome, Request, RunError, Step, run_on},
    units::Femtos,
};
use std::num::NonZero;

const CREDITS: &str =
    "{posted_headers=3,posted_data=40,non_posted_headers=2,non_posted_data=2,completion_headers=3,completion_data=33}";

/// Machines of several root complexes: GPUs of their own, below switches, and below root complexes that several share.
pub(super) fn trees() -> Vec<Vec<String>> {
    let switch = |more: &str| format!("{{latency=\"100 ns\",cut_through=true,credits={CREDITS}{more}}}");
    let switches = format!("switch=[{},{}]", switch(""), switch(",root=7"));
    vec![
        vec!["gpu=[{count=2}]".into()],
        vec!["gpu=[{count=3},{link={generation=4,lanes=8},tag_queue={release=\"eager\",depth=3}},{count=4}]".into()],
        // The order of root complexes is not that of their GPUs.
        vec!["gpu=[{root=1},{},{root=1},{root=2},{},{root=2}]".into()],
        vec![switches, "gpu=[{switch=1},{switch=0},{},{switch=0},{root=7},{switch=1},{}]".into()],
    ]
}

/// A GPU, a direction, bytes and a kind of memory.
pub(super) type Asked = (usize, Direction, u64, Memory);

/// Copies of very different lengths.
pub(super) fn asked() -> impl Strategy<Value = Asked> {
    let direction = prop::sample::select(vec![Direction::H2d, Direction::D2h, Direction::D2d]);
    let bytes = prop_oneof![0..10u64, 1..10_000u64, 10_000..300_000u64];
    (0..8usize, direction, bytes, any::<bool>()).prop_map(|(gpu, direction, bytes, pageable)| {
        let pageable = pageable && direction != Direction::D2d;
        (gpu, direction, bytes, if pageable { Memory::Pageable } else { Memory::Pinned })
    })
}

pub(super) fn blind(machine: &MachineSpec, copies: &[Asked], kernel: Kernel, order: Order) -> Request {
    let gpus = machine.gpus();
    let copies = copies
        .iter()
        .map(|&(gpu, direction, bytes, memory)| CopyRequest { gpu: gpu % gpus, ..copy(direction, bytes, memory) });
    request(copies.collect(), DataMode::None, kernel, order)
}

fn on(machine: &MachineSpec, request: Request, threads: usize) -> Result<Outcome, RunError> {
    run_on(machine, request, NonZero::new(threads), &mut |_| Control::Continue)
}

/// All that an outcome has but the host's work, or the error.
pub(super) fn all(outcome: Result<Outcome, RunError>) -> String {
    format!("{:#?}", outcome.map(|outcome| Outcome { ticks: 0, ..outcome }))
}

/// The first line in which two texts differ.
pub(super) fn difference(one: &str, other: &str) -> Option<String> {
    let line = one.lines().zip(other.lines()).position(|(one, other)| one != other);
    let line = line.or_else(|| (one != other).then(|| one.lines().count().min(other.lines().count())))?;
    let around = |text: &str| text.lines().skip(line.saturating_sub(12)).take(13).collect::<Vec<_>>().join("\n");
    Some(format!("line {line}: {}\nand\n{}", around(one), around(other)))
}

pub(super) fn cases() -> Config {
    let cases = std::env::var("SEALSIM_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(12);
    Config { cases, failure_persistence: None, ..Config::default() }
}

#[test]
fn any_number_of_threads_gives_the_outcome_of_one() {
    let mut runner = TestRunner::new(cases());
    let machines = (prop::sample::select(trees()), any::<bool>(), any::<bool>());
    let copies = prop::collection::vec(asked(), 1..12);
    let tested = runner.run(&(machines, copies, any::<u64>()), |((tree, secure, quick), copies, seed)| {
        let settings: Vec<&str> = tree.iter().map(String::as_str).collect();
        let name = if secure { "h100-nvl-tdx" } else { "h100-sxm5-off" };
        let machine = machine(name, &[if quick { QUICK } else { &[] }, &settings].concat());
        let kernels: &[_] = if quick { &[Kernel::Skip, Kernel::EveryCycle] } else { &[Kernel::Skip] };
        for &kernel in kernels {
            for order in [Order::Ascending, Order::Shuffled(seed)] {
                let one = on(&machine, blind(&machine, &copies, kernel, order), 1);
                prop_assert!(one.is_ok());
                let one = all(one);
                for threads in [2, 3, 8, 0] {
                    let other = on(&machine, blind(&machine, &copies, kernel, order), threads);
                    let difference = difference(&all(other), &one);
                    prop_assert_eq!(difference, None, "{} threads, {:?}, {:?}", threads, kernel, order);
                }
            }
        }
        Ok(())
    });
    tested.unwrap();
}

/// A machine of four GPUs, and copies on two of them.
fn four(bytes: [u64; 2]) -> (MachineSpec, Vec<Asked>) {
    let machine = machine("h100-nvl-tdx", &["gpu=[{count=4}]"]);
    (machine, [(1, bytes[0]), (2, bytes[1])].map(|(gpu, bytes)| (gpu, Direction::H2d, bytes, Memory::Pinned)).into())
}

#[test]
fn a_group_that_ends_early_goes_on_to_the_end_of_the_last() {
    for kernel in [Kernel::Skip, Kernel::EveryCycle] {
        for bytes in [[100, 600_000], [600_000, 100]] {
            let (machine, copies) = four(bytes);
            let [one, two] = [1, 2]
                .map(|threads| on(&machine, blind(&machine, &copies, kernel, Order::Ascending), threads).unwrap());
            // Each unit's cycles are those up to the common end.
            let cycles = |outcome: &Outcome, name| outcome.units.iter().find(|unit| unit.name == name).unwrap().cycles;
            assert!(two.copies[0].end.0.abs_diff(two.copies[1].end.0) > 100_000_000_000);
            assert_eq!(cycles(&two, "host1.driver"), cycles(&two, "host2.driver"));
            assert_eq!(difference(&all(Ok(two)), &all(Ok(one))), None, "{kernel:?} {bytes:?}");
        }
    }
}

#[test]
fn programs_of_several_sessions_give_the_same() {
    let (machine, copies) = four([50_000, 70_000]);
    let request = || {
        let mut request = blind(&machine, &copies, Kernel::Skip, Order::Ascending);
        let step = |gpu, stream, operation| Step { gpu, stream, operation };
        request.program = vec![
            step(2, 0, Operation::kernel(Femtos(3_000_000_000))),
            step(2, 0, Operation::Copy { copy: 1, blocking: false }),
            step(1, 3, Operation::Copy { copy: 0, blocking: true }),
            step(3, 1, Operation::kernel(Femtos(90_000_000_000))),
            step(3, 1, Operation::Sync),
            step(2, 0, Operation::Sync),
        ];
        request
    };
    let one = all(on(&machine, request(), 1));
    assert!(one.starts_with("Ok"), "{one}");
    for threads in [2, 3] {
        assert_eq!(difference(&all(on(&machine, request(), threads)), &one), None);
    }
}

#[test]
fn the_observer_stops_all_threads_and_its_time_goes_up() {
    for kernel in [Kernel::Skip, Kernel::EveryCycle] {
        // One group waits for the other when the run is stopped.
        let (machine, copies) = four([64, 64 << 30]);
        let mut times = Vec::new();
        let request = blind(&machine, &copies, kernel, Order::Ascending);
        let stopped = run_on(&machine, request, NonZero::new(2), &mut |time| {
            times.push(time);
            if times.len() < 4 { Control::Continue } else { Control::Stop }
        });
        let Err(RunError::Simulation(SimulationError::Stopped { at })) = stopped else { panic!("{stopped:?}") };
        assert!(times.is_sorted() && times.last() == Some(&at) && times[0] < at, "{times:?} {at:?}");
    }
}

#[test]
fn errors_are_those_of_one_thread() {
    let (machine, copies) = four([2_000_000, 10_000]);
    let program = |operation| {
        let mut request = blind(&machine, &copies, Kernel::Skip, Order::Ascending);
        let step = |gpu, operation| Step { gpu, stream: 0, operation };
        let copy = |copy| Operation::Copy { copy, blocking: true };
        request.program = vec![step(2, operation), step(1, copy(0)), step(2, copy(1))];
        request
    };
    let mut nowhere = blind(&machine, &copies, Kernel::Skip, Order::Ascending);
    nowhere.copies[1].gpu = 4;
    let requests: [&dyn Fn() -> Request; 2] =
        [&|| program(Operation::kernel(Femtos(u64::MAX))), &|| program(Operation::Copy { copy: 0, blocking: true })];
    for request in requests {
        let one = all(on(&machine, request(), 1));
        assert!(one.starts_with("Err"), "{one}");
        for threads in [2, 3] {
            assert_eq!(all(on(&machine, request(), threads)), one);
        }
    }
    let error = on(&machine, nowhere, 2).unwrap_err();
    assert!(matches!(error, RunError::NoGpu { gpu: 4, gpus: 4 }), "{error}");
}
