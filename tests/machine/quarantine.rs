//! Room for plaintext that waits for its verdict: what of it a configuration can use, which is charged, and what a run needs.

use crate::common::{copy, request, run, with_pces};
use proptest::{
    prelude::*,
    test_runner::{Config, TestRunner},
};
use sealsim::{
    config::{Layers, MachineSpec},
    sim::{Kernel, Order},
    system::{DataMode, Direction, Memory, Outcome},
};
use std::cell::Cell;

/// More than anything here can use.
const AMPLE: u64 = 1 << 20;

fn h2d(machine: &MachineSpec, bytes: u64) -> Outcome {
    let copies = vec![copy(Direction::H2d, bytes, Memory::Pinned)];
    run(machine, request(copies, DataMode::None, Kernel::Skip, Order::Ascending)).unwrap()
}

#[test]
fn random_machines_use_no_more_than_can_be_used_and_some_all_of_it_and_do_the_same_with_that_alone() {
    let one_of = |texts: &'static [&'static str]| prop::sample::select(texts);
    let machines = (
        (1u32..4, 1u64..9, 1u64..7, 1u32..8, 1u32..8),
        one_of(&["tag_queue.retirement=in_order", "tag_queue.retirement=out_of_order"]),
        one_of(&["tag_queue.release=hold", "tag_queue={release=\"skid\",skid=\"3000 B\"}"]),
        one_of(&["copy_engine.sharing=per_pce", "copy_engine.sharing=split", "tag_queue.tag_every=3 KiB"]),
        one_of(&["copy_engine.pools.quarantine=pce", "copy_engine.pools.quarantine=gpu"]),
        one_of(&["engine.compare=1 cycle", "engine.compare=20000 cycles"]),
    );
    let (cases, all, less) = (160, Cell::new(0), Cell::new(0));
    let mut runner = TestRunner::new(Config { cases, ..Config::default() });
    let tested =
        runner.run(&machines, |((pces, message, in_push, messages, depth), order, release, way, whose, compare)| {
            let message = message * 2048;
            let with = |room: u64| {
                let own = [
                    format!("copy_engine.messages_in_flight={messages}"),
                    format!("tag_queue.depth={depth}"),
                    format!("tag_queue.quarantine={room} B"),
                    format!("driver.pageable={{message=\"{message} B\",push=\"{} B\"}}", in_push * message),
                ];
                let sets = [order, release, way, whose, compare];
                let sets: Vec<_> = sets.into_iter().chain(own.iter().map(String::as_str)).collect();
                with_pces(pces, (message, in_push), &sets)
            };
            let ample = with(AMPLE);
            let usable = ample.usable_quarantine();
            let holders = if ample.common_quarantine().is_some() { 1 } else { u64::from(pces) };
            let ran = h2d(&ample, 7 * in_push * message + 4000);
            let queue = ran.gpus[0].tag_queue;
            prop_assert!(ran.copies[0].delivered && queue.least_quarantine_bytes <= usable, "{usable}: {queue:?}");
            prop_assert!(queue.peak_quarantine_bytes <= usable * holders, "{usable}: {queue:?}");
            all.set(all.get() + u32::from(queue.least_quarantine_bytes == usable));
            less.set(less.get() + u32::from(usable < in_push * message));
            // A whole message, or its piece, must have room.
            let piece = ample.tag_queue.tag_every.map_or(message, |every| every.0.min(message));
            let possible = piece.saturating_sub(ample.tag_queue.ahead());
            for room in [usable, queue.least_quarantine_bytes] {
                let enough = h2d(&with(room.max(possible)), 7 * in_push * message + 4000);
                prop_assert_eq!(&enough.event_digest, &ran.event_digest, "{} of {}", room, usable);
            }
            Ok(())
        });
    tested.unwrap();
    let (all, less) = (all.get(), less.get());
    assert!(all > cases / 3 && less > cases / 4, "{all} of {cases} use all that they can, {less} cannot use a push");
}

#[test]
fn pushes_of_one_message_use_one_message_of_quarantine_at_any_size_and_are_charged_one() {
    let with = |room: &str| Layers::new("h100-nvl-tdx").overlay("hold").set(format!("tag_queue.quarantine={room}"));
    for bytes in [1 << 20, 8 << 20] {
        let of = |room| h2d(&with(room).resolve().unwrap().machine, bytes);
        let rooms = ["1 MiB", "2 MiB", "8 MiB"].map(of);
        for one in &rooms {
            let queue = one.gpus[0].tag_queue;
            assert_eq!((&one.event_digest, one.end), (&rooms[0].event_digest, rooms[0].end), "{bytes}");
            assert_eq!((queue.peak_quarantine_bytes, queue.least_quarantine_bytes), (1 << 20, 1 << 20), "{bytes}");
        }
    }
    for (sets, charged) in [
        (&[][..], 1u64),
        (&["driver.pinned.push=8 MiB"][..], 2),
        (&["driver.pinned.push=8 MiB", "copy_engine.messages_in_flight=8"], 8),
        (&["driver.pinned.push=8 MiB", "copy_engine.messages_in_flight=8", "tag_queue.depth=3"], 3),
        (&["driver.pinned.push=8 MiB", "copy_engine={messages_in_flight=8,pces_secure=3}"], 3),
    ] {
        let machine = sets.iter().fold(with("64 MiB"), |layers, set| layers.set(*set)).resolve().unwrap().machine;
        assert_eq!(machine.charged_quarantine(), charged << 20, "{sets:?}");
    }
}
