//! `sealsim vectors generate` as a user sees it, and `verify vectors` on what it writes.

use serde_json::Value;
use std::process::Output;
use std::{fs, path::Path};

fn sealsim(folder: &Path, arguments: &str) -> Output {
    crate::in_folder(folder, &arguments.split(' ').collect::<Vec<_>>())
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a scratch folder")
}

#[test]
fn sets_of_every_style_pass_through_the_engine_and_poisoned_ones_do_not() {
    let folder = folder();
    for name in ["set.rsp", "set.json", "set.csv", "set.hex"] {
        let made = sealsim(folder.path(), &format!("vectors generate --count 60 --out {name} --format json"));
        assert_eq!(made.status.code(), Some(0), "{}", String::from_utf8_lossy(&made.stderr));
        let report: Value = serde_json::from_slice(&made.stdout).expect("JSON");
        assert_eq!((&report["messages"], &report["algorithm"]), (&60.into(), &"AES-GCM".into()));
        let coverage = &report["coverage"];
        let [pairs, possible] = ["pairs", "possible"].map(|name| coverage[name].as_u64().expect("a count"));
        let missing = coverage["missing"].as_array().expect("a list").len() as u64;
        assert_eq!(pairs + missing, possible, "{name}");
        let passed = sealsim(folder.path(), &format!("verify vectors {name}"));
        assert_eq!(String::from_utf8_lossy(&passed.stdout), format!("{name}: 60 passed, 0 failed, 0 skipped\n"));
    }
    let path = folder.path().join("set.csv");
    let text = fs::read_to_string(&path).expect("the set");
    fs::write(&path, text.replacen(",valid,", ",invalid,", 1)).expect("a poisoned set");
    assert_eq!(sealsim(folder.path(), "verify vectors set.csv").status.code(), Some(1));
}

#[test]
fn a_seed_gives_the_same_file_and_stages_have_columns_of_their_own() {
    let folder = folder();
    let bytes = |arguments: &str, name: &str| {
        let made = sealsim(folder.path(), &format!("vectors generate {arguments} --count 5 --out {name}"));
        assert_eq!(made.status.code(), Some(0), "{}", String::from_utf8_lossy(&made.stderr));
        fs::read_to_string(folder.path().join(name)).expect("the set")
    };
    let first = bytes("aes-gcm --seed 3", "a.csv");
    assert_eq!(first, bytes("aes-gcm --seed 3", "b.csv"));
    assert_ne!(first, bytes("aes-gcm --seed 4", "c.csv"));
    let stages = bytes("aes-gcm --seed 3 --stages", "d.csv");
    let (bare, whole) = (first.lines(), stages.lines());
    assert!(bare.zip(whole).all(|(bare, whole)| whole.starts_with(bare) && whole.split(',').count() == 17), "{stages}");
    assert!(bytes("chacha20-poly1305", "e.json").contains("CHACHA20-POLY1305"));
}

#[test]
fn what_makes_no_sense_is_refused_and_leaves_no_file() {
    let folder = folder();
    for (arguments, words) in [
        ("vectors generate --out set.txt", "its ending names no style"),
        ("vectors generate gcm-siv-2 --out set.json", "no AEAD of these: AES-GCM"),
        ("vectors generate aegis-256 --out set.rsp", "this style has no AEGIS256"),
        ("vectors generate --stages --out set.json", "no place for them"),
        ("vectors generate aes-gcm-siv --stages --out set.csv", "AES-GCM-SIV"),
        ("vectors generate --longest 255B --out set.csv", "from 256B to 1MiB"),
        ("vectors generate --count 0 --out set.csv", "1..=10000000"),
    ] {
        let refused = sealsim(folder.path(), arguments);
        let text = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(2), "{arguments}: {text}");
        assert!(text.contains(words), "{arguments}: {text}");
    }
    assert_eq!(sealsim(folder.path(), "vectors generate --out there/set.csv").status.code(), Some(4));
    assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 0);
}
