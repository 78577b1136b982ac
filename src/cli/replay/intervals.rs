//! Between what the figures of a replay lie whose copies were sampled: it is played with the least and with the most that copies may take.

use crate::{
    replay::{Advice, Known, Ns, Share},
    report::replay::Document,
    sampling::Told,
};
use std::collections::HashMap;

/// What is reported of it. `low` and `high` list the same calls as `middle`.
pub(super) fn told(known: &Known, middle: &Document, mut low: Document, mut high: Document) -> Told {
    // The first run is without confidential computing, the second with it.
    let end = |document: &Document| document.runs.get(1).and_then(|run| run.end_ns).unwrap_or(0);
    let ends = [&low, &high].map(end);
    [&mut low, &mut high].into_iter().for_each(|other| follow(other, middle));
    spread_slowdowns(&mut low, &mut high);
    spread_idle(&mut low, &mut high);
    spread_shares(ends, &mut low.breakdown, &mut high.breakdown);
    spread_gains(ends, &mut low.advice, &mut high.advice);
    Told::between(known.work(), ends.map(|end| end.saturating_mul(1_000)), [&low, &high])
}

/// Gives the lists that are sorted by their figures the order of `middle`. A change that is not worth a line gives nothing back.
fn follow(other: &mut Document, middle: &Document) {
    for (run, like) in other.runs.iter_mut().zip(&middle.runs) {
        let order: HashMap<&str, usize> =
            like.host_calls.iter().enumerate().map(|(place, call)| (call.name.as_str(), place)).collect();
        run.host_calls.sort_by_key(|call| order.get(call.name.as_str()));
    }
    let gains: HashMap<&str, f64> = other.advice.iter().map(|one| (one.about.as_str(), one.gain)).collect();
    let gain = |one: &Advice| gains.get(one.about.as_str()).copied().unwrap_or(0.0);
    other.advice = middle.advice.iter().map(|one| Advice { gain: gain(one), ..one.clone() }).collect();
}

/// A ratio is least where one end is least and the other is most.
fn spread_slowdowns(low: &mut Document, high: &mut Document) {
    let off = [&*low, &*high].map(|document| document.runs.first().and_then(|run| run.end_ns).unwrap_or(0));
    for (low, high) in low.runs.iter_mut().zip(&mut high.runs).skip(1).filter(|_| off[0] > 0) {
        low.slowdown_over_off = low.end_ns.map(|end| end as f64 / off[1] as f64);
        high.slowdown_over_off = high.end_ns.map(|end| end as f64 / off[0] as f64);
    }
}

/// Time in which no device does anything is what copies leave of the end: it may be off by as much.
fn spread_idle(low: &mut Document, high: &mut Document) {
    for (low, high) in low.runs.iter_mut().zip(&mut high.runs) {
        let Some((end, idle)) = low.end_ns.zip(high.end_ns).zip(low.gpu_idle_ns.zip(high.gpu_idle_ns)) else {
            continue;
        };
        let off = end.1.abs_diff(end.0);
        low.gpu_idle_ns = Some(idle.0.min(idle.1).saturating_sub(off));
        high.gpu_idle_ns = Some(idle.0.max(idle.1).saturating_add(off));
    }
}

/// A difference is least where its first end is least and its second is most. A share is that of two ends, the first of which the share before it left.
fn spread_shares([least, most]: [Ns; 2], low: &mut [Share], high: &mut [Share]) {
    let (mut least, mut most) = (i128::from(least), i128::from(most));
    for (low, high) in low.iter_mut().zip(high) {
        let (next_least, next_most) = (least - i128::from(low.ns), most - i128::from(high.ns));
        low.ns = clamped(least.min(most) - next_least.max(next_most));
        high.ns = clamped(least.max(most) - next_least.min(next_most));
        (least, most) = (next_least, next_most);
    }
}

/// A gain is one less a ratio of two ends, each of which may be off by as large a part as the end of the run.
fn spread_gains([least, most]: [Ns; 2], low: &mut [Advice], high: &mut [Advice]) {
    let part = most.abs_diff(least) as f64 / least.max(1) as f64;
    for (low, high) in low.iter_mut().zip(high) {
        let gains = [low.gain, high.gain];
        low.gain = (gains[0].min(gains[1]) - part).max(0.0);
        high.gain = gains[0].max(gains[1]) + part;
    }
}

fn clamped(ns: i128) -> i64 {
    i64::try_from(ns).unwrap_or(if ns < 0 { i64::MIN } else { i64::MAX })
}
