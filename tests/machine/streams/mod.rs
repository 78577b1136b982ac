//! Streams on the GPU's side: what runs at once, what waits for what, and that it is the same on both kernels in any order.

mod gpu_side;
mod programs;

use gpu_side::{Ask, ERROR, Ran, Seen, run, run_until, semaphore};
use proptest::{
    prelude::*,
    test_runner::{Config, TestRunner},
};
use sealsim::{
    config::MachineSpec,
    sim::{Kernel, Order, SimulationError},
    units::Femtos,
};

/// The plain machine with some settings.
fn machine(sets: &[&str]) -> MachineSpec {
    crate::common::machine("h100-sxm5-off", sets)
}

const SKIP: (Kernel, Order) = (Kernel::Skip, Order::Ascending);

fn nanos(time: Femtos) -> f64 {
    time.0 as f64 * 1e-6
}

/// Nanoseconds until all is done.
fn total(ran: &Ran) -> f64 {
    nanos(ran.seen.last().unwrap().time)
}

#[test]
fn both_directions_run_at_once_and_neither_slows_the_other() {
    let machine = machine(&[]);
    let (up, down) = ((0, 1, Ask::Up(1 << 18)), (0, 2, Ask::Down(1 << 18)));
    let (alone_up, alone_down) = (total(&run(&machine, &[up])), total(&run(&machine, &[down])));
    let both = run(&machine, &[up, down]);
    let one_stream = run(&machine, &[up, (0, 1, Ask::Down(1 << 18))]);
    // Each PCE has a link of its own here.
    assert!((nanos(both.done(1).unwrap()) - alone_up).abs() < 50.0, "{both:?}");
    assert!((nanos(both.done(2).unwrap()) - alone_down).abs() < 500.0, "{both:?}");
    assert!(total(&one_stream) > alone_up + 0.9 * alone_down, "{} {alone_up} {alone_down}", total(&one_stream));
    let (up, down) = (both.span(1), both.span(2));
    assert!(up.0 < down.1 && down.0 < up.1);
}

#[test]
fn copies_of_one_direction_follow_each_other_in_the_order_of_their_doorbells() {
    let script = [(0, 1, Ask::Up(40_000)), (0, 2, Ask::Up(40_000)), (0, 1, Ask::Up(40_000))];
    let machine = machine(&[]);
    let ran = run(&machine, &script);
    let turnaround = machine.copy_engine.turnaround.0 as f64 / (machine.copy_engine.clock.0 as f64 * 1e-9);
    assert_eq!(ran.seen.iter().map(|seen| seen.value).collect::<Vec<_>>(), [1, 2, 3]);
    // Fetching and decoding are over when the one before ends; only the turnaround is left.
    for number in 1..3 {
        let gap = nanos(ran.span(number + 1).0) - nanos(ran.span(number).1);
        assert!((gap - turnaround).abs() < 20.0, "{gap} {turnaround}");
    }
}

#[test]
fn a_stream_goes_in_order_through_all_engines() {
    let asks = [Ask::Up(5000), Ask::Kernel(3000), Ask::Down(5000), Ask::Copy(1 << 20), Ask::Record(1), Ask::Up(100)];
    let script: Vec<_> = asks.iter().map(|&ask| (0, 3, ask)).collect();
    let ran = run(&machine(&[]), &script);
    let seen: Vec<_> = ran.seen.iter().map(|seen| (seen.address, seen.value)).collect();
    assert_eq!(seen, (1..7).map(|number| (semaphore(3), number)).collect::<Vec<_>>());
    for number in [1, 2, 3] {
        assert!(ran.span(number).1 < ran.span(number + 1).0, "{number}");
    }
}

#[test]
fn kernels_overlap_with_copies_and_each_other_as_far_as_there_are_slots() {
    let kernels = |count| (1..=count).map(|stream| (0, stream, Ask::Kernel(100_000))).collect::<Vec<_>>();
    for (slots, rounds) in [(1, 4.0), (2, 2.0), (3, 2.0), (4, 1.0)] {
        let machine = machine(&[&format!("compute.slots={slots}"), "compute.stretch=1000"]);
        let mut script = kernels(4);
        script.push((0, 9, Ask::Up(1 << 20)));
        let ran = run(&machine, &script);
        let kernels = [1, 2, 3, 4].map(|number| nanos(ran.done(number).unwrap()));
        let last = kernels.into_iter().fold(0.0, f64::max);
        assert!((last - rounds * 100_000.0).abs() < 2000.0, "{slots}: {last}");
        assert!(nanos(ran.done(5).unwrap()) < 60_000.0, "{ran:?}");
    }
}

