//! Questions about many machines at once.
//!
//! ```text
//!  machine, designs --> candidate: one machine each, checked --+
//!  sizes, directions ------------------------------------------+--> compare: a run each, over threads --> Comparison
//!                                                price: area, energy, storage, risk ------------------------^
//!  machine, designs, a workload --> compare_workload: a run each, summarised --> WorkloadComparison
//!  machine, release policies, a copy --> failures: a run for each message that fails --> Failures
//!  machine, sizes --> cost_table: a run for each row of a table for other simulators
//!  machine, a run --> explain: the path that set its end, and the run with the first cause freed
//!  machine, copies --> faults: a run for each of many sets of faults --> Campaign
//! ```

mod candidate;
mod compare;
mod compare_workload;
mod cost_table;
pub mod explain;
mod failures;
pub mod faults;
mod finished;
mod price;
pub mod sensitivity;
mod simulator;
pub mod sweep;
pub mod what_if;

pub use candidate::{
    Baseline, Candidate, CandidateError, Skipped, asked, cautions, named, nothing_protected, shipped, shipped_fabric,
};
pub use compare::{CompareError, Compared, Comparison, CopyFigures, DesignFigures, Grid, compare};
pub use compare_workload::{
    CollectiveFigures, ComparedWorkload, CopiesLimit, WayFigures, WorkloadComparison, WorkloadFigures,
    compare_workload, kernels,
};
pub use cost_table::{CostGrid, CostRow, cost_table};
pub use failures::{FailureFigures, Failures, FailuresError, PolicyFigures, Question, failures};
pub use finished::Finished;
pub use price::{Price, Risk, message_risk, price};
pub use simulator::simulator;
