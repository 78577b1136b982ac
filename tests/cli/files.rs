//! Files that are written: what kills, limits, links and the process's own streams do to them.

#![cfg(unix)]

use crate::message;
use std::{
    fs,
    os::unix::fs::symlink,
    path::Path,
    process::{Child, Command, Output, Stdio},
    thread,
    time::{Duration, Instant},
};
use tempfile::TempDir;

const MACHINE: &str = "h100-nvl-tdx";
const PROGRAM: &str = env!("CARGO_BIN_EXE_sealsim");

fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("out"), "old").unwrap();
    folder
}

fn spawn(folder: &Path, arguments: &[&str]) -> Child {
    let mut command = Command::new(PROGRAM);
    command.current_dir(folder).args(["run", MACHINE]).args(arguments).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    spawn(folder, arguments).wait_with_output().unwrap()
}

/// Runs a line of bash, in which `"$0"` is the program.
fn bash(folder: &Path, line: &str) -> Output {
    Command::new("bash").current_dir(folder).args(["-c", line, PROGRAM]).output().unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// The hidden files for a target.
fn hidden(folder: &Path, target: &str) -> Vec<String> {
    names(folder)
        .into_iter()
        .filter(|name| name.starts_with(&format!(".{target}.")) && name.ends_with(".part"))
        .collect()
}

fn wait_for_hidden(folder: &Path, target: &str) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while hidden(folder, target).is_empty() {
        assert!(Instant::now() < deadline, "no output has begun: {:?}", names(folder));
        thread::sleep(Duration::from_millis(20));
    }
}

fn kill(child: &Child, signal: &str) {
    assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
}

#[test]
fn what_a_killed_run_leaves_is_removed_by_the_next_and_a_live_runs_stays() {
    let folder = folder();
    let endless = |target| spawn(folder.path(), &["--copy", "h2d:64GiB", "--out", target]);
    let mut killed = endless("out");
    let live = endless("live");
    wait_for_hidden(folder.path(), "out");
    wait_for_hidden(folder.path(), "live");
    kill(&killed, "-KILL");
    killed.wait().unwrap();
    assert_eq!((hidden(folder.path(), "out").len(), hidden(folder.path(), "live").len()), (1, 1));
    let next = run(folder.path(), &["--copy", "h2d:4KiB", "--out", "another"]);
    assert_eq!(next.status.code(), Some(0), "{}", message(&next));
    assert_eq!((hidden(folder.path(), "out").len(), hidden(folder.path(), "live").len()), (0, 1));
    kill(&live, "-INT");
    let output = live.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", message(&output));
    assert_eq!(names(folder.path()), ["another", "out"]);
    assert_eq!(fs::read(folder.path().join("out")).unwrap(), b"old");
}

/// A file-size limit stands in for a full disk: either way a write fails on the way.
#[test]
fn a_full_disk_ends_with_4_and_leaves_the_old_file() {
    let folder = folder();
    for (direction, trap) in [("h2d", ""), ("d2h", ""), ("h2d", "trap '' XFSZ; ")] {
        let line = format!("{trap}ulimit -f 512; exec \"$0\" run {MACHINE} --copy {direction}:4MiB --out out");
        let output = bash(folder.path(), &line);
        assert_eq!(output.status.code(), Some(4), "{direction}: {}", message(&output));
        assert!(message(&output).contains("output out: File too large"), "{}", message(&output));
        assert_eq!(fs::read(folder.path().join("out")).unwrap(), b"old");
        assert_eq!(names(folder.path()), ["out"]);
    }
}

/// What is written as the run goes.
const STREAMED: [&str; 4] = ["--trace", "--waves", "--capture", "--events"];

#[test]
fn what_is_written_as_a_run_goes_is_whole_or_not_there() {
    let folder = folder();
    for flag in STREAMED {
        for (target, trap) in [("out", ""), ("out", "trap '' XFSZ; "), ("new", "")] {
            let line =
                format!("{trap}ulimit -f 8; exec \"$0\" run {MACHINE} --copy h2d:256KiB --what-if 0 {flag} {target}");
            let output = bash(folder.path(), &line);
            assert_eq!(output.status.code(), Some(4), "{flag}: {}", message(&output));
            assert!(message(&output).contains(&format!("{target}: File too large")), "{}", message(&output));
            assert_eq!(fs::read(folder.path().join("out")).unwrap(), b"old", "{flag}");
            assert_eq!(names(folder.path()), ["out"], "{flag}");
        }
        let whole = run(folder.path(), &["--copy", "h2d:256KiB", "--what-if", "0", flag, "whole"]);
        assert_eq!(whole.status.code(), Some(0), "{flag}: {}", message(&whole));
        assert!(fs::metadata(folder.path().join("whole")).unwrap().len() > 8 << 10, "{flag}");
        fs::remove_file(folder.path().join("whole")).unwrap();
    }
}

