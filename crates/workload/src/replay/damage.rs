//! Damage in a profile: dates that cannot be true, and what is taken instead.
//!
//! | in the profile | taken instead |
//! | --- | --- |
//! | an operation begins before its own call, or before what its stream was given earlier | it begins after both |
//! | an operation lasts over the beginning of the next one of its stream, or over the return of a wait for it | it ends there |
//! | launches have no kernel | nothing: what the GPU did is not known |
//!
//! Left alone is what overlaps by its nature: nodes of a graph, streams in which most operations overlap. So are clocks of
//! host and GPU that differ: they shift many operations and not a few.

use super::{Ns, job::Job};
use crate::workload::trace::{CallKind, DeviceKind, DeviceOp, HostCall, Trace, Waited, named};
use std::collections::{BTreeMap, HashMap, HashSet};

/// By how much an operation begins before its call at least if its date is damaged.
const EARLY: Ns = 50_000;
/// By how much an operation ends too late at least if its duration is damaged.
const OVER: Ns = 20_000;
/// At most one operation out of so many begins early by damage.
const FEW: usize = 4;
/// So many launches in a hundred may lack their kernel before nothing is said of the whole.
const LOST: usize = 5;

/// Waits by process and, if they are not for all of it, stream: when each began, and when the first of it and of those after it returned.
type Waits = HashMap<(u32, Option<u32>), Vec<(Ns, Ns)>>;

struct Damage<'t> {
    trace: &'t Trace,
    launches: &'t [Option<u32>],
    /// By thread, its process.
    processes: Vec<u32>,
    /// Start and end of each operation.
    dates: Vec<(Ns, Ns)>,
}

/// The same trace without dates that cannot be true, and what was wrong with it in sentences; nothing if there is no damage.
pub(super) fn mended(trace: &Trace, launches: &[Option<u32>]) -> Option<(Trace, Vec<String>)> {
    if trace.format.is_none() || !trace.dependencies.is_empty() {
        return None;
    }
    let mut numbers = HashMap::new();
    let mut number = |process| {
        let next = numbers.len() as u32;
        *numbers.entry(process).or_insert(next)
    };
    let processes = trace.threads.iter().map(|thread| number(thread.process.as_str())).collect();
    let dates = trace.device.iter().map(|op| (op.start_ns, op.start_ns.saturating_add(op.duration_ns))).collect();
    let mut damage = Damage { trace, launches, processes, dates };
    let found = [
        (
            damage.early(),
            "begin before the call that asked for them or before what their stream was given earlier: each is taken to begin after both",
        ),
        (
            damage.long(),
            "last until after the next operation of their stream begins, or a wait for them returns: each is taken to end there",
        ),
    ];
    let found = found.iter().filter(|(count, _)| *count > 0);
    let found: Vec<_> =
        found.map(|(count, what)| format!("The profile is damaged: {count} operations {what}.")).collect();
    (!found.is_empty()).then(|| (damage.trace(), found))
}

