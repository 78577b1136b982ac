//! The library as a program of somebody else's uses it.

use sealsim::{
    config::{Layers, MachineSpec},
    sim::Control,
    system::{self, Direction, Memory, Outcome, Received, Request, RunError},
    units::Femtos,
};
use std::sync::Arc;

fn machine(design: &str) -> MachineSpec {
    Layers::new("h100-nvl-tdx").overlay(design).resolve().unwrap().machine
}

fn run(request: Request) -> Result<Outcome, RunError> {
    system::run(&machine("h100-cc"), request, &mut |_| Control::Continue)
}

#[test]
fn bytes_in_memory_arrive_in_memory_both_ways() {
    let bytes: Vec<u8> = (0..5000u32).map(|place| (place * 7 + place / 256) as u8).collect();
    for request in [Request::h2d, Request::d2h] {
        let received = Received::new();
        let outcome = run(request(5000).carrying(bytes.clone()).delivering_to(received.clone())).unwrap();
        assert!(outcome.copies[0].delivered, "{:?}", outcome.copies[0].reason);
        assert_eq!(received.take(), bytes);
    }
}

#[test]
fn a_request_is_what_it_was_made_with() {
    let shared: Arc<[u8]> = Arc::from(&b"four"[..]);
    let outcome = run(Request::d2h(4).carrying(shared).pageable()).unwrap();
    let copy = &outcome.copies[0];
    assert_eq!((copy.direction, copy.bytes, copy.memory), (Direction::D2h, 4, Memory::Pageable));
    assert!(copy.delivered);
}

#[test]
fn a_copy_takes_the_front_of_a_longer_source_and_fails_on_a_shorter_one() {
    let received = Received::new();
    let request = |bytes| Request::h2d(bytes).carrying(b"0123456789".as_slice()).delivering_to(received.clone());
    run(request(4)).unwrap();
    assert_eq!(received.take(), b"0123");
    let why = run(request(11)).unwrap_err().to_string();
    assert!(why.contains("the source ends at byte 10"), "{why}");
}

#[test]
fn without_data_only_the_bytes_are_missing() {
    let received = Received::new();
    let [whole, bare] = [Request::h2d(70_000), Request::h2d(70_000).without_data().delivering_to(received.clone())]
        .map(|request| run(request).unwrap());
    assert_eq!((whole.event_digest, whole.end), (bare.event_digest, bare.end));
    assert!(received.bytes().is_empty());
}

#[test]
fn a_rate_counts_from_the_call_to_the_end_and_what_is_not_delivered_has_none() {
    let mut copy = run(Request::h2d(1 << 20)).unwrap().copies.remove(0);
    (copy.start, copy.end) = (Femtos(1_000_000), Femtos(3_000_000));
    assert_eq!(copy.time(), Femtos(2_000_000));
    assert!((copy.gb_per_s() - 524_288.0).abs() < 1e-6, "{}", copy.gb_per_s());
    copy.end = copy.start;
    assert_eq!((copy.time(), copy.gb_per_s()), (Femtos::ZERO, 0.0));
    copy.end = Femtos(3_000_000);
    copy.delivered = false;
    assert_eq!(copy.gb_per_s(), 0.0);
}
