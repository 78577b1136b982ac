//! A message that goes through an engine register by register, while faults upset registers.
//!
//! ```text
//!                        upsets, at the beginning of their cycles
//!                           |
//!   text, in pieces ---> [ engine ] ---> text, tags
//! ```
//!
//! Faults upset the datapath and never the control, so an upset message takes the cycles of any other. Cycle 0 is that in which the message starts.
//! The engine's clock stands while it waits for text that has not come.

use super::engine::{Engine, Event, Purpose, Register};
use super::message::SealOpen;
use super::spec::GcmSpec;

/// Cycles without an event after which an engine is given up: its control never lets it end.
pub(super) const GIVE_UP_AFTER: u32 = 1 << 22;

/// What a fault does to a bit of a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UpsetKind {
    /// It inverts the bit once.
    Flip,
    /// It holds the bit at a value for so many cycles.
    Stuck { at: bool, cycles: u64 },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Upset {
    pub register: Register,
    /// The first cycle in which it acts.
    pub cycle: u64,
    /// The bit, 0 being the lowest of the register read as a number.
    pub bit: u32,
    pub kind: UpsetKind,
}

impl Upset {
    const fn acts(&self, cycle: u64) -> bool {
        let span = match self.kind {
            UpsetKind::Flip => 1,
            UpsetKind::Stuck { cycles, .. } => cycles,
        };
        self.cycle <= cycle && cycle - self.cycle < span
    }

    const fn apply(&self, value: &mut u128) {
        let bit = 1 << (self.bit % 128);
        match self.kind {
            UpsetKind::Flip => *value ^= bit,
            UpsetKind::Stuck { at: true, .. } => *value |= bit,
            UpsetKind::Stuck { at: false, .. } => *value &= !bit,
        }
    }
}

/// An engine at rest with this key, as far as it will ever be; none if there can be no such engine.
pub fn rested(spec: &GcmSpec, key: &[u8]) -> Option<Engine> {
    let mut engine = Engine::new(spec).ok()?;
    engine.load_key(key).ok()?;
    let mut events = Vec::new();
    (0..GIVE_UP_AFTER).find(|_| {
        engine.step(&mut events);
        !events.is_empty()
    })?;
    Some(engine)
}

/// A message on its way through a structural engine.
#[derive(Debug, Clone)]
pub struct UpsetMessage {
    engine: Engine,
    start: u64,
    bytes: u64,
    upsets: Vec<Upset>,
    /// By upset: the cycle in which it found a value.
    hits: Vec<Option<u64>>,
    offered: u64,
    text: Vec<u8>,
    tags: Vec<u8>,
    ended: bool,
}

impl UpsetMessage {
    /// Starts a message without AAD of `bytes` bytes in an engine at rest; none if it refuses it.
    pub fn new(mut engine: Engine, nonce: &[u8], bytes: u64, direction: SealOpen, upsets: Vec<Upset>) -> Option<Self> {
        let start = engine.cycle();
        engine.start(nonce, &[], bytes, direction).ok()?;
        let (hits, text) = (vec![None; upsets.len()], Vec::with_capacity(bytes as usize));
        Some(Self { engine, start, bytes, upsets, hits, offered: 0, text, tags: Vec::new(), ended: false })
    }

    /// Enciphers or deciphers the next bytes in place.
    pub fn update(&mut self, text: &mut [u8]) {
        self.engine.offer(text);
        let from = self.offered as usize;
        self.offered += text.len() as u64;
        let whole = if self.offered == self.bytes { self.offered } else { self.offered / 16 * 16 };
        self.run(|message| message.text.len() as u64 >= whole);
        if whole == self.offered {
            return text.copy_from_slice(&self.text[from.min(self.text.len())..][..text.len()]);
        }
        // What a block that has come in part becomes is seen in an engine that gets the rest as zeroes.
        let mut ahead = self.clone();
        let end = (whole + 16).min(self.bytes);
        ahead.engine.offer(&vec![0; (end - self.offered) as usize]);
        ahead.run(|message| message.text.len() as u64 >= end);
        text.copy_from_slice(&ahead.text[from..][..text.len()]);
    }

    /// Works until all of it is through; gives its tags, as they are on the wire.
    pub fn finish(&mut self) -> &[u8] {
        self.run(|message| message.ended);
        &self.tags
    }

    /// By upset: the cycle in which it found its register with a value, if it did.
    pub fn hits(&self) -> &[Option<u64>] {
        &self.hits
    }

    /// The engine, at rest once the message has been finished, with what faults have left in the registers of its key.
    pub fn into_engine(self) -> Engine {
        self.engine
    }

    fn run(&mut self, until: impl Fn(&Self) -> bool) {
        let mut quiet = 0;
        while !until(self) && quiet < GIVE_UP_AFTER {
            quiet = if self.step(&mut |_, _| {}) { 0 } else { quiet + 1 };
        }
        // Of an engine that never ends, what has not come is zero.
        if quiet == GIVE_UP_AFTER {
            self.text.resize(self.bytes as usize, 0);
            self.ended = true;
        }
    }

    /// Works a cycle; `see` is shown what registers hold in it. Says whether anything came out.
    fn step(&mut self, see: &mut dyn FnMut(Register, Option<Purpose>)) -> bool {
        let cycle = self.engine.cycle() - self.start;
        let (upsets, hits) = (&self.upsets, &mut self.hits);
        self.engine.all_registers(&mut |register, purpose, value| {
            see(register, purpose);
            let here = upsets.iter().zip(&mut *hits).filter(|(upset, _)| upset.register == register);
            for (upset, hit) in here.filter(|(upset, _)| upset.acts(cycle)) {
                upset.apply(value);
                hit.get_or_insert(cycle);
            }
        });
        let mut events = Vec::new();
        self.engine.step(&mut events);
        let mut further = Vec::new();
        for (_, event) in &events {
            match event {
                Event::Text(bytes) => self.text.extend(bytes),
                Event::ChainTag(_, tag) => further.extend(tag),
                Event::Tag(tag) => {
                    self.tags = [&tag[..], &further].concat();
                    self.ended = true;
                }
                Event::KeyReady | Event::Phase(_) | Event::Aad | Event::Taken(_) => {}
            }
        }
        !events.is_empty()
    }
}

/// A register that holds a value in a cycle of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct State {
    pub register: Register,
    pub cycle: u64,
    /// What a block of AES becomes.
    pub purpose: Option<Purpose>,
}

/// All registers that hold a value in each cycle of a message of so many bytes: none depends on key, nonce or text.
pub fn states(engine: Engine, bytes: u64, direction: SealOpen) -> Vec<State> {
    let mut states = Vec::new();
    let Some(mut message) = UpsetMessage::new(engine, &[0; 12], bytes, direction, Vec::new()) else { return states };
    message.engine.offer(&vec![0; bytes as usize]);
    for cycle in 0..u64::from(GIVE_UP_AFTER) {
        message.step(&mut |register, purpose| states.push(State { register, cycle, purpose }));
        if message.ended {
            break;
        }
    }
    states
}
