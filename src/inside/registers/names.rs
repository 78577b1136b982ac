//! Which registers an engine has, and what they are called.

use crate::gcm::{
    engine::{Engine, Event},
    message::SealOpen,
    register::{Field, TABLE, WEIGHTING},
    spec::{EngineSpec, GhashSpec},
};
use rustc_hash::{FxHashMap as Map, FxHashSet as Set};

/// Most text, in bytes, of a message that registers are looked for with.
const MOST: u64 = 1 << 20;
/// Cycles without an event after which an engine is given up: its control never lets it end.
const PATIENCE: u32 = 1 << 22;
/// Entries of the buffer before a unit of GHASH that are shown.
const WAITING: usize = 8;

/// A register as a wave calls it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name {
    /// The path of its scope below the engine.
    pub scope: String,
    pub name: String,
}

/// A register as the engine calls it.
type Key = (&'static str, &'static str, usize);

/// The registers of an engine: all that hold a value at some time of a message.
#[derive(Debug, Clone)]
pub struct Names {
    names: Vec<Name>,
    places: Map<Key, usize>,
    /// Whether GHASH units have units of their own.
    has_parts: bool,
    /// Cycles from the load of a key until it is ready.
    ready: u64,
}

impl Names {
    /// Those of an engine; none if there can be no such engine, or it never ends a message.
    #[must_use]
    pub fn of(spec: &EngineSpec) -> Option<Self> {
        let mut keys = Set::default();
        let mut ready = 0;
        for direction in [SealOpen::Seal, SealOpen::Open] {
            ready = survey(spec, direction, &mut keys)?;
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

    /// The registers of an engine that hold a value now, those among them that have no number as well.
    #[must_use]
    pub fn read(&self, engine: &Engine) -> Vec<(Name, u128)> {
        let mut read = Vec::new();
        engine.registers(&mut |unit, register, index, value| {
            read.push((name((unit, register, index), self.has_parts), value));
        });
        read
    }

    /// The number of a register as the engine calls it.
    pub(in crate::inside) fn place(&self, key: Key) -> Option<usize> {
        self.places.get(&key).copied()
    }

    /// Whether a register has no number since it lies deep in a buffer.
    pub(super) fn is_left_out((_, name, index): Key) -> bool {
        name == "waiting" && Field::Place.of(index) >= WAITING
    }

    /// Cycles from the load of a key until it is ready.
    pub(super) const fn ready(&self) -> u64 {
        self.ready
    }
}

/// Buffers have all of their first entries, and no others.
fn fill_buffers(keys: &mut Set<Key>) {
    keys.retain(|key| !Names::is_left_out(*key));
    let buffers: Vec<_> = keys.iter().filter(|key| key.1 == "waiting").copied().collect();
    for (unit, name, index) in buffers {
        keys.extend((0..WAITING).map(|place| (unit, name, Field::Place.cleared(index) | place)));
    }
}

/// What one GHASH unit has, all have; the same of the lanes and units in them.
fn mirror(keys: &mut Set<Key>) {
    let most = |part: Field, keys: &Set<Key>, unit| {
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
fn survey(spec: &EngineSpec, direction: SealOpen, keys: &mut Set<Key>) -> Option<u64> {
    let mut engine = Engine::new(spec).ok()?;
    engine.load_key(&vec![1; spec.key_bits as usize / 8]).ok()?;
    let mut events: Vec<(u64, Event)> = Vec::new();
    for _ in 0..PATIENCE {
        engine.step(&mut events);
        see(&engine, keys);
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
        see(&engine, keys);
    }
    engine.offer(&vec![0; (bytes * u64::from(messages)) as usize]);
    let mut quiet = 0;
    while !engine.idle() && quiet < PATIENCE {
        events.clear();
        engine.step(&mut events);
        see(&engine, keys);
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

fn see(engine: &Engine, keys: &mut Set<Key>) {
    engine.registers(&mut |unit, name, index, _| {
        keys.insert((unit, name, index));
    });
}

/// The name of a register in an engine whose GHASH units have units of their own, or have not.
pub(super) fn name((unit, name, index): Key, has_parts: bool) -> Name {
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
