//! The engine of `rtl/src/engine.sv`: what it takes, gives and holds in each cycle, beside [`Engine`].

use crate::{
    Cut, Failure, Random, Rng,
    aes::{Aes, key},
    equal,
    ghash::{InFlight, Stages},
    twin::{Fault, Module},
};
use sealsim::gcm::{
    engine::{Engine as Model, Event},
    field::Element,
    message::SealOpen,
    register::Field,
    spec::{AesSpec, GcmSpec, GhashSpec},
};
use sealsim::units::Cycles;
use std::collections::VecDeque;

/// An engine's parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Engine {
    /// The lane; without registers one of one round.
    pub lane: Aes,
    /// Blocks of keystream ahead of the text.
    pub fifo: u32,
    /// GHASH's product.
    pub cut: Cut,
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
        let lane = Aes::draw(random);
        // A lane that has no register in a round has the counter's in the RTL, and is a cycle longer.
        let registers = lane.registers.map(|registers| registers.max(1));
        Self { lane: Aes { registers, ..lane }, fifo: random.random_range(1..41), cut: Cut::draw(random) }
    }

    fn spec(self) -> GcmSpec {
        GcmSpec {
            key_bits: 32 * (self.lane.rounds - 6),
            aes: AesSpec { keystream_blocks: self.fifo, ..self.lane.spec() },
            ghash: GhashSpec::Serial { multiplier: self.cut.spec(), first_block: None },
            key_setup: Cycles(0),
            compare: Cycles(0),
            control: None,
            ..GcmSpec::four_lanes()
        }
    }

    fn module(self, fault: Option<Fault>) -> Module {
        let mut parameters = self.cut.parameters().to_vec();
        parameters.extend([
            ("ROUNDS", self.lane.rounds.into()),
            ("REGISTERS", self.lane.registers.unwrap_or(0).into()),
            ("COMPACT", self.lane.compact.into()),
            ("FIFO", self.fifo.into()),
        ]);
        Module { name: "engine", parameters, fault }
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
            out: None,
            open: None,
        };
        let (mut inputs, mut request, mut keyed) = (vec![0; 6 + self.lane.rounds as usize], None, 0);
        let mut rate = 0.5;
        inputs[0] = RESET;
        twin.step(&inputs);
        for cycle in 0..cycles {
            bench.ask(cycle, request.take(), random);
            // What does not count is anything.
            inputs[0] = if random.random() { OPENS } else { 0 };
            inputs[1..5].fill_with(|| random.random());
            let rests = bench.model.idle() && bench.open.is_none();
            if rests && keyed == 0 {
                inputs[5..].fill_with(|| random.random());
            }
            if rests && random.random_bool(0.3) {
                rate = f64::powi(random.random_range(0.2..1.0), 3);
                request = Some(if keyed == 0 { bench.key(random) } else { Bench::message(random) });
                keyed = if keyed == 0 { random.random_range(1..6) } else { keyed - 1 };
            }
            match &request {
                Some(Request::Key(_, slots)) => {
                    inputs[0] |= LOAD;
                    inputs[5..].copy_from_slice(slots);
                }
                Some(Request::Message(message)) => {
                    inputs[0] = START | if message.direction == SealOpen::Open { OPENS } else { 0 };
                    inputs[1] = message.aad.len() as u128 | (message.text.len() as u128) << 32;
                    inputs[2] = message.iv.iter().fold(0, |iv, &byte| iv << 8 | u128::from(byte));
                }
                None => {}
            }
            if random.random_bool(rate)
                && let Some(block) = bench.hidden.pop_front()
            {
                bench.model.offer(&block);
                bench.text.push_back(filled(&block, random));
            }
            inputs[3] = bench.aad.front().copied().unwrap_or(inputs[3]);
            let more = bench.hidden.is_empty() && random.random();
            inputs[0] |= if more || !bench.text.is_empty() { TEXT } else { 0 };
            inputs[4] = bench.text.front().copied().unwrap_or(inputs[4]);
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
const TEXT: u128 = 16;

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
    out: Option<u128>,
    /// The cycle in which the message opened, or the key was loaded, whose end has not been seen.
    open: Option<u64>,
}

impl Bench {
    fn key(&self, random: &mut Random) -> Request {
        let (bytes, _, slots) = key(self.engine.lane.rounds, random);
        Request::Key(bytes, slots)
    }

