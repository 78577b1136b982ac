//! Units of PCEs as pools: AES lanes, GHASH and quarantines that each has, or that all of them share.

use crate::common::{copy, on_device, request, run, sent, with_pces};
use proptest::{
    prelude::*,
    test_runner::{Config, TestRunner},
};
use sealsim::{
    config::{Layers, MachineSpec},
    sim::{Kernel, Order},
    system::{DataMode, Direction, Memory, Outcome},
    units::Femtos,
};

const COMMON: &str = "copy_engine.pools.quarantine=gpu";

fn with(pces: u32, message: u64, sets: &[&str]) -> MachineSpec {
    with_pces(pces, (message, 64), sets)
}

fn one(machine: &MachineSpec, direction: Direction, bytes: u64, kernel: Kernel) -> Outcome {
    let copies = vec![copy(direction, bytes, Memory::Pinned)];
    run(machine, request(copies, DataMode::None, kernel, Order::Ascending)).unwrap()
}

/// Under `hold`, with a quarantine of so many messages and a rest that holds none.
fn room(messages: u64, message: u64) -> [String; 2] {
    ["tag_queue.release=hold".into(), format!("tag_queue.quarantine={} B", messages * message + message / 2)]
}

/// The same under `skid`, where so many bytes of each PCE may go ahead.
fn room_and_skid(messages: u64, message: u64, skid: u64) -> [String; 2] {
    let [_, room] = room(messages, message);
    [room, format!("tag_queue={{release=\"skid\",skid=\"{skid} B\"}}")]
}

#[test]
fn a_common_quarantine_is_never_beyond_its_room_and_no_order_of_verdicts_makes_messages_wait_for_ever() {
    for order in ["tag_queue.retirement=in_order", "tag_queue.retirement=out_of_order"] {
        let hold = [(1, 4096, 1, None), (3, 16_384, 2, None), (3, 4096, 1, None), (8, 256, 5, None)];
        let skid =
            [(1, 4096, 0, Some(2048)), (3, 16_384, 1, Some(1000)), (3, 4096, 0, Some(9000)), (8, 256, 3, Some(300))];
        for (pces, message, messages, skid) in hold.into_iter().chain(skid) {
            let room = skid.map_or_else(|| room(messages, message), |skid| room_and_skid(messages, message, skid));
            let machine = with(pces, message, &[COMMON, order, &room[0], &room[1]]);
            let (outcome, whole) = sent(&machine, Direction::H2d, Memory::Pinned, &[21 * message - 1]);
            let (copy, queue) = (&outcome.copies[0], &outcome.gpus[0].tag_queue);
            let what = format!("{order} {pces} {message} {messages} {skid:?}: {:?}", copy.reason);
            assert!(copy.delivered && whole == [true], "{what}");
            assert_eq!((copy.tags_verified, copy.tags_failed), (21, 0), "{what}");
            let most = messages * message + skid.map_or(0, |_| message / 2);
            assert!(queue.peak_quarantine_bytes <= most, "{what}: {queue:?}");
        }
    }
}

#[test]
fn messages_at_a_time_in_a_common_quarantine_are_the_rate_whoever_of_the_pces_has_them() {
    let message = 16_384;
    let took = |pces, sets: &[&str], messages| {
        let room = room(messages, message);
        let machine = with(pces, message, &[sets, &[&room[0], &room[1]]].concat());
        let of = |count| on_device(&one(&machine, Direction::H2d, count * message, Kernel::Skip));
        (of(49) - of(1)) / 48.0
    };
    // A round trip of 1 us, beside which the time of a message on the link is short.
    let far = ["root_complex.read_latency=1000 cycles"];
    let alone = took(3, &[&far[..], &[COMMON]].concat(), 1);
    assert!(alone > 1000.0, "{alone}");
    for messages in [2, 3] {
        let common = took(3, &[&far[..], &[COMMON]].concat(), messages);
        let expected = alone / messages as f64;
        assert!((common / expected - 1.0).abs() < 0.03, "{messages}: {common} ns for {expected} ns");
    }
    // With room for one and a half in common: halves of three that go ahead, or three whole ones beside it.
    for (skid, messages) in [(message / 2, 3.0), (message, 4.0)] {
        let room = room_and_skid(1, message, skid);
        let machine = with(3, message, &[far[0], COMMON, &room[0], &room[1]]);
        let of = |count| on_device(&one(&machine, Direction::H2d, count * message, Kernel::Skip));
        let (common, expected) = ((of(49) - of(1)) / 48.0, alone / messages);
        assert!((common / expected - 1.0).abs() < 0.03, "{skid}: {common} ns for {expected} ns");
    }
    // Room for one message in each of three PCEs is that of three in common.
    let own = took(3, &far, 1);
    assert!((own / alone * 3.0 - 1.0).abs() < 0.1, "{own} {alone}");
}

