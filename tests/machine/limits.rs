//! Bandwidths of whole machines against closed forms.

use crate::common::{QUICK, copy, machine, request, run};
use sealsim::{
    sim::{Kernel, Order},
    system::{DataMode, Direction, Memory, Outcome},
};

fn measure(name: &str, sets: &[&str], direction: Direction, bytes: u64) -> Outcome {
    let sets: Vec<_> = QUICK.iter().chain(sets).copied().collect();
    let machine = machine(name, &sets);
    let copies = vec![copy(direction, bytes, Memory::Pinned)];
    let outcome = run(&machine, request(copies, DataMode::None, Kernel::Skip, Order::Ascending)).unwrap();
    assert!(outcome.copies[0].delivered, "{:?}", outcome.copies[0].reason);
    outcome
}

/// Bytes per second between a copy of `bytes` and one twice as long.
fn slope(name: &str, sets: &[&str], direction: Direction, bytes: u64) -> f64 {
    let [short, long] = [bytes, 2 * bytes].map(|bytes| measure(name, sets, direction, bytes).end.0);
    bytes as f64 / ((long - short) as f64 / 1e15)
}

fn assert_near(measured: f64, expected: f64, tolerance: f64) {
    let off = measured / expected - 1.0;
    assert!(off.abs() < tolerance, "{measured:.4e} against {expected:.4e}: {:+.3} %", off * 100.0);
}

#[test]
fn read_tags_limit_a_copy_to_what_is_outstanding_in_a_round_trip() {
    for (outstanding, request) in [(48, 512), (7, 512), (16, 256)] {
        let sets = [
            "copy_engine.pces_plain=1",
            "root_complex.read_latency=100000 cycles",
            &format!("copy_engine.outstanding_reads={outstanding}"),
            &format!("link.max_read_request={request} B"),
        ];
        // Latency of the root complex, two flights, and a few cycles of queues, which the tolerance covers.
        let round_trip = 100_040e-9;
        let expected = f64::from(outstanding * request) / round_trip;
        assert_near(slope("h100-sxm5-off", &sets, Direction::H2d, 1 << 20), expected, 0.01);
    }
}

const FAST_HOST: [&str; 7] = [
    "cipher.seal_rate=1000000 B/cycle",
    "cipher.on_caller=false",
    "driver.in_flight={h2d=32,d2h=32}",
    "driver.push_d2h.pinned=16 MiB",
    "cipher.open_rate=1000000 B/cycle",
    "driver.pinned={message=\"16 MiB\",push=\"16 MiB\"}",
    "staging={buffer=\"16 MiB\",buffers=2}",
];

#[test]
fn a_serial_authenticator_limits_a_copy_to_a_block_per_latency() {
    for (product, reduction) in [(3, 1), (5, 2)] {
        let unit = format!(
            "engine.ghash={{design=\"serial\",multiplier={{product=\"{product} cycles\",reduction=\"{reduction} cycles\",digit_bits=128}}}}"
        );
        let sets = [&FAST_HOST[..], &[&unit]].concat();
        let expected = 16.0 * 1.755e9 / f64::from(product + reduction);
        for direction in [Direction::H2d, Direction::D2h] {
            assert_near(slope("h100-nvl-tdx", &sets, direction, 8 << 20), expected, 0.01);
        }
    }
}

#[test]
fn one_aes_lane_limits_a_copy_to_a_block_per_start_interval() {
    let lane = "engine.aes={lanes=1,rounds_in_hardware=14,registers_per_round=1,start_interval=\"2 cycles\",keystream_blocks=64}";
    let sets = [&FAST_HOST[..], &[lane]].concat();
    for direction in [Direction::H2d, Direction::D2h] {
        assert_near(slope("h100-nvl-tdx", &sets, direction, 8 << 20), 16.0 * 1.755e9 / 2.0, 0.01);
    }
}

#[test]
fn the_link_limits_a_plain_copy_to_its_payload_share() {
    // A completion or a write of 256 bytes: STP, header of 3 or 4 DW, LCRC; 128b/130b; SKP ordered sets.
    let line = 64e9 * (128.0 / 130.0) * (373.0 * 64.0 - 1.0) / (374.0 * 64.0);
    let sets = ["copy_engine.outstanding_reads=300", "copy_engine.read_buffer=1 MiB"];
    for (direction, header) in [(Direction::H2d, 12.0), (Direction::D2h, 16.0)] {
        let share = 256.0 / (256.0 + 8.0 + header);
        // DLLPs take a little more: Acks and credits of the other way.
        assert_near(slope("h100-sxm5-off", &sets, direction, 8 << 20), line * share, 0.01);
    }
}

#[test]
fn the_cipher_limits_a_copy_to_its_rate() {
    let sets = [&FAST_HOST[1..], &["cipher.seal_rate=1.6 B/cycle"]].concat();
    assert_near(slope("h100-nvl-tdx", &sets, Direction::H2d, 32 << 20), 1.6 * 2.1e9, 0.01);
}

#[test]
fn a_message_that_is_opened_when_it_has_arrived_takes_both_times_one_after_the_other() {
    // One message a push, and a push waits for the one before: arrival at the rate of reads, then opening at four blocks a cycle.
    let sets = |opens: &str| -> Vec<String> {
        let fixed = FAST_HOST.iter().map(|set| (*set).to_owned());
        fixed.chain([format!("copy_engine.opens={opens}")]).collect()
    };
    let rate = |opens: &str| {
        let sets = sets(opens);
        slope("h100-nvl-tdx", &sets.iter().map(String::as_str).collect::<Vec<_>>(), Direction::H2d, 16 << 20)
    };
    let (arriving, arrived) = (rate("arriving"), rate("arrived"));
    assert_near(1.0 / arrived, 1.0 / arriving + 1.0 / (64.0 * 1.755e9), 0.01);
}
