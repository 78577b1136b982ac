use super::*;
use crate::gcm::arbitrary::any_ghash;
use crate::gcm::spec::{Closing, MultiplierSpec};
use proptest::prelude::*;

const fn multiplier(spec: &GhashSpec) -> &MultiplierSpec {
    spec.multiplier()
}

/// The tail that the families' heads state, for a last ciphertext block that finds everything at rest.
fn stated_tail(spec: &GhashSpec, blocks: u64) -> u64 {
    let (latency, interval) = (multiplier(spec).latency(), multiplier(spec).interval());
    match *spec {
        GhashSpec::Serial { first_block, .. } => {
            2 * latency + if blocks == 2 { first_block.unwrap_or_default().0 } else { 0 }
        }
        GhashSpec::Interleaved { ways, multipliers, closing, .. } => {
            let length = match (ways, multipliers) {
                (1, _) => latency,
                (_, 1) => interval,
                _ => 0,
            };
            let closings = u64::from(ways).min(blocks);
            match closing {
                Closing::LookAhead => length + latency,
                Closing::Afterwards => {
                    (length + latency).max(interval * ((closings + 1) / u64::from(multipliers))) + latency
                }
            }
        }
        GhashSpec::Aggregated { width: 1, groups: 1, .. } => 2 * latency,
        GhashSpec::Aggregated { width: 1, .. } => latency + interval,
        GhashSpec::Aggregated { .. } => latency,
        GhashSpec::Folded { powers, fold, .. } => {
            let around = latency + fold.0;
            let ends_a_group = (blocks - 1).is_multiple_of(powers.into());
            if ends_a_group { around.max(2 * interval) + around } else { interval + around }
        }
    }
}

/// Blocks per cycle that the design document states as an upper bound, as a fraction.
fn stated_bound(spec: &GhashSpec) -> (u64, u64) {
    let (latency, interval) = (multiplier(spec).latency(), multiplier(spec).interval());
    let less = |a: (u64, u64), b: (u64, u64)| if a.0 * b.1 <= b.0 * a.1 { a } else { b };
    match *spec {
        GhashSpec::Serial { .. } => (1, latency),
        GhashSpec::Interleaved { ways, multipliers, .. } => {
            less((multipliers.into(), interval), (ways.into(), latency))
        }
        GhashSpec::Aggregated { width, groups, .. } => {
            less((width.into(), interval), (u64::from(width) * u64::from(groups), latency))
        }
        GhashSpec::Folded { powers, fold, .. } => {
            let powers = u64::from(powers);
            less((powers, (powers + 1) * interval), (powers, latency + fold.0))
        }
    }
}

struct Bench {
    unit: Unit,
    cycle: u64,
}

impl Bench {
    /// A unit with its powers, in some cycle.
    fn new(spec: &GhashSpec, h: Element) -> Self {
        let mut bench = Self { unit: Unit::new(spec), cycle: 0 };
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

    fn value(&mut self) -> (u64, Element) {
        loop {
            if let Some(value) = self.unit.result() {
                return (self.cycle, value);
            }
            self.clock();
        }
    }
}

fn blocks(seed: u128, count: usize) -> Vec<Element> {
    (1..=count as u128)
        .map(|i| Element(seed.wrapping_mul(2 * i + 1) ^ i.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835)))
        .collect()
}

/// The standard's recurrence.
fn horner(h: Element, blocks: &[Element]) -> Element {
    blocks.iter().fold(Element::ZERO, |y, &x| (y ^ x).times(h))
}

/// The entries and the end of a message by a recurrence.
fn predicted(recurrence: &mut Recurrence, from: u64, dates: &[u64]) -> (Vec<u64>, u64) {
    recurrence.begin(from, dates.len() as u64);
    let entries = dates.iter().map(|date| {
        let at = recurrence.next(from + date);
        assert!(recurrence.room(at, 1) == 1);
        recurrence.enter(at, 1);
        at
    });
    (entries.collect(), recurrence.known())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn values_and_cycles_hold_for_any_arrivals(
        spec in any_ghash(), h: u128, seed: u128,
        messages in prop::collection::vec(prop::collection::vec(prop_oneof![3 => Just(0_u64), 1 => 0..12_u64], 1..70), 1..4),
    ) {
        let mut bench = Bench::new(&spec, Element(h));
        let mut own = Recurrence::of_family(&spec);
        let mut chosen = Recurrence::new(&spec);
        prop_assert_eq!(bench.cycle, own.power_setup());
        prop_assert_eq!(bench.cycle, chosen.power_setup());
        for gaps in messages {
            let dates: Vec<u64> = gaps.iter().scan(0, |date, gap| { *date += gap; Some(*date) }).collect();
            let (blocks, from) = (blocks(seed, dates.len()), bench.cycle);
            bench.unit.begin(blocks.len() as u64);
            let entries = bench.enter(&blocks, &dates);
            let (known, value) = bench.value();
            prop_assert_eq!(value, horner(Element(h), &blocks));
            prop_assert_eq!(predicted(&mut own, from, &dates), (entries.clone(), known));
            prop_assert_eq!(predicted(&mut chosen, from, &dates), (entries, known));
        }
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
        prop_assert_eq!(bench.unit.result(), Some(horner(Element(3 << 100), &blocks)));
    }

    #[test]
    fn a_saturated_unit_runs_at_its_bound_and_not_above(spec in any_ghash()) {
        const COUNT: u64 = 20_000;
        let mut recurrence = Recurrence::of_family(&spec);
        recurrence.begin(0, COUNT);
        let (mut last, mut left) = (0, COUNT);
        while left > 0 {
            last = recurrence.earliest();
            let count = recurrence.room(last, left);
            recurrence.enter(last, count);
            left -= count;
        }
        // Blocks that find an empty unit come ahead of the steady rate: at most one per chain and port.
        let (blocks, cycles) = stated_bound(&spec);
        let steady = COUNT * cycles / blocks;
        let latency = match spec {
            // A group is issued at once and then waits: what comes ahead is one group's blocks.
            GhashSpec::Folded { powers, fold, .. } => {
                let group = u64::from(powers + 1) * multiplier(&spec).interval();
                group.max(multiplier(&spec).latency() + fold.0)
            }
            GhashSpec::Serial { first_block, .. } => multiplier(&spec).latency() + first_block.unwrap_or_default().0,
            _ => multiplier(&spec).latency(),
        };
        prop_assert!(last <= steady + latency + 1, "{} cycles, {} at the bound", last, steady);
        prop_assert!(last + 2 * latency + 1 >= steady, "{} cycles, {} at the bound", last, steady);
    }
}

#[test]
fn one_block_fewer_than_a_group_one_group_and_one_block_more() {
    let multiplier = crate::gcm::arbitrary::multiplier(1, 1, 128);
    for (width, groups) in [(4_u32, 1_u32), (4, 2), (3, 3), (1, 4)] {
        let spec = GhashSpec::Aggregated { width, groups, multiplier: multiplier.clone() };
        let h = Element(0x1234_5678 << 64 | 77);
        for count in [1, width - 1, width, width + 1, width * groups, width * groups + 1, 3 * width * groups - 1] {
            let blocks = blocks(5, count.max(1) as usize);
            let mut bench = Bench::new(&spec, h);
            bench.unit.begin(blocks.len() as u64);
            bench.enter(&blocks, &vec![0; blocks.len()]);
            assert_eq!(bench.value().1, horner(h, &blocks), "width {width}, groups {groups}, {count} blocks");
        }
    }
}
