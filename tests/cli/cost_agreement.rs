//! What a design costs and risks is one figure, whichever verb states it.

use serde_json::Value;

fn sealsim(arguments: &[&str]) -> String {
    let output = crate::here(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&sealsim(arguments)).unwrap()
}

#[test]
fn describe_and_risk_say_what_rests_on_what_and_what_one_forgery_leaves() {
    let described = sealsim(&["describe", "h100-nvl-tdx", "--all"]);
    assert!(described.contains("rtl/results.toml, in ASAP7"), "{described}");
    assert!(described.contains("  rows: lane rounds=2 registers=1 compact=0"), "{described}");
    assert!(described.contains("clock of the engines: marginal at 1.755 GHz ("), "{described}");
    assert!(described.contains("after one success it is 1: "), "{described}");
    let siv = json(&["describe", "h100-nvl-tdx", "--design", "gcm-siv", "--format", "json"]);
    assert_eq!(
        (&siv["message_risk"]["after_first_success"], &siv["cost"]["engines"]),
        (&"as_before".into(), &2.into())
    );
    let failed = ["risk", "h100-nvl-tdx", "--copy", "h2d:64KiB", "--release", "hold"];
    assert!(sealsim(&failed).contains("after one success it is 1: "), "the text of risk");
    let failed = json(&[&failed[..], &["--format", "json"]].concat());
    assert_eq!(failed["risk"]["after_first_success"], "certain");
    assert_eq!(
        failed["risk"]["forgery_log2"],
        json(&["compare", "h100-nvl-tdx", "--design", "hold", "--size", "64KiB", "--format", "json"])["designs"][1]["copies"]
            [0]["forgery_log2"]
    );
}
