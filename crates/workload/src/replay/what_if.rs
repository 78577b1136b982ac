//! What would give time back: the program is changed, and played again.
//!
//! | change | how the program is changed |
//! | --- | --- |
//! | `graph` | launches and fills in a row, of one stream, with no copy and no wait between them, become one launch of a graph; the host's work between them goes too |
//! | `copy-thread`, `read-back-worker` | another thread makes the read-backs: the call returns at once, and whoever waits for the GPU waits for it |
//! | `batch` | equal small copies in a row become one of all their bytes |
//! | `events` | of events recorded before a wait only the last is |
//! | `second-stream` | copies to the GPU do not wait for what is on their stream |
//! | `staged-upload` | the same, into memory of their own, from which a copy on the GPU takes them when their stream has come to it |
//! | `pinned`, `pageable` | the other kind of host memory |
//! | `openssl` | the CPU seals at what one core does with OpenSSL 3.1.0 and later |
//! | `messages` | copies are cut into messages twice as long |
//!
//! Several are made together, one after the other, if their names are joined by `+`.

use super::{
    Ns,
    breakdown::{Cause, Share},
    copies::CopyKey,
    error::ReplayError,
    job::{Bind, Bound, Call, Change, Job, Op, Way, Work, order_streams},
    node::Node,
    ops::{Ops, Sparse},
    play::Played,
    probe::nanos,
    question::Question,
    rules::{Causes, ns},
};
use crate::{
    config::Resolved,
    system::{Memory, Pages},
    units::Bytes,
    workload::trace::CallKind,
};
use serde::Serialize;
use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

/// Fewer launches in a row are no graph.
const GRAPH: usize = 4;
/// What the launch of a graph takes without confidential computing, if its kernels took more: assumed.
const GRAPH_CALL: Ns = 20_000;
/// Between two kernels of a graph, at most: the median over 935 kernels of a decode step, measured on an H100 SXM5.
const GRAPH_GAP: Ns = 420;
/// Copies of more bytes are not batched.
const SMALL: u64 = 64 << 10;
/// Gains below this share are not worth a line.
const WORTH: f64 = 0.01;
/// A cause that takes this share of the loss has a line of its own.
const LARGE: f64 = 0.05;
/// The setting behind `openssl`: the first version whose AES-GCM uses AVX-512.
const NEW_LIBRARY: &str = "cipher.library=openssl-3.1";

/// A change, and what it comes to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WhatIf {
    /// As `--what-if` takes it.
    pub name: String,
    /// What would be done.
    pub what: String,
    /// How the program was changed.
    pub how: String,
    pub calls: usize,
    /// Time of all steps that are looked at, or from the first operation to the last, with confidential computing, changed.
    pub ns: Ns,
    /// The same of one step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step_ns: Option<Ns>,
    /// The same of one step without confidential computing, where no copy changes then: of a library only what it seals does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub off_step_ns: Option<Ns>,
    /// Share of the time that is gained; negative: lost.
    pub gain: f64,
    /// Whether steps gain by it and the whole does not.
    pub moves_only: bool,
}

/// The changes of programs, by name, and which causes they are against.
pub const CHANGES: [(&str, &str, &[Cause]); 10] = [
    ("graph", "launch the kernels of a step as one CUDA graph", &[Cause::Launches]),
    ("copy-thread", "read back by another thread", COPIES),
    ("batch", "send equal small copies together", COPIES),
    ("events", "record events less often", &[Cause::OtherCalls]),
    ("second-stream", "copy to the GPU on a stream of its own", COPIES),
    ("staged-upload", "upload on an idle stream, then copy on the GPU", COPIES),
    ("pinned", "use pinned memory", COPIES),
    ("pageable", "use pageable memory", COPIES),
    ("openssl", "use OpenSSL 3.1.0 or later in the guest", &[Cause::Cipher]),
    ("messages", "cut copies into longer messages", COPIES),
];

/// Another name of a change, by which serving engines know it.
const ALIASES: [(&str, &str); 1] = [("read-back-worker", "copy-thread")];

/// The name of a change that somebody calls so.
pub fn known_as(name: &str) -> &str {
    ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, name)| name)
}

const COPIES: &[Cause] = &[
    Cause::LostOverlap,
    Cause::Synchrony,
    Cause::Cipher,
    Cause::Staging,
    Cause::CopySubmission,
    Cause::Authentication,
    Cause::Link,
];

