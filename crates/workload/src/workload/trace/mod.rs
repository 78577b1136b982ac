//! Traces of real programs, as profilers write them, in one model.
//!
//! ```text
//!  Input -> Tape -> recognise --+--> kineto --------+
//!            unpacked, bounded  +--> nsight_csv ----+--> Builder --> Trace
//!                               +--> chakra --------+    each event used or left out
//!        ----------------------------> nsight_sqlite+
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
mod host;
mod input;
mod kineto;
mod model;
mod names;
mod nsight_csv;
mod nsight_sqlite;
mod order;
mod place;
mod recognise;
mod size;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod time;

pub use chakra::{ChakraNode, ChakraWork, write_chakra_head};
pub use error::TraceError;
pub use input::Input;
pub use model::{
    CallKind, DeviceKind, DeviceOp, Direction, Events, Format, HostCall, Memory, NameId, Rank, Step, Synchronization,
    Thread, Trace, Waited,
};
pub use place::Place;

use crate::sim::Control;
use error::Kind;
use input::{Progress, Tape};
use std::cell::RefCell;

/// Reads a trace. `api` is the second table of Nsight Systems, that of the calls; other formats hold theirs in `gpu`. `progress` is asked
/// now and then, with the bytes that were read and the bytes that there are, if that is known.
pub fn read(
    gpu: Input<'_>,
    api: Option<Input<'_>>,
    progress: &mut dyn FnMut(u64, Option<u64>) -> Control,
) -> Result<Trace, TraceError> {
    let of = match api {
        Some(api) => gpu.length().zip(api.length()).map(|(gpu, api)| gpu.saturating_add(api)),
        None => gpu.length(),
    };
    let progress = RefCell::new(Progress::new(progress, of));
    let mut tape = Tape::open(gpu, &progress)?;
    let name = tape.name().to_owned();
    let format = recognise::format(&name, tape.head()?)?;
    tape.skip_mark();
    if let (Some(api), false) = (api, format == Format::NsightCsv) {
        let what = format!("a table of calls does not belong to a {}", format.name());
        let remedy = "leave it out: the trace holds its calls itself";
        return Err(TraceError::new(Kind::Unrecognised, &api.name(), what).remedy(remedy));
    }
    match format {
        Format::Kineto => kineto::read(&mut tape),
        Format::NsightCsv => {
            let calls = || api.map(|api| calls_of(api, gpu, &progress)).transpose();
            nsight_csv::read(&mut tape, calls)
        }
        Format::NsightSqlite => nsight_sqlite::read(gpu, &mut tape, &progress),
        // No content of a file is recognised as a workload.
        Format::Chakra | Format::Workload => chakra::read(&mut tape),
    }
}

/// The table of calls, opened once the other is read.
fn calls_of<'a>(api: Input<'a>, gpu: Input<'_>, progress: &'a RefCell<Progress<'a>>) -> Result<Tape<'a>, TraceError> {
    progress.borrow_mut().next(gpu.length());
    let mut tape = Tape::open(api, progress)?;
    let name = tape.name().to_owned();
    let format = recognise::format(&name, tape.head()?)?;
    tape.skip_mark();
    if format == Format::NsightCsv {
        return Ok(tape);
    }
    let what = format!("is a {}, not a table of calls", format.name());
    let remedy = "give the table that `nsys stats --report cuda_api_trace --format csv` prints";
    Err(TraceError::new(Kind::Unrecognised, &name, what).remedy(remedy))
}
