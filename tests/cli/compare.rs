//! `sealsim compare` as a process: figures, shapes, refusals, signals.

use crate::message;
use serde_json::Value;
use std::{
    fs,
    process::{Command, Output, Stdio},
};

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sealsim"));
    command.env("COLUMNS", "240").args(["compare", "--all"]).args(arguments).stdin(Stdio::null());
    command
}

fn compare(arguments: &[&str]) -> Output {
    command(arguments).output().expect("the program runs")
}

fn json(arguments: &[&str]) -> Value {
    let output = compare(&[arguments, &["--format", "json"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", message(&output));
    assert!(output.stderr.is_empty(), "no progress bar where nobody looks");
    serde_json::from_slice(&output.stdout).expect("JSON on standard output")
}

fn refusal(arguments: &[&str]) -> (Option<i32>, String) {
    let output = compare(arguments);
    assert!(output.stdout.is_empty());
    (output.status.code(), message(&output))
}

fn design<'j>(json: &'j Value, name: &str) -> &'j Value {
    let all = json["designs"].as_array().expect("a list of designs");
    all.iter().find(|design| design["name"] == name).unwrap_or_else(|| panic!("no design {name}"))
}

fn names(json: &Value) -> Vec<&str> {
    json["designs"].as_array().expect("a list").iter().filter_map(|design| design["name"].as_str()).collect()
}

#[test]
fn every_shipped_design_takes_part_and_each_figure_has_its_unit_in_its_name() {
    let json = json(&["h100-nvl-tdx", "--size", "4KiB", "--size", "64KiB"]);
    assert_eq!((&json["machine"], &json["host_memory"]), (&"h100-nvl-tdx".into(), &"pinned".into()));
    assert_eq!(json["sizes_bytes"], serde_json::json!([4096, 65536]));
    assert_eq!((&json["skipped"], &json["schema_version"]), (&serde_json::json!([]), &4.into()));
    assert_eq!(names(&json)[..3], ["off", "h100-cc", "h100-cc-resealed"]);
    for name in ["direct", "parallel-auth", "parallel-auth-same-tag", "overlap", "fastrack", "hold", "by-page"] {
        let design = design(&json, name);
        let copies = design["copies"].as_array().expect("copies");
        assert_eq!(copies.len(), 4, "{name}: two sizes both ways");
        for copy in copies {
            let number = |field: &str| copy[field].as_f64().unwrap_or_else(|| panic!("{name}: {field}"));
            let rate = number("bytes") * 1e3 / number("time_ps");
            assert!((number("gb_per_s") / rate - 1.0).abs() < 1e-6, "{name}");
            assert!(number("first_verified_ps") > 0.0 && number("first_verified_ps") < number("time_ps"), "{name}");
            let both_ways = if name == "by-page" { number("bytes") / 4096.0 } else { 1.0 };
            assert_eq!(number("tags_verified"), both_ways, "{name}");
            assert!(number("speedup_over_baseline") > 0.0 && number("fraction_of_off") < 1.0, "{name}");
            assert!(copy["busiest"].is_string() && copy["busiest_parts"]["unit"].is_string(), "{name}");
            assert_eq!(copy.get("limited_by"), None, "{name}: nobody has measured it");
            let held = name == "hold" && copy["direction"] == "h2d";
            assert_eq!(number("quarantine_bytes") > 0.0, held, "{name}");
        }
    }
}

#[test]
fn a_row_is_what_run_gives() {
    let json = json(&["h100-nvl-tdx", "--design", "direct+overlap", "--size", "1MiB"]);
    assert_eq!(names(&json), ["off", "h100-cc", "h100-cc-resealed", "direct+overlap"]);
    let design = design(&json, "direct+overlap");
    assert_eq!(design["baseline"], "h100-cc-resealed");
    for copy in design["copies"].as_array().expect("copies") {
        let way = format!("{}:1MiB", copy["direction"].as_str().expect("a direction"));
        let arguments = ["run", "h100-nvl-tdx", "--design", "direct", "--design", "overlap", "--copy", &way];
        let output = Command::new(env!("CARGO_BIN_EXE_sealsim"))
            .env("COLUMNS", "240")
            .args(arguments)
            .args(["--data", "none", "--what-if", "0", "--format", "json"])
            .output()
            .expect("the program runs");
        let run: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let alone = &run["copies"][0];
        assert_eq!((&alone["gb_per_s"], &alone["busiest"]), (&copy["gb_per_s"], &copy["busiest_parts"]));
        assert_eq!(alone["first_verified_at_ps"], copy["first_verified_ps"]);
        assert_eq!(run["tag_queue"]["exposure_ps"], copy["exposure_ps"]);
    }
}

#[test]
fn the_output_does_not_depend_on_the_number_of_threads() {
    for format in ["text", "json", "csv"] {
        let of =
            |threads| compare(&["h100-nvl-tdx", "--size", "64KiB", "--threads", threads, "--format", format]).stdout;
        assert_eq!(of("1"), of("6"), "{format}");
    }
}

#[test]
fn csv_has_a_row_for_each_design_direction_and_size() {
    let output = compare(&["h100-nvl-tdx", "--design", "fastrack", "--size", "4KiB,64KiB,4KiB", "--format", "csv"]);
    let text = String::from_utf8(output.stdout).expect("text");
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), 1 + 4 * 2 * 2, "{text}");
    assert!(rows.iter().all(|row| row.len() == rows[0].len()), "{text}");
    let column = |name| rows[0].iter().position(|head| *head == name).expect("a column");
    assert_eq!(rows[1][..3], ["off", "h2d", "4096"]);
    assert_eq!((rows[1][column("first_verified_ps")], rows[1][column("baseline")]), ("", "h100-cc"));
    let last = rows.last().expect("rows");
    assert_eq!((last[..3].to_vec(), last[column("baseline")]), (vec!["fastrack", "d2h", "65536"], "h100-cc-resealed"));
    assert!(last[column("speedup_over_baseline")].parse::<f64>().expect("a number") > 1.0);
}