/// What of a replay is looked at: its steps, or from the first operation to the last.
pub fn length(job: &Job, played: &Played) -> Ns {
    job.steps.as_ref().map_or_else(|| played.device_time(), |steps| steps.length(job, played))
}

/// A row of a replay of a job with something changed.
pub fn row(
    job: &Job,
    (cc, played): (&Played, &Played),
    name: &str,
    what: &str,
    (how, calls): (String, usize),
) -> WhatIf {
    let (before, ns) = (length(job, cc), length(job, played));
    let gain = if before == 0 { 0.0 } else { 1.0 - ns as f64 / before as f64 };
    let step_ns = job.steps.as_ref().map(|steps| ns / steps.count().max(1) as u64);
    // What leaves the step and still has to be done shows at the end of all.
    let (all, after) = (cc.device_time() as f64, played.device_time() as f64);
    let moves_only = job.steps.is_some() && gain >= WORTH && all - after < 0.25 * before.saturating_sub(ns) as f64;
    let (name, what, off_step_ns) = (name.to_owned(), what.to_owned(), None);
    WhatIf { name, what, how, calls, ns, step_ns, off_step_ns, gain, moves_only }
}

/// A program that was changed and played again.
#[derive(Debug, Clone)]
pub struct Tried {
    pub row: WhatIf,
    /// The changed program of the first rank.
    pub job: Job,
    pub played: Played,
}

/// Plays each change of `wanted` that this program can be given, the best first.
pub fn what_if(
    question: &Question<'_>,
    machine: &Resolved,
    cc: &Played,
    wanted: impl Fn(&str) -> bool,
) -> Result<Vec<WhatIf>, ReplayError> {
    let mut rows = Vec::new();
    for (name, ..) in CHANGES.iter().filter(|(name, ..)| wanted(name)) {
        rows.extend(try_change(question, machine, cc, name)?.map(|tried| tried.row));
    }
    rows.sort_by(|one, other| other.gain.total_cmp(&one.gain));
    Ok(rows)
}

/// Plays a change, or several joined by `+`; nothing if the program has no call that it changes.
pub fn try_change(
    question: &Question<'_>,
    machine: &Resolved,
    cc: &Played,
    names: &str,
) -> Result<Option<Tried>, ReplayError> {
    let before = || [question].into_iter().chain(&question.mates);
    let mut ranks: Vec<Changed> = before().map(|rank| Changed::by(names, rank, machine)).collect();
    let calls = ranks.iter().map(|rank| rank.calls).sum();
    if calls == 0 {
        return Ok(None);
    }
    let mut all = ranks.iter().zip(before()).map(|(rank, before)| Question {
        job: &rank.job,
        keys: rank.keys.clone(),
        off: before.off.clone(),
        simulator: before.simulator,
        baseline: before.baseline,
        mates: Vec::new(),
        node: Node::default(),
    });
    let Some(own) = all.next() else { return Ok(None) };
    let changed = own.beside(all.collect(), question.node.clone());
    let Changed { how, on, .. } = &ranks[0];
    let copies_stay = parts_of(names).all(|(name, ..)| matches!(*name, "graph" | "events" | "openssl"));
    let off = question.job.steps.as_ref().filter(|_| copies_stay).map(|steps| {
        let off = changed.off(machine)?.played;
        Ok::<_, ReplayError>(length(question.job, &off) / steps.count().max(1) as u64)
    });
    let off = off.transpose()?;
    let played = changed.secure(on.as_ref().unwrap_or(machine), Causes::default())?.played;
    let what: Vec<&str> = parts_of(names).map(|(_, what, _)| *what).collect();
    let row = row(question.job, (cc, &played), names, &what.join(", "), (how.join("; "), calls));
    let row = WhatIf { off_step_ns: off, ..row };
    drop(changed);
    Ok(Some(Tried { row, job: ranks.swap_remove(0).job, played }))
}

/// The changes whose names are joined by `+`.
fn parts_of(names: &str) -> impl Iterator<Item = &'static (&'static str, &'static str, &'static [Cause])> {
    names.split('+').filter_map(|part| CHANGES.iter().find(|(name, ..)| *name == known_as(part)))
}

struct Changed {
    job: Job,
    keys: Sparse<CopyKey>,
    /// Another machine that it is on.
    on: Option<Resolved>,
    how: Vec<String>,
    calls: usize,
}

