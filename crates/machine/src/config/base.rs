//! A machine that is resolved once and then varied many times.
//!
//! ```text
//!  layers --> merged tree --> Resolved            once
//!               |                  |
//!  settings ----+--> the tables they touch, merged, examined, filled and checked --> Varied    per variation
//!                                     |   ^
//!                                     v   |
//!                          tables that were filled so before
//! ```
//!
//! Only the tables that the settings touch are filled anew: what is in the others was examined and checked with the base, and no
//! check of a single value looks at another table. The rules between fields are compared with the whole machine. Whatever is wrong
//! in any of that is reported by filling all tables, so errors are those of [`Layers::resolve`].

use super::check;
use super::examine::{Layered, examine};
use super::follow::complete;
use super::layer::Layer;
use super::layers::{Layers, Stack};
use super::library;
use super::machine::MachineSpec;
use super::merge::merge;
use super::parameter::Parameter;
use super::provenance::Kind;
use super::rates;
use super::resolved::{Resolved, take_stock};
use super::shape::Shape;
use super::tree::{Entry, Node, Table, Value};
use crate::files::{Place, Refusal};
use serde_json::{Map, Value as Json};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// Filled tables that are kept at most.
const MOST_KEPT: usize = 128;

/// A table with settings on it, each of its values within its limits.
#[derive(Debug)]
struct Filled {
    /// A machine with that table.
    machine: MachineSpec,
    /// The table's assumed parameters.
    assumed: usize,
}

/// A machine that settings are laid on.
#[derive(Debug, Clone)]
pub struct Base {
    /// What it was resolved from; none of a machine that was given whole.
    layers: Option<Layers>,
    stack: Stack,
    resolved: Resolved,
    /// Tables in which a rate is written per second, and that have no clock.
    per_second: Vec<String>,
    /// By table of the machine: its assumed parameters.
    assumed: Vec<(String, usize)>,
    /// By settings of one table, a line each: that table, if nothing is wrong with it.
    filled: Arc<Mutex<HashMap<String, Arc<Filled>>>>,
}

/// A machine with settings on it.
#[derive(Debug, Clone, PartialEq)]
pub struct Varied {
    pub machine: MachineSpec,
    /// Parameters whose values are not published.
    pub assumed: usize,
}

/// The table that a path or a setting begins with.
fn table_of(path: &str) -> &str {
    path.split(['.', '=']).next().unwrap_or(path).trim()
}

fn count_assumed(parameters: &[Parameter]) -> usize {
    parameters.iter().filter(|one| one.provenance.kind == Kind::Assumed).count()
}

impl Base {
    pub(super) fn new(layers: Option<Layers>, stack: Stack, resolved: Resolved) -> Self {
        let mut assumed: Vec<(String, usize)> = Vec::new();
        for one in resolved.parameters.iter().filter(|one| one.provenance.kind == Kind::Assumed) {
            let table = table_of(&one.path);
            match assumed.iter_mut().find(|(known, _)| known == table) {
                Some((_, count)) => *count += 1,
                None => assumed.push((table.to_owned(), 1)),
            }
        }
        let tables = stack.values.table().into_iter().flatten();
        let follows = |node| rates::clock(node).is_none() && rates::any_per_second(node);
        let per_second = tables.filter(|(_, entry)| follows(&entry.node)).map(|(name, _)| name.clone()).collect();
        Self { layers, stack, resolved, per_second, assumed, filled: Arc::default() }
    }

    pub const fn resolved(&self) -> &Resolved {
        &self.resolved
    }

    /// What the machine states and no design lies over, as it is without any design: values and ranges. What follows from a design's values is the
    /// design's. A setting, which lies over all designs, takes part in the machine here: it has no range.
    pub fn of_machine(&self) -> Vec<Parameter> {
        let Some(layers) = &self.layers else { return self.resolved.parameters.clone() };
        let Ok(stack) = layers.without_designs().machine_stack() else { return Vec::new() };
        let is_same = |one: &Parameter, other: &Parameter| {
            let [here, there] = [&self.stack, &stack].map(|stack| stack.values.at(&one.path)?.place.as_ref());
            let at = |place: &Place| (place.source.origin.clone(), place.span.clone());
            one.value == other.value && here.map(at) == there.map(at)
        };
        // A setting may need the table of a design: then ranges are as with that.
        let parameters = stack.fill().map_or_else(|_| self.resolved.parameters.clone(), |alone| alone.parameters);
        let own = |one: &Parameter| self.resolved.parameter(&one.path).is_some_and(|with| is_same(one, with));
        parameters.into_iter().filter(own).collect()
    }

