//! Traces of real programs, as profilers write them, in one model.
//!
//! ```text
//!  Input -> Tape --> formats ---+--> kineto --------+
//!            unpacked, bounded  +--> nsight_csv ----+--> Builder --> Trace
//!                               +--> nsight_sqlite -+    each event used or left out
//!                               +--> chakra --------+
//! ```
//!
//! Files are streamed: what is held is the operations and calls that are kept. Numbers are exact to the nanosecond and, where the file
//! says so, to the byte. An event that cannot be understood refuses the file; one that is not needed is counted under its reason.

mod assumed;
mod builder;
mod calls;
mod chakra;
mod decimal;
mod device;
mod error;
mod formats;
mod host;
mod input;
mod kineto;
mod marks;
mod model;
mod names;
mod nsight_csv;
mod nsight_sqlite;
mod order;
mod place;
mod size;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod time;

pub use chakra::{ChakraNode, ChakraWork, write_chakra_head};
pub use input::Input;
pub use model::{
    CallKind, Communication, DeviceKind, DeviceOp, Direction, Events, HostCall, Memory, NameId, OnHost, Rank, Step,
    Synchronization, Thread, Trace, Waited, named,
};
pub use place::Place;

use crate::{files::Refusal, sim::Control};
use error::refused;
use formats::Importer;
use input::{Progress, Tape};
use std::cell::RefCell;

/// The formats that are read: the first that takes a content for its own reads it.
const FORMATS: &[&Importer] = &[&kineto::FORMAT, &nsight_csv::FORMAT, &nsight_sqlite::FORMAT, &chakra::FORMAT];

/// Most operations, calls and waits of a trace: with the replay of it they take less than a gigabyte.
pub const MAX_EVENTS: u64 = 1_250_000;
// What is held of each, beside its name.
const _: () = assert!(size_of::<DeviceOp>() <= 150 && size_of::<HostCall>() <= 150);
const _: () = assert!(size_of::<crate::replay::Op>() <= 150 && size_of::<crate::replay::Call>() <= 150);

/// Reads a trace. `api` is the second table of Nsight Systems, that of the calls; other formats hold theirs in `gpu`. `progress` is asked
/// now and then, with the bytes that were read and the bytes that there are, if that is known.
pub fn read(
    gpu: Input<'_>,
    api: Option<Input<'_>>,
    progress: &mut dyn FnMut(u64, Option<u64>) -> Control,
) -> Result<Trace, Refusal> {
    read_up_to(usize::MAX, gpu, api, progress)
}

/// The same of at most so many operations of the GPU: one of more is refused where they end, and not read further.
pub fn read_up_to(
    operations: usize,
    gpu: Input<'_>,
    api: Option<Input<'_>>,
    progress: &mut dyn FnMut(u64, Option<u64>) -> Control,
) -> Result<Trace, Refusal> {
    let of = match api {
        Some(api) => gpu.length().zip(api.length()).map(|(gpu, api)| gpu.saturating_add(api)),
        None => gpu.length(),
    };
    let progress = RefCell::new(Progress::new(progress, of, operations));
    let mut tape = Tape::open(gpu, &progress)?;
    let format = formats::of(&mut tape)?;
    if let (Some(api), false) = (api, format.takes_calls) {
        let what = format!("a table of calls does not belong to a {}", format.name);
        let remedy = "leave it out: the trace holds its calls itself";
        return Err(refused("unrecognised", &api.name(), what).remedy(remedy));
    }
    (format.read)(&mut tape, api)
}
