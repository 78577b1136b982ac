//! Whatever parameter is made worse: at least half of what a run then takes longer lies on its path at the units that the parameter is of.

use crate::{
    CAMPAIGN,
    common::{copy, request},
};
use sealsim::{
    config::{Layers, Parameter, Resolved, Role, SHIPPED, Shipped},
    explore::explain::observe,
    sim::{Control, Kernel, Order},
    system::{DataMode, Direction, Memory},
    units::KINDS,
};
use std::collections::BTreeMap;

/// A rate or frequency so many times lower, a latency so many times higher.
const WORSE: u64 = 32;

/// Of so many parameters one is made worse.
const EVERY: usize = if CAMPAIGN { 1 } else { 3 };

/// Bytes of a copy.
const SIZES: [u64; 2] = [4 << 10, 256 << 10];

/// By the table of a parameter: one of these is in the path of a unit that it is of, or of a channel to or from that, or is a state in which a neighbour
/// waits for it.
const PLACES: [(&str, &[&str]); 14] = [
    ("cipher.", &["cipher"]),
    ("memory.", &["cipher", "root_complex"]),
    // Small messages have their own rate of the cipher.
    ("driver.small.", &["cipher", "driver"]),
    ("driver.", &["driver"]),
    ("compute.", &["scheduler", "compute"]),
    ("copy_engine.", &["pce", "front_end"]),
    ("engine.compare", &["tag_queue"]),
    ("engine.", &["engine"]),
    ("tag_queue.", &["tag_queue"]),
    ("hbm.", &["hbm", "data"]),
    // A copy engine whose writes the link does not take is held by that.
    ("link.", &["link", "link_busy"]),
    // Writes that wait for those in service hold the link's credits, and so the copy engine.
    ("root_complex.write", &["root_complex", "host.completions", "host.notices", "host.writes", "pce"]),
    ("root_complex.", &["root_complex", "host.completions", "host.notices", "host.writes"]),
    ("staging.", &["driver", "cipher"]),
];

fn worse(parameter: &Parameter) -> Option<String> {
    let amount = u64::try_from(parameter.amount?).ok().filter(|amount| *amount > 0)?;
    let kind = KINDS.iter().find(|(_, kind)| kind.what.ends_with(parameter.unit)).map(|(_, kind)| kind)?;
    match parameter.unit {
        "number of cycles" | "time" => Some(kind.print(amount * WORSE)),
        unit if unit.contains("rate") => Some(kind.print((amount / WORSE).max(1))),
        _ => None,
    }
}

/// By place and state, what a path spends there, in ps.
type Times = BTreeMap<(String, &'static str), u64>;

/// The end of a run in ps, and its path.
fn path(machine: &Resolved, direction: Direction, bytes: u64) -> Option<(u64, Times)> {
    let copies = vec![copy(direction, bytes, Memory::Pinned)];
    let asked = request(copies, DataMode::None, Kernel::Skip, Order::Ascending);
    let observed = observe(&machine.machine, asked, &mut |_| Control::Continue).ok()?;
    let shares = observed.path.shares().into_iter().map(|share| ((share.place, share.state), share.time.picos()));
    Some((observed.outcome.end.picos(), shares.collect()))
}

#[test]
#[ignore = "seconds of brute force: .ci/run"]
fn what_takes_longer_lies_at_the_unit_whose_parameter_is_worse() {
    let (mut tried, mut wrong) = (0, Vec::new());
    let machines = SHIPPED.iter().filter(|one| one.role == Role::Machine).map(Shipped::name);
    for name in machines {
        let machine = Layers::new(name.to_owned()).resolve().unwrap();
        let ways = [Direction::H2d, Direction::D2h];
        for (direction, bytes) in ways.into_iter().flat_map(|way| SIZES.map(|bytes| (way, bytes))) {
            let (end, before) = path(&machine, direction, bytes).unwrap();
            for parameter in machine.parameters.iter().skip(tried % EVERY).step_by(EVERY) {
                let Some(value) = worse(parameter) else { continue };
                let Ok(slow) = machine.with(&[format!("{}={value}", parameter.path)]) else { continue };
                let Some((later, after)) = path(&slow, direction, bytes) else { continue };
                if later < end + end / 10 {
                    continue;
                }
                tried += 1;
                let (_, places) = PLACES.iter().find(|(table, _)| parameter.path.starts_with(table)).unwrap();
                let is_its = |(place, state): &&(String, &str)| {
                    let bare = place.replace(|letter: char| letter.is_ascii_digit(), "");
                    places.iter().any(|one| bare.contains(one) || one == state)
                };
                let time = |path: &Times| -> u64 { path.keys().filter(is_its).map(|place| path[place]).sum() };
                let part = (time(&after) as f64 - time(&before) as f64) / (later - end) as f64;
                if part < 0.5 {
                    wrong.push(format!("{name} {direction:?} {bytes} {}={value}: {part:.2} of it", parameter.path));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(tried > 400 / EVERY, "{tried}");
}
