//! Copies that wait for others, or for kernels.

use super::MIB;
use crate::common::{self, copy};
use sealsim::{
    config::{Layers, Resolved},
    explore::what_if,
    sim::{Control, Kernel, Order},
    system::{self, CopyOutcome, DataMode, Direction, Memory, Operation, Request, RunError, Step},
    units::Femtos,
};

fn machine() -> Resolved {
    Layers::new("h100-nvl-tdx").overlay("off").resolve().unwrap()
}

/// Copies of 16 MiB by direction, each on a stream, and what comes between them.
fn request(steps: &[Step], directions: &[Direction], most: u64) -> Request {
    let copies = directions.iter().map(|&direction| copy(direction, most.min(16 * MIB), Memory::Pinned)).collect();
    Request { program: steps.to_vec(), ..common::request(copies, DataMode::None, Kernel::Skip, Order::Ascending) }
}

fn copies(steps: &[Step], directions: &[Direction]) -> Vec<CopyOutcome> {
    let request = request(steps, directions, u64::MAX);
    system::run(&machine().machine, request, &mut |_| Control::Continue).unwrap().copies
}

const fn copied(stream: u32, copy: usize) -> Step {
    Step { gpu: 0, stream, operation: Operation::Copy { copy, blocking: false } }
}

const H2D: Direction = Direction::H2d;

#[test]
fn a_copy_that_waits_for_others_on_its_engine_names_the_one_that_it_waits_for_longest() {
    let steps = [copied(0, 0), copied(1, 1), copied(2, 2), copied(3, 3)];
    let directions = [H2D, H2D, H2D, Direction::D2h];
    let all = copies(&steps, &directions);
    let named = |place: usize| (all[place].busiest.state.as_str(), all[place].busiest.behind);
    let overlap = |front: usize| {
        let ((from, to), begin) = (all[front].device.unwrap(), all[2].device.unwrap().0);
        to.0.min(begin.0) - from.0.max(all[2].start.0)
    };
    let longest = usize::from(overlap(1) > overlap(0));
    assert_eq!(named(2), ("queued", Some(longest + 1)), "{:?}", all[2].busiest);
    assert!(all[2].busiest.fraction > 0.6, "two of three copies come before it");
    assert_eq!(named(0).1, None);
    assert_eq!(named(3).1, None, "the other direction has an engine of its own");
    let repeat = |most| Ok::<_, RunError>(request(&steps, &directions, most));
    let limit = what_if::measure(&machine(), &repeat, 2, 1, &mut || Control::Continue).unwrap();
    let window = ["copy_engine.outstanding_reads", "root_complex.read_latency", "link.max_read_request"];
    assert!(window.contains(&&*limit.best[0].parameter), "what limits those in front limits it: {limit:?}");
}

#[test]
fn a_copy_behind_a_copy_on_its_stream_names_it_whatever_its_direction() {
    let all = copies(&[copied(0, 0), copied(0, 1)], &[H2D, Direction::D2h]);
    let second = &all[1].busiest;
    let waits = all[1].device.unwrap().0.0 - all[1].start.0;
    let most = waits as f64 > 0.5 * (all[1].end.0 - all[1].start.0) as f64;
    assert_eq!(second.behind.is_some(), most, "{second:?}");
}

#[test]
fn a_copy_behind_a_kernel_says_so() {
    let kernel = Step { gpu: 0, stream: 0, operation: Operation::kernel(Femtos(5_000_000_000_000)) };
    let all = copies(&[kernel, copied(0, 0)], &[Direction::D2h]);
    let limit = &all[0].busiest;
    assert_eq!((limit.unit.as_str(), limit.state.as_str()), ("gpu.compute", "kernels"));
    assert!(limit.fraction > 0.8, "{limit:?}");
}

#[test]
fn a_call_that_waits_for_a_kernel_before_its_copy_says_so() {
    let kernel = Step { gpu: 0, stream: 0, operation: Operation::kernel(Femtos(5_000_000_000_000)) };
    let blocking = Step { gpu: 0, stream: 0, operation: Operation::Copy { copy: 0, blocking: true } };
    let limit = &copies(&[kernel, blocking], &[Direction::D2h])[0].busiest;
    assert_eq!((limit.unit.as_str(), limit.state.as_str()), ("gpu.compute", "kernels"));
    assert!(limit.fraction > 0.5, "{limit:?}");
}

#[test]
fn copies_of_other_sizes_beside_it_stay_as_they_are_when_a_copy_is_measured() {
    let sizes = [32 * MIB, 4 * MIB];
    let asked = |most: u64| {
        let copies = [H2D, Direction::D2h].into_iter().zip(sizes);
        let copies = copies.map(|(direction, bytes)| copy(direction, bytes.min(most), Memory::Pinned)).collect();
        let program = vec![copied(0, 0), copied(0, 1)];
        Request { program, ..common::request(copies, DataMode::None, Kernel::Skip, Order::Ascending) }
    };
    let time = |machine: &Resolved| {
        let copies = system::run(&machine.machine, asked(u64::MAX), &mut |_| Control::Continue).unwrap().copies;
        (copies[1].end.0 - copies[1].start.0) as f64
    };
    let repeat = |most| Ok::<_, RunError>(asked(most));
    let best = what_if::measure(&machine(), &repeat, 1, 1, &mut || Control::Continue).unwrap().best.remove(0);
    let relaxed = machine().with(&[format!("{}={}", best.parameter, best.relaxed_to)]).unwrap();
    let gain = (time(&machine()) / time(&relaxed) - 1.0) * 100.0;
    assert!((gain - best.gain_percent).abs() < 1e-6, "{gain}: {best:?}");
}

#[test]
fn a_small_copy_that_nothing_comes_before_waits_for_nobody() {
    let all = copies(&[copied(0, 0)], &[Direction::D2h]);
    assert_eq!(all[0].busiest.behind, None);
    assert_ne!(all[0].busiest.state, "kernels");
}
