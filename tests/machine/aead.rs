//! Machines whose copy engines and CPU seal and open with another AEAD than AES-GCM.

use crate::common::{Delivered, Pattern, QUICK, copy, machine, one, request, run};
use sealsim::{
    config::{Layers, MachineSpec},
    sim::{FaultKind, Injection, Kernel, Order},
    system::{DataMode, Direction, Memory},
};

const DESIGNS: [&str; 6] = ["gcm-siv", "gcm-sst", "aegis-256", "aegis-256x2", "aegis-128l", "chacha20-poly1305"];

fn designed(designs: &[&str], sets: &[&str]) -> MachineSpec {
    let layers = designs.iter().fold(Layers::new("h100-nvl-tdx"), |layers, design| layers.overlay(*design));
    let layers = sets.iter().fold(layers, |layers, set| layers.set(*set));
    layers.resolve().unwrap_or_else(|error| panic!("{designs:?} {sets:?}: {error}")).machine
}

/// The CPU seals and opens with the crates, the copy engine block by block by itself: each tag that one finds right is what the other made.
#[test]
fn what_is_copied_arrives_bit_for_bit_and_both_ends_make_the_same_tags() {
    for design in DESIGNS {
        for more in [
            &[][..],
            &["aead.tag=32 B"],
            &["aead.tag=6 B"],
            &["aead.tag=14 B", "tag_queue.placement=inline"],
            &["aead.buffer=1 MiB"],
            &["cipher.work=reseal"],
            &["cipher.work=forward"],
        ] {
            let applies = |set: &&str| match *set {
                "aead.tag=32 B" => design.starts_with("aegis"),
                "aead.tag=6 B" | "aead.tag=14 B" => design == "gcm-sst",
                "aead.buffer=1 MiB" => design == "gcm-siv",
                _ => true,
            };
            if !more.iter().all(applies) {
                continue;
            }
            let machine = designed(&[design], more);
            let ways = |memory| [(Direction::H2d, memory), (Direction::D2h, memory)];
            for (direction, memory) in [Memory::Pinned, Memory::Pageable].into_iter().flat_map(ways) {
                let (bytes, sink) = ((2 << 20) - 13, Delivered::default());
                let mut exact = copy(direction, bytes, memory);
                exact.sink = Some(Box::new(sink.clone()));
                let outcome = run(&machine, request(vec![exact], DataMode::Exact, Kernel::Skip, Order::Ascending));
                let outcome = outcome.unwrap();
                let done = &outcome.copies[0];
                let what = format!("{design} {more:?} {direction:?} {memory:?}: {:?}", done.reason);
                assert!(done.delivered && sink.covers(bytes) && sink.agrees(&mut Pattern(bytes)), "{what}");
                assert!(done.tags_verified >= done.messages && done.tags_failed == 0, "{what}");
                let copies = vec![copy(direction, bytes, memory)];
                let none = run(&machine, request(copies, DataMode::None, Kernel::Skip, Order::Ascending)).unwrap();
                assert_eq!(none.event_digest, outcome.event_digest, "{what}");
            }
        }
    }
}

#[test]
fn a_bit_that_changed_in_text_or_tag_is_found_and_the_message_not_delivered() {
    for design in DESIGNS {
        let machine = designed(&[design], QUICK);
        for data in [DataMode::Exact, DataMode::None] {
            for place in ["staging.ciphertext", "staging.tag", "gpu.pce0.tags"] {
                let fault = Injection::nth(place, FaultKind::Flip, 2);
                let outcome = one(&machine, Direction::H2d, 3 << 20, data, &[fault]);
                let copy = &outcome.copies[0];
                assert!(!copy.delivered && copy.tags_failed >= 1, "{design} {place} {data:?}: {copy:?}");
            }
            let fault = Injection::nth("host.iv", FaultKind::Skip, 2);
            let outcome = one(&machine, Direction::D2h, 3 << 20, data, &[fault]);
            assert!(!outcome.copies[0].delivered, "{design} {data:?}");
        }
    }
}

#[test]
fn tags_and_ivs_take_their_own_length_on_the_link() {
    // Three messages: a tag each, and on the way to the host an IV each.
    let payload = |designs: &[&str], sets: &[&str]| {
        let machine = designed(designs, sets);
        let of = |direction| one(&machine, direction, 3 << 20, DataMode::None, &[]).gpus[0].link;
        (of(Direction::H2d).h2d.payload_bytes, of(Direction::D2h).d2h.payload_bytes)
    };
    let gcm = payload(&[], &[]);
    for design in ["gcm-siv", "chacha20-poly1305"] {
        assert_eq!(payload(&[design], &[]), gcm, "{design}");
    }
    assert_eq!(payload(&["aegis-256"], &[]), (gcm.0, gcm.1 + 3 * 20));
    assert_eq!(payload(&["aegis-256"], &["aead.tag=32 B"]), (gcm.0 + 3 * 16, gcm.1 + 3 * (16 + 20)));
    for tag in [6, 12] {
        let (set, less) = (format!("aead.tag={tag} B"), 3 * (16 - tag));
        for place in ["separate", "inline"] {
            let sets = [&*set, &format!("tag_queue.placement={place}")];
            assert_eq!(payload(&["gcm-sst"], &sets), (gcm.0 - less, gcm.1 - less), "{sets:?}");
        }
    }
    let inline = payload(&["aegis-256"], &["aead.tag=32 B", "tag_queue.placement=inline"]);
    assert_eq!(inline, (gcm.0 + 3 * 16, gcm.1 + 3 * (16 + 20)));
}