#[test]
fn costs_and_risks_have_both_their_ends_or_a_reason() {
    let asked = ["h100-nvl-tdx", "--design", "hold", "--design", "sm", "--design", "ide", "--size", "64KiB"];
    let json = json(&asked);
    assert_eq!(json["process_spread_factor"], 2.0);
    let unproven = "rtl/results.toml,";
    assert!(json["cost_source"].as_str().is_some_and(|text| text.contains(unproven)));
    for name in ["h100-cc", "hold", "ide"] {
        let cost = &design(&json, name)["cost"];
        for figure in ["area_kge", "h2d_pj_per_byte", "d2h_pj_per_byte"] {
            let end = |end: &str| cost[format!("{figure}_{end}")].as_f64().unwrap_or_else(|| panic!("{name} {figure}"));
            assert!(0.0 < end("low") && end("low") < end("high"), "{name} {figure}");
        }
        assert!(cost["missing"].is_null(), "{name}");
    }
    for (name, reason) in [("off", "nothing is sealed"), ("sm", "kernels take 42 of 132 SMs")] {
        let cost = &design(&json, name)["cost"];
        assert!(cost["area_kge_low"].is_null() && cost["area_kge_high"].is_null(), "{name}");
        assert!(cost["missing"].as_str().is_some_and(|text| text.contains(reason)), "{name}: {cost}");
    }
    let hold = &design(&json, "hold")["cost"];
    assert_eq!(hold["quarantine_capacity_bytes"], 1 << 20);
    assert!(hold["storage_sram_kge_high"].as_f64() < hold["storage_flip_flop_kge"].as_f64());
    let copies = design(&json, "h100-cc")["copies"].as_array().expect("copies");
    let to_gpu = &copies[0];
    assert_eq!((&to_gpu["exposure_total_ps"], &to_gpu["tag_bits"]), (&to_gpu["exposure_ps"], &128.into()));
    assert!((to_gpu["forgery_log2"].as_f64().expect("a bound") - (4098_f64.log2() - 128.0)).abs() < 1e-9);
    assert_eq!(to_gpu["iv_budget_messages"], 0xFFFF_FFFF_u64);
    assert!(to_gpu["key_budget_messages"].as_u64() < to_gpu["iv_budget_messages"].as_u64());
    let ide = &design(&json, "ide")["copies"][0];
    assert!(ide["tag_bits"] == 96 && ide["key_budget_bytes"].is_null() && ide["forgery_log2"].is_f64());
    assert!(design(&json, "off")["copies"][0]["forgery_log2"].is_null());
    let after = |name: &str| &design(&json, name)["copies"][0]["after_first_success"];
    assert_eq!([after("h100-cc"), after("ide")], ["certain"; 2]);
    assert!(after("off").is_null() && hold["area_total_kge"].as_f64() > hold["storage_sram_kge_low"].as_f64());

    let text = String::from_utf8(compare(&asked).stdout).expect("text");
    for phrase in [
        "cost on the GPU: areas in kGE",
        "h2d of 64 KiB: exposure, forgery bounds, life of keys",
        "by a factor of 2",
        unproven,
        "the same difference of ciphertext and tag",
    ] {
        assert!(text.contains(phrase), "{phrase}: {text}");
    }
    let csv = String::from_utf8(compare(&[&asked[..], &["--format", "csv"]].concat()).stdout).expect("text");
    let mut rows = csv::Reader::from_reader(csv.as_bytes());
    let heads = rows.headers().expect("a head").clone();
    let rows: Vec<_> = rows.records().map(|row| row.expect("a row as long as the head")).collect();
    let cell = |row: &csv::StringRecord, name| {
        let place = heads.iter().position(|head| head == name).unwrap_or_else(|| panic!("no column {name}"));
        row[place].to_owned()
    };
    let of = |name: &str| rows.iter().find(|row| row[0] == *name).unwrap_or_else(|| panic!("no row {name}"));
    assert_eq!(cell(of("hold"), "quarantine_capacity_bytes"), (1 << 20).to_string());
    assert_eq!((cell(of("sm"), "area_kge_low"), cell(of("sm"), "sms_used")), (String::new(), "42".to_owned()));
    assert!(cell(of("ide"), "cost_notes").contains("headers of TLPs"));
    assert!(cell(of("off"), "cost_missing").contains("nothing is sealed"));
}

