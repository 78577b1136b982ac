//! `sealsim risk` as a process: figures, shapes, refusals.

use serde_json::Value;
use std::process::{Command, Output};

fn risk(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sealsim"));
    command.arg("risk").args(arguments).output().expect("the program runs")
}

fn printed(arguments: &[&str]) -> String {
    let output = risk(arguments);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&printed(&[arguments, &["--format", "json"]].concat())).expect("JSON")
}

fn refusal(arguments: &[&str]) -> (Option<i32>, String) {
    let output = risk(arguments);
    assert!(output.stdout.is_empty());
    let text = String::from_utf8_lossy(&output.stderr).replace('│', " ");
    (output.status.code(), text.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[test]
fn a_failure_is_what_run_with_the_same_fault_says() {
    let answer = json(&["h100-nvl-tdx", "--copy", "h2d:4MiB", "--release", "eager"]);
    let policy = &answer["policies"][0];
    assert_eq!((&policy["release"], &policy["messages"], &policy["own"]), (&"eager".into(), &4.into(), &false.into()));
    let failure = &policy["failures"][2];
    assert_eq!(failure["position"], 3);
    let run = ["run", "h100-nvl-tdx", "--design", "eager", "--copy", "h2d:4MiB", "--data", "none", "--format", "json"];
    let run = crate::json_of(&crate::here(&[&run[..], &["--inject", "staging.tag.flip:3"]].concat()));
    let (copy, failed) = (&run["copies"][0], &run["tag_queue"]["failed"][0]);
    let number = |value: &Value| value.as_u64().unwrap_or_else(|| panic!("{run:#}"));
    // Both ends of a time are rounded down to a picosecond in the record, and the time itself is.
    let near = |one: &Value, other: u64| assert!(number(one).abs_diff(other) <= 1, "{one} {other}");
    near(&failure["verdict_ps"], number(&failed["verdict_ps"]) - number(&copy["start_ps"]));
    near(&failure["squashed_work_ps"], number(&failed["verdict_ps"]) - number(&failed["consumers_started_ps"]));
    near(&failure["visible_ps"], number(&failed["verdict_ps"]) - number(&failed["first_visible_ps"]));
    near(&failure["lost_ps"], number(&copy["end_ps"]) - number(&copy["start_ps"]));
    assert_eq!(failure["visible_bytes"], failed["visible_bytes"]);
}

#[test]
fn all_policies_are_measured_and_csv_has_a_row_for_each_failure() {
    let asked = ["h100-nvl-tdx", "--copy", "h2d:4MiB", "--failures", "2", "--seed", "9"];
    let answer = json(&asked);
    let releases: Vec<_> = answer["policies"].as_array().expect("a list").iter().map(|one| &one["release"]).collect();
    assert_eq!(releases, ["hold", "skid", "withhold_completion", "eager"]);
    let csv = printed(&[&asked[..], &["--format", "csv"]].concat());
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), 1 + 4 * 2, "{csv}");
    assert!(rows.iter().all(|row| row.len() == 17), "{csv}");
    let text = printed(&asked);
    for phrase in ["withhold_completion *", "what is squashed and lost", "2 of 2"] {
        assert!(text.contains(phrase), "{phrase}: {text}");
    }
    let again = |threads| printed(&[&asked[..], &["--threads", threads]].concat());
    assert_eq!(again("1"), again("5"));
}

#[test]
fn mistakes_have_their_exit_status_and_a_remedy() {
    let (code, text) = refusal(&["h100-nvl-tdx", "--copy", "d2h:4MiB"]);
    assert!(code == Some(2) && text.contains("checked by the CPU") && text.contains("h2d:4MiB"), "{code:?} {text}");
    let (code, text) = refusal(&["h100-nvl-tdx", "--copy", "h2d"]);
    assert!(code == Some(2) && text.contains("--copy"), "{code:?} {text}");
    let (code, text) = refusal(&["h100-nvl-tdx", "--design", "ide", "--copy", "h2d:4MiB"]);
    assert!(code == Some(3) && text.contains("IDE protects TLPs"), "{code:?} {text}");
    let (code, text) = refusal(&["h100-nvl-tdx", "--design", "of", "--copy", "h2d:4MiB"]);
    assert!(code == Some(3) && text.contains("did you mean `off`?"), "{code:?} {text}");
    let (code, text) = refusal(&["h100-nvl-tdx", "--design", "sm", "--release", "hold", "--copy", "h2d:4MiB"]);
    assert!(code == Some(3) && text.contains("nothing holds it"), "{code:?} {text}");
    for wrong in [&["--failures", "0"][..], &["--release", "never"], &["--threads", "0"]] {
        let arguments = [&["h100-nvl-tdx", "--copy", "h2d:4MiB"], wrong].concat();
        assert_eq!(refusal(&arguments).0, Some(2), "{wrong:?}");
    }
}
