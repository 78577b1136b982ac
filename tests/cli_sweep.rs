//! `sealsim sweep` and `sealsim pareto` as processes.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};
use tempfile::TempDir;

const STUDY: &str = r#"
name = "small"
summary = "Twelve small copies"
machine = "h100-nvl-tdx"
designs = ["direct-in-place"]
copy = "h2d:256KiB"
objectives = { min = ["area_kge"], max = ["gb_per_s"] }

[[axis]]
path = "engine.ghash.width"
values = [1, 2, 4]

[[axis]]
path = "engine.ghash.groups"
from = 1
to = 4
factor = 2

[[axis]]
path = "tag_queue.quarantine"
values = ["0 B"]
"#;

struct Bench {
    folder: TempDir,
}

impl Bench {
    fn new(study: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("study.toml"), study).expect("written");
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn sealsim(&self, arguments: &[&str], input: &str) -> Output {
        let mut child = Command::new(env!("CARGO_BIN_EXE_sealsim"))
            .args(arguments)
            .current_dir(self.folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("sealsim runs");
        // A program that refuses its arguments may be gone before it reads.
        let _ = child.stdin.take().expect("a pipe").write_all(input.as_bytes());
        child.wait_with_output().expect("it ends")
    }

    fn sweep(&self, out: &str, threads: &str) -> Output {
        self.sealsim(&["sweep", "study.toml", "--out", out, "--threads", threads], "")
    }
}

fn fine(output: Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

fn refused(output: &Output, status: i32, words: &str) {
    let text = String::from_utf8_lossy(&output.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(output.status.code(), Some(status), "{text}");
    assert!(text.contains(words), "{text}");
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).expect("a file")
}

/// Columns of a CSV without quotes, by name.
fn column(csv: &str, name: &str) -> Vec<String> {
    let mut lines = csv.lines();
    let place = lines.next().expect("a head").split(',').position(|column| column == name).expect(name);
    lines.map(|line| line.split(',').nth(place).expect("a value").to_owned()).collect()
}

#[test]
fn the_table_is_the_same_for_one_and_two_threads_after_a_kill_anywhere_and_in_pieces() {
    let bench = Bench::new(STUDY);
    fine(bench.sweep("one", "1"));
    let csv = read(&bench.path("one/points.csv"));
    assert_eq!(column(&csv, "gb_per_s").len(), 9);
    fine(bench.sweep("two", "2"));
    assert_eq!(csv, read(&bench.path("two/points.csv")));
    assert_eq!(
        fs::read(bench.path("one/points.parquet")).unwrap(),
        fs::read(bench.path("two/points.parquet")).unwrap()
    );
    // A kill leaves some lines, the last maybe cut short, and no tables.
    let lines = read(&bench.path("one/points.jsonl"));
    for kept in [0, 1, lines.len() / 3, lines.len() / 2, lines.len() - 1] {
        fs::write(bench.path("two/points.jsonl"), &lines[..kept]).unwrap();
        fs::remove_file(bench.path("two/points.csv")).unwrap();
        fine(bench.sweep("two", "2"));
        assert_eq!(csv, read(&bench.path("two/points.csv")), "{kept} bytes were left");
        assert_eq!(read(&bench.path("two/points.jsonl")).lines().count(), 9);
    }
    // The pieces, in any order.
    let plan = fine(bench.sealsim(&["sweep", "plan", "study.toml"], ""));
    let mut points: Vec<_> = plan.lines().collect();
    points.rotate_left(4);
    for (name, piece) in [("a", &points[..5]), ("b", &points[5..])] {
        let rows = fine(bench.sealsim(&["sweep", "run-point", "study.toml"], &(piece.join("\n") + "\n")));
        fs::write(bench.path(name), rows).unwrap();
    }
    let said = fine(bench.sealsim(&["sweep", "merge", "study.toml", "a", "--out", "pieces"], ""));
    assert!(said.contains("4 have not run"), "{said}");
    fine(bench.sealsim(&["sweep", "merge", "study.toml", "b", "a", "--out", "pieces"], ""));
    assert_eq!(csv, read(&bench.path("pieces/points.csv")));
}

#[test]
fn what_is_done_is_not_done_again() {
    let bench = Bench::new(STUDY);
    fine(bench.sweep("out", "2"));
    let before = read(&bench.path("out/points.jsonl"));
    // Figures that only a run would restore.
    let changed = before.replace("\"messages\":1,", "\"messages\":77,");
    assert_ne!(before, changed);
    fs::write(bench.path("out/points.jsonl"), changed).unwrap();
    fine(bench.sweep("out", "2"));
    let messages = column(&read(&bench.path("out/points.csv")), "messages");
    assert!(messages.iter().all(|count| count == "77"), "{messages:?}");
}

#[test]
fn the_front_is_that_of_brute_force_and_the_objectives_are_the_studys() {
    let bench = Bench::new(STUDY);
    fine(bench.sweep("out", "2"));
    let csv = read(&bench.path("out/points.csv"));
    let numbers = |name| column(&csv, name).iter().map(|text| text.parse::<f64>().unwrap()).collect::<Vec<_>>();
    let (area, rate) = (numbers("area_kge"), numbers("gb_per_s"));
    let beaten = |one: usize| {
        (0..area.len()).any(|two| {
            area[two] <= area[one] && rate[two] >= rate[one] && (area[two] < area[one] || rate[two] > rate[one])
        })
    };
    let expected: Vec<_> = (0..area.len()).filter(|one| !beaten(*one)).map(|one| one.to_string()).collect();
    assert!(expected.len() < area.len(), "nothing is beaten");
    let own = fine(bench.sealsim(&["pareto", "out", "--format", "csv"], ""));
    assert_eq!(column(&own, "index"), expected);
    let asked =
        fine(bench.sealsim(&["pareto", "out", "--min", "area_kge", "--max", "gb_per_s", "--format", "json"], ""));
    let json: serde_json::Value = serde_json::from_str(&asked).unwrap();
    assert_eq!(json["points"].as_array().map(Vec::len), Some(expected.len()));
    refused(&bench.sealsim(&["pareto", "out", "--min", "area"], ""), 2, "no column `area`");
    refused(&bench.sealsim(&["pareto", "nowhere"], ""), 4, "sealsim sweep");
}

#[test]
fn what_a_cost_is_stretched_to_stands_in_the_table_and_under_the_front() {
    let clock = "[[axis]]\npath = \"copy_engine.clock\"\nvalues = [\"1.755 GHz\", \"3.5 GHz\"]\n";
    let bench = Bench::new(&STUDY.replace("values = [1, 2, 4]", "values = [1]").replace("to = 4", "to = 1"));
    fs::write(bench.path("study.toml"), read(&bench.path("study.toml")) + clock).expect("written");
    fine(bench.sweep("out", "1"));
    let mut table = csv::Reader::from_path(bench.path("out/points.csv")).expect("a table");
    let place = table.headers().expect("a head").iter().position(|head| head == "cost_notes").expect("a column");
    let notes: Vec<_> = table.records().map(|row| row.expect("a row")[place].to_owned()).collect();
    assert!(notes[0].is_empty() && notes[1].contains("stretched to this clock"), "{notes:?}");
    let front = fine(bench.sealsim(&["pareto", "out", "--max", "gb_per_s"], ""));
    assert!(front.contains("note on all points: ") && front.contains("stretched to this clock"), "{front}");
}

#[test]
fn a_bad_study_is_refused_and_nothing_already_computed_is_lost() {
    let bench = Bench::new(STUDY);
    fine(bench.sweep("out", "2"));
    let lines = read(&bench.path("out/points.jsonl"));
    for (from, to, status, words) in [
        ("engine.ghash.width", "engine.ghash.widht", 3, "did you mean"),
        ("values = [1, 2, 4]", "values = []", 3, "empty list"),
        ("from = 1\nto = 4", "from = 4\nto = 1", 3, "empty range"),
        ("copy = \"h2d:256KiB\"", "copy = \"h2d\"", 3, "size"),
        ("machine = \"h100-nvl-tdx\"", "machine = \"h100\"", 3, "h100"),
        ("[[axis]]", "[[axes]]", 3, "axes"),
        ("values = [1, 2, 4]", "values = [1, 2, 8]", 2, "another"),
    ] {
        fs::write(bench.path("study.toml"), STUDY.replacen(from, to, 1)).unwrap();
        refused(&bench.sweep("out", "2"), status, words);
        assert_eq!(lines, read(&bench.path("out/points.jsonl")), "{to}");
    }
    fs::write(bench.path("study.toml"), STUDY).unwrap();
    let record = read(&bench.path("out/study.json"));
    let version = format!("\"{}\"", env!("CARGO_PKG_VERSION"));
    fs::write(bench.path("out/study.json"), record.replace(&version, "\"0.0.1\"")).unwrap();
    refused(&bench.sweep("out", "2"), 2, "0.0.1");
    fs::create_dir(bench.path("home")).unwrap();
    fs::write(bench.path("home/letter"), "dear").unwrap();
    refused(&bench.sweep("home", "2"), 2, "holds no study");
}

#[test]
fn an_impossible_point_says_why_and_a_study_of_nothing_else_fails() {
    let bench = Bench::new(&STUDY.replace("values = [1, 2, 4]", "values = [1, 0]"));
    let said = fine(bench.sweep("out", "2"));
    assert!(said.contains("3 of them have no figures"), "{said}");
    let errors = read(&bench.path("out/points.csv"));
    assert!(errors.contains("engine.ghash.width"), "{errors}");
    let bench = Bench::new(&STUDY.replace("values = [1, 2, 4]", "values = [0]"));
    refused(&bench.sweep("out", "2"), 3, "no point of the study is possible");
    assert!(bench.path("out/points.csv").exists());
}

#[test]
fn every_shipped_study_can_be_planned() {
    let bench = Bench::new(STUDY);
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("studies")).expect("studies") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|ending| ending == "toml") {
            let plan = fine(bench.sealsim(&["sweep", "plan", path.to_str().expect("text")], ""));
            assert!(plan.lines().count() > 3, "{}", path.display());
        }
    }
}
