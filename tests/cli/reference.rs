//! `sealsim reference`, and the book that its pages are part of.

use super::readme::documents;
use sealsim::{
    figures::{column_names, table::SHOWN},
    sim::Stall,
};
use std::{
    collections::BTreeSet,
    fs,
    path::{Component, Path, PathBuf},
    process::Command,
};
use tempfile::TempDir;

fn sealsim(arguments: &[&str]) -> String {
    let run = Command::new(env!("CARGO_BIN_EXE_sealsim")).args(arguments).output().unwrap();
    assert!(run.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&run.stderr));
    String::from_utf8(run.stdout).unwrap()
}

/// The pages of the reference, by name.
struct Pages(TempDir);

impl Pages {
    fn write() -> Self {
        let folder = tempfile::tempdir().unwrap();
        sealsim(&["reference", folder.path().to_str().unwrap()]);
        Self(folder)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.path().join(name)).unwrap()
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The first cells of the rows of tables, without backticks.
fn first_cells(page: &str) -> Vec<&str> {
    page.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect()
}

#[test]
fn every_verb_and_option_is_on_the_page_of_options() {
    let page = Pages::write().read("options.md");
    let folder = tempfile::tempdir().unwrap();
    sealsim(&["man", folder.path().to_str().unwrap()]);
    let mut verbs = 0;
    for entry in fs::read_dir(folder.path()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        // Pages of manuals are called sealsim-tlp-decode.1; verbs of two words have a hyphen as well.
        let Some(dashed) = name.trim_end_matches(".1").strip_prefix("sealsim-") else { continue };
        let known =
            |line: &&str| line.starts_with("##") && line.trim_start_matches('#').trim().replace(' ', "-") == dashed;
        let heading = page.lines().find(known).unwrap_or_else(|| panic!("no heading for {dashed}"));
        let (_, section) = page.split_once(&format!("\n{heading}\n")).unwrap();
        let section = section.split("\n##").next().unwrap();
        let mut words: Vec<_> = heading.trim_start_matches('#').split_whitespace().collect();
        words.push("--help");
        let help = sealsim(&words);
        let (_, options) = help.split_once("\nOptions:\n").unwrap();
        for line in options.lines().take_while(|line| line.is_empty() || line.starts_with(' ')) {
            let option = line.strip_prefix("      --").or(line.strip_prefix("  -h, --"));
            let Some(option) = option.and_then(|line| line.split([' ', ',', '=']).next()) else { continue };
            let shown = section.contains(&format!("- `--{option}")) || ["help", "version"].contains(&option);
            assert!(shown, "{dashed}: --{option}");
        }
        verbs += 1;
    }
    assert!(verbs > 30, "{verbs}");
}

#[test]
fn every_parameter_of_every_machine_is_on_the_page_of_parameters() {
    let pages = Pages::write();
    let page = pages.read("parameters.md");
    let known: BTreeSet<_> = first_cells(&page).into_iter().collect();
    let list: serde_json::Value = serde_json::from_str(&sealsim(&["list", "--format", "json"])).unwrap();
    let machines = list.as_array().unwrap().iter().filter(|row| row["kind"] == "machine");
    for machine in machines.map(|row| row["name"].as_str().unwrap()) {
        let shown: serde_json::Value =
            serde_json::from_str(&sealsim(&["describe", machine, "--format", "json"])).unwrap();
        for parameter in shown["parameters"].as_array().unwrap() {
            let path = parameter["path"].as_str().unwrap();
            // One of several: its number.
            let (list, own) = path.split_once('[').unwrap_or((path, ""));
            let own = own.split_once(']').map_or("", |(_, own)| own);
            let row = if own.is_empty() { list.to_owned() } else { format!("{list}[N]{own}") };
            assert!(known.contains(&*row), "{machine}: {path}");
        }
    }
    let values = pages.read("values.md");
    assert!(first_cells(&values).iter().all(|path| known.contains(path)), "{values}");
}

#[test]
fn every_column_stall_status_and_fault_point_has_its_row() {
    let pages = Pages::write();
    let figures = pages.read("columns.md");
    for (verb, list) in SHOWN {
        for name in column_names(list) {
            let row = figures.lines().find(|line| line.starts_with(&format!("| `{name}` |")));
            assert!(row.is_some_and(|row| row.contains(verb)), "{verb}: {name}");
        }
    }
    assert_eq!(first_cells(&pages.read("stalls.md")), Stall::ALL.map(Stall::name));
    let statuses = pages.read("exit-statuses.md");
    (0..6).for_each(|status| assert!(statuses.contains(&format!("\n| {status} | ")), "{status}"));
    let faults: serde_json::Value = serde_json::from_str(&sealsim(&["list", "--faults", "--format", "json"])).unwrap();
    let names: Vec<_> = faults.as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert_eq!(first_cells(&pages.read("faults.md")), names);
}

/// A path without `..`.
fn plain(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut plain, part| {
        if part == Component::ParentDir {
            plain.pop();
        } else {
            plain.push(part);
        }
        plain
    })
}

