use super::*;
use crate::{system::Pages, units::Femtos};

fn read(text: &str) -> Result<WorkloadFile, Refusal> {
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

/// An operation of training with one value written otherwise.
fn training(field: &str, value: &str) -> String {
    let fields = [
        ("stream", "\"a\""),
        ("collectives", "\"b\""),
        ("ranks", "4"),
        ("batch", "2"),
        ("rate", "\"1 TFLOP/s\""),
        ("layers", "[{ uses = 1, shapes = [[8, 8], [8]] }]"),
    ];
    let fields = fields.map(|(name, usual)| format!("{name} = {}", if name == field { value } else { usual }));
    format!("operations = [{{ op = \"ddp\", {} }}]", fields.join(", "))
}

#[test]
fn what_is_wrong_with_a_training_is_said_with_its_place() {
    assert_eq!(read(&training("", "")).unwrap().steps.len(), 2 + 3 + 2);
    for (field, value, phrase) in [
        ("ranks", "0", "`ranks` is 0"),
        ("ranks", "65", "a collective of 65 GPUs"),
        ("ranks", "1", "2 to 64 GPUs"),
        ("batch", "-1", "`batch` is -1"),
        ("rate", "\"1 TB/s\"", "is not a unit of a rate of arithmetic"),
        ("rate", "\"0 FLOP/s\"", "a GPU that does no arithmetic"),
        ("layers", "[]", "a model without weights"),
        ("layers", "3", "must be an array of layers"),
        ("layers", "[{ uses = 1, shapes = [8] }]", "must be an array"),
        ("layers", "[{ uses = 1, shapes = [[]] }]", "no shape of a tensor"),
        ("layers", "[{ uses = 1, shapes = [[0]] }]", "`shapes` is 0"),
        ("layers", "[{ shapes = [[8]] }]", "a layer lacks `uses`"),
        ("layers", "[{ uses = 1, shape = [[8]] }]", "did you mean `shapes`?"),
        ("layers", "[{ uses = 1, count = 9999999, shapes = [[8]] }]", "layers and tensors in the file"),
        ("layers", "[{ uses = 1, shapes = [[1099511627776, 8]] }]", "more than 1 TiB of gradients"),
        ("layers", "[{ uses = 1, shapes = [[18446744073709551615, 8]] }]", "no shape of a tensor"),
    ] {
        let error = refused(&training(field, value));
        assert!(error.contains(phrase), "{field} = {value}: {error}");
    }
    let many = training("layers", "[{ count = 50000, uses = 1, shapes = [[8]] }]");
    let twice = many.replace("operations = [", "").replace("}] }]", "}] }");
    assert!(read(&many).is_ok());
    assert!(refused(&format!("operations = [{twice}, {twice}]")).contains("layers and tensors in the file"));
}

#[test]
fn collectives_and_networks_are_read_or_refused() {
    let one = |fields: &str| read(&format!("operations = [{{ stream = \"a\", {fields} }}]"));
    let call = |more: &str| one(&format!("op = \"collective\", kind = \"all-gather\", size = \"1 MiB\", {more}"));
    assert!(call("ranks = 2").unwrap().calls_collectives());
    let network = one("op = \"network\", size = \"125 B\", rate = \"1 Mbit/s\", latency = \"2 ms\"").unwrap();
    let expected = WorkloadStep::Network { gpu: 0, stream: "a".into(), duration: Femtos(3_000_000_000_000) };
    assert_eq!((network.steps, call("ranks = 65").is_err()), (vec![expected], true));
    for fields in [
        "op = \"collective\", kind = \"sum\", ranks = 2, size = \"1 MiB\"",
        "op = \"collective\", kind = \"all-gather\", ranks = 2, size = \"0 B\"",
        "op = \"network\", size = \"1 TiB\", rate = \"1 B/s\"",
        "op = \"network\", size = \"1 B\", rate = \"0 B/s\"",
    ] {
        assert!(one(fields).is_err(), "{fields}");
    }
}

#[test]
fn parameters_stand_for_values_and_can_be_set() {
    let text = r#"
        parameters = { length = "1 ns", turns = 2 }
        operations = [{ op = "repeat", count = "$turns", operations = [{ op = "kernel", duration = "$length", stream = "a" }] }]
    "#;
    let with = |settings: &[&str]| {
        let settings: Vec<Setting> = settings.iter().map(|setting| setting.parse().unwrap()).collect();
        WorkloadFile::parse_with("test.toml", text.into(), &settings)
    };
    assert_eq!(with(&[]).unwrap().steps, [kernel("a"), kernel("a")]);
    assert_eq!(with(&["turns=3", "length = 1 ns"]).unwrap().steps.len(), 3);
    let refusal = |settings: &[&str]| format!("{:?}", miette::Report::new(with(settings).unwrap_err()));
    assert!(refusal(&["turn=3"]).contains("did you mean `turns`?"));
    assert!(refusal(&["turns=many"]).contains("`count` is a text"));
    assert!(refusal(&["length=7"]).contains("`duration` is an integer"));
    assert!("turns".parse::<Setting>().is_err() && "turns=".parse::<Setting>().is_err());
    let error = refused("operations = [{ op = \"kernel\", duration = \"$long\", stream = \"a\" }]");
    assert!(error.contains("there is no parameter `long`") && error.contains("has no parameters"), "{error}");
    for parameters in ["3", "{ a = [1] }", "{ \"a b\" = 1 }", &format!("{{ a = \"{}\" }}", "x".repeat(101))] {
        let text = format!("parameters = {parameters}\noperations = [{{ op = \"sync\" }}]");
        assert!(read(&text).is_err(), "{parameters}");
    }
}
