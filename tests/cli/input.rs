//! Input that nobody wrote by hand, through the real program: refused soon, in few words, and never with a panic.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

/// Far more than any of these takes, and far less than one takes that is not linear.
const SOON: Duration = Duration::from_secs(20);

/// The exit status and the message, without line breaks and frames.
fn refused(folder: &Path, arguments: &[&str], stdin: &str) -> (i32, String) {
    let (begin, input) = (Instant::now(), fs::File::open(stdin).unwrap());
    let mut command = Command::new(env!("CARGO_BIN_EXE_sealsim"));
    let output = command.current_dir(folder).args(arguments).stdin(Stdio::from(input)).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    let shown: String = text.chars().take(2000).collect();
    assert!(begin.elapsed() < SOON, "{arguments:?} took {:?}: {shown}", begin.elapsed());
    assert!(text.len() < 20_000, "{arguments:?} says {} bytes: {shown}", text.len());
    let text = text.replace(['│', '╭', '─', '╰', '×', '·'], " ");
    (output.status.code().unwrap_or(-1), text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// By verb: its arguments, the file that they name, and the status of a file that is wrong.
const READERS: [(&[&str], &str, i32); 6] = [
    (&["describe", "in.toml"], "in.toml", 3),
    (&["describe", "h100-nvl-tdx", "--design", "in.toml"], "in.toml", 3),
    (&["run", "h100-nvl-tdx", "--workload", "in.toml"], "in.toml", 3),
    (&["sweep", "plan", "in.toml"], "in.toml", 3),
    (&["calibrate", "in.toml"], "in.toml", 3),
    (&["validate", "--measured", "in.csv"], "in.csv", 4),
];

/// Holds one text against every reader.
fn every_reader(text: &[u8], check: impl Fn(&str, i32, i32, &str)) {
    for (arguments, file, status) in READERS {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(file), text).unwrap();
        let (code, message) = refused(folder.path(), arguments, "/dev/null");
        check(arguments[0], status, code, &message);
    }
}

#[test]
fn an_error_far_along_a_line_is_shown_with_a_piece_of_the_line() {
    let text = format!("{}\"a\" = \"{}\" wrong", " ".repeat(100), "a".repeat(100_000));
    every_reader(text.as_bytes(), |verb, status, code, message| {
        assert_eq!(code, status, "{verb}: {message}");
        if verb != "validate" {
            assert!(
                message.contains(":1:1001") && message.contains("aaaa…") | message.contains("wrong"),
                "{verb}: {message}"
            );
        }
    });
}

#[test]
fn a_name_of_a_hundred_thousand_characters_is_not_echoed() {
    for text in [format!("{} = 1", "a".repeat(100_000)), format!("{}\n1", "a".repeat(100_000))] {
        every_reader(text.as_bytes(), |verb, status, code, message| {
            assert!(code == status && message.contains('…'), "{verb}: {code} {message}");
        });
    }
}

#[test]
fn eighty_thousand_unknown_keys_are_counted_and_the_first_are_shown() {
    let keys: String = (0..80_000).map(|key| format!("k{key} = 1\n")).collect();
    for (arguments, file, status) in READERS {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(file), &keys).unwrap();
        let (code, message) = refused(folder.path(), arguments, "/dev/null");
        assert_eq!(code, status, "{message}");
        if ["describe", "run"].contains(&arguments[0]) {
            assert!(message.contains("and 79") && message.contains(" more"), "{arguments:?}: {message}");
        }
    }
}

#[test]
fn a_byte_order_mark_a_directory_and_an_endless_file_are_named() {
    every_reader(b"\xef\xbb\xbfname = 1\n", |verb, _, code, message| {
        assert!([3, 4].contains(&code) && message.contains("byte-order mark"), "{verb}: {code} {message}");
    });
    for (arguments, file, _) in READERS {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join(file)).unwrap();
        let (code, message) = refused(folder.path(), arguments, "/dev/null");
        assert!([3, 4].contains(&code) && message.contains("is a directory"), "{arguments:?}: {code} {message}");
        let endless: Vec<&str> = arguments.iter().map(|one| if *one == file { "/dev/zero" } else { one }).collect();
        let (code, message) = refused(folder.path(), &endless, "/dev/null");
        assert!([3, 4].contains(&code) && message.contains("longer than"), "{endless:?}: {code} {message}");
    }
}

#[test]
fn what_is_nested_deeply_is_refused() {
    for text in [
        format!("{}1", "a.".repeat(200_000)).replacen(".1", " = 1", 1),
        format!("[{}a]\nb = 1", "a.".repeat(200_000)),
        format!("a = {}{}", "[".repeat(200_000), "]".repeat(200_000)),
        format!("a = {}1{}", "{a = ".repeat(100_000), "}".repeat(100_000)),
    ] {
        every_reader(text.as_bytes(), |verb, status, code, message| {
            assert_eq!(code, status, "{verb}: {message}");
        });
    }
}

#[test]
fn a_chain_of_files_that_extend_each_other_has_an_end() {
    let folder = tempfile::tempdir().unwrap();
    for place in 0..100 {
        fs::write(folder.path().join(format!("{place}.toml")), format!("extends = \"{}.toml\"\n", place + 1)).unwrap();
    }
    fs::write(folder.path().join("100.toml"), "extends = \"h100-nvl-tdx\"\n").unwrap();
    let (code, message) = refused(folder.path(), &["describe", "0.toml"], "/dev/null");
    assert!(code == 3 && message.contains("leads through more than 64 files"), "{code} {message}");
    let (code, message) = refused(folder.path(), &["describe", "50.toml"], "/dev/null");
    assert_eq!(code, 0, "{message}");
}

