//! `sealsim.compare`: the comparison of `sealsim compare --format json`.

use super::{
    fault::Fault,
    machine::{MachineQuestion, workload},
    watch::{Watch, watched},
};
use pyo3::prelude::*;
use sealsim::{
    config::Layers,
    explore::{self, CompareError, Finished, Grid, Work},
    pool,
    report::comparison::Document,
    system::{Memory, RunError},
    workload::{Workload, read_memory, read_size, sized},
};

/// What a document and its table are.
type Answer = (String, String);

/// Which copies of which designs.
#[derive(Debug, FromPyObject)]
#[pyo3(from_item_all)]
pub struct Question {
    machine: MachineQuestion,
    sizes: Vec<String>,
    memory: String,
    what_if: u8,
    threads: Option<u16>,
}

/// Which workload on which designs.
#[derive(Debug, FromPyObject)]
#[pyo3(from_item_all)]
pub struct WorkloadQuestion {
    machine: MachineQuestion,
    workload: String,
    parameters: Vec<String>,
    threads: Option<u16>,
}

/// Compares designs copy by copy: the comparison as JSON and as CSV.
#[pyfunction]
pub fn compare(py: Python<'_>, question: Question, progress: Option<&Bound<'_, PyAny>>) -> PyResult<Answer> {
    watched(py, progress, |watch| question.answer(watch))
}

/// Compares designs on a workload: the comparison as JSON and as CSV.
#[pyfunction]
pub fn compare_workload(
    py: Python<'_>,
    question: WorkloadQuestion,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Answer> {
    watched(py, progress, |watch| question.answer(watch))
}

impl Question {
    fn answer(&self, watch: &Watch) -> Result<Answer, Fault> {
        let sizes = self.sizes.iter().map(|size| read_size(size)).collect::<Result<Vec<_>, _>>();
        let memory = read_memory(&self.memory).map_err(Fault::usage)?;
        let work = Work::both_ways(&sizes.map_err(Fault::usage)?, memory);
        let grid = Grid { what_if: self.what_if.into(), ..Grid::of(work) };
        compared((&self.machine.layers(None)?, &self.machine.designs, memory), grid, (self.threads, watch))
    }
}

impl WorkloadQuestion {
    fn answer(&self, watch: &Watch) -> Result<Answer, Fault> {
        let mut file = workload(&self.workload, &self.parameters)?;
        file.without_size.take().map_or(Ok(()), Err)?;
        let machine = self.machine.layers(Some(&file))?;
        let job = Workload::timed(sized(&file.copies, None).map_err(Fault::usage)?, Some(file.steps));
        let grid = Grid::of(Work::workload(self.workload.clone(), file.head.summary, job));
        compared((&machine, &self.machine.designs, Memory::Pinned), grid, (self.threads, watch))
    }
}

fn compared(
    (machine, designs, memory): (&Layers, &[String], Memory),
    grid: Grid,
    (asked, watch): (Option<u16>, &Watch),
) -> Result<Answer, Fault> {
    let (candidates, skipped) = explore::asked(machine, designs, memory, grid.work.calls_collectives())?;
    let (finished, threads) = (Finished::default(), threads(asked));
    let (observer, progress) = (|| watch.control(), |part| watch.add(part));
    let compared = explore::compare(&candidates, &grid, threads, &finished, &observer, &progress);
    let compared = compared.map_err(|error| failed(&error))?;
    whole(compared.unfinished)?;
    let comparison = compared.on(&machine.resolve()?, grid.work, (&candidates, skipped));
    let table = comparison.table().text().map_err(Fault::simulation)?;
    Ok((serde_json::to_string_pretty(&Document::of(&comparison)).map_err(Fault::simulation)?, table))
}

/// Refuses a comparison that was interrupted: whoever catches the interruption has nothing that looks whole.
fn whole(unfinished: usize) -> Result<(), Fault> {
    match unfinished {
        0 => Ok(()),
        _ => Err(Fault::verification("interrupted: the comparison is not whole")),
    }
}

/// As many as there are cores, if not said.
pub fn threads(asked: Option<u16>) -> usize {
    asked.map_or_else(pool::threads, |threads| threads.max(1).into())
}

fn failed(error: &CompareError) -> Fault {
    match error {
        CompareError::Run { error: RunError::NoGpu { .. }, .. } => Fault::usage(error),
        CompareError::Run { error: RunError::Build(_), .. } | CompareError::Config(_) => Fault::config(error),
        CompareError::Run { .. } => Fault::simulation(error),
        CompareError::NotDelivered { .. } => Fault::verification(error),
        CompareError::Collective { .. } => Fault::config(error)
            .help("take a machine with a fabric for as many GPUs, such as generic-16gpu, or fewer ranks"),
    }
}
