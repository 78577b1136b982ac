use crate::gcm::arbitrary::{any_direction, any_engine, pattern, serial};
use proptest::prelude::*;
use sealsim_aead::gcm::bulk;
use sealsim_aead::gcm::bulk::chains::{ChainFormat, Chains};
use sealsim_aead::gcm::engine::{Engine, Event};
use sealsim_aead::gcm::ghash::{GhashTiming, TimingModel};
use sealsim_aead::gcm::message::{SealOpen, Shape};
use sealsim_aead::gcm::spec::{GcmSpec, GhashSpec, MultiplierSpec};
use sealsim_aead::gcm::timing::*;
use sealsim_aead::units::Cycles;

/// A message and how its text arrives.
#[derive(Debug, Clone)]
struct Planned {
    shape: Shape,
    /// Cycles from the start of the message before to this one's.
    start_after: u64,
    /// Sizes of bursts, repeated until the text ends, and cycles between them.
    bursts: Vec<(u32, u64)>,
}

fn any_message() -> impl Strategy<Value = Planned> {
    let iv = prop_oneof![4 => Just(12_u64), 1 => 1..60_u64];
    let text = prop_oneof![1 => Just(0_u64), 3 => 1..100_u64, 3 => 1..3000_u64];
    let burst = (prop_oneof![3 => Just(256_u32), 1 => 1..40_u32, 1 => 1..700_u32], prop_oneof![0..8_u64, 0..80_u64]);
    let start_after = prop_oneof![0..10_u64, 0..400_u64];
    (iv, 0..90_u64, text, any_direction(), start_after, prop::collection::vec(burst, 1..12)).prop_map(
        |(iv_bytes, aad_bytes, text_bytes, direction, start_after, bursts)| Planned {
            shape: Shape { iv_bytes, aad_bytes, text_bytes, direction },
            start_after,
            bursts,
        },
    )
}

/// What both forms get: (cycle, bytes) of each burst by message, and the messages' starts.
fn arrivals(messages: &[Planned], from: u64) -> Vec<(u64, Vec<(u64, u32)>)> {
    let (mut start, mut now) = (from, from);
    let mut all = Vec::new();
    for message in messages {
        start += message.start_after;
        let mut left = message.shape.text_bytes as u32;
        let mut bursts = Vec::new();
        for &(bytes, gap) in message.bursts.iter().cycle() {
            if left == 0 {
                break;
            }
            now += gap;
            bursts.push((now, bytes.min(left)));
            left -= bytes.min(left);
        }
        all.push((start, bursts));
    }
    all
}

/// Cycles seen from outside: of each text block taken, of each block at the output, of each tag.
#[derive(Debug, PartialEq, Eq, Default)]
struct Seen {
    taken: Vec<u64>,
    out: Vec<u64>,
    tags: Vec<u64>,
}

/// The tags of a message by the bulk bytes.
fn tags_of(
    spec: &GcmSpec,
    key: &bulk::Key,
    message: &Planned,
    (iv, aad, mut text): (Vec<u8>, Vec<u8>, Vec<u8>),
) -> Vec<[u8; 16]> {
    let format = ChainFormat::of(&spec.ghash);
    let mut chains = Chains::new(format, key, &iv, &aad, message.shape.direction).unwrap();
    chains.update(key, &mut text);
    chains.tags(key).collect()
}

