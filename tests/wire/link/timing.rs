//! When Acks leave.

use super::machine::*;
use sealsim::{
    pcie::{packet::Tlp, spec::LinkSpec},
    sim::{Event, Kernel, Order, Recorder, SimulationError},
    units::Cycles,
};

const FLIGHT: u64 = 100;

/// Runs `plan` and gives what passed the two wires: up, down.
fn heard(plan: &Plan) -> [Vec<Event>; 2] {
    let mut link = Link::new(plan.clone());
    let recorders = [Recorder::default(), Recorder::default()];
    link.channel("up").listen(recorders[0].probe(0));
    link.channel("down").listen(recorders[1].probe(1));
    link.run(Kernel::Skip, Order::Ascending).unwrap();
    recorders.map(|recorder| recorder.take())
}

/// The word of a DLLP is its four bytes and the top bit.
const fn dllp(event: &Event) -> Option<[u8; 4]> {
    if event.word >> 32 == 1 << 31 { Some((event.word as u32).to_le_bytes()) } else { None }
}

/// The sequence number that an event acknowledges.
fn ack(event: &Event) -> Option<u64> {
    match dllp(event)? {
        [0, 0, high, low] => Some(u64::from(high) << 8 | u64::from(low)),
        _ => None,
    }
}

const fn cycle(event: &Event) -> u64 {
    event.time.0 / 1_000_000
}

#[test]
fn a_lone_tlp_is_acknowledged_after_the_ack_latency() {
    for latency in [0, 1, 42, 200] {
        let mut plan = Plan::new(LinkSpec { ack_latency: Cycles(latency), ..link() });
        // The second one keeps the run going until the first is acknowledged.
        plan.up = vec![Feed { gap: 1000, ..Feed::new(2, |n| write(BASE + n * 256, 256, true)) }];
        let [up, down] = heard(&plan);
        assert_eq!(ack(&down[0]), Some(0));
        assert_eq!(cycle(&down[0]), cycle(&up[0]) + latency + FLIGHT);
    }
}

#[test]
fn an_ack_waits_at_most_for_the_tlp_in_progress() {
    let mut plan = Plan::new(link());
    let feed = |count| Feed::new(count, |n| write(BASE + n * 256 % MEMORY, 256, true));
    (plan.up, plan.down) = (vec![feed(3000)], vec![feed(3000)]);
    let [up, down] = heard(&plan);
    for (tlps, dllps) in [(&up, &down), (&down, &up)] {
        let arrivals: Vec<_> = tlps.iter().filter(|e| dllp(e).is_none()).map(cycle).collect();
        let mut acknowledged = 0;
        let mut acks = 0;
        for event in dllps.iter() {
            let Some(sequence) = ack(event) else { continue };
            // The oldest TLP that waits was taken at its arrival; an ordered set and a bubble may delay what is due by five cycles.
            let sent = cycle(event) - FLIGHT;
            assert!(sent <= arrivals[acknowledged] + 42 + 5 + 5, "{sent} {}", arrivals[acknowledged]);
            assert!(sent >= arrivals[acknowledged] + 42);
            acknowledged += (sequence + 4096 - (acknowledged as u64 + 4095) % 4096) as usize % 4096;
            acks += 1;
        }
        assert!(acks > 250, "{acks}");
    }
}

#[test]
fn what_is_deferred_does_not_hide_a_deadlock() {
    // A read that no tag is left for is never asked.
    let reads = Feed::new(1, |_| Tlp::read(0, BASE, 512));
    let plan = Plan { root: Some(root()), tags: 0, reads, ..Plan::new(link()) };
    let end = go(&plan, Kernel::Skip, Order::Ascending, &[]).map(|_| ());
    assert!(matches!(end, Err(SimulationError::Deadlock { .. })), "{end:?}");
}

/// How many completions go with no DLLP between them, where many Acks are due as well.
fn completions_together(plan: &Plan) -> Vec<usize> {
    let [_, down] = heard(plan);
    assert!(down.iter().filter(|event| dllp(event).is_some()).count() > 100);
    down.split(|event| dllp(event).is_some()).map(<[Event]>::len).filter(|&count| count > 0).collect()
}

#[test]
fn an_ack_never_comes_between_two_completions_of_a_read_that_go_together() {
    let reads = Feed::new(2000, |n| Tlp::read(0, BASE + n * 512 % MEMORY, 512));
    // An Ack is due after each few of the writes that come meanwhile.
    let up = vec![Feed { gap: 7, ..Feed::new(2000, |n| write(BASE + n * 64 % MEMORY, 64, true)) }];
    let usual = LinkSpec { ack_latency: Cycles(11), ..link() };
    let plan = |link| Plan { root: Some(root()), tags: 64, reads: reads.clone(), up: up.clone(), ..Plan::new(link) };
    assert!(completions_together(&plan(usual.clone())).iter().all(|count| count % 2 == 0));
    // Where each is protected by itself, the port decides anew for each.
    let protected = completions_together(&plan(LinkSpec { ecrc: true, ..usual }));
    assert!(protected.iter().any(|count| count % 2 == 1));
}
