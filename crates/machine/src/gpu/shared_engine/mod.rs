//! One AES-GCM engine that all PCEs share, or one GHASH, with AES lanes in each PCE.
//!
//! ```text
//!                     +-------------------------------------------+
//!  requests[] wire   ~|  messages -> turns -> [ AES-GCM engine ]  |~ replies[] wire (PCEs)
//!  (PCEs: messages,   |      ^          |     one text pipeline   |
//!   beats of them)    |      +-context--+     keys of both directions   |
//!                     +-------------------------------------------+
//! ```
//!
//! | contract | |
//! | --- | --- |
//! | accepts | any number of messages and beats; a PCE keeps room for its beats in its read buffer until they are back, which is all the credit that there is |
//! | turn | by message, from its first byte to its last; by `bytes`, that many of a message, and the rest at its end; by `need`, the whole blocks that have come as it begins |
//! | arbiter | round robin over PCEs: by `bytes`, those of which a turn's bytes have all come; by `need`, those of which a block has come; by message, those of which bytes have come, and if there are none, those that have announced a message, so that its keystream runs ahead |
//! | ahead | a turn begins when the bytes of the one before have all come, while the engine has not yet taken those of as many turns as may be open in it: two, or one more than its GHASH units for different messages |
//! | latency | of a beat, its arrival to its reply `engine_wire` after its text is at the engine's output; the reply of the last one carries the cycle of the tag |
//! | context | between two turns of a message its PCE's place keeps 40 B and a bit: the GHASH value (16 B; with sub-chains 16 B for each), the IV (12 B), the count of blocks so far (4 B), the length (8 B), and which of the two keys. The keystream goes on from the count, the mask is made anew with each turn |
//! | cost of a turn | the keystream of the next turn is ready when the turn begins, as for the next of two messages; its GHASH waits for the value of the turn before |
//! | GHASH alone | takes ciphertext to be opened as it comes to the PCE, and sealed text as it leaves the PCE's lanes, as many blocks in a cycle as the unit takes; its context has no count of blocks. A tag's mask is the PCE's |
//! | stalls | `read_data`: the message or turn whose turn it is has not all come |
//!
//! Times only: bytes are enciphered in parallel with the simulation, a PCE at a time, as those of engines in the PCEs are.
//! Beats that come out of order, or of a message that was not announced, are not taken; the PCE is notified, and gives the message up.

mod place;
#[cfg(test)]
mod tests;

use super::{
    spec::Turns,
    work::{EngineReply, EngineRequest},
};
use crate::{
    gcm::timing::Timing,
    ports,
    sim::{Activity, Clock, Now, Rx, Stall, Tx, Unit, Wake},
};
use place::{Place, Turn};
use std::collections::VecDeque;

/// Bytes that the engine is given at once, at most.
const MOST: u64 = 1 << 20;

ports! {
    pub struct Ports {
        /// By PCE.
        pub requests: Vec<Rx<EngineRequest>>,
        pub replies: Vec<Tx<EngineReply>>,
    }
}

#[derive(Debug)]
pub struct SharedEngine {
    clock: Clock,
    wire: u64,
    turns: Turns,
    timing: Timing,
    /// Turns whose bytes may wait in the engine.
    ahead: usize,
    /// Whether a message can go to a unit that does not know its value so far.
    several_units: bool,
    places: Vec<Place>,
    /// The PCE that had the last turn.
    last: usize,
    /// The PCE whose turn it is, and what of it is left.
    current: Option<(usize, Turn)>,
    /// By turn whose bytes have all come: the cycle in which the engine has taken them.
    taken: VecDeque<u64>,
    /// The cycle until which it has work.
    busy_until: u64,
    incidents: Vec<String>,
}

impl SharedEngine {
    /// An engine, or its GHASH, with units for so many messages at once, on `clock` for `pces` PCEs, each `wire` cycles away.
    pub fn new((mut timing, units): (Timing, u32), pces: usize, wire: u64, turns: Turns, clock: Clock) -> Self {
        // One key for each direction, from cycle 0 on.
        timing.load_key(0);
        let busy_until = timing.load_key(0);
        Self {
            clock,
            wire,
            turns,
            timing,
            ahead: units as usize + 1,
            several_units: units > 1,
            places: (0..pces).map(|_| Place::default()).collect(),
            last: pces.saturating_sub(1),
            current: None,
            taken: VecDeque::new(),
            busy_until,
            incidents: Vec::new(),
        }
    }

