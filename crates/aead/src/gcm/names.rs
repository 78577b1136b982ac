//! Which registers an engine has, and what they are called.

use super::engine::{Engine, Event, Register};
use super::message::SealOpen;
use super::register::{Field, TABLE, WEIGHTING};
use super::spec::{GcmSpec, GhashSpec};
use super::upset::GIVE_UP_AFTER;
use rustc_hash::{FxHashMap as Map, FxHashSet as Set};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// Most text, in bytes, of a message that registers are looked for with.
const MOST: u64 = 1 << 20;
/// Entries of the buffer before a unit of GHASH that are shown.
const WAITING: usize = 8;

/// A register as a wave calls it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name {
    /// The path of its scope below the engine.
    pub scope: String,
    pub name: String,
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.scope, self.name)
    }
}

/// The registers of engines that have been asked for with all they have.
static KNOWN: Mutex<Vec<(GcmSpec, Arc<Names>)>> = Mutex::new(Vec::new());

/// The registers of an engine: all that hold a value at some time of a message.
#[derive(Debug, Clone)]
pub struct Names {
    names: Vec<Name>,
    places: Map<Register, usize>,
    /// Whether GHASH units have units of their own.
    has_parts: bool,
    /// Cycles from the load of a key until it is ready.
    ready: u64,
}

impl Names {
    /// Those of an engine; none if there can be no such engine, or it never ends a message.
    pub fn of(spec: &GcmSpec) -> Option<Self> {
        Self::found(spec, false)
    }

    /// The same with those [beside the datapath](Engine::all_registers). They are looked for once.
    pub fn all(spec: &GcmSpec) -> Option<Arc<Self>> {
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, names)) = known.iter().find(|(one, _)| one == spec) {
            return Some(Arc::clone(names));
        }
        let names = Arc::new(Self::found(spec, true)?);
        known.push((spec.clone(), Arc::clone(&names)));
        Some(names)
    }

    fn found(spec: &GcmSpec, all: bool) -> Option<Self> {
        let mut keys = Set::default();
        let mut ready = 0;
        for direction in [SealOpen::Seal, SealOpen::Open] {
            ready = survey(spec, direction, all, &mut keys)?;
        }
        fill_buffers(&mut keys);
        mirror(&mut keys);
        let has_parts = keys.iter().any(|key| (1..WEIGHTING).contains(&Field::Part.of(key.2)) && key.0 == "ghash");
        let mut named: Vec<_> = keys.into_iter().map(|key| (name(key, has_parts), key)).collect();
        named.sort();
        let places = named.iter().enumerate().map(|(place, (_, key))| (*key, place)).collect();
        Some(Self { names: named.into_iter().map(|(name, _)| name).collect(), places, has_parts, ready })
    }

    pub fn names(&self) -> &[Name] {
        &self.names
    }

    /// The register that a wave calls so, scope and name with a dot between them.
    pub fn find(&self, name: &str) -> Option<Register> {
        let place = self.names.iter().position(|one| {
            name.strip_prefix(&*one.scope).and_then(|rest| rest.strip_prefix('.')) == Some(&*one.name)
        })?;
        self.places.iter().find(|(_, number)| **number == place).map(|(register, _)| *register)
    }

    pub fn name(&self, register: Register) -> Option<&Name> {
        self.names.get(self.place(register)?)
    }

    /// The registers of an engine that hold a value now, those among them that have no number as well.
    pub fn read(&self, engine: &mut Engine) -> Vec<(Name, u128)> {
        let mut read = Vec::new();
        engine.registers(&mut |unit, register, index, value| {
            read.push((name((unit, register, index), self.has_parts), *value));
        });
        read
    }

    /// The number of a register as the engine calls it.
    pub fn place(&self, key: Register) -> Option<usize> {
        self.places.get(&key).copied()
    }

    /// Whether a register has no number since it lies deep in a buffer.
    pub fn is_left_out((_, name, index): Register) -> bool {
        name == "waiting" && Field::Place.of(index) >= WAITING
    }

    /// Cycles from the load of a key until it is ready.
    pub const fn ready(&self) -> u64 {
        self.ready
    }
}

/// Buffers have all of their first entries, and no others.
fn fill_buffers(keys: &mut Set<Register>) {
    keys.retain(|key| !Names::is_left_out(*key));
    let buffers: Vec<_> = keys.iter().filter(|key| key.1 == "waiting").copied().collect();
    for (unit, name, index) in buffers {
        keys.extend((0..WAITING).map(|place| (unit, name, Field::Place.cleared(index) | place)));
    }
}

