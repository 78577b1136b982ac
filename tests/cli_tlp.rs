//! `sealsim tlp` as a process: exit statuses and pipes.

use std::{
    io::Write,
    process::{Command, Output, Stdio},
};

fn sealsim(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_sealsim"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
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
