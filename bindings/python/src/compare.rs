//! `sealsim.compare`: the comparison of `sealsim compare --format json`.

use super::{
    fault::Fault,
    machine::{machine_of, workload},
    watch::{Watch, watched},
};
use pyo3::prelude::*;
use sealsim::{
    config::Layers,
    cost::technology::{PROCESS_SPREAD, SYNTHESIS},
    explore::{self, CompareError, Comparison, Grid, WorkloadComparison},
    report::comparison,
    sim::{Kernel, SimulationError},
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
    machine: String,
    designs: Vec<String>,
    sizes: Vec<String>,
    memory: String,
    what_if: u8,
    threads: Option<u16>,
}

/// Which workload on which designs.
#[derive(Debug, FromPyObject)]
#[pyo3(from_item_all)]
pub struct WorkloadQuestion {
    machine: Option<String>,
    designs: Vec<String>,
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
        let grid = Grid { sizes: sizes.map_err(Fault::usage)?, memory, what_if: self.what_if.into() };
        let (candidates, skipped) = explore::asked(&self.machine, &self.designs, memory, false)?;
        let designs =
            explore::compare(&candidates, &grid, threads(self.threads), &|| watch.control(), &|part| watch.add(part));
        let comparison = Comparison {
            machine: Layers::new(&self.machine).resolve()?.name(),
            host_memory: memory,
            sizes_bytes: grid.sizes,
            process_spread_factor: PROCESS_SPREAD,
            cost_source: SYNTHESIS,
            designs: designs.map_err(|error| failed(&error))?,
            skipped,
        };
        Ok((comparison::json(&comparison).map_err(Fault::simulation)?, comparison::csv(&comparison)))
    }
}

impl WorkloadQuestion {
    fn answer(&self, watch: &Watch) -> Result<Answer, Fault> {
        let mut file = workload(&self.workload, &self.parameters)?;
        file.without_size.take().map_or(Ok(()), Err)?;
        let machine = machine_of(self.machine.as_deref(), Some(&file))?;
        let (candidates, skipped) = explore::asked(&machine, &self.designs, Memory::Pinned, file.calls_collectives())?;
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
        let threads = threads(self.threads);
        let designs =
            explore::compare_workload(&candidates, &job, threads, &|| watch.control(), &|part| watch.add(part));
        let comparison = WorkloadComparison {
            machine: Layers::new(&machine).resolve()?.name(),
            workload: self.workload.clone(),
            workload_summary: file.head.summary,
            kernels,
            kernels_ps: length.picos(),
            process_spread_factor: PROCESS_SPREAD,
            cost_source: SYNTHESIS,
            designs: designs.map_err(|error| failed(&error))?,
            skipped,
        };
        let json = comparison::json(&comparison).map_err(Fault::simulation)?;
        Ok((json, comparison::workload::csv(&comparison)))
    }
}

/// As many as there are cores, if not said.
pub fn threads(asked: Option<u16>) -> usize {
    asked.map_or_else(pool::threads, |threads| threads.max(1).into())
}

fn failed(error: &CompareError) -> Fault {
    match error {
        CompareError::Run { error: RunError::Simulation(SimulationError::Stopped { .. }), .. } => {
            Fault::verification("interrupted: nothing was compared")
        }
        CompareError::Run { error: RunError::NoGpu { .. }, .. } => Fault::usage(error),
        CompareError::Run { error: RunError::Build(_), .. } => Fault::config(error),
        CompareError::Run { .. } => Fault::simulation(error),
        CompareError::NotDelivered { .. } => Fault::verification(error),
        CompareError::Collective { .. } => Fault::config(error)
            .help("take a machine with a fabric for as many GPUs, such as generic-16gpu, or fewer ranks"),
    }
}
