//! `sealsim run --workload` as a process: the shipped workloads, results, and manifests.

use crate::{json_of, message};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::{
    fs,
    path::Path,
    process::{Command, Output, Stdio},
    time::Duration,
};
use tempfile::TempDir;

pub const MACHINE: &str = "h100-nvl-tdx";

pub fn sealsim(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sealsim"));
    command.current_dir(folder).args(arguments).stdin(Stdio::null()).output().unwrap()
}

/// Runs `text` as a workload.
pub fn run(folder: &Path, text: &str, arguments: &[&str]) -> Output {
    fs::write(folder.join("w.toml"), text).unwrap();
    sealsim(folder, &[&["run", MACHINE, "--workload", "w.toml"], arguments].concat())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Results, without asking what limits.
fn results(folder: &Path, text_: &str, arguments: &[&str]) -> Value {
    let output = run(folder, text_, &[arguments, &["--what-if", "0", "--format", "json"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    json_of(&output)
}

/// One operation in a file, its own line the third.
pub fn with(operation: &str) -> String {
    format!("# a workload\noperations = [\n    {operation},\n]\n")
}

pub fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn shipped(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("workloads").join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The results of a shipped workload, on timing alone.
fn timed(name: &str, cc: &str) -> Value {
    results(folder().path(), &shipped(name), &["--cc", cc, "--data", "none"])
}

fn number(copy: &Value, field: &str) -> u64 {
    copy[field].as_u64().unwrap_or_else(|| panic!("{field} of {copy:#}"))
}

fn copies(results: &Value) -> &Vec<Value> {
    results["copies"].as_array().unwrap()
}

#[test]
fn every_shipped_workload_is_documented() {
    let workloads = Path::new(env!("CARGO_MANIFEST_DIR")).join("workloads");
    let document = include_str!("../../docs/workloads.md");
    for entry in fs::read_dir(workloads).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(document.contains(&name), "{name} is not in docs/workloads.md");
    }
}

#[test]
fn the_workloads_that_show_the_file_deliver_on_both_machines() {
    for name in ["overlap-pipelined", "overlap-sequential", "upload-compute-download", "weight-streaming"] {
        for cc in ["on", "off"] {
            let results = timed(&format!("{name}.toml"), cc);
            assert!(copies(&results).iter().all(|copy| copy["delivered"] == true && copy["stream"].is_string()));
        }
    }
}

#[test]
fn the_example_in_the_documentation_is_of_the_shipped_file() {
    let document = include_str!("../../docs/workloads.md");
    let (_, example) = document.split_once("```toml\n").expect("an example");
    let (example, _) = example.split_once("\n```").expect("its end");
    assert!(example.lines().count() > 5 && shipped("weight-streaming.toml").contains(example), "{example}");
}

#[test]
fn on_one_stream_nothing_overlaps() {
    for cc in ["on", "off"] {
        let results = timed("upload-compute-download.toml", cc);
        let [up, down] = [0, 1].map(|copy| &results["copies"][copy]);
        let gap = number(down, "device_start_ps") - number(up, "device_end_ps");
        assert!(gap > 500_000_000, "the kernel lies between the copies: {gap}");
    }
}

#[test]
fn without_cc_the_pipelined_order_is_faster_and_copies_of_both_ways_overlap() {
    let (sequential, pipelined) = (timed("overlap-sequential.toml", "off"), timed("overlap-pipelined.toml", "off"));
    let bytes = |results: &Value| copies(results).iter().map(|copy| number(copy, "bytes")).sum::<u64>();
    assert_eq!(bytes(&sequential), bytes(&pipelined));
    assert!(number(&pipelined, "simulated_ps") * 3 < number(&sequential, "simulated_ps") * 2);
    let (last_up, first_down) = (&pipelined["copies"][3], &pipelined["copies"][4]);
    assert!(number(first_down, "device_start_ps") < number(last_up, "device_end_ps"));
}

#[test]
fn with_cc_copies_hold_the_host_so_that_none_begins_before_the_one_before_has_ended() {
    for (cc, blocks) in [("on", true), ("off", false)] {
        let results = timed("overlap-pipelined.toml", cc);
        let after = |pair: &[Value]| number(&pair[1], "start_ps") >= number(&pair[0], "end_ps");
        let one_by_one = copies(&results).windows(2).all(after);
        assert_eq!(one_by_one, blocks, "cc {cc}");
    }
}

#[test]
fn with_cc_the_pipelined_order_gains_less_than_a_tenth() {
    let [sequential, pipelined] =
        ["overlap-sequential.toml", "overlap-pipelined.toml"].map(|name| number(&timed(name, "on"), "simulated_ps"));
    assert!(pipelined < sequential && pipelined * 10 > sequential * 9, "{pipelined} {sequential}");
    assert!(pipelined > 5 * number(&timed("overlap-sequential.toml", "off"), "simulated_ps"));
}

#[test]
fn streamed_weights_hide_behind_kernels_and_keep_to_their_slots() {
    let results = timed("weight-streaming.toml", "off");
    let loads: Vec<_> = copies(&results).iter().filter(|copy| copy["stream"] == "load").collect();
    assert_eq!(loads.len(), 8);
    let moved = |copy: &Value| number(copy, "device_end_ps") - number(copy, "device_start_ps");
    let kernels = 8 * 500_000_000;
    let apart = loads.iter().map(|copy| moved(copy)).sum::<u64>() + kernels;
    assert!(number(&results, "simulated_ps") * 5 < apart * 4, "{} of {apart}", results["simulated_ps"]);
    // Layer n goes where layer n - 2 was: not before n - 1 kernels have run.
    for (layer, load) in loads.iter().enumerate().skip(2) {
        let computed = (layer as u64 - 1) * 500_000_000;
        assert!(number(load, "device_start_ps") >= number(loads[0], "device_end_ps") + computed, "layer {layer}");
    }
}

/// A workload with everything in it, small enough for the kernel that ticks every cycle.
pub const SMALL: &str = r#"
operations = [
    { op = "repeat", count = 2, operations = [
        { op = "copy", direction = "h2d", size = "9000 B", stream = "s{i}", buffer = "in", pages = "cold" },
        { op = "kernel", duration = "3 us", stream = "s{i}" },
        { op = "record", event = "e{i}", stream = "s{i}" },
    ] },
    { op = "wait", event = "e1", stream = "s0" },
    { op = "copy", direction = "d2d", size = "1 MiB", stream = "s0" },
    { op = "sync", stream = "s0" },
    { op = "copy", direction = "d2h", size = "5 kB", memory = "pageable", stream = "s1", pages = "fresh", blocking = true },
    { op = "sync" },
]
"#;

/// What of the results depends on the workload alone.
fn figures(arguments: &[&str]) -> Value {
    let mut results = results(folder().path(), SMALL, arguments);
    results.as_object_mut().unwrap().retain(|key, _| key != "host");
    results
}

#[test]
fn both_kernels_and_both_data_modes_give_the_same_figures() {
    for cc in ["on", "off"] {
        let reference = figures(&["--cc", cc]);
        assert_eq!(reference, figures(&["--cc", cc, "--kernel", "every-cycle"]), "cc {cc}");
        assert_eq!(reference, figures(&["--cc", cc, "--data", "none"]), "cc {cc}");
    }
}

#[test]
fn copies_say_their_stream_and_dates() {
    let streams = |results: &Value| copies(results).iter().map(|copy| copy["stream"].clone()).collect::<Vec<_>>();
    let results = figures(&["--cc", "off", "--digest"]);
    assert_eq!(streams(&results), ["s0", "s1", "s0", "s1"]);
    for copy in copies(&results) {
        let dates = ["start_ps", "device_start_ps", "device_end_ps", "end_ps"].map(|field| number(copy, field));
        assert!(dates.is_sorted(), "{copy:#}");
        assert!(number(copy, "returned_ps") >= dates[0]);
        assert!(copy["sha256"].as_str().is_some_and(|digest| digest.len() == 64));
    }
    let alone = sealsim(folder().path(), &["run", MACHINE, "--copy", "h2d:4096", "--format", "json"]);
    let alone = json_of(&alone);
    assert_eq!(streams(&alone), [Value::Null]);
    assert!(alone["copies"][0]["device_start_ps"].is_u64());
}

#[test]
fn the_text_names_streams() {
    let output = run(folder().path(), SMALL, &["--all"]);
    let text = text(&output.stdout);
    assert!(text.contains("copy  stream  dir"), "{text}");
    assert!(text.lines().any(|line| line.trim_start().starts_with("4  s1      d2h  pageable   5 kB")), "{text}");
    assert_eq!(output.stderr, b"");
}

/// A manifest with the digest over itself that docs/results.md describes.
fn sealed(manifest: &Value) -> String {
    let mut manifest = manifest.clone();
    manifest.as_object_mut().unwrap().remove("digest");
    let digest = hex::encode(Sha256::digest(manifest.to_string()));
    manifest["digest"] = json!(digest);
    manifest.to_string()
}

#[test]
fn a_manifest_repeats_a_workload_without_its_file() {
    let folder = folder();
    let first = results(folder.path(), SMALL, &["--manifest", "run.json", "--seed", "5"]);
    let manifest: Value = serde_json::from_slice(&fs::read(folder.path().join("run.json")).unwrap()).unwrap();
    let steps = manifest["workload"].as_array().unwrap();
    assert_eq!(steps[0], json!({ "op": "copy", "stream": "s0", "buffer": "in", "pages": "cold", "blocking": false }));
    assert_eq!(steps[4], json!({ "op": "kernel", "stream": "s1", "duration": "3 us" }));
    assert_eq!(steps.last(), Some(&json!({ "op": "sync" })));
    fs::remove_file(folder.path().join("w.toml")).unwrap();
    let again = sealsim(folder.path(), &["rerun", "run.json", "--format", "json"]);
    assert_eq!(again.status.code(), Some(0), "{}", text(&again.stderr));
    let again = json_of(&again);
    assert_eq!(again["rerun"]["same"], true);
    assert_eq!(again["copies"], first["copies"]);

    let mut changed = manifest.clone();
    changed["workload"][3]["stream"] = json!("s0");
    fs::write(folder.path().join("changed.json"), sealed(&changed)).unwrap();
    let output = sealsim(folder.path(), &["rerun", "changed.json"]);
    assert_eq!(output.status.code(), Some(1), "{}", message(&output));
    changed["workload"][6]["event"] = json!("never");
    fs::write(folder.path().join("changed.json"), sealed(&changed)).unwrap();
    let output = sealsim(folder.path(), &["rerun", "changed.json"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(message(&output).contains("step 7 of `workload`: nothing earlier records"), "{}", message(&output));
}

#[test]
fn a_manifest_of_copies_alone_has_no_workload() {
    let folder = folder();
    sealsim(folder.path(), &["run", MACHINE, "--copy", "h2d:4096", "--manifest", "run.json"]);
    let manifest: Value = serde_json::from_slice(&fs::read(folder.path().join("run.json")).unwrap()).unwrap();
    assert!(manifest.get("workload").is_none() && manifest["copies"].is_array());
}

#[test]
fn a_workload_of_kernels_alone_runs_and_repeats() {
    let folder = folder();
    let kernels = "operations = [{ op = \"repeat\", count = 3, operations = [\n\
                   { op = \"kernel\", duration = \"20 us\", stream = \"a\" }] }]";
    let results = results(folder.path(), kernels, &["--manifest", "run.json"]);
    assert_eq!(results["copies"], json!([]));
    assert!(number(&results, "simulated_ps") >= 60_000_000);
    let again = sealsim(folder.path(), &["rerun", "run.json"]);
    assert_eq!(again.status.code(), Some(0), "{}", text(&again.stderr));
}

#[test]
fn one_copy_takes_a_payload_and_gives_what_arrived() {
    let folder = folder();
    let payload: Vec<u8> = (0..70_001u32).map(|i| (i.wrapping_mul(0x9E37_79B9) >> 24) as u8).collect();
    fs::write(folder.path().join("payload"), &payload).unwrap();
    let whole = "operations = [{ op = \"kernel\", duration = \"1 us\", stream = \"a\" },\n\
                 { op = \"copy\", direction = \"h2d\", stream = \"a\" }]";
    results(folder.path(), whole, &["--payload", "payload", "--out", "out", "--manifest", "run.json"]);
    assert!(fs::read(folder.path().join("out")).unwrap() == payload);
    let again = sealsim(folder.path(), &["rerun", "run.json"]);
    assert_eq!(again.status.code(), Some(0), "{}", text(&again.stderr));
}

#[test]
fn a_fault_in_a_workload_is_not_delivered() {
    let output = run(folder().path(), SMALL, &["--inject", "gpu.pce0.tags.flip", "--format", "json"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let results = json_of(&output);
    assert_eq!(results["copies"][0]["delivered"], false);
    assert!(message(&output).contains("copy 1 was not delivered"), "{}", message(&output));
}

#[test]
fn help_teaches_workloads() {
    let output = sealsim(folder().path(), &["run", "--help"]);
    let help = text(&output.stdout);
    for phrase in ["--workload <FILE|NAME>", "op = \"kernel\", duration = \"2 ms\"", "docs/workloads.md"] {
        assert!(help.contains(phrase), "{phrase}: {help}");
    }
}

#[cfg(unix)]
#[test]
fn an_interrupted_workload_leaves_no_manifest() {
    let folder = folder();
    let endless = with("{ op = \"copy\", direction = \"h2d\", size = \"64 GiB\", stream = \"a\" }");
    fs::write(folder.path().join("w.toml"), endless).unwrap();
    let child = Command::new(env!("CARGO_BIN_EXE_sealsim"))
        .env("COLUMNS", "240")
        .current_dir(folder.path())
        .args(["run", MACHINE, "--workload", "w.toml", "--manifest", "run.json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The manifest's temporary file shows that it listens for signals.
    while fs::read_dir(folder.path()).unwrap().count() < 2 {
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_millis(200));
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", message(&output));
    assert!(message(&output).contains("interrupted at"), "{}", message(&output));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

/// A workload that says something about itself.
fn headed(head: &str) -> String {
    format!("{head}\noperations = [{{ op = \"copy\", direction = \"h2d\", size = \"4 KiB\", stream = \"a\" }}]\n")
}

/// Runs `sealsim run` on `w.toml` in a folder, without CONFIG.
fn alone(folder: &Path, text: &str, arguments: &[&str]) -> Output {
    fs::write(folder.join("w.toml"), text).unwrap();
    sealsim(
        folder,
        &[&["run", "--workload", "w.toml", "--data", "none", "--what-if", "0", "--format", "json"], arguments].concat(),
    )
}

#[test]
fn a_workload_that_names_its_machine_needs_no_other_and_config_takes_precedence() {
    let folder = folder();
    let text = headed("machine = \"h100-tdx-gen5\"\nsummary = \"a copy\"\nsource = [\"none\"]");
    assert_eq!(json_of(&alone(folder.path(), &text, &[]))["machine"], "h100-tdx-gen5");
    let other = sealsim(folder.path(), &["run", MACHINE, "--workload", "w.toml", "--data", "none", "--format", "json"]);
    assert_eq!(json_of(&other)["machine"], MACHINE);
    // A machine beside the workload, wherever the program is started.
    let below = folder.path().join("below");
    fs::create_dir(&below).unwrap();
    fs::write(below.join("mine.toml"), "extends = \"h100-nvl-tdx\"\nname = \"mine\"\n").unwrap();
    fs::write(below.join("w.toml"), headed("machine = \"mine.toml\"")).unwrap();
    let beside = ["run", "--workload", "below/w.toml", "--data", "none", "--format", "json"];
    assert_eq!(json_of(&sealsim(folder.path(), &beside))["machine"], "mine");
}

#[test]
fn without_any_machine_or_with_one_that_does_not_exist_the_remedy_is_named() {
    let folder = folder();
    let none = alone(folder.path(), &headed(""), &[]);
    assert_eq!(none.status.code(), Some(2), "{}", message(&none));
    assert!(message(&none).contains("no machine") && message(&none).contains("sealsim list"), "{}", message(&none));
    let wrong = alone(folder.path(), &headed("machine = \"h100-nvl-tdz\""), &[]);
    assert_eq!(wrong.status.code(), Some(3), "{}", message(&wrong));
    assert!(message(&wrong).contains("w.toml:1:11"), "{}", message(&wrong));
    assert!(message(&wrong).contains("did you mean \"h100-nvl-tdx\"?"), "{}", message(&wrong));
    for (head, says) in [
        ("machine = 3", "`machine` is an integer"),
        ("summary = \"\"", "`summary` is no line"),
        ("source = \"x\"", "`source` is a text, but must be an array of texts"),
        ("sumary = \"x\"", "did you mean `summary`?"),
    ] {
        let output = alone(folder.path(), &headed(head), &[]);
        assert_eq!(output.status.code(), Some(3), "{head}: {}", message(&output));
        assert!(message(&output).contains(says), "{head}: {}", message(&output));
    }
}

#[test]
fn shipped_workloads_have_names_that_a_file_takes_precedence_over() {
    let folder = folder();
    let by_name = |arguments: &[&str]| {
        let first = ["run", "--workload", "upload-compute-download", "--data", "none", "--what-if", "0"];
        sealsim(folder.path(), &[&first[..], &["--format", "json"], arguments].concat())
    };
    let results = json_of(&by_name(&["--cc", "off"]));
    assert_eq!((copies(&results).len(), &results["machine"]), (2, &json!(MACHINE)));
    fs::write(folder.path().join("upload-compute-download"), headed("machine = \"h100-tdx-gen5\"")).unwrap();
    assert_eq!(copies(&json_of(&by_name(&[]))).len(), 1);
    let slip = sealsim(folder.path(), &["run", "--workload", "upload-compute-dowload", "--data", "none"]);
    assert_eq!(slip.status.code(), Some(4));
    assert!(message(&slip).contains("the shipped `upload-compute-download`?"), "{}", message(&slip));
}

#[test]
fn the_list_shows_every_workload_with_its_summary() {
    let output = sealsim(folder().path(), &["list", "--format", "json"]);
    let rows = json_of(&output);
    let listed: Vec<_> = rows.as_array().unwrap().iter().filter(|row| row["kind"] == "workload").collect();
    let files = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("workloads")).unwrap().count();
    assert_eq!(listed.len(), files);
    assert!(listed.iter().all(|row| row["summary"].as_str().is_some_and(|summary| summary.len() > 20)), "{rows:#}");
}

#[test]
#[ignore = "of a document: .ci/run"]
fn the_documents_collectives_of_a_training_are_what_comes_out() {
    let output = Command::new(env!("CARGO_BIN_EXE_sealsim"))
        .env("COLUMNS", "240")
        .args(["run", "--workload", "ddp-gpt2-xl", "--data", "none", "--what-if", "0", "--all"])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let table = text.split("\n\n").find(|part| part.starts_with("collective ")).expect("a table of collectives");
    assert!(include_str!("../../docs/workloads.md").contains(table), "docs/workloads.md lacks this table:\n{table}");
}
