//! `replay`, `import` and `cost-table` as their users meet them.

use crate::here as sealsim;
use sealsim::workload::trace::{self, Input};
use serde_json::Value as Json;
use std::{
    fs,
    io::{BufRead, BufReader},
    process::{Command, Output, Stdio},
};

const PAIR: [&str; 3] = [
    "validation/traces/kmeans-off-cuda_gpu_trace.csv.gz",
    "--api",
    "validation/traces/kmeans-off-cuda_api_trace.csv.gz",
];

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
        assert!(run["slowdown_over_off"].as_f64().unwrap() >= 1.0);
        assert!(run["host_calls"].as_array().unwrap().iter().all(|call| call["first_ns"].is_u64()));
    }
    let end = |run: usize| runs[run]["end_ns"].as_i64().unwrap();
    let parts: i64 = json["breakdown"].as_array().unwrap().iter().map(|part| part["ns"].as_i64().unwrap()).sum();
    assert_eq!(parts, end(1) - end(0));
    assert_eq!(json["events"]["used"], 1044);
    assert_eq!(json["operations"].as_array().unwrap().len(), 10);
}

#[test]
fn how_a_profile_begins_is_told_and_can_be_said() {
    let of = |start: &str| {
        let arguments = [&["replay"], &PAIR[..], &["--format", "json", "--start", start]].concat();
        serde_json::from_str::<Json>(&text(&sealsim(&arguments))).unwrap()
    };
    let [auto, cold, warm] = ["auto", "cold", "warm"].map(of);
    let begins = |json: &Json| json["assumed"][0].as_str().unwrap().to_owned();
    let call = "cudaMallocHost (line 3, 168.5 ms) creates the context";
    assert!(begins(&auto).starts_with("The profile begins with its program: ") && begins(&auto).contains(call));
    assert!(begins(&cold).starts_with("The profile begins with its program, as --start says: "));
    assert!(begins(&warm).starts_with("The profile begins in the middle of its program, as --start says."));
    let total = |json: &Json| json["runs"][1]["total_ns"].as_u64().unwrap();
    assert_eq!(total(&auto), total(&cold));
    assert!(total(&auto) - total(&warm) > 980_000_000);
    for json in [auto, cold, warm] {
        assert_eq!(json["notices"].as_array().unwrap().len(), 0);
        assert_eq!(json["profile_end_ns"], json["runs"][0]["end_ns"]);
    }
}

#[test]
fn text_fits_a_terminal() {
    let text = text(&sealsim(&[&["replay", "--all"], &PAIR[..]].concat()));
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
fn a_picture_has_a_band_for_each_run_and_a_chakra_trace_is_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let [plot, chakra] = ["plot.svg", "out.et"].map(|name| folder.path().join(name).display().to_string());
    let files = ["--design", "overlap", "--plot", &plot, "--chakra", &chakra, "--chakra-run", "overlap"];
    text(&sealsim(&[&["replay"], &PAIR[..], &files].concat()));
    let svg = fs::read_to_string(&plot).unwrap();
    assert!([">off: ", ">cc: ", ">overlap: "].iter().all(|band| svg.matches(band).count() == 1), "{svg}");
    let trace = trace::read(Input::Path(chakra.as_ref()), None, &mut |_, _| sealsim::sim::Control::Continue).unwrap();
    assert_eq!(trace.format, Some("Chakra execution trace"));
    let names: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 2, "{names:?}");
}

#[test]
fn files_that_cannot_be_written_are_refused_before_anything_is_played() {
    let folder = tempfile::tempdir().unwrap();
    let [copy, missing] =
        ["trace.json.gz", "missing/plot.svg"].map(|name| folder.path().join(name).display().to_string());
    fs::copy("validation/traces/a100-alexnet.json.gz", &copy).unwrap();
    let before = fs::read(&copy).unwrap();
    let refused = |more: &[&str]| {
        let output = sealsim(&[&["replay", &copy], more].concat());
        assert!(output.stdout.is_empty(), "{more:?}");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code().unwrap(), said)
    };
    for more in [&["--plot", &*copy][..], &["--chakra", &copy], &["--plot", "a.svg", "--chakra", "./a.svg"]] {
        let (status, said) = refused(more);
        assert!(status == 2 && said.contains("are the same file"), "{more:?}: {status}, {said}");
    }
    let (status, said) = refused(&["--plot", &missing]);
    assert!(status == 4 && said.contains("missing/plot.svg"), "{status}, {said}");
    let (status, said) = refused(&["--chakra", &missing, "--chakra-run", "fastrack"]);
    assert!(status == 2 && said.contains("there are off, cc"), "{status}, {said}");
    assert_eq!(refused(&["--chakra-run", "off"]).0, 2);
    assert!(fs::read(&copy).unwrap() == before);
}

