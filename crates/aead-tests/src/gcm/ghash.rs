use crate::gcm::arbitrary::{any_ghash, any_multiplier, any_simple_ghash, multiplier, pattern, serial};
use proptest::prelude::*;
use sealsim_aead::gcm::field::Element;
use sealsim_aead::gcm::ghash::*;
use sealsim_aead::gcm::spec::{Closing, GhashSpec};
use sealsim_aead::units::Bytes;

/// The tail that the families' heads state, for a last ciphertext block that finds everything at rest.
fn stated_tail(spec: &GhashSpec, blocks: u64) -> u64 {
    match spec {
        GhashSpec::Segmented { segment, ports, unit, .. } => {
            simple_tail(unit, blocks.min((*segment).into()), u64::from(*ports == 1))
        }
        GhashSpec::MessageParallel { ports, unit, .. } => simple_tail(unit, blocks, u64::from(*ports == 1)),
        GhashSpec::SubChains { chains, chunk, ports, unit, .. } => {
            let (chains, wait) = (u64::from(*chains), u64::from(*ports == 1));
            let dealt = |chain| (0..blocks - 1).filter(|block| block / (chunk.0 / 16) % chains == chain).count() as u64;
            let last = (blocks - 2) / (chunk.0 / 16) % chains;
            let tails = (0..chains).map(|chain| match chain == last {
                true => simple_tail(unit, dealt(chain) + 1, wait),
                false => wait + length_alone(unit, dealt(chain) + 1),
            });
            tails.max().unwrap()
        }
        simple => simple_tail(simple, blocks, 0),
    }
}

/// The same for a unit that takes a message by itself, to which the length block comes `wait` cycles later, 0 or 1.
fn simple_tail(spec: &GhashSpec, blocks: u64, wait: u64) -> u64 {
    let (latency, interval) = (spec.multiplier().latency(), spec.multiplier().interval());
    match *spec {
        GhashSpec::Serial { first_block, .. } => {
            2 * latency + if blocks == 2 { first_block.unwrap_or_default().0 } else { 0 }
        }
        GhashSpec::Interleaved { ways, multipliers, closing, .. } => {
            let length = match (ways, multipliers) {
                (1, _) => latency,
                (_, 1) => interval,
                _ => wait,
            };
            let closings = u64::from(ways).min(blocks);
            match closing {
                Closing::LookAhead => length + latency,
                Closing::Afterwards => {
                    // The multipliers take turns: those that come after the length block in a round are as late as it is.
                    let behind = if (closings + 1).is_multiple_of(multipliers.into()) { 0 } else { wait };
                    let turns = (closings + 1) / u64::from(multipliers);
                    (length + latency).max(interval * turns + behind) + latency
                }
            }
        }
        GhashSpec::Aggregated { width: 1, groups: 1, .. } => 2 * latency,
        GhashSpec::Aggregated { width: 1, .. } => latency + interval,
        GhashSpec::Aggregated { .. } => wait + latency,
        GhashSpec::Folded { powers, fold, .. } => {
            let around = latency + fold.0;
            let ends_a_group = (blocks - 1).is_multiple_of(powers.into());
            if ends_a_group { around.max(2 * interval) + around } else { interval + around }
        }
        _ => unreachable!("not a unit that takes a message by itself"),
    }
}

/// From a length block that finds everything at rest to the value, in a message of so many blocks.
fn length_alone(spec: &GhashSpec, blocks: u64) -> u64 {
    let (latency, interval) = (spec.multiplier().latency(), spec.multiplier().interval());
    match *spec {
        GhashSpec::Interleaved { ways, multipliers, closing: Closing::Afterwards, .. } => {
            latency.max(interval * (u64::from(ways).min(blocks) / u64::from(multipliers))) + latency
        }
        GhashSpec::Serial { first_block, .. } if blocks == 1 => latency + first_block.unwrap_or_default().0,
        GhashSpec::Folded { fold, .. } => latency + fold.0,
        _ => latency,
    }
}

