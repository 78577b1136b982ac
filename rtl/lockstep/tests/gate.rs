//! Twelve shapes in lock-step, and faults on either side that are found. The campaign is `cargo run -p sealsim-lockstep`.

use sealsim_lockstep::{
    Cut, Failure, Random, SeedableRng,
    aes::Aes,
    engine::Engine,
    ghash::{OffByOne, Unit},
    multiplier::Kind,
    queue::Queue,
    shape::Shape,
    twin::Fault,
};

const CYCLES: u64 = 4_000;

const fn cut(levels: u32, product: u64, reduction: u64) -> Cut {
    Cut { levels, product, reduction }
}

const FOUR: Unit = Unit::Aggregated { width: 4, groups: 4, cut: cut(0, 2, 2) };
const UNROLLED: Aes = Aes { rounds: 14, registers: Some(1), compact: false };
const ROUND: Aes = Aes { rounds: 10, registers: None, compact: true };
const ENGINE: Engine = Engine { lanes: None, lane: UNROLLED, fifo: 20, hash: Unit::Serial(cut(0, 1, 0)) };
const SMALL: Engine = Engine { lanes: None, lane: ROUND, fifo: 3, hash: Unit::Serial(cut(1, 2, 2)) };
const SHIPPED: Engine = Engine { lanes: Some(4), lane: UNROLLED, fifo: 128, hash: FOUR };
const TWO: Engine = Engine { lanes: Some(2), lane: ROUND, fifo: 7, hash: FOUR };
const QUEUE: Queue = Queue { depth: 4, skid: 0 };

macro_rules! shapes {
    ($($name:ident: $shape:expr),* $(,)?) => {
        $(#[test]
        fn $name() {
            let compared = $shape.run(1, CYCLES).unwrap_or_else(|failure| panic!("{failure}"));
            assert!(compared >= CYCLES);
        })*
    };
}

shapes! {
    digits_of_13_bits: Shape::Multiplier(Kind::Digits(13)),
    serial_in_one_cycle: Shape::Ghash(Unit::Serial(cut(0, 1, 0))),
    serial_in_five_cycles: Shape::Ghash(Unit::Serial(cut(1, 3, 2))),
    four_products_four_groups: Shape::Ghash(FOUR),
    three_products_two_groups: Shape::Ghash(Unit::Aggregated { width: 3, groups: 2, cut: cut(0, 3, 1) }),
    ten_rounds_cut_behind_their_s_boxes: Shape::Aes(Aes { rounds: 10, registers: Some(2), compact: true }),
    one_round_twelve_times: Shape::Aes(Aes { rounds: 12, registers: None, compact: false }),
    an_engine_of_a_block_per_cycle: Shape::Engine(ENGINE),
    an_engine_of_one_round: Shape::Engine(SMALL),
    the_shipped_engine_of_four_lanes: Shape::Engine(SHIPPED),
    two_lanes_of_one_round_with_groups: Shape::Engine(TWO),
    four_lanes_with_a_serial_unit: Shape::Engine(Engine { hash: Unit::Serial(cut(0, 3, 1)), ..SHIPPED }),
    one_lane_with_a_message_behind_another: Shape::Engine(Engine { lanes: Some(1), ..ENGINE }),
    a_tag_queue_that_holds: Shape::Queue(QUEUE),
    a_tag_queue_that_lets_three_go_ahead: Shape::Queue(Queue { depth: 8, skid: 3 }),
}

fn found(result: Result<u64, Failure>) -> String {
    match result {
        Err(failure @ Failure::Differs { .. }) => failure.to_string(),
        other => panic!("nothing was found: {other:?}"),
    }
}

#[test]
fn a_power_that_is_off_by_one_in_the_rtl_is_found() {
    let random = &mut Random::seed_from_u64(1);
    let fault = ("if (left <= G)", "if (left <= G - 1)");
    let what = found(FOUR.run(FOUR.model(), Some(fault), random, CYCLES));
    assert!(what.contains("stage 1, lane"), "{what}");
}