#[test]
fn a_stream_that_waits_for_an_event_goes_on_when_it_has_come() {
    let script = [
        (0, 1, Ask::Kernel(50_000)),
        (0, 1, Ask::Record(4)),
        (0, 2, Ask::Wait(4)),
        (0, 2, Ask::Up(100)),
        (0, 3, Ask::Up(100)),
    ];
    let ran = run(&machine(&[]), &script);
    let [kernel, record, wait, after, free] = [1, 2, 3, 4, 5].map(|number| ran.done(number).unwrap());
    assert!(free < kernel && kernel < record && record < after && wait < after);
    assert!(nanos(after) - nanos(kernel) < 3000.0);
}

#[test]
fn what_breaks_one_direction_leaves_the_other_alone() {
    let broken = (0, 1, Ask::Broken(4096));
    let script = [broken, (0, 1, Ask::Up(100)), (0, 2, Ask::Down(100_000)), (0, 2, Ask::Kernel(1000))];
    let ran = run_until(&machine(&[]), &script, 3, SKIP).unwrap();
    let error = |seen: &&Seen| seen.address == ERROR;
    assert_eq!(ran.seen.iter().find(error).map(|seen| seen.value), Some((1 << 31) | 41));
    assert_eq!((ran.done(1), ran.done(2)), (None, None));
    assert!(ran.done(3).is_some() && ran.done(4).is_some());
    assert_eq!(ran.incidents.len(), 1);
    // What a stream waits for behind it never comes, and a deadlock says who waits.
    let script = [broken, (0, 1, Ask::Kernel(10))];
    let error = run_until(&machine(&[]), &script, 2, SKIP).unwrap_err();
    let SimulationError::Deadlock { waits, .. } = error else { panic!("{error}") };
    assert!(waits.iter().any(|wait| wait.unit == "scheduler" && wait.state == "order"), "{waits:?}");
}

#[test]
fn copies_within_the_device_take_the_time_of_the_published_curve() {
    // ISPASS'25 artifact, bandwidthTest, off, d2d: microseconds for a copy among many back to back.
    let machine = machine(&["compute.copy_rate_hbm=810 B/cycle"]);
    for (mebibytes, published) in
        [(8, 5.39), (16, 8.53), (32, 27.40), (64, 50.70), (128, 97.15), (256, 189.79), (1024, 749.68)]
    {
        let script: Vec<_> = (0..11).map(|_| (0, 1, Ask::Copy(mebibytes << 20))).collect();
        let ran = run(&machine, &script);
        let each = (nanos(ran.done(11).unwrap()) - nanos(ran.done(1).unwrap())) * 1e-4;
        assert!((each / published - 1.0).abs() < 0.05, "{mebibytes} MiB: {each} us, published {published}");
    }
}

fn asks() -> impl Strategy<Value = Ask> {
    prop_oneof![
        4 => (0u64..40_000).prop_map(Ask::Up),
        4 => (0u64..40_000).prop_map(Ask::Down),
        3 => (0u64..9000).prop_map(Ask::Kernel),
        2 => (0u64..1 << 21).prop_map(Ask::Copy),
        2 => (0u32..3).prop_map(Ask::Record),
        2 => (0u32..3).prop_map(Ask::Wait),
        1 => Just(Ask::Broken(700)),
    ]
}

#[test]
fn both_kernels_and_any_order_of_ticks_give_the_same_events() {
    let cases = std::env::var("SEALSIM_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(30);
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let scripts = prop::collection::vec((0u64..20_000, 0u32..4, asks()), 1..20);
    let machines = prop::sample::select(vec![
        &[][..],
        &["copy_engine.clock=1 GHz", "compute.clock=1 GHz", "hbm.clock=1 GHz", "compute.launch=0 cycles"],
        &["compute.slots=1", "compute.schedule=0 cycles", "copy_engine.fetch=0 cycles", "copy_engine.launch=0 cycles"],
        &["copy_engine.clock=611 MHz", "compute.copy_launch=0 cycles", "compute.slots=5"],
    ]);
    let outcome = TestRunner::new(config).run(&(scripts, machines, any::<u64>()), |(mut script, sets, seed)| {
        script.sort_by_key(|step| step.0);
        let machine = machine(sets);
        let all = [
            (Kernel::EveryCycle, Order::Ascending),
            (Kernel::Skip, Order::Ascending),
            (Kernel::Skip, Order::Shuffled(seed)),
            (Kernel::EveryCycle, Order::Shuffled(!seed)),
        ];
        let [first, rest @ ..] = all.map(|how| {
            run_until(&machine, &script, script.len(), how).map_err(|error| match error {
                // The instant at which nothing moves any more is seen later by a kernel that looks at every edge.
                SimulationError::Deadlock { waits, .. } => format!("{waits:?}"),
                error => error.to_string(),
            })
        });
        let broken = script.iter().any(|step| matches!(step.2, Ask::Broken(_)));
        prop_assert!(first.is_ok() || broken, "{:?}", first);
        for other in rest {
            prop_assert_eq!(&first, &other);
        }
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}