/// Cycles per part of so many blocks of a saturated unit, as the families' heads state them: a fraction's numerator, its
/// denominator, and the blocks. The parts are segments or chunks; of other families, blocks.
fn stated_period(spec: &GhashSpec) -> (u64, u64, u64) {
    let (latency, interval) = (spec.multiplier().latency(), spec.multiplier().interval());
    let more = |a: (u64, u64), b: (u64, u64)| if a.0 * b.1 >= b.0 * a.1 { a } else { b };
    let (cycles, of, part) = match *spec {
        GhashSpec::Serial { .. } => (latency, 1, 1),
        GhashSpec::Interleaved { ways, multipliers, .. } => {
            let (cycles, of) = more((interval, multipliers.into()), (latency, ways.into()));
            (cycles, of, 1)
        }
        GhashSpec::Aggregated { width, groups, .. } => {
            let (cycles, of) = more((interval, width.into()), (latency, u64::from(width) * u64::from(groups)));
            (cycles, of, 1)
        }
        GhashSpec::Folded { powers, fold, .. } => {
            let powers = u64::from(powers);
            let (cycles, of) = more(((powers + 1) * interval, powers), (latency + fold.0, powers));
            (cycles, of, 1)
        }
        GhashSpec::Segmented { units, segment, ports, buffer, ref unit } => {
            let (r_cycles, r_of, _) = stated_period(unit);
            let (part, waiting) = (u64::from(segment), u64::from(segment.saturating_sub(buffer)));
            let busy = (fed(unit, part, buffer.into(), ports.into()), u64::from(units));
            let (cycles, of) = more(more((part, ports.into()), (waiting * r_cycles, r_of)), busy);
            (cycles, of, part)
        }
        GhashSpec::MessageParallel { ports, ref unit, .. } => {
            let (r_cycles, r_of, _) = stated_period(unit);
            let (cycles, of) = more((1, ports.into()), (r_cycles, r_of));
            (cycles, of, 1)
        }
        GhashSpec::SubChains { chains, chunk, ports, buffer, ref unit } => {
            let (r_cycles, r_of, _) = stated_period(unit);
            let part = chunk.0 / 16;
            let waiting = if chains > 1 { part.saturating_sub(buffer.into()) } else { 0 };
            let units = (part * r_cycles, r_of * u64::from(chains));
            let (cycles, of) = more(more((part, ports.into()), (waiting * r_cycles, r_of)), units);
            (cycles, of, part)
        }
    };
    (cycles, of, part)
}

/// Cycles by which a simple unit may be ahead of its steady rate or behind it at an edge: what comes ahead is at most a block
/// per chain and port, or a group.
fn edge(unit: &GhashSpec) -> u64 {
    let latency = unit.multiplier().latency();
    match unit {
        GhashSpec::Folded { powers, fold, multiplier } => {
            (u64::from(powers + 1) * multiplier.interval()).max(latency + fold.0)
        }
        GhashSpec::Serial { first_block, .. } => latency + first_block.unwrap_or_default().0,
        GhashSpec::Segmented { unit, .. }
        | GhashSpec::MessageParallel { unit, .. }
        | GhashSpec::SubChains { unit, .. } => edge(unit),
        _ => latency,
    }
}

/// Cycles that a unit takes from the begin of a message whose blocks are all there to its value.
fn whole(unit: &GhashSpec, blocks: u64) -> u64 {
    fed(unit, blocks, blocks, 1)
}

/// The same, of a message of which `there` blocks are there; the others come, `rate` per cycle.
fn fed(unit: &GhashSpec, blocks: u64, there: u64, rate: u64) -> u64 {
    let mut timing = TimingModel::of_family(unit);
    timing.begin(0, blocks);
    for block in 0..blocks {
        let at = timing.next(block.saturating_sub(there) / rate);
        timing.enter(at, 1);
    }
    timing.known()
}

struct Bench {
    unit: GhashUnit,
    cycle: u64,
}

impl Bench {
    /// A unit with its powers, in some cycle.
    fn new(spec: &GhashSpec, h: Element) -> Self {
        let mut bench = Self { unit: GhashUnit::new(spec), cycle: 0 };
        bench.unit.load(h);
        while !bench.unit.ready() {
            bench.clock();
        }
        bench
    }

    fn clock(&mut self) {
        self.unit.clock();
        self.cycle += 1;
    }

    /// Enters blocks as early as possible, none before its own date after `from`. Gives the cycles.
    fn enter(&mut self, blocks: &[Element], dates: &[u64]) -> Vec<u64> {
        let from = self.cycle;
        let mut entries = Vec::new();
        for (&block, &date) in blocks.iter().zip(dates) {
            while self.cycle < from + date || !self.unit.can_enter() {
                self.clock();
            }
            self.unit.enter(block);
            entries.push(self.cycle);
        }
        entries
    }

