//! The cycles of an AES-GCM engine without its bytes.
//!
//! ```text
//!                    +-----------------------------------------------------+
//!   key      ------->| key expansion, H, powers                            |
//!   message  ------->| counters --> AES lanes --> keystream FIFO           |
//!                    |                                 |                   |
//!   text     ------->| block register --------------->(+)----> [register]--|----> text, one cycle later
//!                    |                |  open            | seal            |
//!                    |                +--> GHASH <-------+                 |----> tag, verdict
//!                    +-----------------------------------------------------+
//! ```
//!
//! | | |
//! | --- | --- |
//! | accepts | up to `lanes` text blocks per cycle, as far as their keystream is valid and GHASH takes them |
//! | keystream | block 0 of a message is the mask E(K, J0), block i > 0 the keystream of text block i; block i enters lane i mod lanes in order, at the earliest in the cycle after text block i - `keystream_blocks` was taken |
//! | output | one cycle after a block is taken |
//! | GHASH on open | takes a ciphertext block in the cycle in which the block is taken |
//! | GHASH on seal | takes a ciphertext block from the output register, a cycle after the block was taken or later; the register holds `lanes` blocks, and text waits while it is full |
//! | tag | one cycle after both the GHASH value and the mask are valid; the verdict `compare` cycles later |
//! | next message | its keystream starts in the cycle after the last keystream block of the message before has entered its lane; its AAD enters GHASH once the value of the message before is known; there are mask registers for two messages, so it also waits for the tag of the message before the last. With u units for different messages: once one of them is free, and registers for u + 1 |
//! | tags | one, or one per chain: a mask each, the chain's number of blocks before J0, and all masks before the keystream |
//! | stalls | [`Limit`] |
//!
//! A call gives the cycles that the engine will need, whenever these lie: calls follow the order of the data, not of time.

pub(crate) mod keystream;
use super::ghash::{GhashTiming, Taken, TimingModel};
use super::message::{SealOpen, Shape};
use super::spec::{GcmSpec, GhashSpec, MultiplierSpec, SpecError};
use crate::units::Cycles;
use keystream::Keystream;

/// Blocks that any GHASH takes in a cycle, at most.
const MOST_PORTS: u64 = 256;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Limit {
    Aes,
    Ghash,
    /// Earlier text: the engine takes a block per lane and cycle, and had not taken all when this burst came.
    Ports,
    /// Itself: the engine took it when it came.
    Data,
}

/// What became of a burst.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Accepted {
    /// Cycle by which the last complete block among these bytes has been taken in. Bytes of a block that is not
    /// complete wait in the block register for the next burst and do not count.
    pub consumed: u64,
    /// Cycle in which the last output bytes of these blocks are valid at the output.
    pub out: u64,
    pub limit: Limit,
}

/// The end of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Finished {
    pub tag: u64,
    pub verdict: u64,
}

/// Cycles in which text was there and could not be taken at the ports' full rate, by cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Waits {
    pub aes: u64,
    pub ghash: u64,
}

/// An engine's timing. Its state is plain data; nothing is allocated after [`Timing::new`].
#[derive(Debug, Clone)]
pub struct Timing {
    ports: u64,
    key_setup: u64,
    compare: u64,
    keystream: Keystream,
    ghash: TimingModel,
    /// The others, and when each is free.
    others: Box<[(u64, TimingModel)]>,
    /// By text block that was sealed, modulo the ring's length: the cycle in which it entered GHASH.
    hashed: Box<[u64]>,
    /// Text blocks sealed since the engine was built.
    sealed: u64,
    /// Text blocks taken since the engine was built.
    taken: u64,
    /// The last cycle in which text was taken, and how many blocks.
    row: (u64, u64),
    /// Cycle in which the data seen so far is visible.
    visible: u64,
    direction: SealOpen,
    text_bytes_left: u64,
    /// Whether a length block ends the message: not that of a part with more behind it.
    closes: bool,
    /// Bytes of the block that is not complete.
    held: u64,
    /// Tags of the last messages, as many as may be open, the oldest first; also when a key that was loaded is ready.
    tags: Box<[u64]>,
    /// When the unit that worked on the last message is free.
    known: u64,
    /// When the last block left the output register for GHASH.
    sent: u64,
    waits: Waits,
    work: Work,
}

