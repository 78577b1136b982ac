//! A job, and the machines on which it is played.

use super::{
    Ns,
    collectives::Longer,
    copies::{CopyKey, CopyTime, Counts, Simulator, times},
    error::ReplayError,
    figures::{Answer, Figures},
    job::{Bind, Job, Op, WHOLE, Way, Work},
    node::Node,
    ops::Sparse,
    play::{Part, Played, Times, play},
    rules::{Causes, Rules},
};
use crate::{
    config::{MachineSpec, Resolved},
    host::law::PageableUpload,
    system::{Memory, Pages},
    units::Femtos,
    workload::trace::OnHost,
};
use std::collections::HashSet;

/// How much longer than into warm memory a copy into fresh memory takes at least if the trace is to distinguish them.
const APART: f64 = 1.3;

/// A job that is to be played, with what its copies are.
pub struct Question<'a> {
    pub job: &'a Job,
    /// By operation, for those that are copies between host and device.
    pub keys: Sparse<CopyKey>,
    /// The same copies without confidential computing, as simulated.
    pub off: Sparse<CopyTime>,
    pub simulator: Simulator<'a>,
    /// What it is compared with.
    pub baseline: Baseline,
    pub mates: Vec<Question<'a>>,
    /// What it has in common with these.
    pub node: Node,
}

/// What a program without confidential computing takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Baseline {
    /// What it took in the profile.
    #[default]
    Profile,
    /// What it takes where its copies are those of the machine.
    Machine,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Copies {
    Traced,
    /// What simulated ones take without confidential computing, which waits as there.
    Off,
    /// What simulated ones take without confidential computing.
    Plain,
    /// What simulated ones take with confidential computing.
    Secure,
}

impl<'a> Question<'a> {
    /// Asks about a job on a machine: finds the state of the memory of each copy.
    pub fn new(job: &'a Job, machine: &Resolved, simulator: Simulator<'a>) -> Result<Self, ReplayError> {
        let (name, own) = job.session.own(&format!("off {}", machine.digest), &machine.machine);
        let off = (name.as_str(), &MachineSpec { confidential_computing: false, ..own });
        let warm = guess(job, Pages::Warm);
        let fresh = guess(job, Pages::Fresh);
        let (warm_times, _) = times(off, &warm, simulator)?;
        let (fresh_times, _) = times(off, &fresh, simulator)?;
        let keys = pages(job, &warm, (&warm_times, &fresh_times));
        let (off, _) = times(off, &keys, simulator)?;
        // What no profiler has seen is the machine's with and without.
        let baseline = if job.profiled || job.host_ppm != WHOLE { Baseline::Profile } else { Baseline::Machine };
        Ok(Self { job, keys, off, simulator, baseline, mates: Vec::new(), node: Node::default() })
    }

    /// The same beside other ranks, with which `node` says what it has in common.
    pub fn beside(self, mates: Vec<Self>, node: Node) -> Self {
        Self { mates, node, ..self }
    }

    /// Plays the job without confidential computing: with what the trace says, and thus as it was, or with copies of the machine.
    pub fn off(&self, machine: &Resolved) -> Result<Answer, ReplayError> {
        match self.baseline {
            Baseline::Machine => self.answer(machine, Causes::default(), Copies::Off),
            Baseline::Profile => self.as_it_was(machine),
        }
    }

    /// Plays the job without confidential computing with what the trace says, and thus as it was.
    pub fn as_it_was(&self, machine: &Resolved) -> Result<Answer, ReplayError> {
        self.answer(machine, Causes::default(), Copies::Traced)
    }

    /// By how much copies take more or less time in the profile than on the machine, both without confidential computing, as a share of all of its time.
    pub fn copies_apart(&self) -> f64 {
        let both =
            self.job.ops.iter().zip(0..).filter_map(|(op, place)| Some((op.duration, self.off.get(place)?.span)));
        let add = |sum: (Ns, Ns), (one, other)| (sum.0.saturating_add(one), sum.1.saturating_add(other));
        let (traced, simulated) = both.fold((0, 0), add);
        traced.abs_diff(simulated) as f64 / self.job.device_time().max(1) as f64
    }

    /// Plays it on a machine with confidential computing, some of whose costs are left out.
    pub fn secure(&self, machine: &Resolved, free: Causes) -> Result<Answer, ReplayError> {
        self.answer(machine, free, Copies::Secure)
    }

    /// Plays it, and the other ranks with it.
    fn answer(&self, machine: &Resolved, free: Causes, copies: Copies) -> Result<Answer, ReplayError> {
        let (part, counts, collectives_kept) = self.part(machine, free, copies)?;
        let mut parts = vec![part];
        for mate in &self.mates {
            parts.push(mate.part(machine, free, copies)?.0);
        }
        let (mut all, early) = play(&parts, &self.node);
        let mates = all.split_off(1);
        Ok(Answer { played: all.pop().unwrap_or_default(), mates, early, counts, collectives_kept })
    }