impl Changed {
    /// A rank with these changes, one after the other.
    fn by(names: &str, rank: &Question<'_>, machine: &Resolved) -> Self {
        let (job, keys) = (rank.job.clone(), rank.keys.clone());
        let mut all = Self { job, keys, on: None, how: Vec::new(), calls: 0 };
        parts_of(names).for_each(|(name, ..)| all.change(name, machine));
        all
    }

    fn change(&mut self, name: &str, machine: &Resolved) {
        let Self { job, keys, on, .. } = self;
        let (how, calls) = match name {
            "graph" => {
                let gap = ns(machine.machine.calls.as_ref().map_or_else(Default::default, |spec| spec.gap.off));
                graph(job, gap.min(GRAPH_GAP))
            }
            "copy-thread" => {
                marked(job, Change::Aside, "read-backs return at once; they are made one after the other", Way::D2h)
            }
            "second-stream" => marked(job, Change::Ahead, "copies to the GPU wait for no kernel", Way::H2d),
            "staged-upload" => {
                let calls = staged(job, machine);
                ("uploads wait for no kernel; copies on the GPU put them in their place".to_owned(), calls)
            }
            "batch" => batch(job, keys),
            "events" => events(job),
            "openssl" | "messages" => {
                let found = software(name, on.as_ref().unwrap_or(machine));
                let count = if found.is_some() { keys.0.len() } else { 0 };
                let (settings, changed) = found.unzip();
                *on = changed.or_else(|| on.take());
                (settings.unwrap_or_default().join(", "), count)
            }
            other => memory(job, keys, if other == "pinned" { Memory::Pinned } else { Memory::Pageable }),
        };
        self.how.push(how);
        self.calls += calls;
    }
}

/// Whether a call can be part of a graph: what it launches, and on which stream.
fn node(job: &Job, call: &Call) -> Option<u32> {
    let op = job.ops.get(*call.ops.first()? as usize)?;
    let launches = matches!(call.kind, CallKind::Launch) && matches!(op.work, Work::Kernel);
    let fills = matches!(call.kind, CallKind::Memset) && matches!(op.work, Work::Memset);
    ((launches || fills) && call.traced()).then_some(op.stream)
}

/// Whether a call between two launches keeps them out of one graph.
fn parts(call: &Call) -> bool {
    let apart = matches!(call.kind, CallKind::Synchronize(_) | CallKind::EventRecord | CallKind::StreamWait);
    apart || matches!(call.kind, CallKind::GraphLaunch | CallKind::Free | CallKind::Allocate) || !call.ops.is_empty()
}

fn graph(job: &mut Job, gap: Ns) -> (String, usize) {
    let mut runs: Vec<Vec<usize>> = Vec::new();
    // By thread: the stream, its launches in a row, and what came after the last of them.
    let mut now = vec![(u32::MAX, Vec::new(), Vec::new()); job.threads.max(1)];
    for (place, call) in job.calls.iter().enumerate() {
        let Some((stream, run, between)) = now.get_mut(call.thread as usize) else { continue };
        match node(job, call) {
            Some(own) if own == *stream && !run.is_empty() => {
                run.append(between);
                run.push(place);
            }
            Some(own) => {
                runs.push(std::mem::replace(run, vec![place]));
                (*stream, *between) = (own, Vec::new());
            }
            None if parts(call) => {
                runs.push(std::mem::take(run));
                between.clear();
            }
            None => between.push(place),
        }
    }
    runs.extend(now.into_iter().map(|(_, run, _)| run));
    let mut launches = 0;
    let mut graphs = 0;
    for run in runs.iter().filter(|run| run.len() >= GRAPH) {
        let mut nodes = Ops::default();
        let mut took: Ns = 0;
        for place in run {
            let call = &mut job.calls[*place];
            launches += usize::from(!call.ops.is_empty());
            took = took.saturating_add(call.duration);
            call.change = Change::GoneWithWork;
            nodes.extend(std::mem::take(&mut call.ops).iter().copied());
        }
        for node in nodes.iter().skip(1) {
            let (op, bound) = (&job.ops[*node as usize], &mut job.bound[*node as usize]);
            // What was waited for beyond the gap was the host, or could not be told from it.
            let latest = op.start.saturating_sub(gap);
            *bound = Bound::new(Bind::Stream, Some(bound.before().map_or(latest, |before| before.max(latest))));
        }
        let first = &mut job.calls[run[0]];
        (first.change, first.kind, first.ops) = (Change::None, CallKind::GraphLaunch, nodes);
        first.duration = took.min(GRAPH_CALL);
        graphs += 1;
    }
    (format!("launches in a row become {graphs} graphs; the host's work between them goes too"), launches)
}

