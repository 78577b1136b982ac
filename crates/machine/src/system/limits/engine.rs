//! Which of an engine's parameters its text waits for: the engine alone is given messages whose text is always there, once as it is and once with each
//! parameter relaxed.
//!
//! Accounts say for how long text waits for AES or for GHASH. Which number of these makes it wait depends on the structure: of a serial unit both
//! latencies of its multiplier, of an aggregated one its width. The engine's own timing knows.

use crate::{
    aead::spec::{AeadSpec, EngineSpec},
    config::{MachineSpec, relaxed_amounts},
    gcm::{
        message::SealOpen,
        part::Part,
        spec::{GcmSpec, GhashSpec},
    },
    system::parts::gpu::specs,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value as Json;
use std::{
    cell::RefCell,
    collections::{BTreeMap, VecDeque},
    rc::Rc,
};

/// Bytes of text that the engine is given, in messages of at most so many.
const TEXT: u64 = 64 << 10;
/// Bytes that come together.
const BURST: u64 = 256;

/// By path: which part of the time that text takes is saved if the parameter is relaxed, 0 to 1.
pub(super) type Saved = BTreeMap<String, f64>;

/// All that an answer depends on.
#[derive(PartialEq)]
struct Question {
    engine: GcmSpec,
    aead: Option<AeadSpec>,
    open_ghash: Option<GhashSpec>,
    /// Whether a PCE has an engine.
    there: bool,
    paths: Vec<String>,
    opens: bool,
    message: u64,
}

/// Answers that are kept: points of a sweep mostly share their engine, and each asks for two directions.
const KEPT: usize = 16;

thread_local! {
    /// The latest answers, the oldest first.
    static ANSWERS: RefCell<VecDeque<(Question, Rc<Saved>)>> = const { RefCell::new(VecDeque::new()) };
}

/// What relaxing each parameter saves of messages of so many bytes, which the engine of a PCE opens or seals.
pub(super) fn trial(machine: &MachineSpec, paths: &[&str], opens: bool, message: u64) -> Rc<Saved> {
    let message = message.clamp(1, TEXT);
    let question = Question {
        engine: machine.engine.clone(),
        aead: machine.aead.clone(),
        open_ghash: machine.copy_engine.open_ghash.clone(),
        there: specs::engine(machine, 0, 1).is_some(),
        paths: paths.iter().map(|&path| path.to_owned()).collect(),
        opens,
        message,
    };
    let known =
        ANSWERS.with_borrow(|answers| answers.iter().find(|one| one.0 == question).map(|one| Rc::clone(&one.1)));
    known.unwrap_or_else(|| {
        let found = Rc::new(saved(machine, paths, opens, message));
        ANSWERS.with_borrow_mut(|answers| {
            if answers.len() == KEPT {
                answers.pop_front();
            }
            answers.push_back((question, Rc::clone(&found)));
        });
        found
    })
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
fn cycles(engine: &EngineSpec, opens: bool, message: u64) -> Option<u64> {
    let direction = if opens { SealOpen::Open } else { SealOpen::Seal };
    let passes = if !opens && engine.model().buffer().is_some() { 2 } else { 1 };
    let mut timing = engine.timing().ok()?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Layers;

    #[test]
    fn a_kept_answer_is_that_of_the_engine_that_is_asked() {
        let machine = |design| Layers::new("h100-nvl-tdx").overlay(design).resolve().unwrap().machine;
        let machines = ["serial-ghash", "aegis-256", "h100-cc", "off", "parallel-auth"].map(machine);
        let paths = ["engine.ghash.multiplier.product", "aead.round", "engine.aes.lanes"];
        // Twice as many questions as are kept, and each of them again.
        for _ in 0..2 {
            for (place, machine) in machines.iter().enumerate() {
                for (opens, message) in [(true, 4096), (false, 4096), (true, 100), (true, 70_000 + place as u64)] {
                    let own = saved(machine, &paths, opens, message.clamp(1, TEXT));
                    assert_eq!(*trial(machine, &paths, opens, message), own, "{place} {opens} {message}");
                }
            }
        }
    }
}
