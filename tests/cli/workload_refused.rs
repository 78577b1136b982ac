//! What `sealsim run --workload` refuses: bad files, each with place, text and remedy, and arguments.

use super::workload::{MACHINE, SMALL, folder, run, sealsim, with};
use crate::message;
use std::fs;

#[test]
fn a_bad_file_is_refused_with_place_text_and_remedy() {
    let copy = "op = \"copy\", direction = \"h2d\", size = \"1 MiB\", stream = \"a\"";
    let deep = "{ op = \"repeat\", count = 1000, operations = [";
    let many = format!("{}{{ {copy} }}{}", deep.repeat(3), "] }".repeat(3));
    let streams =
        "{ op = \"repeat\", count = 65, operations = [{ op = \"kernel\", duration = \"1 us\", stream = \"s{i}\" }] }";
    let too_long =
        "{ op = \"repeat\", count = 2, operations = [{ op = \"kernel\", duration = \"5000 s\", stream = \"a\" }] }";
    // The operation, what stands where, what is wrong, what to do.
    let cases: &[(&str, &str, &str, &str)] = &[
        ("{ op = \"copi\" }", "w.toml:3:12", "there is no operation `copi`", "did you mean `copy`?"),
        ("{ op = \"repeat\" }", "w.toml:3:5", "a repeat lacks `count`", "add for example count = 4"),
        ("{ direction = \"h2d\" }", "w.toml:3:5", "an operation lacks `op`", "op = \"copy\""),
        ("{ op = 3 }", "w.toml:3:12", "`op` is an integer, but must be a text", "op = \"copy\""),
        ("3", "w.toml:3:5", "`operations` is an integer", "op = \"copy\""),
        (
            "{ op = \"copy\", direction = \"up\", size = \"1 B\", stream = \"a\" }",
            "w.toml:3:32",
            "`direction` cannot be \"up\"",
            "\"h2d\", \"d2h\", \"d2d\"",
        ),
        (
            "{ op = \"copy\", direction = \"h2d\", size = 64, stream = \"a\" }",
            "w.toml:3:46",
            "`size` is an integer",
            "64 MiB",
        ),
        (
            "{ op = \"copy\", direction = \"h2d\", size = \"64\", stream = \"a\" }",
            "w.toml:3:46",
            "`64` has no unit",
            "64 MiB",
        ),
        (
            "{ op = \"copy\", direction = \"h2d\", size = \"4 mb\", stream = \"a\" }",
            "w.toml:3:46",
            "`mb` is not a unit of a size",
            "use one of B, KiB",
        ),
        (
            "{ op = \"copy\", direction = \"h2d\", size = \"0 B\", stream = \"a\" }",
            "w.toml:3:46",
            "a copy of 0 B",
            "1 B to 1 TiB",
        ),
        (
            "{ op = \"copy\", direction = \"h2d\", size = \"2 TiB\", stream = \"a\" }",
            "w.toml:3:46",
            "a copy of 2 TiB",
            "1 B to 1 TiB",
        ),
        (
            "{ op = \"copy\", direction = \"h2d\", size = \"1 B\" }",
            "w.toml:3:5",
            "a copy lacks `stream`",
            "stream = \"a\"",
        ),
        ("{ op = \"copy\", direction = \"h2d\", stream = \"a\" }", "w.toml:3:5", "a copy without `size`", "--payload"),
        (
            "{ op = \"copy\", direction = \"h2d\", size = \"1 B\", stream = \"a\", memry = \"pinned\" }",
            "w.toml:3:67",
            "a copy has no field `memry`",
            "did you mean `memory`?",
        ),
        (
            "{ op = \"copy\", direction = \"h2d\", size = \"1 B\", stream = \"a\", memory = \"pined\" }",
            "w.toml:3:76",
            "`memory` cannot be \"pined\"",
            "did you mean \"pinned\"?",
        ),
        (
            "{ op = \"copy\", direction = \"h2d\", size = \"1 B\", stream = \"a\", pages = \"hot\" }",
            "w.toml:3:75",
            "`pages` cannot be \"hot\"",
            "\"warm\", \"cold\", \"fresh\"",
        ),
        (
            "{ op = \"copy\", direction = \"h2d\", size = \"1 B\", stream = \"a\", blocking = 1 }",
            "w.toml:3:78",
            "true or false",
            "blocking = true",
        ),
        (
            "{ op = \"copy\", direction = \"d2d\", size = \"1 B\", stream = \"a\", memory = \"pinned\" }",
            "w.toml:3:76",
            "within the device has no `memory`",
            "leave out `memory`",
        ),
        ("{ op = \"kernel\", duration = \"0 ms\", stream = \"a\" }", "w.toml:3:33", "a kernel of 0 fs", "1 fs to"),
        (
            "{ op = \"kernel\", duration = \"99999 s\", stream = \"a\" }",
            "w.toml:3:33",
            "`99999 s` is too large",
            "2 ms",
        ),
        (
            "{ op = \"kernel\", duration = \"10000 s\", stream = \"a\" }",
            "w.toml:3:33",
            "a kernel of 10000 s",
            "1 fs to 9000 s",
        ),
        (
            "{ op = \"kernel\", duration = \"3 cycles\", stream = \"a\" }",
            "w.toml:3:33",
            "`cycles` is not a unit of a time",
            "use one of fs",
        ),
        (too_long, "w.toml:3:75", "longer than 9000 s together", "5 hours"),
        (
            "{ op = \"wait\", event = \"go\", stream = \"a\" }",
            "w.toml:3:28",
            "nothing earlier records the event `go`",
            "record it before",
        ),
        (
            "{ op = \"record\", event = \"done\", stream = \"a\" }, { op = \"wait\", event = \"dome\", stream = \"b\" }",
            "w.toml:3:77",
            "records the event `dome`",
            "did you mean `done`?",
        ),
        (
            "{ op = \"sync\", stream = \"a\" }",
            "w.toml:3:29",
            "nothing earlier goes to the stream `a`",
            "leave out `stream`",
        ),
        (
            "{ op = \"sync\", event = \"a\" }",
            "w.toml:3:20",
            "a sync has no field `event`",
            "its fields are `op`, `gpu`, `stream`",
        ),
        (
            "{ op = \"repeat\", count = 0, operations = [{ op = \"sync\" }] }",
            "w.toml:3:30",
            "`count` is 0",
            "1 or more",
        ),
        (
            "{ op = \"repeat\", count = -2, operations = [{ op = \"sync\" }] }",
            "w.toml:3:30",
            "`count` is -2",
            "1 or more",
        ),
        (
            "{ op = \"repeat\", count = 2, operations = [] }",
            "w.toml:3:46",
            "a repeat without operations",
            "operations = [",
        ),
        (
            "{ op = \"kernel\", duration = \"1 us\", stream = \"s{i}\" }",
            "w.toml:3:50",
            "has the index `i`",
            "within the operations of a repeat",
        ),
        (
            "{ op = \"kernel\", duration = \"1 us\", stream = \"a b\" }",
            "w.toml:3:50",
            "' ' cannot stand in a name",
            "letters",
        ),
        (streams, "w.toml:3:93", "stream `s64` is one too many", "share a stream"),
        (
            &many,
            "w.toml:3:30",
            "1000000000 copies after repeats are unrolled: a run takes at most 16384",
            "lower the counts",
        ),
        ("{ op = \"copy\" direction }", "w.toml:3:19", "not TOML", "docs/workloads.md"),
    ];
    let (folder, mut lacking) = (folder(), Vec::new());
    for (operation, place, what, remedy) in cases {
        let output = run(folder.path(), &with(operation), &[]);
        let message = message(&output);
        assert_eq!(output.status.code(), Some(3), "{operation}: {message}");
        let lacks = [place, what, remedy].into_iter().filter(|phrase| !message.contains(**phrase));
        lacking.extend(lacks.map(|phrase| format!("{operation}: no {phrase:?} in: {message}")));
        assert_eq!(output.stdout, b"", "{operation}");
    }
    assert!(lacking.is_empty(), "{}", lacking.join("\n"));
}

