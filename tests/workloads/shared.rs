//! What tests of workloads share.

use sealsim::{
    config::Layers,
    explore::{Candidate, named},
    sim::{Control, Kernel},
    system::{self, DataMode, Memory, Outcome},
    workload::{Arrival, ShippedWorkload, Workload, WorkloadFile, WorkloadStep, collective::CollectiveCall, sized},
};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, OnceLock},
};

/// A shipped workload and the name of its machine.
pub fn shipped(name: &str) -> (Workload, String) {
    let text = ShippedWorkload::find(name).unwrap_or_else(|| panic!("no workload {name}")).text;
    let file = WorkloadFile::parse(name, text.to_owned()).unwrap_or_else(|error| panic!("{name}: {error}"));
    let machine = file.head.machine().unwrap().unwrap_or_else(|| panic!("{name} names no machine"));
    (workload(file), machine)
}

/// A shipped workload with other values for its parameters.
pub fn with_parameters(name: &str, settings: &[&str]) -> Workload {
    let text = ShippedWorkload::find(name).unwrap_or_else(|| panic!("no workload {name}")).text;
    let settings: Vec<_> = settings.iter().map(|setting| setting.parse().unwrap()).collect();
    workload(WorkloadFile::parse_with(name, text.to_owned(), &settings).unwrap())
}

/// Its calls of collectives.
pub fn calls(workload: &Workload) -> Vec<CollectiveCall> {
    let calls = workload.steps.iter().flatten().filter_map(|step| match step {
        WorkloadStep::Collective { call, .. } => Some(*call),
        _ => None,
    });
    calls.collect()
}

/// How long it takes on a machine with a design.
pub fn end(workload: &Workload, machine: &str, design: &str) -> f64 {
    simulate(workload, machine, design).end.seconds()
}

/// A workload from the text of a file.
pub fn written(operations: &str) -> Workload {
    let text = format!("operations = [{operations}]");
    workload(WorkloadFile::parse("test", text).unwrap_or_else(|error| panic!("{operations}: {error}")))
}

pub fn workload(file: WorkloadFile) -> Workload {
    Workload {
        copies: sized(&file.copies, None).unwrap(),
        steps: Some(file.steps),
        payload: None,
        data: DataMode::None,
        seed: 0,
        kernel: Kernel::Skip,
        injections: Vec::new(),
    }
}

pub fn candidate(machine: &str, design: &str) -> Candidate {
    named(&Layers::new(machine), design, Memory::Pinned).unwrap_or_else(|error| panic!("{machine} {design}: {error}"))
}

/// Runs a workload on a machine with a design.
pub fn simulate(workload: &Workload, machine: &str, design: &str) -> Outcome {
    let arrivals: Vec<_> = workload.copies.iter().map(|_| Arrival::new(false, None)).collect();
    let machine = candidate(machine, design).resolved.machine;
    let collectives = workload.collectives(&machine, &mut |_| Control::Continue).unwrap();
    let request = workload.request(&arrivals, &collectives).unwrap();
    system::run(&machine, request, &mut |_| Control::Continue).unwrap()
}

/// Runs that several tests ask for, by workload and design.
type Runs = Mutex<HashMap<(String, String), Arc<OnceLock<Outcome>>>>;

/// Runs a shipped workload on its machine with a design; once, however many tests ask for it.
pub fn run(name: &str, design: &str) -> Outcome {
    static RUNS: OnceLock<Runs> = OnceLock::new();
    let runs = RUNS.get_or_init(Runs::default);
    let key = (name.to_owned(), design.to_owned());
    let one = Arc::clone(runs.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).entry(key).or_default());
    let outcome = one.get_or_init(|| {
        let (workload, machine) = shipped(name);
        simulate(&workload, &machine, design)
    });
    outcome.clone()
}

/// Streams of the copies.
pub fn streams(workload: &Workload) -> Vec<String> {
    workload.streams().unwrap()
}

/// What one stream of a workload does, alone.
pub fn only(workload: &Workload, stream: &str) -> Workload {
    let mut copies = workload.copies.iter();
    let (mut steps, mut kept) = (Vec::new(), Vec::new());
    for step in workload.steps.iter().flatten() {
        let copy = if matches!(step, WorkloadStep::Copy { .. }) { copies.next() } else { None };
        if step.stream().is_none_or(|of| of == stream) {
            steps.push(step.clone());
            kept.extend(copy.cloned());
        }
    }
    Workload { copies: kept, steps: Some(steps), ..workload.clone() }
}
