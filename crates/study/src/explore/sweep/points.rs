//! From a study to its points, one by one.

use super::axis::AxisSpec;
use super::study::{MOST_POINTS, Random, Study, StudyError};
use crate::config::{Refusal, Varied};
use crate::table::Point;
use crate::table::PointId;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sha2::{Digest, Sha256};
use std::{collections::HashSet, ops::Range};

/// A group of axes that advance together.
struct Group {
    axes: Vec<usize>,
    length: usize,
}

/// Which value each axis has, by number. Random choices are drawn in the order of numbers.
struct Drawing {
    groups: Vec<Group>,
    axes: usize,
    random: Option<ChaCha8Rng>,
}

impl Drawing {
    fn new(study: &Study) -> Self {
        let random = study.spec.random.map(|random| ChaCha8Rng::seed_from_u64(random.seed));
        Self { groups: groups(&study.spec.axis, &study.values), axes: study.values.len(), random }
    }

    fn choices(&mut self, number: u64) -> Vec<usize> {
        let mut choices = vec![0; self.axes];
        let mut rest = number;
        for group in self.groups.iter().rev() {
            let choice = match &mut self.random {
                Some(random) => random.random_range(0..group.length),
                None => (rest % group.length as u64) as usize,
            };
            rest /= group.length as u64;
            group.axes.iter().for_each(|axis| choices[*axis] = choice);
        }
        choices
    }
}

/// How many points axes may give, or are drawn from them.
pub(super) fn most_points(
    axes: &[AxisSpec],
    values: &[Vec<String>],
    random: Option<Random>,
) -> Result<u64, StudyError> {
    let many = match random {
        Some(Random { points, .. }) => Some(points),
        None => groups(axes, values).iter().try_fold(1_u64, |all, group| all.checked_mul(group.length as u64)),
    };
    many.filter(|points| *points <= MOST_POINTS).ok_or(StudyError::TooMany { most: MOST_POINTS })
}

fn groups(axes: &[AxisSpec], values: &[Vec<String>]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for (place, (axis, values)) in axes.iter().zip(values).enumerate() {
        let same = |group: &&mut Group| axis.zip.is_some() && axes[group.axes[0]].zip == axis.zip;
        match groups.iter_mut().find(same) {
            Some(group) => group.axes.push(place),
            None => groups.push(Group { axes: vec![place], length: values.len() }),
        }
    }
    groups
}

impl Study {
    /// How many points there may be; those that differ only where an axis does not apply, or in how a value is written, are one.
    pub fn most_points(&self) -> Result<u64, StudyError> {
        most_points(&self.spec.axis, &self.values, self.spec.random)
    }

    pub fn points(&self) -> Result<impl Iterator<Item = Point>, StudyError> {
        Ok(self.numbered(0..self.most_points()?).map(|(_, point)| point))
    }

    /// How many points there are. Where none can come twice, nothing is enumerated.
    pub fn count(&self) -> Result<u64, StudyError> {
        if self.may_repeat() { Ok(self.points()?.count() as u64) } else { self.most_points() }
    }

    /// Points by their numbers among the choices that there are, each where it first comes. Those before a range cost nothing, unless one of them
    /// may come again in it.
    pub(super) fn numbered(&self, numbers: Range<u64>) -> impl Iterator<Item = (u64, Point)> {
        let (mut drawing, mut seen, may_repeat) = (Drawing::new(self), HashSet::new(), self.may_repeat());
        let first = if may_repeat { 0 } else { numbers.start };
        let points = (first..numbers.end).filter_map(move |number| {
            let settings = self.settings(&drawing.choices(number));
            let id = self.id(&settings);
            let new = !may_repeat || seen.insert(id);
            new.then_some((number, id, settings))
        });
        let points = points.zip(first..).map(|((number, id, settings), index)| (number, Point { index, id, settings }));
        points.skip_while(move |(number, _)| *number < numbers.start)
    }

    /// Whether two choices may give one point.
    fn may_repeat(&self) -> bool {
        let conditional = || self.spec.axis.iter().any(|axis| !axis.when.is_empty());
        // Two names may be one design, as its digest shows.
        let designs = || self.designs.len() > 1;
        let equal = |values: &Vec<String>| values.iter().collect::<HashSet<_>>().len() < values.len();
        self.spec.random.is_some() || conditional() || designs() || self.values.iter().any(equal)
    }

