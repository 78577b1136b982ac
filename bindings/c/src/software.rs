//! AES-GCM in software, with the values of its stages: what a predictor compares hardware with.

use crate::{
    fault::Fault,
    guard::{bytes, fill, guarded},
};
use sealsim_machine::gcm::{
    aes::RoundKeys,
    bulk::{Key, Stream},
    counter::advanced,
    field::Element,
    message::SealOpen,
};

/// Seals a message (`open` 0), or deciphers it and computes the tag that its ciphertext must have (`open` 1). `out` gets as many bytes as the text has.
/// The tag is not compared.
///
/// Returns 0 or an error.
///
/// # Safety
/// `key`, `iv`, `aad` and `text` have so many bytes; `text_length` bytes of `out` and 16 of `tag` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealsim_gcm_seal(
    key: *const u8,
    key_length: u64,
    iv: *const u8,
    iv_length: u64,
    aad: *const u8,
    aad_length: u64,
    text: *const u8,
    text_length: u64,
    open: i32,
    out: *mut u8,
    tag: *mut u8,
) -> i32 {
    guarded(|| {
        // SAFETY: the caller says so.
        let (key, iv) = unsafe { (expanded(key, key_length)?, bytes("iv", iv, iv_length)?) };
        // SAFETY: the caller says so.
        let (aad, text) = unsafe { (bytes("aad", aad, aad_length)?, bytes("text", text, text_length)?) };
        let direction = match open {
            0 => SealOpen::Seal,
            1 => SealOpen::Open,
            _ => return Err(Fault::usage(format!("open is {open}, but must be 0 or 1"))),
        };
        let mut made = text.to_vec();
        let mut stream = Stream::new(&key, iv, aad, direction).map_err(Fault::usage)?;
        stream.update(&key, &mut made);
        // SAFETY: the caller says so.
        unsafe {
            fill("out", out, text_length, &made)?;
            fill("tag", tag, 16, &stream.tag(&key))?;
        }
        Ok(0)
    })
}

/// Gives the hash key H, which is AES of zeros.
///
/// Returns 0 or an error.
///
/// # Safety
/// `key` has so many bytes; 16 bytes of `h` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealsim_gcm_h(key: *const u8, key_length: u64, h: *mut u8) -> i32 {
    guarded(|| {
        // SAFETY: the caller says so.
        let key = unsafe { expanded(key, key_length)? };
        // SAFETY: the caller says so.
        unsafe { fill("h", h, 16, &key.h().to_bytes())? };
        Ok(0)
    })
}

/// Gives the counter block of text block `block`, from 0; of -1 that is J0, which makes the mask of the tag.
///
/// Returns 0 or an error.
///
/// # Safety
/// `key` and `iv` have so many bytes; 16 bytes of `counter_block` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealsim_gcm_counter_block(
    key: *const u8,
    key_length: u64,
    iv: *const u8,
    iv_length: u64,
    block: i64,
    counter_block: *mut u8,
) -> i32 {
    guarded(|| {
        // SAFETY: the caller says so.
        let (key, iv) = unsafe { (expanded(key, key_length)?, bytes("iv", iv, iv_length)?) };
        let steps = block.checked_add(1).filter(|steps| (0..1 << 32).contains(steps));
        let steps = steps.ok_or_else(|| Fault::usage(format!("block is {block}, but must lie in -1..2^32 - 1")))?;
        let made = advanced(key.j0(iv).map_err(Fault::usage)?, steps as u32);
        // SAFETY: the caller says so.
        unsafe { fill("counter_block", counter_block, 16, &made)? };
        Ok(0)
    })
}

/// Gives the state of AES after each round, 16 bytes each: first that after the first key addition, at last the enciphered block.
///
/// Returns how many bytes there are, 176, 208 or 240, or an error. Where `room` is less nothing is written.
///
/// # Safety
/// `key` has so many bytes, `block` 16; `room` bytes of `states` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealsim_aes_rounds(
    key: *const u8,
    key_length: u64,
    block: *const u8,
    states: *mut u8,
    room: u64,
) -> i64 {
    guarded(|| {
        // SAFETY: the caller says so.
        let (key, block) = unsafe { (bytes("key", key, key_length)?, bytes("block", block, 16)?) };
        let keys = RoundKeys::expand(key).ok_or_else(|| no_key(key_length))?;
        let block = block.try_into().map_err(Fault::usage)?;
        let made: Vec<u8> = keys.states(block).into_iter().flat_map(Element::to_bytes).collect();
        // SAFETY: the caller says so.
        unsafe { fill("states", states, room, &made) }
    })
}

/// Gives the value of GHASH behind each block of `data`, 16 bytes each; zeros follow a last block that is short. Padding of AAD and the length block are up to
/// the caller.
///
/// Returns how many bytes there are, or an error. Where `room` is less nothing is written.
///
/// # Safety
/// `key` and `data` have so many bytes; `room` bytes of `values` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealsim_gcm_ghash(
    key: *const u8,
    key_length: u64,
    data: *const u8,
    length: u64,
    values: *mut u8,
    room: u64,
) -> i64 {
    guarded(|| {
        // SAFETY: the caller says so.
        let (key, data) = unsafe { (expanded(key, key_length)?, bytes("data", data, length)?) };
        let (h, mut sum) = (key.h(), Element(0));
        let made: Vec<u8> = data
            .chunks(16)
            .flat_map(|block| {
                sum = (sum ^ Element::from_partial(block)).times(h);
                sum.to_bytes()
            })
            .collect();
        // SAFETY: the caller says so.
        unsafe { fill("values", values, room, &made) }
    })
}

/// The key at a pointer, expanded.
///
/// # Safety
/// `key` has so many bytes.
unsafe fn expanded(key: *const u8, length: u64) -> Result<Key, Fault> {
    // SAFETY: the caller says so.
    Key::new(unsafe { bytes("key", key, length)? }).map_err(|_| no_key(length))
}

fn no_key(length: u64) -> Fault {
    Fault::usage(format!("key_length is {length}, but must be 16, 24 or 32"))
}
