//! What is sealed before it is asked for: which copies, under which IVs, and how far the workers are.
//!
//! ```text
//!  copies to the GPU, in the order of the program
//!  ---- called ----|---- predicted: IVs drawn, messages handed to workers in order ----|---- not looked at ----
//! ```
//!
//! | contract | |
//! | --- | --- |
//! | which | copies of at least `least`; those between them only have their IVs drawn, in order |
//! | from when | from the call of the first such copy on, either way: before that nothing has shown a pattern |
//! | how far | as far as there is room for the messages, and no copy from the GPU into the same buffer is still in transit |
//! | hits | with h = `hit_permille` / 1000, copy i of them, counted from 0, is predicted correctly if an integer is above i h + 1/2 and not above (i + 1) h + 1/2 |
//! | a misprediction | is of a copy with as many messages. What workers have sealed of it is thrown away, the copy is sealed within its call, and `nops` copies of a byte go before it |
//! | a copy that is not predicted when it is called | is sealed within its call |
//!
//! What a misprediction has sealed never leaves private memory, so that its IVs serve for what is sent in its place.

use super::{nonce::next_nonce, push::Nonces};
use crate::{
    host::{
        memory::HostState,
        spec::AheadSpec,
        staging::SlotId,
        work::{CipherDone, CipherJob, JobKind},
    },
    sim::{Now, Out},
    units::{Bytes, Femtos},
};
use std::collections::{BTreeMap, VecDeque};

/// IVs, in the order in which messages take them.
pub(super) type Ivs = VecDeque<[u8; 12]>;

/// What becomes of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// It is too short to be predicted.
    Short,
    Right,
    Wrong,
}

/// A copy to the GPU.
#[derive(Debug, Clone, Copy)]
pub(super) struct Coming {
    pub copy: usize,
    pub bytes: u64,
    /// Bytes of its messages, but for the last.
    pub message: Bytes,
    /// The copy from the GPU before it that fills its buffer.
    pub after: Option<usize>,
}

impl Coming {
    const fn messages(&self) -> u64 {
        self.bytes.div_ceil(self.message.0)
    }

    fn bytes_of(&self, message: u64) -> u64 {
        self.message.0.min(self.bytes - message * self.message.0)
    }
}

#[derive(Debug)]
struct Guess {
    coming: Coming,
    fate: Fate,
    ivs: Ivs,
    /// Messages that workers were handed.
    issued: u64,
    sealed: Vec<bool>,
    /// Messages from the first on that are sealed.
    ready: u64,
}

impl Guess {
    fn seal(&mut self, message: u64) {
        if let Some(sealed) = self.sealed.get_mut(message as usize) {
            *sealed = true;
        }
        while self.sealed.get(self.ready as usize).is_some_and(|sealed| *sealed) {
            self.ready += 1;
        }
    }

    /// The next message for a worker, if one is left: its number and its length.
    fn next(&self) -> Option<(u64, u64)> {
        let left = self.fate != Fate::Short && self.issued < self.coming.messages();
        left.then(|| (self.issued, self.coming.bytes_of(self.issued)))
    }

    fn job(&self, id: u64, (message, bytes): (u64, u64)) -> CipherJob {
        let kind = if self.fate == Fate::Right { JobKind::SealAhead } else { JobKind::SealUnused };
        let Coming { copy, message: each, .. } = self.coming;
        let nonce = self.ivs.get(message as usize).copied().unwrap_or_default();
        CipherJob { id, kind, slot: SlotId::NONE, copy, offset: message * each.0, bytes, small: false, nonce }
    }
}

/// How a copy begins that has just been called.
#[derive(Debug, Default)]
pub(super) struct Called {
    /// Its IVs, those of NOPs first; none where they are drawn as they are needed.
    pub ivs: Option<Ivs>,
    /// NOPs that go before it.
    pub nops: u32,
    pub ahead: bool,
}

impl Called {
    /// What the next transfer begins with: a NOP as long as there are any, then the copy.
    pub fn next(&mut self) -> Self {
        if self.nops == 0 {
            return std::mem::take(self);
        }
        self.nops -= 1;
        let first = self.ivs.as_mut().and_then(VecDeque::pop_front);
        Self { ivs: Some(first.into_iter().collect()), ..Self::default() }
    }
}

/// Draws IVs at `time`.
pub(super) struct Drawing<'a> {
    pub time: Femtos,
    pub nonces: &'a mut dyn Nonces,
    pub memory: &'a mut HostState,
}

impl Drawing<'_> {
    fn draw(&mut self, count: u64) -> Result<Ivs, String> {
        (0..count).map(|_| next_nonce(true, self.time, self.nonces, self.memory)).collect()
    }
}

#[derive(Debug)]
pub(super) struct Ahead {
    spec: AheadSpec,
    coming: Vec<Coming>,
    fates: Vec<Fate>,
    /// Copies of `coming` that are predicted or called, and those that are called.
    looked_at: usize,
    called: usize,
    /// Whether a copy that is long enough has been called.
    begun: bool,
    /// Copies that are predicted and not called.
    guesses: VecDeque<Guess>,
    /// The copy in flight, if workers seal it.
    current: Option<Guess>,
    /// Jobs that workers have: copy, message, bytes.
    jobs: BTreeMap<u64, (usize, u64, u64)>,
    next_job: u64,
    /// Bytes of messages that are sealed or being sealed.
    held: u64,
}

