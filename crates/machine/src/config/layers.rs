//! Layers on layers: a machine, what it extends, designs over it, single values on top.

use super::error::{Wrong, refusal};
use super::examine::{Layered, examine};
use super::follow::complete;
use super::layer::{Layer, Stated};
use super::library;
use super::merge::merge;
use super::parameter::Parameter;
use super::provenance::Provenance;
use super::rates;
use super::resolved::{Design, Resolved, provenance_of, take_stock, to_toml};
use super::shape::{LABELS, Shape};
use super::shipped::{Role, Shipped};
use super::source;
use super::tree::{Node, Value};
use crate::aead::spec::{AeadSpec, EngineSpec};
use crate::files::{Place, Refusal, Source};
use crate::gcm::spec::GcmSpec;
use serde::de::DeserializeOwned;
use serde_json::json;
use std::{collections::BTreeSet, path::Path, sync::Arc};

/// What to lay on what; nothing is read before [`Layers::resolve`].
///
/// ```
/// use sealsim_machine::config::Layers;
/// let resolved = Layers::new("h100-nvl-tdx").overlay("hold").set("link.max_payload=512B").resolve().unwrap();
/// assert_eq!(resolved.machine.link.max_payload.0, 512);
/// ```
#[derive(Debug, Clone)]
pub struct Layers {
    machine: String,
    confidential_computing: Option<bool>,
    overlays: Vec<String>,
    settings: Vec<String>,
}

impl Layers {
    /// Starts from a machine: a path, or the name of a shipped one. A file takes precedence.
    pub fn new(machine: impl Into<String>) -> Self {
        Self { machine: machine.into(), confidential_computing: None, overlays: Vec::new(), settings: Vec::new() }
    }

    /// Switches confidential computing of the machine itself, whatever its file says. Designs lie over it.
    pub const fn confidential_computing(mut self, on: bool) -> Self {
        self.confidential_computing = Some(on);
        self
    }

    /// Lays a design over what is there: a path, the name of a shipped one, or several joined by `+`, the last on top.
    pub fn overlay(mut self, design: impl Into<String>) -> Self {
        self.overlays.push(design.into());
        self
    }

    /// Without the designs; settings stay.
    pub(super) fn without_designs(&self) -> Self {
        Self { overlays: Vec::new(), ..self.clone() }
    }

    /// Sets one value, as `path=value`, above all files.
    pub fn set(mut self, setting: impl Into<String>) -> Self {
        self.settings.push(setting.into());
        self
    }

    /// Sets values one after the other.
    pub fn set_all(self, settings: &[impl AsRef<str>]) -> Self {
        settings.iter().fold(self, |layers, setting| layers.set(setting.as_ref()))
    }

    /// The usual machine of tests, with these settings.
    #[cfg(test)]
    pub(crate) fn h100(settings: &[&str]) -> Resolved {
        Self::new("h100-nvl-tdx").set_all(settings).resolve().unwrap()
    }

    /// Reads everything and fills a machine.
    pub fn resolve(&self) -> Result<Resolved, Refusal> {
        self.machine_stack()?.fill()
    }

    /// All layers of a machine, laid but not filled.
    pub(super) fn machine_stack(&self) -> Result<Stack, Refusal> {
        self.stack(source::find(Role::Machine, &self.machine)?)
    }

    /// Reads everything and fills an engine of any AEAD: a shipped one, or a file with a table `engine` or `aead`, else that of a machine.
    pub fn resolve_standalone(&self) -> Result<EngineSpec, Refusal> {
        engine_in(&self.standalone_stack()?)
    }

