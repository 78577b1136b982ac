//! Messages with a tag for each piece of them, each of which has a verdict of its own.

use crate::common::{Delivered, Pattern, copy, on_device, one, request, run, sent, with_pces};
use sealsim::{
    config::MachineSpec,
    sim::{FaultKind, Injection, Kernel, Order},
    system::{DataMode, Direction, Memory},
    units::Femtos,
};

const PIECE: u64 = 16_384;
const MESSAGE: u64 = 4 * PIECE;
/// Less room than a message has bytes.
const HOLD: &str = "tag_queue={release=\"hold\",tag_every=\"16 KiB\",quarantine=\"20 KiB\"}";
const WHOLE: &str = "tag_queue={release=\"hold\",quarantine=\"20 KiB\"}";

fn with(pces: u32, message: u64, sets: &[&str]) -> MachineSpec {
    with_pces(pces, (message, (1 << 18) / message), sets)
}

#[test]
fn pieces_of_a_message_are_released_one_by_one_in_less_room_than_the_message() {
    let unit = "{design=\"serial\",multiplier={product=\"3 cycles\",reduction=\"1 cycle\",digit_bits=128}}";
    let units = format!("engine.ghash={{design=\"message_parallel\",units=3,ports=4,buffer=64,unit={unit}}}");
    let ways: [&[&str]; 7] = [
        &["tag_queue.depth=1"],
        &["copy_engine.pools={ghash=\"gpu\",quarantine=\"gpu\",turns=\"need\"}", "tag_queue.retirement=out_of_order"],
        &["copy_engine.sharing=shared", "copy_engine.engine_turn=4 KiB", "copy_engine.engine_clock=1.1 GHz"],
        &["copy_engine.opens=arrived", "tag_queue.quarantine_in=device_memory"],
        &["tag_queue={release=\"skid\",skid=\"3000 B\"}", "copy_engine.pools.quarantine=gpu"],
        &["tag_queue.fetch=before_data", units.as_str()],
        &["tag_queue.release=eager", "copy_engine.messages_in_flight=1"],
    ];
    let bytes = 5 * MESSAGE + 20_001;
    for (pces, sets) in [1, 3].into_iter().flat_map(|pces| ways.map(|sets| (pces, sets))) {
        let machine = with(pces, MESSAGE, &[&[HOLD], sets].concat());
        for (place, direction) in [Direction::H2d, Direction::D2h].into_iter().enumerate() {
            let (outcome, whole) = sent(&machine, direction, Memory::Pinned, &[bytes]);
            let (copy, gpu) = (&outcome.copies[0], &outcome.gpus[0]);
            let what = format!("{pces} {sets:?} {direction:?}: {:?}", copy.reason);
            assert!(copy.delivered && whole == [true], "{what}");
            // One key, one IV and one launch for a message; on the way back the CPU compares all tags of a message at once.
            let tags = if direction == Direction::H2d { 5 * 4 + 2 } else { 6 };
            assert_eq!((copy.messages, copy.tags_verified, copy.tags_failed), (6, tags, 0), "{what}");
            assert_eq!((gpu.key_work[place].messages, gpu.key_work[place].bytes), (6, bytes), "{what}");
            let common = machine.common_quarantine().is_some();
            let room = 20_480 * if common { 1 } else { u64::from(pces) };
            assert!(gpu.tag_queue.peak_quarantine_bytes <= room, "{what}: {:?}", gpu.tag_queue);
            let hidden = machine.tag_queue.ahead() == 0;
            assert!(!hidden || gpu.tag_queue.longest_exposure == Femtos(0), "{what}");
            for kernel in [Kernel::Skip, Kernel::EveryCycle] {
                let copies = vec![crate::common::copy(direction, bytes, Memory::Pinned)];
                let other = run(&machine, request(copies, DataMode::None, kernel, Order::Ascending)).unwrap();
                assert_eq!(other.event_digest, outcome.event_digest, "{what} {kernel:?}");
            }
        }
    }
}

