//! What the CPU does to data that a user has sealed: dates that can be counted by hand, bytes, and tags that are wrong.

use super::{
    super::{spec::CipherWork, *},
    data,
    machine::{Mini, Setup},
};
use crate::{
    sim::{FaultKind, Injection},
    units::{Bytes, BytesPerCycle},
};
use CipherWork::{Forward, InPlace, Reseal, Seal};
use Direction::{D2h, H2d};
use Memory::{Pageable, Pinned};

fn run(work: CipherWork, direction: Direction, change: impl FnOnce(&mut Setup)) -> Mini {
    let mut setup = Setup::secure(&[(direction, 4096, Pinned)]);
    setup.cipher.work = work;
    change(&mut setup);
    setup.go().0
}

/// Cycles of the first copy more than with another work.
fn more(work: CipherWork, than: CipherWork, direction: Direction, change: impl Fn(&mut Setup)) -> i64 {
    run(work, direction, &change).end() as i64 - run(than, direction, &change).end() as i64
}

#[test]
fn to_seal_anew_costs_opening_and_sealing() {
    let (seal, open) = (300 + 4096 / 2, 300 + 4096);
    assert_eq!(more(Reseal, Seal, H2d, |_| {}), open);
    assert_eq!(more(Reseal, Seal, D2h, |_| {}), seal);
    let mini = run(Reseal, H2d, |_| {});
    assert_eq!(mini.cipher().thread_cycles(), (open + seal) as u64);
}

#[test]
fn to_forward_costs_a_copy_and_in_place_nothing() {
    let (seal, open, copy) = (300 + 4096 / 2, 300 + 4096, 4096 / 4);
    assert_eq!(more(Forward, Seal, H2d, |_| {}), copy - seal);
    assert_eq!(more(Forward, Seal, D2h, |_| {}), copy - open);
    assert_eq!(more(InPlace, Forward, H2d, |_| {}), 1 - copy);
    assert_eq!(more(InPlace, Forward, D2h, |_| {}), 1 - copy);
}

#[test]
fn a_pass_over_cold_memory_is_paid_once_however_often_the_cipher_works_on_the_bytes() {
    let cold = |setup: &mut Setup| {
        setup.memory.l2 = Bytes(1);
        setup.memory.llc = Bytes(1);
        setup.memory.dram_rate = BytesPerCycle(2_000);
    };
    assert_eq!(more(Reseal, Seal, H2d, cold), more(Reseal, Seal, H2d, |_| {}));
    assert_eq!(more(Reseal, Seal, D2h, cold), more(Reseal, Seal, D2h, |_| {}));
    assert_eq!(run(Forward, H2d, cold).end(), run(Forward, H2d, |_| {}).end());
    // What an opening writes is posted, unless a rate says what a line that is in no cache costs; what is sealed is waited for.
    assert_eq!(run(Seal, D2h, cold).end(), run(Seal, D2h, |_| {}).end());
    let late = run(Seal, D2h, |setup| {
        cold(setup);
        setup.memory.open_dram_rate = Some(BytesPerCycle(500));
    });
    assert_eq!(late.end(), run(Seal, D2h, cold).end() + 4096 * 2);
    assert!(run(Seal, H2d, cold).end() > run(Seal, H2d, |_| {}).end());
}

#[test]
fn a_small_copy_that_is_forwarded_takes_the_second_pass_of_a_plain_one_and_in_place_none() {
    let small = |setup: &mut Setup| setup.driver.small.limit = Bytes(4096);
    let more = |work| run(work, H2d, small).end() - run(work, H2d, |_| {}).end();
    let cold_page = 64 * 3;
    assert_eq!([more(Seal), more(Reseal), more(Forward), more(InPlace)], [4096 + cold_page, 4096 + cold_page, 4096, 0]);
}

