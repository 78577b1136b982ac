//! Tags by granularity and placement: what they cost on the link, when their verdicts come, and that a wrong one is found.

use crate::common::{QUICK, copy, machine, request, run, sent};
use sealsim::{
    config::MachineSpec,
    sim::{FaultKind, Injection, Kernel, Order, Stall},
    system::{DataMode, Direction, Memory, Outcome},
};

const SEPARATE: &str = "tag_queue.placement=separate";
const INLINE: &str = "tag_queue.placement=inline";

/// A machine with messages of `message` bytes, four to a push.
fn granular(message: u64, sets: &[&str]) -> MachineSpec {
    let (size, push) = (format!("driver.pinned.message={message} B"), 4 * message);
    let pushes = [format!("driver.pinned.push={push} B"), format!("driver.push_d2h.pinned={push} B")];
    let own = [size.as_str(), &pushes[0], &pushes[1]];
    let all: Vec<_> = QUICK.iter().chain(&own).chain(sets).copied().collect();
    machine("h100-nvl-tdx", &all)
}

fn one(machine: &MachineSpec, direction: Direction, bytes: u64, data: DataMode, faults: &[Injection]) -> Outcome {
    let copies = vec![copy(direction, bytes, Memory::Pinned)];
    let mut request = request(copies, data, Kernel::Skip, Order::Ascending);
    request.injections = faults.to_vec();
    run(machine, request).unwrap()
}

#[test]
fn messages_from_256_bytes_on_arrive_whole_with_a_right_tag_each() {
    for placement in [SEPARATE, INLINE] {
        for message in [256, 4096, 65_536, 1 << 20] {
            let machine = granular(message, &[placement]);
            for direction in [Direction::H2d, Direction::D2h] {
                let (outcome, whole) = sent(&machine, direction, Memory::Pinned, &[9 * message - 13]);
                let copy = &outcome.copies[0];
                let what = format!("{placement} {message} {direction:?}: {:?}", copy.reason);
                assert!(copy.delivered && whole == [true], "{what}");
                assert_eq!((copy.messages, copy.tags_verified, copy.tags_failed), (9, 9, 0), "{what}");
            }
        }
    }
}

/// TLPs and payload bytes on the link both ways, of `messages` messages of `size` bytes, four to a push: reads of at most 512 B and
/// completions and writes of at most 256 B, all cut at multiples of that, since slots begin at pages.
fn expected(direction: Direction, messages: u64, size: u64, inline: bool) -> [(u64, u64); 2] {
    let pieces = |limit: u64| if inline { (size + 16).div_ceil(limit) } else { size.div_ceil(limit) + 1 };
    let pushes = messages.div_ceil(4);
    // To the GPU: doorbells and completions. From it: semaphores and reads, or semaphores, writes and an IV for each message.
    match direction {
        Direction::H2d => [
            (pushes + messages * pieces(256), 4 * pushes + messages * (size + 16)),
            (pushes + messages * pieces(512), 4 * pushes),
        ],
        _ => [(pushes, 4 * pushes), (pushes + messages * (pieces(256) + 1), 4 * pushes + messages * (size + 16 + 12))],
    }
}

