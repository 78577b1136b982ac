//! A message and its stages.

use crate::units::Femtos;
use serde::Serialize;

crate::units::named! {
    /// A stage of a message's way.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Stage {
        /// At a thread of the CPU's cipher.
        Cipher = "cipher",
        Staging = "staging",
        /// From the doorbell to the copy engine.
        Submission = "submission",
        Link = "link",
        Engine = "engine",
        Tag = "tag",
        /// Until its push is released.
        Release = "release",
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    H2d,
    D2h,
    D2d,
}

/// A message, or where nothing is sealed a push.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Its number in the run, from 0, in the order in which messages begin.
    pub id: u64,
    pub gpu: usize,
    /// Place of the copy among those of its GPU.
    pub copy: Option<usize>,
    /// Its number in its copy, from 0.
    pub number: u64,
    pub way: Way,
    pub sealed: bool,
    pub bytes: u64,
    pub start: Femtos,
    /// Its stages and when each ends, in the order of time.
    pub stages: Vec<Step>,
    /// Whether it went all its way.
    pub whole: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    pub stage: Stage,
    pub end: Femtos,
    /// The account of the unit that ended it.
    pub unit: usize,
}

impl Message {
    /// When it is where it should be.
    pub fn end(&self) -> Femtos {
        self.stages.last().map_or(self.start, |step| step.end)
    }

    /// Its stages with their beginnings.
    pub fn cells(&self) -> impl Iterator<Item = (Step, Femtos)> + '_ {
        let starts = std::iter::once(self.start).chain(self.stages.iter().map(|step| step.end));
        self.stages.iter().copied().zip(starts)
    }

    /// Notes that a stage has come to an end at `end`, for the first time or again.
    pub(super) fn mark(&mut self, stage: Stage, end: Femtos, unit: usize) {
        let end = end.max(self.start);
        match self.stages.iter_mut().find(|step| step.stage == stage) {
            Some(step) => step.end = end.max(step.end),
            None => self.stages.push(Step { stage, end, unit }),
        }
        self.stages.sort_by_key(|step| step.end);
    }

    pub(super) fn has(&self, stage: Stage) -> bool {
        self.stages.iter().any(|step| step.stage == stage)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_follow_each_other_and_add_up() {
        let mut message = Message {
            id: 0,
            gpu: 0,
            copy: None,
            number: 0,
            way: Way::H2d,
            sealed: true,
            bytes: 1,
            start: Femtos(10),
            stages: Vec::new(),
            whole: false,
        };
        for (stage, end) in [(Stage::Cipher, 20), (Stage::Tag, 70), (Stage::Release, 60), (Stage::Cipher, 30)] {
            message.mark(stage, Femtos(end), 0);
        }
        let cells: Vec<_> = message.cells().map(|(step, start)| (step.stage, start.0, step.end.0)).collect();
        assert_eq!(cells, [(Stage::Cipher, 10, 30), (Stage::Release, 30, 60), (Stage::Tag, 60, 70)]);
        assert_eq!(message.end(), Femtos(70));
    }
}
