//! How far the simulations of a replay are, in bytes of copies, for an observer.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Longer work is reported while it is simulated.
pub(super) const LONG: u64 = 64 << 20;
/// A part of it is then simulated first, to say how long all of it will be.
pub(super) const PILOT: u64 = 64;

#[derive(Debug, Default)]
pub(super) struct Far {
    watched: AtomicBool,
    done: AtomicU64,
    asked: AtomicU64,
    expected: AtomicU64,
}

impl Far {
    /// Notes that somebody watches, who expects so many bytes to be simulated in all.
    pub fn watch(&self, bytes: u64) {
        self.watched.store(true, Ordering::Relaxed);
        self.expected.store(bytes, Ordering::Relaxed);
    }

    pub fn is_watched(&self) -> bool {
        self.watched.load(Ordering::Relaxed)
    }

    /// Notes that so many more bytes are to be simulated.
    pub fn ask(&self, bytes: u64) {
        self.asked.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Bytes that are simulated, and of how many at the least.
    pub fn told(&self) -> (u64, u64) {
        let [done, asked, expected] = [&self.done, &self.asked, &self.expected].map(|one| one.load(Ordering::Relaxed));
        (done, asked.max(expected).max(done))
    }

    /// Begins to report work of so many bytes, which is expected to end at a time, in whatever unit, if that is known.
    pub const fn begin(&self, bytes: u64, expected: Option<u64>) -> Work<'_> {
        Work { far: self, bytes, expected, told: 0 }
    }
}

/// Work in progress; all of it is reported when this is dropped.
pub(super) struct Work<'a> {
    far: &'a Far,
    bytes: u64,
    expected: Option<u64>,
    told: u64,
}

impl Work<'_> {
    /// Tells that the work has come to a time.
    pub fn is_at(&mut self, now: u64) {
        let Some(expected) = self.expected.filter(|expected| *expected > 0) else { return };
        let at = u128::from(self.bytes) * u128::from(now.min(expected)) / u128::from(expected);
        self.tell(at as u64);
    }

    fn tell(&mut self, at: u64) {
        if at > self.told {
            self.far.done.fetch_add(at - self.told, Ordering::Relaxed);
            self.told = at;
        }
    }
}

impl Drop for Work<'_> {
    fn drop(&mut self) {
        self.tell(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_told_as_it_goes_and_whole_when_it_is_over() {
        let far = Far::default();
        far.ask(100);
        let mut work = far.begin(100, Some(50));
        let told: Vec<u64> = [10, 5, 25, 60].map(|now| (work.is_at(now), far.told().0).1).to_vec();
        assert_eq!(told, [20, 20, 50, 100]);
        drop(work);
        drop(far.begin(30, None));
        assert_eq!(far.told(), (130, 130));
        far.watch(1_000);
        assert_eq!(far.told(), (130, 1_000));
    }
}
