//! A study: a machine, a copy, what varies, and what is looked at.

use super::axis::{AxisError, AxisSpec, equal, text};
use crate::config::{Base, Document, Layers, Refusal};
use crate::explore::outcome::Shared;
use crate::explore::uncertainty::{Draws, MachineDraws};
use crate::files::{Explained, excerpt};
use crate::sampling::Sample;
use crate::workload::{CopyError, Workload, WorkloadError};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::{Arc, OnceLock};
use thiserror::Error;

pub(super) const DOCUMENT: Document = Document {
    room: "study",
    tables: &[("", "a study"), ("axis", "an axis")],
    examples: &[
        ("name", "name = \"depth\""),
        ("summary", "summary = \"What a deeper tag queue gains\""),
        ("machine", "machine = \"h100-nvl-tdx\""),
        ("path", "path = \"tag_queue.depth\""),
    ],
    help: "docs/studies.md has examples",
};

/// A study as its file states it.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
pub struct StudySpec {
    pub name: String,
    /// The question, in a sentence.
    pub summary: String,
    /// The machine that is varied.
    pub machine: String,
    /// Designs over it, the last on top.
    #[serde(default)]
    pub designs: Vec<String>,
    /// Settings over these, as `--set` takes them.
    #[serde(default)]
    pub set: Vec<String>,
    /// Confidential computing of the machine on or off, whatever its file says; designs lie over it.
    pub confidential_computing: Option<bool>,
    /// The copy, as `--copy` takes it.
    pub copy: Option<String>,
    /// In place of a copy: a workload, as `--workload` takes it.
    pub workload: Option<String>,
    /// Parameters of the workload, as `--param` takes them.
    #[serde(default)]
    pub param: Vec<String>,
    /// How much of each point is simulated, as `--sample` takes it; all of it, if not said.
    #[schemars(with = "Option<String>")]
    pub sample: Option<Sample>,
    /// How often the parameters of each point are drawn, for intervals; never, if not said.
    pub uncertainty: Option<Draws>,
    /// What varies. The last axis varies fastest.
    #[serde(default)]
    pub axis: Vec<AxisSpec>,
    /// Points at random instead of all combinations.
    pub random: Option<Random>,
    /// Columns that the study is about, for people and for `sealsim pareto`.
    #[serde(default)]
    pub objectives: Objectives,
    /// How the study is drawn.
    pub plot: Option<Plot>,
}

/// Columns against one, as `sealsim sweep --plot` draws them.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct Plot {
    /// The column along the horizontal axis.
    pub x: String,
    /// The columns along vertical axes, one each.
    pub y: Vec<String>,
    /// Columns whose values distinguish curves.
    #[serde(default)]
    pub by: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct Random {
    pub points: u64,
    /// Where they come from.
    pub seed: u64,
}

/// What is better when it is less, and what when it is more.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Objectives {
    /// Columns to be small.
    pub min: Vec<String>,
    /// Columns to be large.
    pub max: Vec<String>,
}

