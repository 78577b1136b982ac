//! What a unit can wait for.

use super::markdown::{code, table, text};
use crate::sim::Stall;

pub fn page() -> String {
    let head = "# Stalls\n\nEach cycle of each unit is *busy*, *idle* or one of these, and an account of them adds up to all cycles. The names \
                are those of outputs.\n\n";
    let rows = Stall::ALL.map(|stall| [code(stall.name()), text(Stall::MEANINGS[stall as usize])]);
    head.to_owned() + &table(["stall", "the unit waits for"], rows)
}
