//! How narrow intervals are asked to be, and outcomes whose numbers can be told one by one.

use crate::{sim::Stall, system::Outcome};

/// `auto` asks for half of an interval of a time that is at most this part of the time: half of the error that is allowed.
pub(super) const TIME: f64 = 0.0025;
/// The same of a state of a unit, over the unit's cycles, and of exposure.
pub(super) const REST: f64 = 0.005;

/// Half of an interval is at least this part of what the figure grows by: a tenth of the narrowness that `auto` asks for. Short runs do not show more.
pub(super) const RESOLUTION: f64 = 0.1;

/// Gives the units of outcomes of one machine the same stalls, so that all show the same figures.
pub(super) fn alike(outcomes: &mut [&mut Outcome]) {
    let units = outcomes.iter().map(|outcome| outcome.units.len()).min().unwrap_or(0);
    for place in 0..units {
        let seen =
            |stall: &Stall| outcomes.iter().any(|one| one.units[place].stalls.iter().any(|(own, _)| own == stall));
        let all: Vec<_> = Stall::ALL.into_iter().filter(seen).collect();
        for outcome in &mut *outcomes {
            let old = std::mem::take(&mut outcome.units[place].stalls);
            let cycles = |stall| old.iter().find(|(own, _)| *own == stall).map_or(0, |(_, cycles)| *cycles);
            outcome.units[place].stalls = all.iter().map(|&stall| (stall, cycles(stall))).collect();
        }
    }
}

/// Makes the parts of each unit add up to all its cycles: what is left is idle.
pub(super) fn settle(outcome: &mut Outcome) {
    for unit in &mut outcome.units {
        unit.stalls.retain(|(_, cycles)| *cycles > 0);
        let stalled: u64 = unit.stalls.iter().map(|(_, cycles)| *cycles).sum();
        unit.idle = unit.cycles.saturating_sub(unit.busy).saturating_sub(stalled);
        unit.cycles = unit.busy + stalled + unit.idle;
    }
}
