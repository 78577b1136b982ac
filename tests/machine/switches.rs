//! Machines whose GPUs are below switches and shared root complexes: bytes and kernels agree, and what is shared is shared.
//!
//! `SEALSIM_CASES` sets the number of random machines.

use super::threads::cases;
use crate::common::{Delivered, Pattern, QUICK, copy, machine, request, run};
use proptest::{prelude::*, test_runner::TestRunner};
use sealsim::{
    config::{Layers, MachineSpec},
    sim::{FaultKind, Injection, Kernel, Order},
    system::{CopyRequest, DataMode, Direction, Memory, Outcome, Request},
    units::Femtos,
};

const LARGE: &str = "{posted_headers=1024,posted_data=4096,non_posted_headers=1024,non_posted_data=1024,completion_headers=1024,completion_data=16384}";
const SMALL: &str =
    "{posted_headers=3,posted_data=40,non_posted_headers=2,non_posted_data=2,completion_headers=3,completion_data=33}";

fn switch(latency: u64, cut_through: bool, credits: &str, more: &str) -> String {
    format!("{{latency=\"{latency} ns\",cut_through={cut_through},credits={credits}{more}}}")
}

/// A GPU's copy.
fn of(gpu: usize, direction: Direction, bytes: u64) -> CopyRequest {
    CopyRequest { gpu, ..copy(direction, bytes, Memory::Pinned) }
}

fn plain(settings: &[&str]) -> MachineSpec {
    machine("h100-sxm5-off", settings)
}

fn done(machine: &MachineSpec, copies: Vec<CopyRequest>) -> Outcome {
    let outcome = run(machine, request(copies, DataMode::None, Kernel::Skip, Order::Ascending)).unwrap();
    assert!(outcome.copies.iter().all(|copy| copy.delivered));
    outcome
}

fn seconds(outcome: &Outcome, copy: usize) -> f64 {
    Femtos(outcome.copies[copy].end.0 - outcome.copies[copy].start.0).seconds()
}

/// GB/s of equal copies, one on each of so many GPUs.
fn rates(machine: &MachineSpec, gpus: usize, direction: Direction) -> Vec<f64> {
    const BYTES: u64 = 16 << 20;
    let outcome = done(machine, (0..gpus).map(|gpu| of(gpu, direction, BYTES)).collect());
    (0..gpus).map(|gpu| BYTES as f64 / seconds(&outcome, gpu) / 1e9).collect()
}

/// GB/s that a gen5 x16 link carries in TLPs of 256 B, worked out as in `docs/links.md`.
fn ceiling(direction: Direction) -> f64 {
    let header = if direction == Direction::D2h { 16.0 } else { 12.0 };
    64.0 * 128.0 / 130.0 * (373.0 * 256.0 - 4.0) / (374.0 * 256.0) * 256.0 / (256.0 + 8.0 + header)
}

#[test]
fn gpus_below_a_switch_share_its_upstream_link_alike() {
    let switches = format!("switch=[{}]", switch(100, true, LARGE, ""));
    for direction in [Direction::H2d, Direction::D2h] {
        let alone = rates(&plain(&[]), 1, direction)[0];
        for gpus in [2, 4] {
            let shared = plain(&[&switches, &format!("gpu=[{{count={gpus},switch=0}}]")]);
            let rates = rates(&shared, gpus, direction);
            let total: f64 = rates.iter().sum();
            // One GPU has gaps that others fill, up to what the link carries.
            let range = alone * 0.99..ceiling(direction) * 1.001;
            assert!(range.contains(&total), "{gpus} {direction:?}: {rates:?} outside {range:?}");
            let fair = total / gpus as f64;
            assert!(rates.iter().all(|rate| (rate / fair - 1.0).abs() < 0.02), "{direction:?}: {rates:?}");
        }
    }
}

#[test]
fn a_wider_upstream_link_gives_each_gpu_its_own_rate() {
    let wide = format!("switch=[{}]", switch(100, true, LARGE, ",link={generation=5,lanes=16}"));
    let narrow = ["link.generation=4", "link.lanes=8", &wide, "gpu=[{count=2,switch=0}]"];
    let alone = rates(&plain(&narrow[..2]), 1, Direction::D2h)[0];
    for rate in rates(&plain(&narrow), 2, Direction::D2h) {
        assert!((rate / alone - 1.0).abs() < 0.02, "{rate} against {alone}");
    }
}

/// When a copy of a few bytes ends: it reads once.
fn short(settings: &[&str]) -> f64 {
    let outcome = done(&plain(settings), vec![of(0, Direction::H2d, 64), of(1, Direction::D2h, 0)]);
    seconds(&outcome, 0)
}

