//! A study: a machine, a copy, what varies, and what is looked at.

use super::axis::{AxisError, AxisSpec, equal, text};
use super::column::AxisColumn;
use super::points::most_points;
use super::simulator::simulator;
use super::table::columns;
use crate::config::{Base, ConfigError, Layers};
use crate::files::{Misread, excerpt};
use crate::workload::{CopyArgument, CopyError};
use serde::Deserialize;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use thiserror::Error;

/// A study as its file states it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StudySpec {
    /// Short name.
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
    /// The copy, as `--copy` takes it.
    pub copy: String,
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
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plot {
    /// The column along the horizontal axis.
    pub x: String,
    /// The columns along vertical axes, one each.
    pub y: Vec<String>,
    /// Columns whose values tell curves apart.
    #[serde(default)]
    pub by: Vec<String>,
}

/// Points at random.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Random {
    /// How many.
    pub points: u64,
    /// Where they come from.
    pub seed: u64,
}

/// What is better when it is less, and what when it is more.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Objectives {
    /// Columns to be small.
    pub min: Vec<String>,
    /// Columns to be large.
    pub max: Vec<String>,
}

/// Why a file is no study.
#[derive(Debug, Error)]
pub enum StudyError {
    /// It is not what a study looks like.
    #[error(transparent)]
    Form(Misread),
    /// An axis.
    #[error("{}", excerpt(&.0.to_string(), 300))]
    Axis(#[from] AxisError),
    /// The machine, a design or a setting.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// An axis that is no parameter.
    #[error("axis `{}`: {error}{}", excerpt(path, 100), error.remedy.as_ref().map_or(String::new(), |remedy| format!("; {remedy}")))]
    Path {
        /// Which.
        path: String,
        /// What the configuration says of it.
        error: Box<ConfigError>,
    },
    /// The copy.
    #[error("copy `{}`: {}", excerpt(text, 100), excerpt(&error.to_string(), 300))]
    Copy {
        /// As written.
        text: String,
        /// Why not.
        error: CopyError,
    },
    /// A copy without a size.
    #[error("copy `{}` has no size: write for example h2d:64MiB", excerpt(text, 100))]
    NoSize {
        /// As written.
        text: String,
    },
    /// Nothing to do.
    #[error("a study without points: give it an [[axis]]")]
    NoPoints,
    /// Two axes of one path.
    #[error("two axes vary `{}`", excerpt(path, 100))]
    Twice {
        /// Which.
        path: String,
    },
    /// Zipped axes of different lengths.
    #[error("axes zipped as `{}` have {one} and {other} values: they advance together", excerpt(zip, 100))]
    Zip {
        /// The group.
        zip: String,
        /// Values of its first axis.
        one: usize,
        /// Values of another.
        other: usize,
    },
    /// A condition on an axis that is not there, or comes later.
    #[error("axis `{}` depends on `{}`, which is no axis before it", excerpt(path, 100), excerpt(on, 100))]
    When {
        /// Whose condition.
        path: String,
        /// On what.
        on: String,
    },
    /// An objective or a plot of a column that there will not be.
    #[error("{what}: there will be no column `{}`; there will be {}", excerpt(name, 100), excerpt(known, 2000))]
    Column {
        /// `objectives` or `plot`.
        what: &'static str,
        /// As written.
        name: String,
        /// The columns that it may be.
        known: String,
    },
    /// More axes than a study may have.
    #[error("{count} axes: a study has at most {MOST_AXES}")]
    Axes {
        /// How many.
        count: usize,
    },
    /// A list that nobody wrote by hand.
    #[error("axis `{}`: a list of {count} values: it takes at most {MOST_LISTED}; write a range", excerpt(path, 100))]
    List {
        /// Whose.
        path: String,
        /// How many.
        count: usize,
    },
    /// More points than a study may have.
    #[error("more than {most} points")]
    TooMany {
        /// The limit.
        most: u64,
    },
}

/// The most points of a study.
pub const MOST_POINTS: u64 = 10_000_000;
/// The most axes of a study.
pub const MOST_AXES: usize = 64;
/// The most values of an axis that are listed one by one: each of them is tried before anything runs.
pub const MOST_LISTED: usize = 4096;

/// A study whose every axis has values.
#[derive(Debug, Clone)]
pub struct Study {
    /// As its file states it.
    pub spec: StudySpec,
    /// By axis: its values.
    pub values: Vec<Vec<String>>,
    /// SHA-256 over all that decides its points, hexadecimal; also over the simulator's version.
    pub digest: String,
    /// The same of what all points share.
    pub(super) base_digest: String,
    /// The machine that all points vary.
    base: Base,
    /// By design of an axis: the machine with it, whose digest counts, since a file may change under its name.
    pub(super) designs: BTreeMap<String, Base>,
}

impl Study {
    /// Reads a study and holds it against its machine.
    ///
    /// # Errors
    /// Whatever is wrong with it.
    pub fn read(text: &str) -> Result<Self, StudyError> {
        let spec: StudySpec = toml::from_str(text).map_err(|error| StudyError::Form(Misread::toml(text, &error)))?;
        let values = spec.values()?;
        let base = spec.base().base()?;
        let digest = |text: String| hex::encode(Sha256::digest(text));
        let base_digest = digest(format!("{}\n{}\n{}\n", simulator(), base.resolved().digest, spec.copy));
        let mut designs = BTreeMap::new();
        for (_, values) in spec.axis.iter().zip(&values).filter(|(axis, _)| axis.path == "design") {
            for design in values {
                if !designs.contains_key(design) {
                    designs.insert(design.clone(), spec.base().overlay(design.as_str()).base()?);
                }
            }
        }
        let digests: BTreeMap<_, _> = designs.iter().map(|(name, base)| (name, &base.resolved().digest)).collect();
        let all = format!("{base_digest}\n{digests:?}\n{:?}\n{:?}\n{values:?}\n", spec.axis, spec.random);
        let study = Self { digest: digest(all), base_digest, base, designs, spec, values };
        study.check()?;
        Ok(study)
    }