#[test]
fn a_design_that_does_not_close_at_its_clock_is_refused_and_says_so_where_it_is_simulated() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join("fast.toml");
    let text = "[copy_engine]\nclock = \"3.5 GHz\"\n";
    fs::write(&path, text).expect("a file");
    let arguments = ["h100-nvl-tdx", "--design", path.to_str().expect("a path"), "--size", "4KiB"];
    let output = compare(&arguments);
    let said = String::from_utf8(output.stderr).expect("text");
    let said = said.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ");
    assert_eq!(output.status.code(), Some(3), "{said}");
    for part in ["does not close at 3.5 GHz (needs 519 ps, has 286)", "engine.check = \"warn\" simulates it as it is"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    fs::write(&path, format!("{text}[engine]\ncheck = \"warn\"\n")).expect("a file");
    let path = path.display().to_string();
    let json = json(&["h100-nvl-tdx", "--design", &path, "--size", "4KiB"]);
    let says = |name: &str| design(&json, name)["cost"]["does_not_close"].clone();
    assert!(
        says(&path).as_str().is_some_and(|says| says.starts_with("does not close at 3.5 GHz (needs 519 ps, has 286)"))
    );
    assert!(says("h100-cc").is_null());
    let text = String::from_utf8(compare(&["h100-nvl-tdx", "--design", &path, "--size", "4KiB"]).stdout).expect("text");
    let row = |name: &str| text.lines().rfind(|line| line.contains(name)).expect("a row").to_owned();
    assert!(row(&path).ends_with("[2]") && text.contains("[2] "), "{text}");
}

