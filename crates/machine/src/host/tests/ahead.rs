//! What is sealed before its call and opened after it: dates against other ways of doing the same, bytes, order, tags that are wrong.

use super::{
    super::{
        spec::{AheadSpec, CipherWork},
        *,
    },
    data,
    gpu::Lie,
    machine::{Mini, Setup},
};
use crate::units::{Bytes, BytesPerCycle, Cycles};
use Direction::{D2h, H2d};
use Memory::Pinned;

/// Four copies to the GPU are enough to have one before which nothing is predicted and three that are.
const COPIES: [(Direction, u64, Memory); 4] = [(H2d, 1 << 16, Pinned); 4];

fn ahead(hit_permille: u32) -> AheadSpec {
    AheadSpec { workers: 16, open_workers: 2, least: Bytes(8192), hit_permille, nops: 2, buffer: Bytes(1 << 20) }
}

/// Copies with a buffer each, on the caller.
fn setup(copies: &[(Direction, u64, Memory)], ahead: Option<AheadSpec>) -> Setup {
    let mut setup = Setup::secure(copies);
    (setup.options.on_caller, setup.cipher.ahead) = (true, ahead);
    for (number, plan) in (0..).zip(&mut setup.plans) {
        plan.buffer = number;
    }
    setup
}

/// Cycles from the call of each copy to its end.
fn times(mini: &Mini) -> Vec<u64> {
    let outcomes = mini.driver().outcomes();
    assert!(outcomes.iter().all(|outcome| outcome.delivered), "{outcomes:?}");
    outcomes.iter().map(|outcome| (outcome.end.0 - outcome.start.0) / 1_000_000).collect()
}

fn go(setup: &Setup) -> Vec<u64> {
    times(&setup.go().0)
}

fn with_seal_rate(mut setup: Setup, rate: u64) -> Setup {
    setup.cipher.seal_rate = BytesPerCycle(rate);
    setup
}

#[test]
fn a_hit_takes_as_long_as_what_the_user_has_sealed_whatever_the_sealing_rate() {
    let forwarded = {
        let mut setup = setup(&COPIES, None);
        setup.cipher.work = CipherWork::Forward;
        go(&setup)
    };
    let native = go(&setup(&COPIES, None));
    for rate in [4_000, 2_000, 1_000] {
        let hits = go(&with_seal_rate(setup(&COPIES, Some(ahead(1000))), rate));
        assert_eq!(hits[1..], forwarded[1..], "{rate}");
        // Nothing has shown a pattern before the first.
        assert_eq!(hits[0] == native[0], rate == 2_000);
    }
}

#[test]
fn a_miss_takes_the_native_path_and_a_copy_of_a_byte_for_each_nop() {
    let native = go(&setup(&COPIES, None));
    let byte = go(&setup(&[(H2d, 1, Pinned)], None))[0];
    let (mini, _) = setup(&COPIES, Some(ahead(0))).go();
    assert_eq!(times(&mini)[0], native[0]);
    assert_eq!(times(&mini)[1..], native[1..].iter().map(|time| time + 2 * byte).collect::<Vec<_>>());
    let messages: Vec<_> = mini.driver().outcomes().iter().map(|outcome| outcome.messages).collect();
    assert_eq!(messages, [16, 18, 18, 18]);
    // Without NOPs a misprediction costs the caller nothing more.
    let free = AheadSpec { nops: 0, ..ahead(0) };
    assert_eq!(go(&setup(&COPIES, Some(free))), native);
}

#[test]
fn misses_are_spread_evenly() {
    let hits = |permille| (0..20).filter(|place| driver::is_hit(*place, permille)).collect::<Vec<u64>>();
    assert!(hits(0).is_empty());
    assert_eq!(hits(1000), (0..20).collect::<Vec<_>>());
    assert_eq!(hits(500), (0..20).step_by(2).collect::<Vec<_>>());
    assert_eq!((0..20).filter(|place| !hits(800).contains(place)).collect::<Vec<_>>(), [2, 7, 12, 17]);
    for permille in [1, 37, 500, 950, 999] {
        let hits = (0..1000).filter(|place| driver::is_hit(*place, permille)).count();
        assert_eq!(hits, permille as usize);
    }
}

