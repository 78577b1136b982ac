//! Copies that spend their time in queues: behind other copies on their engine or stream, or behind kernels on their stream.

use super::{
    outcome::{Busiest, CopyOutcome},
    request::Direction,
};
use crate::units::Femtos;

/// A copy that waits for more than this part of its time is said to be queued.
const MOSTLY: f64 = 0.5;

/// Where a copy is in a program.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Place {
    /// Its stream, where the program says one.
    pub stream: Option<u32>,
    /// Whether kernels or waits for events come before it there.
    pub behind_kernels: bool,
}

/// Names, for each copy that waits for most of its time, the copy behind which it waits longest, or else the kernels.
pub(super) fn name_queues(copies: &mut [CopyOutcome], places: &[Place]) {
    for place in 0..copies.len() {
        let copy = &copies[place];
        let (time, begin) = (copy.end.0.saturating_sub(copy.start.0), copy.device.map_or(copy.end, |(begin, _)| begin));
        let waits = begin.0.saturating_sub(copy.start.0);
        if waits as f64 <= MOSTLY * time as f64 {
            continue;
        }
        let behind = longest(copies, places, place, begin);
        let copies_took = behind.map_or(0, |(_, all)| all);
        // What is neither a copy before it nor the host's own work before the launch is a kernel or an event on its stream.
        let kernels = match places.get(place).is_some_and(|place| place.behind_kernels) {
            true => begin.0.saturating_sub(handed_over(copy).0).saturating_sub(copies_took),
            false => 0,
        };
        let part = |time_of: u64| time_of as f64 / time.max(1) as f64;
        match behind {
            Some((front, all)) if part(all) > MOSTLY || all > kernels && part(all + kernels) > MOSTLY => {
                queue_behind(copies, place, front, part(all));
            }
            _ if part(kernels + copies_took) > MOSTLY => wait_for_kernels(copies, place, part(kernels)),
            _ => {}
        }
    }
}

/// When the host had done its part. A call that returns at the copy's end says nothing of that; what its units did meanwhile does.
fn handed_over(copy: &CopyOutcome) -> Femtos {
    if copy.returned < copy.end {
        return copy.returned;
    }
    let time = copy.end.0.saturating_sub(copy.start.0);
    Femtos(copy.start.0 + (copy.busiest.fraction * time as f64) as u64)
}

fn queue_behind(copies: &mut [CopyOutcome], place: usize, front: usize, fraction: f64) {
    let unit = match copies[place].direction {
        Direction::H2d => "gpu.front_end_read",
        Direction::D2h => "gpu.front_end_write",
        Direction::D2d => "gpu.compute",
    };
    copies[place].busiest =
        Busiest { unit: unit.into(), state: "queued".into(), fraction, behind: Some(front), waited: None };
}

fn wait_for_kernels(copies: &mut [CopyOutcome], place: usize, fraction: f64) {
    copies[place].busiest =
        Busiest { unit: "gpu.compute".into(), state: "kernels".into(), fraction, ..Busiest::default() };
}

/// The copy before this one that it waits for longest, and for how long it waits for all of them.
fn longest(copies: &[CopyOutcome], places: &[Place], place: usize, begin: Femtos) -> Option<(usize, u64)> {
    let copy = &copies[place];
    let before = |front: usize| {
        let same_engine = copies[front].direction == copy.direction;
        let stream = |place: usize| places.get(place).and_then(|place| place.stream);
        same_engine || stream(front).is_some() && stream(front) == stream(place)
    };
    let mut waits = Vec::new();
    for (front, other) in copies[..place].iter().enumerate().rev().take(MOST_BEFORE) {
        if let Some(span) = other.device.filter(|_| before(front)) {
            waits.push((front, (span.0.max(copy.start), span.1.min(begin))));
        }
    }
    waits.retain(|(_, (from, to))| to > from);
    let longest = waits.iter().max_by_key(|(_, (from, to))| to.0 - from.0)?.0;
    waits.sort_by_key(|(_, span)| *span);
    let (mut all, mut until) = (0, Femtos(0));
    for (_, (from, to)) in waits {
        all += to.0.saturating_sub(from.max(until).0);
        until = until.max(to);
    }
    Some((longest, all))
}

/// Copies that are looked back at: what lies further back has ended, or lies behind these in the same queue.
const MOST_BEFORE: usize = 256;