    fn settings(&self, choices: &[usize]) -> Vec<(String, Option<String>)> {
        let mut settings = Vec::with_capacity(choices.len());
        for ((axis, values), choice) in self.spec.axis.iter().zip(&self.values).zip(choices) {
            let value = axis.applies(&settings).then(|| values[*choice].clone());
            settings.push((axis.path.clone(), value));
        }
        settings
    }

    /// What identifies a point with these settings.
    pub(super) fn id(&self, settings: &[(String, Option<String>)]) -> PointId {
        let mut hash = Sha256::new();
        hash.update(&self.base_digest);
        for (path, value) in settings.iter().filter_map(|(path, value)| Some((path, value.as_ref()?))) {
            let design = self.designs.get(value).filter(|_| path == "design");
            let value = design.map_or(value, |base| &base.resolved().digest);
            hash.update(format!("{path}={value}\n"));
        }
        let hash = hash.finalize();
        PointId(std::array::from_fn(|place| hash[place]))
    }

    pub fn owns(&self, point: &Point) -> bool {
        let (axes, settings) = (self.spec.axis.iter().zip(&self.values), &point.settings);
        let known = axes.zip(settings).all(|((axis, values), (path, value))| {
            axis.path == *path && value.as_ref().is_none_or(|value| values.contains(value))
        });
        settings.len() == self.values.len() && known && self.id(settings) == point.id
    }

    pub fn machine(&self, point: &Point) -> Result<Varied, Refusal> {
        self.base(point.value("design")).varied(&Self::settings_of(point))
    }

    /// What a point sets on the machine of its design.
    pub(super) fn settings_of(point: &Point) -> Vec<String> {
        let own = point.settings.iter().filter(|(path, _)| !["copy", "design"].contains(&path.as_str()));
        own.filter_map(|(path, value)| Some(format!("{path}={}", value.as_ref()?))).collect()
    }

    /// The copy of a point, where the study is not about a workload.
    pub fn copy<'a>(&'a self, point: &'a Point) -> Option<&'a str> {
        point.value("copy").or(self.spec.copy.as_deref())
    }
}

#[cfg(test)]
mod tests {
    use super::super::study::MOST_LISTED;
    use super::*;

    const HEAD: &str = "name = \"n\"\nsummary = \"s\"\nmachine = \"h100-nvl-tdx\"\ncopy = \"h2d:64KiB\"\n";

    fn study(axes: &str) -> Study {
        Study::read("study", &format!("{HEAD}{axes}")).unwrap()
    }

    fn values(study: &Study) -> Vec<Vec<String>> {
        let of = |point: Point| point.settings.into_iter().map(|(_, value)| value.unwrap_or_default()).collect();
        study.points().unwrap().map(of).collect()
    }

    #[test]
    fn a_grid_is_every_combination_the_last_axis_fastest() {
        let study = study(
            "[[axis]]\npath = \"link.read_tags\"\nvalues = [32, 64]\n[[axis]]\npath = \"tag_queue.depth\"\nvalues = [1, 2, 4]",
        );
        let all = values(&study);
        assert_eq!(all.len(), 6);
        assert_eq!(
            (&all[0][..], &all[1][..], &all[3][..]),
            (&["32".into(), "1".into()][..], &["32".into(), "2".into()][..], &["64".into(), "1".into()][..])
        );
        let ids: HashSet<_> = study.points().unwrap().map(|point| point.id).collect();
        assert_eq!(ids.len(), 6);
        assert!(study.points().unwrap().all(|point| study.owns(&point)));
        let other = Point {
            settings: vec![("link.read_tags".into(), Some("33".into()))],
            ..study.points().unwrap().next().unwrap()
        };
        assert!(!study.owns(&other));
    }

    #[test]
    fn zipped_axes_advance_together_and_conditional_ones_do_not_multiply_elsewhere() {
        let zipped = study(
            "[[axis]]\npath = \"link.read_tags\"\nvalues = [32, 64]\nzip = \"z\"\n[[axis]]\npath = \"tag_queue.depth\"\nvalues = [1, 2]\nzip = \"z\"",
        );
        assert_eq!(values(&zipped), [["32", "1"], ["64", "2"]]);
        let conditional = study(
            "[[axis]]\npath = \"design\"\nvalues = [\"hold\", \"eager\"]\n[[axis]]\npath = \"tag_queue.quarantine\"\nvalues = [\"2 MiB\", \"4 MiB\"]\nwhen = { design = [\"hold\"] }",
        );
        assert_eq!(values(&conditional), [["hold", "2 MiB"], ["hold", "4 MiB"], ["eager", ""]]);
    }