/// GB/s of a copy in large messages behind a host that hides nothing.
fn rate(designs: &[&str], sets: &[&str], direction: Direction) -> f64 {
    let all: Vec<_> = QUICK.iter().chain(sets).copied().collect();
    let copy = one(&designed(designs, &all), direction, 16 << 20, DataMode::None, &[]).copies[0].clone();
    (16 << 20) as f64 / (copy.end.0 - copy.start.0) as f64 * 1e6
}

#[test]
fn one_state_of_aegis_binds_at_its_width_and_rounds() {
    let free = ["driver.in_flight.d2h=8", "cipher.work=in_place", "staging.buffers=64"];
    // 16 B per update at 1.755 GHz: 28.1 GB/s, 14.0 and 7.0 with rounds of two and four cycles.
    for (round, bound) in [("2 cycles", 14.04), ("4 cycles", 7.02), ("8 cycles", 3.51)] {
        let set = format!("aead.round={round}");
        let sets: Vec<_> = free.iter().copied().chain([set.as_str()]).collect();
        let one = rate(&["aegis-256"], &sets, Direction::D2h);
        assert!((0.9 * bound..bound).contains(&one), "{round}: {one}");
        for wider in ["aegis-256x2", "aegis-128l"] {
            let two = rate(&[wider], &sets, Direction::D2h);
            assert!((1.7 * one..2.0 * one).contains(&two) || two > 25.0, "{wider}, {round}: {one} {two}");
        }
    }
}

#[test]
fn a_second_pass_costs_what_device_memory_takes_to_be_read_again() {
    let host = ["driver.in_flight.d2h=8", "driver.push_d2h.pinned=2 MiB", "cipher.work=in_place", "staging.buffers=64"];
    let free: Vec<_> = host.into_iter().chain(["hbm.read_rate=4 B/cycle"]).collect();
    let kept: Vec<_> = free.iter().copied().chain(["aead.buffer=1 MiB"]).collect();
    let (twice, once) = (rate(&["gcm-siv"], &free, Direction::D2h), rate(&["gcm-siv"], &kept, Direction::D2h));
    // 4 B per cycle at the clock of device memory: 7.0 GB/s, and half of it where all is read twice.
    assert!((6.3..7.02).contains(&once), "{once}");
    assert!((3.2..3.51).contains(&twice), "{twice}");
}

#[test]
fn impossible_machines_are_refused_with_the_reason() {
    for (designs, sets, reason) in [
        (&["split-message", "aegis-256"][..], &[][..], "cannot be split"),
        (&["shared-engine", "aegis-256"], &[], "the engine that PCEs share is AES-GCM's"),
        (&["sm", "chacha20-poly1305"], &[], "the kernels on SMs have AES-GCM"),
        (&["ide", "aegis-256"], &[], "IDE"),
        (&["parallel-auth", "aegis-256"], &[], "belongs to AES-GCM, and aead stands in its engine's place"),
        (&["segmented-ghash", "gcm-siv"], &[], "segmented belongs to AES-GCM"),
        (&["message-parallel", "gcm-siv"], &[], "message_parallel belongs to AES-GCM"),
        (&["verify-bound", "aegis-256"], &[], "open_ghash belongs to AES-GCM"),
        (&["inline-tags", "gcm-siv"], &[], "behind the text"),
        (&["gcm-siv"], &["tag_queue.fetch=after_data"], "before the text"),
        (&["aegis-256"], &["aead.tag=24 B"], "AEGIS has tags of 16 or 32 B"),
        (
            &["aegis-256"],
            &["aead.tag=32 B", "driver.pinned.message=16 B"],
            "a tag of 32 B is longer than a message of 16 B",
        ),
    ] {
        let layers = designs.iter().fold(Layers::new("h100-nvl-tdx"), |layers, design| layers.overlay(*design));
        let layers = sets.iter().fold(layers, |layers, set| layers.set(*set));
        let error = layers.resolve().expect_err(reason).to_string();
        assert!(error.contains(reason), "{designs:?} {sets:?}: {error}");
    }
}

#[test]
fn a_machine_of_another_aead_without_confidential_computing_seals_nothing() {
    let off = machine("h100-nvl-tdx", &["confidential_computing=false"]);
    let other = designed(&["aegis-256"], &["confidential_computing=false"]);
    let end = |machine| one(machine, Direction::H2d, 1 << 20, DataMode::None, &[]).event_digest;
    assert_eq!(end(&off), end(&other));
}
