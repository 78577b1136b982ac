//! The first message of each copy to device memory: when its bytes are there and its tag was found right.

use crate::gpu::work::JobId;
use std::ops::Range;

#[derive(Debug)]
struct First {
    copy: usize,
    /// Its parts, the first of which names it.
    jobs: Range<JobId>,
    /// Parts that have not landed, by bit.
    awaited: u64,
    verified: bool,
}

#[derive(Debug, Default)]
pub(super) struct Firsts {
    /// The copy that the last message belonged to.
    last: Option<usize>,
    under_way: Vec<First>,
}

impl Firsts {
    /// Notes the start of a message of a copy, which may have several parts.
    pub fn start(&mut self, copy: usize, jobs: Range<JobId>) {
        if self.last.replace(copy) != Some(copy) {
            let awaited = (1 << (jobs.end - jobs.start).min(63)) - 1;
            self.under_way.push(First { copy, jobs, awaited, verified: false });
        }
    }

    /// All bytes of a part are in device memory. Gives its copy if that was what it waited for.
    pub fn landed(&mut self, job: JobId) -> Option<usize> {
        self.settle(job, |first| first.awaited &= !(1 << (job - first.jobs.start).min(63)))
    }

    /// The tag of a message was found right. Gives its copy if that was what it waited for.
    pub fn verified(&mut self, job: JobId) -> Option<usize> {
        self.settle(job, |first| first.verified = true)
    }

    fn settle(&mut self, job: JobId, note: impl Fn(&mut First)) -> Option<usize> {
        let place = self.under_way.iter().position(|first| first.jobs.contains(&job))?;
        note(&mut self.under_way[place]);
        let First { copy, awaited, verified, .. } = self.under_way[place];
        (awaited == 0 && verified).then(|| {
            self.under_way.remove(place);
            copy
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_message_counts_when_it_has_landed_and_is_verified_in_either_order() {
        let mut firsts = Firsts::default();
        firsts.start(3, 10..11);
        firsts.start(3, 11..12);
        firsts.start(4, 12..13);
        assert_eq!((firsts.landed(11), firsts.verified(11)), (None, None));
        assert_eq!((firsts.landed(10), firsts.verified(10)), (None, Some(3)));
        assert_eq!((firsts.verified(12), firsts.landed(12)), (None, Some(4)));
        assert_eq!((firsts.landed(12), firsts.under_way.len()), (None, 0));
    }

    #[test]
    fn a_first_message_in_parts_counts_when_all_of_them_have_landed() {
        let mut firsts = Firsts::default();
        firsts.start(0, 7..10);
        assert_eq!(
            (firsts.landed(9), firsts.verified(7), firsts.landed(7), firsts.landed(7)),
            (None, None, None, None)
        );
        assert_eq!(firsts.landed(8), Some(0));
    }
}
