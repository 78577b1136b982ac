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
            .env("COLUMNS", "240")
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
    // Messages are broken into lines, with a bar before each.
    let text = String::from_utf8_lossy(&output.stderr).replace('│', " ");
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
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

/// A study of many small points, so that a kill has something to strike.
fn many() -> String {
    STUDY.replace("values = [\"0 B\"]", "from = \"0 B\"\nto = \"9 MiB\"\nstep = \"1 MiB\"")
}

fn lines(path: &Path) -> usize {
    fs::read(path).map_or(0, |bytes| bytes.iter().filter(|byte| **byte == b'\n').count())
}

#[test]
fn a_sweep_that_is_killed_again_and_again_ends_with_the_table_of_one_that_was_not() {
    let bench = Bench::new(&many());
    fine(bench.sweep("whole", "1"));
    let [csv, parquet] = ["whole/points.csv", "whole/points.parquet"].map(|name| fs::read(bench.path(name)).unwrap());
    let file = bench.path("out/points.jsonl");
    let mut struck_within = 0;
    for wanted in [0, 0, 1, 2, 10, 30, 50, 80] {
        let threads = if wanted % 4 == 0 { "1" } else { "2" };
        let mut child = Command::new(env!("CARGO_BIN_EXE_sealsim"))
            .env("COLUMNS", "240")
            .args(["sweep", "study.toml", "--out", "out", "--threads", threads])
            .current_dir(bench.folder.path())
            .stdout(Stdio::null())
            .spawn()
            .expect("sealsim runs");
        while lines(&file) < wanted && child.try_wait().expect("a child").is_none() {
            std::thread::sleep(std::time::Duration::from_micros(200));
        }
        child.kill().expect("killed");
        child.wait().expect("gone");
        struck_within += usize::from((1..90).contains(&lines(&file)));
    }
    assert!(struck_within >= 3, "the kills came too late: {struck_within}");
    fine(bench.sweep("out", "2"));
    assert_eq!(
        [csv, parquet],
        ["out/points.csv", "out/points.parquet"].map(|name| fs::read(bench.path(name)).unwrap())
    );
    assert_eq!(lines(&file), 90);
    let hidden = |name: String| name.starts_with('.');
    let names = fs::read_dir(bench.path("out")).expect("a folder").flatten();
    assert!(!names.map(|entry| entry.file_name().to_string_lossy().into_owned()).any(hidden));
}

/// Runs a sweep that may write files of so many blocks only, as on a disk that is full: writing fails, with an error of its own.
#[cfg(unix)]
fn confined(bench: &Bench, blocks: u32) -> Output {
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" sweep study.toml --out out --threads 2");
    let mut command = Command::new("sh");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_sealsim")]).current_dir(bench.folder.path());
    command.output().expect("a shell")
}

#[cfg(unix)]
#[test]
fn on_a_full_disk_a_sweep_says_so_and_loses_nothing() {
    let bench = Bench::new(&many());
    // Blocks are of 512 or of 1024 bytes, by shell; a line has about 900.
    refused(&confined(&bench, 20), 4, "all points that were done are kept");
    let kept = read(&bench.path("out/points.jsonl"));
    assert!(kept.ends_with('\n') && (4..30).contains(&kept.lines().count()), "{kept}");
    assert!(!bench.path("out/points.csv").exists());
    fine(bench.sweep("out", "2"));
    assert!(read(&bench.path("out/points.jsonl")).starts_with(&kept));
    let tables = ["out/points.csv", "out/points.parquet"].map(|name| bench.path(name));
    let before = tables.each_ref().map(|path| fs::read(path).unwrap());
    // No room for the tables: the old ones stay, and nothing half done lies beside them.
    refused(&confined(&bench, 2), 4, "points.csv");
    assert_eq!(before, tables.each_ref().map(|path| fs::read(path).unwrap()));
    assert_eq!(fs::read_dir(bench.path("out")).unwrap().count(), 4);
    fine(bench.sweep("whole", "1"));
    assert_eq!(before[0], fs::read(bench.path("whole/points.csv")).unwrap());
}

