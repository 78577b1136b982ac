//! `sealsim new-machine`: the file that it writes, and the measurements that it advises, which find a machine that nobody has seen.

use sealsim::{
    config::Layers,
    sim::Control,
    validate::{catalogue::Dataset, reproduce},
};
use serde_json::Value;
use std::{fmt::Write, fs, path::Path, process::Command};

fn sealsim(folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_sealsim"))
        .env("COLUMNS", "240")
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn the_file_is_a_machine_with_what_was_said() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["new-machine", "--link", "gen4x8", "--cipher", "8 GB/s", "--clock", "2.5 GHz", "--gpus", "3"];
    let (status, text, said) =
        sealsim(folder.path(), &[&arguments[..], &["--advice", "off", "--name", "a \"b\""]].concat());
    assert_eq!((status, said.as_str()), (Some(0), ""));
    let file = folder.path().join("mine.toml");
    fs::write(&file, text).unwrap();
    let machine = Layers::new(file.display().to_string()).resolve().unwrap().machine;
    assert_eq!((machine.name.as_str(), machine.gpus()), ("a \"b\"", 3));
    assert_eq!((machine.link.generation, machine.link.lanes, machine.link.mac_clock.0), (4, 8, 500_000_000));
    assert_eq!((machine.cipher.seal_rate.0, machine.cipher.open_rate.0), (3200, 3200));
}

#[test]
fn what_makes_no_sense_is_refused_and_nothing_is_printed() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, expected, says) in [
        (&["--link", "gen9x8"][..], 2, "generations are 3 to 6"),
        (&["--cipher", "8 GB"], 2, "bytes per second"),
        (&["--cipher", "1 B/s"], 2, "less than a thousandth of a byte"),
        (&["--gpus", "65"], 2, "65"),
        (&["--from", "nowhere"], 3, "nowhere"),
        (&["--scatter", "0"], 2, "from 0.01"),
        (&["--stages", "no/such/folder.toml"], 4, "folder.toml"),
    ] {
        let (status, text, said) = sealsim(folder.path(), &[&["new-machine"], arguments].concat());
        assert_eq!(status, Some(expected), "{arguments:?}: {said}");
        assert!(said.contains(says), "{arguments:?}: {said}");
        assert!(text.is_empty(), "{arguments:?}: {text}");
    }
}

/// Labels of the advised copies, in their order: size, direction, mode.
fn advised(said: &str) -> Vec<[String; 4]> {
    let rows = said.lines().filter(|line| line.trim_start().starts_with(|first: char| first.is_ascii_digit()));
    rows.map(|row| {
        let mut words = row.split_whitespace().skip(1).map(str::to_owned);
        std::array::from_fn(|_| words.next().unwrap())
    })
    .collect()
}

#[test]
fn calibrate_finds_an_unknown_machine_from_the_advised_copies_alone() {
    let folder = tempfile::tempdir().unwrap();
    let (status, text, said) = sealsim(folder.path(), &["new-machine", "--link", "gen4x8", "--stages", "stages.toml"]);
    assert_eq!(status, Some(0), "{said}");
    fs::write(folder.path().join("mine.toml"), text).unwrap();
    let rows = advised(&said);
    assert!((4..=8).contains(&rows.len()), "{said}");
    // A machine whose four parameters are others than those that the advice starts from.
    let truth = [
        ("driver.push", 2600.0),
        ("root_complex.read_latency", 560.0),
        ("cipher.seal_rate", 2900.0),
        ("driver.secure_completion", 12000.0),
    ];
    let unknown = Layers::new(folder.path().join("mine.toml").display().to_string())
        .set("driver.push=2600 cycles")
        .set("root_complex.read_latency=560 cycles")
        .set("cipher.seal_rate=2.9 B/cycle")
        .set("cipher.open_rate=2.9 B/cycle")
        .set("driver.secure_completion=12000 cycles");
    let unknown = unknown.resolve().unwrap().machine;
    let mut table = "platform,mode,host_memory,direction,bytes,gb_per_s\n".to_owned();
    for [size, unit, direction, mode] in &rows {
        let bytes: sealsim::units::Bytes = format!("{size} {unit}").parse().unwrap();
        let row = format!("mine,{mode},pinned,{direction},{}", bytes.0);
        let head = "platform,mode,host_memory,direction,bytes,gb_per_s\n";
        let asked = Dataset::read("mine", "mine.csv", &format!("{head}{row},1\n")).unwrap();
        let figure = reproduce::simulate(&unknown, &asked.points[0].0, &mut |_| Control::Continue).unwrap();
        writeln!(table, "{row},{figure}").unwrap();
    }
    fs::write(folder.path().join("mine.csv"), table).unwrap();
    let arguments = ["calibrate", "stages.toml", "--measured", "mine.csv", "--hw", "mine.toml", "--format", "json"];
    let (status, text, said) = sealsim(folder.path(), &arguments);
    assert_eq!(status, Some(0), "{said}");
    let found: Value = serde_json::from_str(&text).unwrap();
    for (path, expected) in truth {
        let parameters = found["stages"][0]["parameters"].as_array().unwrap();
        let after = parameters.iter().find(|one| one["path"] == path).unwrap()["after"].as_str().unwrap();
        let value: f64 = after.split_whitespace().next().unwrap().parse().unwrap();
        let value = if path == "cipher.seal_rate" { value * 1000.0 } else { value };
        assert!((value / expected - 1.0).abs() < 0.05, "{path}: {after} against {expected}\n{text}");
    }
}
