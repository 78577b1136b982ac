//! `sealsim tlp` as a process: exit statuses and pipes.

use serde_json::Value as Json;
use std::{
    collections::BTreeSet,
    io::Write,
    process::{Command, Output, Stdio},
};

fn sealsim(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_sealsim"))
        .env("COLUMNS", "240")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A program that has read enough closes the pipe.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn decode_and_encode_are_inverse_through_a_pipe() {
    let frame = "5f006000000000010100000f123456784f2b77e3\n";
    let decoded = sealsim(&["tlp", "decode", "--wire", "--format", "json", "-"], frame.as_bytes());
    assert_eq!(decoded.status.code(), Some(0));
    let encoded = sealsim(&["tlp", "encode", "--wire"], &decoded.stdout);
    assert_eq!((encoded.status.code(), text(&encoded.stdout)), (Some(0), frame.to_owned()));
}

/// A dash, nothing and an argument are the same input to both verbs.
#[test]
fn standard_input_and_arguments_are_alike_to_both_verbs() {
    let frame = "5f006000000000010100000f123456784f2b77e3";
    let decode = ["tlp", "decode", "--wire", "--format", "json"];
    let encode = ["tlp", "encode", "--wire"];
    let object = text(&sealsim(&[&decode[..], &[frame]].concat(), b"").stdout);
    assert!(object.contains("MRd32"), "{object}");
    for (verb, given, expected) in [(&decode[..], frame, object.as_str()), (&encode[..], &object, frame)] {
        for (more, input) in [(&[][..], given), (&["-"], given), (&[given], "")] {
            let output = sealsim(&[verb, more].concat(), input.as_bytes());
            assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
            assert_eq!(text(&output.stdout).trim(), expected.trim());
        }
    }
}

/// Each was decoded without a fault once.
#[test]
fn rules_of_the_specification_are_held_against_fields() {
    for (bytes, code, first) in [
        ("4c0000020000000000001004 0000000000000001", "alignment", "FetchAdd32: an operand of 8 bytes at 0x1004"),
        ("400004010000000f00001000 00000000", "translation_request", "MWr32: 4 bytes at 0x1000"),
        ("30000000000000100000000000000000", "routing", "Msg: LTR, to root"),
        ("30100000000000180000000000000000", "traffic_class", "Msg: PM_PME, to root"),
    ] {
        let output = sealsim(&["tlp", "decode", bytes], b"");
        let printed = text(&output.stdout);
        assert_eq!(output.status.code(), Some(1), "{printed}");
        assert!(printed.starts_with(first) && printed.contains(&format!("error [{code}]")), "{printed}");
    }
}

#[test]
fn a_bad_frame_is_printed_and_ends_with_1() {
    let output = sealsim(&["tlp", "decode", "--wire", "5f006000000000010100000f123456784f2b77e4"], b"");
    assert_eq!(output.status.code(), Some(1));
    let printed = text(&output.stdout);
    assert!(printed.contains("MRd32") && printed.contains("error [lcrc]"), "{printed}");
}

#[test]
fn unreadable_hexadecimal_ends_with_2_and_names_the_place() {
    let output = sealsim(&["tlp", "decode", "4a00", "00x0"], b"");
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("HEX 2, character 3: 'x'"), "{}", text(&output.stderr));
    let output = sealsim(&["tlp", "decode", "-"], b"4a\n0");
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("line 2, column 1"), "{}", text(&output.stderr));
}

#[test]
fn encode_ends_with_2_for_wrong_content_and_4_for_an_unreadable_stream() {
    assert_eq!(sealsim(&["tlp", "encode"], b"{}").status.code(), Some(2));
    assert_eq!(sealsim(&["tlp", "encode"], b"\xff").status.code(), Some(4));
}

#[test]
fn encode_ends_with_2_for_a_key_that_the_kind_does_not_have() {
    let output = sealsim(&["tlp", "encode"], br#"{"kind":"dllp","payload":"","fields":{"type":"ACK","seq":5}}"#);
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(2), String::new()));
    assert!(text(&output.stderr).contains("has no key `payload`"), "{}", text(&output.stderr));
}

