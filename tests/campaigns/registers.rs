//! Registers of engines in running machines: the structural engine makes the machine's tags, in the machine's cycles.

use crate::common::{QUICK, copy, request};
use proptest::{
    prelude::*,
    test_runner::{Config, TestRunner},
};
use sealsim::{
    config::{Layers, MachineSpec, SHIPPED},
    observe::{
        Listeners, Window,
        waves::{Closed, Waves},
    },
    sim::{ChannelTransfer, Control, Kernel, Listener, Order, Place, Places},
    system::{DataMode, Direction, Memory, engine_of, run_with_listener},
    units::Femtos,
};
use std::{cell::RefCell, collections::BTreeSet, rc::Rc};

/// All tags that engines have computed.
#[derive(Default)]
struct Tags {
    reports: BTreeSet<usize>,
    /// Writes of the GPU, which have the tags of what it seals.
    writes: Vec<Vec<u8>>,
    computed: Vec<Vec<u8>>,
}

impl Listener for Tags {
    fn begin(&mut self, places: &Places) {
        let reports = places.channels.iter().enumerate().filter(|(_, channel)| channel.item == "TagReport");
        self.reports = reports.map(|(number, _)| number).collect();
    }
    fn hears(&self, place: Place<'_>) -> bool {
        matches!(place, Place::Channel(channel) if channel.item == "TagReport" || channel.item == "Tlp")
    }
    fn passed(&mut self, transfer: ChannelTransfer<'_>) {
        if let Some(report) = transfer.item.downcast_ref::<sealsim::gpu::work::TagReport>() {
            if report.computed {
                self.computed.extend(report.tag.clone());
            }
        } else if let Some(tlp) = transfer.item.downcast_ref::<sealsim::pcie::packet::Tlp>() {
            self.writes.extend(tlp.payload.bytes().map(<[u8]>::to_vec));
        }
    }
}

/// A run with the registers of all messages in a window, or of one.
fn followed(
    machine: &MachineSpec,
    copies: &[(Direction, u64)],
    window: Window,
    message: Option<u64>,
) -> (Closed, Tags) {
    let folder = tempfile::tempdir().unwrap();
    let spec = machine.clone();
    let engine = move |gpu: usize, pce: &str| engine_of(&spec, gpu, pce);
    let waves = Waves::create(&folder.path().join("run.fst"), window).unwrap().with_engines(Box::new(engine), message);
    let (waves, tags) = (Rc::new(RefCell::new(waves)), Rc::new(RefCell::new(Tags::default())));
    let mut listeners = Listeners::default();
    listeners.add(waves.clone());
    listeners.add(tags.clone());
    let copies = copies.iter().map(|&(direction, bytes)| copy(direction, bytes, Memory::Pinned)).collect();
    let asked = request(copies, DataMode::Exact, Kernel::Skip, Order::Ascending);
    let outcome = run_with_listener(machine, asked, &listeners.listener(), &mut |_| Control::Continue).unwrap();
    assert!(outcome.copies.iter().all(|copy| copy.delivered));
    let closed = Rc::try_unwrap(waves).ok().unwrap().into_inner().close().unwrap();
    (closed, tags.take())
}

/// Every message of which registers were shown has the tag that the machine made, in the cycle in which the machine had it.
fn holds(machine: &MachineSpec, closed: &Closed, tags: &Tags) -> Result<(), TestCaseError> {
    // Behind the engine a CRC of the text is added to the first bytes.
    let own = if machine.cipher.text_crc.is_some() { 4 } else { 0 };
    prop_assert!(closed.unknown.is_empty(), "{:?}", closed.unknown);
    for message in &closed.followed {
        prop_assert_eq!(Some(message.stands), message.told);
        let is = |bytes: &Vec<u8>| bytes.windows(16).any(|part| part[own..] == message.tag[own..]);
        prop_assert!(tags.computed.iter().chain(&tags.writes).any(is), "{:x?}", message.tag);
    }
    Ok(())
}

/// Machines whose PCEs have AES-GCM engines of their own: none, and each shipped design that makes one.
fn machines() -> Vec<(String, bool)> {
    let designs = SHIPPED.iter().filter(|one| one.name() != "h100-nvl-tdx");
    let names = designs.map(|one| one.name().to_owned()).chain([String::new()]);
    let is_one = |name: &String, quick| {
        let machine = designed(name, quick)?;
        let own = machine.sealed_path() && machine.sealing_sms().is_none() && !machine.shared_engine();
        (own && machine.sealing().gcm().is_some()).then(|| (name.clone(), quick))
    };
    names.flat_map(|name| [is_one(&name, false), is_one(&name, true)]).flatten().collect()
}

fn designed(design: &str, quick: bool) -> Option<MachineSpec> {
    let layers = Layers::new("h100-nvl-tdx");
    let layers = if design.is_empty() { layers } else { layers.overlay(design) };
    let settings: &[&str] = if quick { QUICK } else { &[] };
    settings.iter().fold(layers, |layers, set| layers.set(*set)).resolve().ok().map(|resolved| resolved.machine)
}

#[test]
fn a_structural_engine_makes_each_tag_in_the_cycle_of_the_machine() {
    let machines = machines();
    assert!(machines.len() > 20, "{machines:?}");
    for (design, quick) in &machines {
        let machine = designed(design, *quick).unwrap();
        let window = Window { from: Femtos(1), to: Femtos::MAX };
        let (closed, tags) = followed(&machine, &[(Direction::H2d, 20_000), (Direction::D2h, 9_000)], window, None);
        holds(&machine, &closed, &tags).unwrap_or_else(|error| panic!("{design} {quick}: {error}"));
    }
    let way = prop::sample::select(vec![Direction::H2d, Direction::D2h]);
    let copies = prop::collection::vec((way, prop_oneof![1..5_000_u64, 1..60_000_u64]), 1..4);
    let mut runner = TestRunner::new(Config { cases: 16, failure_persistence: None, ..Config::default() });
    let (seen, most) = (RefCell::new(BTreeSet::new()), RefCell::new(0));
    let tested = runner.run(&(prop::sample::select(machines), copies), |((design, quick), copies)| {
        let machine = designed(&design, quick).unwrap();
        let window = Window { from: Femtos(1), to: Femtos::MAX };
        let (closed, tags) = followed(&machine, &copies, window, None);
        holds(&machine, &closed, &tags)?;
        if !closed.followed.is_empty() {
            seen.borrow_mut().insert(design);
        }
        let most = &mut *most.borrow_mut();
        *most = closed.followed.len().max(*most);
        Ok(())
    });
    tested.unwrap();
    assert!(seen.borrow().len() > 8 && *most.borrow() > 4, "{:?} {}", seen.borrow(), most.borrow());
}

#[test]
fn one_message_of_many_is_shown_as_it_would_be_among_all() {
    let machine = designed("by-page", true).unwrap();
    let copies = [(Direction::H2d, 30_000), (Direction::D2h, 20_000)];
    let all = followed(&machine, &copies, Window { from: Femtos(1), to: Femtos::MAX }, None).0.followed;
    assert!(all.len() > 8, "{}", all.len());
    for number in 0..all.len() as u64 {
        let (closed, tags) = followed(&machine, &copies, Window::ALL, Some(number));
        holds(&machine, &closed, &tags).unwrap();
        assert!(all.contains(closed.followed.last().unwrap()), "{number}");
    }
    let (closed, _) = followed(&machine, &copies, Window::ALL, Some(all.len() as u64));
    assert_eq!((closed.followed.len(), closed.unknown.len()), (0, 0));
}