    /// An engine that stands alone, with its parameters; none if the layers are a machine's, or no file of this name has an engine.
    pub fn describe_standalone(&self) -> Result<Option<DescribedEngine>, Refusal> {
        // What is shipped as a machine need not be laid to know.
        if Shipped::find(Role::Machine, &self.machine).is_some() && !Path::new(&self.machine).is_file() {
            return Ok(None);
        }
        let Ok(stack) = self.standalone_stack() else { return Ok(None) };
        let has = |table| stack.values.at(table).is_some();
        if has("link") || has("copy_engine") || !(has("engine") || has("aead")) {
            return Ok(None);
        }
        let engine = engine_in(&stack)?;
        let table = if engine.gcm().is_some() { "engine" } else { "aead" };
        let (parameters, switches) = take_stock(&stack.values, &json!({ table: &engine }), &mut |_, _| ());
        let label = |at| stack.values.at(at).and_then(Node::text).unwrap_or(&self.machine).to_owned();
        let [name, summary] = LABELS.map(label);
        Ok(Some(DescribedEngine { name, summary, layers: stack.names, table, engine, parameters, switches }))
    }

    fn standalone_stack(&self) -> Result<Stack, Refusal> {
        let shipped = |role: &Role| Shipped::find(*role, &self.machine).is_some();
        let role = [Role::Machine, Role::Aead].into_iter().find(shipped).unwrap_or(Role::Engine);
        self.stack(source::find(role, &self.machine)?)
    }

    /// The designs one by one, the lowest first. A file may have a `+` in its name.
    fn designs(&self) -> Result<Vec<&str>, Refusal> {
        let mut designs = Vec::new();
        for stacked in &self.overlays {
            if Path::new(stacked).is_file() || !stacked.contains('+') {
                designs.push(stacked.as_str());
                continue;
            }
            let parts = stacked.split('+').map(str::trim);
            if parts.clone().any(str::is_empty) {
                let error = refusal(&Wrong::Joined { text: stacked.clone() });
                return Err(error.remedy("write for example direct+overlap"));
            }
            designs.extend(parts);
        }
        Ok(designs)
    }

    /// Lays everything on what `lowest` is.
    fn stack(&self, lowest: Arc<Source>) -> Result<Stack, Refusal> {
        let mut stack =
            Stack { values: Node::empty(), names: Vec::new(), designs: Vec::new(), fitted_to: BTreeSet::new() };
        for layer in with_lower(lowest)? {
            stack.lay(layer)?;
        }
        if let Some(on) = self.confidential_computing {
            stack.lay(Layer::set(&format!("confidential_computing={on}"))?)?;
        }
        self.designs()?.into_iter().try_for_each(|name| stack.lay_design(name))?;
        self.settings.iter().try_for_each(|setting| stack.lay(Layer::set(setting)?))?;
        Ok(stack)
    }
}

/// A standalone engine, for people to read.
#[derive(Debug, Clone)]
pub struct DescribedEngine {
    pub name: String,
    /// What it is, in a sentence.
    pub summary: String,
    /// The files and settings it was filled from, the lowest first.
    pub layers: Vec<String>,
    /// The table that holds it: `engine` or `aead`.
    pub table: &'static str,
    pub engine: EngineSpec,
    pub parameters: Vec<Parameter>,
    /// Each of its `true` and `false`, by path.
    pub switches: Vec<(String, bool)>,
}

impl DescribedEngine {
    /// As one TOML file that needs no other.
    pub fn to_toml(&self) -> Result<String, Refusal> {
        let provenance = provenance_of(&self.parameters);
        let Self { name, summary, table, engine, .. } = self;
        to_toml(json!({ "name": name, "summary": summary, *table: engine, "provenance": provenance }))
    }
}

/// The engine that layers hold.
fn engine_in(stack: &Stack) -> Result<EngineSpec, Refusal> {
    let chain = stack.names.iter().rev().map(String::as_str).collect::<Vec<_>>().join(" over ");
    match (stack.values.at("engine"), stack.values.at("aead")) {
        (Some(engine), None) => {
            let spec: GcmSpec = fill(engine, "engine", &chain)?;
            spec.check().map_err(|error| senseless("engine", error.to_string()))?;
            Ok(EngineSpec::Gcm(spec))
        }
        // A machine has both, and the other AEAD stands in the engine's place.
        (Some(_), Some(aead)) if stack.values.at("copy_engine").is_none() => {
            let error =
                senseless("aead", "an engine has AES-GCM, in `[engine]`, or another AEAD, in `[aead]`".to_owned());
            Err(error.at(aead.place.as_ref()).remedy("remove one of the two tables"))
        }
        (_, Some(aead)) => {
            let spec: AeadSpec = fill(aead, "aead", &chain)?;
            spec.model().check().map_err(|error| senseless("aead", error.to_string()))?;
            Ok(EngineSpec::Other(spec))
        }
        (None, None) => {
            let error = refusal(&Wrong::Missing { path: "engine".into(), chain });
            Err(error.remedy("an engine is a table `[engine]`, as in hw-configs/engines/folded-8.toml"))
        }
    }
}

