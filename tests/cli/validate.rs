//! `sealsim validate` and `sealsim calibrate` as a user sees them.

use crate::here as sealsim;
use serde_json::Value;
use std::{fs, path::Path, process::Output};

fn json(output: &Output) -> Value {
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON on standard output")
}

/// Exit status and standard error.
fn refusal(arguments: &[&str]) -> (Option<i32>, String) {
    let output = sealsim(arguments);
    let text =
        String::from_utf8_lossy(&output.stderr).replace('│', " ").split_whitespace().collect::<Vec<_>>().join(" ");
    (output.status.code(), text)
}

fn file(folder: &tempfile::TempDir, name: &str, text: impl AsRef<[u8]>) -> String {
    let path = folder.path().join(name);
    fs::write(&path, text).expect("a file in a scratch folder");
    path.display().to_string()
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a scratch folder")
}

const HEAD: &str = "platform,mode,host_memory,direction,bytes,api_us\n";

/// Calls of some sizes, each measured at 10 us.
fn calls(sizes: &[u64]) -> String {
    let rows = sizes.iter().map(|bytes| format!("p1,off,pinned,h2d,{bytes},10\n"));
    HEAD.to_owned() + &rows.collect::<String>()
}

fn numbers(values: &Value, name: &str) -> Vec<f64> {
    values.as_array().expect("a list").iter().map(|value| value[name].as_f64().expect("a number")).collect()
}

#[test]
fn each_data_set_has_its_counts_and_errors() {
    let output = sealsim(&["validate", "--dataset", "p1-cipher", "--dataset", "p1-programs", "--format", "json"]);
    let json = json(&output);
    let [cipher, programs] = [0, 1].map(|place| json["datasets"][place].clone());
    assert_eq!((&cipher["name"], &cipher["kind"]), (&"p1-cipher".into(), &"cipher".into()));
    let counts = ["points", "points_used_to_fit", "points_informed", "points_held_out", "rows_left_out"];
    assert_eq!(counts.map(|name| cipher[name].as_u64()), [8, 8, 0, 0, 55].map(Some));
    assert_eq!(counts.map(|name| programs[name].as_u64()), [16, 0, 10, 6, 0].map(Some));
    assert!(cipher["mape_percent"].is_null(), "nothing is held out");
    assert!(cipher["fit"]["mape_percent"].as_f64() < Some(1.0));
    let (seen, informed) = (&programs["seen"][0], &programs["informed"]["worst_point"]);
    assert!(seen["parameters"][0] == "memory.first_touch" && seen["points"] == 4, "{seen}");
    assert_eq!(informed, "off particlefilter d2h");
    let values = programs["values"].as_array().expect("a list").iter();
    let held_out = Value::Array(values.filter(|value| value["class"] == "held_out").cloned().collect());
    let errors = numbers(&held_out, "error_percent");
    let mean = errors.iter().map(|error| error.abs()).sum::<f64>() / errors.len() as f64;
    let worst = errors.iter().fold(0.0_f64, |worst, error| worst.max(error.abs()));
    let stated = |name: &str| programs[name].as_f64().expect("a number");
    assert!((stated("mape_percent") - mean).abs() < 1e-9 && (stated("worst_percent") - worst).abs() < 1e-9);
    assert!(output.stderr.is_empty(), "no progress bar where nobody looks");
}

#[test]
fn the_figures_do_not_depend_on_the_number_of_threads() {
    let run = |threads: &str| {
        sealsim(&["validate", "--dataset", "p1-spans", "--format", "json", "--threads", threads]).stdout
    };
    assert_eq!(run("1"), run("5"));
}

#[test]
fn a_table_of_ones_own_is_simulated_and_drawn() {
    let folder = folder();
    let mine = file(&folder, "mine.csv", calls(&[64, 65536]).replace("p1", "attic"));
    let curves = folder.path().join("a/b");
    let plot = curves.display().to_string();
    let set = "driver.call=200000 cycles";
    let output = sealsim(&["validate", "--hw", "h100-nvl-tdx", "--measured", &mine, "--set", set, "--plot", &plot]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("mine (api) on h100-nvl-tdx: 2 points, 0 fitted, 0 informed, 2 held out"), "{text}");
    assert!(text.contains("■") && text.contains("□") && text.contains("2 of 2"), "{text}");
    let arguments = ["validate", "--hw", "h100-nvl-tdx", "--measured", &mine, "--set", set, "--format", "json"];
    let bias = json(&sealsim(&arguments))["datasets"][0]["bias_percent"].as_f64();
    assert!(bias > Some(850.0), "a call alone takes 95 us instead of the table's 10: {bias:?}");
    let svg = fs::read_to_string(Path::new(&curves).join("mine-pinned-h2d.svg")).expect("a plot");
    assert!(svg.starts_with("<svg") && svg.contains("simulated"));
}

