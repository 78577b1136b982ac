//! The campaign: random units in lock-step. `lockstep [--shapes N] [--cycles N, of each] [--seed N] [--minutes N]`.

use sealsim_lockstep::{Random, SeedableRng, shape::Shape};
use std::{
    process::ExitCode,
    sync::atomic::{AtomicU64, AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

const USAGE: &str = "lockstep [--shapes N] [--cycles N, of each] [--seed N] [--minutes N]";

fn main() -> ExitCode {
    let (mut shapes, mut cycles, mut seed, mut minutes) = (200, 5_000, 1, 60);
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        let value = arguments.next().and_then(|value| value.parse().ok());
        match (name.as_str(), value) {
            ("--shapes", Some(value)) => shapes = value,
            ("--cycles", Some(value)) => cycles = value,
            ("--seed", Some(value)) => seed = value,
            ("--minutes", Some(value)) => minutes = value,
            _ => {
                eprintln!("{USAGE}");
                return ExitCode::from(2);
            }
        }
    }
    let random = &mut Random::seed_from_u64(seed);
    let shapes: Vec<Shape> = (0..shapes).map(|_| Shape::draw(random)).collect();
    let (next, done, compared, failed) =
        (AtomicUsize::new(0), AtomicUsize::new(0), AtomicU64::new(0), AtomicUsize::new(0));
    let end = Instant::now() + Duration::from_secs(60 * minutes);
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while Instant::now() < end {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    let Some(shape) = shapes.get(place) else { return };
                    match shape.run(seed + place as u64, cycles) {
                        Ok(cycles) => _ = compared.fetch_add(cycles, Ordering::Relaxed),
                        Err(failure) => {
                            failed.fetch_add(1, Ordering::Relaxed);
                            eprintln!("{shape:?}: {failure}");
                        }
                    }
                    done.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    let [done, failed] = [done, failed].map(AtomicUsize::into_inner);
    println!("{done} of {} shapes, {} cycles, {failed} with a difference", shapes.len(), compared.into_inner());
    if failed > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
