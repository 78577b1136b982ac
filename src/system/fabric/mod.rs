//! The GPUs of a machine and the fabric between them, as a netlist of their own: a collective touches nothing of the host while it runs.

mod build;
mod run;

pub use run::{FabricOutcome, FabricRequest, RankOutcome, fabric_fault_points, run_fabric};
