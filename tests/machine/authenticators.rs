//! Authenticators of several units in the machine: bytes, tags on the wire, rates.

use crate::common::{Delivered, Pattern, QUICK, copy, machine, request, run};
use sealsim::{
    config::{Layers, MachineSpec},
    sim::{FaultKind, Injection, Kernel, Order},
    system::{DataMode, Direction, Memory, Outcome},
};

const BYTES: u64 = (1 << 20) + 5 * 1024 + 3;

fn designed(design: &str) -> MachineSpec {
    let layers = QUICK.iter().fold(Layers::new("h100-nvl-tdx").overlay(design), |layers, set| layers.set(*set));
    layers.set("driver.pageable.message=64 KiB").resolve().unwrap().machine
}

fn through(
    machine: &MachineSpec,
    direction: Direction,
    data: DataMode,
    fault: Option<(&str, FaultKind)>,
) -> (Outcome, Delivered) {
    let sink = Delivered::default();
    let mut one = copy(direction, BYTES, Memory::Pageable);
    one.sink = Some(Box::new(sink.clone()));
    let mut request = request(vec![one], data, Kernel::Skip, Order::Ascending);
    request.injections.extend(fault.map(|(place, kind)| Injection::nth(place, kind, 2)));
    (run(machine, request).unwrap(), sink)
}

#[test]
fn every_design_delivers_the_bytes_and_takes_the_same_time_without_them() {
    for design in ["segmented-ghash", "message-parallel", "parallel-auth", "serial-ghash"] {
        let machine = designed(design);
        for direction in [Direction::H2d, Direction::D2h] {
            let (exact, sink) = through(&machine, direction, DataMode::Exact, None);
            assert!(exact.copies[0].delivered, "{design}: {:?}", exact.copies[0].reason);
            assert_eq!((exact.copies[0].tags_verified, exact.copies[0].tags_failed), (17, 0), "{design}");
            assert!(sink.covers(BYTES) && sink.agrees(&mut Pattern(BYTES)), "{design}");
            let (none, _) = through(&machine, direction, DataMode::None, None);
            assert_eq!((exact.end, &exact.event_digest), (none.end, &none.event_digest), "{design}");
        }
    }
}

#[test]
fn a_wrong_bit_in_any_tag_of_several_is_one_message_that_is_not_verified() {
    let machine = designed("parallel-auth");
    for data in [DataMode::Exact, DataMode::None] {
        for place in ["staging.tag", "staging.ciphertext", "gpu.pce0.tags"] {
            let (outcome, sink) = through(&machine, Direction::H2d, data, Some((place, FaultKind::Flip)));
            let copy = &outcome.copies[0];
            assert_eq!(outcome.faults_struck(), (1, 1), "{place}");
            assert!(!copy.delivered && copy.tags_failed == 1, "{place}: {copy:?}");
            assert!(data == DataMode::None || sink.agrees(&mut Pattern(BYTES)) && sink.bytes() < BYTES, "{place}");
        }
    }
}

/// Payload that crosses the link in the copy's direction, and back.
fn payload(machine: &MachineSpec, direction: Direction) -> (u64, u64) {
    let (outcome, _) = through(machine, direction, DataMode::None, None);
    (outcome.gpus[0].link.h2d.payload_bytes, outcome.gpus[0].link.d2h.payload_bytes)
}

#[test]
fn each_message_carries_one_tag_of_16_bytes_per_chain() {
    let tag = |direction| {
        let (one, several) =
            (payload(&designed("serial-ghash"), direction), payload(&designed("parallel-auth"), direction));
        (several.0 - one.0, several.1 - one.1)
    };
    // 17 messages, seven chains beyond the first.
    assert_eq!(tag(Direction::H2d), (17 * 7 * 16, 0));
    assert_eq!(tag(Direction::D2h), (0, 17 * 7 * 16));
}

#[test]
fn an_opening_authenticator_of_another_wire_format_is_refused() {
    let other = "copy_engine.open_ghash={design=\"serial\",multiplier={product=\"2 cycles\",reduction=\"1 cycle\",digit_bits=128}}";
    let error = Layers::new("h100-nvl-tdx").overlay("parallel-auth").set(other).resolve().unwrap_err().to_string();
    assert!(error.contains("copy_engine.open_ghash") && error.contains("other tags"), "{error}");
    let same = machine("h100-nvl-tdx", &[other]);
    assert!(same.copy_engine.open_ghash.is_some());
}