#[derive(Debug, Error)]
pub enum StudyError {
    #[error("{}", excerpt(&.0.to_string(), 300))]
    Axis(#[from] AxisError),
    /// What a study looks like, the machine, a design, a setting or the workload.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// An axis that is no parameter.
    #[error("axis `{}`: {error}{}", excerpt(path, 100), error.help().map_or(String::new(), |remedy| format!("; {remedy}")))]
    Path {
        path: String,
        /// What the configuration says of it.
        error: Box<Refusal>,
    },
    #[error("copy `{}`: {}", excerpt(text, 100), excerpt(&error.to_string(), 300))]
    Copy { text: String, error: CopyError },
    #[error("copy `{}` has no size: write for example h2d:64MiB", excerpt(text, 100))]
    NoSize { text: String },
    #[error(
        "a study has a copy (`copy = \"h2d:64MiB\"`) or a workload (`workload = \"weight-streaming\"`): this one has {found}"
    )]
    Work { found: &'static str },
    /// A parameter of the workload that is none.
    #[error("param `{}`: {reason}", excerpt(text, 100))]
    Param { text: String, reason: String },
    /// The copies of the workload.
    #[error("workload: {0}")]
    Sizes(WorkloadError),
    /// Too few draws for an interval, or more than a line of a row has room for.
    #[error("uncertainty: {count} draws: it takes {} to {}", DRAWS.start(), DRAWS.end())]
    Draws { count: u32 },
    #[error("a study without points: give it an [[axis]]")]
    NoPoints,
    /// Two axes of one path.
    #[error("two axes vary `{}`", excerpt(path, 100))]
    Twice { path: String },
    #[error("axes zipped as `{}` have {one} and {other} values: they advance together", excerpt(zip, 100))]
    Zip {
        zip: String,
        /// Values of its first axis.
        one: usize,
        other: usize,
    },
    #[error("axis `{}` depends on `{}`, which is no axis before it", excerpt(path, 100), excerpt(on, 100))]
    When { path: String, on: String },
    #[error("{what}: there will be no column `{}`; there will be {}", excerpt(name, 100), excerpt(known, 2000))]
    Column {
        /// `objectives` or `plot`.
        what: &'static str,
        name: String,
        known: String,
    },
    #[error("{count} axes: a study has at most {MOST_AXES}")]
    Axes { count: usize },
    /// A list that nobody wrote by hand.
    #[error("axis `{}`: a list of {count} values: it takes at most {MOST_LISTED}; write a range", excerpt(path, 100))]
    List { path: String, count: usize },
    #[error("more than {most} points")]
    TooMany { most: u64 },
}

pub const MOST_POINTS: u64 = 10_000_000;
pub const DRAWS: RangeInclusive<u32> = 20..=2_000;
pub const MOST_AXES: usize = 64;
/// The most values of an axis that are listed one by one: each of them is tried before anything runs.
pub const MOST_LISTED: usize = 4096;

/// A study whose every axis has values.
#[derive(Debug, Clone)]
pub struct Study {
    /// As its file states it.
    pub spec: StudySpec,
    pub values: Vec<Vec<String>>,
    /// SHA-256 over all that decides its points, hexadecimal; also over the simulator's version.
    pub digest: String,
    /// The same of what all points share.
    pub(super) base_digest: String,
    /// The workload that all points run, if it is not a copy.
    pub(super) workload: Option<Workload>,
    /// The machine that all points vary.
    pub(super) base: Base,
    /// By design of an axis: the machine with it, whose digest counts, since a file may change under its name.
    pub(super) designs: BTreeMap<String, Base>,
    /// Whether each point is simulated, though its outcome may be known from another.
    pub again: bool,
    pub(super) shared: Shared,
    pub(super) drawn: Arc<OnceLock<MachineDraws>>,
}

impl Study {
    /// The machine without any axis, with a design of an axis if one is named.
    pub fn base(&self, design: Option<&str>) -> &Base {
        design.and_then(|design| self.designs.get(design)).unwrap_or(&self.base)
    }

    pub(super) fn layers(&self, design: Option<&str>) -> Layers {
        let design = design.filter(|design| self.designs.contains_key(*design));
        design.into_iter().fold(self.spec.base(), Layers::overlay)
    }
}

impl StudySpec {
    pub(super) fn base(&self) -> Layers {
        let machine = Layers::new(&self.machine);
        let machine = match self.confidential_computing {
            None => machine,
            Some(on) => machine.confidential_computing(on),
        };
        let layers = self.designs.iter().fold(machine, |layers, design| layers.overlay(design));
        self.set.iter().fold(layers, |layers, setting| layers.set(setting))
    }
}

impl AxisSpec {
    /// Whether the axis applies with these values of earlier axes.
    pub(super) fn applies(&self, settings: &[(String, Option<String>)]) -> bool {
        self.when.iter().all(|(on, wanted)| {
            let value = settings.iter().find(|(path, _)| path == on).and_then(|(_, value)| value.as_ref());
            value.is_some_and(|value| wanted.iter().filter_map(text).any(|wanted| equal(on, &wanted, value)))
        })
    }
}
