//! Marks of steps: ranges that a program, its framework or its engine names. The surest that there are count:
//!
//! | range | a step |
//! | --- | --- |
//! | `ProfilerStep#5`; `execute_...` of vLLM, `step[...` of SGLang | begins with it |
//! | `Optimizer.step#SGD.step` | ends with it |
//! | `step 5`, `train_iteration`, ... of NVTX or `record_function`, if such ranges follow each other and take half of the time | begins with it |

use super::time::Time;
use std::collections::HashMap;

/// Start and end, ns.
type Range = (u64, u64);

/// Names that are distinguished.
const NAMES: usize = 256;
const OPTIMIZER: &str = "Optimizer.step#";
/// Words with which names of steps begin or end.
const WORDS: [&str; 6] = ["step", "iter", "iteration", "batch", "decode", "token"];

#[derive(Debug, Default)]
pub(super) struct Marks {
    /// The number of the first step of the profiler.
    pub first_step: Option<u64>,
    steps: Vec<Range>,
    optimizers: HashMap<String, Vec<Range>>,
    /// By thread, and name without numbers.
    named: HashMap<(u32, String), Vec<Range>>,
}

impl Marks {
    /// Takes a range that may be a step by its name; one that the program names itself is of a thread.
    pub fn take(&mut self, name: &str, thread: Option<u32>, time: impl FnOnce() -> Option<Time>) {
        let begins = |with: &[&str]| with.iter().any(|begin| name.starts_with(begin));
        let named = thread.filter(|_| is_step(name));
        if named.is_none() && !begins(&["ProfilerStep#", "execute_", "step[", OPTIMIZER]) {
            return;
        }
        let Some(Time { start, duration }) = time() else { return };
        let range = (start, start.saturating_add(duration));
        let number = name.strip_prefix("ProfilerStep#").map(|rest| {
            rest.trim().split(|one: char| !one.is_ascii_digit()).next().and_then(|digits| digits.parse::<u64>().ok())
        });
        let key = || name.split(',').next().unwrap_or(name).replace(|one: char| one.is_ascii_digit(), "");
        match (number, named) {
            (Some(Some(number)), _) => {
                self.first_step = Some(self.first_step.map_or(number, |first| first.min(number)));
                self.steps.push(range);
            }
            _ if begins(&["execute_", "step["]) => self.steps.push(range),
            _ if name.starts_with(OPTIMIZER) => add(&mut self.optimizers, key(), range),
            (_, Some(thread)) => add(&mut self.named, (thread, key()), range),
            _ => {}
        }
    }

    /// The steps of a profile that begins then.
    pub fn chosen(&mut self, first: u64) -> Vec<Range> {
        if !self.steps.is_empty() {
            return std::mem::take(&mut self.steps);
        }
        let last = |ranges: &[Range]| ranges.iter().map(|(_, end)| *end).max().unwrap_or(0);
        let optimizers = self.optimizers.drain().filter(|(_, ranges)| ranges.len() > 1);
        let mut steps = match optimizers.max_by_key(|(name, ranges)| (last(ranges), name.clone())) {
            Some((_, ranges)) => {
                let mut ends: Vec<u64> = ranges.iter().map(|(_, end)| *end).collect();
                ends.sort_unstable();
                let starts = std::iter::once(first).chain(ends.iter().copied());
                starts.zip(ends.iter().copied()).collect()
            }
            None => self.longest(),
        };
        // The last step ends where its range does.
        steps.extend(steps.last().map(|(_, end)| (*end, *end + 1)));
        steps
    }

    /// Of ranges that follow each other and take most of the time from the first to the last, those that take longest in all.
    fn longest(&mut self) -> Vec<Range> {
        let all = self.named.drain().filter_map(|(name, mut ranges)| {
            ranges.sort_unstable();
            let takes = ranges.iter().fold(0, |sum, (start, end)| sum + (end - start));
            let apart = ranges.windows(2).all(|two| two[0].1 <= two[1].0);
            let of = ranges.last()?.1 - ranges.first()?.0;
            (ranges.len() > 1 && apart && takes * 2 >= of).then_some((takes, std::cmp::Reverse(name), ranges))
        });
        all.max().map(|(.., ranges)| ranges).unwrap_or_default()
    }
}

fn add<K: std::hash::Hash + Eq>(all: &mut HashMap<K, Vec<Range>>, key: K, range: Range) {
    if all.len() < NAMES || all.contains_key(&key) {
        all.entry(key).or_default().push(range);
    }
}

/// Whether a name begins or ends with a word for a step: `decode step 7`, not `aten::batch_norm`.
fn is_step(name: &str) -> bool {
    let words = |one: char| !one.is_ascii_alphabetic();
    let mut words = name.split(words).filter(|word| !word.is_empty());
    let (first, last) = (words.next(), words.next_back());
    let is = |word: Option<&str>| word.is_some_and(|word| WORDS.iter().any(|known| word.eq_ignore_ascii_case(known)));
    !name.contains("::") && (is(last) || is(first) && !last.is_some_and(|word| word.eq_ignore_ascii_case("norm")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ranges of a name, each of so many ns of ten.
    fn steps(all: &[(&str, u64)]) -> Vec<u64> {
        let mut marks = Marks::default();
        for (name, takes) in all {
            (1..=3).for_each(|step| {
                marks.take(&name.replace('%', &step.to_string()), Some(1), || {
                    Some(Time { start: step * 10, duration: *takes })
                })
            });
        }
        marks.chosen(5).iter().map(|(start, _)| *start).collect()
    }

    #[test]
    fn the_surest_marks_count() {
        assert_eq!(steps(&[("step %", 10)]), [10, 20, 30, 40]);
        assert_eq!(
            steps(&[("step %", 6), ("decode_iteration", 9), ("aten::batch_norm", 10), ("layer %", 10)]),
            [10, 20, 30, 39]
        );
        assert_eq!(steps(&[("step %", 9), ("Optimizer.step#SGD.step, op_id = %", 2)]), [5, 12, 22, 32]);
        assert_eq!(steps(&[("Optimizer.step#SGD.step", 2), ("ProfilerStep#%", 9)]), [10, 20, 30]);
        assert_eq!(
            [steps(&[("step %", 2)]), steps(&[("step %", 11)]), steps(&[("forward", 9)])],
            [const { Vec::<u64>::new() }; 3]
        );
    }
}
