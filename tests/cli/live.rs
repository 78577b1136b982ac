//! A page of a run while it goes on: what it is told, what it may order, and who else may not.

#![cfg(unix)]

use serde_json::Value as Json;
use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    path::Path,
    process::{Child, ChildStderr, Command, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

const PROGRAM: &str = env!("CARGO_BIN_EXE_sealsim");
const COPY: &str = "h2d:8MiB";

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(PROGRAM);
    command.current_dir(folder).args(["run", "h100-nvl-tdx", "--format", "json", "--what-if", "0"]).args(arguments);
    command.env("COLUMNS", "240").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// A run that serves a page.
struct Live {
    child: Child,
    stderr: BufReader<ChildStderr>,
    host: String,
    token: String,
}

/// What a server answers.
struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Live {
    fn begin(folder: &Path, arguments: &[&str]) -> Self {
        Self::spawn(&mut command(folder, arguments))
    }

    /// One below a limit of the shell: `-n` for descriptors, `-f` for the size of files.
    fn limited(folder: &Path, limit: &str, count: usize, arguments: &[&str]) -> Self {
        let plain = command(folder, arguments);
        let mut command = Command::new("sh");
        command.args(["-c", "ulimit \"$1\" \"$2\"; shift 2; exec \"$@\"", "sh", limit, &count.to_string()]);
        command.arg(plain.get_program()).args(plain.get_args()).current_dir(folder);
        Self::spawn(command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()))
    }

    fn spawn(command: &mut Command) -> Self {
        let mut child = command.spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        stderr.read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("live: http://").unwrap_or_else(|| panic!("{line}"));
        let (host, token) = address.split_once('/').unwrap();
        let (host, token) = (host.to_owned(), token.trim_end_matches('/').to_owned());
        assert!(host.starts_with("127.0.0.1:") && token.len() == 32, "{line}");
        Self { child, stderr, host, token }
    }

    fn ask(&self, method: &str, path: &str) -> Answer {
        ask(&self.host, &self.host, method, &format!("/{}/{path}", self.token))
    }

    fn order(&self, order: &str) {
        assert_eq!(self.ask("POST", order).status, 204, "{order}");
    }

    fn state(&self) -> Json {
        serde_json::from_str(&self.ask("GET", "state").body).unwrap()
    }

    /// The state once it is as it should be.
    fn until(&self, is: impl Fn(&Json) -> bool) -> Json {
        let deadline = Instant::now() + Duration::from_secs(120);
        loop {
            let state = self.state();
            if is(&state) {
                return state;
            }
            assert!(Instant::now() < deadline, "{state:#}");
            thread::sleep(Duration::from_millis(10));
        }
    }

    fn until_phase(&self, phase: &str) -> Json {
        self.until(|state| state["phase"] == phase)
    }

    fn end(mut self) -> (Output, String) {
        let mut said = String::new();
        self.stderr.read_to_string(&mut said).unwrap();
        (self.child.wait_with_output().unwrap(), said)
    }
}

