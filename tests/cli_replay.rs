//! `replay`, `import` and `cost-table` as their users meet them.

use serde_json::Value as Json;
use std::process::{Command, Output};

const PAIR: [&str; 3] = [
    "validation/traces/kmeans-off-cuda_gpu_trace.csv.gz",
    "--api",
    "validation/traces/kmeans-off-cuda_api_trace.csv.gz",
];

fn sealsim(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sealsim")).args(arguments).output().unwrap()
}

fn text(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn a_replay_says_what_its_documentation_names() {
    let arguments = [&["replay"], &PAIR[..], &["--design", "fastrack", "--format", "json"]].concat();
    let json: Json = serde_json::from_str(&text(&sealsim(&arguments))).unwrap();
    let runs = json["runs"].as_array().unwrap();
    let names: Vec<_> = runs.iter().map(|run| run["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["off", "cc", "fastrack"]);
    for run in runs {
        for field in ["end_ns", "total_ns", "host_call_ns", "host_gap_ns", "gpu_idle_ns"] {
            assert!(run[field].is_u64(), "{field}");
        }
        assert!(["h2d", "d2h", "d2d"].iter().all(|way| run["device_copy_ns"][way].is_u64()));
        assert!(run["slowdown"].as_f64().unwrap() >= 1.0);
        assert!(run["host_calls"].as_array().unwrap().iter().all(|call| call["first_ns"].is_u64()));
    }
    let end = |run: usize| runs[run]["end_ns"].as_i64().unwrap();
    let parts: i64 = json["breakdown"].as_array().unwrap().iter().map(|part| part["ns"].as_i64().unwrap()).sum();
    assert_eq!(parts, end(1) - end(0));
    assert_eq!(json["events"]["used"], 1044);
    assert_eq!(json["operations"].as_array().unwrap().len(), 10);
}

#[test]
fn text_fits_a_terminal() {
    let text = text(&sealsim(&[&["replay"], &PAIR[..]].concat()));
    let widest = text.lines().map(|line| line.chars().count()).max().unwrap();
    assert!(widest <= 80, "{widest}: {text}");
    assert!(text.contains("Where the difference of"), "{text}");
}

#[test]
fn the_answer_does_not_depend_on_threads() {
    let with =
        |threads| text(&sealsim(&[&["replay"], &PAIR[..], &["--format", "json", "--threads", threads]].concat()));
    assert_eq!(with("1"), with("3"));
}

#[test]
fn an_imported_profile_runs() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("job.toml");
    std::fs::write(&file, text(&sealsim(&["import", "validation/traces/a100-alexnet.json.gz"]))).unwrap();
    let path = file.display().to_string();
    let run = ["run", "h100-nvl-tdx", "--workload", &path, "--data", "none", "--format", "json"];
    let json: Json = serde_json::from_str(&text(&sealsim(&run))).unwrap();
    assert_eq!(json["copies"].as_array().unwrap().len(), 16);
}

#[test]
fn a_cost_table_has_a_row_for_each_case_and_agrees_with_run() {
    let table = text(&sealsim(&["cost-table", "h100-nvl-tdx", "--size", "64KiB,1MiB", "--concurrency", "1,2"]));
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows[0].join(","), "mode,direction,memory,bytes,concurrency,latency_ns,makespan_ns,gb_per_s");
    assert_eq!(rows.len(), 1 + 2 * 2 * 2 * 2 * 2);
    let row = rows.iter().find(|row| row[..5] == ["cc", "h2d", "pinned", "1048576", "1"]).unwrap();
    let run = text(&sealsim(&["run", "h100-nvl-tdx", "--copy", "h2d:1MiB", "--data", "none", "--format", "json"]));
    let json: Json = serde_json::from_str(&run).unwrap();
    let rate = json["copies"][0]["gb_per_s"].as_f64().unwrap();
    assert!((row[7].parse::<f64>().unwrap() / rate - 1.0).abs() < 1e-3, "{row:?} against {rate}");
}

#[test]
fn what_is_no_trace_is_refused_with_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, content: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        path.display().to_string()
    };
    let empty = file("empty", "");
    let cpu = file(
        "cpu.json",
        r#"{"traceEvents":[{"ph":"X","cat":"cpu_op","name":"aten::add","pid":1,"tid":1,"ts":1,"dur":2}]}"#,
    );
    let torn = file("torn.json", r#"{"traceEvents":[{"ph":"X","cat":"cpu_op","na"#);
    for (path, status) in [(&empty, 3), (&cpu, 3), (&torn, 3), (&"missing".to_owned(), 4)] {
        let output = sealsim(&["replay", path]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(status), "{path}: {said}");
        assert!(output.stdout.is_empty());
        assert!(status == 4 || said.contains("help:"), "{path}: {said}");
    }
}

#[test]
fn nvbandwidth_is_read_as_it_is_and_says_what_is_used() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("nvbandwidth.json");
    let case = |name: &str| format!(r#"{{"name":"{name}","status":"Passed","average":55.3,"bufferSize":64}}"#);
    let cases = [case("host_to_device_memcpy_ce"), case("device_to_device_memcpy_read_ce")].join(",");
    std::fs::write(&file, format!(r#"{{"nvbandwidth":{{"testcases":[{cases}]}}}}"#)).unwrap();
    let path = file.display().to_string();
    let output = sealsim(&["validate", "--hw", "h100-sxm5-off", "--mode", "off", "--measured", &path]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text(&output).contains("1 held out"), "{said}");
    assert!(said.contains("used as off: host_to_device_memcpy_ce"), "{said}");
    assert!(said.contains("left out: device_to_device_memcpy_read_ce, between GPUs"), "{said}");
}
