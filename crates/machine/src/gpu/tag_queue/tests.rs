//! When verdicts come, on both sides of every edge.

use super::*;
use crate::{
    sim::Netlist,
    units::{Femtos, Frequency},
};

fn spec(comparators: u32, retirement: Retirement) -> TagQueueSpec {
    TagQueueSpec { comparators, retirement, ..TagQueueSpec::bench() }
}

/// Both tags of a message, with the cycles in which they arrive.
struct Message {
    computed: (u64, Option<u8>),
    fetched: (u64, Option<u8>),
}

fn good(at: u64) -> Message {
    Message { computed: (at, Some(1)), fetched: (at, Some(1)) }
}

/// Messages 0, 1, ... are entered in cycle 0. Gives the verdicts with the cycles in which they are pushed.
fn verdicts(spec: &TagQueueSpec, compare: u64, messages: &[Message]) -> (Vec<(u64, JobId, bool)>, TagCounts) {
    let clock = Clock::new(Frequency(1_000_000_000)).unwrap();
    let mut netlist = Netlist::new();
    let mut queue = TagQueue::new(spec, Cycles(compare), clock);
    let (mut entries, entries_in) = netlist.queue("entries", 64);
    let wires = messages.iter().flat_map(|_| [0, 1]).map(|_| netlist.wire("reports", Femtos(1)));
    let (mut reports, reports_in): (Vec<_>, Vec<_>) = wires.unzip();
    let (verdicts_out, mut verdicts) = netlist.queue("verdicts", 64);
    let (settled_out, mut settled) = netlist.queue("settled", 64);
    let mut ports = Ports {
        entries: entries_in,
        reports: reports_in,
        verdicts: verdicts_out,
        settled: settled_out,
        released: vec![],
        counts: Rc::default(),
        signals: netlist.signals("tag queue"),
    };
    for (job, message) in messages.iter().enumerate() {
        entries.push(clock.edge(0), TagEntry { job: job as u64, parts: 1 });
        for (computed, (at, tag)) in [(true, message.computed), (false, message.fetched)] {
            let report = TagReport { job: job as u64, part: 0, computed, tag: tag.map(|byte| vec![byte; 16]) };
            reports[2 * job + usize::from(computed)].send(clock.edge(at), report);
        }
    }
    let mut heard = Vec::new();
    for cycle in 1..200 {
        let time = clock.edge(cycle);
        queue.tick(Now { cycle, time }, &mut ports);
        let next = clock.edge(cycle + 1);
        while let Some(Verdict { job, ok }) = verdicts.pop(next) {
            assert_eq!(settled.pop(next), Some(Verdict { job, ok }));
            heard.push((cycle, job, ok));
        }
    }
    (heard, ports.counts.get())
}

#[test]
fn a_verdict_comes_compare_cycles_after_the_later_of_its_tags() {
    for compare in [1, 2, 9] {
        for (computed, fetched) in [(10, 20), (20, 10), (20, 20)] {
            let message = Message { computed: (computed, Some(1)), fetched: (fetched, Some(1)) };
            let (heard, _) = verdicts(&spec(1, Retirement::InOrder), compare, &[message]);
            assert_eq!(heard, [(20 + compare, 0, true)]);
        }
    }
}

#[test]
fn tags_that_differ_and_tags_that_are_lost_do_not_agree() {
    for (computed, fetched) in [(Some(1), Some(2)), (None, Some(1)), (Some(1), None), (None, None)] {
        let message = Message { computed: (5, computed), fetched: (5, fetched) };
        let (heard, counts) = verdicts(&spec(1, Retirement::InOrder), 2, &[message]);
        assert_eq!(heard, [(7, 0, false)]);
        assert_eq!((counts.verified, counts.failed), (0, 1));
    }
}

#[test]
fn one_comparator_takes_one_message_after_the_other_and_two_take_two() {
    let messages = || [good(10), good(10), good(10)];
    for retirement in [Retirement::InOrder, Retirement::OutOfOrder] {
        let (heard, counts) = verdicts(&spec(1, retirement), 4, &messages());
        assert_eq!(heard, [(14, 0, true), (18, 1, true), (22, 2, true)]);
        assert_eq!(counts.peak_entries, 3);
        let (heard, _) = verdicts(&spec(2, retirement), 4, &messages());
        assert_eq!(heard, [(14, 0, true), (14, 1, true), (18, 2, true)]);
    }
}

#[test]
fn in_order_a_message_waits_for_the_one_before_it_and_out_of_order_it_does_not() {
    let messages = || [good(50), good(10)];
    let (heard, _) = verdicts(&spec(2, Retirement::InOrder), 3, &messages());
    assert_eq!(heard, [(53, 0, true), (53, 1, true)]);
    let (heard, _) = verdicts(&spec(1, Retirement::OutOfOrder), 3, &messages());
    assert_eq!(heard, [(13, 1, true), (53, 0, true)]);
}

#[test]
fn shares_are_summed_once_each_and_the_tag_is_known_with_the_last() {
    let share = |part: u32| Some(vec![1 << part; 16]);
    let mut shares = Shares::of(3);
    for part in [2, 0, 2] {
        shares.take(part, share(part));
        assert_eq!(shares.tag(), Tag::Awaited);
    }
    shares.take(1, share(1));
    assert_eq!(shares.tag(), Tag::Known(vec![7; 16]));
    let mut shares = Shares::of(2);
    shares.take(0, None);
    assert_eq!(shares.tag(), Tag::Awaited);
    shares.take(1, share(1));
    assert_eq!(shares.tag(), Tag::Lost);
}