    /// The machine with settings, as `--set` takes them, on top.
    pub fn varied(&self, settings: &[String]) -> Result<Varied, Refusal> {
        let touched = self.only_touched(settings);
        if let Some(varied) = touched.as_ref().filter(|varied| check::can_be(&varied.machine)) {
            return Ok(varied.clone());
        }
        let mut stack = self.stack.clone();
        settings.iter().try_for_each(|setting| stack.lay(Layer::set(setting)?))?;
        if let Some(Varied { machine, .. }) = touched {
            check::rules(&machine, &stack.completed()?)?;
        }
        let resolved = stack.fill()?;
        Ok(Varied { assumed: count_assumed(&resolved.parameters), machine: resolved.machine })
    }

    /// Whether there is a machine with settings on top.
    pub fn possible(&self, settings: &[String]) -> bool {
        let whole = || !self.fills_by_table(settings) && self.varied(settings).is_ok();
        self.only_touched(settings).map_or_else(whole, |varied| check::can_be(&varied.machine))
    }

    /// Whether each table can be filled by itself: what GPUs do not say is as in the machine's own tables, and in a table without a clock
    /// a rate per second follows that of the CPU.
    fn fills_by_table(&self, settings: &[String]) -> bool {
        let lists = self.resolved.machine.gpu.is_empty() && self.resolved.machine.switch.is_empty();
        let slow =
            |table| self.per_second.iter().any(|one| one == table) || (table == "cpu" && !self.per_second.is_empty());
        let per_second = settings.iter().any(|one| slow(table_of(one)) || rates::is_per_second(one));
        let library = ["cpu", "cipher"].iter().any(|table| settings.iter().any(|one| table_of(one) == *table))
            && (library::follows(&self.stack.values) || settings.iter().any(|one| library::is_named(one)));
        lists
            && !per_second
            && !library
            && settings.iter().all(|setting| !["gpu", "switch"].contains(&table_of(setting)))
    }

    /// Fills the touched tables alone; `None` if a value in them is wrong. Rules between fields are not looked at.
    fn only_touched(&self, settings: &[String]) -> Option<Varied> {
        if !self.fills_by_table(settings) {
            return None;
        }
        let mut machine = self.resolved.machine.clone();
        let mut assumed: usize = self.assumed.iter().map(|(_, count)| count).sum();
        let tables: Vec<&str> = settings.iter().map(|setting| table_of(setting)).collect();
        for (place, name) in tables.iter().enumerate().filter(|(place, name)| !tables[..*place].contains(name)) {
            let own = settings.iter().zip(&tables).skip(place).filter(|(_, table)| *table == name);
            let own: Vec<&str> = own.map(|(setting, _)| setting.as_str()).collect();
            let filled = self.filled(name, &own)?;
            machine.take_field(name, &filled.machine)?;
            assumed -= self.assumed.iter().find(|(known, _)| known == *name).map_or(0, |(_, count)| *count);
            assumed += filled.assumed;
        }
        Some(Varied { machine, assumed })
    }

    fn kept(&self) -> MutexGuard<'_, HashMap<String, Arc<Filled>>> {
        self.filled.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A table with settings, all of them its own, as it was filled before or anew.
    fn filled(&self, name: &str, settings: &[&str]) -> Option<Arc<Filled>> {
        let key = settings.join("\n");
        if let Some(filled) = self.kept().get(&key) {
            return Some(Arc::clone(filled));
        }
        let filled = Arc::new(self.fill(name, settings)?);
        let mut kept = self.kept();
        if kept.len() >= MOST_KEPT {
            kept.clear();
        }
        kept.insert(key, Arc::clone(&filled));
        Some(filled)
    }

