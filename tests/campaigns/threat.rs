//! The table of `docs/threat-model.md`, and the latencies below it, against the commands that it names.

use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    process::Command,
};

fn json(arguments: &[&str]) -> Value {
    let out = Command::new(env!("CARGO_BIN_EXE_sealsim")).args(arguments).args(["--format", "json"]).output().unwrap();
    assert!(out.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&out.stderr));
    serde_json::from_slice(&out.stdout).unwrap()
}

fn document(name: &str) -> String {
    fs::read_to_string(format!("{}/docs/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// The rows of the table below a head, without the designs' backquotes, by design.
fn rows(document: &str, head: &str) -> BTreeMap<String, Vec<String>> {
    let below = document.lines().skip_while(|line| *line != head).skip(2).take_while(|line| line.starts_with('|'));
    let cells = |line: &str| line.trim_matches('|').split('|').map(|cell| cell.trim().replace('`', "")).collect();
    let rows = below.map(|line| -> Vec<String> { cells(line) });
    rows.map(|mut cells| (cells.remove(0), cells)).collect()
}

fn campaign(design: &str) -> Value {
    json(&["faults", "h100-nvl-tdx", "--design", design, "--most", "1", "--sets", "1000", "--seed", "1"])
}

/// Share of each class, in percent.
fn shares(campaign: &Value) -> Vec<String> {
    let classes = campaign["classes"].as_array().unwrap();
    let sets: Vec<_> = classes.iter().map(|class| class["sets"].as_u64().unwrap()).collect();
    let all: u64 = sets.iter().sum();
    sets.iter().map(|&sets| format!("{:.1}", 100.0 * sets as f64 / all as f64)).collect()
}

/// Median latency of sets that a wrong tag or MAC detected, in us.
fn median_of_tags(campaign: &Value) -> String {
    let sets = campaign["sets"].as_array().unwrap().iter();
    let wrong = |set: &&Value| {
        ["tag_mismatch", "cpu_tag", "user_tag", "ide_mac"].iter().any(|signal| set["signal"]["signal"] == *signal)
    };
    let mut times: Vec<_> = sets.filter(wrong).map(|set| set["latency_ps"].as_u64().unwrap()).collect();
    times.sort_unstable();
    times.get(times.len() / 2).map_or_else(|| "-".to_owned(), |&time| format!("{:.1}", time as f64 * 1e-6))
}

fn table(rows: &BTreeMap<String, Vec<String>>) -> String {
    rows.iter().map(|(design, cells)| format!("| `{design}` | {} |\n", cells.join(" | "))).collect()
}

#[test]
fn the_table_of_the_threat_model_is_what_its_commands_give() {
    let threat = rows(
        &document("threat-model.md"),
        "| design | harmless % | detected % | silent % | hang % | exposure us | forgery at most | after one | a key lasts GB |",
    );
    assert!(threat.len() >= 10);
    let designs: Vec<_> = threat.keys().flat_map(|design| ["--design", design]).collect();
    let compared = json(&[&["compare", "h100-nvl-tdx", "--size", "64MiB"][..], &designs].concat());
    let (mut threat_now, mut latencies) = (BTreeMap::new(), BTreeSet::new());
    for design in threat.keys() {
        let campaign = campaign(design);
        let find = |one: &&Value| one["name"] == design.as_str();
        let compared = compared["designs"].as_array().unwrap().iter().find(find).unwrap();
        let copy = compared["copies"].as_array().unwrap().iter().find(|copy| copy["direction"] == "h2d").unwrap();
        let forgery = copy["forgery_log2"].as_f64().map_or_else(|| "-".to_owned(), |log2| format!("2^{log2:.1}"));
        let after = match copy["after_first_success"].as_str() {
            Some("certain") => "1",
            Some("as_before") => "as before",
            Some(other) => panic!("{other}"),
            None => "-",
        };
        let gigabytes = |bytes: u64| format!("{:.0}", bytes as f64 * 1e-9);
        let key = copy["key_budget_bytes"].as_u64().map_or_else(|| "-".to_owned(), gigabytes);
        let mut cells = shares(&campaign);
        let exposure = copy["exposure_ps"].as_u64().unwrap() as f64 * 1e-6;
        cells.extend([format!("{exposure:.1}"), forgery, after.to_owned(), key]);
        threat_now.insert(design.clone(), cells);
        latencies.insert(median_of_tags(&campaign));
    }
    assert!(threat == threat_now, "docs/threat-model.md should say\n{}", table(&threat_now));
    let stated = BTreeSet::from(["-", "0.0", "16.6"].map(str::to_owned));
    assert_eq!(latencies, stated, "docs/threat-model.md says these below its table");
}
