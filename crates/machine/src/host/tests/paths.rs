//! What is submitted on each path, and that the bytes arrive.

use super::{super::*, data, machine::Setup};
use crate::{
    sim::Stall,
    stream::{LaunchKind, Semaphore},
    units::{Bytes, BytesPerCycle},
};
use Direction::{D2d, D2h, H2d};
use Memory::{Pageable, Pinned};

fn delivered(mini: &super::machine::Mini) -> bool {
    mini.driver().outcomes().iter().all(|outcome| outcome.delivered && outcome.reason.is_none())
}

#[test]
fn the_by_page_path_submits_a_launch_per_page_with_its_own_slot_and_tag() {
    let setup = Setup::secure(&[(H2d, (1 << 17) + 100, Pinned)]);
    let (mini, _) = setup.go();
    assert!(delivered(&mini));
    assert_eq!(mini.driver().outcomes()[0].messages, 33);
    assert_eq!(mini.gpu().launches().iter().map(Vec::len).collect::<Vec<_>>(), [16, 16, 1]);
    let launches = mini.gpu().launches().concat();
    for (place, launch) in (0..).zip(&launches) {
        assert_eq!(launch.kind, LaunchKind::Open);
        assert_eq!(launch.destination, map::DEVICE_BASE + place * 4096);
        assert_eq!((launch.source, launch.tag), (map::STAGING + place * 4096, map::TAGS + place * 16));
        assert_eq!(launch.bytes, if place < 32 { 4096 } else { 100 });
        assert_eq!(launch.pipelined, place % 16 != 0);
        assert_eq!((launch.iv, launch.flush), (0, place % 16 == 15 || place == 32));
    }
    assert_eq!(mini.gpu().device[&(map::DEVICE_BASE >> 40)], data::bytes(0, (1 << 17) + 100));
}

#[test]
fn the_chunked_path_submits_a_push_per_chunk() {
    let mut setup = Setup::secure(&[(D2h, 3 << 16, Pageable)]);
    setup.options.pipelined_pushes = true;
    let (mini, _) = setup.go();
    assert!(delivered(&mini));
    let launches = mini.gpu().launches().concat();
    assert_eq!(launches.len(), 3);
    for (place, launch) in (0..).zip(&launches) {
        assert_eq!((launch.kind, launch.pipelined, launch.iv), (LaunchKind::Seal, true, map::IV_PAGE));
        assert_eq!(launch.source, map::DEVICE_BASE + (place << 16));
    }
    assert_eq!(mini.driver().outcomes()[0].tags_verified, 3);
    assert_eq!(mini.stored.borrow()[0], data::bytes(0, 3 << 16));
}

#[test]
fn pushes_are_numbered_from_one_over_all_copies_and_release_their_numbers() {
    let setup = Setup::secure(&[(H2d, 100, Pinned), (D2d, 100, Pinned), (D2h, 100, Pageable)]);
    let (mini, _) = setup.go();
    assert!(delivered(&mini));
    for (number, push) in (1..).zip(&mini.gpu().seen) {
        assert_eq!((push.number, push.semaphore), (number, Semaphore { address: map::DONE, value: number }));
    }
    assert_eq!(mini.driver().pushes(), 3);
}

#[test]
fn pinned_memory_without_confidential_computing_moves_in_pieces_of_a_gibibyte() {
    let mut setup = Setup::plain(&[(H2d, (2 << 30) + 5, Pinned), (D2h, 1 << 30, Pinned)]);
    setup.exact = false;
    let (mini, _) = setup.go();
    assert!(delivered(&mini));
    let launches = mini.gpu().launches().concat();
    assert_eq!(
        launches.iter().map(|launch| (launch.kind, launch.source, launch.bytes)).collect::<Vec<_>>(),
        [
            (LaunchKind::Fetch, map::pinned(0, 0), 1 << 30),
            (LaunchKind::Fetch, map::pinned(0, 1 << 30), 1 << 30),
            (LaunchKind::Fetch, map::pinned(0, 2 << 30), 5),
            (LaunchKind::Store, map::device(1, 0), 1 << 30),
        ]
    );
    assert!(launches.iter().all(|launch| launch.tag == 0));
}

#[test]
fn a_pool_smaller_than_a_push_makes_smaller_pushes() {
    for direction in [H2d, D2h] {
        let mut setup = Setup::secure(&[(direction, 10 * 4096, Pinned)]);
        setup.staging.buffer = Bytes(3 * 4096);
        setup.staging.buffers = 1;
        let (mini, run) = setup.go();
        assert!(delivered(&mini));
        assert_eq!(mini.gpu().launches().iter().map(Vec::len).collect::<Vec<_>>(), [3, 3, 3, 1]);
        assert_eq!(mini.memory.borrow().staging_fill(), (3, 3));
        assert!(Stall::in_account(&run.accounts[0]).any(|(stall, _)| stall.name() == "staging_full"));
    }
}

#[test]
fn a_slow_gpu_fills_staging_and_a_slow_cipher_does_not() {
    let mut setup = Setup::secure(&[(H2d, 32 << 16, Pageable)]);
    setup.cipher.seal_rate = BytesPerCycle(64_000);
    setup.depths[2] = 64;
    setup.gpu[1] = 1;
    let (mini, run) = setup.go();
    assert!(delivered(&mini));
    let full = |run: &crate::sim::Run| -> u64 {
        Stall::in_account(&run.accounts[0]).filter(|(stall, _)| stall.name() == "staging_full").map(|s| s.1).sum()
    };
    assert!(full(&run) > run.accounts[0].total() / 4, "{}", full(&run));
    setup.cipher.seal_rate = BytesPerCycle(100);
    setup.gpu[1] = 32;
    assert_eq!(full(&setup.go().1), 0);
}

#[test]
fn paths_of_different_messages_share_the_pool_one_after_the_other() {
    let setup = Setup::secure(&[
        (H2d, 5 << 16, Pageable),
        (D2h, 100_000, Pinned),
        (D2h, 300_000, Pageable),
        (H2d, 12_345, Pinned),
    ]);
    let (mini, _) = setup.go();
    assert!(delivered(&mini));
    assert_eq!(mini.gpu().device[&(map::device(0, 0) >> 40)], data::bytes(0, 5 << 16));
    assert_eq!(mini.stored.borrow()[1], data::bytes(1, 100_000));
    assert_eq!(mini.stored.borrow()[2], data::bytes(2, 300_000));
    assert_eq!(mini.gpu().device[&(map::device(3, 0) >> 40)], data::bytes(3, 12_345));
}
