//! Which verb a JSON is of, and whether it has what a page draws: one table of shapes says both.

use super::{
    PageError,
    timeline::{CopySpan, Timeline},
};
use crate::{
    files::{excerpt, parse_json},
    report::SCHEMA_VERSION,
};
use serde::Serialize;
use serde_json::Value;

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

pub struct Told {
    pub kind: Kind,
    pub title: String,
    pub timeline: Option<Timeline>,
}

/// What a page needs a value to be.
#[derive(Debug, Clone, Copy)]
enum Shape {
    Any,
    Text,
    /// Without sign and fraction.
    Count,
    Integer,
    Number,
    /// If it is there, and not null.
    Maybe(&'static Self),
    Array(&'static Self),
    /// An object of such values, whatever their names.
    Map(&'static Self),
    Object(Fields),
}

use Shape::{Any, Array, Count, Integer, Map, Maybe, Number, Object, Text};

/// Fields that an object has, among others.
type Fields = &'static [(&'static str, Shape)];

/// What a page draws of results of each kind. No results of another kind have fields of all these names.
const KINDS: [(Kind, Fields); 7] = [
    (Kind::Run, &[("machine", Text), ("copies", Array(&COPY)), ("units", Map(&UNIT)), ("simulated_ps", Count)]),
    (
        Kind::Compare,
        &[
            ("machine", Text),
            ("sizes_bytes", Any),
            ("designs", Array(&Object(&[("name", Text), ("copies", Array(&COMPARED))]))),
        ],
    ),
    (
        Kind::Compare,
        &[("machine", Text), ("workload", Text), ("designs", Array(&Object(&[("name", Text), ("time_ps", Count)])))],
    ),
    (
        Kind::Replay,
        &[
            ("machine", Text),
            ("trace", Text),
            ("runs", Array(&PLAYED)),
            ("breakdown", Array(&Object(&[("cause", Text), ("ns", Integer)]))),
        ],
    ),
    (Kind::Validate, &[("datasets", Array(&Object(&[("name", Text), ("values", Array(&POINT))])))]),
    (Kind::Sweep, &[("study", Text), ("columns", Array(&Any)), ("rows", Array(&Array(&Any)))]),
    (
        Kind::Faults,
        &[
            ("machine", Text),
            ("stated", Array(&Text)),
            ("words", Array(&Array(&Text))),
            ("by_sort", Array(&STRIKES)),
            ("by_point", Array(&STRIKES)),
        ],
    ),
];
const COPY: Shape = Object(&[
    ("gpu", Maybe(&Count)),
    ("direction", Text),
    ("bytes", Count),
    ("stream", Maybe(&Text)),
    ("start_ps", Count),
    ("end_ps", Count),
    ("busiest", Object(&[("unit", Text), ("behind", Maybe(&Count))])),
]);
const UNIT: Shape = Object(&[("cycles", Count), ("busy", Count), ("idle", Count), ("stalls", Map(&Count))]);
const COMPARED: Shape = Object(&[("direction", Text), ("bytes", Count), ("time_ps", Count)]);
const PLAYED: Shape = Object(&[("name", Text), ("end_ns", Maybe(&Count)), ("slowdown_over_off", Maybe(&Number))]);
const POINT: Shape =
    Object(&[("label", Text), ("measured", Maybe(&Number)), ("simulated", Maybe(&Number)), ("class", Text)]);
const STRIKES: Shape = Object(&[("point", Text), ("struck", Count), ("coverage", Maybe(&Array(&Number)))]);

impl Shape {
    /// What is wrong with a value, behind the path to it.
    fn check(self, value: &Value) -> Result<(), String> {
        let expected = |is: bool, what: &str| is.then_some(()).ok_or_else(|| format!(": expected {what}"));
        match self {
            Any => Ok(()),
            Text => expected(value.is_string(), "text"),
            Count => expected(value.is_u64(), "a count"),
            Integer => expected(value.is_i64() || value.is_u64(), "an integer"),
            Number => expected(value.is_number(), "a number"),
            Maybe(_) if value.is_null() => Ok(()),
            Maybe(shape) => shape.check(value),
            Array(shape) => {
                let values = value.as_array().ok_or(": expected an array")?;
                let mut numbered = values.iter().enumerate();
                numbered.try_for_each(|(place, value)| shape.check(value).map_err(|why| format!("[{place}]{why}")))
            }
            Map(shape) => {
                let mut values = value.as_object().ok_or(": expected an object")?.iter();
                values.try_for_each(|(name, value)| shape.check(value).map_err(|why| format!(".{name}{why}")))
            }
            Object(fields) => {
                let values = value.as_object().ok_or(": expected an object")?;
                fields.iter().try_for_each(|(name, shape)| match (values.get(*name), shape) {
                    (None, Maybe(_)) => Ok(()),
                    (None, _) => Err(format!(": missing field `{name}`")),
                    (Some(value), shape) => shape.check(value).map_err(|why| format!(".{name}{why}")),
                })
            }
        }
    }
}

/// Tells what a JSON is, and checks what a page draws of it.
pub fn told(json: &str) -> Result<Told, PageError> {
    let value = parse_json(json).map_err(PageError::not_json)?;
    let (kind, fields) = recognised(&value)?;
    let malformed = |why: String| {
        let reason = excerpt(why.trim_start_matches(['.', ':', ' ']), 200).to_string();
        PageError::Malformed { verb: kind.name(), reason }
    };
    Object(fields).check(&value).map_err(malformed)?;
    Ok(Told { kind, title: title(kind, &value), timeline: (kind == Kind::Run).then(|| timeline(&value)) })
}

/// The kind of results, of this version, and what they must have.
fn recognised(value: &Value) -> Result<(Kind, Fields), PageError> {
    let unknown = |what: String| PageError::Unknown(what);
    let fields = value.as_object().ok_or_else(|| unknown("it is not an object".into()))?;
    let all = |names: Fields| names.iter().all(|(name, _)| fields.contains_key(*name));
    let Some(&known) = KINDS.iter().find(|(_, names)| all(names)) else {
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
        _ => Ok(known),
    }
}

/// The elements of a field that is an array.
fn elements<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    value[name].as_array().map_or(&[], Vec::as_slice)
}

