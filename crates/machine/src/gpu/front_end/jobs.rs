//! From launches to the jobs of PCEs: which are made of one, with which IV, and who gets them.

use super::{
    FrontEnd, Held, Ports, Refusal,
    flight::{Flight, PartTag},
    stall,
};
use crate::{
    gpu::{
        spec::Sharing,
        work::{Job, JobId, LaunchKind, PceWork, Share, TagEntry},
    },
    sim::{Activity, Now, Stall, Wake},
    stream::Launch,
    units::Femtos,
};

impl FrontEnd {
    pub(super) fn start(&mut self, launch: &Launch, now: Now, ports: &mut Ports) -> Option<Refusal> {
        let job = self.job(launch, now.time)?;
        if !job.kind.is_secure() {
            self.flights.push(Flight::new(self.next_job, job.kind));
            self.cutting = Some((job, 0));
            return None;
        }
        if job.kind == LaunchKind::Open && self.lacks_entry() {
            return stall(Stall::TagQueueFull);
        }
        let whole = self.spec.tag_every.is_none();
        let part = self.part_bytes(&job);
        let (first, parts) = (self.turn, job.bytes.div_ceil(part) as usize);
        let pces = self.spec.pces;
        let places = move || (first..first + parts).map(move |turn| turn % pces);
        let bytes = job.bytes;
        let held = move || places().zip(0..).map(move |(place, number)| (place, part.min(bytes - number * part)));
        if whole && job.kind == LaunchKind::Open && self.lacks_quarantine(held()) {
            return stall(Stall::Quarantine);
        }
        if whole && !places().all(|place| ports.work[place].has_room(now.time)) {
            return stall(Stall::Order);
        }
        let Some(job) = self.with_iv(job, now.time) else {
            self.refuse("the IV counter of the channel is exhausted".into(), now.time);
            return None;
        };
        if let Some(every) = self.spec.tag_every {
            let pieces = job.bytes.div_ceil(every);
            self.flights.push(Flight::of_pieces(job.id, job.kind, pieces));
            self.next_job += pieces;
            self.cutting = Some((job, 0));
            return None;
        }
        if let (LaunchKind::Open, Some(verification)) = (job.kind, &mut ports.verification) {
            self.tag_credits -= 1;
            if self.spec.common_quarantine.is_some() {
                self.hold(job.id, held());
            }
            verification.entries.push(now.time, TagEntry { job: job.id, parts: parts as u32 });
        }
        self.turn += parts;
        let mut flight = Flight::new(job.id, job.kind);
        for (number, place) in places().enumerate() {
            let part = job.part(number as u32, part);
            flight.add(part.id);
            ports.work[place].push(now.time, PceWork::Transfer(part));
        }
        flight.complete = true;
        if parts > 1 && job.kind == LaunchKind::Seal {
            flight.tag = Some(PartTag::new(job.clone(), parts as u64));
        }
        self.flights.push(flight);
        self.next_job += parts as u64;
        None
    }

    /// Gives the next piece of a message to the next PCE.
    pub(super) fn give_piece(&mut self, now: Now, ports: &mut Ports) -> Refusal {
        let (Some((message, start)), Some(every)) = (&self.cutting, self.spec.tag_every) else {
            return (Activity::Idle, Wake::NEVER);
        };
        let (piece, place) = (message.piece(*start, every), self.turn % self.spec.pces);
        let (end, last) = (start + piece.bytes, start + piece.bytes == message.bytes);
        let open = piece.kind == LaunchKind::Open;
        let stall = match () {
            () if open && self.lacks_entry() => Some(Stall::TagQueueFull),
            () if open && self.lacks_quarantine([(place, piece.bytes)].into_iter()) => Some(Stall::Quarantine),
            () if !ports.work[place].has_room(now.time) => Some(Stall::Order),
            () => None,
        };
        if let Some(stall) = stall {
            return (Activity::Stall(stall), Wake::NEVER);
        }
        self.cutting = (!last).then(|| (message.clone(), end));
        if let (true, Some(verification)) = (open, &mut ports.verification) {
            self.tag_credits -= 1;
            if self.spec.common_quarantine.is_some() {
                self.hold(piece.id, [(place, piece.bytes)].into_iter());
            }
            verification.entries.push(now.time, TagEntry { job: piece.id, parts: 1 });
        }
        self.turn += 1;
        self.flights.extend(piece.id, last);
        ports.work[place].push(now.time, PceWork::Transfer(piece));
        (Activity::Busy, now.cycle + 1)
    }

    /// Reserves so many bytes of these PCEs in a common quarantine.
    fn hold(&mut self, message: JobId, bytes: impl Iterator<Item = (usize, u64)>) {
        self.held.extend(bytes.map(|(place, bytes)| Held { message, place, bytes }));
        self.most_held = self.most_held.max(self.held_bytes(std::iter::empty()));
    }

    /// Whether the tag queue has no room for another message.
    fn lacks_entry(&self) -> bool {
        let with_another = (self.spec.tag_queue_depth + 1).saturating_sub(self.tag_credits);
        !self.tag_room.holds(with_another)
    }

    /// Whether a common quarantine has no room for so many bytes more of these PCEs.
    fn lacks_quarantine(&self, more: impl Iterator<Item = (usize, u64)>) -> bool {
        self.common.as_ref().is_some_and(|room| !room.holds(self.held_bytes(more)))
    }

    /// Bytes that messages, and so many `more` of these PCEs, reserve in a common quarantine: of each PCE what may not go ahead. As the oldest
    /// go ahead, and a verdict lets younger ones go for them, that is all of a PCE's messages less its `ahead`, whatever the order of verdicts.
    pub(super) fn held_bytes(&self, more: impl Iterator<Item = (usize, u64)>) -> u64 {
        let mut of_pce = vec![0_u64; self.spec.pces];
        let held = self.held.iter().map(|held| (held.place, held.bytes));
        held.chain(more).for_each(|(place, bytes)| of_pce[place] += bytes);
        of_pce.iter().map(|bytes| bytes.saturating_sub(self.spec.ahead)).sum()
    }

    /// Bytes of the parts that a secure message is split into: all of it, or as many whole bursts as give each PCE one part.
    fn part_bytes(&self, job: &Job) -> u64 {
        if self.spec.copy_engine.sharing != Some(Sharing::Split) {
            return job.bytes;
        }
        job.bytes.div_ceil(self.spec.pces as u64).next_multiple_of(self.spec.copy_engine.burst.0).min(job.bytes)
    }

    /// The job of a launch; none if it is not for this LCE.
    fn job(&mut self, launch: &Launch, time: Femtos) -> Option<Job> {
        let Launch { kind, source, destination, bytes, tag, iv, .. } = *launch;
        if kind.writes_host() != self.spec.writes_host {
            self.refuse(format!("a {kind:?} transfer was launched on the LCE of the other direction"), time);
            return None;
        }
        let share = Share::whole(self.next_job, bytes);
        Some(Job {
            id: self.next_job,
            kind,
            source,
            destination,
            bytes,
            tag,
            iv,
            iv_bytes: [0; 12],
            nonce: [0; 12],
            share,
        })
    }

    fn with_iv(&mut self, mut job: Job, time: Femtos) -> Option<Job> {
        for armed in &mut self.iv_faults {
            if armed.transfer(time) {
                armed.struck(time);
                self.ivs.advance().ok()?;
            }
        }
        let iv = self.ivs.advance().ok()?;
        job.iv_bytes = iv.to_bytes();
        job.nonce = iv.nonce(self.ivs.mask()).0;
        self.key_work.add(job.bytes);
        Some(job)
    }
}
