//! `sealsim sweep --shard`, `--engine`, `status`, `merge` and `gather`, without any cluster; `cluster.rs` has one.

use serde_json::Value as Json;
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};
use tempfile::TempDir;

/// Ninety copies, three of them without a machine.
pub(crate) fn study(copy: &str) -> String {
    format!(
        "name = \"engines\"\nsummary = \"Ninety copies\"\nmachine = \"h100-nvl-tdx\"\ndesigns = [\"direct-in-place\"]\ncopy = \"{copy}\"\n\
         [[axis]]\npath = \"engine.ghash.width\"\nvalues = [0, 1, 4]\n\
         [[axis]]\npath = \"tag_queue.depth\"\nfrom = 1\nto = 30\nstep = 1\n"
    )
}

pub(crate) struct Bench {
    pub folder: TempDir,
}

impl Bench {
    pub fn new(study: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("study.toml"), study).expect("written");
        Self { folder }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sealsim"));
        command.env("COLUMNS", "240").args(arguments).current_dir(self.folder.path()).stdin(Stdio::null());
        command
    }

    pub fn sealsim(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("sealsim runs")
    }

    /// The table of a sweep over threads.
    pub fn expected(&self) -> [Vec<u8>; 2] {
        fine(&self.sealsim(&["sweep", "study.toml", "--out", "expected"]));
        self.tables("expected")
    }

    pub fn tables(&self, folder: &str) -> [Vec<u8>; 2] {
        ["points.csv", "points.parquet"].map(|name| fs::read(self.path(folder).join(name)).expect("a table"))
    }

    pub fn status(&self, folder: &str) -> Json {
        let text = fine(&self.sealsim(&["sweep", "status", folder, "--format", "json"]));
        serde_json::from_str(&text).expect("JSON")
    }
}

