//! Ranks of one job, whose profiles are replayed together: which of their collectives are the same one.
//!
//! | of each rank | how it is found |
//! | --- | --- |
//! | a collective is the same one | name, communicator, bytes and GPUs are equal, and it is as manieth of these in the order of starts |
//! | clocks differ by | the median, over collectives in common, of the difference of their ends: all ranks end one at the same time |
//!
//! A collective begins to move data when the last of its ranks has come to it, and then takes as long as it took on that rank in the trace, because the
//! others' kernels run while they wait. Ranks that have none in common are as independent as their files.

use super::{
    Ns,
    job::{Job, Work},
    play::Played,
    what_if::length,
};
use crate::workload::trace::{CallKind, Communication, DeviceKind, Trace};
use serde::Serialize;
use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

/// A collective of several ranks, each by its place and that of its operation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Meeting {
    members: Vec<(usize, u32)>,
}

/// What makes two collectives one: name, communicator, GPUs, bytes in and out, and how many like it came before.
type Key = (Arc<str>, Option<Arc<str>>, Option<u32>, Option<u64>, Option<u64>, usize);

/// A rank beside others, in figures.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RankFigures {
    pub file: String,
    /// Its number, if the profile says so.
    pub rank: Option<u32>,
    /// All steps that are looked at, or from the first operation to the last, without confidential computing.
    pub off_ns: Ns,
    /// The same with confidential computing.
    pub cc_ns: Ns,
    pub slowdown_over_off: f64,
    /// How long its collectives wait for other ranks without confidential computing, over the whole profile.
    pub waits_off_ns: Ns,
    /// The same with confidential computing.
    pub waits_cc_ns: Ns,
}

/// Which collectives are those of other ranks too.
#[derive(Debug, Clone, Default)]
pub struct Node {
    /// By rank, the number of the meeting of an operation.
    of: Vec<HashMap<u32, u32>>,
    /// How many ranks come to each meeting.
    members: Vec<u32>,
    /// By rank, what is added to its dates.
    later: Vec<Ns>,
    /// By rank, how many of its collectives no other one has.
    alone: Vec<usize>,
}

impl Node {
    /// What these profiles have in common.
    pub fn of(ranks: &[(&Trace, &Job)]) -> Self {
        let mut meetings: BTreeMap<Key, Meeting> = BTreeMap::new();
        let mut all = vec![0; ranks.len()];
        for (rank, (trace, job)) in ranks.iter().enumerate() {
            for (place, key) in keys(trace, job) {
                all[rank] += 1;
                meetings.entry(key).or_default().members.push((rank, place));
            }
        }
        let meetings: Vec<Meeting> = meetings.into_values().filter(|one| one.members.len() > 1).collect();
        let mut of = vec![HashMap::new(); ranks.len()];
        for (meeting, number) in meetings.iter().zip(0..) {
            for (rank, place) in &meeting.members {
                of[*rank].insert(*place, number);
            }
        }
        let alone = all.iter().zip(&of).map(|(all, of)| all - of.len()).collect();
        let members = meetings.iter().map(|one| one.members.len() as u32).collect();
        Self { of, members, later: later(&meetings, ranks), alone }
    }

    /// Collectives that several of the ranks have.
    pub const fn common(&self) -> usize {
        self.members.len()
    }

    /// What is taken for true of these ranks, in sentences; `early` meetings did not wait for all of their ranks, and the job has `of` if that is known.
    pub fn assumed(&self, early: usize, of: Option<u32>) -> Vec<String> {
        let alone: usize = self.alone.iter().sum();
        let mut all = vec![format!(
            "{} ranks are replayed together: {} collectives wait for the last of their ranks{}. Clocks are aligned by their ends. The sessions of all share the host \
             at all times.",
            self.of.len(),
            self.common(),
            match alone {
                0 => String::new(),
                _ => format!(
                    "; {alone} have no counterpart in the other profiles and keep what they waited in their own"
                ),
            }
        )];
        if let Some(of) = of.filter(|of| *of as usize > self.of.len()) {
            all.push(format!("The job has {of} ranks: those whose profiles are not here are never waited for longer than in the profiles."));
        }
        if early > 0 {
            all.push(format!(
                "{early} collectives come in another order on other ranks: they did not wait for all of these."
            ));
        }
        all
    }

    /// The ranks in figures; `names` are those of their files, and `off` and `cc` replays of all.
    pub fn figures(
        &self,
        names: &[String],
        ranks: &[(&Trace, &Job)],
        off: &[Played],
        cc: &[Played],
    ) -> Vec<RankFigures> {
        let waits = [off, cc].map(|all| self.waits(all));
        let figures = ranks.iter().zip(names).enumerate().filter_map(|(rank, ((trace, job), file))| {
            let (off_ns, cc_ns) = (length(job, off.get(rank)?), length(job, cc.get(rank)?));
            Some(RankFigures {
                file: file.clone(),
                rank: trace.rank.map(|rank| rank.rank),
                off_ns,
                cc_ns,
                slowdown_over_off: if off_ns == 0 { 1.0 } else { cc_ns as f64 / off_ns as f64 },
                waits_off_ns: waits[0][rank],
                waits_cc_ns: waits[1][rank],
            })
        });
        figures.collect()
    }

