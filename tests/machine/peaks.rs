//! Every figure that is the most of something, and every sum of exposure, is what the gauges of waves show, of all units of a GPU together.

use super::threads::{Asked, asked, blind, cases};
use crate::common::{QUICK, copy, machine, request};
use proptest::{prelude::*, test_runner::TestRunner};
use sealsim::{
    config::{Layers, MachineSpec, Role, Shipped},
    sim::{Control, FaultKind, Injection, Kernel, Listener, Order, Place, Places, SharedListener},
    system::{DataMode, Direction, GpuOutcome, Memory, Outcome, Request, TagQueueOutcome, run_on, run_with_listener},
    units::Femtos,
};
use std::{cell::RefCell, collections::BTreeMap, num::NonZero, rc::Rc};

/// What gauges show, as they tell it.
#[derive(Default)]
struct Gauges {
    places: Option<Places>,
    told: Vec<(Femtos, usize, u64)>,
}

impl Listener for Gauges {
    fn begin(&mut self, places: &Places) {
        self.places = Some(places.clone());
    }
    fn hears(&self, place: Place<'_>) -> bool {
        matches!(place, Place::Gauge(..))
    }
    fn level(&mut self, gauge: usize, time: Femtos, value: u64) {
        self.told.push((time, gauge, value));
    }
}

/// The sum of some gauges: the most behind everything that happens at an instant, the most of one of them, and the sum over time up to the last change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Sum {
    most: u64,
    most_of_one: u64,
    over_time: u128,
    last: u64,
}

impl Gauges {
    /// Of the gauges with a name, below a path.
    fn sum(&self, path: &str, name: &str) -> Sum {
        let gauges = &self.places.as_ref().unwrap().gauges;
        let is = |gauge: usize| {
            let (unit, own) = &gauges[gauge];
            *own == name && unit.name.starts_with(&format!("{path}."))
        };
        let (mut values, mut sum, mut date) = (BTreeMap::new(), Sum::default(), Femtos(0));
        let told: Vec<_> = self.told.iter().filter(|(_, gauge, _)| is(*gauge)).collect();
        for (place, &&(time, gauge, value)) in told.iter().enumerate() {
            assert!(time >= date);
            let all = |values: &BTreeMap<usize, u64>| values.values().sum::<u64>();
            sum.over_time += u128::from(time.0 - date.0) * u128::from(all(&values));
            date = time;
            values.insert(gauge, value);
            sum.most_of_one = sum.most_of_one.max(value);
            if told.get(place + 1).is_none_or(|next| next.0 > time) {
                sum.last = all(&values);
                sum.most = sum.most.max(sum.last);
            }
        }
        sum
    }
}

/// Holds the figures of a GPU against its gauges; gives what was in quarantine.
fn holds(gauges: &Gauges, path: &str, gpu: &GpuOutcome) -> Sum {
    let sum = |name| gauges.sum(path, name);
    let queue = &gpu.tag_queue;
    // All of them, so that what is added is looked at here.
    let TagQueueOutcome {
        peak_entries,
        peak_quarantine_bytes,
        least_quarantine_bytes,
        longest_exposure,
        total_exposure,
        most_exposed_bytes,
        exposed_byte_ns,
        scrubbed: _,
    } = *queue;
    let (entries, quarantine, messages, bytes) =
        (sum("entries"), sum("quarantine"), sum("exposed"), sum("exposed_bytes"));
    assert_eq!(peak_entries, entries.most, "{path}: {queue:?}");
    assert_eq!(peak_quarantine_bytes, quarantine.most, "{path}: {queue:?}");
    assert_eq!(least_quarantine_bytes, sum("quarantine_reserved").most_of_one, "{path}: {queue:?}");
    assert_eq!(most_exposed_bytes, bytes.most, "{path}: {queue:?}");
    assert_eq!((messages.last, bytes.last), (0, 0), "{path}: {queue:?}");
    // Behind a message that failed its copy ends without verdicts for what is under way, which stays in quarantine.
    assert!(quarantine.last == 0 || !gpu.failed_messages.is_empty(), "{path}: {quarantine:?}");
    assert_eq!(u128::from(total_exposure.0), messages.over_time, "{path}: {queue:?}");
    assert_eq!(u128::from(exposed_byte_ns), bytes.over_time / 1_000_000, "{path}: {queue:?}");
    assert!(longest_exposure <= total_exposure && (longest_exposure.0 > 0) == (messages.most > 0), "{path}: {queue:?}");
    assert!(quarantine.most_of_one <= quarantine.most);
    quarantine
}

/// Listens to a run, and holds each GPU of it, and of the same run on several threads, against what was heard.
fn heard(machine: &MachineSpec, asked: impl Fn() -> Request) -> Vec<Sum> {
    let gauges = Rc::new(RefCell::new(Gauges::default()));
    let listener: SharedListener = gauges.clone();
    let told = run_with_listener(machine, asked(), &listener, &mut |_| Control::Continue).unwrap();
    let plain = run_on(machine, asked(), NonZero::new(3), &mut |_| Control::Continue).unwrap();
    let path = |gpu: usize| if told.gpus.len() == 1 { "gpu".to_owned() } else { format!("gpu{gpu}") };
    let each = |outcome: &Outcome| -> Vec<Sum> {
        let gpus = outcome.gpus.iter().enumerate();
        gpus.map(|(number, gpu)| holds(&gauges.borrow(), &path(number), gpu)).collect()
    };
    assert_eq!(each(&told), each(&plain));
    each(&told)
}

