//! `sealsim engine` with one message by its bytes, and `verify vectors --trace-failure`.

use crate::shown::waves;
use serde_json::Value as Json;
use std::{
    fs,
    process::{Command, Output},
};

const WYCHEPROOF: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors/aes_gcm_test.json");
const CAVP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors/gcmEncryptExtIV128.rsp");
const DECRYPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors/gcmDecrypt256.rsp");
/// Test case 4 of the GCM specification: key, IV, AAD, plaintext, ciphertext, tag.
const SPEC: [&str; 6] = [
    "feffe9928665731c6d6a8f9467308308",
    "cafebabefacedbaddecaf888",
    "feedfacedeadbeeffeedfacedeadbeefabaddad2",
    "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39",
    "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091",
    "5bc94fbc3221a5db94fae95ae7121a47",
];

fn sealsim(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sealsim")).env("COLUMNS", "80").args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn document(arguments: &[&str]) -> Json {
    let output = sealsim(&[&["engine"], arguments, &["--format", "json"]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Values of a stage, by cycle.
fn values<'a>(document: &'a Json, stage: &str) -> Vec<(u64, &'a str)> {
    let stages = document["stages"].as_array().unwrap().iter().filter(|one| one["stage"] == stage);
    stages.map(|one| (one["cycle"].as_u64().unwrap(), one["value"].as_str().unwrap())).collect()
}

#[test]
fn the_stages_of_the_specifications_own_example_are_those_that_it_prints() {
    let [key, iv, aad, plain, cipher, tag] = SPEC;
    let message = ["--key", key, "--iv", iv, "--aad", aad, "--tag", tag];
    for (engine, direction, input, output) in [
        ("h100-nvl-tdx", &[][..], plain, cipher),
        ("folded-8", &["--open"], cipher, plain),
        ("serial-aes128", &[], plain, cipher),
        ("iterative-masked", &["--open"], cipher, plain),
    ] {
        let shown = document(&[&[engine], &message[..], &["--text", input, "--all"], direction].concat());
        assert_eq!((&shown["output"], &shown["tag"]), (&output.into(), &tag.into()), "{engine}");
        assert!(shown["engine_parts"].is_null() && shown["vector_parts"].is_null() && shown["cut"] == false);
        let one = |stage| values(&shown, stage)[0].1;
        assert_eq!(one("h"), "b83b533708bf535d0aa6e52980d53b78");
        assert_eq!(one("j0"), "cafebabefacedbaddecaf88800000001");
        assert_eq!(one("mask"), "3247184b3c4f69a44dbcd22887bbb418");
        assert_eq!(one("ghash"), "698e57f70e6ecc7fd9463b7260a9ae5f");
        let keystream: Vec<_> = values(&shown, "keystream").into_iter().map(|(_, value)| value).collect();
        assert_eq!(keystream[0], "9bb22ce7d9f372c1ee2b28722b25f206");
        assert_eq!(keystream.len(), 4);
        assert_eq!(values(&shown, "tag"), [(shown["tag_cycle"].as_u64().unwrap(), tag)]);
    }
}

#[test]
fn a_case_is_found_by_its_number_its_count_or_its_line() {
    let named = |vector: &str| document(&["folded-8", "--vector", vector])["message"].as_str().unwrap().to_owned();
    assert_eq!(named(&format!("{WYCHEPROOF}:7")), "tcId 7 of aes_gcm_test.json");
    assert_eq!(named(WYCHEPROOF), "tcId 1 of aes_gcm_test.json");
    let first = named(CAVP);
    let (line, _) = first.split_once(',').unwrap();
    assert_eq!(named(&format!("{CAVP}:{line}")), first);
    for (vector, words) in
        [(format!("{CAVP}:0"), "say which, for example `line"), (format!("{WYCHEPROOF}:99999"), "no case `99999`")]
    {
        let output = sealsim(&["engine", "folded-8", "--vector", &vector]);
        assert_eq!(output.status.code(), Some(2), "{vector}");
        let said = text(&output.stderr).split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ");
        assert!(said.contains(words), "{said}");
    }
}

#[test]
fn every_vector_of_every_kind_of_iv_agrees_stage_by_stage() {
    let file: Json = serde_json::from_str(&fs::read_to_string(WYCHEPROOF).unwrap()).unwrap();
    let valid = file["testGroups"].as_array().unwrap().iter().filter_map(|group| {
        let tests = group["tests"].as_array().unwrap();
        tests.iter().rev().find(|test| test["result"] == "valid").map(|test| test["tcId"].as_u64().unwrap())
    });
    for id in valid {
        let shown = document(&["folded-4", "--all", "--vector", &format!("{WYCHEPROOF}:{id}")]);
        assert!(shown["engine_parts"].is_null() && shown["vector_parts"].is_null(), "tcId {id}");
    }
}

#[test]
fn a_text_fits_its_columns_and_says_when_it_is_cut() {
    let long = "00".repeat(200);
    let message = ["engine", "folded-8", "--key", SPEC[0], "--iv", "00", "--text", &long];
    let output = sealsim(&message);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let cut = text(&output.stdout);
    assert!(cut.lines().all(|line| line.chars().count() <= 80), "{cut}");
    assert!(cut.contains("software    agrees") && cut.contains("--all shows them"));
    let all = text(&sealsim(&[&message[..], &["--all"]].concat()).stdout);
    assert!(all.lines().count() > cut.lines().count() && !all.contains("--all"));
    assert!(all.contains("block 12 lane 0") && !cut.contains("block 12"), "{all}");
}

#[test]
fn a_text_may_be_the_bytes_of_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("text");
    fs::write(&file, b"0123456789abcdef!").unwrap();
    let message = ["folded-8", "--key", SPEC[0], "--iv", "00"];
    let of = |given: &str| document(&[&message[..], &["--text", given]].concat());
    assert_eq!(of(&format!("@{}", file.display())), of("3031323334353637383961626364656621"));
    let missing = sealsim(&[&["engine"][..], &message[..], &["--text", "@/nowhere/text"]].concat());
    assert_eq!(missing.status.code(), Some(2));
    assert!(text(&missing.stderr).contains("/nowhere/text"), "{}", text(&missing.stderr));
}

#[test]
fn waves_hold_the_registers_and_the_stages_of_the_message() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("message.fst");
    let [key, iv, aad, plain, ..] = SPEC;
    let shown = document(&[
        "h100-nvl-tdx",
        "--key",
        key,
        "--iv",
        iv,
        "--aad",
        aad,
        "--text",
        plain,
        "--all",
        "--waves",
        file.to_str().unwrap(),
    ]);
    let waves = waves(&file);
    let bits = |hex: &str| format!("{:0128b}", u128::from_str_radix(&format!("{hex:0<32}"), 16).unwrap());
    for stage in ["j0", "text_in", "text_out", "ghash_in", "ghash", "tag"] {
        let mut expected: Vec<(u64, String)> = Vec::new();
        for (cycle, value) in values(&shown, stage) {
            expected.retain(|(at, _)| *at != cycle);
            expected.push((cycle, bits(value)));
        }
        let changes: Vec<_> = waves[&format!("message.{stage}")].clone().into_iter().collect();
        assert_eq!(changes[0].1, "x".repeat(128), "{stage}");
        assert_eq!(changes[1..], expected, "{stage}");
    }
    let powers = values(&shown, "power");
    let h2 = waves["engine.ghash0.power2"].last_key_value().unwrap();
    assert_eq!(h2, (&powers[1].0, &bits(powers[1].1)));
}

