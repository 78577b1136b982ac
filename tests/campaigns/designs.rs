//! What docs/designs.md says: its tables are what `sealsim compare` prints, and its reading of Fastrack's steps still holds.

use serde_json::Value;
use std::{collections::BTreeMap, process::Command};

const DOCUMENT: &str = include_str!("../../docs/designs.md");

/// The sizes of the tables without 1 GiB, which takes too long for a test.
const SIZES: &str = "4KiB,64KiB,1MiB,64MiB";

fn compare(arguments: &[&str]) -> String {
    sealsim("compare", arguments)
}

fn sealsim(verb: &str, arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_sealsim"))
        .env("COLUMNS", "240")
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .arg(verb)
        .args(arguments)
        .output()
        .expect("the program runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

/// Tables by their title: the cells by design and column.
type Tables = BTreeMap<String, BTreeMap<(String, String), String>>;

/// Reads the tables of a text: a title, then lines that are set in, the first of them the head. Columns are two blanks apart.
fn tables(text: &str) -> Tables {
    let mut tables = Tables::new();
    let (mut title, mut head): (String, Vec<String>) = Default::default();
    for line in text.lines() {
        let cells: Vec<String> =
            line.trim().split("  ").map(str::trim).filter(|cell| !cell.is_empty()).map(str::to_owned).collect();
        if !line.starts_with("  ") {
            (title, head) = (line.to_owned(), Vec::new());
        } else if head.is_empty() {
            head = cells;
        } else if let Some((design, rest)) = cells.split_first() {
            let table = tables.entry(title.clone()).or_default();
            table.extend(
                head[1..].iter().zip(rest).map(|(column, cell)| ((design.clone(), column.clone()), cell.clone())),
            );
        }
    }
    tables
}

/// The commands of the document that have this verb, with what stands below each.
fn examples(verb: &str) -> Vec<(Vec<&'static str>, &'static str)> {
    let command = format!("```text\n$ sealsim {verb} ");
    let blocks = DOCUMENT.split(&command as &str).skip(1);
    let block = |text: &'static str| {
        let (command, rest) = text.split_once('\n').expect("a command has a line");
        (command.split(' ').collect(), rest.split_once("\n```").expect("a block ends").0)
    };
    blocks.map(block).collect()
}

#[test]
fn the_tables_of_the_document_are_what_compare_prints() {
    let examples = examples("compare");
    assert_eq!(examples.len(), 6);
    for (mut arguments, text) in examples {
        if !arguments.contains(&"--size") {
            arguments.extend(["--size", SIZES]);
        }
        let (stated, printed) = (tables(text), tables(&compare(&arguments)));
        assert!(!stated.is_empty(), "{arguments:?}");
        for (title, cells) in stated {
            let now = printed.get(&title).unwrap_or_else(|| panic!("no table `{title}`"));
            for ((design, column), cell) in cells.into_iter().filter(|((_, column), _)| column != "1 GiB") {
                let place = format!("{title}: {design}, {column}");
                assert_eq!(now.get(&(design, column)), Some(&cell), "{place}");
            }
        }
    }
}

#[test]
fn what_the_document_says_of_failing_tags_is_what_risk_prints() {
    let examples = examples("risk");
    assert_eq!(examples.len(), 2);
    for (arguments, text) in examples {
        let (stated, printed) = (tables(text), tables(&sealsim("risk", &arguments)));
        assert_eq!(stated.len(), 2, "{arguments:?}");
        assert_eq!(stated, printed, "{arguments:?}");
    }
}

/// Rates by design, in the order of the sizes, h2d before d2h.
fn rates(json: &Value) -> BTreeMap<String, Vec<f64>> {
    let copies = |design: &Value| -> Vec<f64> {
        let copies = design["copies"].as_array().expect("copies");
        copies.iter().map(|copy| copy["gb_per_s"].as_f64().expect("a rate")).collect()
    };
    let designs = json["designs"].as_array().expect("designs").iter();
    designs.map(|design| (design["name"].as_str().expect("a name").to_owned(), copies(design))).collect()
}

#[test]
fn designs_are_worth_what_the_document_says() {
    let designs = ["direct", "direct+overlap", "overlap", "parallel-auth", "fastrack"];
    let asked = designs.iter().flat_map(|name| ["--design", name]);
    let arguments: Vec<_> =
        ["hw-configs/h100-nvl-tdx.toml", "--format", "json", "--size", SIZES].into_iter().chain(asked).collect();
    let rates = rates(&serde_json::from_str(&compare(&arguments)).expect("JSON"));
    let over = |one: &str, other: &str| -> Vec<f64> {
        rates[one].iter().zip(&rates[other]).map(|(one, other)| (one / other * 10.0).round() / 10.0).collect()
    };
    let percent = |one: &str, other: &str| -> Vec<f64> {
        rates[one].iter().zip(&rates[other]).map(|(one, other)| ((one / other - 1.0) * 100.0).round()).collect()
    };
    // Four sizes to the GPU, four back: the communication cost that stands against Fastrack's 12.69 to 33.53.
    assert_eq!(over("off", "h100-cc-resealed"), [3.6, 8.7, 23.3, 28.0, 3.5, 7.6, 21.3, 25.8]);
    assert_eq!(over("off", "h100-cc"), [3.4, 6.3, 13.0, 14.7, 3.3, 5.2, 11.6, 13.6]);
    assert_eq!(over("direct", "h100-cc-resealed"), [1.1, 1.9, 4.4, 6.7, 1.1, 2.3, 5.5, 6.7]);
    assert_eq!(percent("direct+overlap", "direct"), [0.0, 1.0, 0.0, 23.0, 0.0, 0.0, 0.0, 23.0]);
    assert_eq!(percent("overlap", "h100-cc"), [0.0, 1.0, 0.0, 6.0, 0.0, 0.0, 0.0, 5.0]);
    assert_eq!(percent("parallel-auth", "h100-cc"), [-1.0, 0.0, 0.0, 0.0, -2.0, 0.0, 0.0, 0.0]);
    // Less time with all three steps, in percent: against Fastrack's 84.6 of whole programs.
    let pairs = rates["fastrack"].iter().zip(&rates["h100-cc-resealed"]);
    let less: Vec<_> = pairs.map(|(new, old)| (100.0 - 100.0 * old / new).round()).collect();
    assert_eq!(less, [11.0, 48.0, 77.0, 88.0, 9.0, 56.0, 82.0, 88.0]);
}

#[test]
fn the_document_names_every_design_that_is_shipped() {
    for design in sealsim::config::Shipped::names(sealsim::config::Role::Design) {
        assert!(DOCUMENT.contains(&format!("`{design}`")), "{design} is not in docs/designs.md");
    }
}