/// A table as `validation/cuda/aes_gcm.cu` writes it. Its rates are made up: no GPU was measured.
const MADE_UP_KERNELS: &str = "\
platform,kernel,sms,threads,bytes,cycles,bytes_per_clock_per_sm,hash_cycles,gb_per_s,device,driver,date
made-up,ctr_tables,1,512,262144,200000,1.31072,0,1,made up,none,never
made-up,ctr_tables,132,512,34603008,200000,1.31072,0,1,made up,none,never
made-up,gcm_tables_tables,1,512,262144,262144,1,900,1,made up,none,never
made-up,ghash_tensor,2,512,524288,65536,4,900,1,made up,none,never
made-up,mma_b1,1,1024,262144,32768,8,0,1,made up,none,never
";

#[test]
fn a_table_of_kernels_on_sms_is_held_against_the_sm_unit() {
    let folder = folder();
    let table = file(&folder, "kernels.csv", MADE_UP_KERNELS);
    let on = |design: &str| {
        let machine = ["validate", "--hw", "h100-nvl-tdx", "--design", design];
        sealsim(&[&machine[..], &["--measured", &table, "--format", "json"]].concat())
    };
    let json = json(&on("sm-tensor"));
    let set = &json["datasets"][0];
    assert_eq!((&set["kind"], &set["points"]), (&"sm_kernels".into(), &5.into()));
    let (errors, simulated) = (numbers(&set["values"], "error_percent"), numbers(&set["values"], "simulated"));
    // One SM and all of them do the same; the made-up rate is that of docs/model.md.
    assert!(errors[0].abs() < 2.0 && simulated[0] == simulated[1], "{errors:?}");
    assert!(errors[2] < -8.0 && (simulated[3] / 18.8 - 1.0).abs() < 0.01, "{errors:?}");
    // Made up: 8 B. Measured: 21,687 products, for 1,024 of which a byte stands.
    assert_eq!((simulated[4], errors[4]), (21_687.0 / 1024.0, 100.0 * (21_687.0 / 8192.0 - 1.0)));
    assert_eq!(set["values"][0]["unit"], "B/clk/SM");

    for (design, phrase) in [
        ("h100-cc", "ctr_tables on 1 SM: the machine has no table [sm]"),
        ("sm", "ghash_tensor on 2 SMs: the machine has no sm.tensor_products"),
    ] {
        let output = on(design);
        let text = String::from_utf8_lossy(&output.stderr).replace('│', " ");
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(output.status.code() == Some(3) && text.contains(phrase), "{design}: {text}");
    }
    let bad = file(&folder, "bad.csv", MADE_UP_KERNELS.replace("262144,262144,1,", "262144,262144,1.5,"));
    let (code, text) = refusal(&["validate", "--hw", "h100-nvl-tdx", "--design", "sm-tensor", "--measured", &bad]);
    assert!(code == Some(4) && text.contains("bad.csv, line 4: 1.5 B per clock and SM are not"), "{text}");
}

#[test]
fn mistakes_have_their_exit_status_and_place() {
    let folder = folder();
    let validate = |measured: &str, more: &[&str]| refusal(&[&["validate", "--measured", measured], more].concat());
    let bad = |text: &str| validate(&file(&folder, "bad.csv", text), &[]);
    let (code, text) = bad(&(calls(&[64]) + "p1,off,pinned,h2d,sixty,10\n"));
    assert!(code == Some(4) && text.contains("bad.csv, line 3: `sixty` is no number"), "{code:?} {text}");
    for text in ["", "a,b\n1,2\n", HEAD, "\u{0}\n\u{0}\n"] {
        let (code, message) = bad(text);
        assert!(code == Some(4) && message.contains("bad.csv, line 1"), "{text:?}: {code:?} {message}");
    }
    let (code, text) = validate(&file(&folder, "bytes.csv", [0xff, 0xfe, b'\n']), &[]);
    assert!(code == Some(4) && text.contains("bytes.csv"), "{code:?} {text}");
    let (code, text) = validate("no-such.csv", &[]);
    assert!(code == Some(4) && text.contains("no-such.csv"), "{code:?} {text}");
    let strange = file(&folder, "strange.csv", calls(&[64]).replace("p1", "p9"));
    let (code, text) = validate(&strange, &[]);
    assert!(code == Some(2) && text.contains("`p9`") && text.contains("--hw"), "{code:?} {text}");
    assert_eq!(validate(&strange, &["--hw", "h100-nvl-tdx"]).0, Some(0));
    assert_eq!(validate(&strange, &["--hw", "no-such-machine"]).0, Some(3));
    assert_eq!(validate(&strange, &["--hw", "h100-nvl-tdx", "--set", "driver.call=4"]).0, Some(3));
    assert_eq!(validate(&strange, &["--hw", "h100-nvl-tdx", "--plot", &strange]).0, Some(4));
    let (code, text) = refusal(&["validate", "--dataset", "p7"]);
    assert!(code == Some(2) && text.contains("p1-cipher"), "{code:?} {text}");
}

