//! The faults in the registers of a PCE's engine.
//!
//! The message that is upset goes through a [structural engine](crate::gcm::upset), which is at rest when it starts and gets text as soon as it takes it.
//! Its bytes and tags are that engine's; the cycles of the machine are those of any message. What a fault leaves in the round keys and the powers of H
//! stays there for the messages behind it in this direction.

use crate::{
    aead::path::PathKey,
    gcm::{
        engine::Engine,
        message::SealOpen,
        names::Names,
        part::Part,
        spec::GcmSpec,
        upset::{Upset, UpsetKind, UpsetMessage, rested, states},
    },
    sim::{Armed, Clock, Effect, FaultKind},
};

/// What every register's name begins with.
const ENGINE: &str = "engine.";

#[derive(Debug)]
pub(super) struct Registers {
    clock: Clock,
    /// Each with the name of its register below the engine.
    faults: Vec<(String, Armed)>,
    messages: u64,
    /// The faults that upset the message in the engine, and the cycle in which it started.
    upsetting: Vec<usize>,
    started: u64,
    direction: SealOpen,
    /// What faults have left for messages that are sealed and opened.
    left: [Option<Engine>; 2],
}

impl Registers {
    pub const fn new(clock: Clock) -> Self {
        Self {
            clock,
            faults: Vec::new(),
            messages: 0,
            upsetting: Vec::new(),
            started: 0,
            direction: SealOpen::Seal,
            left: [None, None],
        }
    }

    pub fn names(spec: Option<&GcmSpec>) -> Vec<String> {
        let names = spec.and_then(Names::all);
        names.iter().flat_map(|names| names.names()).map(|name| format!("{ENGINE}{name}")).collect()
    }

    pub fn arm(&mut self, spec: Option<&GcmSpec>, point: &str, armed: Armed) {
        if let (Some(_), Some(name)) = (spec, point.strip_prefix(ENGINE)) {
            self.faults.push((name.to_owned(), armed));
        }
    }

    pub fn armed(&self) -> Vec<Armed> {
        self.faults.iter().map(|(_, armed)| armed.clone()).collect()
    }

    /// A message starts in `cycle`: it goes through a structural engine if a fault upsets it, or has left something in its way.
    pub fn begin(
        &mut self,
        (spec, key): (Option<&GcmSpec>, &PathKey),
        nonce: [u8; 12],
        part: Part,
        direction: SealOpen,
        cycle: u64,
    ) -> Option<Box<UpsetMessage>> {
        if self.faults.is_empty() {
            return None;
        }
        let (spec, time) = (spec?, self.clock.edge(cycle));
        self.messages += 1;
        let message = Some(self.messages);
        let due = |(number, (_, armed)): (usize, &mut (String, Armed))| {
            armed.transfer_of(time, "", message).then_some(number)
        };
        self.upsetting = self.faults.iter_mut().enumerate().filter_map(due).collect();
        (self.started, self.direction) = (cycle, direction);
        let left = self.left[direction as usize].clone();
        if self.upsetting.is_empty() && left.is_none() {
            return None;
        }
        // Where a message is in parts, its GHASH goes beyond one engine.
        let whole = key.gcm().filter(|_| part.bytes == part.total);
        let engine = whole.and_then(|key| left.or_else(|| rested(spec, key.bytes())));
        let upsets = engine.as_ref().map_or_else(Vec::new, |engine| {
            self.upsetting.iter().filter_map(|&number| self.upset(number, spec, engine, part.bytes)).collect()
        });
        if upsets.len() < self.upsetting.len() {
            self.upsetting.iter().for_each(|&number| self.faults[number].1.flipped(time, None));
            return None;
        }
        UpsetMessage::new(engine?, &nonce, part.bytes, direction, upsets).map(Box::new)
    }

    fn upset(&self, number: usize, spec: &GcmSpec, engine: &Engine, bytes: u64) -> Option<Upset> {
        let (name, armed) = &self.faults[number];
        let register = Names::all(spec)?.find(name)?;
        let aim = armed.aim();
        let cycle = aim.cycle.or_else(|| {
            let mut states = states(engine.clone(), bytes, self.direction);
            states.retain(|state| state.register == register);
            let place = armed.seed().checked_rem(states.len() as u64)?;
            states.get(place as usize).map(|state| state.cycle)
        })?;
        let cycles = aim.cycles.unwrap_or(u64::MAX);
        let kind = match armed.kind() {
            FaultKind::Stuck0 => UpsetKind::Stuck { at: false, cycles },
            FaultKind::Stuck1 => UpsetKind::Stuck { at: true, cycles },
            _ => UpsetKind::Flip,
        };
        Some(Upset { register, cycle, bit: armed.pick()?.among(128)? as u32, kind })
    }

    /// A message is through that went through a structural engine.
    pub fn end(&mut self, message: Option<Box<UpsetMessage>>) {
        let Some(message) = message else { return };
        for (&number, hit) in self.upsetting.iter().zip(message.hits()) {
            let armed = &mut self.faults[number].1;
            match hit {
                Some(cycle) => armed.struck(self.clock.edge(self.started + cycle)),
                None => armed.flipped(self.clock.edge(self.started), None),
            }
        }
        let struck =
            self.upsetting.iter().any(|&number| matches!(self.faults[number].1.effect(), Effect::Struck { .. }));
        self.upsetting.clear();
        if struck {
            self.left[self.direction as usize] = Some(message.into_engine());
        }
    }
}
