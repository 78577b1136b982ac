//! The tag queue in the machine: depth, release policies, quarantine, exposure, and what a failure leaves behind.

use crate::common::{Delivered, Pattern, QUICK, copy, machine, request};
use proptest::prelude::*;
use sealsim::{
    config::Layers,
    sim::{Control, FaultKind, Injection, Kernel, Order},
    system::{self, DataMode, Direction, Memory, Outcome},
    units::Femtos,
};

const BYTES: u64 = 300_000;

/// Messages of 16 KiB, two in each push.
const MESSAGES: &[&str] = &["driver.pinned={message=\"16 KiB\",push=\"32 KiB\"}", "copy_engine.messages_in_flight=8"];

const HOLD: &[&str] = &["tag_queue.release=hold", "tag_queue.quarantine=48 KiB", "driver.pageable.message=32 KiB"];

fn run(sets: &[&str], direction: Direction, faults: &[(&str, FaultKind, u64)]) -> (Outcome, Delivered) {
    let sets: Vec<_> = QUICK.iter().chain(MESSAGES).chain(sets).copied().collect();
    let machine = machine("h100-nvl-tdx", &sets);
    let sink = Delivered::default();
    let mut copy = copy(direction, BYTES, Memory::Pinned);
    copy.sink = Some(Box::new(sink.clone()));
    let mut request = request(vec![copy], DataMode::Exact, Kernel::Skip, Order::Ascending);
    let injection = |&(place, kind, transfer): &(&str, FaultKind, u64)| Injection::nth(place, kind, transfer);
    request.injections = faults.iter().map(injection).collect();
    (system::run(&machine, request, &mut |_| Control::Continue).unwrap(), sink)
}

fn h2d(sets: &[&str]) -> Outcome {
    let (outcome, _) = run(sets, Direction::H2d, &[]);
    assert!(outcome.copies[0].delivered, "{sets:?}: {:?}", outcome.copies[0].reason);
    outcome
}

#[test]
fn no_more_messages_wait_for_a_verdict_than_the_queue_has_entries_and_more_entries_are_no_slower() {
    let mut last = Femtos::MAX;
    for depth in [1, 2, 8] {
        let depth_set = format!("tag_queue.depth={depth}");
        let outcome = h2d(&[&depth_set, "engine.compare=2000 cycles", "driver.pinned.push=1 MiB"]);
        assert!(outcome.gpus[0].tag_queue.peak_entries <= depth, "{depth}: {:?}", outcome.gpus[0].tag_queue);
        assert!(outcome.gpus[0].tag_queue.peak_entries >= depth.min(2));
        assert!(outcome.end <= last, "{depth}");
        last = outcome.end;
    }
}

#[test]
fn more_comparators_end_a_copy_earlier_where_comparing_is_slow() {
    let slow = ["engine.compare=3000 cycles", "driver.pinned.push=1 MiB"];
    let one = h2d(&[&slow[..], &["tag_queue.comparators=1"]].concat());
    let four = h2d(&[&slow[..], &["tag_queue.comparators=4"]].concat());
    assert!(four.end < one.end);
}

#[test]
fn plaintext_is_exposed_under_every_policy_but_hold() {
    let hold = h2d(HOLD).gpus[0].tag_queue;
    assert_eq!((hold.longest_exposure, hold.total_exposure), (Femtos(0), Femtos(0)));
    assert!(hold.peak_quarantine_bytes >= 16 << 10, "{hold:?}");
    assert!(hold.peak_quarantine_bytes <= 48 << 10, "{hold:?}");
    for release in ["withhold_completion", "eager"] {
        let open = h2d(&[&format!("tag_queue.release={release}")]).gpus[0].tag_queue;
        assert!(open.longest_exposure > Femtos(0) && open.total_exposure >= open.longest_exposure, "{release}");
        assert_eq!(open.peak_quarantine_bytes, 0);
    }
}

/// `skid` with so many bytes, on machines as `hold` has them.
fn skid(bytes: u64) -> Vec<String> {
    let hold = HOLD.iter().skip(1).map(|set| (*set).to_owned());
    hold.chain(["tag_queue.release=skid".into(), format!("tag_queue.skid={bytes} B")]).collect()
}

