//! A machine that is complete and makes sense, with where each value comes from.

use super::base::Base;
use super::check;
use super::cut;
use super::error::{Wrong, refusal};
use super::examine::{Layered, examine};
use super::follow;
use super::gpu::path_in_own_tables;
use super::layer::Layer;
use super::layers::Stack;
use super::library;
use super::machine::MachineSpec;
use super::merge::unstated;
use super::parameter::Parameter;
use super::provenance::{Kind, Provenance};
use super::shape::{LABELS, Shape};
use super::tree::Node;
use crate::files::Refusal;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;

#[derive(Debug, Clone)]
pub struct Resolved {
    pub machine: MachineSpec,
    /// The designs laid over it, the first first.
    pub designs: Vec<Design>,
    /// The files and settings it was filled from, the lowest first.
    pub layers: Vec<String>,
    /// Every value that is a property of hardware or software, by path.
    pub parameters: Vec<Parameter>,
    /// Every `true` or `false`, by path.
    pub switches: Vec<(String, bool)>,
    /// Digests of the measured points that its values were fitted to, as `sealsim calibrate --write` leaves them.
    pub fitted_to: BTreeSet<String>,
    /// SHA-256 over all parameters and switches, in hexadecimal. Names, summaries, provenance, the unit that a value was written in, and
    /// what a cipher's rate was looked up by do not enter.
    pub digest: String,
}

/// A design that was laid over a machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Design {
    pub name: String,
    /// What it changes, in a sentence.
    pub summary: String,
}

impl Resolved {
    /// Fills a machine from merged layers.
    pub(super) fn fill(values: &Node, designs: Vec<Design>, layers: Vec<String>) -> Result<Self, Refusal> {
        let chain = layers.iter().rev().map(String::as_str).collect::<Vec<_>>().join(" over ");
        examine(values, Shape::machine(), "", &Layered(&chain)).result()?;
        let machine: MachineSpec = serde_json::from_value(values.to_json()).map_err(|error| refused(&error))?;
        let canonical = serde_json::to_value(&machine).map_err(|error| refused(&error))?;
        let mut digest = Sha256::new();
        let (mut parameters, switches) = take_stock(values, &canonical, &mut |path, json| add(&mut digest, path, json));
        cut::cut(&mut parameters);
        let digest = hex::encode(digest.finalize());
        check::check(&machine, &parameters, values)?;
        Ok(Self { machine, designs, layers, parameters, switches, fitted_to: BTreeSet::new(), digest })
    }

    /// The machine's name with those of its designs: `h100-nvl-tdx+hold`.
    pub fn name(&self) -> String {
        let names = self.designs.iter().map(|design| design.name.as_str());
        std::iter::once(self.machine.name.as_str()).chain(names).collect::<Vec<_>>().join("+")
    }

    /// The same machine with settings on it, as `--set` takes them.
    pub fn with(&self, settings: &[String]) -> Result<Self, Refusal> {
        let mut stack = self.stack()?;
        settings.iter().try_for_each(|setting| stack.lay(Layer::set(setting)?))?;
        stack.fill()
    }

    /// The same machine with a design on it.
    pub fn with_design(&self, name: &str) -> Result<Self, Refusal> {
        let mut stack = self.stack()?;
        stack.lay_design(name)?;
        stack.fill()
    }

    /// The same, to be varied many times.
    pub fn base(&self) -> Result<Base, Refusal> {
        Ok(Base::new(None, self.stack()?, self.clone()))
    }

    /// Its values as one layer, in which what follows from others goes on following.
    fn stack(&self) -> Result<Stack, Refusal> {
        let wrong = || refusal(&Wrong::Manifest { reason: "the machine has no fields".into() });
        let mut values = Node::from_json(&json!(self.machine)).ok_or_else(wrong)?;
        for Parameter { path, provenance, .. } in &self.parameters {
            if let Some(node) = values.at_mut(path) {
                node.provenance = Some(provenance.clone());
            }
        }
        follow::release(&mut values);
        let (names, designs) = (self.layers.clone(), self.designs.clone());
        Ok(Stack { values, names, designs, fitted_to: self.fitted_to.clone() })
    }

    pub fn parameter(&self, path: &str) -> Option<&Parameter> {
        self.parameters.iter().find(|parameter| parameter.path == path)
    }

    /// How many parameters have each kind of provenance, from the surest.
    pub fn counts(&self) -> [(Kind, usize); 5] {
        Kind::ALL.map(|kind| (kind, self.parameters.iter().filter(|one| one.provenance.kind == kind).count()))
    }