    fn fill(&self, name: &str, settings: &[&str]) -> Option<Filled> {
        let values = self.merged(settings)?;
        let table = values.table()?;
        // A name that is written in another way is not taken apart here.
        let entry = table.get(name).filter(|_| table.len() == 1)?;
        if !examine(&entry.node, Shape::machine().field(name, None)?, name, &Layered("")).is_empty() {
            return None;
        }
        let mut machine = self.resolved.machine.clone();
        machine.set_field(name, entry.node.to_json())?;
        let canonical: Map<_, _> = machine.field(name).map(|json| (name.to_owned(), json)).into_iter().collect();
        let (parameters, _) = take_stock(&values, &Json::Object(canonical), &mut |_, _| ());
        check::within_limits(&parameters).then(|| Filled { machine, assumed: count_assumed(&parameters) })
    }

    /// The tables that settings touch, with the settings in them.
    fn merged(&self, settings: &[&str]) -> Option<Node> {
        let mut touched = Table::new();
        let mut layers = Vec::with_capacity(settings.len());
        for setting in settings {
            let layer = Layer::set(setting).ok()?;
            for name in
                layer.values.table()?.keys().filter(|name| !touched.contains_key(*name)).cloned().collect::<Vec<_>>()
            {
                let Some(entry) = self.stack.values.table()?.get(&name) else { continue };
                touched.insert(name, Entry { key: None, node: entry.node.clone() });
            }
            layers.push(layer);
        }
        let mut values = Node { value: Value::Table(touched), place: None, provenance: None };
        for layer in layers {
            library::overrule(&mut values, &layer.values);
            merge(&mut values, layer.values, Some(Shape::machine()));
        }
        complete(&mut values);
        rates::settle(&mut values);
        Some(values)
    }
}

impl Layers {
    /// As [`Layers::resolve`], and keeps what further settings are laid on.
    pub fn base(self) -> Result<Base, Refusal> {
        let stack = self.machine_stack()?;
        let resolved = stack.fill()?;
        Ok(Base::new(Some(self), stack, resolved))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Role, Shipped};
    use super::*;
    use proptest::prelude::*;

    /// Settings of every sort: numbers within and without their ranges, choices, tables, other designs of GHASH, tables that are
    /// not there, labels, and what is no setting at all.
    const SETTINGS: [&str; 44] = [
        "engine.ghash.width=1",
        "engine.ghash.width=0",
        "engine.ghash.width=4",
        "engine.ghash.groups=2",
        "engine.ghash.widht=2",
        "engine.ghash={design=\"serial\", multiplier={product=\"2 cycles\", reduction=\"1 cycle\"}}",
        "engine.ghash.design=serial",
        "engine.ghash.design=folded",
        "engine.aes.lanes=2",
        "engine.aes.lanes=17000000",
        "engine.aes.keystream_blocks=\"many\"",
        "copy_engine.outstanding_reads=8",
        "copy_engine.clock=1 GHz",
        "copy_engine.clock=0 Hz",
        "fabric.clock=2 GHz",
        "fabric.clock=0 Hz",
        "copy_engine.pces_secure=2",
        "copy_engine.pces_secure=9",
        "tag_queue.release=hold",
        "tag_queue.release=hodl",
        "tag_queue.quarantine=2 MiB",
        "tag_queue.quarantine=1 KiB",
        "tag_queue.depth=1",
        "driver.pinned.message=4 KiB",
        "driver.pinned.message=8 B",
        "driver.pinned={message=\"1 MiB\", push=\"16 MiB\"}",
        "driver.pinned.push=1 MiB",
        "link.max_payload=512 B",
        "link.max_payload=500 B",
        "link.read_tags=256",
        "link.read_tags=255",
        "link={lanes=8}",
        "link.replay_timer=1 cycle",
        "confidential_computing=false",
        "confidential_computing=maybe",
        "name=other",
        "gpu_crypto.place=sm",
        "gpu_crypto={place=\"sm\"}",
        "sm.used=16",
        "sm.ghash=four_bit_tables",
        "staging.buffers=1",
        "nothing.at=all",
        "hbm",
        "cipher.threads=3",
    ];

    const DESIGNS: [&[&str]; 4] = [&[], &["hold"], &["sm"], &["direct-in-place", "overlap"]];

    fn base(machine: &str, designs: &[&str]) -> Base {
        designs.iter().fold(Layers::new(machine), |layers, design| layers.overlay(*design)).base().unwrap()
    }

