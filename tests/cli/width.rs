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
        &["compare", "--workload", "upload-compute-download", "--design", "hold"],
        &["collective", "hgx-h100-8gpu", "--size", "64KiB"],
        &["list"],
        &["list", "--faults"],
        &["describe", "h100-nvl-tdx"],
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

#[test]
fn more_columns_are_used_and_fewer_than_eighty_are_not() {
    let describe = |columns: &str| text(columns, &["describe", "h100-nvl-tdx"]);
    assert!((81..=160).contains(&widest(&describe("160"))));
    assert_eq!(describe("20"), describe("80"));
    assert_eq!(describe("many"), describe("80"));
}

#[test]
fn json_does_not_depend_on_the_columns() {
    let json = |columns: &str| text(columns, &["describe", "h100-nvl-tdx", "--format", "json"]);
    assert_eq!(json("80"), json("200"));
}
