//! Driver, cipher and memory together, against a toy GPU.

mod ahead;
mod closed_forms;
mod data;
mod failures;
mod gpu;
mod lockstep;
pub mod machine;
mod paths;
mod steps;
mod work;
