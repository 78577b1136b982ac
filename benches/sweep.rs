//! What a point of a sweep costs: time per point and core, and memory at 1,000 and at 10,000 points.
//!
//! Copies of 1 MiB without bytes, on as many threads as this computer has cores. `cargo bench --bench sweep`.

use sealsim::{
    explore::sweep::{Folder, Study},
    sim::Control,
    validate::pool,
};
use std::{fs, time::Instant};

/// A study of so many hundred points.
fn study(hundreds: u32) -> String {
    format!(
        "name = \"bench\"\nsummary = \"Points per second\"\nmachine = \"h100-nvl-tdx\"\ndesigns = [\"direct-in-place\"]\n\
         copy = \"h2d:1MiB\"\n\
         [[axis]]\npath = \"engine.ghash.width\"\nvalues = [1, 2, 3, 4]\n\
         [[axis]]\npath = \"engine.ghash.groups\"\nvalues = [1, 2, 3, 4, 5]\n\
         [[axis]]\npath = \"tag_queue.depth\"\nvalues = [1, 2, 4, 8, 16]\n\
         [[axis]]\npath = \"hbm.write_latency\"\nfrom = \"501 cycles\"\nto = \"{} cycles\"\n\
         step = \"1 cycle\"\n",
        500 + hundreds
    )
}

/// The most memory that this process has held so far, in bytes; where the system tells.
fn peak() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
}

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
        let text = study(points as u32 / 100);
        let study = Study::read(&text).expect("a study");
        let place = tempfile::tempdir().expect("a folder");
        let mut folder = Folder::open(place.path(), &study, &text).expect("a folder");
        let (start, before_it) = (Instant::now(), taken());
        study.sweep(&mut folder, threads, &|| Control::Continue, &|| ()).expect("every point runs");
        let swept = start.elapsed().as_secs_f64();
        let busy = taken().zip(before_it).map(|(after, before)| after - before);
        let tabled = study.tabulate(&folder).expect("tables");
        let all = start.elapsed().as_secs_f64();
        assert_eq!((tabled.rows, tabled.refused), (points, 0), "{:?}", tabled.reason);
        let rate = points as f64 / swept / threads as f64;
        println!("{points} points: {rate:.0} per second and core; tables {:.0} ms", (all - swept) * 1e3);
        if let Some(busy) = busy {
            println!("{points} points: {:.0} per second of processor time", points as f64 / busy);
        }
        let Some(held) = peak() else { continue };
        println!("{points} points: at most {:.1} MB of memory", held as f64 / 1e6);
        if let Some((fewer, less)) = before.replace((points, held)) {
            let each = held.saturating_sub(less) as f64 / (points - fewer) as f64;
            println!("{each:.0} bytes more for each further point");
        }
    }
}
