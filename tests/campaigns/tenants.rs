//! Who waits for whom on shared copy engines and links.

use crate::shared::{only, run, shipped, simulate, streams};
use sealsim::{system::Outcome, workload::Workload};
use std::fmt::Write;

/// Time of the copies of one stream from call to end, in us: the mean.
fn mean(outcome: &Outcome, workload: &Workload, stream: &str) -> f64 {
    let streams = streams(workload);
    let times: Vec<_> = outcome
        .copies
        .iter()
        .zip(&streams)
        .filter(|(_, of)| *of == stream)
        .map(|(copy, _)| copy.time().seconds() * 1e6)
        .collect();
    times.iter().sum::<f64>() / times.len() as f64
}

/// When the last copy of a stream has ended, in ms.
fn end(outcome: &Outcome, workload: &Workload, stream: &str) -> f64 {
    let streams = streams(workload);
    let copies = outcome.copies.iter().zip(&streams).filter(|(_, of)| *of == stream);
    copies.map(|(copy, _)| copy.end.seconds() * 1e3).fold(0.0, f64::max)
}

/// How many times as long a stream takes among the others as alone.
fn loses(name: &str, design: &str, stream: &str) -> f64 {
    let (workload, machine) = shipped(name);
    let alone = only(&workload, stream);
    let together = end(&run(name, design), &workload, stream);
    together / end(&simulate(&alone, &machine, design), &alone, stream)
}

/// The tenants of the table.
const TENANTS: [(&str, &[&str]); 3] = [
    ("stream-tenants", &["small", "bulk0", "bulk2"]),
    ("mig-tenants", &["small", "bulk"]),
    ("collocation", &["small", "medium", "large"]),
];

#[test]
fn the_table_of_tenants_is_what_the_model_gives() {
    let mut table = String::new();
    for (name, of) in TENANTS {
        for stream in of {
            let cells = ["off", "h100-cc", "fastrack"].map(|design| format!("{:.2}", loses(name, design, stream)));
            writeln!(table, "{name},{stream},{}", cells.join(",")).unwrap();
        }
    }
    let written = std::fs::read_to_string("docs/tables/tenants.csv").unwrap();
    assert!(written.contains(&table), "docs/tables/tenants.csv lacks this table:\n{table}");
}

#[test]
fn on_streams_of_one_session_the_small_tenant_waits_for_the_bulk_and_more_so_with_confidential_computing() {
    let [off, on] = ["off", "h100-cc"].map(|design| loses("stream-tenants", design, "small"));
    assert!(off > 1.5 && on > 2.0 * off, "{off} {on}");
}

#[test]
fn in_slices_with_sessions_of_their_own_the_small_tenant_hardly_waits() {
    for design in ["off", "h100-cc"] {
        let loses = loses("mig-tenants", design, "small");
        assert!((1.0..1.25).contains(&loses), "{design}: {loses}");
    }
    let (workload, _) = shipped("mig-tenants");
    let [off, on] = ["off", "h100-cc"].map(|design| mean(&run("mig-tenants", design), &workload, "bulk"));
    assert!(on > 1.25 * off, "each tenant pays for its own cipher: {off} {on}");
}

#[test]
fn collocated_trainings_lose_most_where_their_copies_are_small_and_those_of_others_large() {
    let [small, medium, large] = ["small", "medium", "large"].map(|stream| loses("collocation", "h100-cc", stream));
    assert!(small > medium && medium > large && large >= 1.0, "{small} {medium} {large}");
    let off = loses("collocation", "off", "small");
    assert!(off < small, "{off} {small}");
}
