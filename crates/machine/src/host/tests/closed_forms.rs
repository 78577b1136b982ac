//! Dates that can be counted by hand. CPU and GPU run at 1 GHz, so a cycle is a nanosecond.

use super::{super::*, machine::Setup};
use crate::{
    sim::Stall,
    units::{Bytes, BytesPerCycle, Cycles},
};
use Direction::{D2d, D2h, H2d};
use Memory::{Pageable, Pinned};

/// What every copy spends around a push: building it, ringing, the GPU's `work`, the flight back, the completion.
fn round(setup: &Setup, work: u64) -> u64 {
    let driver = &setup.driver;
    let secure = if setup.options.secure { driver.secure_push.0 + driver.secure_completion.0 } else { 0 };
    driver.push.0 + 1 + work + setup.gpu[2] + driver.completion.0 + secure
}

fn seal(bytes: u64) -> u64 {
    300 + bytes / 2
}

fn open(bytes: u64) -> u64 {
    300 + bytes
}

fn launch(bytes: u64) -> u64 {
    50 + bytes / 32
}

#[test]
fn one_message_either_way() {
    for (direction, cipher) in [(H2d, seal(4096)), (D2h, open(4096))] {
        let setup = Setup::secure(&[(direction, 4096, Pinned)]);
        assert_eq!(setup.end(), 1_000 + 1 + cipher + 1 + round(&setup, launch(4096)));
    }
}

#[test]
fn a_push_of_pages_is_sealed_one_page_after_the_other_before_it_is_submitted() {
    let setup = Setup::secure(&[(H2d, 1 << 16, Pinned)]);
    let (mini, run) = setup.go();
    assert_eq!(mini.end(), 1_000 + 1 + 16 * seal(4096) + 1 + round(&setup, 16 * launch(4096)));
    assert_eq!(run.accounts[1].busy(), 16 * seal(4096));
    assert_eq!(mini.cipher().thread_cycles(), 16 * seal(4096));
}

#[test]
fn chunks_are_sealed_while_the_gpu_opens_those_before() {
    let setup = Setup::secure(&[(H2d, 4 << 16, Pageable)]);
    let chunk = 1 << 16;
    assert!(seal(chunk) > round(&setup, launch(chunk)));
    assert_eq!(setup.end(), 1_000 + 1 + 4 * seal(chunk) + 1 + round(&setup, launch(chunk)));
}

#[test]
fn threads_seal_messages_of_one_push_side_by_side() {
    let mut setup = Setup::secure(&[(H2d, 1 << 16, Pinned)]);
    setup.cipher.threads = 4;
    // One start per cycle: the fourth thread is three cycles behind the first.
    assert_eq!(setup.end(), 1_000 + 1 + 3 + 4 * seal(4096) + 1 + round(&setup, 16 * launch(4096)));
}

#[test]
fn pinned_memory_without_confidential_computing_needs_no_cipher() {
    for direction in [H2d, D2h] {
        let setup = Setup::plain(&[(direction, 1 << 20, Pinned)]);
        let (mini, run) = setup.go();
        assert_eq!(mini.end(), 1_000 + round(&setup, launch(1 << 20)));
        assert_eq!(run.accounts[1].busy(), 0);
    }
}

#[test]
fn pageable_memory_without_confidential_computing_is_copied_through_staging() {
    let mut setup = Setup::plain(&[(H2d, 4 << 16, Pageable)]);
    let copy = (1 << 16) / 4;
    assert_eq!(setup.end(), 1_000 + 1 + 4 * copy + 1 + round(&setup, launch(1 << 16)));
    setup.plans[0].direction = D2h;
    setup.plans[0].bytes = Bytes(1 << 16);
    assert_eq!(setup.end(), 1_000 + round(&setup, launch(1 << 16)) + 1 + copy + 1);
}

#[test]
fn a_copy_within_the_gpu_pays_secure_submission_but_no_cipher() {
    for setup in [Setup::plain(&[(D2d, 1 << 20, Pinned)]), Setup::secure(&[(D2d, 1 << 20, Pinned)])] {
        let (mini, run) = setup.go();
        assert_eq!(mini.end(), 1_000 + round(&setup, launch(1 << 20)));
        assert_eq!(run.accounts[1].busy(), 0);
    }
}

