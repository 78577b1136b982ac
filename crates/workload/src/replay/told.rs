//! What a profile itself says of waiting: for which streams a call waits, and after which operations of other streams one begins by events.

use super::job::Job;
use crate::workload::trace::{CallKind, Synchronization, Trace};
use std::{collections::HashMap, num::NonZeroU32};

/// Operations of other streams that one can be after: the last of each stream is enough.
const MOST: usize = 64;

/// Of each of several streams, an operation.
type Comes = Vec<(u32, u32)>;

/// Notes what a trace says of the calls of its job.
pub(super) fn told(trace: &Trace, job: &mut Job) {
    if trace.synchronizations.is_empty() {
        return;
    }
    let numbers = streams(trace, job);
    let (waits, records) = by_call(trace);
    let (mut last, mut after) = (vec![None; job.streams], vec![Comes::new(); job.streams]);
    let mut recorded: HashMap<u64, Comes> = HashMap::new();
    for (call, place) in job.calls.iter().zip(0..) {
        for op in &call.ops {
            let stream = job.ops[*op as usize].stream;
            last[stream as usize] = Some(*op);
            let others = std::mem::take(&mut after[stream as usize]);
            if !others.is_empty() {
                job.after.insert(*op, others.into_iter().map(|(_, op)| op).collect());
            }
        }
        match call.kind {
            CallKind::EventRecord => {
                let Some((number, stream)) = call.number.and_then(|number| records.get(&number)) else { continue };
                let Some(stream) = numbers.get(stream).copied().flatten() else { continue };
                let mut comes = after[stream as usize].clone();
                last[stream as usize].into_iter().for_each(|op| join(&mut comes, (stream, op)));
                recorded.insert(*number, comes);
            }
            CallKind::StreamWait => {
                for wait in call.number.and_then(|number| waits.get(&number)).into_iter().flatten() {
                    let waiting = wait.waiting_stream.and_then(|stream| numbers.get(&stream).copied().flatten());
                    let comes = wait.record.and_then(|record| recorded.get(&record));
                    let Some((waiting, comes)) = waiting.zip(comes) else { continue };
                    let others = comes.iter().filter(|(stream, _)| *stream != waiting);
                    others.for_each(|one| join(&mut after[waiting as usize], *one));
                }
            }
            CallKind::Synchronize(_) => {
                let waits = call.number.and_then(|number| waits.get(&number)).into_iter().flatten();
                let named = waits.map(|wait| wait.stream).collect::<Option<Vec<u32>>>().unwrap_or_default();
                // Streams on which nothing was ever done are not waited for.
                let known = named.iter().filter_map(|stream| numbers.get(stream).copied());
                if let Some(streams) = known.collect::<Option<Vec<u32>>>().filter(|_| !named.is_empty()) {
                    job.waited.insert(place, streams);
                }
            }
            _ => {}
        }
    }
}

/// Adds the operation of a stream, or puts it in the place of an earlier one.
fn join(comes: &mut Comes, (stream, op): (u32, u32)) {
    match comes.iter().position(|(other, _)| *other == stream) {
        Some(place) => comes[place].1 = op.max(comes[place].1),
        None if comes.len() < MOST => comes.push((stream, op)),
        None => {}
    }
}

/// By number of a stream in the trace, that in the job; none where several GPUs have one of that number.
fn streams(trace: &Trace, job: &Job) -> HashMap<u32, Option<u32>> {
    let mut numbers = HashMap::new();
    for op in job.ops.iter() {
        let number = trace.device[op.traced as usize].stream;
        let known = numbers.entry(number).or_insert(Some(op.stream));
        *known = known.filter(|stream| *stream == op.stream);
    }
    numbers
}

/// By the number of a call: what the profiler says of its waits; and of records that somebody waits for, their number and their stream.
type ByCall<'t> = (HashMap<NonZeroU32, Vec<&'t Synchronization>>, HashMap<NonZeroU32, (u64, u32)>);

fn by_call(trace: &Trace) -> ByCall<'_> {
    let mut of: HashMap<u64, Vec<&Synchronization>> = HashMap::new();
    let mut records = HashMap::new();
    for wait in &trace.synchronizations {
        wait.correlation.into_iter().for_each(|number| of.entry(number.get()).or_default().push(wait));
        records.extend(wait.record.zip(wait.stream));
    }
    let all = || trace.calls.iter().zip(1..);
    let numbered = || all().filter_map(|(call, number)| Some((NonZeroU32::new(number)?, call.correlation?.get())));
    let waits = numbered().filter_map(|(call, number)| Some((call, of.remove(&number)?))).collect();
    let records = numbered().filter_map(|(call, number)| Some((call, (number, *records.get(&number)?)))).collect();
    (waits, records)
}