#[test]
fn plaintext_that_waits_in_device_memory_is_written_twice_and_read_once() {
    let message = 16_384;
    let period = |sets: &[&str]| {
        let machine = with(
            2,
            message,
            &[&["tag_queue={release=\"hold\",quarantine=\"128 KiB\"}", "hbm.clock=1 GHz"], sets].concat(),
        );
        let (outcome, whole) = sent(&machine, Direction::H2d, Memory::Pinned, &[9 * message - 1]);
        assert!(outcome.copies[0].delivered && whole == [true], "{sets:?}: {:?}", outcome.copies[0].reason);
        let queue = outcome.gpus[0].tag_queue;
        assert_eq!((queue.longest_exposure, queue.total_exposure), (Femtos(0), Femtos(0)), "{sets:?}");
        assert!((message..=128 << 10).contains(&queue.peak_quarantine_bytes), "{sets:?}: {queue:?}");
        let of = |count| on_device(&one(&machine, Direction::H2d, count * message, Kernel::Skip));
        (of(48) - of(16)) / 32.0
    };
    let aside = "tag_queue.quarantine_in=device_memory";
    let (slow_writes, slow_reads) = ("hbm.write_rate=8 B/cycle", "hbm.read_rate=4 B/cycle");
    for (sets, closed) in [
        (&[slow_writes][..], 2048.0),
        (&[slow_writes, aside], 4096.0),
        (&[slow_reads, aside], 4096.0),
        (&[slow_writes, aside, COMMON], 4096.0),
    ] {
        let took = period(sets);
        assert!((took / closed - 1.0).abs() < 0.03, "{sets:?}: {took} ns for {closed} ns");
    }
}

#[test]
fn an_engine_clock_like_the_copy_engines_changes_nothing_and_another_one_scales_the_rate_that_engines_bind() {
    let serial =
        "engine.ghash={design=\"serial\",multiplier={product=\"3 cycles\",reduction=\"1 cycle\",digit_bits=128}}";
    let (message, blocks) = (65_536, 4097.0);
    let ways = ["sharing=per_pce", "sharing=split", "sharing=shared", "pools={ghash=\"gpu\"}"];
    for (way, engines) in ways.into_iter().zip([2.0, 2.0, 1.0, 1.0]) {
        let way = format!("copy_engine.{way}");
        for direction in [Direction::H2d, Direction::D2h] {
            let of = |sets: &[&str], count: u64| {
                let machine = with(2, message, &[&[way.as_str(), serial], sets].concat());
                one(&machine, direction, count * message, Kernel::Skip)
            };
            let same = of(&["copy_engine.engine_clock=1.755 GHz"], 6);
            assert_eq!(of(&[], 6).event_digest, same.event_digest, "{way} {direction:?}");
            for ghz in [0.6, 1.1, 2.4] {
                let clock = format!("copy_engine.engine_clock={ghz} GHz");
                let took = (on_device(&of(&[&clock], 48)) - on_device(&of(&[&clock], 16))) / 32.0;
                let closed = 4.0 * blocks / engines / ghz;
                assert!((took / closed - 1.0).abs() < 0.03, "{way} {direction:?} {ghz}: {took} ns for {closed} ns");
            }
        }
    }
}

