use super::{super::record::tests::report, *};

#[test]
fn the_text_begins_with_what_was_delivered_and_what_limited_the_longest_copy() {
    let text = report(false).text(80, true);
    let first: Vec<_> = text.lines().take(2).collect();
    assert!(first[0].starts_with("2 copies, ") && first[0].ends_with(", 1 of 2 NOT delivered"), "{text}");
    assert!(
        first[1].starts_with("copy 1 is limited by cipher.seal_rate = 1.6 B/cycle: 3.2 B/cycle gives +82 %"),
        "{text}"
    );
    assert_eq!(text.matches("copy 2: host.cipher busy 92 %").count(), 1, "{text}");
    let mut one = report(false);
    one.copies.truncate(1);
    assert!(
        one.text(80, true).starts_with("h2d of 64 MiB in 20.00 ms, 3.355 GB/s, delivered\n"),
        "{}",
        one.text(80, true)
    );
}

#[test]
fn no_line_is_wider_than_asked_for() {
    let mut report = report(true);
    report.copies.iter_mut().for_each(|copy| copy.sha256 = None);
    for width in [80, 100, 160] {
        assert!(
            report.text(width, true).lines().all(|line| line.chars().count() <= width),
            "{}",
            report.text(width, true)
        );
    }
}

#[test]
fn the_text_holds_the_figures() {
    let text = report(true).text(120, true);
    for phrase in [
        "m+d, confidential computing on, configuration abababababab",
        "   1  up      h2d  pinned  64 MiB      0 ps  20.00 ms  3.355        64  64 good         yes",
        "63 good, 1 BAD",
        "NO: message 7: the tag is wrong",
        "sha256 of copy 1: cdcd",
        "sha256 of copy 2: none",
        "█ busy 60.0 %, ▓ staging_full 30.0 %, · idle 10.0 %",
        "1.500 ns at longest",
        "faults: 1 of 2",
        "incident: link.h2d",
        "rests on 1 assumed",
        "event digest 00112233aabbccdd",
    ] {
        assert!(text.contains(phrase), "{phrase:?} is not in\n{text}");
    }
}

#[test]
fn the_column_of_streams_is_there_only_if_they_have_names() {
    let mut report = report(false);
    assert!(report.text(120, true).contains("copy  stream  dir  memory"));
    report.copies.iter_mut().for_each(|copy| copy.stream = None);
    assert!(
        report
            .text(120, true)
            .contains("   1  h2d  pinned  64 MiB      0 ps  20.00 ms  3.355        64  64 good         yes")
    );
}

#[test]
fn of_very_many_copies_the_first_are_shown() {
    let mut report = report(false);
    report.copies = vec![report.copies[0].clone(); COPIES_SHOWN + 7];
    let text = report.text(120, true);
    assert!(text.contains("and 7 more copies"), "{text}");
    // And one at the head.
    assert_eq!(text.matches(" is limited by ").count(), COPIES_SHOWN + 1);
}

#[test]
fn many_copies_are_grouped_and_those_that_failed_have_rows() {
    let mut report = report(false);
    let [good, bad] = [report.copies[0].clone(), report.copies[1].clone()];
    report.copies = vec![good; 30];
    report.copies[7].end_ps += 5;
    report.copies.push(bad);
    let text = report.text(120, false);
    for phrase in ["up      h2d  pinned      30", "copy 8", "--all", "copy 31: NO: message 7", "copy 8: limited by"] {
        assert!(text.contains(phrase), "{phrase:?} is not in\n{text}");
    }
    assert!(!text.contains("copy 9 "), "{text}");
    assert!(report.text(120, true).contains("copy 9 "));
}

#[test]
fn times_and_counts_are_readable() {
    let times = [0, 999, 1000, 12_345, 999_949_999, 20_000_000_000, 3_000_000_000_000].map(time);
    assert_eq!(times, ["0 ps", "999 ps", "1.000 ns", "12.35 ns", "999.9 us", "20.00 ms", "3.000 s"]);
    assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1 000", "1 234 567"]);
}
