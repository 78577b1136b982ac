//! The netlists of shipped machines: what `describe --netlist` prints and what the documentation draws.

use sealsim::{
    config::{Layers, MachineSpec, Role, Shipped},
    report::netlist,
    sim::{Control, Kernel, Outline},
    system::{self, Direction, Request, fault_points},
};
use std::collections::{BTreeMap, BTreeSet};

fn machine(name: &str, design: &str) -> Option<MachineSpec> {
    let layers = Layers::new(name);
    let layers = if design.is_empty() { layers } else { layers.overlay(design) };
    layers.resolve().ok().map(|resolved| resolved.machine)
}

/// Every shipped machine alone and with every design that it takes.
fn machines() -> Vec<(String, MachineSpec)> {
    let designs = || std::iter::once("").chain(Shipped::copy_designs());
    let all = Shipped::names(Role::Machine).flat_map(|name| designs().map(move |design| (name, design)));
    all.filter_map(|(name, design)| Some((format!("{name} {design}"), machine(name, design)?))).collect()
}

fn outline(machine: &MachineSpec) -> Outline {
    system::outline(machine).unwrap()
}

#[test]
fn every_channel_lies_between_two_units_and_has_a_path_of_its_own() {
    let machines = machines();
    assert!(machines.len() > 60, "{}", machines.len());
    for (name, machine) in machines {
        let outline = outline(&machine);
        let units: BTreeSet<_> = outline.units.iter().map(|unit| unit.path.as_str()).collect();
        assert_eq!(units.len(), outline.units.len(), "{name}");
        let paths: BTreeSet<_> = outline.channels.iter().map(|channel| &channel.path).collect();
        assert_eq!(paths.len(), outline.channels.len(), "{name}");
        for channel in &outline.channels {
            assert!(units.contains(&*channel.from) && units.contains(&*channel.to), "{name}: {channel:?}");
            assert_ne!(channel.from, channel.to, "{name}: {}", channel.path);
            assert_ne!(channel.depth.is_some(), channel.flight.is_some(), "{name}: {}", channel.path);
        }
    }
}

#[test]
fn what_is_a_fault_point_and_no_channel_is_an_iv_counter_or_lies_in_host_memory() {
    let machine = machine("h100-nvl-tdx", "").unwrap();
    let points: BTreeSet<_> = fault_points(&machine).unwrap().into_iter().map(|point| point.place).collect();
    let channels: BTreeSet<_> = outline(&machine).channels.into_iter().map(|channel| channel.path).collect();
    assert!(channels.intersection(&points).count() > 20);
    let others: Vec<_> = points.difference(&channels).map(String::as_str).collect();
    let host = ["host.iv", "staging.ciphertext", "staging.tag", "user.ciphertext", "user.tag"];
    assert_eq!(others, [&["gpu.front_end_read.iv", "gpu.front_end_write.iv"][..], &host].concat());
}

#[test]
fn text_json_and_drawing_name_every_unit_and_every_channel() {
    let outline = outline(&machine("h100-nvl-tdx", "sm").unwrap());
    let (text, svg) = (netlist::text(&outline, 80), netlist::svg(&outline));
    let json = serde_json::to_value(&outline).unwrap();
    assert_eq!(json["units"].as_array().map(Vec::len), Some(outline.units.len()));
    assert_eq!(json["channels"].as_array().map(Vec::len), Some(outline.channels.len()));
    let units = outline.units.iter().map(|unit| &unit.path);
    for path in units.chain(outline.channels.iter().map(|channel| &channel.path)) {
        assert!(text.contains(path.as_str()) && svg.contains(path.as_str()), "{path}");
    }
}

#[test]
fn the_drawing_in_the_documentation_is_that_of_the_machine() {
    let drawn = include_str!("../../docs/netlist.svg");
    let svg = netlist::svg(&outline(&machine("h100-nvl-tdx", "").unwrap()));
    assert!(drawn == svg, "make it anew: sealsim describe h100-nvl-tdx --netlist svg > docs/netlist.svg");
}

/// What a copy of 300,000 bytes took: its end, and by channel what passed.
fn passed(sets: &[&str], direction: Direction, kernel: Kernel) -> (u64, BTreeMap<String, u64>) {
    let layers = sets.iter().fold(Layers::new("h100-nvl-tdx"), |layers, set| layers.set(*set));
    let machine = layers.resolve().unwrap().machine;
    let request = match direction {
        Direction::D2h => Request::d2h(300_000),
        Direction::H2d | Direction::D2d => Request::h2d(300_000),
    };
    let request = Request { kernel, ..request.without_data() };
    let outcome = system::run(&machine, request, &mut |_| Control::Continue).unwrap();
    assert!(outcome.copies[0].delivered);
    (outcome.end.0, outcome.channels.into_iter().map(|channel| (channel.name, channel.digest)).collect())
}

#[test]
fn a_retimer_is_as_much_more_flight_time() {
    for direction in [Direction::H2d, Direction::D2h] {
        let longer = passed(&["link.flight=213 cycles"], direction, Kernel::Skip);
        let plain = passed(&[], direction, Kernel::Skip);
        assert!(plain.0 < longer.0, "{direction:?}");
        for kernel in [Kernel::Skip, Kernel::EveryCycle] {
            let (end, mut channels) = passed(&["link.retimer=63 cycles"], direction, kernel);
            // What arrives is the same; what is sent arrives at the retimer first.
            for way in ["h2d", "d2h"] {
                let arrives = channels.remove(&format!("link.retimer.{way}"));
                channels.insert(format!("link.{way}"), arrives.unwrap());
            }
            assert_eq!((end, &channels), (longer.0, &longer.1), "{direction:?} {kernel:?}");
        }
    }
}