impl Timing {
    /// An engine at rest in cycle 0, without a key.
    pub fn new(spec: &GcmSpec) -> Result<Self, SpecError> {
        spec.check()?;
        if spec.control.is_some() {
            return Err(SpecError::Controlled);
        }
        let rounds = spec.rounds()?;
        let ports = u64::from(spec.aes.lanes);
        Ok(Self {
            ports,
            key_setup: spec.key_setup.0,
            compare: spec.compare.0,
            keystream: Keystream::new(&spec.aes, rounds, spec.ghash.tags()),
            ghash: TimingModel::new(&spec.ghash),
            others: vec![(0, TimingModel::new(&spec.ghash)); spec.ghash.messages() as usize - 1].into(),
            hashed: vec![0; ports.next_power_of_two() as usize].into(),
            sealed: 0,
            taken: 0,
            row: (0, 0),
            visible: 0,
            direction: SealOpen::Seal,
            text_bytes_left: 0,
            closes: true,
            held: 0,
            tags: vec![0; spec.ghash.messages() as usize + 1].into(),
            known: 0,
            sent: 0,
            waits: Waits::default(),
            work: Work::default(),
        })
    }

    /// The AES lanes of an engine whose GHASH is elsewhere: a message ends once its mask is there and its last text is through.
    pub fn of_aes(spec: &GcmSpec) -> Result<Self, SpecError> {
        let multiplier = MultiplierSpec { product: Cycles(1), reduction: Cycles(0), ..spec.ghash.multiplier().clone() };
        let ghash = GhashSpec::Aggregated {
            width: spec.aes.lanes,
            groups: 1,
            multiplier: MultiplierSpec { digit_bits: 128, ..multiplier },
        };
        let mut timing = Self::new(&GcmSpec { ghash, ..spec.clone() })?;
        timing.keystream = Keystream::new(&spec.aes, spec.rounds()?, spec.ghash.tags());
        Ok(timing)
    }

    /// The GHASH of an engine whose AES lanes are elsewhere: it takes ciphertext as it comes.
    pub fn of_ghash(spec: &GcmSpec) -> Result<Self, SpecError> {
        let mut timing = Self::new(spec)?;
        // H comes through the lanes of whoever loads the key.
        timing.key_setup += spec.aes.latency(spec.rounds()?);
        (timing.keystream, timing.ports) = (Keystream::none(), MOST_PORTS);
        timing.hashed = vec![0; MOST_PORTS as usize].into();
        Ok(timing)
    }

    /// Loads a key from cycle `at` on, or once the tags of all messages so far are valid. Gives the cycle from which
    /// messages may start: key expansion, then H through a lane, then the powers of H.
    pub fn load_key(&mut self, at: u64) -> u64 {
        let from = at.max(self.last_tag());
        let ready = self.keystream.h(from + self.key_setup) + self.ghash.power_setup();
        self.tags.fill(ready);
        self.known = self.known.max(ready);
        self.others.iter_mut().for_each(|(free, _)| *free = ready.max(*free));
        self.work.add(from, ready);
        ready
    }

    /// Starts a message with a 96-bit IV in cycle `at`; the message before has been [finished](Self::finish).
    pub fn start(&mut self, at: u64, aad_bytes: u64, text_bytes: u64, direction: SealOpen) {
        self.start_shape(at, &Shape::new(aad_bytes, text_bytes, direction));
    }

    /// Starts a part of a message that has more behind it: it ends without length block and mask, and its value, not yet a tag, is valid
    /// when GHASH over its own blocks is known.
    pub fn start_part(&mut self, at: u64, text_bytes: u64, direction: SealOpen) {
        self.start_turn(at, 0, text_bytes, direction, false);
    }

    /// Starts the text of a message behind its first `before` bytes, whole blocks, whose values are there; the message ends with it if that `closes` it.
    pub fn start_turn(&mut self, at: u64, before: u64, text_bytes: u64, direction: SealOpen, closes: bool) {
        self.start_blocks(at, before / 16, &Shape::new(0, text_bytes, direction), closes);
    }