#[test]
fn the_traffic_of_tags_is_what_their_size_and_placement_say() {
    // Messages that begin within a burst of device memory are written in more pieces: of odd sizes there is one alone.
    for (messages, size) in [(8, 256u64), (8, 512), (1, 4000), (8, 4096), (1, 4080), (1, 5024), (1, 77), (8, 65_536)] {
        for (placement, inline) in [(SEPARATE, false), (INLINE, true)] {
            let machine = granular(size.next_multiple_of(32), &[placement]);
            for direction in [Direction::H2d, Direction::D2h] {
                for data in [DataMode::Exact, DataMode::None] {
                    let outcome = one(&machine, direction, messages * size, data, &[]);
                    let found = [&outcome.gpus[0].link.h2d, &outcome.gpus[0].link.d2h]
                        .map(|traffic| (traffic.tlps, traffic.payload_bytes));
                    assert_eq!(
                        found,
                        expected(direction, messages, size, inline),
                        "{size} {placement} {direction:?} {data:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_wrong_tag_is_found_wherever_tags_lie() {
    // A message of 256 B: behind its data, inline, one completion or one write carries the tag alone.
    let faults = [
        (Direction::H2d, "staging.tag", 3),
        (Direction::H2d, "staging.ciphertext", 2),
        (Direction::H2d, "gpu.pce0.tags", 1),
        (Direction::H2d, "gpu.pce0.completions", 1),
        (Direction::H2d, "gpu.pce0.completions", 2),
        (Direction::D2h, "gpu.pce1.requests", 1),
        (Direction::D2h, "gpu.pce1.requests", 2),
    ];
    for (message, placement) in [(256, SEPARATE), (256, INLINE), (4000, SEPARATE), (4000, INLINE)] {
        let machine = granular(message, &[placement]);
        for (direction, place, transfer) in faults {
            let injection = Injection::nth(place, FaultKind::Flip, transfer);
            let what = format!("{message} {placement} {place}#{transfer}");
            let [exact, none] = [DataMode::Exact, DataMode::None]
                .map(|data| one(&machine, direction, 4 * message, data, std::slice::from_ref(&injection)));
            for outcome in [&exact, &none] {
                let copy = &outcome.copies[0];
                let words = if direction == Direction::H2d { "the tags differ" } else { "wrong tag" };
                assert!(!copy.delivered && copy.tags_failed == 1, "{what}: {copy:?}");
                assert!(copy.reason.as_ref().is_some_and(|reason| reason.contains(words)), "{what}: {copy:?}");
                assert_eq!(outcome.faults_struck(), (1, 1), "{what}");
            }
            assert_eq!(exact.event_digest, none.event_digest, "{what}");
        }
    }
}

/// Nanoseconds of one message, and the cycles in which the tag queue waited for a tag of it.
fn latency(sets: &[&str], placement: &str) -> (f64, u64) {
    let sets: Vec<_> = sets.iter().copied().chain([placement]).collect();
    let outcome = one(&granular(256, &sets), Direction::H2d, 256, DataMode::None, &[]);
    let copy = &outcome.copies[0];
    assert!(copy.delivered);
    let queue = outcome.units.iter().find(|unit| unit.name == "gpu.tag_queue").unwrap();
    let waited = queue.stalls.iter().filter(|stall| stall.0 == Stall::AuthDependency).map(|stall| stall.1).sum();
    ((copy.end.0 - copy.start.0) as f64 * 1e-6, waited)
}

#[test]
fn an_inline_tag_saves_a_read_round_trip_where_reads_follow_each_other_and_a_request_where_they_overlap() {
    // A cycle of each clock on the way may be lost or won: 0.48 ns, 1 ns, 1 ns and 0.57 ns.
    let rounding = 3.1;
    let slower = |reads: &'static str| [reads, "root_complex.read_latency=1060 cycles"];
    for (reads, round_trips) in
        [("copy_engine.outstanding_reads=1", [2.0, 1.0]), ("copy_engine.outstanding_reads=32", [1.0, 1.0])]
    {
        let ends = [SEPARATE, INLINE].map(|placement| latency(&[reads], placement));
        for ((placement, end), trips) in [SEPARATE, INLINE].into_iter().zip(ends).zip(round_trips) {
            // The read latency of `granular` is 60 ns.
            let grown = latency(&slower(reads), placement).0 - end.0;
            assert!(
                (grown - trips * 1000.0).abs() < rounding,
                "{reads} {placement}: {grown} ns for {trips} round trips"
            );
        }
        let [separate, inline] = ends;
        let saved = separate.0 - inline.0;
        let round_trip = 60.0;
        assert!(
            if round_trips[0] > 1.0 { saved > round_trip } else { (0.0..round_trip).contains(&saved) },
            "{saved} ns"
        );
        assert!(inline.1 <= separate.1, "{} and {} cycles", inline.1, separate.1);
    }
}