#[test]
fn points_and_rows_of_another_study_are_refused_by_the_pieces() {
    let bench = Bench::new(STUDY);
    let plan = fine(bench.sealsim(&["sweep", "plan", "study.toml"], ""));
    let first = plan.lines().next().expect("a point");
    let rows = fine(bench.sealsim(&["sweep", "run-point", "study.toml"], &format!("{first}\n")));
    fs::write(bench.path("rows"), &rows).unwrap();
    fs::write(bench.path("other.toml"), STUDY.replace("h2d:256KiB", "h2d:128KiB")).unwrap();
    let run = |input: &str| bench.sealsim(&["sweep", "run-point", "other.toml"], input);
    refused(&run(first), 4, "none of this study");
    let merge = |rows: &str| bench.sealsim(&["sweep", "merge", "other.toml", rows, "--out", "merged"], "");
    refused(&merge("rows"), 4, "line 1: point");
    // A point whose settings were changed is not the point that its identity names.
    refused(&bench.sealsim(&["sweep", "run-point", "study.toml"], &first.replace("\"1\"", "\"2\"")), 4, "none of this");
    refused(&run("{}"), 4, "line 1");
    fs::write(bench.path("rows"), "dear\n").unwrap();
    refused(&merge("rows"), 4, "line 1");
}

#[test]
fn a_quantity_stands_in_the_table_as_a_number_with_its_unit_in_the_columns_name() {
    let bench = Bench::new(&many());
    fine(bench.sweep("out", "2"));
    let csv = read(&bench.path("out/points.csv"));
    let quarantine = column(&csv, "tag_queue.quarantine_bytes");
    assert_eq!((quarantine[0].as_str(), quarantine[9].as_str()), ("0", "9437184"));
    assert!(column(&csv, "bytes").iter().all(|bytes| bytes == "262144"));
    let front = fine(bench.sealsim(&["pareto", "out", "--max", "tag_queue.quarantine_bytes"], ""));
    assert!(front.contains("9 of 90 points"), "{front}");
}

/// A row with other figures, and its digest of before.
fn altered(row: &str) -> String {
    let altered = row.replace("\"messages\":1,", "\"messages\":77,");
    assert_ne!(row, altered);
    altered
}

#[test]
fn what_is_done_is_not_done_again() {
    let bench = Bench::new(STUDY);
    fine(bench.sweep("out", "2"));
    let before = read(&bench.path("out/points.jsonl"));
    // Figures that only a run would restore.
    let other = |row: &str| {
        let row = altered(row);
        let said = row.split_once(",\"digest").unwrap().0;
        String::from_utf8(sealsim::explore::sweep::sealed(format!("{said}}}").into_bytes())).unwrap() + "\n"
    };
    fs::write(bench.path("out/points.jsonl"), before.lines().map(other).collect::<String>()).unwrap();
    fine(bench.sweep("out", "2"));
    let messages = column(&read(&bench.path("out/points.csv")), "messages");
    assert!(messages.iter().all(|count| count == "77"), "{messages:?}");
}

