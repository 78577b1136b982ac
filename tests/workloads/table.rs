//! The table of workloads and designs in `docs/workloads.md`: slow-down against `off`, the best design, and what binds.
//!
//! All of it takes minutes; a fast test makes the rows again of which a run costs little.

use crate::{candidate, shipped};
use sealsim::{
    explore::{WorkloadFigures, compare_workload, named},
    sim::Control,
    system::{Direction, Memory},
    validate::pool,
    workload::SHIPPED_WORKLOADS,
};

/// The columns. `off` is what the others are held against.
const DESIGNS: [&str; 9] =
    ["off", "h100-cc", "h100-cc-resealed", "direct", "parallel-auth", "overlap", "fastrack", "two-pces", "ide"];

/// Designs that come this near to the best one are named with it.
const EQUAL: f64 = 1.01;

/// Workloads with fewer bytes between host and GPU are those that the fast test makes again.
const QUICK: u64 = 100_000_000;

fn row(name: &str) -> String {
    let (workload, machine) = shipped(name);
    let possible: Vec<_> = DESIGNS.iter().filter(|design| named(&machine, design, Memory::Pinned).is_ok()).collect();
    let candidates: Vec<_> = possible.iter().map(|design| candidate(&machine, design)).collect();
    let figures = compare_workload(&candidates, &workload, 1, &|| Control::Continue, &|_| ()).unwrap();
    let of = |design: &str| figures.iter().find(|figures| figures.name == design);
    let slower = |figures: &WorkloadFigures| figures.slowdown_over_off.unwrap();
    let cells = DESIGNS[1..].iter().map(|design| of(design).map_or("-".into(), |one| format!("{:.2}", slower(one))));
    let sealed = || figures.iter().filter(|figures| figures.name != "off");
    let least = sealed().map(slower).fold(f64::INFINITY, f64::min);
    let best: Vec<_> = sealed().filter(|one| slower(one) <= least * EQUAL).collect();
    let names: Vec<_> = best.iter().map(|one| format!("`{}`", one.name)).collect();
    let first = best.iter().find(|one| slower(one) == least).expect("one is the best");
    let off = of("off").expect("off is always possible");
    format!(
        "| `{name}` | {:.1} ms | {} | {} | {} | {} |\n",
        off.end_ps as f64 * 1e-9,
        cells.collect::<Vec<_>>().join(" | "),
        if best.len() > 4 { format!("{} designs alike", best.len()) } else { names.join(", ") },
        of("h100-cc").map_or("-".into(), WorkloadFigures::limit),
        first.limit(),
    )
}

fn rows(names: &[&str]) -> Vec<String> {
    pool::map(names, pool::threads(), |name| shipped(name).0.bytes(), |name| Ok::<_, ()>(row(name))).unwrap()
}

fn document() -> String {
    std::fs::read_to_string("docs/workloads.md").unwrap_or_default()
}

#[test]
#[ignore = "minutes: every workload with every design"]
fn the_documents_table_of_workloads_and_designs_is_what_comes_out() {
    let names: Vec<_> = SHIPPED_WORKLOADS.iter().map(|shipped| shipped.name).collect();
    let table = rows(&names).concat();
    assert!(document().contains(&table), "docs/workloads.md lacks this table:\n{table}");
}

#[test]
fn its_rows_of_short_workloads_are_what_comes_out() {
    // Copies within the GPU cost nothing to simulate.
    let bytes = |name: &str| {
        let copies = shipped(name).0.copies.into_iter().filter(|copy| copy.direction != Direction::D2d);
        copies.map(|copy| copy.bytes).sum::<u64>()
    };
    let quick: Vec<_> =
        SHIPPED_WORKLOADS.iter().map(|shipped| shipped.name).filter(|name| bytes(name) < QUICK).collect();
    assert!(quick.len() > 6, "{quick:?}");
    let document = document();
    for row in rows(&quick) {
        assert!(document.contains(&row), "docs/workloads.md lacks this row:\n{row}");
    }
}

#[test]
fn the_table_has_a_row_for_each_workload() {
    let document = document();
    for shipped in SHIPPED_WORKLOADS {
        let row = format!("| `{}` | ", shipped.name);
        let cells = document.lines().filter(|line| line.starts_with(&row)).map(|line| line.matches('|').count());
        assert!(cells.max() == Some(14), "{}", shipped.name);
    }
}
