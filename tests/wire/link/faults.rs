//! Whatever befalls a frame on the wire, every TLP arrives once, in order and whole.

use super::{ide::ide, machine::*, units::Sink};
use proptest::prelude::*;
use sealsim::{
    pcie::{
        packet::{Kind, Tlp},
        port::Traffic,
        spec::LinkSpec,
    },
    sim::{FaultKind, Injection, Kernel, Order, Stall},
    units::Cycles,
};

const KINDS: [FaultKind; 5] =
    [FaultKind::Flip, FaultKind::FlipToken, FaultKind::Drop, FaultKind::Duplicate, FaultKind::Reorder];

/// Writes and reads up, completions for two PCEs and writes down.
fn plan(link: LinkSpec) -> Plan {
    let sizes = [4, 256, 64, 255, 17, 1];
    let mut plan = Plan::new(link);
    plan.up = vec![
        Feed::new(60, move |n| {
            write(BASE + n * 256 + n % 4 * u64::from(n % 2 == 1), sizes[n as usize % 6].min(252), true)
        }),
        Feed::new(40, |n| Tlp::read((n * 19 % 768) as u16, BASE + n * 512, 512)),
    ];
    plan.down = vec![
        Feed::new(60, |n| completion((n * 77 % 768) as u16, BASE + n * 256, 256, true)),
        Feed::new(20, |n| write(BASE + n * 64, 8, true)),
    ];
    plan
}

/// As little as can be advertised.
fn tight() -> LinkSpec {
    let mut spec = link();
    for credits in [&mut spec.host_credits, &mut spec.gpu_credits] {
        (credits.posted_headers, credits.posted_data, credits.non_posted_headers) = (2, 32, 1);
    }
    spec
}

/// The same with IDE.
fn protected(link: LinkSpec, aggregation: u32) -> LinkSpec {
    LinkSpec { ide: Some(ide(aggregation)), ..link }
}

fn fault(place: &str, kind: FaultKind, transfer: u64, seed: u64) -> (Injection, u64) {
    (Injection::nth(place, kind, transfer), seed)
}

/// What every sink must get: of each kind of TLP, all that the feeds make, in order.
fn check(plan: &Plan, link: &Link, what: &str) {
    let feed = |feed: &Feed| (0..feed.count).map(|n| (feed.make)(n)).collect::<Vec<_>>();
    let (up, down): (Vec<_>, Vec<_>) =
        (plan.up.iter().flat_map(feed).collect(), plan.down.iter().flat_map(feed).collect());
    let expect = |sink: &Sink, sent: &[Tlp], is_for: &dyn Fn(&Tlp) -> bool| {
        let sent: Vec<_> = sent.iter().filter(|t| is_for(t)).map(|t| (t.kind, t.tag, t.address, t.bytes)).collect();
        let got: Vec<_> = sink.got.iter().map(|g| (g.kind, g.tag, g.address, g.bytes)).collect();
        assert_eq!(got, sent, "{what}");
        assert!(sink.got.iter().all(|g| g.right && g.intact), "{what}: bytes");
    };
    expect(link.host_sink(1), &up, &|t| t.kind == Kind::Read);
    expect(link.host_sink(0), &up, &|t| t.kind == Kind::Write);
    expect(link.gpu_sink(0), &down, &|t| t.kind == Kind::Completion && t.tag < 384);
    expect(link.gpu_sink(1), &down, &|t| t.kind == Kind::Completion && t.tag >= 384);
    expect(link.gpu_sink(2), &down, &|t| t.kind == Kind::Write);
}

fn survive(plan: &Plan, faults: &[(Injection, u64)]) -> Link {
    match go(plan, Kernel::Skip, Order::Ascending, faults) {
        Ok((link, _)) => {
            check(plan, &link, &format!("{faults:?}"));
            link
        }
        Err(error) => panic!("{faults:?}: {error}"),
    }
}

/// Both ports' counters together.
fn sum(link: &Link) -> Traffic {
    let [a, b] = link.traffic();
    Traffic {
        tlps: a.tlps + b.tlps,
        dllps: a.dllps + b.dllps,
        payload_bytes: a.payload_bytes + b.payload_bytes,
        wire_bytes: a.wire_bytes + b.wire_bytes,
        replays: a.replays + b.replays,
        recoveries: a.recoveries + b.recoveries,
        bad_lcrc: a.bad_lcrc + b.bad_lcrc,
        bad_tokens: a.bad_tokens + b.bad_tokens,
        out_of_sequence: a.out_of_sequence + b.out_of_sequence,
        bad_dllps: a.bad_dllps + b.bad_dllps,
        duplicates: a.duplicates + b.duplicates,
        ide_bytes: a.ide_bytes + b.ide_bytes,
        bad_macs: a.bad_macs + b.bad_macs,
        discarded: a.discarded + b.discarded,
    }
}

