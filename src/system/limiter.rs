//! What limited a copy.

use super::outcome::Limiter;
use crate::sim::{Account, Stall, UnitInfo};

/// A unit that works this much of the time is the bottleneck, whatever others wait for.
const SATURATED: f64 = 0.9;

/// Stalls in which a unit has used up a bounded thing of its own, rather than waiting for another unit to do its part.
const OWN_LIMITS: [Stall; 9] = [
    Stall::Credit,
    Stall::ReadTags,
    Stall::ReplayFull,
    Stall::Recovery,
    Stall::TagQueueFull,
    Stall::AesBusy,
    Stall::GhashBusy,
    Stall::Quarantine,
    Stall::StagingFull,
];

/// Units whose busy cycles are time under way, not work: something is in service.
const LATENCY_ONLY: [&str; 5] =
    ["host.root_complex", "gpu.scheduler", "gpu.front_end_read", "gpu.front_end_write", "gpu.tag_queue"];

/// The unit and state that best say what limited a copy, from the accounts at its start and end: a unit that works nearly all the
/// time; else the busiest unit or the longest own limit. Only units that `concern` the copy count.
pub(super) fn limiter(
    units: &[UnitInfo],
    concern: &dyn Fn(usize) -> bool,
    (before, after): (Option<&[Account]>, &[Account]),
) -> Limiter {
    let mut best = Limiter { unit: "none".into(), state: "idle".into(), fraction: 0.0 };
    let mut saturated = best.clone();
    for (place, (info, account)) in units.iter().zip(after).enumerate().filter(|(place, _)| concern(*place)) {
        let earlier = before.and_then(|b| b.get(place));
        let total = account.total() - earlier.map_or(0, Account::total);
        if total == 0 {
            continue;
        }
        let fraction = |now: u64, then: u64| (now - then) as f64 / total as f64;
        let busy = fraction(account.busy(), earlier.map_or(0, Account::busy));
        if !LATENCY_ONLY.contains(&info.name.as_str()) {
            consider(&mut best, info, "busy", busy);
            if busy >= SATURATED {
                consider(&mut saturated, info, "busy", busy);
            }
        }
        for (stall, cycles) in account.stalls().filter(|(stall, _)| OWN_LIMITS.contains(stall)) {
            let then = earlier.and_then(|e| e.stalls().find(|(s, _)| *s == stall)).map_or(0, |(_, n)| n);
            consider(&mut best, info, stall.name(), fraction(cycles, then));
        }
    }
    if saturated.fraction > 0.0 { saturated } else { best }
}

/// The same limit, where the cipher's threads only copy.
pub(super) fn of_copying(limiter: Limiter) -> Limiter {
    match (limiter.unit.as_str(), limiter.state.as_str()) {
        ("host.cipher", "busy") => Limiter { state: "copying".into(), ..limiter },
        _ => limiter,
    }
}

fn consider(best: &mut Limiter, info: &UnitInfo, state: &str, fraction: f64) {
    if fraction > best.fraction {
        *best = Limiter { unit: info.name.clone(), state: state.into(), fraction };
    }
}
