//! Which verb a JSON is of, and whether it has what a page draws.

use super::{
    PageError,
    timeline::{CopySpan, Timeline},
};
use crate::{
    files::{excerpt, parse_json},
    report::SCHEMA_VERSION,
};
use serde::{Deserialize, Serialize, de::IgnoredAny};
use serde_json::Value;
use std::collections::BTreeMap;

crate::units::named! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Kind {
        /// `sealsim run` and `rerun`.
        Run = "run",
        Compare = "compare",
        Sweep = "sweep",
        Replay = "replay",
        Validate = "validate",
        /// `sealsim faults --exhaustive single`.
        Faults = "faults",
    }
}

/// A JSON that was recognised.
pub struct Told {
    pub kind: Kind,
    pub title: String,
    pub timeline: Option<Timeline>,
}

/// Fields that results of a kind have, and no others have together.
const FIELDS: [(Kind, &[&str]); 7] = [
    (Kind::Run, &["copies", "units", "simulated_ps"]),
    (Kind::Compare, &["designs", "sizes_bytes"]),
    (Kind::Compare, &["designs", "workload"]),
    (Kind::Replay, &["runs", "breakdown"]),
    (Kind::Validate, &["datasets"]),
    (Kind::Sweep, &["study", "columns", "rows"]),
    (Kind::Faults, &["stated", "words", "by_sort", "by_point"]),
];

impl Kind {
    fn of(value: &Value) -> Result<Self, PageError> {
        let unknown = |what: String| PageError::Unknown(what);
        let fields = value.as_object().ok_or_else(|| unknown("it is not an object".into()))?;
        let all = |names: &&[&str]| names.iter().all(|name| fields.contains_key(*name));
        let Some((kind, _)) = FIELDS.iter().find(|(_, names)| all(names)) else {
            if let Some(text) = value.pointer("/error/text").and_then(Value::as_str) {
                return Err(PageError::FailedRun(excerpt(text, 200).to_string()));
            }
            let names: Vec<_> = fields.keys().take(8).map(String::as_str).collect();
            return Err(unknown(match names.as_slice() {
                [] => "it is an object without fields".into(),
                names => format!("its fields are {}", excerpt(&names.join(", "), 200)),
            }));
        };
        match fields.get("schema_version").and_then(Value::as_u64) {
            Some(found) if found != u64::from(SCHEMA_VERSION) => {
                Err(PageError::OtherVersion { found, known: SCHEMA_VERSION })
            }
            _ => Ok(*kind),
        }
    }
}

/// Tells what a JSON is, and checks what a page draws of it.
pub fn told(json: &str) -> Result<Told, PageError> {
    let kind = Kind::of(&parse_json(json).map_err(PageError::not_json)?)?;
    let malformed = |error: serde_json::Error| PageError::Malformed { verb: kind.name(), reason: error.to_string() };
    let (title, timeline) = match kind {
        Kind::Run => {
            let run: Run = serde_json::from_str(json).map_err(malformed)?;
            (run.title(), Some(run.timeline()))
        }
        Kind::Compare => (serde_json::from_str::<Compare>(json).map_err(malformed)?.title(), None),
        Kind::Sweep => (format!("sweep {}", serde_json::from_str::<Sweep>(json).map_err(malformed)?.study), None),
        Kind::Replay => (serde_json::from_str::<Replay>(json).map_err(malformed)?.title(), None),
        Kind::Validate => (serde_json::from_str::<Validate>(json).map_err(malformed)?.title(), None),
        Kind::Faults => (serde_json::from_str::<Faults>(json).map_err(malformed)?.title(), None),
    };
    Ok(Told { kind, title, timeline })
}

#[derive(Deserialize)]
struct Run {
    machine: String,
    simulated_ps: u64,
    copies: Vec<Copy>,
    #[serde(rename = "units")]
    _units: BTreeMap<String, Unit>,
}

#[derive(Deserialize)]
struct Copy {
    #[serde(default)]
    gpu: usize,
    direction: String,
    #[serde(rename = "bytes")]
    _bytes: u64,
    #[serde(default)]
    stream: Option<String>,
    start_ps: u64,
    end_ps: u64,
    limited_by_parts: Parts,
}

#[derive(Deserialize)]
struct Parts {
    #[serde(rename = "unit")]
    _unit: String,
    behind: Option<usize>,
}

#[derive(Deserialize)]
struct Unit {
    #[serde(rename = "cycles")]
    _cycles: u64,
    #[serde(rename = "busy")]
    _busy: u64,
    #[serde(rename = "idle")]
    _idle: u64,
    #[serde(rename = "stalls")]
    _stalls: BTreeMap<String, u64>,
}

