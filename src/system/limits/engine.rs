//! Which of an engine's parameters its text waits for: the engine alone is given messages whose text is always there, once as it is and once with each
//! parameter relaxed.
//!
//! Accounts say for how long text waits for AES or for GHASH. Which number of these makes it wait depends on the structure: of a serial unit both
//! latencies of its multiplier, of an aggregated one its width. The engine's own timing knows.

use crate::{
    config::{MachineSpec, relaxed_amounts},
    gcm::{message::SealOpen, part::Part},
    sealing::{EngineTiming, SealingSpec},
    system::parts::gpu::specs,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value as Json;
use std::{cell::RefCell, collections::BTreeMap, rc::Rc};

/// Bytes of text that the engine is given, in messages of at most so many.
const TEXT: u64 = 64 << 10;
/// Bytes that come together.
const BURST: u64 = 256;

/// By path: which part of the time that text takes is saved if the parameter is relaxed, 0 to 1.
pub(super) type Saved = BTreeMap<String, f64>;

/// What has been found out, by direction and length of a message.
#[derive(Debug, Default)]
pub(super) struct Trials(RefCell<BTreeMap<(bool, u64), Rc<Saved>>>);

impl Trials {
    /// Of messages of so many bytes, which the engine of a PCE opens or seals.
    pub fn of(&self, machine: &MachineSpec, paths: &[&str], opens: bool, message: u64) -> Rc<Saved> {
        let message = message.clamp(1, TEXT);
        let key = (opens, message);
        if let Some(known) = self.0.borrow().get(&key) {
            return Rc::clone(known);
        }
        let found = Rc::new(saved(machine, paths, opens, message));
        self.0.borrow_mut().insert(key, Rc::clone(&found));
        found
    }
}

fn saved(machine: &MachineSpec, paths: &[&str], opens: bool, message: u64) -> Saved {
    let engine = |machine: &MachineSpec| specs::engine(machine, usize::from(!opens), 1);
    let Some(before) = engine(machine).and_then(|engine| cycles(&engine, opens, message)) else { return Saved::new() };
    let part = |path: &&str| {
        let after = relaxed(machine, path).into_iter().find_map(|other| cycles(&engine(&other)?, opens, message))?;
        Some(((*path).to_owned(), 1.0 - after as f64 / before.max(1) as f64))
    };
    paths.iter().filter_map(part).collect()
}

/// From the tag of a first message to that of the last one of [`TEXT`] bytes more; none if there is no such engine.
fn cycles(engine: &SealingSpec, opens: bool, message: u64) -> Option<u64> {
    let direction = if opens { SealOpen::Open } else { SealOpen::Seal };
    let passes = if !opens && engine.kept_between_passes().is_some() { 2 } else { 1 };
    let mut timing = EngineTiming::new(engine).ok()?;
    timing.load_key(0);
    let mut tag_of_next = || {
        timing.start(0, Part::whole(message), direction);
        timing.seed(0);
        for _ in 0..passes {
            for at in (0..message).step_by(BURST as usize) {
                timing.accept(0, BURST.min(message - at) as u32);
            }
        }
        timing.finish().tag
    };
    let first = tag_of_next();
    let last = (0..TEXT.div_ceil(message)).fold(first, |_, _| tag_of_next());
    Some(last - first)
}

/// The machine with a number of its engines less strict, in each of the ways that may be legal.
fn relaxed(machine: &MachineSpec, path: &str) -> Vec<MachineSpec> {
    let below = |table: &str| path.strip_prefix(table).map(|rest| rest.replace('.', "/"));
    if let Some(place) = below("copy_engine.open_ghash") {
        return changed(machine, path, &place, &machine.copy_engine.open_ghash, |to| &mut to.copy_engine.open_ghash);
    }
    if let Some(place) = below("aead") {
        return changed(machine, path, &place, &machine.aead, |to| &mut to.aead);
    }
    let place = below("engine").unwrap_or_default();
    changed(machine, path, &place, &machine.engine, |to| &mut to.engine)
}

/// The same with the number in a place of a table.
fn changed<T: Serialize + DeserializeOwned>(
    machine: &MachineSpec,
    path: &str,
    place: &str,
    table: &T,
    table_of: impl Fn(&mut MachineSpec) -> &mut T,
) -> Vec<MachineSpec> {
    let Ok(json) = serde_json::to_value(table) else { return Vec::new() };
    let amounts = json.pointer(place).map(|number| amounts(path, number)).unwrap_or_default();
    let with = |number: Json| {
        let mut json = json.clone();
        *json.pointer_mut(place)? = number;
        let mut machine = machine.clone();
        *table_of(&mut machine) = serde_json::from_value(json).ok()?;
        Some(machine)
    };
    amounts.into_iter().filter_map(with).collect()
}

/// Less strict values of a number.
fn amounts(path: &str, number: &Json) -> Vec<Json> {
    if let Some(count) = number.as_u64() {
        return relaxed_amounts(path, "count", count).into_iter().map(Json::from).collect();
    }
    let text = number.as_str().unwrap_or_default();
    let digits = text.len() - text.trim_start_matches(|digit: char| digit.is_ascii_digit()).len();
    let (amount, unit) = text.split_at(digits);
    let kind = if unit.trim().starts_with("cycle") { "number of cycles" } else { "rate or size" };
    let amounts = amount.parse().map(|amount| relaxed_amounts(path, kind, amount)).unwrap_or_default();
    amounts.into_iter().map(|amount| Json::from(format!("{amount}{unit}"))).collect()
}
