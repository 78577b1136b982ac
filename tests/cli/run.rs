//! `sealsim run`, `rerun` and `list --faults` as processes: results, files, exit statuses and messages.

use crate::{json_of, message};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::{
    fs,
    path::Path,
    process::{Command, Output, Stdio},
    thread,
    time::{Duration, Instant},
};
use tempfile::TempDir;

const MACHINE: &str = "h100-nvl-tdx";

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sealsim"));
    command.env("COLUMNS", "240").current_dir(folder).args(arguments).stdin(Stdio::null());
    command
}

fn sealsim(folder: &Path, arguments: &[&str]) -> Output {
    command(folder, arguments).output().unwrap()
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    sealsim(folder, &[&["run", MACHINE], arguments].concat())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// What a run with `--format json` prints that ends with 0. `most` parameters are asked that may limit it.
fn limited(folder: &Path, arguments: &[&str], most: &str) -> Value {
    let output = run(folder, &[arguments, &["--what-if", most, "--format", "json"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    json_of(&output)
}

/// The results, without asking what limits.
fn results(folder: &Path, arguments: &[&str]) -> Value {
    limited(folder, arguments, "0")
}

fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("payload"), payload()).unwrap();
    folder
}

/// Bytes of no round number.
fn payload() -> Vec<u8> {
    (0..1_100_007u32).map(|i| (i.wrapping_mul(0x9E37_79B9) >> 24) as u8).collect()
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_file_arrives_byte_for_byte_both_ways() {
    let folder = folder();
    let designs: [&[&str]; 3] = [&[], &["--design", "ide"], &["--design", "ide-8"]];
    for (design, direction) in designs.into_iter().flat_map(|design| ["h2d", "d2h", "d2d"].map(|way| (design, way))) {
        let arguments = ["--copy", direction, "--payload", "payload", "--out", "out", "--digest"];
        let results = results(folder.path(), &[&arguments, design].concat());
        let copy = &results["copies"][0];
        assert_eq!(copy["delivered"], true);
        assert_eq!(copy["bytes"], payload().len());
        assert_eq!(copy["sha256"], hex::encode(Sha256::digest(payload())));
        assert!(fs::read(folder.path().join("out")).unwrap() == payload(), "{direction}");
        fs::remove_file(folder.path().join("out")).unwrap();
    }
    assert_eq!(names(folder.path()), ["payload"]);
}

#[test]
fn key_and_ivs_are_given_for_each_gpu_that_seals() {
    let folder = folder();
    let own = |settings: &[&str]| results(folder.path(), &[&["--copy", "h2d:4KiB"], settings].concat());
    let fields = ["key", "iv_mask", "first_iv"];
    let of = |keys: &Value| fields.map(|name| keys["h2d"][name].as_str().map(str::len));
    assert_eq!(of(&own(&[])["keys"]), [Some(64), Some(24), Some(24)]);
    assert_eq!(of(&own(&["--design", "aegis-256"])["keys"]), [Some(64); 3]);
    assert_eq!(of(&own(&["--design", "ide"])["keys"]), [None; 3]);
    let pair = own(&["--set", "gpu=[{count=2}]", "--data", "none"]);
    assert_eq!(of(&pair["keys"]), [None; 3]);
    assert_ne!(pair["gpus"][0]["keys"]["h2d"]["key"], pair["gpus"][1]["keys"]["h2d"]["key"]);
}

#[test]
fn a_smaller_size_takes_the_beginning_of_the_payload() {
    let folder = folder();
    results(folder.path(), &["--copy", "h2d:4097", "--payload", "payload", "--out", "out"]);
    assert_eq!(fs::read(folder.path().join("out")).unwrap(), payload()[..4097]);
}

#[test]
fn the_results_have_their_fields_and_add_up() {
    let folder = folder();
    let copies = ["--copy", "h2d:1MiB", "--copy", "d2h:300000:pageable", "--copy", "d2d:64KiB"];
    let results = limited(folder.path(), &copies, "3");
    let kinds = |value: &Value, key: &str| value[key].clone();
    assert_eq!(kinds(&results, "schema_version"), 4);
    for digest in ["config_digest", "event_digest"] {
        assert!(results[digest].as_str().is_some_and(|digest| digest.len() == 64), "{results:#}");
    }
    let rows = results["copies"].as_array().unwrap();
    let stated: Vec<_> = rows.iter().map(|row| (kinds(row, "direction"), kinds(row, "host_memory"))).collect();
    assert_eq!(
        stated,
        [(json!("h2d"), json!("pinned")), (json!("d2h"), json!("pageable")), (json!("d2d"), Value::Null)]
    );
    for copy in rows {
        assert_eq!(
            (&copy["delivered"], &copy["reason"], &copy["tags_failed"]),
            (&json!(true), &Value::Null, &json!(0))
        );
        assert_eq!(copy["tags_verified"], copy["messages"]);
        assert!(copy.get("sha256").is_none());
        let number = |key: &str| copy[key].as_f64().unwrap();
        let rate = number("bytes") * 1e3 / (number("end_ps") - number("start_ps"));
        assert!((rate / number("gb_per_s") - 1.0).abs() < 1e-4, "{copy:#}");
        let busiest = &copy["busiest"];
        assert!(busiest["unit"].is_string() && busiest["fraction"].as_f64().is_some_and(|part| part > 0.0), "{copy:#}");
        // Only the copy that ends last is measured.
        if copy["end_ps"] == rows[2]["end_ps"] {
            let best = &copy["limited_by_parts"]["best"][0];
            let named = format!("{} = {}: ", best["parameter"].as_str().unwrap(), best["value"].as_str().unwrap());
            assert!(copy["limited_by"].as_str().unwrap().starts_with(&named), "{copy:#}");
        } else {
            assert_eq!((&copy["limited_by"], &copy["limited_by_parts"]), (&Value::Null, &Value::Null), "{copy:#}");
        }
    }
    assert_eq!(rows[0]["end_ps"], rows[1]["start_ps"]);
    let units = results["units"].as_object().unwrap();
    assert!(units.len() > 5);
    for (name, unit) in units {
        let number = |key: &str| unit[key].as_u64().unwrap();
        let stalls: u64 = unit["stalls"].as_object().unwrap().values().map(|cycles| cycles.as_u64().unwrap()).sum();
        assert_eq!(number("busy") + number("idle") + stalls, number("cycles"), "{name}");
        assert!(number("clock_hz") > 0);
    }
    let carried = |way: &str| results["link"][way]["payload_bytes"].as_u64().unwrap();
    assert!(carried("h2d") >= 1 << 20 && carried("d2h") >= 300_000);
    assert!(results["tag_queue"]["peak_tag_queue"].as_u64().is_some_and(|peak| peak > 0));
    assert!(!results["assumed_parameters"].as_array().unwrap().is_empty());
    assert!(results["host"]["wall_s"].as_f64().is_some_and(|wall| wall > 0.0));
}

#[test]
fn the_text_begins_with_what_was_delivered_and_ends_with_what_limited_each_copy() {
    let folder = folder();
    let output = run(folder.path(), &["--copy", "h2d:1MiB", "--copy", "d2h:1MiB", "--all"]);
    let text = text(&output.stdout);
    assert!(text.starts_with("2 copies, 2 MiB in all, in ") && text.contains(" GB/s, all delivered\ncopy "), "{text}");
    let last = text.split("\n\n").last().expect("a part");
    let begins: Vec<_> = last.lines().filter(|line| line.starts_with("copy ")).map(|line| &line[..6]).collect();
    assert_eq!(begins, ["copy 1", "copy 2"], "{text}");
    assert_eq!(output.stderr, b"");
}

#[test]
fn what_if_gives_as_many_parameters_as_are_asked_for_and_none_for_nothing() {
    let folder = folder();
    let limit = |most: &str| {
        let copy = ["--copy", "h2d:4KiB", "--data", "none", "--all"];
        let lines = text(&run(folder.path(), &[&copy[..], &["--what-if", most]].concat()).stdout);
        let results = limited(folder.path(), &copy, most);
        (lines, results["copies"][0]["limited_by_parts"].clone())
    };
    let (lines, parts) = limit("3");
    let best = parts["best"].as_array().unwrap();
    assert_eq!(best.len(), 3, "{parts:#}");
    let gains: Vec<_> = best.iter().map(|one| one["gain_percent"].as_f64().unwrap()).collect();
    assert!(gains.is_sorted_by(|one, other| one >= other) && gains[2] >= 3.0, "{parts:#}");
    assert_eq!(lines.lines().filter(|line| line.starts_with("  and by ")).count(), 2, "{lines}");
    let (lines, parts) = limit("0");
    assert!(lines.lines().nth(1).is_some_and(|line| line.starts_with("copy 1: host.driver busy ")), "{lines}");
    assert_eq!(parts, Value::Null);
    let too_many = run(folder.path(), &["--copy", "h2d:4KiB", "--what-if", "21"]);
    assert_eq!(too_many.status.code(), Some(2));
}

/// What a run gives that does not depend on the host, but for the units' accounts, and these.
fn figures(extra: &[&str]) -> (Value, Value) {
    let folder = folder();
    let mut results = results(folder.path(), &[&["--copy", "h2d:70000", "--copy", "d2h:5000"], extra].concat());
    let all = results.as_object_mut().unwrap();
    let units = all.remove("units").unwrap();
    all.remove("host");
    (results, units)
}

#[test]
fn a_run_repeats_to_the_last_figure() {
    assert_eq!(figures(&[]), figures(&[]));
}

#[test]
fn a_run_without_data_has_the_same_figures() {
    assert_eq!(figures(&["--data", "none"]), figures(&[]));
}

#[test]
fn both_kernels_give_the_same_figures() {
    assert_eq!(figures(&["--kernel", "every-cycle"]).0, figures(&[]).0);
}

#[test]
fn both_kernels_give_every_unit_the_same_account() {
    let (every_cycle, skip) = (figures(&["--kernel", "every-cycle"]).1, figures(&[]).1);
    let differ =
        |(name, unit): (&String, &Value)| (skip[name] != *unit).then(|| format!("{name}: {unit} {}", skip[name]));
    let differences: Vec<_> = every_cycle.as_object().unwrap().iter().filter_map(differ).collect();
    assert!(differences.is_empty(), "every-cycle, then skip:\n{}", differences.join("\n"));
}

#[test]
fn cc_overrides_the_configuration() {
    let folder = folder();
    let messages = |cc| results(folder.path(), &["--copy", "h2d:1MiB", "--cc", cc])["copies"][0]["messages"].clone();
    assert_eq!(messages("off"), 0);
    assert_ne!(messages("on"), 0);
}

#[test]
fn a_flipped_tag_is_not_delivered_and_leaves_the_old_file() {
    let folder = folder();
    fs::write(folder.path().join("out"), "old").unwrap();
    let arguments = ["--copy", "h2d", "--payload", "payload", "--out", "out", "--inject", "gpu.pce0.tags.flip"];
    let output = run(folder.path(), &[&arguments[..], &["--format", "json", "--digest"]].concat());
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let results = json_of(&output);
    let copy = &results["copies"][0];
    assert_eq!((&copy["delivered"], &copy["tags_failed"]), (&json!(false), &json!(1)));
    assert!(copy["reason"].is_string());
    let faults = &results["faults"];
    assert_eq!((&faults["injected"], &faults["struck"], &faults["missed"]), (&json!(1), &json!(1), &json!(0)));
    assert_eq!((&faults["cancelled"], &faults["class"]), (&json!([]), &json!("detected")));
    assert!(message(&output).contains("copy 1 was not delivered: "));
    assert_eq!(fs::read(folder.path().join("out")).unwrap(), b"old");
    assert_eq!(names(folder.path()), ["out", "payload"]);
}

#[test]
fn a_wrong_mac_on_a_link_with_ide_is_not_delivered_and_a_link_without_ide_is_refused() {
    let folder = folder();
    fs::write(folder.path().join("out"), b"old").unwrap();
    let arguments = ["--copy", "h2d", "--payload", "payload", "--out", "out", "--inject", "link.h2d.ide_flip:700"];
    let output = run(folder.path(), &[&arguments[..], &["--design", "ide"]].concat());
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(message(&output).contains("the IDE stream is insecure"), "{}", message(&output));
    assert_eq!(fs::read(folder.path().join("out")).unwrap(), b"old");
    let output = run(folder.path(), &arguments);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let output = run(folder.path(), &["--copy", "h2d:4KiB", "--design", "ide", "--set", "link.ide_capable=false"]);
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    assert!(message(&output).contains("the ports of this link have no IDE"), "{}", message(&output));
}

#[test]
fn a_lost_doorbell_is_a_deadlock_that_names_who_waits() {
    let folder = folder();
    fs::write(folder.path().join("out"), "old").unwrap();
    let arguments = ["--copy", "h2d:4096", "--inject", "host.doorbells.drop", "--out", "out", "--format", "json"];
    let output = run(folder.path(), &arguments);
    assert_eq!(output.status.code(), Some(5), "{}", text(&output.stderr));
    let results = json_of(&output);
    assert_eq!((&results["schema_version"], &results["error"]["kind"]), (&json!(4), &json!("deadlock")));
    assert!(results["error"]["at_ps"].is_u64());
    assert_eq!(results["error"]["waits"][0]["unit"], "host.driver");
    assert!(message(&output).contains("deadlock at"));
    assert_eq!(fs::read(folder.path().join("out")).unwrap(), b"old");
    assert_eq!(names(folder.path()), ["out", "payload"]);
}

#[test]
fn a_flipped_bit_on_the_wire_is_repaired() {
    let folder = folder();
    let results = results(folder.path(), &["--copy", "h2d:1MiB", "--inject", "link.h2d.flip:200"]);
    assert_eq!((&results["copies"][0]["delivered"], &results["faults"]["struck"]), (&json!(true), &json!(1)));
    assert!(results["link"]["h2d"]["replays"].as_u64().is_some_and(|replays| replays > 0));
    assert!(!results["incidents"].as_array().unwrap().is_empty());
}

#[test]
fn every_listed_fault_point_is_taken_by_run() {
    let folder = folder();
    let (of_ide, of_the_shared_engine) = ("link.h2d.ide_flip", "gpu.pce3.to_engine.drop");
    for (design, own) in [(&[][..], None), (&["ide"], Some(of_ide)), (&["shared-engine"], Some(of_the_shared_engine))] {
        let chosen: Vec<_> = design.iter().flat_map(|design| ["--design", design]).collect();
        let list = [&["list", "--faults", "h100-nvl-tdx", "--format", "json"][..], &chosen].concat();
        let listed = json_of(&sealsim(folder.path(), &list));
        let names: Vec<_> = listed.as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect();
        assert!(names.len() > 10);
        for point in [of_ide, of_the_shared_engine] {
            assert_eq!(names.contains(&point), own == Some(point), "{design:?}: {point}");
        }
        let points: Vec<_> = names.iter().map(|name| format!("{name}:{}", 1u64 << 60)).collect();
        let mut arguments = [&["--copy", "h2d:4096", "--data", "none"][..], &chosen].concat();
        points.iter().for_each(|point| arguments.extend(["--inject", point.as_str()]));
        let results = results(folder.path(), &arguments);
        let faults = &results["faults"];
        assert_eq!(
            (&faults["injected"], &faults["struck"], &faults["missed"]),
            (&json!(points.len()), &json!(0), &json!(0))
        );
        assert_eq!(
            (&faults["cancelled"], &faults["class"], &faults["signals"]),
            (&json!([]), &json!(null), &json!([]))
        );
    }
}

#[test]
fn a_manifest_repeats_its_run_without_the_configuration_file() {
    let folder = folder();
    let machine = folder.path().join("machine.toml");
    fs::write(&machine, format!("extends = \"{MACHINE}\"\nname = \"mine\"\n[link]\nread_tags = 256\n")).unwrap();
    let arguments = ["--copy", "h2d", "--copy", "d2h:1234:pageable", "--payload", "payload", "--design", "hold"];
    let more = ["--seed", "7", "--set", "driver.pinned.message=64 KiB", "--inject", "link.h2d.flip:50"];
    let last = ["--manifest", "run.json", "--format", "json"];
    let output = sealsim(folder.path(), &[&["run", "machine.toml"], &arguments[..], &more, &last].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let (mut first, manifest) = (json_of(&output), read_json(&folder.path().join("run.json")));
    for key in ["event_digest", "config_digest", "simulated_ps"] {
        assert_eq!(first[key], manifest[key], "{key}");
    }
    let mut sealed = manifest.clone();
    seal(&mut sealed);
    assert_eq!(sealed, manifest);
    assert_eq!(manifest["overlays"], json!(["hold"]));
    assert_eq!(manifest["payload"]["sha256"], hex::encode(Sha256::digest(payload())));

    fs::remove_file(&machine).unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let moved = folder.path().join("run.json").display().to_string();
    let output = sealsim(elsewhere.path(), &["rerun", &moved, "--format", "json"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let mut again = json_of(&output);
    let (digest, time) = (&first["event_digest"], &first["simulated_ps"]);
    let rerun = json!({ "expected_event_digest": digest, "expected_simulated_ps": time, "same": true });
    assert_eq!(again["rerun"], rerun);
    for results in [&mut first, &mut again] {
        results.as_object_mut().unwrap().retain(|key, _| !["host", "rerun"].contains(&key.as_str()));
    }
    assert_eq!(first, again);
}

fn read_json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// Gives a manifest the digest over itself that docs/results.md describes.
fn seal(manifest: &mut Value) {
    let Some(fields) = manifest.as_object_mut() else { return };
    fields.remove("digest");
    let digest = hex::encode(Sha256::digest(manifest.to_string()));
    manifest["digest"] = json!(digest);
}

/// Writes a manifest, changes it, seals it anew, and reruns it.
fn rerun_changed(folder: &Path, change: impl FnOnce(&mut Value)) -> Output {
    rerun_edited(folder, |manifest| {
        change(manifest);
        seal(manifest);
    })
}

/// Writes a manifest, changes it, and reruns it.
fn rerun_edited(folder: &Path, change: impl FnOnce(&mut Value)) -> Output {
    let written = run(folder, &["--copy", "h2d:8192", "--payload", "payload", "--manifest", "run.json"]);
    assert_eq!(written.status.code(), Some(0), "{}", text(&written.stderr));
    let path = folder.join("run.json");
    let mut manifest = read_json(&path);
    change(&mut manifest);
    fs::write(&path, manifest.to_string()).unwrap();
    sealsim(folder, &["rerun", "run.json"])
}

#[test]
fn another_event_digest_ends_with_1() {
    let folder = folder();
    let output = rerun_changed(folder.path(), |manifest| manifest["seed"] = json!(99));
    assert_eq!(output.status.code(), Some(0), "a seed moves no event: {}", text(&output.stderr));
    let output = rerun_changed(folder.path(), |manifest| manifest["event_digest"] = json!("00ff"));
    assert_eq!(output.status.code(), Some(1));
    assert!(message(&output).contains("but the manifest says 00ff"), "{}", message(&output));
    let output = rerun_changed(folder.path(), |manifest| manifest["simulated_ps"] = json!(17));
    assert_eq!(output.status.code(), Some(1));
    assert!(message(&output).contains("but the manifest says 17 ps"), "{}", message(&output));
    let output = rerun_changed(folder.path(), |manifest| {
        manifest["copies"][0]["bytes"] = json!(9000);
        manifest["sealsim_version"] = json!("0.0.9");
    });
    assert_eq!(output.status.code(), Some(1));
    assert!(message(&output).contains("written by sealsim 0.0.9"), "{}", message(&output));
}

#[test]
fn an_edited_manifest_is_no_record_of_a_run() {
    type Change = fn(&mut Value);
    let cases: [(Change, &str); 7] = [
        (|m| m["simulated_ps"] = json!(m["simulated_ps"].as_u64().unwrap() + 1), "was edited"),
        (|m| m["seed"] = json!(99), "was edited"),
        (|m| m["overlays"] = json!(["hold"]), "was edited"),
        (|m| m["config"]["provenance"]["link.flight"]["source"] = json!("a data sheet"), "was edited"),
        (|m| m["sealsim_version"] = json!("9.9.9"), "was edited"),
        (|m| m["digest"] = json!("00"), "was edited"),
        (|m| _ = m.as_object_mut().unwrap().remove("digest"), "has no `digest`"),
    ];
    let folder = folder();
    for (change, phrase) in cases {
        let output = rerun_edited(folder.path(), change);
        assert_eq!(output.status.code(), Some(3), "{phrase}: {}", message(&output));
        assert!(message(&output).contains(phrase), "{phrase}: {}", message(&output));
        assert_eq!(output.stdout, b"");
    }
    let whole = fs::read_to_string(folder.path().join("run.json")).unwrap();
    fs::write(folder.path().join("run.json"), whole.replacen('{', "{ \"seed\": 0, ", 1)).unwrap();
    let output = sealsim(folder.path(), &["rerun", "run.json"]);
    assert_eq!(output.status.code(), Some(3), "{}", message(&output));
    assert!(message(&output).contains("the key `seed` is given twice"), "{}", message(&output));
}

#[test]
fn a_broken_manifest_or_a_changed_payload_is_refused() {
    type Change = fn(&mut Value);
    let cases: [(Change, i32, &str); 8] = [
        (|m| m["schema_version"] = json!(1), 3, "schema_version 1, this version of sealsim reads 2"),
        (|m| m["config"]["machine"]["link"]["read_tags"] = json!(256), 3, "digest"),
        (|m| m["config"]["machine"]["link"]["lanes"] = json!(3), 3, "run.json: `link.lanes`"),
        (|m| m["copies"] = json!([]), 3, "0 copies"),
        (|m| m["injections"] = json!(["link.h2d.flip:0"]), 3, "from 1 on"),
        (|m| *m = json!([1, 2]), 3, "no `schema_version`"),
        (|m| m["payload"]["path"] = json!("/nowhere/at/all"), 4, "/nowhere/at/all"),
        (|m| m["payload"]["size"] = json!(1_100_008), 4, "has 1100007 bytes, but the manifest says 1100008"),
    ];
    let folder = folder();
    for (change, status, phrase) in cases {
        let output = rerun_changed(folder.path(), change);
        assert_eq!(output.status.code(), Some(status), "{phrase}: {}", message(&output));
        assert!(message(&output).contains(phrase), "{phrase}: {}", message(&output));
        assert_eq!(output.stdout, b"");
    }
    let output = rerun_changed(folder.path(), |_| {
        let mut changed = payload();
        changed[1_000_000] ^= 1;
        fs::write(folder.path().join("payload"), changed).unwrap();
    });
    assert_eq!(output.status.code(), Some(4));
    assert!(message(&output).contains("has changed since the manifest was written"), "{}", message(&output));
}

#[test]
fn a_truncated_manifest_is_refused() {
    let folder = folder();
    run(folder.path(), &["--copy", "h2d:4096", "--manifest", "run.json"]);
    let whole = fs::read(folder.path().join("run.json")).unwrap();
    for length in [0, 1, 30, whole.len() / 2, whole.len() - 3] {
        fs::write(folder.path().join("cut.json"), &whole[..length]).unwrap();
        let output = sealsim(folder.path(), &["rerun", "cut.json"]);
        assert_eq!(output.status.code(), Some(3), "{length}");
        assert!(message(&output).contains("cut.json: not a manifest of sealsim"), "{}", message(&output));
    }
}

#[test]
fn bad_input_names_what_is_wrong_and_has_its_status() {
    let cases: &[(&[&str], i32, &str)] = &[
        (&[], 2, "--copy"),
        (&["--copy", ""], 2, "`` is no direction"),
        (&["--copy", "h2h:4MiB"], 2, "use h2d, d2h or d2d"),
        (&["--copy", "h2d:4mb"], 2, "`mb` is none of the units"),
        (&["--copy", "h2d:four"], 2, "not a number"),
        (&["--copy", "h2d:0"], 2, "at least one"),
        (&["--copy", "h2d:-1"], 2, "`-1`"),
        (&["--copy", "h2d:1.5B"], 2, "whole number of bytes"),
        (&["--copy", "h2d:99999999TiB"], 2, "the largest copy"),
        (&["--copy", "h2d:18446744073709551616"], 2, "the largest copy"),
        (&["--copy", "h2d:340282366920938463463374607431768211456"], 2, "the largest copy"),
        (&["--copy", "h2d:1025GiB"], 2, "more than 1 TiB"),
        (&["--copy", "h2d:4MiB:page"], 2, "pinned or pageable"),
        (&["--copy", "h2d:4MiB:pinned:"], 2, "one part too many"),
        (&["--copy", "d2d:64KiB:pinned"], 2, "stays within the device"),
        (&["--copy", "h2d"], 2, "copy 1 has no size"),
        (&["--copy", "h2d:1MiB", "--copy", "d2h::pageable"], 2, "copy 2 has no size"),
        (&["--copy", "h2d:1", "--cc", "yes"], 2, "possible values: on, off"),
        (&["--copy", "h2d:1", "--design", "hold", "--design", "eager"], 2, "replaces its tag_queue.release"),
        (&["--copy", "h2d:1", "--design", "hold", "--design", "eager"], 2, "write --design hold+eager"),
        (&["--copy", "h2d:1", "--kernel", "fast"], 2, "every-cycle"),
        (&["--copy", "h2d:1", "--data", "some"], 2, "exact, none"),
        (&["--copy", "h2d:1", "--seed", "-1"], 2, "invalid value '-1' for '--seed"),
        (&["--copy", "h2d:1", "--format", "yaml"], 2, "text, json"),
        (&["--copy", "h2d:1", "--speed"], 2, "--speed"),
        (&["--copy", "h2d:1", "surplus"], 2, "surplus"),
        (&["--copy", "h2d:1", "--inject", "flip"], 2, "PLACE.KIND"),
        (&["--copy", "h2d:1", "--inject", "link.h2d.flop"], 2, "no kind of fault"),
        (&["--copy", "h2d:1", "--inject", "link.h2d.flip:0"], 2, "from 1 on"),
        (&["--copy", "h2d:1", "--inject", "link.h2d.flip:x"], 2, "`x` after `:`"),
        (&["--copy", "h2d:1", "--inject", "link.hd2.flip"], 2, "the nearest is `link.h2d.flip`"),
        (&["--copy", "h2d:1", "--data", "none", "--digest"], 2, "--digest with --data none"),
        (&["--copy", "h2d:1", "--data", "none", "--out", "out"], 2, "--out with --data none"),
        (&["--copy", "h2d:1", "--data", "none", "--payload", "payload"], 2, "--payload with --data none"),
        (&["--copy", "h2d:1", "--copy", "h2d:1", "--out", "out"], 2, "exactly one"),
        (&["--copy", "h2d:2MiB", "--payload", "payload"], 2, "payload payload holds 1100007"),
        (&["--copy", "h2d", "--payload", "empty"], 2, "payload empty is empty"),
        (&["--copy", "h2d", "--payload", "payload", "--out", "payload"], 2, "are the same file"),
        (&["--copy", "h2d", "--payload", "payload", "--out", "folder/../payload"], 2, "are the same file"),
        (&["--copy", "h2d", "--payload", "payload", "--manifest", "payload"], 2, "are the same file"),
        (&["--copy", "h2d:1", "--out", "out", "--manifest", "./out"], 2, "are the same file"),
        (&["--copy", "h2d:1", "--set", "link.lanes=3"], 3, "write 1, 2, 4, 8 or 16"),
        (&["--copy", "gpu1:h2d:1"], 2, "no GPU 1: the machine has 1, counted from 0"),
        (&["--copy", "h2d:1", "--set", "link.lane=16"], 3, "link.lane"),
        (&["--copy", "h2d:1", "--set", "link.flight=150"], 3, "no unit"),
        (&["--copy", "h2d:1", "--design", "absent"], 3, "no configuration `absent`"),
        (&["--copy", "h2d", "--payload", "absent"], 4, "payload absent: No such file"),
        (&["--copy", "h2d", "--payload", "folder"], 4, "payload folder is a directory"),
        (&["--copy", "h2d", "--payload", "/dev/zero"], 4, "a device or a pipe"),
        (&["--copy", "h2d:1", "--out", "folder"], 4, "folder: is not a regular file"),
        (&["--copy", "h2d:1", "--out", "absent/out"], 4, "absent/out"),
        (&["--copy", "h2d:1", "--out", "/dev/full"], 4, "/dev/full: is not a regular file"),
        (&["--copy", "h2d:1", "--manifest", "absent/run.json"], 4, "absent/run.json"),
    ];
    let folder = folder();
    fs::write(folder.path().join("empty"), "").unwrap();
    fs::create_dir(folder.path().join("folder")).unwrap();
    for (arguments, status, phrase) in cases {
        let output = run(folder.path(), arguments);
        let message = message(&output);
        assert_eq!(output.status.code(), Some(*status), "{arguments:?}: {message}");
        assert!(message.contains(phrase), "{arguments:?}: {message}");
        assert_eq!(output.stdout, b"", "{arguments:?}");
    }
    assert_eq!(names(folder.path()), ["empty", "folder", "payload"]);
}

#[test]
fn bad_arguments_of_rerun_and_list_have_their_status() {
    let cases: &[(&[&str], i32, &str)] = &[
        (&["rerun"], 2, "MANIFEST"),
        (&["rerun", "absent.json"], 4, "absent.json: No such file"),
        (&["rerun", "."], 4, "is a directory"),
        (&["rerun", "/dev/zero"], 3, "longer than 64 MiB"),
        (&["rerun", "payload"], 3, "not a manifest"),
        (&["run", "absent", "--copy", "h2d:1"], 3, "shipped machines: h100-nvl-tdx"),
        (&["list", "--faults", "absent"], 3, "no configuration `absent`"),
        (&["list", "--faults", "--design", "absent"], 3, "no configuration `absent`"),
        (&["list", "--design", "ide"], 2, "--faults"),
        (&["list", "--fault"], 2, "--faults"),
    ];
    let folder = folder();
    for (arguments, status, phrase) in cases {
        let output = sealsim(folder.path(), arguments);
        assert_eq!(output.status.code(), Some(*status), "{arguments:?}: {}", message(&output));
        assert!(message(&output).contains(phrase), "{arguments:?}: {}", message(&output));
    }
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_cleans_up_and_leaves_the_old_file() {
    let folder = folder();
    fs::write(folder.path().join("out"), "old").unwrap();
    for signal in ["-INT", "-TERM"] {
        let arguments = ["run", MACHINE, "--copy", "h2d:64GiB", "--out", "out", "--manifest", "run.json"];
        let child = command(folder.path(), &arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        wait_for_a_started_output(folder.path());
        assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{}", message(&output));
        assert!(message(&output).contains("interrupted at"), "{}", message(&output));
        assert_eq!(fs::read(folder.path().join("out")).unwrap(), b"old");
        assert_eq!(names(folder.path()), ["out", "payload"]);
    }
}

/// Waits until there is a temporary file with bytes in it.
fn wait_for_a_started_output(folder: &Path) {
    let deadline = Instant::now() + Duration::from_secs(60);
    let started = || {
        fs::read_dir(folder).unwrap().flatten().any(|entry| {
            entry.file_name().to_string_lossy().starts_with(".out.") && entry.metadata().is_ok_and(|m| m.len() > 0)
        })
    };
    while !started() {
        assert!(Instant::now() < deadline, "no output has begun: {:?}", names(folder));
        thread::sleep(Duration::from_millis(20));
    }
}

/// The payload loses its end while it is copied.
#[test]
fn a_payload_that_shrinks_while_it_is_read_ends_with_4() {
    let folder = folder();
    let large = fs::File::create(folder.path().join("large")).unwrap();
    large.set_len(64 << 30).unwrap();
    let arguments = ["run", MACHINE, "--copy", "h2d", "--payload", "large", "--out", "out"];
    let child = command(folder.path(), &arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for_a_started_output(folder.path());
    large.set_len(1).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(4), "{}", message(&output));
    assert!(message(&output).contains("payload large: ends at byte"), "{}", message(&output));
    assert_eq!(names(folder.path()), ["large", "payload"]);
}

/// Machines, and a copy of each.
const COPIES: [(&str, &str); 5] = [
    (MACHINE, "h2d:3MiB"),
    (MACHINE, "d2h:64KiB:pageable"),
    ("h100-nvl-snp", "h2d:1MiB:pageable"),
    ("hgx-h100-8gpu", "d2h:256KiB"),
    ("b200-tdx", "h2d:4KiB"),
];

fn timing(folder: &Path, machine: &str, arguments: &[&str]) -> Value {
    let own = ["run", machine, "--data", "none", "--format", "json"];
    let output = sealsim(folder, &[&own, arguments].concat());
    assert_eq!(output.status.code(), Some(0), "{}", message(&output));
    json_of(&output)
}

fn close(one: &Value, other: f64) -> bool {
    one.as_f64().is_some_and(|one| (one / other - 1.0).abs() < 1e-6)
}

#[test]
fn what_cc_costs_and_levers_give_is_what_the_commands_for_them_say() {
    let folder = folder();
    let time = |machine, arguments: &[&str]| {
        timing(folder.path(), machine, &[arguments, &["--what-if", "0"]].concat())["copies"][0]["end_ps"]
            .as_f64()
            .unwrap()
    };
    let mut used = 0;
    for (machine, copy) in COPIES {
        let told = timing(folder.path(), machine, &["--copy", copy]);
        let (own, off) = (time(machine, &["--copy", copy]), time(machine, &["--copy", copy, "--cc", "off"]));
        assert!(close(&told["off"]["slowdown"], own / off), "{machine} {copy}: {}, {own} over {off}", told["off"]);
        let levers = told["levers"].as_array().unwrap();
        let mut names: Vec<_> = levers.iter().map(|lever| lever["name"].as_str().unwrap()).collect();
        names.sort_unstable();
        if machine == MACHINE {
            let other = if copy.contains("pageable") { "pinned" } else { "pageable" };
            assert_eq!(names, ["by-page", "messages", "openssl", other, "pipellm", "tags-4k"], "{copy}");
        }
        for lever in levers {
            let how = lever["how"].as_str().unwrap();
            let words: Vec<_> = how.split(' ').collect();
            // A copy in other memory is asked for in place of this one.
            let copy: &[&str] = if how.starts_with("--copy") { &[] } else { &["--copy", copy] };
            let then = time(machine, &[copy, &words].concat());
            let gain = (own / then - 1.0) * 100.0;
            let said = lever["gain_percent"].as_f64().unwrap();
            assert!((said - gain).abs() < 1e-3 || said < -10.0, "{machine} {how}: {said}, {gain}");
            used += 1;
        }
    }
    assert!(used > 20, "{used}");
    // Which library a host has, and how far off its copies are.
    let unknown = timing(folder.path(), "h200-tdx", &["--copy", "h2d:1MiB"]);
    let old = time("h200-tdx", &["--copy", "h2d:1MiB", "--set", "cipher.library=openssl-3.0"]);
    let gain = unknown["copies"][0]["end_ps"].as_f64().unwrap() / old - 1.0;
    assert!(close(&unknown["earlier_library"]["gain_percent"], gain * 100.0), "{}", unknown["earlier_library"]);
    assert!(unknown["cautions"][0].as_str().unwrap().contains("copies on h200-tdx"), "{}", unknown["cautions"]);
    let known = timing(folder.path(), MACHINE, &["--copy", "h2d:1MiB"]);
    assert!(known.get("earlier_library").is_none() && known.get("cautions").is_none());
    let none = |arguments: &[&str]| timing(folder.path(), MACHINE, arguments).get("off").is_none();
    assert!(none(&["--copy", "h2d:1MiB", "--what-if", "0"]) && none(&["--copy", "h2d:1MiB", "--cc", "off"]));
    // The README's 64 MiB have it.
    assert!(none(&["--copy", "h2d:64MiB", "--copy", "d2h:1", "--what-if", "1"]));
}
