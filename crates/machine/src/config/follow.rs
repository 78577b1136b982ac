//! Values that follow from others, where no layer states them.
//!
//! A link is set by its generation and its lanes: clock of the MACs, Ack latency limit and all that is known in time rather than cycles
//! follow. A layer that states one of them has its way.

use super::gpu::{TABLES, TABLES_OF_SWITCH};
use super::merge::merge;
use super::provenance::{Kind, Provenance};
use super::shape::Shape;
use super::tree::{Entry, Node, Table, Value};
use crate::{
    pcie::rate::{ack_limit, mac_clock},
    sim::Clock,
    units::{Bytes, Cycles, Femtos, Frequency},
};
use std::collections::BTreeMap;

/// Flight from MAC to MAC: best value and range.
const FLIGHT_NS: [u64; 3] = [150, 50, 300];
/// Longest time between two updates of credits: that of the base specification, and what parts may do.
const CREDIT_UPDATE_NS: [u64; 3] = [30_000, 100, 30_000];

/// What is taken where the fields that others follow are missing or invalid: these are reported separately.
const USUAL: (u32, u32, Bytes) = (5, 16, Bytes(256));

/// The fields of a link that may follow.
pub(super) const NAMES: [&str; 4] = ["mac_clock", "ack_latency", "flight", "credit_update"];

struct Following {
    name: &'static str,
    value: String,
    provenance: Provenance,
}

pub(super) fn complete(values: &mut Node) {
    complete_list(values, "gpu", &TABLES);
    complete_list(values, "switch", &TABLES_OF_SWITCH);
    complete_link(values);
}

/// Gives the tables of each item of a list what they do not say: it is as in the machine's own.
fn complete_list(values: &mut Node, list: &str, names: &[&str]) {
    let own = |name: &str| values.at(name).cloned().map(|node| (name.to_owned(), node));
    let own: BTreeMap<_, _> = names.iter().copied().filter_map(own).collect();
    let Some(Value::Array(items)) = values.at_mut(list).map(|node| &mut node.value) else { return };
    for item in items {
        let Value::Table(tables) = &mut item.value else { continue };
        for (name, entry) in tables.iter_mut().filter(|(_, entry)| entry.node.table().is_some()) {
            let Some(mut whole) = own.get(name).cloned() else { continue };
            let said = std::mem::replace(&mut entry.node, Node::empty());
            merge(&mut whole, said, Shape::machine().field(name, None));
            entry.node = whole;
        }
        complete_link(item);
    }
}

fn complete_link(values: &mut Node) {
    let Some(table) = link_of(values) else { return };
    for Following { name, value, provenance } in following(table) {
        let node = Node { value: Value::Text(value), place: None, provenance: Some(provenance) };
        table.entry(name.to_owned()).or_insert(Entry { key: None, node });
    }
}

/// Takes away what follows from other values, so that it follows again once these have changed.
pub(super) fn release(values: &mut Node) {
    let Some(table) = link_of(values) else { return };
    for Following { name, value, .. } in following(table) {
        if table.get(name).is_some_and(|entry| entry.node.text() == Some(&value)) {
            table.remove(name);
        }
    }
}

fn link_of(values: &mut Node) -> Option<&mut Table> {
    match &mut values.at_mut("link")?.value {
        Value::Table(table) => Some(table),
        _ => None,
    }
}

fn integer(table: &Table, name: &str) -> Option<u32> {
    match table.get(name)?.node.value {
        Value::Integer(value) => u32::try_from(value).ok(),
        _ => None,
    }
}

/// What a link's fields say, as far as they make sense.
struct Stated {
    clock_of_generation: Frequency,
    /// Of the MACs: as stated, else that of the generation.
    clock: Option<Clock>,
    lanes: u32,
    max_payload: Bytes,
}

impl Stated {
    fn of(table: &Table) -> Self {
        let text = |name: &str| table.get(name).and_then(|entry| entry.node.text());
        let generation = integer(table, "generation").unwrap_or(USUAL.0);
        let clock_of_generation = mac_clock(generation).or(mac_clock(USUAL.0)).unwrap_or(Frequency(1));
        let stated = text("mac_clock").and_then(|text| text.parse().ok()).unwrap_or(clock_of_generation);
        Self {
            clock_of_generation,
            clock: Clock::new(stated).or_else(|_| Clock::new(clock_of_generation)).ok(),
            lanes: integer(table, "lanes").unwrap_or(USUAL.1),
            max_payload: text("max_payload").and_then(|text| text.parse().ok()).unwrap_or(USUAL.2),
        }
    }

    /// A time in cycles of the MACs, rounded up.
    fn cycles(&self, ns: u64) -> String {
        Cycles(self.clock.map_or(1, |clock| clock.first_from(Femtos(ns * 1_000_000)).max(1))).to_string()
    }

