//! Completions, asked for as shells ask.

use std::{collections::BTreeSet, fs, path::Path, process::Command};

const PROGRAM: &str = env!("CARGO_BIN_EXE_sealsim");

/// What may follow these words in a folder, asked for as bash asks: words are split at `=` and `:`.
fn follow(folder: &Path, words: &[&str]) -> BTreeSet<String> {
    let answer = Command::new(PROGRAM)
        .current_dir(folder)
        .env("SEALSIM_COMPLETE", "bash")
        .args(["--", "sealsim"])
        .args(words)
        .output()
        .unwrap();
    assert!(answer.status.success(), "{words:?}: {answer:?}");
    String::from_utf8(answer.stdout).unwrap().lines().map(str::to_owned).collect()
}

fn names(kind: &str) -> BTreeSet<String> {
    let list = Command::new(PROGRAM).args(["list", "--format", "json"]).output().unwrap();
    let list: serde_json::Value = serde_json::from_slice(&list.stdout).unwrap();
    let rows = list.as_array().unwrap().iter().filter(|row| row["kind"] == kind);
    rows.map(|row| row["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn every_verb_completes_machines_and_designs_by_the_name_of_its_value() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("mine.toml"), "").unwrap();
    fs::write(folder.path().join("notes.txt"), "").unwrap();
    let with_file = |kind| names(kind).into_iter().chain(["mine.toml".to_owned()]).collect::<BTreeSet<_>>();
    let (machines, designs) = (with_file("machine"), with_file("design"));
    for verb in ["run", "compare", "describe", "risk", "faults", "sensitivity"] {
        let offered = follow(folder.path(), &[verb, ""]);
        assert!(machines.is_subset(&offered), "{verb}: {offered:?}");
        assert!(!offered.contains("notes.txt") && offered.is_disjoint(&names("design")), "{verb}: {offered:?}");
        let offered = follow(folder.path(), &[verb, "h100-nvl-tdx", "--design", ""]);
        assert_eq!(offered, designs, "{verb}");
    }
    assert_eq!(follow(folder.path(), &["replay", "--hw", "h100-nvl-t"]), ["h100-nvl-tdx".to_owned()].into());
    let offered = follow(folder.path(), &["run", "h100-nvl-tdx", "--design", "direct+ov"]);
    assert_eq!(offered, ["direct+overlap".to_owned()].into());
    let offered = follow(folder.path(), &["run", "--workload", ""]);
    assert_eq!(offered, with_file("workload"));
}

#[test]
fn parameters_and_fault_points_are_completed() {
    let folder = tempfile::tempdir().unwrap();
    let run = |words: &[&str]| follow(folder.path(), &[&["run", "h100-nvl-tdx"], words].concat());
    let paths = run(&["--set", "tag_queue."]);
    assert!(paths.contains("tag_queue.release=") && paths.iter().all(|path| path.ends_with('=')), "{paths:?}");
    assert!(run(&["--set", ""]).len() > 300);
    // Only what comes after the `=` is given back.
    let policies: BTreeSet<_> = ["hold", "skid", "withhold_completion", "eager"].map(str::to_owned).into();
    assert_eq!(run(&["--set", "tag_queue.release", "="]), policies);
    assert_eq!(run(&["--set", "tag_queue.release", "=", "ho"]), ["hold".to_owned()].into());
    assert_eq!(run(&["--set", "link.max_payload", "=", ""]), BTreeSet::new());
    let points = run(&["--inject", "link.h2d."]);
    assert!(points.contains("link.h2d.flip"), "{points:?}");
    assert!(run(&["--wh"]).contains("--what-if"));
    assert!(follow(folder.path(), &["com"]).contains("compare"));
}

#[test]
fn bash_gets_what_the_script_asks_for() {
    let script = Command::new(PROGRAM).args(["completions", "bash"]).output().unwrap();
    let script = String::from_utf8(script.stdout).unwrap();
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(PROGRAM, folder.path().join("sealsim")).unwrap();
    // `compopt` is refused outside of a completion.
    let lines = "COMP_WORDS=(sealsim run h100-nvl-tdx --set tag_queue.release = ea); COMP_CWORD=6; compopt() { :; }; _sealsim; \
                 printf '%s\\n' \"${COMPREPLY[@]}\"; complete -p sealsim";
    let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());
    let bash = Command::new("bash").env("PATH", path).args(["-c", &format!("{script}\n{lines}")]).output().unwrap();
    let answer = String::from_utf8_lossy(&bash.stdout);
    assert!(answer.starts_with("eager\n") && answer.contains("-F _sealsim sealsim"), "{answer} {bash:?}");
}

#[test]
fn every_shell_has_a_script_and_an_unknown_one_is_refused() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = Command::new(PROGRAM).args(["completions", shell]).output().unwrap();
        assert!(
            script.status.success() && String::from_utf8_lossy(&script.stdout).contains("SEALSIM_COMPLETE"),
            "{shell}"
        );
    }
    let asked = Command::new(PROGRAM).env("SEALSIM_COMPLETE", "tcsh").args(["--", "sealsim", "ru"]).output().unwrap();
    assert!(!asked.status.success() && asked.stdout.is_empty(), "{asked:?}");
}
