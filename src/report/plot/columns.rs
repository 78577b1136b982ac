//! Spans of time in columns of pixels: how much of each column they take.

use crate::replay::{Mark, Ns, Span};

/// Columns of equal length from 0 to an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Columns {
    count: usize,
    end: Ns,
}

impl Columns {
    /// So many of them, if the time has as many nanoseconds.
    pub fn new(count: usize, end: Ns) -> Self {
        let end = end.max(1);
        Self { count: count.clamp(1, usize::try_from(end).unwrap_or(usize::MAX)), end }
    }

    pub const fn count(&self) -> usize {
        self.count
    }

    pub fn begins(&self, column: usize) -> Ns {
        (u128::from(self.end) * column as u128 / self.count as u128) as Ns
    }

    pub fn length(&self, column: usize) -> Ns {
        self.begins(column + 1) - self.begins(column)
    }

    /// Time that the spans of a mark take in each column. Where some overlap, that time counts once.
    pub fn taken(&self, marks: &[(Mark, Span)], mark: Mark) -> Vec<Ns> {
        let mut spans: Vec<Span> = marks.iter().filter(|(of, _)| *of == mark).map(|(_, span)| *span).collect();
        spans.sort_unstable_by_key(|span| span.start);
        let mut taken = vec![0; self.count];
        let mut until = 0;
        for Span { start, end } in spans {
            self.add(&mut taken, Span { start: start.max(until), end: end.min(self.end) });
            until = until.max(end);
        }
        taken
    }

    fn add(&self, taken: &mut [Ns], Span { mut start, end }: Span) {
        let mut column = (u128::from(start) * self.count as u128 / u128::from(self.end)) as usize;
        while start < end && column < self.count {
            let until = self.begins(column + 1).min(end);
            taken[column] += until.saturating_sub(start);
            start = start.max(until);
            column += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks(spans: &[(Ns, Ns)]) -> Vec<(Mark, Span)> {
        spans.iter().map(|(start, end)| (Mark::Waits, Span { start: *start, end: *end })).collect()
    }

    #[test]
    fn columns_have_the_time_of_the_spans() {
        for (count, end) in [(7, 1000), (880, 1000), (880, 999_983), (1, 5), (3, 3)] {
            let columns = Columns::new(count, end);
            let spans: Vec<(Ns, Ns)> = (0..end / 3).map(|place| (3 * place, 3 * place + 1 + place % 2)).collect();
            let sum: Ns = spans.iter().map(|(start, end)| end - start).sum();
            let taken = columns.taken(&marks(&spans), Mark::Waits);
            assert_eq!(taken.iter().sum::<Ns>(), sum, "{count} columns of {end} ns");
            assert!((0..columns.count()).all(|column| taken[column] <= columns.length(column)));
        }
    }

    #[test]
    fn what_overlaps_counts_once_and_what_is_behind_the_end_does_not() {
        let columns = Columns::new(4, 40);
        let taken = columns.taken(&marks(&[(5, 25), (0, 12), (20, 22), (38, 90), (50, 60)]), Mark::Waits);
        assert_eq!(taken, [10, 10, 5, 2]);
        assert_eq!(columns.taken(&marks(&[(5, 25)]), Mark::Copies), [0; 4]);
        assert_eq!(columns.taken(&[], Mark::Waits), [0; 4]);
    }

    #[test]
    fn no_column_is_without_time() {
        let columns = Columns::new(880, 5);
        assert_eq!((columns.count(), columns.length(4)), (5, 1));
        assert_eq!(Columns::new(880, 0).count(), 1);
    }
}