pub(crate) fn fine(output: &Output) -> String {
    assert!(output.status.success(), "{}", told(output));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Standard error in one line: messages are broken into lines, with a bar before each.
pub(crate) fn told(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr).replace('│', " ");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

pub(crate) fn refused(output: &Output, status: i32, words: &str) {
    let text = told(output);
    assert_eq!(output.status.code(), Some(status), "{text}");
    assert!(text.contains(words), "{text}");
}

fn files(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<_> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Runs a script of a job as Slurm would: its number comes by the environment.
fn job(bench: &Bench, script: &str, number: Option<u64>) -> Output {
    let mut bash = Command::new("bash");
    bash.arg(bench.path("out/slurm").join(script)).current_dir("/").env("COLUMNS", "240");
    number.map(|number| bash.env("SLURM_ARRAY_TASK_ID", number.to_string()));
    bash.output().expect("bash runs")
}

const SLURM: [&str; 6] = ["sweep", "study.toml", "--out", "out", "--engine", "slurm"];

/// Numbers of an `--array`, by Slurm's grammar: numbers and ranges between commas, and `%` with a limit.
fn array(script: &str) -> (Vec<u64>, Option<u64>) {
    let line = script.lines().find_map(|line| line.strip_prefix("#SBATCH --array=")).expect("an array");
    let (list, limit) = line.split_once('%').map_or((line, None), |(list, limit)| (list, limit.parse().ok()));
    let range = |piece: &str| {
        let (first, last) = piece.split_once('-').unwrap_or((piece, piece));
        first.parse::<u64>().expect("a number")..=last.parse().expect("a number")
    };
    (list.split(',').flat_map(range).collect(), limit)
}

#[test]
fn jobs_of_slurm_in_any_order_and_twice_give_the_table_of_threads() {
    let bench = Bench::new(&study("h2d:64KiB"));
    let expected = bench.expected();
    let said = fine(&bench.sealsim(&[&SLURM[..], &["--chunk", "7", "--at-once", "5"]].concat()));
    let script = fs::read_to_string(bench.path("out/slurm/points.sbatch")).unwrap();
    let (mut numbers, limit) = array(&script);
    assert_eq!((numbers.len(), limit), (13, Some(5)));
    assert_eq!(bench.status("out")["shards"]["missing"], serde_json::json!(numbers));
    numbers.reverse();
    for number in numbers.iter().chain(&[3, 4]) {
        fine(&job(&bench, "points.sbatch", Some(*number)));
    }
    refused(&job(&bench, "points.sbatch", Some(14)), 2, "a shard is I/N");
    let table = fine(&job(&bench, "merge.sbatch", None));
    assert!(table.contains("90 points") && table.contains("30 of them have no figures"), "{table}");
    assert_eq!(bench.tables("out"), expected);
    assert_eq!(files(&bench.path("out")), ["points.csv", "points.jsonl", "points.parquet", "slurm", "study.json"]);
    // What is submitted: the second job after the first, whose number the shell holds.
    let lines: Vec<_> = said.lines().collect();
    assert!(lines[0].starts_with("points=$(sbatch --parsable '") && lines[0].ends_with("/out/slurm/points.sbatch')"));
    assert!(lines[1].starts_with("sbatch --dependency=afterok:${points%%;*} "), "{said}");
}

#[test]
fn shards_of_one_folder_or_of_several_give_the_table_of_threads() {
    let bench = Bench::new(&study("h2d:64KiB"));
    let expected = bench.expected();
    let shard = |out: &str, shard: &str| bench.sealsim(&["sweep", "study.toml", "--out", out, "--shard", shard]);
    // All at once into one folder, one of them twice: the second waits for the first.
    std::thread::scope(|scope| {
        let runs = ["1/3", "2/3", "3/3", "2/3"].map(|number| scope.spawn(move || shard("one", number)));
        for run in runs {
            let said = fine(&run.join().expect("a shard"));
            assert!(said.starts_with("30 points of shard ") && said.contains("-of-3.jsonl"), "{said}");
        }
    });
    assert_eq!(files(&bench.path("one")), ["shards", "study.json"]);
    assert!(fine(&bench.sealsim(&["sweep", "gather", "one"])).contains("\n90 points in"));
    assert_eq!(bench.tables("one"), expected);
    // Folders of their own come together, whatever part is missing or there twice.
    fine(&shard("here", "1/2"));
    fine(&shard("there", "2/3"));
    let merge = |folders: &[&str]| {
        fine(&bench.sealsim(&[&["sweep", "merge", "study.toml"], folders, &["--out", "all"]].concat()))
    };
    assert!(merge(&["here", "there"]).contains("60 points in all") && merge(&[]).contains("30 have not run"));
    // Its study is that of the folder.
    fine(&bench.sealsim(&["sweep", "--out", "all"]));
    assert_eq!(bench.tables("all"), expected);
    refused(&bench.sealsim(&["sweep", "--out", "all", "--set", "link.read_tags=32"]), 2, "holds results of study");
    refused(&bench.sealsim(&["sweep", "--out", "nowhere"]), 4, "holds no study");
    refused(&bench.sealsim(&["sweep", "--out", "one", "--shard", "1/2", "--plot", "a.svg"]), 2, "cannot be used with");
}

#[cfg(unix)]
#[test]
fn a_shard_that_is_killed_goes_on_where_it_was() {
    let bench = Bench::new(&study("h2d:4MiB"));
    let shard = ["sweep", "study.toml", "--out", "out", "--shard", "1/1", "--threads", "1"];
    let rows = || fs::read_to_string(bench.path("out/shards/1-of-1.jsonl")).unwrap_or_default();
    let mut child = bench.command(&shard).stdout(Stdio::null()).spawn().expect("it runs");
    while rows().lines().count() < 40 && child.try_wait().expect("a child").is_none() {}
    child.kill().expect("killed");
    child.wait().expect("gone");
    let kept = rows();
    assert!((40..90).contains(&kept.lines().count()), "the kill came too late");
    fine(&bench.sealsim(&shard));
    let whole = kept.rfind('\n').map_or(0, |end| end + 1);
    assert!(rows().starts_with(&kept[..whole]) && rows().lines().count() == 90);
}

#[test]
fn scripts_of_slurm_are_what_bash_and_its_manual_take_wherever_the_folder_lies() {
    let bench = Bench::new(&study("h2d:4KiB"));
    for out in ["plain", "it's 100% $HOME `here`"] {
        fine(&bench.sealsim(&["sweep", "study.toml", "--out", out, "--engine", "slurm", "--chunk", "50"]));
        for script in ["points.sbatch", "merge.sbatch"] {
            let path = bench.path(out).join("slurm").join(script);
            let checked = Command::new("bash").arg("-n").arg(&path).status().expect("bash runs");
            assert!(checked.success());
            let text = fs::read_to_string(&path).unwrap();
            assert!(text.starts_with("#!/bin/bash\n#SBATCH "), "{text}");
            // Slurm reads these up to the first other line.
            let head = text.lines().skip(1).take_while(|line| line.starts_with("#SBATCH ")).count();
            assert_eq!(head, text.matches("#SBATCH").count(), "{text}");
            for line in text.lines().filter_map(|line| line.strip_prefix("#SBATCH --")) {
                let known = ["job-name=", "array=", "ntasks=1", "cpus-per-task=1", "requeue", "output=\""];
                assert!(known.iter().any(|option| line.starts_with(option)), "{line}");
            }
        }
        let mut bash = Command::new("bash");
        let script = bench.path(out).join("slurm/points.sbatch");
        fine(&bash.arg(script).env("SLURM_ARRAY_TASK_ID", "1").output().expect("bash runs"));
        assert_eq!(bench.status(out)["done"], 45);
    }
}

#[test]
fn an_array_of_slurm_fits_its_default_limit_and_what_is_missing_is_submitted_again() {
    let axis = "[[axis]]\npath = \"link.read_tags\"\nfrom = 32\nto = 131\nstep = 1\n";
    let bench = Bench::new(&(study("h2d:4KiB") + axis));
    let output = bench.sealsim(&[&SLURM[..], &["--chunk", "2"]].concat());
    fine(&output);
    assert!(told(&output).contains("at most 1000 shards: 9 points are in each, not 2"), "{}", told(&output));
    let script = || fs::read_to_string(bench.path("out/slurm/points.sbatch")).unwrap();
    let (numbers, limit) = array(&script());
    // MaxArraySize is 1001, and no number may reach it.
    assert!(numbers.len() == 1000 && numbers.iter().all(|number| *number < 1001) && limit.is_none());
    for number in [1, 2, 501, 1000] {
        fine(&job(&bench, "points.sbatch", Some(number)));
    }
    fine(&bench.sealsim(&SLURM));
    let (again, _) = array(&script());
    assert_eq!(again, numbers.into_iter().filter(|number| ![1, 2, 501, 1000].contains(number)).collect::<Vec<_>>());
    let table = fine(&job(&bench, "merge.sbatch", None));
    assert!(table.contains("36 points") && table.contains("8964 have not run"), "{table}");
}

#[test]
fn a_sweep_changes_its_engine_in_the_middle() {
    let bench = Bench::new(&study("h2d:64KiB"));
    let expected = bench.expected();
    // Some points by threads, then a kill.
    let lines = fs::read_to_string(bench.path("expected/points.jsonl")).unwrap();
    fs::create_dir(bench.path("out")).unwrap();
    fs::copy(bench.path("expected/study.json"), bench.path("out/study.json")).unwrap();
    fs::write(bench.path("out/points.jsonl"), &lines[..lines.len() / 3]).unwrap();
    fine(&bench.sealsim(&[&SLURM[..], &["--chunk", "4"]].concat()));
    fine(&job(&bench, "points.sbatch", Some(2)));
    let status = bench.status("out");
    let done = status["done"].as_u64().unwrap();
    assert!((5..90).contains(&done) && status["points"] == 90, "{status}");
    fine(&bench.sealsim(&["sweep", "study.toml", "--out", "out"]));
    assert_eq!(bench.tables("out"), expected);
    assert_eq!(bench.status("out")["done"], 90);
    assert!(!bench.path("out/shards").exists());
}

#[test]
fn status_counts_what_is_there_while_a_sweep_runs() {
    let bench = Bench::new(&study("h2d:4MiB"));
    let mut sweep = bench.command(&["sweep", "study.toml", "--out", "out", "--threads", "1"]).spawn().expect("it runs");
    let mut seen = Vec::new();
    while sweep.try_wait().expect("a child").is_none() {
        if bench.path("out/study.json").exists() {
            seen.push(bench.status("out")["done"].as_u64().expect("a count"));
        }
    }
    assert!(seen.is_sorted() && seen.iter().any(|done| (1..90).contains(done)), "{seen:?}");
    let status = bench.status("out");
    assert_eq!((&status["done"], &status["refused"], &status["shards"]), (&90.into(), &30.into(), &Json::Null));
    let text = fine(&bench.sealsim(&["sweep", "status", "out"]));
    assert!(text.starts_with("study engines: 90 of 90 points are done, 0 are missing; 30 of those done"), "{text}");
    refused(&bench.sealsim(&["sweep", "status", "nowhere"]), 4, "sealsim sweep");
}

#[cfg(unix)]
#[test]
fn a_shard_keeps_whole_rows_and_goes_on_when_the_disk_was_full() {
    let bench = Bench::new(&study("h2d:4KiB"));
    fine(&bench.sealsim(&[&SLURM[..], &["--chunk", "45"]].concat()));
    let confined = |blocks: u32| {
        let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" sweep --out out --shard 2/2");
        let mut command = Command::new("sh");
        command.args(["-c", &script, env!("CARGO_BIN_EXE_sealsim")]).current_dir(bench.folder.path());
        command.output().expect("a shell")
    };
    refused(&confined(8), 4, "make room and run the same command again");
    assert_eq!(files(&bench.path("out/shards")), ["2-of-2.jsonl", "array.json"]);
    let kept = fs::read_to_string(bench.path("out/shards/2-of-2.jsonl")).unwrap();
    assert!(kept.ends_with('\n') && (1..45).contains(&kept.lines().count()), "{kept}");
    fine(&confined(1_000_000));
    assert_eq!(bench.status("out")["done"], 45);
}

#[test]
fn what_an_engine_needs_is_said_when_it_is_not_there() {
    let bench = Bench::new(&study("h2d:4KiB"));
    let sweep = ["sweep", "study.toml", "--out", "out"];
    let hq = bench.command(&[&sweep[..], &["--engine", "hq"]].concat()).env("PATH", "/nowhere").output().unwrap();
    refused(&hq, 4, "put `hq` on the PATH");
    refused(&bench.sealsim(&[&sweep[..], &["--chunk", "3"]].concat()), 2, "--chunk is not for --engine local");
    refused(&bench.sealsim(&[&sweep[..], &["--engine", "hq", "--at-once", "3"]].concat()), 2, "--at-once is not for");
    fine(&bench.sealsim(&sweep));
    refused(&bench.sealsim(&["sweep", "chunk", "out", "0"]), 2, "submit the sweep again");
    refused(&bench.sealsim(&["sweep", "gather", "nowhere"]), 4, "holds no study");
    // A design that changed under its name is another study.
    let record = fs::read_to_string(bench.path("out/study.json")).unwrap();
    fs::write(bench.path("out/study.json"), record.replace("h2d:4KiB", "h2d:8KiB")).unwrap();
    refused(&bench.sealsim(&["sweep", "gather", "out"]), 2, "or of an earlier form of this one");
}
