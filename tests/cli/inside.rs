//! What a run shows of its inside, from the command line.

use super::tutorials::agree;
use serde_json::Value as Json;
use std::{fs, path::Path, process::Command};

/// What a run of the program printed.
struct Printed {
    status: i32,
    stdout: String,
    stderr: String,
}

fn sealsim(arguments: &[&str]) -> Printed {
    let (status, stdout, stderr) = crate::printed(arguments);
    Printed { status, stdout, stderr }
}

fn json(arguments: &[&str]) -> Json {
    let printed = sealsim(arguments);
    assert_eq!(printed.status, 0, "{}", printed.stderr);
    serde_json::from_str(&printed.stdout).unwrap()
}

#[test]
fn a_run_with_all_outputs_is_the_same_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let plain = json(&["run", "h100-nvl-tdx", "--copy", "h2d:300000", "--format", "json"]);
    let (trace, capture, events) = (path("t@2"), path("c.pcapng"), path("e.csv"));
    let manifest = path("m.json");
    let all = ["--trace", &trace, "--capture", &capture, "--events", &events, "--manifest", &manifest];
    let shown = json(&[&["run", "h100-nvl-tdx", "--copy", "h2d:300000", "--format", "json"], &all[..]].concat());
    assert_eq!(plain["event_digest"], shown["event_digest"]);
    assert_eq!(plain["units"], shown["units"]);
    for file in [trace, capture, events, manifest] {
        assert!(fs::metadata(&file).unwrap().len() > 1_000, "{file}");
    }
}

#[test]
fn a_window_holds_less_and_what_is_no_window_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let size = |window: &str| {
        let file = folder.path().join("events").display().to_string();
        let target = format!("{file}{window}");
        assert_eq!(sealsim(&["run", "h100-nvl-tdx", "--copy", "h2d:100000", "--events", &target]).status, 0);
        fs::metadata(&file).unwrap().len()
    };
    let (all, part, none) = (size(""), size("@40us..50us"), size("@1s..2s"));
    assert!(none < part && part < all, "{none} {part} {all}");
    for (target, why) in [("x@2us..1us", "empty"), ("x@1..2us", "1"), ("@1us..2us", "file")] {
        let refused = sealsim(&["run", "h100-nvl-tdx", "--copy", "h2d:1", "--trace", target]);
        assert_eq!(refused.status, 2);
        assert!(refused.stderr.contains(why), "{target}: {}", refused.stderr);
    }
}

#[test]
fn the_registers_of_a_message_that_is_not_there_are_missed_aloud() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.fst").display().to_string();
    let run = |message: &str, more: &[&str]| {
        let copy = ["run", "h100-nvl-tdx", "--copy", "h2d:3000000", "--what-if", "0"];
        let waves = ["--waves", &file, "--waves-message", message];
        let printed = sealsim(&[&copy[..], &waves, more].concat());
        (printed.status, printed.stderr, fs::metadata(&file).map_or(0, |file| file.len()))
    };
    let (status, said, with) = run("2", &[]);
    assert_eq!((status, said.contains("no registers")), (0, false), "{said}");
    let (status, said, without) = run("99", &[]);
    assert_eq!((status, said.contains("message 99")), (0, true), "{said}");
    assert!(with > 2 * without, "{with} {without}");
    let (status, said, _) = run("1", &["--data", "none"]);
    assert_eq!((status, said.contains("--data none")), (2, true), "{said}");
}