fn ask(address: &str, host: &str, method: &str, path: &str) -> Answer {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let request = format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let answer = String::from_utf8(answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Answer { status, head: head.to_owned(), body: body.to_owned() }
}

fn done(state: &Json) -> u64 {
    state["snapshot"]["messages_done"].as_u64().unwrap()
}

/// A report without what the host's clock says.
fn outcome(output: &Output) -> Json {
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let mut report: Json = serde_json::from_slice(&output.stdout).unwrap();
    report.as_object_mut().unwrap().remove("host");
    report
}

#[test]
fn a_run_is_stepped_recorded_and_closed_and_has_the_same_outcome() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("sealsim-live.pftrace"), "old").unwrap();
    let live = Live::begin(folder.path(), &["--copy", COPY, "--live", "--live-hold"]);
    let page = live.ask("GET", "");
    assert!(page.status == 200 && page.body.contains("<title>h100-nvl-tdx: live</title>"), "{}", page.head);
    assert!(page.head.contains("default-src 'none'; style-src 'sha256-"), "{}", page.head);
    let paused = live.until_phase("paused");
    assert_eq!((done(&paused), paused["recording"]["is"].as_str()), (0, Some("none")));
    for step in 1..=2 {
        live.order("step");
        let stepped = live.until(|state| state["phase"] == "paused" && done(state) > step - 1);
        assert_eq!(done(&stepped), step);
    }
    let stepped = live.state();
    assert_eq!(stepped["snapshot"]["time_ps"], live.state()["snapshot"]["time_ps"], "it stands still");
    let copy = &stepped["snapshot"]["copies"][0];
    assert!(copy["start_ps"].is_u64() && copy["end_ps"].is_null() && copy["bytes"] == 8 << 20, "{copy}");
    let queues = stepped["snapshot"]["queues"].as_array().unwrap();
    assert!(queues.iter().all(|queue| queue["count"].as_u64() <= queue["depth"].as_u64()) && queues.len() > 20);
    live.order("record");
    let recording = live.until(|state| state["recording"]["is"] == "under_way");
    assert_eq!(recording["recording"]["from_ps"], stepped["snapshot"]["time_ps"]);
    live.order("go");
    let ended = live.until_phase("ended");
    assert_eq!((ended["recording"]["is"].as_str(), ended["failure"].as_str()), (Some("written"), None));
    assert!(ended["snapshot"]["copies"][0]["arrived"] == 8 << 20, "{}", ended["snapshot"]["copies"]);
    let messages = done(&ended);
    live.order("close");
    let (output, said) = live.end();
    assert!(said.contains("live: recording to sealsim-live-2.pftrace"), "{said}");
    let plain = command(folder.path(), &["--copy", COPY]).output().unwrap();
    assert_eq!(outcome(&output), outcome(&plain));
    assert_eq!(outcome(&plain)["copies"][0]["messages"], messages);
    let end = outcome(&plain)["simulated_ps"].clone();
    assert_eq!(ended["snapshot"]["time_ps"], end);
    assert_eq!(fs::read(folder.path().join("sealsim-live.pftrace")).unwrap(), b"old");
    assert!(fs::metadata(folder.path().join("sealsim-live-2.pftrace")).unwrap().len() > 10_000);
}

#[test]
fn one_that_runs_can_be_paused_and_closing_the_page_lets_it_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let live =
        Live::begin(folder.path(), &["--copy", "h2d:32MiB", "--live", "--live-record", "r", "--events", "e@0us..1us"]);
    live.order("pause");
    let paused = live.until_phase("paused");
    live.order("record");
    let refused = live.until(|state| state["recording"]["is"] == "failed");
    assert!(refused["recording"]["why"].as_str().unwrap().contains("--events"), "{refused:#}");
    live.order("go");
    live.until(|state| state["phase"] != "paused" && state["snapshot"]["time_ps"] != paused["snapshot"]["time_ps"]);
    live.order("pause");
    live.until(|state| state["phase"] == "paused" || state["phase"] == "ended");
    live.order("close");
    let (output, _) = live.end();
    assert_eq!(output.status.code(), Some(0));
    assert!(folder.path().join("e").exists() && !folder.path().join("r").exists());
}

#[test]
fn who_does_not_know_the_address_finds_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let live = Live::begin(folder.path(), &["--copy", COPY, "--live", "--live-hold"]);
    let port = live.host.rsplit(':').next().unwrap().to_owned();
    let status = |host: &str, method: &str, path: &str| ask(&live.host, host, method, path).status;
    let state = format!("/{}/state", live.token);
    for wrong in ["/", "/state", "/00000000000000000000000000000000/state", &state[..20], "/favicon.ico", "/.."] {
        assert_eq!(status(&live.host, "GET", wrong), 404, "{wrong}");
    }
    assert_eq!(status(&live.host, "POST", "/00000000000000000000000000000000/close"), 404);
    assert_eq!(status(&live.host, "GET", &state), 200);
    assert_eq!(status(&format!("localhost:{port}"), "GET", &state), 200);
    for host in ["evil.example", "127.0.0.1", "localhost:1", &format!("evil.example:{port}")] {
        assert_eq!(status(host, "GET", &state), 403, "{host}");
        assert_eq!(status(host, "POST", &format!("/{}/close", live.token)), 403, "{host}");
    }
    assert_eq!(status(&live.host, "GET", &format!("/{}/close", live.token)), 405);
    assert_eq!(status(&live.host, "POST", &state), 404);
    assert_eq!(live.state()["phase"], "paused");
    live.order("close");
    assert_eq!(live.end().0.status.code(), Some(0));
}

#[test]
fn ctrl_c_ends_a_run_that_stands_still_and_a_page_that_is_held() {
    let folder = tempfile::tempdir().unwrap();
    let interrupt = |live: &Live| {
        let pid = live.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    };
    let live = Live::begin(folder.path(), &["--copy", "h2d:64GiB", "--live", "--live-hold"]);
    live.until_phase("paused");
    let asked = Instant::now();
    interrupt(&live);
    let (output, said) = live.end();
    assert!(asked.elapsed() < Duration::from_secs(20));
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("interrupted at"), "{said}");
    let live = Live::begin(folder.path(), &["--copy", "h2d:4KiB", "--live", "--live-hold"]);
    live.order("go");
    live.until_phase("ended");
    interrupt(&live);
    assert_eq!(live.end().0.status.code(), Some(0), "the run itself has ended well");
}