#[test]
fn hits_and_misses_deliver_the_bytes_in_the_order_of_their_ivs() {
    // Shorter copies in between take IVs as well.
    let copies =
        [(H2d, 30_000, Pinned), (H2d, 100, Pinned), (H2d, 70_001, Pinned), (H2d, 0, Pinned), (H2d, 9_000, Pinned)];
    for hit_permille in [0, 300, 700, 1000] {
        for buffer in [4096, 10_000, 1 << 20] {
            let (mini, _) = setup(&copies, Some(AheadSpec { buffer: Bytes(buffer), ..ahead(hit_permille) })).go();
            times(&mini);
            for (copy, (_, bytes, _)) in copies.iter().enumerate().filter(|(_, (_, bytes, _))| *bytes > 0) {
                assert_eq!(mini.gpu().device[&(map::device(copy, 0) >> 40)], data::bytes(copy, *bytes));
            }
        }
    }
}

#[test]
fn a_call_waits_for_workers_that_are_late() {
    let late = |workers| {
        let mut setup = with_seal_rate(setup(&COPIES, Some(AheadSpec { workers, ..ahead(1000) })), 500);
        setup.driver.call = Cycles(0);
        go(&setup)
    };
    let (one, many) = (late(1), late(16));
    assert!(one[2] > 2 * many[2], "{one:?} {many:?}");
    // One worker is as fast as the caller, and has the time of the first copy for nothing else.
    let native = go(&with_seal_rate(setup(&COPIES, None), 500));
    assert!(one[1..].iter().all(|time| *time <= native[1]), "{one:?} {native:?}");
}

#[test]
fn what_is_still_to_come_from_the_gpu_is_not_sealed() {
    let copies = [(D2h, 1 << 16, Pinned), (H2d, 1 << 16, Pinned)];
    let mut same = setup(&copies, Some(ahead(1000)));
    let native = go(&setup(&copies, None))[1];
    let other = go(&same)[1];
    same.plans[1].buffer = 0;
    assert!(other < native);
    // Its call waits for the pages, then seals.
    assert!(go(&same)[1] > native);
}

#[test]
fn a_call_from_the_gpu_does_not_wait_for_what_is_opened_after_it() {
    let outcome = |open_rate, open_workers| {
        let mut setup = setup(&[(D2h, 1 << 16, Pinned)], Some(AheadSpec { open_workers, ..ahead(0) }));
        setup.cipher.open_rate = BytesPerCycle(open_rate);
        let (mini, _) = setup.go();
        assert_eq!(mini.stored.borrow()[0], data::bytes(0, 1 << 16));
        let (total, free) = mini.memory.borrow().staging_fill();
        assert_eq!(total, free);
        let outcome = mini.driver().outcomes()[0].clone();
        assert!(outcome.delivered && outcome.tags_verified == 16);
        outcome
    };
    let (fast, slow, two) = (outcome(2_000, 1), outcome(1_000, 1), outcome(1_000, 2));
    assert_eq!((fast.returned, slow.returned), (slow.returned, two.returned));
    assert!(fast.returned < fast.end && fast.end < slow.end && two.end < slow.end);
    let native = outcome(1_000, 0);
    assert_eq!(native.returned, native.end);
}

#[test]
fn what_is_left_to_openers_no_thread_of_the_caller_opens_as_well() {
    let outcomes = |on_caller, threads| {
        let mut setup = setup(&[(D2h, 1 << 16, Pinned); 2], Some(ahead(0)));
        (setup.options.on_caller, setup.cipher.threads) = (on_caller, threads);
        let (mini, _) = setup.go();
        times(&mini);
        assert_eq!(mini.cipher().thread_cycles(), 0);
        mini.driver().outcomes().to_vec()
    };
    let on_caller = outcomes(true, 1);
    assert!(on_caller.iter().all(|outcome| outcome.tags_verified == 16));
    assert!([1, 4].into_iter().all(|threads| outcomes(false, threads) == on_caller));
}

#[test]
fn a_wrong_tag_that_is_found_after_the_call_ends_the_channel() {
    let mut setup = setup(&[(D2h, 1 << 16, Pinned), (H2d, 1 << 17, Pinned)], Some(ahead(1000)));
    setup.lie = Some((1, Lie::Damage));
    let (mini, _) = setup.go();
    let [first, second] = mini.driver().outcomes() else { panic!("two copies") };
    assert_eq!(first.reason.as_deref(), Some("the CPU found a wrong tag on message 1 after the call had returned"));
    assert_eq!((first.delivered, first.tags_failed), (false, 1));
    assert!(
        !second.delivered
            && second.reason.as_ref().is_some_and(|reason| reason.contains("copy 1 has ended the channel"))
    );
}
