//! Questions about many machines at once.
//!
//! ```text
//!  machine, designs --> candidate: one machine each, checked --+
//!  copies one by one, or a workload: work ---------------------+--> compare: a run each, over threads --> Comparison
//!    numbers with a range --> uncertainty: the same draws for all, a run each -----------------> its intervals
//!  machine, release policies, a copy --> failures: a run for each message that fails --> Failures
//!  machine, sizes --> cost_table: a run for each row of a table for other simulators
//!  machine, a run --> explain: the path that set its end, and the run with the first cause freed
//!  machine, copies --> faults: a run for each of many sets of faults --> Campaign
//! ```

mod candidate;
mod compare;
mod cost_line;
mod cost_table;
pub mod explain;
mod failures;
pub mod faults;
mod finished;
pub mod levers;
mod outcome;
pub mod sensitivity;
mod simulator;
pub mod sweep;
mod uncertainty;
pub mod what_if;
mod work;

pub use crate::figures::price::{Price, Risk, message_risk, price};
pub use candidate::{
    Baseline, Candidate, CandidateError, Skipped, asked, cautions, named, nothing_protected, shipped, shipped_fabric,
};
pub use compare::{Compared, Comparison, Design, Figures, Grid, compare, way};
pub use cost_line::CostLine;
pub use cost_table::{CostGrid, CostRow, cost_table};
pub use failures::{FailureFigures, Failures, FailuresError, PolicyFigures, Question, failures};
pub use finished::Finished;
pub use simulator::simulator;
pub use uncertainty::{
    Draws, OF_ANOTHER_HOST, OF_CALLS, ON_DEVICE, Pair, Residual, Uncertainty, drawn_machines, interval_of, widened,
};
pub use work::{CompareError, Work, kernels};