    /// The paths of the parameters whose values are not published.
    pub fn assumed(&self) -> Vec<String> {
        let assumed = self.parameters.iter().filter(|one| one.provenance.kind == Kind::Assumed);
        assumed.map(|one| one.path.clone()).collect()
    }

    /// As JSON, for a manifest: `machine`, `provenance` by path, `designs`, `layers`, `digest`, and `fitted_to` if it was.
    pub fn to_value(&self) -> Json {
        let provenance: Map<_, _> =
            self.parameters.iter().map(|one| (one.path.clone(), json!(one.provenance))).collect();
        let mut value = json!({
            "machine": self.machine,
            "provenance": provenance,
            "designs": self.designs,
            "layers": self.layers,
            "digest": self.digest,
        });
        if !self.fitted_to.is_empty() {
            value["fitted_to"] = json!(self.fitted_to);
        }
        value
    }

    /// Reads back what [`Resolved::to_value`] wrote, without any file.
    ///
    /// # Errors
    ///
    /// The value is not such a manifest, its machine is refused, or its digest is not that of its machine.
    pub fn from_value(value: &Json) -> Result<Self, Refusal> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Manifest {
            machine: Json,
            provenance: std::collections::BTreeMap<String, Provenance>,
            designs: Vec<Design>,
            layers: Vec<String>,
            #[serde(default)]
            fitted_to: BTreeSet<String>,
            digest: String,
        }
        let wrong = |reason: String| refusal(&Wrong::Manifest { reason });
        let manifest: Manifest = serde_json::from_value(value.clone()).map_err(|error| wrong(error.to_string()))?;
        let mut tree = Node::from_json(&manifest.machine).ok_or_else(|| wrong("`machine` is null".into()))?;
        for (path, provenance) in manifest.provenance {
            let node =
                tree.at_mut(&path).ok_or_else(|| wrong(format!("provenance of `{path}`, which has no value")))?;
            node.provenance = Some(provenance);
        }
        let filled = Self::fill(&tree, manifest.designs, manifest.layers)?;
        let resolved = Self { fitted_to: manifest.fitted_to, ..filled };
        if resolved.digest != manifest.digest {
            let reason = format!("its machine has digest {}, but it says {}", resolved.digest, manifest.digest);
            return Err(wrong(reason).remedy("it was edited, or written by a version with another set of fields"));
        }
        Ok(resolved)
    }

    /// The fields of the link whose values are what follows from others.
    fn following(&self) -> Vec<&'static str> {
        let Some(mut values) = Node::from_json(&json!(self.machine)) else { return Vec::new() };
        follow::release(&mut values);
        follow::NAMES.into_iter().filter(|name| values.at(&format!("link.{name}")).is_none()).collect()
    }

    /// As one TOML file that needs no other. What follows from other values is left out, so that it goes on following.
    pub fn to_toml(&self) -> Result<String, Refusal> {
        let mut document = json!(self.machine);
        document["name"] = json!(self.name());
        let mut provenance = provenance_of(&self.parameters);
        for name in self.following() {
            for table in [&mut document, &mut provenance] {
                table["link"].as_object_mut().and_then(|link| link.remove(name));
            }
        }
        document["provenance"] = provenance;
        if !self.fitted_to.is_empty() {
            document["fitted_to"] = json!(self.fitted_to);
        }
        to_toml(document)
    }
}

/// The table `provenance` of a file with these parameters.
pub(super) fn provenance_of(parameters: &[Parameter]) -> Json {
    let mut provenance = json!({});
    for parameter in parameters {
        let mut at = &mut provenance;
        for key in parameter.path.split('.') {
            at = &mut at[key];
        }
        *at = json!(parameter.provenance);
    }
    provenance
}

/// A document as TOML, which has no null: a field that is not there says as much.
pub(super) fn to_toml(mut document: Json) -> Result<String, Refusal> {
    remove_nulls(&mut document);
    toml::to_string(&document).map_err(|error| refusal(&Wrong::Manifest { reason: error.to_string() }))
}

/// TOML has no null: a field without a value is left out.
fn remove_nulls(json: &mut Json) {
    if let Json::Object(map) = json {
        map.retain(|_, value| !value.is_null());
        map.values_mut().for_each(remove_nulls);
    }
}

/// An error of the types themselves, which know more than their schema does.
fn refused(error: &serde_json::Error) -> Refusal {
    refusal(&Wrong::Senseless { path: "the machine".into(), reason: error.to_string() })
}

/// Whether one GPU's or switch's value is that of the machine's own table, where it is reported.
fn is_as_of_all(canonical: &Json, path: &str, json: &Json) -> bool {
    path_in_own_tables(path)
        .is_some_and(|path| canonical.pointer(&format!("/{}", path.replace('.', "/"))) == Some(json))
}

