//! The engines of `rtl/src/engine.sv` and `rtl/src/wide.sv`: what they take, give and hold in each cycle, beside [`Engine`].

use crate::{
    Cut, Failure, Random, Rng,
    aes::{Aes, key},
    equal,
    ghash::{InFlight, Stages, Unit},
    twin::{Fault, Module},
};
use sealsim::gcm::{
    engine::{Engine as Model, Event},
    field::Element,
    message::SealOpen,
    register::Field,
    spec::{AesSpec, GcmSpec},
};
use sealsim::units::Cycles;
use std::collections::VecDeque;

/// An engine's parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Engine {
    /// Its lanes; none for the engine of one lane and one message at a time.
    pub lanes: Option<u32>,
    /// A lane; without registers one of one round.
    pub lane: Aes,
    /// Blocks of keystream ahead of the text.
    pub fifo: u32,
    /// GHASH.
    pub hash: Unit,
}

/// What is asked of both in a cycle: of the model in the cycle after, since the RTL registers it.
#[derive(Debug, Clone)]
enum Request {
    Key(Vec<u8>, Vec<u128>),
    Message(Message),
}

#[derive(Debug, Clone)]
struct Message {
    iv: [u8; 12],
    aad: Vec<u8>,
    text: Vec<u8>,
    direction: SealOpen,
}

impl Engine {
    /// Any of modest size.
    #[must_use]
    pub fn draw(random: &mut Random) -> Self {
        let (lane, cut) = (Aes::draw(random), Cut::draw(random));
        // A lane that has no register in a round has the counter's in the RTL, and is a cycle longer.
        let registers = lane.registers.map(|registers| registers.max(1));
        let lanes = random.random_bool(0.8).then(|| 1 << random.random_range(0..3));
        let hash = match lanes.filter(|_| random.random_bool(0.7)) {
            None => Unit::Serial(cut),
            Some(_) => {
                Unit::Aggregated { width: 1 << random.random_range(0..4), groups: random.random_range(1..6), cut }
            }
        };
        Self { lanes, lane: Aes { registers, ..lane }, fifo: random.random_range(1..41), hash }
    }

    fn spec(self) -> GcmSpec {
        let lanes = self.lanes.unwrap_or(1);
        GcmSpec {
            key_bits: 32 * (self.lane.rounds - 6),
            aes: AesSpec { lanes, keystream_blocks: self.fifo, ..self.lane.spec() },
            ghash: self.hash.spec(),
            key_setup: Cycles(0),
            compare: Cycles(0),
            control: None,
            ..GcmSpec::four_lanes()
        }
    }

    fn module(self, fault: Option<Fault>) -> Module {
        let mut parameters = self.hash.cut().parameters().to_vec();
        parameters.extend([
            ("ROUNDS", self.lane.rounds.into()),
            ("REGISTERS", self.lane.registers.unwrap_or(0).into()),
            ("COMPACT", self.lane.compact.into()),
            ("FIFO", self.fifo.into()),
        ]);
        let Some(lanes) = self.lanes else { return Module { name: "engine", parameters, fault } };
        let (width, groups) = self.hash.sizes();
        let collects = matches!(self.hash, Unit::Aggregated { .. });
        parameters.extend([("LANES", lanes.into()), ("W", width as u64), ("G", groups as u64)]);
        parameters.push(("COLLECT", collects.into()));
        Module { name: "wide", parameters, fault }
    }