    pub fn start_shape(&mut self, at: u64, shape: &Shape) {
        self.start_blocks(at, 0, shape, true);
    }

    fn start_blocks(&mut self, at: u64, before: u64, shape: &Shape, closes: bool) {
        self.closes = closes;
        let opened = at.max(self.tags[0]);
        self.choose_unit();
        let mut hash_free = opened.max(self.known);
        let mut j0 = opened;
        if shape.iv_blocks() > 0 {
            self.ghash.begin_alone(hash_free, shape.iv_blocks());
            self.hash(shape.iv_blocks());
            let from = hash_free;
            j0 = self.ghash.known();
            hash_free = j0;
            self.work.add(from, j0);
        }
        self.keystream.begin(j0, shape.text_blocks());
        self.ghash.begin_turn(hash_free, (before, shape.ghash_blocks() - u64::from(!closes)), closes);
        if shape.aad_blocks() > 0 {
            let last = self.hash(shape.aad_blocks());
            self.work.add(hash_free, last + 1);
        }
        self.direction = shape.direction;
        self.text_bytes_left = shape.text_bytes;
        self.held = 0;
        self.visible = opened;
    }

    /// The next message goes to the unit that is free first.
    fn choose_unit(&mut self) {
        if let Some((free, unit)) = self.others.iter_mut().min_by_key(|(free, _)| *free)
            && *free < self.known
        {
            std::mem::swap(free, &mut self.known);
            std::mem::swap(unit, &mut self.ghash);
        }
    }

    const fn last_tag(&self) -> u64 {
        self.tags[self.tags.len() - 1]
    }

    /// Enters blocks that are all there. Gives the cycle of the last one.
    fn hash(&mut self, mut blocks: u64) -> u64 {
        let mut at = 0;
        while blocks > 0 {
            at = self.ghash.earliest();
            let count = self.ghash.room(at, blocks);
            self.ghash.enter(at, count);
            blocks -= count;
        }
        at
    }

    /// Takes the next `bytes` of text, all visible from cycle `at` on. Bytes beyond the message's length are ignored.
    #[inline]
    pub fn accept(&mut self, at: u64, bytes: u32) -> Accepted {
        let bytes = u64::from(bytes).min(self.text_bytes_left);
        self.text_bytes_left -= bytes;
        self.visible = self.visible.max(at);
        let total = self.held + bytes;
        let blocks = if self.text_bytes_left == 0 { total.div_ceil(16) } else { total / 16 };
        self.held = if self.text_bytes_left == 0 { 0 } else { total % 16 };
        let mut limit = if self.ports_free() > self.visible { Limit::Ports } else { Limit::Data };
        let mut left = if self.take_burst(blocks) || self.take_keyed(blocks, &mut limit) { 0 } else { blocks };
        while left > 0 {
            left -= self.take_row(left, &mut limit);
        }
        let consumed = self.row.0;
        if blocks > 0 {
            self.work.add(self.visible, consumed + 1);
        }
        Accepted { consumed, out: consumed + 1, limit }
    }

    /// Cycle in which the text ports take the next block, and how many they take in cycle t.
    #[inline]
    fn ports_free(&self) -> u64 {
        self.visible.max(self.row.0 + u64::from(self.row.1 == self.ports))
    }

    #[inline]
    const fn ports_in(&self, at: u64) -> u64 {
        self.ports - if self.row.0 == at { self.row.1 } else { 0 }
    }