#[test]
fn a_block_too_many_in_the_model_is_found() {
    let random = &mut Random::seed_from_u64(1);
    found(FOUR.run(OffByOne(FOUR.model()), None, random, CYCLES));
}

#[test]
fn a_verdict_that_is_late_in_the_model_is_found() {
    found(QUEUE.run(None, true, &mut Random::seed_from_u64(1), CYCLES));
}

#[test]
fn a_block_of_keystream_too_many_in_the_model_is_found() {
    found(ENGINE.run(None, 1, &mut Random::seed_from_u64(1), CYCLES));
}

/// Faults of the RTL: each mask of what does not count, removed, among others.
#[test]
fn each_mask_of_the_rtl_that_is_removed_is_found() {
    const ENGINES: [Fault; 7] = [
        ("{iv, 32'd1}", "{iv, 32'd2}"),
        ("aad & aad_keep", "aad"),
        ("text & text_keep", "text"),
        ("(text ^ keystream) & text_keep", "text ^ keystream"),
        ("text_valid && valid && way_free", "valid && way_free"),
        ("if (load) power <=", "power <="),
        ("if (start) begin\n        {busy", "if (rests) begin\n        {busy"),
    ];
    const WIDE: [Fault; 13] = [
        (" & of_bytes(at_hash.aad_bytes | {16{aad_above[i+1]}})", ""),
        ("^ found[j]) & of_bytes(counts)", "^ found[j])"),
        ("+: 128] & of_bytes(text_counts[k])", "+: 128]"),
        ("if (flight[LATENCY-2][1]) from_lane", "if (1'b0) from_lane"),
        ("first ? '0 : written", "written"),
        ("moves ? G'(1) : issue", "issue"),
        ("!new_opens && (follows || ends)", "(follows || ends)"),
        ("counters_end && pending) nonce", "pending) nonce"),
        ("{128{COLLECT && has[l]}}", "{128{1'b1}}"),
        ("given.below = W'((1 << (W - 1 - int'(blocks) % W)) - 1)", "given.below = '0"),
        ("more && !window[2*N]", "more && !window[N]"),
        ("at_hash.groups == 29'd1", "at_hash.groups == 29'd2"),
        ("{(3*N){others[k]}}", "{(3*N){k == 0}}"),
    ];
    const SLOW: [Fault; 4] = [
        ("(busy_next | turn) & follows_turn", "busy_next & follows_turn"),
        ("follows = !old_opens", "follows = 1'b1 || !old_opens"),
        ("drained[d-1] && (d", "(d"),
        ("if (!held[s]) ring", "ring"),
    ];
    const QUEUES: [Fault; 6] = [
        ("8'(ahead) + 8'd1 <= 8'(SKID)", "(verdict || 8'(ahead) + 8'd1 <= 8'(SKID))"),
        ("enter && room", "enter"),
        ("&& !known[youngest]", ""),
        ("&& waiting[youngest] != '1", ""),
        ("verdict && used[judged]", "verdict"),
        ("if (settles && B'(i) == judged) begin", "if (B'(i) == judged) begin"),
    ];
    const GROUPS: Fault = ("turn & {G{valid}}})", "turn})");
    let random = || Random::seed_from_u64(1);
    let engines = ENGINES.map(|fault| (fault, SMALL.run(Some(fault), 0, &mut random(), CYCLES)));
    let queues = QUEUES.map(|fault| (fault, QUEUE.run(Some(fault), false, &mut random(), CYCLES)));
    let wide = WIDE.map(|fault| (fault, TWO.run(Some(fault), 0, &mut random(), 2 * CYCLES)));
    let serial = Engine { hash: Unit::Serial(cut(0, 3, 1)), ..SHIPPED };
    let slow = SLOW.map(|fault| (fault, serial.run(Some(fault), 0, &mut random(), 2 * CYCLES)));
    let groups = (GROUPS, FOUR.run(FOUR.model(), Some(GROUPS), &mut random(), CYCLES));
    for (fault, result) in engines.into_iter().chain(wide).chain(slow).chain(queues).chain([groups]) {
        println!("{fault:?}");
        found(result);
    }
}
