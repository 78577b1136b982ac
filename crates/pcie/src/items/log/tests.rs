use super::*;
use proptest::prelude::*;

fn refused(text: &str) -> String {
    parse(text, "it").skipped.first().expect("a line that is skipped").to_string()
}

fn one(text: &str) -> Log {
    let Read { mut logs, skipped } = parse(text, "it");
    assert_eq!((logs.len(), skipped.len()), (1, 0), "{text}");
    logs.remove(0)
}

/// Lines of public reports of errors, as kernels from 3 to 6 and their log daemons print them.
#[test]
fn lines_are_read_as_kernels_print_them() {
    let header = ["34000000", "0a000052", "00000000", "00000001"].map(|text| word(text).unwrap());
    let coloured = "\x1b[31mpcieport 0000:00:1d.0:   TLP Header: 34000000 0a000052 00000000 00000001\x1b[0m".as_bytes();
    let numbers = format!(r#"{{"MESSAGE":{coloured:?},"SYSLOG_IDENTIFIER":"pcieport"}}"#);
    for line in [
        "TLP Header: 34000000 0a000052 00000000 00000001",
        "34000000 0a000052 00000000 00000001",
        "[   30.100267] pcieport 0000:00:1d.0: AER:   TLP Header: 34000000 0a000052 00000000 00000001",
        "[  +0.1] pcieport 0000:00:1d.0: AER:   TLP Header: 0x34000000 0x0a000052 0x00000000 0x00000001",
        "Sep 22 09:59:09 pve kernel: pcieport 0000:00:1d.0: AER:   TLP Header: 34000000 0a000052 00000000 00000001\r",
        "> > pcieport 0000:00:1d.0: aer_tlp_header: 34000000 0a000052 00000000 00000001",
        "\x1b[32m[   30.100267] \x1b[0m\x1b[33mpcieport 0000:00:1d.0: \x1b[0m\x1b[1;31mAER:   TLP Header: 34000000 0a000052 00000000 00000001\x1b[0m",
        "pcieport 0000:00:1d.0: AER:   TLP Header: 34000000 \x1b[7m0a000052\x1b[27m 00000000 00000001",
        r#"{"PRIORITY":"3","MESSAGE":"pcieport 0000:00:1d.0: AER:   TLP Header: 34000000 0a000052 00000000 00000001","_BOOT_ID":"00"}"#,
        r#"{"MESSAGE":"\u001b[31mpcieport 0000:00:1d.0: AER:   TLP Header: \u001b[1m34000000 0a000052 00000000 00000001","_BOOT_ID":"00"}"#,
        &numbers,
        r#"	"MESSAGE" : "pcieport 0000:00:1d.0: AER:   TLP Header: 34000000 0a000052 00000000 00000001","#,
    ] {
        let log = one(line);
        assert_eq!(log.header, header, "{line}");
        assert_eq!(log.device.as_deref(), line.contains("pcieport").then_some("0000:00:1d.0"));
        assert!(!log.flit && log.prefixes.is_empty());
    }
}

#[test]
fn prefixes_and_flit_mode_are_told_apart() {
    let log = one("TLP Header: 0x60000001 0x0000000f 0x00000001 0x00000000 E-E Prefixes: 0x91000001 0x92000904");
    assert_eq!((log.header.len(), log.prefixes), (4, vec![[0x91, 0, 0, 1], [0x92, 0, 9, 4]]));
    let log = one(&format!("TLP Header (Flit):{}", " 0x20000010".repeat(14)));
    assert_eq!((log.flit, log.header.len()), (true, 14));
}

#[test]
fn a_prefix_on_a_line_of_its_own_belongs_to_the_log_before_it() {
    let header = "pcieport 0000:00:1c.0: TLP Header: 0x60000001 0x0000000f 0x00000001 0x00000000";
    let prefix = "pcieport 0000:00:1c.0: TLP Prefix Header: dw0, 0x91000001";
    let zero = "pcieport 0000:00:1c.0: TLP Prefix Header: dw1, 0x00000000";
    assert_eq!(one(&[header, prefix, zero].join("\n")).prefixes, [[0x91, 0, 0, 1]]);
    assert!(refused(prefix).starts_with("it, line 1: a prefix without"));
    let other = prefix.replace("1c.0", "1d.0");
    assert!(refused(&[header, &other].join("\n")).starts_with("it, line 2: a prefix without"));
    assert!(refused(&[header, "TLP Prefix Header: 0x91000001"].join("\n")).contains("line 2"));
}

#[test]
fn three_words_are_a_log_if_the_header_has_no_more() {
    assert_eq!(one("TLP Header: 40000001 0000000f fee00000").header.len(), 3);
    assert_eq!(
        one("pcieport 0000:00:1d.0: AER: TLP Header: 00000001 0000000f 00001000 E-E Prefixes: 91000001").prefixes.len(),
        1
    );
    for cut in ["TLP Header: 60000001 0000000f 00000001", "TLP Header: 40000001 0000000f", "40000001 0000000f fee00000"]
    {
        assert!(refused(cut).contains("words, but"), "{cut}");
    }
}

#[test]
fn one_prefix_that_an_old_kernel_prints_in_each_word_is_one() {
    let log = |words: &[&str]| {
        let lines = words.iter().map(|word| format!("\n0000:00:1c.0: TLP Prefix Header: dw0, {word}"));
        one(&format!("0000:00:1c.0: TLP Header: 00000001 0000000f 00001000 00000000{}", lines.collect::<String>()))
    };
    for (words, prefixes, repeated) in [
        (&["0x91000123"; 4][..], 1, 4),
        (&["0x91000123"; 3], 1, 3),
        (&["0x92000000"; 2], 1, 2),
        (&["0x91000123", "0x00000000"], 1, 0),
        (&["0x92000000", "0x91000123"], 2, 0),
        (&["0x92000000", "0x91000123", "0x91000123"], 3, 0),
    ] {
        let log = log(words);
        assert_eq!((log.prefixes.len(), log.repeated), (prefixes, repeated), "{words:?}");
    }
    let line = one("TLP Header: 00000001 0000000f 00001000 00000000 E-E Prefixes: 91000001 91000001");
    assert_eq!((line.prefixes.len(), line.repeated), (2, 0));
}

#[test]
fn other_lines_are_skipped_and_each_log_has_its_line() {
    let words = "TLP Header: 34000000 0a000052 00000000 00000001";
    let logs = parse(&format!("pcieport: [20] UnsupReq (First)\n{words}\n\nx\n{words}"), "it").logs;
    assert_eq!(logs.iter().map(|log| log.place.as_str()).collect::<Vec<_>>(), ["it, line 2", "it, line 5"]);
    assert_eq!(parse("no log\n", "it"), Read::default());
}

#[test]
fn a_malformed_line_is_skipped_with_its_number() {
    for (words, fault) in [
        ("34000000 0a000052 00000000", "3 words, but 4 are due"),
        ("34000000 0a000052 00000000 00000001 00000002", "5 words, but 4 are due"),
        ("34000000 0a000052 00000000 0000001", "\"0000001\" is no word"),
        ("34000000 0a000052 00000000 0000000g", "\"0000000g\" is no word"),
        ("34000000 0a000052 00000000 00000001 E-E Prefixes:", "0 prefixes, but 1 to 10 are due"),
        ("", "0 words, but 4 are due"),
    ] {
        let message = refused(&format!("x\nAER: TLP Header: {words}"));
        assert!(message.starts_with("it, line 2: ") && message.contains(fault), "{message}");
    }
    assert!(refused(&format!("TLP Header (Flit):{}", " 20000010".repeat(15))).contains("15 words, but 4 to 14"));
    assert!(refused("TLP Header=Not available").contains("behind `TLP Header` a `:` is due"));
    assert!(refused(&format!("TLP Header: {}", "x".repeat(100_000))).len() < 200);
}

#[test]
fn a_wrapped_line_skips_itself_and_a_remark_behind_a_log_is_passed_over() {
    let whole = "pcieport 0000:00:1c.0: AER:   TLP Header: 40000001 0000000f fee00000 00000000";
    let wrapped = "pcieport 0000:00:1d.0: AER:   TLP Header: 40000001 0000000f\n    fee00000 00000000";
    let Read { logs, skipped } = parse(&format!("{whole}\n{wrapped}\n{whole}  <- a write"), "it");
    assert_eq!(logs.iter().map(|log| log.place.as_str()).collect::<Vec<_>>(), ["it, line 1", "it, line 4"]);
    assert_eq!(skipped.len(), 2, "{skipped:?}");
    assert_eq!(logs[0].header, logs[1].header);
}

#[test]
fn lspci_is_read_by_device_and_its_zeros_are_no_log() {
    let text = "00:01.0 PCI bridge: x\n\t\tHeaderLog: 00000000 00000000 00000000 00000000\n\
                0000:01:00.0 3D controller: y\n\t\tAERCap: First Error Pointer: 14\n\t\tHeaderLog: 40000001 0000000f fee00000 00000000\n";
    let log = one(text);
    assert_eq!((log.place.as_str(), log.device.as_deref()), ("it, line 5", Some("0000:01:00.0")));
    assert_eq!(one(&text.replace("0000:01", "01")).device.as_deref(), Some("01:00.0"));
}

proptest! {
    #[test]
    fn any_text_is_read_without_panic(
        text in prop::collection::vec(
            prop_oneof![
                Just("TLP Header".to_owned()), Just(" (Flit)".to_owned()), Just(": ".to_owned()),
                Just("40000001 ".to_owned()), Just(" E-E Prefixes: ".to_owned()), Just("\n".to_owned()),
                Just("TLP Prefix Header: dw0, ".to_owned()), any::<String>(),
            ],
            0..12,
        ),
    ) {
        for log in parse(&text.concat(), "it").logs {
            let _ = super::super::decode::logged(&log);
        }
    }
}