    fn timed(&self, name: &'static str, [value, low, high]: [u64; 3], kind: Kind, source: &str) -> Following {
        let [value, low, high] = [value, low, high].map(|ns| self.cycles(ns));
        Following { name, value, provenance: follows(kind, source, Some([low, high])) }
    }
}

fn follows(kind: Kind, from: &str, range: Option<[String; 2]>) -> Provenance {
    let (low, high) = range.map(|[low, high]| (low, high)).unzip();
    Provenance { kind, source: format!("follows from {from}"), low, high }
}

fn following(table: &Table) -> [Following; 4] {
    let stated = Stated::of(table);
    let limit = ack_limit(stated.lanes, stated.max_payload);
    let clock = "link.generation: four symbol times in a cycle, 250 MHz at 8 GT/s, 500 MHz at 16 GT/s, 1 GHz at 32 GT/s, 2 GHz \
                 at 64 GT/s";
    let ack = "link.lanes and link.max_payload: the Ack latency limit of generation 3 and later (as in cocotbext-pcie port.py); parts may be \
               faster";
    let flight = "link.mac_clock: 150 ns for serialiser, de-skew, elastic buffer and checks of two PHYs; published for no generation";
    let update = "link.mac_clock: UpdateFC at least every 30 us (MindShare; cocotbext-pcie); parts may send more often";
    [
        Following {
            name: "mac_clock",
            value: stated.clock_of_generation.to_string(),
            provenance: follows(Kind::Documented, clock, None),
        },
        Following {
            name: "ack_latency",
            value: limit.to_string(),
            provenance: follows(Kind::Documented, ack, Some([Cycles(4.min(limit.0)).to_string(), limit.to_string()])),
        },
        stated.timed("flight", FLIGHT_NS, Kind::Assumed, flight),
        stated.timed("credit_update", CREDIT_UPDATE_NS, Kind::Documented, update),
    ]
}

#[cfg(test)]
mod tests {
    use crate::{
        config::{Layers, tree::Table},
        pcie::spec::LinkSpec,
    };

    fn timing(link: &LinkSpec) -> (u64, [u64; 3]) {
        (link.mac_clock.0 / 1_000_000, [link.ack_latency, link.flight, link.credit_update].map(|cycles| cycles.0))
    }

    #[test]
    fn what_no_layer_states_follows_from_generation_and_lanes() {
        for (settings, expected) in [
            (&[][..], (1000, [42, 150, 30_000])),
            (&["link.generation=4"], (500, [42, 75, 15_000])),
            (&["link.generation=3", "link.lanes=1"], (250, [128, 38, 7_500])),
            (&["link.lanes=8", "link.max_payload=512 B"], (1000, [45, 150, 30_000])),
        ] {
            assert_eq!(timing(&Layers::h100(settings).machine.link), expected, "{settings:?}");
        }
    }

    #[test]
    fn what_a_layer_states_stays_and_others_follow_it() {
        let link =
            Layers::h100(&["link.generation=4", "link.mac_clock=250 MHz", "link.ack_latency=7 cycles"]).machine.link;
        assert_eq!(timing(&link), (250, [7, 38, 7_500]));
    }

    #[test]
    fn a_value_that_follows_says_so_and_goes_on_following() {
        let resolved = Layers::h100(&[]);
        let flight = resolved.parameter("link.flight").unwrap();
        assert!(flight.provenance.source.starts_with("follows from link.mac_clock"), "{flight:?}");
        assert_eq!(flight.provenance.high.as_deref(), Some("170 cycles"));
        for settings in
            [&["link.generation=3"][..], &["link.flight=1 cycle"], &["link.mac_clock=2 GHz", "link.lanes=4"]]
        {
            let owned: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
            let changed = resolved.with(&owned).unwrap();
            assert_eq!(changed.machine.link, Layers::h100(settings).machine.link, "{settings:?}");
        }
    }

    #[test]
    fn a_machine_written_as_one_file_goes_on_following() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("one.toml");
        std::fs::write(&path, Layers::h100(&["link.ack_latency=7 cycles"]).to_toml().unwrap()).unwrap();
        let again = Layers::new(path.display().to_string()).set("link.generation=3").resolve().unwrap();
        assert_eq!(timing(&again.machine.link), (250, [7, 38, 7_500]));
    }

    #[test]
    fn a_wrong_generation_is_told_alone() {
        assert_eq!(super::NAMES, super::following(&Table::new()).map(|following| following.name));
        for setting in ["link.generation=9", "link.generation=many", "link.lanes=0"] {
            let error = Layers::new("h100-nvl-tdx").set(setting).resolve().unwrap_err();
            assert!(error.others.is_empty(), "{setting}: {error:?}");
        }
    }
}