    /// Takes a whole burst at the ports' rate, if it is plain at its start that nothing can make it wait: its keystream
    /// is valid, and GHASH takes whatever comes.
    #[inline]
    fn take_burst(&mut self, blocks: u64) -> bool {
        let free = self.ports_free();
        let TimingModel::Unhindered(hash) = &mut self.ghash else { return false };
        let used = if self.row.0 == free { self.row.1 } else { 0 };
        // The cycle in which the first row goes to GHASH, where nothing but this row may have entered.
        let hashed = free + u64::from(self.direction == SealOpen::Seal);
        let clear = hash.gate <= hashed && (hash.entered.0 < hashed || hash.entered == (hashed, used));
        if blocks == 0 || hash.width < self.ports || !clear || !self.keystream.valid(self.taken, blocks, free) {
            return false;
        }
        let last = used + blocks - 1;
        let rows = u64::from(last as u32 / self.ports as u32);
        self.row = (free + rows, last - rows * self.ports + 1);
        hash.entered = (hashed + rows, self.row.1);
        let (mut block, mut at, mut room, end) = (self.taken, free, self.ports - used, self.taken + blocks);
        // The usual case: four ports and whole rows.
        let rows_of_four = self.ports == 4 && used == 0 && blocks.is_multiple_of(4);
        if rows_of_four && self.keystream.take_rows::<4>(block, blocks, at) {
            block = end;
        }
        while block < end {
            let row = room.min(end - block);
            self.keystream.take(block, row, at);
            (block, at, room) = (block + row, at + 1, self.ports);
        }
        if self.direction == SealOpen::Seal {
            // Only the last blocks, as many as the output register holds, are ever asked for.
            let mask = self.hashed.len() - 1;
            for back in 0..blocks.min(self.ports) {
                let at = if back < self.row.1 { hashed + rows } else { hashed + rows - 1 };
                self.hashed[(self.sealed + blocks - 1 - back) as usize & mask] = at;
            }
            self.sealed += blocks;
        }
        self.taken = end;
        true
    }

    /// Takes a whole burst that is opened, if it is plain at its start that all its keystream is valid, so that only GHASH can make it wait.
    fn take_keyed(&mut self, blocks: u64, limit: &mut Limit) -> bool {
        let free = self.ports_free();
        if self.direction != SealOpen::Open || blocks == 0 || !self.keystream.valid(self.taken, blocks, free) {
            return false;
        }
        let Self { ghash, keystream, taken, .. } = self;
        let (row, waited) = ghash.pass(self.row, self.visible, self.ports, blocks, |some| {
            *taken += match some {
                Taken::Row { at, blocks } => {
                    keystream.take(*taken, blocks, at);
                    blocks
                }
                Taken::Again { blocks, times, later } => {
                    keystream.take_again(*taken, blocks, times, later);
                    blocks * times
                }
                Taken::Burst { from, cycles } => {
                    keystream.take_burst(*taken, from, cycles);
                    cycles.len() as u64
                }
            };
        });
        self.row = row;
        self.waits.ghash += waited;
        if waited > 0 {
            *limit = Limit::Ghash;
        }
        true
    }

    /// Takes what one cycle takes of `left` blocks, and sends them on to GHASH. Gives their number.
    #[inline]
    fn take_row(&mut self, left: u64, limit: &mut Limit) -> u64 {
        let free = self.ports_free();
        let (mut at, mut valid_at) = (self.hash_free(free), 0);
        let mut want = left.min(self.ports_in(at));
        let (mut keyed, first) = self.keystream.ready(self.taken, want, at);
        if keyed == 0 {
            (at, valid_at) = (self.hash_free(first), first);
            want = left.min(self.ports_in(at));
            keyed = self.keystream.ready(self.taken, want, at).0;
        }
        let room = self.hash_room(at, keyed);
        let short = match (room < keyed, keyed < want) {
            (true, _) => Some(Limit::Ghash),
            (_, true) => Some(Limit::Aes),
            _ => None,
        };
        if at > free || short.is_some() {
            self.charge(free, at, valid_at == at, short, limit);
        }
        match self.direction {
            SealOpen::Open => self.ghash.enter(at, room),
            SealOpen::Seal => self.send(at + 1, room),
        }
        self.keystream.take(self.taken, room, at);
        self.taken += room;
        self.row = (at, room + if self.row.0 == at { self.row.1 } else { 0 });
        room
    }

    /// Cycle from `at` on in which the way to GHASH takes the next text block.
    #[inline]
    fn hash_free(&self, at: u64) -> u64 {
        match self.direction {
            SealOpen::Open => self.ghash.next(at),
            SealOpen::Seal => at.max(self.drained(0)),
        }
    }

    /// How many of the next `want` text blocks the way to GHASH takes in cycle `at`.
    #[inline]
    fn hash_room(&self, at: u64, want: u64) -> u64 {
        if self.direction == SealOpen::Open {
            return self.ghash.room(at, want);
        }
        let mut room = want;
        while room > 1 && self.drained(room - 1) > at {
            room -= 1;
        }
        room
    }

