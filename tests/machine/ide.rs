//! Whole machines whose link has IDE: nothing is staged, nothing is sealed by the CPU, and what the link finds wrong is not delivered.

use crate::common::{Delivered, Pattern, QUICK, copy, request, run, sent};
use sealsim::{
    config::{Layers, MachineSpec},
    sim::{FaultKind, Injection, Kernel, Order},
    system::{DataMode, Direction, Memory, Outcome, fault_points},
};

/// A shipped machine with a design and settings.
fn design(machine: &str, design: &str, sets: &[&str]) -> MachineSpec {
    let layers = sets.iter().fold(Layers::new(machine).overlay(design), |layers, set| layers.set(*set));
    layers.resolve().unwrap_or_else(|error| panic!("{machine} {design} {sets:?}: {error}")).machine
}

fn quick(name: &str, sets: &[&str]) -> MachineSpec {
    design("h100-nvl-tdx", name, &[QUICK, sets].concat())
}

const BOTH_WAYS: [Direction; 2] = [Direction::H2d, Direction::D2h];

#[test]
fn a_copy_arrives_as_it_was_sent_whatever_its_size() {
    let sizes = [0, 1, 3, 15, 16, 17, 31, 33, 511, 513, 4095, 4097, 300_001, (1 << 20) + 1];
    for name in ["ide", "ide-8"] {
        let machine = design("h100-nvl-tdx", name, &["root_complex.read_spread=300 cycles", "link.ide.pcrc=true"]);
        for direction in [Direction::H2d, Direction::D2h, Direction::D2d] {
            for memory in [Memory::Pinned, Memory::Pageable] {
                let (outcome, whole) = sent(&machine, direction, memory, &sizes);
                for ((copy, whole), &bytes) in outcome.copies.iter().zip(whole).zip(&sizes) {
                    let what = format!("{name} {direction:?} {memory:?} {bytes}: {:?}", copy.reason);
                    assert!(copy.delivered && whole, "{what}");
                    assert_eq!((copy.messages, copy.tags_verified, copy.tags_failed), (0, 0, 0), "{what}");
                }
            }
        }
    }
}

fn one(machine: &MachineSpec, direction: Direction, bytes: u64, memory: Memory) -> Outcome {
    let copies = vec![copy(direction, bytes, memory)];
    let outcome = run(machine, request(copies, DataMode::None, Kernel::Skip, Order::Ascending)).unwrap();
    assert!(outcome.copies[0].delivered, "{:?}", outcome.copies[0].reason);
    outcome
}

#[test]
fn confidential_computing_costs_the_protected_link_and_nothing_else() {
    for name in ["ide", "ide-8"] {
        for (direction, memory) in
            BOTH_WAYS.into_iter().flat_map(|way| [(way, Memory::Pinned), (way, Memory::Pageable)])
        {
            let [on, off] = ["true", "false"].map(|cc| {
                let machine = design("h100-nvl-tdx", name, &[&format!("confidential_computing={cc}")]);
                one(&machine, direction, 1 << 20, memory)
            });
            assert_eq!((on.end, &on.event_digest), (off.end, &off.event_digest), "{name} {direction:?} {memory:?}");
            let busy = |unit: &str| on.units.iter().find(|one| one.name == unit).unwrap().busy;
            assert_eq!(busy("gpu.tag_queue"), 0);
            assert!(memory == Memory::Pageable || busy("host.cipher") == 0);
            assert!(!on.units.iter().any(|unit| unit.name.ends_with(".engine")));
        }
    }
}

#[test]
fn the_protected_link_limits_a_copy_to_its_payload_share() {
    let line = 64e9 * (128.0 / 130.0) * (373.0 * 64.0 - 1.0) / (374.0 * 64.0);
    let wide = ["copy_engine.outstanding_reads=300", "copy_engine.read_buffer=1 MiB"];
    for (name, pcrc, mac) in [("ide", false, 12.0), ("ide", true, 16.0), ("ide-8", false, 12.0 / 8.0)] {
        let machine = quick(name, &[&wide[..], &[&format!("link.ide.pcrc={pcrc}")]].concat());
        for (direction, header) in [(Direction::H2d, 12.0), (Direction::D2h, 16.0)] {
            let [short, long] = [8 << 20, 16 << 20].map(|bytes| one(&machine, direction, bytes, Memory::Pinned).end.0);
            let rate = f64::from(8 << 20) / ((long - short) as f64 / 1e15);
            let expected = line * 256.0 / (256.0 + 8.0 + header + 4.0 + mac);
            // DLLPs take a little more: Acks and credits of the other way.
            assert!((rate / expected - 1.0).abs() < 0.01, "{name} {pcrc} {direction:?}: {rate:.4e}, {expected:.4e}");
        }
    }
}