const ASKED: &str = "platform,mode,host_memory,direction,bytes\np1,off,pinned,h2d,4096\np1,cc,pinned,d2h,4096\n";

/// Measurements that are twice what was predicted, in another order.
fn twice(predictions: &str) -> String {
    let row = |line: &str| {
        let cells: Vec<_> = line.split(',').collect();
        let figure = 2.0 * cells[5].parse::<f64>().expect("a figure");
        format!("{},{figure}\n", cells[..5].join(","))
    };
    "platform,mode,host_memory,direction,bytes,gb_per_s\n".to_owned()
        + &predictions.lines().rev().filter(|line| !line.starts_with("platform")).map(row).collect::<String>()
}

#[test]
fn a_prediction_is_written_with_its_machine_and_joined_with_a_measurement_later() {
    let folder = folder();
    let (asked, out) = (file(&folder, "asked.csv", ASKED), folder.path().join("p.csv").display().to_string());
    let printed = String::from_utf8(sealsim(&["validate", "--predict", &asked]).stdout).expect("text");
    let written = sealsim(&["validate", "--predict", &asked, "--out", &out, "--threads", "1"]);
    assert!(written.status.success() && written.stdout.is_empty());
    assert_eq!(fs::read_to_string(&out).expect("predictions"), printed);
    let machine = json(&sealsim(&["describe", "h100-nvl-tdx", "--format", "json"]));
    let digest = machine["digest"].as_str().expect("a digest");
    let head = "platform,mode,host_memory,direction,bytes,predicted_gb_per_s,machine,machine_digest,sealsim\n";
    assert!(printed.starts_with(head) && printed.lines().count() == 3, "{printed}");
    assert!(printed.contains(&format!(",h100-nvl-tdx,{digest},{}", env!("CARGO_PKG_VERSION"))), "{printed}");
    let measured = file(&folder, "m.csv", twice(&printed));
    let joined = json(&sealsim(&["validate", "--score", &out, &measured, "--format", "json"]));
    let set = &joined["datasets"][0];
    assert_eq!(numbers(&set["values"], "error_percent"), [-50.0, -50.0]);
    assert_eq!((&set["name"], &set["points_held_out"]), (&"p".into(), &2.into()));
    assert_eq!(joined["predicted_by"][0]["machine_digest"], digest);
    let text = String::from_utf8(sealsim(&["validate", "--score", &out, &measured]).stdout).expect("text");
    assert!(
        text.contains(&format!("predicted on h100-nvl-tdx, digest {digest}")) && text.contains("2 held out"),
        "{text}"
    );
}

#[test]
fn rows_that_do_not_join_are_named_and_nothing_is_scored() {
    let folder = folder();
    let asked = file(&folder, "asked.csv", ASKED);
    let printed = String::from_utf8(sealsim(&["validate", "--predict", &asked]).stdout).expect("text");
    let predictions = file(&folder, "p.csv", &printed);
    let score = |measured: &str| {
        let output = sealsim(&["validate", "--score", &predictions, &file(&folder, "m.csv", measured)]);
        (output.status.code(), output.stdout.len(), String::from_utf8_lossy(&output.stderr).replace('\n', " "))
    };
    let all = twice(&printed);
    let (code, printed_bytes, text) = score(&all.replace("off,pinned,h2d,4096", "off,pinned,h2d,4097"));
    assert!(code == Some(1) && printed_bytes == 0, "{code:?} {text}");
    assert!(
        text.contains("m.csv:3: off pinned h2d 4097 B") && text.contains("p.csv:2: off pinned h2d 4 KiB"),
        "{text}"
    );
    let (code, _, text) = score(&(all.clone() + "p1,cc,pageable,h2d,64,1\n"));
    assert!(code == Some(1) && text.contains("m.csv:4: cc pageable h2d 64 B of p1 was not predicted"), "{text}");
    assert_eq!(score(&calls(&[64])).0, Some(4), "a table of calls");
}

