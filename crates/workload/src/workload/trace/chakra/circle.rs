//! When nodes start if only what they wait for says so, and whether dependencies lead in a circle, in which nothing would ever start.

use crate::workload::trace::model::Step;
use std::{cmp::Reverse, collections::BinaryHeap, collections::HashMap};

/// What a node takes, ns, and its stream or thread: nodes of one run one after the other.
pub(super) type Takes = (u64, (bool, u32));

/// The start of each operation and each call, in ns; the error is a step that waits for itself, by way of others or not.
pub(super) fn starts(dependencies: &[(Step, Step)], device: &[Takes], calls: &[Takes]) -> Result<Vec<u64>, Step> {
    let place = |step: Step| match step {
        Step::Device(place) => place as usize,
        Step::Call(place) => device.len() + place as usize,
    };
    let count = device.len() + calls.len();
    let mut waits = vec![0_u32; count];
    // Those that wait for a step lie together: `after[begins[step]..begins[step + 1]]`.
    let mut begins = vec![0_usize; count + 1];
    for (before, after) in dependencies {
        waits[place(*after)] += 1;
        begins[place(*before) + 1] += 1;
    }
    (0..count).for_each(|step| begins[step + 1] += begins[step]);
    let (mut next, mut after) = (begins.clone(), vec![0_usize; dependencies.len()]);
    for (first, then) in dependencies {
        after[next[place(*first)]] = place(*then);
        next[place(*first)] += 1;
    }
    let mut starts = vec![0; count];
    let mut free: HashMap<(bool, u32), u64> = HashMap::new();
    let mut ready: BinaryHeap<_> = (0..count).filter(|step| waits[*step] == 0).map(|step| Reverse((0, step))).collect();
    while let Some(Reverse((date, step))) = ready.pop() {
        let (takes, lane) = *device.get(step).unwrap_or_else(|| &calls[step - device.len()]);
        let free = free.entry(lane).or_default();
        starts[step] = date.max(*free);
        *free = starts[step].saturating_add(takes);
        let end = *free;
        for then in &after[begins[step]..begins[step + 1]] {
            waits[*then] -= 1;
            starts[*then] = starts[*then].max(end);
            if waits[*then] == 0 {
                ready.push(Reverse((starts[*then], *then)));
            }
        }
    }
    inside(&waits, dependencies, place).map_or(Ok(starts), Err)
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
    fn a_circle_is_found_and_a_diamond_is_ordered() {
        let (a, b, c, d) = (Step::Device(0), Step::Device(1), Step::Call(0), Step::Call(1));
        let of = |dependencies: &[_]| {
            starts(dependencies, &[(5, (true, 0)), (7, (true, 1))], &[(9, (false, 0)), (1, (false, 0))])
        };
        assert_eq!(of(&[(a, b), (a, c), (b, d), (c, d), (a, d), (a, b)]), Ok(vec![0, 5, 5, 14]));
        assert!([b, c].contains(&of(&[(a, b), (b, c), (c, b), (c, d)]).unwrap_err()));
        assert_eq!(of(&[(d, d)]), Err(d));
        // Those of one stream or thread run in the order of the file, others at once.
        assert_eq!(of(&[]), Ok(vec![0, 0, 0, 9]));
        assert_eq!(starts(&[], &[], &[]), Ok(Vec::new()));
    }
}