fn senseless(path: &str, reason: String) -> Refusal {
    refusal(&Wrong::Senseless { path: path.to_owned(), reason })
}

fn fill<T: DeserializeOwned>(table: &Node, path: &str, chain: &str) -> Result<T, Refusal> {
    let shape = Shape::machine().field(path, None).unwrap_or(Shape::machine());
    examine(table, shape, path, &Layered(chain)).result()?;
    serde_json::from_value(table.to_json()).map_err(|error| senseless(path, error.to_string()))
}

/// The most files that one may lie on, itself among them.
const MOST_FILES: usize = 64;

/// A file and all that it extends, the lowest first.
fn with_lower(top: Arc<Source>) -> Result<Vec<Layer>, Refusal> {
    let mut layers = vec![Layer::read(top)?];
    while let Some((name, place)) = layers.last().and_then(|layer| layer.extends.clone()) {
        let Some(from) = layers.last().map(|layer| Arc::clone(&layer.source)) else { break };
        let lower = source::find_beside(&from, &name, place.as_ref())?;
        if layers.iter().any(|layer| layer.source.origin == lower.origin) {
            let names = layers.iter().map(|layer| layer.source.name.as_str()).chain([lower.name.as_str()]);
            let chain = names.collect::<Vec<_>>().join(" -> ");
            let error = refusal(&Wrong::Cycle { chain }).at(place.as_ref());
            return Err(error.remedy("one of these files must stand on its own"));
        }
        if layers.len() == MOST_FILES {
            let error = refusal(&Wrong::Deep { most: MOST_FILES }).at(place.as_ref());
            return Err(error.remedy("put what they say into fewer files"));
        }
        layers.push(Layer::read(lower)?);
    }
    layers.reverse();
    Ok(layers)
}

/// Takes a design's own name and summary out of its layers, so that they do not rename the machine.
fn take_labels(layers: &mut [Layer], asked_for: &str) -> Design {
    let mut design = Design { name: asked_for.to_owned(), summary: String::new() };
    for layer in layers {
        let Value::Table(table) = &mut layer.values.value else { continue };
        let [name, summary] =
            LABELS.map(|label| table.remove(label).and_then(|entry| entry.node.text().map(str::to_owned)));
        design.name = name.unwrap_or(design.name);
        design.summary = summary.unwrap_or(design.summary);
    }
    design
}

/// The layers laid so far.
#[derive(Debug, Clone)]
pub(super) struct Stack {
    pub values: Node,
    /// The sources, the lowest first.
    pub names: Vec<String>,
    pub designs: Vec<Design>,
    /// Digests of the points that any layer was fitted to.
    pub fitted_to: BTreeSet<String>,
}

impl Stack {
    /// Its values, with those that follow from others.
    pub fn completed(&self) -> Result<Node, Refusal> {
        let mut values = self.values.clone();
        complete(&mut values);
        library::complete(&mut values)?;
        rates::settle(&mut values);
        Ok(values)
    }

    pub fn fill(&self) -> Result<Resolved, Refusal> {
        let values = self.completed()?;
        let mut resolved = Resolved::fill(&values, self.designs.clone(), self.names.clone())?;
        resolved.fitted_to.clone_from(&self.fitted_to);
        Ok(resolved)
    }

