//! Messages for the bench, with values of their stages, and the cycles in which the simulator's engine takes and gives them.

use super::Failure;
use crate::{
    gcm::{
        aes::RoundKeys,
        bulk::Key,
        engine::{Engine, Event},
        field::Element,
        message::SealOpen,
        spec::GcmSpec,
    },
    units::Cycles,
    validate::vectors::{
        Algorithm,
        generate::{Generator, Plan},
    },
};
use miette::miette;
use std::fmt::Write as _;

/// Messages of a set, and how many are drawn at most to find so many of the engine's keys and IVs.
const MESSAGES: usize = 24;
const DRAWN: u64 = 100_000;
/// The longest text and AAD, in bytes.
const LONGEST: u32 = 300;
/// Cycles without anything after which an engine will never end.
const IDLE: u64 = 100_000;

struct Message {
    key: Vec<u8>,
    iv: Vec<u8>,
    aad: Vec<u8>,
    input: Vec<u8>,
    output: Vec<u8>,
    tag: Vec<u8>,
    direction: SealOpen,
    new_key: bool,
}

/// Files of a bench by name, and how much they hold.
pub(super) struct Vectors {
    pub files: Vec<(String, String)>,
    pub messages: usize,
    pub aads: usize,
    pub texts: usize,
    pub rows: usize,
    pub cycles: u64,
}

fn failed(error: impl std::fmt::Display) -> Failure {
    Failure::Simulation(miette!("{error}"))
}

impl Vectors {
    pub fn of(spec: &GcmSpec, seed: u64) -> Result<Self, Failure> {
        let messages = messages(spec.key_bits, seed)?;
        let (trace, cycles) = rows(spec, &messages)?;
        let blocks = |of: fn(&Message) -> &[u8]| messages.iter().map(|message| of(message).len().div_ceil(16)).sum();
        let (aads, texts) = (blocks(|message| &message.aad), blocks(|message| &message.input));
        let [mut heads, mut keys, mut aad, mut text, mut out] = [const { String::new() }; 5];
        for message in &messages {
            message.write(&mut heads, &mut keys)?;
            // Bytes behind the end are anything for the engine, and zero in what it gives.
            write_blocks(&mut aad, &message.aad, 0xa5);
            write_blocks(&mut text, &message.input, 0x5a);
            write_blocks(&mut out, &message.output, 0);
        }
        let rows = trace.iter().map(|row| format!("{row:016x}\n")).collect();
        let files = ["messages", "keys", "aad", "text", "out", "rows"].map(|name| format!("vectors/{name}.hex"));
        let files = files.into_iter().zip([heads, keys, aad, text, out, rows]).collect();
        Ok(Self { files, messages: messages.len(), aads, texts, rows: trace.len(), cycles })
    }
}

impl Message {
    /// Lengths and flags, IV and values of stages by software; round keys.
    fn write(&self, heads: &mut String, keys: &mut String) -> Result<(), Failure> {
        let key = Key::new(&self.key).map_err(failed)?;
        let j0 = key.j0(&self.iv).map_err(failed)?;
        let expanded = RoundKeys::expand(&self.key).ok_or_else(|| failed("a key of another length"))?;
        let (mask, tag) = (Element::from_bytes(key.encrypt_block(j0)), Element::from_partial(&self.tag));
        let flags = u128::from(self.new_key) << 65 | u128::from(self.direction == SealOpen::Open) << 64;
        let lengths = (self.aad.len() as u128) << 32 | self.input.len() as u128;
        // The tag is GHASH's value and the mask.
        let words = [flags | lengths, u128::from_be_bytes(j0) >> 32, key.h().0, mask.0, tag.0 ^ mask.0, tag.0];
        words.iter().for_each(|word| _ = writeln!(heads, "{word:032x}"));
        (0..=expanded.rounds()).for_each(|round| _ = writeln!(keys, "{:032x}", expanded.round_key(round).0));
        Ok(())
    }
}

fn write_blocks(file: &mut String, bytes: &[u8], behind: u8) {
    for block in bytes.chunks(16) {
        let mut whole = [behind; 16];
        whole[..block.len()].copy_from_slice(block);
        _ = writeln!(file, "{:032x}", u128::from_be_bytes(whole));
    }
}