#[test]
fn every_tlp_of_a_copy_has_its_prefix_and_its_mac() {
    let outcome = one(&quick("ide", &[]), Direction::D2h, 1 << 20, Memory::Pinned);
    for way in [outcome.gpus[0].link.h2d, outcome.gpus[0].link.d2h] {
        assert!(way.tlps > 0);
        assert_eq!(way.ide_bytes, way.tlps * 16);
    }
    assert_eq!(
        one(&design("h100-nvl-tdx", "by-page", QUICK), Direction::D2h, 4096, Memory::Pinned).gpus[0].link.d2h.ide_bytes,
        0
    );
}

#[test]
fn a_bit_flipped_above_the_lcrc_ends_the_channel_and_nothing_wrong_is_delivered() {
    for (name, direction) in
        [("ide", Direction::H2d), ("ide-8", Direction::H2d), ("ide", Direction::D2h), ("ide-8", Direction::D2h)]
    {
        let machine = quick(name, &[]);
        let place = if direction == Direction::H2d { "link.h2d" } else { "link.d2h" };
        let mut found = 0;
        for transfer in [1, 2, 9, 40, 77, 110] {
            let ends = [
                (DataMode::Exact, Kernel::Skip, Order::Ascending),
                (DataMode::None, Kernel::Skip, Order::Shuffled(transfer)),
                (DataMode::Exact, Kernel::EveryCycle, Order::Shuffled(3)),
            ]
            .map(|(data, kernel, order)| {
                let sink = Delivered::default();
                let mut copies = vec![copy(direction, 30_000, Memory::Pinned), copy(direction, 5_000, Memory::Pinned)];
                copies[0].sink = Some(Box::new(sink.clone()));
                let mut request = request(copies, data, kernel, order);
                request.injections = vec![Injection::nth(place, FaultKind::IdeFlip, transfer)];
                let outcome = run(&machine, request).unwrap();
                assert!(data == DataMode::None || sink.agrees(&mut Pattern(30_000)));
                outcome
            });
            let reasons =
                |outcome: &Outcome| -> Vec<_> { outcome.copies.iter().map(|copy| copy.reason.clone()).collect() };
            for other in &ends[1..] {
                assert_eq!((ends[0].end, &ends[0].event_digest), (other.end, &other.event_digest), "{name} {transfer}");
                assert_eq!(reasons(&ends[0]), reasons(other));
            }
            // A DLLP that passes has no MAC: there is nothing to strike.
            let outcome = &ends[0];
            let seen = if direction == Direction::H2d { outcome.gpus[0].link.d2h } else { outcome.gpus[0].link.h2d };
            assert_eq!((outcome.faults_struck(), seen.bad_lcrc), ((usize::from(seen.bad_macs > 0), 1), 0));
            assert_eq!(outcome.copies.iter().all(|copy| copy.delivered), seen.bad_macs == 0);
            if seen.bad_macs > 0 {
                found += 1;
                let reasons = reasons(outcome);
                assert!(reasons.iter().flatten().any(|reason| reason.contains("insecure")), "{reasons:?}");
                assert!(outcome.copies.iter().all(|copy| copy.end >= copy.start));
            }
        }
        assert!(found >= 3, "{name} {direction:?}: {found}");
    }
}

#[test]
fn only_a_link_with_ide_can_break_it() {
    let kinds = |machine: &MachineSpec| -> Vec<_> {
        let points = fault_points(machine).unwrap();
        points.into_iter().filter(|point| point.kinds.contains(&FaultKind::IdeFlip)).map(|point| point.place).collect()
    };
    assert_eq!(kinds(&quick("ide", &[])), ["link.d2h", "link.h2d"]);
    assert_eq!(kinds(&design("h100-nvl-tdx", "hold", &[])), [""; 0]);
}

#[test]
#[ignore = "of a document: .ci/run"]
fn the_figures_of_the_document_are_still_what_they_say() {
    for (machine, name, h2d, d2h) in [
        ("h100-nvl-tdx", "ide", 42.30, 41.20),
        ("h100-nvl-tdx", "ide-8", 40.45, 41.20),
        ("h100-tdx-gen5", "ide", 52.01, 52.30),
        ("h100-tdx-gen5", "ide-8", 51.29, 51.75),
    ] {
        let machine = design(machine, name, &[]);
        for (direction, stated) in BOTH_WAYS.into_iter().zip([h2d, d2h]) {
            let copy = &one(&machine, direction, 64 << 20, Memory::Pinned).copies[0];
            let rate = copy.bytes as f64 / (copy.end.0 - copy.start.0) as f64 * 1e6;
            assert!((rate / stated - 1.0_f64).abs() < 0.005, "{name} {direction:?}: {rate} against {stated}");
        }
    }
}