impl Run {
    fn title(&self) -> String {
        let copies = match self.copies.len() {
            1 => "1 copy".to_owned(),
            count => format!("{count} copies"),
        };
        format!("{copies} on {}", self.machine)
    }

    fn timeline(&self) -> Timeline {
        let span = |copy: &Copy| CopySpan {
            gpu: copy.gpu,
            stream: copy.stream.clone(),
            direction: copy.direction.clone(),
            start_ps: copy.start_ps,
            end_ps: copy.end_ps,
            behind: copy.limited_by_parts.behind,
        };
        Timeline::of_copies(&self.copies.iter().map(span).collect::<Vec<_>>(), self.simulated_ps)
    }
}

#[derive(Deserialize)]
struct Compare {
    machine: String,
    #[serde(default)]
    workload: Option<String>,
    designs: Vec<Design>,
}

/// A design of either comparison: `compare` and `compare --workload` name different figures.
#[derive(Deserialize)]
#[serde(untagged)]
enum Design {
    Copies {
        #[serde(rename = "name")]
        _name: String,
        #[serde(rename = "copies")]
        _copies: Vec<ComparedCopy>,
    },
    Workload {
        #[serde(rename = "name")]
        _name: String,
        #[serde(rename = "time_ps")]
        _time_ps: u64,
    },
}

#[derive(Deserialize)]
struct ComparedCopy {
    #[serde(rename = "direction")]
    _direction: String,
    #[serde(rename = "bytes")]
    _bytes: u64,
    #[serde(rename = "time_ps")]
    _time_ps: u64,
}

impl Compare {
    fn title(&self) -> String {
        let what = self.workload.as_ref().map(|workload| format!(" with {workload}")).unwrap_or_default();
        let designs = match self.designs.len() {
            1 => "1 design".to_owned(),
            count => format!("{count} designs"),
        };
        format!("{designs} on {}{what}", self.machine)
    }
}

#[derive(Deserialize)]
struct Sweep {
    study: String,
    #[serde(rename = "columns")]
    _columns: Vec<IgnoredAny>,
    #[serde(rename = "rows")]
    _rows: Vec<Vec<IgnoredAny>>,
}

#[derive(Deserialize)]
struct Replay {
    machine: String,
    trace: String,
    #[serde(rename = "runs")]
    _runs: Vec<PlayedRun>,
    #[serde(rename = "breakdown")]
    _breakdown: Vec<Share>,
}

#[derive(Deserialize)]
struct PlayedRun {
    #[serde(rename = "name")]
    _name: String,
    #[serde(rename = "end_ns")]
    _end_ns: Option<u64>,
    #[serde(rename = "slowdown_over_off")]
    _slowdown: Option<f64>,
}

#[derive(Deserialize)]
struct Share {
    #[serde(rename = "cause")]
    _cause: String,
    #[serde(rename = "ns")]
    _ns: i64,
}

impl Replay {
    fn title(&self) -> String {
        format!("a profile ({}) played on {}", self.trace, self.machine)
    }
}

#[derive(Deserialize)]
struct Validate {
    datasets: Vec<Dataset>,
}

#[derive(Deserialize)]
struct Dataset {
    name: String,
    #[serde(rename = "values")]
    _values: Vec<Point>,
}

#[derive(Deserialize)]
struct Point {
    #[serde(rename = "label")]
    _label: String,
    #[serde(rename = "measured")]
    _measured: Option<f64>,
    #[serde(rename = "simulated")]
    _simulated: Option<f64>,
    #[serde(rename = "class")]
    _class: String,
}

impl Validate {
    fn title(&self) -> String {
        let names: Vec<_> = self.datasets.iter().map(|dataset| dataset.name.as_str()).collect();
        match names.as_slice() {
            [] | [_, _, _, _, ..] => format!("{} data sets, measured and simulated", names.len()),
            names => format!("{}, measured and simulated", names.join(", ")),
        }
    }
}

#[derive(Deserialize)]
struct Faults {
    machine: String,
    #[serde(rename = "stated")]
    _stated: Vec<String>,
    #[serde(rename = "words")]
    _words: Vec<[String; 2]>,
    #[serde(rename = "by_sort")]
    _by_sort: Vec<Strikes>,
    #[serde(rename = "by_point")]
    _by_point: Vec<Strikes>,
}

#[derive(Deserialize)]
struct Strikes {
    #[serde(rename = "point")]
    _point: String,
    #[serde(rename = "struck")]
    _struck: u64,
    #[serde(rename = "coverage")]
    _coverage: Option<[f64; 3]>,
}

impl Faults {
    fn title(&self) -> String {
        format!("every single fault of copies on {}", self.machine)
    }
}