#[test]
fn a_wrong_tag_is_that_of_its_piece_and_the_pieces_before_it_are_kept() {
    let machine = with(1, MESSAGE, &[HOLD]);
    for piece in 0..4 {
        let mut fault = Injection::nth("staging.tag", FaultKind::Flip, 1);
        fault.aim.bit = Some(128 * piece + 3);
        let sink = Delivered::default();
        let mut copy = copy(Direction::H2d, MESSAGE, Memory::Pinned);
        copy.sink = Some(Box::new(sink.clone()));
        let mut request = request(vec![copy], DataMode::Exact, Kernel::Skip, Order::Ascending);
        request.injections = vec![fault.clone()];
        let exact = run(&machine, request).unwrap();
        let copy = &exact.copies[0];
        assert!(!copy.delivered && copy.tags_failed == 1, "{piece}: {copy:?}");
        assert!((piece..4).contains(&copy.tags_verified), "{piece}: {copy:?}");
        assert!(sink.leave(&mut Pattern(MESSAGE), piece * PIECE), "{piece}: {copy:?}");
        assert!(!sink.leave(&mut Pattern(MESSAGE), (piece + 1) * PIECE), "{piece}: {copy:?}");
        assert_eq!(exact.event_digest, one(&machine, Direction::H2d, MESSAGE, DataMode::None, &[fault]).event_digest);
    }
}

#[test]
fn room_for_some_pieces_has_the_rate_of_messages_as_long_as_they_are() {
    // A round trip of 1 us, beside which the time of a piece on the link is short.
    let far = "root_complex.read_latency=1000 cycles";
    let common = "copy_engine.pools.quarantine=gpu";
    for (pces, pieces, sets) in [(1, 1, &[far][..]), (3, 2, &[far, common]), (3, 3, &[far, common]), (2, 1, &[far])] {
        let room = format!("tag_queue.quarantine={} B", pieces * PIECE + PIECE / 2);
        let took = |message, sets: &[&str]| {
            let machine = with(pces, message, &[sets, &[room.as_str()]].concat());
            let of = |bytes| on_device(&one(&machine, Direction::H2d, bytes, DataMode::None, &[]));
            (of(52 * MESSAGE) - of(4 * MESSAGE)) / (48.0 * MESSAGE as f64) * PIECE as f64
        };
        let (tags, messages) = (took(MESSAGE, &[&[HOLD], sets].concat()), took(PIECE, &[&[WHOLE], sets].concat()));
        assert!((tags / messages - 1.0).abs() < 0.03, "{pces} {pieces}: {tags} ns for {messages} ns");
    }
}

#[test]
fn the_first_piece_is_there_as_early_as_a_message_of_its_length_and_the_cpu_pays_for_whole_messages() {
    let first = |message, sets: &[&str]| {
        let outcome = one(&with(1, message, sets), Direction::H2d, 4 * MESSAGE, DataMode::None, &[]);
        let copy = &outcome.copies[0];
        (copy.first_verified.unwrap().0 - copy.device.unwrap().0.0) as f64 * 1e-6 * 1.755
    };
    // A piece goes to its PCE a cycle behind its launch.
    let (piece, message) = (first(MESSAGE, &[HOLD]), first(PIECE, &[WHOLE]));
    assert!((piece - message - 1.0).abs() < 1.0, "{piece} cycles for {message}");
    let plain = "tag_queue.quarantine=1 MiB";
    let period = |message, tags: &str| {
        let machine = with(1, message, &[tags, plain, "cipher.per_message=20000 cycles"]);
        let of = |bytes| on_device(&one(&machine, Direction::H2d, bytes, DataMode::None, &[]));
        (of(24 * MESSAGE) - of(8 * MESSAGE)) / 16.0
    };
    let (tags, whole, short) = (period(MESSAGE, HOLD), period(MESSAGE, WHOLE), period(PIECE, WHOLE));
    assert!((tags / whole - 1.0).abs() < 0.01, "{tags} ns for {whole} ns");
    assert!(short > 3.5 * tags, "{short} ns for {tags} ns");
}
