//! `sealsim rtl`: whole folders or none, and engines that the RTL does not have.

use std::{collections::BTreeMap, fs, path::Path, process::Command};

const MACHINE: &str = "h100-nvl-tdx";

fn rtl(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let run = Command::new(env!("CARGO_BIN_EXE_sealsim"))
        .current_dir(folder)
        .env("COLUMNS", "1000")
        .arg("rtl")
        .args(arguments)
        .args(["--out", "engine"])
        .output()
        .unwrap();
    (run.status.code(), String::from_utf8(run.stderr).unwrap())
}

/// Files below a folder, by their paths.
fn files(folder: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            found.extend(files(&path).into_iter().map(|(below, text)| (format!("{name}/{below}"), text)));
        } else {
            found.insert(name, fs::read_to_string(&path).unwrap());
        }
    }
    found
}

#[test]
fn a_folder_has_the_engine_of_the_design_and_nothing_is_left_to_fill_in() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = [MACHINE, "--design", "direct-in-place", "--set", "engine.aes.lanes=2"];
    assert_eq!(rtl(folder.path(), &arguments).0, Some(0));
    let made = files(&folder.path().join("engine"));
    for (name, text) in &made {
        let shipped = name.starts_with("src/") || name.starts_with("flow/");
        assert!(
            shipped || !text.split('@').any(|word| word.len() > 1 && word.chars().all(|c| c.is_ascii_uppercase())),
            "{name}"
        );
    }
    assert!(made["top.sv"].contains(".LANES(2), .ROUNDS(14), .REGISTERS(1)"), "{}", made["top.sv"]);
    assert_eq!(made["vectors/messages.hex"].lines().count() % 6, 0);
    // A second time it is in the way, and stays as it is.
    let (code, said) = rtl(folder.path(), &arguments);
    assert!(code == Some(4) && said.contains("not empty"), "{code:?} {said}");
    assert_eq!(files(&folder.path().join("engine")), made);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing else is left");
}

#[test]
fn an_engine_that_the_rtl_does_not_have_is_refused_by_name_with_the_nearest() {
    let folder = tempfile::tempdir().unwrap();
    let design = |name| [MACHINE, "--design", name];
    for (name, what, nearest) in [
        ("interleaved-ghash", "interleaved", "width=2,groups=4"),
        ("segmented-ghash", "segmented", "width=8"),
        ("parallel-auth", "sub_chains", "aggregated"),
        ("message-parallel", "message_parallel", "aggregated"),
        ("verify-bound", "interleaved", "copy_engine.open_ghash"),
        ("gcm-siv", "AES-GCM-SIV", "without that design"),
        ("aegis-256", "AEGIS-256", "without that design"),
        ("sm", "SMs", "leave that design out"),
        ("off", "not sealed", "leave that design out"),
    ] {
        let (code, said) = rtl(folder.path(), &design(name));
        assert!(code == Some(2) && said.contains(what) && said.contains(nearest), "{name}: {code:?} {said}");
    }
    for set in ["engine.aes.lanes=3", "engine.aes.rounds_in_hardware=7", "engine.ghash.multiplier.digit_bits=16"] {
        let more = ["--set", "engine.check=warn", "--set", "engine.ghash.multiplier.product=8 cycles"];
        let (code, said) = rtl(folder.path(), &[&[MACHINE, "--set", set], &more[..]].concat());
        assert!(code == Some(2) && said.contains("--set"), "{set}: {code:?} {said}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}