    /// So many cycles in lock-step; `fault` is planted in the RTL, `extra` gives the model so many blocks of keystream more.
    ///
    /// # Errors
    /// No twin, or a difference.
    pub fn run(self, fault: Option<Fault>, extra: u32, random: &mut Random, cycles: u64) -> Result<u64, Failure> {
        let mut twin = self.module(fault).twin(random.random())?;
        let fifo = self.fifo + extra;
        let model = Model::new(&Self { fifo, ..self }.spec()).expect("an engine that can be built");
        let mut bench = Bench {
            engine: self,
            model,
            aad: VecDeque::new(),
            text: VecDeque::new(),
            hidden: VecDeque::new(),
            out: Vec::new(),
            ready: false,
            making: false,
            opened: 0,
        };
        let (lanes, width) = (self.lanes.unwrap_or(1) as usize, self.hash.sizes().0);
        let (text_at, keys_at) = (3 + width, 3 + width + lanes);
        let (mut inputs, mut request, mut keyed) = (vec![0; keys_at + 1 + self.lane.rounds as usize], None, 0);
        let (mut rate, mut most) = (0.5, 1200);
        inputs[0] = RESET;
        // The second cycle clears what the first gives of registers that hold anything.
        twin.step(&inputs);
        twin.step(&inputs);
        for cycle in 0..cycles {
            bench.ask(cycle, request.take(), random);
            // What does not count is anything.
            inputs[0] = if random.random() { OPENS } else { 0 };
            inputs[1..keys_at].fill_with(|| random.random());
            let rests = bench.model.idle() && !bench.making;
            if rests && keyed == 0 {
                inputs[keys_at..].fill_with(|| random.random());
            }
            for _ in 0..lanes {
                if random.random_bool(rate)
                    && let Some(block) = bench.hidden.pop_front()
                {
                    bench.model.offer(&block);
                    bench.text.push_back(filled(&block, random));
                }
            }
            inputs[3..text_at].iter_mut().zip(&bench.aad).for_each(|(to, block)| *to = *block);
            inputs[text_at..keys_at].iter_mut().zip(&bench.text).for_each(|(to, block)| *to = *block);
            let more = if bench.hidden.is_empty() { random.random_range(0..=lanes) } else { 0 };
            inputs[0] |= TEXT * (bench.text.len() + more).min(lanes) as u128;
            let flags = twin.drive(&inputs)[0];
            let may = if keyed == 0 { rests && flags & RESTS > 0 } else { bench.ready && flags & ROOM > 0 };
            if may && random.random_bool(0.3) {
                rate = f64::powi(random.random_range(0.2..1.0), 3);
                request = Some(if keyed == 0 { bench.key(random) } else { Bench::message(most, random) });
                keyed = if keyed == 0 { random.random_range(1..12) } else { keyed - 1 };
            }
            match &request {
                Some(Request::Key(_, slots)) => {
                    most = [40, 300, 1200][random.random_range(0..3)];
                    inputs[0] |= LOAD;
                    inputs[keys_at..].copy_from_slice(slots);
                }
                Some(Request::Message(message)) => {
                    inputs[0] =
                        inputs[0] & !OPENS | START | if message.direction == SealOpen::Open { OPENS } else { 0 };
                    inputs[1] = message.aad.len() as u128 | (message.text.len() as u128) << 32;
                    inputs[2] = message.iv.iter().fold(0, |iv, &byte| iv << 8 | u128::from(byte));
                }
                None => {}
            }
            let shown = twin.step(&inputs);
            bench.registers(cycle, &shown)?;
            bench.step(cycle, &shown)?;
        }
        Ok(cycles)
    }
}

const RESET: u128 = 1;
const LOAD: u128 = 2;
const START: u128 = 4;
const OPENS: u128 = 8;
const TEXT: u128 = 1 << 8;
const ROOM: u128 = 1 << 14;
const RESTS: u128 = 1 << 15;

/// A block of the RTL's ports, with anything behind its end.
fn filled(block: &[u8], random: &mut Random) -> u128 {
    let mut whole: [u8; 16] = random.random();
    whole[..block.len()].copy_from_slice(block);
    u128::from_be_bytes(whole)
}

/// The model and what is given to both.
struct Bench {
    engine: Engine,
    model: Model,
    /// Blocks that have not been taken: of AAD, of text that is there, of text that is not yet.
    aad: VecDeque<u128>,
    text: VecDeque<u128>,
    hidden: VecDeque<Vec<u8>>,
    /// What leaves in the next cycle.
    out: Vec<u128>,
    /// Whether messages may start, and whether a key's powers are being made.
    ready: bool,
    making: bool,
    /// The cycle in which the last message opened.
    opened: u64,
}

impl Bench {
    fn key(&self, random: &mut Random) -> Request {
        let (bytes, _, slots) = key(self.engine.lane.rounds, random);
        Request::Key(bytes, slots)
    }

    fn message(most: usize, random: &mut Random) -> Request {
        let mut bytes = |most: usize| {
            let mut bytes = vec![0; random.random_range(0..most)];
            random.fill(&mut bytes[..]);
            bytes
        };
        let (aad, text) = (bytes(80), bytes(most));
        let direction = if random.random() { SealOpen::Seal } else { SealOpen::Open };
        Request::Message(Message { iv: random.random(), aad, text, direction })
    }

    fn ask(&mut self, cycle: u64, request: Option<Request>, random: &mut Random) {
        let accepted = match request {
            None => return,
            Some(Request::Key(key, _)) => {
                (self.ready, self.making) = (false, true);
                self.model.load_key(&key)
            }
            Some(Request::Message(message)) => {
                self.opened = cycle;
                self.aad.extend(message.aad.chunks(16).map(|block| filled(block, random)));
                self.hidden.extend(message.text.chunks(16).map(<[u8]>::to_vec));
                self.model.start(&message.iv, &message.aad, message.text.len() as u64, message.direction)
            }
        };
        accepted.expect("an engine that takes it");
    }

