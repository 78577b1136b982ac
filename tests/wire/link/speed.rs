//! Host time per TLP; run by hand: `cargo test --release --test wire -- --ignored --nocapture speed`.

use super::machine::*;
use sealsim::{
    pcie::packet::Tlp,
    sim::{Kernel, Order},
};
use std::time::Instant;

const READS: u64 = 20_000;

fn measure(name: &str, plan: &Plan, tlps: u64) {
    let mut best = f64::MAX;
    let mut ticks = 0;
    for _ in 0..20 {
        let mut link = Link::new(plan.clone());
        let start = Instant::now();
        ticks = link.run(Kernel::Skip, Order::Ascending).unwrap().ticks;
        best = best.min(start.elapsed().as_nanos() as f64);
    }
    println!("{name}: {:.0} ns and {:.2} ticks per TLP", best / tlps as f64, ticks as f64 / tlps as f64);
}

#[test]
#[ignore = "a measurement"]
fn speed() {
    for exact in [false, true] {
        let name = if exact { "exact" } else { "none" };
        let base = Plan { exact, record: false, ..Plan::new(link()) };
        let mut plan = Plan { root: Some(root()), tags: 256, ..base.clone() };
        plan.reads = Feed::new(READS, |n| Tlp::read(0, BASE + n * 512 % MEMORY, 512));
        measure(&format!("{name}: read completions of 256 B through the root complex"), &plan, READS * 2);
        let mut plan = base.clone();
        plan.down =
            vec![Feed::new(READS * 2, move |n| completion((n % 768) as u16, BASE + n * 256 % MEMORY, 256, exact))];
        measure(&format!("{name}: completions of 256 B from a source"), &plan, READS * 2);
        let mut plan = base.clone();
        plan.up = vec![Feed::new(READS * 2, move |n| write(BASE + n * 256 % MEMORY, 256, exact))];
        measure(&format!("{name}: writes of 256 B"), &plan, READS * 2);
    }
}
