//! A toy machine for the kernels' own tests: stages in a chain, each with its clock, its service time and its queue.

use super::*;
use crate::units::{Femtos, Frequency};
use proptest::prelude::*;

crate::ports! {
    struct StagePorts {
        input: In<u64>,
        output: Out<u64>,
    }
}

/// A stage that holds one item for `service` cycles and passes it on.
#[derive(Debug, Clone, Default)]
struct Stage {
    service: u64,
    holds: Option<(u64, u64)>,
}

impl Unit for Stage {
    type Ports = StagePorts;

    fn tick(&mut self, now: Now, ports: &mut StagePorts) -> Wake {
        if let Some((done, item)) = self.holds {
            if done > now.cycle {
                return Wake::at(done, Activity::Busy);
            }
            if !ports.output.has_room(now.time) {
                return Wake::on_port(Activity::Stall(0));
            }
            ports.output.push(now.time, item);
            self.holds = None;
        }
        match ports.input.pop(now.time) {
            Some(item) => {
                self.holds = Some((now.cycle + self.service, item));
                Wake::at(now.cycle + self.service, Activity::Busy)
            }
            None => Wake::on_port(Activity::Idle),
        }
    }
}

struct Source {
    made: u64,
    items: u64,
}

impl Unit for Source {
    type Ports = Out<u64>;

    fn tick(&mut self, now: Now, output: &mut Out<u64>) -> Wake {
        while self.made < self.items {
            if !output.has_room(now.time) {
                return Wake::on_port(Activity::Stall(0));
            }
            output.push(now.time, self.made);
            self.made += 1;
        }
        Wake::on_port(Activity::Idle)
    }
}

crate::ports! {
    struct SinkPorts {
        input: In<u64>,
        signals: Signals,
    }
}

/// Counts items, and ends the run with the last.
struct Sink {
    left: u64,
    takes: bool,
}

impl Unit for Sink {
    type Ports = SinkPorts;

    fn tick(&mut self, now: Now, ports: &mut SinkPorts) -> Wake {
        while self.takes && ports.input.pop(now.time).is_some() {
            self.left = self.left.saturating_sub(1);
        }
        if self.left == 0 {
            ports.signals.stop();
        }
        Wake::on_port(Activity::Idle)
    }
}

fn clock(mhz: u64) -> Clock {
    Clock::new(Frequency(mhz * 1_000_000)).unwrap()
}

/// A chain of stages (clock, service time, depth of the queue before it) between a source of so many items and a sink.
fn chain(stages: &[(u64, u64, usize)], items: u64, takes: bool) -> Netlist {
    let mut netlist = Netlist::new();
    let depth = |place: usize| stages.get(place).map_or(2, |stage| stage.2);
    let (out, mut input) = netlist.queue("q0", depth(0));
    netlist.add("stage0", clock(1_000), Source { made: 0, items }, out);
    for (place, &(mhz, service, _)) in (1..).zip(stages) {
        let (output, next) = netlist.queue(format!("q{place}"), depth(place));
        let ports = StagePorts { input, output };
        netlist.add(format!("stage{place}"), clock(mhz), Stage { service, holds: None }, ports);
        input = next;
    }
    let ports = SinkPorts { input, signals: netlist.signals("sink") };
    netlist.add(format!("stage{}", stages.len() + 1), clock(1_000), Sink { left: items, takes }, ports);
    netlist
}

fn digests(netlist: &Netlist) -> Vec<u64> {
    netlist.channels().map(Channel::digest).collect()
}

fn go(netlist: &mut Netlist, kernel: Kernel, order: Order) -> Result<Run, SimulationError> {
    run(netlist, kernel, order, &mut |_| Control::Continue)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    #[test]
    fn both_kernels_and_any_order_give_the_same_run(
        stages in prop::collection::vec((1u64..40, 1u64..9, 1usize..4), 1..100),
        items in 1u64..60,
        seed in any::<u64>(),
    ) {
        let stages: Vec<_> = stages.into_iter().map(|(clock, service, depth)| (clock * 97, service, depth)).collect();
        let mut reference = chain(&stages, items, true);
        let expected = go(&mut reference, Kernel::EveryCycle, Order::Ascending).unwrap();
        for (kernel, order) in [
            (Kernel::Skip, Order::Ascending),
            (Kernel::Skip, Order::Shuffled(seed)),
            (Kernel::EveryCycle, Order::Shuffled(seed)),
        ] {
            let mut chain = chain(&stages, items, true);
            let run = go(&mut chain, kernel, order).unwrap();
            prop_assert_eq!(run.end, expected.end);
            prop_assert_eq!(digests(&chain), digests(&reference));
            for (mine, theirs) in run.accounts.iter().zip(&expected.accounts) {
                prop_assert_eq!(mine, theirs);
            }
            prop_assert!(run.ticks <= expected.ticks);
        }
    }
}

