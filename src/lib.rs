//! sealsim: a cycle-level, bit-exact simulator of the sealed copy path between a CPU TEE and a GPU TEE.
//!
//! The floors of the house, from the ground: [`units`]; `sim`; [`gcm`] and [`pcie`]; [`gpu`] and [`host`];
//! [`config`]; `system`; `workload`; `validate`; `report`; [`cli`]. No import runs upwards.

pub mod cli;
pub mod config;
pub mod gcm;
pub mod gpu;
pub mod host;
pub mod pcie;
pub mod report;
pub mod sim;
pub mod system;
pub mod units;
pub mod validate;
pub mod workload;
