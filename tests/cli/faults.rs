//! `sealsim faults` as a process, and what sets of faults leave in files.

use crate::printed as sealsim;
use serde_json::Value;
use std::fs;

#[test]
fn a_campaign_counts_classes_and_signals_and_repeats_itself() {
    let arguments = ["faults", "h100-nvl-tdx", "--sets", "40", "--seed", "3"];
    let (status, text, _) = sealsim(&arguments);
    assert_eq!(status, 0, "{text}");
    for phrase in [
        "40 sets of one to 5 faults at",
        "95 % bounds",
        "silent",
        "tag_mismatch",
        "gpu.tag_queue",
        "by kind and by class",
    ] {
        assert!(text.contains(phrase), "{phrase}: {text}");
    }
    let threads = ["--threads", "1"];
    assert_eq!(sealsim(&[&arguments[..], &threads].concat()).1, text);
}

/// A burst is lost between copy engine and memory, behind the comparison of tags.
#[test]
fn a_run_says_which_signal_told_or_that_none_did() {
    let run = ["run", "h100-nvl-tdx", "--copy", "h2d:64KiB", "--copy", "d2h:64KiB", "--inject"];
    for (fault, status, class, signal, words) in [
        ("gpu.pce0.writes.drop:45", 1, "silent", None, "faults: SILENT: no unit of the machine signals an error"),
        (
            "gpu.pce0.tags.flip:1",
            1,
            "detected",
            Some(("gpu.tag_queue", "tag_mismatch", false)),
            "gpu.tag_queue signals a tag that differs",
        ),
        ("link.h2d.flip:20", 0, "detected", Some(("link.gpu_port", "lcrc", true)), "and it is repaired"),
        ("gpu.pce0.work.drop:1", 5, "hang", None, "faults: hang"),
    ] {
        let arguments = [&run[..], &[fault]].concat();
        let (found, text, error) = sealsim(&arguments);
        assert_eq!(found, status, "{fault}: {text}{error}");
        let told = if status == 5 { &error } else { &text };
        assert!(told.contains(words), "{fault}: {told}");
        let (_, json, _) = sealsim(&[&arguments[..], &["--format", "json"]].concat());
        let faults = serde_json::from_str::<Value>(&json).unwrap()["faults"].take();
        assert_eq!(faults["struck"], 1, "{fault}: {faults}");
        assert_eq!(faults["class"], class, "{fault}: {faults}");
        match signal {
            None => assert!(faults["signal"].is_null() && faults["latency_ps"].is_null(), "{faults}"),
            Some((unit, signal, corrected)) => {
                let told = &faults["signal"];
                assert_eq!(
                    (&told["unit"], &told["signal"], &told["corrected"]),
                    (&unit.into(), &signal.into(), &corrected.into())
                );
                assert!(
                    faults["latency_ps"].is_u64() && faults["signals"].as_array().unwrap().contains(told),
                    "{faults}"
                );
            }
        }
    }
}

#[test]
fn the_command_of_a_set_repeats_it() {
    let sets = ["faults", "h100-nvl-tdx", "--design", "off", "--copy", "d2h:16KiB", "--sets", "12", "--format", "json"];
    let (status, json, _) = sealsim(&sets);
    assert_eq!(status, 0);
    let campaign: Value = serde_json::from_str(&json).unwrap();
    for set in campaign["sets"].as_array().unwrap() {
        let command =
            campaign["command"].as_str().unwrap().to_owned() + " --format json --seed " + &set["seed"].to_string();
        let mut words: Vec<_> = command.split(' ').skip(1).collect();
        for fault in set["faults"].as_array().unwrap() {
            words.extend(["--inject", fault.as_str().unwrap()]);
        }
        let (status, results, _) = sealsim(&words);
        let results: Value = serde_json::from_str(&results).unwrap();
        assert_eq!(
            (&results["faults"]["struck"], &results["faults"]["class"]),
            (&set["struck"], &set["class"]),
            "{set}"
        );
        assert_eq!(results["faults"]["latency_ps"], set["latency_ps"], "{set}");
        match results.get("error") {
            Some(_) => assert_eq!(status, 5, "{set}"),
            None => {
                let delivered = results["copies"][0]["delivered"] == true;
                assert_eq!((delivered, status), (set["delivered"] == 1, i32::from(!delivered)), "{set}");
            }
        }
    }
}

#[test]
fn a_spreadsheet_has_a_row_for_each_set() {
    let (status, csv, _) = sealsim(&["faults", "h100-nvl-tdx", "--copy", "h2d:4KiB", "--sets", "5", "--format", "csv"]);
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let column = |name: &str, reader: &mut csv::Reader<&[u8]>| {
        reader.headers().unwrap().iter().position(|one| one == name).unwrap()
    };
    let (class, signal) = (column("class", &mut reader), column("signal", &mut reader));
    let rows: Vec<_> = reader.records().map(Result::unwrap).collect();
    assert!(status == 0 && rows.len() == 5 && rows.iter().all(|row| !row[class].is_empty()));
    assert!(rows.iter().all(|row| (&row[class] == "detected") != row[signal].is_empty()));
}