#[test]
fn sub_chains_and_interleaved_accumulators_take_turns_at_one_ghash_at_the_rate_of_their_closed_forms() {
    type Cycles = fn(f64) -> f64;
    let multiplier = "multiplier={product=\"5 cycles\",reduction=\"1 cycle\",digit_bits=128}";
    let serial = format!("{{design=\"serial\",{multiplier}}}");
    let chains = format!("{{design=\"sub_chains\",chains=4,chunk=\"256 B\",ports=4,buffer=16,unit={serial}}}");
    let interleaved = format!("{{design=\"interleaved\",ways=6,multipliers=1,closing=\"afterwards\",{multiplier}}}");
    let message = 65_536;
    // Blocks of a turn one after the other; a quarter of them behind the first chunks of three chains; one in each cycle, and the six values with six products.
    let forms: [(&str, Cycles); 3] = [
        (&serial, |blocks| 6.0 * blocks),
        (&chains, |blocks| 6.0 * blocks / 4.0 + 12.0),
        (&interleaved, |blocks| blocks + 12.0),
    ];
    for (ghash, of_turn) in forms {
        for (pces, turn) in [(1, 4096), (3, 4096), (3, 16_384)] {
            let sets = [
                &format!("engine.ghash={ghash}"),
                "copy_engine.pools.ghash=gpu",
                &format!("copy_engine.engine_turn={turn} B"),
                "copy_engine.read_buffer=64 KiB",
                "copy_engine.outstanding_reads=128",
            ];
            let machine = with(pces, message, &sets);
            for direction in [Direction::H2d, Direction::D2h] {
                let took = period(&machine, direction, message);
                let closed = (message / turn) as f64 * of_turn((turn / 16) as f64) + 6.0;
                let what = format!("{ghash} {pces} {turn} {direction:?}: {took} cycles for {closed}");
                assert!((took / closed - 1.0).abs() < 0.03, "{what}");
                let (outcome, whole) = sent(&machine, direction, Memory::Pinned, &[7 * message - 5]);
                assert!(outcome.copies[0].delivered && whole == [true], "{what}");
            }
        }
    }
}

/// A machine whose AES lanes and GHASH are pools.
#[derive(Debug, Clone)]
struct Pools {
    pces: u32,
    message: u64,
    /// Latency of the serial GHASH, lanes, and cycles between two blocks of one.
    product: u64,
    lanes: u32,
    interval: u64,
    aes_shared: bool,
    ghash_shared: bool,
    turns: &'static str,
    turn: Option<u64>,
    wire: u64,
    common_quarantine: bool,
    retirement: &'static str,
    /// Megahertz of lanes and GHASH, where they have a clock of their own.
    clock: Option<u64>,
    /// Bytes of each PCE that may go ahead of their verdicts.
    skid: Option<u64>,
    /// Whether plaintext waits in device memory.
    aside: bool,
    /// Pieces of a message, each with a tag.
    pieces: u64,
    /// Sub-chains of a GHASH, of 256 B in turn; with one it is serial.
    chains: u64,
}

/// Blocks of a chunk of a sub-chain.
const CHUNK: u64 = 16;

impl Pools {
    fn machine(&self) -> MachineSpec {
        let sharers = |shared| if shared { "gpu" } else { "pce" };
        let (aes, ghash, held) =
            (sharers(self.aes_shared), sharers(self.ghash_shared), sharers(self.common_quarantine));
        let serial = format!(
            "{{design=\"serial\",multiplier={{product=\"{} cycles\",reduction=\"1 cycle\",digit_bits=128}}}}",
            self.product - 1
        );
        let mut sets = vec![
            format!(
                "copy_engine.pools={{aes=\"{aes}\",ghash=\"{ghash}\",quarantine=\"{held}\",turns=\"{}\"}}",
                self.turns
            ),
            format!("copy_engine.engine_wire={} cycles", self.wire),
            "copy_engine.read_buffer=64 KiB".into(),
            "copy_engine.outstanding_reads=128".into(),
            format!("engine.aes.lanes={}", self.lanes),
            format!("engine.aes.start_interval={} cycles", self.interval),
            match self.chains {
                1 => format!("engine.ghash={serial}"),
                chains => format!(
                    "engine.ghash={{design=\"sub_chains\",chains={chains},chunk=\"256 B\",ports=4,buffer=16,unit={serial}}}"
                ),
            },
            format!("tag_queue.depth={}", 4 * u64::from(self.pces) * self.pieces),
            format!("tag_queue.retirement={}", self.retirement),
            format!("tag_queue.release={}", if self.skid.is_some() { "skid" } else { "hold" }),
            format!("tag_queue.quarantine={} B", 4 * u64::from(self.pces) * self.message),
        ];
        sets.extend(self.turn.map(|turn| format!("copy_engine.engine_turn={turn} B")));
        sets.extend(self.clock.map(|clock| format!("copy_engine.engine_clock={clock} MHz")));
        sets.extend(self.skid.map(|skid| format!("tag_queue.skid={skid} B")));
        sets.extend((self.pieces > 1).then(|| format!("tag_queue.tag_every={} B", self.message / self.pieces)));
        sets.extend(self.aside.then(|| "tag_queue.quarantine_in=device_memory".into()));
        let sets: Vec<_> = sets.iter().map(String::as_str).collect();
        with(self.pces, self.message, &sets)
    }

