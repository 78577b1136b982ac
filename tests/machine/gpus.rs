//! Machines of several GPUs: each session does what it would do alone with its share of the socket, whatever the others do.
//!
//! `SEALSIM_CASES` sets the number of random machines.

use super::threads::cases;
use crate::common::{QUICK, copy, machine, request, run};
use proptest::{prelude::*, test_runner::TestRunner};
use sealsim::{
    config::MachineSpec,
    sim::{FaultKind, Injection, Kernel, Order},
    system::{CopyRequest, DataMode, Direction, Memory, Operation, Outcome, Request, RunError, Step},
    units::{BytesPerCycle, Femtos},
};

/// GPUs of the tested machine: two alike, and one with another link and another tag queue.
const GPUS: &str = "gpu=[{count=2},{link={generation=4,lanes=8},tag_queue={release=\"eager\",depth=3}}]";

fn several(sets: &[&str]) -> MachineSpec {
    machine("h100-nvl-tdx", &[QUICK, &[GPUS], sets].concat())
}

#[derive(Debug, Clone, Copy)]
struct Asked {
    gpu: usize,
    direction: Direction,
    bytes: u64,
    memory: Memory,
}

impl Asked {
    fn request(self) -> CopyRequest {
        CopyRequest { gpu: self.gpu, ..copy(self.direction, self.bytes, self.memory) }
    }
}

fn asked() -> impl Strategy<Value = Asked> {
    let direction = prop::sample::select(vec![Direction::H2d, Direction::D2h, Direction::D2d]);
    let memory = prop::sample::select(vec![Memory::Pinned, Memory::Pageable]);
    (0..3usize, direction, 1..200_000u64, memory).prop_map(|(gpu, direction, bytes, memory)| {
        let memory = if direction == Direction::D2d { Memory::Pinned } else { memory };
        Asked { gpu, direction, bytes, memory }
    })
}

fn of(copies: &[Asked], data: DataMode, kernel: Kernel, order: Order) -> Request {
    request(copies.iter().map(|one| one.request()).collect(), data, kernel, order)
}

/// When each copy began and ended, and whether it arrived.
fn dates(outcome: &Outcome) -> Vec<(Femtos, Femtos, bool)> {
    outcome.copies.iter().map(|copy| (copy.start, copy.end, copy.delivered)).collect()
}

/// The same of the copies of one GPU on a machine that has no other, with its share of what `sessions` share.
fn alone(machine: &MachineSpec, copies: &[Asked], gpu: usize, sessions: u64) -> Vec<(Femtos, Femtos, bool)> {
    let mut machine = machine.of_gpu(gpu);
    machine.memory.llc.0 /= sessions;
    let own: Vec<_> = copies.iter().filter(|one| one.gpu == gpu).map(|one| Asked { gpu: 0, ..*one }).collect();
    dates(&run(&machine, of(&own, DataMode::Exact, Kernel::Skip, Order::Ascending)).unwrap())
}

#[test]
fn each_session_does_what_it_does_alone_with_its_share() {
    let mut runner = TestRunner::new(cases());
    let plans = (prop::collection::vec(asked(), 1..7), any::<bool>());
    let tested = runner.run(&plans, |(copies, secure)| {
        let machine = several(if secure { &[] } else { &["confidential_computing=false"] });
        let outcome = run(&machine, of(&copies, DataMode::Exact, Kernel::Skip, Order::Ascending)).unwrap();
        prop_assert!(outcome.copies.iter().all(|copy| copy.delivered));
        let at_work = (0..3).filter(|gpu| copies.iter().any(|one| one.gpu == *gpu)).count() as u64;
        for gpu in 0..3 {
            let own = outcome.copies.iter().zip(dates(&outcome)).filter(|(copy, _)| copy.gpu == gpu);
            let own: Vec<_> = own.map(|(_, dates)| dates).collect();
            prop_assert_eq!(own, alone(&machine, &copies, gpu, at_work), "GPU {}", gpu);
        }
        let all = [
            (DataMode::Exact, Kernel::EveryCycle, Order::Ascending),
            (DataMode::None, Kernel::Skip, Order::Shuffled(9)),
            (DataMode::Exact, Kernel::Skip, Order::Shuffled(3)),
        ];
        for (data, kernel, order) in all {
            let other = run(&machine, of(&copies, data, kernel, order)).unwrap();
            prop_assert_eq!(&other.event_digest, &outcome.event_digest, "{:?} {:?} {:?}", data, kernel, order);
            prop_assert_eq!(dates(&other), dates(&outcome));
        }
        Ok(())
    });
    tested.unwrap();
}

