//! Driver, cipher and memory together, against a toy GPU.

mod closed_forms;
mod data;
mod failures;
mod gpu;
mod lockstep;
mod machine;
mod paths;