#[test]
fn a_fault_that_does_not_strike_is_a_warning_or_a_failure() {
    let late = ["run", "h100-nvl-tdx", "--copy", "h2d:4KiB", "--inject", "staging.tag.flip:9"];
    let (status, _, error) = sealsim(&late);
    assert_eq!(status, 0);
    assert_eq!(error.trim(), "warning: staging.tag.flip:9 has not struck: its point was passed 1 times");
    let (status, _, error) = sealsim(&[&late[..], &["--inject-must-strike"]].concat());
    assert_eq!(status, 1);
    assert!(error.contains("staging.tag.flip:9 has not struck"), "{error}");
}

#[test]
fn what_makes_no_sense_is_refused() {
    for (arguments, status, phrase) in [
        (&["h100-nvl-tdx", "--copy", "h2d:65MiB"][..], 2, "keeps what they leave"),
        (&["h100-nvl-tdx", "--copy", "h2d"], 2, "has no size"),
        (&["h100-nvl-tdx", "--sets", "0"], 2, "0 is not in"),
        (&["h100-nvl-tdx", "--design", "nonesuch"], 3, "nonesuch"),
    ] {
        let (found, _, error) = sealsim(&[&["faults"], arguments].concat());
        assert_eq!(found, status, "{arguments:?}: {error}");
        assert!(error.contains(phrase), "{arguments:?}: {error}");
    }
}

#[test]
fn a_copy_that_is_delivered_is_the_file_whatever_was_written_twice_on_the_way() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let payload: Vec<u8> = (0..65_536_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    fs::write(path("payload"), &payload).unwrap();
    // Work that is done twice repairs what was flipped the first time.
    for faults in [
        ["gpu.pce15.work.duplicate:1", "host.writes.flip:20"],
        ["gpu.pce13.work.duplicate:1", "host.writes.flip:3"],
        ["host.writes.duplicate:5", "host.writes.reorder:9"],
    ] {
        let copy = ["run", "h100-nvl-tdx", "--cc", "off", "--copy", "d2h:64KiB", "--digest", "--format", "json"];
        let files =
            ["--payload", &path("payload"), "--out", &path("out"), "--inject", faults[0], "--inject", faults[1]];
        let (status, json, error) = sealsim(&[&copy[..], &files].concat());
        assert_eq!(status, 0, "{faults:?}: {error}");
        assert!(fs::read(path("out")).unwrap() == payload, "{faults:?}");
        let results: Value = serde_json::from_str(&json).unwrap();
        let (_, plain, _) = sealsim(&[&copy[..], &files[..2]].concat());
        let plain: Value = serde_json::from_str(&plain).unwrap();
        assert!(plain["copies"][0]["sha256"].is_string());
        assert_eq!(results["copies"][0]["sha256"], plain["copies"][0]["sha256"], "{faults:?}");
    }
}

#[test]
fn every_single_fault_has_a_table_that_says_how_it_was_made() {
    let ask =
        ["faults", "h100-nvl-tdx", "--copy", "h2d:4KiB", "--exhaustive", "single", "--per-point", "1", "--format"];
    let (status, table, error) = sealsim(&[&ask[..], &["csv"]].concat());
    assert_eq!(status, 0, "{error}");
    let stated: Vec<_> = table.lines().take_while(|line| line.starts_with('#')).collect();
    for phrase in [
        "digest ",
        "copies: h2d:4096:pinned",
        "fault model: one transient fault",
        "at most 1 states",
        "faults h100-nvl-tdx",
    ] {
        assert!(stated.iter().any(|line| line.contains(phrase)), "{phrase}: {stated:?}");
    }
    let rows: Vec<Vec<_>> = table.lines().skip(stated.len() + 1).map(|line| line.split(',').collect()).collect();
    let row = |point: &str| rows.iter().find(|row| row[0] == point).unwrap_or_else(|| panic!("{point}"));
    // Tried, struck, harmless, detected, silent, hang.
    assert_eq!(row("gpu.pce0.work.drop")[2..8], ["1", "1", "0", "0", "0", "1"]);
    assert_eq!(row("gpu.pce0.engine.keystream.block0.flip")[2..8], ["1", "1", "0", "0", "1", "0"]);
    assert!(rows.iter().any(|row| row[1] == "0"), "points that nothing passes are listed");
}

#[test]
fn a_hand_over_that_is_lost_ends_in_a_named_timeout_where_there_is_one() {
    let run = ["run", "h100-nvl-tdx", "--copy", "h2d:64KiB", "--set", "copy_engine.handover_timeout=100 us"];
    let (status, _, error) = sealsim(&[&run[..], &["--inject", "gpu.pce0.work.drop:1"]].concat());
    assert_eq!(status, 5, "{error}");
    assert!(error.contains("hand-over timeout: nothing has come to"), "{error}");
    assert!(error.contains("signals a hand-over that never came"), "{error}");
    let sound = |sets: &[&str]| sealsim(&[&run[..4], sets, &["--format", "json"]].concat()).1;
    let copies = |text: String| serde_json::from_str::<Value>(&text).unwrap()["copies"].take();
    assert_eq!(copies(sound(&[])), copies(sound(&run[4..])));
}
