//! Drawing sets of faults.

use crate::sim::{FaultKind, Injection};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A kind of fault at a place that is passed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Point {
    pub place: String,
    pub kind: FaultKind,
    /// Transfers in a run without a fault; at least one.
    pub passed: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Drawn {
    pub injections: Vec<Injection>,
    pub seed: u64,
}

/// Draws set `number`: one to `most` faults. Every second fault goes where the one before it went, since faults that have to do with each other
/// are more likely to fool a check than two that have not.
pub(super) fn set(points: &[Point], most: u32, seed: u64, number: u64) -> Drawn {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(number);
    let run_seed = random.random_range(0..1 << 32);
    let mut injections: Vec<Injection> = Vec::new();
    for _ in 0..random.random_range(1..=most.max(1)) {
        let near: Vec<_> = match injections.last() {
            Some(last) if random.random() => points.iter().filter(|point| point.place == last.place).collect(),
            _ => points.iter().collect(),
        };
        if near.is_empty() {
            break;
        }
        let point = near[random.random_range(0..near.len())];
        let transfer = transfer(&mut random, point.passed);
        injections.push(Injection::nth(point.place.clone(), point.kind, transfer));
    }
    Drawn { injections, seed: run_seed }
}

/// A transfer of so many: any is as likely as another in one half of the draws, any order of magnitude in the other, so that beginnings are
/// drawn as well.
fn transfer(random: &mut ChaCha8Rng, passed: u64) -> u64 {
    let most = if random.random() { passed } else { 1 << random.random_range(0..=passed.ilog2()) };
    random.random_range(1..=most.min(passed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::When;
    use std::collections::BTreeSet;

    fn points() -> Vec<Point> {
        let point = |place: &str, kind, passed| Point { place: place.into(), kind, passed };
        vec![
            point("a", FaultKind::Drop, 1),
            point("a", FaultKind::Duplicate, 1),
            point("b", FaultKind::Flip, 1000),
            point("c", FaultKind::Reorder, 7),
        ]
    }

    #[test]
    fn a_number_gives_one_set_and_all_sizes_points_and_ends_are_drawn() {
        let sets: Vec<_> = (1..2000).map(|number| set(&points(), 5, 3, number)).collect();
        assert_eq!(sets[41], set(&points(), 5, 3, 42));
        assert_ne!(sets[41], set(&points(), 5, 4, 42));
        let sizes: BTreeSet<_> = sets.iter().map(|set| set.injections.len()).collect();
        assert_eq!(sizes, (1..=5).collect());
        let all: Vec<_> = sets.iter().flat_map(|set| &set.injections).collect();
        for point in points() {
            let transfers: BTreeSet<_> = all
                .iter()
                .filter(|one| (one.place.as_str(), one.kind) == (point.place.as_str(), point.kind))
                .filter_map(|one| if let When::Transfer(transfer) = one.when { Some(transfer) } else { None })
                .collect();
            assert!(transfers.first() == Some(&1) && *transfers.last().unwrap() > point.passed * 9 / 10);
            assert!(*transfers.last().unwrap() <= point.passed);
        }
        let near = sets.iter().flat_map(|set| set.injections.windows(2)).filter(|pair| pair[0].place == pair[1].place);
        let pairs: usize = sets.iter().map(|set| set.injections.len() - 1).sum();
        assert!(near.count() > pairs / 2);
    }

    #[test]
    fn where_nothing_is_passed_there_is_nothing_to_strike() {
        assert!(set(&[], 5, 0, 1).injections.is_empty());
    }
}