    /// How long each rank waits in collectives: what they take longer than on the last to come.
    fn waits(&self, all: &[Played]) -> Vec<Ns> {
        let each = || {
            let ranks = self.of.iter().zip(all).enumerate();
            ranks.flat_map(|(rank, (of, played))| {
                of.iter().map(move |(op, meeting)| (rank, *meeting as usize, played.ops[*op as usize].duration()))
            })
        };
        let mut shortest = vec![Ns::MAX; self.members.len()];
        each().for_each(|(_, meeting, takes)| shortest[meeting] = shortest[meeting].min(takes));
        let mut waits: Vec<Ns> = vec![0; self.of.len()];
        each().for_each(|(rank, meeting, takes)| waits[rank] = waits[rank].saturating_add(takes - shortest[meeting]));
        waits
    }

    /// The meeting that an operation of a rank is.
    pub(super) fn meeting(&self, rank: usize, op: usize) -> Option<u32> {
        self.of.get(rank)?.get(&u32::try_from(op).ok()?).copied()
    }

    /// Nothing of any meeting is known yet.
    pub(super) fn opened(&self) -> Vec<Hall> {
        self.members.iter().map(|members| Hall { missing: *members, ..Hall::default() }).collect()
    }

    pub(super) fn later(&self, rank: usize) -> Ns {
        self.later.get(rank).copied().unwrap_or(0)
    }
}

/// A meeting while ranks come to it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Hall {
    /// Ranks that have not come.
    missing: u32,
    /// When the last one came, by the clock of all.
    begins: Ns,
    /// The shortest that it takes on any rank: that of the last to come.
    takes: Option<Ns>,
    /// Whether it does not wait for those that are missing.
    early: bool,
}

impl Hall {
    /// A rank comes, on which it takes so long.
    pub fn come(&mut self, at: Ns, takes: Ns) {
        self.missing = self.missing.saturating_sub(1);
        self.begins = self.begins.max(at);
        self.takes = Some(self.takes.map_or(takes, |known| known.min(takes)));
    }

    pub fn ends(&self) -> Option<Ns> {
        (self.missing == 0 || self.early).then(|| self.begins.saturating_add(self.takes.unwrap_or(0)))
    }

    /// Goes on without those that are missing.
    pub const fn leave(&mut self) {
        self.early = true;
    }
}

/// The collectives of a rank that can wait for others, with what they are.
fn keys<'t>(trace: &'t Trace, job: &'t Job) -> impl Iterator<Item = (u32, Key)> + 't {
    let mut places: Vec<u32> = Vec::new();
    for call in &job.calls {
        let first = call.ops.first().map(|op| job.ops[*op as usize].work);
        let launches = matches!(call.kind, CallKind::Launch | CallKind::GraphLaunch);
        let copies = matches!(first, Some(Work::Copy { .. })) && !launches;
        if !copies && !matches!(call.kind, CallKind::Synchronize(_)) {
            places.extend(&call.ops);
        }
    }
    places.sort_by_key(|place| (job.ops[*place as usize].start, *place));
    let mut before: HashMap<Key, usize> = HashMap::new();
    let named = |name: u32| trace.names.get(name as usize).cloned().unwrap_or_default();
    places.into_iter().filter_map(move |place| {
        let op = trace.device.get(job.ops[place as usize].traced as usize)?;
        let DeviceKind::Collective(sent) = &op.kind else { return None };
        let Communication { op, bytes_in, bytes_out, ranks, group } = **sent;
        let name = named(op);
        // A message from one rank to another has another name at its other end.
        let both = name.to_lowercase();
        if both.contains("send") || both.contains("recv") {
            return None;
        }
        let like = (name, group.map(named), ranks, bytes_in, bytes_out, 0);
        let count = before.entry(like.clone()).or_insert(0);
        let mut key = like;
        key.5 = *count;
        *count += 1;
        Some((place, key))
    })
}

/// By rank, what has to be added to its dates so that meetings end at the same time on all.
fn later(meetings: &[Meeting], ranks: &[(&Trace, &Job)]) -> Vec<Ns> {
    let end = |(rank, place): (usize, u32)| i128::from(ranks[rank].1.ops[place as usize].end());
    // By two ranks: how much earlier the ends are on the second one.
    let mut apart: BTreeMap<(usize, usize), Vec<i128>> = BTreeMap::new();
    for meeting in meetings {
        let first = meeting.members[0];
        for other in &meeting.members[1..] {
            let differ = end(first) - end(*other);
            apart.entry((first.0, other.0)).or_default().push(differ);
            apart.entry((other.0, first.0)).or_default().push(-differ);
        }
    }
    for differences in apart.values_mut() {
        differences.sort_unstable();
    }
    let mut later: Vec<Option<i128>> = vec![None; ranks.len()];
    for start in 0..ranks.len() {
        if later[start].is_some() {
            continue;
        }
        later[start] = Some(0);
        let mut reached = vec![start];
        while let Some(rank) = reached.pop() {
            for ((_, other), differences) in apart.range((rank, 0)..=(rank, usize::MAX)) {
                if later[*other].is_none() {
                    later[*other] = Some(later[rank].unwrap_or(0) + differences[differences.len() / 2]);
                    reached.push(*other);
                }
            }
        }
    }
    let least = later.iter().flatten().min().copied().unwrap_or(0);
    later.into_iter().map(|one| Ns::try_from(one.unwrap_or(0) - least).unwrap_or(0)).collect()
}
