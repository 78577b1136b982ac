//! Whether a profile begins with its program, and which calls create a context.
//!
//! A context is created where the profile shows it: by a call that can create one, that takes as long as creating one does, that comes before anything on
//! the GPU, and before any call that needs a context. Each process of a profile is looked at by itself.

use super::{
    Ns,
    job::{Call, Job},
};
use crate::workload::trace::CallKind;
use std::collections::BTreeMap;

/// From this duration on a call that can create a context does so.
pub const CONTEXT: Ns = 50_000_000;

/// How a profile is taken to begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Start {
    /// As the profile shows: cold where a call creates a context before anything is on the GPU, warm otherwise.
    #[default]
    Auto,
    /// With its program: the context is created, functions are loaded.
    Cold,
    /// In the middle of its program: the context and the functions are there.
    Warm,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Beginning {
    /// The calls that create a context, in their order.
    pub creates: Vec<u32>,
    /// By thread, whether its process begins in the profile.
    pub cold: Vec<bool>,
}

/// What a call says about the context of its process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Says {
    /// It creates the context if it takes long, and needs one that is there if it does not.
    Creates,
    /// It creates the context if it takes long, and says nothing if it does not.
    MayCreate,
    /// It works with a context that is there.
    Uses,
    Nothing,
}

/// Names of calls that create a context, or need one.
const CREATES: &[&str] = &["CtxCreate", "StreamCreate", "EventCreate", "MemGetInfo", "MemPoolCreate"];
/// Names of calls that create a context in some programs and return at once in others.
const MAY_CREATE: &[&str] = &[
    "PrimaryCtxRetain",
    "SetDevice",
    "InitDevice",
    "ToSymbol",
    "GetSymbol",
    "FuncGetAttributes",
    "FuncSetAttribute",
    "SetLimit",
    "StreamPriorityRange",
    "DeviceReset",
    "MemPool",
];

fn says(call: &Call, name: &str) -> Says {
    let one_of = |names: &[&str]| names.iter().any(|part| name.contains(part));
    match call.kind {
        _ if call.failed => Says::Nothing,
        // A copy to a symbol needs no allocation, and so may be what a program begins with.
        _ if one_of(MAY_CREATE) => Says::MayCreate,
        CallKind::Free | CallKind::Load | CallKind::Register => Says::MayCreate,
        _ if one_of(CREATES) => Says::Creates,
        CallKind::Allocate | CallKind::HostAllocate => Says::Creates,
        CallKind::Launch
        | CallKind::GraphLaunch
        | CallKind::Copy { .. }
        | CallKind::Memset
        | CallKind::Synchronize(_)
        | CallKind::EventRecord
        | CallKind::StreamWait => Says::Uses,
        CallKind::Unregister | CallKind::Query | CallKind::HostWork | CallKind::Other => Says::Nothing,
    }
}

/// Why a process is taken to have begun before its profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Why {
    Marks(u64),
    Work,
    Call(usize),
    NoCall,
}

/// What is known of a process.
struct Process {
    /// Its calls, in their order.
    calls: Vec<usize>,
    /// When the first operation of the GPU begins that it may have asked for.
    work: Ns,
}

fn processes(job: &Job) -> BTreeMap<u32, Process> {
    let first = |call: &Call| call.ops.iter().map(|op| job.ops[*op as usize].start).min().unwrap_or(Ns::MAX);
    // Of an operation without a call it is not known whose it is.
    let alone = job.calls.iter().filter(|call| !call.traced()).map(first).min().unwrap_or(Ns::MAX);
    let mut all: BTreeMap<u32, Process> = BTreeMap::new();
    for (place, call) in job.calls.iter().enumerate().filter(|(_, call)| call.traced()) {
        let process = job.processes.get(call.thread as usize).copied().unwrap_or(0);
        let process = all.entry(process).or_insert_with(|| Process { calls: Vec::new(), work: alone });
        process.calls.push(place);
        process.work = process.work.min(first(call));
    }
    all
}

/// The call of a process that creates its context.
fn creator(job: &Job, process: &Process) -> Result<usize, Why> {
    for place in process.calls.iter().copied() {
        let call = &job.calls[place];
        if call.start >= process.work {
            return Err(Why::Work);
        }
        match says(call, job.name(call.name)) {
            Says::Creates | Says::MayCreate if call.duration >= CONTEXT => return Ok(place),
            Says::Creates | Says::Uses => return Err(Why::Call(place)),
            Says::MayCreate | Says::Nothing => {}
        }
    }
    Err(Why::NoCall)
}

/// The call that is charged with a context if somebody says that there is one: the first that takes long enough before anything is on the GPU, or the first.
fn taken(job: &Job, process: &Process) -> Option<usize> {
    let before = || process.calls.iter().copied().take_while(|place| job.calls[*place].start < process.work);
    let long = || before().find(|place| job.calls[*place].duration >= CONTEXT);
    creator(job, process).ok().or_else(long).or_else(|| process.calls.first().copied())
}

impl Job {
    /// The same job, taken to begin so.
    pub fn begins(mut self, start: Start) -> Self {
        let (mut creates, mut why) = (Vec::new(), None);
        let mut cold = vec![false; self.threads];
        for (number, process) in processes(&self) {
            let found = match (start, self.first_step) {
                (Start::Warm, _) => Err(None),
                (Start::Cold, _) => taken(&self, &process).ok_or(None),
                (Start::Auto, Some(step)) if step > 0 => Err(Some(Why::Marks(step))),
                (Start::Auto, _) => creator(&self, &process).map_err(Some),
            };
            match found {
                Ok(place) => {
                    creates.push(place as u32);
                    let threads = cold.iter_mut().zip(&self.processes).filter(|(_, process)| **process == number);
                    threads.for_each(|(cold, _)| *cold = true);
                }
                Err(reason) => why = why.or(reason),
            }
        }
        creates.sort_unstable();
        self.begun = self.sentence(start, &creates, why);
        self.beginning = Beginning { creates, cold };
        self
    }

    /// What was taken, in a sentence.
    fn sentence(&self, start: Start, creates: &[u32], why: Option<Why>) -> String {
        let called = |place: usize| {
            let call = &self.calls[place];
            format!("{} ({}, {:.1} ms)", self.name(call.name), self.place(call), call.duration as f64 / 1e6)
        };
        let asked = if start == Start::Auto { "" } else { ", as --start says" };
        if let Some(first) = creates.first() {
            let others = match creates.len() {
                1 => String::new(),
                count => format!(" The same holds for {} other processes.", count - 1),
            };
            let loads = "functions whose first launch took long are loaded then";
            return format!(
                "The profile begins with its program{asked}: {} creates the context, and {loads}.{others} --start warm leaves both out.",
                called(*first as usize)
            );
        }
        if !self.profiled && start == Start::Auto {
            let sentence = "The workload is replayed as a warm program: no context is created, and no function is loaded. --start cold adds both.";
            return sentence.to_owned();
        }
        let reason = match why {
            None => String::new(),
            Some(Why::Marks(step)) => format!(": its marks of steps begin with {step}"),
            Some(Why::Work) => ": the GPU has work before any call creates a context".to_owned(),
            Some(Why::Call(place)) => format!(": {} comes first and needs a context that is there", called(place)),
            Some(Why::NoCall) => ": no call creates a context".to_owned(),
        };
        format!(
            "The profile begins in the middle of its program{asked}{reason}. So no context is created, and no function is loaded: the first launch of \
             each takes what it took. --start cold adds both."
        )
    }
}
