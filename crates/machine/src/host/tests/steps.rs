//! Programs, caches and the calling thread, by differences that can be counted by hand. CPU and GPU run at 1 GHz.

use super::{
    super::{spec::InFlightSpec, *},
    machine::{Setup, cpu},
};
use crate::{
    stream::{Computation, PushWork, Semaphore, StreamTask},
    units::{Bytes, BytesPerCycle, Cycles, Femtos},
};
use Direction::{D2h, H2d};
use Memory::{Pageable, Pinned};

const fn step(stream: u32, operation: Operation) -> Step {
    Step { stream, operation }
}

const fn copy(stream: u32, copy: usize) -> Step {
    step(stream, Operation::Copy { copy, blocking: false })
}

/// Cycles from call to return of a copy.
fn took(mini: &super::machine::Mini, copy: usize) -> u64 {
    let outcome = &mini.driver().outcomes()[copy];
    assert!(outcome.delivered, "{:?}", outcome.reason);
    (outcome.returned.0 - outcome.start.0) / 1_000_000
}

#[test]
fn the_caller_hides_neither_pushes_nor_completions_behind_sealing() {
    let mut setup = Setup::secure(&[(H2d, 4 << 16, Pageable)]);
    let beside = setup.end();
    setup.options.on_caller = true;
    let by_itself = setup.end();
    // Three pushes of 600 lie between four chunks, and two completions of 100: the third is taken while the last push is in progress. Each
    // job costs a cycle to hand over and one to report.
    let visible = 3 * 600 + 2 * 100;
    assert!((visible..=visible + 8).contains(&(by_itself - beside)), "{}", by_itself - beside);
}

#[test]
fn messages_of_a_copy_are_as_long_as_may_be_but_the_last() {
    for (bytes, sizes) in [(70_000, vec![1 << 16, 4_464]), (1 << 16, vec![1 << 16]), (100, vec![100])] {
        let (mini, _) = Setup::secure(&[(H2d, bytes, Pageable)]).go();
        let launches = mini.gpu().launches().concat();
        assert_eq!(launches.iter().map(|launch| launch.bytes).collect::<Vec<_>>(), sizes);
    }
}

#[test]
fn the_first_touch_of_a_page_is_paid_once() {
    let mut setup = Setup::plain(&[(D2h, 3 * 4096, Pageable), (D2h, 3 * 4096, Pageable)]);
    setup.memory.first_touch = Cycles(1_000);
    setup.plans[0].pages = Pages::Fresh;
    let (mini, _) = setup.go();
    assert_eq!(took(&mini, 0) - took(&mini, 1), 3_000);
}

#[test]
fn a_fresh_buffer_of_two_mebibytes_is_touched_by_huge_pages_and_a_rest_shares_one() {
    for (bytes, huge) in [((2 << 20) - 1, 0), (2 << 20, 1), ((4 << 20) - 1, 1), (4 << 20, 2)] {
        let mut setup = Setup::plain(&[(D2h, bytes, Pageable), (D2h, bytes, Pageable)]);
        setup.memory.first_touch_huge = Cycles(1_000_000);
        setup.plans[0].pages = Pages::Fresh;
        let (mini, _) = setup.go();
        assert_eq!(took(&mini, 0) - took(&mini, 1), huge * 1_000_000, "{bytes} B");
    }
}

#[test]
fn with_one_push_in_flight_transfer_and_opening_take_turns() {
    let mut setup = Setup::secure(&[(D2h, 4 << 16, Pageable)]);
    let many = setup.end();
    setup.driver.in_flight_pageable = InFlightSpec { h2d: 1, d2h: 1 };
    let one = setup.end();
    // Opening a chunk takes 65,836 cycles, its way through the GPU 2,098 and 900, its push 600 and its completion 100.
    let exposed = 3 * (2_098 + 900 + 600 + 100);
    assert!((one - many).abs_diff(exposed) <= 16, "{}", one - many);
}

#[test]
fn what_the_caches_miss_is_paid_at_their_rates() {
    let mut setup = Setup::secure(&[(H2d, 4096, Pinned), (H2d, 4096, Pinned)]);
    (setup.memory.llc_rate, setup.memory.dram_rate) = (BytesPerCycle(4_000), BytesPerCycle(1_000));
    let (mini, _) = setup.go();
    assert_eq!(took(&mini, 0) - took(&mini, 1), 4096 / 4 + 4096);
    setup.plans[0].pages = Pages::Warm;
    let (mini, _) = setup.go();
    assert_eq!(took(&mini, 0), took(&mini, 1));
}