#[test]
fn endless_input_ends_with_4_and_names_the_limit() {
    for (arguments, limit) in [
        (&["tlp", "decode", "-"][..], "4 MiB"),
        (&["tlp", "decode", "--header-log", "-"], "4 MiB"),
        (&["tlp", "encode"], "64 MiB"),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_sealsim"))
            .env("COLUMNS", "240")
            .args(arguments)
            .stdin(std::fs::File::open("/dev/zero").unwrap())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(4));
        assert!(text(&output.stderr).contains(limit), "{}", text(&output.stderr));
    }
}

#[test]
fn a_byte_order_mark_ends_with_4() {
    let output = sealsim(&["tlp", "decode", "-"], b"\xef\xbb\xbf4a");
    assert_eq!(output.status.code(), Some(4));
    assert!(text(&output.stderr).contains("byte-order mark"), "{}", text(&output.stderr));
}

const DMESG: &str = "\
[   30.100262] pcieport 0000:00:1c.0:    [20] UnsupReq               (First)
[   30.100267] pcieport 0000:00:1c.0: AER:   TLP Header: 40000001 0000000f fee00000 00000000
[   30.200267] nvme 0000:01:00.0: AER:   TLP Header: 0x20000001 0x0100000f 0x00000001 0x00000000
";

#[test]
fn a_pasted_dmesg_is_read_from_standard_input() {
    let output = sealsim(&["tlp", "decode", "--header-log", "--format", "json", "-"], DMESG.as_bytes());
    assert_eq!(output.status.code(), Some(0));
    let printed = text(&output.stdout);
    let lines: Vec<_> = printed.lines().collect();
    assert_eq!(lines.len(), 2);
    assert!(lines[0].contains("\"MWr32\"") && lines[0].contains("standard input, line 2, 0000:00:1c.0"), "{printed}");
    assert!(lines[1].contains("\"MRd64\"") && lines[1].contains("standard input, line 3, 0000:01:00.0"), "{printed}");
}

#[test]
fn a_header_log_is_read_from_arguments_quoted_or_not() {
    let words = ["TLP", "Header:", "40000001", "0000000f", "fee00000", "00000000"];
    let line = words.join(" ");
    let start = ["tlp", "decode", "--header-log"];
    let unquoted = sealsim(&[&start[..], &words].concat(), b"");
    let quoted = sealsim(&[&start[..], &[&line, &line]].concat(), b"");
    assert_eq!((unquoted.status.code(), quoted.status.code()), (Some(0), Some(0)));
    assert!(text(&unquoted.stdout).starts_with("argument 1, line 1\nMWr32: 4 bytes at 0xfee00000\n"));
    assert_eq!(text(&quoted.stdout).matches("MWr32").count(), 2);
}

#[test]
fn a_malformed_header_log_ends_with_2_and_its_line() {
    let output = sealsim(&["tlp", "decode", "--header-log", "-"], b"x\nTLP Header: 40000001 0000000f\n");
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(2), String::new()));
    assert!(text(&output.stderr).contains("standard input, line 2: 2 words"), "{}", text(&output.stderr));
    let output = sealsim(&["tlp", "decode", "--header-log", "no log"], b"");
    assert_eq!(output.status.code(), Some(2));
    let output = sealsim(&["tlp", "decode", "--header-log", "TLP Header: 0 0 0 0"], b"");
    assert_eq!(output.status.code(), Some(2));
    let flit = "TLP Header (Flit): 20000010 00000000 00000001 00000000";
    let output = sealsim(&["tlp", "decode", "--header-log", flit], b"");
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output.stdout).contains("MRd64: 64 bytes at 0x100000000"), "{}", text(&output.stdout));
    let mixed = b"x\nTLP Header: 40000001 0000000f\nTLP Header: 40000001 0000000f fee00000 00000000\n";
    let output = sealsim(&["tlp", "decode", "--header-log"], mixed);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("skipped: standard input, line 2: 2 words"), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("MWr32: 4 bytes at 0xfee00000"));
}

