//! Whole machines.

use crate::common::{QUICK, copy, machine, request, run, sent};
use sealsim::{
    sim::{Kernel, Order},
    system::{DataMode, Direction, Memory},
};

#[test]
fn a_copy_arrives_as_it_was_sent_whatever_its_size() {
    let sizes = [0, 1, 3, 15, 16, 17, 31, 32, 33, 511, 512, 513, 4095, 4096, 4097, 3 << 20, (1 << 20) + 1];
    for name in ["h100-nvl-tdx", "h100-sxm5-off"] {
        let machine = machine(name, &["root_complex.read_spread=300 cycles"]);
        for direction in [Direction::H2d, Direction::D2h, Direction::D2d] {
            for memory in [Memory::Pinned, Memory::Pageable] {
                let (outcome, whole) = sent(&machine, direction, memory, &sizes);
                for ((copy, whole), &bytes) in outcome.copies.iter().zip(whole).zip(&sizes) {
                    let what = format!("{name} {direction:?} {memory:?} {bytes}: {:?}", copy.reason);
                    assert!(copy.delivered && whole, "{what}");
                    let secure = machine.confidential_computing && direction != Direction::D2d;
                    let message = if memory == Memory::Pinned { 1 << 20 } else { 1020 << 10 };
                    let messages = if secure { bytes.div_ceil(message) } else { 0 };
                    assert_eq!(
                        (copy.messages, copy.tags_verified, copy.tags_failed),
                        (messages, messages, 0),
                        "{what}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_message_of_sixteen_mebibytes_arrives() {
    let sets = ["driver.pinned={message=\"16 MiB\",push=\"16 MiB\"}", "staging={buffer=\"16 MiB\",buffers=2}"];
    let machine = machine("h100-nvl-tdx", &sets);
    for direction in [Direction::H2d, Direction::D2h] {
        let copies = vec![copy(direction, 16 << 20, Memory::Pinned)];
        let outcome = run(&machine, request(copies, DataMode::Exact, Kernel::Skip, Order::Ascending)).unwrap();
        let copy = &outcome.copies[0];
        assert!(copy.delivered, "{direction:?}: {:?}", copy.reason);
        assert_eq!((copy.messages, copy.tags_verified), (1, 1));
    }
}

#[test]
fn the_engines_are_those_that_serve_system_memory() {
    for (name, expected) in [
        ("h100-nvl-tdx", vec!["gpu.pce0", "gpu.pce1"]),
        ("h100-sxm5-off", vec!["gpu.pce12", "gpu.pce14", "gpu.pce13", "gpu.pce15"]),
    ] {
        let machine = machine(name, &[]);
        let copies = vec![copy(Direction::H2d, 100_000, Memory::Pinned), copy(Direction::D2h, 100_000, Memory::Pinned)];
        let outcome = run(&machine, request(copies, DataMode::None, Kernel::Skip, Order::Ascending)).unwrap();
        let engines = outcome.units.iter().filter(|u| u.name.starts_with("gpu.pce") && !u.name.ends_with(".engine"));
        assert_eq!(engines.clone().map(|u| u.name.as_str()).collect::<Vec<_>>(), expected);
        // Each of them has its part in the work.
        assert!(engines.clone().all(|unit| unit.busy > 0), "{name}");
    }
}

#[test]
fn copies_that_end_at_one_instant_are_told_apart() {
    let free = ["driver.call=0 cycles", "driver.push=0 cycles", "driver.secure_push=0 cycles"];
    let sets: Vec<_> = QUICK.iter().chain(&free).copied().collect();
    let machine = machine("h100-nvl-tdx", &sets);
    let copies = [0, 0, 5000, 0, 0, 3000].map(|bytes| copy(Direction::H2d, bytes, Memory::Pinned)).into();
    let outcome = run(&machine, request(copies, DataMode::Exact, Kernel::Skip, Order::Ascending)).unwrap();
    let tags: Vec<_> = outcome.copies.iter().map(|copy| copy.tags_verified).collect();
    assert_eq!(tags, [0, 0, 1, 0, 0, 1]);
    assert!(outcome.copies.iter().all(|copy| copy.delivered));
}
