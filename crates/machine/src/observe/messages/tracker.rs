//! Follows messages by what passes channels.

use super::{
    message::{Message, Stage, Way},
    places::{Site, Tap, is_tapped, taps},
};
use crate::{
    gpu::work::{CopyPush, Done, Job, LaunchKind, MemoryWrite, PceWork, Verdict},
    host::{CipherDone, CipherJob},
    pcie::packet::{Kind, Tlp},
    sim::{ChannelTransfer, Listener, Place, Places},
    units::Femtos,
};
use rustc_hash::FxHashMap as Map;
use std::collections::{BTreeMap, VecDeque};

/// Ranges of host memory that a PCE reads or writes for one message.
#[derive(Debug)]
struct Range {
    start: u64,
    end: u64,
    message: u64,
}

/// Ranges of a PCE that are looked at: more than it can have in progress.
const RANGES: usize = 256;

/// Messages that go their way between two such occasions.
const FORGET_EVERY: u64 = 1 << 12;

/// The push that an LCE carries out, and the messages in it.
#[derive(Debug, Default)]
struct Line {
    pushes: VecDeque<(u32, Option<usize>)>,
    members: Vec<u64>,
}

#[derive(Default)]
pub struct Tracker {
    taps: Vec<Option<Tap>>,
    next: u64,
    settled: u64,
    open: BTreeMap<u64, Message>,
    done: Vec<Message>,
    /// By channel of jobs: those that no thread has taken.
    jobs: Map<usize, VecDeque<CipherJob>>,
    /// By GPU and job of the cipher.
    by_job: Map<(usize, u64), u64>,
    by_nonce: Map<(usize, Way, [u8; 12]), u64>,
    /// By LCE and number of the message there.
    by_launch: Map<(usize, u64), u64>,
    /// By PCE and number of the job.
    by_part: Map<(usize, u64), u64>,
    /// By PCE and tag of a read.
    reads: Map<(usize, u16), u64>,
    ranges: Map<usize, VecDeque<Range>>,
    lines: Map<usize, Line>,
    /// By GPU: doorbells so far, and when those rang that no push has come for.
    doorbells: Map<usize, (u32, VecDeque<(u32, Femtos)>)>,
    /// By GPU and copy: messages so far.
    numbers: Map<(usize, Option<usize>), u64>,
}

impl Tracker {
    /// Messages that have gone their way since this was last asked, in the order in which they have.
    pub fn take(&mut self) -> Vec<Message> {
        std::mem::take(&mut self.done)
    }

    /// All of them at the end of a run, by when they begin.
    pub fn take_all(&mut self) -> Vec<Message> {
        let mut all = self.take();
        all.extend(self.take_open());
        all.sort_by_key(|message| message.id);
        all
    }

    /// Those that have not, at the end of a run.
    pub fn take_open(&mut self) -> Vec<Message> {
        std::mem::take(&mut self.open).into_values().collect()
    }

    /// The number of the message with this nonce, if it is in transit.
    pub fn number(&self, gpu: usize, way: Way, nonce: [u8; 12]) -> Option<u64> {
        self.by_nonce.get(&(gpu, way, nonce)).copied()
    }

    fn begin_message(&mut self, gpu: usize, way: Way, sealed: bool, bytes: u64, start: Femtos) -> u64 {
        let id = self.next;
        self.next += 1;
        let (copy, number, stages, whole) = (None, 0, Vec::new(), false);
        self.open.insert(id, Message { id, gpu, copy, number, way, sealed, bytes, start, stages, whole });
        id
    }

    fn mark(&mut self, id: Option<u64>, stage: Stage, end: Femtos, unit: usize) {
        let Some(id) = id else { return };
        if let Some(message) = self.open.get_mut(&id) {
            message.mark(stage, end, unit);
            self.settle(id);
        }
    }

    /// Gives a message out once it has gone all its way.
    fn settle(&mut self, id: u64) {
        let Some(message) = self.open.get(&id) else { return };
        let last: &[Stage] = match (message.way, message.sealed) {
            (Way::H2d, true) => &[Stage::Tag, Stage::Release],
            (Way::D2h, true) => &[Stage::Cipher],
            _ => &[Stage::Release],
        };
        if last.iter().all(|stage| message.has(*stage))
            && let Some(message) = self.open.remove(&id)
        {
            self.done.push(Message { whole: true, ..message });
            self.forget();
        }
    }

