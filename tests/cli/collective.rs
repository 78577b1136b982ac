//! `collective` as its users meet it.

use serde_json::Value as Json;
use std::process::Output;

fn collective(arguments: &[&str]) -> Output {
    crate::here(&[&["collective"], arguments].concat())
}

fn json(arguments: &[&str]) -> Json {
    let output = collective(&[arguments, &["--format", "json"]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn each_design_has_a_row_against_off_and_sealing_costs_what_the_mode_says() {
    let designs = ["--design", "staged", "--design", "direct", "--design", "link", "--design", "pad-ahead"];
    let shown = json(&[&["hgx-h100-8gpu", "--size", "1MiB"], &designs[..]].concat());
    let rows = shown["rows"].as_array().unwrap();
    let names: Vec<_> = rows.iter().map(|row| row["design"].as_str().unwrap()).collect();
    assert_eq!(names, ["off", "hgx-h100-8gpu", "staged", "direct", "link", "pad-ahead"]);
    let slowdown = |name: &str| {
        let row = rows.iter().find(|row| row["design"] == name).unwrap();
        row["slowdown_over_off"].as_f64().unwrap()
    };
    // The fewer steps of a hop are software's, the less it costs.
    let order = ["off", "hgx-h100-8gpu", "pad-ahead", "link", "direct", "staged"].map(slowdown);
    assert!(order.is_sorted(), "{order:?}");
    assert!(rows.iter().all(|row| row["ranks"] == 8 && row["wrong"].is_null() && row["refused"].is_null()));
}

#[test]
fn what_is_refused_and_what_is_wrong_have_status_1_and_what_cannot_be_has_status_3() {
    let inject =
        ["--op", "all-gather", "--ranks", "3", "--size", "12KiB", "--inject", "fabric.gpu1.port.packets.flip:5"];
    let output = collective(&[&["hgx-h100-8gpu", "--design", "link"], &inject[..]].concat());
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("WRONG") && text.contains("wrong tag"), "{text}");
    let host =
        |ports| format!(r#"fabric.host={{root_port={ports}, socket=4, interval="1 ns", socket_interval="1 ns"}}"#);
    for (arguments, says) in [
        (&["h100-nvl-tdx", "--ranks", "4"][..], "joins two GPUs"),
        (&["hgx-h100-8gpu", "--ranks", "1"], "2 to 64"),
        (&["hgx-h100-8gpu", "--ranks", "9", "--design", "staged"], "has 8 GPUs"),
        (&["hgx-h100-8gpu", "--size", "64KiB", "--inject", "nothing.flip"], "no fault point"),
        (&["hgx-h100-8gpu", "--set", "fabric.payload=\"24 B\""], "multiple of 16 B"),
        (&["hgx-h100-8gpu", "--set", &host(3)], "a socket whole root ports"),
        (&["hgx-h100-8gpu", "--set", &host(0)], "0 makes no sense here"),
    ] {
        let output = collective(arguments);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(3), "{arguments:?} {error}");
        assert!(error.split_whitespace().collect::<Vec<_>>().join(" ").contains(says), "{error}");
    }
}

#[test]
fn a_table_fits_80_columns() {
    let output = collective(&["hgx-h100-8gpu", "--size", "4KiB", "--design", "trusted-fabric", "--data", "exact"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(text.contains("right"));
}

#[test]
fn every_listed_fault_is_taken() {
    let listed = collective(&["hgx-h100-8gpu", "--design", "link", "--ranks", "2", "--list-faults"]);
    let points = String::from_utf8(listed.stdout).unwrap();
    assert!(listed.status.success() && points.lines().count() > 8, "{points}");
    assert!(points.lines().any(|point| point == "fabric.gpu1.port.packets.flip"), "{points}");
    for point in points.lines() {
        let inject = format!("{point}:1000000");
        let output =
            collective(&["hgx-h100-8gpu", "--design", "link", "--ranks", "2", "--size", "4KiB", "--inject", &inject]);
        assert!(output.status.success(), "{point}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
#[ignore = "of a document: .ci/run"]
fn the_documents_table_is_what_comes_out() {
    let document = include_str!("../../docs/fabric.md");
    let (_, command) = document.split_once("\n$ sealsim collective ").expect("a command");
    let (command, _) = command.split_once('\n').expect("its output");
    assert_eq!(command.matches("--design").count(), 8);
    let output = collective(&command.split(' ').collect::<Vec<_>>());
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(document.contains(text.trim_end()), "docs/fabric.md lacks this table:\n{text}");
}
