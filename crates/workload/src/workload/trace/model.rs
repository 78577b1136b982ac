//! What a profiler saw of a program, whatever profiler it was.
//!
//! ```text
//!  calls:   HostCall ----correlation----+        names    threads
//!                                       v          ^         ^
//!  device:  DeviceOp <---correlation--- *    names are ids, threads are places
//! ```

pub use super::{
    device::{Communication, DeviceKind, DeviceOp, Direction, Memory},
    host::{CallKind, HostCall, Synchronization, Waited},
    place::NameId,
};
use crate::system::Pages;
use std::{collections::HashMap, sync::Arc};

/// What a profiler saw of a program. Times are nanoseconds from the start of the first operation or call that is kept.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Trace {
    /// The format that it was read from; `None`: it is what a workload file says.
    pub format: Option<&'static str>,
    /// Names of operations, calls and collectives, each once. A long one is cut: it then ends with an ellipsis and a number that identifies it.
    pub names: Vec<Arc<str>>,
    /// What the GPU did, in order of start.
    pub device: Vec<DeviceOp>,
    /// What the program asked for: calls of the runtime and of the driver, in order of start.
    pub calls: Vec<HostCall>,
    /// What the profiler says about waiting beyond the calls themselves, in the order of the file.
    pub synchronizations: Vec<Synchronization>,
    /// Who waits for whom, where the format says so itself (Chakra). Each pair is: first this, then that.
    pub dependencies: Vec<(Step, Step)>,
    pub threads: Vec<Thread>,
    /// Which of several processes of one job this is.
    pub rank: Option<Rank>,
    /// The GPU on which it was taken, if the profiler names it.
    pub gpu: Option<String>,
    /// The number of the first step that the profiler marked (`ProfilerStep#5`), if it marks steps.
    pub first_step: Option<u64>,
    /// Start and end of the steps that the profile marks, ns.
    pub marks: Vec<(u64, u64)>,
    /// What became of every event of the file.
    pub events: Events,
    /// By place of a copy in `device`, what a workload file says of its memory on the host.
    pub on_host: HashMap<u32, OnHost>,
    /// What the trace lacks and what was taken instead, in sentences.
    pub assumed: Vec<String>,
}

/// Memory of the host that is copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OnHost {
    pub pages: Pages,
    /// KiB of other buffers of the program that are in use, too, and how many the largest has: they share the caches.
    pub beside: (u32, u32),
}

/// An operation or a call, by its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Step {
    /// Place in [`Trace::device`].
    Device(u32),
    /// Place in [`Trace::calls`].
    Call(u32),
}

/// A thread of the host.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Thread {
    /// Its process, as the profiler writes it.
    pub process: String,
    /// Itself, as the profiler writes it.
    pub thread: String,
}

/// One process out of several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rank {
    /// Which one, from 0.
    pub rank: u32,
    pub of: Option<u32>,
}

/// What became of the events of a file: each is used, or left out for a reason.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Events {
    pub all: u64,
    /// Those that are an operation, a call or a wait of the trace.
    pub used: u64,
    /// Why the others are not, and how many each reason covers, in the order in which the reasons came up.
    pub left_out: Vec<(String, u64)>,
}

impl Events {
    /// Whether each event is counted once.
    pub fn add_up(&self) -> bool {
        self.all == self.used + self.left_out.iter().map(|(_, count)| count).sum::<u64>()
    }
}

/// Whether a name is one for which `is` holds, which is asked once for each name, however many have it.
pub fn named(names: &[Arc<str>], is: impl Fn(&str) -> bool) -> impl Fn(NameId) -> bool {
    let which: Vec<bool> = names.iter().map(|name| is(name)).collect();
    move |name| which.get(name as usize).is_some_and(|one| *one)
}

impl Trace {
    pub fn name(&self, name: NameId) -> &str {
        self.names.get(name as usize).map_or("", |name| &**name)
    }

    /// For each operation of the device the call that asked for it, by its place. Of several calls of one number the first counts: a
    /// call of the runtime and the call of the driver within it may share theirs.
    pub fn launches(&self) -> Vec<Option<u32>> {
        let mut calls = HashMap::new();
        for (place, call) in (0..).zip(&self.calls) {
            if let Some(correlation) = call.correlation {
                calls.entry(correlation).or_insert(place);
            }
        }
        let call = |op: &DeviceOp| calls.get(&op.correlation?).copied();
        self.device.iter().map(call).collect()
    }
}
