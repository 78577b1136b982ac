//! The caches of the core that seals, opens and copies: where the bytes of a pass are found.
//!
//! ```text
//!   pass over a buffer --> L2 (4 KiB granules) --> last-level cache (64 KiB granules) --> DRAM
//! ```
//!
//! | contract | |
//! | --- | --- |
//! | replacement | random: a granule that comes in takes the place of one drawn from all |
//! | private memory | is put into both caches by every pass |
//! | staging | is put into the last-level cache only: the core's stores to it are posted, and what the GPU writes does not reach the L2 |
//! | time | none: the cipher charges what a pass missed |
//!
//! Random replacement makes the miss ratio of sweeps that exceed the cache rise smoothly, as measured; LRU would step from none to all.
//! The draws come from a fixed seed, so that a run repeats.

use super::spec::MemorySpec;
use crate::units::{Fixed, fixed};
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;

/// Granules of the L2 and of the last-level cache, in bytes.
const L2_GRANULE: u64 = 4 << 10;
/// See [`L2_GRANULE`].
const LLC_GRANULE: u64 = 64 << 10;

/// Bytes that one buffer may have: keys of granules hold the buffer above.
const BUFFER_SHIFT: u32 = 40;

/// Buffer number of staging.
const STAGING: u64 = (1 << 24) - 1;
/// Buffer number of the memory that a flush writes.
const FOREIGN: u64 = STAGING - 1;

/// Passes over more than this times a cache's capacity leave nothing in it: of each granule exp(-16).
const ENOUGH: u64 = 16;

/// Sweeps after which repeated copies of a buffer find the caches as they leave them.
const WARM_SWEEPS: u64 = 3;

/// What of the caches no configuration changes.
pub const FIXED: &[Fixed] = fixed! {
    "memory.l2_granule" L2_GRANULE, "B", "what the modelled L2 holds or drops as a whole; assumed";
    "memory.llc_granule" LLC_GRANULE, "B", "the same of the last-level cache; assumed";
    "memory.warm_sweeps" WARM_SWEEPS, "sweeps",
        "passes over a warm buffer before the run, after which caches are as repeated copies leave them";
};

/// Bytes of a pass that were not where they are cheapest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Missed {
    /// Not in the L2.
    pub l2: u64,
    /// Nor in the last-level cache.
    pub llc: u64,
}

/// A cache of granules with random replacement.
#[derive(Debug)]
struct Level {
    granule: u64,
    capacity: usize,
    places: FxHashMap<u64, usize>,
    held: Vec<u64>,
    draw: u64,
}

impl Level {
    fn new(bytes: u64, granule: u64) -> Self {
        let capacity = (bytes / granule) as usize;
        Self { granule, capacity, places: FxHashMap::default(), held: Vec::new(), draw: 0x9E37_79B9_7F4A_7C15 }
    }

    /// Bytes after which nothing of what was there is left.
    const fn most(&self) -> u64 {
        (self.capacity as u64 * self.granule).saturating_mul(ENOUGH)
    }

    /// Brings a granule in; whether it was there.
    fn touch(&mut self, key: u64) -> bool {
        let Entry::Vacant(entry) = self.places.entry(key) else { return true };
        if self.held.len() < self.capacity {
            entry.insert(self.held.len());
            self.held.push(key);
        } else if self.capacity > 0 {
            self.draw ^= self.draw << 13;
            self.draw ^= self.draw >> 7;
            self.draw ^= self.draw << 17;
            let place = (self.draw % self.capacity as u64) as usize;
            entry.insert(place);
            let gone = std::mem::replace(&mut self.held[place], key);
            self.places.remove(&gone);
        }
        false
    }

    /// Whether it has lost nothing yet, so that all that was ever brought in is there.
    const fn has_room(&self) -> bool {
        self.held.len() < self.capacity
    }

    /// Makes room for the granules of so many bytes.
    fn expect(&mut self, bytes: u64) {
        let granules = (bytes.div_ceil(self.granule) as usize).min(self.capacity - self.held.len());
        self.places.reserve(granules);
        self.held.reserve(granules);
    }

    /// Brings a range in; how many bytes of it were not there.
    fn pass(&mut self, buffer: u64, offset: u64, bytes: u64) -> u64 {
        let (mut at, end, mut missed) = (offset, offset + bytes, 0);
        while at < end {
            let next = (at / self.granule + 1) * self.granule;
            if !self.touch((buffer << BUFFER_SHIFT) | (at / self.granule)) {
                missed += next.min(end) - at;
            }
            at = next;
        }
        missed
    }
}

#[derive(Debug)]
pub(super) struct Caches {
    l2: Level,
    llc: Level,
}

impl Caches {
    pub fn new(spec: &MemorySpec) -> Self {
        Self { l2: Level::new(spec.l2.0, L2_GRANULE), llc: Level::new(spec.llc.0, LLC_GRANULE) }
    }

