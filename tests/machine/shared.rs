//! One engine that all PCEs share: bytes and tags, its rate, and what the way to it costs.

use crate::common::{copy, on_device, request, run, sent, with_pces};
use sealsim::{
    config::{Layers, MachineSpec},
    sim::{FaultKind, Injection, Kernel, Order},
    system::{DataMode, Direction, Memory, Outcome, fault_points},
};

const SHARED: &str = "copy_engine.sharing=shared";
const PER_PCE: &str = "copy_engine.sharing=per_pce";
const SERIAL: &str =
    "engine.ghash={design=\"serial\",multiplier={product=\"3 cycles\",reduction=\"1 cycle\",digit_bits=128}}";

fn with(pces: u32, message: u64, sets: &[&str]) -> MachineSpec {
    with_pces(pces, (message, 16), sets)
}

fn one(machine: &MachineSpec, direction: Direction, bytes: u64, data: DataMode, faults: &[Injection]) -> Outcome {
    let copies = vec![copy(direction, bytes, Memory::Pinned)];
    let mut request = request(copies, data, Kernel::Skip, Order::Ascending);
    request.injections = faults.to_vec();
    run(machine, request).unwrap()
}

#[test]
fn messages_arrive_whole_with_right_tags_whoever_has_its_turn() {
    let ways: [&[&str]; 7] = [
        &[],
        &["copy_engine.engine_turn=16 B", "copy_engine.engine_wire=7 cycles"],
        &["copy_engine.engine_turn=4 KiB", "tag_queue.placement=inline"],
        &["copy_engine.engine_turn=4112 B", "tag_queue.release=hold", "tag_queue.quarantine=1 MiB"],
        &["copy_engine.opens=arrived", "copy_engine.engine_wire=20 cycles"],
        &["copy_engine.opens=arrived", "copy_engine.engine_turn=512 B"],
        &[
            "engine.ghash={design=\"sub_chains\",chains=3,chunk=\"1 KiB\",ports=4,buffer=64,unit={design=\"serial\",multiplier={product=\"3 cycles\",reduction=\"1 cycle\",digit_bits=128}}}",
        ],
    ];
    for sets in ways {
        for (pces, message) in [(1, 4096), (2, 256), (3, 65_536), (8, 4000)] {
            let machine = with(pces, message, &[&[SHARED], sets].concat());
            for direction in [Direction::H2d, Direction::D2h] {
                let (outcome, whole) = sent(&machine, direction, Memory::Pinned, &[11 * message - 1]);
                let copy = &outcome.copies[0];
                let what = format!("{sets:?} {pces} {message} {direction:?}: {:?}", copy.reason);
                assert!(copy.delivered && whole == [true], "{what}");
                assert_eq!((copy.messages, copy.tags_verified, copy.tags_failed), (11, 11, 0), "{what}");
            }
        }
    }
}

#[test]
fn a_pce_alone_takes_two_wires_longer_for_a_message_than_with_an_engine_of_its_own() {
    // To the GPU all that follows has the copy engine's clock. Back, the link takes writes at its own edges, of 1 ns, one
    // in 65 of which is a bubble.
    for (direction, rounding) in [(Direction::H2d, 1e-5), (Direction::D2h, 2.0 + 1.0 / 1.755)] {
        for (sets, bytes) in
            [(&[][..], 4096), (&[], 65_536), (&[SERIAL], 65_536), (&["copy_engine.opens=arrived"], 65_536)]
        {
            let took = |more: &[&str]| {
                let outcome = one(&with(1, 65_536, &[sets, more].concat()), direction, bytes, DataMode::None, &[]);
                assert!(outcome.copies[0].delivered);
                on_device(&outcome)
            };
            let own = took(&[PER_PCE]);
            for wire in [1, 4, 15] {
                let longer = took(&[SHARED, &format!("copy_engine.engine_wire={wire} cycles")]) - own;
                let expected = 2.0 * f64::from(wire) / 1.755;
                assert!(
                    (longer - expected).abs() <= rounding,
                    "{direction:?} {sets:?} {wire}: {longer} ns for {expected}"
                );
            }
        }
    }
}