fn h2d(bytes: u64) -> Vec<Asked> {
    vec![(0, Direction::H2d, bytes, Memory::Pinned)]
}

#[test]
fn the_most_of_each_figure_is_what_gauges_show_for_each_shipped_design() {
    let stacked = ["hold+two-pces", "skid+two-pces", "direct-in-place+eager", "hold+shared-engine"];
    let mut seen = 0;
    for design in Shipped::names(Role::Design).chain(stacked) {
        let Ok(resolved) = Layers::new("h100-nvl-tdx").overlay(design).resolve() else { continue };
        let quarantine =
            heard(&resolved.machine, || blind(&resolved.machine, &h2d(5 << 19), Kernel::Skip, Order::Ascending));
        assert_eq!(quarantine[0].most > 0, design.contains("hold") || design.contains("skid"), "{design}");
        seen += 1;
    }
    assert!(seen > 35, "{seen}");
}

#[test]
fn what_waits_in_several_copy_engines_is_summed() {
    let sets =
        ["tag_queue.release=hold", "tag_queue.quarantine=32 KiB", "driver.pinned={message=\"4 KiB\",push=\"1 MiB\"}"];
    let more =
        ["driver.pageable={message=\"4 KiB\",push=\"1 MiB\"}", "copy_engine={pces_secure=3,messages_in_flight=12}"];
    let machine = Layers::new("h100-nvl-tdx").overlay("direct-in-place");
    let machine = sets.iter().chain(&more).fold(machine, |layers, set| layers.set(*set)).resolve().unwrap().machine;
    let sum = heard(&machine, || blind(&machine, &h2d(4 << 20), Kernel::Skip, Order::Ascending))[0];
    assert!(sum.most > sum.most_of_one && sum.most_of_one > 0, "{sum:?}");
}

#[test]
fn the_most_of_each_figure_is_what_gauges_show_on_random_machines() {
    let one_of = |texts: &'static [&'static str]| prop::sample::select(texts);
    let machines = (
        one_of(&["gpu=[{count=1}]", "gpu=[{count=3}]", "gpu=[{},{tag_queue={release=\"eager\",depth=3}}]"]),
        one_of(&["hold", "skid", "withhold_completion", "eager"]),
        one_of(&[
            "tag_queue={quarantine=\"32 KiB\",skid=\"3 KiB\"}",
            "tag_queue={quarantine=\"97 KiB\",skid=\"70001 B\",depth=2}",
        ]),
        one_of(&[
            "copy_engine.pces_secure=1",
            "copy_engine={pces_secure=3,messages_in_flight=9}",
            "copy_engine={pces_secure=2,sharing=\"split\"}",
        ]),
        one_of(&[
            "driver.pinned={message=\"4 KiB\",push=\"64 KiB\"}",
            "driver.pinned={message=\"32 KiB\",push=\"64 KiB\"}",
        ]),
        one_of(&["engine.compare=1 cycle", "engine.compare=9000 cycles", "tag_queue.retirement=out_of_order"]),
    );
    let copies = prop::collection::vec(asked(), 1..5);
    let (fails, kernel) = (prop::option::of(1u64..9), any::<bool>());
    let mut runner = TestRunner::new(cases());
    let tested = runner.run(&(machines, copies, fails, kernel), |(sets, copies, fails, every)| {
        let (gpus, release, room, pces, message, other) = sets;
        let release = format!("tag_queue.release={release}");
        let pageable = "driver.pageable={message=\"16 KiB\",push=\"32 KiB\"}";
        let sets = [release.as_str(), room, pces, message, pageable, other, gpus];
        let machine = machine("h100-nvl-tdx", &[QUICK, &sets].concat());
        let kernel = if every { Kernel::EveryCycle } else { Kernel::Skip };
        let fails = fails.filter(|_| machine.gpus() == 1);
        let fault = fails.map(|nth| Injection::nth("staging.tag", FaultKind::Flip, nth));
        heard(&machine, || {
            let mut request = blind(&machine, &copies, kernel, Order::Ascending);
            request.injections.extend(fault.clone());
            request
        });
        Ok(())
    });
    tested.unwrap();
}

#[test]
fn skid_is_no_slower_than_what_it_lets_go_ahead() {
    let rate = |release: &str| {
        let sets = [
            "driver.pinned={message=\"4 KiB\",push=\"1 MiB\"}",
            "driver.pageable={message=\"4 KiB\",push=\"1 MiB\"}",
            "tag_queue.quarantine=8 KiB",
            "copy_engine.messages_in_flight=8",
        ];
        let layers = Layers::new("h100-nvl-tdx").overlay("direct-in-place").set(format!("tag_queue.release={release}"));
        let machine = sets.iter().fold(layers, |layers, set| layers.set(*set)).resolve().unwrap().machine;
        let copies = vec![copy(Direction::H2d, 8 << 20, Memory::Pinned)];
        let request = request(copies, DataMode::None, Kernel::Skip, Order::Ascending);
        let outcome = run_on(&machine, request, NonZero::new(1), &mut |_| Control::Continue).unwrap();
        (outcome.copies[0].gb_per_s(), outcome.gpus[0].tag_queue)
    };
    let [(withhold, _), (hold, _), (skid, queue)] = ["withhold_completion", "hold", "skid"].map(rate);
    // The skid holds all that is under way at once: nothing waits, and nothing is held up.
    assert_eq!((skid, queue.peak_quarantine_bytes), (withhold, 0), "{hold}");
    assert!(hold < 0.7 * withhold && queue.most_exposed_bytes <= 256 << 10, "{hold} {queue:?}");
}
