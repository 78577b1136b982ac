//! The shipped studies: what docs/studies.md says of them, and its pictures, come out again.

use sealsim::{
    explore::sweep::{Folder, Front, Origin, PointRow, Study, Table, front},
    figures::Value,
    report::plot::{chart::of_study, svg},
    sim::Control,
};
use std::{fs, path::Path};

/// Runs a shipped study and holds its picture against the one of the documents.
fn run(name: &str) -> Found {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(root.join(format!("studies/{name}.toml"))).expect("a study");
    let study = Study::read("study", &text).expect("a study that makes sense");
    let place = tempfile::tempdir().expect("a folder");
    let mut folder = Folder::open(place.path(), &study, &text).expect("a folder of results");
    study.sweep(&mut folder, 2, &|| Control::Continue, &|| ()).expect("every point runs");
    study.tabulate(&folder).expect("tables");
    let table = Table::read_csv(&place.path().join("points.csv")).expect("a table");
    let drawn = svg::write(&of_study(&study.spec, &table).expect("a plot").draw());
    let committed = fs::read_to_string(root.join(format!("docs/{name}.svg"))).expect("a picture");
    assert!(
        drawn == committed,
        "docs/{name}.svg is not what the study gives: sealsim sweep studies/{name}.toml --out results/{name} --plot docs/{name}.svg"
    );
    Found { front: front(&table, &study.spec.objectives.min, &study.spec.objectives.max).expect("a front"), table }
}

/// Points of a study in its order.
fn rows(study: &Study) -> Vec<PointRow> {
    let points = study.points().expect("points");
    points.map(|point| study.run(point, &|| Control::Continue).expect("a row")).collect()
}

#[test]
fn points_with_equal_work_share_a_simulation_and_have_the_figures_of_one_of_their_own() {
    let text = |copy: &str| {
        format!(
            "name = \"s\"\nsummary = \"s\"\nmachine = \"h100-nvl-tdx\"\ncopy = \"{copy}\"\n\
             [[axis]]\npath = \"tag_queue.depth\"\nvalues = [1, 4]\n\
             [[axis]]\npath = \"calls.allocate.long.permille\"\nvalues = [1000, 1500, 2000]\n"
        )
    };
    for copy in ["h2d:300KiB", "d2h:1MiB:pageable"] {
        let study = Study::read("study", &text(copy)).expect("a study");
        let all = rows(&study);
        let origins: Vec<_> = all.iter().filter_map(|row| row.origin).collect();
        assert!(origins[..3] == [Origin::Simulated, Origin::Shared, Origin::Shared], "{copy}: {origins:?}");
        assert!(origins.len() == 6 && !origins[4..].contains(&Origin::Simulated), "{copy}: {origins:?}");
        for row in all {
            let alone = Study::read("study", &text(copy)).expect("a study");
            let own = alone.run(row.point.clone(), &|| Control::Continue).expect("a row");
            assert_eq!(own.origin, Some(Origin::Simulated), "{copy}");
            assert_eq!(own, PointRow { origin: own.origin, ..row }, "{copy}");
        }
    }
}

#[test]
fn a_sampled_study_says_how_much_was_simulated_and_is_another_study() {
    let text = |sample: &str| {
        format!(
            "name = \"s\"\nsummary = \"s\"\nmachine = \"h100-nvl-tdx\"\ncopy = \"h2d:8GiB\"\n{sample}\
             [[axis]]\npath = \"cipher.seal_rate\"\nvalues = [\"1 B/cycle\", \"3 B/cycle\"]\n"
        )
    };
    let (study, whole) =
        ["sample = \"64\"\n", ""].map(|sample| Study::read("study", &text(sample)).expect("a study")).into();
    let (points, others) = (study.points().expect("points"), whole.points().expect("points"));
    assert!(points.zip(others).all(|(one, other)| one.id != other.id));
    for row in rows(&study) {
        let number = |name: &str| row.figures.get(name).and_then(Value::number).unwrap_or_else(|| panic!("{name}"));
        assert!(number("simulated_part") < 0.05);
        for name in ["gb_per_s", "time_ps", "device_ps", "exposure_total_ps"] {
            let [low, high] = ["low", "high"].map(|end| number(&format!("{name}_{end}")));
            assert!(low <= number(name) && number(name) <= high && low > 0.99 * high, "{name}: {low} {high}");
        }
    }
}

