//! A stage file: what is fitted to what, in which order.
//!
//! ```toml
//! config = "h100-nvl-tdx"
//!
//! [[stage]]
//! name = "submission"
//! parameters = [{ path = "driver.push", low = "500 cycles", high = "4300 cycles" }]
//! points = [{ dataset = "p1-bandwidth", mode = "off", host_memory = "pinned", bytes = ["64 B", "1 KiB"] }]
//! ```
//!
//! A stage starts from the values of the configuration and of the stages before it, or from `start`. Bounds that are left out are those
//! of the parameter's provenance, unless that is of an earlier calibration, whose range is a result and no bound.

use super::fit::Variable;
use crate::{
    config::{Document, Kind, Refusal, Resolved},
    files::excerpt,
    units::KINDS,
    validate::{catalogue::Dataset, class::Class, measured::Point, selector::Selector},
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value as Json;
use std::collections::HashSet;

const DOCUMENT: Document = Document {
    room: "stages",
    tables: &[
        ("", "a stage file"),
        ("stage", "a stage"),
        ("parameters", "a parameter"),
        ("points", "a selection of points"),
    ],
    examples: &[
        ("stage", "a table [[stage]]"),
        ("name", "name = \"submission\""),
        ("path", "path = \"driver.push\""),
        ("dataset", "dataset = \"p1-bandwidth\""),
    ],
    help: "docs/validation.md has examples",
};

#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct StageFile {
    pub config: Option<String>,
    #[serde(rename = "stage")]
    pub stages: Vec<Stage>,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct Stage {
    pub name: String,
    pub parameters: Vec<Bounds>,
    pub points: Vec<Selection>,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct Bounds {
    pub path: String,
    /// Parameters of the same kind that take its value.
    #[serde(default)]
    pub with: Vec<String>,
    /// Least value, written as in a configuration.
    #[schemars(with = "Option<Json>")]
    pub low: Option<toml::Value>,
    #[schemars(with = "Option<Json>")]
    pub high: Option<toml::Value>,
    /// Where to start, if not from the machine's own value.
    #[schemars(with = "Option<Json>")]
    pub start: Option<toml::Value>,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct Selection {
    pub dataset: String,
    #[serde(flatten)]
    pub selector: Selector,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tuned {
    pub path: String,
    /// Paths that take the same value.
    pub with: Vec<String>,
    /// What it is, as [`crate::config::Parameter`] says.
    pub unit: &'static str,
    /// Start and bounds in base units.
    pub variable: Variable,
}

impl StageFile {
    /// Reads a text that messages call `name`.
    pub fn read(name: &str, text: &str) -> Result<Self, Refusal> {
        let file: Self = DOCUMENT.read(name, text)?;
        let mut names = HashSet::new();
        for stage in &file.stages {
            if !names.insert(&stage.name) {
                return Err(stage.wrong("there are two of this name", "names tell stages apart"));
            }
        }
        Ok(file)
    }
}

impl Stage {
    fn wrong(&self, what: &str, remedy: &str) -> Refusal {
        self.told(what).remedy(excerpt(remedy, 500))
    }

    fn told(&self, what: &str) -> Refusal {
        DOCUMENT.refused("stage", format!("stage `{}`: {}", excerpt(&self.name, 80), excerpt(what, 300)))
    }

    /// Its points, each once. Points that errors are stated over must not be fitted to.
    pub fn points<'d>(&self, datasets: &'d [Dataset]) -> Result<Vec<&'d Point>, Refusal> {
        let (mut chosen, mut known): (Vec<&Point>, _) = (Vec::new(), HashSet::new());
        for selection in &self.points {
            let name = &selection.dataset;
            let unknown = || {
                let names: Vec<_> = datasets.iter().map(|dataset| dataset.name.as_str()).collect();
                self.wrong(&format!("there is no data set `{name}`"), &format!("there is {}", names.join(", ")))
            };
            let dataset = datasets.iter().find(|dataset| dataset.name == *name).ok_or_else(unknown)?;
            let selected = dataset.select(&selection.selector).map_err(|error| self.told(&error.to_string()))?;
            for (point, class) in selected.into_iter().map(|place| &dataset.points[place]) {
                if *class != Class::Fitted {
                    let what = format!("{name}: {} is {}", point.label, class.name());
                    return Err(self.wrong(&what, "validation/datasets.toml says which points may be fitted to"));
                }
                if known.insert(std::ptr::from_ref(point)) {
                    chosen.push(point);
                }
            }
        }
        if chosen.len() < self.parameters.len() {
            let what = format!("{} points cannot determine {} parameters", chosen.len(), self.parameters.len());
            return Err(self.wrong(&what, "select more points, or fit fewer parameters"));
        }
        Ok(chosen)
    }

    /// Its parameters, from where a machine has them.
    pub fn parameters(&self, machine: &Resolved) -> Result<Vec<Tuned>, Refusal> {
        if self.parameters.is_empty() {
            return Err(self.wrong("no parameters", "name at least one by its path"));
        }
        self.parameters.iter().map(|bounds| self.parameter(bounds, machine)).collect()
    }

    fn parameter(&self, bounds: &Bounds, machine: &Resolved) -> Result<Tuned, Refusal> {
        let path = &bounds.path;
        let unknown = || self.wrong(&format!("there is no parameter `{path}`"), "`sealsim describe` lists them");
        let parameter = machine.parameter(path).ok_or_else(unknown)?;
        let number = || self.wrong(&format!("`{path}` is no number"), "only numbers can be fitted");
        let own = parameter.amount.ok_or_else(number)?;
        let read = |name: &str, given: &toml::Value| {
            let text = given.as_str().map_or_else(|| given.to_string(), str::to_owned);
            let wrong =
                |why: String| self.wrong(&format!("`{path}`, `{name}`: {why}"), "write it as the value is written");
            amount(parameter.unit, &text).map_err(wrong)
        };
        let bound = |name: &str, given: &Option<toml::Value>, stated: &Option<String>| {
            let missing = || {
                let what = format!("`{path}` has no `{name}`");
                self.wrong(&what, "its provenance states no bound of its own either: write one in the stage file")
            };
            let fitted = parameter.provenance.kind == Kind::Calibrated;
            let stated = stated.clone().filter(|_| !fitted).map(toml::Value::String);
            read(name, given.as_ref().or(stated.as_ref()).ok_or_else(missing)?)
        };
        let low = bound("low", &bounds.low, &parameter.provenance.low)?;
        let high = bound("high", &bounds.high, &parameter.provenance.high)?;
        let start = bounds.start.as_ref().map_or(Ok(own), |start| read("start", start))?;
        if low >= high || !(low..=high).contains(&start) {
            let what = format!("`{path}` starts outside of its bounds");
            return Err(self.wrong(&what, "write bounds that hold the value to start from, or another `start`"));
        }
        Ok(Tuned {
            path: path.clone(),
            with: bounds.with.clone(),
            unit: parameter.unit,
            variable: Variable { start, low, high },
        })
    }
}

/// The kind of quantity that a parameter is; none for bare numbers.
fn kind(unit: &str) -> Option<&'static crate::units::Kind> {
    KINDS.iter().map(|known| known.1).find(|kind| kind.what.strip_prefix("a ").unwrap_or(kind.what) == unit)
}

fn amount(unit: &str, text: &str) -> Result<i128, String> {
    match kind(unit) {
        Some(kind) => kind.parse(text).map(i128::from).map_err(|error| error.to_string()),
        None => text.parse().map_err(|_| format!("`{text}` is no whole number")),
    }
}

impl Tuned {
    /// All paths that take its value.
    pub fn paths(&self) -> impl Iterator<Item = &String> {
        std::iter::once(&self.path).chain(&self.with)
    }

    /// A value as a configuration writes it.
    pub fn text(&self, value: i128) -> String {
        let base = u64::try_from(value).unwrap_or(0);
        kind(self.unit).map_or_else(|| value.to_string(), |kind| kind.print(base))
    }

    /// Whether it is written without a unit.
    pub fn is_bare(&self) -> bool {
        kind(self.unit).is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{config::Layers, validate::catalogue::Catalogue};

    fn stage(parameters: &str, points: &str) -> Stage {
        let text = format!("[[stage]]\nname = \"s\"\nparameters = [{parameters}]\npoints = [{points}]\n");
        StageFile::read("stages", &text).unwrap().stages.remove(0)
    }

    #[test]
    fn a_parameter_starts_from_the_machine_and_is_written_as_there() {
        let machine = Layers::new("h100-nvl-tdx").resolve().unwrap();
        let tuned = |text: &str| stage(text, "").parameters(&machine).map_err(|error| error.to_string());
        let variable = |start, low, high| Variable { start, low, high };
        let own = |path: &str| machine.parameter(path).unwrap().amount.unwrap();
        let rate = &tuned("{ path = 'cipher.seal_rate', low = '1 B/cycle', high = '1.7 B/cycle' }").unwrap()[0];
        assert_eq!(rate.variable, variable(own("cipher.seal_rate"), 1000, 1700));
        assert_eq!((rate.text(1234), rate.is_bare()), ("1.234 B/cycle".to_owned(), false));
        let count = &tuned("{ path = 'copy_engine.outstanding_reads', low = 30, high = 256 }").unwrap()[0];
        let reads = variable(own("copy_engine.outstanding_reads"), 30, 256);
        assert_eq!((count.variable, count.is_bare()), (reads, true));
        for (text, phrase) in [
            ("{ path = 'driver.pushh' }", "no parameter `driver.pushh`"),
            ("{ path = 'tag_queue.release' }", "no number"),
            ("{ path = 'link.lanes' }", "no `low`"),
            ("{ path = 'driver.push', low = '1 cycle', high = '2 cycles' }", "outside of its bounds"),
            ("{ path = 'driver.push', low = 9, high = '1 cycle' }", "no unit"),
            (
                "{ path = 'driver.push', low = '1 cycle', high = '2 cycles', start = '9 ms' }",
                "`start`: `ms` is not a unit",
            ),
        ] {
            let error = tuned(text).unwrap_err();
            assert!(error.contains(phrase), "{text}: {error}");
        }
    }

    #[test]
    fn a_bound_that_is_left_out_is_that_of_the_provenance() {
        let mut machine = Layers::new("h100-nvl-tdx").resolve().unwrap();
        let own = machine.parameters.iter_mut().find(|parameter| parameter.path == "driver.push").unwrap();
        let bound = |text: &str| Some(text.to_owned());
        (own.provenance.kind, own.provenance.low, own.provenance.high) =
            (Kind::Assumed, bound("3 cycles"), bound("1 MiB"));
        let tuned = |text: &str| stage(text, "").parameters(&machine);
        assert!(tuned("{ path = 'driver.push' }").is_err(), "no size is a bound of cycles");
        let tuned = tuned("{ path = 'driver.push', high = '9 cycles', start = '4 cycles' }").unwrap();
        assert_eq!(tuned[0].variable, Variable { start: 4, low: 3, high: 9 });
    }

    #[test]
    fn the_range_of_an_earlier_calibration_is_no_bound() {
        let mut machine = Layers::new("h100-nvl-tdx").resolve().unwrap();
        let own = machine.parameters.iter_mut().find(|parameter| parameter.path == "driver.push").unwrap();
        own.provenance.kind = Kind::Calibrated;
        let tuned = |text: &str| stage(text, "").parameters(&machine);
        assert!(tuned("{ path = 'driver.push' }").is_err());
        let stated = "{ path = 'driver.push', low = '1 cycle', high = '10 cycles', start = '5 cycles' }";
        assert_eq!(tuned(stated).unwrap()[0].variable, Variable { start: 5, low: 1, high: 10 });
    }

    #[test]
    fn points_that_are_held_out_or_informed_are_refused() {
        let datasets = Catalogue::shipped().unwrap().datasets;
        let points =
            |text: &str| stage("", text).points(&datasets).map(|points| points.len()).map_err(|e| e.to_string());
        let twice = "{ dataset = 'p1-bandwidth', mode = 'off', bytes = 64 }";
        assert_eq!(points(&format!("{twice}, {twice}")), Ok(5));
        for (text, phrase) in [
            ("{ dataset = 'p1-bandwidth', mode = 'cc', bytes = 128 }", "cc pinned h2d 128 B is held out"),
            ("{ dataset = 'p1-overlap', mode = 'cc' }", " is informed"),
            ("{ dataset = 'p3' }", "no data set `p3`"),
            ("{ dataset = 'p1-api', size = 3 }", "by `size`"),
        ] {
            let error = points(text).unwrap_err();
            assert!(error.contains(phrase), "{text}: {error}");
        }
    }

    #[test]
    fn a_file_of_another_shape_is_refused_with_its_line() {
        for text in ["", "[[stage]]\nname = 1", "stage = [", "[[stage]]\nname='a'\nparameters=[]\npoints=[]\nmore=1"] {
            assert!(StageFile::read("stages", text).unwrap_err().place().is_some(), "{text}");
        }
    }
}