#[test]
fn what_a_killed_run_has_written_as_it_went_is_removed_by_the_next_to_the_same_path() {
    for flag in STREAMED {
        let folder = folder();
        let endless = |target| spawn(folder.path(), &["--copy", "h2d:64GiB", flag, target]);
        let (mut killed, mut live) = (endless("out"), endless("live"));
        wait_for_hidden(folder.path(), "out");
        wait_for_hidden(folder.path(), "live");
        kill(&killed, "-KILL");
        killed.wait().unwrap();
        let left = hidden(folder.path(), "out").len();
        let next = run(folder.path(), &["--copy", "h2d:4KiB", flag, "out"]);
        assert_eq!(next.status.code(), Some(0), "{}", message(&next));
        assert_eq!((left, hidden(folder.path(), "live").len(), names(folder.path()).len()), (1, 1, 2), "{flag}");
        assert_ne!(fs::read(folder.path().join("out")).unwrap(), b"old", "{flag}");
        kill(&live, "-KILL");
        live.wait().unwrap();
    }
}

#[test]
fn a_report_past_the_file_size_limit_is_a_failed_write() {
    let folder = folder();
    let output = bash(folder.path(), "ulimit -f 1; exec \"$0\" schema > report");
    assert_eq!(output.status.code(), Some(4), "{}", message(&output));
    assert!(message(&output).contains("standard output: File too large"), "{}", message(&output));
}

#[test]
fn a_table_that_cannot_grow_is_named_with_its_folder() {
    let folder = folder();
    let study = format!(
        "name = \"n\"\nsummary = \"s\"\nmachine = \"{MACHINE}\"\ncopy = \"h2d:4KiB\"\n\
         [[axis]]\npath = \"link.read_tags\"\nvalues = [32, 48, 64]\n"
    );
    fs::write(folder.path().join("study.toml"), study).unwrap();
    let whole = bash(folder.path(), "exec \"$0\" sweep study.toml --out results");
    assert_eq!(whole.status.code(), Some(0), "{}", message(&whole));
    let limited = bash(folder.path(), "ulimit -f 1; exec \"$0\" sweep study.toml --out results");
    assert_eq!(limited.status.code(), Some(4), "{}", message(&limited));
    assert!(message(&limited).contains("results/points."), "{}", message(&limited));
    assert!(message(&limited).contains("File too large"), "{}", message(&limited));
    assert_eq!(names(&folder.path().join("results")), ["points.csv", "points.jsonl", "points.parquet", "study.json"]);
}

#[test]
fn a_link_to_a_file_that_is_not_there_makes_the_file_and_stays() {
    let folder = folder();
    fs::create_dir(folder.path().join("sub")).unwrap();
    symlink("sub/file", folder.path().join("link")).unwrap();
    let output = run(folder.path(), &["--copy", "h2d:4KiB", "--out", "link"]);
    assert_eq!(output.status.code(), Some(0), "{}", message(&output));
    assert!(folder.path().join("link").symlink_metadata().unwrap().is_symlink());
    assert_eq!(fs::metadata(folder.path().join("sub/file")).unwrap().len(), 4096);
    symlink("absent/file", folder.path().join("lost")).unwrap();
    let output = run(folder.path(), &["--copy", "h2d:4KiB", "--out", "lost"]);
    assert_eq!(output.status.code(), Some(4), "{}", message(&output));
    assert!(message(&output).contains("output lost: No such file"), "{}", message(&output));
}

#[test]
fn a_file_that_is_standard_output_is_refused() {
    let folder = folder();
    let copy = format!("exec \"$0\" run {MACHINE} --copy h2d:4KiB");
    for (arguments, stream) in [
        ("--out /dev/stdout > report", "output"),
        ("--manifest /dev/stdout > report", "output"),
        ("--out /dev/stdout | cat; exit ${PIPESTATUS[0]}", "output"),
        ("--out ./report >> report", "output"),
        ("--out report 2>> report; status=$?; cat report >&2; exit $status", "error"),
    ] {
        let output = bash(folder.path(), &format!("{copy} {arguments}").replace("exec ", ""));
        assert_eq!(output.status.code(), Some(2), "{arguments}: {}", message(&output));
        let phrase = format!("the same file as standard {stream}");
        assert!(message(&output).contains(&phrase), "{arguments}: {}", message(&output));
    }
    let output = bash(folder.path(), &format!("{copy} --out out > report"));
    assert_eq!(output.status.code(), Some(0), "{}", message(&output));
}