    /// What both give and take in a cycle.
    fn step(&mut self, cycle: u64, shown: &[u128]) -> Result<(), Failure> {
        let mut events = Vec::new();
        self.model.step(&mut events);
        let (mut aad, mut text, mut tag) = (0, 0, None);
        let left = std::mem::take(&mut self.out);
        equal(cycle, "ready", &(shown[0] >> 13 & 1 == 1), &self.ready)?;
        for (_, event) in events {
            match event {
                Event::Aad => aad += 1,
                Event::Taken(blocks) => text = blocks as usize,
                Event::Text(bytes) => self.out.push(Element::from_partial(&bytes).0),
                Event::Tag(bytes) => tag = Some(u128::from_be_bytes(bytes)),
                // A cycle after the model's: the RTL registers H before it makes powers.
                Event::KeyReady => (self.ready, self.making) = (true, false),
                Event::Phase(_) | Event::ChainTag(..) => {}
            }
        }
        let rtl = [0, 4, 8].map(|bit| (shown[0] >> bit & 15) as usize);
        equal(cycle, "AAD taken, text taken, text out", &rtl, &[aad, text, left.len()])?;
        equal(cycle, "text out", &&shown[6..6 + left.len()], &&left[..])?;
        equal(cycle, "the tag", &(shown[0] >> 12 & 1 == 1).then_some(shown[1]), &tag)?;
        self.aad.drain(..aad);
        self.text.drain(..text);
        Ok(())
    }

    /// What stands in both sides' registers at the start of a cycle.
    fn registers(&mut self, cycle: u64, shown: &[u128]) -> Result<(), Failure> {
        let Engine { lane, fifo, hash, .. } = self.engine;
        let lanes = self.engine.lanes.unwrap_or(1) as usize;
        let (width, groups) = hash.sizes();
        let (slots, places) =
            ((fifo as usize).next_multiple_of(lanes), lane.registers.map_or(1, |each| lane.rounds * each) as usize);
        let mut rest = &shown[6 + lanes..];
        let [ring, made, kept, collected, accumulators, powers, states] =
            [lanes, lanes, slots, width, groups, width * groups, lanes * places].map(|count| {
                let (these, others) = rest.split_at(count);
                rest = others;
                these
            });
        let flag = |bit: u32| shown[0] >> bit & 1 == 1;
        // Of one message at a time, the accumulator is cleared with the tag and not when the next message begins.
        let own = self.engine.lanes.is_some() || (!self.model.idle() && self.opened < cycle && !flag(12));
        let field = |bit: u32, bits: u32| (shown[0] >> bit) as usize & ((1 << bits) - 1);
        let around = |all: &[u128], from: usize, count: usize| -> Vec<u128> {
            (from..from + count).map(|at| all[at % all.len()]).collect()
        };
        let mut keystream = around(kept, field(32, 32), field(64, 32));
        keystream.extend(around(made, field(104, 4), field(96, 4)));
        let output = around(ring, field(108, 4), field(100, 4));
        // A group that is issued in this cycle has left the model's register.
        let has = |place: &usize| shown[5] >> place & 1 == 1 && !flag(18);
        let collected: Vec<u128> = (0..width).filter(has).map(|place| collected[place]).collect();
        let (mut theirs, mut sent, mut groups, mut flight) = (Vec::new(), Vec::new(), Vec::new(), InFlight::default());
        let mut all = Ok(());
        let mut hold = |what: &'static str, place: usize, rtl: u128, model: u128| {
            if all.is_ok() {
                all = equal(cycle, format!("{what} {place}"), &rtl, &model);
            }
        };
        self.model.registers(&mut |unit, name, index, &mut value| {
            let place = Field::Place.of(index);
            match (unit, name) {
                ("aes", _) => hold("state", place, states[places * Field::Part.of(index) + place], value),
                ("keystream", _) => theirs.push(value),
                ("output", _) => sent.push(value),
                // The message whose tag is given in this cycle has left the RTL's.
                ("tag", _) => {
                    if let Some(place) = place.checked_sub(flag(12).into()) {
                        hold("mask", place, if flag(16 + place as u32) { shown[2 + place] } else { 0 }, value);
                    }
                }
                ("ghash", "accumulator") if own => {
                    hold("accumulator", place, accumulators[place].reverse_bits(), value)
                }
                ("ghash", "power") if flag(13) && self.ready => {
                    hold("power", place, powers[place - 1].reverse_bits(), value)
                }
                ("ghash", "collected") => groups.push(value),
                ("ghash", _) => flight.see(name, index, value),
                _ => {}
            }
        });
        all?;
        equal(cycle, "keystream", &keystream, &theirs)?;
        equal(cycle, "output register", &output, &sent)?;
        equal(cycle, "collected blocks", &collected, &groups)?;
        if !self.ready {
            return Ok(());
        }
        Stages { cut: hash.cut(), width, flying: shown[4], shown: rest }.compare(cycle, flight)
    }
}
