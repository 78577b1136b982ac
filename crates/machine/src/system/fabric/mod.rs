//! The GPUs of a machine and the fabric between them, as a netlist of their own: a collective touches nothing of the host while it runs.

mod build;
mod request;
mod run;

pub use request::FabricRequest;
pub use run::{FabricOutcome, RankOutcome, fabric_fault_points, run_fabric};
