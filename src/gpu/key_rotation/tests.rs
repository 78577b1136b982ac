//! Facts about work, thresholds and states.

use super::*;
use proptest::prelude::*;

const SMALL: Thresholds = Thresholds { lower: 100, upper: 200 };

const fn seconds(s: u64) -> Femtos {
    Femtos(s * 1_000_000_000_000_000)
}

/// A pair whose H2D key has done `units` of work, in empty messages.
fn worked(units: u64, user: bool) -> KeyPair {
    let mut pair = KeyPair::new(SMALL, user);
    pair.h2d.messages = units;
    pair
}

fn pending(user: bool) -> KeyPair {
    let mut pair = worked(101, user);
    assert_eq!(pair.poll(seconds(1)), Action::Notify);
    pair
}

#[test]
fn work_is_blocks_of_the_sum_of_bytes_plus_messages() {
    let mut work = Work::default();
    for _ in 0..4 {
        work.add(12);
    }
    assert_eq!(work.units(), 3 + 4);
    work.add(4096);
    assert_eq!(work.units(), 259 + 5);
}

#[test]
fn thresholds_follow_the_attacker_advantage() {
    let at = |advantage| Thresholds::for_advantage(advantage).unwrap();
    assert_eq!(at(DEFAULT_ADVANTAGE), Thresholds::default());
    assert_eq!(at(60), Thresholds { lower: 23_296_003_999, upper: 24_296_003_999 });
    assert_eq!((at(50).upper, at(65).upper), (777_472_127_993, u32::MAX.into()));
    for outside in [0, 49, 66, u32::MAX] {
        assert_eq!(Thresholds::for_advantage(outside), Err(AdvantageError(outside)));
    }
}

#[test]
fn one_bit_of_advantage_costs_a_factor_of_root_two() {
    for (advantage, pair) in ADVANTAGES.zip(UPPER.windows(2)) {
        let ratio = pair[0] as f64 / pair[1] as f64;
        assert!((ratio - 2f64.sqrt()).abs() < 1e-3, "{advantage}: {ratio}");
    }
}

#[test]
fn at_the_default_a_key_seals_388_gb_and_372_gb_before_it_is_asked() {
    let gigabytes = |units: u64| units as f64 * 16.0 / 1e9;
    let thresholds = Thresholds::default();
    assert!((gigabytes(thresholds.upper) - 388.7).abs() < 0.1);
    assert!((gigabytes(thresholds.lower) - 372.7).abs() < 0.1);
    // Messages of 4 KiB add one unit to each 256.
    let messages = thresholds.upper / 257;
    assert!((messages as f64 * 4096.0 / 1e9 - 387.2).abs() < 0.1);
}

#[test]
fn a_threshold_is_crossed_only_above_it() {
    let edges = [(100, Action::None), (101, Action::Notify), (200, Action::Notify), (201, Action::KillBusyChannels)];
    for (units, action) in edges {
        let mut h2d = worked(units, true);
        let mut d2h = KeyPair::new(SMALL, true);
        d2h.d2h = h2d.h2d;
        assert_eq!((h2d.poll(seconds(0)), d2h.poll(seconds(0))), (action, action), "{units} units");
    }
}

#[test]
fn either_direction_triggers() {
    let mut pair = KeyPair::new(SMALL, true);
    pair.d2h.bytes = 101 * 16;
    assert_eq!(pair.poll(seconds(0)), Action::Notify);
    let mut halves = worked(60, true);
    halves.d2h.messages = 60;
    assert_eq!(halves.poll(seconds(0)), Action::None, "directions are not added");
}

#[test]
fn a_rotation_runs_from_idle_to_idle_and_clears_the_work() {
    let mut pair = pending(true);
    assert!(!pair.admits_channels());
    assert_eq!(pair.poll(seconds(2)), Action::None);
    pair.begin().unwrap();
    assert_eq!(pair.state(), State::InProgress);
    pair.finish(true).unwrap();
    assert_eq!((pair.state(), pair.version(), pair.h2d), (State::Idle, 1, Work::default()));
    assert!(pair.admits_channels());
}

#[test]
fn user_channels_have_five_seconds() {
    let mut pair = pending(true);
    assert_eq!(pair.deadline(), Some(seconds(6)));
    assert_eq!(pair.poll(Femtos(seconds(6).0 - 1)), Action::None);
    assert_eq!(pair.poll(seconds(6)), Action::KillBusyChannels);
    assert_eq!(pair.state(), State::FailedTimeout);
    pair.begin().unwrap();
    pair.finish(true).unwrap();
    assert_eq!(pair.state(), State::Idle);
}

#[test]
fn kernel_keys_have_no_deadline_but_the_upper_threshold() {
    let mut pair = pending(false);
    assert_eq!((pair.deadline(), pair.poll(seconds(1000))), (None, Action::None));
    pair.d2h.messages = 201;
    assert_eq!(pair.poll(seconds(1001)), Action::KillBusyChannels);
    assert_eq!(pair.state(), State::FailedThreshold);
    assert_eq!(pair.poll(seconds(1002)), Action::None, "once is enough");
}

#[test]
fn a_suspended_clock_keeps_what_was_left() {
    let mut pair = pending(true);
    pair.suspend(seconds(3)).unwrap();
    assert_eq!(pair.poll(seconds(100)), Action::None);
    pair.resume(seconds(100)).unwrap();
    assert_eq!(pair.deadline(), Some(seconds(103)));
    pair.suspend(seconds(101)).unwrap();
    pair.h2d.messages = 201;
    assert_eq!(pair.poll(seconds(101)), Action::KillBusyChannels, "the upper threshold needs no clock");
}

#[test]
fn a_failed_replacement_is_final() {
    let mut pair = pending(true);
    pair.begin().unwrap();
    pair.finish(false).unwrap();
    assert_eq!(pair.state(), State::FailedRotation);
    assert_eq!(pair.poll(seconds(100)), Action::None);
    assert!(pair.begin().is_err() && pair.finish(true).is_err() && pair.suspend(seconds(100)).is_err());
}

#[test]
fn steps_out_of_order_are_refused_and_change_nothing() {
    let mut pair = worked(0, true);
    assert_eq!(pair.begin(), Err(RotationError { step: "starting a rotation", state: State::Idle }));
    assert!(pair.finish(true).is_err() && pair.suspend(seconds(0)).is_err() && pair.resume(seconds(0)).is_err());
    assert_eq!(pair, worked(0, true));
}

proptest! {
    #[test]
    fn a_pair_with_work_left_to_the_lower_threshold_is_never_disturbed(messages in prop::collection::vec(0u64..200, 0..12)) {
        let mut pair = KeyPair::new(SMALL, true);
        for (second, bytes) in messages.into_iter().enumerate() {
            pair.h2d.add(bytes);
            let over = pair.h2d.units() > SMALL.lower;
            let action = pair.poll(seconds(second as u64));
            prop_assert_eq!(action == Action::Notify || pair.state() != State::Idle, over);
            if over {
                break;
            }
        }
    }
}
