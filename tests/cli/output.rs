//! Standard output and standard error that are closed, full or not read: the status is the verdict's, and files are written.

#![cfg(unix)]

use crate::message;
use std::{
    fs,
    io::{self, Read, Write},
    path::Path,
    process::{Command, Stdio},
};
use tempfile::TempDir;

const MACHINE: &str = "h100-nvl-tdx";

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sealsim"));
    command
        .env("COLUMNS", "240")
        .current_dir(folder)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// The end of a pipe that nobody reads.
fn unread() -> io::PipeWriter {
    io::pipe().unwrap().1
}

fn full() -> fs::File {
    fs::File::options().write(true).open("/dev/full").unwrap()
}

/// With a vector file that fails, and studies.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write(
        "wrong.rsp",
        "Count = 0\nKey = 00000000000000000000000000000000\nIV = 00\nCT =\nAAD =\nTag = 00000000\nPT =\n",
    );
    let study = |values: &str| {
        format!(
            "name = \"n\"\nsummary = \"s\"\nmachine = \"{MACHINE}\"\ncopy = \"h2d:4KiB\"\n\
             plot = {{ x = \"link.read_tags\", y = [\"gb_per_s\"] }}\n\
             [[axis]]\npath = \"link.read_tags\"\nvalues = {values}\n"
        )
    };
    write("study.toml", &study("[32, 64]"));
    write("refused.toml", &study("[0]"));
    folder
}

/// Verbs of all kinds, and how they end.
const VERBS: &[(&[&str], i32)] = &[
    (&["run", MACHINE, "--copy", "h2d:64KiB"], 0),
    (&["run", MACHINE, "--copy", "h2d:64KiB", "--format", "json", "--inject", "gpu.pce0.tags.flip"], 1),
    (&["run", MACHINE, "--copy", "h2d:4KiB", "--format", "json", "--inject", "host.doorbells.drop"], 5),
    (&["run", MACHINE, "--copy", "up"], 2),
    (&["run", "absent", "--copy", "h2d:4KiB"], 3),
    (&["rerun", "absent.json"], 4),
    (&["verify", "vectors", "wrong.rsp"], 1),
    (&["verify", "vectors", "wrong.rsp", "--format", "json"], 1),
    (&["sweep", "plan", "study.toml"], 0),
    (&["list"], 0),
    (&["list", "--faults"], 0),
    (&["describe", MACHINE], 0),
    (&["schema"], 0),
    (&["completions", "bash"], 0),
    (&["engine", "folded-8", "--blocks", "3"], 0),
    (&["engine", "aegis-256", "--blocks", "3", "--format", "json"], 0),
    (&["risk", MACHINE, "--copy", "h2d:4KiB", "--format", "csv"], 0),
    (&["tlp", "decode", "00"], 1),
    (&["tlp", "decode", "20082000010055ff0000000100000000"], 0),
    (&["--help"], 0),
    (&["--version"], 0),
];

#[test]
fn a_reader_that_has_gone_changes_no_status() {
    let folder = folder();
    for (arguments, status) in VERBS {
        let output = command(folder.path(), arguments).stdout(unread()).output().unwrap();
        assert_eq!(output.status.code(), Some(*status), "{arguments:?}: {}", message(&output));
        assert_eq!(output.stderr.is_empty(), *status == 0, "{arguments:?}: {}", message(&output));
        let closed = ["-c", "exec \"$0\" \"$@\" >&-", env!("CARGO_BIN_EXE_sealsim")];
        let output = Command::new("bash").current_dir(folder.path()).args(closed).args(*arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(*status), "{arguments:?} >&-: {}", message(&output));
    }
}

#[test]
fn a_full_disk_for_standard_output_is_a_failed_write_of_what_went_well() {
    let folder = folder();
    for (arguments, status) in VERBS {
        let output = command(folder.path(), arguments).stdout(full()).output().unwrap();
        let expected = if *status == 0 { 4 } else { *status };
        assert_eq!(output.status.code(), Some(expected), "{arguments:?}: {}", message(&output));
        let named = message(&output).contains("standard output: No space left on device");
        // What is refused before anything is printed loses nothing.
        assert!(named || [2, 3, 4].contains(status), "{arguments:?}: {}", message(&output));
    }
}