#[test]
fn settings_of_a_hundred_thousand_characters_are_not_echoed() {
    let long = "a".repeat(100_000);
    for setting in [
        long.clone(),
        format!("{long}=1"),
        format!("{}=1", "a.".repeat(50_000) + "a"),
        format!("link.max_payload={long}"),
        format!("link.lanes={}", "1".repeat(100_000)),
        format!("tag_queue.release={long}"),
        format!("link={{{long} = 1}}"),
        format!("link.lanes={}", "[".repeat(100_000)),
    ] {
        let (code, message) = refused(Path::new("."), &["describe", "h100-nvl-tdx", "--set", &setting], "/dev/null");
        assert!(code == 3 && message.len() < 3000, "{code} {message}");
    }
}

const STUDY: &str = "name = \"n\"\nsummary = \"s\"\nmachine = \"h100-nvl-tdx\"\ncopy = \"h2d:4KiB\"\n\
                     [[axis]]\npath = \"tag_queue.depth\"\nvalues = [1, 2]\n";

#[test]
fn points_and_rows_that_have_no_lines_are_not_read_to_their_end() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("s.toml"), STUDY).unwrap();
    let said = |arguments: &[&str], stdin: &str| refused(folder.path(), arguments, stdin);
    for (arguments, stdin) in [
        (&["sweep", "run-point", "s.toml"][..], "/dev/zero"),
        (&["sweep", "merge", "s.toml", "/dev/zero", "--out", "merged"], "/dev/null"),
    ] {
        let (code, message) = said(arguments, stdin);
        assert!(code == 4 && message.contains("a line longer than 1 MiB"), "{code} {message}");
    }
    assert_eq!(said(&["sweep", "s.toml", "--out", "done"], "/dev/null").0, 0);
    for (file, verb) in [
        ("points.csv", &["pareto", "done", "--max", "gb_per_s"][..]),
        ("points.jsonl", &["sweep", "s.toml", "--out", "done"]),
        ("study.json", &["pareto", "done", "--max", "gb_per_s"]),
    ] {
        let path = folder.path().join("done").join(file);
        let whole = fs::read(&path).unwrap();
        fs::write(&path, vec![0; 9 << 20]).unwrap();
        let (code, message) = said(verb, "/dev/null");
        assert!(code == 4 && message.contains("longer than") && message.contains(file), "{file}: {code} {message}");
        fs::write(&path, whole).unwrap();
    }
}

#[test]
fn a_study_of_a_million_times_a_million_points_is_refused_before_there_is_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let axis = |path: &str| format!("[[axis]]\npath = \"{path}\"\nfrom = 1\nto = 1000000\nstep = 1\n");
    let axes = ["link.read_tags", "copy_engine.outstanding_reads", "staging.buffers"].map(axis).concat();
    fs::write(folder.path().join("s.toml"), format!("{STUDY}{axes}")).unwrap();
    let (code, message) = refused(folder.path(), &["sweep", "s.toml", "--out", "out"], "/dev/null");
    assert!(code == 3 && message.contains("more than 10000000 points"), "{code} {message}");
    assert!(!folder.path().join("out").exists());
}

#[test]
fn a_table_of_a_hundred_thousand_programs_is_read_in_linear_time() {
    let folder = tempfile::tempdir().unwrap();
    let head = "platform,program,mode,place,direction,host_memory,bytes,device_ns\n";
    let row = |place: usize| format!("p9,{place},off,1,h2d,pinned,64,1\n");
    let text = head.to_owned() + &(0..100_000).map(row).collect::<String>();
    fs::write(folder.path().join("in.csv"), text).unwrap();
    let (code, message) = refused(folder.path(), &["validate", "--measured", "in.csv"], "/dev/null");
    assert!(code == 2 && message.contains("no machine is known for platform `p9`"), "{code} {message}");
}

/// Nobody may ever write into it. What a shell makes of `<(command)` is read: somebody does.
#[cfg(target_os = "linux")]
#[test]
fn a_pipe_with_a_name_is_refused_and_one_of_a_shell_is_read() {
    let folder = tempfile::tempdir().unwrap();
    assert!(Command::new("mkfifo").arg(folder.path().join("p")).status().unwrap().success());
    for arguments in [
        &["describe", "./p"][..],
        &["run", "./p", "--copy", "h2d:4KiB"],
        &["run", "h100-nvl-tdx", "--design", "./p", "--copy", "h2d:4KiB"],
        &["run", "h100-nvl-tdx", "--workload", "p"],
        &["sweep", "p", "--out", "out"],
        &["validate", "--measured", "p"],
        &["replay", "p"],
    ] {
        let (code, message) = refused(folder.path(), arguments, "/dev/null");
        assert!([3, 4].contains(&code) && message.contains("p: is a named pipe"), "{arguments:?}: {code} {message}");
    }
    let workload =
        "summary = \"s\"\noperations = [{ op = \"copy\", direction = \"h2d\", size = \"4 KiB\", stream = \"a\" }]";
    let line = format!("exec \"$0\" run h100-nvl-tdx --workload <(echo '{workload}')");
    let status = Command::new("bash").args(["-c", &line, env!("CARGO_BIN_EXE_sealsim")]).stdout(Stdio::null()).status();
    assert!(status.unwrap().success());
}
