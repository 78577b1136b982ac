//! Machines against published measurements.

use crate::common::{copy, machine, request, run};
use sealsim::{
    config::MachineSpec,
    sim::{Kernel, Order},
    system::{CopyRequest, DataMode, Direction, Memory, Pages},
};

/// Microseconds of one pinned copy.
fn microseconds(machine: &MachineSpec, direction: Direction, bytes: u64) -> f64 {
    let copies = vec![copy(direction, bytes, Memory::Pinned)];
    let outcome = run(machine, request(copies, DataMode::None, Kernel::Skip, Order::Ascending)).unwrap();
    let copy = &outcome.copies[0];
    assert!(copy.delivered, "{:?}", copy.reason);
    (copy.end.0 - copy.start.0) as f64 * 1e-9
}

/// GB/s of a pinned 256 MiB copy.
fn rate(machine_name: &str, sets: &[&str], direction: Direction) -> f64 {
    let bytes = 256 << 20;
    bytes as f64 * 1e-3 / microseconds(&machine(machine_name, sets), direction, bytes)
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

/// No measured curve of copies from the GPU falls where its copies grow: P1's and P2's have no step at 64 KiB, which CUDA documents for uploads alone.
#[test]
fn a_longer_copy_from_the_gpu_takes_no_less_time() {
    let times = |sets: &[&str]| {
        let machine = machine("h100-nvl-tdx", sets);
        (6..22)
            .map(|power| {
                let cold = CopyRequest { pages: Pages::Cold, ..copy(Direction::D2h, 1 << power, Memory::Pageable) };
                run(&machine, request(vec![cold], DataMode::None, Kernel::Skip, Order::Ascending)).unwrap().copies[0]
                    .end
            })
            .collect::<Vec<_>>()
    };
    assert!(times(&[]).is_sorted() && times(&["confidential_computing=false"]).is_sorted());
    assert!(!times(&["driver.small.limit_d2h=64 KiB"]).is_sorted());
}

/// Copies to pageable memory of 2, 3 and 4 messages, in traces of streamcluster those of 1.75, 2.75 and 3.25 MiB: the device waits for no
/// opening, for one, for two. Without confidential computing the CPU copies instead of opening.
#[test]
fn of_pageable_copies_from_the_gpu_all_openings_but_two_lie_within_the_span() {
    for secure in [true, false] {
        let machine = machine("h100-nvl-tdx", &[&format!("confidential_computing={secure}")]);
        let [two, three, four] = [2, 3, 4].map(|messages: u64| {
            let copies = vec![copy(Direction::D2h, messages * (1020 << 10), Memory::Pageable)];
            let outcome = run(&machine, request(copies, DataMode::None, Kernel::Skip, Order::Ascending)).unwrap();
            let copy = &outcome.copies[0];
            let (start, end) = copy.device.unwrap();
            ((end.0 - start.0) as f64 * 1e-9, (copy.returned.0 - copy.start.0) as f64 * 1e-9)
        });
        let cpu = four.1 - three.1;
        assert!(two.0 < 0.7 * cpu, "CC {secure}: {two:?}, {cpu} us of the CPU for a message");
        assert!((0.8..1.2).contains(&((three.0 - two.0) / cpu)), "CC {secure}: {two:?}, {three:?}, {cpu}");
        assert!((0.95..1.05).contains(&((four.0 - three.0) / cpu)), "CC {secure}: {three:?}, {four:?}, {cpu}");
    }
}

/// What the figures of DEVIATIONS.md say of the model: machine, confidential computing, direction, bytes, microseconds.
const FIGURES: [(&str, bool, Direction, u64, f64); 12] = [
    ("h100-nvl-tdx", false, Direction::H2d, 64 << 20, 1502.6),
    ("h100-nvl-tdx", false, Direction::D2h, 64 << 20, 1628.8),
    ("h100-sxm5-off", false, Direction::H2d, 64 << 20, 1217.6),
    ("h100-sxm5-off", false, Direction::D2h, 64 << 20, 1208.2),
    ("h100-nvl-tdx", true, Direction::H2d, 64 << 20, 22117.7),
    ("h100-nvl-tdx", true, Direction::D2h, 64 << 20, 22078.8),
    ("h100-nvl-tdx", true, Direction::H2d, 64, 22.19),
    ("h100-nvl-tdx", true, Direction::D2h, 64, 21.91),
    ("h100-nvl-tdx", false, Direction::H2d, 64, 7.05),
    ("h100-nvl-tdx", false, Direction::D2h, 64, 6.97),
    ("h100-nvl-tdx", true, Direction::D2d, 64 << 20, 73.54),
    ("h100-sxm5-off", false, Direction::D2d, 64 << 20, 63.98),
];

#[test]
fn the_figures_of_the_deviations_are_still_what_they_say() {
    for (name, confidential, direction, bytes, stated) in FIGURES {
        let mut machine = machine(name, &[]);
        machine.confidential_computing = confidential;
        let found = microseconds(&machine, direction, bytes);
        assert!(
            (found / stated - 1.0).abs() < 0.005,
            "{name}, {direction:?} of {bytes} bytes: {found} us, DEVIATIONS.md says {stated}"
        );
    }
}
