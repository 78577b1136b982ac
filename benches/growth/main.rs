//! How host time and peak memory grow with the size of a copy, with GPUs, with streams and with the points of a study.
//!
//! ```text
//! cargo bench -p sealsim-benches --bench growth                    # prints the tables
//! cargo bench -p sealsim-benches --bench growth -- ../docs         # and draws docs/growth-size.svg and its like
//! cargo bench -p sealsim-benches --bench growth -- ../docs gpus    # one question alone
//! ```
//!
//! Each point runs in a process of its own, so that its peak memory is its own; points are interleaved, and medians of rounds taken.
//! Times are shown for each byte or point of study, over those of the first: flat means that time grows as work does.

#[path = "../common/mod.rs"]
mod common;
mod draw;
mod question;

use common::{median, peak, timed};
use question::{QUESTIONS, Question, Series};
use std::{
    env,
    path::Path,
    process::{Command, ExitCode},
    time::Duration,
};

const ROUNDS: usize = 5;

/// One point, measured.
#[derive(Debug, Clone, Copy)]
struct Measured {
    x: u64,
    seconds: f64,
    /// Peak memory in MB; no number where the system does not tell.
    megabytes: f64,
}

/// Runs one point here, and prints its time and its peak memory for the process that started this one.
fn answer(question: &Question, series: &Series, x: u64) {
    let time = timed(|| (series.work)(x));
    println!("{} {} {}", question.name, time.as_nanos(), peak().unwrap_or(0));
}

/// Runs one point in a process of its own.
fn ask(question: &Question, series: &Series, x: u64) -> Result<(Duration, u64), String> {
    let program = env::current_exe().map_err(|error| error.to_string())?;
    let arguments = ["--point", question.name, series.name, &x.to_string()];
    let output = Command::new(program).args(arguments).output().map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&output.stdout);
    let mut fields = said.split_whitespace().skip(1).map(str::parse);
    match (fields.next(), fields.next()) {
        (Some(Ok(nanos)), Some(Ok(bytes))) if output.status.success() => Ok((Duration::from_nanos(nanos), bytes)),
        _ => Err(format!("{arguments:?}: {}", String::from_utf8_lossy(&output.stderr))),
    }
}

/// The points of each series of a question.
fn measure(question: &Question) -> Result<Vec<Vec<Measured>>, String> {
    let mut found = vec![vec![(Vec::new(), 0); question.xs.len()]; question.series.len()];
    for _ in 0..ROUNDS {
        for (series, found) in question.series.iter().zip(&mut found) {
            for (x, (times, held)) in question.xs.iter().zip(found) {
                let (time, bytes) = ask(question, series, *x)?;
                times.push(time);
                *held = bytes.max(*held);
            }
        }
    }
    let point = |(x, (times, bytes)): (&u64, (Vec<Duration>, u64))| {
        let megabytes = if bytes == 0 { f64::NAN } else { bytes as f64 / 1e6 };
        Measured { x: *x, seconds: median(times), megabytes }
    };
    Ok(found.into_iter().map(|found| question.xs.iter().zip(found).map(point).collect()).collect())
}

/// Time for each unit of work, over that of the first point of the first series.
fn ratio(question: &Question, all: &[Vec<Measured>], series: &Series, point: &Measured) -> f64 {
    let each = |series: &Series, point: &Measured| point.seconds / (series.units)(point.x);
    let first = question.series.iter().zip(all.iter().flatten()).next();
    first.map_or(f64::NAN, |first| each(series, point) / each(first.0, first.1))
}

fn table(question: &Question, all: &[Vec<Measured>]) {
    println!("\n{}; medians of {ROUNDS} rounds\n", question.title);
    println!("| {} | | {} | seconds | peak memory |", question.across, question.up);
    println!("| --- | --- | --- | --- | --- |");
    for (series, points) in question.series.iter().zip(all) {
        for point in points {
            let (x, memory) = (question.shown(point.x), point.megabytes);
            let ratio = ratio(question, all, series, point);
            println!("| {x} | {} | {ratio:.2} | {:.3} | {memory:.1} MB |", series.name, point.seconds);
        }
    }
}

/// Measures the questions of these names, or all; draws into a folder, if one is given.
fn run(folder: Option<&Path>, names: &[&str]) -> Result<(), String> {
    if let Some(name) = names.iter().find(|name| QUESTIONS.iter().all(|question| question.name != **name)) {
        let known: Vec<_> = QUESTIONS.iter().map(|question| question.name).collect();
        return Err(format!("{name}: there are {}", known.join(", ")));
    }
    for question in QUESTIONS.iter().filter(|question| names.is_empty() || names.contains(&question.name)) {
        let all = measure(question)?;
        table(question, &all);
        if let Some(folder) = folder {
            draw::write(folder, question, &all).map_err(|error| error.to_string())?;
        }
    }
    Ok(())
}

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let given: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match given.as_slice() {
        ["--point", name, series, x] => {
            question::find(name, series, x).map(|(question, series, x)| answer(question, series, x))
        }
        [folder, names @ .., "--bench"] => run(Some(Path::new(folder)), names),
        ["--bench"] => run(None, &[]),
        // `cargo test --benches` only checks that the benchmarks run.
        _ => QUESTIONS.iter().try_for_each(|question| ask(question, &question.series[0], question.xs[0]).map(|_| ())),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