#[test]
fn a_standard_error_that_takes_nothing_changes_no_status() {
    let folder = folder();
    for (arguments, status) in VERBS {
        for broken in [Stdio::from(full()), Stdio::from(unread())] {
            let output = command(folder.path(), arguments).stderr(broken).output().unwrap();
            assert_eq!(output.status.code(), Some(*status), "{arguments:?}");
        }
    }
}

#[test]
fn a_sweep_writes_its_plot_although_nobody_reads() {
    let folder = folder();
    let sweep = |study, out| command(folder.path(), &["sweep", study, "--out", out, "--plot", "plot.svg"]);
    let output = sweep("refused.toml", "none").stdout(unread()).output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", message(&output));
    let output = sweep("study.toml", "out").stdout(unread()).output().unwrap();
    assert_eq!((output.status.code(), message(&output)), (Some(0), String::new()));
    assert!(fs::read_to_string(folder.path().join("plot.svg")).unwrap().contains("<svg"));
    assert!(folder.path().join("out/points.parquet").exists());
}

#[test]
fn a_run_writes_its_files_although_nobody_reads() {
    let folder = folder();
    let arguments = ["run", MACHINE, "--copy", "h2d:64KiB", "--out", "out", "--manifest", "run.json"];
    let output = command(folder.path(), &arguments).stdout(unread()).output().unwrap();
    assert_eq!((output.status.code(), message(&output)), (Some(0), String::new()));
    assert_eq!(fs::metadata(folder.path().join("out")).unwrap().len(), 64 << 10);
    let output = command(folder.path(), &["rerun", "run.json"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", message(&output));
}

#[test]
fn points_whose_rows_nobody_reads_are_not_run_and_that_is_no_success() {
    let folder = folder();
    let plan = command(folder.path(), &["sweep", "plan", "study.toml"]).output().unwrap().stdout;
    assert_eq!(plan.iter().filter(|byte| **byte == b'\n').count(), 2);
    let mut child = command(folder.path(), &["sweep", "run-point", "study.toml"])
        .stdin(Stdio::piped())
        .stdout(unread())
        .spawn()
        .unwrap();
    let _ = child.stdin.take().unwrap().write_all(&plan);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(4), "{}", message(&output));
    assert!(message(&output).contains("takes no more at row 1"), "{}", message(&output));
}

#[test]
fn the_licences_of_all_that_is_compiled_in_are_printed() {
    let folder = folder();
    let output = command(folder.path(), &["--licences"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success());
    for part in
        ["  clap ", "Mozilla Public License", "SIL OPEN FONT LICENSE", "Vectors of Wycheproof", "Profiles of programs"]
    {
        assert!(text.contains(part), "{part}");
    }
}

/// What takes long says how far it is where somebody looks, from its beginning: on a terminal.
#[cfg(target_os = "linux")]
#[test]
fn long_work_says_how_far_it_is_on_a_terminal() {
    let long: [&[&str]; 4] = [
        &["collective", "hgx-h100-8gpu", "--op", "all-to-all", "--size", "64MiB", "--data", "exact"],
        &["sensitivity", "h100-nvl-tdx", "--copy", "h2d:1GiB", "--indices", "64"],
        &["new-machine"],
        &["risk", "h100-nvl-tdx", "--copy", "h2d:1GiB"],
    ];
    for arguments in long {
        let mut child = Command::new("python3")
            .args(["-c", "import pty, sys; pty.spawn(sys.argv[1:])", env!("CARGO_BIN_EXE_sealsim")])
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3 runs");
        let (mut said, mut pipe) = (Vec::new(), child.stdout.take().expect("a pipe"));
        while !String::from_utf8_lossy(&said).contains("? left") {
            let mut piece = [0; 256];
            let read = pipe.read(&mut piece).unwrap();
            assert!(read > 0, "{arguments:?}: {}", String::from_utf8_lossy(&said));
            said.extend_from_slice(&piece[..read]);
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
