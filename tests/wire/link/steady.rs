//! Rates and latencies against closed forms. None of these numbers stands in the model.

use super::machine::*;
use sealsim::{
    pcie::{packet::Tlp, spec::LinkSpec},
    units::Cycles,
};

/// A link on which only the wire limits.
fn open() -> LinkSpec {
    LinkSpec { host_credits: infinite(), gpu_credits: infinite(), replay_tlps: 2048, ..link() }
}

fn quick(link: LinkSpec) -> Plan {
    Plan { exact: false, record: false, ..Plan::new(link) }
}

fn near(found: f64, expected: f64, tolerance: f64) {
    assert!((found / expected - 1.0).abs() < tolerance, "{found} against {expected}");
}

fn writes(count: u64) -> Feed {
    Feed::new(count, |n| write(BASE + n * 256 % MEMORY, 256, false))
}

const COUNT: u64 = 40_000;

#[test]
fn writes_of_256_bytes_reach_the_ceiling_of_the_wire() {
    let link = finish(&Plan { up: vec![writes(COUNT)], ..quick(open()) });
    near(link.host_sink(0).rate(), 57.46e9, 1e-3);
}

#[test]
fn completions_of_256_128_and_64_bytes_reach_the_ceiling_of_the_wire() {
    for (bytes, ceiling) in [(256, 58.29e9), (128, 54.35e9), (64, 47.88e9)] {
        let feed = Feed::new(COUNT, move |n| completion(0, BASE + n * 256 % MEMORY, bytes, false));
        let link = finish(&Plan { down: vec![feed], ..quick(open()) });
        near(link.gpu_sink(0).rate(), ceiling, 1e-3);
    }
}

#[test]
fn traffic_both_ways_pays_for_its_acks_and_updates_and_for_nothing_else() {
    let one_way = finish(&Plan { up: vec![writes(COUNT)], ..quick(open()) }).host_sink(0).rate();
    let acks = finish(&Plan { up: vec![writes(COUNT)], down: vec![writes(COUNT)], ..quick(open()) });
    let link = LinkSpec { host_credits: usual(), gpu_credits: usual(), ..open() };
    let updates = finish(&Plan { up: vec![writes(COUNT)], down: vec![writes(COUNT)], ..quick(link) });
    // An Ack of 8 bytes every 42 cycles of 64 bytes, less what waiting for the TLP in progress adds.
    let ack_share = 1.0 - acks.host_sink(0).rate() / one_way;
    assert!((0.0026..0.0031).contains(&ack_share), "{ack_share}");
    // An UpdateFC for every 63 TLPs of 280 bytes.
    let update_share = 1.0 - updates.host_sink(0).rate() / acks.host_sink(0).rate();
    near(update_share, 8.0 / (63.0 * 280.0), 0.25);
    for machine in [acks, updates] {
        let traffic = machine.traffic()[1];
        assert_eq!(traffic.wire_bytes, traffic.tlps * 280 + traffic.dllps * 8);
        near(machine.host_sink(0).rate(), one_way * (traffic.tlps * 280) as f64 / traffic.wire_bytes as f64, 5e-4);
    }
}

/// Cycles from the first to the last cycle of `dw` DW that are sent at once, in the absence of bubbles.
const fn span(dw: u64) -> u64 {
    dw.div_ceil(16) - 1
}

/// A pool of `credits` TLPs is returned by halves. One half's loop, in cycles: the half is sent (its `span`); the last TLP flies; the sink
/// pops it a cycle after its arrival; the receiver sees that a cycle later and sends the update, which flies back and lets the next
/// half go in the cycle of its arrival. Both halves are under way at once.
const fn credit_loop(credits: u64, tlp_dw: u64, flight: u64) -> u64 {
    span(credits / 2 * tlp_dw) + flight + 1 + 1 + flight
}

#[test]
fn posted_headers_limit_the_rate_to_credits_by_size_over_the_loop() {
    for (credits, flight) in [(2, 100), (8, 100), (64, 300)] {
        let mut spec = LinkSpec { flight: Cycles(flight), ..open() };
        spec.host_credits.posted_headers = credits as u32;
        let link = finish(&Plan { up: vec![writes(4000)], ..quick(spec) });
        let expected = credits as f64 * 256e9 / credit_loop(credits, 70, flight) as f64;
        near(link.host_sink(0).rate(), expected, 0.02);
    }
}

#[test]
fn posted_data_limit_the_rate_to_credits_by_size_over_the_loop() {
    for (tlps, flight) in [(2, 100), (8, 100), (64, 300)] {
        let mut spec = LinkSpec { flight: Cycles(flight), ..open() };
        spec.host_credits.posted_data = tlps as u32 * 16;
        let link = finish(&Plan { up: vec![writes(4000)], ..quick(spec) });
        let expected = tlps as f64 * 256e9 / credit_loop(tlps, 70, flight) as f64;
        near(link.host_sink(0).rate(), expected, 0.02);
    }
}

