//! An AES-GCM engine, stepped cycle by cycle.

use crate::{
    fault::Fault,
    guard::{bytes, guarded, put, text},
};
use sealsim_machine::{
    aead::spec::EngineSpec,
    config::Layers,
    gcm::{
        engine::{Engine as Structural, Event, Phase},
        message::SealOpen,
    },
};
use std::ffi::c_char;

/// All that depends on the key is valid. Value: 0.
pub const SEALSIM_EVENT_KEY_READY: i32 = 1;
/// A phase of a message begins, in an engine that is driven phase by phase. Value: 0 mask, 1 AAD, 2 text, 3 length block.
pub const SEALSIM_EVENT_PHASE: i32 = 2;
/// A block of AAD came in. Value: 0.
pub const SEALSIM_EVENT_AAD: i32 = 3;
/// Text blocks came in. Value: how many.
pub const SEALSIM_EVENT_TAKEN: i32 = 4;
/// A block of text is valid at the output from this cycle on. Value: its length, 1 to 16 bytes.
pub const SEALSIM_EVENT_TEXT: i32 = 5;
/// A further tag of the message is valid, of an engine with a tag for each of several chains. Value: the chain, from 1.
pub const SEALSIM_EVENT_CHAIN_TAG: i32 = 6;
/// The tag of the oldest message is valid. Value: its length, 16 bytes.
pub const SEALSIM_EVENT_TAG: i32 = 7;

/// Text of a message has fewer bytes than this: GCM ends there.
const END_OF_TEXT: u64 = (1 << 36) - 31;

/// An engine. One thread at a time may use it.
pub struct Engine {
    engine: Structural,
    events: Vec<(u64, Event)>,
}

/// Makes an engine from the name of a shipped one (`sealsim list`), of a machine, whose engine is taken, or the path of a TOML file, with keys of
/// `key_length` bytes, 16, 24 or 32. With `key` the key is loaded in cycle 0; without, where it is null, `sealsim_engine_load_key` loads one.
///
/// Returns 0 and puts the engine into `engine`, which `sealsim_engine_free` releases; or an error.
///
/// # Safety
/// `config` is a text that ends with a zero, `key` has `key_length` bytes, `engine` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealsim_engine_new(
    config: *const c_char,
    key: *const u8,
    key_length: u64,
    engine: *mut *mut Engine,
) -> i32 {
    guarded(|| {
        // SAFETY: the caller says so.
        unsafe { put("engine", engine, std::ptr::null_mut())? };
        // SAFETY: the caller says so.
        let config = unsafe { text("config", config)? };
        if ![16, 24, 32].contains(&key_length) {
            return Err(Fault::usage(format!("key_length is {key_length}, but must be 16, 24 or 32")));
        }
        let mut made = built(config, 8 * key_length as u32)?;
        if !key.is_null() {
            // SAFETY: the caller says so.
            made.engine.load_key(unsafe { bytes("key", key, key_length)? }).map_err(Fault::usage)?;
        }
        // SAFETY: the caller says so.
        unsafe { put("engine", engine, Box::into_raw(Box::new(made)))? };
        Ok(0)
    })
}

fn built(config: &str, key_bits: u32) -> Result<Engine, Fault> {
    let EngineSpec::Gcm(mut spec) = Layers::new(config).resolve_standalone()? else {
        return Err(Fault::config(format!(
            "`{config}` has another AEAD than AES-GCM, and only AES-GCM engines can be stepped"
        )));
    };
    spec.key_bits = key_bits;
    Ok(Engine { engine: Structural::new(&spec).map_err(Fault::config)?, events: Vec::new() })
}

/// Releases an engine; null is none.
///
/// # Safety
/// `engine` is null or one of `sealsim_engine_new` that has not been released.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealsim_engine_free(engine: *mut Engine) {
    if !engine.is_null() {
        guarded(|| {
            // SAFETY: the caller says so.
            drop(unsafe { Box::from_raw(engine) });
            Ok(0)
        });
    }
}

/// The engine at a pointer.
///
/// # Safety
/// `engine` is null or one that has not been released and that nobody else uses.
unsafe fn at<'a>(engine: *mut Engine) -> Result<&'a mut Engine, Fault> {
    // SAFETY: the caller says so.
    unsafe { engine.as_mut() }.ok_or_else(|| Fault::usage("engine is null"))
}

/// Loads a key in this cycle. Messages may be started at once; they wait for it.
///
/// Returns 0 or an error: a key of another length, or one while messages are in the engine.
///
/// # Safety
/// `engine` is one that has not been released, `key` has `key_length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealsim_engine_load_key(engine: *mut Engine, key: *const u8, key_length: u64) -> i32 {
    guarded(|| {
        // SAFETY: the caller says so.
        let (engine, key) = unsafe { (at(engine)?, bytes("key", key, key_length)?) };
        engine.engine.load_key(key).map(|()| 0).map_err(Fault::usage)
    })
}