#[test]
fn a_chain_of_one_stage_takes_its_closed_form() {
    let mut chain = chain(&[(1_000, 5, 2)], 10, true);
    let run = go(&mut chain, Kernel::Skip, Order::Ascending).unwrap();
    // The first item is visible at cycle 1; each is held 5 cycles; the counter sees the last one a cycle later.
    assert_eq!(run.end, Femtos((1 + 10 * 5 + 1) * 1_000_000));
    assert_eq!(run.accounts[1].busy(), 50);
}

#[test]
fn a_chain_of_two_hundred_units_takes_its_closed_form() {
    let mut chain = chain(&[(1_000, 1, 2); 200], 1, true);
    let run = go(&mut chain, Kernel::Skip, Order::Ascending).unwrap();
    // A cycle in each queue and one in each stage.
    assert_eq!(run.end, Femtos((201 + 200) * 1_000_000));
}

#[test]
fn a_sink_that_stops_taking_is_a_deadlock_that_names_the_waits() {
    for kernel in [Kernel::Skip, Kernel::EveryCycle] {
        let error = go(&mut chain(&[(1_000, 5, 2)], 10, false), kernel, Order::Ascending).unwrap_err();
        let SimulationError::Deadlock { waits, .. } = &error else { panic!("{error}") };
        let on = waits.iter().find(|w| w.unit == "stage1").and_then(|w| w.on.clone());
        assert_eq!(on, Some(("stage2".to_owned(), "q1".to_owned())), "{error}");
    }
}

#[test]
fn a_dropped_item_is_a_deadlock_and_a_duplicate_is_not() {
    for (kind, finishes) in [(FaultKind::Drop, false), (FaultKind::Duplicate, true), (FaultKind::Reorder, true)] {
        let mut chain = chain(&[(1_000, 5, 2)], 10, true);
        let injection = Injection::nth("q0", kind, 3);
        assert!(chain.arm(&injection, Armed::new(&injection, 0, 0)));
        assert_eq!(go(&mut chain, Kernel::Skip, Order::Ascending).is_ok(), finishes, "{kind:?}");
        assert!(matches!(chain.effects()[..], [Effect::Struck { .. }]));
    }
}

#[test]
fn the_observer_can_stop_a_run() {
    let mut chain = chain(&[(1_000, 2, 2)], 1 << 20, true);
    let result = run(&mut chain, Kernel::Skip, Order::Ascending, &mut |_| Control::Stop);
    assert!(matches!(result, Err(SimulationError::Stopped { .. })));
}

/// Goes on for so long after all work is done.
struct Later(Femtos);

impl Observer for Later {
    fn at(&mut self, _time: Femtos) -> Control {
        Control::Continue
    }

    fn stopped(&mut self, at: Femtos) -> Femtos {
        Femtos(at.0 + self.0.0)
    }
}

#[test]
fn a_run_goes_on_after_its_work_until_the_observer_says() {
    for more in [0, 1, 999_999, 1_000_000, 7_300_000] {
        let [mut reference, mut skipping] = [(); 2].map(|()| chain(&[(1_000, 5, 2), (97, 3, 1)], 10, true));
        let plain = go(&mut chain(&[(1_000, 5, 2), (97, 3, 1)], 10, true), Kernel::Skip, Order::Ascending).unwrap();
        let expected = run(&mut reference, Kernel::EveryCycle, Order::Ascending, &mut Later(Femtos(more))).unwrap();
        let skipped = run(&mut skipping, Kernel::Skip, Order::Ascending, &mut Later(Femtos(more))).unwrap();
        assert_eq!((expected.end, skipped.end), (Femtos(plain.end.0 + more), expected.end));
        assert_eq!((&skipped.accounts, digests(&skipping)), (&expected.accounts, digests(&reference)));
        assert_eq!(skipped.accounts[0].total(), clock(1_000).first_after(expected.end));
    }
}

/// What is pushed into a channel while the machine runs.
fn heard(netlist: &mut Netlist, path: &str) -> Result<Vec<u64>, SimulationError> {
    let recorder = Recorder::default();
    netlist.channels().find(|channel| channel.path() == path).unwrap().listen(recorder.probe(1));
    go(netlist, Kernel::Skip, Order::Ascending)?;
    Ok(recorder.take().iter().map(|event| event.word).collect())
}