#[test]
fn non_posted_headers_limit_the_reads_to_credits_over_the_loop() {
    for (credits, flight) in [(2, 100), (8, 100), (64, 300)] {
        let mut spec = LinkSpec { flight: Cycles(flight), ..open() };
        spec.host_credits.non_posted_headers = credits as u32;
        let feed = Feed::new(4000, |n| Tlp::read((n % 768) as u16, BASE + n * 512 % MEMORY, 512));
        let link = finish(&Plan { up: vec![feed], ..quick(spec) });
        // The sink counts 512 bytes for each request.
        let expected = credits as f64 * 512e9 / credit_loop(credits, 6, flight) as f64;
        near(link.host_sink(1).rate(), expected, 0.02);
    }
}

#[test]
fn posted_headers_do_not_limit_reads_nor_the_other_way_round() {
    let mut spec = open();
    spec.host_credits.posted_headers = 2;
    let reads = Feed::new(20_000, |n| Tlp::read((n % 768) as u16, BASE, 512));
    let link = finish(&Plan { up: vec![reads.clone()], ..quick(spec) });
    assert!(link.host_sink(1).rate() > 1e12);
    let mut spec = open();
    spec.host_credits.non_posted_headers = 2;
    let link = finish(&Plan { up: vec![writes(20_000), reads], ..quick(spec) });
    assert!(link.host_sink(0).rate() > 50e9, "{}", link.host_sink(0).rate());
}

#[test]
fn scaled_credits_cover_a_loop_that_plain_ones_do_not() {
    let mut spec = LinkSpec { flight: Cycles(600), ..open() };
    spec.host_credits.posted_headers = 127;
    let plain = finish(&Plan { up: vec![writes(20_000)], ..quick(spec.clone()) }).host_sink(0).rate();
    spec.host_credits.posted_headers = 127 * 16;
    let scaled = finish(&Plan { up: vec![writes(COUNT)], ..quick(spec) }).host_sink(0).rate();
    near(plain, 126.0 * 256e9 / credit_loop(126, 70, 600) as f64, 0.02);
    near(scaled, 57.46e9, 1e-3);
}

/// The cycle in which the last of `dw` DW is sent that start with the first cycle with data from `cycle` on. One cycle in 65 is empty.
fn sent(cycle: u64, dw: u64) -> u64 {
    (cycle..).filter(|cycle| cycle % 65 != 64).nth(span(dw) as usize).unwrap()
}

#[test]
fn a_lone_write_arrives_after_queue_wire_flight_and_queue() {
    for flight in [1, 10, 63, 100, 400] {
        for (bytes, dw) in [(4, 7), (64, 22), (256, 70)] {
            let feed = Feed::new(1, move |_| write(BASE, bytes, true));
            let link = finish(&Plan { up: vec![feed], ..Plan::new(LinkSpec { flight: Cycles(flight), ..link() }) });
            assert_eq!(link.host_sink(0).first, sent(1, dw) + flight + 1, "{flight} {bytes}");
        }
    }
}

/// Cycles in which a read that is asked for at cycle 0 ends.
fn read_ends(flight: u64, latency: u64) -> u64 {
    let at_root = sent(1, 6) + flight + 1;
    let at_port = at_root + latency + 1;
    // Two completions of 256 bytes.
    sent(at_port, 2 * 69) + flight + 1
}

#[test]
fn a_lone_read_takes_both_flights_and_the_latency_of_the_root_complex() {
    for flight in [1, 63, 100, 150] {
        for latency in [1, 50, 400] {
            let spec = LinkSpec { flight: Cycles(flight), ..link() };
            let mut plan = Plan { tags: 1, reads: Feed::new(1, |_| Tlp::read(0, BASE, 512)), ..Plan::new(spec) };
            plan.root = Some(sealsim::pcie::spec::RootComplexSpec { read_latency: Cycles(latency), ..root() });
            assert_eq!(finish(&plan).requester().last, read_ends(flight, latency), "{flight} {latency}");
        }
    }
}

#[test]
fn tags_limit_reads_to_tags_by_size_over_the_round_trip() {
    for tags in [1, 4, 16, 32] {
        let reads = Feed::new(6000, |n| Tlp::read(0, BASE + n * 512 % MEMORY, 512));
        let link = finish(&Plan { root: Some(root()), tags, reads, ..quick(open()) });
        let requester = link.requester();
        let rate = (requester.done - 1) as f64 * 512e9 / (requester.last - requester.first) as f64;
        // Two flights, the latency, four queues, the last DW of two completions.
        let round_trip = 100 + 400 + 100 + 4 + span(2 * 69);
        near(rate, f64::from(tags) * 512e9 / round_trip as f64, 0.01);
    }
}