fn marked(job: &mut Job, change: Change, how: &str, wanted: Way) -> (String, usize) {
    let mut count = 0;
    // One that is gone stays gone.
    for call in job.calls.iter_mut().filter(|call| call.change == Change::None) {
        let op = call.ops.first().map(|op| &job.ops[*op as usize]);
        let copies = op.is_some_and(|op| matches!(op.work, Work::Copy { way, .. } if way == wanted));
        if copies && !matches!(call.kind, CallKind::Synchronize(_) | CallKind::GraphLaunch) {
            call.change = change;
            count += 1;
        }
    }
    (how.to_owned(), count)
}

/// Moves uploads to a stream of their own, and lets a copy on the GPU follow each on the stream that it was on.
fn staged(job: &mut Job, machine: &Resolved) -> usize {
    let (idle, mut count) = (job.streams as u32, 0);
    for call in job.calls.iter_mut().filter(|call| call.change == Change::None) {
        let &[place] = &*call.ops else { continue };
        let Ok(next) = u32::try_from(job.ops.len()) else { break };
        let upload = &job.ops[place as usize];
        let Work::Copy { way: Way::H2d, bytes, .. } = upload.work else { continue };
        // In the trace it is over at once.
        let (start, compute) = (upload.end(), &machine.machine.compute);
        let cycles = compute.copy_launch.0.saturating_add(compute.cycles_of_copy(bytes));
        let takes = nanos(cycles, compute.clock);
        let device = job.device_of.get(upload.stream as usize).copied().unwrap_or(0);
        let copy = Op { work: Work::DeviceCopy, start, duration: 0, ..upload.clone() };
        let ops = Arc::make_mut(&mut job.ops);
        ops[place as usize].stream = idle + device;
        job.bound[place as usize].by = Bind::Call;
        job.bound.push(Bound::new(Bind::Stream, None));
        job.takes.0.push((next, takes));
        ops.push(copy);
        job.after.insert(next, vec![place]);
        call.ops.push(next);
        count += 1;
    }
    if count > 0 {
        job.streams += job.devices;
        job.device_of.extend(0..job.devices as u32);
        order_streams(job);
    }
    count
}

fn batch(job: &mut Job, keys: &mut Sparse<CopyKey>) -> (String, usize) {
    // By thread: the first copy of the row, by its operation and what it is.
    let mut rows: Vec<Option<(usize, CopyKey)>> = vec![None; job.threads.max(1)];
    let (mut gone, mut more) = (HashSet::new(), HashMap::<usize, u64>::new());
    for call in &mut job.calls {
        let Some(row) = rows.get_mut(call.thread as usize) else { continue };
        let key = match &*call.ops {
            [] if !matches!(call.kind, CallKind::Synchronize(_) | CallKind::EventRecord | CallKind::StreamWait) => {
                continue;
            }
            [op] => keys.get(*op as usize).filter(|key| key.bytes <= SMALL).map(|key| (*op as usize, key)),
            _ => None,
        };
        let alike =
            |one: &CopyKey, other: &CopyKey| (one.way, one.bytes, one.memory) == (other.way, other.bytes, other.memory);
        match (*row, key) {
            (Some((first, like)), Some((place, own))) if alike(&like, &own) => {
                let more = more.entry(first).or_default();
                *more = more.saturating_add(own.bytes);
                gone.insert(place);
                call.change = Change::Gone;
            }
            _ => *row = key,
        }
    }
    let all = |place, bytes: u64| bytes.saturating_add(more.get(&place).copied().unwrap_or(0));
    *keys = keys
        .filter_map(|place, key| (!gone.contains(&place)).then_some(CopyKey { bytes: all(place, key.bytes), ..key }));
    ("copies of the same size and direction in a row go with the first of them".to_owned(), gone.len())
}

fn events(job: &mut Job) -> (String, usize) {
    let mut last: Vec<Option<usize>> = vec![None; job.threads.max(1)];
    let mut gone = Vec::new();
    for (place, call) in job.calls.iter().enumerate() {
        let Some(last) = last.get_mut(call.thread as usize) else { continue };
        match call.kind {
            CallKind::EventRecord => gone.extend(last.replace(place)),
            CallKind::Synchronize(_) | CallKind::StreamWait => *last = None,
            _ => {}
        }
    }
    gone.iter().for_each(|place| job.calls[*place].change = Change::Gone);
    ("of events before a wait only the last is recorded".to_owned(), gone.len())
}

