//! Names that would act on a terminal: out of machine files, workloads, profiles, paths and arguments none reaches it as it is.

#![cfg(unix)]

use proptest::prelude::*;
use sealsim::files::is_hidden;
use serde_json::Value as Json;
use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

/// What a program has printed on both streams, and the first of them.
fn printed(folder: &Path, arguments: &[&str]) -> (String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sealsim"));
    // Colours, as on a terminal that wants them, are miette's and clap's own.
    command.current_dir(folder).args(arguments).stdin(Stdio::null()).env("COLUMNS", "200").env("NO_COLOR", "1");
    let output = command.output().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    (format!("{stdout}{}", String::from_utf8(output.stderr).unwrap()), stdout)
}

/// A string of TOML, with an escape for each character that is no letter.
fn toml(text: &str) -> String {
    let escaped = |c: char| if c.is_ascii_alphanumeric() { c.to_string() } else { format!("\\U{:08X}", c as u32) };
    format!("\"{}\"", text.chars().map(escaped).collect::<String>())
}

/// A cell of CSV.
fn cell(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

/// What acts on a terminal or on what is beside it.
const HIDDEN: [&str; 11] = [
    "\u{1b}]0;pwn\u{7}",
    "\u{1b}[8m",
    "\u{9b}2J",
    "\u{7f}",
    "\u{202e}",
    "\u{2066}",
    "\u{200b}",
    "\u{feff}",
    "\u{e0041}",
    "\u{8}",
    "\u{ad}",
];

/// What an argument or a path may hold.
fn hostile() -> impl Strategy<Value = String> {
    let piece =
        prop_oneof![3 => prop::sample::select(&HIDDEN[..]).prop_map(str::to_owned), 1 => "[a-z]{1,4}", 1 => "\\PC"];
    prop::collection::vec(piece, 1..6).prop_map(|pieces| format!("x{}", pieces.concat().replace('/', "_")))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4))]
    #[test]
    fn no_name_acts_on_a_terminal(name in hostile()) {
        let folder = tempfile::tempdir().unwrap();
        let write = |file: &str, text: String| fs::write(folder.path().join(file), text).unwrap();
        write("m.toml", format!("extends = \"h100-nvl-tdx\"\nname = {0}\nsummary = {0}\n", toml(&name)));
        write("wrong.toml", format!("extends = \"h100-nvl-tdx\"\n{} = 1\n", toml(&name)));
        write(&format!("{name}.toml"), format!("extends = \"h100-nvl-tdx\"\n# {}\nlink = {}\n", name.replace(char::is_control, "?"), toml(&name)));
        write("w.toml", format!(
            "machine = \"h100-nvl-tdx\"\nsummary = {0}\noperations = [{{ op = \"copy\", direction = \"h2d\", size = \"4 KiB\", stream = {0} }}, {{ op = \"sync\" }}]\n",
            toml(&name)
        ));
        let sample = |file: &str| fs::read_to_string(format!("crates/workload/src/workload/trace/samples/{file}")).unwrap();
        write("gpu.csv", sample("gpu.csv").replace("\"gemm(float *, float *, int)\"", &cell(&name)));
        write("api.csv", sample("api.csv").replace(",gemm", &format!(",{}", cell(&name))));
        let file = format!("{name}.toml");
        let setting = format!("{name}=1");
        let quiet = ["--copy", "h2d:4KiB", "--what-if", "0"];
        let run = |rest: &[&str]| printed(folder.path(), &[&["run"], rest, &quiet].concat());
        let json = run(&["m.toml", "--format", "json"]);
        prop_assert_eq!(&serde_json::from_str::<Json>(&json.1).unwrap()["machine"], &name);
        let all = [
            json,
            run(&["m.toml"]),
            run(&["wrong.toml"]),
            run(&[&file]),
            run(&[&name]),
            run(&["h100-nvl-tdx", "--set", &setting]),
            run(&["h100-nvl-tdx", "--inject", &name]),
            run(&["h100-nvl-tdx", "--kernel", &name]),
            run(&["h100-nvl-tdx", "--design", &name]),
            printed(folder.path(), &["run", "--workload", "w.toml"]),
            printed(folder.path(), &["run", "--workload", &name]),
            printed(folder.path(), &["describe", "m.toml"]),
            printed(folder.path(), &["describe", &file]),
            printed(folder.path(), &["replay", "gpu.csv", "--api", "api.csv"]),
            printed(folder.path(), &["replay", "gpu.csv", "--api", "api.csv", "--format", "json"]),
            printed(folder.path(), &["replay", "gpu.csv", "--api", "api.csv", "--format", "csv"]),
            printed(folder.path(), &["import", "gpu.csv"]),
            printed(folder.path(), &["replay", &name]),
            printed(folder.path(), &[&name]),
        ];
        for (text, _) in all {
            prop_assert!(!text.is_empty());
            let found = text.char_indices().find(|(_, c)| is_hidden(*c));
            prop_assert!(found.is_none(), "{:?} in {:?}", found, text);
        }
    }
}