#[test]
fn text_names_baselines_and_what_limits() {
    let output = compare(&["h100-nvl-tdx", "--design", "direct", "--size", "64KiB", "--memory", "pageable"]);
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(text.contains("host memory pageable") && text.contains("h2d: times as fast as the baseline"), "{text}");
    let gain = text.lines().find(|line| line.contains("direct") && line.contains("h100-cc-resealed")).expect("a gain");
    assert!(gain.split_whitespace().last().expect("a number").parse::<f64>().expect("a number") > 1.0, "{gain}");
    assert!(text.contains("d2h of 64 KiB: times in us") && text.contains("busiest"), "{text}");
}

#[test]
fn a_design_of_ones_own_takes_part_and_an_impossible_one_is_refused_before_anything_runs() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).expect("a file");
        path.display().to_string()
    };
    let mine = file("mine.toml", "summary = \"my idea\"\n[driver]\nsecure_push = \"100 cycles\"\n");
    let both = format!("{mine}+direct");
    let json = json(&["h100-nvl-tdx", "--design", &mine, "--design", &both, "--size", "4KiB"]);
    let rate = |name: &str| design(&json, name)["copies"][0]["gb_per_s"].as_f64().expect("a rate");
    assert!(rate("h100-cc") < rate(&mine) && rate(&mine) < rate(&both));
    assert_eq!(design(&json, &mine)["summary"], "my idea");
    // A copy of a TiB would take days: what is refused is refused first.
    for (text, reason) in [
        (
            "[engine.ghash]\ndesign = \"interleaved\"\nways = 0\nmultipliers = 1\nclosing = \"look_ahead\"\nmultiplier = { product = \"3 cycles\", reduction = \"1 cycle\", digit_bits = 128 }\n",
            "engine",
        ),
        ("[tag_queue]\nrelease = \"hold\"\n", "it must hold one message of 1 MiB"),
        ("[copy_engine]\npces_secure = 9\n", "9 PCEs"),
        ("[cipher]\nwork = \"knead\"\n", "knead"),
    ] {
        let bad = file("bad.toml", text);
        let (code, message) = refusal(&["h100-nvl-tdx", "--design", &bad, "--size", "1TiB"]);
        assert!(code == Some(3) && message.contains(reason), "{reason}: {code:?} {message}");
    }
}

#[test]
fn mistakes_have_their_exit_status_and_a_remedy() {
    let (code, text) = refusal(&["h100-nvl-tdx", "--design", "fastrak"]);
    assert!(code == Some(3) && text.contains("did you mean `fastrack`?"), "{code:?} {text}");
    let (code, text) = refusal(&["h100-nvl-tdx", "--design", "direct+ovrlap"]);
    assert!(code == Some(3) && text.contains("did you mean `overlap`?"), "{code:?} {text}");
    let (code, text) = refusal(&["h100-nvl-tdx", "--design", "direct+"]);
    assert!(code == Some(3) && text.contains("missing beside `+`"), "{code:?} {text}");
    let (code, text) = refusal(&["h100-sxm5-off", "--design", "direct"]);
    assert!(code == Some(3) && text.contains("confidential computing off"), "{code:?} {text}");
    let (code, text) = refusal(&["h100-nvl-tdy"]);
    assert!(code == Some(3) && text.contains("did you mean `h100-nvl-tdx`?"), "{code:?} {text}");
    for arguments in [
        &["h100-nvl-tdx", "--size", "0"][..],
        &["h100-nvl-tdx", "--size", "64MB/s"],
        &["h100-nvl-tdx", "--size", ""],
        &["h100-nvl-tdx", "--memory", "managed"],
        &["h100-nvl-tdx", "--threads", "0"],
        &[],
    ] {
        assert_eq!(refusal(arguments).0, Some(2), "{arguments:?}");
    }
}

#[test]
fn designs_that_a_machine_without_confidential_computing_cannot_have_are_named() {
    let json = json(&["h100-sxm5-off", "--size", "4KiB"]);
    assert_eq!(names(&json), ["off"]);
    let skipped = json["skipped"].as_array().expect("a list");
    assert!(skipped.iter().any(|one| one["name"] == "fastrack"));
    assert!(skipped.iter().all(|one| one["reason"].as_str().is_some_and(|text| text.contains("off"))));
    let off = design(&json, "off");
    assert!(off["baseline"].is_null() && off["copies"][0]["speedup_over_h100_cc"].is_null());
    assert_eq!(off["copies"][0]["fraction_of_off"], 1.0);
}

