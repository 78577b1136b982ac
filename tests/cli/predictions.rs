//! The committed predictions of `validation/predictions/` are those of the simulator as it is.

use std::{fs, path::PathBuf};

const TABLES: [&str; 5] = ["p1-pinned", "p2-pinned", "gen3", "snp-gen4", "collectives"];

fn register(file: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("validation/predictions").join(file)
}

fn lines(file: &str) -> Vec<String> {
    fs::read_to_string(register(file)).unwrap().lines().map(str::to_owned).collect()
}

/// What the simulator predicts now, for rows without figures.
fn predicted(asked: &[String]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("asked.csv");
    fs::write(&file, asked.join("\n") + "\n").unwrap();
    let output = crate::here(&["validate", "--predict", file.to_str().unwrap()]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

/// Committed rows whose cells before the figure are `keep`, with the head, against what is predicted now.
fn assert_as_committed(table: &str, keep: impl Fn(&str) -> bool) {
    let asked: Vec<_> = lines(&format!("{table}-sizes.csv")).into_iter().filter(|line| keep(line)).collect();
    let of_asked = |line: &String| {
        asked.iter().any(|row| line.strip_prefix(row.as_str()).is_some_and(|rest| rest.starts_with(',')))
    };
    let committed: Vec<_> = lines(&format!("{table}.csv")).into_iter().filter(of_asked).collect();
    assert!(asked.len() > 4 && committed.len() == asked.len(), "{table}: {} of {}", committed.len(), asked.len());
    for (committed, now) in committed.iter().zip(&predicted(&asked)) {
        assert_eq!(committed, now, "{table}: validation/predictions/README.md says how to predict anew");
    }
}

#[test]
fn the_smallest_committed_predictions_are_those_of_the_machines_digest_and_simulator_as_they_are() {
    for table in TABLES {
        assert_as_committed(table, |line| {
            line.starts_with("platform") || line.ends_with(",16384") || line.ends_with(",32768")
        });
    }
}

#[test]
#[ignore = "a minute in a release build: run it where figures of pinned copies have changed"]
fn all_committed_predictions_are_those_of_the_simulator_as_it_is() {
    TABLES.into_iter().for_each(|table| assert_as_committed(table, |_| true));
}

/// Sizes in KiB: 16 to 1024 in steps of 16, 1001 to 7401 in steps of 800.
#[test]
fn the_register_asks_for_every_size_in_both_modes_and_directions() {
    for (table, platform) in TABLES.into_iter().zip(["p1", "p2"]) {
        let asked = lines(&format!("{table}-sizes.csv"));
        let sizes = || (16..=1024).step_by(16).chain((1001..=7401).step_by(800));
        for (mode, direction) in [("off", "h2d"), ("off", "d2h"), ("cc", "h2d"), ("cc", "d2h")] {
            for kibibytes in sizes() {
                let row = format!("{platform},{mode},pinned,{direction},{}", kibibytes * 1024_u64);
                assert!(asked.contains(&row), "{table}: {row}");
            }
        }
        assert_eq!(asked.len(), 1 + 4 * sizes().count());
    }
}
