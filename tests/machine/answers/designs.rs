//! The shipped designs on the calibrated machines, both ways.

use super::{Asked, KIB, MIB, Tally, part};
use sealsim::{
    config::Layers,
    explore,
    system::{Direction, Memory},
};

#[test]
#[ignore = "seconds of brute force: .ci/run"]
fn what_limits_shipped_designs_is_what_gains_most_by_brute_force() {
    let (machines, sizes): (&[&str], &[u64]) = if part(1, 0, 0) == 1 {
        (&["h100-nvl-tdx", "h100-tdx-gen5", "h100-sxm5-off"], &[4 * KIB, 64 * KIB, MIB, 16 * MIB])
    } else {
        (&["h100-nvl-tdx"], &[4 * KIB, 300 * KIB])
    };
    let (mut tally, mut least) = (Tally::default(), 0);
    for machine in machines {
        let designs = explore::shipped(&Layers::new(*machine), Memory::Pinned).unwrap().0;
        for candidate in designs.into_iter().step_by(part(1, 3, 24)) {
            for direction in [Direction::H2d, Direction::D2h] {
                for bytes in sizes {
                    let what = format!("{machine} {} {direction:?} {bytes}", candidate.name);
                    tally.ask(&what, &candidate.resolved, Asked::pinned(direction, *bytes));
                    least += 1;
                }
            }
        }
    }
    tally.holds(least);
}
