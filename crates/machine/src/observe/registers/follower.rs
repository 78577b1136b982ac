//! A structural engine that does what an engine of the machine does.

use crate::{
    gcm::{
        engine::{Engine, Event},
        names::{Name, Names, name},
        spec::GcmSpec,
    },
    gpu::pce::{EngineInput, MessageInput},
    sim::Clock,
    units::Femtos,
};
use std::collections::{BTreeSet, VecDeque};

/// Text of messages before the one that is shown that is kept, in bytes: the engine that has not rested for so long begins with a later one.
const KEPT: u64 = 16 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Followed {
    /// Its tag, of several the first.
    pub tag: [u8; 16],
    /// The cycle in which it is valid in the structural engine.
    pub stands: u64,
    /// The cycle in which it is valid in the machine.
    pub told: Option<u64>,
}

/// What shows a register's new value: the instant, the register's number, the value, if it holds one.
pub type Show<'a> = &'a mut dyn FnMut(Femtos, usize, Option<u128>);

#[derive(Debug)]
struct Running {
    engine: Engine,
    key: Vec<u8>,
    /// The machine's cycle at the engine's cycle 0.
    base: u64,
    /// The first cycle that is shown.
    shown_from: u64,
    /// Text that has not come to the port.
    text: VecDeque<u8>,
    told: VecDeque<u64>,
    /// Messages in the engine before the one that is shown alone, with it.
    until: Option<usize>,
}

#[derive(Debug)]
pub struct Follower {
    spec: GcmSpec,
    clock: Clock,
    names: Names,
    /// What has come and has not gone into the structural engine, by cycle.
    held: VecDeque<(u64, EngineInput)>,
    /// Bytes of text and messages among it, until an engine runs.
    held_bytes: u64,
    messages_held: usize,
    /// When all that has come is through: not known while a message is in progress.
    free_at: Option<u64>,
    running: Option<Running>,
    values: Vec<Option<u128>>,
    followed: Vec<Followed>,
    /// Whether nothing more is followed: all that was asked for has been shown, or something came that cannot be followed.
    over: bool,
    unknown: BTreeSet<Name>,
}

impl Follower {
    /// Follows an engine on `clock`; none if there can be no such engine.
    pub fn new(spec: &GcmSpec, clock: Clock) -> Option<Self> {
        let names = Names::of(spec)?;
        Some(Self {
            spec: spec.clone(),
            clock,
            values: vec![None; names.names().len()],
            names,
            held: VecDeque::new(),
            held_bytes: 0,
            messages_held: 0,
            free_at: Some(0),
            running: None,
            followed: Vec::new(),
            over: false,
            unknown: BTreeSet::new(),
        })
    }

    pub fn names(&self) -> &[Name] {
        self.names.names()
    }

    /// Messages that went through the structural engine.
    pub fn followed(&self) -> &[Followed] {
        &self.followed
    }

    /// Registers that held a value and are not among those known.
    pub const fn unknown(&self) -> &BTreeSet<Name> {
        &self.unknown
    }

    /// Takes what goes into the engine at edge `cycle`. A message that is `alone` is shown from its start to its tag.
    pub fn take(&mut self, cycle: u64, input: &EngineInput, alone: bool) {
        if self.over {
            return;
        }
        let begins = matches!(input, EngineInput::Message(_));
        match input {
            EngineInput::Message(message) => {
                if message.key.is_none() || message.part.bytes != message.part.total {
                    return self.stop();
                }
                if self.running.is_none() && self.free_at.is_some_and(|free| free <= cycle) {
                    self.forget_held();
                }
                self.free_at = None;
            }
            EngineInput::Tag(at) => self.free_at = Some(*at),
            EngineInput::Text(_) | EngineInput::Beat(_) => {}
            EngineInput::GivenUp => return self.stop(),
        }
        if self.running.is_none() && self.held.is_empty() && !begins {
            // The rest of a message that was too long to be kept.
            return;
        }
        self.held_bytes += text_bytes(input);
        self.messages_held += usize::from(begins);
        self.held.push_back((cycle, input.clone()));
        if alone && self.running.is_none() {
            self.run(cycle, Some(self.messages_held));
        }
        if self.running.is_none() && self.held_bytes > KEPT {
            self.drop_oldest();
        }
    }

