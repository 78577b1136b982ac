//! What a design costs and risks is one figure, whichever verb states it.

use serde_json::Value;
use std::{fs, process::Command};

fn sealsim(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_sealsim")).env("COLUMNS", "240").args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&sealsim(arguments)).unwrap()
}

/// Designs with engines, without, with several, with a quarantine, and on a protected link.
const DESIGNS: [&str; 12] = [
    "off",
    "h100-cc",
    "hold",
    "two-pces",
    "verify-bound",
    "shared-engine",
    "parallel-auth",
    "ide",
    "sm",
    "gcm-siv",
    "aegis-256",
    "chacha20-poly1305",
];

/// A figure of a table's cell: nothing is null.
fn number(cell: &str) -> Option<f64> {
    (!cell.is_empty()).then(|| cell.parse().unwrap())
}

/// A sweep of one copy over designs, below others that all have.
fn swept(below: &[&str], designs: &[&str]) -> Vec<(String, csv::StringRecord, csv::StringRecord)> {
    let folder = tempfile::tempdir().unwrap();
    let [study, out] = ["study.toml", "out"].map(|name| folder.path().join(name).display().to_string());
    let text = format!(
        "name = 'n'\nsummary = 's'\nmachine = 'h100-nvl-tdx'\ndesigns = {below:?}\ncopy = 'h2d:64KiB'\n\
         [[axis]]\npath = 'design'\nvalues = {designs:?}\n"
    );
    fs::write(&study, text).unwrap();
    sealsim(&["sweep", &study, "--out", &out]);
    let mut rows = csv::Reader::from_path(folder.path().join("out/points.csv")).unwrap();
    let head = rows.headers().unwrap().clone();
    let named = |row: csv::StringRecord| (row[1].to_owned(), head.clone(), row);
    rows.records().map(|row| named(row.unwrap())).collect()
}

fn assert_equal(name: &str, design: &Value, (_, head, row): &(String, csv::StringRecord, csv::StringRecord)) {
    let cell = |column: &str| &row[head.iter().position(|known| known == column).unwrap()];
    assert_eq!(cell("error"), "", "{name}");
    let (cost, copy) = (&design["cost"], &design["copies"][0]);
    for column in [
        "area_kge_low",
        "area_kge_high",
        "area_total_kge_low",
        "area_total_kge",
        "area_total_kge_high",
        "quarantine_sram_kge",
    ] {
        assert_eq!(number(cell(column)), cost[column].as_f64(), "{name}: {column}");
    }
    for end in ["low", "high"] {
        let of_copy = cost[format!("h2d_pj_per_byte_{end}")].as_f64();
        assert_eq!(number(cell(&format!("pj_per_byte_{end}"))), of_copy, "{name}: energy, {end}");
    }
    assert_eq!(number(cell("forgery_log2")), copy["forgery_log2"].as_f64(), "{name}");
    assert_eq!(cell("after_first_success"), copy["after_first_success"].as_str().unwrap_or_default(), "{name}");
}

#[test]
fn a_sweep_and_a_comparison_state_the_same_costs_and_risks_of_every_design() {
    let mut arguments =
        vec!["compare", "h100-nvl-tdx", "--size", "64KiB", "--format", "json", "--design", "hold+two-pces"];
    DESIGNS.iter().for_each(|design| arguments.extend(["--design", design]));
    let compared = json(&arguments);
    let design = |name: &str| {
        let all = compared["designs"].as_array().unwrap();
        all.iter().find(|design| design["name"] == name).unwrap_or_else(|| panic!("no design {name}"))
    };
    let rows = swept(&[], &DESIGNS);
    assert_eq!(rows.len(), DESIGNS.len());
    rows.iter().for_each(|row| assert_equal(&row.0, design(&row.0), row));
    let both = swept(&["hold"], &["two-pces"]);
    assert_equal("hold+two-pces", design("hold+two-pces"), &both[0]);
    // A quarantine for each of two PCEs: 4 MiB.
    assert_eq!(design("hold+two-pces")["cost"]["quarantine_capacity_bytes"], 4 << 20);
}

#[test]
fn describe_and_risk_say_what_rests_on_what_and_what_one_forgery_leaves() {
    let described = sealsim(&["describe", "h100-nvl-tdx"]);
    assert!(described.contains("not reproducible from this repository"), "{described}");
    assert!(described.contains("after one success it is 1: "), "{described}");
    let siv = json(&["describe", "h100-nvl-tdx", "--design", "gcm-siv", "--format", "json"]);
    assert_eq!(
        (&siv["message_risk"]["after_first_success"], &siv["cost"]["engines"]),
        (&"as_before".into(), &2.into())
    );
    let failed = ["risk", "h100-nvl-tdx", "--copy", "h2d:64KiB", "--release", "hold"];
    assert!(sealsim(&failed).contains("after one success it is 1: "), "the text of risk");
    let failed = json(&[&failed[..], &["--format", "json"]].concat());
    assert_eq!(failed["risk"]["after_first_success"], "certain");
    assert_eq!(
        failed["risk"]["forgery_log2"],
        json(&["compare", "h100-nvl-tdx", "--design", "hold", "--size", "64KiB", "--format", "json"])["designs"][1]["copies"]
            [0]["forgery_log2"]
    );
}
