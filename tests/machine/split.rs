//! Messages that several PCEs share: their bytes, their tags, and what sharing gains.

use crate::common::{QUICK, copy, machine, request, run, sent};
use sealsim::{
    config::MachineSpec,
    sim::{FaultKind, Injection, Kernel, Order},
    system::{DataMode, Direction, Memory, Outcome, fault_points},
};

/// A machine on which `pces` engines for each direction share messages of `message` bytes.
fn shared(pces: u32, message: u64, sets: &[&str]) -> MachineSpec {
    let own = [
        format!("copy_engine.pces_secure={pces}"),
        format!("driver.pinned.message={message} B"),
        format!("driver.pinned.push={} B", 4 * message),
        format!("driver.push_d2h.pinned={} B", 4 * message),
    ];
    let all: Vec<_> = QUICK.iter().copied().chain(own.iter().map(String::as_str)).chain(sets.iter().copied()).collect();
    machine("h100-nvl-tdx", &all)
}

const SPLIT: &str = "copy_engine.sharing=split";

fn one(machine: &MachineSpec, direction: Direction, bytes: u64, data: DataMode, faults: &[Injection]) -> Outcome {
    let copies = vec![copy(direction, bytes, Memory::Pinned)];
    let mut request = request(copies, data, Kernel::Skip, Order::Ascending);
    request.injections = faults.to_vec();
    run(machine, request).unwrap()
}

#[test]
fn a_message_in_parts_arrives_whole_with_one_right_tag() {
    for placement in ["tag_queue.placement=separate", "tag_queue.placement=inline"] {
        for (pces, message) in [(1, 4096), (2, 256), (2, 4096), (3, 65_536), (4, 4000), (8, 1 << 20)] {
            let machine = shared(pces, message, &[SPLIT, placement]);
            for direction in [Direction::H2d, Direction::D2h] {
                let (outcome, whole) = sent(&machine, direction, Memory::Pinned, &[5 * message - 1]);
                let copy = &outcome.copies[0];
                let what = format!("{placement} {pces} {message} {direction:?}: {:?}", copy.reason);
                assert!(copy.delivered && whole == [true], "{what}");
                assert_eq!((copy.messages, copy.tags_verified, copy.tags_failed), (5, 5, 0), "{what}");
                assert!(copy.first_verified.is_some_and(|first| copy.start < first && first < copy.end), "{what}");
            }
        }
    }
}

#[test]
fn a_flipped_bit_in_any_part_or_share_fails_the_message() {
    let machine = shared(3, 16_384, &[SPLIT]);
    let writers = [3, 4, 5].map(|pce| (Direction::D2h, format!("gpu.pce{pce}.requests"), "wrong tag"));
    let points = fault_points(&machine).unwrap().into_iter().map(|point| point.place);
    let readers = points.filter(|p| p.starts_with("gpu.pce") && (p.ends_with("completions") || p.ends_with("tags")));
    let readers = readers.map(|place| (Direction::H2d, place, "the tags differ"));
    let places: Vec<_> = readers.chain(writers).collect();
    assert_eq!(places.len(), 9, "{places:?}");
    for (direction, place, words) in places {
        for transfer in [1, 2, 3] {
            let injection = Injection::nth(place.clone(), FaultKind::Flip, transfer);
            let runs = [DataMode::Exact, DataMode::None]
                .map(|data| one(&machine, direction, 65_536, data, std::slice::from_ref(&injection)));
            for outcome in &runs {
                let copy = &outcome.copies[0];
                assert!(!copy.delivered && copy.tags_failed >= 1, "{place}#{transfer}: {copy:?}");
                assert!(copy.reason.as_ref().is_some_and(|r| r.contains(words)), "{place}#{transfer}: {copy:?}");
            }
            assert_eq!(runs[0].event_digest, runs[1].event_digest, "{place}#{transfer}");
        }
    }
}

#[test]
fn parts_divide_the_time_of_a_message_that_its_authenticator_bounds() {
    // A block of 16 B per 4 cycles of 1.755 GHz: far below what 8 reads of 512 B in 160 ns carry.
    let serial =
        "engine.ghash={design=\"serial\",multiplier={product=\"3 cycles\",reduction=\"1 cycle\",digit_bits=128}}";
    let bytes = 1 << 20;
    let time = |pces, sharing| {
        let outcome = one(&shared(pces, bytes, &[serial, sharing]), Direction::H2d, bytes, DataMode::None, &[]);
        assert!(outcome.copies[0].delivered);
        (outcome.copies[0].end.0 - outcome.copies[0].start.0) as f64 * 1e-6
    };
    let engine = |blocks: u64| blocks as f64 * 4.0 / 1.755;
    let alone = time(1, SPLIT);
    for pces in [2, 3, 4] {
        let part = (bytes.div_ceil(u64::from(pces)).next_multiple_of(512)) / 16;
        let (saved, expected) = (alone - time(pces, SPLIT), engine(bytes / 16) - engine(part));
        // One more product, and the power of H: at most 2 x 16 products of 4 cycles, of which none lasts as long as a part.
        assert!((saved - expected).abs() < 16.0 * 4.0 / 1.755, "{pces}: {saved} ns saved, {expected} ns expected");
        // A message alone has no use for PCEs that take whole messages.
        assert!((time(pces, "copy_engine.sharing=per_pce") - alone).abs() < 4.0, "{pces}");
    }
}
