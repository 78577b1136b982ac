//! The answers that README, documents and tutorials rest on: `validation/headlines.csv`, made again.
//!
//! `SEALSIM_HEADLINES=record cargo test --release --test campaigns headlines` writes the values anew, and `=all` also checks the rows that take minutes. A changed
//! value is a line of a commit that says why it changed.

use super::ledger::{Headline, ledger};
use serde_json::Value as Json;
use std::{collections::BTreeMap, process::Command};

fn answer(command: &str) -> Json {
    let mut words = super::words::words(command);
    words.extend(["--format".into(), "json".into()]);
    let run = Command::new(env!("CARGO_BIN_EXE_sealsim"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(&words)
        .output()
        .unwrap();
    assert!(!run.stdout.is_empty(), "{command}: {}", String::from_utf8_lossy(&run.stderr));
    serde_json::from_slice(&run.stdout).unwrap_or_else(|error| panic!("{command}: {error}"))
}

fn find<'a>(json: &'a Json, path: &str) -> Option<&'a Json> {
    path.split(" / ").try_fold(json, |json, step| match (json, step.split_once('=')) {
        (Json::Array(list), Some((member, value))) => list.iter().find(|element| {
            let found = &element[member];
            found.as_str().map_or_else(|| value.parse().is_ok_and(|value: Json| value == *found), |word| word == value)
        }),
        (Json::Array(list), None) => list.get(step.parse::<usize>().ok()?),
        (json, _) => json.get(step),
    })
}

/// Six significant digits, as the ledger has them.
fn rounded(value: &Json) -> String {
    match value {
        Json::Number(number) => {
            let number = number.as_f64().unwrap();
            let digits = if number == 0.0 { 0 } else { number.abs().log10().floor() as i32 };
            let decimals = usize::try_from(5 - digits).unwrap_or(0);
            let text = format!("{number:.decimals$}");
            if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
        }
        Json::String(word) => word.clone(),
        other => other.to_string(),
    }
}

#[test]
fn the_headlines_are_what_the_ledger_says() {
    let how = std::env::var("SEALSIM_HEADLINES").unwrap_or_default();
    let (path, rows) = ledger();
    let asked = |row: &&Headline| row.when == "gate" || !how.is_empty();
    let commands: BTreeMap<&str, Json> =
        rows.iter().filter(asked).map(|row| (row.command.as_str(), Json::Null)).collect();
    let answers: BTreeMap<&str, Json> = commands.into_keys().map(|command| (command, answer(command))).collect();
    let mut now = rows.clone();
    for row in now.iter_mut().filter(|row| asked(&&**row)) {
        let found = find(&answers[row.command.as_str()], &row.path);
        row.value = rounded(found.unwrap_or_else(|| panic!("{}: nothing at {}", row.name, row.path)));
    }
    let moved: Vec<String> = rows
        .iter()
        .zip(&now)
        .filter(|(old, new)| old.value != new.value)
        .map(|(old, new)| format!("{}: {} -> {} {}", old.name, old.value, new.value, new.unit))
        .collect();
    println!("{} of {} headlines moved\n{}", moved.len(), rows.len(), moved.join("\n"));
    if how == "record" {
        let mut writer = csv::Writer::from_path(path).unwrap();
        now.iter().for_each(|row| writer.serialize(row).unwrap());
        writer.flush().unwrap();
        return;
    }
    assert!(moved.is_empty(), "{}\nSEALSIM_HEADLINES=record writes them anew", moved.join("\n"));
}
