//! What `sealsim sensitivity` says of what it varies and what it does not, and how it goes on after an interruption.

use serde_json::Value;
use std::process::Command;

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sealsim"));
    command.env("COLUMNS", "200").args(["sensitivity", "h100-nvl-tdx", "--samples", "0", "--all"]).args(arguments);
    command
}

fn said(arguments: &[&str]) -> String {
    let output = command(arguments).output().expect("the program runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn what_has_no_range_is_listed_as_not_varied_in_every_format() {
    let own = ["--copy", "h2d:4KiB", "--design", "serial-ghash", "--set", "link.flight=70 cycles"];
    let with = |format| said(&[&own[..], &["--format", format]].concat());
    let (text, json, csv) = (with("text"), with("json"), with("csv"));
    assert!(text.contains("not varied, since they state no range: ") && text.contains("link.flight"), "{text}");
    let json: Value = serde_json::from_str(&json).unwrap();
    let named = |list: &str, path: &str| -> Vec<Value> {
        json[list].as_array().unwrap().iter().filter(|one| one["path"] == path).cloned().collect()
    };
    let flight = named("not_varied", "link.flight");
    assert_eq!((flight.len(), &flight[0]["kind"], &flight[0]["value"]), (1, &"user".into(), &"70 cycles".into()));
    assert!(named("swings", "link.flight").is_empty());
    let product = named("swings", "engine.ghash.multiplier.product");
    let of: Vec<_> = product.iter().map(|one| one["of"][0].as_str().unwrap()).collect();
    assert!(of.len() == 2 && of.contains(&"h100-nvl-tdx") && of.contains(&"serial-ghash"), "{of:?}");
    let rows: Vec<_> = csv.lines().map(|line| line.split(',').collect::<Vec<_>>()).collect();
    assert_eq!(rows[0][..5], ["parameter", "of", "kind", "value", "varied"]);
    assert!(rows.iter().any(|row| row[..5] == ["link.flight", "", "user", "70 cycles", "false"]));
    assert!(
        rows.iter()
            .any(|row| row[..5] == ["engine.ghash.multiplier.product", "serial-ghash", "assumed", "3 cycles", "true"])
    );
    let count = |list: &str| json[list].as_array().unwrap().len();
    assert_eq!(rows.len(), 1 + count("swings") + count("not_varied"));
}

#[cfg(target_os = "linux")]
#[test]
fn an_interrupted_question_goes_on_where_it_was() {
    let cache = tempfile::tempdir().unwrap();
    let own = ["--copy", "h2d:256KiB", "--format", "json"];
    let resume = [&own[..], &["--resume"]].concat();
    let whole = said(&own);
    let mut partly = false;
    for turn in 0..60 {
        let mut command = command(&resume);
        let child = command.env("XDG_CACHE_HOME", cache.path()).stdout(std::process::Stdio::piped());
        let child = child.stderr(std::process::Stdio::piped()).spawn().expect("the program runs");
        super::compare::wait_until_it_listens(child.id());
        // Soon at first, and late enough at last on any computer.
        std::thread::sleep(std::time::Duration::from_millis(20 << (turn / 4)));
        Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
        let output = child.wait_with_output().expect("it ends");
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.success() {
            assert!(partly && String::from_utf8(output.stdout).unwrap() == whole, "{turn}: {told}");
            assert_eq!(std::fs::read_dir(cache.path().join("sealsim/unfinished")).unwrap().count(), 0);
            return;
        }
        assert_eq!(output.status.code(), Some(1), "{told}");
        assert!(output.stdout.is_empty() && told.contains("runs are finished and kept"), "{told}");
        partly = true;
    }
    panic!("it does not come to an end");
}
