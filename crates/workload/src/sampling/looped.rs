//! The longest loop among the steps of a program.

use crate::workload::{Copy, WorkloadStep};
use std::collections::HashMap;

/// Steps that come again and again, one turn behind the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Loop {
    pub first: usize,
    pub steps: usize,
    pub turns: usize,
    pub copy: usize,
    pub copies: usize,
}

/// Steps that one turn may have.
const LONGEST_TURN: usize = 256;

/// The loop that has most steps, where turns differ in nothing but the names of buffers and events; none if nothing comes twice.
pub(super) fn longest(steps: &[WorkloadStep], copies: &[Copy]) -> Option<Loop> {
    let codes = codes(steps, copies);
    let mut best: Option<(usize, usize, usize)> = None;
    for period in 1..=LONGEST_TURN.min(codes.len() / 2) {
        let (mut from, mut best_here) = (0, (0, 0));
        for at in period..=codes.len() {
            if at == codes.len() || codes[at] != codes[at - period] {
                if at - from > best_here.1 - best_here.0 {
                    best_here = (from, at);
                }
                from = (at + 1).saturating_sub(period);
            }
        }
        let (from, to) = best_here;
        let turns = (to - from) / period;
        // A loop of turns that are loops themselves covers as much; the shorter turn is tried first.
        if turns >= 2 && best.is_none_or(|(_, steps, turns_so_far)| turns * period > steps * turns_so_far) {
            best = Some((from, period, turns));
        }
    }
    let (first, steps_of_turn, turns) = best?;
    let made = |steps: &[WorkloadStep]| steps.iter().filter(|step| matches!(step, WorkloadStep::Copy { .. })).count();
    let copy = made(&steps[..first]);
    Some(Loop { first, steps: steps_of_turn, turns, copy, copies: made(&steps[first..first + steps_of_turn]) })
}

/// A number for each step; those that differ in names of buffers and events alone have the same.
fn codes(steps: &[WorkloadStep], copies: &[Copy]) -> Vec<u32> {
    let mut known: HashMap<(WorkloadStep, Option<String>), u32> = HashMap::new();
    let mut copies = copies.iter();
    let code = |step: &WorkloadStep| {
        let copy = matches!(step, WorkloadStep::Copy { .. }).then(|| copies.next()).flatten();
        let mut bare = step.clone();
        match &mut bare {
            WorkloadStep::Copy { buffer, .. } => *buffer = None,
            WorkloadStep::Record { event, .. } | WorkloadStep::Wait { event, .. } => event.clear(),
            _ => {}
        }
        let next = known.len() as u32;
        *known.entry((bare, copy.map(ToString::to_string))).or_insert(next)
    };
    steps.iter().map(code).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        system::{Direction, Memory, Pages},
        units::Femtos,
    };

    fn kernel(duration: u64) -> WorkloadStep {
        WorkloadStep::Kernel { gpu: 0, stream: "s".into(), duration: Femtos(duration) }
    }

    fn copy(number: usize) -> WorkloadStep {
        let buffer = Some(format!("out{number}"));
        WorkloadStep::Copy { gpu: 0, stream: "s".into(), buffer, pages: Pages::Warm, blocking: false }
    }

    fn kernels(durations: &[u64]) -> Option<(usize, usize, usize)> {
        let steps: Vec<_> = durations.iter().map(|duration| kernel(*duration)).collect();
        longest(&steps, &[]).map(|found| (found.first, found.steps, found.turns))
    }

    #[test]
    fn the_loop_with_most_steps_is_found_wherever_it_is() {
        assert_eq!(kernels(&[]), None);
        assert_eq!(kernels(&[1, 2, 3]), None);
        assert_eq!(kernels(&[5, 5, 5, 5]), Some((0, 1, 4)));
        assert_eq!(kernels(&[9, 1, 2, 1, 2, 1, 2, 7]), Some((1, 2, 3)));
        assert_eq!(kernels(&[4, 4, 1, 2, 3, 1, 2, 3, 1, 2, 3, 8]), Some((2, 3, 3)));
        assert_eq!(kernels(&[1, 1, 2, 1, 1, 2, 1, 1, 2]), Some((0, 3, 3)));
    }

    #[test]
    fn turns_may_differ_in_names_but_not_in_sizes() {
        let of = |sizes: &[u64]| {
            let steps: Vec<_> = (0..sizes.len()).flat_map(|turn| [copy(turn), kernel(3)]).collect();
            let all =
                sizes.iter().map(|&bytes| Copy { gpu: 0, direction: Direction::H2d, bytes, memory: Memory::Pinned });
            longest(&steps, &all.collect::<Vec<_>>())
        };
        assert_eq!(of(&[8; 5]), Some(Loop { first: 0, steps: 2, turns: 5, copy: 0, copies: 1 }));
        assert_eq!(of(&[7, 8, 8, 8]), Some(Loop { first: 1, steps: 2, turns: 3, copy: 1, copies: 1 }));
    }
}
