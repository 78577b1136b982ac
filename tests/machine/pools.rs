//! Units of PCEs as pools: a quarantine that all of them share.

use crate::common::{QUICK, copy, machine, request, run, sent};
use sealsim::{
    config::MachineSpec,
    sim::{Kernel, Order},
    system::{DataMode, Direction, Memory, Outcome},
};

const COMMON: &str = "copy_engine.pools.quarantine=gpu";

/// A machine with `pces` PCEs for each direction and messages of `message` bytes, all of which may be in flight.
fn with(pces: u32, message: u64, sets: &[&str]) -> MachineSpec {
    let own = [
        format!("copy_engine.pces_secure={pces}"),
        format!("copy_engine.messages_in_flight={}", 4 * pces),
        format!("tag_queue.depth={}", 4 * pces),
        format!("driver.pinned.message={message} B"),
        format!("driver.pinned.push={} B", 64 * message),
        format!("driver.push_d2h.pinned={} B", 64 * message),
    ];
    let all: Vec<_> = QUICK.iter().copied().chain(own.iter().map(String::as_str)).chain(sets.iter().copied()).collect();
    machine("h100-nvl-tdx", &all)
}

fn one(machine: &MachineSpec, direction: Direction, bytes: u64, kernel: Kernel) -> Outcome {
    let copies = vec![copy(direction, bytes, Memory::Pinned)];
    run(machine, request(copies, DataMode::None, kernel, Order::Ascending)).unwrap()
}

/// Nanoseconds from the first launch to the last semaphore.
fn on_device(outcome: &Outcome) -> f64 {
    let (begin, end) = outcome.copies[0].device.unwrap();
    (end.0 - begin.0) as f64 * 1e-6
}

/// Under `hold`, with a quarantine of so many messages and a rest that holds none.
fn room(messages: u64, message: u64) -> [String; 2] {
    ["tag_queue.release=hold".into(), format!("tag_queue.quarantine={} B", messages * message + message / 2)]
}

#[test]
fn a_common_quarantine_is_never_beyond_its_room_and_no_order_of_verdicts_makes_messages_wait_for_ever() {
    for order in ["tag_queue.retirement=in_order", "tag_queue.retirement=out_of_order"] {
        for (pces, message, messages) in [(1, 4096, 1), (3, 16_384, 2), (3, 4096, 1), (8, 256, 5)] {
            let room = room(messages, message);
            let machine = with(pces, message, &[COMMON, order, &room[0], &room[1]]);
            let (outcome, whole) = sent(&machine, Direction::H2d, Memory::Pinned, &[21 * message - 1]);
            let (copy, queue) = (&outcome.copies[0], &outcome.gpus[0].tag_queue);
            let what = format!("{order} {pces} {message} {messages}: {:?}", copy.reason);
            assert!(copy.delivered && whole == [true], "{what}");
            assert_eq!((copy.tags_verified, copy.tags_failed), (21, 0), "{what}");
            assert!(queue.peak_quarantine_bytes <= messages * message, "{what}: {queue:?}");
        }
    }
}

#[test]
fn messages_at_a_time_in_a_common_quarantine_are_the_rate_whoever_of_the_pces_has_them() {
    let message = 16_384;
    let took = |pces, sets: &[&str], messages| {
        let room = room(messages, message);
        let machine = with(pces, message, &[sets, &[&room[0], &room[1]]].concat());
        let of = |count| on_device(&one(&machine, Direction::H2d, count * message, Kernel::Skip));
        (of(49) - of(1)) / 48.0
    };
    // A round trip of 1 us, beside which the time of a message on the link is short.
    let far = ["root_complex.read_latency=1000 cycles"];
    let alone = took(3, &[&far[..], &[COMMON]].concat(), 1);
    assert!(alone > 1000.0, "{alone}");
    for messages in [2, 3] {
        let common = took(3, &[&far[..], &[COMMON]].concat(), messages);
        let expected = alone / messages as f64;
        assert!((common / expected - 1.0).abs() < 0.03, "{messages}: {common} ns for {expected} ns");
    }
    // Room for one message in each of three PCEs is that of three in common.
    let own = took(3, &far, 1);
    assert!((own / alone * 3.0 - 1.0).abs() < 0.1, "{own} {alone}");
}