/// Starts a message in this cycle: its AAD comes in by itself, a block at a time; its text, `text_length` bytes, as it is offered. `open` is 0 to
/// seal, 1 to open.
///
/// Returns 0 or an error.
///
/// # Safety
/// `engine` is one that has not been released, `iv` and `aad` have so many bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealsim_engine_start(
    engine: *mut Engine,
    iv: *const u8,
    iv_length: u64,
    aad: *const u8,
    aad_length: u64,
    text_length: u64,
    open: i32,
) -> i32 {
    guarded(|| {
        // SAFETY: the caller says so.
        let (engine, iv, aad) = unsafe { (at(engine)?, bytes("iv", iv, iv_length)?, bytes("aad", aad, aad_length)?) };
        let direction = match open {
            0 => SealOpen::Seal,
            1 => SealOpen::Open,
            _ => return Err(Fault::usage(format!("open is {open}, but must be 0 or 1"))),
        };
        if text_length >= END_OF_TEXT {
            return Err(Fault::usage(format!(
                "text_length is {text_length}, but a message has fewer than {END_OF_TEXT}"
            )));
        }
        engine.engine.start(iv, aad, text_length, direction).map(|()| 0).map_err(Fault::usage)
    })
}

/// Offers text that is visible from this cycle on: as much or as little as comes in a cycle. It belongs to the messages in the order of their starts.
///
/// Returns 0 or an error.
///
/// # Safety
/// `engine` is one that has not been released, `text` has `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealsim_engine_offer(engine: *mut Engine, text: *const u8, length: u64) -> i32 {
    guarded(|| {
        // SAFETY: the caller says so.
        let (engine, text) = unsafe { (at(engine)?, bytes("text", text, length)?) };
        engine.engine.offer(text);
        Ok(0)
    })
}

/// Works one cycle and goes to the next. What was loaded, started or offered before happens in it.
///
/// Returns how many events there were, which `sealsim_engine_event` gives until the next step; or an error.
///
/// # Safety
/// `engine` is one that has not been released.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealsim_engine_step(engine: *mut Engine) -> i32 {
    guarded(|| {
        // SAFETY: the caller says so.
        let engine = unsafe { at(engine)? };
        engine.events.clear();
        engine.engine.step(&mut engine.events);
        i32::try_from(engine.events.len()).map_err(Fault::usage)
    })
}

/// Gives event `index`, from 0, of the last step: its cycle, its kind (`SEALSIM_EVENT_...`), its value, and of text and tags the bytes, at most 16.
///
/// Returns 0 or an error.
///
/// # Safety
/// `engine` is one that has not been released; `cycle`, `kind` and `value` can be written, and so can 16 bytes of `block`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealsim_engine_event(
    engine: *mut Engine,
    index: i32,
    cycle: *mut u64,
    kind: *mut i32,
    value: *mut i32,
    block: *mut u8,
) -> i32 {
    guarded(|| {
        // SAFETY: the caller says so.
        let engine = unsafe { at(engine)? };
        let event = usize::try_from(index).ok().and_then(|index| engine.events.get(index));
        let (at, event) = event.ok_or_else(|| {
            Fault::usage(format!("there is no event {index}: the last step had {}", engine.events.len()))
        })?;
        let (number, of_it, shown) = parts(event);
        if block.is_null() {
            return Err(Fault::usage("block is null"));
        }
        // SAFETY: the caller says so; no event has more than 16 bytes.
        unsafe {
            put("cycle", cycle, *at)?;
            put("kind", kind, number)?;
            put("value", value, of_it)?;
            block.copy_from_nonoverlapping(shown.as_ptr(), shown.len().min(16));
        }
        Ok(0)
    })
}

/// Kind, value and bytes of an event.
fn parts(event: &Event) -> (i32, i32, &[u8]) {
    match event {
        Event::KeyReady => (SEALSIM_EVENT_KEY_READY, 0, &[]),
        Event::Phase(Phase::Mask) => (SEALSIM_EVENT_PHASE, 0, &[]),
        Event::Phase(Phase::Aad) => (SEALSIM_EVENT_PHASE, 1, &[]),
        Event::Phase(Phase::Text) => (SEALSIM_EVENT_PHASE, 2, &[]),
        Event::Phase(Phase::Length) => (SEALSIM_EVENT_PHASE, 3, &[]),
        Event::Aad => (SEALSIM_EVENT_AAD, 0, &[]),
        Event::Taken(blocks) => (SEALSIM_EVENT_TAKEN, blocks.cast_signed(), &[]),
        Event::Text(text) => (SEALSIM_EVENT_TEXT, text.len() as i32, text),
        Event::ChainTag(chain, tag) => (SEALSIM_EVENT_CHAIN_TAG, chain.cast_signed(), tag),
        Event::Tag(tag) => (SEALSIM_EVENT_TAG, 16, tag),
    }
}

/// The cycle that the next `sealsim_engine_step` works; or an error.
///
/// # Safety
/// `engine` is one that has not been released.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealsim_engine_cycle(engine: *mut Engine) -> i64 {
    // SAFETY: the caller says so.
    guarded(|| i64::try_from(unsafe { at(engine)? }.engine.cycle()).map_err(Fault::usage))
}

/// 1 if no message is in the engine, else 0; or an error.
///
/// # Safety
/// `engine` is one that has not been released.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealsim_engine_idle(engine: *mut Engine) -> i32 {
    // SAFETY: the caller says so.
    guarded(|| Ok(i32::from(unsafe { at(engine)? }.engine.idle())))
}