/// All parameters and switches, with their values as the machine holds them. `leaf` is called with each path and value.
pub(super) fn take_stock(
    values: &Node,
    canonical: &Json,
    leaf: &mut dyn FnMut(&str, &Json),
) -> (Vec<Parameter>, Vec<(String, bool)>) {
    let (mut parameters, mut switches) = (Vec::new(), Vec::new());
    each_leaf(canonical, Some(Shape::machine()), "", &mut |path, shape, json| {
        leaf(path, json);
        if LABELS.contains(&path) || is_as_of_all(canonical, path, json) {
            return;
        }
        if let Json::Bool(truth) = json {
            return switches.push((path.to_owned(), *truth));
        }
        let value = json.as_str().map_or_else(|| json.to_string(), str::to_owned);
        let node = values.at(path);
        let whole = || values.at(path.split_once('[')?.0)?.provenance.clone();
        let stated = node.and_then(|node| node.provenance.clone()).or_else(whole);
        let provenance = stated.unwrap_or_else(|| unstated(node.and_then(|node| node.place.as_ref())));
        let (unit, amount) = measure(shape, json);
        parameters.push(Parameter { path: path.to_owned(), value, unit, amount, provenance });
    });
    (parameters, switches)
}

fn measure(shape: Option<&Shape>, json: &Json) -> (&'static str, Option<i128>) {
    match shape {
        Some(Shape::Quantity(kind)) => {
            let amount = json.as_str().and_then(|text| kind.parse(text).ok()).map(i128::from);
            (kind.what.strip_prefix("a ").unwrap_or(kind.what), amount)
        }
        Some(Shape::Choice(_)) => ("choice", None),
        _ if json.is_number() => ("count", json.as_number().and_then(serde_json::Number::as_i128)),
        _ if json.is_string() => ("choice", None),
        _ => ("list", None),
    }
}

/// Calls `visit` with path, shape and value of each leaf in alphabetical order; what is null has no value.
fn each_leaf(json: &Json, shape: Option<&Shape>, path: &str, visit: &mut impl FnMut(&str, Option<&Shape>, &Json)) {
    match json {
        Json::Null => {}
        Json::Object(map) => {
            let tag = match shape {
                Some(Shape::Union { tag, .. }) => map.get(tag).and_then(Json::as_str),
                _ => None,
            };
            let mut keys: Vec<_> = map.keys().collect();
            keys.sort();
            for key in keys {
                let below = shape.and_then(|shape| shape.field(key, tag));
                each_leaf(&map[key], below, &super::tree::join(path, key), visit);
            }
        }
        Json::Array(items) if items.iter().any(Json::is_object) => {
            let below = match shape {
                Some(Shape::Array(items)) => Some(&**items),
                _ => None,
            };
            items.iter().enumerate().for_each(|(item, json)| each_leaf(json, below, &format!("{path}[{item}]"), visit));
        }
        _ => visit(path, shape, json),
    }
}

