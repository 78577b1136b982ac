//! IDE on the link: what it costs on the wire, what it delays, and what it finds.

use super::machine::*;
use sealsim::{
    config::Layers,
    pcie::{
        packet::Tlp,
        spec::{IdeSpec, LinkSpec},
    },
    sim::{FaultKind, Injection, Kernel, Order, SimulationError},
    units::{Bytes, Cycles},
};

/// The engines of the shipped design.
fn shipped() -> IdeSpec {
    let resolved = Layers::new("h100-nvl-tdx").overlay("ide").resolve().unwrap();
    resolved.machine.link.ide.unwrap()
}

pub fn ide(aggregation: u32) -> IdeSpec {
    IdeSpec { aggregation, ..shipped() }
}

/// A link on which only wire and engine limit.
fn open(ide: Option<IdeSpec>) -> LinkSpec {
    let credits = infinite();
    let max_payload = Bytes(512);
    LinkSpec { host_credits: credits, gpu_credits: credits, replay_tlps: 2048, max_payload, ide, ..link() }
}

fn plan(link: LinkSpec) -> Plan {
    Plan { exact: false, record: false, source_room: 64, ..Plan::new(link) }
}

const COUNT: u64 = 40_000;
/// Bytes per second after 128b/130b, SKP ordered sets and EDS.
const LINE: f64 = 64e9 * (64.0 / 65.0) * (373.0 * 64.0 - 1.0) / (374.0 * 64.0);

/// One kind of TLP at full rate: bytes of `COUNT` of them on the wire, and payload (or bytes asked for) per second.
fn at_full_rate(kind: &str, bytes: u32, ide: Option<IdeSpec>) -> (u64, f64) {
    let mut plan = plan(open(ide));
    let stride = u64::from(bytes);
    match kind {
        "MWr64" => plan.up = vec![Feed::new(COUNT, move |n| write(BASE + n * stride % MEMORY, bytes, false))],
        "CplD" => plan.down = vec![Feed::new(COUNT, move |n| completion(0, BASE + n * stride % MEMORY, bytes, false))],
        _ => plan.up = vec![Feed::new(COUNT, move |n| Tlp::read((n % 768) as u16, BASE, bytes))],
    }
    let link = finish(&plan);
    let [down, up] = link.traffic();
    let (traffic, sink) = match kind {
        "MWr64" => (up, link.host_sink(0)),
        "CplD" => (down, link.gpu_sink(0)),
        _ => (up, link.host_sink(1)),
    };
    assert_eq!((traffic.tlps, traffic.replays), (COUNT, 0));
    (traffic.wire_bytes - traffic.dllps * 8, sink.rate())
}