fn memory(job: &mut Job, keys: &mut Sparse<CopyKey>, to: Memory) -> (String, usize) {
    let mut count = 0;
    for (place, key) in keys.0.iter_mut().filter(|(_, key)| key.memory != to) {
        *key = CopyKey { memory: to, pages: Pages::Warm, ..*key };
        if let Work::Copy { memory, .. } = &mut Arc::make_mut(&mut job.ops)[*place as usize].work {
            *memory = to;
        }
        count += 1;
    }
    ("copies of the other kind of memory, into warm pages".to_owned(), count)
}

/// The settings behind a change of the machine's software alone, and the machine with them; none where it changes nothing.
pub fn software(name: &str, machine: &Resolved) -> Option<(Vec<String>, Resolved)> {
    let settings = match name {
        "openssl" => vec![NEW_LIBRARY.to_owned()],
        "messages" if machine.machine.sealed_path() => longer_messages(machine),
        _ => return None,
    };
    let new = machine.with(&settings).ok()?;
    let rates = |one: &Resolved| (one.machine.cipher.seal_rate, one.machine.cipher.open_rate);
    let ((seal, open), (new_seal, new_open)) = (rates(machine), rates(&new));
    (name != "openssl" || seal < new_seal && open < new_open).then_some((settings, new))
}

/// Twice the message, and no shorter push.
fn longer_messages(machine: &Resolved) -> Vec<String> {
    let driver = &machine.machine.driver;
    let kinds = [("pinned", &driver.pinned), ("pageable", &driver.pageable)];
    let of_kind = kinds.map(|(kind, spec)| {
        let message = spec.message.0.saturating_mul(2);
        [("push", spec.push.0.max(message)), ("message", message)]
            .map(|(field, bytes)| format!("driver.{kind}.{field}={}", Bytes(bytes).to_string().replace(' ', "")))
    });
    of_kind.concat()
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Advice {
    /// What would be changed: the same in replays that differ in figures alone.
    #[serde(skip)]
    pub about: String,
    pub text: String,
    /// Share of the time that it would give back.
    pub gain: f64,
}

/// The rows that are worth it, in words; and causes of a twentieth of the loss or more that none of them is against.
pub fn advice(job: &Job, rows: &[WhatIf], shares: &[Share]) -> Vec<Advice> {
    let of = if job.steps.is_some() { "a step would be" } else { "the job would end" };
    let more = if job.steps.is_some() { "shorter" } else { "sooner" };
    let worth = rows.iter().filter(|row| row.gain >= WORTH);
    let mut all: Vec<Advice> = worth
        .map(|row| {
            let only = if row.moves_only {
                ", but all of the work would end no sooner: it only moves out of the step"
            } else {
                ""
            };
            let text =
                format!("{}: {of} {:.1} % {more}{only} ({}; {} calls)", row.what, 100.0 * row.gain, row.how, row.calls);
            Advice { about: row.name.clone(), text, gain: row.gain }
        })
        .collect();
    let loss = |share: &Share| share.per_step_ns.unwrap_or(share.ns);
    let sum: i64 = shares.iter().map(&loss).fold(0, i64::saturating_add);
    let helped = |cause: Cause| {
        let against = |row: &WhatIf| {
            let known = CHANGES.iter().find(|(name, ..)| *name == row.name);
            // What is no change of the program is a design: another way to copy.
            known.map_or(COPIES, |(_, _, causes)| *causes).contains(&cause)
        };
        rows.iter().any(|row| row.gain >= WORTH && against(row))
    };
    let large = shares.iter().filter(|share| sum > 0 && loss(share) as f64 >= LARGE * sum as f64);
    // Against the model's own error no change can help.
    let left = large.filter(|share| share.cause != Cause::CopyModel && !helped(share.cause));
    let left: Vec<String> = left
        .map(|share| format!("{}, {:.0} % of the loss", share.cause.name(), 100.0 * loss(share) as f64 / sum as f64))
        .collect();
    if !left.is_empty() {
        let text = format!("{}: no change that was tried helps", left.join("; "));
        all.push(Advice { about: "no change helps".to_owned(), text, gain: 0.0 });
    }
    all
}