    /// The values of all chains, and the cycle in which they are known.
    fn values(&mut self, spec: &GhashSpec) -> (u64, Vec<Element>) {
        while self.unit.result().is_none() {
            self.clock();
        }
        (self.cycle, (0..spec.tags() as usize).map(|chain| self.unit.value(chain).unwrap()).collect())
    }
}

fn blocks(seed: u128, count: usize) -> Vec<Element> {
    (1..=count as u128)
        .map(|i| Element(seed.wrapping_mul(2 * i + 1) ^ i.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835)))
        .collect()
}

fn horner(h: Element, blocks: &[Element]) -> Element {
    blocks.iter().fold(Element::ZERO, |y, &x| (y ^ x).times(h))
}

fn expected(spec: &GhashSpec, h: Element, blocks: &[Element]) -> Vec<Element> {
    let GhashSpec::SubChains { chains, chunk, .. } = spec else { return vec![horner(h, blocks)] };
    let (length, data) = blocks.split_last().unwrap();
    let chain = |number| {
        let chunks = data.chunks(chunk.0 as usize / 16).skip(number).step_by(*chains as usize);
        horner(h, &chunks.flatten().chain([length]).copied().collect::<Vec<_>>())
    };
    (0..*chains as usize).map(chain).collect()
}

/// The entries and the end of a message by a timing.
fn predicted(timing: &mut TimingModel, from: u64, dates: &[u64]) -> (Vec<u64>, u64) {
    timing.begin(from, dates.len() as u64);
    let entries = dates.iter().map(|date| {
        let at = timing.next(from + date);
        assert!(timing.room(at, 1) == 1);
        timing.enter(at, 1);
        at
    });
    (entries.collect(), timing.known())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn values_and_cycles_hold_for_any_arrivals(
        spec in any_ghash(), h: u128, seed: u128,
        messages in prop::collection::vec(prop::collection::vec(prop_oneof![3 => Just(0_u64), 1 => 0..12_u64], 1..70), 1..4),
    ) {
        let mut bench = Bench::new(&spec, Element(h));
        let mut own = TimingModel::of_family(&spec);
        let mut chosen = TimingModel::new(&spec);
        prop_assert_eq!(bench.cycle, own.power_setup());
        prop_assert_eq!(bench.cycle, chosen.power_setup());
        for gaps in messages {
            let dates: Vec<u64> = gaps.iter().scan(0, |date, gap| { *date += gap; Some(*date) }).collect();
            let (blocks, from) = (blocks(seed, dates.len()), bench.cycle);
            bench.unit.begin(blocks.len() as u64);
            let entries = bench.enter(&blocks, &dates);
            let (known, values) = bench.values(&spec);
            prop_assert_eq!(values, expected(&spec, Element(h), &blocks));
            prop_assert_eq!(predicted(&mut own, from, &dates), (entries.clone(), known));
            prop_assert_eq!(predicted(&mut chosen, from, &dates), (entries, known));
        }
    }

    #[test]
    fn sub_chains_in_turns_have_the_values_of_a_whole_message_and_the_cycles_of_their_timing(
        unit in any_simple_ghash(), h: u128, seed: u128, deal in (1_u32..5, 1_u64..5), ports in 1_u32..5, buffer in 1_u32..9,
        turns in prop::collection::vec(1_usize..30, 1..6),
    ) {
        let ((chains, chunk), h) = (deal, Element(h));
        let spec = GhashSpec::SubChains { chains, chunk: Bytes(16 * chunk), ports, buffer, unit: Box::new(unit) };
        let GhashSpec::SubChains { unit, .. } = &spec else { unreachable!() };
        let mut bench = Bench::new(&spec, h);
        let (mut timing, all) = (sub_chains::TimingModel::new(chains, chunk, ports, buffer, unit), blocks(seed, turns.iter().sum::<usize>() + 1));
        let (mut start, mut values) = (0, vec![Element::ZERO; chains as usize]);
        for (number, turn) in turns.iter().enumerate() {
            let closes = number + 1 == turns.len();
            let (from, blocks) = (bench.cycle, &all[start..start + turn + usize::from(closes)]);
            let part = (start as u64, blocks.len() as u64);
            let GhashUnit::SubChains(unit) = &mut bench.unit else { unreachable!() };
            unit.begin_turn(part, closes);
            timing.begin_turn(from, part, closes);
            for entry in bench.enter(blocks, &vec![0; blocks.len()]) {
                prop_assert_eq!(timing.next(from), entry);
                timing.enter(entry, 1);
            }
            while (0..chains as usize).all(|chain| bench.unit.value(chain).is_none()) {
                bench.clock();
            }
            prop_assert_eq!(timing.known(), bench.cycle);
            for (chain, value) in values.iter_mut().enumerate() {
                let own = (start..start + turn).filter(|block| block / chunk as usize % chains as usize == chain).count();
                let before = (0..own + usize::from(closes)).fold(*value, |value, _| value.times(h));
                *value = before ^ bench.unit.value(chain).unwrap_or(Element::ZERO);
            }
            start += turn;
        }
        prop_assert_eq!(values, expected(&spec, h, &all));
    }

    #[test]
    fn what_passes_in_one_go_passes_as_row_by_row(
        width in 1..6_u32, groups in 1..6_u32, multiplier in any_multiplier(), ports in 1..6_u64, spare in 0..3_u64,
        bursts in prop::collection::vec((0..70_u64, prop_oneof![3 => Just(0_u64), 1 => 0..90_u64]), 1..12), times in 1..9_usize,
    ) {
        // Bursts come again, as those of a transfer do.
        let bursts = bursts.repeat(times);
        let spec = GhashSpec::Aggregated { width, groups, multiplier };
        let mut at_once = TimingModel::new(&spec);
        let mut by_rows = at_once.clone();
        let blocks = bursts.iter().map(|burst| burst.0).sum::<u64>() + spare + 1;
        at_once.begin(5, blocks);
        by_rows.begin(5, blocks);
        let (mut row, mut rows, mut visible) = ((0, 0), (0, 0), 0);
        let (mut taken, mut expected) = (Vec::new(), Vec::new());
        for (blocks, later) in bursts {
            visible = row.0.max(visible) + later;
            let passed = at_once.pass(row, visible, ports, blocks, |some| some.note(0, &mut taken));
            let (mut left, mut waited) = (blocks, 0);
            while left > 0 {
                waited += by_rows.pass_row(&mut rows, visible, ports, &mut left, &mut |some| some.note(0, &mut expected));
            }
            prop_assert_eq!(passed, (rows, waited));
            prop_assert_eq!(&taken, &expected);
            row = passed.0;
        }
        prop_assert_eq!(at_once.earliest(), by_rows.earliest());
        prop_assert_eq!(at_once.known(), by_rows.known());
    }

    #[test]
    fn the_tail_of_a_unit_at_rest_is_the_one_stated(spec in any_ghash(), count in 2..60_usize) {
        let mut bench = Bench::new(&spec, Element(3 << 100));
        let blocks = blocks(7, count);
        bench.unit.begin(count as u64);
        let mut dates = vec![0; count];
        dates[count - 2..].fill(100_000);
        let entries = bench.enter(&blocks, &dates);
        let last = entries[count - 2];
        while bench.cycle < last + stated_tail(&spec, count as u64) {
            prop_assert!(bench.unit.result().is_none(), "known before the stated tail, in cycle {}", bench.cycle - last);
            bench.clock();
        }
        prop_assert!(bench.unit.result().is_some(), "not known at the stated tail");
        prop_assert_eq!(bench.values(&spec).1, expected(&spec, Element(3 << 100), &blocks));
    }

    #[test]
    fn a_saturated_unit_runs_at_its_bound_and_not_above(spec in any_ghash()) {
        const COUNT: u64 = 20_000;
        let (cycles, of, part) = stated_period(&spec);
        let latency = spec.multiplier().latency();
        if let GhashSpec::Segmented { segment, unit, .. } = &spec {
            // The weighting cannot bind if a unit takes longer for a segment than any position's weighting.
            prop_assume!(whole(unit, part) >= latency * u64::from((COUNT / u64::from(*segment)).ilog2() + 1));
        }
        let last = saturated(&spec, COUNT);
        // Blocks that find an empty unit come ahead of the steady rate: at most one per chain and port. Units that other
        // units' blocks keep waiting are in that place with every segment or chunk, whose begin is a whole cycle.
        let (steady, latency) = (COUNT * cycles / (of * part), edge(&spec));
        let edges = if part > 1 || spec.tags() > 1 { COUNT / part + 1 } else { 1 };
        prop_assert!(last <= steady + edges * (latency + 2) + part, "{} cycles, {} at the bound", last, steady);
        // What the buffers hold, and the part that each unit is at, have entered and are not yet hashed.
        let held = match spec {
            GhashSpec::Segmented { units: n, buffer, .. } | GhashSpec::SubChains { chains: n, buffer, .. } => {
                u64::from(n) * (u64::from(buffer) + part)
            }
            GhashSpec::MessageParallel { buffer, .. } => buffer.into(),
            _ => 0,
        };
        let ahead = held * cycles / (of * part) + edges * (2 * latency + 1);
        prop_assert!(last + ahead >= steady, "{} cycles, {} at the bound", last, steady);
    }

    #[test]
    fn the_set_up_is_that_of_the_powers(spec in any_ghash()) {
        let own = |unit: &GhashSpec| match *unit {
            GhashSpec::Serial { .. } => 0,
            GhashSpec::Folded { powers, ref multiplier, .. } => u64::from(powers - 1) * multiplier.latency(),
            GhashSpec::Interleaved { ways, multipliers, ref multiplier, .. } => {
                powers::setup(ways as usize, multipliers as usize, multiplier)
            }
            GhashSpec::Aggregated { width, groups, ref multiplier } => powers::setup((width * groups) as usize, 1, multiplier),
            _ => unreachable!("not a unit that takes a message by itself"),
        };
        let stated = match &spec {
            GhashSpec::Segmented { segment, unit, .. } => {
                own(unit).max(unit.multiplier().latency() * (31 + u64::from(segment.count_ones())))
            }
            GhashSpec::MessageParallel { unit, .. } | GhashSpec::SubChains { unit, .. } => own(unit),
            simple => own(simple),
        };
        prop_assert_eq!(TimingModel::new(&spec).power_setup(), stated);
        prop_assert_eq!(Bench::new(&spec, Element(9)).cycle, stated);
    }

    #[test]
    fn segments_in_any_order_give_gcms_value(
        unit in any_simple_ghash(), sizes in (1..5_u32, 2..12_u32, 1..4_u32, 0..20_u32),
        h: u128, count in 1..120_usize, order in any::<prop::sample::Index>(), seed: u64,
    ) {
        let (units, segment, ports, beyond) = sizes;
        let mut unit = segmented::GhashUnit::new(units, segment, ports, ports + beyond, &unit);
        let (h, blocks) = (Element(h), blocks(seed.into(), count));
        unit.load(h);
        while !unit.ready() {
            unit.clock();
        }
        unit.begin(count as u64);
        let mut rest: Vec<(u64, Vec<Element>)> = Vec::new();
        let mut left = &blocks[..];
        for number in 0..unit.segments() {
            let (one, others) = left.split_at(unit.blocks_of(number) as usize);
            rest.push((number, one.iter().rev().copied().collect()));
            left = others;
        }
        prop_assert!(left.is_empty());
        let turn = order.index(rest.len());
        rest.rotate_left(turn);
        if seed % 2 == 0 {
            rest.reverse();
        }
        // Whatever may enter does, from segments in this order and side by side.
        let mut cycles = 0;
        while !rest.is_empty() {
            for (number, blocks) in &mut rest {
                while unit.can_enter_at(*number) && let Some(block) = blocks.pop() {
                    unit.enter_at(*number, block);
                    if blocks.is_empty() {
                        break;
                    }
                }
            }
            rest.retain(|(_, blocks)| !blocks.is_empty());
            unit.clock();
            cycles += 1;
            prop_assert!(cycles < 1_000_000, "the unit stands still");
        }
        while unit.result().is_none() {
            unit.clock();
        }
        prop_assert_eq!(unit.result(), Some(horner(h, &blocks)));
    }
}