impl Damage<'_> {
    fn op(&self, place: u32) -> &DeviceOp {
        &self.trace.device[place as usize]
    }

    fn call(&self, place: u32) -> Option<&HostCall> {
        self.trace.calls.get(self.launches[place as usize]? as usize)
    }

    fn process(&self, call: &HostCall) -> u32 {
        self.processes.get(call.thread as usize).copied().unwrap_or(0)
    }

    fn start(&self, place: u32) -> Ns {
        self.dates[place as usize].0
    }

    fn end(&self, place: u32) -> Ns {
        self.dates[place as usize].1
    }

    fn places(&self) -> std::ops::Range<u32> {
        0..self.dates.len() as u32
    }

    /// Operations that run one after the other, as those of a process in a stream do, in the order of `by`.
    fn lanes(&self, by: impl Fn(u32) -> Ns) -> Vec<Vec<u32>> {
        let mut lanes: BTreeMap<_, Vec<u32>> = BTreeMap::new();
        for place in self.places() {
            let (op, call) = (self.op(place), self.call(place));
            let node = op.in_graph || call.is_some_and(|call| call.what == CallKind::GraphLaunch);
            if !node || op.kind == DeviceKind::Graph {
                lanes.entry((call.map(|call| self.process(call)), op.device, op.stream)).or_default().push(place);
            }
        }
        lanes.values_mut().for_each(|lane| lane.sort_by_key(|place| by(*place)));
        lanes.into_values().collect()
    }

    /// Gives operations that begin too early other dates; how many there are.
    fn early(&mut self) -> usize {
        let by_call = |place| self.call(place).map_or(self.start(place), |call| call.start_ns);
        let lanes = self.lanes(by_call);
        let before = |place: &u32| self.start(*place).saturating_add(EARLY) < by_call(*place);
        let overtakes = |two: &&[u32]| {
            let submitted = self.call(two[0]).is_some_and(|call| returned(call) <= by_call(two[1]));
            submitted && self.start(two[1]) < self.start(two[0])
        };
        let overtaking = lanes.iter().flat_map(|lane| lane.windows(2).filter(overtakes).map(|two| two[1]));
        let early: HashSet<u32> = self.places().filter(before).chain(overtaking).collect();
        if early.len() * FEW > self.launches.iter().flatten().count() {
            return 0;
        }
        let mut count = 0;
        for lane in &lanes {
            for (at, place) in lane.iter().enumerate().filter(|(_, place)| early.contains(place)) {
                let (takes, Some(call)) = (self.op(*place).duration_ns, self.call(*place)) else { continue };
                let next = lane[at + 1..].iter().find(|next| !early.contains(next)).map(|next| self.start(*next));
                let before = at.checked_sub(1).map_or(0, |before| self.end(lane[before]));
                let start = before.max(returned(call)).min(next.unwrap_or(Ns::MAX));
                self.dates[*place as usize] = (start, start.saturating_add(takes));
                count += 1;
            }
        }
        count
    }

    /// Lets operations end where the next one or the return of a wait shows that they did; how many there are.
    fn long(&mut self) -> usize {
        let (waits, single) = self.waits();
        let mut ends: HashMap<u32, Ns> = HashMap::new();
        for lane in self.lanes(|place| self.start(place)) {
            let number = |place| self.op(place).correlation;
            let over = |two: &&[u32]| {
                (number(two[0]).is_none() || number(two[0]) != number(two[1]))
                    && self.start(two[1]) > self.start(two[0])
                    && self.end(two[0]) > self.start(two[1]).saturating_add(OVER)
            };
            let found: Vec<_> = lane.windows(2).filter(over).map(|two| (two[0], self.start(two[1]))).collect();
            if found.len() * 2 <= lane.len() {
                ends.extend(found);
            }
        }
        // Where the GPU's clock is late by some time, no operation begins sooner than that after its call.
        let lead = |place| self.start(place).checked_sub(self.call(place)?.start_ns);
        let late = self.places().filter_map(lead).min().unwrap_or(0).saturating_add(OVER);
        // One that lasts longer than all that the host does is none that the host waited for elsewhere.
        let last = self.trace.calls.iter().map(returned).max().unwrap_or(Ns::MAX);
        for place in self.places() {
            let (Some(call), next) = (self.call(place), ends.get(&place).copied()) else { continue };
            let process = self.process(call);
            let waited = |stream| {
                let waits = waits.get(&(process, stream))?;
                let (_, end) = waits.get(waits.partition_point(|(start, _)| *start < returned(call)))?;
                let sure = stream.is_none() || single.contains(&process) || self.end(place) / 2 > last;
                let over = next.is_some() || sure && self.end(place) > end.saturating_add(late);
                (over && *end > self.start(place)).then_some(*end)
            };
            let all = [next, waited(None), waited(Some(self.op(place).stream))];
            ends.extend(all.into_iter().flatten().min().map(|end| (place, end)));
        }
        ends.iter().for_each(|(place, end)| self.dates[*place as usize].1 = *end);
        ends.len()
    }

    /// Waits for a device, or for a stream: that of what their thread submitted last. The processes that have a single stream wait for no other.
    fn waits(&self) -> (Waits, HashSet<u32>) {
        let (mut used, mut submits) = (HashMap::<u32, (HashSet<u32>, HashSet<u32>)>::new(), HashMap::new());
        for place in self.places() {
            let (op, Some(call)) = (self.op(place), self.call(place)) else { continue };
            let (streams, devices) = used.entry(self.process(call)).or_default();
            streams.insert(op.stream);
            devices.insert(op.device);
            submits.extend(self.launches[place as usize].map(|launch| (launch, op.stream)));
        }
        let (mut waits, mut last) = (Waits::new(), HashMap::new());
        for (call, place) in self.trace.calls.iter().zip(0..) {
            last.extend(submits.get(&place).map(|stream| (call.thread, *stream)));
            let process = self.process(call);
            let stream = match (call.what, last.get(&call.thread)) {
                _ if call.failed => continue,
                (CallKind::Synchronize(Waited::Device), _) if used.get(&process).is_some_and(|of| of.1.len() == 1) => {
                    None
                }
                (CallKind::Synchronize(Waited::Stream), Some(last)) => Some(*last),
                _ => continue,
            };
            waits.entry((process, stream)).or_default().push((call.start_ns, returned(call)));
        }
        for waits in waits.values_mut() {
            let mut first = Ns::MAX;
            for (_, returned) in waits.iter_mut().rev() {
                first = first.min(*returned);
                *returned = first;
            }
        }
        (waits, used.into_iter().filter(|(_, (streams, _))| streams.len() == 1).map(|(process, _)| process).collect())
    }

    /// The trace with these dates, from its first call or operation on.
    fn trace(&self) -> Trace {
        let mut trace = self.trace.clone();
        let starts = self.dates.iter().map(|(start, _)| *start).chain(trace.calls.iter().map(|call| call.start_ns));
        let first = starts.chain(trace.marks.iter().map(|(start, _)| *start)).min().unwrap_or(0);
        for (op, (start, end)) in trace.device.iter_mut().zip(&self.dates) {
            (op.start_ns, op.duration_ns) = (start - first, end - start);
        }
        trace.calls.iter_mut().for_each(|call| call.start_ns -= first);
        trace.marks.iter_mut().for_each(|(start, end)| (*start, *end) = (*start - first, *end - first));
        trace
    }
}

