//! `sealsim verify vectors` as a user sees it.

use serde_json::{Value, json};
use std::process::Output;
use std::{fs, path::Path};

const WYCHEPROOF: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors/aes_gcm_test.json");
const CAVP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors/gcmDecrypt256.rsp");

fn verify(arguments: &[&str]) -> Output {
    crate::here(&[&["verify", "vectors"], arguments].concat())
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
    let [siv, sst, aegis, long] =
        ["aes_gcm_siv_test.json", "gcm_sst_test.json", "aegis256_test.json", "aegis128L_test.json"].map(file);
    for (engine, vectors, passed) in
        [("gcm-siv", &siv, 202), ("gcm-sst", &sst, 24), ("aegis-256", &aegis, 472), ("aegis-128l", &long, 479)]
    {
        let output = verify(&[vectors, "--engine", engine, "--format", "json"]);
        assert_eq!(output.status.code(), Some(0), "{engine}: {}", message(&output));
        let counts = ["passed", "failed", "skipped"].map(|name| json(&output)["files"][0][name].as_u64());
        assert_eq!(counts, [Some(passed), Some(0), Some(0)], "{engine}");
    }
    // What is not valid in one scheme is refused by any other, which tells nothing.
    for (engine, vectors, algorithm, phrase) in [
        ("aegis-256x2", aegis.as_str(), "AEGIS256 in", "one of AEGIS-256X2: give --engine aegis-256"),
        ("aegis-256", &long, "AEGIS128L in", "one of AEGIS-256: give --engine aegis-128l"),
        ("chacha20-poly1305", &siv, "AES-GCM-SIV in", "one of ChaCha20-Poly1305: give --engine gcm-siv"),
        ("gcm-siv", WYCHEPROOF, "AES-GCM in", "one of AES-GCM-SIV: give --engine h100-nvl-tdx"),
        ("gcm-siv", CAVP, "AES-GCM in", "one of AES-GCM-SIV: give --engine h100-nvl-tdx"),
        ("h100-nvl-tdx", &siv, "AES-GCM-SIV in", "one of AES-GCM: give --engine gcm-siv"),
    ] {
        let output = verify(&[vectors, "--engine", engine]);
        assert_eq!(output.status.code(), Some(2), "{engine}: {}", message(&output));
        for phrase in [algorithm, phrase] {
            assert!(message(&output).contains(phrase), "{engine}: {}", message(&output));
        }
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn engines_of_aegis_256x_pass_files_that_call_it_as_libaegis_does() {
    let folder = folder();
    // draft-irtf-cfrg-aegis-aead: the first vectors of AEGIS-256X2 and of AEGIS-256X4.
    for (name, engine, tag) in [
        ("AEGIS-256X2", "aegis-256x2", "62cdbab084c83dacdb945bb446f049c8"),
        ("AEGIS256X4", "aegis-256x4", "3b7fee6cee7bf17888ad11ed2397beb4"),
    ] {
        let [key, iv] = [0..32, 0x10..0x30].map(|bytes| hex::encode(bytes.collect::<Vec<u8>>()));
        let test = |number, tag, result| {
            let empty = "";
            json!({ "tcId": number, "comment": empty, "flags": [], "key": key, "iv": iv, "aad": empty, "msg": empty,
                "ct": empty, "tag": tag, "result": result })
        };
        let tests = [test(1, tag.to_owned(), "valid"), test(2, tag.replace('2', "3"), "invalid")];
        let group = json!({ "type": "AeadTest", "keySize": 256, "ivSize": 256, "tagSize": 128, "tests": tests });
        let document = json!({ "algorithm": name, "schema": "aead_test_schema_v1.json", "numberOfTests": 2,
            "testGroups": [group] });
        let vectors = file(&folder, "vectors.json", &document.to_string());
        let output = verify(&[&vectors, "--engine", engine, "--format", "json"]);
        assert_eq!(output.status.code(), Some(0), "{engine}: {}", message(&output));
        assert_eq!(self::json(&output)["files"][0]["passed"], 2, "{engine}");
        assert_eq!(verify(&[&vectors, "--engine", "aegis-256"]).status.code(), Some(2));
    }
}

/// A message as written, whatever the width it was wrapped to, which may be behind a hyphen.
fn message(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr).replace('│', " ");
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace("- ", "-")
}

#[test]
fn acvp_files_pass_whole_or_as_a_prompt_with_its_answers() {
    let sample = |name: &str| format!("{}/tests/vectors/acvp/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let (prompt, answers) = (sample("gcm-prompt"), sample("gcm-expectedResults"));
    let passed = |arguments: &[&str]| {
        let output = verify(&[arguments, &["--format", "json"]].concat());
        assert_eq!(output.status.code(), Some(0), "{}", message(&output));
        assert_eq!(json(&output)["files"].as_array().map(Vec::len), Some(1));
        json(&output)["files"][0]["passed"].as_u64()
    };
    assert_eq!(passed(&[&prompt, &answers]), Some(8));
    assert_eq!(passed(&[&answers, &prompt]), Some(8));
    assert_eq!(passed(&[&sample("gmac-internalProjection")]), Some(4));
    let siv = sample("gcm-siv-internalProjection");
    assert_eq!(passed(&[&siv, "--engine", "gcm-siv"]), Some(4));

    let folder = folder();
    let read = |path: &str| fs::read_to_string(path).expect("the vectors");
    let wrong = file(&folder, "wrong.json", &read(&answers).replacen("\"tag\": \"", "\"tag\": \"00", 1));
    let mixed = file(&folder, "mixed.json", &format!("[{}, {}]", read(&sample("gmac-internalProjection")), read(&siv)));
    for (arguments, status, phrase) in [
        (vec![prompt.as_str()], 4, "give its expectedResults as well"),
        (vec![&answers], 4, "give their prompt as well"),
        (vec![&prompt, &wrong], 4, "tag has"),
        (vec![&siv], 2, "give --engine gcm-siv"),
        (vec![&mixed], 2, "AES-GMAC and AES-GCM-SIV in one file"),
    ] {
        let output = verify(&arguments);
        assert_eq!(output.status.code(), Some(status), "{}", message(&output));
        assert!(message(&output).contains(phrase), "{}", message(&output));
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn help_says_which_engines_are_structural_and_which_are_a_crate() {
    let output = verify(&["--help"]);
    let text = String::from_utf8_lossy(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("Engines of AES-GCM and AEGIS are structural"), "{text}");
    assert!(text.contains("their bytes come from a crate"), "{text}");
}

#[test]
fn an_algorithm_that_is_not_modelled_is_refused_by_its_name() {
    let folder = folder();
    let aria = fs::read_to_string(WYCHEPROOF).expect("the vectors").replace("\"AES-GCM\"", "\"ARIA-GCM\"");
    let output = verify(&[&file(&folder, "aria.json", &aria)]);
    assert_eq!(output.status.code(), Some(2), "{}", message(&output));
    for name in [
        "ARIA-GCM",
        "AES-GCM, AES-GMAC, AES-GCM-SIV, AES-GCM-SST, AEGIS256, AEGIS256X2, AEGIS256X4, AEGIS128L, AEGIS128X2, AEGIS128X4, CHACHA20-POLY1305",
    ] {
        assert!(message(&output).contains(name), "{}", message(&output));
    }
    let none = aria.replacen("\"algorithm\"", "\"algorythm\"", 1);
    let output = verify(&[&file(&folder, "none.json", &none)]);
    assert_eq!(output.status.code(), Some(4), "{}", message(&output));
    assert!(message(&output).contains("algorithm"), "{}", message(&output));
}

#[test]
fn a_case_that_can_say_nothing_about_the_engine_does_not_pass() {
    let folder = folder();
    let case = |key: &str, tag: &str, end: &str| {
        format!("Count = 0\nKey = {key}\nIV = 000000000000000000000000\nCT =\nAAD =\nTag = {tag}\n{end}\n")
    };
    let zero = "00".repeat(16);
    for (name, text, reason) in [
        ("valid without a tag", case(&zero, "", "PT ="), "a tag of 0 bytes: AES-GCM takes 16 or 15"),
        ("valid with a tag of 5 B", case(&zero, "530f8afb", "PT =").replace("8afb", "8afbc7"), "a tag of 5 bytes"),
        ("invalid without a tag", case(&zero, "", "FAIL"), "a tag of 0 bytes"),
        ("invalid with a tag of 17 B", case(&zero, &"00".repeat(17), "FAIL"), "a tag of 17 bytes"),
        ("invalid with a key of 5 B", case("0000000000", &zero, "FAIL"), "a key of 5 bytes: AES takes 16, 24 or 32"),
    ] {
        let output = verify(&[&file(&folder, "one.rsp", &text), "--format", "json"]);
        assert_eq!(output.status.code(), Some(1), "{name}: {}", message(&output));
        let outcome = json(&output)["files"][0].clone();
        let counts = ["passed", "failed", "skipped"].map(|name| outcome[name].as_u64());
        assert_eq!(counts, [Some(0), Some(0), Some(1)], "{name}");
        let what = outcome["skips"][0]["what"].as_str().expect("a reason");
        assert!(what.starts_with("malformed: ") && what.contains(reason), "{name}: {what}");
        assert!(message(&output).contains("1 are malformed and say nothing"), "{name}: {}", message(&output));
    }
    // Test case 1 of the GCM specification, its tag whole and cut to 4 B.
    for tag in ["58e2fccefa7e3061367f1d57a4e7455a", "58e2fcce"] {
        let output = verify(&[&file(&folder, "good.rsp", &case(&zero, tag, "PT ="))]);
        assert_eq!(output.status.code(), Some(0), "{tag}: {}", message(&output));
    }
}

#[test]
fn an_endless_file_and_a_folder_end_soon() {
    let folder = folder();
    let output = verify(&["/dev/zero"]);
    assert_eq!(output.status.code(), Some(4), "{}", message(&output));
    assert!(message(&output).contains("longer than 64 MiB"), "{}", message(&output));
    let output = verify(&[folder.path().to_str().expect("text")]);
    assert_eq!(output.status.code(), Some(4), "{}", message(&output));
    assert!(message(&output).contains("is a directory"), "{}", message(&output));
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
    let chains = include_str!("../../hw-configs/designs/parallel-auth.toml");
    let chains = file(&folder, "chains.toml", &format!("extends = \"h100-nvl-tdx\"\n{chains}"));
    let (code, text) = status(&[WYCHEPROOF, "--engine", &chains]);
    assert!(code == Some(2) && text.contains("not wire-compatible"), "{code:?} {text}");
    assert_eq!(status(&[]).0, Some(2));
    assert!(Path::new(WYCHEPROOF).exists());
}