    fn check(&self) -> Result<(), StudyError> {
        check_copy(&self.spec.copy)?;
        for (place, axis) in self.spec.axis.iter().enumerate() {
            let before = &self.spec.axis[..place];
            if before.iter().any(|other| other.path == axis.path) {
                return Err(StudyError::Twice { path: axis.path.clone() });
            }
            if let Some(on) = axis.when.keys().find(|on| !before.iter().any(|other| other.path == **on)) {
                return Err(StudyError::When { path: axis.path.clone(), on: on.clone() });
            }
            let first = before.iter().position(|other| axis.zip.is_some() && other.zip == axis.zip);
            if let Some(first) = first.filter(|first| self.values[*first].len() != self.values[place].len()) {
                let (one, other) = (self.values[first].len(), self.values[place].len());
                return Err(StudyError::Zip { zip: axis.zip.clone().unwrap_or_default(), one, other });
            }
            self.check_values(place)?;
        }
        self.check_columns()
    }

    fn check_columns(&self) -> Result<(), StudyError> {
        let columns = columns(&AxisColumn::of(self));
        let Objectives { min, max } = &self.spec.objectives;
        let objectives = min.iter().chain(max).map(|name| ("objectives", name));
        let plot = self.spec.plot.iter().flat_map(|plot| std::iter::once(&plot.x).chain(&plot.y).chain(&plot.by));
        match objectives.chain(plot.map(|name| ("plot", name))).find(|(_, name)| !columns.contains(name)) {
            Some((what, name)) => Err(StudyError::Column { what, name: name.clone(), known: columns.join(", ") }),
            None => Ok(()),
        }
    }

    /// A path that no machine has, a design that is none, a copy that is none: told before anything runs. Whether the machine
    /// makes sense with a value depends on the others, and is a point's own affair.
    fn check_values(&self, place: usize) -> Result<(), StudyError> {
        let path = &self.spec.axis[place].path;
        for value in &self.values[place] {
            match path.as_str() {
                "copy" => check_copy(value)?,
                _ => break,
            }
        }
        if ["copy", "design"].contains(&path.as_str()) {
            return Ok(());
        }
        // Where the axis applies, other fields may exist.
        let (mut design, mut settings) = (None, Vec::new());
        for (on, wanted) in &self.spec.axis[place].when {
            let Some(wanted) = wanted.first().and_then(text) else { continue };
            match on.as_str() {
                "copy" => {}
                "design" => design = Some(wanted),
                path => settings.push(format!("{path}={wanted}")),
            }
        }
        let base = self.base(design.as_deref());
        for value in self.to_check(place) {
            settings.push(format!("{path}={value}"));
            match base.varied(&settings) {
                Err(error) if error.is_about_the_field() => {
                    return Err(StudyError::Path { path: path.clone(), error: Box::new(error) });
                }
                _ => _ = settings.pop(),
            }
        }
        Ok(())
    }

    /// Values that show what is wrong with an axis by itself: all of a list, the ends of a range, whose values are of one kind.
    fn to_check(&self, place: usize) -> Vec<&String> {
        let values = &self.values[place];
        match &self.spec.axis[place].values {
            Some(_) => values.iter().collect(),
            None => values.first().into_iter().chain(values.last()).collect(),
        }
    }

    /// The machine without any axis, with a design of an axis if one is named.
    #[must_use]
    pub fn base(&self, design: Option<&str>) -> &Base {
        design.and_then(|design| self.designs.get(design)).unwrap_or(&self.base)
    }
}

impl StudySpec {
    /// By axis: its values. What there are too many of is refused before it is in memory.
    fn values(&self) -> Result<Vec<Vec<String>>, StudyError> {
        match self.axis.len() {
            0 => return Err(StudyError::NoPoints),
            count if count > MOST_AXES => return Err(StudyError::Axes { count }),
            _ => {}
        }
        let (mut all, mut listed) = (Vec::new(), 0);
        for axis in &self.axis {
            if let Some(count) = axis.values.as_ref().map(Vec::len).filter(|count| *count > MOST_LISTED) {
                return Err(StudyError::List { path: axis.path.clone(), count });
            }
            let values = axis.texts()?;
            listed += values.len() as u64;
            all.push(values);
            // Those of one group count once as points, but each of them in memory.
            most_points(&self.axis[..all.len()], &all, self.random)?;
            if listed > MOST_POINTS {
                return Err(StudyError::TooMany { most: MOST_POINTS });
            }
        }
        Ok(all)
    }

    pub(super) fn base(&self) -> Layers {
        let layers = self.designs.iter().fold(Layers::new(&self.machine), |layers, design| layers.overlay(design));
        self.set.iter().fold(layers, |layers, setting| layers.set(setting))
    }
}

fn check_copy(text: &str) -> Result<(), StudyError> {
    let copy: CopyArgument = text.parse().map_err(|error| StudyError::Copy { text: text.to_owned(), error })?;
    copy.bytes.map(|_| ()).ok_or_else(|| StudyError::NoSize { text: text.to_owned() })
}

impl AxisSpec {
    /// Whether the axis applies beside these values of earlier axes.
    pub(super) fn applies(&self, settings: &[(String, Option<String>)]) -> bool {
        self.when.iter().all(|(on, wanted)| {
            let value = settings.iter().find(|(path, _)| path == on).and_then(|(_, value)| value.as_ref());
            value.is_some_and(|value| wanted.iter().filter_map(text).any(|wanted| equal(on, &wanted, value)))
        })
    }
}