#[test]
fn the_examples_of_flit_mode_work() {
    let zeros = "0".repeat(512);
    let idle = sealsim(&["tlp", "decode", "--flit", "-"], zeros.as_bytes());
    assert_eq!(idle.status.code(), Some(0));
    assert!(text(&idle.stdout).starts_with("Flit, IDLE: explicit sequence number 0\n"), "{}", text(&idle.stdout));
    let object = r#"{"kind":"flit_tlp","payload":"000000a5","fields":{"type":64,"length_dw":1,"address":4096}}"#;
    let flit = sealsim(&["tlp", "encode", "--flit"], object.as_bytes());
    assert_eq!((flit.status.code(), flit.stdout.len()), (Some(0), 513));
    let decoded = sealsim(&["tlp", "decode", "--flit", "-"], &flit.stdout);
    assert_eq!(decoded.status.code(), Some(0));
    assert!(text(&decoded.stdout).contains("\nMWr32: 4 bytes at 0x1000\n"), "{}", text(&decoded.stdout));
    let objects = sealsim(&["tlp", "decode", "--flit", "--format", "json", "-"], &flit.stdout);
    assert_eq!(sealsim(&["tlp", "encode", "--flit"], &objects.stdout).stdout, flit.stdout);
}

#[test]
fn a_lost_flit_ends_with_1_and_flit_mode_excludes_the_others_with_2() {
    let mut flit = "0".repeat(512);
    flit.replace_range(..8, "01000001");
    let output = sealsim(&["tlp", "decode", "--flit", &flit], b"");
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).contains("error [flit_"), "{}", text(&output.stdout));
    for other in ["--wire", "--dllp", "--header-log"] {
        assert_eq!(sealsim(&["tlp", "decode", "--flit", other, "00"], b"").status.code(), Some(2));
    }
    assert_eq!(sealsim(&["tlp", "encode", "--flit", "--wire"], b"").status.code(), Some(2));
    let output = sealsim(&["tlp", "encode", "--flit"], br#"{"kind":"tlp"}"#);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("leave out --flit"), "{}", text(&output.stderr));
}

/// Of litepcie issue 178: each TLP is legal alone.
#[test]
fn a_stream_is_checked_across_its_packets() {
    let data = |bytes: usize| "00".repeat(bytes);
    let (read, first) = ("00000040010005ff00001000", format!("4a0000100000010001000500{}", data(64)));
    let second = |count: &str, tag: &str| format!("4a000010000000{count}0100{tag}40{}", data(64));
    for (lines, code) in [
        (vec![read.to_owned(), first.clone(), second("c0", "05")], None),
        (vec![read.to_owned(), first.clone(), second("40", "05")], Some("bytes_left")),
        (vec![read.to_owned(), first.clone(), second("c0", "09")], Some("unknown_tag")),
        (vec![read.to_owned(), first.clone(), read.to_owned()], Some("tag_in_use")),
    ] {
        let input = lines.join("\n");
        assert_eq!(sealsim(&["tlp", "decode", "-"], input.as_bytes()).status.code(), Some(0));
        let marked = lines.iter().map(|line| format!("{} {line}", if line.starts_with('0') { '>' } else { '<' }));
        for input in [input.clone(), marked.collect::<Vec<_>>().join("\n")] {
            let output = sealsim(&["tlp", "decode", "--stream", "--format", "json"], input.as_bytes());
            assert_eq!(output.status.code(), Some(i32::from(code.is_some())), "{input}");
            assert!(code.is_none_or(|code| text(&output.stdout).contains(&format!("\"code\":\"{code}\""))), "{input}");
        }
    }
    let wrong = sealsim(&["tlp", "decode", "--stream"], b"> 0000\n< 4x\n");
    assert_eq!((wrong.status.code(), text(&wrong.stderr).contains("line 2")), (Some(2), true));
}