    #[test]
    fn equal_values_of_an_axis_give_one_point() {
        let axis = |path: &str, values: &str| format!("[[axis]]\npath = \"{path}\"\nvalues = {values}\n");
        let all = values(&study(&(axis("tag_queue.depth", "[4, 4, \"4\"]") + &axis("link.read_tags", "[32, 64]"))));
        assert_eq!(all, [["4", "32"], ["4", "64"]]);
        assert_eq!(values(&study(&axis("tag_queue.quarantine", "[\"2 MiB\", \"2048 KiB\"]"))), [["2 MiB"]]);
        let zip = |path: &str, values: &str| axis(path, values) + "zip = \"z\"\n";
        let zipped = zip("tag_queue.depth", "[4, 4, 4]") + &zip("link.read_tags", "[32, 64, 32]");
        assert_eq!(values(&study(&zipped)), [["4", "32"], ["4", "64"]]);
        let folder = tempfile::tempdir().unwrap();
        let copy = folder.path().join("hold.toml");
        std::fs::write(&copy, include_str!("../../../../../hw-configs/designs/hold.toml")).unwrap();
        let designs = axis("design", &format!("[\"hold\", {:?}]", copy.display().to_string()));
        assert_eq!(study(&designs).points().unwrap().count(), 1);
    }

    #[test]
    fn random_points_are_drawn_by_their_seed() {
        let draw = |seed| {
            values(&study(&format!(
                "[random]\npoints = 20\nseed = {seed}\n[[axis]]\npath = \"link.read_tags\"\nfrom = 1\nto = 700\nstep = 1"
            )))
        };
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
        assert_eq!(draw(3).iter().collect::<HashSet<_>>().len(), draw(3).len());
    }

    #[test]
    fn a_study_of_more_points_than_anybody_waits_for_is_refused_at_once() {
        let axis = |path: &str| format!("[[axis]]\npath = \"{path}\"\nfrom = 1\nto = 1000000\nstep = 1\n");
        let axes: String = ["link.read_tags", "tag_queue.depth", "copy_engine.outstanding_reads"].map(axis).concat();
        let refused = |axes: &str| Study::read("study", &format!("{HEAD}{axes}")).unwrap_err();
        assert!(matches!(refused(&axes), StudyError::TooMany { .. }));
        let zipped = axis("link.read_tags").repeat(20).replace("step = 1", "step = 1\nzip = \"z\"");
        assert!(matches!(refused(&zipped), StudyError::TooMany { .. }));
        assert!(matches!(refused(&"[[axis]]\npath = \"p\"\n".repeat(65)), StudyError::Axes { count: 65 }));
        let list = format!("[[axis]]\npath = \"link.read_tags\"\nvalues = [{}]", "1, ".repeat(MOST_LISTED + 1));
        assert!(matches!(refused(&list), StudyError::List { .. }));
    }

    #[test]
    fn what_is_wrong_with_a_study_is_told_before_anything_runs() {
        let error = |axes: &str| Study::read("study", &format!("{HEAD}{axes}")).unwrap_err().to_string();
        assert!(error("").contains("[[axis]]"));
        assert!(error("[[axis]]\npath = \"link.raed_tags\"\nvalues = [1]").contains("link.raed_tags"));
        assert!(error("[[axis]]\npath = \"link.flight\"\nvalues = [1]").contains("link.flight"));
        assert!(error("[[axis]]\npath = \"design\"\nvalues = [\"hodl\"]").contains("hodl"));
        assert!(error("[[axis]]\npath = \"copy\"\nvalues = [\"h2d\"]").contains("size"));
        assert!(error("[[axis]]\npath = \"link.read_tags\"\nvalues = []").contains("empty"));
        assert!(error("[[axis]]\npath = \"link.read_tags\"\nvalues = [1]\nzip = \"z\"\n[[axis]]\npath = \"tag_queue.depth\"\nvalues = [1, 2]\nzip = \"z\"").contains("together"));
        assert!(
            error("[[axis]]\npath = \"link.read_tags\"\nvalues = [1]\nwhen = { design = [\"hold\"] }")
                .contains("before it")
        );
        assert!(
            error(
                "[[axis]]\npath = \"link.read_tags\"\nvalues = [1]\n[[axis]]\npath = \"link.read_tags\"\nvalues = [1]"
            )
            .contains("two axes")
        );
        assert!(
            error("objectives = { min = [\"area\"] }\n[[axis]]\npath = \"link.read_tags\"\nvalues = [32]")
                .contains("no column `area`; there will be index, link.read_tags, bytes, gb_per_s")
        );
        assert!(error("[[axes]]\npath = \"link.read_tags\"").contains("axes"));
    }
}
