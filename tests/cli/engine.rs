//! `sealsim engine` as a process.

use ring::aead;
use serde_json::Value as Json;
use std::process::Output;

fn engine(arguments: &[&str]) -> Output {
    crate::here(&[&["engine"], arguments].concat())
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
fn a_tag_that_gcm_does_not_have_is_refused_and_not_compared() {
    let message = ["h100-nvl-tdx", "--key", "000102030405060708090a0b0c0d0e0f", "--iv", "00", "--text", "00"];
    let whole = hex::encode(bytes(&document(&[&message[..], &["--open"]].concat()), "tag"));
    for (length, status) in
        (0..=16).map(|length| (length, if [4, 8, 12, 13, 14, 15, 16].contains(&length) { 0 } else { 2 }))
    {
        let tag = &whole[..2 * length];
        let output = engine(&[&message[..], &["--open", "--tag", tag]].concat());
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{length}: {said}");
        assert!(status == 0 || said.contains(&format!("a tag of {length} bytes: AES-GCM takes 16 or 15")), "{said}");
    }
    // To seal as well, and from a file.
    assert_eq!(engine(&[&message[..], &["--tag", ""]].concat()).status.code(), Some(2));
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("short.rsp").display().to_string();
    let case = format!("Count = 0\nKey = {0}\nIV = 01\nCT =\nAAD =\nTag = 02\nFAIL\n", "00".repeat(16));
    std::fs::write(&file, case).expect("a file");
    assert_eq!(engine(&["folded-8", "--vector", &file]).status.code(), Some(2));
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
    assert!(phases["aad_cycles"].is_null());
    // The first text block two cycles into its phase, and both ways of counting to the last one.
    let number = |name: &str| phases[name].as_i64().expect(name);
    assert_eq!(number("setup_cycles"), 146 + 2);
    assert_eq!(number("setup_cycles") + number("first_output_cycles") + number("output_span_cycles"), 146 + 460);
    assert_eq!(number("total_cycles"), 146 + 460 + number("tail_cycles"));
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
fn an_engine_of_another_aead_has_the_same_metrics_and_says_that_it_is_not_gcm() {
    for (name, scheme, quarters) in [
        ("gcm-siv", "AES-GCM-SIV", 1),
        ("hw-configs/engines/aegis-256.toml", "AEGIS-256", 4),
        ("aegis-256x2", "AEGIS-256X2", 2),
        ("aegis-256x4", "AEGIS-256X4", 1),
        ("aegis-128l", "AEGIS-128L", 2),
        ("gcm-sst", "GCM-SST", 1),
        ("chacha20-poly1305", "ChaCha20-Poly1305", 1),
    ] {
        let shown = document(&[name, "--aad-blocks", "4", "--blocks", "4096", "--open"]);
        assert_eq!((&shown["scheme"], &shown["wire_compatible_with_gcm"]), (&scheme.into(), &false.into()), "{name}");
        let parts = ["setup_cycles", "first_output_cycles", "output_span_cycles", "tail_cycles"];
        let sum: u64 = parts.iter().map(|part| shown[*part].as_u64().expect(part)).sum();
        assert_eq!(shown["total_cycles"], sum, "{name}");
        // As many cycles as the widest part takes, from the first to the last.
        assert_eq!(shown["output_span_cycles"], 4096 * quarters / 4 - 1, "{name}");
        assert!(shown["h_and_mask_cycles"].is_null() && shown["messages"][0]["tag"] == shown["tag"]);
        let text = String::from_utf8_lossy(&engine(&[name]).stdout).into_owned();
        assert!(text.contains(scheme) && text.contains("not compatible with AES-GCM on the wire"), "{text}");
    }
}

#[test]
fn aes_gcm_siv_seals_in_two_passes_through_a_buffer_and_opens_in_one() {
    let sealed = document(&["gcm-siv", "--blocks", "1024"]);
    let opened = document(&["gcm-siv", "--blocks", "1024", "--open"]);
    assert_eq!(
        (&sealed["passes"], &sealed["buffer_bytes"], &sealed["tail_cycles"]),
        (&2.into(), &16384.into(), &0.into())
    );
    assert_eq!((&opened["passes"], &opened["buffer_bytes"]), (&1.into(), &0.into()));
    assert_eq!((&sealed["tag"], &sealed["output"]), (&opened["tag"], &opened["input"]));
    let number = |shown: &Json, name: &str| shown[name].as_u64().expect(name);
    assert!(
        number(&sealed, "tag_from_start_cycles")
            < number(&sealed, "setup_cycles") + number(&sealed, "first_output_cycles")
    );
    assert_eq!(document(&["gcm-siv", "--blocks", "1024", "--set", "polyval.groups=8"])["aead"]["polyval"]["groups"], 8);
}

#[test]
#[ignore = "of a document: .ci/run"]
fn the_cycles_in_the_document_are_those_of_the_engines() {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/engine.md")).expect("the document");
    let (_, table) = text.split_once("| engine | 256 B | 4 KiB | 1 MiB | needs |").expect("the table");
    let rows: Vec<&str> = table.lines().skip(2).take_while(|line| line.starts_with('|')).collect();
    assert_eq!(rows.len(), 8);
    for row in rows {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let name = cells[1].split('`').nth(1).expect("a name");
        for (cell, blocks) in cells[2..5].iter().zip(["16", "256", "65536"]) {
            let second = |more: &[&str]| {
                let shown = document(&[&[name, "--blocks", blocks, "--messages", "2"], more].concat());
                shown["messages"][1]["total_cycles"].as_u64().expect("cycles")
            };
            assert_eq!(*cell, format!("{}, {}", second(&[]), second(&["--open"])), "{name}, {blocks} blocks");
        }
    }
}

#[test]
fn the_bytes_of_chacha20_poly1305_are_those_of_another_code_base() {
    let shown = document(&["chacha20-poly1305", "--aad-blocks", "3", "--blocks", "99"]);
    let key = aead::UnboundKey::new(&aead::CHACHA20_POLY1305, &bytes(&shown, "key")).expect("a key");
    let nonce = aead::Nonce::try_assume_unique_for_key(&bytes(&shown, "iv")).expect("a nonce");
    let mut text = bytes(&shown, "input");
    aead::LessSafeKey::new(key)
        .seal_in_place_append_tag(nonce, aead::Aad::from(bytes(&shown, "aad")), &mut text)
        .expect("sealed");
    assert_eq!(text, [bytes(&shown, "output"), bytes(&shown, "tag")].concat());
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
        (&["aegis-257"], 3, "aegis-256"),
        (&["aegis-256", "--set", "lanes=3"], 3, "X4 has 4"),
        (&["aegis-256", "--set", "round=0 cycles"], 3, "round"),
        (&["aegis-256", "--key-bits", "128"], 3, "256 bits only"),
        (&["aegis-256", "--trace-blocks", "1"], 2, "AES-GCM"),
        (&["aegis-256", "--set", "engine.key_bits=128"], 3, "remove one of the two tables"),
        (&["gcm-siv", "--key-bits", "192"], 3, "128 or 256"),
        (&["gcm-siv", "--set", "buffer=1 KiB", "--blocks", "65"], 3, "two passes"),
        (&["chacha20-poly1305", "--set", "poly1305.ways=0"], 3, "ways"),
        (&[], 2, "CONFIG"),
    ] {
        let output = engine(arguments);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(status), "{arguments:?}: {text}");
        assert!(text.contains(words), "{arguments:?}: {text}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
}

#[test]
fn the_clock_that_an_engine_reaches_is_shown_stage_by_stage_with_its_rows_in_either_library() {
    let fmax = |more: &[&str]| document(&[&["h100-nvl-tdx", "--fmax"], more].concat());
    let own = fmax(&[]);
    let stages = own["stages"].as_array().expect("stages");
    let slowest = stages.iter().map(|stage| stage["ps_wired"].as_f64().expect("a delay")).fold(0.0, f64::max);
    assert!((own["fastest_wired_hz"].as_f64().expect("a clock") * slowest - 1e12).abs() < 1.0 && stages.len() == 2);
    let row = "aggregated w=4 g=4 levels=0 product=2 reduction=2";
    assert!(stages[1]["rows"].as_array().expect("rows").iter().any(|known| known == row));
    // 180 nm is several times slower, and a lane without registers many times.
    let hertz = |document: &Json| document["fastest_hz"].as_f64().expect("a clock");
    assert!(hertz(&own) > 3.0 * hertz(&fmax(&["--library", "osu018"])));
    assert!(hertz(&own) > 8.0 * hertz(&fmax(&["--set", "aes.registers_per_round=0"])));
    let unknown = engine(&["folded-8", "--fmax", "--library", "x"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("asap7, osu018"));
}

#[test]
fn an_engine_by_itself_has_a_price_with_either_s_box_or_says_what_it_lacks() {
    let priced = document(&["serial-aes128", "--cost"]);
    let [small, fast] = [0, 1].map(|place| &priced["built"][place]);
    let number = |of: &Json, path: &str| of.pointer(path).and_then(Json::as_f64).expect("a figure");
    for path in ["/area_kge/low", "/aes_kge/high", "/fastest_wired_hz"] {
        assert!(number(small, path) < number(fast, path), "{path}");
    }
    // The fastest is that of --fmax.
    assert_eq!(fast["fastest_hz"], document(&["serial-aes128", "--fmax"])["fastest_hz"]);
    let lacks = engine(&["chacha20-poly1305", "--cost"]);
    assert_eq!((lacks.status.code(), lacks.stdout.len()), (Some(3), 0));
    assert!(String::from_utf8_lossy(&lacks.stderr).contains("ChaCha20 rounds"));
}