    pub fn lay_design(&mut self, name: &str) -> Result<(), Refusal> {
        let mut layers = with_lower(source::find(Role::Design, name)?)?;
        self.designs.push(take_labels(&mut layers, name));
        layers.into_iter().try_for_each(|layer| self.lay(layer))
    }

    pub fn lay(&mut self, layer: Layer) -> Result<(), Refusal> {
        let name = match &layer.source.name {
            name if name == "--set" => format!("--set {}", layer.source.text),
            name => name.clone(),
        };
        self.names.push(name);
        self.fitted_to.extend(layer.fitted_to);
        library::overrule(&mut self.values, &layer.values);
        merge(&mut self.values, layer.values, Some(Shape::machine()));
        // A table's statement comes before those of its fields, which are the more specific.
        let (tables, fields): (Vec<_>, Vec<_>) = layer.origins.into_iter().partition(|stated| stated.whole_table);
        for stated in tables {
            self.state_table(&stated, &layer.source)?;
        }
        fields.into_iter().try_for_each(|stated| self.state_field(stated))
    }

    /// One provenance for all fields of a table that this layer has set.
    fn state_table(&mut self, stated: &Stated, source: &Arc<Source>) -> Result<(), Refusal> {
        let node = self.values.at_mut(&stated.path).ok_or_else(|| no_value(stated))?;
        state_all(node, &stated.provenance, source);
        Ok(())
    }

    fn state_field(&mut self, stated: Stated) -> Result<(), Refusal> {
        let node = self.values.at_mut(&stated.path).ok_or_else(|| no_value(&stated))?;
        check_range(node, &stated)?;
        node.provenance = Some(stated.provenance);
        Ok(())
    }
}

fn no_value(stated: &Stated) -> Refusal {
    let reason = "no layer so far gives the field a value".to_owned();
    refusal(&Wrong::Provenance { path: stated.path.clone(), reason })
        .at(stated.place.as_ref())
        .remedy("give the value beside it, or remove the provenance")
}

fn state_all(node: &mut Node, provenance: &Provenance, source: &Arc<Source>) {
    match &mut node.value {
        Value::Table(table) => {
            table.values_mut().for_each(|entry| state_all(&mut entry.node, provenance, source));
        }
        _ if node.place.as_ref().is_some_and(|place| Arc::ptr_eq(&place.source, source)) => {
            node.provenance = Some(provenance.clone());
        }
        _ => {}
    }
}