/// Runs the structural engine through the plan; checks its bytes on the way.
fn structural(spec: &GcmSpec, messages: &[Planned]) -> (u64, Seen) {
    let mut engine = Engine::new(spec).unwrap();
    let raw = pattern(77, spec.key_bits as usize / 8);
    engine.load_key(&raw).unwrap();
    let mut events = Vec::new();
    while !matches!(events.last(), Some((_, Event::KeyReady))) {
        engine.step(&mut events);
    }
    let ready = events.last().unwrap().0;
    let (mut seen, mut text_out, mut tags, mut further) = (Seen::default(), Vec::new(), Vec::new(), Vec::new());
    let plan = arrivals(messages, ready + 1);
    let key = bulk::Key::new(&raw).unwrap();
    let mut starts: Vec<_> = messages.iter().zip(&plan).map(|(m, p)| (p.0, m)).rev().collect();
    let mut offers = Vec::new();
    let (mut expected_text, mut expected_tags) = (Vec::new(), Vec::new());
    for (number, (message, (_, bursts))) in messages.iter().zip(&plan).enumerate() {
        let (iv, aad, mut text) = contents(number, message);
        let mut rest = &text[..];
        for &(at, bytes) in bursts {
            let (burst, left) = rest.split_at(bytes as usize);
            offers.push((at, burst.to_vec()));
            rest = left;
        }
        expected_tags.extend(tags_of(spec, &key, message, (iv.clone(), aad.clone(), text.clone())));
        let mut stream = bulk::Stream::new(&key, &iv, &aad, message.shape.direction).unwrap();
        stream.update(&key, &mut text);
        expected_text.extend(text);
        if spec.ghash.wire_compatible() {
            assert_eq!(expected_tags.last(), Some(&stream.tag(&key)), "GCM's own tag");
        }
    }
    offers.reverse();
    events.clear();
    while !engine.idle() || !starts.is_empty() {
        while let Some(&(at, message)) = starts.last()
            && at == engine.cycle()
        {
            let number = messages.len() - starts.len();
            let (iv, aad, _) = contents(number, message);
            engine.start(&iv, &aad, message.shape.text_bytes, message.shape.direction).unwrap();
            starts.pop();
        }
        while let Some((at, burst)) = offers.last()
            && *at == engine.cycle()
        {
            engine.offer(burst);
            offers.pop();
        }
        engine.step(&mut events);
        for (cycle, event) in events.drain(..) {
            match event {
                Event::Taken(count) => seen.taken.extend(std::iter::repeat_n(cycle, count as usize)),
                Event::Text(bytes) => {
                    seen.out.push(cycle);
                    text_out.extend(bytes);
                }
                Event::Tag(tag) => {
                    seen.tags.push(cycle);
                    tags.push(tag);
                    tags.append(&mut further);
                }
                Event::ChainTag(_, tag) => further.push(tag),
                Event::KeyReady | Event::Phase(_) | Event::Aad => {}
            }
        }
        assert!(engine.cycle() < ready + 3_000_000, "the engine stands still");
    }
    assert!(text_out == expected_text, "text differs");
    assert_eq!(tags, expected_tags);
    (ready, seen)
}

fn contents(number: usize, message: &Planned) -> (Vec<u8>, Vec<u8>, Vec<u8>) {
    let part = |salt: u64, length: u64| pattern(number as u64 * 16 + salt, length as usize);
    (part(1, message.shape.iv_bytes), part(2, message.shape.aad_bytes), part(3, message.shape.text_bytes))
}

/// The same plan through the timing; checks each burst against the blocks that the structural engine took.
fn timing(spec: &GcmSpec, messages: &[Planned], truth: &Seen) -> (u64, Seen) {
    let mut timing = Timing::new(spec).unwrap();
    let ready = timing.load_key(0);
    let plan = arrivals(messages, ready + 1);
    let (mut seen, mut blocks) = (Seen::default(), 0_usize);
    for (message, (start, bursts)) in messages.iter().zip(&plan) {
        timing.start_shape(*start, &message.shape);
        let (first, mut bytes_in) = (blocks, 0_u64);
        for &(at, bytes) in bursts {
            let accepted = timing.accept(at, bytes);
            bytes_in += u64::from(bytes);
            let complete =
                if bytes_in == message.shape.text_bytes { bytes_in.div_ceil(16) } else { bytes_in / 16 } as usize;
            if first + complete > blocks {
                blocks = first + complete;
                assert_eq!(accepted.consumed, truth.taken[blocks - 1], "text block {} is taken", blocks - 1);
                assert_eq!(accepted.out, truth.out[blocks - 1], "text block {} is out", blocks - 1);
            }
        }
        let finished = timing.finish();
        assert_eq!(finished.verdict, finished.tag + spec.compare.0);
        seen.tags.push(finished.tag);
    }
    (ready, seen)
}