#[test]
fn what_is_no_workload_at_all_is_refused() {
    let folder = folder();
    for (content, what) in [
        (&b""[..], "a workload lacks `operations`"),
        (b"operation = []", "did you mean `operations`?"),
        (b"operations = []", "a workload without operations does nothing"),
        (b"operations = 4", "an array of operations"),
        (b"\xff\xfe", "w.toml: begins with a byte-order mark"),
        (b"operations = [", "not TOML"),
    ] {
        fs::write(folder.path().join("w.toml"), content).unwrap();
        let output = sealsim(folder.path(), &["run", MACHINE, "--workload", "w.toml"]);
        assert_eq!(output.status.code(), Some(3), "{}", message(&output));
        assert!(message(&output).contains(what), "{what}: {}", message(&output));
    }
    fs::write(folder.path().join("w.toml"), "#".repeat((1 << 20) + 1)).unwrap();
    let output = sealsim(folder.path(), &["run", MACHINE, "--workload", "w.toml"]);
    assert!(message(&output).contains("longer than 1 MiB"), "{}", message(&output));
}

#[test]
fn arguments_that_make_no_sense_with_a_workload_have_their_status() {
    let folder = folder();
    fs::write(folder.path().join("two.toml"), SMALL).unwrap();
    let one = with("{ op = \"copy\", direction = \"h2d\", size = \"1 MiB\", stream = \"a\" }");
    fs::write(folder.path().join("one.toml"), one).unwrap();
    fs::write(folder.path().join("payload"), [1; 1000]).unwrap();
    let cases: &[(&[&str], i32, &str)] = &[
        (&["--workload", "one.toml", "--copy", "h2d:1"], 2, "cannot be used with"),
        (&["--workload", "two.toml", "--payload", "payload"], 2, "--payload with a workload of 4 copies"),
        (&["--workload", "two.toml", "--out", "out"], 2, "--out with a workload of 4 copies"),
        (
            &["--workload", "one.toml", "--payload", "payload"],
            2,
            "asks for 1048576 bytes, but payload payload holds 1000",
        ),
        (&["--workload", "one.toml", "--data", "none", "--out", "out"], 2, "--out with --data none"),
        (&["--workload", "one.toml", "--out", "one.toml"], 2, "are the same file"),
        (&["--workload", "one.toml", "--manifest", "./one.toml"], 2, "are the same file"),
        (&["--workload", "one.toml", "--inject", "link.hd2.flip"], 2, "the nearest is `link.h2d.flip`"),
        (&["--workload", "absent.toml"], 4, "workload absent.toml: No such file"),
        (&["--workload", "."], 4, "workload .: is a directory"),
        (&["--workload"], 2, "--workload"),
    ];
    for (arguments, status, phrase) in cases {
        let output = sealsim(folder.path(), &[&["run", MACHINE], *arguments].concat());
        assert_eq!(output.status.code(), Some(*status), "{arguments:?}: {}", message(&output));
        assert!(message(&output).contains(phrase), "{arguments:?}: {}", message(&output));
        assert_eq!(output.stdout, b"", "{arguments:?}");
    }
    assert!(!folder.path().join("out").exists());
}