/// The packets of a capture, a line each with its way.
fn packets(capture: &[u8]) -> Vec<String> {
    let number = |at: usize| u32::from_le_bytes(capture[at..at + 4].try_into().unwrap()) as usize;
    let (mut lines, mut at) = (Vec::new(), 0);
    while at < capture.len() {
        if number(at) == 6 {
            let record = &capture[at + 28..at + 28 + number(at + 20)];
            let way = if record[19] & 0x10 == 0 { '>' } else { '<' };
            lines.push(format!("{way} {}", hex::encode(&record[20..])));
        }
        at += number(at + 4);
    }
    lines
}

/// What is wrong with the packets of a capture, by code.
fn wrong(lines: &[String]) -> BTreeSet<String> {
    let arguments = ["tlp", "decode", "--wire=gen1", "--stream", "--format", "json"];
    let output = sealsim(&arguments, lines.join("\n").as_bytes());
    let items = text(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Json>>();
    assert_eq!(items.len(), lines.len(), "{}", text(&output.stderr));
    let problems = items.iter().flat_map(|item| item["problems"].as_array().into_iter().flatten());
    problems.map(|problem| problem["code"].as_str().unwrap().to_owned()).collect()
}

/// Draws from lists, the same each time.
struct Choices(u64);

impl Choices {
    fn of<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        choices[(self.0 >> 33) as usize % choices.len()]
    }
}

fn capture(more: &[&str]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("c.pcapng").display().to_string();
    let output = sealsim(&[&["run", "h100-nvl-tdx", "--what-if", "0", "--capture", &file], more].concat(), b"");
    assert_eq!(output.status.code(), Some(0), "{more:?}: {}", text(&output.stderr));
    packets(&std::fs::read(&file).unwrap())
}

#[test]
fn captures_of_random_machines_keep_the_rules_and_a_packet_that_is_lost_breaks_them() {
    let mut choices = Choices(65);
    for _ in 0..12 {
        let copy = choices.of(&["h2d:70000", "d2h:70000", "h2d:1,d2h:5000", "h2d:33333,d2h:33333"]);
        let mut run = vec!["--design", choices.of(&["direct-in-place", "hold", "inline-tags", "staged", "off"])];
        copy.split(',').for_each(|copy| run.extend(["--copy", copy]));
        let settings = [
            ("link.max_payload", &["128 B", "256 B", "512 B"][..]),
            ("root_complex.completion_payload", &["64 B", "128 B"]),
            ("link.max_read_request", &["128 B", "512 B", "4 KiB"]),
            ("link.read_tags", &["32", "256", "768"]),
            ("link.ecrc", &["true", "false"]),
            ("link.host_credits.posted_headers", &["0", "3", "127", "600"]),
            ("link.host_credits.posted_data", &["0", "64", "2047", "9000"]),
            ("link.host_credits.non_posted_headers", &["0", "2", "127", "2032"]),
            ("link.gpu_credits.completion_headers", &["0", "40", "200"]),
            ("link.gpu_credits.completion_data", &["0", "320", "5000"]),
        ];
        let settings = settings.map(|(path, values)| format!("{path}={}", choices.of(values)));
        settings.iter().for_each(|setting| run.extend(["--set", setting]));
        let lines = capture(&run);
        assert_eq!(wrong(&lines), BTreeSet::new(), "{run:?}");
        // The first of each way may have any number.
        let ways: Vec<_> = lines.iter().map(|line| &line[..4]).collect();
        let later = |&place: &usize| ways[place].ends_with("fb") && ways[..place].contains(&ways[place]);
        let tlps: Vec<_> = (0..lines.len()).filter(later).collect();
        for place in [tlps[0], tlps[tlps.len() / 2], tlps[tlps.len() - 3]] {
            let lost = [&lines[..place], &lines[place + 1..]].concat();
            assert_ne!(wrong(&lost), BTreeSet::new(), "{run:?}: without {}", lines[place]);
        }
    }
}

