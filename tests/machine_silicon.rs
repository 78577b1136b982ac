//! Machines against published measurements.

mod common;

use common::{copy, machine, request, run};
use sealsim::{
    sim::{Kernel, Order},
    system::{DataMode, Direction, Memory},
};

/// GB/s of a pinned 256 MiB copy.
fn rate(machine_name: &str, sets: &[&str], direction: Direction) -> f64 {
    let copies = vec![copy(direction, 256 << 20, Memory::Pinned)];
    let request = request(copies, DataMode::None, Kernel::Skip, Order::Ascending);
    let outcome = run(&machine(machine_name, sets), request).unwrap();
    let copy = &outcome.copies[0];
    assert!(copy.delivered, "{:?}", copy.reason);
    copy.bytes as f64 * 1e6 / (copy.end.0 - copy.start.0) as f64
}

/// Public nvbandwidth log of an H100 SXM5 board on Xeon 8462Y+: copy engine, pinned memory.
#[test]
fn a_plain_copy_is_as_fast_as_on_an_h100_sxm5_board() {
    for (direction, measured) in [(Direction::H2d, 55.36), (Direction::D2h, 55.20)] {
        let rate = rate("h100-sxm5-off", &[], direction);
        assert!((rate / measured - 1.0).abs() < 0.02, "{direction:?}: {rate} GB/s, measured {measured}");
    }
}

#[test]
fn completions_of_128_bytes_cannot_reach_the_measured_rate() {
    let sets =
        ["copy_engine.outstanding_reads=256", "copy_engine.read_buffer=256KiB", "root_complex.completion_payload=128B"];
    assert!(rate("h100-sxm5-off", &sets, Direction::H2d) < 54.35);
}

#[test]
fn the_credit_loop_is_what_keeps_writes_below_the_ceiling() {
    let scaled = ["link.host_credits.posted_headers=2032", "link.host_credits.posted_data=32752"];
    let (as_shipped, without) =
        (rate("h100-sxm5-off", &[], Direction::D2h), rate("h100-sxm5-off", &scaled, Direction::D2h));
    assert!(without > 57.3 && without < 57.46, "{without} GB/s without a credit limit");
    assert!(as_shipped < without - 1.0, "{as_shipped} GB/s with 127 headers and 2047 data credits");
}