#[test]
fn a_run_that_nobody_looks_at_ends_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let (output, said) = Live::begin(folder.path(), &["--copy", "h2d:4KiB", "--live"]).end();
    assert_eq!((output.status.code(), said.as_str()), (Some(0), ""));
}

/// Runs to its end while somebody attacks the page, who has what `attack` gives until the end; the page is there all the time.
fn survives<T>(descriptors: usize, attack: impl FnOnce(&Live) -> T) {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["--copy", "h2d:1MiB", "--live", "--live-hold", "--manifest", "m.json", "--out", "arrived"];
    let live = Live::limited(folder.path(), "-n", descriptors, &arguments);
    live.until_phase("paused");
    let attacker = attack(&live);
    live.order("go");
    live.until_phase("ended");
    live.order("close");
    let (output, said) = live.end();
    drop(attacker);
    assert_eq!((output.status.code(), said.as_str()), (Some(0), ""));
    let manifest: Json = serde_json::from_slice(&fs::read(folder.path().join("m.json")).unwrap()).unwrap();
    assert!(manifest.is_object());
    assert_eq!(fs::metadata(folder.path().join("arrived")).unwrap().len(), 1 << 20);
}

#[test]
fn a_request_that_announces_any_length_costs_the_run_nothing() {
    survives(256, |live| {
        for length in ["1", "99999999999999", "18446744073709551615", "18446744073709551616", "-1"] {
            let mut stream = TcpStream::connect(&live.host).unwrap();
            let request = format!("POST / HTTP/1.1\r\nHost: {}\r\nContent-Length: {length}\r\n\r\n", live.host);
            stream.write_all(request.as_bytes()).unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
            assert!(answer.starts_with("HTTP/1.1 4"), "{length}: {answer}");
        }
    });
}

#[test]
fn headers_without_an_end_are_cut_off() {
    survives(256, |live| {
        for header in ["X: a\r\n".repeat(10_000), "a".repeat(60_000)] {
            let mut stream = TcpStream::connect(&live.host).unwrap();
            stream.write_all(b"GET / HTTP/1.1\r\n").unwrap();
            let sent = (0..10_000).take_while(|_| stream.write_all(header.as_bytes()).is_ok()).count();
            assert!(sent < 1000, "{sent}");
        }
    });
}

#[test]
fn connections_that_say_nothing_leave_the_run_its_files_and_the_page_its_place() {
    let silent = |live: &Live| (0..300).map(|_| TcpStream::connect(&live.host).unwrap()).collect::<Vec<_>>();
    thread::scope(|both| {
        both.spawn(|| survives(40, silent));
        both.spawn(|| survives(256, silent));
    });
}

#[test]
fn a_recording_that_cannot_be_written_costs_the_run_none_of_its_files() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["--copy", "h2d:64MiB", "--data", "none", "--live", "--live-hold", "--manifest", "m.json"];
    let live = Live::limited(folder.path(), "-f", 1024, &arguments);
    live.order("record");
    live.until(|state| state["recording"]["is"] == "under_way");
    live.order("go");
    let ended = live.until_phase("ended");
    assert_eq!(ended["recording"]["is"], "failed", "{ended:#}");
    live.order("close");
    let (output, said) = live.end();
    assert_eq!(output.status.code(), Some(4));
    assert!(said.contains("sealsim-live.pftrace"), "{said}");
    for json in [fs::read(folder.path().join("m.json")).unwrap(), output.stdout] {
        assert!(serde_json::from_slice::<Json>(&json).unwrap().is_object());
    }
}

#[test]
fn what_makes_no_sense_is_refused_with_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = format!("--live={}", taken.local_addr().unwrap().port());
    let cases: [(&[&str], i32, &str); 4] = [
        (&[&port], 4, "is in use"),
        (&["--live=70000"], 2, "70000"),
        (&["--live-hold"], 2, "--live"),
        (&["--live", "--live-record", "/dev/stdout"], 2, "--live-record"),
    ];
    for (arguments, status, why) in cases {
        let output = command(folder.path(), &[&["--copy", "h2d:4KiB"], arguments].concat()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(status), "{said}");
        assert!(said.contains(why), "{said}");
    }
}