#[test]
fn a_row_that_somebody_has_changed_is_done_again_and_named() {
    let bench = Bench::new(STUDY);
    fine(bench.sweep("out", "2"));
    let (before, csv) = (read(&bench.path("out/points.jsonl")), read(&bench.path("out/points.csv")));
    // Which of two alike is simulated depends on who comes first.
    let sorted = |text: &str| {
        let row = |line: &str| {
            let mut row: serde_json::Value = serde_json::from_str(line).unwrap();
            row.as_object_mut().unwrap().retain(|key, _| !["origin", "digest"].contains(&key.as_str()));
            row.to_string()
        };
        text.lines().map(row).collect::<std::collections::BTreeSet<_>>()
    };
    let row = before.lines().nth(2).unwrap();
    // A figure, a digest, the form of an earlier version, and no row at all.
    let digest = row.rsplit_once(':').unwrap().0.to_owned() + ":\"00000000000000000000000000000000\"}";
    for instead in [altered(row), digest, row.split_once(",\"digest").unwrap().0.to_owned() + "}", "dear".to_owned()] {
        let changed = before.replace(row, &instead);
        fs::write(bench.path("out/points.jsonl"), &changed).unwrap();
        fs::create_dir_all(bench.path("shards/shards")).unwrap();
        fs::copy(bench.path("out/study.json"), bench.path("shards/study.json")).unwrap();
        fs::write(bench.path("shards/shards/1-of-1.jsonl"), &changed).unwrap();
        refused(
            &bench.sealsim(&["sweep", "merge", "study.toml", "out/points.jsonl", "--out", "merged"], ""),
            4,
            "line 3",
        );
        for folder in ["out", "shards"] {
            let output = bench.sweep(folder, "2");
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(said.contains("jsonl, line 3, is not as it was written"), "{instead}: {said}");
            fine(output);
            assert_eq!(csv, read(&bench.path(folder).join("points.csv")), "{instead}");
            assert_eq!(sorted(&before), sorted(&read(&bench.path(folder).join("points.jsonl"))), "{instead}");
        }
        assert_eq!(changed, read(&bench.path("out/points.damaged")));
        fs::remove_dir_all(bench.path("shards")).unwrap();
        fs::remove_dir_all(bench.path("merged")).unwrap();
    }
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
    let text = fine(bench.sealsim(&["pareto", "out", "--min", "area_total_kge"], ""));
    assert!(text.contains("rtl/results.toml"), "{text}");
    refused(&bench.sealsim(&["pareto", "out", "--min", "area"], ""), 2, "no column `area`");
    let exposure = |name: &str| {
        let front = fine(bench.sealsim(&["pareto", "out", "--min", name, "--format", "json"], ""));
        let front: serde_json::Value = serde_json::from_str(&front).unwrap();
        front["points"].as_array().unwrap().iter().map(|point| point[name].as_f64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(exposure("exposure_ns"), exposure("exposure_ps").iter().map(|ps| ps / 1e3).collect::<Vec<_>>());
    refused(&bench.sealsim(&["pareto", "nowhere"], ""), 4, "sealsim sweep");
}

#[test]
fn what_a_cost_is_stretched_to_stands_in_the_table_and_under_the_front() {
    let clock = "[[axis]]\npath = \"copy_engine.clock\"\nvalues = [\"1.755 GHz\", \"3.5 GHz\"]\n";
    let warn = "[[axis]]\npath = \"engine.check\"\nvalues = [\"warn\"]\n";
    let bench = Bench::new(&STUDY.replace("values = [1, 2, 4]", "values = [1]").replace("to = 4", "to = 1"));
    let study = read(&bench.path("study.toml"));
    fs::write(bench.path("study.toml"), format!("{study}{warn}{clock}")).expect("written");
    fine(bench.sweep("out", "1"));
    let mut table = csv::Reader::from_path(bench.path("out/points.csv")).expect("a table");
    let place = table.headers().expect("a head").iter().position(|head| head == "does_not_close").expect("a column");
    let notes: Vec<_> = table.records().map(|row| row.expect("a row")[place].to_owned()).collect();
    assert!(notes[0].is_empty() && notes[1].contains("does not close at 3.5 GHz (needs "), "{notes:?}");
    // The faster one is not on the front.
    let front = fine(bench.sealsim(&["pareto", "out", "--max", "gb_per_s"], ""));
    assert!(
        front.contains("1755000000") && !front.contains("3500000000") && front.contains("1 of 1 points"),
        "{front}"
    );
    let said = front.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("that do not close at their clock"), "{front}");
    // By default the point is refused, has no figures, and says so in the same column, with the cycles that close if any do.
    fs::write(bench.path("study.toml"), format!("{study}{clock}")).expect("written");
    let said = fine(bench.sweep("refused", "1"));
    assert!(said.contains("1 of them have no figures") && said.contains("1 of 1: `copy_engine.clock`"), "{said}");
    let mut table = csv::Reader::from_path(bench.path("refused/points.csv")).expect("a table");
    let heads = table.headers().expect("a head").clone();
    let rows: Vec<_> = table.records().map(|row| row.expect("a row")).collect();
    let cell = |row: usize, name: &str| rows[row][heads.iter().position(|head| head == name).expect(name)].to_owned();
    assert_eq!((rows.len(), cell(1, "does_not_close"), cell(1, "gb_per_s")), (2, notes[1].clone(), String::new()));
    assert!(cell(1, "error").contains(&notes[1]) && notes[1].contains("no cut that was synthesised closes"));
    assert_eq!(cell(0, "does_not_close") + &cell(0, "error"), "");
    assert!(fine(bench.sealsim(&["pareto", "refused", "--max", "gb_per_s"], "")).contains("1 of 1 points"));
}

#[test]
fn a_bad_study_is_refused_and_nothing_already_computed_is_lost() {
    let bench = Bench::new(STUDY);
    fine(bench.sweep("out", "2"));
    let lines = read(&bench.path("out/points.jsonl"));
    for (from, to, status, words) in [
        ("engine.ghash.width", "engine.ghash.widht", 3, "did you mean"),
        ("values = [1, 2, 4]", "values = []", 3, "empty list"),
        ("values = [1, 2, 4]", "values = [1, 2, \"many\"]", 3, "engine.ghash.width"),
        ("values = [\"0 B\"]", "values = [\"0 B\", \"1 MB/s\"]", 3, "MB/s"),
        ("from = 1\nto = 4", "from = 4\nto = 1", 3, "empty range"),
        ("copy = \"h2d:256KiB\"", "copy = \"h2d\"", 3, "size"),
        ("machine = \"h100-nvl-tdx\"", "machine = \"h100\"", 3, "h100"),
        ("[[axis]]", "[[axes]]", 3, "axes"),
        ("designs = [\"direct-in-place\"]", "designs = [\"indirect\"]", 3, "indirect"),
        ("min = [\"area_kge\"]", "min = [\"area\"]", 3, "no column `area`"),
        ("values = [1, 2, 4]", "values = [1, 2, 8]", 2, "another"),
    ] {
        fs::write(bench.path("study.toml"), STUDY.replacen(from, to, 1)).unwrap();
        refused(&bench.sweep("out", "2"), status, words);
        assert_eq!(lines, read(&bench.path("out/points.jsonl")), "{to}");
    }
    fs::write(bench.path("study.toml"), STUDY).unwrap();
    let record = read(&bench.path("out/study.json"));
    let version = format!("\"simulator\": \"{}", env!("CARGO_PKG_VERSION"));
    assert!(record.contains(&version), "{record}");
    // Another version, and the same version with another timing.
    for other in ["\"simulator\": \"0.0.1", &format!("{version}-other")] {
        fs::write(bench.path("out/study.json"), record.replace(&version, other)).unwrap();
        refused(&bench.sweep("out", "2"), 2, "its points may not compare");
        assert_eq!(lines, read(&bench.path("out/points.jsonl")));
    }
    fs::create_dir(bench.path("home")).unwrap();
    fs::write(bench.path("home/letter"), "dear").unwrap();
    refused(&bench.sweep("home", "2"), 2, "holds no study");
}

#[test]
fn an_impossible_point_says_why_and_a_study_of_nothing_else_fails() {
    let bench = Bench::new(&STUDY.replace("values = [1, 2, 4]", "values = [1, 0]"));
    let said = fine(bench.sweep("out", "2"));
    assert!(said.contains("3 of them have no figures"), "{said}");
    // The first message of a kind stands for all of it, with its number.
    assert!(said.contains("\n  3 of 3: ") && said.matches("`engine.ghash.width`").count() == 1, "{said}");
    let errors = read(&bench.path("out/points.csv"));
    assert!(errors.contains("engine.ghash.width"), "{errors}");
    let bench = Bench::new(&STUDY.replace("values = [1, 2, 4]", "values = [0]"));
    refused(&bench.sweep("out", "2"), 3, "no point of the study is possible");
    assert!(bench.path("out/points.csv").exists());
}

#[test]
fn every_set_of_axes_in_the_documents_has_the_points_that_it_states() {
    let text = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/studies.md"));
    let head = STUDY.split("[[axis]]").next().expect("a head");
    let mut kinds = Vec::new();
    for block in text.split("```toml\n").skip(1) {
        let axes = block.split("```").next().expect("an end");
        let (kind, points) =
            axes.lines().next().and_then(|line| line.strip_prefix("# ")?.rsplit_once(": ")).expect("a title");
        let points: usize = points.trim_end_matches(" points").parse().expect("a number");
        let bench = Bench::new(&format!("{head}{axes}"));
        let plan = fine(bench.sealsim(&["sweep", "plan", "study.toml"], ""));
        assert_eq!(plan.lines().count(), points, "{kind}");
        kinds.push(kind.split(',').next().unwrap_or(kind).to_owned());
    }
    assert_eq!(kinds, ["grid", "range", "zip", "conditional", "random"]);
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

/// A file of rows that is cut, has garbage or bad UTF-8 does not block a study that jobs run: its shard is missing, and goes on.
#[test]
fn a_shard_that_comes_back_damaged_is_run_again_by_the_same_command() {
    type Damage = fn(&[u8]) -> Vec<u8>;
    // Whether what was there is set aside, or goes on.
    let damages: [(Damage, bool); 5] = [
        (|rows| rows[..rows.len() / 2].to_vec(), false),
        (|rows| [&rows[..rows.len() / 2], b"\0\0\0\xff\xfe\n"].concat(), true),
        (|_| Vec::new(), false),
        (|rows| [b"garbage", &rows[rows.iter().position(|byte| *byte == b'\n').expect("a row")..]].concat(), true),
        (|rows| rows.split_inclusive(|byte| *byte == b'\n').next().expect("a row").to_vec(), false),
    ];
    let said = |output: &Output| String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned();
    for (damage, is_set_aside) in damages {
        let bench = Bench::new(STUDY);
        let good = |arguments: &[&str]| {
            let output = bench.sealsim(arguments, "");
            assert!(output.status.success(), "{arguments:?}: {}", said(&output));
            said(&output)
        };
        good(&["sweep", "study.toml", "--out", "whole"]);
        let submit = ["sweep", "study.toml", "--out", "out", "--engine", "slurm", "--chunk", "4"];
        good(&submit);
        for shard in ["1/3", "2/3", "3/3"] {
            good(&["sweep", "--out", "out", "--shard", shard]);
        }
        let rows = bench.path("out/shards/2-of-3.jsonl");
        fs::write(&rows, damage(&fs::read(&rows).expect("rows"))).expect("written");
        assert!(good(&["sweep", "status", "out"]).contains("1 of 3 shards are missing: 2"));
        let again = good(&submit);
        assert!(again.contains("1 of 3 shards are missing") && again.contains(".damaged") == is_set_aside, "{again}");
        let array = fs::read_to_string(bench.path("out/slurm/points.sbatch")).expect("a script");
        assert!(array.contains("--array=2\n"), "{array}");
        good(&["sweep", "--out", "out", "--shard", "2/3"]);
        assert!(good(&["sweep", "gather", "out"]).contains("9 points in"));
        let table = |folder: &str| fs::read(bench.path(folder).join("points.csv")).expect("a table");
        assert_eq!(table("out"), table("whole"));
        assert!(!bench.path("out/shards").exists());
    }
}

const TWO_COPIES: &str = "\n[[axis]]\npath = \"copy\"\nvalues = [\"h2d:4KiB\", \"d2h:4KiB\"]\n";

#[test]
fn copies_have_a_front_each_or_one_together_and_conditions_choose_among_points() {
    let bench = Bench::new(&(STUDY.replace("values = [1, 2, 4]", "values = [1, 4]") + TWO_COPIES));
    fine(bench.sweep("out", "2"));
    let json = |arguments: &[&str]| -> serde_json::Value {
        let all = [&["pareto", "out", "--format", "json"], arguments].concat();
        serde_json::from_str(&fine(bench.sealsim(&all, ""))).expect("JSON")
    };
    refused(&bench.sealsim(&["pareto", "out"], ""), 2, "points of different copies");
    let each = json(&["--per", "copy"]);
    for (place, copy) in ["h2d:4KiB", "d2h:4KiB"].iter().enumerate() {
        let alone = json(&["--where", &format!("copy={copy}")]);
        assert_eq!(each["groups"][place]["of"]["copy"], *copy);
        assert_eq!(each["groups"][place]["points"], alone["points"]);
        assert_eq!(alone["compared"], 6);
    }
    let wide = json(&["--where", "copy=h2d:4096 and width>=4"]);
    assert!(wide["points"].as_array().unwrap().iter().all(|point| point["engine.ghash.width"] == 4), "{wide}");
    // The slower copy is what counts.
    let worst = json(&["--copies", "worst"]);
    let rate = |points: &serde_json::Value| points[0]["gb_per_s"].as_f64().expect("a rate");
    let both = [0, 1].map(|group| rate(&each["groups"][group]["points"]));
    assert_eq!((rate(&worst["points"]), &worst["compared"]), (both[0].min(both[1]), &6.into()));
    let mean = rate(&json(&["--copies", "weighted", "--weight", "d2h:4KiB=3"])["points"]);
    assert!((mean - 4.0 / (1.0 / both[0] + 3.0 / both[1])).abs() < 1e-9 * mean, "{mean} {both:?}");
    refused(&bench.sealsim(&["pareto", "out", "--where", "colour=red"], ""), 2, "no column `colour`");
    refused(&bench.sealsim(&["pareto", "out", "--per", "copy", "--plot", "a.svg"], ""), 2, "--where");
}

#[test]
fn drawn_points_have_intervals_that_a_second_sweep_keeps_and_fronts_say_how_certain_they_are() {
    let small = STUDY.replace("values = [1, 2, 4]", "values = [1, 4]").replace("to = 4", "to = 1");
    let bench = Bench::new(&small.replace("256KiB", "4KiB"));
    let sweep = |out: &str, more: &[&str]| {
        bench.sealsim(&[&["sweep", "study.toml", "--out", out, "--uncertainty", "20"], more].concat(), "")
    };
    let said = fine(sweep("out", &["--threads", "1"]));
    assert!(said.contains("22 % of single calls, 23 % of times on the device"), "{said}");
    let record: serde_json::Value = serde_json::from_str(&read(&bench.path("out/study.json"))).unwrap();
    let families: Vec<_> =
        record["residuals"].as_array().unwrap().iter().map(|one| (&one["family"], &one["figures"])).collect();
    let (calls, device) = (["gb_per_s", "time_ps"].into(), ["device_ps"].into());
    assert_eq!(families, [(&"single calls".into(), &calls), (&"times on the device".into(), &device)]);
    let csv = read(&bench.path("out/points.csv"));
    let numbers = |name: &str| column(&csv, name).iter().map(|text| text.parse::<f64>().unwrap()).collect::<Vec<_>>();
    let (low, rate, high) = (numbers("gb_per_s_low"), numbers("gb_per_s"), numbers("gb_per_s_high"));
    assert!((0..2).all(|row| low[row] < rate[row] && rate[row] < high[row]), "{low:?} {rate:?} {high:?}");
    // The same draws, whatever runs them; those of another seed are others.
    fine(sweep("again", &["--threads", "2", "--seed", "1"]));
    assert_eq!(csv, read(&bench.path("again/points.csv")));
    refused(&sweep("out", &["--seed", "2"]), 2, "holds results of study");
    let front = fine(bench.sealsim(&["pareto", "out", "--format", "json"], ""));
    let front: serde_json::Value = serde_json::from_str(&front).unwrap();
    let certain: Vec<_> =
        front["points"].as_array().unwrap().iter().map(|point| point["on_front_in"].as_f64()).collect();
    // Nothing is cheaper than the narrower, in any draw.
    assert_eq!(certain[0], Some(1.0), "{front}");
    let text = fine(bench.sealsim(&["pareto", "out"], ""));
    assert!(text.contains("on_front_in is the part of the draws"), "{text}");
}