fn lockstep(spec: &GcmSpec, messages: &[Planned]) {
    let (ready, truth) = structural(spec, messages);
    let (predicted, seen) = timing(spec, messages, &truth);
    assert_eq!(predicted, ready, "key ready");
    assert_eq!(seen.tags, truth.tags);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]
    #[test]
    fn the_timing_model_shows_the_cycles_of_the_structural_engine(
        spec in any_engine(), messages in prop::collection::vec(any_message(), 1..6),
    ) {
        lockstep(&spec, &messages);
    }
}

fn opened(spec: &GcmSpec, bytes: u64) -> (Timing, u64) {
    let mut timing = Timing::new(spec).unwrap();
    let ready = timing.load_key(0);
    timing.start(ready, 0, bytes, SealOpen::Open);
    (timing, ready)
}

#[test]
fn the_set_up_is_key_expansion_then_h_then_its_powers() {
    let (timing, ready) = opened(&GcmSpec::four_lanes(), 0);
    // 14 cycles of expansion, 14 rounds, 16 powers of H.
    assert_eq!(ready, 14 + 14 + TimingModel::new(&GcmSpec::four_lanes().ghash).power_setup());
    assert_eq!(timing.may_start(3), ready);
}

#[test]
fn keystream_stands_one_latency_after_the_start_and_not_before() {
    let (mut timing, ready) = opened(&GcmSpec::four_lanes(), 4096);
    // Block 0 is the mask: the first three text blocks are keyed next to it, the others in the cycles after.
    let accepted = timing.accept(ready, 48);
    assert_eq!((accepted.consumed, accepted.out, accepted.limit), (ready + 14, ready + 15, Limit::Aes));
    let (mut timing, ready) = opened(&GcmSpec::four_lanes(), 4096);
    let accepted = timing.accept(ready + 14, 48);
    assert_eq!((accepted.consumed, accepted.limit), (ready + 14, Limit::Data));
    let (mut timing, ready) = opened(&GcmSpec::four_lanes(), 4096);
    assert_eq!(timing.accept(ready + 14, 64).consumed, ready + 15, "the fourth is a cycle behind");
}

#[test]
fn four_lanes_carry_64_bytes_per_cycle() {
    let bytes = 1 << 20;
    for direction in [SealOpen::Open, SealOpen::Seal] {
        let mut timing = Timing::new(&GcmSpec::four_lanes()).unwrap();
        let ready = timing.load_key(0);
        timing.start(ready, 0, bytes, direction);
        let first = timing.accept(ready + 40, 256);
        assert_eq!((first.consumed, first.limit), (ready + 43, Limit::Data));
        for burst in 1..bytes / 256 {
            let accepted = timing.accept(ready + 40, 256);
            assert_eq!((accepted.consumed, accepted.limit), (ready + 43 + 4 * burst, Limit::Ports));
        }
        assert_eq!(timing.waits(), Waits::default());
    }
}

#[test]
fn keystream_made_ahead_is_bounded_by_its_fifo() {
    let mut spec = GcmSpec::four_lanes();
    // A block's room is taken from its start to its use: in the steady state, blocks / (14 rounds + 1) per cycle.
    for (blocks, rate) in [(15, (15, 15)), (30, (30, 15)), (60, (60, 15)), (59, (59, 15))] {
        spec.aes.keystream_blocks = blocks;
        let (mut timing, ready) = opened(&spec, 16 * 6000);
        let half = timing.accept(ready, 16 * 3000).consumed;
        let end = timing.accept(ready, 16 * 3000).consumed;
        assert_eq!(end - half, (3000_u64 * rate.1).div_ceil(rate.0), "{blocks} blocks");
        // The first keystream takes its latency in any case.
        assert_eq!(timing.waits().aes > 20, blocks < 60);
    }
}