#[test]
fn a_switch_costs_its_latency_and_a_store_on_each_way_of_each_tlp() {
    let gpus = "gpu=[{count=2,switch=0}]";
    let at = |latency, cut| short(&[&format!("switch=[{}]", switch(latency, cut, LARGE, "")), gpus]);
    // Doorbell, fetch of nothing, read, its completion, semaphore: as many crossings for each latency.
    let crossings = (at(1100, false) - at(100, false)) / 1e-6;
    assert!((crossings - crossings.round()).abs() < 0.02 && crossings.round() >= 3.0, "{crossings}");
    let saved = at(100, false) - at(100, true);
    assert!(saved > 0.0 && saved < 20e-9, "{saved}");
    // A latency that is shorter than the TLP: it leaves when its last byte has come.
    assert!(at(1, true) <= at(1, false));
}

#[test]
fn links_below_one_root_complex_share_its_reads() {
    // 512 B every 20 cycles of 1 GHz: 25.6 GB/s for all.
    let slow = "root_complex.read_interval=20 cycles";
    let own = plain(&[slow, "gpu=[{count=2}]"]);
    let shared = plain(&[slow, "gpu=[{count=2,root=0}]"]);
    let clock = own.root_complex.clock.0 as f64;
    let service = own.link.max_read_request.0 as f64 * clock / 20.0 / 1e9;
    for rate in rates(&own, 2, Direction::H2d) {
        assert!((rate / service - 1.0).abs() < 0.03, "{rate} against {service}");
    }
    let rates = rates(&shared, 2, Direction::H2d);
    let total: f64 = rates.iter().sum();
    assert!((total / service - 1.0).abs() < 0.03, "{rates:?} against {service}");
    assert!((rates[0] / rates[1] - 1.0).abs() < 0.02, "{rates:?}");
}

#[derive(Debug, Clone)]
struct Tree {
    settings: Vec<String>,
    gpus: usize,
}

fn trees() -> impl Strategy<Value = Tree> {
    let one =
        (0..300u64, any::<bool>(), any::<bool>(), any::<bool>(), prop::sample::select(vec!["", ",link={lanes=4}"]));
    let switches = prop::collection::vec(one, 1..3);
    let leaf = prop_oneof![(0..3usize).prop_map(Some), Just(None)];
    (switches, prop::collection::vec(leaf, 1..4), any::<bool>(), 3..6u32).prop_map(
        |(switches, leaves, root, generation)| {
            let root = if root { ",root=5" } else { "" };
            // Each switch has a GPU of its own first.
            let mut gpus: Vec<_> = (0..switches.len()).map(|at| format!("{{switch={at}}}")).collect();
            gpus.extend(leaves.iter().map(|leaf| match leaf {
                Some(at) => format!("{{switch={},link={{lanes=8}}}}", at % switches.len()),
                None => format!("{{{}}}", root.trim_start_matches(',')),
            }));
            let switches: Vec<_> = switches
                .iter()
                .map(|&(latency, cut, large, peers, link)| {
                    let credits = if large { LARGE } else { SMALL };
                    switch(latency, cut, credits, &format!("{root},peer_to_peer={peers}{link}"))
                })
                .collect();
            let settings = vec![
                format!("switch=[{}]", switches.join(",")),
                format!("gpu=[{}]", gpus.join(",")),
                format!("link.generation={generation}"),
            ];
            Tree { settings, gpus: gpus.len() }
        },
    )
}

/// What each unit was, and for how long.
fn accounts(outcome: &Outcome) -> String {
    format!("{:?}", outcome.units)
}

/// Copies with bytes that follow from their place, and what arrives of them.
fn exact(copies: &[CopyRequest], kernel: Kernel, order: Order) -> (Request, Vec<Delivered>) {
    let sinks: Vec<_> = copies.iter().map(|_| Delivered::default()).collect();
    let all = copies.iter().enumerate().map(|(place, one)| CopyRequest {
        gpu: one.gpu,
        source: Box::new(Pattern(place as u64)),
        sink: Some(Box::new(sinks[place].clone())),
        ..copy(one.direction, one.bytes, one.memory)
    });
    (request(all.collect(), DataMode::Exact, kernel, order), sinks)
}