#[test]
fn without_faults_nothing_is_sent_twice() {
    for spec in [link(), tight(), protected(link(), 8), protected(tight(), 2)] {
        let counters = sum(&survive(&plan(spec), &[]));
        assert_eq!((counters.tlps, counters.replays, counters.recoveries, counters.duplicates), (180, 0, 0, 0));
    }
}

#[test]
fn any_single_fault_at_any_transfer_is_made_good_and_counted() {
    let protected = [(protected(link(), 8), 110), (protected(tight(), 4), 180)];
    for (spec, transfers) in [(link(), 110), (tight(), 180)].into_iter().chain(protected) {
        let plan = plan(spec);
        for (place, kind) in ["up", "down"].into_iter().flat_map(|place| KINDS.map(|kind| (place, kind))) {
            for transfer in 1..=transfers {
                let link = survive(&plan, &[fault(place, kind, transfer, transfer * 37 + 5)]);
                let c = sum(&link);
                let found = c.bad_lcrc + c.bad_tokens + c.bad_dllps;
                let what = format!("{kind:?} {place} {transfer}: {c:?}");
                match kind {
                    FaultKind::Flip => assert!(found <= 1 && c.bad_tokens == 0 && c.recoveries == 0, "{what}"),
                    FaultKind::FlipToken => {
                        assert!(found <= 1 && c.bad_lcrc == 0 && c.recoveries == c.bad_tokens, "{what}");
                    }
                    _ => assert!(found == 0 && c.recoveries == 0, "{what}"),
                }
                if c.bad_lcrc > 0 {
                    assert!(c.replays > 0, "{what}");
                }
            }
        }
    }
}

#[test]
fn every_bit_of_a_tlp_and_of_its_token_is_guarded() {
    let mut plan = Plan::new(link());
    plan.up = vec![Feed::new(3, |n| write(BASE + n * 8, 8, true))];
    for seed in 0..800 {
        let c = sum(&survive(&plan, &[fault("up", FaultKind::Flip, 2, seed)]));
        assert_eq!((c.bad_lcrc, c.bad_tokens, c.recoveries, c.replays), (1, 0, 0, 2), "{seed}");
    }
    for seed in 0..20 {
        let c = sum(&survive(&plan, &[fault("up", FaultKind::FlipToken, 2, seed)]));
        assert_eq!((c.bad_lcrc, c.bad_tokens, c.recoveries), (0, 1, 1), "{seed}");
    }
}

#[test]
fn a_lost_tlp_is_missed_by_the_next_and_the_last_one_by_the_replay_timer() {
    let mut plan = Plan::new(link());
    plan.up = vec![Feed::new(10, |n| write(BASE + n * 256, 256, true))];
    let quick = survive(&plan, &[fault("up", FaultKind::Drop, 4, 0)]);
    assert!(quick.host_sink(0).last < 1000);
    assert_eq!(quick.traffic()[1].replays, 7);
    let slow = survive(&plan, &[fault("up", FaultKind::Drop, 10, 0)]);
    assert!((6000..7000).contains(&slow.host_sink(0).last), "{}", slow.host_sink(0).last);
    assert_eq!(slow.traffic()[1].replays, 1);
}

#[test]
fn a_lost_ack_is_made_good_by_the_next_or_by_a_replay_that_the_receiver_drops() {
    let mut plan = Plan::new(link());
    plan.up = vec![Feed { gap: 20_000, ..Feed::new(2, |n| write(BASE + n * 256, 256, true)) }];
    // The only frame that travels down before the second write is the Ack of the first.
    let link = survive(&plan, &[fault("down", FaultKind::Drop, 1, 0)]);
    assert_eq!((link.traffic()[1].replays, link.traffic()[0].duplicates), (1, 1));
    assert_eq!(link.traffic()[1].recoveries, 0);
}

#[test]
fn a_lost_update_of_credits_is_repeated_even_if_nothing_else_happens() {
    let mut spec = link();
    (spec.host_credits.posted_headers, spec.ack_latency) = (1, Cycles(1));
    let mut plan = Plan::new(spec);
    plan.up = vec![Feed::new(3, |n| write(BASE + n * 256, 256, true))];
    for transfer in 1..=6 {
        for faults in 1..=2 {
            let faults: Vec<_> = (0..faults).map(|n| fault("down", FaultKind::Drop, transfer + n, 0)).collect();
            survive(&plan, &faults);
        }
    }
    // Down go an Ack and an update for each write; the update of the first write is lost, and nothing but its repetition helps.
    let link = survive(&plan, &[fault("down", FaultKind::Drop, 2, 0)]);
    assert!((30_000..31_000).contains(&link.host_sink(0).last), "{}", link.host_sink(0).last);
}