#[test]
fn a_fault_at_one_gpu_is_felt_by_its_session_alone() {
    let machine = several(&[]);
    let copies = [0, 1, 2].map(|gpu| Asked { gpu, direction: Direction::H2d, bytes: 50_000, memory: Memory::Pinned });
    let whole = run(&machine, of(&copies, DataMode::Exact, Kernel::Skip, Order::Ascending)).unwrap();
    let place = "host1.staging.tag".to_owned();
    let mut faulty = of(&copies, DataMode::Exact, Kernel::Skip, Order::Ascending);
    faulty.injections = vec![Injection::nth(place, FaultKind::Flip, 1)];
    let outcome = run(&machine, faulty).unwrap();
    assert_eq!(outcome.copies.iter().map(|copy| copy.delivered).collect::<Vec<_>>(), [true, false, true]);
    for gpu in [0, 2] {
        assert_eq!(dates(&outcome)[gpu], dates(&whole)[gpu], "GPU {gpu}");
    }
}

#[test]
fn streams_and_events_of_two_gpus_are_apart_and_limits_name_the_units_of_their_own() {
    let machine = machine("h100-nvl-tdx", &[GPUS]);
    let copies = [0, 2].map(|gpu| Asked { gpu, direction: Direction::H2d, bytes: 300_000, memory: Memory::Pinned });
    let step = |gpu, operation| Step { gpu, stream: 0, operation };
    let pause = Femtos(200_000_000_000);
    let kernel = Operation::kernel(pause);
    let mut programmed = of(&copies, DataMode::None, Kernel::Skip, Order::Ascending);
    programmed.program = vec![
        step(2, kernel),
        step(0, Operation::Copy { copy: 0, blocking: true }),
        step(2, Operation::Copy { copy: 1, blocking: true }),
    ];
    let outcome = run(&machine, programmed).unwrap();
    let begun = |place: usize| outcome.copies[place].device.unwrap().0;
    assert!(begun(0) < pause && begun(1) > pause, "{outcome:?}");
    for copy in &outcome.copies {
        let own = [format!("host{}.", copy.gpu), format!("link{}.", copy.gpu), format!("gpu{}.", copy.gpu)];
        let mut units = copy.busiest.waited.iter().map(|one| &one.unit).chain([&copy.busiest.unit]);
        assert!(units.all(|unit| own.iter().any(|part| unit.starts_with(part))), "{:?}", copy.busiest);
    }
}

#[test]
fn a_step_that_makes_a_copy_of_another_gpu_is_refused() {
    let copies = [0, 1].map(|gpu| Asked { gpu, direction: Direction::H2d, bytes: 100, memory: Memory::Pinned });
    for copy in [0, 2] {
        let mut wrong = of(&copies, DataMode::None, Kernel::Skip, Order::Ascending);
        wrong.program = vec![Step { gpu: 1, stream: 0, operation: Operation::Copy { copy, blocking: true } }];
        let error = run(&several(&[]), wrong).unwrap_err();
        assert!(matches!(&error, RunError::Build(why) if why.contains("GPU 1")), "{error}");
    }
}

#[test]
fn a_gpu_that_is_not_there_is_refused() {
    for (gpus, machine) in [(3, several(&[])), (1, machine("h100-nvl-tdx", QUICK))] {
        let copies = [Asked { gpu: gpus, direction: Direction::H2d, bytes: 1, memory: Memory::Pinned }];
        let error = run(&machine, of(&copies, DataMode::None, Kernel::Skip, Order::Ascending)).unwrap_err();
        assert!(matches!(error, RunError::NoGpu { gpu, gpus: all } if gpu == gpus && all == gpus), "{error}");
    }
}