#[test]
fn on_any_tree_bytes_arrive_and_kernels_agree() {
    let mut runner = TestRunner::new(cases());
    let asked = prop::collection::vec((0..6usize, any::<bool>(), 1..60_000u64), 1..6);
    let tested = runner.run(&(trees(), asked, any::<bool>()), |(tree, asked, secure)| {
        let name = if secure { "h100-nvl-tdx" } else { "h100-sxm5-off" };
        let settings: Vec<&str> = tree.settings.iter().map(String::as_str).collect();
        let machine = machine(name, &[QUICK, &settings].concat());
        let direction = |up| if up { Direction::H2d } else { Direction::D2h };
        let copies: Vec<_> = asked.iter().map(|&(gpu, up, bytes)| of(gpu % tree.gpus, direction(up), bytes)).collect();
        let (first, sinks) = exact(&copies, Kernel::Skip, Order::Ascending);
        let outcome = run(&machine, first).unwrap();
        prop_assert!(outcome.copies.iter().all(|copy| copy.delivered), "{:?}", outcome.incidents);
        for (place, sink) in sinks.iter().enumerate() {
            prop_assert!(sink.leave(&mut Pattern(place as u64), copies[place].bytes), "copy {}", place);
        }
        for (kernel, order) in [(Kernel::EveryCycle, Order::Ascending), (Kernel::Skip, Order::Shuffled(3))] {
            let other = run(&machine, exact(&copies, kernel, order).0).unwrap();
            prop_assert_eq!(&other.event_digest, &outcome.event_digest, "{:?} {:?}", kernel, order);
            prop_assert_eq!(accounts(&other), accounts(&outcome), "{:?} {:?}", kernel, order);
        }
        let blind: Vec<_> = copies.iter().map(|one| of(one.gpu, one.direction, one.bytes)).collect();
        let none = run(&machine, request(blind, DataMode::None, Kernel::Skip, Order::Shuffled(7))).unwrap();
        prop_assert_eq!(&none.event_digest, &outcome.event_digest);
        Ok(())
    });
    tested.unwrap();
}

#[test]
fn what_is_damaged_on_any_link_of_a_tree_is_sent_again_and_arrives() {
    let switches = format!("switch=[{}]", switch(100, true, SMALL, ""));
    let machine = machine("h100-nvl-tdx", &[QUICK, &[&switches, "gpu=[{count=2,switch=0}]"]].concat());
    let both = |gpu| [Direction::H2d, Direction::D2h].map(|direction| of(gpu, direction, 30_000));
    let copies: Vec<_> = [0, 1].into_iter().flat_map(both).collect();
    for (place, traffic) in [("switch0.link.h2d", 0), ("switch0.link.d2h", 0), ("link1.h2d", 1), ("link1.d2h", 1)] {
        let (mut faulty, sinks) = exact(&copies, Kernel::Skip, Order::Ascending);
        let fault = |kind, transfer| Injection::nth(place, kind, transfer);
        faulty.injections = (20..120).step_by(7).map(|transfer| fault(FaultKind::Flip, transfer)).collect();
        faulty.injections.push(fault(FaultKind::Drop, 150));
        let outcome = run(&machine, faulty).unwrap();
        assert!(outcome.copies.iter().all(|copy| copy.delivered), "{place}: {:?}", outcome.incidents);
        for (place, sink) in sinks.iter().enumerate() {
            assert!(sink.leave(&mut Pattern(place as u64), copies[place].bytes));
        }
        let replays = outcome.gpus[traffic].link.h2d.replays + outcome.gpus[traffic].link.d2h.replays;
        assert!(place.starts_with("switch") || replays > 0, "{place}: nothing was sent again");
    }
}

#[test]
fn a_limit_at_the_switch_is_named() {
    let switches = format!("switch=[{}]", switch(100, true, LARGE, ""));
    let shared = plain(&[&switches, "gpu=[{count=4,switch=0}]"]);
    let outcome = done(&shared, (0..4).map(|gpu| of(gpu, Direction::D2h, 8 << 20)).collect());
    for copy in &outcome.copies {
        assert_eq!(copy.busiest.unit, "switch0.link.switch_port", "{:?}", copy.busiest);
    }
}

#[test]
fn trees_that_cannot_be_are_refused_with_the_reason() {
    let one = switch(100, true, LARGE, "");
    let tiny = switch(
        100,
        true,
        "{posted_headers=1,posted_data=8,non_posted_headers=1,non_posted_data=1,completion_headers=1,completion_data=16}",
        "",
    );
    let big = switch(100, true, LARGE, ",link={max_payload=\"512 B\"}");
    for (settings, says) in [
        (vec!["gpu=[{switch=0}]".to_owned()], "GPU 0 is below switch 0, and there are 0"),
        (vec![format!("switch=[{one}]")], "no GPU is below switch 0"),
        (vec![format!("switch=[{one}]"), "gpu=[{switch=0,root=1}]".into()], "names a root complex"),
        (vec![format!("switch=[{tiny}]"), "gpu=[{switch=0}]".into()], "cannot take one maximum payload"),
        (vec![format!("switch=[{big}]"), "gpu=[{switch=0}]".into()], "maximum payload"),
        (vec!["gpu=[{root=1},{root=1,root_complex={read_latency=\"9 cycles\"}}]".into()], "do not agree"),
    ] {
        let layers = settings.iter().fold(Layers::new("h100-nvl-tdx"), |layers, one| layers.set(one.clone()));
        let error = layers.resolve().unwrap_err().to_string();
        assert!(error.contains(says), "{settings:?}: {error}");
    }
}
