//! The root complex at the end of a link.

use super::machine::*;
use sealsim::{
    pcie::{
        packet::{Kind, Tlp},
        spec::{LinkSpec, RootComplexSpec},
    },
    sim::{FaultKind, Injection, Kernel, Order},
    units::{Bytes, Cycles, Femtos, Frequency},
};

fn reading(root: RootComplexSpec, count: u64, tags: u16) -> Plan {
    let reads = Feed::new(count, |n| Tlp::read(0, BASE + n * 512 % MEMORY, 512));
    Plan { root: Some(root), tags, reads, ..Plan::new(link()) }
}

#[test]
fn reads_bring_the_bytes_that_lie_there_whatever_their_alignment() {
    for (boundary, completion_payload) in [(64, 64), (64, 256), (128, 128), (64, 192)] {
        let mut plan = reading(RootComplexSpec { completion_payload: Bytes(completion_payload), ..root() }, 300, 64);
        plan.link.read_completion_boundary = Bytes(boundary);
        plan.reads = Feed::new(300, |n| {
            let offset = n * 37 % 4096;
            Tlp::read(0, BASE + n % 200 * 4096 + offset, (n as u32 * 13 % 512).min(4096 - offset as u32))
        });
        let link = finish(&plan);
        assert_eq!((link.requester().done, link.requester().refused), (300, 0));
        assert!(link.requester().got.iter().all(|g| g.right && g.bytes <= completion_payload as u32));
    }
}

#[test]
fn without_spread_reads_end_in_order_and_with_it_they_overtake() {
    let ends = |spread| {
        let root = RootComplexSpec { read_spread: Cycles(spread), ..root() };
        let link = finish(&reading(root, 400, 64));
        let requester = link.requester();
        assert_eq!((requester.done, requester.bytes), (400, 400 * 512));
        // That the completions of one read come in address order is checked as they arrive.
        requester.ends.iter().map(|&(number, ..)| number).collect::<Vec<_>>()
    };
    assert!(ends(0).is_sorted());
    assert!(!ends(300).is_sorted());
}

#[test]
fn an_unmapped_address_is_refused_once_and_named() {
    let mut plan = reading(root(), 5, 2);
    plan.reads = Feed::new(5, |n| Tlp::read(0, if n == 2 { BASE - 4096 } else { BASE + n * 512 }, 512));
    plan.up =
        vec![Feed::new(1, |_| write(BASE, 4, true)), Feed::new(1, |_| Tlp { address: 4096, ..write(BASE, 4, true) })];
    let link = finish(&plan);
    assert_eq!((link.requester().done, link.requester().refused, link.requester().bytes), (5, 1, 4 * 512));
    assert_eq!(link.requester().got.iter().filter(|g| g.kind == Kind::Unsupported).count(), 1);
    let incidents = link.root_incidents();
    assert_eq!(incidents.len(), 2, "{incidents:?}");
    assert!(incidents.iter().any(|i| i.contains("refused a read of 0xfffffff000")), "{incidents:?}");
    assert!(incidents.iter().any(|i| i.contains("dropped a write to 0x1000")), "{incidents:?}");
}

#[test]
fn a_semaphore_reaches_the_cpu_after_the_write_latency() {
    let mut plan = reading(root(), 0, 1);
    // The CPU must have seen the semaphore before the last write arrives.
    let make = |n| {
        if n == 0 { Tlp::write(SEMAPHORE, 4, sealsim::pcie::packet::Payload::none()) } else { write(BASE, 4, true) }
    };
    plan.up = vec![Feed { gap: 1000, ..Feed::new(2, make) }];
    // Sent in cycle 1, taken by the root complex a cycle after its arrival.
    assert_eq!(finish(&plan).noticed(), [(1 + 100 + 1 + 100, 4)]);
}

#[test]
fn the_ecrc_catches_what_breaks_behind_the_link_layer_and_without_it_nothing_does() {
    for (ecrc, place) in [(true, "host writes"), (false, "host writes"), (true, "host reads"), (false, "host reads")] {
        for seed in 0..24 {
            let spec = LinkSpec { ecrc, ..link() };
            let mut plan = Plan { root: Some(root()), tags: 8, ..Plan::new(spec) };
            plan.up = vec![Feed::new(10, |n| write(BASE + n * 256, 256, true))];
            if place == "host reads" {
                plan.reads = Feed::new(10, |n| Tlp::read(0, BASE + 4096 + n * 512, 64));
            }
            let fault = (Injection::nth(place, FaultKind::Flip, 4), seed);
            let result = go(&plan, Kernel::Skip, Order::Ascending, &[fault]);
            match (ecrc, place) {
                (true, "host writes") => {
                    let (link, _) = result.unwrap();
                    assert_eq!(link.memory().count, 9);
                    assert!(link.memory().writes.iter().all(|w| w.right && w.intact));
                    assert_eq!(link.root_incidents().len(), 1);
                }
                (false, "host writes") => {
                    let (link, _) = result.unwrap();
                    assert_eq!(link.memory().writes.iter().filter(|w| !w.right).count(), 1);
                    assert!(link.root_incidents().is_empty());
                }
                // A read that is dropped is never answered; its requester waits for ever.
                (true, _) => assert!(result.is_err(), "{seed}"),
                // A read of the wrong address brings the wrong bytes.
                (false, _) => assert!(result.is_err_and(|e| e.to_string().contains("tag")), "{seed}"),
            }
        }
    }
}

#[test]
fn ecrc_costs_four_bytes_of_each_tlp_and_changes_nothing_else() {
    for ecrc in [false, true] {
        let mut plan = Plan { root: Some(root()), tags: 8, ..Plan::new(LinkSpec { ecrc, ..link() }) };
        plan.up = vec![Feed::new(50, |n| write(BASE + n * 256, 256, true))];
        plan.reads = Feed::new(50, |n| Tlp::read(0, BASE + n * 512, 512));
        let link = finish(&plan);
        assert!(link.memory().writes.iter().chain(&link.requester().got).all(|g| g.right && g.intact));
        let [host, gpu] = link.traffic();
        let digest = u64::from(ecrc) * 4;
        assert_eq!(host.wire_bytes, 100 * (276 + digest) + host.dllps * 8);
        assert_eq!(gpu.wire_bytes, 50 * (280 + digest) + 50 * (24 + digest) + gpu.dllps * 8);
    }
}

#[test]
fn reads_enter_service_at_the_interval_and_up_to_the_number_in_service() {
    let last = |interval, in_service| {
        let root = RootComplexSpec {
            clock: Frequency(1_000_000_000),
            read_interval: Cycles(interval),
            reads_in_service: in_service,
            ..root()
        };
        finish(&reading(root, 64, 64)).requester().last
    };
    // One at a time: every read takes the latency and the cycle in which its place is taken again.
    assert!((64 * 400..64 * 402 + 300).contains(&last(1, 1)), "{}", last(1, 1));
    assert!((63 * 50 + 600..63 * 50 + 650).contains(&last(50, 64)), "{}", last(50, 64));
    let open = last(1, 64);
    assert!(open < 1300, "{open}");
}

#[test]
fn a_root_complex_of_another_clock_answers_alike() {
    for mhz in [333, 800, 1234, 2000] {
        let spec = RootComplexSpec { clock: Frequency(mhz * 1_000_000), read_spread: Cycles(50), ..root() };
        let mut plan = reading(spec, 100, 16);
        plan.link.recovery = Femtos(0);
        assert_eq!(finish(&plan).requester().bytes, 51_200);
    }
}
