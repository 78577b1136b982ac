//! Bad configurations through the real program: status 3, the place and the remedy named, never a panic.

use crate::in_folder as sealsim;
use sealsim::config::{Layers, Role, Shipped};
use std::{fs, process::Command};

/// One file or setting that must be refused, and what the message must hold.
struct Refused {
    /// What is wrong with it.
    name: &'static str,
    /// The text of `machine.toml`; empty for none, then the shipped machine is taken.
    file: &'static str,
    /// Further arguments.
    arguments: &'static [&'static str],
    /// Parts of the message: the place and the remedy.
    says: &'static [&'static str],
}

const REFUSED: &[Refused] = &[
    Refused {
        name: "an unknown key in a table",
        file: "extends = \"h100-nvl-tdx\"\n[link]\nflihgt = \"3 cycles\"\n",
        arguments: &[],
        says: &["machine.toml:3:1", "no field `link.flihgt`", "did you mean `flight`?"],
    },
    Refused {
        name: "a field in the wrong table",
        file: "extends = \"h100-nvl-tdx\"\n[hbm]\nmax_payload = \"256 B\"\n",
        arguments: &[],
        says: &["machine.toml:3:1", "no field `hbm.max_payload`", "did you mean `link.max_payload`?"],
    },
    Refused {
        name: "an unknown table",
        file: "extends = \"h100-nvl-tdx\"\n[lnik]\nlanes = 16\n",
        arguments: &[],
        says: &["machine.toml:2:2", "no field `lnik`", "did you mean `link`?"],
    },
    Refused {
        name: "a bare number where a size is due",
        file: "extends = \"h100-nvl-tdx\"\n[link]\nmax_payload = 512\n",
        arguments: &[],
        says: &["machine.toml:3:15", "`512` has no unit", "such as \"2 MiB\""],
    },
    Refused {
        name: "a bare fraction where a frequency is due",
        file: "extends = \"h100-nvl-tdx\"\n[cpu]\nclock = 2.1\n",
        arguments: &[],
        says: &["machine.toml:3:9", "`2.1` has no unit", "\"1.755 GHz\""],
    },
    Refused {
        name: "a text without a unit",
        file: "extends = \"h100-nvl-tdx\"\n[cpu]\nclock = \"2100000000\"\n",
        arguments: &[],
        says: &["machine.toml:3:9", "`2100000000` has no unit", "\"1.755 GHz\""],
    },
    Refused {
        name: "a unit of something else",
        file: "extends = \"h100-nvl-tdx\"\n[link]\nrecovery = \"3 cycles\"\n",
        arguments: &[],
        says: &["machine.toml:3:12", "`cycles` is not a unit of a time", "fs, ps, ns, us, ms, s"],
    },
    Refused {
        name: "a fraction of a byte",
        file: "extends = \"h100-nvl-tdx\"\n[staging]\nbuffer = \"0.3 B\"\n",
        arguments: &[],
        says: &["machine.toml:3:10", "not a whole number of bytes"],
    },
    Refused {
        name: "a negative quantity",
        file: "extends = \"h100-nvl-tdx\"\n[staging]\nbuffer = \"-2 MiB\"\n",
        arguments: &[],
        says: &["machine.toml:3:10", "`-2 MiB` is not a number followed by a unit"],
    },
    Refused {
        name: "a quantity beyond 64 bits",
        file: "extends = \"h100-nvl-tdx\"\n[staging]\nbuffer = \"99999999999999999999 GiB\"\n",
        arguments: &[],
        says: &["machine.toml:3:10", "too large for a size"],
    },
    Refused {
        name: "a text where a count is due",
        file: "extends = \"h100-nvl-tdx\"\n[staging]\nbuffers = \"32\"\n",
        arguments: &[],
        says: &["machine.toml:3:11", "`staging.buffers` is a text, but must be an integer"],
    },
    Refused {
        name: "a negative count",
        file: "extends = \"h100-nvl-tdx\"\n[staging]\nbuffers = -1\n",
        arguments: &[],
        says: &["machine.toml:3:11", "is -1, which is outside of 0 to 4294967295", "write an integer"],
    },
    Refused {
        name: "a count beyond 32 bits",
        file: "extends = \"h100-nvl-tdx\"\n[staging]\nbuffers = 4294967296\n",
        arguments: &[],
        says: &["machine.toml:3:11", "is 4294967296, which is outside of 0 to 4294967295"],
    },
    Refused {
        name: "a count beyond 128 bits",
        file: "",
        arguments: &["--set", "link.read_tags=9999999999999999999999999999999999999999999"],
        says: &["--set:1:16", "outside of 0 to 4294967295"],
    },
    Refused {
        name: "a switch that is a text",
        file: "extends = \"h100-nvl-tdx\"\nconfidential_computing = \"yes\"\n",
        arguments: &[],
        says: &["machine.toml:2:26", "is a text, but must be true or false"],
    },
    Refused {
        name: "a value where a table is due",
        file: "extends = \"h100-nvl-tdx\"\nlink = 5\n",
        arguments: &[],
        says: &["machine.toml:2:8", "`link` is an integer, but must be a table"],
    },
    Refused {
        name: "a table where a value is due",
        file: "extends = \"h100-nvl-tdx\"\n[link.flight]\ncycles = 5\n",
        arguments: &[],
        says: &["machine.toml:2:1", "`link.flight` is a table, but must be a number of cycles"],
    },
    Refused {
        name: "an array of tables where a table is due",
        file: "extends = \"h100-nvl-tdx\"\n[[link]]\nlanes = 16\n",
        arguments: &[],
        says: &["machine.toml:2:1", "`link` is an array, but must be a table"],
    },
    Refused {
        name: "a choice that does not exist",
        file: "extends = \"h100-nvl-tdx\"\n[tag_queue]\nrelease = \"egaer\"\n",
        arguments: &[],
        says: &["machine.toml:3:11", "cannot be \"egaer\"", "did you mean \"eager\"?", "\"withhold_completion\""],
    },
    Refused {
        name: "a GHASH design that does not exist",
        file: "extends = \"h100-nvl-tdx\"\n[engine.ghash]\ndesign = \"seriel\"\n",
        arguments: &[],
        says: &["machine.toml:3:10", "`engine.ghash.design` cannot be \"seriel\"", "did you mean \"serial\"?"],
    },
    Refused {
        name: "a field of another GHASH design",
        file: "",
        arguments: &["--design", "serial-ghash", "--set", "engine.ghash.width=4"],
        says: &[
            "--set:1:1",
            "no field `engine.ghash.width`",
            "of design \"serial\" are design, first_block, multiplier",
        ],
    },
    Refused {
        name: "a new GHASH design without its fields",
        file: "",
        arguments: &["--set", "engine.ghash.design=interleaved"],
        says: &["--set:1:1", "no value for", "`engine.ghash.ways`", "\"interleaved\" starts a table of its own"],
    },
    Refused {
        name: "a machine with one field missing",
        file: "name = \"x\"\nsummary = \"y\"\nconfidential_computing = true\n[cpu]\n",
        arguments: &[],
        says: &["`cpu.clock`", "machine.toml:4:1", "give it a frequency with its unit"],
    },
    Refused {
        name: "a machine with nothing but a name",
        file: "name = \"x\"\n",
        arguments: &[],
        says: &["no value for", "`link`", "machine.toml", "extends = \"h100-nvl-tdx\""],
    },
    Refused {
        name: "broken TOML",
        file: "name = \"x\nsummary = 3\n",
        arguments: &[],
        says: &["machine.toml:1:10", "not TOML", "invalid basic string"],
    },
    Refused {
        name: "a unit outside of the quotes",
        file: "extends = \"h100-nvl-tdx\"\n[cpu]\nclock = 2.1 GHz\n",
        arguments: &[],
        says: &["machine.toml:3:", "not TOML", "stand in double quotes"],
    },
    Refused {
        name: "a key given twice",
        file: "extends = \"h100-nvl-tdx\"\n[cpu]\nclock = \"2 GHz\"\nclock = \"3 GHz\"\n",
        arguments: &[],
        says: &["machine.toml:4:1", "not TOML", "duplicate key"],
    },
    Refused { name: "an empty file", file: " \n", arguments: &[], says: &["machine.toml is empty", "sealsim list"] },
    Refused {
        name: "a file that extends itself",
        file: "extends = \"machine.toml\"\n",
        arguments: &[],
        says: &["machine.toml:1:11", "runs in a circle", "must stand on its own"],
    },
    Refused {
        name: "a file that extends a missing one",
        file: "extends = \"nowhere.toml\"\n",
        arguments: &[],
        says: &["machine.toml:1:11", "no configuration `nowhere.toml`", "relative to the file that says it"],
    },
    Refused {
        name: "an extends that is no text",
        file: "extends = 5\n",
        arguments: &[],
        says: &["machine.toml:1:11", "`extends` is an integer, but must be the path of another file"],
    },
    Refused {
        name: "a design that does not exist",
        file: "",
        arguments: &["--design", "hodl"],
        says: &["no configuration `hodl`", "did you mean `hold`?"],
    },
    Refused {
        name: "a machine as a design",
        file: "",
        arguments: &["--design", "h100-sxm5-off"],
        says: &["`h100-sxm5-off` is a machine"],
    },
    Refused {
        name: "a setting without a value",
        file: "",
        arguments: &["--set", "link.max_payload"],
        says: &["`--set link.max_payload` is not `path=value`", "--set link.max_payload=512B"],
    },
    Refused {
        name: "a setting of an unknown path",
        file: "",
        arguments: &["--set", "link.max_paylod=512B"],
        says: &["--set:1:1", "no field `link.max_paylod`", "did you mean `link.max_payload`?"],
    },
    Refused {
        name: "a setting by its last name only",
        file: "",
        arguments: &["--set", "max_payload=512B"],
        says: &["--set:1:1", "did you mean `link.max_payload`?"],
    },
    Refused {
        name: "a setting without a unit",
        file: "",
        arguments: &["--set", "link.max_payload=512"],
        says: &["--set:1:18", "`512` has no unit"],
    },
    Refused {
        name: "a setting that is broken TOML",
        file: "",
        arguments: &["--set", "driver.pinned={message=\"4 KiB\""],
        says: &["--set:1:", "not TOML"],
    },
    Refused {
        name: "a clock that stands still",
        file: "",
        arguments: &["--set", "cpu.clock=0 Hz"],
        says: &["--set:1:11", "0 Hz makes no sense here", "more than zero"],
    },
    Refused {
        name: "a clock beyond all silicon",
        file: "",
        arguments: &["--set", "copy_engine.clock=11GHz"],
        says: &["--set:1:19", "more than any machine has", "at most 10 GHz"],
    },
    Refused {
        name: "a payload that PCIe does not know",
        file: "",
        arguments: &["--set", "link.max_payload=300B"],
        says: &["--set:1:18", "300 B is not a size that PCIe knows", "128 B, 256 B"],
    },
    Refused {
        name: "a quarantine too small for a message",
        file: "extends = \"h100-nvl-tdx\"\n[tag_queue]\nrelease = \"hold\"\nquarantine = \"4 KiB\"\n",
        arguments: &[],
        says: &["machine.toml:4:14", "it must hold one message of 1 MiB, and has 4 KiB"],
    },
    Refused {
        name: "a kind of provenance that does not exist",
        file: "extends = \"h100-nvl-tdx\"\n[provenance.link.flight]\nkind = \"guessed\"\nsource = \"x\"\n",
        arguments: &[],
        says: &["machine.toml:3:8", "\"guessed\" is not a kind", "documented, measured, calibrated, assumed, user"],
    },
    Refused {
        name: "a provenance without a source",
        file: "extends = \"h100-nvl-tdx\"\n[provenance.link.flight]\nkind = \"assumed\"\n",
        arguments: &[],
        says: &["machine.toml:3:1", "provenance of `link.flight`: `source` is missing"],
    },
    Refused {
        name: "a provenance whose range leaves the value out",
        file: "extends = \"h100-nvl-tdx\"\nlink.replay_timer = \"7000 cycles\"\n[provenance.link.replay_timer]\nkind = \"assumed\"\nsource = \"x\"\nlow = \"1 us\"\n",
        arguments: &[],
        says: &["machine.toml:3:1", "`low`: `us` is not a unit of a number of cycles", "as the value is"],
    },
    Refused {
        name: "a provenance above its own range",
        file: "extends = \"h100-nvl-tdx\"\n[provenance.cpu.clock]\nkind = \"assumed\"\nsource = \"x\"\nhigh = \"2 GHz\"\n",
        arguments: &[],
        says: &["machine.toml:2:1", "\"2.1 GHz\" is above its own `high`, 2 GHz"],
    },
    Refused {
        name: "a name that would be a line of its own",
        file: "extends = \"h100-nvl-tdx\"\nname = \"x\\nverified\"\n",
        arguments: &[],
        says: &["machine.toml:2:8", "`name`", "several lines", "in one line"],
    },
    Refused {
        name: "a provenance of nothing",
        file: "extends = \"h100-nvl-tdx\"\n[provenance.link.flihgt]\nkind = \"assumed\"\nsource = \"x\"\n",
        arguments: &[],
        says: &["machine.toml:2:", "no field `provenance.link.flihgt`", "did you mean `link.flight`?"],
    },
    Refused {
        name: "a provenance of a field that is not there",
        file: "extends = \"h100-nvl-tdx\"\n[provenance.engine.ghash.ways]\nkind = \"assumed\"\nsource = \"x\"\n",
        arguments: &[],
        says: &["machine.toml:2:1", "provenance of `engine.ghash.ways`", "no layer so far"],
    },
];