    fn whole(base: &Base, settings: &[String]) -> Result<Varied, Refusal> {
        let mut stack = base.stack.clone();
        settings.iter().try_for_each(|setting| stack.lay(Layer::set(setting)?))?;
        let resolved = stack.fill()?;
        Ok(Varied { assumed: resolved.assumed().len(), machine: resolved.machine })
    }

    fn shown(error: Refusal) -> String {
        format!("{:?}", miette::Report::new(error))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        #[test]
        fn a_variation_is_what_all_layers_give_and_so_is_its_error(
            settings in prop::collection::vec(prop::sample::select(&SETTINGS[..]), 0..4),
            machine in prop::sample::select(&["h100-nvl-tdx", "h100-tdx-gen5", "h100-sxm5-off"][..]),
            designs in prop::sample::select(&DESIGNS[..]),
        ) {
            let base = base(machine, designs);
            let settings: Vec<String> = settings.into_iter().map(str::to_owned).collect();
            match (base.varied(&settings), whole(&base, &settings)) {
                (Ok(varied), Ok(whole)) => {
                    prop_assert_eq!(&varied, &whole);
                    // From tables that are known by now, some of them with settings of their own.
                    prop_assert_eq!(&base.varied(&settings).unwrap(), &whole);
                    for some in 0..settings.len() {
                        let others = [&settings[..some], &settings[some + 1..]].concat();
                        prop_assert_eq!(base.varied(&others).ok(), self::whole(&base, &others).ok());
                    }
                    prop_assert!(base.possible(&settings), "took the long way: {settings:?}");
                }
                (Err(varied), Err(whole)) => {
                    prop_assert!(!base.possible(&settings));
                    prop_assert_eq!(shown(varied), shown(whole));
                }
                (varied, whole) => prop_assert!(false, "{:?} but {:?}", varied.is_ok(), whole.is_ok()),
            }
        }

        #[test]
        fn every_number_of_a_machine_varies_as_all_layers_say(place in 0..400_usize, high in any::<bool>(), other in 0..SETTINGS.len()) {
            let base = base("h100-nvl-tdx", &["fastrack"]);
            let ranged: Vec<_> = base.resolved().parameters.iter().filter(|one| one.provenance.low.is_some()).collect();
            let one = ranged[place % ranged.len()];
            let bound = if high { &one.provenance.high } else { &one.provenance.low };
            let settings = [format!("{}={}", one.path, bound.as_deref().unwrap_or(&one.value)), SETTINGS[other].to_owned()];
            for settings in [&settings[..1], &settings[..]] {
                match (base.varied(settings), whole(&base, settings)) {
                    (Ok(varied), Ok(whole)) => prop_assert_eq!(varied, whole),
                    (Err(varied), Err(whole)) => prop_assert_eq!(shown(varied), shown(whole)),
                    (varied, whole) => prop_assert!(false, "{:?} but {:?}", varied.is_ok(), whole.is_ok()),
                }
            }
        }
    }

    #[test]
    fn every_field_of_a_machine_can_be_filled_anew() {
        let Shape::Table(fields) = Shape::machine() else { panic!("a machine is a table") };
        for name in Shipped::names(Role::Machine) {
            let machine = Layers::new(name)
                .overlay("sm")
                .resolve()
                .map_or_else(|_| Layers::new(name).resolve().unwrap().machine, |resolved| resolved.machine);
            let whole = serde_json::to_value(&machine).unwrap();
            for field in fields {
                let json = machine.field(&field.name);
                assert_eq!(json.as_ref(), whole.get(&field.name), "{}", field.name);
                let Some(json) = json else { continue };
                let mut other = machine.clone();
                assert_eq!(other.set_field(&field.name, json), Some(()), "{}", field.name);
                assert_eq!(other, machine);
                assert_eq!(other.set_field(&field.name, Json::Array(vec![Json::Null])), None, "{}", field.name);
            }
        }
    }

    #[test]
    fn most_of_the_settings_above_are_possible_and_some_are_not() {
        let base = base("h100-nvl-tdx", &[]);
        let fine = SETTINGS.iter().filter(|setting| base.varied(&[(**setting).to_owned()]).is_ok()).count();
        assert!((15..40).contains(&fine), "{fine}");
    }
}
