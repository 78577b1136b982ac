//! The ledger of the answers that README, documents and tutorials rest on, `validation/headlines.csv`, and what they say of it.

use serde::{Deserialize, Serialize};
use std::{fs, path::Path};

/// An answer of the program, and the document that states it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Headline {
    pub name: String,
    /// The program's arguments. `--format json` is added.
    pub command: String,
    /// Where the answer is in that JSON: members, indices, and `member=value` for the element of a list that has it.
    pub path: String,
    /// Number with six significant digits, or word.
    pub value: String,
    pub unit: String,
    /// What the answer is worth: a class of data, or what it rests on.
    pub class: String,
    /// Who outside of this repository says the same, or what they say instead.
    pub judge: String,
    /// The document that rests on it, and how it states it: a number there is this one, rounded.
    pub document: String,
    pub stated: String,
    /// `gate`, or `campaign` for what takes minutes.
    pub when: String,
}

const CLASSES: [&str; 5] = ["fitted", "informed", "held out", "assumed", "exact"];

pub fn ledger() -> (std::path::PathBuf, Vec<Headline>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("validation/headlines.csv");
    let rows = csv::Reader::from_path(&path).unwrap().deserialize().collect::<Result<_, _>>().unwrap();
    (path, rows)
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