/// Kind and payload; bytes of eight TLPs on the link without IDE, with a MAC for one, two, four and eight, and with a MAC and a PCRC
/// for each; and GB/s of payload at 62.85 GB/s of stream, worked out by hand and rounded.
type Cost = (&'static str, u32, [u64; 6], [f64; 6]);

const COSTS: [Cost; 7] = [
    ("MWr64", 64, [704, 832, 784, 760, 748, 864], [45.7, 38.7, 41.0, 42.3, 43.0, 37.2]),
    ("MWr64", 128, [1216, 1344, 1296, 1272, 1260, 1376], [52.9, 47.9, 49.7, 50.6, 51.1, 46.8]),
    ("MWr64", 256, [2240, 2368, 2320, 2296, 2284, 2400], [57.46, 54.35, 55.48, 56.06, 56.35, 53.63]),
    ("MWr64", 512, [4288, 4416, 4368, 4344, 4332, 4448], [60.0, 58.3, 58.9, 59.3, 59.4, 57.9]),
    ("CplD", 64, [672, 800, 752, 728, 716, 832], [47.9, 40.2, 42.8, 44.2, 44.9, 38.7]),
    ("CplD", 128, [1184, 1312, 1264, 1240, 1228, 1344], [54.4, 49.1, 50.9, 51.9, 52.4, 47.9]),
    ("CplD", 256, [2208, 2336, 2288, 2264, 2252, 2368], [58.29, 55.10, 56.25, 56.85, 57.15, 54.35]),
];

fn protections() -> [Option<IdeSpec>; 6] {
    let with_pcrc = IdeSpec { pcrc: true, ..ide(1) };
    [None, Some(ide(1)), Some(ide(2)), Some(ide(4)), Some(ide(8)), Some(with_pcrc)]
}

#[test]
fn protected_tlps_cost_their_prefix_and_their_share_of_mac_and_pcrc() {
    for (kind, payload, of_eight, rates) in COSTS {
        for ((protection, of_eight), stated) in protections().into_iter().zip(of_eight).zip(rates) {
            let (bytes, rate) = at_full_rate(kind, payload, protection);
            assert_eq!(bytes, COUNT / 8 * of_eight, "{kind} {payload}");
            let expected = LINE * f64::from(payload) * 8.0 / of_eight as f64;
            assert!((rate / expected - 1.0).abs() < 1e-3, "{kind} {payload}: {rate} against {expected}");
            // Half of the last digit that is stated, and the tolerance.
            assert!((rate / 1e9 - stated).abs() < 0.05 + stated * 1e-3, "{kind} {payload}: {rate} against {stated}");
        }
    }
}

#[test]
fn protected_reads_cost_their_prefix_and_their_share_of_the_mac_and_never_a_pcrc() {
    for (protection, of_eight) in protections().into_iter().zip([192, 320, 272, 248, 236, 320]) {
        let (bytes, rate) = at_full_rate("MRd64", 512, protection);
        assert_eq!(bytes, COUNT / 8 * of_eight);
        let expected = LINE * 512.0 * 8.0 / of_eight as f64;
        assert!((rate / expected - 1.0).abs() < 1e-3, "{rate} against {expected}");
    }
}

#[test]
fn an_engine_that_is_too_narrow_limits_the_rate_to_its_blocks_or_its_products() {
    // A write of 256 B with its own MAC: 16 blocks and the mask; 16 products, two for prefix and header, one for the length.
    for (lanes, multipliers, cycles) in [(2, 8, 17.0 / 2.0), (3, 8, 17.0 / 3.0), (8, 3, 19.0 / 3.0), (1, 1, 19.0)] {
        for sender in [true, false] {
            let mut spec = ide(1);
            let narrow = if sender { &mut spec.gpu } else { &mut spec.host };
            (narrow.lanes, narrow.multipliers) = (lanes, multipliers);
            let (_, rate) = at_full_rate("MWr64", 256, Some(spec));
            // No TLP starts in a bubble, a cycle in 65, nor in an ordered set, four cycles in 1520; the sender's engine then waits.
            let held_up = if sender { (1.0 / 65.0 + 4.0 * 4.0 / 1520.0) / cycles } else { 0.0 };
            let share = rate / (256e9 / cycles);
            assert!((1.0 - held_up - 1e-3..1.0 + 1e-3).contains(&share), "{lanes} {multipliers} {sender}: {share}");
        }
    }
}

#[test]
fn the_shipped_engine_is_the_narrowest_that_carries_the_stated_costs() {
    let spec = shipped();
    assert_eq!(spec.host, spec.gpu);
    for (lanes, multipliers) in
        [(spec.host.lanes - 1, spec.host.multipliers), (spec.host.lanes, spec.host.multipliers - 1)]
    {
        let mut narrower = ide(1);
        (narrower.gpu.lanes, narrower.gpu.multipliers) = (lanes, multipliers);
        let (_, rate) = at_full_rate("MWr64", 256, Some(narrower));
        assert!(rate < 0.99 * LINE * 256.0 / 296.0, "{rate}");
    }
}

/// The cycle in which the last of `dw` DW is sent that start in `cycle`, before the first bubble.
const fn sent(cycle: u64, dw: u64) -> u64 {
    cycle + dw.div_ceil(16) - 1
}

#[test]
fn a_lone_write_takes_the_latency_of_both_sides_and_waits_for_company_only_if_it_may_have_some() {
    for (aggregation, flush, latencies) in
        [(1, 8, (10, 10)), (1, 0, (0, 0)), (8, 8, (3, 4)), (2, 0, (1, 1)), (4, 30, (0, 7))]
    {
        let mut spec = IdeSpec { flush: Cycles(flush), ..ide(aggregation) };
        (spec.host.latency, spec.gpu.latency) = (Cycles(latencies.0), Cycles(latencies.1));
        let waits = if aggregation == 1 { 0 } else { flush };
        let mut plan = Plan::new(LinkSpec { ide: Some(spec), ..link() });
        plan.up = vec![Feed::new(1, |_| write(BASE, 256, true))];
        let expected = sent(1 + waits, 70 + 4) + 100 + latencies.0 + latencies.1 + 1;
        assert_eq!(finish(&plan).host_sink(0).first, expected, "{aggregation} {flush}");
    }
}

#[test]
fn the_tlps_of_an_aggregate_come_out_together_when_their_mac_has_come() {
    for aggregation in [1, 2, 4, 8] {
        let spec = IdeSpec { aggregation, ..shipped() };
        let latency = spec.host.latency.0 + spec.gpu.latency.0;
        let mut plan = Plan { source_room: 64, ..Plan::new(LinkSpec { ide: Some(spec), ..link() }) };
        plan.down = vec![Feed::new(8, |n| completion(5, BASE + n * 256, 256, true))];
        let link = finish(&plan);
        let got = &link.gpu_sink(0).got;
        let per_mac = u64::from(aggregation);
        for (n, got) in got.iter().enumerate() {
            let last = (n as u64 / per_mac + 1) * per_mac;
            let dw = last * 70 + last / per_mac * 3;
            assert_eq!(got.cycle, sent(1, dw) + 100 + latency + 1, "{aggregation} {n}");
            assert!(got.right);
        }
    }
}

#[test]
fn an_aggregate_never_waits_for_a_tlp_that_has_no_credits() {
    for (headers, aggregation) in [(1, 8), (3, 2), (5, 4)] {
        let mut spec = LinkSpec { ide: Some(ide(aggregation)), ..open(None) };
        spec.host_credits.posted_headers = headers;
        let plan = Plan { up: vec![Feed::new(100, |n| write(BASE + n * 64, 64, false))], ..plan(spec) };
        assert_eq!(finish(&plan).host_sink(0).count, 100);
    }
}

/// Runs into a flipped bit, and on; what is then left to do is never done.
fn broken(plan: &Plan, place: &str, transfer: u64, seed: u64) -> Link {
    let mut link = Link::new(Plan { goes_on: true, ..plan.clone() });
    link.arm(&[(Injection::nth(place, FaultKind::IdeFlip, transfer), seed)]);
    let end = link.run(Kernel::Skip, Order::Ascending);
    assert!(matches!(end, Err(SimulationError::Deadlock { .. })), "{end:?}");
    let unheard = link.unheard();
    assert_eq!(unheard, None, "an insecure stream ends a run, and is no fault");
    link
}

#[test]
fn a_bit_flipped_above_the_lcrc_makes_the_stream_insecure_and_nothing_behind_it_is_let_through() {
    for (aggregation, pcrc) in [(1, false), (1, true), (4, false), (8, true)] {
        for seed in (0..60).map(|seed| seed * 977) {
            let spec = LinkSpec { ide: Some(IdeSpec { pcrc, ..ide(aggregation) }), ..link() };
            let mut plan = Plan { source_room: 64, ..Plan::new(spec) };
            plan.down = vec![Feed::new(40, |n| completion(5, BASE + n * 256, 256, true))];
            let transfer = seed % 40 + 1;
            let link = broken(&plan, "down", transfer, seed);
            let good = (transfer - 1) / u64::from(aggregation) * u64::from(aggregation);
            assert_eq!(link.gpu_sink(0).count, good, "{aggregation} {seed}");
            assert!(link.gpu_sink(0).got.iter().all(|got| got.right));
            let seen = link.gpu().traffic();
            assert_eq!((seen.bad_macs, seen.discarded, seen.bad_lcrc), (1, 40 - good, 0));
            assert!(link.gpu().insecure() && !link.host().insecure());
        }
    }
}

#[test]
fn credits_of_what_an_insecure_stream_discards_return_to_its_sender() {
    let mut spec = LinkSpec { ide: Some(ide(2)), ..link() };
    (spec.host_credits.posted_headers, spec.host_credits.posted_data) = (4, 64);
    let plan = Plan { up: vec![Feed::new(200, |n| write(BASE + n * 256, 256, true))], ..Plan::new(spec) };
    let link = broken(&plan, "up", 3, 1);
    assert_eq!((link.gpu().traffic().tlps, link.host().traffic().discarded), (200, 198));
}
