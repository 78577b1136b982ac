//! Data that a user has sealed, on the whole machine: real AES-GCM from the user to the GPU and back.

use crate::common::{QUICK, copy, machine, request, run};
use sealsim::{
    config::MachineSpec,
    sim::{FaultKind, Injection, Kernel, Order},
    system::{CopyOutcome, DataMode, Direction, Memory},
};

const WORKS: [&str; 4] = ["seal", "reseal", "forward", "in_place"];

fn working(work: &str) -> MachineSpec {
    let setting = format!("cipher.work={work}");
    let settings: Vec<_> = QUICK.iter().copied().chain([setting.as_str()]).collect();
    machine("h100-nvl-tdx", &settings)
}

fn outcomes(work: &str, direction: Direction, data: DataMode, fault: Option<(&str, u64)>) -> Vec<CopyOutcome> {
    let copies = vec![copy(direction, 300_000, Memory::Pinned), copy(direction, 5_000, Memory::Pageable)];
    let mut request = request(copies, data, Kernel::Skip, Order::Ascending);
    let injection = |(place, transfer): (&str, u64)| Injection::nth(place, FaultKind::Flip, transfer);
    request.injections = fault.map(injection).into_iter().collect();
    run(&working(work), request).unwrap().copies
}

#[test]
fn every_work_delivers_both_ways_and_says_when_the_first_message_could_be_trusted() {
    for work in WORKS {
        for direction in [Direction::H2d, Direction::D2h] {
            let exact = outcomes(work, direction, DataMode::Exact, None);
            let none = outcomes(work, direction, DataMode::None, None);
            for (copy, other) in exact.iter().zip(&none) {
                assert!(copy.delivered && other.delivered, "{work} {direction:?} {:?}", copy.reason);
                let tags = if work == "reseal" { 2 * copy.messages } else { copy.messages };
                assert_eq!((copy.tags_verified, copy.tags_failed), (tags, 0), "{work} {direction:?}");
                let first = copy.first_verified.unwrap();
                assert!(copy.start < first && first < copy.end, "{work} {direction:?}");
                assert_eq!((copy.first_verified, copy.end), (other.first_verified, other.end));
            }
        }
    }
}

#[test]
fn where_the_cpu_only_copies_what_limits_a_copy_does_not_say_that_it_works_as_a_cipher() {
    let limits = |name: &str, work: &str, memory: Memory| {
        let settings = [format!("cipher.work={work}"), "driver.pageable_copy_rate=1 B/cycle".to_owned()];
        let settings: Vec<_> = settings.iter().map(String::as_str).collect();
        let copies = vec![copy(Direction::H2d, 16 << 20, memory)];
        let outcome = run(&machine(name, &settings), request(copies, DataMode::None, Kernel::Skip, Order::Ascending));
        let busiest = outcome.unwrap().copies.remove(0).busiest;
        assert!(busiest.fraction > 0.5, "{busiest:?}");
        format!("{} {}", busiest.unit, busiest.state)
    };
    for work in ["seal", "reseal"] {
        assert_eq!(limits("h100-nvl-tdx", work, Memory::Pinned), "host.cipher busy");
    }
    assert_eq!(limits("h100-nvl-tdx", "forward", Memory::Pinned), "host.cipher copying");
    assert_ne!(limits("h100-nvl-tdx", "in_place", Memory::Pinned), "host.cipher busy");
    // Without confidential computing nothing is sealed, whatever the cipher would do with it.
    assert_eq!(limits("h100-sxm5-off", "seal", Memory::Pageable), "host.cipher copying");
}

#[test]
fn a_bit_wrong_between_user_and_cpu_is_found_and_not_delivered() {
    for data in [DataMode::Exact, DataMode::None] {
        for work in &WORKS[1..] {
            for direction in [Direction::H2d, Direction::D2h] {
                for place in ["user.ciphertext", "user.tag"] {
                    let copies = outcomes(work, direction, data, Some((place, 1)));
                    let reason = copies[0].reason.clone().unwrap_or_default();
                    let finder = match (*work, direction) {
                        ("reseal", Direction::H2d) => "the CPU found a wrong tag on message 1 from the user",
                        (_, Direction::H2d) => "authentication of message 1 failed",
                        _ => "the user found a wrong tag on message 1",
                    };
                    assert!(!copies[0].delivered && reason.contains(finder), "{work} {direction:?} {place}: {reason}");
                    assert_eq!((copies[0].first_verified, copies[0].tags_failed), (None, 1), "{work} {direction:?}");
                }
            }
        }
    }
}

#[test]
fn where_nothing_is_sealed_no_message_is_ever_verified() {
    let machine = machine("h100-sxm5-off", QUICK);
    for direction in [Direction::H2d, Direction::D2h] {
        let copies = vec![copy(direction, 5_000, Memory::Pinned)];
        let outcome = run(&machine, request(copies, DataMode::None, Kernel::Skip, Order::Ascending)).unwrap();
        assert_eq!(outcome.copies[0].first_verified, None);
    }
}

#[test]
fn under_each_release_a_first_message_counts_when_it_is_both_there_and_verified() {
    let first = |settings: &[&str]| {
        let settings: Vec<_> = QUICK.iter().chain(settings).copied().collect();
        let copies = vec![copy(Direction::H2d, 300_000, Memory::Pinned)];
        let request = request(copies, DataMode::None, Kernel::Skip, Order::Ascending);
        let outcome = run(&machine("h100-nvl-tdx", &settings), request).unwrap();
        (outcome.copies[0].first_verified.unwrap(), outcome.copies[0].end)
    };
    let withhold = first(&[]);
    // The verdict is what it waits for, whenever the semaphore goes out.
    assert_eq!(first(&["tag_queue.release=eager"]).0, withhold.0);
    // From quarantine the bytes land after their verdict.
    assert!(first(&["tag_queue.release=hold", "tag_queue.quarantine=1 MiB"]).0 > withhold.0);
}