    fn take_requests(&mut self, now: Now, ports: &mut Ports) {
        let date = self.clock.edge(now.cycle + self.wire);
        for (pce, requests) in ports.requests.iter_mut().enumerate() {
            while let Some(request) = requests.arrive(now.time) {
                let Some(refusal) = self.places[pce].take(request) else { continue };
                self.incidents.push(format!("the shared engine does not take {request:?}: {}", refusal.why()));
                ports.replies[pce].send(date, EngineReply { job: refusal.job, offset: None, tag: None });
            }
        }
    }

    /// Takes what has come of the turns that have begun, and begins others; gives when that goes on by itself.
    fn work(&mut self, now: Now, ports: &mut Ports) -> u64 {
        loop {
            if let Some((pce, turn)) = self.current.take() {
                let left = self.feed(pce, turn, now, ports);
                if left.is_some() {
                    self.current = left;
                    return Wake::NEVER;
                }
            }
            while self.taken.front().is_some_and(|&cycle| cycle <= now.cycle) {
                self.taken.pop_front();
            }
            let Some((pce, turn)) = self.choose() else { return Wake::NEVER };
            if self.taken.len() >= self.ahead {
                return self.taken[self.taken.len() - self.ahead];
            }
            self.begin(pce, &turn, now);
            self.current = Some((pce, turn));
        }
    }

    /// The next PCE that can have a turn.
    fn choose(&self) -> Option<(usize, Turn)> {
        let pces = self.places.len();
        let order = || (1..=pces).map(|step| (self.last + step) % pces);
        let with = |begun: bool| order().find_map(|pce| Some((pce, self.places[pce].turn(self.turns, begun)?)));
        with(true).or_else(|| with(false))
    }

    fn begin(&mut self, pce: usize, turn: &Turn, now: Now) {
        self.last = pce;
        let at = if self.several_units { now.cycle.max(self.places[pce].value) } else { now.cycle };
        self.timing.start_turn(at, turn.before, turn.left, turn.direction, turn.closes);
    }

    /// Gives the engine what has come of a turn; gives what is left of it, if anything.
    fn feed(&mut self, pce: usize, mut turn: Turn, now: Now, ports: &mut Ports) -> Option<(usize, Turn)> {
        let date = |cycle: u64| self.clock.edge(cycle + self.wire);
        while turn.left > 0 {
            let Some((beat, bytes)) = self.places[pce].next_bytes(turn.left.min(MOST)) else {
                return Some((pce, turn));
            };
            let accepted = self.timing.accept(now.cycle, bytes);
            turn.left -= u64::from(bytes);
            self.busy_until = self.busy_until.max(accepted.out);
            let finished = (turn.left == 0).then(|| self.timing.finish());
            if let Some(finished) = finished {
                self.taken.push_back(accepted.consumed);
                self.busy_until = self.busy_until.max(finished.tag);
                self.places[pce].value = finished.tag;
            }
            if let Some(offset) = beat {
                let tag = finished.filter(|_| turn.closes).map(|finished| finished.tag);
                let reply = EngineReply { job: turn.job, offset: Some(offset), tag };
                ports.replies[pce].send(date(accepted.out), reply);
            }
        }
        if turn.closes {
            self.places[pce].end();
        }
        None
    }
}

impl Unit for SharedEngine {
    type Ports = Ports;

    fn tick(&mut self, now: Now, ports: &mut Ports) -> Wake {
        self.take_requests(now, ports);
        let mut at = self.work(now, ports);
        for wire in &ports.requests {
            at = at.min(wire.next_arrival().map_or(Wake::NEVER, |date| self.clock.first_from(date)));
        }
        let waits = self.current.is_some() || self.places.iter().any(Place::announced);
        let then = if waits { Activity::Stall(Stall::ReadData) } else { Activity::Idle };
        Wake::at_or_port(at, then).busy_until(self.busy_until)
    }

    fn incidents(&self) -> Vec<String> {
        self.incidents.clone()
    }
}
