//! Text for people fits the terminal.

use std::process::Command;

fn text(columns: &str, arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sealsim"));
    let output = command.args(arguments).env("COLUMNS", columns).output().expect("the program runs");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

fn widest(text: &str) -> usize {
    text.lines().map(|line| line.chars().count()).max().unwrap_or(0)
}

#[test]
fn no_line_of_any_verb_is_wider_than_eighty_columns() {
    let gpu = "validation/traces/kmeans-off-cuda_gpu_trace.csv.gz";
    let api = "validation/traces/kmeans-off-cuda_api_trace.csv.gz";
    let folder = tempfile::tempdir().expect("a folder");
    let results = folder.path().join("results").display().to_string();
    let verbs: &[&[&str]] = &[
        &["run", "h100-nvl-tdx", "--copy", "h2d:256KiB", "--copy", "d2h:64KiB", "--digest"],
        &["run", "hgx-h100-8gpu", "--copy", "gpu0:h2d:64KiB", "--copy", "gpu5:h2d:64KiB", "--data", "none"],
        &["compare", "h100-nvl-tdx", "--design", "hold", "--size", "64KiB"],
        &["compare", "--workload", "vllm-llama3-8b-graph", "--design", "hold"],
        &["collective", "hgx-h100-8gpu", "--size", "64KiB"],
        &["list"],
        &["list", "--faults"],
        &["describe", "h100-nvl-tdx", "--all"],
        &["describe", "h100-nvl-tdx", "--netlist", "text"],
        &["validate", "--dataset", "p1-programs"],
        &["sensitivity", "h100-nvl-tdx", "--copy", "h2d:64KiB", "--samples", "2"],
        &["risk", "h100-nvl-tdx", "--copy", "h2d:1MiB", "--failures", "1"],
        &["faults", "h100-nvl-tdx", "--sets", "3"],
        &["sweep", "studies/tag-granularity.toml", "--out", &results],
        &["pareto", &results],
        &["engine", "folded-8", "--blocks", "3", "--trace-blocks", "2"],
        &["engine", "aegis-256x4", "--blocks", "4"],
        &["tlp", "decode", "20082000010055ff0000000100000000"],
        &["verify", "vectors", "tests/vectors/gcmEncryptExtIV128.rsp"],
        &["replay", gpu, "--api", api],
    ];
    for verb in verbs {
        let text = text("80", verb);
        assert!(widest(&text) <= 80, "{verb:?} is {} wide:\n{text}", widest(&text));
    }
}

/// The first screen of a verb, without a word that only all of it has.
fn first(verb: &[&str], word: &str) -> String {
    let first = text("80", verb);
    assert!(first.lines().count() <= 30, "{verb:?} has {} lines:\n{first}", first.lines().count());
    assert!(widest(&first) <= 80, "{verb:?} is {} wide:\n{first}", widest(&first));
    assert!(first.trim_end().contains("\n\n--all: "), "{verb:?}: {first}");
    assert!(!first.contains(word), "{verb:?}, {word}:\n{first}");
    first
}

/// The same, of a verb whose `--all` has the word.
fn first_and_all(verb: &[&str], word: &str) -> String {
    assert!(text("80", &[verb, &["--all"]].concat()).contains(word), "{verb:?}, {word}");
    first(verb, word)
}

#[test]
fn a_first_screen_of_a_run_answers_in_thirty_lines() {
    let machines = ["h100-nvl-tdx", "h100-nvl-snp", "h100-tdx-gen5", "b200-tdx", "hgx-h100-8gpu", "generic-gen4"];
    let copies = ["h2d:64KiB", "d2h:1MiB:pageable", "h2d:1B", "d2h:3MiB"].into_iter().cycle();
    let designs = ["h100-cc", "off", "fastrack", "ide", "by-page"].into_iter().cycle();
    for ((machine, copy), design) in machines.into_iter().zip(copies).zip(designs) {
        let first = first(&["run", machine, "--design", design, "--copy", copy], "event digest");
        let answer = first.lines().nth(2).unwrap_or_default();
        let said = ["GB/s", " x as long as with CC off ("].map(|words| answer.contains(words));
        assert_eq!(said, [true, design != "off"], "{first}");
    }
    let many: Vec<String> =
        (0..60).map(|number| format!("--copy={}:{}KiB", ["h2d", "d2h"][number % 2], number + 1)).collect();
    let many = many.iter().map(String::as_str);
    let digests = ["run", "h100-nvl-tdx", "--digest"].into_iter().chain(many.clone()).collect::<Vec<_>>();
    first(&digests, "event digest");
    let fast = ["run", "hgx-h100-8gpu", "--copy=gpu7:h2d:1MiB:pageable", "--data", "none"];
    first(&fast.into_iter().chain(many).collect::<Vec<_>>(), "event digest");
    first_and_all(&["run", "--workload", "vllm-kv-swap", "--data", "none"], "event digest");
}

#[test]
fn first_screens_of_the_other_verbs_answer_in_thirty_lines() {
    for (machine, size) in [("h100-nvl-tdx", "4KiB"), ("hgx-h100-8gpu", "16KiB,64KiB")] {
        let first = first(&["compare", machine, "--size", size], "forgery bounds");
        assert!(first.lines().take(4).any(|head| head.contains("x today")), "{first}");
    }
    let draws = ["compare", "h100-nvl-tdx", "--size=64KiB", "--design=fastrack", "--uncertainty=20"];
    first(&draws, "forgery bounds");
    first_and_all(&["compare", "h100-nvl-tdx", "--size", "4KiB", "--design", "hold"], "forgery bounds");
    first_and_all(&["compare", "--workload", "vllm-llama3-8b-graph"], "what it shows unverified");
    let about = |design| ["sensitivity", "h100-nvl-tdx", "--copy", "h2d:64KiB", "--samples", "2", "--design", design];
    let word = "varied one at a time";
    for shown in [first(&about("ide"), word), first_and_all(&about("direct+parallel-auth-same-tag"), word)] {
        assert!(shown.lines().nth(2).is_some_and(|line| line.contains('?')));
    }
    let sizes = ["collective", "hgx-h100-8gpu", "--size", "4KiB,16KiB,64KiB", "--ranks", "2,4,8"];
    let designs = [&sizes[..], &["--design", "staged", "--design", "link", "--design", "pad-ahead"]].concat();
    for shown in [first_and_all(&sizes, "nccl-tests"), first(&designs, "nccl-tests")] {
        assert!(shown.contains(" x as long as off"));
    }
    for machine in ["h100-nvl-tdx", "a100-off", "generic-16gpu", "hgx-h100-8gpu"] {
        first_and_all(&["describe", machine], "fixed in this version");
        let set = ["describe", machine, "--cc", "on", "--design", "fastrack", "--set", "driver.call=5 cycles"];
        let first = first_and_all(&set, "fixed in this version");
        assert!(first.contains("driver.call = 5 cycles (was "), "{first}");
    }
    let gpu = "validation/traces/kmeans-off-cuda_gpu_trace.csv.gz";
    let api = "validation/traces/kmeans-off-cuda_api_trace.csv.gz";
    for verb in [&["replay", gpu, "--api", api][..], &["replay", "decode-loop", "--what-if", "all"]] {
        let first = first_and_all(verb, " events used");
        assert!(first.lines().next().is_some_and(|line| line.contains(" with CC, ")), "{first}");
    }
}

#[test]
fn more_columns_are_used_and_fewer_than_eighty_are_not() {
    let describe = |columns: &str| text(columns, &["describe", "h100-nvl-tdx", "--all"]);
    assert!((81..=160).contains(&widest(&describe("160"))));
    assert_eq!(describe("20"), describe("80"));
    assert_eq!(describe("many"), describe("80"));
}

#[test]
fn json_does_not_depend_on_the_columns() {
    let json = |columns: &str| text(columns, &["describe", "h100-nvl-tdx", "--format", "json"]);
    assert_eq!(json("80"), json("200"));
}
