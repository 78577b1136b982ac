//! What a point of a sweep costs: time per point and core, and memory at 1,000 and at 10,000 points.
//!
//! Copies of 1 MiB without bytes, on as many threads as this computer has cores. `cargo bench -p sealsim-benches --bench sweep`.

mod common;

use common::{peak, sweep};
use sealsim::pool;
use std::fs;

/// Processor time that this process has taken, in seconds; where the system tells. Other processes do not enter, as they do in time.
fn taken() -> Option<f64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |field: usize| fields.get(field)?.parse::<f64>().ok();
    // Fields 14 and 15 of proc(5), in hundredths of a second.
    Some((ticks(11)? + ticks(12)?) / 100.0)
}

fn main() {
    let threads = pool::threads();
    println!("{threads} threads");
    let mut before = None;
    for points in [1_000_u64, 10_000] {
        let before_it = taken();
        let swept = sweep(points / 100, threads);
        let busy = taken().zip(before_it).map(|(after, before)| after - before);
        let rate = points as f64 / swept.points.as_secs_f64() / threads as f64;
        println!("{points} points: {rate:.0} per second and core; tables {} ms", swept.tables.as_millis());
        if let Some(busy) = busy {
            println!("{points} points: {:.0} per second of processor time, tables included", points as f64 / busy);
        }
        let Some(held) = peak() else { continue };
        println!("{points} points: at most {:.1} MB of memory", held as f64 / 1e6);
        if let Some((fewer, less)) = before.replace((points, held)) {
            let each = held.saturating_sub(less) as f64 / (points - fewer) as f64;
            println!("{each:.0} bytes more for each further point");
        }
    }
}