/// A machine without confidential computing whose second GPU is at another socket than its buffers.
fn two_sockets(sets: &[&str]) -> MachineSpec {
    let gpus = "gpu=[{},{node=1,session_node=0}]";
    let numa = "numa={latency=\"70 cycles\",rate=\"10 B/cycle\"}";
    machine("h100-sxm5-off", &[&[gpus, numa], sets].concat())
}

fn time_on(machine: &MachineSpec, gpus: &[usize], direction: Direction, bytes: u64) -> u64 {
    let copies: Vec<_> = gpus.iter().map(|&gpu| Asked { gpu, direction, bytes, memory: Memory::Pinned }).collect();
    run(machine, of(&copies, DataMode::None, Kernel::Skip, Order::Ascending)).unwrap().copies[0].time().0
}

#[test]
fn the_memory_of_another_socket_costs_its_latency_and_no_more_comes_than_its_link_carries() {
    let machine = two_sockets(&[]);
    // One read and one semaphore write, or one write of data and one semaphore write.
    let [h2d, d2h] = [Direction::H2d, Direction::D2h];
    for direction in [h2d, d2h] {
        let [near, far] = [0, 1].map(|gpu| time_on(&machine, &[gpu], direction, 64));
        let reads = far - near;
        assert!(reads.is_multiple_of(70_000_000) && (1..=3).contains(&(reads / 70_000_000)), "{direction:?} {reads}");
    }
    // 10 B/cycle at 2.8 GHz are 28 GB/s, 18.3 cycles of 1 ns for a read of 512 B.
    let bytes = 64 << 20;
    let rate = |gpus: &[usize]| bytes as f64 * 1e6 / time_on(&machine, gpus, h2d, bytes) as f64;
    let (near, far) = (rate(&[0]), rate(&[1]));
    assert!(near > 50.0 && (512.0 / 19.0 * 0.99..512.0 / 19.0).contains(&far), "{near} {far}");
    // Who does not cross it leaves it to those who do; two who do have half each.
    let both = two_sockets(&["gpu=[{node=1,session_node=0},{node=1,session_node=0}]"]);
    assert_eq!(time_on(&machine, &[1, 0], h2d, bytes), time_on(&machine, &[1], h2d, bytes));
    let half = bytes as f64 * 1e6 / time_on(&both, &[0, 1], h2d, bytes) as f64;
    assert!((512.0 / 37.0 * 0.99..512.0 / 37.0).contains(&half), "{half}");
}

#[test]
fn sessions_share_the_memory_of_their_socket() {
    let cold = |gpu| {
        let one = Asked { gpu, direction: Direction::H2d, bytes: 4 << 20, memory: Memory::Pinned };
        CopyRequest { pages: sealsim::system::Pages::Cold, ..one.request() }
    };
    let time = |sets: &[&str], gpus: usize| {
        let machine = machine("h100-nvl-tdx", &[&["gpu=[{count=8}]"], sets].concat());
        let copies = (0..gpus).map(cold).collect();
        run(&machine, request(copies, DataMode::None, Kernel::Skip, Order::Ascending)).unwrap().copies[0].time().0
    };
    let core = machine("h100-nvl-tdx", &[]).memory.dram_rate;
    let enough = format!("memory.socket_rate={}", BytesPerCycle(core.0 * 4));
    let (one, four, eight) = (time(&[&enough], 1), time(&[&enough], 4), time(&[&enough], 8));
    // A cold copy finds nothing in the caches, so that only the rate of memory differs: four fit, of eight each has half.
    assert_eq!(one, four);
    let half = format!("memory.dram_rate={}", BytesPerCycle(core.0 / 2));
    assert_eq!(eight, time(&[&half], 1));
    assert!(eight > four);
}
