//! What would give time back: each piece of advice is a replay with one thing changed.

use super::{
    Ns,
    breakdown::{Cause, Share},
    copies::CopyKey,
    error::ReplayError,
    job::{Job, Way},
    play::Played,
    question::Question,
    rules::Causes,
};
use crate::{
    config::Resolved,
    system::{Memory, Pages},
};
use serde::Serialize;
use std::collections::BTreeMap;

/// Groups of copies that are tried.
const GROUPS: usize = 5;
/// Gains below this share of the end are not worth a line.
const WORTH: f64 = 0.01;
/// Below this share two kinds of memory cost the same.
const SAME: f64 = 0.01;

/// A piece of advice.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Advice {
    /// What would be changed: the same in replays that differ in figures alone.
    #[serde(skip)]
    pub about: String,
    pub text: String,
    /// Share of the end that it would give back.
    pub gain: f64,
}

/// Copies that are alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Group {
    way: Way,
    bytes: u64,
    memory: Memory,
}

/// Copies of a group, and for how long they hold the host.
#[derive(Debug, Clone, Default)]
struct Held {
    ops: Vec<usize>,
    time: Ns,
}

/// Advice for a job that was played with confidential computing, the best first.
///
/// # Errors
/// [`ReplayError`]
pub fn advise(question: &Question<'_>, machine: &Resolved, secure: &Played) -> Result<Vec<Advice>, ReplayError> {
    let mut advice = Vec::new();
    let end = secure.device_time();
    for (group, held) in largest(question.job, &question.keys, secure) {
        let keys = question
            .keys
            .iter()
            .enumerate()
            .map(|(place, key)| key.filter(|_| held.ops.binary_search(&place).is_err()));
        let without = Question { keys: keys.collect(), off: question.off.clone(), ..*question };
        let played = without.secure(machine, Causes::default())?.played;
        let gain = share(end, played.device_time());
        if gain >= WORTH {
            advice.push(Advice { about: format!("{group:?}"), text: text(group, &held, gain), gain });
        }
    }
    advice.extend(other_memory(question, machine, end)?);
    advice.sort_by(|one, other| other.gain.total_cmp(&one.gain));
    Ok(advice)
}

fn share(end: Ns, without: Ns) -> f64 {
    if end == 0 { 0.0 } else { 1.0 - without as f64 / end as f64 }
}

/// The groups that hold the host longest.
fn largest(job: &Job, keys: &[Option<CopyKey>], secure: &Played) -> Vec<(Group, Held)> {
    let mut groups: BTreeMap<Group, Held> = BTreeMap::new();
    for (call, span) in job.calls.iter().zip(&secure.calls) {
        for place in call.ops.iter().map(|place| *place as usize) {
            let Some(CopyKey { way, bytes, memory, .. }) = keys[place] else { continue };
            let held = groups.entry(Group { way, bytes, memory }).or_default();
            held.ops.push(place);
            held.time += span.duration();
        }
    }
    let mut all: Vec<_> = groups.into_iter().collect();
    all.sort_by_key(|(group, held)| (std::cmp::Reverse(held.time), *group));
    all.truncate(GROUPS);
    all.iter_mut().for_each(|(_, held)| held.ops.sort_unstable());
    all
}

fn text(group: Group, held: &Held, gain: f64) -> String {
    let Group { way, bytes, memory } = group;
    let count = held.ops.len();
    let (what, to) = match way {
        Way::H2d => ("copies to the GPU", "Send them together, or ahead of time by another thread"),
        Way::D2h => ("read-backs", "Batch them, or move them to another thread"),
    };
    let kind = if memory == Memory::Pageable { "pageable" } else { "pinned" };
    let each = held.time / count.max(1) as u64;
    format!(
        "{count} {what} of {bytes} B ({kind}) hold the host {} each. {to}: if they cost no more than without confidential computing, the job would \
         end {:.1} % sooner",
        span(each),
        100.0 * gain
    )
}

/// A time as people write it.
fn span(ns: Ns) -> String {
    match ns {
        0..1_000 => format!("{ns} ns"),
        1_000..1_000_000 => format!("{:.1} us", ns as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} ms", ns as f64 / 1e6),
        _ => format!("{:.2} s", ns as f64 / 1e9),
    }
}

/// What a design gives back, and at which cause most of it; each with its replay and its breakdown.
#[must_use]
pub fn of_design(name: &str, (cc, shares): (&Played, &[Share]), (design, own): (&Played, &[Share])) -> Advice {
    let gain = share(cc.device_time(), design.device_time());
    let left = |cause: Cause| own.iter().find(|share| share.cause == cause).map_or(0, |share| share.ns);
    let given = |one: &&Share| one.ns.saturating_sub(left(one.cause));
    let most = shares.iter().max_by_key(given).filter(|one| given(one) > 0);
    let text = match most {
        _ if gain.abs() < 0.0005 => format!("{name} changes nothing here"),
        Some(most) if gain > 0.0 => {
            let part = span(u64::try_from(given(&most)).unwrap_or(0));
            format!("{name} gives back {:.1} %: {part} of it at {}", 100.0 * gain, most.cause.words())
        }
        _ if gain > 0.0 => format!("{name} gives back {:.1} %", 100.0 * gain),
        _ => format!("{name} costs {:.1} % more", -100.0 * gain),
    };
    Advice { about: name.to_owned(), text, gain: gain.max(0.0) }
}

/// Whether the other kind of host memory would cost less.
fn other_memory(question: &Question<'_>, machine: &Resolved, end: Ns) -> Result<Option<Advice>, ReplayError> {
    let count = |memory| question.keys.iter().flatten().filter(|key| key.memory == memory).count();
    let (pinned, pageable) = (count(Memory::Pinned), count(Memory::Pageable));
    if pinned + pageable == 0 {
        return Ok(None);
    }
    let (from, to, other) = if pageable >= pinned {
        ("pageable", "pinned", Memory::Pinned)
    } else {
        ("pinned", "pageable", Memory::Pageable)
    };
    let change = |key: &Option<CopyKey>| key.map(|key| CopyKey { memory: other, pages: Pages::Warm, ..key });
    let warm = |key: &Option<CopyKey>| key.map(|key| CopyKey { pages: Pages::Warm, ..key });
    let played = |keys: Vec<Option<CopyKey>>| -> Result<Ns, ReplayError> {
        let changed = Question { keys, off: question.off.clone(), ..*question };
        Ok(changed.secure(machine, Causes::default())?.played.device_time())
    };
    let (as_is, changed) =
        (played(question.keys.iter().map(warm).collect())?, played(question.keys.iter().map(change).collect())?);
    let gain = if end == 0 { 0.0 } else { (as_is as f64 - changed as f64) / end as f64 };
    let text = match gain {
        _ if gain.abs() < SAME => "pinned and pageable memory cost the same here".to_owned(),
        _ if gain > 0.0 => format!("{to} instead of {from} memory would give back {:.1} %", 100.0 * gain),
        _ => return Ok(None),
    };
    Ok(Some(Advice { about: "memory".to_owned(), text, gain: gain.max(0.0) }))
}