#[test]
fn a_small_copy_passes_over_its_bytes_twice() {
    let mut setup = Setup::secure(&[(H2d, 4096, Pageable), (H2d, 4097, Pageable)]);
    setup.plans.iter_mut().for_each(|plan| plan.pages = Pages::Warm);
    let plain = took(&setup.go().0, 0);
    setup.driver.small.limit = Bytes(4096);
    let (mini, _) = setup.go();
    assert_eq!(took(&mini, 0) - plain, 4096);
    assert!(took(&mini, 1) < plain + 10);
}

#[test]
fn small_copies_from_the_gpu_may_have_a_limit_of_their_own() {
    let took_with = |limit_d2h| {
        let mut setup = Setup::secure(&[(H2d, 4096, Pageable), (D2h, 4096, Pageable)]);
        setup.plans.iter_mut().for_each(|plan| plan.pages = Pages::Warm);
        (setup.driver.small.limit, setup.driver.small.limit_d2h) = (Bytes(4096), limit_d2h);
        let (mini, _) = setup.go();
        [0, 1].map(|copy| took(&mini, copy))
    };
    let ([inward, outward], [same, without]) = (took_with(None), took_with(Some(Bytes(0))));
    assert_eq!((inward, outward - without), (same, 4096));
}

#[test]
fn a_flush_makes_the_next_call_cold_and_only_that() {
    let mut setup = Setup::plain(&[(H2d, 100, Pinned); 3]);
    setup.driver.cold_call.h2d = Cycles(500);
    setup.program =
        vec![copy(0, 0), step(0, Operation::Sync), step(0, Operation::Flush { bytes: 1 << 20 }), copy(0, 1)];
    setup.program.extend([step(0, Operation::Sync), copy(0, 2)]);
    let (mini, _) = setup.go();
    assert_eq!(took(&mini, 1) - took(&mini, 0), 500);
    assert_eq!(took(&mini, 2), took(&mini, 0));
}

#[test]
fn a_pinned_copy_returns_at_once_and_a_sync_waits_for_it() {
    let mut setup = Setup::plain(&[(H2d, 1 << 20, Pinned), (D2h, 1 << 20, Pinned)]);
    setup.program = vec![copy(3, 0), copy(5, 1), step(3, Operation::Sync), step(5, Operation::Sync)];
    let (mini, _) = setup.go();
    for place in 0..2 {
        assert_eq!(took(&mini, place), 1_000 + 200, "call and push");
        assert!(mini.driver().outcomes()[place].end > mini.driver().outcomes()[place].returned);
    }
    assert_eq!(mini.gpu().seen.iter().map(|push| push.stream).collect::<Vec<_>>(), [3, 5]);
    assert_eq!(mini.gpu().seen[1].semaphore, Semaphore { address: map::done(5), value: 2 });
}

#[test]
fn kernels_and_events_go_to_their_streams_in_host_order() {
    let mut setup = Setup::plain(&[(H2d, 100, Pinned)]);
    let duration = Femtos(7_000_000_000);
    let kernel = StreamTask::Compute(Computation::Kernel { duration });
    let tasks = [(1, kernel), (1, StreamTask::Record { event: 4 }), (2, StreamTask::Wait { event: 4 })];
    setup.program = vec![copy(1, 0)];
    setup.program.extend(tasks.map(|(stream, task)| step(stream, Operation::Task(task))));
    setup.program.push(step(2, Operation::Sync));
    let (mini, run) = setup.go();
    let seen: Vec<_> = mini.gpu().seen.iter().map(|push| (push.stream, push.work.clone())).collect();
    assert_eq!(seen[1..], tasks.map(|(stream, task)| (stream, PushWork::Task(task))));
    // Call and push, a launch, two more pushes, and the completion that ends the wait.
    assert_eq!(run.accounts[0].busy(), 1_000 + 200 + 1_200 + 2 * 200 + 70);
}

#[test]
fn programs_that_name_what_is_not_there_are_refused() {
    let build = |program| Setup { program, ..Setup::plain(&[(H2d, 100, Pinned)]) }.new_driver(cpu()).err();
    assert_eq!(build(vec![copy(0, 0)]), None);
    assert_eq!(build(vec![copy(0, 1)]), Some(HostError::NoCopy { step: 0, copy: 1 }));
    assert_eq!(build(vec![copy(0, 0), copy(0, 0)]), Some(HostError::MadeAgain { copy: 0, times: 2 }));
    assert_eq!(build(vec![step(64, Operation::Sync)]), Some(HostError::NoStream { step: 0, stream: 64 }));
}