struct Found {
    table: Table,
    front: Front,
}

impl Found {
    fn number(&self, row: usize, column: &str) -> f64 {
        let place = self.table.column(column).expect(column);
        self.table.rows[row][place].number().unwrap_or_else(|| panic!("{column} of row {row}"))
    }

    /// The figure of the row with these values.
    fn at(&self, wanted: &[(&str, &str)], column: &str) -> f64 {
        let fits = |row: &&Vec<Value>| {
            wanted.iter().all(|(name, value)| row[self.table.column(name).expect(name)].shown() == *value)
        };
        let place = self.table.rows.iter().position(|row| fits(&row)).expect("a row");
        self.number(place, column)
    }
}

#[test]
fn one_product_per_cycle_carries_the_reads_of_one_pce_and_three_what_the_link_carries() {
    let found = run("ghash-width");
    let rate = |reads: &str, width: &str, groups: &str| {
        let wanted =
            [("copy_engine.outstanding_reads", reads), ("engine.ghash.width", width), ("engine.ghash.groups", groups)];
        found.at(&wanted, "gb_per_s")
    };
    let most = |reads: &str| rate(reads, "8", "4");
    assert!(rate("32", "1", "4") > 0.99 * most("32") && rate("32", "1", "2") < 0.81 * most("32"));
    assert!(rate("64", "1", "4") < 0.82 * most("64") && rate("64", "2", "4") > 0.99 * most("64"));
    assert!(rate("128", "2", "4") < 0.98 * most("128") && rate("128", "3", "4") > 0.99 * most("128"));
    // A product per cycle at the clock of the engine is 28 GB/s; the link carries less than two of them.
    assert!(most("128") > 48.0 && most("128") < 2.0 * 28.08);
    let knee = found.front.knee.expect("a knee");
    let knee = ["copy_engine.outstanding_reads", "engine.ghash.width", "engine.ghash.groups"]
        .map(|name| found.number(knee, name));
    assert_eq!(knee, [128.0, 2.0, 4.0]);
}

#[test]
fn messages_of_32_kib_give_up_a_hundredth_of_the_rate_and_most_of_quarantine_and_exposure() {
    let found = run("tag-granularity");
    let at = |release: &str, bytes: &str, column: &str| {
        found.at(&[("tag_queue.release", release), ("driver.pinned.message_bytes", bytes)], column)
    };
    for release in ["withhold_completion", "hold", "eager"] {
        let rate = |bytes| at(release, bytes, "gb_per_s");
        assert!(rate("32768") > 0.98 * rate("1048576"), "{release}");
        assert!(rate("8192") < 0.7 * rate("1048576"), "{release}");
    }
    // Short messages wait beside the first burst of the next.
    for (bytes, waiting) in [("1024", 1536.0), ("4096", 4608.0), ("32768", 32768.0), ("1048576", 1_048_576.0)] {
        assert_eq!(at("hold", bytes, "exposure_ps"), 0.0);
        assert_eq!(at("hold", bytes, "quarantine_bytes"), waiting);
        assert_eq!(at("withhold_completion", bytes, "quarantine_bytes"), 0.0);
    }
    let exposure = |bytes| at("withhold_completion", bytes, "exposure_ps");
    assert!(exposure("1048576") > 30.0 * exposure("32768"));
}

#[test]
fn sixteen_sms_carry_what_one_pce_reads_and_ninety_six_what_the_link_carries() {
    let found = run("sm-count");
    let rate = |reads: &str, place: &str, sms: &str| {
        let wanted = [("copy_engine.outstanding_reads", reads), ("gpu_crypto.place", place), ("sm.used", sms)];
        found.at(&wanted, "gb_per_s")
    };
    let engine = |reads| rate(reads, "copy_engine", "");
    let part = |reads, sms| rate(reads, "sm", sms) / engine(reads);
    assert!(part("32", "12") < 0.91 && part("32", "16") > 0.95 && part("32", "132") < 1.0);
    assert!(part("128", "64") < 0.9 && part("128", "96") > 0.97 && part("128", "132") < 0.99);
    // Below, a kernel's rate grows with its SMs.
    assert!((rate("128", "sm", "4") / rate("128", "sm", "1") - 4.0).abs() < 0.2);
}