/// What one GHASH unit has, all have; the same of the lanes and units in them.
fn mirror(keys: &mut Set<Register>) {
    let most = |part: Field, keys: &Set<Register>, unit| {
        let fields = keys.iter().filter(|key| key.0 == unit).map(|key| part.of(key.2));
        fields.filter(|part| *part < WEIGHTING).max().unwrap_or(0)
    };
    for (unit, part) in [("aes", Field::Part), ("ghash", Field::Part), ("ghash", Field::Unit)] {
        let most = most(part, keys, unit);
        let own: Vec<_> = keys.iter().filter(|key| key.0 == unit && part.of(key.2) < WEIGHTING).copied().collect();
        for (_, name, index) in own {
            let bare = part.cleared(index);
            keys.extend((0..=most).map(|copy| (unit, name, bare | part.put(copy))));
        }
    }
}

/// Collects the registers that hold a value while messages go through. Gives the cycle in which a key is ready.
fn survey(spec: &GcmSpec, direction: SealOpen, all: bool, keys: &mut Set<Register>) -> Option<u64> {
    let mut engine = Engine::new(spec).ok()?;
    engine.load_key(&vec![1; spec.key_bits as usize / 8]).ok()?;
    let mut events: Vec<(u64, Event)> = Vec::new();
    for _ in 0..GIVE_UP_AFTER {
        engine.step(&mut events);
        see(&mut engine, all, keys);
        if !events.is_empty() {
            break;
        }
    }
    let ready = events.first()?.0;
    let bytes = text_bytes(&spec.ghash);
    let messages = spec.ghash.messages() + 1;
    for message in 0..messages {
        engine.start(&[message as u8; 12], &[], bytes, direction).ok()?;
    }
    // The keystream fills its FIFO before text comes.
    for _ in 0..u64::from(spec.aes.keystream_blocks) + 4 * spec.aes.latency(spec.rounds().ok()?) {
        engine.step(&mut events);
        see(&mut engine, all, keys);
    }
    engine.offer(&vec![0; (bytes * u64::from(messages)) as usize]);
    let mut quiet = 0;
    while !engine.idle() && quiet < GIVE_UP_AFTER {
        events.clear();
        engine.step(&mut events);
        see(&mut engine, all, keys);
        quiet = if events.is_empty() { quiet + 1 } else { 0 };
    }
    engine.idle().then_some(ready)
}

/// Enough text that every unit of GHASH works.
fn text_bytes(ghash: &GhashSpec) -> u64 {
    let blocks = match ghash {
        GhashSpec::Segmented { units, segment, .. } => 2 * u64::from(*units) * u64::from(*segment),
        GhashSpec::SubChains { chains, chunk, .. } => 2 * u64::from(*chains) * chunk.0.div_ceil(16),
        _ => 0,
    };
    (16 * blocks).clamp(1 << 12, MOST)
}

fn see(engine: &mut Engine, all: bool, keys: &mut Set<Register>) {
    if all {
        return engine.all_registers(&mut |register, _, _| _ = keys.insert(register));
    }
    engine.registers(&mut |unit, name, index, _| _ = keys.insert((unit, name, index)));
}

/// The name of a register in an engine whose GHASH units have units of their own, or have not.
pub fn name((unit, name, index): Register, has_parts: bool) -> Name {
    let [place, part, hasher, stage] =
        [Field::Place, Field::Part, Field::Unit, Field::Stage].map(|field| field.of(index));
    let scope = match (unit, part) {
        ("aes", lane) => format!("aes.lane{lane}"),
        ("ghash", TABLE) => format!("ghash{hasher}.table"),
        ("ghash", WEIGHTING) => format!("ghash{hasher}.weighting{place}"),
        ("ghash", part) if has_parts => format!("ghash{hasher}.unit{part}"),
        ("ghash", _) => format!("ghash{hasher}"),
        ("tag", chain) => format!("tag.chain{chain}"),
        _ => unit.to_owned(),
    };
    let plain = name.replace('.', "_");
    let name = match name {
        "product.low" | "product.high" | "reduced" => format!("{plain}{place}_stage{stage}"),
        _ => format!("{plain}{place}"),
    };
    Name { scope, name }
}