/// The valid test of a Wycheproof file with the most text among the first, with one value changed by a function; the file and the test's number.
fn changed(folder: &tempfile::TempDir, name: &str, change: impl Fn(&mut Vec<u8>)) -> (String, u64) {
    let mut file: Json = serde_json::from_str(&fs::read_to_string(WYCHEPROOF).unwrap()).unwrap();
    let tests = file["testGroups"][0]["tests"].as_array_mut().unwrap();
    let length = |test: &Json| test["ct"].as_str().unwrap().len();
    let test = tests
        .iter_mut()
        .filter(|test| test["result"] == "valid" && length(test) <= 200)
        .max_by_key(|test| length(test))
        .unwrap();
    let mut bytes = hex::decode(test[name].as_str().unwrap()).unwrap();
    change(&mut bytes);
    test[name] = hex::encode(bytes).into();
    let id = test["tcId"].as_u64().unwrap();
    let path = folder.path().join(format!("{name}.json"));
    fs::write(&path, file.to_string()).unwrap();
    (path.display().to_string(), id)
}

#[test]
fn the_first_stage_that_parts_is_told_and_who_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let (tag, _) = changed(&folder, "tag", |bytes| bytes[3] ^= 4);
    let (cipher, _) = changed(&folder, "ct", |bytes| bytes[50] ^= 0x10);
    let (iv, id) = changed(&folder, "iv", |bytes| bytes[0] ^= 1);
    for (file, words) in [
        (
            tag,
            &[
                "vector      parts at its tag, cycle",
                "keystream, ciphertext, GHASH, mask agree",
                "the vector's tag or AAD is wrong",
            ][..],
        ),
        (
            cipher,
            &[
                "vector      parts in its ciphertext at block 3 (bytes 48..64), cycle",
                "H, powers, J0, keystream and ciphertext of blocks before 3 agree",
                "the vector's plaintext or ciphertext is wrong: 1 of",
            ],
        ),
        (iv, &["parts in its ciphertext at block 0 (bytes 0..16)", "H, powers, J0 agree", "key or IV of the vector"]),
    ] {
        let output = sealsim(&["verify", "vectors", &file, "--trace-failure"]);
        assert_eq!(output.status.code(), Some(1));
        let said = text(&output.stdout);
        assert!(said.lines().all(|line| line.chars().count() <= 80), "{said}");
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        for words in words {
            let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(said.contains(&words), "{words}: {said}");
        }
        assert!(said.contains("software agrees in all of"), "{said}");
        let named = sealsim(&["verify", "vectors", &file, &format!("--trace-failure={id}"), "--format", "json"]);
        let named: Json = serde_json::from_slice(&named.stdout).unwrap();
        assert_eq!(named["trace"]["case"], format!("tcId {id}"));
        assert!(named["trace"]["engine_parts"].is_null() && named["trace"]["vector_parts"].is_object());
        let engine = sealsim(&["engine", "h100-nvl-tdx", "--vector", &format!("{file}:{id}")]);
        assert_eq!(engine.status.code(), Some(1), "{}", text(&engine.stdout));
    }
}

