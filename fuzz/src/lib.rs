//! What all targets share: seeds, a mutator, and a limit of time for each input.
//!
//! ```text
//!  seeds/TARGET/* --+
//!                   +--> changed --> check --> within the limit, no panic, and what the target states
//!  random script ---+       |
//!                           +--> failures/TARGET: the input under way; it stays there if anything goes wrong
//! ```
//!
//! Purely random bytes never get past a parser of TOML. So the engine draws a script, and the script changes a seed: see [`mutate`].

pub mod mutate;

use mutate::{LONGEST, changed};
use std::{
    env, fs, panic,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

/// What one input may take. A linear reader takes a hundredth of it for [`LONGEST`] bytes, even on a busy machine.
pub const SLOWEST: Duration = Duration::from_secs(10);

/// A reader under test.
pub struct Target {
    name: &'static str,
    seeds: Vec<Vec<u8>>,
    check: fn(&[u8]),
    /// Where the input under way is kept.
    kept: PathBuf,
}

impl Target {
    /// A reader with its seeds, each of which is tried as it is.
    ///
    /// # Panics
    /// If there are no seeds, or one fails.
    #[must_use]
    pub fn new(name: &'static str, check: fn(&[u8])) -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let files = fs::read_dir(root.join("seeds").join(name)).unwrap();
        let mut files: Vec<_> = files.map(|entry| entry.unwrap().path()).collect();
        files.sort();
        let seeds: Vec<_> = files.iter().map(|path| fs::read(path).unwrap()).collect();
        assert!(seeds.iter().any(|seed| !seed.is_empty()), "{name} has no seeds");
        fs::create_dir_all(root.join("failures")).unwrap();
        let target = Self { name, seeds, check, kept: root.join("failures").join(name) };
        target.seeds.iter().for_each(|seed| target.one(seed));
        target
    }

    /// Tries the seed that a script changes.
    pub fn script(&self, script: &[u8]) {
        self.one(&changed(&self.seeds, script));
    }

    /// Tries one input.
    ///
    /// # Panics
    /// If it takes longer than [`SLOWEST`], or the check panics. The input is then in `failures/NAME-failed`.
    pub fn one(&self, input: &[u8]) {
        fs::write(&self.kept, input).unwrap();
        let begin = Instant::now();
        let check = self.check;
        let result = panic::catch_unwind(|| check(input));
        let took = begin.elapsed();
        if result.is_err() || took > SLOWEST {
            fs::write(self.kept.with_extension("failed"), input).unwrap();
        }
        if let Err(cause) = result {
            panic::resume_unwind(cause);
        }
        assert!(took <= SLOWEST, "{}: {} of at most {LONGEST} bytes took {took:?}", self.name, input.len());
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.kept);
    }
}

/// How long each target runs: `SEALSIM_FUZZ_SECONDS`, else one second.
///
/// # Panics
/// If that is no number.
#[must_use]
pub fn seconds() -> Duration {
    Duration::from_secs(env::var("SEALSIM_FUZZ_SECONDS").map_or(1, |text| text.parse().unwrap()))
}

/// Makes a test of each reader: `name: check`.
#[macro_export]
macro_rules! targets {
    ($($test:ident $name:literal: $check:path),* $(,)?) => {$(
        #[test]
        fn $test() {
            let target = $crate::Target::new($name, $check);
            let engine = bolero::check!().with_max_len(64).with_iterations(usize::MAX).with_test_time($crate::seconds());
            engine.for_each(|script: &[u8]| target.script(script));
        }
    )*};
}