#[test]
fn what_cannot_be_predicted_is_refused_with_its_line() {
    let folder = folder();
    let asked = |text: &str| file(&folder, "asked.csv", text);
    let predict = |text: &str| refusal(&["validate", "--predict", &asked(text)]);
    let (code, text) = predict(&ASKED.replace("bytes\n", "bytes,gb_per_s\n").replace("4096\n", "4096,1\n"));
    assert!(code == Some(4) && text.contains("line 1: the table has `gb_per_s`"), "{code:?} {text}");
    let (code, text) = predict(&(ASKED.to_owned() + "p1,cc,pinned,d2h,4096\n"));
    assert!(code == Some(4) && text.contains("line 4"), "{code:?} {text}");
    let (code, text) = predict(&ASKED.replace("p1", "p9"));
    assert!(code == Some(2) && text.contains("`p9`"), "{code:?} {text}");
    assert_eq!(refusal(&["validate", "--out", "x.csv"]).0, Some(2));
    assert_eq!(refusal(&["validate", "--score", "x.csv"]).0, Some(2));
    assert_eq!(refusal(&["validate", "--predict", &asked(ASKED), "--dataset", "p1-api"]).0, Some(2));
    assert_eq!(refusal(&["validate", "--score", "no.csv", "no.csv"]).0, Some(4));
}

/// A table of what the machine does with a setting.
fn as_simulated(folder: &tempfile::TempDir, name: &str, sizes: &[u64], set: &str) -> String {
    let blank = file(folder, "blank.csv", calls(sizes));
    let json = json(&sealsim(&["validate", "--measured", &blank, "--set", set, "--format", "json"]));
    let figures = numbers(&json["datasets"][0]["values"], "simulated");
    let rows = sizes.iter().zip(figures).map(|(bytes, figure)| format!("p1,off,pinned,h2d,{bytes},{figure}\n"));
    file(folder, name, HEAD.to_owned() + &rows.collect::<String>())
}

const STAGES: &str = r#"
    config = "h100-nvl-tdx"
    [[stage]]
    name = "one"
    points = [{ dataset = "mine", mode = "off", bytes = ["64 B", "4 KiB", "64 KiB"] }]
    [[stage.parameters]]
    path = "driver.completion"
    low = "1000 cycles"
    high = "10000 cycles"
    [[stage.parameters]]
    path = "cipher.per_message"
    low = "100 cycles"
    high = "4000 cycles"
"#;

#[test]
fn a_parameter_is_recovered_from_what_it_did_and_one_without_effect_is_said_to_be() {
    let folder = folder();
    let mine = as_simulated(&folder, "mine.csv", &[64, 4096, 65536], "driver.completion=6543 cycles");
    let stages = file(&folder, "stages.toml", STAGES);
    let start = ["--set", "driver.completion=4000 cycles", "--set", "cipher.per_message=600 cycles"];
    let arguments = [&["calibrate", &stages, "--measured", &mine, "--format", "json"][..], &start].concat();
    let json = json(&sealsim(&arguments));
    let stage = &json["stages"][0];
    let [completion, cipher] = [0, 1].map(|place| stage["parameters"][place].clone());
    let after = completion["after"].as_str().and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    assert!(after.is_some_and(|after| (after / 6543.0 - 1.0).abs() < 0.005), "{completion}");
    assert_eq!((&completion["before"], &completion["determined"]), (&"4000 cycles".into(), &"known".into()));
    assert_eq!((&cipher["after"], &cipher["determined"]), (&"600 cycles".into(), &"not".into()));
    assert!(stage["after"]["worst_percent"].as_f64() < Some(0.1), "{stage}");
    assert_eq!(sealsim(&arguments).stdout, sealsim(&[&arguments[..], &["--threads", "1"]].concat()).stdout);
}

