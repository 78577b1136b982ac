//! The answers that README, documents and tutorials rest on: `validation/headlines.csv`, made again.
//!
//! `SEALSIM_HEADLINES=record cargo test --release --test campaigns headlines` writes the values anew, and `=all` also checks the rows that take minutes. A changed
//! value is a line of a commit that says why it changed.

use crate::CAMPAIGN;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use std::{collections::BTreeMap, fs, path::Path, process::Command};

/// One answer.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Headline {
    name: String,
    /// The program's arguments. `--format json` is added.
    command: String,
    /// Where the answer is in that JSON: members, indices, and `member=value` for the element of a list that has it.
    path: String,
    /// Number with six significant digits, or word.
    value: String,
    unit: String,
    /// What the answer is worth: a class of data, or what it rests on.
    class: String,
    /// Who outside of this repository says the same, or what they say instead.
    judge: String,
    /// The document that rests on it, and how it states it: a number there is this one, rounded.
    document: String,
    stated: String,
    /// `gate`, or `campaign` for what takes minutes.
    when: String,
}

const CLASSES: [&str; 5] = ["fitted", "informed", "held out", "assumed", "exact"];

fn ledger() -> (std::path::PathBuf, Vec<Headline>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("validation/headlines.csv");
    let rows = csv::Reader::from_path(&path).unwrap().deserialize().collect::<Result<_, _>>().unwrap();
    (path, rows)
}

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

/// Whether a document's number is this value, as far as its digits go.
fn is_stated_right(value: &str, stated: &str) -> bool {
    let (Ok(value), Ok(number)) = (value.parse::<f64>(), stated.replace(' ', "").parse::<f64>()) else {
        return value.contains(stated);
    };
    let decimals = stated.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    (value - number).abs() <= 0.5 * 10_f64.powi(-(decimals as i32)) * 1.000_001
}

#[test]
fn the_headlines_are_what_the_ledger_says() {
    if !CAMPAIGN {
        return;
    }
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

#[test]
fn documents_state_the_headlines_as_the_ledger_has_them() {
    let (path, rows) = ledger();
    let root = path.parent().unwrap().parent().unwrap();
    for row in &rows {
        assert!(CLASSES.contains(&row.class.as_str()), "{}: {}", row.name, row.class);
        assert!(!row.judge.is_empty(), "{}: who judges it?", row.name);
        let document = fs::read_to_string(root.join(&row.document)).unwrap_or_else(|_| panic!("{}", row.document));
        let stated = row.stated.trim();
        assert!(stated.is_empty() || document.contains(stated), "{}: {} lacks {stated}", row.name, row.document);
        assert!(
            stated.is_empty() || is_stated_right(&row.value, stated),
            "{}: {} is not {stated}",
            row.name,
            row.value
        );
    }
    assert!(rows.len() >= 40, "{}", rows.len());
}

/// Units of a figure.
const UNITS: [&str; 8] = ["GB/s", "%", "times", "us", "ms", "kGE", "ps", "ns"];

/// Numbers of a text with the words behind them.
fn figures(text: &str) -> Vec<(String, String)> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let plain = |word: &str| word.trim_matches(|one: char| !one.is_ascii_alphanumeric() && one != '%').to_owned();
    let pairs = words.windows(2).map(|pair| (plain(pair[0]).replace(',', ""), plain(pair[1])));
    pairs
        .filter(|(number, _)| number.starts_with(|one: char| one.is_ascii_digit()) && number.parse::<f64>().is_ok())
        .collect()
}

/// A figure of README or a tutorial is that of its ledger, or shown by a command of it, or an error that `validate` or an outside check has.
fn strays(document: &str, text: &str, rows: &[Headline], errors: &str) -> Vec<String> {
    let (mut prose, mut blocks) = (String::new(), String::new());
    for (place, part) in text.split("```").enumerate() {
        if place % 2 == 0 { &mut prose } else { &mut blocks }.push_str(part);
    }
    let shown = figures(&blocks);
    let words: Vec<&str> = blocks.split(|one: char| !one.is_ascii_digit() && one != '.').collect();
    let errors: Vec<&str> = errors.split(|one: char| !one.is_ascii_digit() && one != '.').collect();
    let known = |(number, unit): &(String, String)| {
        let long = number.chars().filter(char::is_ascii_digit).count() > 2;
        let is = |value: &str| value.parse::<f64>().is_ok() && is_stated_right(value, number);
        rows.iter().any(|row| row.document == document && is(&row.value))
            || shown.contains(&(number.clone(), unit.clone()))
            || long && words.iter().any(|word| is(word))
            || unit == "%" && errors.iter().any(|error| is(error))
    };
    let asked = figures(&prose).into_iter().filter(|(_, unit)| UNITS.contains(&unit.as_str()));
    asked.filter(|figure| !known(figure)).map(|(number, unit)| format!("{document}: {number} {unit}")).collect()
}

#[test]
fn no_figure_of_readme_and_tutorials_is_a_stray_one() {
    let (path, rows) = ledger();
    let root = path.parent().unwrap().parent().unwrap();
    let read = |name: &str| fs::read_to_string(root.join(name)).unwrap();
    let errors = read("validation/accuracy.csv") + &read("docs/tables/outside-checks.csv");
    let all =
        ["README.md", "docs/tutorials/architect.md", "docs/tutorials/verification.md", "docs/tutorials/workload.md"];
    let found: Vec<String> = all.iter().flat_map(|name| strays(name, &read(name), &rows, &errors)).collect();
    assert!(
        found.is_empty(),
        "{found:#?}\na figure in prose needs a row of validation/headlines.csv, or a command that shows it"
    );
    // One that is edited is found.
    let edited = read("README.md").replace("of 3.03 GB/s", "of 3.30 GB/s").replace("14.8 %", "41.8 %");
    assert_eq!(strays("README.md", &edited, &rows, &errors), ["README.md: 3.30 GB/s", "README.md: 41.8 %"]);
}