/// Whether copy `place` of those that are long enough is predicted correctly.
pub(in crate::host) const fn is_hit(place: u64, permille: u32) -> bool {
    let (before, after) = (place * permille as u64, (place + 1) * permille as u64);
    (after + 500) / 1000 > (before + 500) / 1000
}

impl Ahead {
    pub fn new(spec: AheadSpec, coming: Vec<Coming>) -> Self {
        let mut place = 0;
        let fates = coming.iter().map(|coming| {
            if coming.bytes < spec.least.0 {
                return Fate::Short;
            }
            place += 1;
            if is_hit(place - 1, spec.hit_permille) { Fate::Right } else { Fate::Wrong }
        });
        Self {
            spec,
            fates: fates.collect(),
            coming,
            looked_at: 0,
            called: 0,
            begun: false,
            guesses: VecDeque::new(),
            current: None,
            jobs: BTreeMap::new(),
            next_job: 0,
            held: 0,
        }
    }

    /// Notes that a copy of so many bytes has been called, whichever way it goes.
    pub fn note_call(&mut self, bytes: Bytes) {
        self.begun |= bytes >= self.spec.least;
    }

    /// The next copy to the GPU has been called.
    pub fn call(&mut self, drawing: &mut Drawing<'_>) -> Result<Called, String> {
        self.current = None;
        let place = self.called;
        self.called += 1;
        let Some(guess) = self.guesses.pop_front() else {
            self.looked_at = self.called;
            let messages = self.coming.get(place).map_or(0, Coming::messages);
            return Ok(Called { ivs: Some(drawing.draw(messages)?), ..Called::default() });
        };
        match guess.fate {
            Fate::Short => Ok(Called { ivs: Some(guess.ivs), ..Called::default() }),
            Fate::Right => {
                let ivs = Some(guess.ivs.clone());
                self.current = Some(guess);
                Ok(Called { ivs, nops: 0, ahead: true })
            }
            Fate::Wrong => {
                let sealed = (0..).zip(&guess.sealed).filter(|(_, sealed)| **sealed);
                let thrown_away: u64 = sealed.map(|(message, _)| guess.coming.bytes_of(message)).sum();
                self.held = self.held.saturating_sub(thrown_away);
                Ok(Called { ivs: Some(guess.ivs), nops: self.spec.nops, ahead: false })
            }
        }
    }

    /// Messages of the copy in flight, from the first on, that are sealed.
    pub fn ready(&self) -> u64 {
        self.current.as_ref().map_or(0, |guess| guess.ready)
    }

    /// A message that was sealed ahead is in staging.
    pub const fn placed(&mut self, bytes: u64) {
        self.held = self.held.saturating_sub(bytes);
    }

    /// A worker has ended a job.
    pub fn sealed(&mut self, done: &CipherDone) {
        let Some((copy, message, bytes)) = self.jobs.remove(&done.id) else { return };
        let mut guesses = self.current.iter_mut().chain(&mut self.guesses);
        match guesses.find(|guess| guess.coming.copy == copy) {
            Some(guess) => guess.seal(message),
            // It was a misprediction, and the copy in its place has been called.
            None => self.held = self.held.saturating_sub(bytes),
        }
    }

    /// Hands workers what there is to seal, and predicts on as far as there is room; `is_over` says whether a copy is.
    pub fn look(
        &mut self,
        now: Now,
        jobs: &mut Out<CipherJob>,
        drawing: &mut Drawing<'_>,
        is_over: impl Fn(usize) -> bool,
    ) -> Result<(), String> {
        loop {
            let next = self.current.iter_mut().chain(&mut self.guesses).find(|guess| guess.next().is_some());
            let Some(guess) = next else {
                if self.guess(drawing, &is_over)? {
                    continue;
                }
                return Ok(());
            };
            let Some((message, bytes)) = guess.next() else { return Ok(()) };
            if self.held + bytes > self.spec.buffer.0 || !jobs.has_room(now.time) {
                return Ok(());
            }
            jobs.push(now.time, guess.job(self.next_job, (message, bytes)));
            guess.issued += 1;
            guess.sealed.push(false);
            self.jobs.insert(self.next_job, (guess.coming.copy, message, bytes));
            self.next_job += 1;
            self.held += bytes;
        }
    }

    /// Guesses the next copy that is long enough, and draws the IVs up to its last.
    fn guess(&mut self, drawing: &mut Drawing<'_>, is_over: &impl Fn(usize) -> bool) -> Result<bool, String> {
        let long = (self.looked_at..self.coming.len()).find(|place| self.fates[*place] != Fate::Short);
        let Some(last) = long.filter(|_| self.begun) else { return Ok(false) };
        let coming = self.coming[last];
        if coming.after.is_some_and(|copy| !is_over(copy)) || self.held + coming.bytes_of(0) > self.spec.buffer.0 {
            return Ok(false);
        }
        for place in self.looked_at..=last {
            let (coming, fate) = (self.coming[place], self.fates[place]);
            let nops = if fate == Fate::Wrong { u64::from(self.spec.nops) } else { 0 };
            let ivs = drawing.draw(nops + coming.messages())?;
            self.guesses.push_back(Guess { coming, fate, ivs, issued: 0, sealed: Vec::new(), ready: 0 });
        }
        self.looked_at = last + 1;
        Ok(true)
    }
}
