use super::*;
use crate::report::record::tests::report;
use serde_json::{Value, json};
use timeline::{Slice, SliceState, Track, TrackKind};

fn island(page: &Page) -> Value {
    let file = page.html().unwrap();
    let (_, rest) = file.split_once("<script type=\"application/json\" id=\"data\">").unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

fn page(report: &impl Serialize) -> Page {
    Page::of(report, "sealsim run m --report 'a b.html'".into()).unwrap()
}

/// Why a JSON makes no page.
fn refused(json: &Value) -> String {
    Page::of(json, String::new()).unwrap_err().to_string()
}

#[test]
fn the_island_parses_back_to_what_the_verb_prints() {
    let report = report(true);
    let data = island(&page(&report));
    assert_eq!(data["report"], serde_json::to_value(&report).unwrap());
    let names = ["kind", "title", "sealsim_version", "command"].map(|name| data[name].as_str().unwrap().to_owned());
    assert_eq!(names, ["run", "2 copies on m+d", env!("CARGO_PKG_VERSION"), "sealsim run m --report 'a b.html'"]);
    assert!(["messages", "configuration", "curves", "timelines"].iter().all(|name| data.get(name).is_none()));
}

#[test]
fn hostile_names_stay_data() {
    let hostile = "</script><img src=x onerror=alert(1)> <!-- \u{2028} \\u003c {{data}} & ' \"";
    let mut report = serde_json::to_value(report(false)).unwrap();
    report["machine"] = hostile.into();
    report["copies"][0]["stream"] = hostile.into();
    report["units"][hostile] = report["units"]["host.cipher"].clone();
    let page = Page::of(&report, hostile.into()).unwrap().with_configuration(&json!({ "name": hostile })).unwrap();
    let data = island(&page);
    assert_eq!((&data["report"], &data["command"]), (&report, &json!(hostile)));
    assert_eq!(data["timeline"]["tracks"][0]["name"], format!("stream {hostile}"));
    assert_eq!(data["configuration"]["name"], hostile);
    let file = page.html().unwrap();
    assert!(!file.contains("<img") && file.matches("</script").count() == 2);
}

#[test]
fn the_copies_of_a_run_are_its_timeline_until_another_is_given() {
    let page = page(&report(false));
    let data = island(&page);
    let tracks = data["timeline"]["tracks"].as_array().unwrap();
    assert_eq!(tracks.iter().map(|track| &track["name"]).collect::<Vec<_>>(), ["stream up", "stream down"]);
    assert_eq!(data["timeline"]["end_ps"], 40_000_000_000_u64);
    let slice = Slice { start_ps: 1, end_ps: 3, label: "busy".into(), state: SliceState::Busy, follows: Some((0, 0)) };
    let track = Track { name: "gpu.pce0".into(), kind: TrackKind::Unit, slices: vec![slice] };
    let timeline = Timeline { end_ps: 9, tracks: vec![track], left_out: None };
    let message = Message { number: 1, copy: 2, start_ps: 3, end_ps: 4 };
    let data = island(&Page { timeline: Some(timeline), messages: vec![message], ..page });
    let expected = json!({ "end_ps": 9, "left_out": null, "tracks": [{ "name": "gpu.pce0", "kind": "unit", "slices": [
        { "start_ps": 1, "end_ps": 3, "label": "busy", "state": "busy", "follows": [0, 0] },
    ] }] });
    assert_eq!(data["timeline"], expected);
    assert_eq!(data["messages"], json!([{ "number": 1, "copy": 2, "start_ps": 3, "end_ps": 4 }]));
}

#[test]
fn each_kind_is_told_by_its_fields() {
    let copies = json!({ "machine": "m", "sizes_bytes": [1], "designs": [{ "name": "off", "copies": [
        { "direction": "h2d", "bytes": 1, "time_ps": 2 },
    ] }] });
    let workload = json!({ "machine": "m", "workload": "w", "designs": [{ "name": "off", "time_ps": 5 }] });
    let replay = json!({ "machine": "m", "trace": "t", "runs": [{ "name": "off", "end_ns": 1, "slowdown_over_off": 1.0 }],
        "breakdown": [{ "cause": "link", "ns": -1 }] });
    let validate = json!({ "datasets": [{ "name": "d", "values": [
        { "label": "l", "measured": 1.0, "simulated": null, "class": "fitted" },
    ] }] });
    let known = [
        (copies, Kind::Compare, "1 design on m"),
        (workload, Kind::Compare, "1 design on m with w"),
        (replay, Kind::Replay, "a profile (t) played on m"),
        (validate, Kind::Validate, "d, measured and simulated"),
    ];
    for (json, kind, title) in known {
        let page = page(&json);
        assert_eq!((page.kind(), page.title.as_str()), (kind, title));
        assert_eq!(island(&page)["report"], json);
    }
}

#[test]
fn what_is_no_result_of_a_verb_is_refused_with_the_reason() {
    assert!(Page::of_json("nothing", String::new()).unwrap_err().to_string().contains("not JSON"));
    assert!(Page::of_json("{\"datasets\": [], \"datasets\": []}", String::new()).is_err());
    assert!(refused(&json!([1])).contains("not an object"));
    assert!(refused(&json!({})).contains("without fields"));
    assert!(refused(&json!({ "rows": [], "machine": "m" })).contains("its fields are machine, rows"));
    assert!(refused(&json!({ "schema_version": 2, "error": { "text": "a deadlock" } })).contains("a deadlock"));
    let mut run = serde_json::to_value(report(false)).unwrap();
    run["schema_version"] = 1.into();
    assert!(refused(&run).contains("schema_version is 1, this version of sealsim shows 4"));
    run["schema_version"] = 4.into();
    run["copies"][0]["start_ps"] = "soon".into();
    let reason = refused(&run);
    assert!(reason.contains("`sealsim run`") && reason.contains("copies[0].start_ps: expected a count"), "{reason}");
    run["copies"][0]["start_ps"] = 0.into();
    run["units"]["host.cipher"] = json!({ "cycles": 1 });
    assert!(refused(&run).contains("units.host.cipher: missing field `busy`"), "{}", refused(&run));
}