/// Messages with keys of so many bits, IVs of 96 and whole tags: `sealsim vectors generate` has others between them.
fn messages(key_bits: u32, seed: u64) -> Result<Vec<Message>, Failure> {
    let algorithm = Algorithm::AES_GCM;
    let generator = Generator::new(Plan { algorithm, messages: DRAWN, seed, longest: LONGEST, valid_percent: 100 });
    let mut messages: Vec<Message> = Vec::new();
    for drawn in generator {
        let case = drawn.map_err(failed)?.case;
        let fits = 8 * case.key.len() == key_bits as usize && case.iv.len() == 12 && case.tag.len() == 16;
        let Some(plain) = case.plaintext.filter(|_| fits) else { continue };
        let opens = case.iv[11] & 1 == 1;
        let (direction, input, output) =
            if opens { (SealOpen::Open, case.ciphertext, plain) } else { (SealOpen::Seal, plain, case.ciphertext) };
        let new_key = messages.last().is_none_or(|last| last.key != case.key);
        let (key, iv, aad, tag) = (case.key, case.iv, case.aad, case.tag);
        messages.push(Message { key, iv, aad, input, output, tag, direction, new_key });
        if messages.len() == MESSAGES {
            break;
        }
    }
    Ok(messages)
}

/// What the bench asserts, with the message's number.
#[derive(Clone, Copy)]
enum Pin {
    Load(usize),
    Start(usize),
}

/// What the simulator's engine takes and gives, with the cycle: blocks of AAD and text taken, of text given, tags. It is driven as bench.sv drives the RTL, whose
/// `load` and `start` are registered and whose `ready` comes a cycle later.
fn rows(spec: &GcmSpec, messages: &[Message]) -> Result<(Vec<u64>, u64), Failure> {
    // Round keys are given to the RTL.
    let mut engine = Engine::new(&GcmSpec { key_setup: Cycles(0), ..spec.clone() }).map_err(failed)?;
    messages.iter().for_each(|message| engine.offer(&message.input));
    let (mut rows, mut events, mut out) = (Vec::new(), Vec::new(), 0);
    // What the bench asserts in this cycle and in the next; the engine does it a cycle later.
    let (mut asserted, mut asserts) = (None, None);
    let (mut ready, mut keyed, mut started, mut tagged, mut last) = (false, 0, 0, 0, 0);
    for cycle in 0.. {
        match std::mem::replace(&mut asserted, asserts.take()) {
            Some(Pin::Load(message)) => {
                engine.load_key(&messages[message].key).map_err(failed)?;
                ready = false;
            }
            Some(Pin::Start(message)) => {
                let Message { iv, aad, input, direction, .. } = &messages[message];
                engine.start(iv, aad, input.len() as u64, *direction).map_err(failed)?;
            }
            None => {}
        }
        engine.step(&mut events);
        let (mut aads, mut texts, mut tags, mut made) = (0, 0, 0, false);
        for (_, event) in events.drain(..) {
            match event {
                Event::Aad => aads += 1,
                Event::Taken(blocks) => texts = u64::from(blocks),
                Event::Tag(_) => tags += 1,
                Event::KeyReady => made = true,
                Event::Text(_) | Event::Phase(_) | Event::ChainTag(..) => {}
            }
        }
        if aads + texts + out + tags > 0 {
            rows.push(cycle << 32 | aads << 24 | texts << 16 | out << 8 | tags);
            last = cycle;
        }
        (out, tagged) = (texts, tagged + tags as usize);
        if tagged == messages.len() {
            return Ok((rows, cycle));
        }
        if cycle > last + IDLE {
            break;
        }
        // What the bench asks for in the next cycle.
        if let (Some(message), false) = (messages.get(started), matches!(asserted, Some(Pin::Load(_)))) {
            let needs_key = message.new_key && keyed <= started;
            if needs_key && started == tagged {
                (asserts, keyed) = (Some(Pin::Load(started)), started + 1);
            } else if !needs_key && ready && started - tagged < 2 {
                (asserts, started) = (Some(Pin::Start(started)), started + 1);
            }
        }
        ready |= made;
    }
    Err(failed("the simulator's engine does not end"))
}