#[test]
fn a_skid_of_no_bytes_is_hold_and_a_longer_one_exposes_and_keeps_less() {
    let of = |bytes| {
        let sets = skid(bytes);
        h2d(&sets.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let (hold, none) = (h2d(HOLD), of(0));
    assert_eq!((&none.event_digest, none.end), (&hold.event_digest, hold.end));
    assert_eq!(none.gpus[0].tag_queue.peak_quarantine_bytes, hold.gpus[0].tag_queue.peak_quarantine_bytes);
    let mut last = none.gpus[0].tag_queue;
    for bytes in [4 << 10, 16 << 10, 64 << 10] {
        let queue = of(bytes).gpus[0].tag_queue;
        assert!(queue.total_exposure > Femtos(0), "{bytes}: {queue:?}");
        assert!(queue.peak_quarantine_bytes <= last.peak_quarantine_bytes, "{bytes}: {queue:?}");
        last = queue;
    }
    // All that can be under way at once goes ahead.
    assert_eq!(last.peak_quarantine_bytes, 0);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// One PCE reads host memory here, so that its bound is the machine's.
    #[test]
    fn no_more_than_the_skid_is_visible_without_a_verdict(
        bytes in 0u64..80_000, message in 1u64..19, compare in 1u64..20_000, kernel in prop::sample::select(vec![Kernel::Skip, Kernel::EveryCycle]),
    ) {
        let compare = format!("engine.compare={compare} cycles");
        let sets = [skid(bytes), vec![compare, "tag_queue.quarantine=2 MiB".into()]].concat();
        let sets = QUICK.iter().chain(MESSAGES).copied().chain(sets.iter().map(String::as_str));
        let machine = machine("h100-nvl-tdx", &sets.collect::<Vec<_>>());
        let mut request = request(vec![copy(Direction::H2d, BYTES, Memory::Pinned)], DataMode::None, kernel, Order::Ascending);
        request.injections = vec![Injection::nth("staging.tag", FaultKind::Flip, message)];
        let outcome = system::run(&machine, request, &mut |_| Control::Continue).unwrap();
        let [failed] = outcome.gpus[0].failed_messages[..] else { panic!("{:?}", outcome.gpus[0].failed_messages) };
        prop_assert!(failed.visible_bytes + failed.other_visible_bytes <= bytes, "{failed:?}");
        prop_assert_eq!((failed.consumers_started, outcome.copies[0].delivered), (None, false));
    }
}

#[test]
fn eager_release_goes_on_before_the_verdict() {
    let slow = ["engine.compare=5000 cycles", "tag_queue.comparators=32", "tag_queue.depth=32"];
    let withheld = h2d(&[&slow[..], &["tag_queue.release=withhold_completion"]].concat());
    let eager = h2d(&[&slow[..], &["tag_queue.release=eager"]].concat());
    // Each push waits for the verdicts of the one before it, or does not.
    let verdict = 5000.0 / 1.755e9;
    let gain = (withheld.end.0 - eager.end.0) as f64 / 1e15;
    assert!(gain > 4.0 * verdict, "{gain}");
    assert!(eager.gpus[0].tag_queue.longest_exposure >= Femtos((0.99 * verdict * 1e15) as u64));
}

#[test]
fn retirement_out_of_order_is_no_slower() {
    for fetch in ["after_data", "before_data"] {
        let fetch = format!("tag_queue.fetch={fetch}");
        let [in_order, out_of_order] =
            ["in_order", "out_of_order"].map(|order| h2d(&[&fetch, &format!("tag_queue.retirement={order}")]).end);
        assert!(out_of_order <= in_order);
    }
}

#[test]
fn a_quarantine_that_cannot_hold_a_message_is_refused() {
    let layers = Layers::new("h100-nvl-tdx").set("tag_queue.release=hold").set("tag_queue.quarantine=1023 KiB");
    let error = layers.resolve().unwrap_err().to_string();
    assert!(error.contains("tag_queue.quarantine"), "{error}");
}

#[test]
fn after_a_failure_nothing_unverified_has_reached_the_sink_under_any_policy() {
    let policies: [(&[&str], u64); 3] = [
        (HOLD, 0),
        (&["tag_queue.release=withhold_completion"], 1),
        (&["tag_queue.release=eager", "engine.compare=5000 cycles"], 1),
    ];
    for (policy, scrubbed) in policies {
        for (place, kind) in [
            ("staging.ciphertext", FaultKind::Flip),
            ("staging.tag", FaultKind::Flip),
            ("host.iv", FaultKind::Skip),
            ("gpu.front_end_read.iv", FaultKind::Skip),
        ] {
            for transfer in [1, 4] {
                let (outcome, sink) = run(policy, Direction::H2d, &[(place, kind, transfer)]);
                let copy = &outcome.copies[0];
                let what = format!("{policy:?} {place} {transfer}: {copy:?} {:?}", outcome.gpus[0].tag_queue);
                assert!(!copy.delivered && copy.tags_failed == 1, "{what}");
                assert!(copy.reason.as_ref().is_some_and(|reason| reason.contains("the tags differ")), "{what}");
                assert_eq!(outcome.faults_struck(), (1, 1));
                assert!(sink.agrees(&mut Pattern(BYTES)) && sink.bytes() < BYTES, "{what}");
                assert!(outcome.gpus[0].tag_queue.scrubbed == scrubbed, "{what}");
            }
        }
    }
}

/// Pushes of one message each and a comparator so slow that several wait for it.
const SLOW: &[&str] = &[
    "driver.pinned={message=\"16 KiB\",push=\"16 KiB\"}",
    "engine.compare=20000 cycles",
    "tag_queue.depth=32",
    "copy_engine.messages_in_flight=8",
];

fn failing(release: &str, data: DataMode, kernel: Kernel, order: Order) -> Outcome {
    let release = format!("tag_queue.release={release}");
    let sets: Vec<_> = QUICK
        .iter()
        .chain(SLOW)
        .copied()
        .chain([release.as_str(), "tag_queue.quarantine=2 MiB", "tag_queue.skid=5 KiB"])
        .collect();
    let mut request = request(vec![copy(Direction::H2d, BYTES, Memory::Pinned)], data, kernel, order);
    request.injections = vec![Injection::nth("staging.tag", FaultKind::Flip, 3)];
    system::run(&machine("h100-nvl-tdx", &sets), request, &mut |_| Control::Continue).unwrap()
}

#[test]
fn under_eager_all_messages_that_wait_for_a_verdict_are_squashed_with_the_failed_one() {
    let squashed = |release| {
        let outcome = failing(release, DataMode::None, Kernel::Skip, Order::Ascending);
        let [failed] = outcome.gpus[0].failed_messages[..] else {
            panic!("{release}: {:?}", outcome.gpus[0].failed_messages)
        };
        failed
    };
    let eager = squashed("eager");
    let started = eager.consumers_started.expect("its push was done");
    // The third verdict comes three comparisons after the first tag; its own bytes had landed about two earlier.
    let compare = (20_000.0 / 1.755e9 * 1e15) as u64;
    assert!((eager.verdict.0 - started.0) > 2 * compare, "{eager:?}");
    assert_eq!(eager.visible_bytes, 16 << 10);
    assert!(
        eager.other_started_messages > 1 && eager.other_started_messages <= eager.other_visible_messages,
        "{eager:?}"
    );
    // All of them are whole but the last of the copy, which is shorter.
    let most = eager.other_visible_messages * (16 << 10);
    assert!(eager.other_visible_bytes <= most && eager.other_visible_bytes > most - (16 << 10), "{eager:?}");
    let withheld = squashed("withhold_completion");
    assert!(withheld.first_visible.is_some() && withheld.visible_bytes == 16 << 10);
    assert_eq!((withheld.consumers_started, withheld.other_started_messages), (None, 0));
    let held = squashed("hold");
    assert_eq!((held.first_visible, held.visible_bytes, held.consumers_started), (None, 0, None));
    let skid = squashed("skid");
    assert_eq!((skid.visible_bytes + skid.other_visible_bytes, skid.consumers_started), (5 << 10, None));
}

#[test]
fn what_a_failed_message_leaves_is_the_same_for_both_kernels_any_order_and_any_data_mode() {
    for release in ["hold", "skid", "withhold_completion", "eager"] {
        let reference = failing(release, DataMode::Exact, Kernel::EveryCycle, Order::Ascending);
        assert_eq!(reference.gpus[0].failed_messages.len(), 1, "{release}");
        for data in [DataMode::Exact, DataMode::None] {
            for order in [Order::Ascending, Order::Shuffled(5)] {
                let outcome = failing(release, data, Kernel::Skip, order);
                assert_eq!(
                    outcome.gpus[0].failed_messages, reference.gpus[0].failed_messages,
                    "{release} {data:?} {order:?}"
                );
                assert_eq!(outcome.event_digest, reference.event_digest, "{release} {data:?} {order:?}");
            }
        }
    }
}

#[test]
fn the_cpu_finds_what_is_wrong_on_the_way_back() {
    for (place, kind, transfer) in [
        ("host.iv", FaultKind::Skip, 3),
        ("gpu.front_end_write.iv", FaultKind::Skip, 3),
        ("host.writes", FaultKind::Flip, 2),
        ("host.writes", FaultKind::Drop, 70),
        ("gpu.pce1.requests", FaultKind::Flip, 5),
    ] {
        let (outcome, sink) = run(&[], Direction::D2h, &[(place, kind, transfer)]);
        let copy = &outcome.copies[0];
        assert!(!copy.delivered && copy.tags_failed == 1, "{place} {copy:?}");
        assert!(copy.reason.as_ref().is_some_and(|reason| reason.contains("wrong tag")), "{place} {copy:?}");
        assert!(sink.agrees(&mut Pattern(BYTES)) && sink.bytes() < BYTES);
    }
}

#[test]
fn an_empty_copy_behind_one_within_the_gpu_waits_for_no_verdict() {
    let sets: Vec<_> = QUICK.iter().chain(&["tag_queue.release=eager"]).copied().collect();
    let machine = machine("h100-nvl-tdx", &sets);
    let copies = vec![copy(Direction::D2d, 1, Memory::Pinned), copy(Direction::H2d, 0, Memory::Pinned)];
    let request = request(copies, DataMode::Exact, Kernel::Skip, Order::Ascending);
    let outcome = system::run(&machine, request, &mut |_| Control::Continue).unwrap();
    assert!(outcome.copies.iter().all(|copy| copy.delivered));
}