/// The InitFCs are those of a port that gives one credit fewer than the run's port had.
#[test]
fn a_port_with_one_credit_more_than_it_was_given_is_found() {
    // A TLP of 256 bytes takes 16 data credits.
    let (headers, data) = ([2, 3, 5], [31, 47, 63]);
    for (copy, pool, fewer) in [
        ("d2h:70000", "host_credits.posted_headers", headers),
        ("d2h:70000", "host_credits.posted_data", data),
        ("h2d:70000", "host_credits.non_posted_headers", headers),
        ("h2d:70000", "gpu_credits.completion_headers", headers),
        ("h2d:70000", "gpu_credits.completion_data", data),
    ] {
        let with = |credits: usize| capture(&["--copy", copy, "--set", &format!("link.{pool}={credits}")]);
        let is_init = |line: &String| line[2..].starts_with("5c") && "456cde".contains(&line[4..5]);
        for credits in fewer {
            let (fewer, more) = (with(credits), with(credits + 1));
            let (init, rest) = (&fewer[..12], &more[12..]);
            assert!(init.iter().all(is_init) && !rest.iter().any(is_init), "{init:?}");
            // An idle link repeats what it has given.
            let begun = rest.iter().position(|line| line[2..].starts_with("fb")).unwrap();
            let rest = &rest[begun..];
            assert_eq!(wrong(&more), BTreeSet::new(), "{pool}={credits}");
            assert_eq!(wrong(&[init, rest].concat()), ["credits".to_owned()].into(), "{pool}={credits}");
        }
    }
}

/// What a fault of the link leads to, a Nak and a replay or Recovery, keeps the rules.
#[test]
fn a_fault_of_the_link_is_told_and_nothing_else_is() {
    for (fault, told) in [
        ("flip:tlp=40", &["lcrc"][..]),
        ("flip_token:tlp=33", &[]),
        ("drop:tlp=21", &["sequence_gap"]),
        ("drop:dllp=9", &[]),
        ("flip:dllp=5", &["reserved_type"]),
    ] {
        for way in ["h2d", "d2h"] {
            let inject = format!("link.{way}.{fault}");
            let lines = capture(&["--copy", "h2d:70000", "--copy", "d2h:70000", "--inject", &inject]);
            assert_eq!(wrong(&lines), told.iter().copied().map(str::to_owned).collect(), "{inject}");
        }
    }
}

/// Tag[13:8] are the low bits of byte 6, Tag[7:0] byte 7: the layout of pcie-6-0-packet-generator and of Intel's hqm_sfi structures.
#[test]
fn tags_of_14_bits_stand_in_flit_headers_and_machines_of_generation_6_have_them() {
    for (tag, kind) in [(0x400, 3), (0x1234, 32), (0x3fff, 64), (0x2b01, 74)] {
        let payload = if kind < 64 { "" } else { "000000a5" };
        let extra =
            if kind == 74 { r#""byte_count":4,"lower_address":0,"completer_id":0"# } else { r#""address":4294971392"# };
        let extra = if kind % 32 == 0 && kind != 64 { extra } else { &extra.replace("4294971392", "4096") };
        let json = format!(
            r#"{{"kind":"flit_tlp","payload":"{payload}","fields":{{"type":{kind},"length_dw":1,"tag":{tag},{extra}}}}}"#
        );
        let flit = sealsim(&["tlp", "encode", "--flit"], json.as_bytes());
        let bytes =
            hex::decode(text(&flit.stdout).lines().next().unwrap_or_else(|| panic!("{}", text(&flit.stderr)))).unwrap();
        assert_eq!((u16::from(bytes[6] & 0x3f) << 8 | u16::from(bytes[7])), tag, "{kind}");
        let back = sealsim(&["tlp", "decode", "--flit", "--format", "json"], &flit.stdout);
        assert!(text(&back.stdout).contains(&format!("\"tag\":{tag}")), "{}", text(&back.stdout));
    }
    let run = |generation: &str| {
        let generation = format!("link.generation={generation}");
        let most = ["--set", "link.read_tags=15360", "--set", "copy_engine.outstanding_reads=2000"];
        sealsim(&[&["run", "h100-nvl-tdx", "--copy", "h2d:2MiB", "--set", &generation], &most[..]].concat(), b"")
            .status
            .code()
    };
    assert_eq!((run("6"), run("5")), (Some(0), Some(3)));
}