    /// Shows all from edge `cycle` on.
    pub fn show_from(&mut self, cycle: u64) {
        if self.running.is_none() && !self.over {
            self.run(cycle, None);
        }
    }

    pub fn stop(&mut self) {
        self.over = true;
        self.running = None;
        self.forget_held();
    }

    fn forget_held(&mut self) {
        self.held.clear();
        (self.held_bytes, self.messages_held) = (0, 0);
    }

    fn drop_oldest(&mut self) {
        self.messages_held -= 1;
        while let Some((_, input)) = self.held.pop_front() {
            self.held_bytes -= text_bytes(&input);
            if matches!(self.held.front(), Some((_, EngineInput::Message(_)))) {
                return;
            }
        }
    }

    /// Lets the structural engine begin with the oldest message that is held.
    fn run(&mut self, shown_from: u64, until: Option<usize>) {
        let first = self.held.iter().find_map(|(cycle, input)| match input {
            EngineInput::Message(message) => Some((*cycle, message.key.clone()?)),
            _ => None,
        });
        let Some((start, key)) = first else { return };
        match self.engine(&key, start) {
            Some((engine, base)) => {
                let (text, told) = (VecDeque::new(), VecDeque::new());
                self.running = Some(Running { engine, key, base, shown_from, text, told, until });
            }
            None => self.stop(),
        }
    }

    /// A structural engine in the machine's cycle `start` with a key that is loaded: in cycle 0, or so that it is just ready.
    fn engine(&self, key: &[u8], start: u64) -> Option<(Engine, u64)> {
        let mut engine = Engine::new(&self.spec).ok()?;
        engine.load_key(key).ok()?;
        let cycles = self.names.ready().min(start);
        (0..cycles).for_each(|_| engine.step(&mut Vec::new()));
        Some((engine, start - cycles))
    }

    /// Works all cycles whose edges lie before `before`, as far as there is something to do.
    pub fn advance(&mut self, before: Femtos, show: Show<'_>) {
        if self.over {
            return self.forget(before, show);
        }
        while let Some(cycle) = self.next_cycle() {
            if self.clock.edge(cycle) >= before {
                return;
            }
            self.feed(cycle);
            self.step(cycle, show);
        }
    }

    /// Works until all messages whose tags have been reported are through.
    pub fn finish(&mut self, show: Show<'_>) {
        let told = self.free_at.map_or(0, |free| self.clock.edge(free + 2).0);
        self.advance(Femtos(told), show);
    }

    /// The cycle that the structural engine works next, unless it rests. An engine that rests is as it will be when something comes.
    fn next_cycle(&mut self) -> Option<u64> {
        let running = self.running.as_mut()?;
        let next = running.base + running.engine.cycle();
        if !running.engine.idle() {
            return Some(next);
        }
        let (cycle, _) = self.held.front()?;
        running.base += cycle.saturating_sub(next);
        Some(next.max(*cycle))
    }

    /// Gives the engine what comes in a cycle.
    fn feed(&mut self, cycle: u64) {
        while self.held.front().is_some_and(|(at, _)| *at <= cycle) {
            let Some((_, input)) = self.held.pop_front() else { return };
            let taken = match (&input, &mut self.running) {
                (EngineInput::Message(message), Some(_)) => self.start(message, cycle),
                (EngineInput::Text(text), Some(running)) => {
                    running.text.extend(text.bytes().unwrap_or_default());
                    true
                }
                (EngineInput::Beat(bytes), Some(running)) => {
                    let bytes = (*bytes as usize).min(running.text.len());
                    running.engine.offer(&running.text.drain(..bytes).collect::<Vec<_>>());
                    true
                }
                (EngineInput::Tag(at), Some(running)) => {
                    running.told.push_back(*at);
                    true
                }
                (EngineInput::GivenUp, _) | (_, None) => false,
            };
            if !taken {
                return self.stop();
            }
        }
    }

    /// Starts a message; a rest is time for another key.
    fn start(&mut self, message: &MessageInput, cycle: u64) -> bool {
        let (Some(key), Some(running)) = (&message.key, &self.running) else { return false };
        if running.key != *key {
            if !running.engine.idle() {
                return false;
            }
            let Some((engine, base)) = self.engine(key, cycle) else { return false };
            let Some(running) = &mut self.running else { return false };
            (running.engine, running.base, running.key) = (engine, base, key.clone());
        }
        let Some(running) = &mut self.running else { return false };
        running.engine.start(&message.nonce, &[], message.part.bytes, message.direction).is_ok()
    }