#[test]
fn the_fourth_replay_in_a_row_retrains_the_link() {
    let mut plan = Plan::new(link());
    plan.up = vec![Feed::new(1, |_| write(BASE, 256, true))];
    let drops: Vec<_> = (1..=4).map(|transfer| fault("up", FaultKind::Drop, transfer, 0)).collect();
    let three = survive(&plan, &drops[..3]);
    assert_eq!((three.traffic()[1].replays, three.traffic()[1].recoveries), (3, 0));
    let four = survive(&plan, &drops);
    assert_eq!((four.traffic()[1].replays, four.traffic()[1].recoveries), (4, 1));
    // Four timers and a Recovery of 1 us.
    assert!((25_000..25_300).contains(&four.host_sink(0).last), "{}", four.host_sink(0).last);
}

#[test]
fn recovery_takes_its_time_and_loses_nothing() {
    let (account, end) = {
        let mut plan = Plan::new(link());
        plan.up = vec![Feed::new(100, |n| write(BASE + n * 256, 256, true))];
        let faults = [fault("up", FaultKind::FlipToken, 20, 0)];
        let (link, outcome) = go(&plan, Kernel::Skip, Order::Ascending, &faults).unwrap();
        check(&plan, &link, "recovery");
        assert_eq!(link.traffic()[0].recoveries, 1);
        (outcome.accounts[0].clone(), link.host_sink(0).last)
    };
    assert_eq!(Stall::in_account(&account).collect::<Vec<_>>(), [(Stall::Recovery, 1000)]);
    assert!(end > 1500);
}

#[test]
fn sequence_numbers_wrap_with_and_without_a_replay_across_the_wrap() {
    let mut plan = Plan::new(link());
    plan.up = vec![Feed::new(9000, |n| write(BASE + n * 8 % MEMORY, 8, true))];
    survive(&plan, &[]);
    for transfer in [4094, 4095, 4096, 4097, 4200, 8192, 8193] {
        for kind in KINDS {
            survive(&plan, &[fault("up", kind, transfer, transfer)]);
        }
    }
}

#[test]
fn a_full_replay_buffer_stalls_the_transmitter_and_limits_the_rate() {
    let spec = LinkSpec { replay_tlps: 4, ..link() };
    let mut plan = Plan::new(spec);
    plan.up = vec![Feed::new(2000, |n| write(BASE + n * 256 % MEMORY, 256, true))];
    let (link, outcome) = go(&plan, Kernel::Skip, Order::Ascending, &[]).unwrap();
    check(&plan, &link, "replay buffer");
    let full =
        Stall::in_account(&outcome.accounts[1]).find(|(stall, _)| *stall == Stall::ReplayFull).map_or(0, |(_, n)| n);
    assert!(full > 100_000, "{full}");
    // The first TLP takes five cycles and a flight; its Ack waits 42 cycles and flies; by then all four are there.
    let expected = 4.0 * 256e9 / (4 + 100 + 42 + 100) as f64;
    assert!((link.host_sink(0).rate() / expected - 1.0).abs() < 0.02, "{} {expected}", link.host_sink(0).rate());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn several_faults_at_once_are_made_good(
        tightly in any::<bool>(),
        flight in prop::sample::select(vec![1u64, 7, 100, 400]),
        timer in prop::sample::select(vec![600u64, 2000, 6000]),
        recovery in prop::sample::select(vec![0u64, 50_000_000, 1_000_000_000]),
        start in 1u64..150,
        faults in prop::collection::vec((any::<bool>(), 0usize..5, 0u64..40, any::<u64>()), 1..7),
    ) {
        let spec = if tightly { tight() } else { link() };
        let recovery = sealsim::units::Femtos(recovery);
        let spec = LinkSpec { flight: Cycles(flight), replay_timer: Cycles(timer), recovery, ..spec };
        let faults: Vec<_> = faults
            .into_iter()
            .map(|(up, kind, transfer, seed)| fault(if up { "up" } else { "down" }, KINDS[kind], start + transfer, seed))
            .collect();
        survive(&plan(spec), &faults);
    }
}

#[test]
fn flits_that_are_lost_are_sent_again_and_nothing_is_missing() {
    for (errors, lanes) in [(None, 16), (Some(10_000_000), 16), (Some(10_000_000), 1)] {
        let spec = LinkSpec { generation: 6, lanes, flit_errors: errors, replay_timer: Cycles(60_000), ..link() };
        let plan = plan(spec);
        let link = survive(&plan, &[]);
        let sum = sum(&link);
        assert_eq!(sum.bad_lcrc > 0, errors.is_some(), "{errors:?}");
        assert!(sum.replays >= sum.bad_lcrc && sum.recoveries == 0, "{sum:?}");
        check(&plan, &link, "lost flits");
    }
}