/// Where the links of a page lead: file, if it names one, and anchor, if it names one.
fn links(text: &str) -> Vec<(String, String)> {
    let mut links = Vec::new();
    let mut in_block = false;
    for line in text.lines() {
        in_block ^= line.starts_with("```");
        let targets = line.match_indices("](").filter_map(|(at, _)| line[at + 2..].split(')').next());
        let targets = targets.filter(|target| !in_block && !target.contains("://"));
        links.extend(targets.map(|target| target.split_once('#').unwrap_or((target, ""))));
    }
    links.into_iter().map(|(file, anchor)| (file.to_owned(), anchor.to_owned())).collect()
}

#[test]
fn the_book_has_every_document_and_every_page_of_the_reference() {
    let summary = fs::read_to_string(root().join("docs/SUMMARY.md")).unwrap();
    let pages = Pages::write();
    let (mut listed, mut generated) = (BTreeSet::new(), BTreeSet::new());
    for (target, _) in links(&summary) {
        match target.strip_prefix("reference/") {
            Some(page) => assert!(generated.insert(page.to_owned()), "{page} twice"),
            None => assert!(listed.insert(plain(&root().join("docs").join(target)))),
        }
    }
    let more = ["CHANGELOG.md", "validation/DEVIATIONS.md"].map(|name| root().join(name));
    let all: BTreeSet<_> = documents().into_iter().filter(|path| !path.ends_with("SUMMARY.md")).chain(more).collect();
    assert_eq!(listed, all);
    let written = fs::read_dir(pages.0.path()).unwrap();
    assert_eq!(generated, written.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect());
}

/// The anchors of a page: its headings in lower case, blanks as hyphens, without other marks; and what `<a id="...">` names.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut in_block = false;
    let headings = text.lines().filter(|line| {
        in_block ^= line.starts_with("```");
        !in_block && line.starts_with('#')
    });
    let anchor = |heading: &str| -> String {
        let kept = |letter: &char| letter.is_alphanumeric() || [' ', '-', '_'].contains(letter);
        let letters = heading.trim_start_matches('#').trim().chars().filter(kept);
        letters.map(|letter| if letter == ' ' { '-' } else { letter.to_ascii_lowercase() }).collect()
    };
    let named = text.split("<a id=\"").skip(1).filter_map(|rest| rest.split('"').next());
    headings.map(anchor).chain(named.map(str::to_owned)).collect()
}

#[test]
fn every_anchor_that_a_document_links_to_is_there() {
    let mut checked = 0;
    for document in documents() {
        let text = fs::read_to_string(&document).unwrap();
        for (file, anchor) in links(&text).into_iter().filter(|(_, anchor)| !anchor.is_empty()) {
            let target =
                if file.is_empty() { document.clone() } else { plain(&document.parent().unwrap().join(&file)) };
            let known = anchors(&fs::read_to_string(&target).unwrap());
            assert!(known.contains(&anchor), "{}: {file}#{anchor}", document.display());
            checked += 1;
        }
    }
    assert!(checked > 60, "{checked}");
}
