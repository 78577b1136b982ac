//! The command line as its users meet it: one binary, so that it is linked once.

#[cfg(target_os = "linux")]
mod cluster;
mod collective;
mod compare;
#[cfg(unix)]
mod completions;
mod config;
mod cost_agreement;
mod engine;
mod engines;
mod example;
mod faults;
mod files;
mod headlines;
mod hostile;
mod input;
mod inside;
mod instructions;
mod lab;
mod live;
mod named;
mod options;
mod output;
mod plots;
mod predictions;
mod readme;
mod reference;
mod replay;
mod report;
mod risk;
mod rtl;
mod run;
mod sample;
#[cfg(unix)]
mod search;
mod sensitivity;
#[path = "../common/waves.rs"]
mod shown;
mod signals;
mod stages;
mod sweep;
mod tlp;
mod tutorials;
mod validate;
mod vectors;
mod verify;
mod width;
mod words;
mod workload;
mod workload_refused;

/// Whether what takes minutes is done in full: `tests/campaigns` has files of this folder too.
const CAMPAIGN: bool = false;

/// The program in a folder, on a wide terminal.
fn in_folder(folder: &std::path::Path, arguments: &[&str]) -> std::process::Output {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_sealsim"));
    command.env("COLUMNS", "240").current_dir(folder).args(arguments).output().unwrap()
}

fn here(arguments: &[&str]) -> std::process::Output {
    in_folder(".".as_ref(), arguments)
}

/// The program's status, and what it prints, on a wide terminal.
fn printed(arguments: &[&str]) -> (i32, String, String) {
    let output = here(arguments);
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// A message as written, whatever the width it was wrapped to.
fn message(output: &std::process::Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr).replace(['│', '·'], " ");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn json_of(output: &std::process::Output) -> serde_json::Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}
