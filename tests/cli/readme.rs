//! What README.md shows.

use super::{tutorials::agree, words::words};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// README.md has fewer lines than this.
const MOST_LINES: usize = 120;

#[test]
fn the_readme_is_short_and_shows_what_comes_out() {
    let readme = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).unwrap();
    assert!(readme.lines().count() < MOST_LINES, "{}", readme.lines().count());
    let mut in_block = false;
    for line in readme.lines() {
        in_block ^= line.starts_with("```");
        assert!(!in_block || line.chars().count() <= 96, "{line}");
    }
    let (_, behind) = readme.split_once("$ sealsim run h100-nvl-tdx --copy h2d:64MiB\n").unwrap();
    let (shown, _) = behind.split_once("\n```").unwrap();
    let run = Command::new(env!("CARGO_BIN_EXE_sealsim"))
        .args(["run", "h100-nvl-tdx", "--copy", "h2d:64MiB"])
        .env("COLUMNS", "96")
        .output()
        .unwrap();
    let printed = String::from_utf8(run.stdout).unwrap();
    let lines = |text: &str| text.trim_end().lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>();
    assert!(agree(&lines(shown), &lines(&printed)), "{printed}");
}

/// The documents.
pub(super) fn documents() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = ["docs", "docs/tutorials"].map(|folder| fs::read_dir(root.join(folder)).unwrap());
    let docs = folders.into_iter().flatten().map(|entry| entry.unwrap().path());
    let mut documents: Vec<_> = docs.filter(|path| path.extension().is_some_and(|ending| ending == "md")).collect();
    documents.extend(["README.md", "CONTRIBUTING.md", "validation/README.md"].map(|name| root.join(name)));
    documents.sort();
    documents
}

#[test]
fn the_program_understands_every_command_of_the_documents() {
    let mut commands = 0;
    for document in documents() {
        let text = fs::read_to_string(&document).unwrap().replace("\\\n", " ");
        let mut in_block = false;
        let code = text.lines().filter(|line| {
            in_block ^= line.starts_with("```");
            in_block || line.starts_with("    ")
        });
        let lines = code.map(|line| line.trim_start().trim_start_matches("$ "));
        for line in lines.filter(|line| line.starts_with("sealsim ")) {
            let words = words(line);
            // Dots stand for what the reader has.
            if words.iter().any(|word| word == "..." || word == "FILE" || word == "VERB") || words.len() < 2 {
                continue;
            }
            commands += 1;
            assert!(sealsim::cli::understands(&words), "{}: {line}\n{words:?}", document.display());
        }
    }
    assert!(commands > 100, "{commands}");
}

#[test]
fn every_link_of_the_documents_leads_to_a_file() {
    let mut links = 0;
    for document in documents() {
        let text = fs::read_to_string(&document).unwrap();
        for (at, _) in text.match_indices("](") {
            let target = text[at + 2..].split(')').next().unwrap().split('#').next().unwrap();
            // Pages of the reference are written by the program.
            let written = document.ends_with("SUMMARY.md") && target.starts_with("reference/");
            if target.is_empty() || target.contains("://") || written {
                continue;
            }
            links += 1;
            assert!(document.parent().unwrap().join(target).exists(), "{}: {target}", document.display());
        }
    }
    assert!(links > 100, "{links}");
}
