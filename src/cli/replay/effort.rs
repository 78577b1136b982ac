//! How much a replay simulates, before it does.

use crate::{
    cli::output,
    config::Resolved,
    replay::{Job, Question, Work},
};
use std::{collections::HashSet, mem::discriminant};

/// Machines on which copies are simulated for a breakdown: the machine, and one more without each of the causes that are in the copies themselves.
const MACHINES: u64 = 5;

/// Bytes of the copies that will be simulated.
pub(super) fn work(question: &Question<'_>, machine: &Resolved, designs: &[(&str, Resolved)]) -> u64 {
    let secure = designs.iter().map(|(_, design)| &design.machine).filter(|design| design.confidential_computing);
    // The advice is to use the other kind of memory.
    let own = (MACHINES + 1).saturating_mul(question.work(&machine.machine));
    secure.map(|design| MACHINES.saturating_mul(question.work(design))).fold(own, u64::saturating_add)
}

/// From so many bytes on a sampled replay is offered: 30 s of a core that simulates 250 MB of copies a second (measured at 2.5 GHz).
const OFFERED: u64 = 30 * 250_000_000;

/// Offers to sample what will take long, as counted before anything is simulated.
pub(super) fn offer(job: &Job, designs: usize, sampled: bool) {
    let copies: HashSet<_> = job
        .ops
        .iter()
        .filter_map(|op| match &op.work {
            Work::Copy { way, bytes, memory, .. } => Some((discriminant(way), discriminant(memory), *bytes)),
            _ => None,
        })
        .collect();
    // Of a copy above 4 GiB a piece is simulated.
    let distinct: u64 = copies.iter().map(|(.., bytes)| if *bytes > 4 << 30 { 1 << 30 } else { *bytes }).sum();
    let all = distinct.saturating_mul(1 + MACHINES * (1 + designs as u64));
    if !sampled && all >= OFFERED {
        let gigabytes = all / 1_000_000_000;
        output::complain(format!(
            "{gigabytes} GB of copies are simulated, which takes a core more than 30 s: --sample auto estimates them in seconds"
        ));
    }
}
