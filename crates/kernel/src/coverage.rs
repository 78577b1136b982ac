//! Coverage: which bytes of a place have been written, by whom, once or again.
//!
//! ```text
//!   0            prefix        gap      beyond       gap    end
//!   +--------------------------+........+------------+......+
//! ```
//!
//! Every place where bytes land keeps one. A sum of bytes cannot distinguish a hole next to a range that was written twice from a place that is whole.
//! Writes that come in order cost one addition, and memory only grows with gaps and with ranges that were written again.

use std::{collections::BTreeMap, fmt, ops::Range};

/// Rewritten ranges that are kept; of those beyond it only that there are more.
const KEPT: usize = 16;

/// Bytes that were written when they had been before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewritten {
    pub bytes: Range<u64>,
    /// Number of the message, or of the job, that wrote them again; 0 if neither did.
    pub by: u64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Bytes that are written from the first on without a gap.
    prefix: u64,
    /// Written ranges beyond the prefix: ends by beginnings, none adjacent to another.
    beyond: BTreeMap<u64, u64>,
    /// In the order in which they were written.
    rewritten: Vec<Rewritten>,
    rewritten_more: bool,
}

impl Coverage {
    /// Notes that message or job `by` has written `bytes` bytes from `start` on.
    #[inline]
    pub fn add(&mut self, start: u64, bytes: u64, by: u64) {
        if start == self.prefix && self.beyond.is_empty() {
            self.prefix += bytes;
        } else if bytes > 0 {
            self.insert(start..start.saturating_add(bytes), by);
        }
    }

    #[cold]
    fn insert(&mut self, new: Range<u64>, by: u64) {
        let Range { mut start, mut end } = new;
        self.note(start..end.min(self.prefix), by);
        if start <= self.prefix {
            start = self.prefix;
        }
        let touched: Vec<_> = self.beyond.range(..=end).filter(|&(_, &to)| to >= start).map(|(&a, &b)| a..b).collect();
        for old in touched {
            self.note(old.start.max(start)..old.end.min(new.end), by);
            self.beyond.remove(&old.start);
            (start, end) = (start.min(old.start), end.max(old.end));
        }
        if start == self.prefix {
            self.prefix = end.max(start);
        } else {
            self.beyond.insert(start, end);
        }
    }

    fn note(&mut self, bytes: Range<u64>, by: u64) {
        if bytes.start >= bytes.end {
            return;
        }
        self.rewritten_more |= self.rewritten.len() == KEPT;
        if self.rewritten.len() < KEPT {
            self.rewritten.push(Rewritten { bytes, by });
        }
    }

    pub fn covered(&self) -> u64 {
        self.prefix + self.beyond.iter().map(|(start, end)| end - start).sum::<u64>()
    }

    /// The written ranges, in order of their places.
    pub fn ranges(&self) -> impl Iterator<Item = Range<u64>> {
        let prefix = Some(0..self.prefix).filter(|prefix| prefix.end > 0);
        prefix.into_iter().chain(self.beyond.iter().map(|(&start, &end)| start..end))
    }

    /// The first bytes of a place of `total` bytes that are not written.
    pub fn gap(&self, total: u64) -> Option<Range<u64>> {
        let end = self.beyond.keys().next().map_or(total, |&start| start.min(total));
        Some(self.prefix..end).filter(|gap| gap.start < gap.end)
    }

    /// What was written again, in the order in which it was.
    pub fn rewritten(&self) -> &[Rewritten] {
        &self.rewritten
    }
}

/// What was written again, in words; nothing if nothing was.
impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, Rewritten { bytes, by }) in self.rewritten.iter().enumerate() {
            let lead = if place == 0 { "" } else { ", " };
            write!(f, "{lead}bytes {} to {} were written again", bytes.start, bytes.end - 1)?;
            if *by > 0 {
                write!(f, " by message {by}")?;
            }
        }
        if self.rewritten_more { f.write_str(" and more") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Held against a count for each byte.
        #[test]
        fn any_writes_are_told_byte_by_byte(writes in prop::collection::vec((0u64..64, 0u64..20), 0..30)) {
            let (mut coverage, mut counts) = (Coverage::default(), [0u32; 96]);
            for (by, &(start, bytes)) in writes.iter().enumerate() {
                coverage.add(start, bytes, by as u64);
                counts[start as usize..(start + bytes) as usize].iter_mut().for_each(|count| *count += 1);
            }
            let written: Vec<_> = (0..96).filter(|&byte| counts[byte as usize] > 0).collect();
            prop_assert_eq!(coverage.ranges().flatten().collect::<Vec<_>>(), written.clone());
            prop_assert_eq!(coverage.covered(), written.len() as u64);
            let first = (0..96).find(|&byte| counts[byte as usize] == 0).unwrap_or(96);
            prop_assert_eq!(coverage.gap(96).map(|gap| gap.start), Some(first).filter(|&first| first < 96));
            let gap_end = coverage.gap(96).map_or(first, |gap| gap.end);
            prop_assert!((first..gap_end).all(|byte| counts[byte as usize] == 0));
            prop_assert!(gap_end == 96 || counts[gap_end as usize] > 0);
            if !coverage.rewritten_more {
                let again: u64 = coverage.rewritten().iter().map(|again| again.bytes.end - again.bytes.start).sum();
                prop_assert_eq!(again, counts.iter().map(|&count| u64::from(count.saturating_sub(1))).sum::<u64>());
            }
        }
    }

    #[test]
    fn a_hole_beside_a_range_that_came_twice_is_a_hole() {
        let mut coverage = Coverage::default();
        for (by, start) in [(1, 0), (2, 512), (3, 512), (4, 1536)] {
            coverage.add(start, 512, by);
        }
        assert_eq!((coverage.gap(2048), coverage.gap(1024)), (Some(1024..1536), None));
        assert_eq!(coverage.to_string(), "bytes 512 to 1023 were written again by message 3");
    }

    #[test]
    fn writes_in_order_keep_one_range_only() {
        let mut coverage = Coverage::default();
        (0..10_000).for_each(|place| coverage.add(place * 64, 64, place));
        assert_eq!((coverage.gap(640_000), coverage.ranges().count()), (None, 1));
        assert!(coverage.rewritten().is_empty());
    }

    #[test]
    fn what_is_written_again_without_end_is_kept_to_a_bound() {
        let mut coverage = Coverage::default();
        (0..1_000).for_each(|by| coverage.add(0, 64, by));
        assert_eq!(coverage.rewritten().len(), KEPT);
        assert!(coverage.to_string().ends_with("and more"));
    }
}
