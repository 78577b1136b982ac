//! What figures are asked of: a run of a machine, or some of its copies and GPUs.

use super::{
    Risk, Value,
    energy::{Energy, energy},
    price::risk,
};
use crate::{
    config::MachineSpec,
    cost::Interval,
    pcie::port::Traffic,
    system::{CopyOutcome, Direction, GpuOutcome, Outcome, TagQueueOutcome, UnitOutcome},
    units::Femtos,
    workload::collective::{CollectiveCall, CollectiveOutcome, CollectiveRequest, CollectiveTime, CollectiveTimes},
};
use std::cell::OnceCell;

/// A machine, and what is known of it without a run.
#[derive(Debug, Clone, Copy)]
pub struct About<'a> {
    pub machine: &'a MachineSpec,
    /// How many of its parameters are not published.
    pub assumed: usize,
    /// Whether it makes a single copy and nothing else.
    pub alone: bool,
    /// Where it calls collectives: how long they take, and when it would end if they took no time.
    pub collectives: Option<(&'a CollectiveTimes, Femtos)>,
}

#[derive(Debug, Clone, Default)]
pub struct Seen<'a> {
    /// Bytes of copies that were delivered, or of the buffer of each GPU of a collective.
    pub bytes: u64,
    pub copies: Vec<&'a CopyOutcome>,
    pub gpus: &'a [GpuOutcome],
    pub units: &'a [UnitOutcome],
    /// Of a link alone: which way on it.
    pub link: Option<Direction>,
    /// From the first call to the end of the last copy; of a whole run to its own end.
    pub time: Femtos,
    /// Of a whole run.
    pub about: Option<About<'a>>,
    /// Where it is no run but a collective.
    pub call: Option<(&'a CollectiveRequest, &'a CollectiveOutcome)>,
    /// Its energy, once a part of it was asked for.
    pub spent: OnceCell<Energy>,
}

impl<'a> Seen<'a> {
    pub fn run(about: About<'a>, outcome: &'a Outcome) -> Self {
        let all = Self::some(&outcome.gpus, outcome.copies.iter());
        Self { units: &outcome.units, time: outcome.end, about: Some(about), ..all }
    }

    /// These GPUs with these copies, from the first call to the end of the last.
    pub fn some(gpus: &'a [GpuOutcome], copies: impl Iterator<Item = &'a CopyOutcome>) -> Self {
        let copies: Vec<_> = copies.collect();
        let start = copies.iter().map(|copy| copy.start).min().unwrap_or_default();
        let end = copies.iter().map(|copy| copy.end).max().unwrap_or_default();
        let delivered = copies.iter().filter(|copy| copy.delivered).map(|copy| copy.bytes);
        let bytes = delivered.fold(0, u64::saturating_add);
        Self { bytes, gpus, time: end.saturating_sub(start), copies, ..Self::default() }
    }

    pub fn collective(request: &'a CollectiveRequest, outcome: &'a CollectiveOutcome) -> Self {
        Self { bytes: request.bytes, time: outcome.time, call: Some((request, outcome)), ..Self::default() }
    }

    /// One way on the links of these GPUs.
    pub fn link(gpus: &'a [GpuOutcome], way: Direction) -> Self {
        Self { gpus, link: Some(way), ..Self::default() }
    }

    /// Summed over links, of the way that is asked for.
    pub fn traffic(&self, of: fn(&Traffic) -> u64) -> Value {
        let way = |gpu: &GpuOutcome| match self.link? {
            Direction::H2d => Some(of(&gpu.link.h2d)),
            Direction::D2h => Some(of(&gpu.link.d2h)),
            Direction::D2d => None,
        };
        self.gpus.iter().map(way).sum::<Option<u64>>().into()
    }

    /// Its copies of one direction.
    pub fn way(&self, way: Direction) -> Self {
        Self {
            about: self.about,
            ..Self::some(self.gpus, self.copies.iter().copied().filter(|copy| copy.direction == way))
        }
    }

    pub fn of_call<T: Into<Value>>(&self, of: fn(&CollectiveRequest, &CollectiveOutcome) -> T) -> Value {
        self.call.map(|(request, outcome)| of(request, outcome)).into()
    }