    fn step(&mut self, cycle: u64, show: Show<'_>) {
        let Some(running) = &mut self.running else { return };
        let mut events = Vec::new();
        running.engine.step(&mut events);
        for (at, event) in events {
            if let Event::Tag(tag) = event {
                self.followed.push(Followed { tag, stands: running.base + at, told: running.told.pop_front() });
                running.until = running.until.map(|left| left.saturating_sub(1));
            }
        }
        let (is_shown, is_over) = (cycle >= running.shown_from, running.until == Some(0));
        let instant = self.clock.edge(cycle + 1);
        if is_shown {
            self.show(instant, show);
        }
        if is_over {
            self.stop();
            self.forget(instant, show);
        }
    }

    fn show(&mut self, instant: Femtos, show: Show<'_>) {
        let Some(running) = &mut self.running else { return };
        let mut now = vec![None; self.values.len()];
        running.engine.registers(&mut |unit, register, index, value| match self.names.place((unit, register, index)) {
            Some(place) => now[place] = Some(*value),
            None if Names::is_left_out((unit, register, index)) => {}
            None => _ = self.unknown.insert(name((unit, register, index), true)),
        });
        for (place, (value, old)) in now.iter().zip(&self.values).enumerate() {
            if value != old {
                show(instant, place, *value);
            }
        }
        self.values = now;
    }

    /// Nothing is known of the registers any more.
    fn forget(&mut self, instant: Femtos, show: Show<'_>) {
        for (place, value) in self.values.iter_mut().enumerate() {
            if value.take().is_some() {
                show(instant, place, None);
            }
        }
    }
}

fn text_bytes(input: &EngineInput) -> u64 {
    match input {
        EngineInput::Text(text) => text.bytes().map_or(0, |bytes| bytes.len() as u64),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        gcm::{bulk, message::SealOpen, part::Part},
        pcie::packet::Payload,
        units::Frequency,
    };

    fn message(bytes: u64) -> EngineInput {
        let (nonce, key) = ([7; 12], Some(vec![3; 32]));
        EngineInput::Message(MessageInput { part: Part::whole(bytes), nonce, direction: SealOpen::Seal, key })
    }

    /// Gives a message to a follower from a cycle on, in pieces.
    fn give(follower: &mut Follower, from: u64, (pieces, piece): (u64, usize), alone: bool) {
        follower.take(from, &message(pieces * piece as u64), alone);
        for number in 0..pieces {
            follower.take(from + number, &EngineInput::Text(Payload::of(vec![9; piece])), false);
            follower.take(from + number, &EngineInput::Beat(piece as u32), false);
        }
        follower.take(from + pieces, &EngineInput::Tag(from + pieces + 100), false);
    }

    #[test]
    fn a_message_too_long_to_be_kept_is_forgotten_and_the_next_is_followed() {
        let clock = Clock::new(Frequency(1_000_000_000)).unwrap();
        let mut follower = Follower::new(&GcmSpec::four_lanes(), clock).unwrap();
        give(&mut follower, 1_000, (40, 1 << 20), false);
        assert!(follower.held_bytes <= KEPT && follower.held.len() < 40, "{}", follower.held_bytes);
        give(&mut follower, 1_041, (4, 64), true);
        follower.finish(&mut |_, _, _| {});
        let key = bulk::Key::new(&[3; 32]).unwrap();
        let tag = key.seal(&[7; 12], &[], &mut [9; 256]).unwrap();
        assert_eq!(follower.followed().iter().map(|message| message.tag).collect::<Vec<_>>(), [tag]);
    }

    #[test]
    fn nothing_is_kept_and_nothing_known_behind_what_is_shown_alone() {
        let clock = Clock::new(Frequency(1_000_000_000)).unwrap();
        let mut follower = Follower::new(&GcmSpec::four_lanes(), clock).unwrap();
        give(&mut follower, 1_000, (4, 64), true);
        let mut known = std::collections::BTreeMap::new();
        follower.finish(&mut |_, place, value| _ = known.insert(place, value));
        assert!(known.len() > 50 && known.values().all(Option::is_none), "{}", known.len());
        give(&mut follower, 2_000, (4, 64), false);
        assert!(follower.held.is_empty() && follower.followed().len() == 1);
    }
}
