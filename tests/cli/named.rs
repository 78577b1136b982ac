//! Tests and files of tests that documents name are there.

use super::readme::documents;
use std::{collections::BTreeSet, fs, path::Path};

/// The texts of all sources below a folder.
fn sources(folder: &Path, all: &mut String) {
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            sources(&entry, all);
        } else if entry.extension().is_some_and(|ending| ending == "rs") {
            all.push_str(&fs::read_to_string(&entry).unwrap());
        }
    }
}

/// What stands between backquotes, outside of blocks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    let mut in_block = false;
    let lines = text.lines().filter(move |line| {
        in_block ^= line.starts_with("```");
        !in_block
    });
    lines.flat_map(|line| line.split('`').skip(1).step_by(2))
}

#[test]
fn every_test_that_a_document_names_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut all = String::new();
    ["src", "crates", "tests", "bindings/c/tests"].iter().for_each(|folder| sources(&root.join(folder), &mut all));
    let words: BTreeSet<_> = all.split(|letter: char| !letter.is_alphanumeric() && letter != '_').collect();
    let more = ["validation/DEVIATIONS.md", "validation/predictions/README.md", "tests/golden/README.md"];
    let (mut names, mut files) = (0, 0);
    for document in documents().into_iter().chain(more.map(|name| root.join(name))) {
        let text = fs::read_to_string(&document).unwrap();
        for name in quoted(&text) {
            let is_word =
                name.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_');
            // Fields and parameters are shorter; this one is a function of Linux.
            if is_word && name.matches('_').count() >= 4 && name != "cxl_ide_prepare_dynamic_keys" {
                assert!(words.contains(name), "{}: there is no {name}", document.display());
                names += 1;
            } else if name.starts_with("tests/") && name.ends_with(".rs") {
                assert!(root.join(name).is_file(), "{}: there is no {name}", document.display());
                files += 1;
            }
        }
    }
    assert!(names > 100 && files > 20, "{names} names, {files} files");
}