    /// What it is played by.
    fn part(&self, machine: &Resolved, free: Causes, copies: Copies) -> Result<(Part<'a>, Counts, u64), ReplayError> {
        let rules = rules(self.job, machine, copies, free)?;
        let rules = if self.job.profiled || copies == Copies::Traced { rules } else { self.probed(rules, machine)? };
        if copies == Copies::Traced {
            return Ok((Part { job: self.job, rules, times: Times::default() }, Counts::default(), 0));
        }
        let (simulated, counts) = match copies {
            Copies::Secure => self.copies(machine)?,
            _ => (self.off.clone(), Counts::default()),
        };
        let waited = self.waited(machine, copies == Copies::Secure)?;
        let off_call = self.off.filter_map(|_, time| Some(time.call()));
        let Longer { by: longer, kept } = self.longer(machine)?;
        Ok((Part { job: self.job, rules, times: Times { copies: simulated, waited, off_call, longer } }, counts, kept))
    }

    /// The same of a program that no profiler has seen: its calls cost what they cost on the machine when it is run.
    fn probed(&self, rules: Rules, machine: &Resolved) -> Result<Rules, ReplayError> {
        let off = MachineSpec { confidential_computing: false, ..machine.machine.of_gpu(0) };
        let off = self.simulator.known.calls.of(&format!("off {}", machine.digest), &off, self.simulator.go_on)?;
        let secure =
            self.simulator.known.calls.of(&machine.digest, &machine.machine.of_gpu(0), self.simulator.go_on)?;
        Ok(rules.probed(off, secure))
    }

    /// What the copies take on a machine: shared by equal ones, unless they depend on those before them.
    fn copies(&self, machine: &Resolved) -> Result<(Sparse<CopyTime>, Counts), ReplayError> {
        let (name, own) = self.job.session.own(machine.digest.as_str(), &machine.machine);
        let own = (name.as_str(), &own);
        if own.1.history().is_none() {
            return times(own, &self.keys, self.simulator);
        }
        let told = self.simulator.known.histories.of(own, self.job, &self.keys, self.simulator)?;
        let end = |times: &Option<[CopyTime; 3]>| times.map(|times| times[self.simulator.end as usize]);
        let all = Sparse::of(told.iter().map(end));
        // How long a copy waits for kernels is found when it is played.
        let behind = self.behind_others(false);
        let (alone, _) = times(own, &behind, self.simulator)?;
        let before =
            |place: usize, time: CopyTime| alone.get(place).map_or(time.before, |alone| time.before.min(alone.before));
        let all = all.filter_map(|place, time| Some(CopyTime { before: before(place, time), ..time }));
        let simulated = all.0.len() as u64;
        Ok((all, Counts { simulated, shared: 0 }))
    }

    /// How long copies are in progress that have waited for what is no copy: of several messages, the first are sealed by then.
    fn waited(&self, machine: &Resolved, secure: bool) -> Result<Sparse<CopyTime>, ReplayError> {
        let name = if secure { machine.digest.clone() } else { format!("off {}", machine.digest) };
        let (name, own) = self.job.session.own(&name, &machine.machine);
        let own = MachineSpec { confidential_computing: own.confidential_computing && secure, ..own };
        // What is called while an upload before it is in progress is sealed meanwhile.
        let early = own.driver.upload(secure) == PageableUpload::Returns;
        let none = if secure { own.history().is_some() } else { !early };
        if none || self.simulator.sample.is_some() {
            return Ok(Sparse::default());
        }
        let driver = &own.driver;
        let staged = if secure { &driver.pageable } else { &driver.pageable_plain };
        let several = |key: &CopyKey| {
            let path = if early && uploads(key) { staged } else { &driver.pinned };
            key.way == Way::H2d && (secure || uploads(key)) && key.bytes > path.message.0
        };
        let waited = |_, key| several(&key).then_some(CopyKey { waited: true, ..key });
        let keys = self.behind_others(early).filter_map(waited);
        let (times, _) = times((name.as_str(), &own), &keys, self.simulator)?;
        Ok(times)
    }

    /// Bytes of the copies that are simulated to play the job on a machine.
    pub fn work(&self, machine: &MachineSpec) -> u64 {
        let simulated = |key: &CopyKey| key.simulated(self.simulator.sample);
        let all = self.keys.0.iter().flat_map(|(_, key)| simulated(key)).map(|(key, _)| key);
        if machine.history().is_some() {
            return all.map(|key| key.bytes).fold(0, u64::saturating_add);
        }
        let distinct: HashSet<CopyKey> = all.collect();
        distinct.iter().map(|key| key.bytes).fold(0, u64::saturating_add)
    }

    /// The copies that have to wait for what is no copy, by their streams or by events; or also for copies, of which `early` ones let the host go on.
    fn behind_others(&self, early: bool) -> Sparse<CopyKey> {
        let mut last_is_copy = vec![true; self.job.streams];
        let behind = self.job.ops.iter().zip(0..).map(|(op, place)| {
            let key = self.keys.get(place as usize);
            let before = std::mem::replace(&mut last_is_copy[op.stream as usize], key.is_some() && !early);
            let found = self.job.profiled && matches!(self.job.bound[place as usize].by, Bind::Op(..));
            let event = found || self.job.after.contains_key(&place);
            key.filter(|_| !before || event)
        });
        Sparse::of(behind)
    }