/// Cycles from one tag to the next, of sealed or opened messages of 64 blocks that are all there.
fn period(ghash: GhashSpec, direction: SealOpen) -> u64 {
    let mut timing = Timing::new(&GcmSpec { ghash, ..GcmSpec::four_lanes() }).unwrap();
    let ready = timing.load_key(0);
    let tags: Vec<u64> = (0..80)
        .map(|_| {
            timing.start(ready, 0, 16 * 64, direction);
            timing.accept(ready, 16 * 64);
            timing.finish().tag
        })
        .collect();
    assert_eq!((tags[60] - tags[20]) % 40, 0, "{tags:?}");
    (tags[60] - tags[20]) / 40
}

#[test]
fn messages_on_different_units_go_side_by_side_as_far_as_the_buffers_hold_them() {
    let serial = serial(3, 1);
    let parallel = |units, buffer| {
        let unit = Box::new(serial.clone());
        GhashSpec::MessageParallel { units, ports: 4, buffer, unit }
    };
    for direction in [SealOpen::Seal, SealOpen::Open] {
        // 64 blocks and the length block, of four cycles each.
        assert_eq!(period(serial.clone(), direction), 4 * 65);
        assert_eq!(period(parallel(1, 64), direction), 4 * 65);
        assert_eq!(period(parallel(2, 64), direction), 4 * 65 / 2);
        assert_eq!(period(parallel(4, 64), direction), 4 * 65 / 4);
        // The next message's text comes once this one's is in: but for the buffer and the block at work, it is hashed then.
        assert_eq!(period(parallel(4, 4), direction), 4 * (64 - 4 - 1), "{direction:?}");
        assert_eq!(period(parallel(4, 32), direction), 4 * (64 - 32 - 1), "{direction:?}");
    }
}

#[test]
fn a_slow_ghash_is_named_as_the_limit() {
    let (mut timing, ready) = opened(&GcmSpec { ghash: serial(1, 1), ..GcmSpec::four_lanes() }, 16 * 200);
    let accepted = timing.accept(ready + 50, 16 * 100);
    assert_eq!((accepted.consumed, accepted.limit), (ready + 50 + 2 * 99, Limit::Ghash));
}

#[test]
fn bytes_of_an_incomplete_block_wait_for_the_rest() {
    let (mut timing, ready) = opened(&GcmSpec::four_lanes(), 33);
    assert_eq!(timing.accept(ready + 50, 20).consumed, ready + 50);
    assert_eq!(timing.accept(ready + 60, 11).consumed, ready + 50);
    assert_eq!(timing.accept(ready + 70, 1).consumed, ready + 70);
    assert_eq!(timing.accept(ready + 80, 1).consumed, ready + 80, "the last block may be short");
    // The last block, the length block next to it, four cycles of multiplication, the mask; then the comparison.
    assert_eq!(timing.finish(), Finished { tag: ready + 80 + 4 + 1, verdict: ready + 86 });
}

#[test]
fn work_is_counted_once_and_up_to_the_cycle_asked_for() {
    let (mut timing, ready) = opened(&GcmSpec::four_lanes(), 512);
    assert_eq!(timing.busy(ready), ready, "the key load");
    timing.accept(ready + 100, 256);
    timing.accept(ready + 200, 256);
    let tag = timing.finish().tag;
    assert_eq!(timing.busy(ready + 100), ready);
    assert_eq!(timing.busy(ready + 102), ready + 2);
    assert_eq!(timing.busy(ready + 150), ready + 4);
    assert_eq!(timing.busy(u64::MAX), ready + 4 + (tag - (ready + 200)));
}