    /// A pass over private memory.
    pub fn private(&mut self, buffer: u32, offset: u64, bytes: u64) -> Missed {
        let buffer = u64::from(buffer);
        let l2 = self.l2.pass(buffer, offset, bytes);
        let llc = self.llc.pass(buffer, offset, bytes);
        Missed { l2, llc: llc.min(l2) }
    }

    /// A pass over staging, by the core or the GPU.
    pub fn staging(&mut self, offset: u64, bytes: u64) {
        self.llc.pass(STAGING, offset, bytes);
    }

    /// What earlier copies of a buffer leave behind, with `pool` bytes of staging in turn.
    pub fn warm(&mut self, buffer: u32, bytes: u64, pool: u64) {
        let step = LLC_GRANULE;
        // Of a buffer that dwarfs the cache only the end of the last sweep is left.
        let start = bytes.saturating_sub(self.llc.most()).next_multiple_of(step).min(bytes);
        self.l2.expect(bytes - start);
        self.llc.expect(bytes - start);
        for sweep in 0..if start > 0 { 1 } else { WARM_SWEEPS } {
            // A cache that has lost nothing by then holds all of it.
            let skips_l2 = sweep > 0 && self.l2.has_room();
            for at in (start..bytes).step_by(step as usize) {
                let some = step.min(bytes - at);
                if !skips_l2 {
                    self.l2.pass(buffer.into(), at, some);
                }
                self.llc.pass(buffer.into(), at, some);
                self.staging((sweep * bytes + at) % pool.max(step), step.min(bytes - at));
            }
        }
    }

    /// Writes `bytes` of other memory.
    pub fn flush(&mut self, bytes: u64) {
        for level in [&mut self.l2, &mut self.llc] {
            level.pass(FOREIGN, 0, bytes.min(level.most()));
        }
        // The next flush finds its memory in no cache: what it is for is to drive out, not to be found.
        for level in [&mut self.l2, &mut self.llc] {
            level.forget(FOREIGN);
        }
    }
}

impl Level {
    /// Gives the granules of a buffer names that nobody asks for.
    fn forget(&mut self, buffer: u64) {
        for (place, key) in self.held.iter_mut().enumerate().filter(|(_, key)| **key >> BUFFER_SHIFT == buffer) {
            self.places.remove(key);
            *key = u64::MAX - place as u64;
            self.places.insert(*key, place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        host::tests::machine::Setup,
        units::{Bytes, BytesPerCycle},
    };

    fn caches() -> Caches {
        Caches::new(&MemorySpec {
            l2: Bytes(2 << 20),
            llc: Bytes(128 << 20),
            llc_rate: BytesPerCycle(1),
            dram_rate: BytesPerCycle(1),
            ..Setup::memory()
        })
    }

    #[test]
    fn what_fits_is_found_again_and_what_is_new_is_not() {
        let mut caches = caches();
        assert_eq!(caches.private(0, 100, 1 << 20), Missed { l2: 1 << 20, llc: 1 << 20 });
        assert_eq!(caches.private(0, 100, 1 << 20), Missed::default());
        assert_eq!(caches.private(1, 100, 10), Missed { l2: 10, llc: 10 });
        assert_eq!(caches.private(0, 0, 100), Missed::default());
    }

    #[test]
    fn repeated_sweeps_miss_as_random_replacement_does() {
        // In the steady state a granule outlives the misses of one sweep with probability h = exp(-(S / C) (1 - h)).
        for (sweep, hits) in [(96, 1.0), (192, 0.417), (256, 0.203), (512, 0.020)] {
            let (mut caches, bytes) = (caches(), sweep << 20);
            for _ in 0..30 {
                caches.private(0, 0, bytes);
            }
            let missed = (0..10).map(|_| caches.private(0, 0, bytes).llc).sum::<u64>() as f64 / 10.0;
            let expected = (1.0 - hits) * bytes as f64;
            assert!((missed - expected).abs() < 0.03 * bytes as f64, "{sweep} MiB: {missed} against {expected}");
        }
    }

    #[test]
    fn a_flush_leaves_what_random_replacement_spares() {
        let mut caches = caches();
        caches.private(0, 0, 64 << 20);
        caches.flush(256 << 20);
        // Few are asked for, so that asking drives out next to nothing.
        let spared = 1.0 - caches.private(0, 0, 8 << 20).llc as f64 / f64::from(8 << 20);
        // 3072 of the flush's 4096 granules find the cache full.
        let expected = (1.0 - 1.0 / 2048.0_f64).powi(4096 - 1024);
        assert!((spared - expected).abs() < 0.1, "{spared} against {expected}");
    }

    #[test]
    fn staging_takes_room_in_the_last_level_cache() {
        let mut caches = caches();
        caches.warm(0, 96 << 20, 64 << 20);
        let beside = caches.private(0, 0, 96 << 20).llc;
        assert!(beside > 96 << 17, "{beside}");
        let mut alone = self::caches();
        alone.warm(0, 96 << 20, 1 << 20);
        assert!(alone.private(0, 0, 96 << 20).llc < beside / 2);
    }
}