/// The message without line breaks and frames, so that wrapping does not matter.
fn flat(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes).replace(['│', '╭', '─', '╰', '×', '·'], " ");
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace("- ", "-")
}

#[test]
fn every_bad_configuration_is_refused_with_its_place_and_a_remedy() {
    let mut failures = Vec::new();
    for case in REFUSED {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("machine.toml"), case.file).unwrap();
        let config = if case.file.is_empty() { "h100-nvl-tdx" } else { "machine.toml" };
        let output = sealsim(folder.path(), &[&["describe", config], case.arguments].concat());
        let message = flat(&output.stderr);
        let missing: Vec<_> = case.says.iter().filter(|part| !message.contains(&part.replace("- ", "-"))).collect();
        if output.status.code() != Some(3) || !missing.is_empty() || !output.stdout.is_empty() {
            failures.push(format!("{}: {:?}, without {missing:?} in: {message}", case.name, output.status));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn files_that_are_no_configuration_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("bytes.toml"), b"name = \"x\"\n\xff\xfe").unwrap();
    fs::write(folder.path().join("long.toml"), "#".repeat((1 << 20) + 1)).unwrap();
    fs::create_dir(folder.path().join("folder.toml")).unwrap();
    for (name, says) in [
        ("bytes.toml", "not UTF-8 text (line 2, byte 11 of the file)"),
        ("long.toml", "longer than 1 MiB"),
        ("folder.toml", "a directory"),
        ("nowhere.toml", "neither a file nor the name of a shipped one"),
        ("hold", "is a design"),
    ] {
        let output = sealsim(folder.path(), &["describe", name]);
        let message = flat(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{name}: {message}");
        assert!(message.contains(says) && message.contains(name), "{name}: {message}");
    }
}

#[test]
fn two_files_that_extend_each_other_are_refused_with_the_circle() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.toml"), "extends = \"b.toml\"\n").unwrap();
    fs::write(folder.path().join("b.toml"), "extends = \"a.toml\"\n").unwrap();
    let output = sealsim(folder.path(), &["describe", "a.toml"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(flat(&output.stderr).contains("runs in a circle: a.toml ->"), "{}", flat(&output.stderr));
}

#[test]
fn all_faults_of_a_file_are_shown_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let text = "extends = \"h100-nvl-tdx\"\n[link]\nlanse = 16\nmax_payload = 512\n[cpu]\nclock = true\n";
    fs::write(folder.path().join("a.toml"), text).unwrap();
    let message = flat(&sealsim(folder.path(), &["describe", "a.toml"]).stderr);
    for place in ["a.toml:3:1", "a.toml:4:15", "a.toml:6:9"] {
        assert!(message.contains(place), "{place} in {message}");
    }
}

