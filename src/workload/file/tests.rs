use super::*;
use crate::{system::Pages, units::Femtos};
use proptest::prelude::*;

fn read(text: &str) -> Result<WorkloadFile, WorkloadFileError> {
    WorkloadFile::parse("test.toml", text.into())
}

/// The message with all that belongs to it.
fn refused(text: &str) -> String {
    let error = read(text).unwrap_err();
    format!("{:?}", miette::Report::new(error))
}

fn kernel(stream: &str) -> WorkloadStep {
    WorkloadStep::Kernel { gpu: 0, stream: stream.into(), duration: Femtos(1_000_000) }
}

#[test]
fn repeats_unroll_in_the_order_of_the_host() {
    let text = r#"
        [[operations]]
        op = "repeat"
        count = 2
        index = "outer"
        operations = [
            { op = "kernel", duration = "1 ns", stream = "{outer}" },
            { op = "repeat", count = 3, operations = [
                { op = "kernel", duration = "1 ns", stream = "{outer}.{(i+1)%3}" },
            ] },
        ]
        [[operations]]
        op = "sync"
    "#;
    let mut expected: Vec<_> = ["0", "0.1", "0.2", "0.0", "1", "1.1", "1.2", "1.0"].into_iter().map(kernel).collect();
    expected.push(WorkloadStep::Sync { gpu: 0, stream: None });
    assert_eq!(read(text).unwrap().steps, expected);
}

#[test]
fn a_buffer_is_what_its_first_copy_says() {
    let copy = |more: &str| format!("{{ op = \"copy\", direction = \"h2d\", size = \"1 B\", stream = \"a\"{more} }}");
    let list = |copies: &[&str]| {
        let copies: Vec<_> = copies.iter().map(|more| copy(more)).collect();
        format!("operations = [{}]", copies.join(", "))
    };
    let file = read(&list(&["", ", buffer = \"x\", pages = \"fresh\"", ", buffer = \"x\"", ", pages = \"cold\""]));
    let pages: Vec<_> = file
        .unwrap()
        .steps
        .iter()
        .map(|step| match step {
            WorkloadStep::Copy { pages, .. } => *pages,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(pages, [Pages::Warm, Pages::Fresh, Pages::Fresh, Pages::Cold]);
    let error = refused(&list(&[", buffer = \"x\"", ", buffer = \"x\", pages = \"cold\""]));
    assert!(error.contains("buffer `x` cannot be cold: an earlier copy says that it is warm"), "{error}");
}

#[test]
fn all_errors_of_a_file_are_said_and_each_once() {
    let text = r#"operations = [
        { op = "repeat", count = 9, operations = [{ op = "wait", event = "never", stream = "a" }] },
        { op = "sync", stream = "b" },
    ]"#;
    let error = refused(text);
    assert_eq!(error.matches("nothing earlier").count(), 2, "{error}");
    let error = refused("operations = [{ op = \"kernal\" }, { op = \"kernel\", durtion = \"1 ns\" }]\nspeed = 3");
    for phrase in ["did you mean `kernel`", "did you mean `duration`", "lacks `duration`", "lacks `stream`", "`speed`"]
    {
        assert!(error.contains(phrase), "{phrase}: {error}");
    }
}

#[test]
fn what_unrolls_to_too_much_is_refused_before_it_is_unrolled() {
    let nested = |depth: usize, inner: &str| {
        let open = "{ op = \"repeat\", count = 9_000_000_000_000_000_000, operations = [".repeat(depth);
        format!("operations = [{open}{inner}{}]", "] }".repeat(depth))
    };
    let copy = "{ op = \"copy\", direction = \"h2d\", size = \"1 B\", stream = \"a\" }";
    let error = refused(&nested(6, copy));
    assert!(error.contains("far too many copies") && error.contains("at most 16384"), "{error}");
    let error = refused(&nested(6, "{ op = \"sync\" }"));
    assert!(error.contains("far too many operations"), "{error}");
}

/// Lines that come near a workload, broken in every way.
fn nearly_a_workload() -> impl Strategy<Value = String> {
    let field = "(op|stream|size|direction|count|duration|event|index|pages|operations|\\PC{0,2})";
    let value = "(\"copy\"|\"repeat\"|\"wait\"|\"\\{i\\}\"|\"1 ns\"|\"h2d\"|\"4 B\"|-3|2|true|\\[\\]|\\[\\{\\}\\]|nan|\"\\PC{0,4}|)";
    let line = proptest::string::string_regex(&format!("(\\[\\[operations\\]\\]|{field} *= *{value})\n?")).unwrap();
    proptest::collection::vec(line, 0..10).prop_map(|lines| lines.concat())
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text in nearly_a_workload()) {
        if let Err(error) = read(&text) {
            let shown = format!("{:?}", miette::Report::new(error));
            prop_assert!(shown.contains("workload::"));
        }
    }
}
