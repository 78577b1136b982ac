//! `sealsim report` and `--report` as processes: the page holds what the verb prints.

use serde_json::Value;
use std::{fs, path::PathBuf, process::Output};
use tempfile::TempDir;

struct Bench {
    folder: TempDir,
}

impl Bench {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn file(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::write(self.path(name), text).unwrap();
    }

    fn run(&self, arguments: &[&str]) -> Output {
        crate::in_folder(self.folder.path(), arguments)
    }

    fn fine(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Exit status and standard error.
    fn refused(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let output = self.run(arguments);
        let text = String::from_utf8_lossy(&output.stderr).replace(['│', '×'], " ");
        (output.status.code(), text.split_whitespace().collect::<Vec<_>>().join(" "))
    }

    /// The data island of a page.
    fn data(&self, page: &str) -> Value {
        let text = fs::read_to_string(self.path(page)).unwrap();
        assert!(text.starts_with("<!DOCTYPE html>") && text.trim_end().ends_with("</html>"));
        let tags = ["<script", "</script"].map(|tag| text.matches(tag).count());
        assert_eq!(tags, [2, 2], "no text begins or ends a script");
        let (_, rest) = text.split_once("<script type=\"application/json\" id=\"data\">").unwrap();
        serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
    }

    /// Holds the page that a verb writes against the JSON that it prints, and against the page of that JSON.
    fn same(&self, kind: &str, arguments: &[&str]) -> Value {
        let json = self.fine(&[arguments, &["--format", "json", "--report", "page.html"]].concat());
        let data = self.data("page.html");
        let printed: Value = serde_json::from_str(&json).unwrap();
        assert_eq!((&data["kind"], &data["report"]), (&Value::from(kind), &printed));
        assert!(data["command"].as_str().unwrap().starts_with("sealsim "));
        self.file("printed.json", &json);
        assert_eq!(self.fine(&["report", "printed.json", "--out", "again.html"]), "", "nothing is printed");
        let again = self.data("again.html");
        assert_eq!((&again["kind"], &again["report"], &again["title"]), (&data["kind"], &printed, &data["title"]));
        assert_eq!(again["command"], "sealsim report printed.json --out again.html");
        data
    }
}

const STUDY: &str = r#"
name = "small"
summary = "Small copies"
machine = "h100-nvl-tdx"
designs = ["direct-in-place"]
copy = "h2d:64KiB"
objectives = { min = ["area_kge"], max = ["gb_per_s"] }

[[axis]]
path = "engine.ghash.width"
values = [1, 2, 4]
"#;

fn root(path: &str) -> String {
    format!("{}/{path}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn the_page_of_a_run_has_its_json_its_copies_over_time_and_its_configuration() {
    let bench = Bench::new();
    let data = bench.same("run", &["run", "h100-nvl-tdx", "--copy", "h2d:64KiB", "--copy", "d2h:4KiB"]);
    let slices = data["timeline"]["tracks"][0]["slices"].as_array().unwrap();
    let copies = data["report"]["copies"].as_array().unwrap();
    let spans = |all: &[Value]| {
        let span = |one: &Value| [one["start_ps"].as_u64().unwrap(), one["end_ps"].as_u64().unwrap()];
        all.iter().map(span).collect::<Vec<_>>()
    };
    assert_eq!(spans(slices), spans(copies));
    let tracks = data["timeline"]["tracks"].as_array().unwrap();
    let of = |kind: &str| tracks.iter().filter(|track| track["kind"] == kind).collect::<Vec<_>>();
    assert_eq!((of("message").len(), data["messages"].as_array().unwrap().len()), (2, 2));
    let cipher = of("unit").into_iter().find(|track| track["name"] == "host.cipher").unwrap();
    let busy = spans(cipher["slices"].as_array().unwrap()).iter().map(|[start, end]| end - start).sum::<u64>();
    let unit = &data["report"]["units"]["host.cipher"];
    let expected = unit["busy"].as_f64().unwrap() / unit["clock_hz"].as_f64().unwrap() * 1e12;
    assert!((busy as f64 / expected - 1.0).abs() < 0.02, "{busy} against {expected}");
    let driver = of("unit").into_iter().find(|track| track["name"] == "host.driver").unwrap();
    let waits = driver["slices"].as_array().unwrap().iter().filter(|slice| slice["state"] == "stall");
    let followed = waits.filter(|slice| slice["follows"].is_array()).map(|slice| slice["follows"][0].as_u64().unwrap());
    assert!(followed.map(|track| &tracks[track as usize]["name"]).any(|name| name == "host.cipher"));
    let described: Value =
        serde_json::from_str(&bench.fine(&["describe", "h100-nvl-tdx", "--format", "json"])).unwrap();
    assert_eq!(data["configuration"], described);
}

#[test]
fn a_copy_follows_the_one_that_it_waited_for() {
    let bench = Bench::new();
    let copy = |stream: &str| {
        format!("{{ op = \"copy\", direction = \"h2d\", size = \"1 MiB\", stream = \"{stream}\", blocking = false }},")
    };
    let operations = [copy("a"), copy("b"), copy("c")].concat();
    bench.file("work.toml", format!("operations = [{operations} {{ op = \"sync\" }}]\n"));
    let data = bench.same("run", &["run", "h100-nvl-tdx", "--workload", "work.toml", "--cc", "off", "--data", "none"]);
    let tracks: Vec<_> =
        data["timeline"]["tracks"].as_array().unwrap().iter().filter(|track| track["kind"] == "stream").collect();
    assert_eq!(tracks.len(), 3);
    assert_eq!(tracks[0]["name"], "stream a");
    let behind: Vec<_> =
        data["report"]["copies"].as_array().unwrap().iter().map(|copy| &copy["busiest"]["behind"]).collect();
    let follows: Vec<_> = tracks.iter().map(|track| track["slices"][0]["follows"][0].as_u64()).collect();
    let expected: Vec<_> = behind.iter().map(|number| number.as_u64().map(|number| number - 1)).collect();
    assert_eq!(follows, expected);
    assert!(follows.iter().any(Option::is_some), "some copy waits for another: {behind:?}");
}

#[test]
fn the_pages_of_comparisons_have_their_json() {
    let bench = Bench::new();
    let designs = ["--design", "fastrack", "--design", "two-pces"];
    let data = bench.same("compare", &[&["compare", "h100-nvl-tdx", "--size", "4KiB,64KiB"], &designs[..]].concat());
    assert_eq!(data["title"], "5 designs on h100-nvl-tdx");
    assert_eq!(data["configuration"]["name"], "h100-nvl-tdx");
    bench.file(
        "work.toml",
        "operations = [{ op = \"copy\", direction = \"h2d\", size = \"64 KiB\", stream = \"a\" }]\n",
    );
    let workload = ["compare", "h100-nvl-tdx", "--workload", "work.toml"];
    assert_eq!(bench.same("compare", &[&workload[..], &designs].concat())["report"]["workload"], "work.toml");
}

#[test]
fn the_page_of_a_replay_has_a_timeline_of_each_run() {
    let bench = Bench::new();
    let [trace, calls] =
        ["gpu", "api"].map(|one| root(&format!("validation/traces/kmeans-off-cuda_{one}_trace.csv.gz")));
    let data = bench.same("replay", &["replay", &trace, "--api", &calls]);
    let runs = data["report"]["runs"].as_array().unwrap();
    let timelines = data["timelines"].as_array().unwrap();
    let ends = |all: &[Value], end: &dyn Fn(&Value) -> u64| {
        all.iter().map(|one| (one["name"].clone(), end(one))).collect::<Vec<_>>()
    };
    let played = ends(runs, &|run| run["end_ns"].as_u64().unwrap() * 1000);
    assert_eq!(ends(timelines, &|one| one["timeline"]["end_ps"].as_u64().unwrap()), played);
    for timeline in timelines {
        let tracks = timeline["timeline"]["tracks"].as_array().unwrap();
        assert!(tracks.len() >= 3 && tracks.iter().any(|track| track["name"] == "GPU kernels"));
    }
}

#[test]
fn the_page_of_a_validation_has_its_points_and_curves() {
    let bench = Bench::new();
    let rows = "platform,mode,host_memory,direction,bytes,api_us\np,cc,pinned,h2d,4096,10\np,off,pinned,h2d,4096,20\n";
    bench.file("<script>.csv", rows);
    let data = bench.same("validate", &["validate", "--hw", "h100-nvl-tdx", "--measured", "<script>.csv"]);
    assert_eq!(data["title"], "<script>, measured and simulated");
    let values = data["report"]["datasets"][0]["values"].as_array().unwrap();
    let curves = data["curves"][0].as_str().unwrap();
    assert_eq!((values.len(), curves.matches(" class=\"mark\"").count()), (2, 4));
    let says = ["aria-label=\"CC off, measured, 4 KiB; Time (µs): 20\"", "aria-label=\"CC on, simulated, 4 KiB; "];
    assert!(says.iter().all(|text| curves.contains(text)) && !curves.contains("<script"), "{curves}");
}

#[test]
fn the_page_of_a_sweep_has_its_table_and_its_front() {
    let bench = Bench::new();
    bench.file("study.toml", STUDY);
    bench.fine(&["sweep", "study.toml", "--out", "results/small", "--report", "results/small/page.html"]);
    let report = bench.data("results/small/page.html")["report"].clone();
    let front = bench.fine(&["pareto", "results/small", "--format", "json"]);
    let front: Value = serde_json::from_str(&front).unwrap();
    let columns: Vec<_> = report["columns"].as_array().unwrap().iter().map(|one| &one["name"]).collect();
    let id = columns.iter().position(|name| *name == "id").unwrap();
    let ids = report["front"]["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| report["rows"][row.as_u64().unwrap() as usize][id].clone());
    let ids = ids.collect::<Vec<_>>();
    let expected: Vec<_> = front["points"].as_array().unwrap().iter().map(|point| point["id"].clone()).collect();
    assert_eq!((ids, report["rows"].as_array().unwrap().len()), (expected, 3));
    assert_eq!(bench.fine(&["report", "results/small", "--out", "again.html"]), "");
    assert_eq!(bench.data("again.html")["report"], report);
}

#[test]
fn a_manifest_is_run_again() {
    let bench = Bench::new();
    bench.file("payload", [7; 5000]);
    let copy = ["run", "h100-nvl-tdx", "--copy", "h2d", "--payload", "payload"];
    bench.fine(&[&copy[..], &["--manifest", "run.json"]].concat());
    assert_eq!(bench.fine(&["report", "run.json", "--out", "page.html"]), "");
    let data = bench.data("page.html");
    assert_eq!((&data["kind"], &data["report"]["rerun"]["same"]), (&"run".into(), &true.into()));
    bench.file("payload", [8; 5000]);
    bench.file("page.html", "old");
    let (status, text) = bench.refused(&["report", "run.json", "--out", "page.html"]);
    assert!(status == Some(4) && text.contains("has changed"), "{text}");
    assert_eq!(fs::read_to_string(bench.path("page.html")).unwrap(), "old");
}

#[test]
fn other_input_is_refused_and_the_old_page_stays() {
    let bench = Bench::new();
    bench.file("page.html", "old");
    bench.file("text", "words");
    bench.file("other.json", "{\"rows\": []}");
    bench.file("twice.json", "{\"datasets\": [], \"datasets\": []}");
    bench.file("part.json", "{\"copies\": [{}], \"units\": {}, \"simulated_ps\": 1, \"machine\": \"m\"}");
    bench.file("manifest.json", "{\"config\": {}, \"event_digest\": \"\"}");
    fs::create_dir(bench.path("empty")).unwrap();
    let known = [
        ("text", 3, "a manifest, a sweep's folder, or what run, compare, replay or validate print"),
        ("other.json", 3, "its fields are rows"),
        ("twice.json", 3, "the key `datasets` is given twice"),
        ("part.json", 3, "looks like the JSON of `sealsim run`"),
        ("manifest.json", 3, "not a manifest of sealsim"),
        ("empty", 4, "sealsim sweep"),
        ("nowhere", 4, "nowhere"),
    ];
    for (input, status, reason) in known {
        let (found, text) = bench.refused(&["report", input, "--out", "page.html"]);
        assert!(found == Some(status) && text.contains(reason), "{input}: {found:?} {text}");
        assert_eq!(fs::read_to_string(bench.path("page.html")).unwrap(), "old", "{input}");
    }
    let left = fs::read_dir(bench.folder.path()).unwrap().count();
    assert_eq!(left, 7, "nothing is left of the pages that were begun");
}

#[test]
fn a_page_that_cannot_be_written_is_refused_before_anything_runs() {
    let bench = Bench::new();
    bench.file(
        "work.toml",
        "operations = [{ op = \"copy\", direction = \"h2d\", size = \"64 KiB\", stream = \"a\" }]\n",
    );
    let run = ["run", "h100-nvl-tdx", "--workload", "work.toml"];
    for (page, status, reason) in [("work.toml", 2, "the same file"), ("no/folder/page.html", 4, "No such file")] {
        let (found, text) = bench.refused(&[&run[..], &["--report", page]].concat());
        assert!(found == Some(status) && text.contains(reason), "{page}: {found:?} {text}");
    }
    let (status, text) = bench.refused(&[&run[..], &["--manifest", "x", "--report", "./x"]].concat());
    assert!(status == Some(2) && text.contains("--manifest and --report are the same file"), "{text}");
    assert_eq!(bench.refused(&["report", "work.toml", "--out", "work.toml"]).0, Some(2));
    assert_eq!(bench.refused(&["validate", "--predict", "work.toml", "--report", "x.html"]).0, Some(2));
}

#[test]
fn a_run_that_delivers_nothing_has_a_page_and_one_that_fails_has_none() {
    let bench = Bench::new();
    let run = ["run", "h100-nvl-tdx", "--copy", "h2d:64KiB", "--report", "page.html", "--inject"];
    assert_eq!(bench.refused(&[&run[..], &["gpu.pce0.tags.flip"]].concat()).0, Some(1));
    assert_eq!(bench.data("page.html")["report"]["copies"][0]["delivered"], false);
    bench.file("page.html", "old");
    assert_eq!(bench.refused(&[&run[..], &["nowhere.flip"]].concat()).0, Some(2));
    assert_eq!(fs::read_to_string(bench.path("page.html")).unwrap(), "old");
}
