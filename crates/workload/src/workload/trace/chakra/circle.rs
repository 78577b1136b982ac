//! Whether dependencies lead in a circle, in which nothing would ever start.

use crate::workload::trace::model::Step;

/// A step that waits for itself, by way of others or not. There are `device` operations and `calls` calls.
pub(super) fn of(dependencies: &[(Step, Step)], device: u32, calls: u32) -> Option<Step> {
    let place = |step: Step| match step {
        Step::Device(place) => place as usize,
        Step::Call(place) => device as usize + place as usize,
    };
    let count = device as usize + calls as usize;
    let mut waits = vec![0_u32; count];
    // Those that wait for a step lie together: `after[starts[step]..starts[step + 1]]`.
    let mut starts = vec![0_usize; count + 1];
    for (before, after) in dependencies {
        waits[place(*after)] += 1;
        starts[place(*before) + 1] += 1;
    }
    (0..count).for_each(|step| starts[step + 1] += starts[step]);
    let (mut next, mut after) = (starts.clone(), vec![0_usize; dependencies.len()]);
    for (first, then) in dependencies {
        after[next[place(*first)]] = place(*then);
        next[place(*first)] += 1;
    }
    let mut ready: Vec<usize> = (0..count).filter(|step| waits[*step] == 0).collect();
    while let Some(step) = ready.pop() {
        for then in &after[starts[step]..starts[step + 1]] {
            waits[*then] -= 1;
            if waits[*then] == 0 {
                ready.push(*then);
            }
        }
    }
    inside(&waits, dependencies, place)
}

/// Of the steps that wait for ever, one that is part of a circle: going back from any of them ends in one.
fn inside(waits: &[u32], dependencies: &[(Step, Step)], place: impl Fn(Step) -> usize) -> Option<Step> {
    let mut back = vec![None; waits.len()];
    for (before, after) in dependencies.iter().filter(|(before, _)| waits[place(*before)] > 0) {
        back[place(*after)] = Some(*before);
    }
    let mut step = dependencies.iter().map(|(_, after)| *after).find(|after| waits[place(*after)] > 0)?;
    for _ in 0..waits.len() {
        step = back[place(step)]?;
    }
    Some(step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_circle_is_found_and_a_diamond_is_none() {
        let (a, b, c, d) = (Step::Device(0), Step::Device(1), Step::Call(0), Step::Call(1));
        assert_eq!(of(&[(a, b), (a, c), (b, d), (c, d), (a, d), (a, b)], 2, 2), None);
        assert!([b, c].contains(&of(&[(a, b), (b, c), (c, b), (c, d)], 2, 2).unwrap()));
        assert_eq!(of(&[(d, d)], 2, 2), Some(d));
        assert_eq!(of(&[], 0, 0), None);
    }
}