#[test]
fn a_case_that_must_fail_and_does_not_is_traced_by_its_tag() {
    let folder = tempfile::tempdir().unwrap();
    let original = fs::read_to_string(DECRYPT).unwrap();
    let cases: Vec<&str> = original.split("\n\n").collect();
    // A case that opens, said to fail.
    let good = cases.iter().find(|case| case.contains("\nPT = ") && !case.contains("PT = \n")).unwrap();
    let (head, _) = good.split_once("\nPT = ").unwrap();
    let path = folder.path().join("opens.rsp");
    let head = head.split_once("Count").unwrap().1;
    fs::write(&path, format!("Count{head}\nFAIL\n")).unwrap();
    let output = sealsim(&["verify", "vectors", path.to_str().unwrap(), "--trace-failure"]);
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stdout);
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("opened") && said.contains("the vector says that it is not valid"), "{said}");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let key = SPEC[0];
    for (arguments, status, words) in [
        (&["engine", "folded-8", "--key", key][..], 2, "--iv"),
        (&["engine", "folded-8", "--key", "0g", "--iv", "00"], 2, "not hexadecimal"),
        (&["engine", "folded-8", "--key", "00", "--iv", "00"], 2, "128, 192 or 256"),
        (&["engine", "folded-8", "--key", key, "--iv", ""], 2, "IV"),
        (&["engine", "folded-8", "--key", key, "--iv", "00", "--blocks", "3"], 2, "--blocks"),
        (&["engine", "folded-8", "--key", key, "--iv", "00", "--vector", WYCHEPROOF], 2, "--vector"),
        (&["engine", "folded-8", "--all"], 2, "--vector"),
        (&["engine", "folded-8", "--waves", "x.fst"], 2, "--vector"),
        (&["engine", "aegis-256", "--key", key, "--iv", "00"], 2, "AES-GCM"),
        (&["engine", "folded-8", "--vector", "nothing.json"], 4, "nothing.json"),
        (&["verify", "vectors", WYCHEPROOF, "--engine", "gcm-siv", "--trace-failure"], 2, "AES-GCM"),
    ] {
        let output = sealsim(arguments);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{arguments:?}: {said}");
        assert!(said.contains(words), "{arguments:?}: {said}");
        assert!(output.stdout.is_empty());
    }
}
