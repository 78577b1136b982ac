//! `sealsim engine` as a process.

use aws_lc_rs::aead;
use serde_json::Value as Json;
use std::process::{Command, Output};

fn engine(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sealsim")).arg("engine").args(arguments).output().expect("sealsim runs")
}

fn document(arguments: &[&str]) -> Json {
    let output = engine(&[arguments, &["--format", "json"]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn bytes(document: &Json, name: &str) -> Vec<u8> {
    hex::decode(document[name].as_str().expect(name)).expect("hexadecimal")
}

#[test]
fn the_tag_that_is_shown_is_that_of_another_code_base() {
    for arguments in [
        &["folded-8", "--aad-blocks", "4", "--blocks", "33"][..],
        &["h100-nvl-tdx", "--aad-blocks", "1", "--blocks", "100", "--seed", "9"],
    ] {
        let shown = document(arguments);
        let key = aead::UnboundKey::new(&aead::AES_256_GCM, &bytes(&shown, "key")).expect("a key");
        let nonce = aead::Nonce::try_assume_unique_for_key(&bytes(&shown, "iv")).expect("an IV");
        let mut text = bytes(&shown, "input");
        let tag = aead::LessSafeKey::new(key)
            .seal_in_place_separate_tag(nonce, aead::Aad::from(bytes(&shown, "aad")), &mut text)
            .expect("sealed");
        assert_eq!((text, tag.as_ref().to_vec()), (bytes(&shown, "output"), bytes(&shown, "tag")));
    }
}

#[test]
fn the_metrics_of_the_issue_stand_at_the_top_level_and_null_is_what_does_not_apply() {
    let pipelined =
        document(&["hw-configs/engines/folded-8.toml", "--key-bits", "256", "--aad-blocks", "4", "--blocks", "1024"]);
    for (name, cycles) in [
        ("setup_cycles", 177),
        ("first_output_cycles", 20),
        ("output_span_cycles", 1150),
        ("tail_cycles", 15),
        ("total_cycles", 1362),
    ] {
        assert_eq!(pipelined[name], cycles, "{name}");
    }
    assert!((pipelined["cycles_per_block"].as_f64().expect("a number") - 1150.0 / 1023.0).abs() < 1e-12);
    assert!(pipelined["h_and_mask_cycles"].is_null() && pipelined["aad_cycles"].is_null());
    let phases = document(&["iterative-masked", "--key-bits", "128", "--blocks", "8"]);
    assert_eq!((&phases["h_and_mask_cycles"], &phases["last_text_output_cycles"]), (&146.into(), &460.into()));
    assert!(phases["aad_cycles"].is_null() && phases["setup_cycles"].is_null());
    assert!(document(&["folded-8", "--blocks", "1"])["cycles_per_block"].is_null());
}

#[test]
fn settings_reach_the_engine_with_and_without_its_name() {
    let total = |setting: &str| {
        document(&["unrolled-all", "--set", setting, "--aad-blocks", "1", "--blocks", "256"])["total_cycles"].clone()
    };
    assert_eq!(total("engine.aes.registers_per_round=4"), 323);
    assert_eq!(total("aes.registers_per_round=2"), 295);
    assert_eq!(document(&["unrolled-all-r3", "--aad-blocks", "1", "--blocks", "256"])["total_cycles"], 323);
}

#[test]
fn messages_follow_each_other_under_one_key_and_seeds_repeat() {
    let shown = document(&["folded-8", "--blocks", "5", "--messages", "3"]);
    let messages = shown["messages"].as_array().expect("messages");
    assert_eq!(messages.len(), 3);
    assert_eq!(messages[0]["tag"], shown["tag"]);
    assert!(messages[1]["total_cycles"].as_u64() < messages[0]["total_cycles"].as_u64());
    assert_eq!(shown, document(&["folded-8", "--blocks", "5", "--messages", "3"]));
    assert_ne!(shown["tag"], document(&["folded-8", "--blocks", "5", "--seed", "2"])["tag"]);
}

#[test]
fn a_trace_shows_every_round_of_every_block_asked_for() {
    let shown =
        document(&["folded-4", "--key-bits", "128", "--aad-blocks", "1", "--blocks", "9", "--trace-blocks", "3"]);
    let blocks = shown["trace"]["blocks"].as_array().expect("blocks");
    assert_eq!(blocks.len(), 3);
    assert!(blocks.iter().all(|block| block["aes_rounds"].as_array().map(Vec::len) == Some(11)));
    assert!(!shown["trace"]["accumulators"].as_array().expect("accumulators").is_empty());
    let text = engine(&["folded-4", "--blocks", "2", "--trace-blocks", "1"]);
    assert!(String::from_utf8_lossy(&text.stdout).contains("round 14"));
}

#[test]
fn what_cannot_be_an_engine_is_refused_with_the_reason() {
    for (arguments, status, words) in [
        (&["folded-9"][..], 3, "folded-8"),
        (&["hold"], 3, "design"),
        (&["folded-8", "--set", "ghash.powers=0"], 3, "powers"),
        (&["folded-8", "--set", "ghash.powrs=2"], 3, "powers"),
        (&["folded-8", "--set", "aes.lanes=2"], 3, "lane"),
        (&["folded-8", "--key-bits", "100"], 3, "128, 192 or 256"),
        (&["workloads/overlap-pipelined.toml"], 3, "engine"),
        (&["folded-8", "--messages", "0"], 2, "messages"),
        (&[], 2, "CONFIG"),
    ] {
        let output = engine(arguments);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(status), "{arguments:?}: {text}");
        assert!(text.contains(words), "{arguments:?}: {text}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
}
