//! The tutorials: each command gives what is shown under it.
//!
//! In a block of code `$ sealsim ...` is a command and the lines behind it are what it prints, standard output first; `[...]` stands for lines that are left
//! out. A block whose first line names a file is that file. Commands of a tutorial run one after the other in an empty folder.

use super::words::words;
use std::{fs, path::Path, process::Command};

/// A command of a tutorial, and what is shown of its output.
struct Shown {
    command: String,
    lines: Vec<String>,
}

/// Runs the commands of a tutorial; gives how many there were.
fn follow(name: &str) -> usize {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/tutorials").join(name);
    let text = fs::read_to_string(&path).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut commands = 0;
    for (place, block) in text.split("```").enumerate().filter(|(place, _)| place % 2 == 1) {
        let (info, block) = block.split_once('\n').unwrap();
        if let Some((_, file)) = info.split_once(' ') {
            fs::write(folder.path().join(file), block).unwrap();
        }
        for shown in shown(block) {
            commands += 1;
            let printed = output(folder.path(), &shown.command);
            assert!(agree(&shown.lines, &printed), "{name}, block {place}: {}\n{}", shown.command, printed.join("\n"));
        }
    }
    commands
}

fn shown(block: &str) -> Vec<Shown> {
    let mut all: Vec<Shown> = Vec::new();
    for line in block.lines() {
        match (line.strip_prefix("$ "), all.last_mut()) {
            (Some(command), _) => all.push(Shown { command: command.to_owned(), lines: Vec::new() }),
            (None, Some(last)) => last.lines.push(line.to_owned()),
            (None, None) => {}
        }
    }
    all
}

fn output(folder: &Path, command: &str) -> Vec<String> {
    let words = words(command);
    let run = Command::new(env!("CARGO_BIN_EXE_sealsim"))
        .args(&words[1..])
        .env("COLUMNS", "80")
        .current_dir(folder)
        .output()
        .unwrap();
    let text = [run.stdout, run.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
    text.trim_end().lines().map(|line| line.trim_end().to_owned()).collect()
}

/// Whether lines are those that are shown, with any number of them where some are left out.
pub(super) fn agree(shown: &[String], printed: &[String]) -> bool {
    match shown.split_first() {
        None => printed.is_empty(),
        Some((gap, rest)) if gap == "[...]" => (0..=printed.len()).any(|from| agree(rest, &printed[from..])),
        Some((line, rest)) => printed.first() == Some(line) && agree(rest, &printed[1..]),
    }
}

#[test]
fn an_architect_sees_what_the_tutorial_shows() {
    assert!(follow("architect.md") >= 5);
}

#[test]
fn a_verification_engineer_sees_what_the_tutorial_shows() {
    assert!(follow("verification.md") >= 6);
}

#[test]
fn who_runs_models_sees_what_the_tutorial_shows() {
    assert!(follow("workload.md") >= 6);
}
