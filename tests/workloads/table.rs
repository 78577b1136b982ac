//! The tables of workloads and designs in `docs/tables`: slow-down against `off`, the best design, and what is busiest; and the rows of them that
//! `docs/workloads.md` shows.
//!
//! All of it takes minutes; a fast test makes the rows again of which a run costs little.

use crate::shared::{calls, candidate, shipped};
use sealsim::{
    config::Layers,
    explore::{Design, Finished, Grid, Work, compare, named, nothing_protected},
    figures::table::{BUSIEST, OVER_OFF, TIME},
    pool,
    sim::Control,
    system::{Direction, Memory},
    workload::SHIPPED_WORKLOADS,
};

/// The columns. `off` is what the others are compared with.
const DESIGNS: [&str; 9] =
    ["off", "h100-cc", "h100-cc-resealed", "direct", "parallel-auth", "overlap", "fastrack", "two-pces", "ide"];

/// The columns of workloads that call collectives.
const OF_COLLECTIVES: [&str; 8] =
    ["off", "h100-cc", "pcie-peers", "staged", "direct", "direct+verify-bound", "link", "pad-ahead"];

/// Designs that come this near to the best one are named with it.
const EQUAL: f64 = 1.01;

/// Workloads with fewer bytes between host and GPU are those that the fast test makes again.
const QUICK: u64 = 100_000_000;

fn has_collectives(name: &str) -> bool {
    !calls(&shipped(name).0).is_empty()
}

fn columns(name: &str) -> &'static [&'static str] {
    if has_collectives(name) { &OF_COLLECTIVES } else { &DESIGNS }
}

fn row(name: &str) -> String {
    let (workload, machine) = shipped(name);
    let designs = columns(name);
    let possible = designs.iter().filter(|design| named(&Layers::new(&machine), design, Memory::Pinned).is_ok());
    let laid = |design: &str| match design {
        "off" if has_collectives(name) => nothing_protected(&Layers::new(&machine), Memory::Pinned).unwrap(),
        design => candidate(&machine, design),
    };
    let candidates: Vec<_> = possible.map(|design| laid(design)).collect();
    let finished = Finished::default();
    let grid = Grid::of(Work::workload(name.to_owned(), None, workload));
    let figures = compare(&candidates, &grid, 1, &finished, &|| Control::Continue, &|_| ()).unwrap().designs;
    let of = |design: &str| figures.iter().find(|figures| figures.name == design);
    let slower = |design: &Design| design.rows()[0].number(&OVER_OFF).unwrap();
    let busiest = |design: &Design| design.rows()[0].get(&BUSIEST).shown();
    let cells = designs[1..].iter().map(|design| of(design).map_or("-".into(), |one| format!("{:.2}", slower(one))));
    let sealed = || figures.iter().filter(|figures| figures.name != "off");
    let least = sealed().map(slower).fold(f64::INFINITY, f64::min);
    let best: Vec<_> = sealed().filter(|one| slower(one) <= least * EQUAL).collect();
    let names: Vec<_> = best.iter().map(|one| one.name.clone()).collect();
    let first = best.iter().find(|one| slower(one) == least).expect("one is the best");
    let off = of("off").expect("off is always possible");
    format!(
        "{name},{:.1} ms,{},{},{},{}\n",
        off.rows()[0].number(&TIME).unwrap() * 1e-9,
        cells.collect::<Vec<_>>().join(","),
        if best.len() > 4 { format!("{} designs alike", best.len()) } else { names.join(" ") },
        of("h100-cc").map_or("-".into(), busiest),
        busiest(first),
    )
}

fn rows(names: &[&str]) -> Vec<String> {
    pool::map(names, pool::threads(), |name| shipped(name).0.bytes(), |name| Ok::<_, ()>(row(name))).unwrap()
}

const FILES: [&str; 2] = ["docs/tables/workloads.csv", "docs/tables/workloads-collectives.csv"];

fn file(collectives: bool) -> String {
    std::fs::read_to_string(FILES[usize::from(collectives)]).unwrap()
}

#[test]
#[ignore = "minutes: every workload with every design"]
fn the_tables_of_workloads_and_designs_are_what_the_model_gives() {
    let names: Vec<_> = SHIPPED_WORKLOADS.iter().map(|shipped| shipped.name).collect();
    let (with, without): (Vec<_>, Vec<_>) = names.into_iter().partition(|name| has_collectives(name));
    let mut wrong = String::new();
    for (collectives, names) in [(false, without), (true, with)] {
        let table = rows(&names).concat();
        if !file(collectives).ends_with(&table) {
            wrong += &format!("{} should end with\n{table}", FILES[usize::from(collectives)]);
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
#[ignore = "of a document: .ci/run"]
fn rows_of_short_workloads_in_the_documents_table_are_what_the_model_gives() {
    // Copies within the GPU cost nothing to simulate.
    let bytes = |name: &str| {
        let copies = shipped(name).0.copies.into_iter().filter(|copy| copy.direction != Direction::D2d);
        copies.map(|copy| copy.bytes).sum::<u64>()
    };
    let quick: Vec<_> = SHIPPED_WORKLOADS
        .iter()
        .map(|shipped| shipped.name)
        .filter(|name| bytes(name) < QUICK && !has_collectives(name))
        .collect();
    assert!(quick.len() > 6, "{quick:?}");
    let table = file(false);
    for row in rows(&quick) {
        assert!(table.contains(&row), "{} lacks this row:\n{row}", FILES[0]);
    }
}

#[test]
fn a_row_of_collectives_is_what_the_model_gives() {
    let row = row("compressed-allreduce");
    assert!(file(true).contains(&row), "{} lacks this row:\n{row}", FILES[1]);
}

#[test]
fn the_tables_have_a_row_for_each_workload_and_the_document_shows_some_of_them() {
    for shipped in SHIPPED_WORKLOADS {
        let table = file(has_collectives(shipped.name));
        let row = table.lines().find(|line| line.split(',').next() == Some(shipped.name));
        // The name, the time of off, the best and what is busiest in two, in five columns; and one for each other design.
        let cells = row.map(|row| row.split(',').count());
        assert_eq!(cells, Some(4 + columns(shipped.name).len()), "{}", shipped.name);
    }
    let (table, document) = (file(false), std::fs::read_to_string("docs/workloads.md").unwrap());
    let cells = |line: &str| line.split(',').map(str::to_owned).collect::<Vec<_>>();
    let (_, shown) = document.split_once("\n| workload | off | h100-cc | ").expect("the rows of the document");
    let names = cells(table.lines().nth(1).unwrap());
    let titles: Vec<_> = format!("workload | off | h100-cc | {}", shown.lines().next().unwrap())
        .trim_end_matches(" |")
        .split(" | ")
        .map(|title| names.iter().position(|name| name == title).expect("a column of the table"))
        .collect();
    let rows: Vec<_> = table.lines().skip(2).map(cells).collect();
    for line in shown.lines().skip(2).take_while(|line| line.starts_with("| ")) {
        let is_shown = rows
            .iter()
            .any(|row| line == format!("| {} |", titles.iter().map(|&at| &*row[at]).collect::<Vec<_>>().join(" | ")));
        assert!(is_shown, "{line}");
    }
}
