//! A toy machine for the kernels' own tests: stages in a ring or a chain, each with its clock, its service time and its queue.

use super::*;
use crate::units::{Femtos, Frequency};
use proptest::prelude::*;

/// A stage that holds one item for `service` cycles and passes it on.
#[derive(Debug, Clone, Default)]
struct Stage {
    service: u64,
    holds: Option<(u64, u64)>,
}

impl Stage {
    fn tick(&mut self, now: Now, mut input: In<'_, u64>, mut output: Out<'_, u64>) -> Wake {
        if let Some((done, item)) = self.holds {
            if done > now.cycle {
                return Wake::at(done, Activity::Busy);
            }
            if !output.has_room() {
                return Wake::on_port(Activity::Stall(Stall::LinkBusy));
            }
            output.push(item);
            self.holds = None;
        }
        match input.pop() {
            Some(item) => {
                self.holds = Some((now.cycle + self.service, item));
                Wake::at(now.cycle + self.service, Activity::Busy)
            }
            None => Wake::on_port(Activity::Idle),
        }
    }
}

/// Unit 0 makes `items` items, the last unit counts them.
struct Chain {
    units: Vec<UnitInfo>,
    stages: Vec<Stage>,
    queues: Vec<Queue<u64>>,
    wakes: Wakes,
    made: u64,
    counted: u64,
    items: u64,
    takes: bool,
}

impl Chain {
    fn new(stages: &[(u64, u64, usize)], items: u64) -> Self {
        let count = stages.len() + 2;
        let clock = |mhz: u64| Clock::new(Frequency(mhz * 1_000_000)).unwrap();
        let units = (0..count).map(|n| UnitInfo {
            name: format!("stage{n}"),
            clock: clock(stages.get(n.wrapping_sub(1)).map_or(1_000, |s| s.0)),
        });
        Self {
            units: units.collect(),
            stages: stages.iter().map(|s| Stage { service: s.1, holds: None }).collect(),
            queues: (0..count - 1)
                .map(|n| {
                    Queue::new(format!("q{n}"), UnitId(n as u8), UnitId(n as u8 + 1), stages.get(n).map_or(2, |s| s.2))
                })
                .collect(),
            wakes: Wakes::default(),
            made: 0,
            counted: 0,
            items,
            takes: true,
        }
    }

    fn digests(&self) -> Vec<u64> {
        self.queues.iter().map(Channel::digest).collect()
    }
}

impl Machine for Chain {
    fn units(&self) -> &[UnitInfo] {
        &self.units
    }
    fn tick(&mut self, unit: UnitId, now: Now) -> Wake {
        let place = usize::from(unit.0);
        let last = self.units.len() - 1;
        if place == 0 {
            let mut output = self.queues[0].output(now.time, &self.wakes);
            while self.made < self.items {
                if !output.has_room() {
                    return Wake::on_port(Activity::Stall(Stall::LinkBusy));
                }
                output.push(self.made);
                self.made += 1;
            }
            return Wake::on_port(Activity::Idle);
        }
        if place == last {
            let mut input = self.queues[last - 1].input(now.time, &self.wakes);
            while self.takes && input.pop().is_some() {
                self.counted += 1;
            }
            return Wake::on_port(Activity::Idle);
        }
        let (before, after) = self.queues.split_at_mut(place);
        let input = before[place - 1].input(now.time, &self.wakes);
        self.stages[place - 1].tick(now, input, after[0].output(now.time, &self.wakes))
    }
    fn wakes(&self) -> &Wakes {
        &self.wakes
    }
    fn finished(&self) -> bool {
        self.counted == self.items
    }
    fn fault(&self) -> Option<String> {
        None
    }
    fn channels(&self) -> Vec<&dyn Channel> {
        self.queues.iter().map(|q| q as &dyn Channel).collect()
    }
}

