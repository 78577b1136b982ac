//! `sealsim sweep --engine hq` on a real cluster of HyperQueue on this machine, which `.ci/cluster` provides: `hq` is on the path.

use super::engines::{Bench, fine, refused, study, told};
use std::{
    fs,
    path::Path,
    process::{Child, Command, Output, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

/// Long enough that something can happen in the middle.
const COPY: &str = "h2d:48MiB";
const SWEEP: [&str; 8] = ["sweep", "study.toml", "--out", "out", "--engine", "hq", "--chunk", "5"];
const SHARDS: usize = 18;

/// A server of HyperQueue and its workers; both end with it.
struct Server(Child);

impl Server {
    fn start(bench: &Bench, workers: u32) -> Self {
        let mut hq = Command::new("hq");
        hq.args(["server", "start", &workers.to_string()]).env("HQ_SERVER_DIR", bench.path("hq"));
        let log = fs::File::create(bench.path("server.log")).expect("a log");
        let child = hq.stdout(log).stderr(Stdio::null()).spawn().expect("`hq` is on the path: run .ci/cluster");
        wait("the server", || read(&bench.path("server.log")).contains("started"));
        Self(child)
    }

    fn kill(mut self) {
        self.0.kill().expect("killed");
        self.0.wait().expect("gone");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

fn wait(what: &str, mut there: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !there() {
        assert!(begun.elapsed() < Duration::from_secs(40), "{what} did not come");
        sleep(Duration::from_millis(20));
    }
}

fn sweep(bench: &Bench, out: &str) -> Command {
    let mut command = bench.command(&SWEEP.map(|word| if word == "out" { out } else { word }));
    command.env("HQ_SERVER_DIR", bench.path("hq")).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Shards whose rows are all there.
fn there(bench: &Bench, folder: &str) -> usize {
    if !bench.path(folder).join("shards/array.json").exists() {
        return 0;
    }
    SHARDS - bench.status(folder)["shards"]["missing"].as_array().expect("numbers").len()
}

fn half_way(bench: &Bench) {
    wait("a first part of the shards", || there(bench, "out") >= 4);
}

fn signal(id: u32, name: &str) {
    assert!(Command::new("kill").args([&format!("-{name}"), &id.to_string()]).status().expect("kill").success());
}

/// The same, to a process that may have ended.
fn try_signal(id: u32, name: &str) {
    _ = Command::new("kill").args([&format!("-{name}"), &id.to_string()]).stderr(Stdio::null()).status();
}

/// The processes of shards of a folder.
fn tasks(folder: &Path) -> Vec<u32> {
    let folder = folder.to_string_lossy().into_owned();
    let processes = fs::read_dir("/proc").expect("/proc").flatten();
    let ids = processes.filter_map(|entry| entry.file_name().to_string_lossy().parse::<u32>().ok());
    let is_one = |id: &u32| {
        let line = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        line.contains(" --shard ") && line.contains(&folder)
    };
    ids.filter(is_one).collect()
}

/// Stops the processes of shards, one for each of two workers.
fn both_stand(folder: &Path) -> bool {
    let tasks = tasks(folder);
    let stands = |id: &u32| read(Path::new(&format!("/proc/{id}/stat"))).contains(") T ");
    let stand = tasks.iter().filter(|id| stands(id)).count() == 2;
    tasks.into_iter().for_each(|id| try_signal(id, "STOP"));
    stand
}

fn ends(child: Child) -> Output {
    child.wait_with_output().expect("it ends")
}

#[test]
#[ignore = "needs HyperQueue: .ci/cluster"]
fn hq_without_a_worker_waits_for_one_and_gives_the_table_of_threads() {
    let bench = Bench::new(&study("h2d:1MiB"));
    let expected = bench.expected();
    refused(&sweep(&bench, "out").output().unwrap(), 4, "hq server start --journal");
    let server = Server::start(&bench, 0);
    let front = sweep(&bench, "out").spawn().expect("it runs");
    wait("the job", || read(&bench.path("out/shards/array.json")).contains("\"job\":1"));
    sleep(Duration::from_millis(1500));
    assert_eq!(there(&bench, "out"), 0);
    signal(server.0.id(), "USR1");
    let output = ends(front);
    fine(&output);
    assert!(told(&output).contains("HyperQueue has no worker; waiting"), "{}", told(&output));
    assert_eq!(bench.tables("out"), expected);
    // Shards of the size that they have if nobody says it.
    let sampled = bench.command(&["sweep", "study.toml", "--out", "sampled", "--engine", "hq"]);
    let mut sampled = sampled;
    fine(&sampled.env("HQ_SERVER_DIR", bench.path("hq")).output().unwrap());
    assert_eq!(bench.tables("sampled"), expected);
}

#[test]
#[ignore = "needs HyperQueue: .ci/cluster"]
fn a_front_that_is_interrupted_attaches_to_its_job_again() {
    let bench = Bench::new(&study(COPY));
    let expected = bench.expected();
    let _server = Server::start(&bench, 2);
    let front = sweep(&bench, "out").spawn().expect("it runs");
    half_way(&bench);
    signal(front.id(), "INT");
    refused(&ends(front), 1, "goes on");
    let left = bench.status("out");
    assert!(left["done"].as_u64() < Some(90), "the interruption came too late: {left}");
    // Nobody goes on before the second front has found the job.
    wait("both workers to stand", || both_stand(&bench.path("out")));
    let log = bench.path("front.log");
    let mut front = sweep(&bench, "out").stderr(fs::File::create(&log).unwrap()).spawn().expect("it runs");
    wait("the front", || read(&log).contains("is at it: attached"));
    tasks(&bench.path("out")).into_iter().for_each(|id| signal(id, "CONT"));
    assert!(front.wait().expect("it ends").success(), "{}", read(&log));
    assert_eq!(bench.tables("out"), expected);
    assert_eq!(read(&bench.path("out/points.jsonl")).lines().count(), 90);
}

#[test]
#[ignore = "needs HyperQueue: .ci/cluster"]
fn a_server_that_is_killed_with_its_workers_and_started_again_gets_what_is_missing() {
    let bench = Bench::new(&study(COPY));
    let expected = bench.expected();
    let server = Server::start(&bench, 2);
    let front = sweep(&bench, "out").spawn().expect("it runs");
    half_way(&bench);
    server.kill();
    // Workers that are gone take their tasks with them.
    tasks(&bench.path("out")).into_iter().for_each(|id| try_signal(id, "KILL"));
    let before = there(&bench, "out");
    assert!(before < SHARDS, "the kill came too late");
    sleep(Duration::from_secs(1));
    let _server = Server::start(&bench, 2);
    let output = ends(front);
    fine(&output);
    let said = told(&output);
    assert!(said.contains("waiting: start the server again") && said.contains("no longer knows job 1"), "{said}");
    let again = said.rsplit_once(&format!(" of {SHARDS} shards are")).and_then(|(text, _)| text.rsplit(' ').next());
    let again: usize = again.and_then(|word| word.parse().ok()).expect("a count");
    assert!((1..=SHARDS - before).contains(&again), "{said}");
    assert_eq!(bench.tables("out"), expected);
    assert_eq!(read(&bench.path("out/points.jsonl")).lines().count(), 90);
}

#[test]
#[ignore = "needs HyperQueue: .ci/cluster"]
fn tasks_that_are_killed_are_told_and_the_same_command_runs_no_others() {
    let bench = Bench::new(&study(COPY));
    let expected = bench.expected();
    let _server = Server::start(&bench, 2);
    let mut front = sweep(&bench, "out").spawn().expect("it runs");
    half_way(&bench);
    // One that dies between its rows and its end has done its work, so more than the first must die.
    wait("the end of the front", || {
        tasks(&bench.path("out")).into_iter().for_each(|id| try_signal(id, "KILL"));
        front.try_wait().expect("it ends").is_some()
    });
    refused(&ends(front), 4, "failed, the first of shard");
    let missing = SHARDS - there(&bench, "out");
    assert!((1..SHARDS).contains(&missing), "{missing}");
    let output = sweep(&bench, "out").output().unwrap();
    fine(&output);
    assert!(told(&output).contains(&format!("{missing} of {SHARDS} shards are HyperQueue job 2")), "{}", told(&output));
    assert_eq!(bench.tables("out"), expected);
}

/// A small file system of its own, if one may be mounted.
struct Small<'a>(&'a Path);

impl<'a> Small<'a> {
    fn mount(place: &'a Path, size: &str) -> Option<Self> {
        fs::create_dir(place).expect("a folder");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"]).arg(place).stderr(Stdio::null());
        mount.status().is_ok_and(|status| status.success()).then_some(Self(place))
    }

    fn grow(&self, size: &str) {
        let grown = Command::new("mount").args(["-o", &format!("remount,size={size}")]).arg(self.0).status();
        assert!(grown.expect("mount").success());
    }
}

impl Drop for Small<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0).status();
    }
}

#[test]
#[ignore = "needs HyperQueue: .ci/cluster"]
fn a_shared_folder_that_fills_up_loses_nothing() {
    let bench = Bench::new(&study("h2d:1MiB"));
    let expected = bench.expected();
    let place = bench.path("small");
    // Ninety rows have about sixty kibibytes.
    let Some(small) = Small::mount(&place, "48k") else {
        eprintln!("skipped: mounting a file system takes root");
        return;
    };
    let _server = Server::start(&bench, 2);
    let out = place.join("out");
    let again = || sweep(&bench, out.to_str().expect("text")).output().unwrap();
    let output = again();
    assert_eq!(output.status.code(), Some(4), "{}", told(&output));
    let kept = there(&bench, "small/out");
    assert!(kept < SHARDS, "the folder was not full");
    small.grow("4m");
    fine(&again());
    assert_eq!(bench.tables("small/out"), expected);
    assert_eq!(read(&out.join("points.jsonl")).lines().count(), 90);
}