#[test]
fn an_imported_profile_runs() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("job.toml");
    fs::write(&file, text(&sealsim(&["import", "validation/traces/a100-alexnet.json.gz"]))).unwrap();
    let path = file.display().to_string();
    let run = ["run", "h100-nvl-tdx", "--workload", &path, "--data", "none", "--what-if", "0", "--format", "json"];
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
    let copy = ["run", "h100-nvl-tdx", "--copy", "h2d:1MiB", "--data", "none", "--what-if", "0", "--format", "json"];
    let run = text(&sealsim(&copy));
    let json: Json = serde_json::from_str(&run).unwrap();
    let rate = json["copies"][0]["gb_per_s"].as_f64().unwrap();
    assert!((row[7].parse::<f64>().unwrap() / rate - 1.0).abs() < 1e-3, "{row:?} against {rate}");
}

#[test]
fn a_cost_table_writes_what_other_simulators_read() {
    let sizes = ["--size", "64KiB,1MiB,16MiB"];
    let table = |more: &[&str]| sealsim(&[&["cost-table", "h100-nvl-tdx"], &sizes[..], more].concat());
    let json = |output: &Output| -> Json { serde_json::from_str(&text(output)).unwrap() };
    // ASTRA-sim: two whole numbers and a type that its analytical backend knows.
    let astra = json(&table(&["--for", "astra-sim"]));
    assert_eq!(astra.as_object().unwrap().len(), 3);
    assert_eq!(astra["memory-type"], "PER_NPU_MEMORY_EXPANSION");
    assert!(astra["remote-mem-latency"].is_u64() && astra["remote-mem-bw"].as_u64().unwrap() >= 1);
    // LLMServingSim: GB/s and ns beside `mem_size`, which is the user's.
    let [cc, off] = ["cc", "off"].map(|mode| table(&["--for", "llmservingsim", "--mode", mode, "--direction", "h2d"]));
    assert!(String::from_utf8_lossy(&cc.stderr).contains("cc: one latency and one rate are off by at most"));
    let [cc, off] = [json(&cc), json(&off)].map(|document| document["cpu_mem"].clone());
    let plain = text(&table(&["--memory", "pinned", "--concurrency", "1"]));
    let row = |mode: &str| {
        let start = format!("{mode},h2d,pinned,16777216,1,");
        plain.lines().find_map(|line| line.strip_prefix(&start)?.split(',').next()?.parse::<f64>().ok()).unwrap()
    };
    for (line, ns) in [(&cc, row("cc")), (&off, row("off"))] {
        let (rate, latency) = (line["mem_bw"].as_f64().unwrap(), line["mem_latency"].as_f64().unwrap());
        assert!(((latency + 16_777_216.0 / rate) / ns - 1.0).abs() < 0.3, "{line} against {ns}");
    }
    assert!(off["mem_bw"].as_f64().unwrap() > 2.0 * cc["mem_bw"].as_f64().unwrap());
    // Vidur: the columns by which its predictor filters and what it learns from, for two, four and eight GPUs.
    let vidur =
        sealsim(&["cost-table", "hgx-h100-8gpu", "--for", "vidur", "--size", "1MiB,4MiB", "--design", "staged"]);
    let vidur = text(&vidur);
    let mut lines = vidur.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let head = lines.next().unwrap();
    let cell = |row: &[&str], name: &str| row[head.iter().position(|one| *one == name).unwrap()].to_owned();
    let rows: Vec<_> = lines.collect();
    assert!(rows.iter().all(|row| row.len() == head.len()) && rows.len() == 8);
    for row in &rows {
        let kind = cell(row, "collective");
        assert!(cell(row, &format!("time_stats.{kind}.median")).parse::<f64>().unwrap() > 0.0, "ms");
        assert_eq!(cell(row, "num_workers"), cell(row, "devices_per_node"));
    }
    assert_eq!(rows.iter().filter(|row| cell(row, "collective") == "send_recv").count(), 2);
    // What does not go together, and a name that is none.
    for (wrong, says) in [
        (&["--for", "gem5"][..], "astra-sim, llmservingsim, vidur"),
        (&["--for", "vidur", "--memory", "pinned"], "leave out --memory"),
        (&["--for", "astra-sim", "--memory", "pinned,pageable"], "give one --memory"),
        (&["--mode", "off"], "--for"),
    ] {
        let output = table(wrong);
        assert_eq!(output.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&output.stderr).contains(says), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

/// A warm decode loop: four steps that the host decides.
const LOOP: &str = "validation/traces/h100-decode-eager-1.json.gz";

#[test]
fn a_loop_is_shown_by_a_step_within_80_columns() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (trace, page) = (path("step.pftrace"), path("page.html"));
    let printed = text(&sealsim(&[
        "replay",
        LOOP,
        "--what-if",
        "all",
        "--trace",
        &trace,
        "--report",
        &page,
        "--all",
        "--rows",
        "2",
    ]));
    for line in printed.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    assert!(printed.contains("... and 8 more (--rows 10 shows them)"), "{printed}");
    let trace = fs::read(trace).unwrap();
    let has = |words: &str| trace.windows(words.len()).any(|window| window == words.as_bytes());
    assert!(
        ["off", "cc", "thread 1", "cudaLaunchKernel", "holds the host until its copy is done"]
            .iter()
            .all(|one| has(one))
    );
    let page = fs::read_to_string(page).unwrap();
    let step = page.find(r#""step":{"number":"#).unwrap();
    assert!(page[step..].contains("copy calls that hold the host"));
    // So does a picture, with changes by name and several at once; `changes` are rows alone.
    let plot = path("step.svg");
    let changes = ["--what-if", "changes", "--what-if", "copy-thread+graph", "--what-if", "graph+openssl"];
    let files = ["--plot", &plot, "--format", "json"];
    let all = [&["replay", LOOP], &changes[..], &files[..]].concat();
    let json: Json = serde_json::from_str(&text(&sealsim(&all))).unwrap();
    let rows = json["what_if"].as_array().unwrap();
    let row = |name: &str| rows.iter().find(|row| row["name"] == name).unwrap_or_else(|| panic!("{rows:?}"));
    let (both, graph, thread) = (row("copy-thread+graph"), row("graph"), row("copy-thread"));
    assert_eq!(both["calls"].as_u64().unwrap(), graph["calls"].as_u64().unwrap() + thread["calls"].as_u64().unwrap());
    assert!(both["gain"].as_f64() >= graph["gain"].as_f64(), "{both}");
    // A library changes nothing without CC; of copies that change, no profile says what they take then.
    let off = |name: &str| row(name)["off_step_ns"].as_u64();
    assert_eq!((off("openssl"), off("graph+openssl")), (json["steps"]["runs"][0]["mean_ns"].as_u64(), off("graph")));
    assert!(off("graph") < off("openssl") && both.get("off_step_ns").is_none());
    let svg = fs::read_to_string(&plot).unwrap();
    assert!(
        [">off: ", ">cc: ", ">copy-thread+graph: ", "start of the step"].iter().all(|has| svg.contains(has)),
        "{svg}"
    );
    assert!(!svg.contains(">graph: "));
    assert_eq!(sealsim(&["replay", LOOP, "--what-if", "graph+fastrack"]).status.code(), Some(2));
    // A program without a loop has no step.
    let refused = sealsim(&[&["replay"], &PAIR[..], &["--trace", &path("none")]].concat());
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("no loop was found"));
    assert!(!folder.path().join("none").exists());
}

#[test]
fn a_long_replay_offers_to_sample_before_it_begins() {
    let copy = |place: u64| {
        let (at, bytes) = (place * 1_000_000, (1 << 30) + place);
        format!(
            r#"{{"ph":"X","cat":"cuda_runtime","name":"cudaMemcpyAsync","pid":1,"tid":1,"ts":{at},"dur":90000,"args":{{"correlation":{place}}}}},
               {{"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD (Pinned -> Device)","pid":0,"tid":7,"ts":{at},"dur":80000,"args":{{"correlation":{place},"device":0,"stream":7,"bytes":{bytes}}}}}"#
        )
    };
    let folder = tempfile::tempdir().unwrap();
    let said = |copies: u64| {
        let path = folder.path().join("profile.json");
        fs::write(&path, format!(r#"{{"traceEvents":[{}]}}"#, (1..=copies).map(copy).collect::<Vec<_>>().join(",")))
            .unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_sealsim"))
            .args(["replay", path.to_str().unwrap()])
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
        let _ = child.kill();
        let _ = child.wait();
        line
    };
    assert_eq!(
        said(2),
        "12 GB of copies are simulated, which takes a core more than 30 s: --sample auto estimates them in seconds\n"
    );
}

#[test]
fn ranks_of_one_job_have_a_table_and_are_given_once_each() {
    let folder = tempfile::tempdir().unwrap();
    let file = |rank: u32, takes: u32| {
        let collective = r#""Collective name":"allreduce","In msg nelems":262144,"dtype":"Float","Group size":2,"Process Group Ranks":"[0, 1]""#;
        let events = format!(
            r#"{{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":0,"dur":5,"args":{{"correlation":1}}}},
               {{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":10,"dur":{takes},"args":{{"correlation":1,"device":0,"stream":7}}}},
               {{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":6,"dur":5,"args":{{"correlation":2}}}},
               {{"ph":"X","cat":"kernel","name":"ncclDevKernel_AllReduce","pid":0,"tid":7,"ts":{},"dur":{},"args":{{"correlation":2,"device":0,"stream":7,{collective}}}}}"#,
            11 + takes,
            500 - takes
        );
        let text = format!(r#"{{"distributedInfo":{{"rank":{rank},"world_size":4}},"traceEvents":[{events}]}}"#);
        let path = folder.path().join(format!("rank{rank}.json"));
        fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let [zero, one] = [file(0, 100), file(1, 400)];
    let hw = ["--hw", "hgx-h100-8gpu", "--format", "json"];
    let both = sealsim(&[&["replay", &zero, &one], &hw[..]].concat());
    let json: Json = serde_json::from_str(&text(&both)).unwrap();
    let ranks = json["ranks"].as_array().unwrap();
    // The first one's collective takes 400 us, of which it waits 300.
    assert_eq!(ranks[0]["waits_off_ns"], 300_000);
    assert_eq!((&ranks[1]["waits_off_ns"], &ranks[1]["rank"]), (&0.into(), &1.into()));
    assert_eq!(ranks[0]["off_ns"], json["runs"][0]["end_ns"]);
    assert!(
        json["assumed"].as_array().unwrap().iter().any(|one| one.as_str().unwrap().contains("The job has 4 ranks"))
    );
    assert!(text(&sealsim(&["replay", &zero, &one, "--all"])).contains("waits, off"));
    let alone: Json = serde_json::from_str(&text(&sealsim(&[&["replay", &zero], &hw[..]].concat()))).unwrap();
    assert_eq!((&alone["ranks"], &alone["runs"][0]["end_ns"]), (&Json::Null, &json["runs"][0]["end_ns"]));
    let scaled = sealsim(&[&["replay", &zero, "--kernel-scale", "k=3", "--kernel-scale", "other=9"], &hw[..]].concat());
    let scaled: Json = serde_json::from_str(&text(&scaled)).unwrap();
    let end = |json: &Json| json["runs"][0]["end_ns"].as_u64().unwrap();
    assert_eq!(end(&scaled), end(&alone) + 2 * 100_000);
    let refused = |arguments: &[&str], words: &str| {
        let output = sealsim(arguments);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        let error = error.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ");
        assert!(output.status.code() == Some(2) && error.contains(words), "{error}");
    };
    refused(&["replay", &zero, &zero], "are both of rank 0");
    refused(&["replay", &zero, &one, "--api", PAIR[2]], "--api belongs to one profile");
    refused(&["import", &zero, &one], "there are several profiles");
    refused(&["replay", &zero, "--kernel-scale", "0"], "a factor is a number above 0");
    refused(&["replay"], "FILE");
}

#[test]
fn a_profile_of_another_gpu_says_so() {
    let said = |hw: &str, more: &[&str]| {
        let profile = "crates/workload/src/workload/trace/samples/kineto.json";
        let arguments = [&["replay", profile, "--all", "--hw", hw], more].concat();
        text(&sealsim(&arguments)).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let words = "Kernels take what they took on the GPU of the profile, NVIDIA H100 PCIe: --kernel-scale changes that.";
    assert!(said("b200-tdx", &[]).contains(words));
    assert!(!said("b200-tdx", &["--kernel-scale", "0.6"]).contains("--kernel-scale changes that"));
}

#[test]
fn what_is_no_trace_is_refused_with_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, content: &str| {
        let path = folder.path().join(name);
        fs::write(&path, content).unwrap();
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
    fs::write(&file, format!(r#"{{"nvbandwidth":{{"testcases":[{cases}]}}}}"#)).unwrap();
    let path = file.display().to_string();
    let output = sealsim(&["validate", "--hw", "h100-sxm5-off", "--mode", "off", "--measured", &path]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text(&output).contains("1 held out"), "{said}");
    assert!(said.contains("used as off: host_to_device_memcpy_ce"), "{said}");
    assert!(said.contains("left out: device_to_device_memcpy_read_ce, between GPUs"), "{said}");
}
