//! The page to explore with: its answers are those of the command line, and who may ask for them.

#![cfg(unix)]

use proptest::{prelude::*, sample::select};
use sealsim::{
    cli::{
        Interruption,
        lab::{Dropped, Memory, Offered, Question, State, answer},
    },
    config::{Role, Shipped},
};
use serde_json::Value as Json;
use std::{
    fs,
    io::{BufRead, BufReader, ErrorKind, Read, Write},
    net::TcpStream,
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::Path,
    process::{Child, Command, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

const MACHINES: [&str; 5] = ["h100-nvl-tdx", "h100-nvl-snp", "b200-tdx", "a100-off", "hgx-h100-8gpu"];

/// Settings, some of which make no machine.
const SETTINGS: [&str; 10] = [
    "link.max_payload=512B",
    "link.generation=4",
    "link.lanes=8",
    "cipher.seal_rate=3.2 B/cycle",
    "cipher.library=openssl-3.1",
    "tag_queue.release=hold",
    "tag_queue.quarantine=4MiB",
    "copy_engine.outstanding_reads=8",
    "link.lanes=3",
    "link.lames=8",
];

/// A query of a state.
fn query() -> impl Strategy<Value = String> {
    let designs = prop::collection::vec(select(Shipped::names(Role::Design).collect::<Vec<_>>()), 0..3);
    let settings = prop::collection::vec(select(&SETTINGS[..]), 0..3);
    let cc = prop_oneof![3 => Just(""), 1 => Just("&cc=on"), 1 => Just("&cc=off")];
    let copy = (select(&["h2d", "d2h"][..]), 1_u64..300_000, select(&["", ":pageable"][..]));
    (select(&MACHINES[..]), designs, settings, cc, copy).prop_map(|(machine, designs, settings, cc, copy)| {
        let part =
            |name: &'static str| move |one: &str| format!("&{name}={}", one.replace('=', "%3D").replace(' ', "+"));
        let designs: String = designs.into_iter().map(part("design")).collect();
        let settings: String = settings.into_iter().map(part("set")).collect();
        format!("machine={machine}{designs}{settings}{cc}&copy={}:{}{}", copy.0, copy.1, copy.2)
    })
}

/// JSON without what the host's clock says.
fn timeless(text: &str) -> Json {
    let mut json: Json = serde_json::from_str(text).unwrap();
    json.as_object_mut().unwrap().remove("host");
    json
}

/// The command that answers a question, if no files but these profiles are offered.
fn command(question: Question, query: &str, programs: &[String]) -> Vec<String> {
    let dropped = Arc::new(Dropped::new().unwrap());
    let offered = Offered { files: Vec::new(), programs: programs.to_vec(), dropped };
    State::read(question, query, &offered).unwrap().command()
}

fn agrees(query: &str, question: Question) {
    says_what_is_printed(&command(question, query, &[]), &mut Memory::default());
}

fn says_what_is_printed(command: &[String], memory: &mut Memory) {
    let output = Command::new(env!("CARGO_BIN_EXE_sealsim")).args(&command[1..]).args(["--format", "json"]).output();
    let output = output.unwrap();
    let (printed, said) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    match answer(command, &Interruption::default(), memory) {
        Ok(answer) => assert_eq!(timeless(&answer.text), timeless(&printed), "{command:?}"),
        Err(failure) => {
            assert_eq!(output.status.code(), Some(failure.status().into()), "{command:?} {said}");
            let words = |text: &str| {
                text.split(|one: char| !one.is_alphanumeric())
                    .filter(|word| !word.is_empty())
                    .map(str::to_owned)
                    .collect::<Vec<_>>()
            };
            let (said, message) = (words(&said).concat(), words(&failure.message()).concat());
            assert!(said.contains(&message), "{command:?}: {said}\n{message}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn the_page_answers_what_the_command_line_answers(
        query in query(),
        question in select(&[Question::Describe, Question::Quick, Question::Levers, Question::Run, Question::Path][..]),
    ) {
        agrees(&query, question);
    }
}

/// What the page says to change is what the terminal says, also of a copy that is too large to be tried.
#[test]
fn the_page_and_the_terminal_have_one_list_of_what_to_change() {
    for (query, typed) in [
        ("machine=h100-nvl-tdx&copy=h2d:2GiB", "h100-nvl-tdx --copy h2d:64MiB"),
        ("machine=h200-tdx&copy=d2h:1MiB:pageable", "h200-tdx --copy d2h:1MiB:pageable"),
        ("machine=h100-nvl-tdx&design=staged&cc=on&copy=h2d:1MiB", "h100-nvl-tdx --design staged --copy h2d:1MiB"),
    ] {
        let asked = command(Question::Levers, query, &[]);
        let page = timeless(&answer(&asked, &Interruption::default(), &Memory::default()).unwrap().text);
        let printed = |more: &[&str]| {
            let typed = typed.split(' ').chain(["--data", "none"]).chain(more.iter().copied());
            let output = Command::new(env!("CARGO_BIN_EXE_sealsim")).arg("run").args(typed).output().unwrap();
            String::from_utf8(output.stdout).unwrap()
        };
        let (json, text) = (timeless(&printed(&["--format", "json"])), printed(&[]));
        for part in ["off", "earlier_library", "levers"] {
            assert_eq!(page.get(part), json.get(part), "{typed}");
        }
        let levers = page["levers"].as_array().unwrap();
        assert!(levers.len() > 3 && levers.iter().all(|one| text.contains(one["name"].as_str().unwrap())), "{text}");
    }
}

/// A warm decode loop of a PyTorch profiler.
const LOOP: &str = "validation/traces/h100-decode-eager-1.json.gz";

/// What a page asks whose switches are moved one after the other: the second answers rest on what the first have simulated.
#[test]
fn a_program_with_its_switches_is_that_of_the_command_line() {
    let [gpu, api] = ["gpu", "api"].map(|table| format!("validation/traces/kmeans-off-cuda_{table}_trace.csv.gz"));
    let mut memory = Memory::default();
    let programs = [LOOP, &gpu, &api].map(str::to_owned);
    let encoded = |name: &str| name.replace('/', "%2F");
    let tables = format!("program={}&api={}", encoded(&gpu), encoded(&api));
    let program = format!("program={}", encoded(LOOP));
    for query in [
        program.clone(),
        format!("{program}&change=graph"),
        format!("{program}&change=graph&change=copy-thread&change=openssl"),
        format!("{program}&change=graph&design=fastrack&hw=hgx-h100-8gpu&expand=8"),
        format!("{program}&step_time=12ms&change=graph&design=hold"),
        format!("{program}&step_time=1ns"),
        tables.clone(),
        format!("{tables}&change=pageable&change=openssl"),
        "program=decode-loop&change=batch".to_owned(),
    ] {
        says_what_is_printed(&command(Question::Program, &query, &programs), &mut memory);
    }
}

/// Curves take seconds each.
#[test]
fn a_curve_is_that_of_the_command_line() {
    agrees("machine=h100-nvl-tdx&design=fastrack&copy=h2d:5000:pageable&set=link.max_payload%3D512B", Question::Curve);
}

/// A server with the page.
struct Lab {
    child: Child,
    host: String,
    token: String,
}

impl Lab {
    fn begin(folder: &Path, arguments: &[&str]) -> Self {
        Self::begin_with(folder, arguments, &[])
    }

    fn begin_with(folder: &Path, arguments: &[&str], variables: &[(&str, &Path)]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sealsim"));
        command.envs(variables.iter().copied());
        command.current_dir(folder).args(["lab", "--no-open"]).args(arguments);
        Self::of(command)
    }

    fn of(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("lab: http://").unwrap_or_else(|| panic!("{line}"));
        let (host, token) = address.split_once('/').unwrap();
        let (host, token) = (host.to_owned(), token.trim_end_matches('/').to_owned());
        Self { child, host, token }
    }

    /// Status, head and body of an answer. Each line of `more` is a header.
    fn ask(&self, method: &str, path: &str, more: &str) -> (u16, String, String) {
        self.ask_with(method, path, more, &[])
    }

    fn send(&self, path: &str, body: &[u8]) -> (u16, String) {
        let (status, _, said) = self.ask_with("POST", path, &format!("Content-Length: {}\r\n", body.len()), body);
        (status, said)
    }

    fn ask_with(&self, method: &str, path: &str, more: &str, body: &[u8]) -> (u16, String, String) {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
        let host = if more.contains("Host:") { String::new() } else { format!("Host: {}\r\n", self.host) };
        let request = format!("{method} /{}/{path} HTTP/1.1\r\n{host}{more}Connection: close\r\n\r\n", self.token);
        // A server may refuse before it has all of it.
        let _ = stream.write_all(request.as_bytes()).and_then(|()| stream.write_all(body));
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        (status, head.to_owned(), body.to_owned())
    }

    fn get(&self, path: &str) -> (u16, String) {
        let (status, _, body) = self.ask("GET", path, "");
        (status, body)
    }

    fn end(mut self) {
        assert!(Command::new("kill").args(["-INT", &self.child.id().to_string()]).status().unwrap().success());
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const SMALL: &str = "machine=h100-nvl-tdx&copy=h2d:64KiB";

#[test]
fn the_server_gives_the_page_answers_and_files() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("mine.toml"), "extends = \"h100-nvl-tdx\"\nname = \"mine\"\n").unwrap();
    let lab = Lab::begin(folder.path(), &["mine.toml", "--design", "fastrack", "--set", "link.lanes=8"]);
    let (status, head, page) = lab.ask("GET", "", "");
    assert!(
        status == 200 && page.contains("lab.js") && head.contains("default-src 'none'; script-src 'self'"),
        "{head}"
    );
    let choices: Json = serde_json::from_str(&lab.get("choices").1).unwrap();
    assert_eq!(choices["first"], "machine=mine.toml&design=fastrack&set=link.lanes%3D8&copy=h2d:64MiB");
    let (status, answer) = lab.get(&format!("quick?{}", choices["first"].as_str().unwrap()));
    let answer: Json = serde_json::from_str(&answer).unwrap();
    assert!(status == 200 && answer["answer"]["machine"].as_str().unwrap().starts_with("mine"), "{answer}");
    assert!(
        answer["command"].as_str().unwrap().starts_with("sealsim run mine.toml --design fastrack --set link.lanes=8")
    );
    let fields: Json = serde_json::from_str(&lab.get("fields").1).unwrap();
    assert!(fields["cipher.seal_rate"]["meaning"].as_str().unwrap().len() > 10);
    assert!(lab.get(&format!("machine.toml?{SMALL}")).1.contains("[cipher]"));
    assert!(lab.get(&format!("plot.svg?{SMALL}")).1.starts_with("<svg"));
    assert!(lab.get(&format!("plot.pdf?{SMALL}")).1.starts_with("%PDF"));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is written");
    lab.end();
}

#[test]
fn who_is_not_the_page_and_what_is_no_question_gets_nothing() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("secret.toml"), "extends = \"h100-nvl-tdx\"\n").unwrap();
    let lab = Lab::begin(folder.path(), &[]);
    let own = |more: &str| lab.ask("GET", &format!("quick?{SMALL}"), more).0;
    assert_eq!(own(""), 200);
    assert_eq!(own(&format!("Origin: http://{}\r\n", lab.host)), 200);
    for header in [
        "Host: evil.example\r\n",
        "Origin: https://evil.example\r\n",
        "Origin: null\r\n",
        "Origin: http://127.0.0.1:1\r\n",
        &format!("Origin: http://{0}\r\nOrigin: http://{0}\r\n", lab.host),
        &format!("Host: {0}\r\nHost: {0}\r\n", lab.host),
        &format!("Host: {}\r\nHost: evil.example\r\n", lab.host),
    ] {
        assert_eq!(own(header), 403, "{header}");
    }
    assert_eq!(own("Content-Length: 5\r\n"), 413);
    assert_eq!(own(&format!("X: {}\r\n", "a".repeat(64 << 10))), 431);
    let mut stranger = TcpStream::connect(&lab.host).unwrap();
    write!(
        stranger,
        "GET /00000000000000000000000000000000/choices HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
        lab.host
    )
    .unwrap();
    let mut answer = String::new();
    stranger.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 404"), "{answer}");
    for (method, path, status) in [
        ("POST", format!("quick?{SMALL}"), 405),
        ("GET", "nothing".to_owned(), 404),
        ("GET", "../quick".to_owned(), 404),
        ("GET", "quick".to_owned(), 400),
        ("GET", "quick?machine=secret.toml&copy=h2d:4KiB".to_owned(), 400),
        ("GET", "quick?machine=%2Fetc%2Fpasswd&copy=h2d:4KiB".to_owned(), 400),
        ("GET", "quick?machine=h100-nvl-tdx&design=secret.toml&copy=h2d:4KiB".to_owned(), 400),
        ("GET", format!("quick?{SMALL}&out=x"), 400),
        ("GET", format!("quick?{SMALL}&set=%ff"), 400),
        ("GET", format!("quick?{SMALL}&set=extends%3D%22secret.toml%22"), 422),
        ("GET", format!("quick?{SMALL}&set=link.lanes%3D3"), 422),
        ("GET", format!("quick?{SMALL}&set=--out%3Dx"), 422),
    ] {
        let (found, _, body) = lab.ask(method, &path, "");
        assert_eq!(found, status, "{method} {path}: {body}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    assert_eq!(lab.get(&format!("quick?{SMALL}")).0, 200, "it goes on");
    lab.end();
}

/// A question that was left does not keep the next one waiting, nor do a thousand that say nothing.
#[test]
fn runs_end_with_those_who_wait_for_them() {
    let folder = tempfile::tempdir().unwrap();
    let lab = Lab::begin(folder.path(), &[]);
    for megabytes in [1024, 1023, 1022, 1021] {
        let mut stream = TcpStream::connect(&lab.host).unwrap();
        let path = format!("/{}/run?machine=h100-nvl-tdx&copy=h2d:{megabytes}MiB", lab.token);
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", lab.host).unwrap();
    }
    let idle: Vec<_> = (0..1000).filter_map(|_| TcpStream::connect(&lab.host).ok()).collect();
    let begun = Instant::now();
    assert_eq!(lab.get(&format!("quick?{SMALL}")).0, 200);
    // The four would take minutes in a build for tests.
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    drop(idle);
    lab.end();
}

/// Four browsers with as many connections as they have, which they keep: idle ones make room, and end after a while; those at work stay.
#[test]
fn idle_connections_make_room_and_busy_ones_stay() {
    let folder = tempfile::tempdir().unwrap();
    let lab = Lab::begin(folder.path(), &[]);
    let ask = |path: &str| {
        let mut stream = TcpStream::connect(&lab.host).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        write!(stream, "GET /{}/{path} HTTP/1.1\r\nHost: {}\r\n\r\n", lab.token, lab.host).unwrap();
        stream
    };
    let mut busy = [1020, 1021].map(|size| ask(&format!("run?machine=h100-nvl-tdx&copy=h2d:{size}MiB")));
    let mut kept: Vec<_> = ["", "choices", "lab.js"].iter().cycle().take(24).map(|path| ask(path)).collect();
    let begun = Instant::now();
    for stream in &mut kept {
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    for stream in &mut busy {
        stream.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        let waits = stream.read(&mut [0]).map_err(|error| error.kind());
        assert!(matches!(waits, Err(ErrorKind::WouldBlock) | Ok(1)), "{waits:?}");
    }
    lab.end();
}

/// Files that come slowly, or not to their end, keep no other waiting.
#[test]
fn drops_do_not_wait_for_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let lab = Lab::begin(folder.path(), &[]);
    let slow =
        ["Content-Length: 99\r\n\r\n", "Content-Length: 99\r\n\r\n{", "Transfer-Encoding: chunked\r\n\r\n9\r\n{"];
    let slow = slow.map(|begin| {
        let mut stream = TcpStream::connect(&lab.host).unwrap();
        write!(stream, "POST /{}/drop?name=a HTTP/1.1\r\nHost: {}\r\n{begin}", lab.token, lab.host).unwrap();
        stream
    });
    std::thread::sleep(Duration::from_millis(200));
    let begun = Instant::now();
    for name in ["a", "b.json", "c.gz"] {
        assert_eq!(lab.send(&format!("drop?name={name}"), b"{}").0, 200);
    }
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    drop(slow);
    lab.end();
}

/// A profile that is dropped is played as the file is, and is nowhere but in a folder that goes with the program.
#[test]
fn a_dropped_profile_is_played_and_leaves_nothing() {
    let (folder, temporary) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let profile = fs::read(LOOP).unwrap();
    let lab = Lab::begin_with(folder.path(), &[], &[("TMPDIR", temporary.path())]);
    let dropped = |name: &str, bytes: &[u8]| lab.send(&format!("drop?name={name}"), bytes);
    let (status, said) = dropped("..%2Fmy+job.json.gz", &profile);
    assert_eq!(status, 200, "{said}");
    let program = serde_json::from_str::<Json>(&said).unwrap()["program"].as_str().unwrap().to_owned();
    assert!(program.ends_with("/my_job.json.gz"), "{program}");
    let encoded = program.replace('/', "%2F");
    let (status, body) = lab.get(&format!("program?program={encoded}&change=graph"));
    let body: Json = serde_json::from_str(&body).unwrap();
    assert_eq!(
        (status, &body["command"]),
        (200, &"sealsim replay my_job.json.gz --what-if changes --what-if graph".into())
    );
    let command = ["replay", LOOP, "--what-if", "changes", "--what-if", "graph", "--format", "json"];
    let printed = Command::new(env!("CARGO_BIN_EXE_sealsim")).args(command).output().unwrap().stdout;
    assert_eq!(body["answer"], serde_json::from_slice::<Json>(&printed).unwrap());
    let picture = lab.get(&format!("program.svg?program={encoded}&change=graph")).1;
    assert!(picture.contains("copies that hold it") && picture.contains(">graph: "), "{picture}");
    // What is no profile says so, by the name that it was dropped with.
    let no_profile = b"\x1f\x8b no gzip at all".to_vec();
    for (name, bytes, says) in [
        ("a.json", b"{\"traceEvents\":[{".to_vec(), "a.json"),
        ("b.gz", no_profile, "b.gz"),
        ("c.bin", vec![0; 4096], "c.bin"),
        ("d.json", Vec::new(), "d.json"),
        ("e.json", b"{\"traceEvents\":[]}".to_vec(), "no event in it"),
    ] {
        let (status, said) = dropped(name, &bytes);
        assert_eq!(status, 200, "{said}");
        let name = serde_json::from_str::<Json>(&said).unwrap()["program"].as_str().unwrap().replace('/', "%2F");
        let (status, said) = lab.get(&format!("program?program={name}"));
        let place = temporary.path().display().to_string();
        assert!(status == 422 && said.contains(says) && !said.contains(&place), "{name}: {status} {said}");
    }
    assert_eq!(dropped("x.toml", b"machine = \"/etc/passwd\"").0, 422);
    assert_eq!(lab.send("drop", b"{}").0, 400);
    assert_eq!(lab.send(&format!("quick?{SMALL}"), b"{}").0, 413);
    assert_eq!(lab.ask("POST", "drop?name=big.json", "Content-Length: 999999999\r\n").0, 413);
    assert_eq!(lab.ask("POST", "drop?name=x", "Origin: http://evil.example\r\nContent-Length: 2\r\n").0, 403);
    assert_eq!(lab.get("program?program=%2Fetc%2Fpasswd").0, 400);
    assert_eq!(lab.get("program?program=ffffffff%2Fgone.json").0, 400);
    lab.end();
    for folder in [&folder, &temporary] {
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}

/// Modes of all that is in a folder, in octal.
fn modes(folder: &Path) -> Vec<(String, u32)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        found.push((entry.file_name().to_string_lossy().into_owned(), entry.metadata().unwrap().mode() & 0o777));
        if entry.path().is_dir() {
            found.extend(modes(&entry.path()));
        }
    }
    found
}

/// Neither the profiles nor the address, which holds the token, are for others on this computer; whatever the umask is.
#[test]
fn a_neighbour_on_the_computer_sees_no_profile_and_no_token() {
    for (umask, display) in [("000", "DISPLAY"), ("022", "WAYLAND_DISPLAY"), ("077", "DISPLAY")] {
        let (folder, temporary) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let path = |name: &str| folder.path().join(name);
        // What the desktop would start: it keeps its arguments, and what the file says.
        let browser = "#!/bin/sh\ncp \"$1\" page.new; echo \"$@\" > arguments; mv page.new page\n";
        fs::write(path("xdg-open"), browser).unwrap();
        fs::set_permissions(path("xdg-open"), fs::Permissions::from_mode(0o755)).unwrap();
        let mut command = Command::new("sh");
        let script = format!("umask {umask}; exec \"$0\" lab");
        command.current_dir(folder.path()).args(["-c", &script, env!("CARGO_BIN_EXE_sealsim")]);
        let places = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());
        command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY").env(display, ":9");
        command.env("PATH", places).env("TMPDIR", temporary.path());
        let lab = Lab::of(command);
        for name in ["a.json", "b.json.gz", "c"] {
            assert_eq!(lab.send(&format!("drop?name={name}"), name.as_bytes()).0, 200);
        }
        let begun = Instant::now();
        while !path("page").exists() {
            assert!(begun.elapsed() < Duration::from_secs(20), "no browser was opened");
            std::thread::sleep(Duration::from_millis(20));
        }
        let [arguments, page] = ["arguments", "page"].map(|name| fs::read_to_string(path(name)).unwrap());
        assert!(!arguments.contains(&lab.token) && arguments.trim().ends_with(".html"), "{arguments}");
        assert!(page.contains(&format!("url=http://{}/{}/\"", lab.host, lab.token)), "{page}");
        let found = modes(temporary.path());
        let is_own =
            |(name, mode): &(String, u32)| *mode == if name.contains('.') || name == "c" { 0o600 } else { 0o700 };
        assert!(found.len() == 9 && found.iter().all(is_own), "{umask}: {found:?}");
        lab.end();
        assert_eq!(fs::read_dir(temporary.path()).unwrap().count(), 0);
    }
}

/// The data of a page, without what the host's clock says.
fn island(page: &str) -> Json {
    let begin = r#"<script type="application/json" id="data">"#;
    let data = page.split(begin).nth(1).unwrap_or_else(|| panic!("{page}")).split("</script>").next().unwrap();
    let mut data: Json = serde_json::from_str(data).unwrap();
    data["report"].as_object_mut().unwrap().remove("host");
    data
}

#[test]
fn reports_are_those_that_the_command_line_writes() {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(LOOP, folder.path().join("job.json.gz")).unwrap();
    let lab = Lab::begin(folder.path(), &["job.json.gz", "--hw", "h100-nvl-tdx", "--design", "fastrack"]);
    for (name, query) in [
        ("run.html", format!("{SMALL}&design=fastrack")),
        ("program.html", "program=job.json.gz&change=graph".to_owned()),
        ("workload.html", "workload=decode-loop".to_owned()),
    ] {
        let (status, page) = lab.get(&format!("{name}?{query}"));
        assert_eq!(status, 200, "{page}");
        let given = island(&page);
        let command = given["command"].as_str().unwrap();
        assert!(command.starts_with("sealsim ") && command.ends_with(&format!(" --report {name}")), "{command}");
        let words: Vec<&str> = command.split(' ').skip(1).collect();
        let output =
            Command::new(env!("CARGO_BIN_EXE_sealsim")).current_dir(folder.path()).args(words).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let written = fs::read_to_string(folder.path().join(name)).unwrap();
        assert_eq!(given, island(&written), "{command}");
    }
    lab.end();
}

#[test]
fn a_profile_on_the_command_line_is_where_the_page_begins() {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(LOOP, folder.path().join("job.json.gz")).unwrap();
    let lab = Lab::begin(folder.path(), &["job.json.gz", "--hw", "hgx-h100-8gpu"]);
    let choices: Json = serde_json::from_str(&lab.get("choices").1).unwrap();
    assert_eq!(choices["program"], "program=job.json.gz&hw=hgx-h100-8gpu");
    assert!(choices["first"].as_str().unwrap().starts_with("machine=hgx-h100-8gpu&"), "{choices}");
    let (status, body) = lab.get("program?program=job.json.gz&hw=hgx-h100-8gpu");
    assert!(
        status == 200 && body.contains("sealsim replay job.json.gz --hw hgx-h100-8gpu --what-if changes"),
        "{body}"
    );
    lab.end();
    for (wrong, status) in
        [(&["no.json", "--hw", "h100-nvl-tdx"][..], 4), (&["a", "b"], 2), (&["--hw", "h100-nvl-tdx"], 2)]
    {
        let command =
            Command::new(env!("CARGO_BIN_EXE_sealsim")).args(["lab", "--no-open"]).args(wrong).output().unwrap();
        assert_eq!(command.status.code(), Some(status), "{wrong:?}");
    }
}

#[test]
fn a_machine_that_is_none_is_not_served() {
    let output =
        Command::new(env!("CARGO_BIN_EXE_sealsim")).args(["lab", "no-such-machine", "--no-open"]).output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_run_to_look_inside_is_begun_stepped_and_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let lab = Lab::begin(folder.path(), &[]);
    let state = |lab: &Lab| serde_json::from_str::<Json>(&lab.get("inside/state").1).unwrap();
    let until = |is: &dyn Fn(&Json) -> bool| {
        let deadline = Instant::now() + Duration::from_secs(120);
        loop {
            let state = state(&lab);
            if is(&state) {
                return state;
            }
            assert!(Instant::now() < deadline, "{state:#}");
        }
    };
    assert_eq!(lab.get("inside/").0, 404, "none is begun yet");
    assert_eq!(lab.ask("GET", &format!("inside/begin?{SMALL}"), "").0, 404);
    assert_eq!(lab.ask("POST", "inside/begin?machine=secret.toml&copy=h2d:4KiB", "").0, 400);
    assert_eq!(lab.ask("POST", &format!("inside/begin?{SMALL}"), "Origin: http://evil.example\r\n").0, 403);
    for _ in 0..2 {
        assert_eq!(lab.ask("POST", "inside/begin?machine=h100-nvl-tdx&copy=h2d:4MiB", "").0, 204);
        until(&|state| state["phase"] == "paused");
        assert_eq!(lab.ask("POST", "inside/step", "").0, 204);
        until(&|state| state["phase"] == "paused" && state["snapshot"]["messages_done"] == 1);
        assert_eq!(lab.ask("POST", "inside/record", "").0, 204);
        let refused = until(&|state| state["recording"]["is"] == "failed");
        assert!(refused["recording"]["why"].as_str().unwrap().contains("writes no file"), "{refused:#}");
    }
    assert_eq!(lab.ask("POST", "inside/go", "").0, 204);
    let ended = until(&|state| state["phase"] == "ended");
    assert!(ended["failure"].is_null() && ended["snapshot"]["copies"][0]["arrived"] == 4 << 20, "{ended:#}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is written");
    lab.end();
}
