//! `sealsim verify vectors` as a user sees it.

use serde_json::Value;
use std::process::{Command, Output};
use std::{fs, path::Path};

const WYCHEPROOF: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors/aes_gcm_test.json");
const CAVP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors/gcmDecrypt256.rsp");

fn verify(arguments: &[&str]) -> Output {
    let program = Command::new(env!("CARGO_BIN_EXE_sealsim")).args(["verify", "vectors"]).args(arguments).output();
    program.expect("the program runs")
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).expect("JSON on standard output")
}

/// A scratch file that lives as long as its folder.
fn file(folder: &tempfile::TempDir, name: &str, text: &str) -> String {
    let path = folder.path().join(name);
    fs::write(&path, text).expect("a file in a scratch folder");
    path.display().to_string()
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a scratch folder")
}

#[test]
fn the_published_files_pass_and_are_counted() {
    let output = verify(&[WYCHEPROOF, CAVP, "--format", "json"]);
    assert_eq!(output.status.code(), Some(0));
    let json = json(&output);
    let counts = |index: usize| {
        let file = &json["files"][index];
        ["passed", "failed", "skipped"].map(|name| file[name].as_u64())
    };
    assert_eq!(json["files"][0]["path"], WYCHEPROOF);
    assert_eq!(counts(0), [Some(316), Some(0), Some(0)]);
    assert_eq!(counts(1), [Some(7875), Some(0), Some(0)]);
    assert_eq!(json["engine"]["ghash"]["design"], "aggregated");
    let text = verify(&[WYCHEPROOF]);
    assert!(String::from_utf8_lossy(&text.stdout).contains("aes_gcm_test.json: 316 passed, 0 failed, 0 skipped"));
    assert!(text.stderr.is_empty(), "no progress bar where nobody looks");
}

#[test]
fn a_changed_vector_fails_with_its_case_and_what_differed() {
    let folder = folder();
    let original = fs::read_to_string(WYCHEPROOF).expect("the vectors");
    let mut document: Value = serde_json::from_str(&original).expect("JSON");
    let tag = &mut document["testGroups"][0]["tests"][0]["tag"];
    let changed = tag.as_str().expect("a tag").replacen(|_: char| true, "f", 1);
    assert_ne!(tag.as_str(), Some(changed.as_str()));
    *tag = changed.clone().into();
    let path = file(&folder, "changed.json", &document.to_string());
    let output = verify(&[&path, "--format", "json"]);
    assert_eq!(output.status.code(), Some(1));
    let failures = json(&output)["files"][0]["failures"].clone();
    assert_eq!(failures.as_array().map(Vec::len), Some(1));
    assert_eq!(failures[0]["case"], "tcId 1");
    let what = failures[0]["what"].as_str().expect("text");
    assert!(what.contains("tag") && what.contains(&changed), "{what}");
}

#[test]
fn an_engine_of_the_users_own_is_used() {
    let folder = folder();
    let engine = r#"
        [engine]
        key_bits = 128
        key_setup = "3 cycles"
        compare = "1 cycle"
        aes = { lanes = 3, rounds_in_hardware = 4, registers_per_round = 2, start_interval = "9 cycles", keystream_blocks = 5 }
        [engine.ghash]
        design = "interleaved"
        ways = 5
        multipliers = 2
        closing = "afterwards"
        multiplier = { product = "8 cycles", reduction = "1 cycle", digit_bits = 16 }
    "#;
    for (name, text) in [
        ("engine.toml", engine.to_owned()),
        ("top.toml", engine.replace("[engine]", "").replace("engine.ghash", "ghash")),
    ] {
        let output = verify(&[WYCHEPROOF, "--engine", &file(&folder, name, &text), "--format", "json"]);
        assert_eq!(output.status.code(), Some(0), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(json(&output)["engine"]["ghash"]["ways"], 5, "{name}");
    }
}

#[test]
fn engines_of_other_aeads_pass_their_own_files_and_no_others() {
    let file = |name: &str| format!("{}/tests/vectors/{name}", env!("CARGO_MANIFEST_DIR"));
    let (siv, aegis) = (file("aes_gcm_siv_test.json"), file("aegis256_test.json"));
    for (engine, vectors, passed, failed) in [
        ("gcm-siv", &siv, 202, 0),
        ("aegis-256", &aegis, 472, 0),
        // What is valid in one scheme is refused by another; what is not is refused by both.
        ("aegis-256x2", &aegis, 112, 360),
        ("chacha20-poly1305", &siv, 66, 136),
    ] {
        let output = verify(&[vectors, "--engine", engine, "--format", "json"]);
        let counts = json(&output)["files"][0].clone();
        let got = (counts["passed"].as_u64(), counts["failed"].as_u64());
        assert_eq!(got, (Some(passed), Some(failed)), "{engine}: {}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(i32::from(failed > 0)), "{engine}");
    }
}

#[test]
fn each_kind_of_mistake_has_its_exit_status() {
    let folder = folder();
    let status = |arguments: &[&str]| {
        let output = verify(arguments);
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, text) = status(&["no-such-file.rsp"]);
    assert!(code == Some(4) && text.contains("no-such-file.rsp"), "{code:?} {text}");
    let broken = file(&folder, "broken.rsp", "[Keylen = 128]\nCount = 0\nKey = 00zz\n");
    let (code, text) = status(&[&broken]);
    assert!(code == Some(4) && text.contains("line 3") && text.contains("00zz"), "{code:?} {text}");
    let engine = file(&folder, "engine.toml", "key_bits = 256\nlanes = 4\n");
    let (code, text) = status(&[WYCHEPROOF, "--engine", &engine]);
    assert!(code == Some(3) && text.contains("engine.toml"), "{code:?} {text}");
    let chains = include_str!("../hw-configs/designs/parallel-auth.toml");
    let chains = file(&folder, "chains.toml", &format!("extends = \"h100-nvl-tdx\"\n{chains}"));
    let (code, text) = status(&[WYCHEPROOF, "--engine", &chains]);
    assert!(code == Some(2) && text.contains("not wire-compatible"), "{code:?} {text}");
    assert_eq!(status(&[]).0, Some(2));
    assert!(Path::new(WYCHEPROOF).exists());
}