/// Holds a value against the range that its provenance states.
fn check_range(node: &Node, stated: &Stated) -> Result<(), Refusal> {
    let Provenance { low, high, .. } = &stated.provenance;
    if low.is_none() && high.is_none() {
        return Ok(());
    }
    let shape = Shape::machine().at(&stated.path);
    let wrong =
        |reason: String| refusal(&Wrong::Provenance { path: stated.path.clone(), reason }).at(stated.place.as_ref());
    let read = |text: &str| match shape {
        Some(Shape::Quantity(kind)) => kind.parse(text).map(i128::from).map_err(|error| error.to_string()),
        Some(Shape::Integer { .. }) => text.parse().map_err(|_| format!("`{text}` is not an integer")),
        _ => Err("only numbers have a range".to_owned()),
    };
    let value = match &node.value {
        Value::Text(text) => read(text).ok(),
        Value::Integer(integer) => Some(*integer),
        _ => None,
    };
    for (name, bound, is_low) in [("low", low, true), ("high", high, false)] {
        let Some(text) = bound else { continue };
        let bound = read(text)
            .map_err(|reason| wrong(format!("`{name}`: {reason}")).remedy("a bound is written as the value is"))?;
        let outside = |value: i128| if is_low { value < bound } else { value > bound };
        if value.is_some_and(outside) {
            let place = node.place.as_ref().map_or("", Place::text);
            let side = if is_low { "below" } else { "above" };
            let reason = format!("the value {place} is {side} its own `{name}`, {text}");
            return Err(wrong(reason).remedy("a value must lie in its range"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::provenance::Kind;
    use crate::gcm::spec::GhashSpec;
    use std::fs;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::create_dir_all(folder.path().join(name).parent().unwrap()).unwrap();
            fs::write(folder.path().join(name), text).unwrap();
        }
        folder
    }

    fn in_folder(folder: &tempfile::TempDir, name: &str) -> String {
        folder.path().join(name).display().to_string()
    }

    #[test]
    fn later_layers_win_and_the_rest_stays() {
        let below = Layers::new("h100-nvl-tdx").resolve().unwrap();
        let above = Layers::new("h100-nvl-tdx")
            .overlay("by-page")
            .set("driver.pinned.push=1 MiB")
            .set("driver.pinned.push=\"512 KiB\"")
            .resolve()
            .unwrap();
        assert_eq!(above.machine.driver.pinned.message.0, 4 << 10);
        assert_eq!(above.machine.driver.pinned.push.0, 512 << 10);
        assert_eq!(above.machine.driver.pageable.push.0, 2 << 20);
        assert_eq!(above.machine.link, below.machine.link);
        assert_eq!(above.layers.last().unwrap(), "--set driver.pinned.push=\"512 KiB\"");
    }

    #[test]
    fn a_table_whose_tag_changes_is_replaced_and_another_merges() {
        let serial = Layers::new("h100-nvl-tdx").overlay("serial-ghash").resolve().unwrap();
        assert!(matches!(serial.machine.engine.ghash, GhashSpec::Serial { .. }));
        assert!(serial.parameter("engine.ghash.width").is_none());
        let wider = Layers::new("h100-nvl-tdx").set("engine.ghash.groups=8").resolve().unwrap();
        assert!(matches!(wider.machine.engine.ghash, GhashSpec::Aggregated { width: 4, groups: 8, .. }));
        let same_tag =
            Layers::new("h100-nvl-tdx").set("engine.ghash={design=\"aggregated\",width=2}").resolve().unwrap();
        assert!(matches!(same_tag.machine.engine.ghash, GhashSpec::Aggregated { width: 2, groups: 4, .. }));
    }

    #[test]
    fn designs_joined_by_plus_are_laid_one_by_one() {
        let machine = |layers: Layers| layers.resolve().map(|resolved| resolved.machine);
        let below = || Layers::new("h100-nvl-tdx");
        let apart = machine(below().overlay("direct").overlay("overlap")).unwrap();
        assert_eq!(machine(below().overlay("direct + overlap")).unwrap(), apart);
        for bad in ["direct+", "+direct", "direct++overlap", "+"] {
            let error = machine(below().overlay(bad)).unwrap_err();
            assert!(error.is("config::joined"), "{bad}: {error}");
        }
        let folder = folder(&[("one+two.toml", "[copy_engine]\npces_secure = 2\n")]);
        assert_eq!(machine(below().overlay(in_folder(&folder, "one+two.toml"))).unwrap().copy_engine.pces_secure, 2);
    }

    #[test]
    fn a_switch_of_the_machine_lies_below_designs_and_settings() {
        let on = |layers: Layers| layers.resolve().unwrap().machine.confidential_computing;
        assert!(!on(Layers::new("h100-nvl-tdx").confidential_computing(false)));
        assert!(on(Layers::new("h100-sxm5-off").confidential_computing(true)));
        assert!(!on(Layers::new("h100-nvl-tdx").confidential_computing(true).overlay("off")));
        assert!(on(Layers::new("h100-nvl-tdx").confidential_computing(false).set("confidential_computing=true")));
    }

    #[test]
    fn a_design_does_not_rename_the_machine() {
        let resolved = Layers::new("h100-nvl-tdx").overlay("hold").overlay("by-page").resolve().unwrap();
        assert_eq!(resolved.machine.name, "h100-nvl-tdx");
        assert_eq!(resolved.name(), "h100-nvl-tdx+hold+by-page");
    }

    #[test]
    fn extends_is_relative_to_the_file_that_says_it() {
        let folder = folder(&[
            ("base.toml", "extends = \"h100-nvl-tdx\"\nname = \"base\"\n[link]\nread_tags = 256\n"),
            ("deep/top.toml", "extends = \"../base.toml\"\nname = \"top\"\n"),
            ("deep/base.toml", "name = \"the wrong one\"\n"),
        ]);
        let resolved = Layers::new(in_folder(&folder, "deep/top.toml")).resolve().unwrap();
        assert_eq!((resolved.machine.name.as_str(), resolved.machine.link.read_tags), ("top", 256));
    }

    #[test]
    fn a_value_without_provenance_of_its_own_loses_the_one_below() {
        let folder = folder(&[("top.toml", "extends = \"h100-nvl-tdx\"\n[link]\nflight = \"99 cycles\"\n")]);
        let resolved = Layers::new(in_folder(&folder, "top.toml")).set("cpu.clock=3GHz").resolve().unwrap();
        let provenance = |path: &str| resolved.parameter(path).unwrap().provenance.clone();
        assert_eq!(provenance("link.flight").kind, Kind::User);
        assert!(provenance("link.flight").source.ends_with("top.toml"));
        assert_eq!(provenance("link.flight").low, None);
        assert_eq!(provenance("cpu.clock").source, "--set cpu.clock=3GHz");
        assert_eq!(provenance("link.lanes").kind, Kind::Documented);
    }

    #[test]
    fn a_statement_on_a_table_covers_the_fields_that_its_layer_sets() {
        let text = "extends = \"h100-nvl-tdx\"\n[link]\nflight = \"99 cycles\"\nlanes = 16\n\
                    [provenance.link]\nkind = \"calibrated\"\nsource = \"all\"\n\
                    lanes = { kind = \"measured\", source = \"one\" }\n";
        let folder = folder(&[("top.toml", text)]);
        let resolved = Layers::new(in_folder(&folder, "top.toml")).resolve().unwrap();
        let kind = |path: &str| resolved.parameter(path).unwrap().provenance.kind;
        assert_eq!(kind("link.flight"), Kind::Calibrated);
        assert_eq!(kind("link.lanes"), Kind::Measured);
        assert_eq!(kind("link.replay_timer"), Kind::Assumed);
    }

    #[test]
    fn a_setting_is_toml_where_it_can_be_and_text_where_not() {
        let set = |setting: &str| Layers::new("h100-nvl-tdx").set(setting).resolve().map(|one| one.machine);
        assert!(set("link.ecrc = true").unwrap().link.ecrc);
        assert_eq!(set("link.read_tags=0x1_00").unwrap().link.read_tags, 256);
        assert_eq!(set("name=my machine").unwrap().name, "my machine");
        assert_eq!(set("name='4'").unwrap().name, "4");
        assert_eq!(set("link.host_credits={posted_headers=64}").unwrap().link.host_credits.posted_headers, 64);
        for bad in ["", "=", "link.=3", ".link=3", "link.lanes=", "extends=x", "provenance.link.flight.kind=user"] {
            assert!(set(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_engine_of_a_machine_with_another_aead_is_that_aeads() {
        let engine =
            Layers::new("h100-nvl-tdx").overlay("aegis-256x2").set("aead.tag=32 B").resolve_standalone().unwrap();
        let EngineSpec::Other(AeadSpec::Aegis256(spec)) = engine else { panic!("{engine:?}") };
        assert_eq!((spec.lanes, spec.tag_bytes()), (2, 32));
        assert!(matches!(Layers::new("h100-nvl-tdx").resolve_standalone(), Ok(EngineSpec::Gcm(_))));
    }

    #[test]
    fn every_error_has_a_remedy_or_a_place() {
        for bad in ["link.lanes=1.5", "name=3", "link.flight=[1]", "tag_queue.release=4", "link.lanes=1979-05-27"] {
            let error = Layers::new("h100-nvl-tdx").set(bad).resolve().unwrap_err();
            let place = error.place().unwrap();
            assert_eq!(place.line_and_column(), (1, bad.find('=').unwrap() + 2), "{bad}: {error}");
            assert!(error.is("config::wrong_type"), "{bad}: {error}");
        }
    }
}