#[test]
fn a_file_on_disk_takes_precedence_over_a_shipped_name() {
    let folder = tempfile::tempdir().unwrap();
    let text = "extends = \"h100-nvl-tdx.toml\"\nname = \"mine\"\n[cpu]\nclock = \"3 GHz\"\n";
    fs::write(folder.path().join("h100-sxm5-off"), text).unwrap();
    let output = sealsim(folder.path(), &["describe", "h100-sxm5-off", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["name"], "mine");
    assert_eq!(json["layers"], serde_json::json!(["h100-nvl-tdx.toml (shipped)", "h100-sxm5-off"]));
    let clock = json["parameters"].as_array().unwrap().iter().find(|one| one["path"] == "cpu.clock").unwrap();
    assert_eq!(
        (&clock["value"], &clock["kind"], &clock["source"]),
        (&"3 GHz".into(), &"user".into(), &"set in h100-sxm5-off".into())
    );
}

#[test]
fn what_describe_writes_as_toml_is_the_same_machine() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["--design", "hold", "--set", "link.max_payload=512B"];
    let written = sealsim(folder.path(), &[&["describe", "h100-nvl-tdx", "--format", "toml"][..], &arguments].concat());
    assert!(written.status.success(), "{}", flat(&written.stderr));
    fs::write(folder.path().join("one.toml"), written.stdout).unwrap();
    let digest = |arguments: &[&str]| {
        let output = sealsim(folder.path(), &[&["describe", "--format", "json"], arguments].concat());
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        (json["digest"].clone(), json["counts"].clone(), json["name"].clone())
    };
    assert_eq!(digest(&["one.toml"]), digest(&[&["h100-nvl-tdx"][..], &arguments].concat()));
}