    /// 10^9 bytes per second; none of what brought nothing there. A whole run may do without copies: then it is 0.
    pub fn gb_per_s(&self) -> Option<f64> {
        let (bytes, time) = (self.bytes, self.time.0);
        if self.about.is_some() && self.copies.is_empty() {
            return Some(0.0);
        }
        let refused = self.call.is_some_and(|(_, outcome)| outcome.refused.is_some());
        (bytes > 0 && time > 0 && !refused).then(|| bytes as f64 * 1e6 / time as f64)
    }

    pub fn sum(&self, of: fn(&CopyOutcome) -> u64) -> Value {
        self.copies.iter().map(|copy| of(copy)).fold(0, u64::saturating_add).into()
    }

    pub fn queues(&self) -> impl Iterator<Item = &'a TagQueueOutcome> {
        self.gpus.iter().map(|gpu| &gpu.tag_queue)
    }

    /// The most of any tag queue.
    pub fn most<T: Ord + Into<Value>>(&self, of: fn(&TagQueueOutcome) -> T) -> Value {
        self.queues().map(of).max().into()
    }

    /// Time in which a copy engine moved at least one of the copies, summed over GPUs; none if none was moved.
    pub fn moved(&self) -> Option<Femtos> {
        let spans = self.copies.iter().filter_map(|copy| copy.device.map(|span| (copy.gpu, span)));
        let spans: Vec<_> = spans.collect();
        (!spans.is_empty()).then(|| covered(spans))
    }

    /// Part of the time in which compute sides that had anything to do had nothing to do, and no copy within the GPU was made.
    pub fn idle(&self) -> f64 {
        let compute = self.units.iter().filter(|unit| unit.name.ends_with(".compute") && unit.idle < unit.cycles);
        let (idle, cycles) = compute.fold((0, 0), |(idle, cycles), unit| (idle + unit.idle, cycles + unit.cycles));
        if cycles == 0 { 1.0 } else { idle as f64 / cycles as f64 }
    }

    /// Summed over collectives, if there are any.
    pub fn collectives(&self, of: fn(&CollectiveCall, &CollectiveTime) -> u64) -> Value {
        let times = self.about.and_then(|about| about.collectives);
        times.map(|(times, _)| times.iter().map(|(call, one)| of(call, one)).fold(0, u64::saturating_add)).into()
    }

    /// How much earlier it would end if collectives took no time.
    pub fn exposed_collectives(&self) -> Option<Femtos> {
        self.about?.collectives.map(|(_, free)| self.time.saturating_sub(free))
    }

    /// The middle of a part of its energy.
    pub fn energy(&self, part: fn(&Energy) -> Option<Interval>) -> Value {
        let energy = self.about.map(|about| self.spent.get_or_init(|| energy(self, about.machine)));
        energy.and_then(part).map(Interval::middle).into()
    }

    /// What the tags and keys of a single copy leave open. Messages of a workload may differ in length, so that it has no bound.
    pub fn risk(&self) -> Risk {
        let (Some(About { machine, alone: true, .. }), [copy]) = (self.about, &self.copies[..]) else {
            return Risk::default();
        };
        let tlps = self.gpus.get(copy.gpu).map_or(0, |gpu| gpu.link.h2d.tlps + gpu.link.d2h.tlps);
        risk(machine, copy.bytes, copy.messages, tlps)
    }
}

/// Time that lies in at least one of the spans of a GPU, summed over GPUs.
fn covered(mut spans: Vec<(usize, (Femtos, Femtos))>) -> Femtos {
    spans.sort_unstable();
    let (mut sum, mut reached) = (Femtos::ZERO, (0, Femtos::ZERO));
    for (gpu, (start, end)) in spans {
        let from = if reached.0 == gpu { start.max(reached.1) } else { start };
        sum = sum.saturating_add(end.saturating_sub(from));
        reached = (gpu, if reached.0 == gpu { end.max(reached.1) } else { end });
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_that_overlap_count_once_and_those_of_other_gpus_apart() {
        let span = |gpu, start, end| (gpu, (Femtos(start), Femtos(end)));
        assert_eq!(covered(vec![span(0, 0, 10), span(0, 5, 12), span(0, 20, 21), span(0, 6, 7)]), Femtos(13));
        assert_eq!(covered(vec![span(0, 0, 10), span(1, 5, 12)]), Femtos(17));
    }
}
