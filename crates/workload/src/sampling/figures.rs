//! The figures of an outcome, one by one, to be read and to be written.

use crate::{
    pcie::port::Traffic,
    sim::Stall,
    system::{CopyOutcome, GpuOutcome, Outcome, TagQueueOutcome, UnitOutcome},
};

/// How a figure goes on when work gets longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Growth {
    /// By as much with each unit of length: a count of what work consists of.
    Count,
    /// The same but for what varies: a date.
    Date,
    /// And a sum over what happens.
    Sum,
    /// And cycles of a unit.
    Cycles,
    /// Not at all, once it has come to its height.
    Peak,
}

/// `auto` asks for half of an interval of a time that is at most this part of the time: half of the error that is allowed.
pub(super) const TIME: f64 = 0.0025;
/// The same of a state of a unit, over the unit's cycles, and of exposure.
pub(super) const REST: f64 = 0.005;

/// Half of an interval is at least this part of what the figure grows by: a tenth of the narrowness that `auto` asks for. Short runs do not show more.
pub(super) const RESOLUTION: f64 = 0.1;

/// Shows each figure of an outcome to `visit`, always in the same order. Outcomes that have been made [alike](alike) show the same ones.
pub(super) fn each(outcome: &mut Outcome, visit: &mut impl FnMut(Growth, &mut u64)) {
    visit(Growth::Date, &mut outcome.end.0);
    visit(Growth::Sum, &mut outcome.ticks);
    outcome.copies.iter_mut().for_each(|copy| of_copy(copy, visit));
    outcome.units.iter_mut().for_each(|unit| of_unit(unit, visit));
    outcome.gpus.iter_mut().for_each(|gpu| of_gpu(gpu, visit));
}

pub(super) fn of_copy(copy: &mut CopyOutcome, visit: &mut impl FnMut(Growth, &mut u64)) {
    dates(copy, &mut |date| visit(Growth::Date, date));
    visit(Growth::Count, &mut copy.messages);
    visit(Growth::Count, &mut copy.tags_verified);
}

pub(super) fn dates(copy: &mut CopyOutcome, visit: &mut impl FnMut(&mut u64)) {
    let own = [&mut copy.start, &mut copy.end, &mut copy.returned];
    own.into_iter().for_each(|date| visit(&mut date.0));
    if let Some((from, to)) = &mut copy.device {
        visit(&mut from.0);
        visit(&mut to.0);
    }
    if let Some(first) = &mut copy.first_verified {
        visit(&mut first.0);
    }
}

fn of_unit(unit: &mut UnitOutcome, visit: &mut impl FnMut(Growth, &mut u64)) {
    let UnitOutcome { cycles, busy, idle, stalls, .. } = unit;
    [cycles, busy, idle].into_iter().for_each(|one| visit(Growth::Cycles, one));
    stalls.iter_mut().for_each(|(_, stall)| visit(Growth::Cycles, stall));
}

fn of_gpu(gpu: &mut GpuOutcome, visit: &mut impl FnMut(Growth, &mut u64)) {
    [&mut gpu.link.h2d, &mut gpu.link.d2h].into_iter().for_each(|way| of_traffic(way, visit));
    let queue = &mut gpu.tag_queue;
    let TagQueueOutcome { peak_entries, peak_quarantine_bytes, longest_exposure, most_exposed_bytes, .. } = queue;
    let peaks = [peak_entries, peak_quarantine_bytes, &mut longest_exposure.0, most_exposed_bytes];
    peaks.into_iter().for_each(|peak| visit(Growth::Peak, peak));
    visit(Growth::Sum, &mut queue.total_exposure.0);
    visit(Growth::Sum, &mut queue.exposed_byte_ns);
    for work in &mut gpu.key_work {
        visit(Growth::Count, &mut work.bytes);
        visit(Growth::Count, &mut work.messages);
    }
}

fn of_traffic(traffic: &mut Traffic, visit: &mut impl FnMut(Growth, &mut u64)) {
    let Traffic { tlps, dllps, payload_bytes, wire_bytes, ide_bytes, replays, .. } = traffic;
    [tlps, payload_bytes, ide_bytes].into_iter().for_each(|one| visit(Growth::Count, one));
    [dllps, wire_bytes, replays].into_iter().for_each(|one| visit(Growth::Sum, one));
}

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