fn title(kind: Kind, value: &Value) -> String {
    let text = |name: &str| value[name].as_str().unwrap_or_default();
    let counted = |name: &str, one: &str, many: &str| match elements(value, name).len() {
        1 => format!("1 {one}"),
        count => format!("{count} {many}"),
    };
    let machine = text("machine");
    match kind {
        Kind::Run => format!("{} on {machine}", counted("copies", "copy", "copies")),
        Kind::Compare => {
            let what = value["workload"].as_str().map_or_else(String::new, |workload| format!(" with {workload}"));
            format!("{} on {machine}{what}", counted("designs", "design", "designs"))
        }
        Kind::Sweep => format!("sweep {}", text("study")),
        Kind::Replay => format!("a profile ({}) played on {machine}", text("trace")),
        Kind::Validate => {
            let names = elements(value, "datasets").iter().filter_map(|dataset| dataset["name"].as_str());
            let names = match names.clone().count() {
                count @ (0 | 4..) => format!("{count} data sets"),
                _ => names.collect::<Vec<_>>().join(", "),
            };
            format!("{names}, measured and simulated")
        }
        Kind::Faults => format!("every single fault of copies on {machine}"),
    }
}

fn timeline(run: &Value) -> Timeline {
    let count = |value: &Value| value.as_u64().unwrap_or_default();
    let number = |value: &Value| value.as_u64().and_then(|number| usize::try_from(number).ok());
    let span = |copy: &Value| CopySpan {
        gpu: number(&copy["gpu"]).unwrap_or_default(),
        stream: copy["stream"].as_str().map(str::to_owned),
        direction: copy["direction"].as_str().unwrap_or_default().to_owned(),
        start_ps: count(&copy["start_ps"]),
        end_ps: count(&copy["end_ps"]),
        behind: number(&copy["busiest"]["behind"]),
    };
    let copies: Vec<_> = elements(run, "copies").iter().map(span).collect();
    Timeline::of_copies(&copies, count(&run["simulated_ps"]))
}
