//! TLPs and DLLPs: bytes to the JSON of `sealsim tlp`, and back.

use crate::{
    fault::Fault,
    guard::{bytes, fill, guarded, text},
};
use sealsim_pcie::items::{self, Form, Item};
use std::ffi::c_char;

/// Writes what bytes hold as JSON, a line for each TLP, DLLP and flit, and a zero behind the last. `wire` is 0 for TLPs alone, 1 for frames of a gen3
/// to gen5 link, 2 for symbols of a gen1 or gen2 link, 3 for one DLLP, 4 for flits of 256 bytes.
///
/// Returns the bytes of the text with its zero, or an error. Where `room` is less nothing is written: call it with `room` 0 to learn how much is needed.
///
/// # Safety
/// `data` has `length` bytes, and `room` bytes of `json` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealsim_tlp_decode(
    data: *const u8,
    length: u64,
    wire: i32,
    json: *mut c_char,
    room: u64,
) -> i64 {
    guarded(|| {
        // SAFETY: the caller says so.
        let data = unsafe { bytes("data", data, length)? };
        if data.is_empty() {
            return Err(Fault::usage("there are no bytes to decode"));
        }
        let text = lines(&items::read(data, form(wire)?));
        // SAFETY: the caller says so.
        unsafe { fill("json", json.cast(), room, text.as_bytes()) }
    })
}

/// Writes the bytes of TLPs and DLLPs that stand in JSON, as `sealsim_tlp_decode` writes it, one behind the other. CRCs and tokens are made anew.
///
/// Returns how many bytes there are, or an error. Where `room` is less nothing is written.
///
/// # Safety
/// `json` is a text that ends with a zero, and `room` bytes of `data` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealsim_tlp_encode(json: *const c_char, wire: i32, data: *mut u8, room: u64) -> i64 {
    guarded(|| {
        // SAFETY: the caller says so.
        let json = unsafe { text("json", json)? };
        let encoded = items::write(json, form(wire)?)?;
        // SAFETY: the caller says so.
        unsafe { fill("data", data, room, &encoded.concat()) }
    })
}

/// Writes the headers in lines of a kernel's log (`TLP Header:`) or of `lspci -vv` (`HeaderLog:`) as JSON, a line each, and a zero behind the last.
///
/// Returns the bytes of the text with its zero, or an error. Where `room` is less nothing is written.
///
/// # Safety
/// `log` is a text that ends with a zero, and `room` bytes of `json` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealsim_tlp_decode_log(log: *const c_char, json: *mut c_char, room: u64) -> i64 {
    guarded(|| {
        // SAFETY: the caller says so.
        let log = unsafe { text("log", log)? };
        let lines = lines(&items::some_logs(log)?);
        // SAFETY: the caller says so.
        unsafe { fill("json", json.cast(), room, lines.as_bytes()) }
    })
}

/// A line of JSON for each item, and a zero behind the last.
fn lines(items: &[Item]) -> String {
    items.iter().map(Item::to_json).collect::<Vec<_>>().join("\n") + "\0"
}

fn form(wire: i32) -> Result<Form, Fault> {
    let form = usize::try_from(wire).ok().and_then(|number| Form::ALL.get(number));
    form.map(|(_, form)| *form).ok_or_else(|| Fault::usage(format!("wire is {wire}, but must be 0 to 4")))
}