    /// Cycles of the copy engine from one message to the next, if lanes or GHASH bind.
    fn closed_form(&self) -> f64 {
        let (piece, pces) = (self.message / self.pieces, f64::from(self.pces));
        let (blocks, lanes) = (piece / 16, u64::from(self.lanes));
        // Shared lanes make masks for each turn; a turn begins with the first lane.
        let turns = self.turn.map_or(1, |turn| piece.div_ceil(turn));
        let of_aes = if self.aes_shared { turns } else { 1 };
        let aes = self.pieces * of_aes * (blocks / of_aes + self.chains).div_ceil(lanes) * self.interval;
        // In each turn a chain begins when those before it have their first chunk.
        let ports = if self.ghash_shared { 4 } else { lanes.min(4) };
        let skew = (self.chains - 1) * CHUNK / ports;
        let ghash = self.pieces * ((blocks / self.chains + 1) * self.product + turns * skew);
        let share = |cycles: u64, shared| cycles as f64 / if shared { 1.0 } else { pces };
        share(aes, self.aes_shared).max(share(ghash, self.ghash_shared))
            * self.clock.map_or(1.0, |clock| 1755.0 / clock as f64)
    }
}

fn pools() -> impl Strategy<Value = Pools> {
    let turns = prop_oneof![
        Just(("message", None)),
        Just(("need", None)),
        prop::sample::select(vec![512, 1024, 4096]).prop_map(|turn| ("bytes", Some(turn))),
    ];
    let shared = prop::sample::select(vec![(false, false), (false, true), (false, true), (true, true)]);
    let units = (2u64..6, 1u32..5, 1u64..9);
    let new = (prop::option::of(500u64..3000), prop::option::of(0u64..20_000), any::<bool>());
    // Sub-chains have tags of their own.
    let tags = prop::sample::select(vec![(1, 1), (1, 2), (1, 4), (2, 1), (4, 1)]);
    let rest = (1u64..20, any::<bool>(), prop::sample::select(vec!["in_order", "out_of_order"]), new, tags);
    let sizes = (1u32..5, prop::sample::select(vec![8192, 16_384]));
    (sizes, units, shared, turns, rest).prop_map(|(sizes, units, shared, turns, rest)| {
        let (wire, common_quarantine, retirement, (clock, skid, aside), (pieces, chains)) = rest;
        // Turns are those of what is shared.
        let (turns, turn) = if shared.1 { turns } else { ("message", None) };
        Pools {
            pces: sizes.0,
            message: sizes.1,
            product: units.0,
            lanes: units.1,
            interval: units.2,
            aes_shared: shared.0,
            ghash_shared: shared.1,
            turns,
            turn,
            wire,
            common_quarantine,
            retirement,
            clock,
            skid,
            aside: aside && skid.is_none(),
            pieces,
            chains,
        }
    })
}

/// Cycles of the copy engine for one message more, of twenty-four.
fn period(machine: &MachineSpec, direction: Direction, message: u64) -> f64 {
    let of = |count| on_device(&one(machine, direction, count * message, Kernel::Skip));
    (of(36) - of(12)) / 24.0 * 1.755
}

fn runner(cases: u32) -> TestRunner {
    TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() })
}

