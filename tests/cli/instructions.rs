//! `.ci/instructions`, with stand-ins for valgrind and rustc: what it compares, and when it fails.
#![cfg(unix)]

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::Path,
    process::{Command, Output},
};
use tempfile::TempDir;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// The lines of benches/instructions.csv, by field.
fn scenarios() -> Vec<csv::StringRecord> {
    let mut data = csv::Reader::from_path(Path::new(ROOT).join("benches/instructions.csv")).unwrap();
    assert_eq!(data.headers().unwrap(), ["scenario", "instructions", "rustc", "valgrind", "arguments"].as_slice());
    data.records().map(Result::unwrap).collect()
}

/// A program of a folder, as a shell script.
fn program(folder: &Path, name: &str, script: &str) {
    let path = folder.join(name);
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// A valgrind that counts `count` instructions in whatever it is given.
fn valgrind(folder: &Path, count: u64) {
    let log = format!(
        "for word in \"$@\"; do case $word in --log-file=*) echo \"Collected : {count}\" > \"${{word#--log-file=}}\";; esac; done"
    );
    program(folder, "valgrind", &format!("{log}\necho valgrind-0"));
}

/// A folder with Python in it; none where there is no Python, which the simulator itself does without.
fn folder_with_python() -> Option<TempDir> {
    let python = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output().ok()?;
    let folder = tempfile::tempdir().unwrap();
    symlink(String::from_utf8(python.stdout).unwrap().trim(), folder.path().join("python3")).unwrap();
    Some(folder)
}

/// Runs the gate with nothing on its path but what `folder` has.
fn gate(folder: &Path, options: &[&str]) -> Output {
    Command::new("/usr/bin/env")
        .arg(folder.join("python3"))
        .arg(Path::new(ROOT).join(".ci/instructions"))
        .args(options)
        .env("PATH", folder)
        .env("SEALSIM", env!("CARGO_BIN_EXE_sealsim"))
        .output()
        .unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[test]
fn the_program_understands_all_ten_scenarios_and_one_compiler_counted_them() {
    let scenarios = scenarios();
    assert_eq!(scenarios.len(), 10);
    for scenario in &scenarios {
        let words: Vec<_> = ["sealsim"].into_iter().chain(scenario[4].split(' ')).map(str::to_owned).collect();
        assert!(sealsim::cli::understands(&words), "{words:?}");
        assert!(scenario[1].parse::<u64>().unwrap() > 1_000_000, "{scenario:?}");
        assert_eq!((&scenario[2], &scenario[3]), (&scenarios[0][2], &scenarios[0][3]));
    }
}

#[test]
fn a_count_that_moved_is_told_and_fails_only_if_that_is_asked_for() {
    let Some(folder) = folder_with_python() else { return };
    let scenarios = scenarios();
    // Within a tenth of the first scenario, whatever the others are.
    let first: u64 = scenarios[0][1].parse().unwrap();
    valgrind(folder.path(), first + first / 11);
    program(folder.path(), "rustc", &format!("echo '{}'", &scenarios[0][2]));
    let lenient = gate(folder.path(), &[]);
    let text = said(&lenient);
    assert!(lenient.status.success() && text.contains("moved by more than a tenth"), "{text}");
    let line = |name: &str| text.lines().find(|line| line.starts_with(name)).unwrap_or_default();
    assert!(!line(&scenarios[0][0]).contains("MOVED"), "{text}");
    for scenario in &scenarios {
        let change = (first + first / 11) as f64 / scenario[1].parse::<f64>().unwrap() - 1.0;
        assert_eq!(line(&scenario[0]).contains("MOVED"), change.abs() > 0.1, "{}: {change}\n{text}", &scenario[0]);
    }
    assert_eq!(gate(folder.path(), &["--strict"]).status.code(), Some(1));
}

#[test]
fn counts_of_another_compiler_are_told_and_not_judged() {
    let Some(folder) = folder_with_python() else { return };
    valgrind(folder.path(), 1);
    program(folder.path(), "rustc", "echo 'rustc 0.1.0'");
    let output = gate(folder.path(), &["--strict"]);
    let text = said(&output);
    assert!(output.status.success() && text.contains("now with rustc 0.1.0: told, not judged"), "{text}");
    assert!(!text.contains("MOVED"), "{text}");
}

#[test]
fn without_valgrind_it_says_how_to_get_it_and_a_run_that_fails_is_told() {
    let Some(folder) = folder_with_python() else { return };
    let output = gate(folder.path(), &["--strict"]);
    assert!(output.status.success() && said(&output).contains("apt install valgrind"), "{}", said(&output));
    program(folder.path(), "valgrind", "echo broken >&2; exit 3");
    program(folder.path(), "rustc", "echo rustc");
    let output = gate(folder.path(), &[]);
    assert!(!output.status.success() && said(&output).contains("broken"), "{}", said(&output));
    let unknown = gate(folder.path(), &["--stricter"]);
    assert!(!unknown.status.success() && said(&unknown).contains("--strict and --write"), "{}", said(&unknown));
}