#[test]
fn a_part_ends_when_its_own_blocks_are_hashed_and_the_message_after_it_is_whole_again() {
    // One block per cycle of latency 4, taken in cycle t: known 4 cycles later.
    let mut timing = Timing::new(&GcmSpec { ghash: serial(3, 1), ..GcmSpec::four_lanes() }).unwrap();
    let ready = timing.load_key(0);
    timing.start_part(ready, 160, SealOpen::Open);
    let last = timing.accept(ready + 100, 160).consumed;
    assert_eq!(last, ready + 100 + 9 * 4);
    assert_eq!(timing.finish().tag, last + 4);
    timing.start(last + 4, 0, 160, SealOpen::Open);
    let last = timing.accept(last + 100, 160).consumed;
    // The length block, and the mask.
    assert_eq!(timing.finish().tag, last + 8 + 1);
}

/// Cycles of message after message of so many blocks whose text is there from cycle 0 on: of each, its last text taken and its tag.
fn back_to_back(timing: &mut Timing, direction: SealOpen, blocks: u64, messages: usize) -> Vec<(u64, u64)> {
    let mut message = || {
        timing.start(0, 0, 16 * blocks, direction);
        let consumed = timing.accept(0, 16 * blocks as u32).consumed;
        (consumed, timing.finish().tag)
    };
    (0..messages).map(|_| message()).collect()
}

#[test]
fn a_ghash_alone_takes_text_at_its_own_rate_whatever_lanes_there_are() {
    for (product, reduction) in [(1, 0), (2, 0), (3, 1), (5, 4)] {
        for interval in [1, 50] {
            let mut spec = GcmSpec::four_lanes();
            spec.aes.start_interval = Cycles(interval);
            let (product, reduction) = (Cycles(product), Cycles(reduction));
            let multiplier = MultiplierSpec { product, reduction, ..spec.ghash.multiplier().clone() };
            let latency = multiplier.latency();
            spec.ghash = GhashSpec::Serial { multiplier, first_block: None };
            let seen = back_to_back(&mut Timing::of_ghash(&spec).unwrap(), SealOpen::Open, 100, 3);
            // A hundred blocks and that of the length, each when the value before it stands.
            let apart: Vec<_> = seen.windows(2).map(|pair| pair[1].1 - pair[0].1).collect();
            assert_eq!(apart, [101 * latency; 2], "{latency} {interval}");
            assert_eq!(seen[0].1 - seen[0].0, 2 * latency + 1, "{latency} {interval}");
        }
    }
    let wide = GcmSpec {
        ghash: GhashSpec::Aggregated {
            width: 64,
            groups: 4,
            multiplier: GcmSpec::four_lanes().ghash.multiplier().clone(),
        },
        ..GcmSpec::four_lanes()
    };
    let seen = back_to_back(&mut Timing::of_ghash(&wide).unwrap(), SealOpen::Open, 6400, 1);
    assert_eq!(seen[0].0, 99, "64 blocks in each of a hundred cycles, through no lane");
}

#[test]
fn lanes_alone_take_text_at_their_own_rate_whatever_ghash_there_is() {
    for (lanes, interval) in [(1, 1), (1, 3), (4, 3), (4, 1)] {
        let mut spec = GcmSpec::four_lanes();
        (spec.aes.lanes, spec.aes.start_interval) = (lanes, Cycles(interval));
        let multiplier = MultiplierSpec { product: Cycles(60), ..spec.ghash.multiplier().clone() };
        spec.ghash = GhashSpec::Serial { multiplier, first_block: None };
        for direction in [SealOpen::Open, SealOpen::Seal] {
            let blocks = 4 * 300 - 1;
            let seen = back_to_back(&mut Timing::of_aes(&spec).unwrap(), direction, blocks, 4);
            // A mask and the blocks. The first message finds the lanes empty, and its keystream as far ahead as there is room.
            let apart: Vec<_> = seen.windows(2).skip(1).map(|pair| pair[1].0 - pair[0].0).collect();
            assert_eq!(apart, [(blocks + 1) * interval / u64::from(lanes); 2], "{lanes} {interval} {direction:?}");
            assert!(seen.iter().all(|(taken, tag)| tag - taken <= 4), "{lanes} {interval} {direction:?}: {seen:?}");
        }
    }
}