#[test]
fn two_outputs_in_one_file_are_refused_and_flits_are_not_captured() {
    let clash = sealsim(&["run", "h100-nvl-tdx", "--copy", "h2d:1", "--trace", "same", "--events", "same"]);
    assert_eq!(clash.status, 2);
    assert!(clash.stderr.contains("same file"), "{}", clash.stderr);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("c").display().to_string();
    let flits = sealsim(&["run", "h100-nvl-tdx", "--set", "link.generation=6", "--copy", "h2d:1", "--capture", &file]);
    assert_eq!(flits.status, 2);
    assert!(flits.stderr.contains("flits"), "{}", flits.stderr);
    assert!(!Path::new(&file).exists());
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_ends_the_run_with_its_name() {
    for flag in ["--trace", "--capture", "--events"] {
        let full = sealsim(&["run", "h100-nvl-tdx", "--copy", "h2d:1MiB", flag, "/dev/full"]);
        assert_eq!(full.status, 4, "{flag}: {}", full.stderr);
        assert!(full.stderr.contains("/dev/full"), "{}", full.stderr);
    }
}

/// A manifest of a run.
fn manifest(folder: &Path, name: &str, more: &[&str]) -> String {
    let file = folder.join(name).display().to_string();
    let made =
        sealsim(&[&["run", "h100-nvl-tdx", "--data", "none", "--what-if", "0", "--manifest", &file], more].concat());
    assert_eq!(made.status, 0, "{}", made.stderr);
    file
}

#[test]
fn an_explanation_adds_up_and_measures_what_would_be_next() {
    let folder = tempfile::tempdir().unwrap();
    let file = manifest(folder.path(), "m", &["--copy", "h2d:2MiB"]);
    let told = json(&["explain", &file, "--message", "slowest", "--format", "json"]);
    let sum = |shares: &Json| {
        shares.as_array().unwrap().iter().map(|share| share["time_fs"].as_u64().unwrap()).sum::<u64>() / 1_000
    };
    assert_eq!(sum(&told["path"]["shares"]), told["simulated_ps"].as_u64().unwrap());
    // The cipher seals at 1.6 B/cycle of 2.1 GHz: nothing else takes as long.
    assert_eq!(
        (&told["path"]["shares"][0]["place"], &told["path"]["shares"][0]["state"]),
        (&"host.cipher".into(), &"busy".into())
    );
    assert_eq!(told["freed"]["parameter"], "cipher.seal_rate");
    assert!(told["freed"]["simulated_ps"].as_u64().unwrap() * 2 < told["simulated_ps"].as_u64().unwrap());
    let message = &told["message"];
    assert_eq!(
        sum(&message["path"]["shares"]),
        message["end_ps"].as_u64().unwrap() - message["start_ps"].as_u64().unwrap()
    );
    let text = sealsim(&["explain", &file, "--message", "1"]).stdout;
    assert!(
        text.contains("with cipher.seal_rate = 1.6 B/cycle as good as free (") && text.contains("message 1 of copy 1"),
        "{text}"
    );
    let none = sealsim(&["explain", &file, "--message", "9"]);
    assert_eq!(none.status, 2);
    assert!(none.stderr.contains("has 2"), "{}", none.stderr);
}

#[test]
fn a_difference_is_found_and_its_changes_add_up() {
    let folder = tempfile::tempdir().unwrap();
    let copy = ["--copy", "h2d:200000"];
    let one = manifest(folder.path(), "a", &copy);
    let other = manifest(folder.path(), "b", &[&copy[..], &["--set", "copy_engine.outstanding_reads=16"]].concat());
    let same = json(&["diff", &one, &one, "--format", "json"]);
    assert_eq!((&same["same"], &same["first"]), (&true.into(), &Json::Null));
    let parts = json(&["diff", &one, &other, "--format", "json"]);
    assert_eq!(parts["same"], false);
    let sum = |side: &str| {
        let changes = parts["path"].as_array().unwrap();
        changes.iter().map(|change| change[side].as_i64().unwrap()).sum::<i64>()
    };
    let end = |side: usize| parts["end_ps"][side].as_i64().unwrap();
    assert!(((sum("other_fs") - sum("one_fs")) / 1_000 - (end(1) - end(0))).abs() <= 1);
    // The first read that waits for another is the seventeenth: nothing parts before it.
    assert_eq!(parts["first"]["event"]["what"], "MRd", "{}", parts["first"]);
    let text = sealsim(&["diff", &one, &other]).stdout;
    assert!(text.contains("the first event that parts them: ") && text.contains("on the paths"), "{text}");
}

#[test]
fn lists_of_events_are_compared_as_manifests_are() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (one, other) = (path("one"), path("other"));
    for (file, reads) in [(&one, "32"), (&other, "16")] {
        let set = format!("copy_engine.outstanding_reads={reads}");
        let run = ["run", "h100-nvl-tdx", "--copy", "h2d:200000", "--data", "none", "--set", &set, "--events", file];
        assert_eq!(sealsim(&run).status, 0);
    }
    let same = json(&["diff", &one, &one, "--format", "json"]);
    assert_eq!(same["same"], true);
    let parts = json(&["diff", &one, &other, "--format", "json"]);
    assert_eq!((&parts["first"]["event"]["what"], &parts["path"]), (&"MRd".into(), &Json::Null));
    fs::write(path("cut"), &fs::read_to_string(&one).unwrap()[..2_000]).unwrap();
    fs::write(path("other_text"), "hello").unwrap();
    for (wrong, status) in [("other_text", 3), ("none", 4)] {
        let refused = sealsim(&["diff", &one, &path(wrong)]);
        assert_eq!(refused.status, status, "{wrong}: {}", refused.stderr);
        assert!(refused.stderr.contains(wrong), "{}", refused.stderr);
    }
}

/// What stands in docs/tour.md is what comes out.
#[test]
fn the_tour_shows_what_comes_out() {
    let folder = tempfile::tempdir().unwrap();
    let file = manifest(folder.path(), "m", &["--copy", "h2d:1MiB"]);
    let narrow = Command::new(env!("CARGO_BIN_EXE_sealsim"))
        .env("COLUMNS", "80")
        .args(["explain", &file, "--message", "1"])
        .output();
    let told = String::from_utf8(narrow.unwrap().stdout).unwrap();
    let tour = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/tour.md")).unwrap();
    let (_, rest) = tour.split_once("<!-- explain -->\n```\n").unwrap();
    let (shown, _) = rest.split_once("```").unwrap();
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    assert!(agree(&lines(shown), &lines(&told)), "{told}");
}