    /// `count` ciphertext blocks are valid in the output register from cycle `at` on and go to GHASH.
    #[inline]
    fn send(&mut self, at: u64, count: u64) {
        let mask = self.hashed.len() - 1;
        let (mut index, mut left) = (self.sealed as usize, count);
        self.sealed += count;
        while left > 0 {
            let enters = self.ghash.next(at.max(self.sent));
            let count = self.ghash.room(enters, left);
            self.sent = enters;
            self.ghash.enter(enters, count);
            for _ in 0..count {
                self.hashed[index & mask] = enters;
                index += 1;
            }
            left -= count;
        }
    }

    /// Cycle in which the output register has room for the text block `ahead` of the next one.
    #[inline]
    fn drained(&self, ahead: u64) -> u64 {
        let index = (self.sealed + ahead).wrapping_sub(self.ports) as usize;
        self.hashed[index & (self.hashed.len() - 1)]
    }

    /// Books the cycles from `free` to `at`, in which nothing was taken, and the cycle `at` if it took less than it could.
    #[cold]
    fn charge(&mut self, free: u64, at: u64, by_keystream: bool, short: Option<Limit>, limit: &mut Limit) {
        if at > free {
            *limit = if by_keystream { Limit::Aes } else { Limit::Ghash };
            match by_keystream {
                true => self.waits.aes += at - free,
                false => self.waits.ghash += at - free,
            }
        }
        if let Some(cause) = short {
            *limit = cause;
            match cause {
                Limit::Aes => self.waits.aes += 1,
                Limit::Ghash | Limit::Ports | Limit::Data => self.waits.ghash += 1,
            }
        }
    }

    /// Ends the message: all its text has been accepted.
    pub fn finish(&mut self) -> Finished {
        debug_assert_eq!(self.text_bytes_left, 0, "the message is not complete");
        let length = if self.closes { self.hash(1) } else { self.row.0 };
        self.known = self.ghash.known();
        // Tags leave in the order of their messages, one per cycle. The value of a part is none yet, and goes on as it is.
        let mask = if self.closes { self.keystream.mask() + 1 } else { 0 };
        let tag = (self.known + u64::from(self.closes)).max(mask).max(self.last_tag() + 1);
        self.keystream.end();
        self.tags.rotate_left(1);
        let last = self.tags.len() - 1;
        self.tags[last] = tag;
        self.work.add(length, tag);
        Finished { tag, verdict: tag + self.compare }
    }

    /// Earliest cycle in which anything of a message that starts in cycle `at` can happen.
    pub fn may_start(&self, at: u64) -> u64 {
        at.max(self.tags[0])
    }

    /// Cycles up to `until` in which the engine had work: a key to load, AAD or text to take, or a tail to finish. A
    /// burst counts from the cycle in which it was visible. `until` is not before the burst that was accepted last.
    pub fn busy(&self, until: u64) -> u64 {
        self.work.until(until)
    }

    /// The latest stretches of that work, oldest first; they may reach into the future, and the last may still grow.
    pub const fn stretches(&self) -> &[(u64, u64)] {
        &self.work.recent
    }

    /// Cycles in which text waited, since the engine was built.
    pub const fn waits(&self) -> Waits {
        self.waits
    }
}

/// Cycles of work: a sum, and the stretches that may reach into the future.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Work {
    past: u64,
    /// The latest stretches, in order and apart from each other: first cycle, and first cycle after.
    pub(crate) recent: [(u64, u64); 8],
}

impl Work {
    #[inline]
    pub(crate) fn add(&mut self, from: u64, to: u64) {
        let last = &mut self.recent[7];
        if from <= last.1 {
            last.1 = last.1.max(to);
        } else if to > from {
            self.past += self.recent[0].1 - self.recent[0].0;
            self.recent.rotate_left(1);
            self.recent[7] = (from, to);
        }
    }

    pub(crate) fn until(&self, until: u64) -> u64 {
        self.past + self.recent.iter().map(|&(from, to)| to.min(until).saturating_sub(from)).sum::<u64>()
    }
}
