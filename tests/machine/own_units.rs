//! Units of one's own in the places of shipped ones, and in front of them.

use sealsim::{
    config::{Layers, MachineSpec},
    gpu::tag_queue::{Ports, TagQueue},
    sim::{
        Armed, Clock, Control, ExchangeError, FaultKind, Injection, Kernel, Listener, Now, Place, Places,
        SharedListener, Signalled, Spell, Unit, Wake,
    },
    system::{Machine, Outcome, ReplaceError, Request, run},
};
use std::{cell::RefCell, rc::Rc};

#[path = "../../examples/engine_of_your_own.rs"]
mod engine_of_your_own;
#[path = "../../examples/tag_prefetcher.rs"]
mod tag_prefetcher;

#[test]
fn the_examples_run_on_both_kernels() {
    engine_of_your_own::main().unwrap();
    tag_prefetcher::main().unwrap();
}

/// The shipped tag queue behind another type.
struct Forwarding(TagQueue);

impl Unit for Forwarding {
    type Ports = Ports;

    fn tick(&mut self, now: Now, ports: &mut Ports) -> Wake {
        self.0.tick(now, ports)
    }

    fn errors(&self) -> &[Signalled] {
        self.0.errors()
    }

    fn gauges(&self, show: &mut dyn FnMut(&'static str, u64)) {
        self.0.gauges(show);
    }

    fn registers(&self) -> Vec<String> {
        self.0.registers()
    }

    fn arm(&mut self, point: &str, armed: Armed) {
        self.0.arm(point, armed);
    }

    fn armed(&self) -> Vec<Armed> {
        self.0.armed()
    }
}

fn forwarding(spec: &MachineSpec) -> Forwarding {
    let clock = Clock::new(spec.copy_engine.clock).unwrap();
    Forwarding(TagQueue::new(&spec.tag_queue, spec.sealing().model().compare(), clock))
}

/// What a listener hears of the accounts and gauges, in words.
#[derive(Default)]
struct Waves(Vec<String>);

impl Listener for Waves {
    fn begin(&mut self, _places: &Places) {}

    fn hears(&self, _place: Place<'_>) -> bool {
        true
    }

    fn level(&mut self, gauge: usize, date: sealsim::units::Femtos, value: u64) {
        self.0.push(format!("{gauge} {date} {value}"));
    }

    fn spell(&mut self, spell: Spell) {
        self.0.push(format!("{spell:?}"));
    }
}

fn request(kernel: Kernel, injections: &[Injection]) -> Request {
    Request { kernel, injections: injections.to_vec(), ..Request::h2d(300_000) }
}

/// A run with the shipped tag queue or the one that forwards: what came of it, and its waves.
fn observed(spec: &MachineSpec, request: Request, forwards: bool) -> (Outcome, Vec<String>) {
    let mut machine = Machine::new(spec, request).unwrap();
    if forwards {
        machine.replace("gpu.tag_queue", forwarding(spec)).unwrap();
    }
    let waves = Rc::new(RefCell::new(Waves::default()));
    let listener: SharedListener = Rc::<RefCell<Waves>>::clone(&waves);
    let outcome = machine.run_observed(Some(&listener), &mut |_| Control::Continue).unwrap();
    let waves = std::mem::take(&mut waves.borrow_mut().0);
    (outcome, waves)
}

#[test]
fn a_tag_queue_that_forwards_changes_nothing() {
    let faults = [
        vec![],
        vec![Injection::nth("gpu.tag_queue.entry.computed", FaultKind::Flip, 2)],
        vec![Injection::nth("gpu.tag_queue.verdicts", FaultKind::Duplicate, 1)],
    ];
    for design in ["h100-cc", "hold", "eager", "by-page"] {
        let spec = Layers::new("h100-nvl-tdx").overlay(design).resolve().unwrap().machine;
        for (kernel, faults) in
            [Kernel::Skip, Kernel::EveryCycle].into_iter().zip(&faults).chain([(Kernel::Skip, &faults[2])])
        {
            let (shipped, waves) = observed(&spec, request(kernel, faults), false);
            let (own, own_waves) = observed(&spec, request(kernel, faults), true);
            assert_eq!(format!("{own:?}"), format!("{shipped:?}"), "{design} {kernel:?} {faults:?}");
            assert_eq!(own_waves, waves, "{design} {kernel:?} {faults:?}");
            assert!(!waves.is_empty());
            let alone = run(&spec, request(kernel, faults), &mut |_| Control::Continue).unwrap();
            let figures = |outcome: &Outcome| format!("{:?}", (&outcome.event_digest, &outcome.units, &outcome.copies));
            assert_eq!(figures(&alone), figures(&own));
        }
    }
}

#[test]
fn what_cannot_be_replaced_is_refused_and_says_what_can() {
    let spec = Layers::new("h100-nvl-tdx").resolve().unwrap().machine;
    let mut machine = Machine::new(&spec, Request::h2d(70_000)).unwrap();
    let unknown = machine.replace("gpu.tags", forwarding(&spec)).unwrap_err();
    let Err(ReplaceError::Exchange(ExchangeError::Unknown { known, .. })) = Err::<(), _>(unknown.clone()) else {
        panic!("{unknown}")
    };
    assert!(unknown.to_string().contains("gpu.tag_queue"), "{unknown}");
    let other = machine.replace("gpu.scheduler", forwarding(&spec)).unwrap_err();
    assert!(matches!(&other, ReplaceError::Exchange(ExchangeError::Ports { .. })), "{other}");
    assert!(
        other.to_string().contains("scheduler::Ports") && other.to_string().contains("tag_queue::Ports"),
        "{other}"
    );
    // Who is not among those that can be replaced says so, and not that its ports do not fit.
    for unit in machine.outline().units.iter().filter(|unit| !known.contains(&unit.path)) {
        let asked = machine.replace(&unit.path, forwarding(&spec)).unwrap_err();
        assert!(matches!(&asked, ReplaceError::Asked { free, .. } if *free == known), "{asked}");
    }
    assert!(machine.run(&mut |_| Control::Continue).unwrap().copies[0].delivered);
}
