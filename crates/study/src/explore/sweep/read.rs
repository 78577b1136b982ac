//! Reads a study and holds it against its machine.

use super::axis::text;
use super::column::AxisColumn;
use super::points::most_points;
use super::study::{DOCUMENT, DRAWS, MOST_AXES, MOST_LISTED, MOST_POINTS, Objectives, Study, StudyError, StudySpec};
use super::table::columns;
use crate::explore::outcome::Shared;
use crate::explore::{simulator::simulator, uncertainty::Draws};
use crate::workload::{CopyArgument, Setting, Workload, WorkloadFile, sized};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

impl Study {
    /// Reads a study that messages call `name`, and holds it against its machine.
    pub fn read(name: &str, text: &str) -> Result<Self, StudyError> {
        let spec: StudySpec = DOCUMENT.read(name, text)?;
        let values = spec.values()?;
        let base = spec.base().base()?;
        let digest = |text: String| hex::encode(Sha256::digest(text));
        let workload = spec.workload()?;
        let work = match (&spec.copy, &workload) {
            (Some(copy), _) => copy.clone(),
            (None, workload) => {
                let parts = workload.as_ref().map(|workload| (&workload.copies, &workload.steps));
                digest(format!("{parts:?}"))
            }
        };
        let work = spec.sample.map_or(work.clone(), |sample| format!("{work}\nsample {sample}"));
        let work = spec.uncertainty.map_or(work.clone(), |draws| format!("{work}\n{draws:?}"));
        let base_digest = digest(format!("{}\n{}\n{work}\n", simulator(), base.resolved().digest));
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
        let shared = Shared::default();
        let drawn = Arc::default();
        let (digest, again) = (digest(all), false);
        let study = Self { digest, base_digest, workload, base, designs, spec, values, again, shared, drawn };
        study.check()?;
        Ok(study)
    }

    fn check(&self) -> Result<(), StudyError> {
        self.spec.copy.as_deref().map_or(Ok(()), check_copy)?;
        if let Some(Draws { count, .. }) = self.spec.uncertainty.filter(|draws| !DRAWS.contains(&draws.count)) {
            return Err(StudyError::Draws { count });
        }
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
            if axis.path == "copy" && self.workload.is_some() {
                return Err(StudyError::Work { found: "a workload, and an axis of copies" });
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

    /// A path that no machine has, a design that is none, a copy that is none: reported before anything runs. Whether the machine
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
}

impl StudySpec {
    fn workload(&self) -> Result<Option<Workload>, StudyError> {
        let name = match (&self.copy, &self.workload) {
            (Some(_), Some(_)) => return Err(StudyError::Work { found: "both" }),
            (None, None) => return Err(StudyError::Work { found: "neither" }),
            (Some(_), None) if !self.param.is_empty() => {
                return Err(StudyError::Work { found: "a copy, and `param` of a workload" });
            }
            (Some(_), None) => return Ok(None),
            (None, Some(name)) => name,
        };
        let setting = |text: &String| text.parse().map_err(|reason| StudyError::Param { text: text.clone(), reason });
        let settings: Vec<Setting> = self.param.iter().map(setting).collect::<Result<_, _>>()?;
        let mut file = WorkloadFile::find(Path::new(name), &settings)?.of_one_thread()?;
        file.without_size.take().map_or(Ok(()), Err)?;
        let copies = sized(&file.copies, None).map_err(StudyError::Sizes)?;
        Ok(Some(Workload::timed(copies, Some(file.steps))))
    }
}

fn check_copy(text: &str) -> Result<(), StudyError> {
    let copy: CopyArgument = text.parse().map_err(|error| StudyError::Copy { text: text.to_owned(), error })?;
    copy.bytes.map(|_| ()).ok_or_else(|| StudyError::NoSize { text: text.to_owned() })
}