    fn message(random: &mut Random) -> Request {
        let mut bytes = |most: usize| {
            let mut bytes = vec![0; random.random_range(0..most)];
            random.fill(&mut bytes[..]);
            bytes
        };
        let (aad, text) = (bytes(80), bytes(1200));
        let direction = if random.random() { SealOpen::Seal } else { SealOpen::Open };
        Request::Message(Message { iv: random.random(), aad, text, direction })
    }

    fn ask(&mut self, cycle: u64, request: Option<Request>, random: &mut Random) {
        let accepted = match request {
            None => return,
            Some(Request::Key(key, _)) => self.model.load_key(&key),
            Some(Request::Message(message)) => {
                self.aad.extend(message.aad.chunks(16).map(|block| filled(block, random)));
                self.hidden.extend(message.text.chunks(16).map(<[u8]>::to_vec));
                self.model.start(&message.iv, &message.aad, message.text.len() as u64, message.direction)
            }
        };
        accepted.expect("an engine at rest");
        self.open = Some(cycle);
    }

    /// What both give and take in a cycle.
    fn step(&mut self, cycle: u64, shown: &[u128]) -> Result<(), Failure> {
        let mut events = Vec::new();
        self.model.step(&mut events);
        let (mut aad, mut text, mut tag) = (false, false, None);
        let left = self.out.take();
        for (_, event) in events {
            match event {
                Event::Aad => aad = true,
                Event::Taken(_) => text = true,
                Event::Text(bytes) => self.out = Some(Element::from_partial(&bytes).0),
                Event::Tag(bytes) => tag = Some(u128::from_be_bytes(bytes)),
                Event::KeyReady => self.open = None,
                Event::Phase(_) | Event::ChainTag(..) => {}
            }
        }
        let rtl = [0, 1, 2, 3].map(|bit| shown[0] >> bit & 1 == 1);
        equal(cycle, "AAD taken, text taken, text out, tag", &rtl, &[aad, text, left.is_some(), tag.is_some()])?;
        if let Some(left) = left {
            equal(cycle, "text out", &shown[1], &left)?;
        }
        if let Some(tag) = tag {
            equal(cycle, "the tag", &shown[2], &tag)?;
            self.open = None;
        }
        if aad {
            self.aad.pop_front();
        }
        if text {
            self.text.pop_front();
        }
        Ok(())
    }

    /// What stands in both sides' registers at the start of a cycle.
    fn registers(&mut self, cycle: u64, shown: &[u128]) -> Result<(), Failure> {
        let fifo = self.engine.fifo as usize;
        let places = self.engine.lane.registers.map_or(1, |registers| self.engine.lane.rounds * registers) as usize;
        let (states, stages) = shown[9 + fifo..].split_at(places);
        let (head, waiting) = ((shown[0] >> 32) as u32 as usize, (shown[0] >> 64) as u32 as usize);
        let mut keystream: Vec<u128> = (head..head + waiting).map(|place| shown[9 + place % fifo]).collect();
        let flag = |bit: u32| shown[0] >> bit & 1 == 1;
        keystream.extend(flag(8).then_some(shown[4]));
        let output = Vec::from_iter(flag(7).then_some(shown[1]));
        // A message's own registers, from the cycle after it opened to the one before its tag.
        let own = !self.model.idle() && self.open.is_some_and(|open| open < cycle) && !flag(3);
        let (mut theirs, mut sent, mut flight) = (Vec::new(), Vec::new(), InFlight::default());
        let mut all = Ok(());
        let mut hold = |what: &'static str, place: usize, rtl: u128, model: u128| {
            if all.is_ok() {
                all = equal(cycle, format!("{what} {place}"), &rtl, &model);
            }
        };
        self.model.registers(&mut |unit, name, index, &mut value| {
            let place = Field::Place.of(index);
            match (unit, name) {
                ("aes", _) => hold("state", place, states[place], value),
                ("keystream", _) => theirs.push(value),
                ("output", _) => sent.push(value),
                ("tag", _) if own => hold("mask", place, if flag(6) { shown[3] } else { 0 }, value),
                ("ghash", "accumulator") if own => hold("accumulator", place, shown[5].reverse_bits(), value),
                ("ghash", "power") if own && flag(4) => hold("power", place, shown[6].reverse_bits(), value),
                ("ghash", _) => flight.see(name, index, value),
                _ => {}
            }
        });
        all?;
        equal(cycle, "keystream", &keystream, &theirs)?;
        equal(cycle, "output register", &output, &sent)?;
        Stages { cut: self.engine.cut, width: 1, flying: shown[7], shown: stages }.compare(cycle, flight)
    }
}
