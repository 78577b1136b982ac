//! `--sample` on the command line: labels, intervals, and what is refused.

use crate::CAMPAIGN;
use serde_json::{Value as Json, json};
use std::{
    collections::BTreeSet,
    process::{Command, Output},
};

fn sealsim(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sealsim"));
    command.env("COLUMNS", "200").args(arguments).output().expect("sealsim runs")
}

fn json(arguments: &[&str]) -> Json {
    let output = sealsim(&[arguments, &["--format", "json"]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn text(arguments: &[&str]) -> String {
    let output = sealsim(arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

const LONG: [&str; 8] = ["run", "h100-nvl-tdx", "--copy", "h2d:64GiB", "--sample", "64", "--what-if", "0"];

#[test]
fn a_sampled_run_is_labelled_and_each_interval_holds_its_figure() {
    let run = json(&LONG);
    let sampled = &run["sampled"];
    let count = |field: &str| sampled[field].as_u64().expect(field);
    assert_eq!(
        (count("of"), sampled["unit"].as_str(), sampled["confidence"].as_f64()),
        (64 << 30, Some("bytes"), Some(0.95))
    );
    assert!(count("simulated") < count("of") / 50 && count("low") < run["simulated_ps"].as_u64().unwrap());
    assert!(run["event_digest"].is_null(), "not every event was simulated");
    let intervals = sampled["intervals"].as_object().expect("intervals");
    for (place, ends) in intervals {
        let figure = run.pointer(place).and_then(Json::as_f64).unwrap_or_else(|| panic!("{place}"));
        let [low, high] = [0, 1].map(|end| ends[end].as_f64().expect(place));
        assert!(low <= figure && figure <= high && low < high, "{place}: {low} {figure} {high}");
    }
    for place in ["/copies/0/end_ps", "/copies/0/gb_per_s", "/units/host.cipher/busy", "/tag_queue/exposure_total_ps"] {
        assert!(intervals.contains_key(place), "{place}");
    }
    // What the work consists of is known exactly.
    assert_eq!(run["copies"][0]["messages"], 64 << 10);
    assert!(!intervals.contains_key("/copies/0/messages") && !intervals.contains_key("/keys/h2d/bytes"));
    let shown = text(&LONG);
    assert!(
        shown.contains("sampled: ")
            && shown.contains("of 64 GiB simulated, in 6 runs")
            && !shown.contains("event digest"),
        "{shown}"
    );
}

#[test]
fn what_is_not_sampled_says_so_and_is_the_run_itself() {
    let short = ["run", "h100-nvl-tdx", "--copy", "d2h:5MiB", "--what-if", "0"];
    let (sampled, plain) =
        (json(&[&short[..], &["--sample", "auto"]].concat()), json(&[&short[..], &["--data", "none"]].concat()));
    assert_eq!((&sampled["event_digest"], &sampled["simulated_ps"]), (&plain["event_digest"], &plain["simulated_ps"]));
    assert_eq!(
        (sampled["sampled"]["simulated"].as_u64(), sampled["sampled"]["of"].as_u64()),
        (Some(5 << 20), Some(5 << 20))
    );
    assert_eq!(sampled["sampled"]["intervals"].as_object().map(serde_json::Map::len), Some(0));
    assert!(plain.get("sampled").is_none());
    assert!(text(&[&short[..], &["--sample", "auto"]].concat()).contains("sampled: all of 5 MiB was simulated"));
}

#[test]
fn what_needs_every_byte_or_event_is_refused_by_name() {
    let others = [
        &["--data", "exact"][..],
        &["--digest"],
        &["--inject", "link.d2h.flip:9"],
        &["--manifest", "m.json"],
        &["--trace", "t"],
        &["--waves", "w.fst"],
        &["--capture", "c"],
        &["--events", "e"],
        &["--live"],
        &["--kernel", "every-cycle"],
    ];
    for other in others {
        let output = sealsim(&[&LONG[..], other].concat());
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{other:?}: {message}");
        assert!(
            message.contains(&format!(
                "{} with --sample",
                other.join(" ").split(" link").next().unwrap().split(' ').next().unwrap()
            )) || message.contains(&format!("{} with --sample", other.join(" "))),
            "{other:?}: {message}"
        );
    }
    for verb in
        [&["risk", "h100-nvl-tdx"][..], &["faults", "h100-nvl-tdx"], &["verify", "vectors", "x"], &["rerun", "x"]]
    {
        let output = sealsim(&[verb, &["--sample", "auto"]].concat());
        assert_eq!(output.status.code(), Some(2), "{verb:?}");
    }
    assert_eq!(sealsim(&["run", "h100-nvl-tdx", "--copy", "h2d:1GiB", "--sample", "31"]).status.code(), Some(2));
}

#[test]
fn a_comparison_has_an_interval_for_each_rate_and_gain() {
    let compared = json(&["compare", "h100-nvl-tdx", "--copy", "h2d:16GiB", "--design", "direct", "--sample", "64"]);
    for design in compared["designs"].as_array().expect("designs") {
        let copy = &design["copies"][0];
        let intervals = copy["sampled"]["intervals"].as_object().expect("intervals");
        for name in ["gb_per_s", "time_ps", "speedup_over_baseline", "fraction_of_off"] {
            let [low, high] = [0, 1].map(|end| intervals[&format!("/{name}")][end].as_f64().expect("a number"));
            let figure = copy[name].as_f64().expect(name);
            assert!(low <= figure && figure <= high, "{design}: {name} {low} {figure} {high}");
        }
    }
}

#[test]
#[ignore = "long samples: .ci/run"]
fn who_is_busiest_in_a_sampled_copy_has_an_interval_and_what_limits_it_is_measured_on_shorter_ones() {
    let fraction = |run: &Json| run["copies"][0]["busiest"]["fraction"].as_f64().expect("a fraction");
    let place = "/copies/0/busiest/fraction";
    let own = json(&LONG);
    let [low, high] = [0, 1].map(|end| own["sampled"]["intervals"][place][end].as_f64().expect(place));
    assert!(low < fraction(&own) && fraction(&own) < high, "{low} {} {high}", fraction(&own));
    let measured = json(&LONG[..6]);
    let short = json(&["run", "h100-nvl-tdx", "--copy", "h2d:64MiB", "--data", "none"]);
    assert_eq!(measured["copies"][0]["limited_by_parts"], short["copies"][0]["limited_by_parts"]);
}

#[test]
fn a_replay_of_short_copies_is_the_one_that_is_not_sampled() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/validation/traces/kmeans-off-cuda_");
    let files = ["gpu_trace", "api_trace"].map(|file| format!("{root}{file}.csv.gz"));
    let replay = ["replay", &files[0], "--api", &files[1]];
    let (plain, sampled) = (json(&replay), json(&[&replay[..], &["--sample", "auto"]].concat()));
    assert_eq!(plain["runs"], sampled["runs"]);
    assert_eq!(
        (&sampled["sampled"]["simulated"], sampled["sampled"]["intervals"].as_object().map(serde_json::Map::len)),
        (&sampled["sampled"]["of"], Some(0))
    );
}

/// A profile of two long copies and a kernel between them, as PyTorch writes one.
fn long_copies() -> Json {
    let call = |name: &str, at: u64, took: u64, number: u64| json!({ "ph": "X", "cat": "cuda_runtime", "name": name, "pid": 1, "tid": 1, "ts": at, "dur": took, "args": { "correlation": number } });
    let copy = |name: &str, at: u64, took: u64, number: u64, bytes: u64| {
        let args = json!({ "device": 0, "context": 1, "stream": 7, "correlation": number, "bytes": bytes });
        json!({ "ph": "X", "cat": "gpu_memcpy", "name": name, "pid": 0, "tid": 7, "ts": at, "dur": took, "args": args })
    };
    let args =
        json!({ "device": 0, "context": 1, "stream": 7, "correlation": 2, "grid": [1, 1, 1], "block": [1, 1, 1] });
    let kernel =
        json!({ "ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 8_100, "dur": 500, "args": args });
    let events = json!([
        call("cudaMemcpyAsync", 1_000, 7_000, 1),
        copy("Memcpy HtoD (Pinned -> Device)", 1_010, 6_900, 1, 160 << 20),
        call("cudaLaunchKernel", 8_010, 20, 2),
        kernel,
        call("cudaMemcpyAsync", 8_700, 7_500, 3),
        copy("Memcpy DtoH (Device -> Pinned)", 8_710, 7_400, 3, 176 << 20),
    ]);
    json!({ "schemaVersion": 1, "traceEvents": events })
}

#[test]
#[ignore = "long samples: .ci/run"]
fn each_figure_of_a_sampled_replay_lies_in_its_interval_and_the_true_one_nearby() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("trace.json");
    std::fs::write(&file, long_copies().to_string()).unwrap();
    // A cache of which the copies are more than six times as long.
    let replay = ["replay", file.to_str().unwrap(), "--design", "fastrack", "--set", "memory.llc=\"4 MiB\""];
    let sampled = json(&[&replay[..], &["--sample", "32"]].concat());
    let told = &sampled["sampled"];
    assert!(told["simulated"].as_u64() < told["of"].as_u64(), "{told}");
    let intervals = told["intervals"].as_object().expect("intervals");
    let holds = |(place, ends): (&String, &Json), record: &Json| {
        let figure = record.pointer(place).and_then(Json::as_f64).unwrap_or_else(|| panic!("{place}"));
        ends[0].as_f64().expect(place) <= figure && figure <= ends[1].as_f64().expect(place)
    };
    assert!(intervals.iter().all(|interval| holds(interval, &sampled)), "{intervals:?}");
    let seen: BTreeSet<_> = intervals.keys().map(|place| place.split('/').nth(1).unwrap().to_owned()).collect();
    assert_eq!(seen, ["advice", "breakdown", "operations", "runs"].map(str::to_owned).into());
    if !CAMPAIGN {
        return;
    }
    let plain = json(&replay);
    let held = intervals.iter().filter(|interval| holds(*interval, &plain)).count();
    assert!(held * 100 >= intervals.len() * 95, "{held} of {}", intervals.len());
    // No figure without an interval is off.
    let mut others = Vec::new();
    unlike(&plain, &sampled, String::new(), &mut others);
    others
        .retain(|place| !place.starts_with("/sampled") && !place.ends_with("/text") && !intervals.contains_key(place));
    assert!(others.is_empty(), "{others:?}");
}

/// The places at which two records differ.
fn unlike(one: &Json, other: &Json, place: String, into: &mut Vec<String>) {
    match (one, other) {
        (Json::Object(one), Json::Object(other)) => {
            let keys: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
            let of = |all: &serde_json::Map<String, Json>, key: &str| all.get(key).cloned().unwrap_or_default();
            keys.into_iter().for_each(|key| unlike(&of(one, key), &of(other, key), format!("{place}/{key}"), into));
        }
        (Json::Array(one), Json::Array(other)) if one.len() == other.len() => {
            let both = one.iter().zip(other).enumerate();
            both.for_each(|(number, (one, other))| unlike(one, other, format!("{place}/{number}"), into));
        }
        _ if one != other => into.push(place),
        _ => {}
    }
}
