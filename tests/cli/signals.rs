//! Ctrl-C, SIGTERM and SIGHUP: whatever a verb does, the first ends it in order, and the second at once.

#![cfg(target_os = "linux")]

use super::compare::wait_until_it_listens;
use std::{
    fs,
    os::unix::process::ExitStatusExt,
    process::{Child, Command, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

/// So long after a signal each verb has ended, on a computer that does much else. A person waits for a second at most.
const SOON: Duration = Duration::from_secs(4);

/// Starts a verb that waits for standard input, which never comes.
fn blocked(arguments: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sealsim"));
    let command = command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    wait_until_it_listens(child.id());
    thread::sleep(Duration::from_millis(200));
    child
}

fn signal(child: &Child, name: &str) {
    assert!(Command::new("kill").args([name, &child.id().to_string()]).status().unwrap().success());
}

/// What comes of it, with its standard input open until then.
fn ended(mut child: Child) -> Output {
    let (input, begun) = (child.stdin.take(), Instant::now());
    let output = child.wait_with_output().unwrap();
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
    drop(input);
    output
}

fn study(folder: &std::path::Path) -> String {
    let path = folder.join("study.toml");
    fs::copy("tests/browser/study.toml", &path).unwrap();
    path.display().to_string()
}

#[test]
fn what_cannot_ask_is_ended_in_order_and_by_a_second_signal_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let study = study(folder.path());
    let ends = |arguments: &[&str], name| {
        let child = blocked(arguments);
        signal(&child, name);
        let output = ended(child);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{arguments:?} {said}");
        assert!(said.contains("interrupted"), "{arguments:?} {said}");
        let child = blocked(arguments);
        signal(&child, name);
        thread::sleep(Duration::from_millis(50));
        signal(&child, name);
        let output = ended(child);
        assert_eq!((output.status.signal(), output.stderr.len()), (Some(9), 0), "{arguments:?}");
    };
    // They wait more than they work.
    let point = ["sweep", "run-point", &study];
    thread::scope(|at_once| {
        for (arguments, name) in [
            (&["tlp", "encode"][..], "-INT"),
            (&["tlp", "decode"], "-TERM"),
            (&["tlp", "decode", "--wire"], "-HUP"),
            (&point, "-TERM"),
        ] {
            at_once.spawn(move || ends(arguments, name));
        }
    });
}

#[test]
fn faults_of_a_copy_that_is_too_long_are_refused_or_left_soon() {
    for copy in ["h2d:4MiB", "h2d:16MiB", "d2h:16MiB"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sealsim"));
        let arguments = ["faults", "h100-nvl-tdx", "--exhaustive", "single", "--copy", copy];
        let child = command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        wait_until_it_listens(child.id());
        thread::sleep(Duration::from_millis(300));
        // It may have ended.
        let _ = Command::new("kill").args(["-TERM", &child.id().to_string()]).stderr(Stdio::null()).status();
        let output = ended(child);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("interrupted") || said.contains("messages in one engine"), "{copy} {said}");
    }
}
