//! What every function does: it looks at its pointers, lets no panic out, and keeps the text of what went wrong.

use crate::fault::Fault;
use std::{
    cell::RefCell,
    ffi::{CStr, CString, c_char},
    panic::{AssertUnwindSafe, catch_unwind},
    slice, str,
};

/// An argument makes no sense: a null pointer, a wrong length, a message before a key.
pub const SEALSIM_ERROR_USAGE: i32 = -2;
/// A configuration is wrong, or there is none of that name.
pub const SEALSIM_ERROR_CONFIG: i32 = -3;
/// A file cannot be read.
pub const SEALSIM_ERROR_FILE: i32 = -4;
/// A fault of the simulation.
pub const SEALSIM_ERROR_SIMULATION: i32 = -5;
/// A fault of sealsim itself. The engine that was given may not be used any more, but for `sealsim_engine_free`.
pub const SEALSIM_ERROR_PANIC: i32 = -6;

/// More bytes than any argument has: a length above is a mistake.
const MOST_BYTES: u64 = 1 << 40;

thread_local! {
    static LAST: RefCell<CString> = RefCell::default();
}

/// What went wrong last on this thread: what, where, and what to do about it. Empty if nothing did. Valid until the next call of a function of
/// sealsim on this thread that fails.
#[unsafe(no_mangle)]
pub extern "C" fn sealsim_last_error() -> *const c_char {
    LAST.with_borrow(|text| text.as_ptr())
}

/// Does `work`; the number of its failure, should it fail.
pub fn guarded<N: From<i32>>(work: impl FnOnce() -> Result<N, Fault>) -> N {
    let done = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        Err(Fault {
            code: SEALSIM_ERROR_PANIC,
            text: "a fault of sealsim itself; it is described on standard error".into(),
        })
    });
    done.unwrap_or_else(|fault| {
        LAST.set(CString::new(fault.text.replace('\0', "?")).unwrap_or_default());
        fault.code.into()
    })
}

/// The bytes at a pointer, which may be null where there are none.
///
/// # Safety
/// `pointer` is null or has `length` bytes that nobody writes meanwhile.
pub unsafe fn bytes<'a>(what: &str, pointer: *const u8, length: u64) -> Result<&'a [u8], Fault> {
    if length == 0 {
        return Ok(&[]);
    }
    if pointer.is_null() {
        return Err(Fault::usage(format!("{what} is null, but its length is {length}")));
    }
    match usize::try_from(length) {
        // SAFETY: the caller says so.
        Ok(size) if length <= MOST_BYTES => Ok(unsafe { slice::from_raw_parts(pointer, size) }),
        _ => Err(Fault::usage(format!("{what} has {length} bytes: more than there can be"))),
    }
}

/// The text at a pointer.
///
/// # Safety
/// `pointer` is null or has a text that ends with a zero.
pub unsafe fn text<'a>(what: &str, pointer: *const c_char) -> Result<&'a str, Fault> {
    if pointer.is_null() {
        return Err(Fault::usage(format!("{what} is null")));
    }
    // SAFETY: the caller says so.
    let text = unsafe { CStr::from_ptr(pointer) };
    text.to_str().map_err(|_| Fault::usage(format!("{what} is no UTF-8")))
}

/// Puts a value in its place.
///
/// # Safety
/// `place` is null or can be written.
pub unsafe fn put<T>(what: &str, place: *mut T, value: T) -> Result<(), Fault> {
    if place.is_null() {
        return Err(Fault::usage(format!("{what} is null")));
    }
    // SAFETY: the caller says so.
    unsafe { place.write(value) };
    Ok(())
}

/// Puts bytes where there is room for so many, or nothing. Gives how many there are.
///
/// # Safety
/// `place` is null or has `room` bytes that can be written.
pub unsafe fn fill(what: &str, place: *mut u8, room: u64, bytes: &[u8]) -> Result<i64, Fault> {
    let length = bytes.len() as u64;
    if length <= room && length > 0 {
        if place.is_null() {
            return Err(Fault::usage(format!("{what} is null, but its room is {room}")));
        }
        // SAFETY: the caller says so, and both do not overlap, since `bytes` is ours.
        unsafe { place.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
    }
    i64::try_from(length).map_err(Fault::usage)
}