#[test]
fn random_pools_have_the_rate_of_what_binds() {
    let judged = std::cell::Cell::new(0);
    let tested = runner(40).run(&(pools(), any::<bool>()), |(pools, back)| {
        // Turns by need make as many masks as there are turns, and the link carries 27 B per cycle of the copy engine.
        // Turns of less than a round of chains leave some of them at rest, and lanes that chains share with them have both their masks and their skew.
        let need = pools.turns == "need";
        let short = pools.turn.is_some_and(|turn| turn < 16 * CHUNK * pools.chains);
        let unknown = (pools.aes_shared || pools.chains > 1) && need || pools.chains > 1 && (short || pools.aes_shared);
        let (closed, link) = (pools.closed_form(), pools.message as f64 / 27.0);
        if unknown || closed < 1.3 * link {
            return Ok(());
        }
        judged.set(judged.get() + 1);
        let direction = if back { Direction::D2h } else { Direction::H2d };
        let took = period(&pools.machine(), direction, pools.message);
        prop_assert!((took / closed - 1.0).abs() < 0.03, "{took} cycles for {closed}, {direction:?}");
        Ok(())
    });
    tested.unwrap();
    assert!(judged.get() >= 10, "{}", judged.get());
}

#[test]
fn random_pools_carry_bytes_and_tags_in_both_kernels() {
    let tested = runner(12).run(&(pools(), any::<bool>()), |(mut pools, back)| {
        pools.message /= 4;
        let (machine, bytes) = (pools.machine(), 7 * pools.message - 5);
        let direction = if back { Direction::D2h } else { Direction::H2d };
        let (outcome, whole) = sent(&machine, direction, Memory::Pinned, &[bytes]);
        let copy = &outcome.copies[0];
        prop_assert!(copy.delivered && whole == [true], "{:?}", copy.reason);
        let tags = if back { 7 } else { 7 * pools.pieces };
        prop_assert_eq!((copy.tags_verified, copy.tags_failed), (tags, 0));
        let [skip, every] = [Kernel::Skip, Kernel::EveryCycle].map(|kernel| one(&machine, direction, bytes, kernel));
        prop_assert_eq!(&skip.event_digest, &every.event_digest);
        prop_assert_eq!(skip.event_digest, outcome.event_digest);
        Ok(())
    });
    tested.unwrap();
}

#[test]
fn three_thirds_of_an_engine_with_one_ghash_and_one_quarantine_have_the_rate_of_their_closed_form() {
    let lines = include_str!("../../examples/shared-ghash.toml").lines().count();
    assert!(lines <= 30, "{lines}");
    let of = |sets: &[&str]| {
        let layers = Layers::new("examples/shared-ghash.toml").overlay("direct-in-place").set("engine.check=warn");
        let layers = sets.iter().fold(layers, |layers, set| layers.set(*set));
        let machine = layers.resolve().unwrap().machine;
        period(&machine, Direction::H2d, 16_384)
    };
    // Two messages at a time take half of the time of one at a time, whichever of the three engines has them.
    let [alone, two] = ["16 KiB", "32 KiB"].map(|room| of(&[&format!("tag_queue.quarantine={room}")]));
    assert!((2.0 * two / alone - 1.0).abs() < 0.02, "{two} {alone}");
    // With room enough three engines of a block in three cycles bind; each message has a mask.
    let (room, closed) = (of(&["tag_queue.quarantine=192 KiB"]), 1025.0);
    assert!((room / closed - 1.0).abs() < 0.02, "{room} {closed}");
    // A GHASH of a block in each cycle keeps up with all three, one of a block in two cycles binds. Its length block is one more.
    let serial = |product| {
        let ghash = format!(
            "engine.ghash={{design=\"serial\",multiplier={{product=\"{product}\",reduction=\"0 cycles\",digit_bits=128}}}}"
        );
        of(&["tag_queue.quarantine=192 KiB", &ghash])
    };
    for (product, cycles) in [("1 cycle", 1.0), ("2 cycles", 2.0)] {
        let (took, closed) = (serial(product), cycles * 1025.0);
        assert!((took / closed - 1.0).abs() < 0.02, "{product}: {took} {closed}");
    }
}