    /// Drops what is known of messages that have gone their way, now and then.
    fn forget(&mut self) {
        self.settled += 1;
        if !self.settled.is_multiple_of(FORGET_EVERY) {
            return;
        }
        let open = &self.open;
        self.by_job.retain(|_, id| open.contains_key(id));
        self.by_nonce.retain(|_, id| open.contains_key(id));
        self.by_launch.retain(|_, id| open.contains_key(id));
        self.by_part.retain(|_, id| open.contains_key(id));
    }

    /// A thread has taken the oldest job.
    fn job_taken(&mut self, channel: usize, tap: Tap, time: Femtos) {
        let Some(job) = self.jobs.get_mut(&channel).and_then(VecDeque::pop_front) else { return };
        if job.nonce == [0; 12] {
            return;
        }
        let inward = !job.kind.judges_what_comes_out();
        let way = if inward { Way::H2d } else { Way::D2h };
        let known = self.by_nonce.get(&(tap.gpu, way, job.nonce)).copied();
        let id = match known {
            Some(id) => {
                self.mark(known, Stage::Staging, time, tap.from);
                id
            }
            None if inward => {
                let id = self.begin_message(tap.gpu, way, true, job.bytes, time);
                self.by_nonce.insert((tap.gpu, way, job.nonce), id);
                id
            }
            None => return,
        };
        self.by_job.insert((tap.gpu, job.id), id);
    }

    /// A copy engine has a launch, or a part of one.
    fn launched(&mut self, tap: Tap, job: &Job, time: Femtos) {
        let way = match job.kind {
            LaunchKind::Open | LaunchKind::Fetch => Way::H2d,
            LaunchKind::Seal | LaunchKind::Store => Way::D2h,
            LaunchKind::Local => Way::D2d,
        };
        let sealed = job.nonce != [0; 12];
        let line = self.lines.entry(tap.from).or_default();
        let push = line.pushes.front().copied();
        // Without messages all launches of a push are one row.
        let key = if sealed { job.share.launch() } else { u64::MAX - push.map_or(0, |(number, _)| number.into()) };
        let id = match self.by_launch.get(&(tap.from, key)) {
            Some(&id) => id,
            None => self.first_launch(tap, job, (way, sealed, key), push, time),
        };
        if job.share.piece.is_some() {
            self.by_launch.insert((tap.from, job.share.message), id);
        }
        self.by_part.insert((tap.to, job.id), id);
        let place = if way == Way::H2d { job.source } else { job.destination };
        let ranges = self.ranges.entry(tap.to).or_default();
        ranges.push_back(Range { start: place, end: place + job.bytes, message: id });
        if ranges.len() > RANGES {
            ranges.pop_front();
        }
        if !sealed && let Some(message) = self.open.get_mut(&id) {
            message.bytes += job.bytes;
        }
    }

    fn first_launch(
        &mut self,
        tap: Tap,
        job: &Job,
        (way, sealed, key): (Way, bool, u64),
        push: Option<(u32, Option<usize>)>,
        time: Femtos,
    ) -> u64 {
        let rung = push.and_then(|(number, _)| self.rung(tap.gpu, number)).unwrap_or(time);
        let known = sealed.then(|| self.by_nonce.get(&(tap.gpu, way, job.nonce)).copied()).flatten();
        let id = match known {
            Some(id) => {
                self.mark(known, Stage::Staging, rung, tap.from);
                id
            }
            None => {
                let bytes = if sealed { job.share.of_launch().total } else { 0 };
                let id = self.begin_message(tap.gpu, way, sealed, bytes, rung);
                if sealed {
                    self.by_nonce.insert((tap.gpu, way, job.nonce), id);
                }
                id
            }
        };
        self.mark(Some(id), Stage::Submission, time, tap.from);
        let copy = push.and_then(|(_, copy)| copy);
        let number = self.numbers.entry((tap.gpu, copy)).or_default();
        if let Some(message) = self.open.get_mut(&id) {
            (message.copy, message.number) = (copy, *number);
        }
        *number += 1;
        self.by_launch.insert((tap.from, key), id);
        self.lines.entry(tap.from).or_default().members.push(id);
        id
    }

    /// When the doorbell of a push rang.
    fn rung(&mut self, gpu: usize, push: u32) -> Option<Femtos> {
        let (_, rung) = self.doorbells.get_mut(&gpu)?;
        while rung.front().is_some_and(|(number, _)| number.wrapping_add(4096) < push) {
            rung.pop_front();
        }
        rung.iter().find(|(number, _)| *number == push).map(|(_, time)| *time)
    }

