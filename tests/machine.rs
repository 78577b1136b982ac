//! Whole machines.

mod common;

use common::{copy, machine, request, run};
use sealsim::{
    sim::{Kernel, Order},
    system::{DataMode, Direction, Memory},
};

#[test]
fn a_sealed_copy_arrives_as_it_was_sent_both_ways() {
    let machine = machine("h100-nvl-tdx", &[]);
    for direction in [Direction::H2d, Direction::D2h, Direction::D2d] {
        let outcome = run(
            &machine,
            request(vec![copy(direction, 3 << 20, Memory::Pinned)], DataMode::Exact, Kernel::Skip, Order::Ascending),
        )
        .unwrap();
        for u in &outcome.units {
            println!("{} {} busy {} idle {} {:?}", u.name, u.cycles, u.busy, u.idle, u.stalls);
        }
        println!(
            "{:#?} {:?} {:?} {:?} ticks {} end {:?}",
            outcome.copies, outcome.link, outcome.incidents, outcome.tag_queue, outcome.ticks, outcome.end
        );
        assert!(outcome.copies[0].delivered, "{direction:?}: {:?}", outcome.copies[0].reason);
    }
}