#[test]
fn a_copy_of_nothing_costs_its_call() {
    let setup = Setup::secure(&[(H2d, 0, Pinned), (D2h, 0, Pageable), (H2d, 0, Pageable)]);
    let (mini, run) = setup.go();
    for (place, outcome) in (0..).zip(mini.driver().outcomes()) {
        assert_eq!((outcome.start.0, outcome.end.0), (place * 1_000_000_000, (place + 1) * 1_000_000_000));
        assert!(outcome.delivered);
        assert_eq!(outcome.messages, 0);
    }
    assert_eq!(run.accounts[0].busy(), 3_000);
}

#[test]
fn a_copy_starts_when_the_one_before_is_done() {
    let setup = Setup::secure(&[(H2d, 4096, Pinned), (D2h, 100, Pageable)]);
    let (mini, _) = setup.go();
    let outcomes = mini.driver().outcomes();
    assert_eq!(outcomes[1].start, outcomes[0].end);
    assert_eq!(outcomes[0].verified, outcomes[0].end);
}

#[test]
fn under_eager_release_the_next_copy_waits_for_the_verdict_and_the_consumer_does_not() {
    let mut setup = Setup::secure(&[(H2d, 4096, Pinned), (H2d, 4096, Pinned)]);
    let end = setup.end();
    setup.options.waits_for_verified = true;
    setup.verdict = Some(5_000);
    let (mini, run) = setup.go();
    let outcomes = mini.driver().outcomes();
    assert_eq!(mini.end(), end);
    // The verdict comes 5000 cycles after the notice, of which the completion has taken 100.
    assert_eq!(outcomes[0].verified.0, (end + 5_000 - 100) * 1_000_000);
    assert_eq!(outcomes[1].start, outcomes[0].verified);
    let waits = Stall::in_account(&run.accounts[0]).find(|(stall, _)| stall.name() == "auth_dependency");
    assert_eq!(waits.map(|(_, cycles)| cycles), Some(2 * 4_900));
}

#[test]
fn the_driver_accounts_for_every_cycle_of_one_message() {
    let setup = Setup::secure(&[(H2d, 4096, Pinned)]);
    let (_, run) = setup.go();
    let account = &run.accounts[0];
    assert_eq!(account.busy(), 1_000 + 600 + 100);
    let stalls: Vec<_> = Stall::in_account(account).map(|(stall, cycles)| (stall.name(), cycles)).collect();
    let (sealing, waiting) = (1 + seal(4096) + 1, 1 + launch(4096) + 900);
    assert_eq!(stalls, [("host_cipher", sealing), ("completion", waiting)]);
}

#[test]
fn a_doorbell_that_finds_no_room_stalls_the_driver() {
    let mut setup = Setup::plain(&[(H2d, 4 << 30, Pinned)]);
    setup.exact = false;
    setup.depths[2] = 1;
    setup.gpu[1] = 1 << 20;
    setup.driver.push = Cycles(10);
    let (mini, run) = setup.go();
    assert_eq!(mini.driver().outcomes()[0].messages, 4);
    let stalled: u64 =
        Stall::in_account(&run.accounts[0]).filter(|(stall, _)| stall.name() == "submission").map(|s| s.1).sum();
    // The GPU takes push 1 at once; push 2 waits in the queue; push 3 waits for it until push 1 is done, push 4 until push 2 is.
    let (work, ring) = (launch_large(), 1_000 + 10);
    let freed = |pushes: u64| ring + 1 + pushes * work + 1;
    assert_eq!(stalled, (freed(1) - (ring + 20)) + (freed(2) - (freed(1) + 10)));
}

fn launch_large() -> u64 {
    50 + (1 << 30) / (1 << 20)
}

#[test]
fn a_rate_that_does_not_divide_is_rounded_up_to_whole_cycles() {
    let mut setup = Setup::secure(&[(H2d, 1_000, Pinned)]);
    setup.cipher.seal_rate = BytesPerCycle(1_600);
    let (mini, _) = setup.go();
    assert_eq!(mini.end(), 1_000 + 1 + (300 + 625) + 1 + round(&setup, 50 + 32));
    setup.cipher.seal_rate = BytesPerCycle(1_601);
    assert_eq!(setup.end(), mini.end());
}