#[test]
fn a_probe_hears_each_push_once() {
    assert_eq!(heard(&mut chain(&[(1_000, 2, 2)], 10, true), "q1").unwrap(), (0..10).collect::<Vec<_>>());
}

#[test]
fn another_unit_sends_by_the_same_port() {
    let mut chain = chain(&[], 10, true);
    chain.replace("stage0", Source { made: 7, items: 17 }).unwrap();
    assert_eq!(heard(&mut chain, "q0").unwrap(), (7..17).collect::<Vec<_>>());
}

struct Adder;

impl Unit for Adder {
    type Ports = StagePorts;

    fn tick(&mut self, now: Now, ports: &mut StagePorts) -> Wake {
        while let Some(item) = ports.input.pop(now.time) {
            ports.output.push(now.time, item + 1);
        }
        Wake::on_port(Activity::Busy)
    }
}

#[test]
fn a_unit_gets_in_front_of_a_port() {
    let mut chain = chain(&[], 10, true);
    chain
        .rewire("stage1", |net, clock, ports: &mut SinkPorts| {
            let (output, nearer) = net.queue("added", 4);
            let input = std::mem::replace(&mut ports.input, nearer);
            net.add("adder", clock, Adder, StagePorts { input, output });
        })
        .unwrap();
    assert_eq!(heard(&mut chain, "added").unwrap(), (1..=10).collect::<Vec<_>>());
}

#[test]
fn an_end_that_was_dropped_is_open() {
    let mut chain = chain(&[], 10, true);
    chain.rewire("stage1", |net, _, ports: &mut SinkPorts| ports.input = net.queue("other", 4).1).unwrap();
    let error = go(&mut chain, Kernel::Skip, Order::Ascending).unwrap_err();
    assert!(matches!(&error, SimulationError::Netlist(NetlistError::OpenEnd { path, .. }) if path == "q0"), "{error}");
}

#[test]
fn what_does_not_fit_is_refused_and_changes_nothing() {
    let (mut chain, other) = (chain(&[], 10, true), || Source { made: 7, items: 17 });
    let known = vec!["stage0".to_owned(), "stage1".to_owned()];
    let unknown = ExchangeError::Unknown { path: "stag1".into(), known };
    assert_eq!(unknown.to_string(), "there is no unit `stag1` here; there are stage0, stage1");
    assert_eq!(chain.replace("stag1", other()), Err(unknown));
    let ports = chain.replace("stage1", other()).unwrap_err();
    assert!(matches!(&ports, ExchangeError::Ports { path, .. } if path == "stage1"), "{ports}");
    assert_eq!(chain.rewire("stage1", |_, _, _: &mut Out<u64>| ()), Err(ports));
    assert_eq!(heard(&mut chain, "q0").unwrap(), (0..10).collect::<Vec<_>>());
    assert_eq!(chain.replace("stage0", other()), Err(ExchangeError::Begun { path: "stage0".into() }));
}

#[test]
fn what_is_no_machine_is_refused_with_its_path() {
    let mut open = chain(&[], 1, true);
    let (_out, _in) = open.queue::<u64>("left.alone", 2);
    let error = go(&mut open, Kernel::Skip, Order::Ascending).unwrap_err();
    assert_eq!(error.to_string(), "nothing holds the sending end of channel `left.alone`: give it to a unit's ports");
    let mut half = chain(&[], 1, true);
    let (out, _in) = half.wire::<u64>("half", Femtos(1));
    half.add("giver", clock(1_000), Giver, out);
    let error = go(&mut half, Kernel::Skip, Order::Ascending).unwrap_err();
    assert!(error.to_string().contains("the receiving end of channel `half`"), "{error}");
    let mut twice = chain(&[], 1, true);
    let path = "q0".into();
    let (out, input) = twice.queue("q0", 2);
    twice.add("again", clock(1_000), Stage::default(), StagePorts { input, output: out });
    assert_eq!(twice.check(), Err(NetlistError::SamePath { path }));
    assert_eq!(Netlist::new().check(), Err(NetlistError::Units { count: 0 }));
}

struct Giver;

impl Unit for Giver {
    type Ports = Tx<u64>;

    fn tick(&mut self, _now: Now, _ports: &mut Tx<u64>) -> Wake {
        Wake::on_port(Activity::Idle)
    }
}