const fn returned(call: &HostCall) -> Ns {
    call.start_ns.saturating_add(call.duration_ns)
}

/// What is to be said of launches without a kernel, and whether nothing can be said of the whole; nothing if each has one. Those that are captured for a
/// graph have none.
pub(super) fn lost(job: &Job) -> Option<(bool, String)> {
    let (mut capturing, mut lost, mut all) = (HashSet::new(), 0, 0);
    let [begins, ends] = ["BeginCapture", "EndCapture"].map(|part| named(&job.names, move |name| name.contains(part)));
    for call in &job.calls {
        match call.name {
            name if begins(name) => _ = capturing.insert(call.thread),
            name if ends(name) => _ = capturing.remove(&call.thread),
            _ if call.kind != CallKind::Launch || call.failed || capturing.contains(&call.thread) => {}
            _ => {
                all += 1;
                lost += usize::from(call.ops.is_empty());
            }
        }
    }
    let decides = lost * 100 > all * LOST;
    let so = match decides {
        true => "No slow-down is given, as what the GPU did, and what limits the program, is not known",
        false => "These kernels take no time here",
    };
    (lost > 0).then(|| (decides, format!("{lost} of {all} launches have no kernel in the profile. {so}.")))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{BEGIN, call, job, op, turns};

    /// Cautions about six turns of which some events are others, and start and duration of each kernel, us.
    fn played(events: &[(usize, String)]) -> (Vec<String>, Vec<(u64, u64)>) {
        let mut all = turns(6);
        events.iter().for_each(|(place, event)| all[*place].clone_from(event));
        let job = job("", &all);
        let kernels = job.ops.iter().filter(|op| job.name(op.name) == "gemm");
        (job.cautions.clone(), kernels.map(|op| (op.start / 1000, op.duration / 1000)).collect())
    }

    fn kernel(turn: usize, start: u64, takes: u64) -> (usize, String) {
        (5 * turn + 3, op("gemm", 3 * turn + 2, 7, (start, takes)))
    }

    const fn of(turn: usize) -> u64 {
        BEGIN + 600 * turn as u64
    }

    #[test]
    fn what_lasts_over_the_next_or_a_wait_ends_there() {
        let whole =
            |takes: [u64; 6]| (0..).zip(takes).map(|(turn, takes)| (600 * turn + 33, takes)).collect::<Vec<_>>();
        let late = |turn: usize, takes| kernel(turn, of(turn) + 33, takes);
        let apart = (1, op("Memcpy HtoD", 1, 8, (BEGIN + 6, 26)));
        let event = |turn: usize| (5 * turn + 4, call("cudaEventQuery", 3 * turn + 3, of(turn) + 13, 1));
        for (events, takes, count) in [
            (vec![late(0, 1_600_000)], [503, 500, 500, 500, 500, 500], 1),
            (vec![late(2, 620), late(5, 90_000_000)], [500, 500, 503, 500, 500, 503], 2),
            (vec![apart, late(5, 90_000_000)], [500, 500, 500, 500, 500, 503], 1),
            (vec![late(1, 700_000), event(1), event(2)], [500, 573, 500, 500, 500, 500], 1),
            (vec![], [500; 6], 0),
            (vec![late(1, 515)], [500, 515, 500, 500, 500, 500], 0),
        ] {
            let (cautions, kernels) = played(&events);
            assert_eq!((kernels, cautions.len()), (whole(takes), usize::from(count > 0)), "{cautions:?}");
            assert!(cautions.iter().all(|one| one.contains(&format!("{count} operations last until"))), "{cautions:?}");
        }
    }

    #[test]
    fn what_overlaps_by_its_nature_is_left_alone() {
        let query = (9, call("cudaEventQuery", 6, of(1) + 13, 1));
        let long = |stream| (8, op("gemm", 5, stream, (of(1) + 33, 700)));
        let graph = (7, call("cudaGraphLaunch", 5, of(1) + 8, 4));
        for events in [vec![long(8), query.clone()], vec![long(7), query, graph]] {
            assert_eq!(played(&events).0, [""; 0]);
        }
        let all: Vec<_> = (0..6).map(|turn| kernel(turn, of(turn) + 20, 500)).collect();
        assert_eq!(played(&all).0, [""; 0]);
    }

    #[test]
    fn what_begins_before_its_call_begins_after_it() {
        for start in [of(2) + 4, of(2) + 8 - 60, of(2) - 3_000, 0] {
            let (cautions, kernels) = played(&[kernel(2, start, 500)]);
            assert!(cautions.len() == 1 && cautions[0].contains("1 operations begin before the call"), "{cautions:?}");
            assert_eq!((kernels[2], kernels[3]), ((1_232, 500), (1_833, 500)));
        }
        let upload = op("Memcpy HtoD (Pinned -> Device)", 7, 7, (of(2) - 3, 26));
        assert_eq!(played(&[(11, upload)]).0, [""; 0]);
        let early = |turn: usize, start| (5 * turn + 1, op("Memcpy HtoD", 3 * turn + 1, 7, (start, 26)));
        let all = (0..6).flat_map(|turn| [kernel(turn, of(turn) - 67, 500), early(turn, of(turn) - 94)]);
        assert_eq!(played(&all.collect::<Vec<_>>()).0, [""; 0]);
    }

    #[test]
    fn launches_without_kernels_are_counted_and_many_of_them_decide() {
        let without = |turns: &[String], of: &dyn Fn(usize) -> bool| {
            let kept = turns.iter().enumerate().filter(|(place, _)| place % 5 != 3 || !of(place / 5));
            kept.map(|(_, event)| event.clone()).collect::<Vec<_>>()
        };
        let told = |events: &[String]| {
            let job = job("", events);
            (job.no_slowdown, job.cautions.first().map(|one| one.split(" have").next().unwrap().to_owned()))
        };
        assert_eq!(told(&without(&turns(6), &|_| true)), (true, Some("6 of 6 launches".to_owned())));
        assert_eq!(told(&without(&turns(20), &|turn| turn < 2)), (true, Some("2 of 20 launches".to_owned())));
        assert_eq!(told(&without(&turns(40), &|turn| turn == 9)), (false, Some("1 of 40 launches".to_owned())));
        let mut captured = without(&turns(6), &|turn| turn == 0);
        captured.push(call("cudaStreamBeginCapture", 90, BEGIN + 7, 1));
        captured.push(call("cudaStreamEndCapture", 91, BEGIN + 12, 1));
        assert_eq!([told(&captured), told(&turns(6))], [(false, None), (false, None)]);
    }
}