    /// What is taken of copies on machines where they depend on each other; those that are asked for, by their names.
    pub fn assumed(&self, machines: &[(&str, &MachineSpec)]) -> Vec<String> {
        let copies = self.keys.0.len();
        let depends = machines.iter().filter_map(|(name, machine)| Some((name, machine.history()?)));
        let depends = depends.filter(|_| copies > 0).map(|(name, by)| {
            format!(
                "{name}: {by} makes copies depend on those before them, so that all {copies} are simulated as one workload, with the kernels between \
                 them and without the host's time between calls: what is sealed ahead has less time for it than in the program."
            )
        });
        depends.collect()
    }

    /// The same with copies that take what they take without confidential computing, as simulated.
    pub fn with_plain_copies(&self, machine: &Resolved, free: Causes) -> Result<Played, ReplayError> {
        Ok(self.answer(machine, free, Copies::Plain)?.played)
    }

    /// How much longer collectives take on a machine; each is simulated once.
    fn longer(&self, machine: &Resolved) -> Result<Longer, ReplayError> {
        self.simulator.known.collectives.of(self.job, machine, self.simulator)
    }

    /// What a replay comes to.
    pub fn figures(&self, name: &str, answer: &Answer, off: &Played) -> Figures {
        Figures::of(self.job, name, answer, off)
    }
}

pub(super) fn rules(job: &Job, machine: &Resolved, copies: Copies, free: Causes) -> Result<Rules, ReplayError> {
    let secure = !matches!(copies, Copies::Traced | Copies::Off);
    let rules = Rules::of(&machine.machine, secure).ok_or_else(|| ReplayError::NoCalls { machine: machine.name() })?;
    let mut rules = Rules { simulated: copies != Copies::Traced, free, ..rules };
    if !job.profiled || job.host_ppm != WHOLE {
        rules.calls.launch.profiled = Femtos::ZERO;
    }
    Ok(rules)
}

fn uploads(key: &CopyKey) -> bool {
    key.way == Way::H2d && key.memory == Memory::Pageable
}

/// The key of an operation, if it copies between host and device.
fn key(op: &Op, pages: Pages) -> Option<CopyKey> {
    let Work::Copy { way, bytes, memory, .. } = op.work else { return None };
    Some(CopyKey { way, bytes: bytes.max(1), memory, pages, beside: (0, 0), waited: false })
}

/// Whether the trace itself says of a copy what memory it went to: its call waits for the pages.
fn tells(op: &Op) -> bool {
    matches!(op.work, Work::Copy { way: Way::D2h, memory: Memory::Pageable, .. })
}

/// The copies whose memory the trace shows, all with the same pages.
fn guess(job: &Job, pages: Pages) -> Sparse<CopyKey> {
    Sparse::of(job.ops.iter().map(|op| key(op, pages).filter(|_| tells(op))))
}

/// The state of the memory of each copy:
///
/// | copy | memory |
/// | --- | --- |
/// | to pageable memory | fresh if its call took longer in the trace than half way, by ratio, between warm and fresh |
/// | to pinned memory | fresh where a copy of the same size comes for the first time: with confidential computing nobody has touched it |
/// | from the host | cold where a copy of the same size comes for the first time |
///
/// Everything else is warm.
fn pages(
    job: &Job,
    warm: &Sparse<CopyKey>,
    (warm_times, fresh_times): (&Sparse<CopyTime>, &Sparse<CopyTime>),
) -> Sparse<CopyKey> {
    let mut seen = HashSet::new();
    let mut keys = vec![None; job.ops.len()];
    for call in &job.calls {
        for place in call.ops.iter().map(|place| *place as usize) {
            let op = &job.ops[place];
            let Some(first) = key(op, Pages::Warm).map(|key| seen.insert(key)) else { continue };
            if let Some(OnHost { pages, beside }) = job.on_host.get(&(place as u32)).copied() {
                keys[place] = key(op, pages).map(|key| CopyKey { beside, ..key });
                continue;
            }
            let told = warm.get(place).and(warm_times.get(place).zip(fresh_times.get(place)));
            let pages = match (told, op.work) {
                (Some((warm, fresh)), _) => {
                    let bound = job.bound[place];
                    let busy = if bound.by == Bind::Stream { bound.before().unwrap_or(0) } else { 0 };
                    if is_fresh(call.end().saturating_sub(call.start.max(busy)), warm.call(), fresh.call()) {
                        Pages::Fresh
                    } else {
                        Pages::Warm
                    }
                }
                (None, Work::Copy { way: Way::D2h, .. }) if first => Pages::Fresh,
                (None, _) if first => Pages::Cold,
                (None, _) => Pages::Warm,
            };
            keys[place] = key(op, pages);
        }
    }
    Sparse::of(keys)
}

fn is_fresh(took: Ns, warm: Ns, fresh: Ns) -> bool {
    let (took, warm, fresh) = (took as f64, warm.max(1) as f64, fresh.max(1) as f64);
    fresh > APART * warm && took > (warm * fresh).sqrt()
}
