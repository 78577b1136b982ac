//! Options that mean the same in every verb.

use crate::printed as sealsim;
use serde_json::Value as Json;

fn json(arguments: &[&str]) -> Json {
    let (status, stdout, stderr) = sealsim(&[arguments, &["--format", "json"]].concat());
    assert_eq!(status, 0, "{arguments:?}: {stderr}");
    serde_json::from_str(&stdout).unwrap()
}

/// What comes first of each verb that takes a machine and work.
const VERBS: [&[&str]; 7] = [
    &["run", "h100-nvl-tdx"],
    &["compare", "h100-nvl-tdx"],
    &["sweep", "study.toml", "--out", "folder"],
    &["sensitivity", "h100-nvl-tdx"],
    &["risk", "h100-nvl-tdx"],
    &["explain", "h100-nvl-tdx"],
    &["faults", "h100-nvl-tdx"],
];

#[test]
fn every_verb_takes_the_same_options() {
    let machine = [
        "--design",
        "direct+overlap",
        "--design",
        "hold",
        "--set",
        "cpu.clock=3GHz",
        "--set",
        "link.lanes=8",
        "--cc",
        "on",
    ];
    for verb in VERBS {
        for work in [
            &["--copy", "h2d:1MiB"][..],
            &["--workload", "layerwise-kv"],
            &["--workload", "ddp-resnet50", "--param", "ranks=2"],
        ] {
            let arguments = [&["sealsim"], verb, &machine, work].concat();
            assert!(sealsim::cli::understands(&arguments), "{arguments:?}");
        }
        let both = [&["sealsim"], verb, &["--copy", "h2d:1MiB", "--workload", "layerwise-kv"]].concat();
        assert!(!sealsim::cli::understands(&both), "{both:?}");
    }
    // The work of a replay is its trace.
    let replay = [&["sealsim", "replay", "trace.json", "--hw", "h20-tdx"], &machine[..]].concat();
    assert!(sealsim::cli::understands(&replay));
}

#[test]
fn designs_are_stacked_by_plus_and_where_help_says_so_by_repetition() {
    let run = |designs: &[&str]| {
        let designs: Vec<_> = designs.iter().flat_map(|design| ["--design", design]).collect();
        let copy = ["run", "h100-nvl-tdx", "--copy", "h2d:256KiB", "--data", "none", "--what-if", "0"];
        let run = json(&[&copy, &designs[..]].concat());
        (run["config_digest"].clone(), run["event_digest"].clone())
    };
    let joined = run(&["direct+overlap+parallel-auth"]);
    assert_eq!(run(&["direct", "overlap+parallel-auth"]), joined);
    assert_eq!(run(&["fastrack"]).1, joined.1);
    assert_ne!(run(&["direct+overlap"]).1, joined.1);
    let (status, _, stderr) = sealsim(&["run", "h100-nvl-tdx", "--copy", "h2d:1", "--design", "direct+"]);
    assert!(status == 3 && stderr.contains("missing beside"), "{stderr}");
    for (verbs, phrase) in [
        (["run", "risk", "explain", "faults"].as_slice(), "later ones override earlier ones"),
        (&["compare", "sensitivity", "replay"], "to compare with the others"),
    ] {
        for verb in verbs {
            let help = sealsim(&[verb, "--help"]).1.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(help.contains(phrase), "{verb} --help");
        }
    }
}

#[test]
fn what_is_explained_may_be_named_as_for_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let manifest = folder.path().join("run.json").display().to_string();
    let machine = ["h100-nvl-tdx", "--design", "direct", "--set", "link.lanes=8", "--copy", "h2d:256KiB"];
    json(&[&["run", "--what-if", "0", "--manifest", &manifest], &machine[..]].concat());
    assert_eq!(json(&[&["explain"], &machine[..]].concat()), json(&["explain", &manifest]));
    let (status, _, stderr) = sealsim(&["explain", &manifest, "--design", "direct"]);
    assert!(status == 2 && stderr.contains("a manifest has one already"), "{stderr}");
    let (status, _, stderr) = sealsim(&["explain", "h100-nvl-tdx"]);
    assert!(status != 0 && stderr.contains("--copy"), "{stderr}");
}