/// The cycle in which the last of `count` blocks enters that are all there.
fn saturated(spec: &GhashSpec, count: u64) -> u64 {
    let mut timing = TimingModel::of_family(spec);
    timing.begin(0, count);
    let (mut last, mut left) = (0, count);
    while left > 0 {
        last = timing.next(last);
        let count = timing.room(last, left);
        timing.enter(last, count);
        left -= count;
    }
    last
}

#[test]
fn in_order_arrival_is_u_units_with_buffers_of_a_segment_and_one_unit_without() {
    let unit = Box::new(serial(2, 2));
    let cycles = |buffer| {
        let unit = unit.clone();
        saturated(&GhashSpec::Segmented { units: 4, segment: 1024, ports: 4, buffer, unit }, 1 << 20)
    };
    // A block takes four cycles in a unit. Per segment: a quarter of its time in a unit; what does not fit the buffer of
    // the unit whose turn it is; half a segment. The last segments of a message are in buffers when its last block enters.
    for (buffer, period) in [(1024, 1024 * 4 / 4), (4, (1024 - 4) * 4), (512, 512 * 4)] {
        let range = (1024 - 4) * period..=1024 * period;
        assert!(range.contains(&cycles(buffer)), "buffer of {buffer}: {} cycles", cycles(buffer));
    }
}