    /// What a PCE sends to the link.
    fn requested(&mut self, tap: Tap, tlp: &Tlp, time: Femtos) {
        let id = self.at(tap.from, tlp.address);
        match tlp.kind {
            Kind::Read => {
                // A read of something else, such as a tag, takes the place of an earlier one.
                match id {
                    Some(id) => self.reads.insert((tap.from, tlp.tag), id),
                    None => self.reads.remove(&(tap.from, tlp.tag)),
                };
            }
            _ => self.mark(id, Stage::Engine, time, tap.from),
        }
    }

    /// The message for which a PCE reads or writes an address of host memory.
    fn at(&self, pce: usize, address: u64) -> Option<u64> {
        let ranges = self.ranges.get(&pce)?;
        ranges.iter().rev().find(|range| (range.start..range.end).contains(&address)).map(|range| range.message)
    }

    /// A write has come to the root complex.
    fn came(&mut self, tap: Tap, tlp: &Tlp, time: Femtos) {
        let mut pces: Vec<_> = self.ranges.keys().copied().collect();
        pces.sort_unstable();
        let id = pces.into_iter().find_map(|pce| {
            let id = self.at(pce, tlp.address)?;
            self.open.get(&id).filter(|message| message.way == Way::D2h && message.gpu == tap.gpu).map(|_| id)
        });
        self.mark(id, Stage::Link, time, tap.to);
    }

    fn pce_done(&mut self, tap: Tap, done: Done, time: Femtos) {
        let Done::Release { push } = done else { return };
        let Some(line) = self.lines.get_mut(&tap.to) else { return };
        if line.pushes.front().is_none_or(|(number, _)| *number != push) {
            return;
        }
        line.pushes.pop_front();
        for id in std::mem::take(&mut line.members) {
            self.mark(Some(id), Stage::Release, time, tap.from);
        }
    }
}

impl Listener for Tracker {
    fn begin(&mut self, places: &Places) {
        self.taps = taps(places);
    }

    fn hears(&self, place: Place<'_>) -> bool {
        matches!(place, Place::Channel(channel) if is_tapped(channel))
    }

    fn passed(&mut self, ChannelTransfer { channel, date, item, .. }: ChannelTransfer<'_>) {
        let Some(tap) = self.taps.get(channel).copied().flatten() else { return };
        match tap.site {
            Site::Jobs => {
                let jobs = self.jobs.entry(channel).or_default();
                jobs.extend(item.downcast_ref::<CipherJob>().cloned());
            }
            Site::JobsDone => {
                let id = item.downcast_ref().and_then(|done: &CipherDone| self.by_job.remove(&(tap.gpu, done.id)));
                self.mark(id, Stage::Cipher, date, tap.from);
            }
            Site::Doorbells => {
                let (count, rung) = self.doorbells.entry(tap.gpu).or_default();
                *count += 1;
                rung.push_back((*count, date));
            }
            Site::Pushes => {
                if let Some(push) = item.downcast_ref::<CopyPush>() {
                    self.lines.entry(tap.to).or_default().pushes.push_back((push.number, push.copy));
                }
            }
            Site::Work => {
                if let Some(PceWork::Transfer(job)) = item.downcast_ref() {
                    self.launched(tap, job, date);
                }
            }
            Site::Requests => item.downcast_ref().into_iter().for_each(|tlp| self.requested(tap, tlp, date)),
            Site::Completions => {
                let tag = item.downcast_ref().map(|tlp: &Tlp| tlp.tag);
                let id = tag.and_then(|tag| self.reads.get(&(tap.to, tag)).copied());
                self.mark(id, Stage::Link, date, tap.from);
            }
            Site::Writes => {
                let write = item.downcast_ref().filter(|write: &&MemoryWrite| write.last);
                let id = write.and_then(|write| self.by_part.get(&(tap.from, write.job)).copied());
                self.mark(id, Stage::Engine, date, tap.from);
            }
            Site::Verdicts => {
                let verdict = item.downcast_ref::<Verdict>();
                let id = verdict.and_then(|verdict| self.by_launch.get(&(tap.to, verdict.job)).copied());
                self.mark(id, Stage::Tag, date, tap.from);
            }
            Site::Done => item.downcast_ref().into_iter().for_each(|done| self.pce_done(tap, *done, date)),
            Site::HostWrites => item.downcast_ref().into_iter().for_each(|tlp| self.came(tap, tlp, date)),
        }
    }

    fn taken(&mut self, channel: usize, time: Femtos) {
        if let Some(tap) = self.taps.get(channel).copied().flatten().filter(|tap| tap.site == Site::Jobs) {
            self.job_taken(channel, tap, time);
        }
    }
}