fn go(chain: &mut Chain, kernel: Kernel, order: Order) -> Result<Run, SimulationError> {
    run(chain, kernel, order, &mut |_| Control::Continue)
}

proptest! {
    #[test]
    fn both_kernels_and_any_order_give_the_same_run(
        stages in prop::collection::vec((1u64..40, 1u64..9, 1usize..4), 1..6),
        items in 1u64..60,
        seed in any::<u64>(),
    ) {
        let stages: Vec<_> = stages.into_iter().map(|(clock, service, depth)| (clock * 97, service, depth)).collect();
        let mut reference = Chain::new(&stages, items);
        let expected = go(&mut reference, Kernel::EveryCycle, Order::Ascending).unwrap();
        for (kernel, order) in [
            (Kernel::Skip, Order::Ascending),
            (Kernel::Skip, Order::Shuffled(seed)),
            (Kernel::EveryCycle, Order::Shuffled(seed)),
        ] {
            let mut chain = Chain::new(&stages, items);
            let run = go(&mut chain, kernel, order).unwrap();
            prop_assert_eq!(run.end, expected.end);
            prop_assert_eq!(chain.digests(), reference.digests());
            for (mine, theirs) in run.accounts.iter().zip(&expected.accounts) {
                prop_assert_eq!(mine, theirs);
            }
            prop_assert!(run.ticks <= expected.ticks);
        }
    }
}

#[test]
fn a_chain_of_one_stage_takes_its_closed_form() {
    let mut chain = Chain::new(&[(1_000, 5, 2)], 10);
    let run = go(&mut chain, Kernel::Skip, Order::Ascending).unwrap();
    // The first item is visible at cycle 1; each is held 5 cycles; the counter sees the last one a cycle later.
    assert_eq!(run.end, Femtos((1 + 10 * 5 + 1) * 1_000_000));
    assert_eq!(run.accounts[1].busy(), 50);
}

#[test]
fn a_sink_that_stops_taking_is_a_deadlock_that_names_the_waits() {
    for kernel in [Kernel::Skip, Kernel::EveryCycle] {
        let mut chain = Chain::new(&[(1_000, 5, 2)], 10);
        chain.takes = false;
        let error = go(&mut chain, kernel, Order::Ascending).unwrap_err();
        let SimulationError::Deadlock { waits, .. } = &error else { panic!("{error}") };
        let on = waits.iter().find(|w| w.unit == "stage1").and_then(|w| w.on.clone());
        assert_eq!(on, Some(("stage2".to_owned(), "q1".to_owned())), "{error}");
    }
}

#[test]
fn a_dropped_item_is_a_deadlock_and_a_duplicate_is_not() {
    for (kind, finishes) in [(FaultKind::Drop, false), (FaultKind::Duplicate, true), (FaultKind::Reorder, true)] {
        let mut chain = Chain::new(&[(1_000, 5, 2)], 10);
        chain.queues[0].arm(Armed::new(&Injection { place: "q0".into(), kind, passage: 3 }, 0, 0), &chain.wakes);
        assert_eq!(go(&mut chain, Kernel::Skip, Order::Ascending).is_ok(), finishes, "{kind:?}");
    }
}

#[test]
fn the_observer_can_stop_a_run() {
    let mut chain = Chain::new(&[(1_000, 2, 2)], 1 << 20);
    let result = run(&mut chain, Kernel::Skip, Order::Ascending, &mut |_| Control::Stop);
    assert!(matches!(result, Err(SimulationError::Stopped { .. })));
}

#[test]
fn a_probe_hears_each_push_once() {
    let mut chain = Chain::new(&[(1_000, 2, 2)], 10);
    let recorder = Recorder::default();
    chain.queues[1].listen(recorder.probe(1));
    go(&mut chain, Kernel::Skip, Order::Ascending).unwrap();
    let events = recorder.take();
    assert_eq!(events.iter().map(|e| e.word).collect::<Vec<_>>(), (0..10).collect::<Vec<_>>());
}