#[test]
fn faults_strike_a_workload_as_the_command_that_repeats_them_says() {
    let file = "machine = \"h100-nvl-tdx\"\noperations = [\n\
        { op = \"copy\", direction = \"h2d\", size = \"16 KiB\", stream = \"a\" },\n\
        { op = \"kernel\", duration = \"5 us\", stream = \"a\" },\n\
        { op = \"copy\", direction = \"d2h\", size = \"16 KiB\", stream = \"b\", memory = \"pageable\" },\n\
        { op = \"sync\" },\n]\n";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("two.toml").display().to_string();
    std::fs::write(&path, file).unwrap();
    let campaign = json(&["faults", "--workload", &path, "--sets", "20"]);
    let sets = campaign["sets"].as_array().unwrap();
    assert_eq!(sets.len(), 20);
    assert!(campaign["command"].as_str().unwrap().contains(&format!("--workload {path}")));
    let fails = |set: &&Json| set["delivered"].as_u64() < Some(2) && set["signal"]["corrected"] == false;
    let failed = sets.iter().find(fails).expect("one fails");
    let mut words: Vec<String> = campaign["command"].as_str().unwrap().split(' ').skip(1).map(str::to_owned).collect();
    words.extend(["--seed".into(), failed["seed"].to_string()]);
    words.extend(
        failed["faults"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|one| ["--inject".into(), one.as_str().unwrap().to_owned()]),
    );
    let (status, _, stderr) = sealsim(&words.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(status, 1, "{words:?}: {stderr}");
}

#[test]
fn what_one_verb_cannot_take_is_refused_with_a_reason() {
    for (arguments, why) in [
        (&["risk", "h100-nvl-tdx", "--workload", "layerwise-kv"][..], "single copy"),
        (&["risk", "h100-nvl-tdx", "--copy", "h2d:4KiB", "--copy", "h2d:4KiB"], "2 copies"),
        (&["sensitivity", "h100-nvl-tdx", "--copy", "h2d:4KiB", "--copy", "d2h:4KiB"], "2 copies"),
        (&["sensitivity", "h100-nvl-tdx"], "no --copy and no --workload"),
        (&["run", "h100-nvl-tdx"], "no --copy and no --workload"),
        (&["replay", "none.json", "--cc", "off"], "--cc off"),
    ] {
        let (status, stdout, stderr) = sealsim(arguments);
        let said = stderr.replace('\u{2502}', " ").split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(status == 2 && stdout.is_empty() && said.contains(why), "{arguments:?}: {said}");
    }
}

#[test]
fn a_study_takes_what_lies_over_it() {
    let folder = tempfile::tempdir().unwrap();
    let study = folder.path().join("study.toml").display().to_string();
    let text = "name = \"s\"\nsummary = \"q\"\nmachine = \"h100-nvl-tdx\"\ncopy = \"h2d:4KiB\"\n[[axis]]\npath = \"link.lanes\"\nvalues = [8, 16]\n";
    std::fs::write(&study, text).unwrap();
    let times = |name: &str, more: &[&str]| {
        let out = folder.path().join(name);
        let place = out.display().to_string();
        let (status, _, stderr) = sealsim(&[&["sweep", &study, "--out", &place], more].concat());
        assert_eq!(status, 0, "{stderr}");
        let mut table = csv::Reader::from_path(out.join("points.csv")).unwrap();
        let column = table.headers().unwrap().iter().position(|name| name == "time_ps").unwrap();
        table.records().map(|row| row.unwrap()[column].parse::<u64>().unwrap()).collect::<Vec<_>>()
    };
    let run = |more: &[&str]| {
        [8, 16].map(|lanes| {
            let lanes = format!("link.lanes={lanes}");
            let own = ["run", "h100-nvl-tdx", "--data", "none", "--what-if", "0", "--set", &lanes];
            let run = json(&[&own, more].concat());
            run["simulated_ps"].as_u64().unwrap()
        })
    };
    let copy = ["--design", "direct", "--copy", "d2h:64KiB"];
    assert_eq!(times("copy", &copy), run(&copy));
    let workload = ["--cc", "off", "--workload", "upload-compute-download"];
    assert_eq!(times("workload", &workload), run(&workload));
}
