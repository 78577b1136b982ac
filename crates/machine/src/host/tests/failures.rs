//! What goes wrong, and what the driver makes of it.

use super::{
    super::{spec::*, *},
    gpu::Lie,
    machine::{Mini, Setup, cpu},
};
use crate::{
    sim::{FaultKind, Injection, Kernel, Order as Ticks, SimulationError, Unit},
    units::{Bytes, BytesPerCycle, Cycles},
};
use Direction::{D2d, D2h, H2d};
use Memory::{Pageable, Pinned};

/// The first copy has failed with a reason that has `part` in it, and the others were not attempted.
fn fails(mini: &Mini, part: &str) {
    let outcomes = mini.driver().outcomes();
    let reason = outcomes[0].reason.clone().unwrap_or_default();
    assert!(reason.contains(part) && !outcomes[0].delivered, "{reason}");
    for later in &outcomes[1..] {
        assert!(later.reason.as_ref().is_some_and(|reason| reason.starts_with("not attempted")));
        assert!(!later.delivered && later.start == outcomes[0].verified && later.end == later.start);
    }
}

#[test]
fn a_flip_in_staging_or_a_skipped_iv_is_a_channel_error() {
    for (place, kind) in
        [("staging.ciphertext", FaultKind::Flip), ("staging.tag", FaultKind::Flip), ("host.iv", FaultKind::Skip)]
    {
        let mut setup = Setup::secure(&[(H2d, 100_000, Pinned), (D2h, 10, Pinned)]);
        setup.faults = vec![Injection::nth(place, kind, 20)];
        let (mini, _) = setup.go();
        fails(&mini, "robust-channel error 27");
        assert_eq!(mini.struck(), 1);
    }
}

#[test]
fn a_message_that_was_damaged_cut_short_or_sealed_under_another_iv_is_found_by_the_cpu() {
    for (lie, faults) in [
        (Some((2, Lie::Damage)), vec![]),
        (Some((2, Lie::Lose)), vec![]),
        (None, vec![Injection::nth("host.iv", FaultKind::Skip, 17)]),
    ] {
        let mut setup = Setup::secure(&[(D2h, 100_000, Pinned), (H2d, 10, Pinned)]);
        (setup.lie, setup.faults) = (lie, faults);
        let (mini, _) = setup.go();
        fails(&mini, "wrong tag on message 17");
        let outcome = &mini.driver().outcomes()[0];
        assert_eq!((outcome.tags_verified, outcome.tags_failed), (16, 1));
        assert_eq!(mini.stored.borrow()[0].len(), 16 * 4096);
    }
}

#[test]
fn without_confidential_computing_damage_passes_unseen() {
    let mut setup = Setup::plain(&[(D2h, 1_000, Pinned)]);
    setup.lie = Some((1, Lie::Damage));
    let (mini, _) = setup.go();
    assert!(mini.driver().outcomes()[0].delivered);
    assert_eq!(mini.stored.borrow()[0][0], super::data::byte(0, 0) ^ 1);
}

#[test]
fn a_semaphore_that_no_push_waits_for_ends_the_copy() {
    for value in [0x1234, 3, u64::MAX >> 8 & !CHANNEL_ERROR] {
        let mut setup = Setup::secure(&[(H2d, 1 << 16, Pageable), (H2d, 10, Pinned)]);
        setup.lie = Some((1, Lie::Value(value)));
        let (mini, _) = setup.go();
        fails(&mini, &format!("took the value {value}: no push waits for it"));
        assert_eq!(mini.driver().incidents().len(), 1);
    }
}

#[test]
fn a_semaphore_that_falls_back_ends_the_copy() {
    let mut setup = Setup::secure(&[(D2d, 100, Pinned), (D2d, 100, Pinned), (D2d, 100, Pinned)]);
    setup.lie = Some((3, Lie::Value(1)));
    let (mini, _) = setup.go();
    assert!(mini.driver().outcomes()[1].delivered && !mini.driver().outcomes()[2].delivered);
}

#[test]
fn a_semaphore_that_repeats_itself_is_noted_and_does_no_harm() {
    let mut setup = Setup::secure(&[(H2d, 2 << 16, Pageable)]);
    setup.lie = Some((1, Lie::Twice));
    let (mini, _) = setup.go();
    assert!(mini.driver().outcomes()[0].delivered);
    assert_eq!(mini.driver().incidents(), ["the semaphore at 0x30000100000 took the value 1 twice"]);
}

#[test]
fn a_later_semaphore_makes_up_for_a_lost_one_and_the_last_cannot_be_lost() {
    let mut setup = Setup::secure(&[(H2d, 2 << 16, Pageable)]);
    setup.lie = Some((1, Lie::Nothing));
    assert!(setup.go().0.driver().outcomes()[0].delivered);
    setup.lie = Some((2, Lie::Nothing));
    let mut mini = setup.build();
    let error = mini.run(Kernel::Skip, Ticks::Ascending).unwrap_err();
    assert!(matches!(error, SimulationError::Deadlock { .. }), "{error}");
    assert!(!mini.driver().outcomes()[0].delivered);
}