#[test]
fn a_reader_that_closes_the_pipe_ends_it_quietly() {
    let mut child = command(&["h100-nvl-tdx", "--design", "direct", "--size", "64KiB"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!((output.status.code(), message(&output)), (Some(0), String::new()));
}

/// Waits until the process handles SIGINT by itself.
#[cfg(target_os = "linux")]
pub(super) fn wait_until_it_listens(process: u32) {
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    let listens = || {
        let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 2 != 0)
    };
    while !listens() {
        assert!(std::time::Instant::now() < deadline, "it does not listen");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

/// Starts a comparison, interrupts it after a while, and gives what came of it.
#[cfg(target_os = "linux")]
fn interrupted(arguments: &[&str], cache: &std::path::Path, after: std::time::Duration) -> Output {
    let mut command = command(arguments);
    let piped = command.env("XDG_CACHE_HOME", cache).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = piped.spawn().expect("the program runs");
    wait_until_it_listens(child.id());
    std::thread::sleep(after);
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
    let output = child.wait_with_output().expect("it ends");
    assert!(kill.success() || output.status.success());
    output
}

#[cfg(target_os = "linux")]
#[test]
fn an_interrupted_comparison_of_which_nothing_is_finished_prints_nothing() {
    let cache = tempfile::tempdir().unwrap();
    let output = interrupted(&["h100-nvl-tdx", "--size", "64GiB"], cache.path(), std::time::Duration::ZERO);
    assert_eq!(output.status.code(), Some(1), "{}", message(&output));
    assert!(output.stdout.is_empty() && message(&output).contains("interrupted"), "{}", message(&output));
    assert_eq!(fs::read_dir(cache.path()).unwrap().count(), 0);
}

#[cfg(target_os = "linux")]
#[test]
fn an_interrupted_comparison_prints_what_is_finished_and_resume_does_the_rest() {
    let cache = tempfile::tempdir().unwrap();
    let own = ["h100-nvl-tdx", "--size", "4KiB,16MiB,32MiB", "--design", "direct", "--format", "json"];
    let resume = [&own[..], &["--resume"]].concat();
    let whole = compare(&own).stdout;
    let (mut least, mut partly) = (0, false);
    for turn in 0..60 {
        let output = interrupted(&resume, cache.path(), std::time::Duration::from_millis(20 << (turn / 4)));
        if output.status.success() {
            assert_eq!(output.stdout, whole);
            // Nothing is left of it.
            let kept = fs::read_dir(cache.path().join("sealsim/unfinished"));
            assert_eq!(kept.map_or(0, |files| files.count()), 0);
            // Another that begins with --resume says that there is nothing to go on from.
            let mut again = command(&resume);
            let again = again.env("XDG_CACHE_HOME", cache.path()).output().unwrap();
            assert!(message(&again).contains("nothing is kept") && again.stdout == whole);
            assert!(partly, "it was never interrupted between its first and its last run");
            return;
        }
        assert_eq!(output.status.code(), Some(1), "{}", message(&output));
        let Ok(json) = serde_json::from_slice::<Value>(&output.stdout) else { continue };
        let made: usize =
            json["designs"].as_array().unwrap().iter().map(|one| one["copies"].as_array().unwrap().len()).sum();
        assert!(made >= least && made < 24, "{made}");
        assert_eq!(json["unfinished"], 24 - made);
        assert!(message(&output).contains(&format!("{made} of 24 runs are finished")), "{}", message(&output));
        (least, partly) = (made, true);
    }
    panic!("it does not come to an end");
}

#[cfg(target_os = "linux")]
#[test]
fn a_comparison_that_is_killed_goes_on_with_what_was_finished() {
    let cache = tempfile::tempdir().unwrap();
    let own = ["h100-nvl-tdx", "--size", "4KiB,64MiB", "--design", "direct", "--threads", "1", "--format", "json"];
    let kept = || {
        let files = fs::read_dir(cache.path().join("sealsim/unfinished")).into_iter().flatten().flatten();
        files.filter_map(|file| fs::read_to_string(file.path()).ok()).map(|text| text.lines().count()).sum::<usize>()
    };
    let mut command_killed = command(&own);
    let child = command_killed.env("XDG_CACHE_HOME", cache.path()).stdout(Stdio::null());
    let mut child = child.spawn().expect("the program runs");
    while kept() == 0 && child.try_wait().expect("a child").is_none() {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    child.kill().expect("killed");
    child.wait().expect("gone");
    assert!((1..16).contains(&kept()), "the kill came too late");
    let resumed = command(&[&own[..], &["--resume"]].concat()).env("XDG_CACHE_HOME", cache.path()).output().unwrap();
    assert!(!message(&resumed).contains("nothing is kept"), "{}", message(&resumed));
    assert_eq!((resumed.stdout, kept()), (compare(&own).stdout, 0));
}

#[test]
fn copies_are_those_that_are_asked_for() {
    let both = json(&["h100-nvl-tdx", "--size", "64KiB", "--design", "direct", "--memory", "pageable"]);
    let one = json(&["h100-nvl-tdx", "--copy", "d2h:64KiB:pageable", "--design", "direct"]);
    assert_eq!((&one["host_memory"], &one["sizes_bytes"]), (&"pageable".into(), &serde_json::json!([65536])));
    for name in names(&both) {
        let (all, alone) = (&design(&both, name)["copies"], &design(&one, name)["copies"]);
        assert_eq!(alone.as_array().unwrap().len(), 1);
        assert_eq!(alone[0], all[1], "{name}");
    }
    let text = compare(&["h100-nvl-tdx", "--copy", "d2h:64KiB", "--design", "direct"]).stdout;
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("d2h: GB/s") && !text.contains("h2d: GB/s"));
    for (copies, why) in [
        (["--copy", "d2d:4KiB"].as_slice(), "not sealed"),
        (&["--copy", "h2d:4KiB", "--copy", "d2h:4KiB:pageable"], "kinds of memory"),
        (&["--copy", "h2d"], "no size"),
        (&["--copy", "gpu1:h2d:4KiB"], "no GPU 1"),
    ] {
        let (status, said) = refusal(&[&["h100-nvl-tdx", "--design", "direct"], copies].concat());
        assert!(status == Some(2) && said.contains(why), "{copies:?}: {said}");
    }
}

#[test]
fn settings_lie_on_every_design_and_the_switch_below_all() {
    let with = |more: &[&str]| json(&[&["h100-nvl-tdx", "--size", "64KiB", "--design", "direct"], more].concat());
    let (plain, slow) = (with(&[]), with(&["--set", "link.lanes=4"]));
    for name in names(&plain) {
        let rate = |json: &Value| design(json, name)["copies"][0]["gb_per_s"].as_f64().unwrap();
        assert!(rate(&slow) < rate(&plain), "{name}");
    }
    assert_eq!(with(&["--cc", "on"]), plain);
    let machine = json(&["h100-sxm5-off", "--cc", "on", "--size", "64KiB", "--design", "direct"]);
    let sealed = |name: &str| design(&machine, name)["confidential_computing"].clone();
    assert_eq!((sealed("off"), sealed("h100-cc"), sealed("direct")), (false.into(), true.into(), true.into()));
    let (status, said) =
        refusal(&["h100-nvl-tdx", "--set", "confidential_computing=true", "--design", "off", "--size", "1KiB"]);
    assert!(status == Some(3) && said.contains("--cc on"), "{said}");
}

const WORKLOAD: [&str; 2] = ["--workload", "upload-compute-download"];

#[test]
fn a_workload_has_one_row_for_each_design_on_the_machine_that_it_names() {
    let json = json(&[&WORKLOAD[..], &["--design", "fastrack"]].concat());
    assert_eq!((&json["machine"], &json["workload"]), (&"h100-nvl-tdx".into(), &"upload-compute-download".into()));
    assert_eq!((&json["kernels"], &json["kernels_ps"]), (&1.into(), &500_000_000_u64.into()));
    assert!(json["workload_summary"].is_string());
    assert_eq!(names(&json), ["off", "h100-cc", "h100-cc-resealed", "fastrack"]);
    for name in names(&json) {
        let figures = design(&json, name);
        let number = |field: &str| figures[field].as_f64().unwrap_or_else(|| panic!("{name}: {field}"));
        assert_eq!((&figures["h2d_copies"], &figures["h2d_bytes"]), (&1.into(), &(16 << 20).into()));
        assert_eq!((&figures["d2h_copies"], &figures["d2d_copies"]), (&1.into(), &0.into()));
        let device = number("h2d_device_ps");
        assert!(0.0 < device && device <= number("h2d_calls_ps"), "{name}");
        assert!(number("slowdown_over_off") >= 1.0 && (0.0..=1.0).contains(&number("gpu_idle")), "{name}");
        let busiest = &figures["busiest_parts"];
        assert!(busiest["unit"].is_string() && busiest["fraction"].as_f64().is_some_and(|part| part > 0.0), "{name}");
    }
    assert_eq!(design(&json, "off")["slowdown_over_off"], 1.0);
    assert_eq!(design(&json, "h100-cc")["busiest"], "host.cipher busy");
    assert!(design(&json, "fastrack")["speedup_over_h100_cc"].as_f64() > Some(1.5));
}

#[test]
fn the_row_of_a_workload_is_what_run_gives() {
    let json = json(&[&["h100-tdx-gen5"], &WORKLOAD[..], &["--design", "overlap"]].concat());
    assert_eq!(json["machine"], "h100-tdx-gen5");
    let output = Command::new(env!("CARGO_BIN_EXE_sealsim"))
        .env("COLUMNS", "240")
        .args(["run", "h100-tdx-gen5", "--design", "overlap", "--data", "none", "--what-if", "0", "--format", "json"])
        .args(WORKLOAD)
        .output()
        .expect("the program runs");
    let run: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let figures = design(&json, "overlap");
    assert_eq!(figures["time_ps"], run["simulated_ps"]);
    assert_eq!(figures["exposure_ps"], run["tag_queue"]["exposure_ps"]);
    assert_eq!(figures["h2d_bytes"], run["copies"][0]["bytes"]);
}

#[test]
fn text_of_a_workload_fits_eighty_columns_and_csv_has_a_row_for_each_design() {
    let text = String::from_utf8(compare(&WORKLOAD).stdout).expect("text");
    assert!(text.lines().count() > 60, "every shipped design has its rows: {text}");
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    let csv = String::from_utf8(compare(&[&WORKLOAD[..], &["--format", "csv", "--design", "ide"]].concat()).stdout);
    let rows: Vec<Vec<String>> =
        csv.expect("text").lines().map(|line| line.split(',').map(str::to_owned).collect()).collect();
    assert_eq!(rows.len(), 5);
    assert!(rows.iter().all(|row| row.len() == rows[0].len()), "{rows:?}");
    assert_eq!(rows[4][..2], ["upload-compute-download", "ide"]);
}

#[test]
fn a_workload_does_not_go_with_what_single_copies_take_and_needs_a_machine() {
    for more in [&["--size", "1MiB"], &["--memory", "pageable"], &["--what-if", "1"]] {
        let (status, text) = refusal(&[&WORKLOAD[..], more].concat());
        assert_eq!(status, Some(2), "{text}");
        assert!(text.contains("cannot be used with"), "{text}");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("w.toml");
    fs::write(&file, "operations = [{ op = \"kernel\", gpu = 1, duration = \"1 us\", stream = \"a\" }]")
        .expect("written");
    let path = file.to_str().expect("a path");
    let (status, text) = refusal(&["--workload", path]);
    assert!(status == Some(2) && text.contains("no machine"), "{text}");
    let (status, text) = refusal(&["h100-nvl-tdx", "--workload", path]);
    assert!(status == Some(2) && text.contains("no GPU 1"), "{text}");
}

#[test]
fn uncertainty_gives_each_figure_an_interval_and_each_pair_of_designs_a_part_of_the_draws() {
    let asked = ["h100-nvl-tdx", "--copy", "h2d:4KiB", "--design", "direct", "--uncertainty", "20"];
    let output = command(&asked).env("COLUMNS", "80").output().expect("the program runs");
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{}", message(&output));
    assert!(text.contains("5 to 95 % of 20 draws of ") && text.contains("[4] direct"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let document = include_str!("../../docs/results.md");
    let json = json(&asked);
    let (drawn, direct) = (&json["uncertainty"], design(&json, "direct"));
    assert_eq!(drawn["pairs"].as_array().expect("pairs").len(), 6);
    let keys = [drawn, &drawn["pairs"][0], &drawn["residuals"][0]].map(|of| of.as_object().expect("an object").keys());
    for key in keys.into_iter().flatten() {
        assert!(document.contains(&format!("`{key}`")) || document.contains(&format!("`{key}[]`")), "{key}");
    }
    // Every family that is applied is named, with the figures that are wider by it.
    let residual = serde_json::json!({ "family": "single calls", "figures": ["gb_per_s", "time_ps"], "root_mean_square": 0.22, "another_host": false });
    assert_eq!(drawn["residuals"], serde_json::json!([residual]));
    assert!(text.contains("\n22 % of single calls\n"), "{text}");
    let csv = compare(&[&asked[..], &["--format", "csv"]].concat());
    let mut reader = csv::Reader::from_reader(&csv.stdout[..]);
    let head = reader.headers().expect("a head").clone();
    let row = reader.records().map(|row| row.expect("cells")).find(|row| &row[0] == "direct").expect("a row");
    for figure in ["gb_per_s", "time_ps", "exposure_ps", "speedup_over_baseline", "area_total_kge"] {
        let number = |name: String| {
            let place = head.iter().position(|column| column == name).expect("a column");
            row[place].parse::<f64>().expect("a number")
        };
        let [low, high] = ["low", "high"].map(|end| number(format!("{figure}_{end}")));
        let stated = direct["copies"][0]["interval_90"][figure].as_array().expect("an interval");
        assert_eq!([Some(low), Some(high)], [stated[0].as_f64(), stated[1].as_f64()], "{figure}");
        assert!(low <= high, "{figure}");
    }
}

/// A user's file has no ranges; it is the same design.
#[test]
fn a_shipped_design_and_a_users_file_of_the_same_values_win_the_same_part_of_the_draws() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str| {
        let own = concat!(env!("CARGO_MANIFEST_DIR"), "/hw-configs/designs");
        let text = fs::read_to_string(format!("{own}/{name}.toml")).expect("a shipped design");
        let path = folder.path().join(format!("{name}.toml"));
        fs::write(&path, text.split("[provenance").next().expect("its values")).expect("a file");
        path.to_str().expect("a path").to_owned()
    };
    let names = ["direct-in-place+more-reads", "direct-in-place+overlap"];
    let files =
        [["direct-in-place", "more-reads"], ["direct-in-place", "overlap"]].map(|parts| parts.map(file).join("+"));
    let told = |one: &str, other: &str| {
        let json =
            json(&["h100-nvl-tdx", "--copy", "h2d:256KiB", "--design", one, "--design", other, "--uncertainty", "20"]);
        let pairs = json["uncertainty"]["pairs"].as_array().expect("pairs");
        let parts: Vec<_> =
            pairs.iter().map(|pair| ["faster", "slower", "equal"].map(|part| pair[part].clone())).collect();
        let intervals: Vec<_> = [one, other].map(|name| design(&json, name)["copies"][0]["interval_90"].clone()).into();
        (json["uncertainty"]["varied"].clone(), parts, intervals)
    };
    let shipped = told(names[0], names[1]);
    for (one, other) in [(&*files[0], &*files[1]), (names[0], &files[1]), (&files[0], names[1])] {
        assert_eq!(told(one, other), shipped, "{one} {other}");
    }
}