/// Adds a leaf to the digest of a machine, which is SHA-256 over one line `path=value` per leaf, in alphabetical order.
fn add(digest: &mut Sha256, path: &str, json: &Json) {
    if !LABELS.contains(&path) && !library::NAMES.contains(&path) {
        digest.update(format!("{path}={json}\n"));
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Layers, Role, Shipped};
    use super::*;

    fn shipped() -> Vec<Resolved> {
        Shipped::names(Role::Machine).map(|name| Layers::new(name).resolve().unwrap()).collect()
    }

    #[test]
    fn every_parameter_of_a_shipped_machine_says_where_it_comes_from() {
        for resolved in shipped() {
            let silent: Vec<_> = resolved.parameters.iter().filter(|one| one.provenance.kind == Kind::User).collect();
            assert!(silent.is_empty(), "{}: {silent:#?}", resolved.name());
        }
    }

    #[test]
    fn every_assumed_number_of_a_shipped_machine_has_a_range_around_it() {
        for resolved in shipped() {
            // How many GPUs there are, and below what, is what a machine is for.
            let listed = |path: &str| ["gpu[", "switch["].iter().any(|list| path.starts_with(list));
            for one in resolved.parameters.iter().filter(|one| one.amount.is_some() && !listed(&one.path)) {
                let Provenance { kind, low, high, source, .. } = &one.provenance;
                // Of a few values, fitted points may leave one.
                let is_cut = source.contains("validation/ranges.csv");
                let has_range = low.is_some() && high.is_some() && (low != high || is_cut);
                assert!(*kind != Kind::Assumed || has_range, "{}", one.path);
            }
            assert!(resolved.assumed().contains(&"link.flight".to_owned()));
        }
    }

    #[test]
    fn every_number_that_a_shipped_design_sets_says_where_it_comes_from_and_how_far_it_may_lie() {
        let mut set = 0;
        for machine in Shipped::names(Role::Machine) {
            let own = Layers::new(machine).resolve().unwrap();
            for design in Shipped::names(Role::Design) {
                // A design needs what not every machine has.
                let Ok(resolved) = Layers::new(machine).overlay(design).resolve() else { continue };
                for one in resolved.parameters.iter().filter(|one| own.parameter(&one.path) != Some(one)) {
                    let Provenance { kind, low, high, .. } = &one.provenance;
                    let ranged = low.is_some() && high.is_some() && low != high;
                    let unsure = matches!(kind, Kind::Assumed | Kind::Calibrated) && one.amount.is_some();
                    assert!(*kind != Kind::User && (ranged || !unsure), "{design} over {machine}: {}", one.path);
                    set += 1;
                }
            }
        }
        assert!(set > 1000, "{set}");
    }

    #[test]
    fn a_manifest_gives_the_same_machine_without_files() {
        let resolved = Layers::new("h100-nvl-tdx").overlay("hold").set("link.read_tags=256").resolve().unwrap();
        let text = resolved.to_value().to_string();
        let again = Resolved::from_value(&serde_json::from_str(&text).unwrap()).unwrap();
        assert_eq!(again.machine, resolved.machine);
        assert_eq!(again.parameters, resolved.parameters);
        assert_eq!((again.name(), &again.layers, &again.digest), (resolved.name(), &resolved.layers, &resolved.digest));
    }

    #[test]
    fn a_manifest_that_was_edited_is_refused() {
        let manifest = Layers::new("h100-nvl-tdx").resolve().unwrap().to_value();
        let edited = |pointer: &str, value: Json| {
            let mut copy = manifest.clone();
            *copy.pointer_mut(pointer).unwrap() = value;
            Resolved::from_value(&copy).unwrap_err()
        };
        assert!(edited("/machine/link/read_tags", json!(256)).is("config::manifest"));
        assert!(edited("/machine/link/read_tags", json!(255)).is("config::senseless"));
        assert!(edited("/machine/link/flight", json!(5)).is("config::quantity"));
        assert!(edited("/machine/link", json!(null)).is("config::manifest"));
        assert!(edited("/provenance", json!([])).is("config::manifest"));
        assert!(Resolved::from_value(&json!({})).is_err() && Resolved::from_value(&json!(null)).is_err());
    }

    #[test]
    fn the_digest_covers_values_and_switches_and_nothing_else() {
        let digest = |settings: &[&str]| Layers::h100(settings).digest;
        let plain = digest(&[]);
        assert_eq!(plain, digest(&["name=another", "summary=words"]));
        assert_eq!(plain, digest(&["staging.buffer=2048 KiB", "cpu.clock=2100 MHz"]));
        assert_ne!(plain, digest(&["staging.buffers=33"]));
        assert_ne!(plain, digest(&["link.ecrc=true"]));
        assert_ne!(plain, digest(&["tag_queue.release=eager"]));
        assert_eq!(plain.len(), 64);
    }

    #[test]
    fn values_and_switches_are_what_a_setting_takes() {
        let resolved = Layers::new("h100-nvl-tdx").overlay("serial-ghash").resolve().unwrap();
        let values = resolved.parameters.iter().map(|Parameter { path, value, .. }| format!("{path}={value}"));
        let switches = resolved.switches.iter().map(|(path, truth)| format!("{path}={truth}"));
        let layers = Layers::new("h100-nvl-tdx").overlay("serial-ghash");
        let again = layers.set_all(&values.chain(switches).collect::<Vec<_>>()).resolve().unwrap();
        assert_eq!(again.machine, resolved.machine);
    }

    #[test]
    fn numbers_are_measured_in_base_units() {
        let resolved = Layers::new("h100-nvl-tdx").resolve().unwrap();
        let measured = |path: &str| resolved.parameter(path).map(|one| (one.unit, one.amount));
        assert_eq!(measured("staging.buffer"), Some(("size", Some(2 << 20))));
        assert_eq!(measured("cpu.clock"), Some(("frequency", Some(2_100_000_000))));
        assert_eq!(measured("link.recovery"), Some(("time", Some(1_000_000_000))));
        assert_eq!(measured("link.lanes"), Some(("count", Some(16))));
        assert_eq!(measured("tag_queue.release"), Some(("choice", None)));
        assert_eq!(measured("link.ecrc"), None);
        assert_eq!(resolved.counts().iter().map(|(_, count)| count).sum::<usize>(), resolved.parameters.len());
    }
}