#[test]
fn every_engine_can_be_described_and_written_as_a_file_that_is_the_same_engine() {
    let folder = tempfile::tempdir().unwrap();
    let document = |engine: &str| -> serde_json::Value {
        let output = sealsim(folder.path(), &["describe", engine, "--format", "json"]);
        assert!(output.status.success(), "{engine}: {}", flat(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    };
    for engine in Shipped::names(Role::Engine).chain(Shipped::names(Role::Aead)) {
        let described = document(engine);
        let rows = described["parameters"].as_array().unwrap();
        let told =
            |row: &serde_json::Value| ["path", "value", "meaning", "takes"].map(|key| row[key].as_str().unwrap().len());
        assert!(rows.len() > 3 && rows.iter().all(|row| told(row).iter().all(|&length| length > 0)), "{engine}");
        let toml = sealsim(folder.path(), &["describe", engine, "--format", "toml"]).stdout;
        fs::write(folder.path().join("own.toml"), toml).unwrap();
        let table = if described["engine"].is_null() { "aead" } else { "engine" };
        assert_eq!(document("own.toml")[table], described[table], "{engine}");
    }
    for more in [["--netlist", "text"], ["--design", "hold"], ["--cc", "off"]] {
        let refused = sealsim(folder.path(), &[&["describe", "unrolled-1"][..], &more].concat());
        assert_eq!(refused.status.code(), Some(2), "{more:?}: {}", flat(&refused.stderr));
        assert!(refused.stdout.is_empty(), "{more:?}");
    }
}

#[test]
fn every_listed_machine_can_be_described_and_every_design_laid_over_it() {
    let folder = tempfile::tempdir().unwrap();
    let output = sealsim(folder.path(), &["list", "--format", "json"]);
    let rows: Vec<serde_json::Value> = serde_json::from_slice(&output.stdout).unwrap();
    let names = |kind: &str| -> Vec<String> {
        let of_kind = rows.iter().filter(|row| row["kind"] == kind && !row["summary"].as_str().unwrap().is_empty());
        of_kind.map(|row| row["name"].as_str().unwrap().to_owned()).collect()
    };
    let (machines, designs) = (names("machine"), names("design"));
    let others = ["engine", "aead", "workload"].map(|kind| names(kind).len());
    assert_eq!(machines.len() + designs.len() + others.iter().sum::<usize>(), rows.len());
    assert!(machines.contains(&"h100-nvl-tdx".to_owned()) && designs.contains(&"hold".to_owned()));
    for (number, machine) in machines.iter().enumerate() {
        for (other, design) in designs.iter().enumerate() {
            let refused = machine == "generic-16gpu" && design.starts_with("ide");
            let possible = Layers::new(machine).overlay(design).resolve();
            assert_eq!(possible.is_err(), refused, "{machine} {design}");
            // The program says so of a third of them, of each machine and each design.
            if !(number + other).is_multiple_of(3) {
                continue;
            }
            let output = sealsim(folder.path(), &["describe", machine, "--design", design]);
            if refused {
                let said = flat(&output.stderr);
                assert!(!output.status.success() && said.contains("link IDE ends at a switch"), "{design}: {said}");
                continue;
            }
            assert!(output.status.success(), "{machine} {design}: {}", flat(&output.stderr));
            let text = String::from_utf8(output.stdout).unwrap();
            assert!(text.starts_with(&format!("{machine}+{design}: ")), "{text}");
        }
    }
}

#[test]
fn the_schema_is_printed() {
    let folder = tempfile::tempdir().unwrap();
    let schema: serde_json::Value = serde_json::from_slice(&sealsim(folder.path(), &["schema"]).stdout).unwrap();
    assert_eq!(schema["properties"]["link"]["$ref"], "#/$defs/LinkSpec");
}

#[test]
fn a_reader_that_goes_away_ends_the_program_quietly() {
    let folder = tempfile::tempdir().unwrap();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = Command::new(env!("CARGO_BIN_EXE_sealsim"));
    let output = command.current_dir(folder.path()).args(["describe", "h100-nvl-tdx"]).stdout(writer).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", flat(&output.stderr));
    assert!(output.stderr.is_empty(), "{}", flat(&output.stderr));
}
