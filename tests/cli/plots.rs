//! `--plot` of each verb: SVG or PDF by the ending of the file, whole or not at all.

use crate::in_folder as sealsim;
use sha2::{Digest, Sha256};
use std::{
    fs,
    path::{Path, PathBuf},
};

const STUDY: &str = "name = \"tags\"\nsummary = \"how many tags\"\nmachine = \"h100-nvl-tdx\"\ncopy = \"h2d:64KiB\"\n\
    objectives = { min = [\"exposure_ps\"], max = [\"gb_per_s\"] }\nplot = { x = \"link.read_tags\", y = [\"gb_per_s\"] }\n\
    [[axis]]\npath = \"link.read_tags\"\nvalues = [32, 256]\n";

/// The verbs that draw, each with what it needs.
fn verbs() -> Vec<Vec<&'static str>> {
    vec![
        vec!["compare", "h100-nvl-tdx", "--design", "hold", "--size", "64KiB,256KiB"],
        vec!["compare", "--workload", "upload-compute-download", "--design", "hold"],
        vec!["sensitivity", "h100-nvl-tdx", "--copy", "h2d:64KiB", "--samples", "2"],
        vec!["risk", "h100-nvl-tdx", "--copy", "h2d:1MiB", "--failures", "1"],
        vec!["sweep", "study.toml", "--out", "results"],
        vec!["pareto", "results"],
    ]
}

#[test]
fn each_verb_draws_svg_with_words_and_pdf_with_its_font() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("study.toml"), STUDY).expect("a study");
    for verb in verbs() {
        for name in ["plot.svg", "plot.pdf"] {
            let output = sealsim(folder.path(), &[&verb[..], &["--plot", name]].concat());
            assert!(output.status.success(), "{verb:?}: {}", String::from_utf8_lossy(&output.stderr));
            let file = fs::read(folder.path().join(name)).expect("a plot");
            let has = |words: &str| file.windows(words.len()).any(|bytes| bytes == words.as_bytes());
            if name == "plot.svg" {
                assert!(file.starts_with(b"<svg") && file.ends_with(b"</svg>\n"), "{verb:?}");
                assert!(["(GB/s)", "(µs)", "(ms)"].iter().any(|unit| has(unit)), "{verb:?}");
                assert!(!has("gb_per_s") && !has("NaN"), "{verb:?}");
            } else {
                assert!(file.starts_with(b"%PDF-") && has("/FontFile2") && has("LiberationSans"), "{verb:?}");
            }
        }
    }
}

#[test]
fn an_ending_that_is_neither_is_refused_before_anything_runs_and_leaves_no_file() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("study.toml"), STUDY).expect("a study");
    for verb in verbs() {
        let output = sealsim(folder.path(), &[&verb[..], &["--plot", "plot.png"]].concat());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{verb:?}: {said}");
        assert!(said.contains(".svg") && said.contains(".pdf") && output.stdout.is_empty(), "{verb:?}: {said}");
    }
    let left: Vec<_> =
        fs::read_dir(folder.path()).expect("a folder").map(|entry| entry.expect("a file").file_name()).collect();
    assert_eq!(left, ["study.toml"]);
}

/// Pictures of documents, and the commands that draw them within seconds. `tests/campaigns/validation.rs` has the one that takes a minute.
const DRAWN: [(&str, &str); 4] = [
    ("ghash-width.svg", "sweep studies/ghash-width.toml --out FOLDER/ghash-width"),
    ("tag-granularity.svg", "sweep studies/tag-granularity.toml --out FOLDER/tag-granularity"),
    ("sm-count.svg", "sweep studies/sm-count.toml --out FOLDER/sm-count"),
    (
        "replay.svg",
        "replay validation/traces/streamcluster-off-cuda_gpu_trace.csv.gz --api validation/traces/streamcluster-off-cuda_api_trace.csv.gz --whole-profile --design direct+overlap",
    ),
];

#[test]
#[ignore = "of a document: .ci/run"]
fn pictures_of_documents_are_those_that_their_commands_draw() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, command) in DRAWN {
        let place = folder.path().display().to_string();
        let words = format!("{command} --plot FOLDER/{name}").replace("FOLDER", &place);
        let output = sealsim(Path::new("."), &words.split(' ').collect::<Vec<_>>());
        assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
        let [drawn, stored] = [folder.path(), Path::new("docs")].map(|of| fs::read(of.join(name)).expect("a picture"));
        assert!(drawn == stored, "docs/{name} is old: sealsim {command} --plot docs/{name}");
        assert!(drawn.len() < 300_000, "{name}: {} bytes", drawn.len());
    }
}

/// SHA-256 of files one after the other, hexadecimal.
fn digest(files: &[PathBuf]) -> String {
    let bytes: Vec<u8> = files.iter().flat_map(|file| fs::read(file).expect("a file")).collect();
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Files in a folder, and in those within it.
fn files_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    entries.flat_map(|path| if path.is_dir() { files_in(&path) } else { vec![path] }).collect()
}

#[test]
fn pictures_of_documents_are_those_that_the_pages_draw() {
    let mut sources = files_in(Path::new("src/report/html/page"));
    sources.extend(["src/report/names.csv", "tests/browser/pictures.mjs"].map(PathBuf::from));
    sources.sort_by_key(|path| path.display().to_string());
    let drawn_by = digest(&sources);
    for row in fs::read_to_string("docs/tables/pictures.csv").expect("a table").lines().skip(1) {
        let cells: Vec<_> = row.split(',').collect();
        assert_eq!(cells[1], drawn_by, "{}: the pages have changed: make it again with .ci/pictures", cells[0]);
        assert_eq!(cells[2], digest(&[Path::new("docs").join(cells[0])]), "{} is another picture", cells[0]);
    }
}
