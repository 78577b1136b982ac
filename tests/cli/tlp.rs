//! `sealsim tlp` as a process: exit statuses and pipes.

use std::{
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
