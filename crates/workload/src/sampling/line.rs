//! A line through a figure at several lengths, and how far it can be trusted beyond the last.
//!
//! Runs of rising length share their beginnings, so a figure is a sum that grows from length to length. What each stretch adds varies: with
//! what random replacement left in a cache, with the phases of clocks. Two models of that variation are compared with the points, and the wider one counts:
//!
//! | model | error at a distance d behind the last point, of points that span s |
//! | --- | --- |
//! | each stretch varies by itself, so that errors add up | `sigma sqrt(d + d^2 / s)`, `sigma^2` the variance for each unit of length |
//! | only the ends of runs vary | `e sqrt(1 + 2 (d / s)^2 + 2 d / s)`, `e` the deviation of an end |

/// Quantiles of Student's distribution for 95 % between both tails, for 1 degree of freedom and more.
const STUDENT: [f64; 8] = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306];

/// A line, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Line {
    first: f64,
    /// From the first length to the last, and what that adds to the figure.
    start: f64,
    span: f64,
    rise: f64,
    /// Variance of what a unit of length adds.
    sigma2: f64,
    /// Variance of an end.
    end2: f64,
    quantile: f64,
}

/// What a line says at a length.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Said {
    /// Above the figure of the first point.
    pub above: f64,
    /// Half of the interval for a run of that length.
    pub half: f64,
}

impl Line {
    /// Through points of a length and a figure, three at least, whose lengths rise.
    pub fn through(points: &[(u64, u64)]) -> Option<Self> {
        let (&(start, first), &(end, last)) = points.first().zip(points.last())?;
        if points.len() < 3 || points.windows(2).any(|two| two[0].0 >= two[1].0) {
            return None;
        }
        let (span, rise) = ((end - start) as f64, last as f64 - first as f64);
        let slope = rise / span;
        let stretches = points.windows(2).map(|two| {
            let (length, added) = ((two[1].0 - two[0].0) as f64, two[1].1 as f64 - two[0].1 as f64);
            (length, added - slope * length)
        });
        let free = (points.len() - 2) as f64;
        let sigma2 = stretches.clone().map(|(length, off)| off * off / length).sum::<f64>() / free;
        // A stretch varies by both of its ends.
        let end2 = stretches.map(|(_, off)| off * off).sum::<f64>() / (2.0 * free);
        let quantile = STUDENT[(points.len() - 3).min(STUDENT.len() - 1)];
        Some(Self { first: first as f64, start: start as f64, span, rise, sigma2, end2, quantile })
    }

    pub fn at(&self, length: u64) -> Said {
        let beyond = length as f64 - self.start - self.span;
        let (distance, turns) = (beyond.max(0.0), beyond.max(0.0) / self.span);
        let added = self.sigma2 * distance * (1.0 + turns);
        let ends = self.end2 * (1.0 + 2.0 * turns * (1.0 + turns));
        Said { above: self.rise + self.slope() * beyond, half: self.quantile * added.max(ends).sqrt() }
    }

    /// What is there at no length at all: what work costs in addition to its length.
    pub fn fixed(&self) -> f64 {
        (self.first - self.slope() * self.start).max(0.0)
    }

    /// More of the figure with each unit of length.
    pub fn slope(&self) -> f64 {
        self.rise / self.span
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    const LENGTHS: [u64; 6] = [100, 105, 113, 119, 126, 132];

    #[test]
    fn a_line_without_noise_goes_on_as_it_is() {
        let points = [10, 17, 31, 40].map(|at| (at, 1_000_000_000_007 + 3 * at));
        let said = Line::through(&points).unwrap().at(1_000_000);
        assert!((said.above - 3.0 * (1_000_000.0 - 10.0)).abs() < 1e-3, "{said:?}");
        assert!(Line::through(&points[..2]).is_none() && Line::through(&[(1, 1); 5]).is_none());
        let flat = Line::through(&[(1, 9), (2, 9), (5, 9)]).unwrap().at(1 << 40);
        assert_eq!((flat.above, flat.half), (0.0, 0.0));
        let cost = Line::through(&[(2, 107), (4, 114), (8, 128)]).unwrap().fixed();
        assert!((cost - 100.0).abs() < 1e-9, "{cost}");
    }

    fn normal(random: &mut ChaCha8Rng) -> f64 {
        (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0
    }

    /// Of how many of 4000 processes the interval holds the figure at length 1000. `figures` gives those at the six lengths and there.
    fn held(mut figures: impl FnMut(&mut ChaCha8Rng) -> Vec<u64>) -> u32 {
        let mut random = ChaCha8Rng::seed_from_u64(7);
        let one = |_: u32| {
            let all = figures(&mut random);
            let points: Vec<_> = LENGTHS.into_iter().zip(all.iter().copied()).collect();
            let (said, truth) = (Line::through(&points).unwrap().at(1000), all[6] as f64 - all[0] as f64);
            u32::from((said.above - truth).abs() <= said.half)
        };
        (0..4000).map(one).sum()
    }

    #[test]
    fn the_interval_holds_95_of_100_figures_under_either_law() {
        // Twice the standard deviation of 4000 draws is 0.7 %.
        let added = held(|random| {
            let (mut figure, mut at, mut all) = (1e9, 0, Vec::new());
            for length in LENGTHS.into_iter().chain([1000]) {
                for _ in at..length {
                    figure += 5e4 + 3e3 * normal(random);
                }
                at = length;
                all.push(figure as u64);
            }
            all
        });
        assert!(added >= 3772, "{added}");
        let ends = held(|random| {
            let figure = |at: u64| (1e9 + 5e4 * at as f64 + 3e3 * normal(random)) as u64;
            LENGTHS.into_iter().chain([1000]).map(figure).collect()
        });
        assert!(ends >= 3772, "{ends}");
        assert!(added < 4000 && ends < 4000, "intervals of any width hold everything: {added} {ends}");
    }

    proptest! {
        #[test]
        fn no_points_of_any_kind_make_it_panic(points in prop::collection::vec((0..1u64 << 40, any::<u64>()), 0..9), at: u64) {
            let mut points = points;
            points.sort_unstable();
            if let Some(line) = Line::through(&points) {
                let said = line.at(at);
                prop_assert!(said.above.is_finite() && said.half >= 0.0);
            }
        }
    }
}