/// Points that a machine was fitted to are not held out, whatever table, platform and file they and it are in; others stay held out.
#[test]
fn a_machine_that_was_written_knows_the_points_that_it_saw() {
    let folder = folder();
    let mine = as_simulated(&folder, "mine.csv", &[64, 4096, 65536], "driver.completion=6543 cycles");
    let stages = file(&folder, "stages.toml", STAGES);
    let written = folder.path().join("written.toml").display().to_string();
    let output = sealsim(&["calibrate", &stages, "--measured", &mine, "--write", &written]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));

    let more = as_simulated(&folder, "more.csv", &[64, 4096, 65536, 1 << 20], "driver.completion=6543 cycles");
    let other = fs::read_to_string(more).expect("a table").replace("p1,", "another-platform,");
    let other = file(&folder, "other.csv", other);
    let copied = file(&folder, "copied.toml", fs::read_to_string(&written).expect("the machine"));
    let extending = file(&folder, "extending.toml", "extends = \"copied.toml\"\n[link]\nread_tags = 256\n");
    let flat = sealsim(&["describe", &extending, "--format", "toml"]);
    let flat = file(&folder, "flat.toml", String::from_utf8(flat.stdout).expect("text"));
    let classes = |machine: &str, table: &str| -> Vec<Option<u64>> {
        let json = json(&sealsim(&["validate", "--hw", machine, "--measured", table, "--format", "json"]));
        ["points_used_to_fit", "points_held_out"].map(|key| json["datasets"][0][key].as_u64()).to_vec()
    };
    assert_eq!(classes("h100-nvl-tdx", &mine), [Some(0), Some(3)]);
    for machine in [&written, &copied, &extending, &flat] {
        assert_eq!(classes(machine, &mine), [Some(3), Some(0)], "{machine}");
        assert_eq!(classes(machine, &other), [Some(3), Some(1)], "{machine}");
    }
}

#[test]
fn what_is_found_is_written_with_its_provenance_and_the_rest_stays() {
    let folder = folder();
    let mine = as_simulated(&folder, "mine.csv", &[64, 4096, 65536], "driver.completion=6543 cycles");
    let stages = file(&folder, "stages.toml", STAGES);
    let old = "# my machine\nextends = \"h100-nvl-tdx\"\n\n[driver]\ncompletion = \"5000 cycles\" # a guess\n";
    let machine = file(&folder, "machine.toml", old);
    let output =
        sealsim(&["calibrate", &stages, "--measured", &mine, "--hw", &machine, "--write", &machine, "--from", "one"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("driver.completion   5000 cycles  654"), "{text}");
    assert!(text.contains("not determined by these points"), "{text}");
    let new = fs::read_to_string(&machine).expect("the machine");
    assert!(new.starts_with("# my machine\nextends") && new.contains(" cycles\" # a guess\n"), "{new}");
    assert!(new.contains("kind = \"calibrated\"") && new.contains("3 points of mine"), "{new}");
    assert!(!new.contains("per_message"), "{new}");
    assert_eq!(sealsim(&["describe", &machine]).status.code(), Some(0));
}

#[test]
fn a_calibration_that_makes_no_sense_is_refused() {
    let folder = folder();
    let mine = file(&folder, "mine.csv", calls(&[64, 4096, 65536]));
    let calibrate = |text: &str, more: &[&str]| {
        let stages = file(&folder, "stages.toml", text);
        let start = ["--set", "driver.completion=4000 cycles", "--set", "cipher.per_message=600 cycles"];
        refusal(&[&["calibrate", &stages, "--measured", &mine], &start[..], more].concat())
    };
    for (text, code, phrase) in [
        (STAGES.replace("dataset = \"mine\"", "dataset = \"p1-overlap\""), 3, "cannot be selected by `bytes`"),
        (
            STAGES.replace("dataset = \"mine\", mode = \"off\"", "dataset = \"p1-bandwidth\", mode = \"cc\""),
            3,
            "is informed",
        ),
        (STAGES.replace("driver.completion", "driver.completeness"), 3, "no parameter `driver.completeness`"),
        (STAGES.replace("config = \"h100-nvl-tdx\"", ""), 2, "names no machine"),
        (STAGES.replace("name = \"one\"", "name = 1"), 3, "stages.toml"),
        (STAGES.replace(", \"4 KiB\", \"64 KiB\"", ""), 3, "1 points cannot determine 2 parameters"),
    ] {
        let (found, message) = calibrate(&text, &[]);
        assert!(found == Some(code) && message.contains(phrase), "{phrase}: {found:?} {message}");
    }
    assert_eq!(calibrate(STAGES, &["--stage", "two"]).0, Some(2));
    assert_eq!(calibrate(STAGES, &["--write", "/no/such/folder/x.toml"]).0, Some(4));
    assert_eq!(refusal(&["calibrate", "no-such.toml"]).0, Some(4));
}

#[test]
fn the_example_stage_file_is_read_and_fits_better_than_it_starts() {
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/validation/calibrate/example.toml");
    let json = json(&sealsim(&["calibrate", example, "--stage", "call", "--format", "json"]));
    let error = |when: &str| json["stages"][0][when]["mape_percent"].as_f64().expect("a number");
    assert!(error("after") <= error("before"));
}