#[test]
fn a_message_of_16_mib_in_any_order_of_segments_has_the_tag_of_another_code_base() {
    use crate::another::aead;
    let key = pattern(1, 32);
    let mut text = pattern(2, 16 << 20);
    let sealer = aead::LessSafeKey::new(aead::UnboundKey::new(&aead::AES_256_GCM, &key).unwrap());
    let nonce = aead::Nonce::assume_unique_for_key([4; 12]);
    let tag = sealer.seal_in_place_separate_tag(nonce, aead::Aad::empty(), &mut text).unwrap();
    let key = sealsim_aead::gcm::bulk::Key::new(&key).unwrap();
    let length = sealsim_aead::gcm::counter::length_block(0, 16 << 20);
    let block = |index: usize| text.chunks(16).nth(index).map_or(length, Element::from_partial);
    let inner = GhashSpec::Aggregated { width: 2, groups: 2, multiplier: multiplier(1, 1, 128) };
    let mut unit = segmented::GhashUnit::new(4, 1000, 8, 64, &inner);
    unit.load(key.h());
    while !unit.ready() {
        unit.clock();
    }
    unit.begin((1 << 20) + 1);
    // The segments of each unit in an order of its own, one unit's next to the others'.
    let segments = unit.segments();
    let first = unit.blocks_of(0);
    let of = |lane: u64| (0..segments).filter(move |segment| segment % 4 == lane);
    let mut queues: Vec<Vec<u64>> = (0..4).map(|lane| of(lane).collect()).collect();
    queues[1].reverse();
    queues[2].sort_by_key(|segment| segment.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    queues[3].sort_by_key(|segment| segment.wrapping_mul(0xc2b2_ae3d_27d4_eb4f) >> 7);
    let mut entered = [0; 4];
    while unit.result().is_none() {
        for (lane, queue) in queues.iter_mut().enumerate() {
            for _ in 0..2 {
                let Some(&segment) = queue.last().filter(|&&segment| unit.can_enter_at(segment)) else { break };
                let start = if segment == 0 { 0 } else { first + (segment - 1) * 1000 };
                unit.enter_at(segment, block((start + entered[lane]) as usize));
                entered[lane] += 1;
                if entered[lane] == unit.blocks_of(segment) {
                    queue.pop();
                    entered[lane] = 0;
                }
            }
        }
        unit.clock();
    }
    let mask = Element::from_bytes(key.encrypt_block(key.j0(&[4; 12]).unwrap()));
    assert_eq!((unit.result().unwrap() ^ mask).to_bytes()[..], tag.as_ref()[..]);
}

#[test]
fn one_block_fewer_than_a_group_one_group_and_one_block_more() {
    let multiplier = multiplier(1, 1, 128);
    for (width, groups) in [(4_u32, 1_u32), (4, 2), (3, 3), (1, 4)] {
        let spec = GhashSpec::Aggregated { width, groups, multiplier: multiplier.clone() };
        let h = Element(0x1234_5678 << 64 | 77);
        for count in [1, width - 1, width, width + 1, width * groups, width * groups + 1, 3 * width * groups - 1] {
            let blocks = blocks(5, count.max(1) as usize);
            let mut bench = Bench::new(&spec, h);
            bench.unit.begin(blocks.len() as u64);
            bench.enter(&blocks, &vec![0; blocks.len()]);
            assert_eq!(bench.values(&spec).1, [horner(h, &blocks)], "width {width}, groups {groups}, {count} blocks");
        }
    }
}
