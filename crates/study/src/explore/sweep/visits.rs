//! In which order points are run: of those that differ only in [bounds](crate::config::MachineSpec::take_bounds) the largest first, one behind the other, since
//! the outcome of one may be that of others.

use super::{column::AxisColumn, study::Study};
use crate::table::Point;
use std::collections::HashMap;

/// Points that are put in order at once.
const BLOCK: usize = 8192;

/// Points to be run, block by block.
pub(super) struct Visits<I> {
    points: I,
    /// The axes of a study, and which of them are bounds.
    axes: Vec<(AxisColumn, bool)>,
    /// Points that differ only in bounds, the largest last.
    groups: Vec<Vec<Point>>,
    /// The first group that nobody has begun.
    next: usize,
}

impl<I: Iterator<Item = Point>> Visits<I> {
    pub fn new(study: &Study, points: I) -> Self {
        let bounds = study.base(None).resolved().machine.clone().take_bounds();
        let is_bound = |path: &str| bounds.iter().any(|(bound, _)| *bound == path);
        let paths = study.spec.axis.iter().map(|axis| is_bound(&axis.path));
        Self { points, axes: AxisColumn::of(study).into_iter().zip(paths).collect(), groups: Vec::new(), next: 0 }
    }

    /// The next point for who is at work in a group: of that one as long as it has any, then of one in which nobody is, then of any.
    pub fn next(&mut self, group: &mut usize) -> Option<Point> {
        let more = |groups: &[Vec<Point>], place: usize| groups.get(place).is_some_and(|group| !group.is_empty());
        if !more(&self.groups, *group) {
            let left = || (0..self.groups.len()).find(|&place| more(&self.groups, place));
            *group = if self.next < self.groups.len() { self.next } else { left().unwrap_or(usize::MAX) };
            if *group == usize::MAX {
                self.fill();
                *group = 0;
            }
            self.next = self.next.max(*group + 1);
        }
        self.groups.get_mut(*group)?.pop()
    }

    fn fill(&mut self) {
        let mut places = HashMap::new();
        (self.groups, self.next) = (Vec::new(), 0);
        for point in self.points.by_ref().take(BLOCK) {
            let settings = point.settings.iter().zip(&self.axes).filter(|(_, (_, bound))| !bound);
            let key: Vec<_> = settings.map(|((_, value), _)| value.clone()).collect();
            let place = *places.entry(key).or_insert(self.groups.len());
            if place == self.groups.len() {
                self.groups.push(Vec::new());
            }
            self.groups[place].push(point);
        }
        for group in &mut self.groups {
            let amounts = |point: &Point| -> Vec<f64> {
                let bounds = point.settings.iter().zip(&self.axes).filter(|(_, (_, bound))| *bound);
                let amount = |value: &Option<String>, axis: &AxisColumn| axis.value(value.as_deref()?).number();
                bounds.map(|((_, value), (axis, _))| amount(value, axis).unwrap_or_default()).collect()
            };
            group.sort_by(|one, other| amounts(one).partial_cmp(&amounts(other)).unwrap_or(std::cmp::Ordering::Equal));
        }
    }
}