#[test]
fn a_wrong_tag_under_eager_release_fails_a_copy_that_had_ended() {
    let mut setup = Setup::secure(&[(H2d, 100, Pinned), (H2d, 100, Pinned)]);
    setup.options.waits_for_verified = true;
    (setup.verdict, setup.lie) = (Some(500), Some((1, Lie::Verdict)));
    let (mini, _) = setup.go();
    fails(&mini, "robust-channel error 27");
    let outcome = &mini.driver().outcomes()[0];
    // Of the 500 cycles between the two notices the completion took 100.
    assert_eq!(outcome.verified.0 - outcome.end.0, 400_000_000);
}

#[test]
fn ivs_that_are_used_up_end_the_copy_that_needs_them() {
    for direction in [H2d, D2h] {
        let mut setup = Setup::secure(&[(direction, 1 << 16, Pinned), (D2d, 10, Pinned)]);
        setup.ivs = 15;
        let (mini, _) = setup.go();
        fails(&mini, "the IVs are used up");
        setup.ivs = 16;
        assert!(setup.go().0.driver().outcomes().iter().all(|outcome| outcome.delivered));
    }
}

#[test]
fn private_memory_that_fails_ends_the_run() {
    for (direction, memory, secure) in
        [(H2d, Pinned, true), (D2h, Pageable, true), (H2d, Pinned, false), (D2h, Pinned, false), (H2d, Pageable, false)]
    {
        let mut setup = Setup::secure(&[(direction, 1 << 16, memory)]);
        setup.options.secure = secure;
        setup.disk_fails_at = Some(1);
        // A GPU that is refused a read gives up, as the toy does; the fault is what the run reports.
        if direction == H2d && !secure && memory == Pinned {
            let mini = setup.build();
            let mut memory = mini.memory.borrow_mut();
            memory.map_pinned(0, Bytes(1 << 16));
            assert!(crate::pcie::root_complex::HostMemory::read(&mut *memory, map::PINNED, 64).is_none());
            assert!(memory.fault().is_some_and(|what| what.contains("the disk is gone")));
            continue;
        }
        let error = setup.build().run(Kernel::Skip, Ticks::Ascending).unwrap_err();
        assert!(matches!(&error, SimulationError::Fault { what, .. } if what.contains("the disk is gone")), "{error}");
    }
}

#[test]
fn a_driver_that_has_finished_stays_so() {
    let (mut mini, run) = Setup::secure(&[(H2d, 10, Pinned)]).go();
    let outcomes = mini.driver().outcomes().to_vec();
    let time = crate::units::Femtos(run.end.0 + 1_000_000_000);
    let wake = mini.tick_driver(crate::sim::Now { cycle: time.0 / 1_000_000, time });
    assert_eq!(wake, crate::sim::Wake::on_port(crate::sim::Activity::Idle));
    assert_eq!(mini.driver().outcomes(), outcomes);
}

fn build(change: impl FnOnce(&mut Setup)) -> Result<(), HostError> {
    let mut setup = Setup::secure(&[(H2d, 10, Pinned), (D2h, 10, Pageable)]);
    change(&mut setup);
    Cipher::new(&setup.cipher, &setup.driver, None)?;
    HostState::new(&setup.staging, &setup.memory, None)?;
    setup.new_driver(cpu()).map(drop)
}

#[test]
fn what_cannot_be_built_is_refused() {
    let message = |bytes| PathSpec { message: Bytes(bytes), push: Bytes(1) };
    assert_eq!(build(|_| {}), Ok(()));
    assert_eq!(build(|s| s.cipher.threads = 0), Err(HostError::NoThreads));
    assert!(matches!(build(|s| s.cipher.open_rate = BytesPerCycle(0)), Err(HostError::NoRate { .. })));
    assert!(matches!(build(|s| s.driver.pageable_copy_rate = BytesPerCycle(0)), Err(HostError::NoRate { .. })));
    assert!(matches!(build(|s| s.driver.call = Cycles(u64::MAX)), Err(HostError::Cost { .. })));
    assert!(matches!(build(|s| s.cipher.per_message = Cycles(1 << 41)), Err(HostError::Cost { .. })));
    assert!(matches!(build(|s| s.staging.buffers = 0), Err(HostError::Pool { .. })));
    assert!(matches!(build(|s| s.driver.pinned = message(0)), Err(HostError::Message { .. })));
    assert!(matches!(build(|s| s.driver.pageable = message(1 << 19)), Err(HostError::Message { .. })));
    let long = Bytes(map::WINDOW.0 + 1);
    assert_eq!(build(|s| s.plans[1].bytes = long), Err(HostError::CopyTooLong { copy: 1, bytes: long }));
    let many = map::MAX_COPIES + 1;
    let copies = |s: &mut Setup| s.plans = vec![s.plans[0]; many];
    assert_eq!(build(copies), Err(HostError::TooManyCopies { copies: many }));
}

#[test]
fn a_message_that_is_too_long_is_no_matter_where_it_is_not_used() {
    let plain = |s: &mut Setup| {
        s.options.secure = false;
        s.driver.pinned.message = Bytes(0);
        s.plans[1].memory = Pinned;
    };
    assert_eq!(build(plain), Ok(()));
}