#[test]
fn every_work_delivers_the_bytes_of_the_source_and_checks_every_tag() {
    for (work, h2d, d2h) in [(Seal, 0, 25), (Reseal, 25, 50), (Forward, 0, 25), (InPlace, 0, 25)] {
        let mut setup = Setup::secure(&[(H2d, 100_000, Pinned), (D2h, 100_000, Pinned), (D2h, 70_000, Pageable)]);
        setup.cipher.work = work;
        let (mini, _) = setup.go();
        let outcomes = mini.driver().outcomes();
        assert!(outcomes.iter().all(|outcome| outcome.delivered), "{work:?}");
        assert_eq!((outcomes[0].tags_verified, outcomes[1].tags_verified), (h2d, d2h), "{work:?}");
        assert_eq!(mini.gpu().device[&(map::device(0, 0) >> 40)], data::bytes(0, 100_000));
        assert_eq!(mini.stored.borrow()[1], data::bytes(1, 100_000));
        assert_eq!(mini.stored.borrow()[2], data::bytes(2, 70_000));
    }
}

#[test]
fn a_message_that_the_user_did_not_seal_so_is_found_by_who_opens_it() {
    for place in ["user.ciphertext", "user.tag"] {
        for (work, direction, reason, tags) in [
            (Reseal, H2d, "the CPU found a wrong tag on message 5 from the user", (4, 1)),
            (Reseal, D2h, "the user found a wrong tag on message 5", (9, 1)),
            (Forward, H2d, "channel error: robust-channel error 27", (0, 0)),
            (InPlace, H2d, "channel error: robust-channel error 27", (0, 0)),
            (Forward, D2h, "the user found a wrong tag on message 5", (4, 1)),
        ] {
            let mut setup = Setup::secure(&[(direction, 100_000, Pinned)]);
            setup.cipher.work = work;
            setup.faults = vec![Injection::nth(place, FaultKind::Flip, 5)];
            let (mini, _) = setup.go();
            let outcome = &mini.driver().outcomes()[0];
            assert_eq!(outcome.reason.as_deref(), Some(reason), "{work:?} {direction:?} {place}");
            assert_eq!((outcome.tags_verified, outcome.tags_failed), tags, "{work:?} {direction:?} {place}");
            assert!(!outcome.delivered && mini.struck() == 1);
            if direction == D2h {
                assert_eq!(mini.stored.borrow()[0].len(), 4 * 4096);
            }
        }
    }
}

#[test]
fn nothing_in_staging_is_ever_plaintext_whoever_has_sealed_it() {
    for work in [Seal, Reseal, Forward, InPlace] {
        let mut setup = Setup::secure(&[(H2d, 1 << 16, Pageable), (D2h, 1 << 16, Pageable)]);
        setup.cipher.work = work;
        let (mini, _) = setup.go();
        for number in [0, 1] {
            let memory = mini.memory.borrow();
            let slot = memory.slot(SlotId(number)).unwrap();
            let same = slot.data.iter().zip(data::bytes(number as usize, 1 << 16)).filter(|(a, b)| **a == *b).count();
            assert!(slot.data.len() == 1 << 16 && same < 1 << 11, "{same}");
        }
    }
}

#[test]
fn without_confidential_computing_there_is_no_user_who_seals() {
    let end = |work| {
        let mut setup = Setup::plain(&[(H2d, 4 << 16, Pageable), (D2h, 4 << 16, Pageable)]);
        setup.cipher.work = work;
        let (mini, _) = setup.go();
        assert_eq!(mini.driver().outcomes()[1].tags_verified, 0);
        (mini.end(), mini.digests())
    };
    assert_eq!(end(Seal), end(Reseal));
    assert_eq!(end(Seal), end(InPlace));
}

#[test]
fn the_first_message_from_the_gpu_is_verified_when_its_job_ends() {
    for work in [Seal, Reseal, Forward, InPlace] {
        let first = |bytes| {
            let mini = run(work, D2h, |setup| setup.plans[0].bytes = Bytes(bytes));
            (mini.cipher().first_verified(0).unwrap().0 / 1_000_000, mini.end())
        };
        let (alone, end) = first(4096);
        assert_eq!(alone + 1, end, "{work:?}");
        let (first, end) = first(3 * 4096);
        assert!(first < end, "{work:?}");
    }
}