#[test]
fn an_engine_slower_than_the_link_gives_its_rate_to_however_many_pces() {
    // A block of 16 B per 4 cycles: 7 GB/s. The length block of a message is one more, and its value is what the next one waits for.
    let message = 65_536;
    let engine = |count: u64| (count * (message / 16 + 1) * 4) as f64 / 1.755;
    for direction in [Direction::H2d, Direction::D2h] {
        let took = |pces, sets: &[&str], count| {
            let machine = with(pces, message, &[&[SERIAL], sets].concat());
            on_device(&one(&machine, direction, count * message, DataMode::None, &[]))
        };
        // From one push to the next the engine runs dry; within a push of 16 messages it does not.
        let within_a_push = |pces, sets: &[&str]| took(pces, sets, 16) - took(pces, sets, 4);
        for pces in [1, 2, 4] {
            for sets in [&[SHARED][..], &[SHARED, "copy_engine.engine_turn=4 KiB"]] {
                let (took, expected) = (within_a_push(pces, sets), engine(12));
                let cycles = (took - expected).abs() * 1.755;
                assert!(cycles <= 12.0 * 8.0, "{direction:?} {pces} {sets:?}: {took} ns for {expected} ns");
            }
        }
        let own = within_a_push(4, &[PER_PCE]);
        assert!(own < engine(12) / 2.5, "{direction:?}: {own} ns with engines of their own");
    }
}

#[test]
fn a_message_that_keeps_the_engine_makes_the_others_wait_for_its_reads_and_turns_do_not() {
    // 4 reads of 512 B per round trip: far less than the engine takes.
    let few = ["copy_engine.outstanding_reads=4"];
    let took = |pces, sets: &[&str]| {
        on_device(&one(&with(pces, 65_536, &[&few, sets].concat()), Direction::H2d, 1 << 20, DataMode::None, &[]))
    };
    let (alone, own) = (took(1, &[PER_PCE]), took(4, &[PER_PCE]));
    let (by_message, by_turn) = (took(4, &[SHARED]), took(4, &[SHARED, "copy_engine.engine_turn=1 KiB"]));
    assert!(own < alone / 3.0, "{own} {alone}");
    // A PCE that waits has its read buffer full, 32 KiB of 64 KiB; the others are read while it keeps the engine.
    assert!(by_message > alone / 2.0 && by_message < alone, "{by_message} {alone}");
    // Bytes of a turn wait for its last ones, a round trip of two requests at most, once for a message.
    assert!(by_turn < alone / 3.0, "{by_turn} {own}");
}

#[test]
fn a_flipped_bit_fails_the_message_wherever_its_engine_is() {
    let machine = with(2, 16_384, &[SHARED, "copy_engine.engine_turn=4 KiB"]);
    let points = fault_points(&machine).unwrap().into_iter().map(|point| point.place);
    let places: Vec<_> = points.filter(|p| p.starts_with("gpu.pce") && p.ends_with("completions")).collect();
    assert_eq!(places.len(), 2, "{places:?}");
    for place in places {
        for transfer in [1, 30, 100] {
            let injection = Injection::nth(place.clone(), FaultKind::Flip, transfer);
            let runs = [DataMode::Exact, DataMode::None]
                .map(|data| one(&machine, Direction::H2d, 65_536, data, std::slice::from_ref(&injection)));
            for outcome in &runs {
                let copy = &outcome.copies[0];
                assert!(!copy.delivered && copy.tags_failed >= 1, "{place}#{transfer}: {copy:?}");
            }
            assert_eq!(runs[0].event_digest, runs[1].event_digest, "{place}#{transfer}");
        }
    }
}

#[test]
#[ignore = "of a document: .ci/run"]
fn the_document_says_what_one_engine_and_its_turns_are_worth() {
    let document = include_str!("../../docs/designs.md");
    for (sharing, words) in [
        ("copy_engine.sharing=per_pce", "| `copy_engine.sharing = \"per_pce\"`: an engine for each PCE |"),
        ("copy_engine.engine_wire=4 cycles", "| as it is: one engine, a message keeps it |"),
        ("copy_engine.engine_turn=4 KiB", "| `engine_turn = \"4 KiB\"`: one engine, PCEs in turn |"),
    ] {
        let mut row = words.to_owned();
        for designs in [&["direct-in-place"][..], &["direct-in-place", "serial-ghash"]] {
            let layers = designs.iter().fold(Layers::new("h100-nvl-tdx"), |layers, design| layers.overlay(*design));
            let machine = layers.overlay("shared-engine").set(sharing).resolve().unwrap().machine;
            for bytes in [1 << 20, 64 << 20] {
                let rates = [Direction::H2d, Direction::D2h].map(|direction| {
                    let copy = &one(&machine, direction, bytes, DataMode::None, &[]).copies[0];
                    let rate = bytes as f64 / ((copy.returned.0 - copy.start.0) as f64 * 1e-6);
                    if rate < 10.0 { format!("{rate:.2}") } else { format!("{rate:.1}") }
                });
                row += &format!(" {} |", rates.join(", "));
            }
        }
        assert!(document.contains(&row), "{row}");
    }
}
