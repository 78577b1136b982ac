//! `sealsim.compare`: the comparison of `sealsim compare --format json`.

use super::{
    fault::Fault,
    machine::{MachineQuestion, workload},
    watch::{Watch, watched},
};
use pyo3::prelude::*;
use sealsim::{
    cost::technology::{PROCESS_SPREAD, SYNTHESIS},
    explore::{self, CompareError, Comparison, Finished, Grid, WorkloadComparison},
    report::comparison::{self, Document},
    sim::Kernel,
    system::{DataMode, Memory, RunError},
    validate::pool,
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
        let sizes = sizes.map_err(Fault::usage)?;
        let (machine, grid) = (self.machine.layers(None)?, Grid::both_ways(&sizes, memory, self.what_if.into()));
        let (candidates, skipped) = explore::asked(&machine, &self.machine.designs, memory, false)?;
        let (finished, threads) = (Finished::default(), threads(self.threads));
        let (observer, progress) = (|| watch.control(), |part| watch.add(part));
        let compared = explore::compare(&candidates, &grid, threads, &finished, &observer, &progress);
        let compared = compared.map_err(|error| failed(&error))?;
        whole(compared.unfinished)?;
        let own = machine.resolve()?;
        let comparison = Comparison {
            machine: own.name(),
            host_memory: memory,
            sizes_bytes: sizes,
            copies: grid.copies,
            process_spread_factor: PROCESS_SPREAD,
            cost_source: SYNTHESIS,
            cautions: explore::cautions(&own, &candidates, false),
            designs: compared.designs,
            skipped,
            unfinished: 0,
        };
        Ok((Document::of(&comparison).json().map_err(Fault::simulation)?, comparison::csv(&comparison)))
    }
}

impl WorkloadQuestion {
    fn answer(&self, watch: &Watch) -> Result<Answer, Fault> {
        let mut file = workload(&self.workload, &self.parameters)?;
        file.without_size.take().map_or(Ok(()), Err)?;
        let (machine, designs) = (self.machine.layers(Some(&file))?, &self.machine.designs);
        let collectives = file.calls_collectives();
        let (candidates, skipped) = explore::asked(&machine, designs, Memory::Pinned, collectives)?;
        let job = Workload {
            copies: sized(&file.copies, None).map_err(Fault::usage)?,
            steps: Some(file.steps),
            payload: None,
            data: DataMode::None,
            seed: 0,
            kernel: Kernel::Skip,
            injections: Vec::new(),
        };
        let (kernels, length) = explore::kernels(&job);
        let (finished, threads) = (Finished::default(), threads(self.threads));
        let (observer, progress) = (|| watch.control(), |part| watch.add(part));
        let compared = explore::compare_workload(&candidates, (&job, None), threads, &finished, &observer, &progress);
        let compared = compared.map_err(|error| failed(&error))?;
        whole(compared.unfinished)?;
        let own = machine.resolve()?;
        let comparison = WorkloadComparison {
            machine: own.name(),
            workload: self.workload.clone(),
            workload_summary: file.head.summary,
            kernels,
            kernels_ps: length.picos(),
            process_spread_factor: PROCESS_SPREAD,
            cost_source: SYNTHESIS,
            cautions: explore::cautions(&own, &candidates, collectives),
            designs: compared.designs,
            skipped,
            unfinished: 0,
        };
        let json = Document::of(&comparison).json().map_err(Fault::simulation)?;
        Ok((json, comparison::workload::csv(&comparison)))
    }
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
        CompareError::Run { error: RunError::Build(_), .. } => Fault::config(error),
        CompareError::Run { .. } => Fault::simulation(error),
        CompareError::NotDelivered { .. } => Fault::verification(error),
        CompareError::Collective { .. } => Fault::config(error)
            .help("take a machine with a fabric for as many GPUs, such as generic-16gpu, or fewer ranks"),
    }
}
